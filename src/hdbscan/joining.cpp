#include "hdbscan/joining.hpp"

#include <algorithm>
#include <limits>

#include "hdbscan/checks.hpp"
#include "hdbscan/core_mass.hpp"
#include "hdbscan/tree_rules.hpp"
#include "instantiate.hpp"
#include "pairwise/neighbours.hpp"

namespace quintet::hdbscan {

namespace {

// Lists of neighbours that are held at a time.
constexpr std::int64_t list_bytes = std::int64_t(64) << 20;

// Queries below which all pairs take less time than a tree of the points.
constexpr std::int64_t min_tree_queries = 1024;

}  // namespace

template <class Storage>
void check_model(const cluster_result& model, matrix_view<const Storage> points, matrix_view<const Storage> queries) {
  check_points(points);
  check_points(queries);
  check_alpha<accumulator_t<Storage>>(model.options.alpha);
  const auto n = std::int64_t(model.labels.size());
  require_argument(points.rows() == n, "points.rows", points.rows(), text("the number of points of the model, ", n));
  require_argument(std::int64_t(model.core_distances.size()) == n, "model.core_distances.size",
                   model.core_distances.size(), text("points.rows=", n));
  require_argument(model.condensed.points == n, "model.condensed.points", model.condensed.points,
                   text("points.rows=", n));
  if (!model.weights.empty()) check_weights(model.weights, n, "model.weights");
  require_argument(model.neighbours >= 0, "model.neighbours", model.neighbours, ">= 0");
  check_options(model.options);
  check_groups(model.exemplars, model.clusters(), n);
  if (n > 0 && queries.rows() > 0)
    require_argument(queries.cols() == points.cols(), "new_points.cols", queries.cols(),
                     text("points.cols=", points.cols()));
}

template <class Storage>
join_finder<Storage>::join_finder(const pairwise::scanned_points<Storage>& points, const cluster_result& model,
                                  std::int64_t queries)
    : core_(model.core_distances.begin(), model.core_distances.end()),
      weights_(model.weights),
      needed_(double(model.neighbours)),
      valid_(points.valid_count()),
      neighbours_(std::min(model.neighbours, valid_)),
      alpha_(Real(model.options.alpha)) {
  for (std::int64_t i = 0; i < points.count(); ++i)
    require_element(!points.valid(i) || core_[i] >= 0, "model.core_distances", i, core_[i], ">= 0");
  if (queries >= min_tree_queries && valid_ > 0)
    pairwise::build_tree_if_faster(points, int(std::clamp<std::int64_t>(2 * neighbours_, 1, valid_)), tree_);
  if (tree_)
    number_ = Buffer<std::int32_t>(tree_->order, points.device());
  else
    panels_ = points.pack();
}

template <class Storage>
join_table join_finder<Storage>::operator()(const pairwise::scanned_points<Storage>& queries,
                                            const std::vector<std::int32_t>& row_numbers) const {
  const std::size_t count = row_numbers.size();
  join_table result{std::vector<std::int32_t>(count, -1), std::vector<double>(count, 0)};
  std::vector<open_query> open;
  for (std::size_t i = 0; i < count && valid_ > 0; ++i) open.push_back({row_numbers[i], std::int64_t(i)});
  for (std::int64_t length = std::max<std::int64_t>(2 * neighbours_, 1); !open.empty(); length *= 4) {
    length = std::min(length, valid_);
    const auto entry_bytes = std::int64_t(sizeof(Real) + sizeof(std::int32_t));
    const auto group_size = std::size_t(std::max<std::int64_t>(1, list_bytes / (length * entry_bytes)));
    std::vector<open_query> left;
    for (std::size_t first = 0; first < open.size(); first += group_size) {
      const auto part = std::span(open).subspan(first, std::min(group_size, open.size() - first));
      const auto unresolved = resolve(queries, part, int(length), result);
      left.insert(left.end(), unresolved.begin(), unresolved.end());
    }
    open = std::move(left);
  }
  return result;
}

template <class Storage>
pairwise::neighbour_table<accumulator_t<Storage>> join_finder<Storage>::nearest(
    const pairwise::scanned_points<Storage>& queries, std::vector<open_query>& open, int length) const {
  const auto by_row = [](const open_query& a, const open_query& b) { return a.row < b.row; };
  std::sort(open.begin(), open.end(), by_row);
  std::vector<std::int32_t> rows;
  for (const open_query& query : open) rows.push_back(query.row);
  if (!tree_) return pairwise::nearest_points(queries.pack(rows), panels_, length);
  const pairwise::tree_points<Real> packed(queries, rows);
  std::vector<open_query> ordered;
  for (const std::int32_t row : packed.order)
    ordered.push_back(*std::lower_bound(open.begin(), open.end(), open_query{row, 0}, by_row));
  open = std::move(ordered);
  pairwise::tree_work work;
  return pairwise::on_host(pairwise::nearest_points_on_device(packed.tree, tree_->tree, length, work, number_.data()));
}

/// Answers with lists of `length` nearest points; returns the queries that need longer ones.
template <class Storage>
std::vector<typename join_finder<Storage>::open_query> join_finder<Storage>::resolve(
    const pairwise::scanned_points<Storage>& queries, std::span<const open_query> selected, int length,
    join_table& result) const {
  std::vector<open_query> open(selected.begin(), selected.end());
  const auto table = nearest(queries, open, length);
  std::vector<open_query> unresolved;
  for (std::size_t q = 0; q < open.size(); ++q) {
    const auto distance = [&](std::int64_t e) { return queries.measure.distance(table.value[q * length + e]); };
    ball_of_mass<Real> ball;
    if (!weights_.empty())
      ball = ball_of(needed_, 0, &table.value[q * length], length, [&](std::int64_t e) {
        const std::int32_t entry = table.index[q * length + e];
        return entry < 0 ? -1 : weights_[entry];
      });
    else if (neighbours_ > 0)
      ball.radius = table.value[q * length + neighbours_ - 1];
    if (!ball.is_reached && length < valid_) {
      unresolved.push_back(open[q]);
      continue;
    }
    const Real core = queries.measure.distance(ball.radius);
    Real best = std::numeric_limits<Real>::infinity();
    std::int32_t neighbour = table.index[q * length];
    for (std::int64_t e = 0; e < length; ++e) {
      const std::int32_t j = table.index[q * length + e];
      const Real m = pairwise::mutual_reachability(core, core_[j], distance(e) / alpha_);
      if (!(m < best)) continue;
      best = m;
      neighbour = j;
    }
    // A point outside the list is no nearer than its last entry, and later in the order where m is the same.
    if (length < valid_ && best > std::max(core, distance(length - 1) / alpha_)) {
      unresolved.push_back(open[q]);
      continue;
    }
    result.neighbour[open[q].position] = neighbour;
    result.lambda[open[q].position] = 1 / double(best);
  }
  return unresolved;
}

#define QUINTET_INSTANTIATE(Storage)                                                                        \
  template void check_model(const cluster_result&, matrix_view<const Storage>, matrix_view<const Storage>); \
  template class join_finder<Storage>;
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)

}  // namespace quintet::hdbscan
