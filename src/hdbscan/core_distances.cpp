#include "quintet/hdbscan/core_distances.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "device/for_each.hpp"
#include "device/staged.hpp"
#include "hdbscan/checks.hpp"
#include "hdbscan/core_mass.hpp"
#include "pairwise/filtered_lists.hpp"
#include "pairwise/neighbours.hpp"
#include "pairwise/scanned_points.hpp"
#include "pairwise/tree_points.hpp"
#include "quintet/core/profile.hpp"

namespace quintet::hdbscan {

std::int64_t neighbour_count(const core_options& options, std::int64_t valid) {
  const std::int64_t min = options.count_self ? 1 : 0;
  require_argument(options.min_samples >= min, "min_samples", options.min_samples, text(">= ", min));
  return std::clamp<std::int64_t>(options.min_samples - min, 0, std::max<std::int64_t>(valid - 1, 0));
}

namespace {

/// Reduced distances of list entries become core distances (Campello, Moulavi, Sander 2013).
template <class Real>
struct finish_core {
  pairwise::reduced_metric<Real> measure;
  const Real* number;         ///< of every point, >= 0 if it is valid
  const Real* list;           ///< [list][length]; null: core distances are 0
  const std::int32_t* place;  ///< of every point: its list; null: they are in the order of the points
  std::int64_t length, k;
  Real* core;
  void operator()(std::int64_t i) const {
    const bool valid = number[i] >= 0;
    const std::int64_t at = place != nullptr && valid ? place[i] : i;
    const Real distance = list != nullptr && valid ? measure.distance(list[at * length + k - 1]) : Real(0);
    core[i] = valid ? distance : std::numeric_limits<Real>::quiet_NaN();
  }
};

/// The lists of the k nearest of every point, where they are packed in another order with their places.
template <class Real>
struct placed_lists {
  pairwise::device_neighbours<Real> lists;
  Buffer<std::int32_t> place;
  std::vector<std::int32_t> order;  ///< the point of every list and entry; empty: their own numbers

  template <class Storage>
  placed_lists(const pairwise::scanned_points<Storage>& points, int k) {
    std::optional<pairwise::tree_points<Real>> tree;
    pairwise::build_tree_if_faster(points, k, tree);
    if (!tree) {
      const int length = int(std::min<std::int64_t>(points.valid_count() - 1, pairwise::filtered_length(k)));
      const bool filtered = pairwise::filter_pays(points, points.count(), length);
      lists = pairwise::nearest_others_filtered(points, {}, points.pack(),
                                                {.length = filtered ? length : k, .exact = k, .values_only = true});
      return;
    }
    pairwise::tree_work work;
    lists = pairwise::nearest_others_on_device(tree->tree, k, work);
    std::vector<std::int32_t> place_of(points.count(), -1);
    for (std::size_t i = 0; i < tree->order.size(); ++i) place_of[tree->order[i]] = std::int32_t(i);
    place = Buffer<std::int32_t>(place_of, points.device());
    order = std::move(tree->order);
  }
  placed_lists() = default;
  std::int64_t point(std::int64_t at) const { return order.empty() ? at : order[at]; }
};

/// Core distances by the mass of balls, of k entries; nothing where a list is too short for one of them.
template <class Storage, class Real = accumulator_t<Storage>>
std::optional<std::vector<Real>> cores_of_mass(const pairwise::scanned_points<Storage>& points, int k, double needed,
                                               const std::vector<double>& weights) {
  const placed_lists<Real> nearest(points, k);
  const pairwise::neighbour_table<Real> table = pairwise::on_host(nearest.lists);
  std::vector<Real> core(points.count(), std::numeric_limits<Real>::quiet_NaN());
  for (std::int64_t row = 0; row < table.rows; ++row) {
    const std::int64_t i = nearest.point(row), first = row * table.k;
    if (!points.valid(i)) continue;
    const auto weight = [&](std::int64_t e) {
      const std::int32_t entry = table.index[first + e];
      return entry < 0 ? -1 : weights[nearest.point(entry)];
    };
    const auto ball = ball_of(needed, weights[i], &table.value[first], k, weight);
    if (!ball.is_reached && k < points.valid_count() - 1) return std::nullopt;
    core[i] = points.measure.distance(ball.radius);
  }
  return core;
}

/// The same for all points, by lists that are made longer until they suffice.
template <class Storage, class Real = accumulator_t<Storage>>
std::vector<Real> cores_of_mass(const pairwise::scanned_points<Storage>& points, double needed,
                                const std::vector<double>& weights) {
  const std::int64_t other_points = points.valid_count() - 1;
  if (other_points < 1) {
    std::vector<Real> core(points.count(), std::numeric_limits<Real>::quiet_NaN());
    for (const std::int32_t i : points.valid_rows()) core[i] = 0;
    return core;
  }
  for (std::int64_t k = std::clamp<std::int64_t>(whole_mass(needed) - 1, 1, other_points);;
       k = std::min(4 * k, other_points))
    if (auto core = cores_of_mass(points, int(k), needed, weights)) return *core;
}

template <class Storage>
core_summary write_weighted(pairwise::scanned_points<Storage>& scanned, vector_view<accumulator_t<Storage>> out,
                            const core_options& options, const std::vector<double>& weights) {
  core_summary result;
  result.ran_on = scanned.device();
  result.excluded_rows = rows_of_no_weight(weights);
  scanned.exclude(result.excluded_rows);
  result.invalid_rows = scanned.invalid_rows();
  const double mass = mass_without(weights, result.invalid_rows);
  result.invalid_rows = rows_except(result.invalid_rows, result.excluded_rows);
  result.neighbours = neighbour_mass(options, mass);
  const double needed = double(result.neighbours) + 1;
  result.clamped = is_clamped(options, result.neighbours) || needed > mass;
  const auto core = cores_of_mass(scanned, needed, weights);
  device::detail::download<accumulator_t<Storage>>(
      device::detail::as_batch(out), device::detail::as_batch(vector_view<const accumulator_t<Storage>>(core)));
  return result;
}

template <class Storage>
core_summary write_core_distances(matrix_view<const Storage> points, vector_view<accumulator_t<Storage>> out,
                                  const core_options& options, const Device& requested_device,
                                  std::span<const double> given_weights) {
  using Real = accumulator_t<Storage>;
  const stage_region stage("neighbours");
  const Device device = device::run_device(requested_device, {{"points", points}, {"out", out}});
  check_points(points);
  check_distance(options.distance);
  require_argument(out.size() == points.rows(), "out.size", out.size(), text("points.rows=", points.rows()));
  const std::vector<double> weights = used_weights(given_weights, points.rows());
  pairwise::scanned_points<Storage> scanned(points, options.distance, device);
  if (!weights.empty()) return write_weighted(scanned, out, options, weights);
  core_summary result;
  result.ran_on = device;
  result.neighbours = neighbour_count(options, scanned.valid_count());
  result.clamped = is_clamped(options, result.neighbours);
  result.invalid_rows = scanned.invalid_rows();
  placed_lists<Real> nearest;
  if (result.neighbours > 0) nearest = {scanned, int(result.neighbours)};
  device::staged_out staged(out, device);
  device::for_each(points.rows(),
                   finish_core<Real>{scanned.measure, scanned.numbers(), nearest.lists.value.data(),
                                     nearest.place.data(), nearest.lists.k, result.neighbours, staged.view().data()},
                   device);
  staged.finish();
  return result;
}

}  // namespace

std::int64_t detail::checked_count(const any_matrix& points) {
  check_points(points.rows, points.cols);
  return points.rows;
}

core_summary core_distances_into(any_matrix points, any_output_vector out, const core_options& options,
                                 const Device& device, std::span<const double> weights) {
  return with_storage(points.type, [&]<class T>() {
    return write_core_distances<T>(points.as<T>("points"), out.as<accumulator_t<T>>("out"), options, device, weights);
  });
}

}  // namespace quintet::hdbscan
