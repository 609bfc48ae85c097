#include "pairwise/panels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "device/launch.hpp"
#include "device/pack.hpp"
#include "pairwise/shape.hpp"

namespace quintet::pairwise {

namespace {

// Rows per tile of the scan: enough work for a thread, few enough to share among many.
constexpr std::int64_t scan_rows_per_tile = 64;

template <class Storage>
struct scan_kernel {
  using shape = device::host_only_shape;
  using Real = accumulator_t<Storage>;
  struct scratch {};
  const Storage* points;
  std::int64_t count, dim, stride;
  Real* largest;  // per row: largest magnitude, NaN for a row that is not finite

  Real largest_magnitude(const Storage* row) const {
    constexpr int lanes = device::host_lanes<Real>();
    typedef device::pack<Real, lanes> value;
    // x - x is zero for finite x and NaN otherwise.
    value most{}, not_finite{};
    const auto look_at = [&](const value& x) {
      const value magnitude = x < value{} ? -x : x;
      most = magnitude > most ? magnitude : most;
      not_finite += x - x;
    };
    std::int64_t k = 0;
    for (; k + lanes <= dim; k += lanes) look_at(device::convert_pack<value, Real>(row + k));
    if (k < dim) {
      Storage rest[lanes] = {};
      std::copy(row + k, row + dim, rest);
      look_at(device::convert_pack<value, Real>(rest));
    }
    return -device::least_lane<Real>(-most) + device::sum_lanes<Real>(not_finite);
  }

  template <class Team>
  void operator()(const Team&, std::int64_t tile, scratch&) const {
    const std::int64_t end = std::min(count, (tile + 1) * scan_rows_per_tile);
    for (std::int64_t i = tile * scan_rows_per_tile; i < end; ++i) {
      largest[i] = largest_magnitude(points + i * stride);
    }
  }
};

template <class Storage>
struct normalise_kernel {
  using shape = device::host_only_shape;
  using Real = accumulator_t<Storage>;
  struct scratch {};
  const Storage* points;
  std::int64_t count, dim, stride;
  const Real* largest;
  Real* factor;

  template <class Team>
  void operator()(const Team&, std::int64_t tile, scratch&) const {
    const std::int64_t end = std::min(count, (tile + 1) * scan_rows_per_tile);
    for (std::int64_t i = tile * scan_rows_per_tile; i < end; ++i) {
      // Divided by the largest magnitude first: the norm neither overflows nor vanishes.
      const double most = largest[i];
      double sum = 0;
      for (std::int64_t k = 0; k < dim; ++k) {
        const double x = double(Real(points[i * stride + k])) / most;
        sum = device::fma(x, x, sum);
      }
      factor[i] = Real(1 / (most * std::sqrt(sum)));
    }
  }
};

template <class Storage>
struct pack_kernel {
  using shape = device::host_only_shape;
  using Real = accumulator_t<Storage>;
  struct scratch {};
  const Storage* points;
  std::int64_t count, dim, stride, padded_dim, first_point;
  const std::int32_t* order;  // null: the identity
  const std::uint8_t* valid;
  const Real* factor;
  Real* out;

  template <class Team>
  void operator()(const Team&, std::int64_t panel, scratch&) const {
    constexpr int lanes = panel_points<Real>;
    Real* to = out + panel * padded_dim * lanes;
    for (int lane = 0; lane < lanes; ++lane) {
      const std::int64_t slot = first_point + panel * lanes + lane;
      const std::int64_t point = slot >= count ? -1 : order ? order[slot] : slot;
      if (point < 0 || !valid[point]) {
        for (std::int64_t k = 0; k < padded_dim; ++k) to[k * lanes + lane] = std::numeric_limits<Real>::quiet_NaN();
        continue;
      }
      const Storage* row = points + point * stride;
      for (std::int64_t k = 0; k < dim; ++k) to[k * lanes + lane] = Real(row[k]) * factor[point];
      for (std::int64_t k = dim; k < padded_dim; ++k) to[k * lanes + lane] = 0;
    }
  }
};

// Largest magnitudes are brought to about 2^20: then neither the sum of squares of 2^40 coordinates nor the square of a
// difference 2^-80 times as large leaves the normal range of float.
constexpr int wanted_exponent = 20;

template <class Real>
Real power_of_two_scale(Real largest) {
  if (!(largest > 0)) return 1;
  const int shift = wanted_exponent - std::ilogb(largest);
  constexpr int limit = std::numeric_limits<Real>::max_exponent - 2;
  return std::ldexp(Real(1), std::clamp(shift, -limit, limit));
}

}  // namespace

template <class Real>
std::int64_t row_scan<Real>::valid_count() const {
  return std::count(valid.begin(), valid.end(), 1);
}

template <class Storage>
row_scan<accumulator_t<Storage>> scan_rows(matrix_view<const Storage> points, metric kind) {
  using Real = accumulator_t<Storage>;
  const std::int64_t n = points.rows(), tiles = (n + scan_rows_per_tile - 1) / scan_rows_per_tile;
  std::vector<Real> largest(n);
  device::launch(scan_kernel<Storage>{points.data(), n, points.cols(), points.stride(), largest.data()}, tiles,
                 Device::host());
  row_scan<Real> scan;
  scan.surrogate.kind = kind;
  scan.valid.resize(n);
  scan.factor.resize(n);
  if (kind == metric::cosine)
    device::launch(
        normalise_kernel<Storage>{points.data(), n, points.cols(), points.stride(), largest.data(), scan.factor.data()},
        tiles, Device::host());
  Real overall = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    scan.valid[i] = std::isfinite(largest[i]) && (kind != metric::cosine || std::isnormal(scan.factor[i]));
    if (scan.valid[i]) overall = std::max(overall, largest[i]);
  }
  if (kind == metric::euclidean) {
    const Real scale = power_of_two_scale(overall);
    std::fill(scan.factor.begin(), scan.factor.end(), scale);
    scan.surrogate.unscale = 1 / scale;
  }
  return scan;
}

/// Factors of the packed points; 1 for padding.
template <class Real>
Buffer<Real> packed_factors(const row_scan<Real>& scan, const std::vector<std::int32_t>& order, std::int64_t count,
                            std::int64_t padded_count, const Device& device) {
  if (scan.ball_factor.empty()) return {};
  std::vector<Real> factor(padded_count, 1);
  for (std::int64_t i = 0; i < count; ++i) factor[i] = scan.ball_factor[order.empty() ? i : order[i]];
  return {factor, device};
}

template <class Real>
panel_layout tile_layout(const Device& device) {
  return {device.kind() == device_kind::host ? int(host_shape<Real>::side) : int(device_shape<Real>::side),
          depth_multiple};
}

template <class Storage>
panels<accumulator_t<Storage>> pack_points(matrix_view<const Storage> points,
                                           const row_scan<accumulator_t<Storage>>& scan,
                                           const std::vector<std::int32_t>& order, const Device& device,
                                           const panel_layout& layout) {
  using Real = accumulator_t<Storage>;
  constexpr int lanes = panel_points<Real>;
  panels<Real> packed;
  packed.count = order.empty() ? points.rows() : std::int64_t(order.size());
  packed.dim = (points.cols() + layout.dim_multiple - 1) / layout.dim_multiple * layout.dim_multiple;
  packed.block_side = layout.block_side;
  const std::int64_t panel_count = packed.blocks() * packed.block_side / lanes;
  packed.data = Buffer<Real>(panel_count * lanes * packed.dim, device);
  packed.factor = packed_factors(scan, order, packed.count, panel_count * lanes, device);
  pack_kernel<Storage> kernel{points.data(),
                              packed.count,
                              points.cols(),
                              points.stride(),
                              packed.dim,
                              0,
                              order.empty() ? nullptr : order.data(),
                              scan.valid.data(),
                              scan.factor.data(),
                              packed.data.data()};
  if (device.shares_host_memory()) {
    device::launch(kernel, panel_count, Device::host());
    return packed;
  }
  // Through a piece of host memory, so that the host never holds a second copy of everything.
  const std::int64_t panel_size = lanes * packed.dim;
  const std::int64_t piece =
      std::max<std::int64_t>(1, (std::int64_t(16) << 20) / std::int64_t(panel_size * sizeof(Real)));
  Buffer<Real> staging(std::min(piece, panel_count) * panel_size);
  for (std::int64_t first = 0; first < panel_count; first += piece) {
    const std::int64_t number = std::min(piece, panel_count - first);
    kernel.first_point = first * lanes;
    kernel.out = staging.data();
    device::launch(kernel, number, Device::host());
    packed.data.copy_from_host(staging.data(), number * panel_size, first * panel_size);
  }
  return packed;
}

template struct row_scan<float>;
template struct row_scan<double>;
template panel_layout tile_layout<float>(const Device&);
template panel_layout tile_layout<double>(const Device&);

#define QUINTET_INSTANTIATE(Storage)                                                                         \
  template row_scan<accumulator_t<Storage>> scan_rows(matrix_view<const Storage>, metric);                   \
  template panels<accumulator_t<Storage>> pack_points(                                                       \
      matrix_view<const Storage>, const row_scan<accumulator_t<Storage>>&, const std::vector<std::int32_t>&, \
      const Device&, const panel_layout&);
QUINTET_INSTANTIATE(float)
QUINTET_INSTANTIATE(double)
QUINTET_INSTANTIATE(half)
QUINTET_INSTANTIATE(bfloat16)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::pairwise
