#include "instantiate.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "spgemm/analysis.hpp"
#include "spgemm/chunks.hpp"
#include "spgemm/meter.hpp"
#include "spgemm/operands.hpp"
#include "spgemm/results.hpp"

namespace quintet::spgemm {

template <class Value, class Index>
size_estimate estimate(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                       const Device& requested_device) {
  const Device device = device_of_operands(requested_device, {{"a", a}, {"b", b}});
  check_operands(a, b);
  memory_source& memory = memory_source::standard();
  const prepared_operand<Value, Index> ready = prepare<or_and>(b, device, memory);
  const device_operand<Value, Index> left(a, device);
  const problem<Value, Index> p{left.view(), ready.view};
  const row_analysis rows = analyse(p, device, memory);
  size_estimate result;
  result.products = rows.total_products;
  result.upper_bound = rows.total_bound;
  const strata all(rows);
  result.predicted_nnz = predicted_entries(rows, all, sample_compression(p, rows, all, device, memory));
  const auto bytes = [&](std::int64_t entries) {
    return 8 * (a.rows + 1) + entries * std::int64_t(sizeof(Value) + sizeof(Index));
  };
  result.upper_bytes = bytes(result.upper_bound);
  result.predicted_bytes = bytes(result.predicted_nnz);
  result.minimum_budget = minimum_budget;
  return result;
}

#define QUINTET_INSTANTIATE(Value, Index) \
  template size_estimate estimate(const csr_view<Value, Index>&, const csr_view<Value, Index>&, const Device&);
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::spgemm
