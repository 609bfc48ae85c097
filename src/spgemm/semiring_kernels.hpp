// Compiles the kernels of a semiring: the library does it for its own, programs do it for theirs.
#pragma once

#include "spgemm/gram_impl.hpp"
#include "spgemm/multiply_impl.hpp"
#include "spgemm/plan_impl.hpp"
#include "spgemm/top_impl.hpp"

/// All products over Semiring for matrices of Value and Index. At namespace scope, in a source compiled as kernels are
/// (quintet_kernel_objects, or KERNELS of quintet_test); has_kernels<Semiring> must be true there.
#define QUINTET_SEMIRING_KERNELS(Semiring, Value, Index)                                                              \
  namespace quintet::spgemm {                                                                                         \
  template csr<Value, Index> detail::product<Semiring>(const csr_view<Value, Index>&, const csr_view<Value, Index>&,  \
                                                       const options&, const Device&, report*);                       \
  template csr<Value, Index> detail::transposed_product<Semiring>(const csr_view<Value, Index>&,                      \
                                                                  const csr_view<Value, Index>&, const options&,      \
                                                                  const Device&, report*);                            \
  template void detail::product_in_blocks<Semiring>(const csr_view<Value, Index>&, const csr_view<Value, Index>&,     \
                                                    std::int64_t,                                                     \
                                                    const std::function<bool(result_block<Value, Index>&&)>&,         \
                                                    const options&, const Device&, report*);                          \
  template csr<Value, Index> detail::top_product<Semiring>(const csr_view<Value, Index>&,                             \
                                                           const csr_view<Value, Index>&, const top_selection&,       \
                                                           const options&, const Device&, report*);                   \
  template csr<Value, Index> detail::gram_product<Semiring>(const csr_view<Value, Index>&, gram_side, gram_part,      \
                                                            const options&, const Device&, report*);                  \
  template csr<Value, Index> detail::masked<Semiring, structural_mask>(const csr_view<Value, Index>&,                 \
                                                                       const csr_view<Value, Index>&,                 \
                                                                       const csr_view<Value, Index>&, const options&, \
                                                                       const Device&);                                \
  template csr<Value, Index> detail::masked<Semiring, complement_mask>(const csr_view<Value, Index>&,                 \
                                                                       const csr_view<Value, Index>&,                 \
                                                                       const csr_view<Value, Index>&, const options&, \
                                                                       const Device&);                                \
  template void detail::refill<Semiring>(const csr_view<Value, Index>&, const csr_view<Value, Index>&,                \
                                         csr<Value, Index>&, const options&, const Device&);                          \
  template device_csr<Value, Index> detail::product<Semiring>(const device_csr<Value, Index>&,                        \
                                                              const device_csr<Value, Index>&, const options&,        \
                                                              report*);                                               \
  }
