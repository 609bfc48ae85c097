#include "quintet/spgemm/csr.hpp"

#include <limits>

#include "device/atomic.hpp"
#include "spgemm/check_rows.hpp"
#include "spgemm/lowest_number.hpp"
#include "spgemm/range_loop.hpp"

#include "instantiate.hpp"

namespace quintet::spgemm {

namespace {

/// Finds the lowest number for which `bad` holds. One pass tells whether there is one in a range, without a branch.
template <class Bad>
struct find_first {
  Bad bad;
  std::int64_t* first;
  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    bool any = false;
    for (std::int64_t k = begin + team.rank(); k < end; k += team.size()) any |= bad(k);
    if (!any) return;
    for (std::int64_t k = begin + team.rank(); k < end; k += team.size())
      if (bad(k)) return device::atomic_min(first, k);
  }
};

struct pointer_falls {
  const std::int64_t* pointers;
  bool operator()(std::int64_t i) const { return pointers[i + 1] < pointers[i]; }
};
template <class Index>
struct column_outside {
  const Index* columns;
  std::int64_t cols;
  bool operator()(std::int64_t k) const { return std::int64_t(columns[k]) < 0 || std::int64_t(columns[k]) >= cols; }
};

// The lowest number for which `bad` holds, or `count`; what it looks at is on `device`.
template <class Bad>
std::int64_t first_bad(std::int64_t count, const Bad& bad, const Device& device) {
  constexpr std::int64_t grain = std::int64_t{1} << 16;
  return lowest_number(count, device,
                       [&](std::int64_t* first) { range_loop(count, grain, find_first<Bad>{bad, first}, device); });
}

template <class T>
T element(const T* data, std::int64_t i, const Device& where) {
  T value;
  quintet::detail::copy(&value, Device::host(), data + i, where, sizeof value);
  return value;
}

}  // namespace

template <class Value, class Index>
void check_rows(const csr_view<Value, Index>& matrix, const char* name) {
  constexpr std::int64_t max = std::numeric_limits<Index>::max();
  constexpr std::int64_t uncountable = std::numeric_limits<std::int64_t>::max();
  // Names are made only when they are needed: that takes longer than a small product.
  if (matrix.rows < 0) require_argument(false, text(name, ".rows"), matrix.rows, ">= 0");
  if (matrix.cols < 0) require_argument(false, text(name, ".cols"), matrix.cols, ">= 0");
  if (matrix.cols - 1 > max)
    throw InvalidArgument(text(name, ".cols must be <= ", max, " + 1 for ", 8 * sizeof(Index), "-bit columns (", name,
                               ".cols=", matrix.cols, "); use 64-bit columns"));
  // One more of them has to be a number, too: row pointers of the matrix and of its transpose.
  if (matrix.rows == uncountable) require_argument(false, text(name, ".rows"), matrix.rows, "< 2^63 - 1");
  if (matrix.cols == uncountable) require_argument(false, text(name, ".cols"), matrix.cols, "< 2^63 - 1");
  if (matrix.rows == 0) return;
  if (matrix.row_pointers == nullptr) throw InvalidArgument(text(name, ".row_pointers must not be null"));
  const std::int64_t* pointers = matrix.row_pointers;
  const auto [begin, end] = entry_range(matrix);
  if (begin < 0) throw InvalidArgument(text(name, ".row_pointers[0] must be >= 0 (it is ", begin, ")"));
  const std::int64_t row = first_bad(matrix.rows, pointer_falls{pointers}, matrix.where);
  if (row < matrix.rows)
    throw InvalidArgument(text(name, ".row_pointers must not fall (row ", row, ": from ",
                               element(pointers, row, matrix.where), " to ", element(pointers, row + 1, matrix.where),
                               ")"));
  const std::int64_t count = end - begin;
  if (count > 0 && (matrix.columns == nullptr || matrix.values == nullptr))
    throw InvalidArgument(text(name, ".columns and .values must not be null for ", count, " entries"));
}

template <class Value, class Index>
void check(const csr_view<Value, Index>& matrix, const char* name) {
  check_rows(matrix, name);
  if (matrix.rows == 0) return;
  const auto [begin, end] = entry_range(matrix);
  const std::int64_t count = end - begin;
  const Index* columns = matrix.columns + begin;
  const std::int64_t entry = first_bad(count, column_outside<Index>{columns, matrix.cols}, matrix.where);
  if (entry < count)
    throw InvalidArgument(text(name, ".columns must be in [0, ", matrix.cols, ") (entry ", entry + begin, " is ",
                               element(columns, entry, matrix.where), ")"));
}

#define QUINTET_INSTANTIATE(Value, Index)                               \
  template void check_rows(const csr_view<Value, Index>&, const char*); \
  template void check(const csr_view<Value, Index>&, const char*);
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::spgemm
