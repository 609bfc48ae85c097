// A search of a block tree for one point, on the host: lanes are points of a leaf, or coordinates of a box.
//
// Searches for 64 points at once (tree_kernel.hpp) share what they read. One point goes to the nearer child first, past
// boxes beyond its limit, and leaves a leaf as soon as the sums over its first coordinates are beyond the limit. Sums
// run over the coordinates in ascending order as those of tiles do, so distances have the same bits; they only grow, so
// leaving early is exact. Friedman, Bentley, Finkel 1977.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/inline.hpp"
#include "device/lane_moves.hpp"
#include "device/pack.hpp"
#include "pairwise/block_tree.hpp"
#include "pairwise/minima.hpp"
#include "pairwise/short_list.hpp"

namespace quintet::pairwise {

/// A point that searches, as the points of the tree are packed.
template <class Real>
struct walking_point {
  const Real* x;  ///< its coordinates
  Real factor;    ///< see point_factors.hpp; no matter where the tree has none
};

namespace detail {

/// Coordinates after which a leaf may be left.
enum { coordinates_at_once = 32 };

/// A number that no point in the box of `node` is nearer than. Lanes are coordinates where those are many: sums are
/// then taken in another order than distances are, and made smaller by what that may change.
template <int Dim, class Real, class Term>
QUINTET_INLINE inline Real box_bound(const tree_view<Real>& tree, std::int32_t node, const walking_point<Real>& point,
                                     const Term& term) {
  constexpr int lanes = device::host_lanes<Real>();
  typedef device::pack<Real, lanes> value;
  const std::int64_t stride = Dim > 0 ? Dim : tree.dim, dim = boxed_coordinates(term, stride);
  const Real *low = tree.low + node * stride, *high = tree.high + node * stride;
  const auto gap = [](const auto& at, const auto& from, const auto& to) QUINTET_INLINE {
    const auto below = from - at, above = at - to, none = at - at;
    const auto outside = below > above ? below : above;
    return outside > none ? outside : none;
  };
  Real sum = 0;
  if constexpr (takes_words<Term>) return term.bound_of(gap(point.x[0], low[0], high[0]), point.x[0]);
  if (Dim > 0 || dim < lanes / 2) {
    for (std::int64_t k = 0; k < dim; ++k) term.add(sum, gap(point.x[k], low[k], high[k]));
    sum = term.bound(sum, dim);
  } else {
    value sums{};
    std::int64_t k = 0;
    for (; k + lanes <= dim; k += lanes)
      term.add(sums, gap(device::load_pack<value>(point.x + k), device::load_pack<value>(low + k),
                         device::load_pack<value>(high + k)));
    if (k < dim) {
      const int rest = int(dim - k);
      term.add(sums, gap(device::load_some<value>(point.x + k, rest), device::load_some<value>(low + k, rest),
                         device::load_some<value>(high + k, rest)));
    }
    Real lane[lanes];
    device::store_pack(lane, sums);
    for (int width = lanes / 2; width > 0; width /= 2)
      for (int l = 0; l < width; ++l) lane[l] = term.join(lane[l], lane[l + width]);
    // A sum of D terms has an error of at most D / 2 ulp in either order, and of the smallest numbers.
    sum = device::fma(term.bound(lane[0], dim), 1 - Real(4 * dim + 8) * std::numeric_limits<Real>::epsilon(),
                      -Real(dim) * std::numeric_limits<Real>::min());
  }
  return tree.min_factor == nullptr ? sum : sum * (tree.min_factor[node] * point.factor);
}

/// Reduced distances of a row of words and a pack of others, in steps of `step` numbers.
template <int W, class Term>
QUINTET_INLINE inline device::pack<double, W> word_distances(const Term& term, const double* columns, std::int64_t step,
                                                             const double* row, std::int64_t dim) {
  typedef device::pack<double, W> value;
  value numbers[Term::numbers];
#pragma GCC unroll 3
  for (int k = 0; k < Term::numbers; ++k) numbers[k] = device::load_pack<value>(columns + k * step);
  const value sums =
      count_words<W>(term, columns + Term::numbers * step, step, row + Term::numbers, dim - Term::numbers);
  return term.reduced_of(sums, numbers, row, 1);
}

/// Reduced distances to the points of a leaf; NaN for some of those that are beyond `limit`.
template <int Dim, class Real, class Term>
QUINTET_INLINE inline void leaf_distances(const tree_view<Real>& tree, std::int32_t leaf, int count,
                                          const walking_point<Real>& point, const Term& term, Real limit,
                                          Real* values) {
  constexpr int lanes = device::host_lanes<Real>(), packs = 4;
  typedef device::pack<Real, lanes> value;
  constexpr int step = panel_points<Real>;
  const std::int64_t dim = Dim > 0 ? Dim : tree.dim, first = std::int64_t(leaf) * leaf_points;
  const value most = device::broadcast_pack<value>(limit);
  for (int at = 0; at < count; at += packs * lanes) {
    const Real* from[packs];
    value sum[packs], weighed[packs];
#pragma GCC unroll 4
    for (int j = 0; j < packs; ++j) {
      from[j] = coordinates(tree.panels, dim, first + at + j * lanes);
      sum[j] = weighed[j] = value{};
    }
    bool beyond = false;
    if constexpr (takes_words<Term>) {
#pragma GCC unroll 4
      for (int j = 0; j < packs; ++j)
        device::store_pack(values + at + j * lanes, word_distances<lanes>(term, from[j], step, point.x, dim));
      continue;
    }
    if constexpr (takes_factors<Term>) {
      for (int j = 0; j < packs; ++j) {
        value total = device::load_pack<value>(from[j]) + point.x[0];
        term.template add_factors<1>(&total, from[j] + step, step, point.x + 1, 1, dim - 1);
        device::store_pack(values + at + j * lanes, total);
      }
      continue;
    }
    if constexpr (takes_points<Term>) {
#pragma GCC unroll 4
      for (int j = 0; j < packs; ++j) {
        value column[Term::words];
        for (int k = 0; k < Term::words; ++k) column[k] = device::load_pack<value>(from[j] + k * step);
        device::store_pack(values + at + j * lanes, term.between(column, point.x, 1));
      }
      continue;
    }
    for (std::int64_t k0 = 0; k0 < dim && !beyond; k0 += coordinates_at_once) {
      const std::int64_t end = dim - k0 < coordinates_at_once ? dim : k0 + coordinates_at_once;
      for (std::int64_t k = k0; k < end; k += parts_of<Term>)
#pragma GCC unroll 4
        for (int j = 0; j < packs; ++j)
          if constexpr (parts_of<Term> == 2)
            take_in_parts(term, sum[j], device::load_pack<value>(from[j] + k * step),
                          device::load_pack<value>(from[j] + (k + 1) * step), point.x + k, 1);
          else
            take_in(term, sum[j], device::load_pack<value>(from[j] + k * step), point.x + k);
      std::uint32_t within = 0;
#pragma GCC unroll 4
      for (int j = 0; j < packs; ++j) {
        // A bound while coordinates are missing.
        weighed[j] = end < dim ? term.bound(sum[j], dim) : term.reduced(sum[j]);
        if (tree.factor != nullptr) {
          const value both = device::load_pack<value>(tree.factor + first + at + j * lanes) * point.factor;
          weighed[j] = sum[j] * both;
        }
        within |= lanes_up_to<Real, lanes>(weighed[j], most);
      }
      beyond = within == 0;
    }
#pragma GCC unroll 4
    for (int j = 0; j < packs; ++j)
      device::store_pack(values + at + j * lanes,
                         beyond ? device::broadcast_pack<value>(std::numeric_limits<Real>::quiet_NaN()) : weighed[j]);
  }
}

template <class Real>
struct node_ahead {
  tree_node node;
  Real bound;
};

/// Walks through the leaves that may hold something within sink.limit(), or through all of them, and returns how many
/// points were looked at.
template <int Dim, class Real, class Term, class Sink>
std::int64_t walk_leaves(const tree_view<Real>& tree, const walking_point<Real>& point, bool all, const Term& term,
                         Sink& sink) {
  alignas(64) Real values[leaf_points];
  std::int64_t looked_at = 0;
  const auto look_at = [&](std::int32_t leaf) QUINTET_INLINE {
    const int count = tree.points_in_leaf(leaf);
    leaf_distances<Dim>(tree, leaf, count, point, term, sink.limit(), values);
    sink.take(values, count, std::int64_t(leaf) * leaf_points);
    looked_at += count;
  };
  if (all) {
    for (std::int32_t leaf = 0; leaf < tree.leaves; ++leaf) look_at(leaf);
    return looked_at;
  }
  // One for every depth: trees have at most 2^31 / leaf_points leaves.
  node_ahead<Real> ahead[32];
  int depth = 0;
  ahead[depth++] = {tree.root(), Real(0)};
  while (depth > 0) {
    node_ahead<Real> at = ahead[--depth];
    while (at.bound <= sink.limit() && !at.node.is_leaf()) {
      node_ahead<Real> near{at.node.left(), box_bound<Dim>(tree, at.node.left().number, point, term)};
      node_ahead<Real> far{at.node.right(), box_bound<Dim>(tree, at.node.right().number, point, term)};
      if (far.bound < near.bound) std::swap(near, far);
      if (far.bound <= sink.limit()) ahead[depth++] = far;
      at = near;
    }
    if (at.bound <= sink.limit()) look_at(at.node.first_leaf);
  }
  return looked_at;
}

/// The leaf that a walk looks at first.
template <int Dim, class Real, class Term>
std::int32_t first_leaf(const tree_view<Real>& tree, const walking_point<Real>& point, const Term& term) {
  tree_node node = tree.root();
  while (!node.is_leaf()) {
    const Real left = box_bound<Dim>(tree, node.left().number, point, term);
    node = box_bound<Dim>(tree, node.right().number, point, term) < left ? node.right() : node.left();
  }
  return node.first_leaf;
}

/// Calls f(Dim, term) with what walks are compiled for.
template <class Real, class Function>
void with_walk(const tree_view<Real>& tree, const Function& f) {
  const square_term<Real> square;
  const auto in_any = [&](const auto& term) { f(std::integral_constant<int, 0>(), term); };
  if constexpr (sizeof(Real) == 8)
    if (is_of_words(tree.term.kind)) return with_term<word_rows>(tree.term, in_any);
  if constexpr (sizeof(Real) == 8)
    if (tree.term.kind == term_kind::product) return with_term<product_rows>(tree.term, in_any);
  if (tree.term.kind != term_kind::square)
    with_term<other_metrics>(tree.term, in_any);
  else if (tree.dim == 2)
    f(std::integral_constant<int, 2>(), square);
  else if (tree.dim == 3)
    f(std::integral_constant<int, 3>(), square);
  else
    f(std::integral_constant<int, 0>(), square);
}

/// Whether a lane of a leaf's values is within the limit.
template <class Real>
QUINTET_INLINE inline bool any_within(const Real* values, int count, Real limit) {
  constexpr int lanes = device::host_lanes<Real>();
  typedef device::pack<Real, lanes> value;
  for (int first = 0; first < count; first += lanes)
    if (lanes_up_to<Real, lanes>(device::load_pack<value>(values + first), device::broadcast_pack<value>(limit)) != 0)
      return true;
  return false;
}

}  // namespace detail

/// Keeps the nearest points of a walk.
template <class Real>
class nearest_sink {
 public:
  const std::int32_t* number = nullptr;  ///< of every point, which also decides between ties; null: its place

  explicit nearest_sink(const nearest_lists<Real>& list) : list_(list) { list.clear(0); }
  Real limit() const { return limit_; }
  void take(const Real* values, int count, std::int64_t first_point) {
    if (!detail::any_within(values, count, limit_)) return;
    limit_ = take_candidates<device::host_lanes<Real>()>(list_, 0, values, count, number, first_point, limit_);
  }

 private:
  nearest_lists<Real> list_;
  Real limit_ = std::numeric_limits<Real>::infinity();
};

/// Collects (number, reduced distance) of every point of a walk within a limit.
template <class Real>
class radius_sink {
 public:
  using entries = std::vector<std::pair<std::int32_t, Real>>;
  const std::int32_t* number = nullptr;  ///< of every point

  radius_sink(Real limit, entries& to) : limit_(limit), entries_(to) {}
  Real limit() const { return limit_; }
  void take(const Real* values, int count, std::int64_t first_point) const {
    if (!detail::any_within(values, count, limit_)) return;
    for (int e = 0; e < count; ++e)
      if (values[e] <= limit_) entries_.emplace_back(number[first_point + e], values[e]);
  }

 private:
  Real limit_;
  entries& entries_;
};

/// Shows the sink the points within its limit, and others; with `all` those of all leaves, in order. Returns how many
/// points were looked at. Cost: about log N + k boxes and leaves in few dimensions.
template <class Real, class Sink>
std::int64_t walk(const tree_view<Real>& tree, const walking_point<Real>& point, bool all, Sink& sink) {
  std::int64_t looked_at = 0;
  detail::with_walk(
      tree, [&](auto dim, const auto& term) { looked_at = detail::walk_leaves<dim>(tree, point, all, term, sink); });
  return looked_at;
}

/// The leaf that a walk looks at first: points with the same leaf need the same memory.
template <class Real>
std::int32_t first_leaf(const tree_view<Real>& tree, const walking_point<Real>& point) {
  std::int32_t leaf = 0;
  detail::with_walk(tree, [&](auto dim, const auto& term) { leaf = detail::first_leaf<dim>(tree, point, term); });
  return leaf;
}

// Compiled once, for all who search: tree_walk.cpp.
extern template std::int64_t walk(const tree_view<float>&, const walking_point<float>&, bool, nearest_sink<float>&);
extern template std::int64_t walk(const tree_view<double>&, const walking_point<double>&, bool, nearest_sink<double>&);
extern template std::int64_t walk(const tree_view<float>&, const walking_point<float>&, bool, radius_sink<float>&);
extern template std::int64_t walk(const tree_view<double>&, const walking_point<double>&, bool, radius_sink<double>&);
extern template std::int32_t first_leaf(const tree_view<float>&, const walking_point<float>&);
extern template std::int32_t first_leaf(const tree_view<double>&, const walking_point<double>&);

}  // namespace quintet::pairwise
