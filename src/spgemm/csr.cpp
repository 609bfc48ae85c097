#include "quintet/spgemm/csr.hpp"

#include <limits>

#include "spgemm/host_loop.hpp"

namespace quintet::spgemm {

namespace {

// The lowest number for which `bad` holds, or `count`.
template <class Bad>
std::int64_t first_bad(std::int64_t count, const Bad& bad) {
  std::int64_t first = count;
  std::int64_t* lowest = &first;
  host_loop(count, std::int64_t{1} << 16, [=](std::int64_t begin, std::int64_t end) {
    bool any = false;
    for (std::int64_t k = begin; k < end; ++k) any |= bad(k);
    if (!any) return;
    while (!bad(begin)) ++begin;
    std::int64_t seen = __atomic_load_n(lowest, __ATOMIC_RELAXED);
    while (begin < seen &&
           !__atomic_compare_exchange_n(lowest, &seen, begin, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
  });
  return first;
}

}  // namespace

template <class Value, class Index>
void check(const csr_view<Value, Index>& matrix, const char* name) {
  constexpr std::int64_t most = std::numeric_limits<Index>::max();
  constexpr std::int64_t uncountable = std::numeric_limits<std::int64_t>::max();
  // Names are made only when they are needed: that takes longer than a small product.
  if (matrix.rows < 0) require_argument(false, text(name, ".rows"), matrix.rows, ">= 0");
  if (matrix.cols < 0) require_argument(false, text(name, ".cols"), matrix.cols, ">= 0");
  if (matrix.cols - 1 > most)
    throw InvalidArgument(text(name, ".cols must be <= ", most, " + 1 for ", 8 * sizeof(Index), "-bit columns (", name,
                               ".cols=", matrix.cols, "); use 64-bit columns"));
  // One more of them has to be a number, too: row pointers of the matrix and of its transpose.
  if (matrix.rows == uncountable) require_argument(false, text(name, ".rows"), matrix.rows, "< 2^63 - 1");
  if (matrix.cols == uncountable) require_argument(false, text(name, ".cols"), matrix.cols, "< 2^63 - 1");
  if (matrix.rows == 0) return;
  if (matrix.row_pointers == nullptr) throw InvalidArgument(text(name, ".row_pointers must not be null"));
  const std::int64_t* pointers = matrix.row_pointers;
  if (pointers[0] < 0) throw InvalidArgument(text(name, ".row_pointers[0] must be >= 0 (it is ", pointers[0], ")"));
  const std::int64_t row = first_bad(matrix.rows, [=](std::int64_t i) { return pointers[i + 1] < pointers[i]; });
  if (row < matrix.rows)
    throw InvalidArgument(
        text(name, ".row_pointers must not fall (row ", row, ": from ", pointers[row], " to ", pointers[row + 1], ")"));
  const std::int64_t count = matrix.nnz();
  if (count > 0 && (matrix.columns == nullptr || matrix.values == nullptr))
    throw InvalidArgument(text(name, ".columns and .values must not be null for ", count, " entries"));
  const Index* columns = matrix.columns + pointers[0];
  const std::int64_t cols = matrix.cols;
  const std::int64_t entry = first_bad(
      count, [=](std::int64_t k) { return std::int64_t(columns[k]) < 0 || std::int64_t(columns[k]) >= cols; });
  if (entry < count)
    throw InvalidArgument(
        text(name, ".columns must be in [0, ", cols, ") (entry ", entry + pointers[0], " is ", columns[entry], ")"));
}

template void check(const csr_view<float, std::int32_t>&, const char*);
template void check(const csr_view<float, std::int64_t>&, const char*);
template void check(const csr_view<double, std::int32_t>&, const char*);
template void check(const csr_view<double, std::int64_t>&, const char*);

}  // namespace quintet::spgemm
