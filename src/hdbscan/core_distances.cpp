#include "quintet/hdbscan/core_distances.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "device/for_each.hpp"
#include "device/staged.hpp"
#include "hdbscan/checks.hpp"
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
  }
  placed_lists() = default;
};

template <class Storage>
core_summary write_core_distances(matrix_view<const Storage> points, vector_view<accumulator_t<Storage>> out,
                                  const core_options& options, const Device& given) {
  using Real = accumulator_t<Storage>;
  const stage_region stage("neighbours");
  const Device device = device::run_device(given, {{"points", points}, {"out", out}});
  check_points(points);
  require_argument(out.size() == points.rows(), "out.size", out.size(), text("points.rows=", points.rows()));
  const pairwise::scanned_points<Storage> scanned(points, options.distance, device);
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
                                 const Device& device) {
  return with_storage(points.type, [&]<class T>() {
    return write_core_distances<T>(points.as<T>("points"), out.as<accumulator_t<T>>("out"), options, device);
  });
}

}  // namespace quintet::hdbscan
