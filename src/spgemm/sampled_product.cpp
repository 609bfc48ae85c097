// Entries of a product of dense matrices where a sparse matrix has some (SDDMM).
#include "device/pack.hpp"
#include "quintet/spgemm/dense_product.hpp"
#include "spgemm/problem.hpp"
#include "spgemm/range_loop.hpp"
#include "spgemm/results.hpp"

#include "instantiate.hpp"

namespace quintet::spgemm {

namespace {

/// Eight sums, of every eighth column each, are added in one order everywhere: registers of a host, numbers of a
/// thread of a device. A thread takes an entry.
/// Row by row over CSR (Saad 2003, 3.4).
template <class Value, class Index>
struct sample_rows {
  enum { lanes = 8 };
  csr_view<Value, Index> mask;
  std::int64_t first;  ///< of its row pointers
  const Value *x, *y;
  std::int64_t x_stride, y_stride, cols;
  Value* values;

  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t k = mask.row_pointers[i] + team.rank(); k < mask.row_pointers[i + 1]; k += team.size())
        values[k - first] = product(x + i * x_stride, y + mask.columns[k] * y_stride);
  }

 private:
  Value product(const Value* u, const Value* v) const {
    using pack = device::pack<Value, lanes>;
    pack sum{};
    std::int64_t c = 0;
    for (; c + lanes <= cols; c += lanes) {
      const pack a = device::load_pack<pack>(u + c), b = device::load_pack<pack>(v + c);
      pack term;
      for (int e = 0; e < lanes; ++e) term[e] = product_of<plus_times>(Value(a[e]), Value(b[e]));
#if !defined(__clang__)
      term = __builtin_assoc_barrier(term);  // g++ loses the barriers of the lanes
#endif
      sum = sum + term;
    }
    for (int e = 0; e < lanes; ++e)  // of constant numbers: registers of a device have no addresses
      if (c + e < cols) sum[e] = sum[e] + product_of<plus_times>(u[c + e], v[c + e]);
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
  }
};

}  // namespace

template <class Value, class Index>
void multiply_sampled(const csr_view<Value, Index>& mask, matrix_view<const Value> x, matrix_view<const Value> y,
                      matrix_view<Value> values, const Device& device) {
  check(mask, "mask");
  if (x.rows() != mask.rows || y.rows() != mask.cols || x.cols() != y.cols())
    throw InvalidArgument(text("x must be mask.rows x n and y mask.cols x n (mask is ", mask.rows, " x ", mask.cols,
                               ", x is ", x.rows(), " x ", x.cols(), ", y is ", y.rows(), " x ", y.cols(), ")"));
  const auto [first, last] = entry_range(mask);
  if (values.rows() != 1 || values.cols() != last - first)
    throw InvalidArgument(text("values must be a row of mask.nnz() = ", last - first, " numbers (values is ",
                               values.rows(), " x ", values.cols(), ")"));
  if (first == last) return;
  const Device where = device_of_operands(device, {{"mask", mask}, {"x", x}, {"y", y}, {"values", values}});
  csr_view<Value, Index> structure = mask;
  structure.values = nullptr;
  const device_operand<Value, Index> operand(structure, where);
  const device::staged_in left(x, where), right(y, where);
  device::staged_out to(values, where);
  range_loop(mask.rows, 16,
             sample_rows<Value, Index>{operand.view(), first, left.view().data(), right.view().data(),
                                       left.view().stride(), right.view().stride(), x.cols(), to.view().data()},
             where);
  to.finish();
}

#define QUINTET_INSTANTIATE(Value, Index)                                                                           \
  template void multiply_sampled(const csr_view<Value, Index>&, matrix_view<const Value>, matrix_view<const Value>, \
                                 matrix_view<Value>, const Device&);
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::spgemm
