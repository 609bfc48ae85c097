#include "quintet/io/sparse_file.hpp"

#include <span>

#include "io/descriptor_path.hpp"
#include "io/input_file.hpp"
#include "io/matrix_market.hpp"
#include "quintet/core/error.hpp"
#include "quintet/io/atomic_file.hpp"

namespace quintet::io {

namespace {

enum class sparse_format { matrix_market, compressed_matrix_market, hdf5 };

sparse_format sparse_format_of(const std::string& path) {
  std::string name = path;
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (name.ends_with(".mtx")) return sparse_format::matrix_market;
  if (name.ends_with(".mtx.gz")) return sparse_format::compressed_matrix_market;
  if (name.ends_with(".h5") || name.ends_with(".hdf5")) return sparse_format::hdf5;
  // An open file has no extension.
  if (name.find('.') == std::string::npos && descriptor_of(path) >= 0) return sparse_format::matrix_market;
  throw FileError(path, "has no extension of a sparse format; allowed are .mtx, .mtx.gz, .h5, .hdf5");
}

std::string name_in(const std::string& group, const char* name) { return group.empty() ? name : group + "/" + name; }

template <class Value, class Index>
spgemm::csr<Value, Index> read_csr(const std::string& path, const std::string& group) {
  const auto shape = read_hdf5<std::int64_t>(path, name_in(group, "shape"));
  const auto pointers = read_hdf5<std::int64_t>(path, name_in(group, "row_pointers"));
  const auto columns = read_hdf5<Index>(path, name_in(group, "columns"));
  const auto values = read_hdf5<Value>(path, name_in(group, "values"));
  if (shape.data.size() != 2) throw FileError(path, "dataset \"shape\" must hold two numbers: rows, cols");
  if (shape.data[0] < 0 || std::int64_t(pointers.data.size()) - 1 != shape.data[0])
    throw FileError(path, text("dataset \"row_pointers\" must hold rows + 1 = ", shape.data[0], " + 1 numbers (it has ",
                               pointers.data.size(), ")"));
  if (pointers.data.front() != 0 || pointers.data.back() != std::int64_t(columns.data.size()) ||
      columns.data.size() != values.data.size())
    throw FileError(path, text("row_pointers must go from 0 to the number of columns and values (from ",
                               pointers.data.front(), " to ", pointers.data.back(), "; ", columns.data.size(),
                               " columns, ", values.data.size(), " values)"));
  require_memory(path, std::int64_t(pointers.data.size()), 8);
  require_memory(path, std::int64_t(columns.data.size()), sizeof(Index) + sizeof(Value));
  spgemm::csr<Value, Index> m{shape.data[0], shape.data[1], pointers.data, columns.data, values.data};
  try {
    spgemm::check(m.view(), "matrix");
  } catch (const InvalidArgument& e) {
    throw FileError(path, e.what());
  }
  return m;
}

}  // namespace

void check_sparse_input(const std::string& path) { sparse_format_of(path); }
void check_sparse_output(const std::string& path) {
  sparse_format_of(path);
  check_writable(path);
}

template <class Value, class Index>
spgemm::csr<Value, Index> read_sparse(const std::string& path, const std::string& group, sparse_read_report* report) {
  if (report != nullptr) *report = {};
  const sparse_format format = sparse_format_of(path);
  if (format == sparse_format::hdf5) return read_csr<Value, Index>(path, group);
  if (!group.empty()) throw FileError(path, text("has no groups; \"", group, "\" was asked for"));
  return read_matrix_market<Value, Index>(path, format == sparse_format::compressed_matrix_market, report);
}

template <class Value, class Index>
void write_csr(hdf5_writer& out, const spgemm::csr_view<Value, Index>& m, const std::string& group) {
  spgemm::check(m, "matrix");
  const auto count = static_cast<std::size_t>(m.nnz());
  const std::int64_t first = m.rows > 0 ? m.row_pointers[0] : 0;
  std::vector<std::int64_t> pointers(static_cast<std::size_t>(m.rows) + 1);
  for (std::int64_t i = 0; i < m.rows; ++i) pointers[static_cast<std::size_t>(i) + 1] = m.row_pointers[i + 1] - first;
  out.write<std::int64_t>(name_in(group, "shape"), std::vector<std::int64_t>{m.rows, m.cols});
  out.write<std::int64_t>(name_in(group, "row_pointers"), pointers);
  out.write<Index>(name_in(group, "columns"), std::span<const Index>(m.columns + first, count));
  out.write<Value>(name_in(group, "values"), std::span<const Value>(m.values + first, count));
}

template <class Value, class Index>
void write_sparse(const std::string& path, const spgemm::csr_view<Value, Index>& m, const std::string& group) {
  const sparse_format format = sparse_format_of(path);
  if (format != sparse_format::hdf5) {
    spgemm::check(m, "matrix");
    return write_matrix_market(path, m, format == sparse_format::compressed_matrix_market);
  }
  hdf5_writer out(path);
  write_csr(out, m, group);
  out.commit();
}

#define QUINTET_SPARSE_FILE(Value, Index)                                                                      \
  template spgemm::csr<Value, Index> read_sparse(const std::string&, const std::string&, sparse_read_report*); \
  template void write_sparse(const std::string&, const spgemm::csr_view<Value, Index>&, const std::string&);   \
  template void write_csr(hdf5_writer&, const spgemm::csr_view<Value, Index>&, const std::string&);
QUINTET_SPARSE_FILE(float, std::int32_t)
QUINTET_SPARSE_FILE(float, std::int64_t)
QUINTET_SPARSE_FILE(double, std::int32_t)
QUINTET_SPARSE_FILE(double, std::int64_t)
#undef QUINTET_SPARSE_FILE

}  // namespace quintet::io
