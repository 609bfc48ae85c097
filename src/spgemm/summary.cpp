#include "quintet/spgemm/summary.hpp"

#include <cmath>

#include "spgemm/device_memory.hpp"

#include "instantiate.hpp"

namespace quintet::spgemm {

template <class Value, class Index>
matrix_summary summarise(const csr_view<Value, Index>& matrix, std::int64_t first_row, const matrix_summary& before) {
  check(matrix, "matrix");
  require_argument(first_row >= 0, "first_row", first_row, ">= 0");
  const device_operand<Value, Index> on_host(matrix, Device::host());
  const csr_view<Value, Index>& m = on_host.view();
  matrix_summary result = before;
  long double sum = before.sum, sum_abs = before.sum_abs, weighted = before.weighted;
  long double squares = (long double)(before.frobenius) * before.frobenius;
  auto places = std::uint64_t(before.struct_ij);
  for (std::int64_t i = 0; i < m.rows; ++i) {
    const auto row_weight = (long double)(7 * ((first_row + i) % 11) % 11 + 1);
    for (std::int64_t k = m.row_pointers[i]; k < m.row_pointers[i + 1]; ++k) {
      const std::int64_t j = m.columns[k];
      const long double value = m.values[k];
      if (k > m.row_pointers[i] && m.columns[k - 1] >= m.columns[k]) result.sorted = false;
      sum += value;
      sum_abs += std::fabs(value);
      squares += value * value;
      weighted += value * row_weight * (long double)(5 * (j % 13) % 13 + 1);
      places += std::uint64_t(first_row + i + 1) * std::uint64_t(j + 1);
    }
  }
  result.sum = double(sum);
  result.sum_abs = double(sum_abs);
  result.frobenius = double(std::sqrt(squares));
  result.weighted = double(weighted);
  result.struct_ij = std::int64_t(places);
  return result;
}

#define QUINTET_INSTANTIATE(Value, Index) \
  template matrix_summary summarise(const csr_view<Value, Index>&, std::int64_t, const matrix_summary&);
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::spgemm
