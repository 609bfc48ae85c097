#include "pairwise/block_tree.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "device/parallel.hpp"
#include "instantiate.hpp"
#include "pairwise/tile_kernel.hpp"

namespace quintet::pairwise {

namespace {

std::int32_t leaves_of(std::int64_t count) { return std::int32_t((count + leaf_points - 1) / leaf_points); }

/// Splits the nodes of one depth: orders the points of each so that those of its children are apart.
template <class Real>
class node_splitter {
 public:
  /// By the first `sides` coordinates.
  node_splitter(const Real* panels, std::int64_t dim, std::int64_t sides, std::vector<std::int32_t>& order)
      : panels_(panels),
        dim_(dim),
        sides_(sides),
        order_(order),
        keys_(std::make_unique_for_overwrite<point_key[]>(order.size())) {}

  void split(const tree_node& node) const {
    const std::int64_t first = std::int64_t(node.first_leaf) * leaf_points;
    const std::int64_t end = std::min(std::int64_t(order_.size()), first + std::int64_t(node.leaves) * leaf_points);
    const std::int64_t side = widest_side(first, end);
    point_key* const key = keys_.get();
    for (std::int64_t i = first; i < end; ++i) key[i] = {coordinate(order_[i], side), order_[i]};
    std::nth_element(key + first, key + first + std::int64_t(node.left_leaves()) * leaf_points, key + end);
    for (std::int64_t i = first; i < end; ++i) order_[i] = key[i].point;
  }

  /// Also the nodes below it, while its points are in a cache.
  void split_all(const tree_node& node) const {
    if (node.is_leaf()) return;
    split(node);
    split_all(node.left());
    split_all(node.right());
  }

 private:
  struct point_key {
    Real x;
    std::int32_t point;
    bool operator<(const point_key& other) const { return x < other.x || (x == other.x && point < other.point); }
  };

  Real coordinate(std::int64_t point, std::int64_t k) const {
    return detail::coordinates(panels_, dim_, point)[k * panel_points<Real>];
  }

  /// In many dimensions that of a sample, as every coordinate that is read costs a line of the cache.
  std::int64_t widest_side(std::int64_t first, std::int64_t end) const {
    constexpr std::int64_t few_dimensions = 32, sampled_points = 256;
    const std::int64_t step = sides_ > few_dimensions ? (end - first + sampled_points - 1) / sampled_points : 1;
    std::vector<Real> low(sides_, std::numeric_limits<Real>::infinity()), high(sides_, -low[0]);
    for (std::int64_t i = first; i < end; i += step) {
      const Real* x = detail::coordinates(panels_, dim_, order_[i]);
      for (std::int64_t k = 0; k < sides_; ++k) {
        low[k] = std::min(low[k], x[k * panel_points<Real>]);
        high[k] = std::max(high[k], x[k * panel_points<Real>]);
      }
    }
    std::int64_t widest = 0;
    for (std::int64_t k = 1; k < sides_; ++k)
      if (high[k] - low[k] > high[widest] - low[widest]) widest = k;
    return widest;
  }

  const Real* panels_;
  std::int64_t dim_, sides_;
  std::vector<std::int32_t>& order_;
  std::unique_ptr<point_key[]> keys_;  ///< by place in the order
};

// Leaves of a node that is split by one thread down to its leaves: what it reads of the points fits into its cache.
constexpr std::int32_t leaves_at_once = 64;

/// The inner nodes of `depth`'s children.
std::vector<tree_node> children_of(const std::vector<tree_node>& nodes) {
  std::vector<tree_node> children;
  for (const tree_node& node : nodes)
    if (!node.is_leaf()) {
      children.push_back(node.left());
      children.push_back(node.right());
    }
  return children;
}

template <class Real>
struct bound_node {
  const Real *panels, *factor;
  Real *low, *high, *min_factor;
  std::int64_t dim, count;

  void operator()(const tree_node& node) const {
    if (node.is_leaf())
      bound_points(node);
    else
      bound_children(node);
  }

  void bound_points(const tree_node& leaf) const {
    const std::int64_t first = std::int64_t(leaf.first_leaf) * leaf_points;
    const std::int64_t end = first + leaf_points < count ? first + leaf_points : count;
    for (std::int64_t k = 0; k < dim; ++k) {
      Real min = std::numeric_limits<Real>::infinity(), max = -min;
      for (std::int64_t i = first; i < end; ++i) {
        const Real x = detail::coordinates(panels, dim, i)[k * panel_points<Real>];
        min = x < min ? x : min;
        max = x > max ? x : max;
      }
      low[leaf.number * dim + k] = min;
      high[leaf.number * dim + k] = max;
    }
    if (factor == nullptr) return;
    Real min = factor[first];
    for (std::int64_t i = first + 1; i < end; ++i) min = factor[i] < min ? factor[i] : min;
    min_factor[leaf.number] = min;
  }

  void bound_children(const tree_node& node) const {
    const std::int32_t left = node.left().number, right = node.right().number;
    for (std::int64_t k = 0; k < dim; ++k) {
      const Real l0 = low[left * dim + k], l1 = low[right * dim + k];
      const Real h0 = high[left * dim + k], h1 = high[right * dim + k];
      low[node.number * dim + k] = l0 < l1 ? l0 : l1;
      high[node.number * dim + k] = h0 > h1 ? h0 : h1;
    }
    if (factor == nullptr) return;
    min_factor[node.number] = min_factor[left] < min_factor[right] ? min_factor[left] : min_factor[right];
  }
};

}  // namespace

template <class Real>
block_tree<Real>::block_tree(const panels<Real>& points)
    : points_(points),
      leaves_(leaves_of(points.count)),
      low_(nodes() * points.dim, points.device()),
      high_(nodes() * points.dim, points.device()),
      min_factor_(points.factor.size() > 0 ? nodes() : 0, points.device()) {
  std::vector<std::vector<tree_node>> depths{{{0, 0, leaves_}}};
  while (true) {
    std::vector<tree_node> next = children_of(depths.back());
    if (next.empty()) break;
    depths.push_back(std::move(next));
  }
  std::vector<tree_node> by_depth;
  by_depth.reserve(nodes());
  depth_begin_.push_back(0);
  for (auto depth = depths.rbegin(); depth != depths.rend(); ++depth) {
    by_depth.insert(by_depth.end(), depth->begin(), depth->end());
    depth_begin_.push_back(std::int64_t(by_depth.size()));
  }
  by_depth_ = Buffer<tree_node>(by_depth, device());
  for_each_node_upwards(bound_node<Real>{points.data.data(), points.factor.data(), low_.data(), high_.data(),
                                         min_factor_.data(), points.dim, points.count});
}

template <class Real>
tree_view<Real> block_tree<Real>::view() const {
  return {points_.data.data(), points_.factor.data(), low_.data(), high_.data(), min_factor_.data(),
          points_.dim,         points_.count,         leaves_,     points_.term};
}

panel_layout tree_layout() { return {leaf_points, 1}; }

template <class Real>
std::vector<std::int32_t> tree_order(const panels<Real>& points) {
  std::vector<std::int32_t> order(points.count);
  for (std::int64_t i = 0; i < points.count; ++i) order[i] = std::int32_t(i);
  std::vector<Real> copy;
  if (!points.device().shares_host_memory()) copy = points.data.to_vector();
  // Words have no sides, but the first number of their row; of factors nothing is bounded.
  const bool has_sides = !is_of_words(points.term.kind) && points.term.kind != term_kind::product;
  const std::int64_t sides = has_sides ? points.dim : 1;
  const node_splitter<Real> splitter(copy.empty() ? points.data.data() : copy.data(), points.dim, sides, order);
  std::vector<tree_node> nodes{{0, 0, leaves_of(points.count)}};
  while (!nodes.empty()) {
    std::erase_if(nodes, [](const tree_node& node) { return node.is_leaf(); });
    device::for_each_side_by_side(std::int64_t(nodes.size()), [&](std::int64_t i) {
      nodes[i].leaves > leaves_at_once ? splitter.split(nodes[i]) : splitter.split_all(nodes[i]);
    });
    std::erase_if(nodes, [](const tree_node& node) { return node.leaves <= leaves_at_once; });
    nodes = children_of(nodes);
  }
  return order;
}

#define QUINTET_INSTANTIATE(Real)  \
  template class block_tree<Real>; \
  template std::vector<std::int32_t> tree_order(const panels<Real>&);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::pairwise
