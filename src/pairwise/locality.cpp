#include "pairwise/locality.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "instantiate.hpp"
#include "pairwise/neighbours.hpp"
#include "pairwise/sinks.hpp"

namespace quintet::pairwise {

namespace {

constexpr std::int64_t points_per_pivot = 96, max_pivots = 2048;
// Fewer points than this are a handful of tiles; no order helps them.
constexpr std::int64_t min_points = 1024;
// Points assigned to pivots at a time: bounds the workspace.
constexpr std::int64_t chunk_points = 8192;

/// The value that splits numbers into two classes with the largest variance between them (Otsu, 1979).
template <class Real>
Real two_class_threshold(std::vector<Real> values) {
  std::sort(values.begin(), values.end());
  double total = 0;
  for (const Real v : values) total += double(v);
  double below = 0, best = -1;
  Real threshold = values.back();
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    below += double(values[i]);
    const double m = double(i + 1), n = double(values.size());
    const double difference = below / m - (total - below) / (n - m);
    const double between = m * (n - m) * difference * difference;
    if (between <= best) continue;
    best = between;
    threshold = values[i];
  }
  return threshold;
}

}  // namespace

std::vector<std::int32_t> chosen_pivots(std::int64_t n) {
  if (n < min_points) return {};
  const std::int64_t count = std::min(n / points_per_pivot, max_pivots);
  std::vector<std::int32_t> chosen(count);
  for (std::int64_t p = 0; p < count; ++p) chosen[p] = std::int32_t(p * n / count);
  return chosen;
}

/// Position of every pivot on a walk that always goes on to the pivot nearest to those visited (Prim's order).
template <class Real>
std::vector<std::int32_t> pivot_places(const panels<Real>& pivots, const reduced_metric<Real>& metric) {
  const std::int64_t p = pivots.count;
  reduced_metric<Real> measure = metric;
  measure.unscale = 1;  // so that no distance overflows
  Buffer<Real> matrix(p * p, pivots.device());
  dense<Real>({.panels = pivots.data.data(),
               .dim = pivots.dim,
               .count = p,
               .measure = measure,
               .core = nullptr,
               .alpha = 1,
               .core_on_diagonal = false,
               .out = matrix.data(),
               .out_stride = p,
               .factors = {pivots.factor.data(), pivots.factor.data()}},
              pivots.device());
  const std::vector<Real> distance = matrix.to_vector();
  std::vector<std::int32_t> rank(p, -1);
  std::vector<Real> nearest(p, std::numeric_limits<Real>::infinity());
  std::int64_t at = 0;
  for (std::int32_t step = 0; step < p; ++step) {
    rank[at] = step;
    std::int64_t next = -1;
    for (std::int64_t j = 0; j < p; ++j) {
      if (rank[j] >= 0) continue;
      nearest[j] = std::min(nearest[j], distance[at * p + j]);
      if (next < 0 || nearest[j] < nearest[next]) next = j;
    }
    at = next;
  }
  return rank;
}

template <class Storage>
pivot_choice<accumulator_t<Storage>> choose_pivots(const scanned_points<Storage>& points,
                                                   const std::vector<std::int32_t>& rows,
                                                   const panels<accumulator_t<Storage>>& pivots,
                                                   const std::vector<std::int32_t>& places) {
  const auto n = std::int64_t(rows.size());
  pivot_choice<accumulator_t<Storage>> chosen;
  chosen.pivot.resize(n);
  chosen.distance.resize(n);
  for (std::int64_t first = 0; first < n; first += chunk_points) {
    const std::int64_t count = std::min(chunk_points, n - first);
    const std::vector<std::int32_t> chunk(rows.begin() + first, rows.begin() + first + count);
    const auto nearest = nearest_points(points.pack(chunk), pivots, 1);
    for (std::int64_t i = 0; i < count; ++i) {
      chosen.pivot[first + i] = places[nearest.index[i]];
      chosen.distance[first + i] = nearest.value[i];
    }
  }
  return chosen;
}

template <class Real>
std::vector<std::int32_t> order_by_pivot(const pivot_choice<Real>& chosen, const std::vector<std::int32_t>& rows) {
  // Points far from every pivot are mostly noise. They come last, in blocks of their own: a block's bounds are those of
  // its densest point, and their core distances are large.
  const Real threshold = two_class_threshold(chosen.distance);
  std::vector<std::tuple<bool, std::int32_t, Real, std::int32_t>> key(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    key[i] = {chosen.distance[i] > threshold, chosen.pivot[i], chosen.distance[i], rows[i]};
  std::sort(key.begin(), key.end());
  std::vector<std::int32_t> order(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) order[i] = std::get<3>(key[i]);
  return order;
}

template <class Storage>
std::vector<std::int32_t> locality_order(const scanned_points<Storage>& points) {
  const std::vector<std::int32_t> rows = points.valid_rows();
  std::vector<std::int32_t> chosen = chosen_pivots(std::int64_t(rows.size()));
  if (chosen.empty()) return rows;
  for (std::int32_t& row : chosen) row = rows[row];
  const auto pivots = points.pack(chosen);
  return order_by_pivot(choose_pivots(points, rows, pivots, pivot_places(pivots, points.measure)), rows);
}

#define QUINTET_INSTANTIATE(Real)                                                                    \
  template std::vector<std::int32_t> pivot_places(const panels<Real>&, const reduced_metric<Real>&); \
  template std::vector<std::int32_t> order_by_pivot(const pivot_choice<Real>&, const std::vector<std::int32_t>&);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

#define QUINTET_INSTANTIATE(Storage)                                                                           \
  template pivot_choice<accumulator_t<Storage>> choose_pivots(                                                 \
      const scanned_points<Storage>&, const std::vector<std::int32_t>&, const panels<accumulator_t<Storage>>&, \
      const std::vector<std::int32_t>&);                                                                       \
  template std::vector<std::int32_t> locality_order(const scanned_points<Storage>&);
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)

}  // namespace quintet::pairwise
