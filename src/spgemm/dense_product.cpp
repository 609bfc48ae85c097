#include "quintet/spgemm/dense_product.hpp"

#include "device/launch.hpp"
#include "spgemm/dense_product_kernel.hpp"
#include "spgemm/device_memory.hpp"
#include "spgemm/operands.hpp"

namespace quintet::spgemm {

namespace {

// Rows of a matrix one behind the other.
template <class Value>
void copy_rows(matrix_view<Value> to, matrix_view<const Value> from) {
  for (std::int64_t i = 0; i < from.rows(); ++i) std::copy(from.row(i), from.row(i) + from.cols(), to.row(i));
}

template <class Value, class Index>
void on_device(const csr_view<Value, Index>& a, matrix_view<const Value> x, matrix_view<Value> y,
               const Device& device) {
  const device_operand<Value, Index> operand(a, device);
  std::vector<Value> packed(std::size_t(std::max(x.rows() * x.cols(), y.rows() * y.cols())));
  copy_rows(matrix_view<Value>(packed.data(), x.rows(), x.cols()), x);
  Buffer<Value> x_there(x.rows() * x.cols(), device), y_there(y.rows() * y.cols(), device);
  x_there.copy_from_host(packed.data(), x_there.size());
  device::launch(dense_product_kernel<Value, Index, team_shape>{operand.view(), x_there.data(), x.cols(), x.cols(),
                                                                y_there.data(), y.cols()},
                 (a.rows + dense_rows_per_tile - 1) / dense_rows_per_tile, device);
  y_there.copy_to_host(packed.data(), y_there.size());
  copy_rows(y, matrix_view<const Value>(packed.data(), y.rows(), y.cols()));
}

}  // namespace

template <class Value, class Index>
void multiply_dense(const csr_view<Value, Index>& a, matrix_view<const Value> x, matrix_view<Value> y,
                    const Device& device) {
  check(a, "a");
  if (x.rows() != a.cols || y.rows() != a.rows || y.cols() != x.cols())
    throw InvalidArgument(text("x must be a.cols x n and y a.rows x n (a is ", a.rows, " x ", a.cols, ", x is ",
                               x.rows(), " x ", x.cols(), ", y is ", y.rows(), " x ", y.cols(), ")"));
  if (y.rows() == 0 || y.cols() == 0) return;
  if (device.kind() != device_kind::host) return on_device(a, x, y, device);
  device::launch(
      dense_product_kernel<Value, Index, host_shape>{a, x.data(), x.stride(), x.cols(), y.data(), y.stride()},
      (a.rows + dense_rows_per_tile - 1) / dense_rows_per_tile, device);
}

#define QUINTET_DENSE(Value, Index)                                                                         \
  template void multiply_dense(const csr_view<Value, Index>&, matrix_view<const Value>, matrix_view<Value>, \
                               const Device&);
QUINTET_DENSE(float, std::int32_t)
QUINTET_DENSE(float, std::int64_t)
QUINTET_DENSE(double, std::int32_t)
QUINTET_DENSE(double, std::int64_t)
#undef QUINTET_DENSE

}  // namespace quintet::spgemm
