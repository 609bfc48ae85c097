#include "poincare/ball_points.hpp"

#include "device/launch.hpp"
#include "device/staged.hpp"
#include "instantiate.hpp"
#include "pairwise/shape.hpp"
#include "poincare/ball_points_kernel.hpp"

namespace quintet::poincare {

namespace {

template <class Real>
std::int64_t block_side(const Device& device) {
  return device.kind() == device_kind::host ? int(pairwise::host_shape<Real>::side)
                                            : int(pairwise::device_shape<Real>::side);
}

/// Panels hold a multiple of this many coordinates. On the host no slice of team memory has to be filled, so
/// that 8 coordinates need not cost what 16 do.
std::int64_t depth_unit(const Device& device) {
  return device.kind() == device_kind::host ? 8 : int(pairwise::depth_multiple);
}

std::int64_t padded(std::int64_t value, std::int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

template <class Storage>
ball_points<accumulator_t<Storage>> pack_ball_on_device(matrix_view<const Storage> points, const ball& b,
                                                        const Device& device) {
  using Real = accumulator_t<Storage>;
  ball_points<Real> packed;
  pairwise::panels<Real>& panels = packed.panels;
  panels.count = points.rows();
  panels.dim = padded(points.cols(), depth_unit(device));
  panels.block_side = block_side<Real>(device);
  const std::int64_t padded_count = panels.blocks() * panels.block_side;
  panels.data = Buffer<Real>(padded_count * panels.dim, device);
  if (!b.flat()) panels.factor = Buffer<Real>(padded_count, device);
  Buffer<point_status> status(points.rows(), device);
  device::with_shape<pairwise::host_shape<Real>, pairwise::device_shape<Real>>(device, [&](auto shape) {
    const stored_rows<Storage> rows{points.data(), points.rows(), points.cols(), points.stride()};
    device::launch(pack_ball_kernel<Storage, decltype(shape)>{rows, panels.dim, b.c, b.scale, b.numerator,
                                                              panels.data.data(), panels.factor.data(), status.data()},
                   panels.blocks(), device);
  });
  packed.status = status.to_vector();
  return packed;
}

}  // namespace

template <class Storage>
ball_points<accumulator_t<Storage>> pack_ball(const matrix_view<const Storage>& points, const ball& b,
                                              const Device& device) {
  const device::staged_in rows(points, device);
  return pack_ball_on_device(rows.view(), b, device);
}

template <class Real>
std::int64_t ball_bytes(std::int64_t count, std::int64_t dim, const Device& device) {
  return padded(count, block_side<Real>(device)) * (padded(dim, depth_unit(device)) + 1) * std::int64_t(sizeof(Real));
}

template <class Storage>
void require_inside(const matrix_view<const Storage>& points, const std::vector<point_status>& status, const char* name,
                    const ball& b) {
  const std::int64_t i = first_invalid(status);
  if (i < 0) return;
  double square = 0;
  for (const Storage stored : device::host_copy(points.slice(i, i + 1))) {
    const double x = accumulator_t<Storage>(stored);
    square += x * x;
  }
  const std::string allowed =
      status[i] == point_status::not_finite ? "finite" : text("inside the ball, of norm < ", 1 / b.root_c);
  require_argument(false, text(name, "[", i, "]"), text("norm ", std::sqrt(square)), allowed);
}

#define QUINTET_INSTANTIATE(Storage)                                                                             \
  template ball_points<accumulator_t<Storage>> pack_ball(const matrix_view<const Storage>&, const ball&,         \
                                                         const Device&);                                         \
  template void require_inside(const matrix_view<const Storage>&, const std::vector<point_status>&, const char*, \
                               const ball&);
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE
#define QUINTET_INSTANTIATE(Real) template std::int64_t ball_bytes<Real>(std::int64_t, std::int64_t, const Device&);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::poincare
