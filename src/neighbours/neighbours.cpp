#include "quintet/neighbours/neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "device/for_each.hpp"
#include "device/parallel.hpp"
#include "instantiate.hpp"
#include "pairwise/check_points.hpp"
#include "pairwise/filtered_lists.hpp"
#include "pairwise/scanned_points.hpp"
#include "pairwise/tree_points.hpp"
#include "quintet/core/profile.hpp"

namespace quintet::neighbours {

namespace {

using pairwise::scanned_points;
using pairwise::tree_points;

/// Queries and points of one call, on its device; without queries the points look for each other.
template <class Storage>
struct point_sets {
  using Real = accumulator_t<Storage>;
  scanned_points<Storage> points;
  std::optional<scanned_points<Storage>> asked;

  point_sets(const matrix_view<const Storage>* queries, matrix_view<const Storage> rows, const options& how,
             const Device& device)
      : points((pairwise::check_points(rows), rows), how.distance, device) {
    if (queries == nullptr) return;
    pairwise::check_points(*queries);
    if (rows.rows() > 0 && queries->rows() > 0)
      require_argument(queries->cols() == rows.cols(), "queries.cols", queries->cols(),
                       text("points.cols=", rows.cols()));
    asked.emplace(*queries, how.distance, device);
    points.share_scale(*asked, points);
  }

  bool same() const { return !asked; }
  const scanned_points<Storage>& queries() const { return asked ? *asked : points; }
  bool has_pairs() const { return points.valid_count() > 0 && queries().valid_count() > 0; }
};

/// The trees of both sets; one where they are the same.
template <class Real>
class tree_pair {
 public:
  template <class Storage>
  explicit tree_pair(const point_sets<Storage>& sets)
      : points_(sets.points), number_(points_.order, sets.points.device()) {
    if (!sets.same()) queries_.emplace(sets.queries());
  }
  const pairwise::block_tree<Real>& queries() const { return queries_ ? queries_->tree : points_.tree; }
  const pairwise::block_tree<Real>& points() const { return points_.tree; }
  /// The caller's numbers of the queries, as they are packed.
  const std::vector<std::int32_t>& query_order() const { return queries_ ? queries_->order : points_.order; }
  const std::int32_t* number() const { return number_.data(); }

 private:
  tree_points<Real> points_;
  std::optional<tree_points<Real>> queries_;
  Buffer<std::int32_t> number_;
};

/// Puts the first entries of lists into the rows of the result, row i of the lists into order[i] (i, if there is no
/// order).
template <class Real>
void put_lists(const pairwise::device_neighbours<Real>& found, const std::vector<std::int32_t>& order,
               const pairwise::reduced_metric<Real>& metric, nearest_result<Real>& result) {
  const bool is_shared = found.value.device().shares_host_memory();
  const std::vector<Real> values = is_shared ? std::vector<Real>{} : found.value.to_vector();
  const std::vector<std::int32_t> indices = is_shared ? std::vector<std::int32_t>{} : found.index.to_vector();
  const Real* const value = is_shared ? found.value.data() : values.data();
  const std::int32_t* const index = is_shared ? found.index.data() : indices.data();
  constexpr std::int64_t at_once = 4096;
  device::for_each_side_by_side((found.rows + at_once - 1) / at_once, [&](std::int64_t part) {
    for (std::int64_t i = part * at_once; i < std::min(found.rows, (part + 1) * at_once); ++i) {
      const std::int64_t row = order.empty() ? i : order[i];
      for (std::int64_t e = 0; e < result.k; ++e) {
        if (index[i * found.k + e] < 0) continue;
        result.index[row * result.k + e] = index[i * found.k + e];
        result.distance[row * result.k + e] = metric.distance(value[i * found.k + e]);
      }
    }
  });
}

/// Lists of at least the k nearest.
template <class Storage, class Real = accumulator_t<Storage>>
pairwise::device_neighbours<Real> nearest_others(const scanned_points<Storage>& points,
                                                 const pairwise::panels<Real>& packed, int k) {
  const int length = int(std::min<std::int64_t>(points.count() - 1, pairwise::filtered_length(k)));
  const bool filtered = pairwise::filter_pays(points, points.count(), length);
  return pairwise::nearest_others_filtered(points, {}, packed, {.length = filtered ? length : k, .exact = k});
}

template <class Storage>
nearest_result<accumulator_t<Storage>> nearest_of(const point_sets<Storage>& sets, std::int64_t k,
                                                  const Device& device) {
  using Real = accumulator_t<Storage>;
  const std::int64_t n = sets.points.count(), max = std::max<std::int64_t>(sets.same() ? n - 1 : n, 1);
  require_argument(k >= 1 && k <= max, "k", k, text("in [1, ", max, "]"));
  nearest_result<Real> result;
  result.ran_on = device;
  result.queries = sets.queries().count();
  result.points = n;
  result.k = k;
  result.index.assign(result.queries * k, -1);
  result.distance.assign(result.queries * k, std::numeric_limits<Real>::quiet_NaN());
  result.invalid_queries = sets.queries().invalid_rows();
  result.invalid_points = sets.points.invalid_rows();
  if (!sets.has_pairs()) return result;

  if (pairwise::may_have_tree(sets.points)) {
    const tree_pair<Real> trees(sets);
    if (pairwise::sampled_share(trees.queries(), trees.points(), int(k)) <= pairwise::worthwhile_share) {
      pairwise::tree_work work;
      const auto found =
          pairwise::nearest_points_on_device(trees.queries(), trees.points(), int(k), work, trees.number());
      result.pairs_evaluated = work.pairs;
      put_lists(found, trees.query_order(), sets.points.measure, result);
      return result;
    }
  }
  const auto points = sets.points.pack();
  const bool once = sets.same() && pairwise::sharing_of(device) == pairwise::list_sharing::symmetric;
  result.pairs_evaluated = once ? n * (n - 1) / 2 : result.queries * n;
  const auto found = sets.same() ? nearest_others(sets.points, points, int(k))
                                 : pairwise::nearest_points_on_device(sets.queries().pack(), points, int(k));
  put_lists(found, {}, sets.points.measure, result);
  return result;
}

/// The largest reduced distance whose distance is at most the radius.
template <class Real>
Real reduced_limit(const pairwise::reduced_metric<Real>& metric, Real radius) {
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  Real limit = metric.reduced(radius);
  if (!(limit < infinity)) return std::numeric_limits<Real>::max();
  while (limit > 0 && metric.distance(limit) > radius) limit = std::nextafter(limit, Real(0));
  for (Real next = std::nextafter(limit, infinity); next < infinity && metric.distance(next) <= radius;
       next = std::nextafter(next, infinity))
    limit = next;
  return limit;
}

/// Reduced distances become distances, in place (rdist_to_dist of scikit-learn's DistanceMetric).
template <class Real>
struct take_distance {
  pairwise::reduced_metric<Real> metric;
  Real* value;
  void operator()(std::int64_t i) const { value[i] = metric.distance(value[i]); }
};

template <class Storage>
radius_result<accumulator_t<Storage>> within_of(const point_sets<Storage>& sets, double radius, const Device& device) {
  using Real = accumulator_t<Storage>;
  require_argument(radius >= 0 && std::isfinite(radius), "radius", radius, ">= 0 and finite");
  radius_result<Real> result;
  result.ran_on = device;
  result.queries = sets.queries().count();
  result.points = sets.points.count();
  result.row_pointers.assign(result.queries + 1, 0);
  result.invalid_queries = sets.queries().invalid_rows();
  result.invalid_points = sets.points.invalid_rows();
  if (!sets.has_pairs()) return result;

  const tree_pair<Real> trees(sets);
  pairwise::tree_work work;
  // The largest Real that is no larger: distances are of that type.
  Real limit = Real(std::min(radius, double(std::numeric_limits<Real>::max())));
  if (double(limit) > radius) limit = std::nextafter(limit, Real(0));
  auto found = pairwise::within_reduced(trees.queries(), trees.points(), reduced_limit(sets.points.measure, limit),
                                        work, trees.number());
  result.pairs_evaluated = work.pairs;
  device::for_each(found.value.size(), take_distance<Real>{sets.points.measure, found.value.data()}, device);
  const std::vector<std::int64_t> index = found.index.to_vector();
  const std::vector<Real> distance = found.value.to_vector();
  const std::vector<std::int32_t>& order = trees.query_order();
  for (std::size_t i = 0; i < order.size(); ++i)
    result.row_pointers[order[i] + 1] = found.row_pointers[i + 1] - found.row_pointers[i];
  for (std::int64_t i = 0; i < result.queries; ++i) result.row_pointers[i + 1] += result.row_pointers[i];
  result.index.resize(index.size());
  result.distance.resize(index.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t from = found.row_pointers[i], end = found.row_pointers[i + 1];
    std::copy(index.begin() + from, index.begin() + end, result.index.begin() + result.row_pointers[order[i]]);
    std::copy(distance.begin() + from, distance.begin() + end, result.distance.begin() + result.row_pointers[order[i]]);
  }
  return result;
}

}  // namespace

template <class Storage>
nearest_result<accumulator_t<Storage>> nearest(matrix_view<const Storage> points, std::int64_t k, const options& how,
                                               const Device& device) {
  const stage_region stage("neighbours");
  return nearest_of(point_sets<Storage>(nullptr, points, how, device), k, device);
}

template <class Storage>
nearest_result<accumulator_t<Storage>> nearest(matrix_view<const Storage> queries, matrix_view<const Storage> points,
                                               std::int64_t k, const options& how, const Device& device) {
  const stage_region stage("neighbours");
  return nearest_of(point_sets<Storage>(&queries, points, how, device), k, device);
}

template <class Storage>
radius_result<accumulator_t<Storage>> within_radius(matrix_view<const Storage> points, double radius,
                                                    const options& how, const Device& device) {
  const stage_region stage("neighbours");
  return within_of(point_sets<Storage>(nullptr, points, how, device), radius, device);
}

template <class Storage>
radius_result<accumulator_t<Storage>> within_radius(matrix_view<const Storage> queries,
                                                    matrix_view<const Storage> points, double radius,
                                                    const options& how, const Device& device) {
  const stage_region stage("neighbours");
  return within_of(point_sets<Storage>(&queries, points, how, device), radius, device);
}

#define QUINTET_INSTANTIATE(Storage)                                                                                   \
  template nearest_result<accumulator_t<Storage>> nearest(matrix_view<const Storage>, std::int64_t, const options&,    \
                                                          const Device&);                                              \
  template nearest_result<accumulator_t<Storage>> nearest(matrix_view<const Storage>, matrix_view<const Storage>,      \
                                                          std::int64_t, const options&, const Device&);                \
  template radius_result<accumulator_t<Storage>> within_radius(matrix_view<const Storage>, double, const options&,     \
                                                               const Device&);                                         \
  template radius_result<accumulator_t<Storage>> within_radius(matrix_view<const Storage>, matrix_view<const Storage>, \
                                                               double, const options&, const Device&);
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)

}  // namespace quintet::neighbours
