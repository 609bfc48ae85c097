#include "quintet/spgemm/left_transposed.hpp"

#include "spgemm/results.hpp"

#include "instantiate.hpp"

namespace quintet::spgemm {

template <class Semiring, class Value, class Index>
csr<Value, Index> detail::left_transposed_product(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                                                  const options& settings, const Device& device, report* stats) {
  check(a, "a");
  if (a.rows != b.rows)
    throw InvalidArgument(
        text("a.rows must be b.rows (a is ", a.rows, " x ", a.cols, ", b is ", b.rows, " x ", b.cols, ")"));
  memory_source& memory = settings.memory != nullptr ? *settings.memory : memory_source::standard();
  const auto turned = transpose_there(a, device_of_operands(device, {{"a", a}, {"b", b}}), memory);
  return product<Semiring>(turned.view(), b, settings, device, stats);
}

#define QUINTET_LEFT_TRANSPOSED(Semiring, Value, Index)                 \
  template csr<Value, Index> detail::left_transposed_product<Semiring>( \
      const csr_view<Value, Index>&, const csr_view<Value, Index>&, const options&, const Device&, report*);
#define QUINTET_INSTANTIATE(Value, Index)           \
  QUINTET_LEFT_TRANSPOSED(plus_times, Value, Index) \
  QUINTET_LEFT_TRANSPOSED(min_plus, Value, Index)   \
  QUINTET_LEFT_TRANSPOSED(or_and, Value, Index)
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE
#undef QUINTET_LEFT_TRANSPOSED

}  // namespace quintet::spgemm
