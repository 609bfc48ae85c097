#include "reference/spanning_tree_reference.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <limits>
#include <tuple>

namespace quintet::reference {

namespace {

using numbers = Eigen::Array<std::int64_t, Eigen::Dynamic, 1>;

/// For each vertex the least edge that leads from it into the tree; infinite until the tree has a vertex.
struct nearest_edges {
  Eigen::ArrayXd weight;
  numbers u, v;

  /// Takes edge e instead where it precedes: by weight, then u, then v.
  void lower(const nearest_edges& e, const Eigen::Array<bool, Eigen::Dynamic, 1>& is_outside) {
    const Eigen::Array<bool, Eigen::Dynamic, 1> precedes =
        is_outside && (e.weight < weight || (e.weight == weight && (e.u < u || (e.u == u && e.v < v))));
    weight = precedes.select(e.weight, weight);
    u = precedes.select(e.u, u);
    v = precedes.select(e.v, v);
  }
};

}  // namespace

std::vector<hdbscan::edge> spanning_tree(const std::vector<std::int64_t>& vertices,
                                         const std::function<double(std::int64_t, std::int64_t)>& weight) {
  const auto n = Eigen::Index(vertices.size());
  const Eigen::Map<const numbers> id(vertices.data(), n);
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
  nearest_edges best{Eigen::ArrayXd::Constant(n, std::numeric_limits<double>::infinity()), numbers::Constant(n, last),
                     numbers::Constant(n, last)};
  Eigen::Array<bool, Eigen::Dynamic, 1> is_outside = id != id[0];
  std::vector<hdbscan::edge> tree;
  for (Eigen::Index latest = 0; is_outside.any();) {
    nearest_edges e{Eigen::ArrayXd::Zero(n), id.min(id[latest]), id.max(id[latest])};
    for (Eigen::Index i = 0; i < n; ++i)
      if (is_outside[i]) e.weight[i] = weight(id[latest], id[i]);
    best.lower(e, is_outside);
    Eigen::Index next = -1;
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto key = [&](Eigen::Index k) { return std::tuple(best.weight[k], best.u[k], best.v[k]); };
      if (is_outside[i] && (next < 0 || key(i) < key(next))) next = i;
    }
    tree.push_back({best.u[next], best.v[next], best.weight[next]});
    is_outside[next] = false;
    latest = next;
  }
  std::sort(tree.begin(), tree.end(), [](const hdbscan::edge& a, const hdbscan::edge& b) {
    return std::tuple(a.weight, a.u, a.v) < std::tuple(b.weight, b.u, b.v);
  });
  return tree;
}

}  // namespace quintet::reference
