#include "quintet/spgemm/device_csr.hpp"

#include "spgemm/device_memory.hpp"

#include "instantiate.hpp"

namespace quintet::spgemm {

template <class Value, class Index>
device_csr<Value, Index> upload(const csr_view<Value, Index>& m, const Device& device) {
  check(m, "matrix");
  const auto [first, last] = entry_range(m);
  device_csr<Value, Index> device_copy{m.rows, m.cols, Buffer<std::int64_t>(m.rows + 1, device),
                                       Buffer<Index>(last - first, device), Buffer<Value>(last - first, device)};
  const host_copy<std::int64_t> matrix(m.row_pointers, m.rows > 0 ? m.rows + 1 : 0, m.where);
  std::vector<std::int64_t> pointers(std::size_t(m.rows + 1));
  for (std::int64_t i = 0; i < m.rows; ++i) pointers[std::size_t(i + 1)] = matrix.data()[i + 1] - first;
  device_copy.row_pointers.copy_from_host(pointers.data(), m.rows + 1);
  quintet::detail::copy(device_copy.columns.data(), device, m.columns + first, m.where, device_copy.columns.bytes());
  quintet::detail::copy(device_copy.values.data(), device, m.values + first, m.where, device_copy.values.bytes());
  return device_copy;
}

template <class Value, class Index>
csr<Value, Index> download(const device_csr<Value, Index>& m, memory_source& memory) {
  csr<Value, Index> copy{m.rows, m.cols, array<std::int64_t>(m.rows + 1, memory), array<Index>(m.nnz(), memory),
                         array<Value>(m.nnz(), memory)};
  m.row_pointers.copy_to_host(copy.row_pointers.data(), m.rows + 1);
  m.columns.copy_to_host(copy.columns.data(), m.nnz());
  m.values.copy_to_host(copy.values.data(), m.nnz());
  return copy;
}

#define QUINTET_INSTANTIATE(Value, Index)                                                 \
  template device_csr<Value, Index> upload(const csr_view<Value, Index>&, const Device&); \
  template csr<Value, Index> download(const device_csr<Value, Index>&, memory_source&);
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::spgemm
