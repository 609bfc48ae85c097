// The device of a call, and matrices of kernels as those of the caller.
#pragma once

#include <initializer_list>

#include "device/staged.hpp"
#include "quintet/spgemm/device_csr.hpp"
#include "spgemm/device_memory.hpp"

namespace quintet::spgemm {

/// Where work of one pass over its operands runs when no device is named: where they are, as to move them takes longer.
inline Device device_of_operands(const Device& requested_device, std::initializer_list<device::located> operands) {
  const Device device = device::run_device(requested_device, operands);
  for (const device::located& operand : operands)
    if (operand.device.kind() != device_kind::host) return device;
  return requested_device.automatic() ? Device::host() : device;
}

/// The transpose of a matrix, on `device`.
template <class Value, class Index>
device_matrix<Value, Index> transpose_there(const csr_view<Value, Index>& m, const Device& device,
                                            memory_source& memory);

/// Elements in an array of the host; memory of the host changes hands.
template <class T>
array<T> to_host(device_array<T>&& from, memory_source& memory) {
  if (from.device().kind() == device_kind::host) {
    const std::int64_t size = from.size();
    return array<T>::adopt(from.release(), size, memory);
  }
  array<T> copy(from.size(), memory);
  from.to_host(copy.data(), from.size());
  return copy;
}
template <class Value, class Index>
csr<Value, Index> to_host(device_matrix<Value, Index>&& m, memory_source& memory) {
  return {m.rows, m.cols, to_host(std::move(m.row_pointers), memory), to_host(std::move(m.columns), memory),
          to_host(std::move(m.values), memory)};
}

/// The same as Buffers of their device.
template <class T>
Buffer<T> to_buffer(device_array<T>&& from, const Device& device) {
  const device_array<T> source(std::move(from));
  Buffer<T> to(source.size(), device);
  quintet::detail::copy(to.data(), device, source.data(), device, to.bytes());
  return to;
}
template <class Value, class Index>
device_csr<Value, Index> to_buffers(device_matrix<Value, Index>&& m) {
  return {m.rows, m.cols, to_buffer(std::move(m.row_pointers), m.device), to_buffer(std::move(m.columns), m.device),
          to_buffer(std::move(m.values), m.device)};
}

/// Throws InvalidArgument unless the buffers have the sizes that belong to a matrix.
template <class Value, class Index>
void check_sizes(const device_csr<Value, Index>& m, const char* name) {
  require_argument(m.rows >= 0, text(name, ".rows"), m.rows, ">= 0");
  require_argument(m.row_pointers.size() == m.rows + 1, text(name, ".row_pointers.size()"), m.row_pointers.size(),
                   text("rows + 1 = ", m.rows + 1));
  require_argument(m.values.size() == m.nnz(), text(name, ".values.size()"), m.values.size(),
                   text("as many as columns: ", m.nnz()));
  const auto [first, last] = entry_range(m.view());
  if (m.rows > 0 && (first != 0 || last != m.nnz()))
    throw InvalidArgument(text(name, ".row_pointers must rise from 0 to the number of entries, ", m.nnz()));
}

/// The device of both. Throws InvalidArgument when there are two.
template <class Value, class Index>
const Device& one_device(const device_csr<Value, Index>& a, const device_csr<Value, Index>& b) {
  if (!(a.device() == b.device()))
    throw InvalidArgument(
        text("a and b must be on one device (a is on ", a.device().name(), ", b on ", b.device().name(), ")"));
  return a.device();
}

}  // namespace quintet::spgemm
