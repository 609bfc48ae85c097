#include "row_dots.hpp"

#include "device/launch.hpp"
#include "quintet/core/error.hpp"
#include "quintet/device/buffer.hpp"
#include "row_dots_kernel.hpp"

namespace quintet::skeleton {

namespace {

/// The rows where a kernel on `device` can read them: in place, or a copy.
template <class Real>
class rows_there {
 public:
  rows_there(matrix_view<const Real> rows, const Device& device) : rows_(rows) {
    if (device.shares_host_memory() || rows.rows() == 0) return;
    copy_ = Buffer<Real>((rows.rows() - 1) * rows.stride() + rows.cols(), device);
    copy_.copy_from_host(rows.data(), copy_.size());
  }
  const Real* data() const { return copy_.size() > 0 ? copy_.data() : rows_.data(); }

 private:
  matrix_view<const Real> rows_;
  Buffer<Real> copy_;
};

}  // namespace

template <class Real>
std::vector<Real> row_dots(matrix_view<const Real> x, matrix_view<const Real> y, const Device& device) {
  require_argument(y.rows() == x.rows(), "y.rows", y.rows(), text("x.rows=", x.rows()));
  require_argument(y.cols() == x.cols(), "y.cols", y.cols(), text("x.cols=", x.cols()));
  const rows_there<Real> x_there(x, device), y_there(y, device);
  Buffer<Real> out(x.rows(), device);
  device::with_shape<host_shape<Real>, device_shape<Real>>(device, [&](auto shape) {
    using kernel = row_dots_kernel<Real, decltype(shape)>;
    static_assert(sizeof(typename kernel::scratch) <= device::device_scratch_limit);
    const std::int64_t tiles = (x.rows() + kernel::rows_per_tile - 1) / kernel::rows_per_tile;
    device::launch(kernel{x_there.data(), y_there.data(), x.rows(), x.cols(), x.stride(), y.stride(), out.data()},
                   tiles, device);
  });
  return out.to_vector();
}

template std::vector<float> row_dots(matrix_view<const float>, matrix_view<const float>, const Device&);
template std::vector<double> row_dots(matrix_view<const double>, matrix_view<const double>, const Device&);

}  // namespace quintet::skeleton
