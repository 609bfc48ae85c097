// The distances of listed points, the same bits as the tiles have.
#pragma once

#include <cstdint>
#include <limits>

#include "device/pack.hpp"
#include "device/team.hpp"
#include "pairwise/nearest_kernel.hpp"
#include "pairwise/stored_rows.hpp"
#include "pairwise/transposed_rows.hpp"
#include "quintet/pairwise/metric.hpp"

namespace quintet::pairwise {

/// Squared distances of every row to the points in its list, in their order; NaN where there is none. Tile = some rows.
/// Terms in ascending order of the coordinates, as scikit-learn's reduced distances.
template <class Storage, class Shape>
struct refine_kernel {
  using shape = Shape;
  using Real = accumulator_t<Storage>;
  struct scratch {};
  enum {
    threads = 64,
    emulated_threads = 4,
    rows_per_tile = 8,
    // Half a register: lists are short, and the last pack of each is half empty.
    lanes = Shape::on_device ? 1 : device::host_lanes<Real>() / 2
  };
  stored_rows<Storage> points;
  const std::int32_t* order;  ///< the stored row of every packed point; null: its number
  const Real* number;         ///< of every stored row, see scan_kernel
  metric kind;
  Real scale;
  const std::int32_t* list;  ///< [row][length], numbers of packed points
  std::int64_t length, count;
  Real* out;  ///< [row][length]

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const std::int64_t groups = (length + lanes - 1) / lanes;
    for (std::int64_t e = team.rank(); e < rows_per_tile * groups; e += team.size()) {
      const std::int64_t row = tile * rows_per_tile + e / groups;
      if (row < count) measure(row, e % groups * lanes);
    }
  }

 private:
  std::int64_t stored_row(std::int64_t point) const { return order != nullptr ? order[point] : point; }
  Real factor(std::int64_t stored) const { return kind == metric::cosine ? number[stored] : scale; }

  void measure(std::int64_t row, std::int64_t first) const {
    typedef device::pack<Real, lanes> value;
    if (list[row * length + first] < 0) {  // the end of the list
      for (std::int64_t e = first; e < first + lanes && e < length; ++e)
        out[row * length + e] = std::numeric_limits<Real>::quiet_NaN();
      return;
    }
    const std::int64_t own_row = stored_row(row);
    const Storage* other[lanes];
    Real factors[lanes];
    for (int lane = 0; lane < lanes; ++lane) {
      const std::int64_t e = first + lane < length ? first + lane : length - 1;
      const std::int32_t point = list[row * length + e];
      const std::int64_t stored = point >= 0 ? stored_row(point) : own_row;
      other[lane] = points.row(stored);
      factors[lane] = point >= 0 ? factor(stored) : std::numeric_limits<Real>::quiet_NaN();
    }
    const Storage* x = points.row(own_row);
    const Real x_factor = factor(own_row);
    value sum{};
    for_each_coordinate<Real, lanes>(other, factors, points.dim, points.dim,
                                     [&](std::int64_t k, const value& y) QUINTET_INLINE {
                                       const value difference = y - Real(x[k]) * x_factor;
                                       sum = device::fma(difference, difference, sum);
                                     });
    for (int lane = 0; lane < lanes && first + lane < length; ++lane)
      out[row * length + first + lane] = get_lane<lanes>(sum, lane);
  }
};

}  // namespace quintet::pairwise
