#include "quintet/spgemm/dense_product.hpp"

#include "spgemm/dense_product_kernel.hpp"
#include "spgemm/results.hpp"

#include "instantiate.hpp"

namespace quintet::spgemm {

namespace {

template <class Value, class Index>
void dense_rows(const csr_view<Value, Index>& a, matrix_view<const Value> x, matrix_view<Value> y,
                const Device& device) {
  constexpr int lanes = 128 / sizeof(Value);
  constexpr std::int64_t rows_per_tile = 16;
  const auto run = [&](auto rows) {
    range_loop(a.rows, rows_per_tile, decltype(rows){a, x.data(), x.stride(), x.cols(), y.data(), y.stride()}, device);
  };
  if (device.kind() == device_kind::host)
    run(dense_product_rows<Value, Index, lanes>{});
  else
    run(dense_product_rows<Value, Index, 1>{});
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
  const Device where = device_of_operands(device, {{"a", a}, {"x", x}, {"y", y}});
  const device_operand<Value, Index> operand(a, where);
  const device::staged_in from(x, where);
  device::staged_out to(y, where);
  dense_rows(operand.view(), from.view(), to.view(), where);
  to.finish();
}

#define QUINTET_INSTANTIATE(Value, Index)                                                                   \
  template void multiply_dense(const csr_view<Value, Index>&, matrix_view<const Value>, matrix_view<Value>, \
                               const Device&);
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::spgemm
