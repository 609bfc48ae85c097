// The transpose of a sparse matrix times a dense one, without the transpose.
#include <algorithm>
#include <limits>

#include "device/atomic.hpp"
#include "device/launch.hpp"
#include "device/pack.hpp"
#include "quintet/spgemm/dense_product.hpp"
#include "spgemm/check_rows.hpp"
#include "spgemm/column_check.hpp"
#include "spgemm/lowest_number.hpp"
#include "spgemm/range_loop.hpp"
#include "spgemm/results.hpp"

#include "instantiate.hpp"

namespace quintet::spgemm {

namespace {

/// The rows of A in blocks with sums of their own: where these are added depends on the sizes alone, and so do the
/// bits.
struct equal_blocks {
  std::int64_t rows, count;

  static equal_blocks of(std::int64_t rows, std::int64_t cols, std::int64_t nnz) {
    constexpr std::int64_t few_entries = 1 << 15, most = 16;
    const std::int64_t count = nnz < few_entries ? 1 : nnz / (8 * std::max<std::int64_t>(cols, 1));
    return {rows, std::clamp<std::int64_t>(count, 1, most)};
  }
  std::int64_t begin(std::int64_t block) const { return rows / count * block + std::min(block, rows % count); }
};

/// The sums of one block for Columns columns of x: entries of A scatter multiples of x's rows over them. The lowest
/// entry of a column that is out of range goes to `outside`. Product of a transpose by rows (Saad 2003, 3.4).
template <class Value, class Index, int Columns>
struct scatter_rows {
  csr_view<Value, Index> a;
  equal_blocks blocks;
  const Value* x;
  std::int64_t x_stride;
  Value* sums;  ///< of each block a.cols rows
  std::int64_t sums_stride;
  std::int64_t* outside;

  void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t block = begin; block < end; ++block) scatter(block, sums + block * a.cols * sums_stride);
  }

 private:
  using pack = device::pack<Value, Columns>;

  void scatter(std::int64_t block, Value* own) const {
    constexpr std::int64_t stretch = 64;
    for (std::int64_t j = 0, cols = a.cols, stride = sums_stride; j < cols; ++j)
      device::store_pack(own + j * stride, pack{});
    const column_check<Value, Index> check{a};
    for (std::int64_t i = blocks.begin(block), last = blocks.begin(block + 1); i < last; i += stretch) {
      const std::int64_t end = std::min(last, i + stretch);
      if (!check.fits(a.row_pointers[i], a.row_pointers[end])) {
        device::atomic_min(outside, check.first_outside(a.row_pointers[i]));
        return;
      }
      for (std::int64_t row = i; row < end; ++row) scatter_row(row, own);
    }
  }
  void scatter_row(std::int64_t i, Value* own) const {
    // By value, so that they are in registers: what is stored might be them otherwise.
    const Index* const columns = a.columns;
    const Value* const values = a.values;
    const std::int64_t stride = sums_stride;
    const pack from = device::load_pack<pack>(x + i * x_stride);
    for (std::int64_t k = a.row_pointers[i], last = a.row_pointers[i + 1]; k < last; ++k) {
      Value* const to = own + columns[k] * stride;
      const Value factor = values[k];
      if constexpr (Columns == 1) {
        *to = *to + product_of<plus_times>(factor, from);
      } else {
        pack product;
        for (int c = 0; c < Columns; ++c) product[c] = product_of<plus_times>(factor, Value(from[c]));
#if !defined(__clang__)
        product = __builtin_assoc_barrier(product);  // g++ loses the barriers of the lanes
#endif
        device::store_pack(to, device::load_pack<pack>(to) + product);
      }
    }
  }
};

/// The sums of the blocks, added up in their order.
template <class Value>
struct add_blocks {
  const Value* sums;
  std::int64_t blocks, rows, cols;
  Value* y;
  std::int64_t y_stride;

  void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t j = begin; j < end; ++j)
      for (std::int64_t c = 0; c < cols; ++c) {
        Value sum = sums[j * cols + c];
        for (std::int64_t block = 1; block < blocks; ++block) sum = sum + sums[(block * rows + j) * cols + c];
        y[j * y_stride + c] = sum;
      }
  }
};

/// The same sums in the same order from the transpose: a thread takes an element of y.
/// Product of a transpose by columns (Saad 2003, 3.4).
template <class Value, class Index>
struct gather_sums {
  csr_view<Value, Index> transpose;
  equal_blocks blocks;
  const Value* x;
  std::int64_t x_stride, cols;
  Value* y;
  std::int64_t y_stride;

  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t e = begin + team.rank(); e < end; e += team.size()) {
      const std::int64_t j = e / cols, c = e % cols;
      std::int64_t k = transpose.row_pointers[j];
      Value sum = 0;
      for (std::int64_t block = 0; block < blocks.count; ++block) {
        Value part = 0;
        for (const std::int64_t last = blocks.begin(block + 1);
             k < transpose.row_pointers[j + 1] && transpose.columns[k] < last; ++k)
          part = part + product_of<plus_times>(transpose.values[k], x[transpose.columns[k] * x_stride + c]);
        sum = block == 0 ? part : sum + part;
      }
      y[j * y_stride + c] = sum;
    }
  }
};

/// Columns [first, first + Columns) of the product. Returns whether all columns of `a` are in range.
template <int Columns, class Value, class Index>
bool scatter_columns(const csr_view<Value, Index>& a, const equal_blocks& blocks, matrix_view<const Value> x,
                     std::int64_t first, array<Value>& sums, matrix_view<Value> y) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  const bool is_direct = blocks.count == 1;
  std::int64_t outside = none;
  host_loop(blocks.count, 1,
            scatter_rows<Value, Index, Columns>{a, blocks, x.data() + first, x.stride(),
                                                is_direct ? y.data() + first : sums.data(),
                                                is_direct ? y.stride() : std::int64_t(Columns), &outside});
  if (outside != none) return false;
  if (!is_direct)
    host_loop(a.cols, 2048,
              add_blocks<Value>{sums.data(), blocks.count, a.cols, Columns, y.data() + first, y.stride()});
  return true;
}

/// All columns: eight in a pass over A, then four, two and one.
template <class Value, class Index>
bool scatter_product(const csr_view<Value, Index>& a, const equal_blocks& blocks, matrix_view<const Value> x,
                     matrix_view<Value> y) {
  array<Value> sums(blocks.count == 1 ? 0 : blocks.count * a.cols * std::min<std::int64_t>(8, x.cols()));
  std::int64_t first = 0;
  bool fits = true;
  const auto pass = [&]<int Columns>() {
    for (; fits && x.cols() - first >= Columns; first += Columns)
      fits = scatter_columns<Columns>(a, blocks, x, first, sums, y);
  };
  pass.template operator()<8>();
  pass.template operator()<4>();
  pass.template operator()<2>();
  pass.template operator()<1>();
  return fits;
}

}  // namespace

template <class Value, class Index>
void multiply_dense_transposed(const csr_view<Value, Index>& a, matrix_view<const Value> x, matrix_view<Value> y,
                               const Device& device) {
  check_rows(a, "a");
  if (x.rows() != a.rows || y.rows() != a.cols || y.cols() != x.cols())
    throw InvalidArgument(text("x must be a.rows x n and y a.cols x n (a is ", a.rows, " x ", a.cols, ", x is ",
                               x.rows(), " x ", x.cols(), ", y is ", y.rows(), " x ", y.cols(), ")"));
  if (y.rows() == 0 || y.cols() == 0) return;
  const Device where = device_of_operands(device, {{"a", a}, {"x", x}, {"y", y}});
  const device::staged_in from(x, where);
  device::staged_out to(y, where);
  const equal_blocks blocks = equal_blocks::of(a.rows, a.cols, entries_of(a));
  if (where.kind() == device_kind::host) {
    if (!scatter_product(a, blocks, from.view(), to.view())) {
      check(a, "a");
      throw InvalidArgument("a.columns must not change during the product");
    }
  } else {
    const auto turned = transpose_there(a, where, memory_source::standard());
    const std::int64_t elements = a.cols * x.cols(), grain = 4096;
    const gather_sums<Value, Index> gather{turned.view(), blocks,           from.view().data(), from.view().stride(),
                                           x.cols(),      to.view().data(), to.view().stride()};
    device::launch(range_kernel<gather_sums<Value, Index>, team_shape>{gather, elements, grain},
                   (elements + grain - 1) / grain, where);
  }
  to.finish();
}

#define QUINTET_INSTANTIATE(Value, Index)                                                                              \
  template void multiply_dense_transposed(const csr_view<Value, Index>&, matrix_view<const Value>, matrix_view<Value>, \
                                          const Device&);
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::spgemm
