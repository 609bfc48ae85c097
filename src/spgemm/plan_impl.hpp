// Products into a known structure; instantiated by the generated sources.
#pragma once

#include "quintet/spgemm/plan.hpp"
#include "spgemm/multiply_impl.hpp"
#include "spgemm/operands.hpp"
#include "spgemm/plan_kernel.hpp"

namespace quintet::spgemm::detail {

/// Values of the structure, and marks of the entries that have a product unless `touched` is null. Everything is on
/// `device`.
template <class Semiring, class Value, class Index>
void fill_structure(const problem<Value, Index>& p, std::int64_t rows, const std::int64_t* row_pointers,
                    const Index* columns, Value* values, std::uint8_t* touched, const Device& device,
                    memory_source& memory) {
  const bool host = device.kind() == device_kind::host;
  const std::int64_t grain = host ? 64 : 1, tiles = (rows + grain - 1) / grain, zero = 0;
  if (host) {
    column_maps maps(tiles, p.b.cols, memory);
    device::launch(structured_kernel<Semiring, Value, Index, host_shape>{p, row_pointers, columns, values, touched,
                                                                         rows, grain, nullptr, maps.all()},
                   tiles, device);
  } else {
    device_array<std::int64_t> next(&zero, 1, device, memory);
    device::launch(
        structured_kernel<Semiring, Value, Index, team_shape>{
            p, row_pointers, columns, values, touched, rows, grain, next.data(), {}},
        std::min<std::int64_t>(tiles, 4096), device);
  }
}

template <class Semiring, class Value, class Index>
void refill(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b, csr<Value, Index>& c,
            const options& settings, const Device& planned) {
  const Device device = device::run_device(planned, {{"a", a}, {"b", b}});
  meter memory(settings.memory);
  const device_operand<Value, Index> left(a, device);
  const prepared_operand<Value, Index> right = canonical<Semiring>(b, device, memory);
  csr_view<Value, Index> structure = c.view();
  structure.values = nullptr;
  const device_operand<Value, Index> device_copy(structure, device);
  const problem<Value, Index> p{left.view(), right.view};
  if (device.shares_host_memory())
    return fill_structure<Semiring>(p, c.rows, device_copy.view().row_pointers, device_copy.view().columns,
                                    c.values.data(), nullptr, device, memory);
  device_array<Value> values(c.nnz(), device, memory);
  fill_structure<Semiring>(p, c.rows, device_copy.view().row_pointers, device_copy.view().columns, values.data(),
                           nullptr, device, memory);
  values.to_host(c.values.data(), c.nnz());
}

/// The entries of m that are marked; all on `device`.
template <class Value, class Index>
device_matrix<Value, Index> marked_entries(const csr_view<Value, Index>& m, const std::uint8_t* marked,
                                           const Device& device, memory_source& memory);

/// C where the sorted `mask` has an entry; all on `device`.
template <class Semiring, class Value, class Index>
csr<Value, Index> product_inside(const problem<Value, Index>& p, csr_view<Value, Index> mask, meter& memory,
                                 const Device& device) {
  const auto [first, last] = entry_range(mask);
  device_array<Value> values(last - first, device, memory);
  device_array<std::uint8_t> touched(last - first, device, memory);
  // Entries are numbered as the mask's are, whose row pointers may count from elsewhere.
  Value* const value = values.data() - first;
  std::uint8_t* const mark = touched.data() - first;
  fill_structure<Semiring>(p, mask.rows, mask.row_pointers, mask.columns, value, mark, device, memory);
  mask.values = value;
  return to_host(marked_entries(mask, mark, device, memory), memory.source());
}

template <class Semiring, class Mask, class Value, class Index>
csr<Value, Index> masked(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                         const csr_view<Value, Index>& mask_view, const options& settings, const Device& device) {
  check_options(settings);
  check_operands(a, b);
  check(mask_view, "mask");
  if (mask_view.rows != a.rows || mask_view.cols != b.cols)
    throw InvalidArgument(text("mask must be a.rows x b.cols = ", a.rows, " x ", b.cols, " (it is ", mask_view.rows,
                               " x ", mask_view.cols, ")"));
  if constexpr (std::is_same_v<Mask, complement_mask>) {
    const Device where = device::run_device(device, {{"a", a}, {"b", b}, {"mask", mask_view}});
    const bool moved = mask_view.where.kind() != device_kind::host;
    return complement_masked_product<Semiring>(a, b, mask_view, settings,
                                               moved ? where : product_device(a, b, settings, device));
  } else {
    const Device where = device::run_device(device, {{"a", a}, {"b", b}, {"mask", mask_view}});
    meter memory(settings.memory);
    const device_operand<Value, Index> left(a, where);
    const prepared_operand<Value, Index> right = canonical<Semiring>(b, where, memory);
    csr_view<Value, Index> structure = mask_view;
    structure.values = nullptr;
    const prepared_operand<Value, Index> mask = canonical<or_and>(structure, where, memory);
    return product_inside<Semiring>(problem<Value, Index>{left.view(), right.view}, mask.view, memory, where);
  }
}

}  // namespace quintet::spgemm::detail
