#include "hdbscan/spanning_tree_stages.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hdbscan/checks.hpp"
#include "instantiate.hpp"
#include "quintet/hdbscan/tree_stages.hpp"

namespace quintet::hdbscan {

namespace {

/// Edges between the caller's points in the order of `packed`; their weights are right for alpha = 1.
template <class Real>
std::vector<edge> edges_of(const std::vector<packed_edge<Real>>& packed, const std::vector<std::int32_t>& order,
                           const pairwise::reduced_metric<Real>& metric) {
  std::vector<edge> edges;
  edges.reserve(packed.size());
  for (const packed_edge<Real>& e : packed)
    edges.push_back({order[e.first], order[e.second], double(metric.distance(e.weight))});
  return edges;
}

template <class Real>
class tree_stages {
 public:
  tree_stages(process_group& group, edge_search<Real>& search, tree_checkpoints<Real>& saved,
              const spanning_tree_options& options, progress& report, spanning_tree_result& result)
      : group_(group),
        search_(search),
        saved_(saved),
        alpha_(options.alpha),
        report_(report),
        result_(result),
        points_(std::int64_t(search.order().size())),
        is_needed_(group.is_root() || options.alpha != 1) {}

  void lists() {
    group_.phase("lists");
    const int first_step = saved_.restore_lists();
    if (first_step > search_.steps()) return;
    search_.find_lists(
        [&](int step) {
          group_.run_collectively([&] { report_("neighbours", double(step + 1) / double(search_.steps() + 1)); });
          saved_.after_list_step(step);
        },
        first_step);
    saved_.after_lists();
  }

  void bounds() {
    group_.phase("bounds");
    std::vector<Real> core, outside;
    group_.run_collectively([&] {
      const pairwise::device_neighbours<Real>& lists = search_.lists();
      core.assign(lists.rows, 0);
      if (lists.rows == 0) return;
      if (result_.neighbours > 0 || !result_.weights.empty()) core = search_.core_distances(result_.neighbours);
      outside = search_.outside_lists();
    });
    core_ = search_.of_all_points(std::move(core));
    outside_ = search_.of_all_points(std::move(outside));
  }

  void rounds() {
    group_.phase("rounds");
    group_.run_collectively([&] {
      for (std::int64_t i = 0; is_needed_ && i < points_; ++i)
        result_.core_distances[search_.order()[i]] = search_.measure().distance(core_[i]);
      const std::vector<Real> scaled = scaled_cores(std::move(core_), alpha_, search_.measure());
      search_.begin_rounds(scaled, lower_bounds_outside_list(scaled, outside_, search_.lists().k, points_));
      std::vector<Real>().swap(outside_);
    });
    result_.counters.rounds = run_rounds(search_.rounds(), search_.exchange(), report_, saved_);
    saved_.remove();
  }

  void edges() {
    group_.phase("edges");
    std::vector<edge> edges;
    group_.run_collectively([&] {
      report_("spanning_tree", 1);
      std::vector<packed_edge<Real>> tree;
      if (is_needed_) tree = search_.rounds().tree();
      search_.end_rounds();
      if (is_needed_) edges = edges_of(tree, search_.order(), search_.measure());
    });
    if (alpha_ != 1) search_.measure_edges(edges, alpha_, result_.core_distances);
    group_.run_collectively([&] {
      std::sort(edges.begin(), edges.end());
      if (group_.is_root())
        result_.edges = std::move(edges);
      else
        std::vector<double>().swap(result_.core_distances);
    });
  }

  void count_work() {
    const auto work = search_.work_done();
    spanning_tree_counters& counters = result_.counters;
    counters.tiles = work.tiles;
    counters.tiles_scanned = work.tiles_scanned;
    counters.pairs_evaluated = work.pairs;
    counters.passes = double(work.pairs) / double(points_ * (points_ - 1) / 2);
  }

 private:
  process_group& group_;
  edge_search<Real>& search_;
  tree_checkpoints<Real>& saved_;
  double alpha_;
  progress& report_;
  spanning_tree_result& result_;
  std::int64_t points_;
  bool is_needed_;                    ///< whether this process needs core distances and edges
  std::vector<Real> core_, outside_;  ///< of all points, by position
};

}  // namespace

template <class Real>
std::vector<Real> scaled_cores(std::vector<Real> core, double alpha, const pairwise::reduced_metric<Real>& metric) {
  if (alpha == 1) return core;
  for (Real& reduced : core) {
    reduced = metric.reduced(metric.distance(reduced) * Real(alpha));
    // Hyperbolic reduced distances grow as the exponential of the distance.
    if (!std::isfinite(reduced))
      require_argument(false, "alpha", alpha, "smaller: alpha * core distance leaves the range here");
  }
  return core;
}

spanning_tree_result begin_result(const spanning_tree_options& options, scalar_type type, std::int64_t rows,
                                  std::int64_t dim, std::vector<std::int64_t> invalid_rows, const Device& device) {
  const std::int64_t valid = rows - std::int64_t(invalid_rows.size());
  spanning_tree_result result;
  result.ran_on = {device, device, Device::host()};
  result.neighbours = neighbour_count(options, valid);
  result.clamped = is_clamped(options, result.neighbours);
  // Equal distances of words are equal numbers.
  result.tie_tolerance = is_of_words(options.distance.kind) ? 0 : default_tie_tolerance(type, dim);
  result.core_distances.assign(rows, 0);
  for (const std::int64_t i : invalid_rows) result.core_distances[i] = std::numeric_limits<double>::quiet_NaN();
  result.invalid_rows = std::move(invalid_rows);
  return result;
}

list_lengths lengths_of(const spanning_tree_result& begun, std::int64_t valid) {
  const std::int64_t length = std::min(valid - 1, begun.neighbours + spare_neighbours);
  return {int(length), int(std::clamp<std::int64_t>(begun.neighbours, 1, length))};
}

double spanning_tree_result::total_weight() const {
  double sum = 0;
  for (const edge& e : edges) sum += e.weight;
  return sum;
}

template <class Real>
void run_stages(process_group& group, edge_search<Real>& search, tree_checkpoints<Real>& saved,
                const spanning_tree_options& options, progress& report, stage_region& neighbours_region,
                spanning_tree_result& result) {
  tree_stages<Real> stages(group, search, saved, options, report, result);
  stages.lists();
  stages.bounds();
  neighbours_region.end();
  double seconds = 0;
  stage_region tree_region("spanning_tree", &seconds);
  stages.rounds();
  stages.count_work();
  stages.edges();
  tree_region.end();
  result.spanning_tree_seconds = seconds;
}

#define QUINTET_INSTANTIATE(Real)                                                                                     \
  template std::vector<Real> scaled_cores(std::vector<Real>, double, const pairwise::reduced_metric<Real>&);          \
  template void run_stages(process_group&, edge_search<Real>&, tree_checkpoints<Real>&, const spanning_tree_options&, \
                           progress&, stage_region&, spanning_tree_result&);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::hdbscan
