#include "row_dots.hpp"

#include "device/launch.hpp"
#include "device/staged.hpp"
#include "quintet/core/error.hpp"
#include "quintet/device/buffer.hpp"
#include "row_dots_kernel.hpp"

namespace quintet::skeleton {

template <class Real>
std::vector<Real> row_dots(matrix_view<const Real> x, matrix_view<const Real> y, const Device& given) {
  const Device device = device::run_device(given, {{"x", x}, {"y", y}});
  require_argument(y.rows() == x.rows(), "y.rows", y.rows(), text("x.rows=", x.rows()));
  require_argument(y.cols() == x.cols(), "y.cols", y.cols(), text("x.cols=", x.cols()));
  const device::staged_in device_x(x, device), device_y(y, device);
  Buffer<Real> out(x.rows(), device);
  device::with_shape<host_shape<Real>, device_shape<Real>>(device, [&](auto shape) {
    using kernel = row_dots_kernel<Real, decltype(shape)>;
    static_assert(sizeof(typename kernel::scratch) <= device::device_scratch_limit);
    const std::int64_t tiles = (x.rows() + kernel::rows_per_tile - 1) / kernel::rows_per_tile;
    device::launch(kernel{device_x.view().data(), device_y.view().data(), x.rows(), x.cols(), device_x.view().stride(),
                          device_y.view().stride(), out.data()},
                   tiles, device);
  });
  return out.to_vector();
}

template std::vector<float> row_dots(matrix_view<const float>, matrix_view<const float>, const Device&);
template std::vector<double> row_dots(matrix_view<const double>, matrix_view<const double>, const Device&);

}  // namespace quintet::skeleton
