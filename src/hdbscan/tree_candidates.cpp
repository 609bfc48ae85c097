#include "hdbscan/tree_candidates.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "core/polled.hpp"
#include "device/parallel.hpp"
#include "hdbscan/core_mass.hpp"
#include "hdbscan/spanning_tree_stages.hpp"
#include "instantiate.hpp"

namespace quintet::hdbscan {

namespace {

/// The place of an edge that is in no list.
constexpr std::int32_t no_place = std::numeric_limits<std::int32_t>::max();

}  // namespace

template <class Real>
tree_candidates<Real>::tree_candidates(listed_tree<Real>& largest, std::int64_t points, double alpha)
    : points_(points),
      alpha_(alpha),
      measure_(largest.measure),
      order_(std::move(largest.order)),
      lists_(std::move(largest.lists)),
      exact_(largest.exact),
      largest_(largest.tree.neighbours),
      invalid_rows_(largest.tree.invalid_rows),
      excluded_rows_(largest.tree.excluded_rows),
      weights_(largest.tree.weights),
      last_(largest_),
      forest_(points),
      suffice_(alpha == 1 || lists_reach_far()) {
  if (suffice_) gather(largest);
}

template <class Real>
bool tree_candidates<Real>::lists_reach_far() const {
  if (std::int64_t(order_.size()) - 1 == exact_) return true;  // nothing is outside
  const std::vector<Real> core = scaled_cores(cores(largest_), alpha_, measure_);
  for (std::size_t i = 0; i < order_.size(); ++i)
    if (core[order_[i]] > lists_.value[i * lists_.k + exact_ - 1]) return false;
  return true;
}

template <class Real>
template <class Use>
void tree_candidates<Real>::for_each_entry(const listed_tree<Real>& largest, const Use& use) const {
  for (std::size_t i = 0; i < order_.size(); ++i) {
    quintet::detail::poll_sometimes(std::int64_t(i) * exact_);
    for (int place = 0; place < exact_; ++place) {
      const std::size_t at = i * lists_.k + place;
      if (lists_.index[at] < 0) break;
      const std::int32_t a = order_[i], b = order_[lists_.index[at]];
      use(std::min(a, b), std::max(a, b), lists_.value[at], std::int32_t(place));
    }
  }
  for (std::size_t e = 0; e < largest.tree.edges.size(); ++e)
    use(std::int32_t(largest.tree.edges[e].u), std::int32_t(largest.tree.edges[e].v), largest.edge_distance[e],
        no_place);
}

template <class Real>
void tree_candidates<Real>::gather(const listed_tree<Real>& largest) {
  std::vector<std::int64_t> begin(std::size_t(points_) + 1, 0);
  for_each_entry(largest, [&](std::int32_t u, std::int32_t, Real, std::int32_t) { ++begin[u + 1]; });
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  candidates_.resize(std::size_t(begin.back()));
  std::vector<std::int64_t> next(begin.begin(), begin.end() - 1);
  for_each_entry(largest, [&](std::int32_t u, std::int32_t v, Real distance, std::int32_t place) {
    candidates_[next[u]++] = {u, v, distance, place};
  });
  constexpr std::int64_t at_once = 1024;
  device::for_each_side_by_side((points_ + at_once - 1) / at_once, [&](std::int64_t part) {
    for (std::int64_t u = part * at_once; u < std::min(points_, (part + 1) * at_once); ++u)
      std::sort(candidates_.begin() + begin[u], candidates_.begin() + begin[u + 1],
                [](const candidate& a, const candidate& b) { return a.v != b.v ? a.v < b.v : a.place < b.place; });
  });
  keep_distinct(begin);
}

template <class Real>
void tree_candidates<Real>::keep_distinct(const std::vector<std::int64_t>& begin) {
  std::size_t count = 0;
  for (std::int64_t u = 0; u < points_; ++u)
    for (std::int64_t i = begin[u]; i < begin[u + 1]; ++i) {
      const candidate entry = candidates_[i];
      if (i == begin[u] || candidates_[count - 1].v != entry.v) {
        candidates_[count++] = entry;
        in_tree_.push_back(0);
      }
      if (entry.place == no_place) in_tree_.back() = 1;
    }
  candidates_.resize(count);
}

template <class Real>
std::vector<Real> tree_candidates<Real>::cores(std::int64_t k) const {
  std::vector<Real> core(std::size_t(points_), 0);
  if (weights_.empty()) {
    for (std::size_t i = 0; k > 0 && i < order_.size(); ++i) core[order_[i]] = lists_.value[i * lists_.k + k - 1];
    return core;
  }
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const std::int64_t first = std::int64_t(i) * lists_.k;
    const auto weight = [&](std::int64_t e) {
      const std::int32_t entry = lists_.index[first + e];
      return entry < 0 ? -1 : weights_[order_[entry]];
    };
    core[order_[i]] = ball_of(double(k) + 1, weights_[order_[i]], lists_.value.data() + first, exact_, weight).radius;
  }
  return core;
}

template <class Real>
std::vector<edge> tree_candidates<Real>::weigh(const std::vector<std::uint32_t>& tree,
                                               const std::vector<double>& core) const {
  std::vector<edge> edges;
  edges.reserve(tree.size());
  for (const std::uint32_t at : tree) {
    const candidate& e = candidates_[at];
    edges.push_back({e.u, e.v, edge_weight(core[e.u], core[e.v], e.distance, alpha_, measure_)});
  }
  // Rounding makes some weights equal, and alpha may change their order.
  const auto is_heavier = [](const edge& a, const edge& b) { return a.weight > b.weight; };
  if (std::adjacent_find(edges.begin(), edges.end(), is_heavier) != edges.end()) {
    std::sort(edges.begin(), edges.end());
    return edges;
  }
  for (auto first = edges.begin(), last = first; first != edges.end(); first = last) {
    last = std::find_if(first, edges.end(), [&](const edge& e) { return e.weight != first->weight; });
    if (last - first > 1) std::sort(first, last);
  }
  return edges;
}

template <class Real>
void tree_candidates<Real>::drop_unneeded() {
  if (alpha_ != 1) return;
  // Balls of points of less than 1 reach beyond the first entries.
  if (std::any_of(weights_.begin(), weights_.end(), [](double weight) { return weight > 0 && weight < 1; })) return;
  std::size_t count = 0;
  for (std::size_t e = 0; e < candidates_.size(); ++e) {
    candidates_[count] = candidates_[e];
    in_tree_[count] = in_tree_[e];
    count += candidates_[e].place < last_ || in_tree_[e];
  }
  candidates_.resize(count);
  in_tree_.resize(count);
}

template <class Real>
spanning_tree_result tree_candidates<Real>::tree(std::int64_t k) {
  const std::vector<Real> core = cores(k), scaled = scaled_cores(core, alpha_, measure_);
  using bits = typename weighed_edge<Real>::bits;
  drop_unneeded();
  std::vector<weighed_edge<Real>>& edges = forest_.edges();
  edges.clear();
  edges.reserve(candidates_.size());
  // push_back: g++ 12 ends with an internal error when it vectorises the loop that assigns to edges[e].
  for (std::size_t e = 0; e < candidates_.size(); ++e) {
    const candidate& c = candidates_[e];
    const Real weight = pairwise::mutual_reachability(scaled[c.u], scaled[c.v], c.distance);
    edges.push_back({std::bit_cast<bits>(weight), std::uint32_t(e), c.u, c.v});
  }
  const std::vector<std::uint32_t> tree = forest_.find();
  std::fill(in_tree_.begin(), in_tree_.end(), 0);
  for (const std::uint32_t e : tree) in_tree_[e] = 1;
  last_ = k;

  spanning_tree_result result;
  result.neighbours = k;
  result.invalid_rows = invalid_rows_;
  result.excluded_rows = excluded_rows_;
  result.weights = weights_;
  result.core_distances.assign(std::size_t(points_), 0);
  for (const std::int32_t i : order_) result.core_distances[i] = measure_.distance(core[i]);
  for (const std::int64_t i : rows_of_both(invalid_rows_, excluded_rows_))
    result.core_distances[i] = std::numeric_limits<double>::quiet_NaN();
  result.edges = weigh(tree, result.core_distances);
  return result;
}

template class tree_candidates<float>;
template class tree_candidates<double>;

}  // namespace quintet::hdbscan
