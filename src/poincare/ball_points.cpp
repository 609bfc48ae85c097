#include "poincare/ball_points.hpp"

#include <cmath>

#include "instantiate.hpp"
#include "pairwise/scanned_points.hpp"

namespace quintet::poincare {

namespace {

/// On the host no slice of team memory has to be filled, so that 8 coordinates need not cost what 16 do.
template <class Real>
pairwise::panel_layout layout_on(const Device& device) {
  pairwise::panel_layout layout = pairwise::tile_layout<Real>(device);
  if (device.kind() == device_kind::host) layout.dim_multiple = 8;
  return layout;
}

std::int64_t padded(std::int64_t value, std::int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace

template <class Storage>
ball_points<accumulator_t<Storage>> pack_ball(const matrix_view<const Storage>& points, const ball& b,
                                              const Device& device) {
  const pairwise::scanned_points<Storage> scanned(points, b, device);
  ball_points<accumulator_t<Storage>> packed{scanned.pack({}, layout_on<accumulator_t<Storage>>(device)),
                                             std::vector<point_status>(points.rows(), point_status::inside),
                                             scanned.may_lose()};
  for (std::int64_t i = 0; i < points.rows(); ++i)
    if (!scanned.valid(i)) packed.status[i] = scanned.outside(i) ? point_status::outside : point_status::not_finite;
  return packed;
}

template <class Real>
std::int64_t ball_bytes(std::int64_t count, std::int64_t dim, const Device& device) {
  const pairwise::panel_layout layout = layout_on<Real>(device);
  return padded(count, layout.block_side) * (padded(dim, layout.dim_multiple) + 1) * std::int64_t(sizeof(Real));
}

template <class Storage>
void require_inside(const matrix_view<const Storage>& points, const std::vector<point_status>& status, const char* name,
                    const ball& b, std::int64_t first_row) {
  const std::int64_t i = first_invalid(status);
  if (i < 0) return;
  double square = 0;
  for (const Storage stored : device::host_copy(points.slice(i, i + 1))) {
    const double x = accumulator_t<Storage>(stored);
    square += x * x;
  }
  const std::string allowed =
      status[i] == point_status::not_finite ? "finite" : text("inside the ball, of norm < ", 1 / b.root_c);
  require_argument(false, text(name, "[", first_row + i, "]"), text("norm ", std::sqrt(square)), allowed);
}

#define QUINTET_INSTANTIATE(Storage)                                                                             \
  template ball_points<accumulator_t<Storage>> pack_ball(const matrix_view<const Storage>&, const ball&,         \
                                                         const Device&);                                         \
  template void require_inside(const matrix_view<const Storage>&, const std::vector<point_status>&, const char*, \
                               const ball&, std::int64_t);
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE
#define QUINTET_INSTANTIATE(Real) template std::int64_t ball_bytes<Real>(std::int64_t, std::int64_t, const Device&);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::poincare
