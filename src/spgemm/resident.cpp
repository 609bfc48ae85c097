#include "quintet/spgemm/device_csr.hpp"

namespace quintet::spgemm {

template <class Value, class Index>
device_csr<Value, Index> upload(const csr_view<Value, Index>& m, const Device& device) {
  check(m, "matrix");
  device_csr<Value, Index> there{m.rows, m.cols, Buffer<std::int64_t>(m.rows + 1, device),
                                 Buffer<Index>(m.nnz(), device), Buffer<Value>(m.nnz(), device)};
  const std::int64_t first = m.rows > 0 ? m.row_pointers[0] : 0;
  std::vector<std::int64_t> pointers(std::size_t(m.rows + 1));
  for (std::int64_t i = 0; i < m.rows; ++i) pointers[std::size_t(i + 1)] = m.row_pointers[i + 1] - first;
  there.row_pointers.copy_from_host(pointers.data(), m.rows + 1);
  if (m.nnz() == 0) return there;
  there.columns.copy_from_host(m.columns + first, m.nnz());
  there.values.copy_from_host(m.values + first, m.nnz());
  return there;
}

template <class Value, class Index>
csr<Value, Index> download(const device_csr<Value, Index>& m, memory_source& memory) {
  csr<Value, Index> here{m.rows, m.cols, array<std::int64_t>(m.rows + 1, memory), array<Index>(m.nnz(), memory),
                         array<Value>(m.nnz(), memory)};
  m.row_pointers.copy_to_host(here.row_pointers.data(), m.rows + 1);
  m.columns.copy_to_host(here.columns.data(), m.nnz());
  m.values.copy_to_host(here.values.data(), m.nnz());
  return here;
}

#define QUINTET_RESIDENT(Value, Index)                                                    \
  template device_csr<Value, Index> upload(const csr_view<Value, Index>&, const Device&); \
  template csr<Value, Index> download(const device_csr<Value, Index>&, memory_source&);
QUINTET_RESIDENT(float, std::int32_t)
QUINTET_RESIDENT(float, std::int64_t)
QUINTET_RESIDENT(double, std::int32_t)
QUINTET_RESIDENT(double, std::int64_t)
#undef QUINTET_RESIDENT

}  // namespace quintet::spgemm
