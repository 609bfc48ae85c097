#include "quintet/spgemm/add.hpp"

#include "quintet/spgemm/semiring.hpp"
#include "spgemm/operands.hpp"

namespace quintet::spgemm {

template <class Value, class Index>
csr<Value, Index> add(Value alpha, const csr_view<Value, Index>& a_any, Value beta,
                      const csr_view<Value, Index>& b_any) {
  check(a_any, "a");
  check(b_any, "b");
  if (a_any.rows != b_any.rows || a_any.cols != b_any.cols)
    throw InvalidArgument(text("a and b must have the same size (a is ", a_any.rows, " x ", a_any.cols, ", b is ",
                               b_any.rows, " x ", b_any.cols, ")"));
  memory_source& memory = memory_source::standard();
  const auto a_ready = canonical<plus_times>(a_any, memory), b_ready = canonical<plus_times>(b_any, memory);
  const csr_view<Value, Index>&a = a_ready.view, &b = b_ready.view;
  const std::int64_t most = a.nnz() + b.nnz();
  csr<Value, Index> c{a.rows, a.cols, array<std::int64_t>(a.rows + 1, memory), array<Index>(most, memory),
                      array<Value>(most, memory)};
  std::int64_t next = 0;
  c.row_pointers[0] = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    std::int64_t k = a.row_pointers[i], q = b.row_pointers[i];
    const std::int64_t a_end = a.row_pointers[i + 1], b_end = b.row_pointers[i + 1];
    while (k < a_end || q < b_end) {
      const bool from_a = k < a_end && (q == b_end || a.columns[k] <= b.columns[q]);
      const bool from_b = q < b_end && (k == a_end || b.columns[q] <= a.columns[k]);
      c.columns[next] = from_a ? a.columns[k] : b.columns[q];
      Value sum = from_a ? alpha * a.values[k++] : Value(0);
      if (from_b) sum = from_a ? sum + beta * b.values[q] : beta * b.values[q];
      if (from_b) ++q;
      c.values[next++] = sum;
    }
    c.row_pointers[i + 1] = next;
  }
  c.columns.trim(next);
  c.values.trim(next);
  return c;
}

#define QUINTET_ADD(Value, Index) \
  template csr<Value, Index> add(Value, const csr_view<Value, Index>&, Value, const csr_view<Value, Index>&);
QUINTET_ADD(float, std::int32_t)
QUINTET_ADD(float, std::int64_t)
QUINTET_ADD(double, std::int32_t)
QUINTET_ADD(double, std::int64_t)
#undef QUINTET_ADD

}  // namespace quintet::spgemm
