#include "quintet/spgemm/multiply_add.hpp"

#include <limits>

#include "spgemm/range_loop.hpp"
#include "spgemm/results.hpp"

#include "instantiate.hpp"

namespace quintet::spgemm {

namespace {

constexpr std::int64_t row_grain = 256;        // rows of a tile
constexpr std::int64_t entry_grain = 1 << 14;  // entries of a tile

/// (alpha A, beta I): every row gets one entry more, the last one, so that beta C is added last.
template <class Value, class Index>
struct widen_rows {
  csr_view<Value, Index> a;
  Value alpha, beta;
  std::int64_t first;  ///< of A's row pointers
  std::int64_t* row_pointers;
  Index* columns;
  Value* values;

  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin + team.rank(); i < end; i += team.size()) {
      const std::int64_t from = a.row_pointers[i], entries = a.row_pointers[i + 1] - from;
      const std::int64_t to = from - first + i;
      for (std::int64_t e = 0; e < entries; ++e) {
        columns[to + e] = a.columns[from + e];
        values[to + e] = product_of<plus_times>(alpha, a.values[from + e]);
      }
      columns[to + entries] = Index(a.cols + i);
      values[to + entries] = beta;
      row_pointers[i + 1] = to + entries + 1;
      if (i == 0) row_pointers[0] = 0;
    }
  }
};

/// Where the rows of `m` begin behind `before` entries of another matrix.
template <class Value, class Index>
struct shift_pointers {
  csr_view<Value, Index> m;
  std::int64_t first, before;
  std::int64_t* row_pointers;

  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin + team.rank(); i < end; i += team.size())
      row_pointers[i] = m.row_pointers[i] - first + before;
  }
};

template <class Value, class Index>
struct copy_entries {
  const Index* from_columns;
  const Value* from_values;
  Index* columns;
  Value* values;

  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t k = begin + team.rank(); k < end; k += team.size()) {
      columns[k] = from_columns[k];
      values[k] = from_values[k];
    }
  }
};

template <class Value, class Index>
void check_sum(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b, const csr_view<Value, Index>& c) {
  check(a, "a");
  check(b, "b");
  check(c, "c");
  if (a.cols != b.rows)
    throw InvalidArgument(
        text("a.cols must be b.rows (a is ", a.rows, " x ", a.cols, ", b is ", b.rows, " x ", b.cols, ")"));
  if (c.rows != a.rows || c.cols != b.cols)
    throw InvalidArgument(
        text("c must have the size of the product, ", a.rows, " x ", b.cols, " (c is ", c.rows, " x ", c.cols, ")"));
  constexpr std::int64_t most = std::numeric_limits<Index>::max();
  if (a.rows > most - b.rows)
    throw InvalidArgument(text("a.rows + b.rows must be <= ", most, " for columns of ", 8 * sizeof(Index),
                               " bits (a.rows=", a.rows, ", b.rows=", b.rows, ")"));
}

/// (alpha A, beta I), on `device`.
template <class Value, class Index>
device_matrix<Value, Index> widened(Value alpha, const csr_view<Value, Index>& a, Value beta, const Device& device,
                                    memory_source& memory) {
  const device_operand<Value, Index> device_copy(a, device);
  const auto [first, last] = entry_range(a);
  const std::int64_t entries = last - first + a.rows;
  device_matrix<Value, Index> wide{
      a.rows, a.cols + a.rows, {a.rows + 1, device, memory}, {entries, device, memory}, {entries, device, memory},
      device};
  if (a.rows == 0) {
    range_loop(1, 1, set_zero{wide.row_pointers.data()}, device);
    return wide;
  }
  range_loop(a.rows, row_grain,
             widen_rows<Value, Index>{device_copy.view(), alpha, beta, first, wide.row_pointers.data(),
                                      wide.columns.data(), wide.values.data()},
             device);
  return wide;
}

/// Appends the rows of `m` to `stack`, which has `before` entries in its first `row` rows.
template <class Value, class Index>
void stack_rows(const csr_view<Value, Index>& m, std::int64_t row, std::int64_t before,
                device_matrix<Value, Index>& stack) {
  if (m.rows == 0) return;
  const device_operand<Value, Index> operand(m, stack.device);
  const csr_view<Value, Index>& rows = operand.view();
  const auto [first, last] = entry_range(m);
  range_loop(m.rows + 1, entry_grain,
             shift_pointers<Value, Index>{rows, first, before, stack.row_pointers.data() + row}, stack.device);
  range_loop(last - first, entry_grain,
             copy_entries<Value, Index>{rows.columns + first, rows.values + first, stack.columns.data() + before,
                                        stack.values.data() + before},
             stack.device);
}

/// B above C, on `device`.
template <class Value, class Index>
device_matrix<Value, Index> stacked(const csr_view<Value, Index>& b, const csr_view<Value, Index>& c,
                                    const Device& device, memory_source& memory) {
  const std::int64_t above = entries_of(b), entries = above + entries_of(c), rows = b.rows + c.rows;
  device_matrix<Value, Index> stack{
      rows, b.cols, {rows + 1, device, memory}, {entries, device, memory}, {entries, device, memory}, device};
  if (rows == 0) range_loop(1, 1, set_zero{stack.row_pointers.data()}, device);
  stack_rows(b, 0, 0, stack);
  stack_rows(c, b.rows, above, stack);
  return stack;
}

}  // namespace

template <class Value, class Index>
csr<Value, Index> multiply_add(Value alpha, const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                               Value beta, const csr_view<Value, Index>& c, const options& settings,
                               const Device& device, report* stats) {
  memory_source& memory = settings.memory != nullptr ? *settings.memory : memory_source::standard();
  const Device where = device_of_operands(device, {{"a", a}, {"b", b}, {"c", c}});
  check_sum(a, b, c);
  const auto wide = widened(alpha, a, beta, where, memory);
  const auto stack = stacked(b, c, where, memory);
  return detail::product<plus_times>(wide.view(), stack.view(), settings, device, stats);
}

template <class Value, class Index>
device_csr<Value, Index> multiply_add(Value alpha, const device_csr<Value, Index>& a, const device_csr<Value, Index>& b,
                                      Value beta, const device_csr<Value, Index>& c, const options& settings,
                                      report* stats) {
  check_sizes(a, "a");
  check_sizes(b, "b");
  check_sizes(c, "c");
  const Device device = one_device(a, b);
  if (!(c.device() == device))
    throw InvalidArgument(
        text("a, b and c must be on one device (a and b are on ", device.name(), ", c on ", c.device().name(), ")"));
  check_sum(a.view(), b.view(), c.view());
  memory_source& memory = settings.memory != nullptr ? *settings.memory : memory_source::standard();
  return detail::product<plus_times>(to_buffers(widened(alpha, a.view(), beta, device, memory)),
                                     to_buffers(stacked(b.view(), c.view(), device, memory)), settings, stats);
}

#define QUINTET_INSTANTIATE(Value, Index)                                                                             \
  template csr<Value, Index> multiply_add(Value, const csr_view<Value, Index>&, const csr_view<Value, Index>&, Value, \
                                          const csr_view<Value, Index>&, const options&, const Device&, report*);     \
  template device_csr<Value, Index> multiply_add(Value, const device_csr<Value, Index>&,                              \
                                                 const device_csr<Value, Index>&, Value,                              \
                                                 const device_csr<Value, Index>&, const options&, report*);
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::spgemm
