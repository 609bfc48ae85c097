#include "quintet/hdbscan/membership.hpp"

#include <algorithm>

#include "hdbscan/joining.hpp"
#include "hdbscan/membership_source.hpp"
#include "quintet/core/profile.hpp"

namespace quintet::hdbscan {

namespace {

constexpr std::int64_t min_rows = 64, max_rows = 8192, dense_budget = std::int64_t(32) << 20;

std::int64_t rows_in_budget(std::int64_t budget_bytes, std::int64_t clusters) {
  return std::clamp<std::int64_t>(budget_bytes / (clusters * std::int64_t(sizeof(double))), min_rows, max_rows);
}

/// Calls fill(which, block) for the valid rows of one block of zeros after another, and hands the blocks out.
template <class Storage, class Fill>
bool for_membership_blocks(const pairwise::scanned_points<Storage>& points, std::int64_t clusters,
                           std::int64_t budget_bytes, const membership_callback& receive, const Fill& fill) {
  const std::int64_t rows = points.count(), together = rows_in_budget(budget_bytes, clusters);
  std::vector<double> block;
  for (std::int64_t first = 0; first < rows; first += together) {
    const std::int64_t count = std::min(together, rows - first);
    block.assign(count * clusters, 0);
    std::vector<std::int32_t> row_numbers;
    for (std::int64_t i = first; i < first + count; ++i)
      if (points.valid(i)) row_numbers.push_back(std::int32_t(i));
    fill(row_numbers, [&](std::int64_t i) { return block.data() + (row_numbers[i] - first) * clusters; });
    if (!receive(first, {block.data(), count, clusters})) return false;
  }
  return true;
}

/// Collects the blocks of rows(receive) into one matrix.
template <class Rows>
std::vector<double> collected(std::int64_t count, std::int64_t clusters, const Rows& rows) {
  std::vector<double> matrix;
  matrix.reserve(count * clusters);
  rows([&](std::int64_t, matrix_view<const double> block) {
    matrix.insert(matrix.end(), block.data(), block.data() + block.rows() * block.cols());
    return true;
  });
  return matrix;
}

void check_blocks(std::int64_t budget_bytes, const membership_callback& receive) {
  require_argument(budget_bytes >= 0, "budget_bytes", budget_bytes, ">= 0");
  if (!receive) throw InvalidArgument("receive must not be empty");
}

template <class Storage>
bool rows_of_points(const cluster_result& model, matrix_view<const Storage> points, const membership_callback& receive,
                    std::int64_t budget_bytes, const Device& requested_device) {
  const stage_region stage("membership");
  const Device device = device::run_device(requested_device, {{"points", points}});
  check_model(model, points, {});
  check_blocks(budget_bytes, receive);
  if (model.clusters() == 0) return true;
  pairwise::scanned_points<Storage> fitted(points, model.options.distance, device);
  fitted.exclude(model.excluded_rows);
  const membership_source<Storage> source(fitted, model);
  const auto fill = [&](const std::vector<std::int32_t>& row_numbers, const auto& out) {
    const auto place = [&](std::int64_t i) { return source.tree().of_point(row_numbers[i]); };
    source.fill(origin::fitted, fitted, row_numbers, place, out);
  };
  return for_membership_blocks(fitted, model.clusters(), budget_bytes, receive, fill);
}

template <class Storage>
bool rows_of_new_points(const cluster_result& model, matrix_view<const Storage> points,
                        matrix_view<const Storage> new_points, const membership_callback& receive,
                        std::int64_t budget_bytes, const Device& requested_device) {
  const stage_region stage("membership");
  const Device device = device::run_device(requested_device, {{"points", points}, {"new_points", new_points}});
  check_model(model, points, new_points);
  check_blocks(budget_bytes, receive);
  if (model.clusters() == 0) return true;
  pairwise::scanned_points<Storage> fitted(points, model.options.distance, device);
  pairwise::scanned_points<Storage> queries(new_points, model.options.distance, device);
  fitted.exclude(model.excluded_rows);
  fitted.share_scale(fitted, queries);
  const membership_source<Storage> source(fitted, model);
  const join_finder<Storage> find(fitted, model, queries.valid_count());
  const auto fill = [&](const std::vector<std::int32_t>& row_numbers, const auto& out) {
    const join_table joins = find(queries, row_numbers);
    const auto place = [&](std::int64_t i) { return source.tree().attachment(joins.neighbour[i], joins.lambda[i]); };
    source.fill(origin::unseen, queries, row_numbers, place, out);
  };
  return for_membership_blocks(queries, model.clusters(), budget_bytes, receive, fill);
}

}  // namespace

bool all_points_membership_rows(const cluster_result& model, any_matrix points, const membership_callback& receive,
                                std::int64_t budget_bytes, const Device& device) {
  return with_storage(points.type, [&]<class T>() {
    return rows_of_points<T>(model, points.as<T>("points"), receive, budget_bytes, device);
  });
}

bool membership_rows(const cluster_result& model, any_matrix points, any_matrix new_points,
                     const membership_callback& receive, std::int64_t budget_bytes, const Device& device) {
  return with_storage(points.type, [&]<class T>() {
    return rows_of_new_points<T>(model, points.as<T>("points"), new_points.as<T>("new_points"), receive, budget_bytes,
                                 device);
  });
}

std::vector<double> all_points_membership_vectors(const cluster_result& model, any_matrix points,
                                                  const Device& device) {
  return collected(points.rows, model.clusters(), [&](const membership_callback& receive) {
    all_points_membership_rows(model, points, receive, dense_budget, device);
  });
}

std::vector<double> membership_vectors(const cluster_result& model, any_matrix points, any_matrix new_points,
                                       const Device& device) {
  return collected(new_points.rows, model.clusters(), [&](const membership_callback& receive) {
    membership_rows(model, points, new_points, receive, dense_budget, device);
  });
}

}  // namespace quintet::hdbscan
