// Products into a known structure; instantiated by the generated sources.
#pragma once

#include "quintet/spgemm/plan.hpp"
#include "spgemm/device_memory.hpp"
#include "spgemm/operands.hpp"
#include "spgemm/product_impl.hpp"
#include "spgemm/structured_kernel.hpp"

namespace quintet::spgemm::detail {

/// Values, and marks of the entries that have a product unless `touched` is null, computed on a device.
template <class Semiring, class Value, class Index>
void structured_on_device(const problem<Value, Index>& p, std::int64_t rows, const std::int64_t* row_pointers,
                          const Index* columns, Value* values, std::uint8_t* touched, memory_source& memory,
                          const Device& device) {
  const std::int64_t count = rows > 0 ? row_pointers[rows] : 0;
  const device_operand<Value, Index> a(p.a, device), b(p.b, device);
  device_array<std::int64_t> pointers(row_pointers, rows + 1, device, memory);
  device_array<Index> column(columns, count, device, memory);
  device_array<Value> value(count, device, memory);
  device_array<std::uint8_t> mark(touched != nullptr ? count : 0, device, memory);
  device::launch(
      structured_kernel<Semiring, Value, Index>{
          {a.view(), b.view()}, pointers.data(), column.data(), value.data(), mark.data()},
      rows, device);
  value.to_host(values, count);
  if (touched != nullptr) mark.to_host(touched, count);
}

template <class Semiring, class Value, class Index>
void refill_on_device(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b, csr<Value, Index>& c,
                      const options& settings, const Device& device) {
  meter counted(settings.memory);
  structured_on_device<Semiring>(problem<Value, Index>{a, b}, c.rows, c.row_pointers.data(), c.columns.data(),
                                 c.values.data(), nullptr, counted, device);
}

/// The entries that are marked.
template <class Value, class Index>
csr<Value, Index> keep_touched(const csr_view<Value, Index>& mask, const array<Value>& values,
                               const array<std::uint8_t>& touched, memory_source& memory) {
  csr<Value, Index> c{mask.rows, mask.cols, array<std::int64_t>(mask.rows + 1, memory), {}, {}};
  c.row_pointers[0] = 0;
  for (std::int64_t i = 0; i < mask.rows; ++i) {
    std::int64_t entries = 0;
    for (std::int64_t k = mask.row_pointers[i]; k < mask.row_pointers[i + 1]; ++k) entries += touched[k];
    c.row_pointers[i + 1] = c.row_pointers[i] + entries;
  }
  c.columns = array<Index>(c.row_pointers[mask.rows], memory);
  c.values = array<Value>(c.row_pointers[mask.rows], memory);
  std::int64_t next = 0;
  const std::int64_t count = mask.rows > 0 ? mask.row_pointers[mask.rows] : 0;
  for (std::int64_t k = 0; k < count; ++k) {
    if (touched[k] == 0) continue;
    c.columns[next] = mask.columns[k];
    c.values[next++] = values[k];
  }
  return c;
}

/// C where the sorted `mask` has an entry.
template <class Semiring, class Value, class Index>
csr<Value, Index> product_inside(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                                 const csr_view<Value, Index>& mask, memory_source& memory, const Device& device) {
  array<Value> values(mask.nnz(), memory);
  array<std::uint8_t> touched(mask.nnz(), memory);
  if (device.kind() == device_kind::host) {
    structured_product<Semiring>(a, b, mask.row_pointers, mask.columns, values.data(), touched.data(), memory);
  } else {
    const prepared_operand<Value, Index> ready = spgemm::canonical<Semiring>(b, memory);
    structured_on_device<Semiring>(problem<Value, Index>{a, ready.view}, a.rows, mask.row_pointers, mask.columns,
                                   values.data(), touched.data(), memory, device);
  }
  return keep_touched(mask, values, touched, memory);
}

template <class Semiring, class Mask, class Value, class Index>
csr<Value, Index> masked(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                         const csr_view<Value, Index>& wanted, const options& settings, const Device& device) {
  check_options(settings);
  check_operands(a, b);
  check(wanted, "mask");
  if (wanted.rows != a.rows || wanted.cols != b.cols)
    throw InvalidArgument(text("mask must be a.rows x b.cols = ", a.rows, " x ", b.cols, " (it is ", wanted.rows, " x ",
                               wanted.cols, ")"));
  memory_source& memory = settings.memory != nullptr ? *settings.memory : memory_source::standard();
  csr<Value, Index> sorted;
  csr_view<Value, Index> mask = wanted;
  if (wanted.rows > 0 && (wanted.row_pointers[0] != 0 || !spgemm::is_canonical(wanted))) {
    sorted = canonical_copy<or_and>(wanted, memory);
    mask = sorted.view();
  }
  if constexpr (std::is_same_v<Mask, complement_mask>)
    return product_outside<Semiring>(a, b, mask, settings, device);
  else
    return product_inside<Semiring>(a, b, mask, memory, device);
}

}  // namespace quintet::spgemm::detail
