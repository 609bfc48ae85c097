// The k-th smallest distance in every row of a matrix, the diagonal left out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "device/launch.hpp"
#include "quintet/core/view.hpp"

namespace quintet::hdbscan {

namespace detail {

struct row_shape {
  enum { on_device = 0 };
};

template <class Real>
struct row_selection_kernel {
  using shape = row_shape;
  struct scratch {
    std::vector<Real> others;
  };
  matrix_view<const Real> distances;
  std::int64_t k;
  Real* selected;

  template <class Team>
  void operator()(const Team&, std::int64_t i, scratch& s) const {
    const Real* row = distances.row(i);
    s.others.assign(row, row + i);
    s.others.insert(s.others.end(), row + i + 1, row + distances.cols());
    std::nth_element(s.others.begin(), s.others.begin() + (k - 1), s.others.end());
    selected[i] = s.others[k - 1];
  }
};

}  // namespace detail

/// 1 <= k < N; rows without NaN. Host memory; cost O(N) a row, one row of workspace a thread.
template <class Real>
std::vector<Real> kth_smallest_of_rows(matrix_view<const Real> distances, std::int64_t k) {
  std::vector<Real> selected(distances.rows());
  device::launch(detail::row_selection_kernel<Real>{distances, k, selected.data()}, distances.rows(), Device::host());
  return selected;
}

}  // namespace quintet::hdbscan
