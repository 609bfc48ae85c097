#include "pairwise/rounded_points.hpp"

#include <algorithm>

#include "device/for_each.hpp"
#include "device/launch.hpp"
#include "instantiate.hpp"
#include "pairwise/rounded_points_kernel.hpp"

namespace quintet::pairwise {

namespace {

// Panels of the sample that the centre is taken from: it decides how good bounds are, not whether they hold.
constexpr std::int64_t sampled_panels = 64;

template <class Real>
Buffer<double> centre_of(const panels<Real>& points) {
  const std::int64_t panel_count = points.count / panel_points<Real> + 1;
  Buffer<double> centre(points.dim, points.device());
  const std::int64_t last = points.blocks() * points.block_side / panel_points<Real>;
  device::for_each(points.dim,
                   centre_of_sample<Real>{points.data.data(), points.dim, std::min(panel_count, last),
                                          std::max<std::int64_t>(1, panel_count / sampled_panels), centre.data()},
                   points.device());
  return centre;
}

/// Words of a point: whole slices of a tile on a device.
std::int64_t words_of(std::int64_t dim, const Device& device) {
  const std::int64_t multiple = device.kind() == device_kind::host ? 1 : int(device_shape<float>::depth);
  return ((dim + 1) / 2 + multiple - 1) / multiple * multiple;
}

}  // namespace

template <class Real>
rounded_points::rounded_points(const panels<Real>& points)
    : pairs_(words_of(points.dim, points.device())), centre_(centre_of(points)) {
  round(points, centre_);
}

template <class Real>
rounded_points::rounded_points(const panels<Real>& points, const rounded_points& reference) : pairs_(reference.pairs_) {
  round(points, reference.centre_);
}

template <class Real>
void rounded_points::round(const panels<Real>& points, const Buffer<double>& centre) {
  const Device& device = points.device();
  const std::int64_t padded_count = points.blocks() * points.block_side;
  words_ = Buffer<float>(padded_count * pairs_, device);
  scale_ = Buffer<float>(padded_count, device);
  square_ = Buffer<float>(padded_count, device);
  error_ = Buffer<float>(padded_count, device);
  device::with_shape<host_shape<Real>, device_shape<Real>>(device, [&](auto shape) {
    device::launch(round_kernel<Real, decltype(shape)>{points.data.data(), points.dim, pairs_, centre.data(),
                                                       dot_error(points.dim), words_.data(), scale_.data(),
                                                       square_.data(), error_.data()},
                   padded_count / panel_points<float>, device);
  });
}

dot_bounds rounded_points::between(const rounded_points& rows, const rounded_points& cols) {
  return {rows.view(), cols.view(), float(dot_error::keep(2 * rows.pairs_))};
}

#define QUINTET_INSTANTIATE(Real)                               \
  template rounded_points::rounded_points(const panels<Real>&); \
  template rounded_points::rounded_points(const panels<Real>&, const rounded_points&);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::pairwise
