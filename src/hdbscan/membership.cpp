#include "quintet/hdbscan/membership.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "hdbscan/each_row.hpp"
#include "hdbscan/fitted_tree.hpp"
#include "hdbscan/joining.hpp"
#include "pairwise/group_minima.hpp"
#include "quintet/core/profile.hpp"

namespace quintet::hdbscan {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t min_rows = 64, max_rows = 8192, dense_budget = std::int64_t(32) << 20;

enum class origin { fitted, unseen };

/// 1 / d_k up to a common factor: 1 for the nearest.
double nearness(double distance, double nearest) {
  if (distance == nearest) return 1;
  return nearest / distance;
}

/// o_k is exp of this.
double tree_score(origin kind, double peak, double merge) {
  if (kind == origin::fitted) return merge == peak ? std::exp(-1.0) : std::exp(-peak / merge);
  if (merge >= peak) return infinity;
  return std::isinf(peak) ? 1 : peak / (peak - merge);
}

/// o_k up to a common factor: 1 for the largest.
double tree_weight(double score, double largest) { return score == largest ? 1 : std::exp(score - largest); }

/// h / max(lambda, M_s).
double some_cluster_probability(const fitted_tree& tree, double lambda, std::span<const double> merge) {
  const auto nearest = std::max_element(merge.begin(), merge.end());
  const double max = std::max(lambda, tree.peak_of_label(nearest - merge.begin()));
  if (*nearest == max) return 1;
  return std::isinf(max) ? 0 : *nearest / max;
}

/// Turns the K merge lambdas in `row` into the membership vector.
void finish_row(const fitted_tree& tree, origin kind, const tree_place& place, const auto& distance,
                std::span<double> row) {
  const double probability = some_cluster_probability(tree, place.lambda, row);
  double nearest = distance(0), largest = 0, sum = 0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    nearest = std::min(nearest, distance(k));
    row[k] = tree_score(kind, tree.peak(place.cluster), row[k]);
    largest = std::max(largest, row[k]);
  }
  const auto weight = [&](std::size_t k, double near) {
    const double of_tree = tree_weight(row[k], largest);
    return kind == origin::fitted ? near * of_tree : std::sqrt(near) * of_tree * of_tree;
  };
  for (std::size_t k = 0; k < row.size(); ++k) sum += weight(k, nearness(distance(k), nearest));
  const bool exclude_each_other = sum == 0;
  if (exclude_each_other)
    for (std::size_t k = 0; k < row.size(); ++k) sum += weight(k, 1);
  for (std::size_t k = 0; k < row.size(); ++k)
    row[k] = probability * (weight(k, exclude_each_other ? 1 : nearness(distance(k), nearest)) / sum);
}

/// The exemplars of a model, packed, and what else a membership vector is made of.
template <class Storage>
class membership_source {
  using Real = accumulator_t<Storage>;

 public:
  membership_source(const pairwise::scanned_points<Storage>& points, const cluster_result& model) : tree_(model) {
    const point_groups& exemplars = model.exemplars;
    const std::vector<std::int32_t> rows(exemplars.points.begin(), exemplars.points.end());
    for (std::int64_t k = 0; k < model.clusters(); ++k)
      group_.insert(group_.end(), exemplars.offsets[k + 1] - exemplars.offsets[k], std::int32_t(k));
    // An empty order would stand for all points.
    if (!rows.empty()) exemplars_ = points.pack(rows);
  }

  const fitted_tree& tree() const { return tree_; }

  /// Vectors of rows `which`, whose places are given; out(i) is where vector i goes.
  template <class Place, class Out>
  void fill(origin kind, const pairwise::scanned_points<Storage>& rows, const std::vector<std::int32_t>& which,
            const Place& place, const Out& out) const {
    if (which.empty()) return;
    const std::int64_t clusters = tree_.labels();
    std::vector<Real> minima(std::int64_t(which.size()) * clusters, std::numeric_limits<Real>::infinity());
    if (!group_.empty()) minima = pairwise::group_minima(rows.pack(which), exemplars_, group_, clusters);
    for_each_row_on_host(std::int64_t(which.size()), [&](std::int64_t i) {
      const auto distance = [&](std::size_t k) { return double(rows.measure.distance(minima[i * clusters + k])); };
      const std::span<double> row(out(i), std::size_t(clusters));
      tree_.merge_lambdas(place(i), row);
      finish_row(tree_, kind, place(i), distance, row);
    });
  }

 private:
  fitted_tree tree_;
  std::vector<std::int32_t> group_;
  pairwise::panels<Real> exemplars_;
};

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
    std::vector<std::int32_t> which;
    for (std::int64_t i = first; i < first + count; ++i)
      if (points.valid(i)) which.push_back(std::int32_t(i));
    fill(which, [&](std::int64_t i) { return block.data() + (which[i] - first) * clusters; });
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
                    std::int64_t budget_bytes, const Device& given) {
  const stage_region stage("membership");
  const Device device = device::run_device(given, {{"points", points}});
  check_model(model, points, {});
  check_blocks(budget_bytes, receive);
  if (model.clusters() == 0) return true;
  const pairwise::scanned_points<Storage> fitted(points, model.options.distance, device);
  const membership_source<Storage> source(fitted, model);
  const auto fill = [&](const std::vector<std::int32_t>& which, const auto& out) {
    const auto place = [&](std::int64_t i) { return source.tree().of_point(which[i]); };
    source.fill(origin::fitted, fitted, which, place, out);
  };
  return for_membership_blocks(fitted, model.clusters(), budget_bytes, receive, fill);
}

template <class Storage>
bool rows_of_new_points(const cluster_result& model, matrix_view<const Storage> points,
                        matrix_view<const Storage> new_points, const membership_callback& receive,
                        std::int64_t budget_bytes, const Device& given) {
  const stage_region stage("membership");
  const Device device = device::run_device(given, {{"points", points}, {"new_points", new_points}});
  check_model(model, points, new_points);
  check_blocks(budget_bytes, receive);
  if (model.clusters() == 0) return true;
  pairwise::scanned_points<Storage> fitted(points, model.options.distance, device);
  pairwise::scanned_points<Storage> queries(new_points, model.options.distance, device);
  fitted.share_scale(fitted, queries);
  const membership_source<Storage> source(fitted, model);
  const join_finder<Storage> find(fitted, model, queries.valid_count());
  const auto fill = [&](const std::vector<std::int32_t>& which, const auto& out) {
    const join_table joins = find(queries, which);
    const auto place = [&](std::int64_t i) { return source.tree().joining(joins.neighbour[i], joins.lambda[i]); };
    source.fill(origin::unseen, queries, which, place, out);
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
