#include "quintet/hdbscan/spanning_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "device/small_call.hpp"
#include "hdbscan/checks.hpp"
#include "hdbscan/spanning_tree_parts.hpp"
#include "instantiate.hpp"
#include "pairwise/filtered_lists.hpp"
#include "pairwise/locality.hpp"
#include "pairwise/pairs.hpp"
#include "pairwise/scanned_points.hpp"
#include "pairwise/tree_points.hpp"
#include "quintet/core/profile.hpp"

namespace quintet::hdbscan {

namespace {

/// Points in an order that puts neighbours beside each other, packed, and with a tree where that pays.
template <class Real>
struct ordered_points {
  std::optional<pairwise::tree_points<Real>> with_tree;
  std::vector<std::int32_t> own_order;
  pairwise::panels<Real> own_panels;

  template <class Storage>
  ordered_points(const pairwise::scanned_points<Storage>& points, int list_length) {
    pairwise::plant_tree(points, list_length, with_tree);
    if (with_tree) return;
    own_order = pairwise::locality_order(points);
    own_panels = points.pack(own_order);
  }

  const std::vector<std::int32_t>& order() const { return with_tree ? with_tree->order : own_order; }
  const pairwise::panels<Real>& panels() const { return with_tree ? with_tree->packed : own_panels; }
  const pairwise::block_tree<Real>* tree() const { return with_tree ? &with_tree->tree : nullptr; }
};

/// Edges between the caller's points, with weights, in the order (weight, u, v).
template <class Storage, class Real>
std::vector<edge> finished_edges(const std::vector<packed_edge<Real>>& packed, const std::vector<std::int32_t>& order,
                                 const pairwise::scanned_points<Storage>& points, double alpha,
                                 const std::vector<double>& core) {
  std::vector<edge> edges = edges_of(packed, order, points.measure);
  if (alpha != 1) {
    std::vector<std::int64_t> pairs;
    for (const edge& e : edges) pairs.insert(pairs.end(), {e.u, e.v});
    const Buffer<std::int64_t> pairs_on_device(pairs, points.device());
    Buffer<Real> values(std::int64_t(edges.size()), points.device());
    pairwise::reduced_pairs<Storage>(points, {pairs_on_device.data(), values.size(), 2}, values.data());
    const std::vector<Real> reduced = values.to_vector();
    for (std::size_t e = 0; e < edges.size(); ++e)
      edges[e].weight = edge_weight(core[edges[e].u], core[edges[e].v], reduced[e], alpha, points.measure);
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

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

template <class Real>
std::vector<edge> edges_of(const std::vector<packed_edge<Real>>& packed, const std::vector<std::int32_t>& order,
                           const pairwise::reduced_metric<Real>& metric) {
  std::vector<edge> edges;
  edges.reserve(packed.size());
  for (const packed_edge<Real>& e : packed)
    edges.push_back({order[e.first], order[e.second], double(metric.distance(e.weight))});
  return edges;
}

double spanning_tree_result::total_weight() const {
  double sum = 0;
  for (const edge& e : edges) sum += e.weight;
  return sum;
}

namespace {

template <class Storage>
spanning_tree_result spanning_tree_of_points(matrix_view<const Storage> points, const spanning_tree_options& options,
                                             const Device& given, const progress_callback& callback) {
  using Real = accumulator_t<Storage>;
  const Device device = device::run_device(given, {{"points", points}});
  check_points(points);
  check_alpha<Real>(options.alpha);
  progress report(callback);
  double neighbours_seconds = 0, spanning_tree_seconds = 0;
  const double pairs = double(points.rows()) * double(points.rows());
  const device::small_call alone(pairs * (12 + 0.1 * double(points.cols())), 12, device);
  stage_region finding("neighbours", &neighbours_seconds);
  const pairwise::scanned_points<Storage> scanned(points, options.distance, device);
  const std::int64_t valid = scanned.valid_count();
  spanning_tree_result result;
  result.ran_on = {device, device, Device::host()};
  result.neighbours = neighbour_count(options, valid);
  result.clamped = is_clamped(options, result.neighbours);
  result.invalid_rows = scanned.invalid_rows();
  result.core_distances.assign(points.rows(), 0);
  for (const std::int64_t i : result.invalid_rows) result.core_distances[i] = std::numeric_limits<double>::quiet_NaN();
  if (valid < 2) return result;

  report(finding.name(), 0);
  const int list_length = int(std::min(valid - 1, result.neighbours + spare_neighbours));
  const ordered_points<Real> ordered(scanned, list_length);
  const std::vector<std::int32_t>& order = ordered.order();
  const pairwise::panels<Real>& panels = ordered.panels();
  const pairwise::block_tree<Real>* tree = ordered.tree();
  pairwise::tree_work work;
  const std::int64_t table_bytes = bound_table_bytes(panels.data.bytes());
  const pairwise::part_callback found_part = [&](double part) { report(finding.name(), part); };
  const pairwise::part_callback listens = callback ? found_part : nullptr;
  std::optional<pairwise::rounded_points> filter;
  auto lists = tree ? pairwise::nearest_others_on_device(*tree, list_length, work, nullptr, listens)
                    : pairwise::nearest_others_filtered(scanned, order, panels,
                                                        {.length = list_length,
                                                         .exact = int(std::max<std::int64_t>(result.neighbours, 1)),
                                                         .values_only = true,
                                                         .minima_bytes = table_bytes},
                                                        listens, &filter);
  std::vector<Real> core(valid, 0);
  if (result.neighbours > 0) core = pairwise::kth_value(lists, result.neighbours);
  for (std::int64_t i = 0; i < valid; ++i) result.core_distances[order[i]] = scanned.measure.distance(core[i]);
  report(finding.name(), 1);
  finding.end();
  stage_region joining("spanning_tree", &spanning_tree_seconds);

  boruvka<Real> rounds(panels, std::move(lists), scaled_cores(std::move(core), options.alpha, scanned.measure), order,
                       tree, {.cell_bytes = table_bytes});
  if constexpr (sizeof(Real) == sizeof(float))
    if (filter) rounds.use_filter(&*filter);
  const auto packed = rounds.run(result.counters, report);
  result.edges = finished_edges(packed, order, scanned, options.alpha, result.core_distances);
  spanning_tree_counters& counters = result.counters;
  counters.tiles = pairwise::triangle_size(panels.blocks());
  const std::int64_t all_pairs = valid * (valid - 1) / 2;
  if (tree) {
    const std::int64_t rows_scanned = counters.tiles_scanned;
    counters.tiles_scanned = rows_scanned / pairwise::leaf_points;
    counters.pairs_evaluated = work.pairs + rows_scanned * pairwise::leaf_points;
  } else {
    counters.pairs_evaluated = (pairwise::sharing_of(device) == pairwise::list_sharing::symmetric ? 1 : 2) * all_pairs +
                               counters.tiles_scanned * panels.block_side * panels.block_side;
  }
  counters.passes = double(counters.pairs_evaluated) / double(all_pairs);
  joining.end();
  result.neighbours_seconds = neighbours_seconds;
  result.spanning_tree_seconds = spanning_tree_seconds;
  return result;
}

}  // namespace

spanning_tree_result spanning_tree(any_matrix points, const spanning_tree_options& options, const Device& device,
                                   const progress_callback& report) {
  return with_storage(points.type, [&]<class T>() {
    return spanning_tree_of_points<T>(points.as<T>("points"), options, device, report);
  });
}

#define QUINTET_INSTANTIATE(Real)                                                                              \
  template std::vector<Real> scaled_cores(std::vector<Real>, double, const pairwise::reduced_metric<Real>&);   \
  template std::vector<edge> edges_of(const std::vector<packed_edge<Real>>&, const std::vector<std::int32_t>&, \
                                      const pairwise::reduced_metric<Real>&);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::hdbscan
