#include "quintet/spgemm/add.hpp"

#include "quintet/spgemm/semiring.hpp"
#include "spgemm/operands.hpp"
#include "spgemm/results.hpp"
#include "spgemm/scan.hpp"

#include "instantiate.hpp"

namespace quintet::spgemm {

namespace {

/// The columns of both rows i in order: f(column, entry of A or -1, entry of B or -1).
template <class Value, class Index, class Function>
void merge_rows(const problem<Value, Index>& p, std::int64_t i, Function f) {
  std::int64_t k = p.a.row_pointers[i], q = p.b.row_pointers[i];
  const std::int64_t a_end = p.a.row_pointers[i + 1], b_end = p.b.row_pointers[i + 1];
  while (k < a_end || q < b_end) {
    const bool from_a = k < a_end && (q == b_end || p.a.columns[k] <= p.b.columns[q]);
    const bool from_b = q < b_end && (k == a_end || p.b.columns[q] <= p.a.columns[k]);
    f(from_a ? p.a.columns[k] : p.b.columns[q], from_a ? k : -1, from_b ? q : -1);
    k += from_a;
    q += from_b;
  }
}

/// The symbolic phase of a sum of rows (Gustavson 1978), by a merge.
template <class Value, class Index>
struct count_sums {
  problem<Value, Index> p;
  std::int64_t* counts;
  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin + team.rank(); i < end; i += team.size()) {
      std::int64_t count = 0;
      merge_rows(p, i, [&](Index, std::int64_t, std::int64_t) { ++count; });
      counts[i + 1] = count;
    }
  }
};

/// The numeric phase.
template <class Value, class Index>
struct add_rows {
  problem<Value, Index> p;
  Value alpha, beta;
  const std::int64_t* row_pointers;
  Index* columns;
  Value* values;
  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin + team.rank(); i < end; i += team.size()) {
      std::int64_t next = row_pointers[i];
      merge_rows(p, i, [&](Index column, std::int64_t k, std::int64_t q) {
        columns[next] = column;
        const Value left = k < 0 ? Value(0) : product_of<plus_times>(alpha, p.a.values[k]);
        const Value right = q < 0 ? Value(0) : product_of<plus_times>(beta, p.b.values[q]);
        values[next++] = k < 0 ? right : q < 0 ? left : left + right;
      });
    }
  }
};

}  // namespace

template <class Value, class Index>
device_matrix<Value, Index> sum_there(Value alpha, const csr_view<Value, Index>& a_any, Value beta,
                                      const csr_view<Value, Index>& b_any, const Device& device,
                                      memory_source& memory) {
  check(a_any, "a");
  check(b_any, "b");
  if (a_any.rows != b_any.rows || a_any.cols != b_any.cols)
    throw InvalidArgument(text("a and b must have the same size (a is ", a_any.rows, " x ", a_any.cols, ", b is ",
                               b_any.rows, " x ", b_any.cols, ")"));
  const auto a = canonical<plus_times>(a_any, device, memory), b = canonical<plus_times>(b_any, device, memory);
  const problem<Value, Index> p{a.view, b.view};
  constexpr std::int64_t grain = 512;
  device_array<std::int64_t> pointers(p.a.rows + 1, device, memory);
  range_loop(p.a.rows, grain, count_sums<Value, Index>{p, pointers.data()}, device);
  const std::int64_t entries = scan_counts(pointers.data(), p.a.rows, device, memory);
  device_matrix<Value, Index> c{
      p.a.rows, p.a.cols, std::move(pointers), {entries, device, memory}, {entries, device, memory}, device};
  range_loop(p.a.rows, grain,
             add_rows<Value, Index>{p, alpha, beta, c.row_pointers.data(), c.columns.data(), c.values.data()}, device);
  return c;
}

template <class Value, class Index>
csr<Value, Index> add(Value alpha, const csr_view<Value, Index>& a, Value beta, const csr_view<Value, Index>& b,
                      const Device& device) {
  memory_source& memory = memory_source::standard();
  return to_host(sum_there(alpha, a, beta, b, device_of_operands(device, {{"a", a}, {"b", b}}), memory), memory);
}

template <class Value, class Index>
device_csr<Value, Index> add(Value alpha, const device_csr<Value, Index>& a, Value beta,
                             const device_csr<Value, Index>& b) {
  check_sizes(a, "a");
  check_sizes(b, "b");
  const Device device = one_device(a, b);
  return to_buffers(sum_there(alpha, a.view(), beta, b.view(), device, memory_source::standard()));
}

#define QUINTET_INSTANTIATE(Value, Index)                                                                    \
  template csr<Value, Index> add(Value, const csr_view<Value, Index>&, Value, const csr_view<Value, Index>&, \
                                 const Device&);                                                             \
  template device_csr<Value, Index> add(Value, const device_csr<Value, Index>&, Value, const device_csr<Value, Index>&);
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::spgemm
