#include "quintet/spgemm/multiply.hpp"
#include "spgemm/analysis.hpp"
#include "spgemm/block_ranges.hpp"
#include "spgemm/meter.hpp"
#include "spgemm/operands.hpp"

namespace quintet::spgemm {

template <class Value, class Index>
size_estimate estimate(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b) {
  check_operands(a, b);
  memory_source& memory = memory_source::standard();
  const prepared_operand<Value, Index> ready = prepare<or_and>(b, memory);
  const problem<Value, Index> p{a, ready.view};
  const row_analysis rows = analyse(p, memory);
  size_estimate result;
  result.products = rows.total_products;
  result.upper_bound = rows.total_bound;
  result.predicted_nnz = predicted_entries(rows, sample_compression(p, rows, memory));
  const auto bytes = [&](std::int64_t entries) {
    return 8 * (a.rows + 1) + entries * std::int64_t(sizeof(Value) + sizeof(Index));
  };
  result.upper_bytes = bytes(result.upper_bound);
  result.predicted_bytes = bytes(result.predicted_nnz);
  result.minimum_budget = minimum_budget;
  return result;
}

template size_estimate estimate(const csr_view<float, std::int32_t>&, const csr_view<float, std::int32_t>&);
template size_estimate estimate(const csr_view<float, std::int64_t>&, const csr_view<float, std::int64_t>&);
template size_estimate estimate(const csr_view<double, std::int32_t>&, const csr_view<double, std::int32_t>&);
template size_estimate estimate(const csr_view<double, std::int64_t>&, const csr_view<double, std::int64_t>&);

}  // namespace quintet::spgemm
