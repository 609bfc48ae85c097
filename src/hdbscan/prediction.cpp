#include "quintet/hdbscan/prediction.hpp"

#include "hdbscan/fitted_tree.hpp"
#include "hdbscan/joining.hpp"
#include "hdbscan/tree_rules.hpp"
#include "quintet/core/profile.hpp"

namespace quintet::hdbscan {

namespace {

// New points that are packed at a time.
constexpr std::int64_t rows_together = 8192;

prediction nothing_known(std::int64_t count) {
  return {std::vector<std::int64_t>(count, -1), std::vector<double>(count, 0), std::vector<double>(count, 1),
          std::vector<std::int64_t>(count, -1), std::vector<double>(count, 0)};
}

/// Up to rows_together valid rows beginning with `next`, which moves on behind the last one that was looked at.
template <class Storage>
std::vector<std::int32_t> next_valid_rows(const pairwise::scanned_points<Storage>& points, std::int64_t& next) {
  std::vector<std::int32_t> rows;
  for (; next < points.count() && std::int64_t(rows.size()) < rows_together; ++next)
    if (points.valid(next)) rows.push_back(std::int32_t(next));
  return rows;
}

void enter(prediction& result, std::int64_t row, const fitted_tree& tree, std::int64_t neighbour, double lambda) {
  const tree_place place = tree.joining(neighbour, lambda);
  const std::int64_t label = tree.label(place);
  result.labels[row] = label;
  result.probabilities[row] = label < 0 ? 0 : membership_probability(lambda, tree.peak_of_label(label));
  result.outlier_scores[row] = tree.outlier_score(place);
  result.neighbours[row] = neighbour;
  result.lambdas[row] = lambda;
}

template <class Storage>
prediction predict(const cluster_result& model, matrix_view<const Storage> points,
                   matrix_view<const Storage> new_points, const Device& given) {
  const stage_region stage("predict");
  const Device device = device::run_device(given, {{"points", points}, {"new_points", new_points}});
  check_model(model, points, new_points);
  prediction result = nothing_known(new_points.rows());
  pairwise::scanned_points<Storage> fitted(points, model.options.distance, device);
  pairwise::scanned_points<Storage> queries(new_points, model.options.distance, device);
  if (fitted.valid_count() == 0 || queries.valid_count() == 0) return result;
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
