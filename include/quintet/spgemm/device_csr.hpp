// Sparse matrices that stay on a device between products.
//
//   const auto a = upload(graph.view(), device);
//   auto c = multiply(a, a);             // a device_csr: only row pointers and counts came to the host
//   c = multiply<min_plus>(c, a);
//   const auto result = download(c);
#pragma once

#include "quintet/device/buffer.hpp"
#include "quintet/spgemm/multiply.hpp"

namespace quintet::spgemm {

/// A matrix in the memory of a device, as csr is one on the host. Buffers may be filled by the program; all are on
/// device(), row pointers begin with 0.
template <class Value, class Index>
struct device_csr {
  ///@{
  /// Size of the matrix.
  std::int64_t rows = 0, cols = 0;
  ///@}
  Buffer<std::int64_t> row_pointers;  ///< rows + 1
  Buffer<Index> columns;              ///< nnz
  Buffer<Value> values;               ///< nnz

  /// Number of stored entries. O(1).
  std::int64_t nnz() const { return columns.size(); }
  /// The device of the matrix.
  const Device& device() const { return row_pointers.device(); }
  /// Pointers into the device's memory.
  csr_view<Value, Index> view() const QUINTET_LIFETIMEBOUND {
    return {rows, cols, row_pointers.data(), columns.data(), values.data(), device()};
  }
};

/// A copy on `device`. Cost: that of check(), and the transfer. Throws as check() does, OutOfMemory, DeviceError.
template <class Value, class Index>
device_csr<Value, Index> upload(const csr_view<Value, Index>& matrix, const Device& device);
/// A copy on the host, in memory of `memory`. Cost: the transfer. Throws InvalidArgument for buffers that are smaller
/// than the matrix, OutOfMemory, DeviceError; columns and row pointers are not checked.
template <class Value, class Index>
csr<Value, Index> download(const device_csr<Value, Index>& matrix, memory_source& memory = memory_source::standard());

namespace detail {
template <class Semiring, class Value, class Index>
device_csr<Value, Index> product(const device_csr<Value, Index>& a, const device_csr<Value, Index>& b,
                                 const options& settings, report* stats);
}  // namespace detail

/// C = A * B, all on one device: the same bits as the product of host matrices. Analysis, sampling and product run
/// there; the host gets the row pointers of A and of C, and products and bounds of the rows. A may have unsorted or
/// repeated columns; such a B is sorted on the host first, and sent back. options::host_products does not count here.
/// Throws InvalidArgument for sizes that do not fit, buffers of another size than the matrix, and operands on different
/// devices. Also for columns outside the matrix, row pointers that fall, options out of range, or more than 2^31
/// columns of B; OutOfMemory, DeviceError. Cost and memory: those of multiply() on a device, without the transfers; 24
/// bytes per row on the host.
template <class Semiring = plus_times, class Value, class Index>
  requires has_kernels<Semiring>
device_csr<Value, Index> multiply(const device_csr<Value, Index>& a, const device_csr<Value, Index>& b,
                                  const options& settings = {}, report* stats = nullptr) {
  return detail::product<Semiring>(a, b, settings, stats);
}

}  // namespace quintet::spgemm
