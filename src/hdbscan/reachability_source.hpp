// What the dense sink needs to write mutual reachabilities.
#pragma once

#include <cstdint>

#include "device/find_first.hpp"
#include "device/staged.hpp"
#include "hdbscan/checks.hpp"
#include "pairwise/scanned_points.hpp"
#include "pairwise/sinks.hpp"
#include "quintet/hdbscan/mutual_reachability.hpp"

namespace quintet::hdbscan {

/// A core distance that is negative, or NaN where the point is not.
template <class Real>
struct is_no_core {
  const Real *core, *number;
  bool operator()(std::int64_t i) const { return !(core[i] >= 0) && number[i] >= 0; }
};

/// Core distances in memory of the points' device, padded with zeros; empty if none are given. Throws InvalidArgument
/// unless there is one that is >= 0 for every valid point.
template <class Storage, class Real = accumulator_t<Storage>>
Buffer<Real> checked_cores(vector_view<const Real> core, const pairwise::scanned_points<Storage>& points,
                           std::int64_t padded_count) {
  if (core.empty()) return {};
  const Device& device = points.device();
  const std::int64_t n = points.count();
  require_argument(core.size() == n, "core.size", core.size(), text("0 or points.rows=", n));
  Buffer<Real> padded(padded_count, device);
  device::fill(padded, Real(0));
  quintet::detail::copy(padded.data(), device, core.data(), core.device(), n * std::int64_t(sizeof(Real)));
  const std::int64_t wrong = device::find_first(n, is_no_core<Real>{padded.data(), points.numbers()}, device);
  if (wrong >= 0) require_element(false, "core", wrong, device::host_copy(core)[wrong], ">= 0");
  return padded;
}

/// Packed points and core distances on a device.
template <class Storage>
class reachability_source {
 public:
  using Real = accumulator_t<Storage>;

  reachability_source(matrix_view<const Storage> points, vector_view<const Real> core,
                      const reachability_options& options, const Device& device)
      : options_(options) {
    check_points(points);
    check_distance(options.distance);
    check_alpha<Real>(options.alpha);
    const pairwise::scanned_points<Storage> scanned(points, options.distance, device);
    measure_ = scanned.measure;
    panels_ = scanned.pack();
    core_ = checked_cores(core, scanned, panels_.blocks() * panels_.block_side);
  }

  pairwise::dense_arguments<Real> arguments(Real* out, std::int64_t out_stride) const {
    return {.panels = panels_.data.data(),
            .dim = panels_.dim,
            .count = panels_.count,
            .measure = measure_,
            .core = core_.data(),
            .alpha = Real(options_.alpha),
            .core_on_diagonal = options_.core_on_diagonal,
            .out = out,
            .out_stride = out_stride,
            .factors = {panels_.factor.data(), panels_.factor.data()}};
  }
  const pairwise::panels<Real>& panels() const { return panels_; }

 private:
  reachability_options options_;
  pairwise::reduced_metric<Real> measure_;
  pairwise::panels<Real> panels_;
  Buffer<Real> core_;
};

}  // namespace quintet::hdbscan
