#include "quintet/neighbours/neighbours.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "instantiate.hpp"
#include "neighbours/results.hpp"
#include "pairwise/check_points.hpp"
#include "pairwise/scanned_points.hpp"
#include "pairwise/sheet_lists.hpp"
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

  point_sets(const matrix_view<const Storage>* queries, matrix_view<const Storage> rows, const options& settings,
             const Device& device)
      : points((pairwise::check_points(rows), rows), settings.distance, device) {
    if (queries == nullptr) return;
    pairwise::check_points(*queries);
    if (rows.rows() > 0 && queries->rows() > 0)
      require_argument(queries->cols() == rows.cols(), "queries.cols", queries->cols(),
                       text("points.cols=", rows.cols()));
    asked.emplace(*queries, settings.distance, device);
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

template <class Storage>
nearest_result<accumulator_t<Storage>> nearest_of(const point_sets<Storage>& sets, std::int64_t k,
                                                  const Device& device) {
  using Real = accumulator_t<Storage>;
  const std::int64_t n = sets.points.count(), max = std::max<std::int64_t>(sets.same() ? n - 1 : n, 1);
  require_argument(k >= 1 && k <= max, "k", k, text("in [1, ", max, "]"));
  auto result = empty_lists<Real>(sets.queries().count(), n, k, device);
  result.invalid_queries = sets.queries().invalid_rows();
  result.invalid_points = sets.points.invalid_rows();
  if (!sets.has_pairs()) return result;

  if (pairwise::may_have_tree(sets.points)) {
    const tree_pair<Real> trees(sets);
    if (pairwise::sampled_share(trees.queries(), trees.points(), int(k)) <= pairwise::worthwhile_share) {
      pairwise::tree_work work;
      const auto lists =
          pairwise::nearest_points_on_device(trees.queries(), trees.points(), int(k), work, trees.number());
      result.pairs_evaluated = work.pairs;
      put_lists(lists, trees.query_order(), sets.points.measure, result);
      return result;
    }
  }
  if constexpr (std::is_same_v<Storage, double>)
    if (!sets.same() && pairwise::sheet_filter_pays(sets.queries(), sets.points, int(k))) {
      result.pairs_evaluated = result.queries * n;
      put_lists(pairwise::nearest_on_sheet(sets.queries(), sets.points, int(k)), {}, sets.points.measure, result);
      return result;
    }
  const auto points = sets.points.pack();
  const bool once = sets.same() && pairwise::sharing_of(device) == pairwise::list_sharing::symmetric;
  result.pairs_evaluated = once ? n * (n - 1) / 2 : result.queries * n;
  const auto lists = sets.same() ? nearest_others(sets.points, points, int(k))
                                 : pairwise::nearest_points_on_device(sets.queries().pack(), points, int(k));
  put_lists(lists, {}, sets.points.measure, result);
  return result;
}

template <class Storage>
radius_result<accumulator_t<Storage>> within_of(const point_sets<Storage>& sets, double radius, const Device& device) {
  using Real = accumulator_t<Storage>;
  check_radius(radius, sets.points.kind());
  auto result = empty_rows<Real>(sets.queries().count(), sets.points.count(), device);
  result.invalid_queries = sets.queries().invalid_rows();
  result.invalid_points = sets.points.invalid_rows();
  if (!sets.has_pairs()) return result;

  const tree_pair<Real> trees(sets);
  put_within<Real>({list_within(trees.queries(), trees.points(), trees.query_order(), trees.number(),
                                sets.points.measure, radius, result.pairs_evaluated)},
                   result);
  return result;
}

}  // namespace

template <class Storage>
nearest_result<accumulator_t<Storage>> nearest(matrix_view<const Storage> points, std::int64_t k,
                                               const options& settings, const Device& device) {
  const stage_region stage("neighbours");
  return nearest_of(point_sets<Storage>(nullptr, points, settings, device), k, device);
}

template <class Storage>
nearest_result<accumulator_t<Storage>> nearest(matrix_view<const Storage> queries, matrix_view<const Storage> points,
                                               std::int64_t k, const options& settings, const Device& device) {
  const stage_region stage("neighbours");
  return nearest_of(point_sets<Storage>(&queries, points, settings, device), k, device);
}

template <class Storage>
radius_result<accumulator_t<Storage>> within_radius(matrix_view<const Storage> points, double radius,
                                                    const options& settings, const Device& device) {
  const stage_region stage("neighbours");
  return within_of(point_sets<Storage>(nullptr, points, settings, device), radius, device);
}

template <class Storage>
radius_result<accumulator_t<Storage>> within_radius(matrix_view<const Storage> queries,
                                                    matrix_view<const Storage> points, double radius,
                                                    const options& settings, const Device& device) {
  const stage_region stage("neighbours");
  return within_of(point_sets<Storage>(&queries, points, settings, device), radius, device);
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
