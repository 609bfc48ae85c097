// The device body of row_dots: a pure function of raw pointers and numbers. No maps, exceptions or containers here.
#pragma once

#include <cstdint>

#include "device/pack.hpp"
#include "device/team.hpp"

namespace quintet::skeleton {

/// Partial sums a row has. Fixed, and not the number of lanes or threads: they differ between devices, the bits of the
/// result may not.
constexpr int chains = 16;

/// One host thread: chains lie side by side in SIMD registers.
template <class Real>
struct host_shape {
  enum { on_device = 0, lanes = device::host_lanes<Real>() < chains ? device::host_lanes<Real>() : chains };
};

/// A block of threads: one chain a thread, so that neighbours read neighbouring coordinates.
template <class Real>
struct device_shape {
  enum { on_device = 1, lanes = 1 };
};

/// One tile = rows_per_tile rows.
template <class Real, class Shape>
struct row_dots_kernel {
  using shape = Shape;
  // Threads a team: of a GPU, and of the emulated device. The kernel is right for any number.
  enum { threads = 128, emulated_threads = 4, rows_per_tile = 32 };
  struct scratch {
    Real partial[rows_per_tile * chains];
  };

  const Real *x, *y;
  std::int64_t rows, dim, x_stride, y_stride;
  Real* out;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    const std::int64_t first = tile * rows_per_tile;
    const int here = int(rows - first < rows_per_tile ? rows - first : std::int64_t(rows_per_tile));

    constexpr int packs = chains / Shape::lanes;
    for (int e = team.rank(); e < here * packs; e += team.size()) {
      const int i = e / packs, chain = e % packs * Shape::lanes;
      add_chains(x + (first + i) * x_stride, y + (first + i) * y_stride, chain, s.partial + i * chains + chain);
    }
    // Every thread of the team comes by here, whether it had work or not.
    team.barrier();

    for (int i = team.rank(); i < here; i += team.size()) {
      Real sum = 0;
      for (int c = 0; c < chains; ++c) sum += s.partial[i * chains + c];
      out[first + i] = sum;
    }
    // The launch has a barrier between tiles, so the next one may write to the scratch at once.
  }

 private:
  /// partial[l] := sum of x_k y_k over k = chain + l, chain + l + 16, ..., for l < lanes.
  void add_chains(const Real* row_x, const Real* row_y, int chain, Real* partial) const {
    typedef device::pack<Real, Shape::lanes> value;
    value sum{};
    std::int64_t k = chain;
    for (; k + Shape::lanes <= dim; k += chains)
      sum = device::fma(device::load_pack<value>(row_x + k), device::load_pack<value>(row_y + k), sum);
    device::store_pack(partial, sum);
    for (int l = 0; k + l < dim && l < Shape::lanes; ++l)
      partial[l] = device::fma(row_x[k + l], row_y[k + l], partial[l]);
  }
};

}  // namespace quintet::skeleton
