#include "quintet/hdbscan/prediction.hpp"

#include "hdbscan/joining.hpp"
#include "hdbscan/predicted_rows.hpp"
#include "quintet/core/profile.hpp"

namespace quintet::hdbscan {

namespace {

// New points that are packed at a time.
constexpr std::int64_t rows_together = 8192;

/// Up to rows_together valid rows beginning with `next`, which moves on behind the last one that was looked at.
template <class Storage>
std::vector<std::int32_t> next_valid_rows(const pairwise::scanned_points<Storage>& points, std::int64_t& next) {
  std::vector<std::int32_t> rows;
  for (; next < points.count() && std::int64_t(rows.size()) < rows_together; ++next)
    if (points.valid(next)) rows.push_back(std::int32_t(next));
  return rows;
}

template <class Storage>
prediction predict(const cluster_result& model, matrix_view<const Storage> points,
                   matrix_view<const Storage> new_points, const Device& requested_device) {
  const stage_region stage("predict");
  const Device device = device::run_device(requested_device, {{"points", points}, {"new_points", new_points}});
  check_model(model, points, new_points);
  prediction result = nothing_known(new_points.rows());
  pairwise::scanned_points<Storage> fitted(points, model.options.distance, device);
  pairwise::scanned_points<Storage> queries(new_points, model.options.distance, device);
  if (fitted.valid_count() == 0 || queries.valid_count() == 0) return result;
  fitted.exclude(model.excluded_rows);
  if (fitted.valid_count() == 0) return result;
  fitted.share_scale(fitted, queries);
  const fitted_tree tree(model);
  const join_finder<Storage> find(fitted, model, queries.valid_count());
  for (std::int64_t next = 0; next < new_points.rows();) {
    const auto rows = next_valid_rows(queries, next);
    const join_table joins = find(queries, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) enter(result, rows[i], tree, joins.neighbour[i], joins.lambda[i]);
  }
  return result;
}

}  // namespace

prediction approximate_predict(const cluster_result& model, any_matrix points, any_matrix new_points,
                               const Device& device) {
  return with_storage(points.type, [&]<class T>() {
    return predict<T>(model, points.as<T>("points"), new_points.as<T>("new_points"), device);
  });
}

}  // namespace quintet::hdbscan
