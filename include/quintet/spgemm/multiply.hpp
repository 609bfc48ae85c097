// Sparse matrix times sparse matrix: C = A * B over a semiring, in one pass over the products.
//
//   C(i, j) = sum over k of A(i, k) * B(k, j), in the order of the entries of A's row i.
//
// An entry of C exists if and only if at least one product exists: cancelled entries and explicit zeros stay, empty
// rows are empty. Columns ascend strictly. NaN and infinity follow the arithmetic. The result is the same bit for bit
// on every device, for any number of threads, and for any setting in `options`.
//
// Operands, masks and plans' operands may be in memory of the host or of one device, which then does the work.
// Otherwise the device that you name does all of it, or the call throws. If you name none (Device::best()), a GPU does
// it, or the host for fewer than options::host_products products. report::ran_on has the device. Results are on the
// host, except those of device_csr.
//
// A is m x k, B is k x n; both may have unsorted or repeated columns. Such a B is sorted first, in a copy, and repeated
// entries are added with the semiring's addition. Value is float or double, Index std::int32_t or std::int64_t, the
// same for both.
//
// Memory on the host: C, an eighth of C at most for growth, 24 bytes per row. Each thread adds 9.2 bytes per column (at
// most 4 million), 1 MB, and four chunks of C (8192 entries or a row). On a device: 2.5 times C, and A and B. Time:
// about one to three nanoseconds per product and thread if the accumulator fits the second-level cache.
//
// Errors of all functions here: InvalidArgument for matrices that check() refuses, sizes that do not fit, options
// outside their range; OutOfMemory, with nothing leaked; DeviceError.
//
// The method and its measured facts: docs/spgemm.md.
#pragma once

#include <functional>

#include "quintet/device/device.hpp"
#include "quintet/spgemm/csr.hpp"
#include "quintet/spgemm/mask.hpp"
#include "quintet/spgemm/options.hpp"
#include "quintet/spgemm/semiring.hpp"

namespace quintet::spgemm {

template <class Value, class Index>
struct result_block;

// Compiled in the library. Without constraints, because compilers disagree whether a constraint is part of a function's
// name: a program of g++ 12 would not link what clang 19 has compiled.
namespace detail {
template <class Semiring, class Value, class Index>
csr<Value, Index> product(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b, const options& settings,
                          const Device& device, report* stats);
template <class Semiring, class Mask, class Value, class Index>
csr<Value, Index> masked(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                         const csr_view<Value, Index>& mask, const options& settings, const Device& device);
template <class Semiring, class Value, class Index>
csr<Value, Index> transposed_product(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                                     const options& settings, const Device& device, report* stats);
template <class Semiring, class Value, class Index>
void product_in_blocks(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b, std::int64_t budget,
                       const std::function<bool(result_block<Value, Index>&&)>& take, const options& settings,
                       const Device& device, report* stats);
}  // namespace detail

/// C = A * B. `stats`, if not null, receives a report of the work. Shapes, errors, time and memory: above.
template <class Semiring = plus_times, class Value, class Index>
  requires has_kernels<Semiring>
csr<Value, Index> multiply(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                           const options& settings = {}, const Device& device = Device::best(),
                           report* stats = nullptr) {
  return detail::product<Semiring>(a, b, settings, device, stats);
}

/// C = A * B inside the entries of `mask`, whatever their values, and nowhere else; with complement_mask outside them.
/// The mask is m x n; its columns may come in any order. Time: with structural_mask a pass over all products, which are
/// added up in place; with complement_mask that of multiply() and a search for each entry. Memory: C, and a copy of the
/// mask on a device or if it is not sorted; with structural_mask also 9 or 5 bytes per entry of the mask.
template <class Semiring = plus_times, class Mask = structural_mask, class Value, class Index>
  requires has_kernels<Semiring>
csr<Value, Index> multiply_masked(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                                  const csr_view<Value, Index>& mask, const options& settings = {},
                                  const Device& device = Device::best()) {
  return detail::masked<Semiring, Mask>(a, b, mask, settings, device);
}

/// C = A * transpose(B), forming the transpose once; with b = a this is A * transpose(A). A is m x k, B is n x k. Time
/// and memory: those of transpose() and multiply().
template <class Semiring = plus_times, class Value, class Index>
  requires has_kernels<Semiring>
csr<Value, Index> multiply_transposed(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                                      const options& settings = {}, const Device& device = Device::best(),
                                      report* stats = nullptr) {
  return detail::transposed_product<Semiring>(a, b, settings, device, stats);
}

/// Sizes of A * B, found out on `device`; without a name where the operands are. Cost: one pass over A and B, and 1% of
/// the products; 16 bytes per row of A.
template <class Value, class Index>
size_estimate estimate(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                       const Device& device = Device::best());

/// A piece of a result: rows [first_row, first_row + block.rows), of them the columns [first_col, last_col).
template <class Value, class Index>
struct result_block {
  std::int64_t first_row = 0;  ///< row of C that is row 0 of `block`
  ///@{
  /// 0 and n, unless a single row was too large for the budget.
  std::int64_t first_col = 0, last_col = 0;
  ///@}
  csr<Value, Index> block;  ///< has n columns, counted from 0
};

/// Computes C in blocks of rows, and returns each one as soon as it is done, in order. The arrays of a block never
/// exceed `budget` bytes; a row that exceeds the budget alone comes in several ranges of its columns. If the callback
/// returns false, the work ends. The budget holds for the block itself; workers also need the accumulators of
/// multiply(). Time: that of multiply(); for a row that comes in ranges, A's row is read again for each range. Throws
/// InvalidArgument also if budget < estimate(a, b).minimum_budget (1040 bytes) or `take` is empty. An exception of
/// `take` ends the work, too.
template <class Semiring = plus_times, class Value, class Index>
  requires has_kernels<Semiring>
void multiply_in_blocks(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b, std::int64_t budget,
                        const std::function<bool(result_block<Value, Index>&&)>& take, const options& settings = {},
                        const Device& device = Device::best(), report* stats = nullptr) {
  detail::product_in_blocks<Semiring>(a, b, budget, take, settings, device, stats);
}

}  // namespace quintet::spgemm
