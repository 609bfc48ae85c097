#include "quintet/spgemm/dense_product.hpp"

#include <limits>

#include "spgemm/check_rows.hpp"
#include "spgemm/dense_product_kernel.hpp"
#include "spgemm/lowest_number.hpp"
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

/// Returns whether all columns of `a` are in range.
template <class Value, class Index>
bool vector_rows(const csr_view<Value, Index>& a, matrix_view<const Value> x, matrix_view<Value> y,
                 const Device& device) {
  constexpr std::int64_t rows_per_tile = 512;
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  const std::int64_t outside = lowest_number(none, device, [&](std::int64_t* place) {
    range_loop(a.rows, rows_per_tile,
               vector_product_rows<Value, Index>{a, x.data(), x.stride(), y.data(), y.stride(), place}, device);
  });
  return outside == none;
}

}  // namespace

template <class Value, class Index>
void multiply_dense(const csr_view<Value, Index>& a, matrix_view<const Value> x, matrix_view<Value> y,
                    const Device& device) {
  const bool is_vector = x.cols() == 1;
  if (is_vector)
    check_rows(a, "a");
  else
    check(a, "a");
  if (x.rows() != a.cols || y.rows() != a.rows || y.cols() != x.cols())
    throw InvalidArgument(text("x must be a.cols x n and y a.rows x n (a is ", a.rows, " x ", a.cols, ", x is ",
                               x.rows(), " x ", x.cols(), ", y is ", y.rows(), " x ", y.cols(), ")"));
  if (y.rows() == 0 || y.cols() == 0) return;
  const Device where = device_of_operands(device, {{"a", a}, {"x", x}, {"y", y}});
  const device_operand<Value, Index> operand(a, where);
  const device::staged_in from(x, where);
  device::staged_out to(y, where);
  if (!is_vector) {
    dense_rows(operand.view(), from.view(), to.view(), where);
  } else if (!vector_rows(operand.view(), from.view(), to.view(), where)) {
    check(a, "a");
    throw InvalidArgument("a.columns must not change during the product");
  }
  to.finish();
}

#define QUINTET_INSTANTIATE(Value, Index)                                                                   \
  template void multiply_dense(const csr_view<Value, Index>&, matrix_view<const Value>, matrix_view<Value>, \
                               const Device&);
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::spgemm
