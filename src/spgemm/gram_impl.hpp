// Products of a matrix with its transpose; instantiated by the generated sources.
#pragma once

#include "quintet/spgemm/gram.hpp"
#include "spgemm/halves.hpp"
#include "spgemm/multiply_impl.hpp"

namespace quintet::spgemm::detail {

template <class Semiring, class Value, class Index>
csr<Value, Index> gram_product(const csr_view<Value, Index>& x, gram_side side, gram_part part, const options& settings,
                               const Device& device, report* stats) {
  memory_source& memory = settings.memory != nullptr ? *settings.memory : memory_source::standard();
  const auto turned = transpose_there(x, device_of_operands(device, {{"x", x}}), memory);
  const csr_view<Value, Index> t = turned.view();
  const bool is_columns = side == gram_side::columns;
  const csr_view<Value, Index>&a = is_columns ? t : x, &b = is_columns ? x : t;
  if (part == gram_part::whole) return product<Semiring>(a, b, settings, device, stats);
  product_pipeline<Semiring, Value, Index> prepared(a, b, settings, product_device(a, b, settings, device),
                                                    product_part::upper_half);
  csr<Value, Index> c = prepared.whole_product();
  if (stats != nullptr) *stats = prepared.stats;
  return c;
}

}  // namespace quintet::spgemm::detail
