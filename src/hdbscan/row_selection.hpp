// The k-th smallest distance in every row of a matrix, the diagonal left out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "device/launch.hpp"
#include "device/pack.hpp"
#include "quintet/core/view.hpp"

namespace quintet::hdbscan {

namespace detail {

template <class Real>
struct row_selection_kernel {
  using shape = device::host_only_shape;
  struct scratch {
    std::vector<Real> kept;
  };
  matrix_view<const Real> distances;
  std::int64_t k;
  Real* selected;

  // Keeping the k smallest in order beats partitioning a copy of the row while k is small: after a short start, a whole
  // pack of candidates is nearly always refused at once.
  static constexpr std::int64_t most_in_order = 64;

  template <class Team>
  void operator()(const Team&, std::int64_t i, scratch& s) const {
    const Real* row = distances.row(i);
    const std::int64_t n = distances.cols();
    if (k > most_in_order) {
      selected[i] = by_partition(row, n, i, s.kept);
      return;
    }
    s.kept.assign(k, std::numeric_limits<Real>::infinity());
    keep_smallest(row, i, s.kept);
    keep_smallest(row + i + 1, n - i - 1, s.kept);
    selected[i] = s.kept.back();
  }

 private:
  static void keep_smallest(const Real* values, std::int64_t count, std::vector<Real>& kept) {
    constexpr int lanes = device::host_lanes<Real>();
    typedef device::pack<Real, lanes> value;
    const value infinite = device::broadcast_pack<value>(std::numeric_limits<Real>::infinity());
    std::int64_t j = 0;
    for (; j + lanes <= count; j += lanes) {
      const value v = device::load_pack<value>(values + j);
      if (!(device::least_lane<Real>(v < infinite ? v : infinite) < kept.back())) continue;
      for (int e = 0; e < lanes; ++e) keep(values[j + e], kept);
    }
    for (; j < count; ++j) keep(values[j], kept);
  }

  /// Puts a candidate into its place; NaN and what is too large are refused.
  static void keep(Real candidate, std::vector<Real>& kept) {
    if (!(candidate < kept.back())) return;
    const auto place = std::upper_bound(kept.begin(), kept.end(), candidate);
    std::move_backward(place, kept.end() - 1, kept.end());
    *place = candidate;
  }

  Real by_partition(const Real* row, std::int64_t n, std::int64_t i, std::vector<Real>& kept) const {
    kept.clear();
    for (std::int64_t j = 0; j < n; ++j)
      if (j != i && row[j] == row[j]) kept.push_back(row[j]);
    if (std::int64_t(kept.size()) < k) return std::numeric_limits<Real>::infinity();
    std::nth_element(kept.begin(), kept.begin() + (k - 1), kept.end());
    return kept[k - 1];
  }
};

}  // namespace detail

/// 1 <= k < N. NaN is passed over; infinity where fewer than k values are left. Host memory; cost O(N) a row.
template <class Real>
std::vector<Real> kth_smallest_of_rows(matrix_view<const Real> distances, std::int64_t k) {
  std::vector<Real> selected(distances.rows());
  device::launch(detail::row_selection_kernel<Real>{distances, k, selected.data()}, distances.rows(), Device::host());
  return selected;
}

}  // namespace quintet::hdbscan
