#include "quintet/hdbscan/tree_stages.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/polled.hpp"
#include "hdbscan/weights.hpp"
#include "quintet/core/error.hpp"

namespace quintet::hdbscan {
namespace {

// Components of points, each with the dendrogram node that stands for it.
class forest {
 public:
  explicit forest(std::int64_t n) : up_(n), size_(n, 1), node_(n) {
    std::iota(up_.begin(), up_.end(), 0);
    std::iota(node_.begin(), node_.end(), 0);
    tree_.points = n;
    tree_.rows.reserve(n - 1);
  }

  // Merges the components of u and v at `height`; nothing happens if they are one already.
  void join(std::int64_t u, std::int64_t v, double height) {
    std::int64_t a = root(u), b = root(v);
    if (a == b) return;
    const std::int64_t size = size_[a] + size_[b];
    tree_.rows.push_back({node_[a], node_[b], height, size});
    if (size_[a] < size_[b]) std::swap(a, b);
    up_[b] = a;
    size_[a] = size;
    node_[a] = tree_.points + static_cast<std::int64_t>(tree_.rows.size()) - 1;
  }

  bool is_connected() const { return static_cast<std::int64_t>(tree_.rows.size()) == tree_.points - 1; }
  single_linkage_tree take() { return std::move(tree_); }

 private:
  std::int64_t root(std::int64_t point) {
    while (up_[point] != point) point = up_[point] = up_[up_[point]];  // halves the path for the next one
    return point;
  }

  std::vector<std::int64_t> up_, size_, node_;
  single_linkage_tree tree_;
};

void check_edge(const edge& e, std::size_t index, std::int64_t n) {
  const auto name = [&](const char* field) { return text("edges[", index, "].", field); };
  const auto in_range = [&](std::int64_t p) { return p >= 0 && p < n; };
  if (in_range(e.u) && in_range(e.v) && e.u != e.v && e.weight >= 0) return;  // the texts below are costly
  require_argument(in_range(e.u), name("u"), e.u, text("in [0, n=", n, ")"));
  require_argument(in_range(e.v), name("v"), e.v, text("in [0, n=", n, ")"));
  require_argument(e.u != e.v, name("v"), e.v, "different from u");
  require_argument(e.weight >= 0, name("weight"), e.weight, ">= 0 and not NaN");
}

// The edges with u < v in the total order; `storage` holds them when they did not come that way.
std::span<const edge> in_total_order(std::span<const edge> edges, std::vector<edge>& storage) {
  const auto is_oriented = [](const edge& e) { return e.u < e.v; };
  if (std::all_of(edges.begin(), edges.end(), is_oriented) && std::is_sorted(edges.begin(), edges.end())) return edges;
  storage.assign(edges.begin(), edges.end());
  for (edge& e : storage)
    if (e.u > e.v) std::swap(e.u, e.v);
  quintet::detail::polled_sort(storage.begin(), storage.end());
  return storage;
}

void check_row(const single_linkage_tree& tree, std::size_t t, std::vector<char>& is_used) {
  const linkage_row& row = tree.rows[t];
  const auto name = [&](const char* field) { return text("rows[", t, "].", field); };
  const std::int64_t node = tree.points + static_cast<std::int64_t>(t);
  std::int64_t size = 0;
  double height = 0;
  for (const auto& [child, field] : {std::pair{row.left, "left"}, std::pair{row.right, "right"}}) {
    if (child < 0 || child >= node || is_used[child])
      require_argument(false, name(field), child, text("in [0, ", node, ") and used once only"));
    is_used[child] = 1;
    const bool is_point = child < tree.points;
    size += is_point ? 1 : tree.rows[child - tree.points].size;
    if (!is_point)
      height = std::max(height, tree.rows[child - tree.points].height);
    else if (!tree.heights.empty())
      height = std::max(height, tree.heights[child]);
  }
  if (row.height >= height && row.size == size) return;
  require_argument(row.height >= height, name("height"), row.height,
                   text(">= ", height, ", the height of its children"));
  require_argument(row.size == size, name("size"), row.size, text(size, ", the sum of its children"));
}

void check_masses(const single_linkage_tree& tree) {
  require_argument(tree.heights.size() == tree.weights.size(), "heights.size()", tree.heights.size(),
                   text("weights.size()=", tree.weights.size()));
  if (tree.weights.empty()) return;
  check_weights(tree.weights, tree.points, "weights");
  for (std::int64_t p = 0; p < tree.points; ++p)
    require_element(tree.heights[p] >= 0, "heights", p, tree.heights[p], ">= 0 and not NaN");
}

}  // namespace

single_linkage_tree single_linkage(std::span<const edge> edges, std::int64_t n) {
  require_argument(n >= 1, "n", n, ">= 1");
  for (std::size_t i = 0; i < edges.size(); ++i) {
    quintet::detail::poll_sometimes(std::int64_t(i));
    check_edge(edges[i], i, n);
  }
  std::vector<edge> storage;
  forest components(n);
  std::int64_t joined = 0;
  for (const edge& e : in_total_order(edges, storage)) {
    quintet::detail::poll_sometimes(joined++);
    components.join(e.u, e.v, e.weight);
  }
  // In increasing order, the first point of a component that is not joined yet is its smallest.
  for (std::int64_t p = 1; p < n && !components.is_connected(); ++p)
    components.join(0, p, std::numeric_limits<double>::infinity());
  return components.take();
}

std::int64_t connected_components(const single_linkage_tree& tree) {
  if (tree.points == 0) return 0;
  return 1 + std::count_if(tree.rows.begin(), tree.rows.end(), [](const auto& row) { return std::isinf(row.height); });
}

void check_linkage(const single_linkage_tree& tree) {
  require_argument(tree.points >= 1, "points", tree.points, ">= 1");
  const auto rows = static_cast<std::int64_t>(tree.rows.size());
  require_argument(rows == tree.points - 1, "rows.size()", rows, text("points - 1 = ", tree.points - 1));
  check_masses(tree);
  std::vector<char> is_used(2 * tree.points - 1, 0);
  for (std::size_t t = 0; t < tree.rows.size(); ++t) {
    quintet::detail::poll_sometimes(std::int64_t(t));
    check_row(tree, t, is_used);
  }
}

}  // namespace quintet::hdbscan
