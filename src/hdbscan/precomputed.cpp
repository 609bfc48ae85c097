#include "quintet/hdbscan/precomputed.hpp"

#include <algorithm>
#include <cmath>

#include "device/for_each.hpp"
#include "device/staged.hpp"
#include "hdbscan/checks.hpp"
#include "hdbscan/finish.hpp"
#include "hdbscan/prim.hpp"
#include "hdbscan/row_selection.hpp"
#include "hdbscan/symmetric_check.hpp"
#include "quintet/core/profile.hpp"

namespace quintet::hdbscan {

namespace {

/// A matrix of distances on a device, checked, with its core distances.
template <class Real>
struct distance_source {
  Device device;
  device::staged_in<matrix_view<const Real>> staged;
  Buffer<Real> core;
  std::int64_t neighbours;

  /// Throws InvalidArgument unless `distances` is square, symmetric up to rounding and >= 0, with nothing but rounding
  /// on the diagonal; infinity is allowed.
  distance_source(matrix_view<const Real> distances, const core_options& options, const Device& requested_device)
      : device(device::run_device(requested_device, {{"distances", distances}})) {
    const std::int64_t n = distances.rows();
    require_argument(distances.cols() == n, "distances.cols", distances.cols(), text("distances.rows=", n));
    neighbours = neighbour_count(options, n);
    staged = device::staged_in(distances, device);
    matrix_ = staged.view();
    check_diagonal(distances);
    if (first_asymmetry(matrix(), device).row >= 0) mend_rounding(distances);
    core = Buffer<Real>(n, device);
    if (neighbours > 0)
      kth_smallest_of_rows(matrix(), neighbours, core.data(), device);
    else
      device::fill(core, Real(0));
  }
  const matrix_view<const Real>& matrix() const { return matrix_; }

 private:
  /// Similarities are largest on the diagonal.
  static void check_diagonal(matrix_view<const Real> distances) {
    const std::int64_t n = distances.rows();
    const auto diagonal =
        device::host_copy(matrix_view<const Real>(distances.data(), n, 1, distances.stride() + 1, distances.device()));
    const auto is_number = [](Real d) { return d != 0 && std::isfinite(d); };
    if (std::none_of(diagonal.begin(), diagonal.end(), is_number)) return;
    const Real largest = largest_finite(device::host_copy(distances));
    for (std::int64_t i = 0; i < n; ++i)
      if (is_number(diagonal[i]) && !is_rounded_zero(diagonal[i], largest))
        require_argument(false, text("distances(", i, ", ", i, ")"), diagonal[i],
                         "0: the matrix has to hold distances, not similarities");
  }

  /// The smaller ones of mirror images, in a copy.
  void mend_rounding(matrix_view<const Real> distances) {
    const std::int64_t n = distances.rows();
    std::vector<Real> values = device::host_copy(distances);
    if (const auto [i, j] = take_smaller(values, n); i >= 0) refuse(i, j, values[i * n + j], values[j * n + i]);
    mended_ = Buffer<Real>(values, device);
    matrix_ = {mended_.data(), n, n, device};
  }
  static void refuse(std::int64_t i, std::int64_t j, Real value, Real mirrored) {
    if (!(value >= 0)) refuse_negative(text("distances(", i, ", ", j, ")"), value);
    if (!(mirrored >= 0)) refuse_negative(text("distances(", j, ", ", i, ")"), mirrored);
    require_argument(false, text("distances(", i, ", ", j, ")"), all_digits(value),
                     text("equal to distances(", j, ", ", i, ")=", all_digits(mirrored), " up to rounding"));
  }

  matrix_view<const Real> matrix_;
  Buffer<Real> mended_;
};

template <class Real>
core_summary write_core_distances(matrix_view<const Real> distances, vector_view<Real> out, const core_options& options,
                                  const Device& device) {
  const distance_source<Real> source(distances, options, device);
  require_argument(out.size() == distances.rows(), "out.size", out.size(), text("distances.rows=", distances.rows()));
  core_summary result;
  result.ran_on = source.device;
  result.neighbours = source.neighbours;
  result.clamped = is_clamped(options, result.neighbours);
  device::detail::download<Real>(device::detail::as_batch(out),
                                 device::detail::as_batch(vector_view<const Real>(source.core)));
  return result;
}

template <class Real>
spanning_tree_result tree_of_distances(matrix_view<const Real> distances, const spanning_tree_options& options,
                                       const Device& device) {
  check_alpha<Real>(options.alpha);
  double neighbours_seconds = 0, spanning_tree_seconds = 0;
  stage_region neighbours_region("neighbours", &neighbours_seconds);
  const distance_source<Real> source(distances, options, device);
  spanning_tree_result result;
  result.ran_on = {source.device, source.device, Device::host()};
  const std::vector<Real> core = source.core.to_vector();
  result.core_distances.assign(core.begin(), core.end());
  result.neighbours = source.neighbours;
  result.clamped = is_clamped(options, result.neighbours);
  result.tie_tolerance = default_tie_tolerance(scalar_type_of<Real>());
  neighbours_region.end();
  stage_region tree_region("spanning_tree", &spanning_tree_seconds);
  result.edges = prim_edges(source.matrix(), source.core.data(), Real(options.alpha), source.device);
  tree_region.end();
  result.neighbours_seconds = neighbours_seconds;
  result.spanning_tree_seconds = spanning_tree_seconds;
  return result;
}

}  // namespace

core_summary core_distances_of_into(any_matrix distances, any_output_vector out, const core_options& options,
                                    const Device& device) {
  return with_real(distances.type, "distances", [&]<class T>() {
    return write_core_distances<T>(distances.as<T>("distances"), out.as<T>("out"), options, device);
  });
}

spanning_tree_result spanning_tree_of(any_matrix distances, const spanning_tree_options& options,
                                      const Device& device) {
  return with_real(distances.type, "distances",
                   [&]<class T>() { return tree_of_distances<T>(distances.as<T>("distances"), options, device); });
}

cluster_result cluster_distances(any_matrix distances, const cluster_options& options, const Device& device) {
  return finish_clustering(spanning_tree_of(distances, spanning_tree_part(options), device), distances.rows, options);
}

}  // namespace quintet::hdbscan
