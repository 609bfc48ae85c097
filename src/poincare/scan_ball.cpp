#include "poincare/scan_ball.hpp"

#include <algorithm>
#include <cmath>

#include "device/launch.hpp"
#include "instantiate.hpp"
#include "poincare/ball_points_kernel.hpp"
#include "poincare/curvature.hpp"
#include "quintet/core/error.hpp"

namespace quintet::poincare {

namespace {

// Rows a tile: enough work for a thread, few enough to share among many.
constexpr std::int64_t rows_per_tile = 64;

template <class Storage>
struct scan_ball_kernel {
  using shape = device::host_only_shape;
  struct scratch {};
  using Real = accumulator_t<Storage>;
  matrix_view<const Storage> points;
  double c, scale, numerator;
  std::uint8_t* valid;
  Real* factor;

  template <class Team>
  void operator()(const Team&, std::int64_t tile, scratch&) const {
    const std::int64_t end = std::min(points.rows(), (tile + 1) * rows_per_tile);
    for (std::int64_t i = tile * rows_per_tile; i < end; ++i) scan(i);
  }

 private:
  void scan(std::int64_t i) const {
    // Of the scaled coordinates, as they are packed: the scale is a power of two, so nothing is rounded twice.
    norm_sums<Storage, 1> sums;
    for (std::int64_t k = 0; k < points.cols(); ++k) sums.add(double(Real(points(i, k)) * Real(scale)));
    const double gap = sums.square.one_minus(c / scale / scale);
    valid[i] = status_of(gap, sums.not_finite) == point_status::inside;
    factor[i] = valid[i] ? factor_of<Real>(numerator, gap) : Real(1);
  }
};

}  // namespace

template <class Storage>
pairwise::row_scan<accumulator_t<Storage>> scan_ball(matrix_view<const Storage> points, double curvature) {
  using Real = accumulator_t<Storage>;
  require_argument(curvature < 0 && std::isfinite(curvature), "curvature", curvature, "< 0 and finite");
  const ball b(curvature);
  const std::int64_t n = points.rows();
  pairwise::row_scan<Real> scan;
  scan.surrogate = b.surrogate<Real>(formula::geodesic);
  scan.surrogate.kind = metric::poincare;
  scan.valid.resize(n);
  scan.ball_factor.resize(n);
  scan.factor.assign(n, Real(b.scale));
  device::launch(
      scan_ball_kernel<Storage>{points, b.c, b.scale, b.numerator, scan.valid.data(), scan.ball_factor.data()},
      (n + rows_per_tile - 1) / rows_per_tile, Device::host());
  return scan;
}

#define QUINTET_INSTANTIATE(Storage) \
  template pairwise::row_scan<accumulator_t<Storage>> scan_ball(matrix_view<const Storage>, double);
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)

}  // namespace quintet::poincare
