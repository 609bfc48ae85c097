#include "quintet/hdbscan/prediction.hpp"

#include "hdbscan/fitted_tree.hpp"
#include "hdbscan/joining.hpp"
#include "hdbscan/scan_points.hpp"
#include "hdbscan/tree_rules.hpp"

namespace quintet::hdbscan {

namespace {

// New points that are packed at a time.
constexpr std::int64_t rows_together = 8192;

prediction nothing_known(std::int64_t count) {
  return {std::vector<std::int64_t>(count, -1), std::vector<double>(count, 0), std::vector<double>(count, 1),
          std::vector<std::int64_t>(count, -1), std::vector<double>(count, 0)};
}

/// Up to rows_together valid rows beginning with `next`, which moves on behind the last one that was looked at.
template <class Real>
std::vector<std::int32_t> next_valid_rows(const pairwise::row_scan<Real>& scan, std::int64_t& next) {
  std::vector<std::int32_t> rows;
  for (; next < std::int64_t(scan.valid.size()) && std::int64_t(rows.size()) < rows_together; ++next)
    if (scan.valid[next]) rows.push_back(std::int32_t(next));
  return rows;
}

void enter(prediction& result, std::int64_t row, const fitted_tree& tree, std::int64_t neighbour, double lambda) {
  const tree_place place = tree.joining(neighbour, lambda);
  const std::int64_t label = tree.label(place);
  result.labels[row] = label;
  result.probabilities[row] = label < 0 ? 0 : membership_probability(lambda, tree.death_of_label(label));
  result.outlier_scores[row] = tree.outlier_score(place);
  result.neighbours[row] = neighbour;
  result.lambdas[row] = lambda;
}

}  // namespace

template <class Storage>
prediction approximate_predict(const cluster_result& model, matrix_view<const Storage> points,
                               matrix_view<const Storage> new_points, const Device& device) {
  check_model(model, points, new_points);
  prediction result = nothing_known(new_points.rows());
  auto scan = scan_points(points, model.options.distance);
  auto new_scan = scan_points(new_points, model.options.distance);
  if (scan.valid_count() == 0 || new_scan.valid_count() == 0) return result;
  share_scale(points, scan, new_points, new_scan);
  const fitted_tree tree(model);
  const join_finder<Storage> find(points, scan, model, device);
  for (std::int64_t next = 0; next < new_points.rows();) {
    const auto rows = next_valid_rows(new_scan, next);
    const join_table joins = find(new_points, new_scan, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) enter(result, rows[i], tree, joins.neighbour[i], joins.lambda[i]);
  }
  return result;
}

#define QUINTET_INSTANTIATE(Storage)                                                         \
  template prediction approximate_predict(const cluster_result&, matrix_view<const Storage>, \
                                          matrix_view<const Storage>, const Device&);
QUINTET_INSTANTIATE(float)
QUINTET_INSTANTIATE(double)
QUINTET_INSTANTIATE(half)
QUINTET_INSTANTIATE(bfloat16)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::hdbscan
