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

// Whether a matrix of a file is one.
template <class Value, class Index>
void check_read(const std::string& path, const spgemm::csr_view<Value, Index>& m) {
  try {
    spgemm::check(m, "matrix");
  } catch (const InvalidArgument& e) {
    throw FileError(path, e.what());
  }
}

}  // namespace

void check_sparse_input(const std::string& path) { sparse_format_of(path); }
void check_sparse_output(const std::string& path) {
  sparse_format_of(path);
  check_writable(path);
}

bool has_sparse_row_access(const std::string& path) { return sparse_format_of(path) == sparse_format::hdf5; }

sparse_rows read_sparse_rows(const std::string& path, const std::string& group) {
  const auto shape = read_hdf5<std::int64_t>(path, name_in(group, "shape"));
  auto pointers = read_hdf5<std::int64_t>(path, name_in(group, "row_pointers")).data;
  const auto columns = hdf5_shape(path, name_in(group, "columns")), values = hdf5_shape(path, name_in(group, "values"));
  if (shape.data.size() != 2) throw FileError(path, "dataset \"shape\" must hold two numbers: rows, cols");
  if (shape.data[0] < 0 || std::int64_t(pointers.size()) - 1 != shape.data[0])
    throw FileError(path, text("dataset \"row_pointers\" must hold rows + 1 = ", shape.data[0], " + 1 numbers (it has ",
                               pointers.size(), ")"));
  const auto one_dimension = [&](const char* name, const std::vector<std::int64_t>& extents) {
    if (extents.size() != 1)
      throw FileError(path, text("dataset \"", name, "\" must have one dimension (it has ", extents.size(), ")"));
    return extents[0];
  };
  const std::int64_t entries = one_dimension("columns", columns), numbers = one_dimension("values", values);
  if (pointers.front() != 0 || pointers.back() != entries || entries != numbers)
    throw FileError(
        path, text("row_pointers must go from 0 to the number of columns and values (from ", pointers.front(), " to ",
                   pointers.back(), "; ", entries, " columns, ", numbers, " values)"));
  return {shape.data[0], shape.data[1], std::move(pointers)};
}

template <class Value, class Index>
spgemm::csr<Value, Index> read_sparse_part(const std::string& path, const std::string& group, const sparse_rows& all,
                                           std::int64_t first, std::int64_t count) {
  require_rows(first, count, all.rows);
  const auto pointers = std::span(all.row_pointers).subspan(std::size_t(first), std::size_t(count) + 1);
  for (std::size_t i = 0; i < std::size_t(count); ++i)
    if (pointers[i] < 0 || pointers[i] > pointers[i + 1] || pointers[i + 1] > all.row_pointers.back())
      throw FileError(path, text("row_pointers must not fall (row ", first + std::int64_t(i), ": ", pointers[i], ", ",
                                 pointers[i + 1], ")"));
  const std::int64_t begin = pointers.front(), entries = pointers.back() - begin;
  require_memory(path, entries, 2 * std::int64_t(sizeof(Index) + sizeof(Value)));
  const auto columns = read_hdf5_rows<Index>(path, name_in(group, "columns"), begin, entries);
  const auto values = read_hdf5_rows<Value>(path, name_in(group, "values"), begin, entries);
  std::vector<std::int64_t> own(pointers.begin(), pointers.end());
  for (std::int64_t& one : own) one -= begin;
  spgemm::csr<Value, Index> m{count, all.cols, own, columns.data, values.data};
  check_read(path, m.view());
  return m;
}

template <class Value, class Index>
spgemm::csr<Value, Index> read_sparse(const std::string& path, const std::string& group, sparse_read_report* report) {
  if (report != nullptr) *report = {};
  const sparse_format format = sparse_format_of(path);
  if (format == sparse_format::hdf5) {
    const sparse_rows all = read_sparse_rows(path, group);
    return read_sparse_part<Value, Index>(path, group, all, 0, all.rows);
  }
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

#define QUINTET_SPARSE_FILE(Value, Index)                                                                         \
  template spgemm::csr<Value, Index> read_sparse(const std::string&, const std::string&, sparse_read_report*);    \
  template spgemm::csr<Value, Index> read_sparse_part(const std::string&, const std::string&, const sparse_rows&, \
                                                      std::int64_t, std::int64_t);                                \
  template void write_sparse(const std::string&, const spgemm::csr_view<Value, Index>&, const std::string&);      \
  template void write_csr(hdf5_writer&, const spgemm::csr_view<Value, Index>&, const std::string&);
QUINTET_SPARSE_FILE(float, std::int32_t)
QUINTET_SPARSE_FILE(float, std::int64_t)
QUINTET_SPARSE_FILE(double, std::int32_t)
QUINTET_SPARSE_FILE(double, std::int64_t)
#undef QUINTET_SPARSE_FILE

}  // namespace quintet::io
