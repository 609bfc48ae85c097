#include "quintet/io/sparse_file.hpp"

#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>

#include "io/descriptor_path.hpp"
#include "io/hdf5_attributes.hpp"
#include "io/input_file.hpp"
#include "io/matrix_market.hpp"
#include "io/sparse_entries.hpp"
#include "io/sparse_npz.hpp"
#include "quintet/core/error.hpp"
#include "quintet/io/atomic_file.hpp"
#include "quintet/io/complex_file.hpp"

namespace quintet::io {

namespace {

enum class sparse_format { matrix_market, compressed_matrix_market, hdf5, npz };

sparse_format sparse_format_of(const std::string& path, bool is_output = false) {
  std::string name = path;
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (name.ends_with(".mtx")) return sparse_format::matrix_market;
  if (name.ends_with(".mtx.gz")) return sparse_format::compressed_matrix_market;
  if (name.ends_with(".npz")) return sparse_format::npz;
  if (name.ends_with(".h5ad") && is_output) throw FileError(path, "is AnnData's format, which is read and not written");
  if (name.ends_with(".h5") || name.ends_with(".hdf5") || name.ends_with(".h5ad")) return sparse_format::hdf5;
  // An open file has no extension.
  if (name.find('.') == std::string::npos && descriptor_of(path) >= 0) return sparse_format::matrix_market;
  throw FileError(path, "has no extension of a sparse format; allowed are .mtx, .mtx.gz, .npz, .h5, .hdf5, .h5ad");
}

std::string name_in(const std::string& group, const char* name) { return group.empty() ? name : group + "/" + name; }

// The datasets of a matrix of an HDF5 file, which may be stored by columns: as the rows of its transpose.
struct sparse_layout {
  std::string pointers, columns, values, shape;  // shape: empty where it is an attribute
  std::vector<std::int64_t> extents;
  bool by_columns = false;
};

// Ours is one; that of AnnData (indptr, indices, data and an attribute of the group) and that of 10x Genomics (the same
// with a dataset, by columns) are others, in the groups X and matrix if none is named.
sparse_layout layout_of(const std::string& path, const std::string& group) {
  const std::vector<std::string> names = hdf5_datasets(path);
  const auto exists = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  sparse_layout native{
      name_in(group, "row_pointers"), name_in(group, "columns"), name_in(group, "values"), name_in(group, "shape"), {}};
  if (exists(native.pointers)) return native;
  for (const std::string& place : group.empty() ? std::vector<std::string>{"", "X", "matrix"} : std::vector{group}) {
    if (!exists(name_in(place, "indptr"))) continue;
    sparse_layout layout{
        name_in(place, "indptr"), name_in(place, "indices"), name_in(place, "data"), name_in(place, "shape"), {}};
    layout.by_columns = exists(layout.shape);
    if (layout.by_columns) return layout;
    layout.shape.clear();
    for (const char* name : {"shape", "h5sparse_shape"})
      if (layout.extents.empty()) layout.extents = integers_of_attribute(path, place, name);
    std::string encoding = text_of_attribute(path, place, "encoding-type");
    if (encoding.empty()) encoding = text_of_attribute(path, place, "h5sparse_format");
    if (layout.extents.size() != 2 || (!encoding.starts_with("csr") && !encoding.starts_with("csc")))
      throw FileError(
          path,
          text("group \"", place,
               "\" must have the attributes shape, two numbers, and encoding-type, csr_matrix or csc_matrix (it is \"",
               encoding, "\")"));
    layout.by_columns = encoding.starts_with("csc");
    return layout;
  }
  return native;
}

}  // namespace

void check_sparse_input(const std::string& path) { sparse_format_of(path); }
void check_sparse_output(const std::string& path) {
  sparse_format_of(path, true);
  check_writable(path);
}

bool has_sparse_row_access(const std::string& path) { return sparse_format_of(path) == sparse_format::hdf5; }

namespace {

// Size and pointers of what a layout stores: of the transpose, where that is columns.
sparse_rows stored_rows(const std::string& path, const sparse_layout& layout) {
  std::vector<std::int64_t> shape = layout.extents;
  if (!layout.shape.empty()) shape = read_hdf5<std::int64_t>(path, layout.shape).data;
  auto pointers = read_hdf5<std::int64_t>(path, layout.pointers).data;
  const auto columns = hdf5_shape(path, layout.columns), values = hdf5_shape(path, layout.values);
  if (shape.size() != 2) throw FileError(path, "dataset \"shape\" must hold two numbers: rows, cols");
  if (layout.by_columns) std::swap(shape[0], shape[1]);
  if (shape[0] < 0 || std::int64_t(pointers.size()) - 1 != shape[0])
    throw FileError(path, text("dataset \"", layout.pointers, "\" must hold ", layout.by_columns ? "columns" : "rows",
                               " + 1 = ", shape[0], " + 1 numbers (it has ", pointers.size(), ")"));
  const auto one_dimension = [&](const std::string& name, const std::vector<std::int64_t>& extents) {
    if (extents.size() != 1)
      throw FileError(path, text("dataset \"", name, "\" must have one dimension (it has ", extents.size(), ")"));
    return extents[0];
  };
  const std::int64_t entries = one_dimension(layout.columns, columns), numbers = one_dimension(layout.values, values);
  if (pointers.front() != 0 || pointers.back() != entries || entries != numbers)
    throw FileError(
        path, text(layout.pointers, " must go from 0 to the number of columns and values (from ", pointers.front(),
                   " to ", pointers.back(), "; ", entries, " columns, ", numbers, " values)"));
  return {shape[0], shape[1], std::move(pointers), layout.columns, layout.values};
}

}  // namespace

sparse_rows read_sparse_rows(const std::string& path, const std::string& group) {
  const sparse_layout layout = layout_of(path, group);
  if (layout.by_columns) throw FileError(path, "is stored by columns: its rows cannot be read apart");
  return stored_rows(path, layout);
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
  const auto columns =
      read_hdf5_rows<Index>(path, all.columns.empty() ? name_in(group, "columns") : all.columns, begin, entries);
  const auto values =
      read_hdf5_rows<Value>(path, all.values.empty() ? name_in(group, "values") : all.values, begin, entries);
  std::vector<std::int64_t> own(pointers.begin(), pointers.end());
  for (std::int64_t& end : own) end -= begin;
  spgemm::csr<Value, Index> m{count, all.cols, own, columns.data, values.data};
  check_read(path, m.view());
  return m;
}

template <class Value, class Index>
spgemm::csr<Value, Index> read_sparse(const std::string& path, const std::string& group, sparse_read_report* report) {
  if (report != nullptr) *report = {};
  const sparse_format format = sparse_format_of(path);
  if (format == sparse_format::hdf5) {
    const sparse_layout layout = layout_of(path, group);
    const sparse_rows all = stored_rows(path, layout);
    auto m = read_sparse_part<Value, Index>(path, group, all, 0, all.rows);
    if (!layout.by_columns) return m;
    require_size_of_rows<Index>(path, m.cols, m.rows);
    return rows_of_columns(m);
  }
  if (!group.empty()) throw FileError(path, text("has no groups; \"", group, "\" was asked for"));
  if (format == sparse_format::npz) return read_sparse_npz<Value, Index>(path);
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
  const sparse_format format = sparse_format_of(path, true);
  if (format != sparse_format::hdf5) {
    spgemm::check(m, "matrix");
    if (format == sparse_format::npz) return write_sparse_npz(path, m);
    return write_matrix_market(path, m, format == sparse_format::compressed_matrix_market);
  }
  hdf5_writer out(path);
  write_csr(out, m, group);
  out.commit();
}

namespace {

bool is_compressed_matrix_market(const std::string& path, bool is_output) {
  const sparse_format format = sparse_format_of(path, is_output);
  if (format != sparse_format::matrix_market && format != sparse_format::compressed_matrix_market)
    throw FileError(path, "cannot hold complex matrices: these are in Matrix Market files, .mtx or .mtx.gz");
  return format == sparse_format::compressed_matrix_market;
}

}  // namespace

bool has_complex_values(const std::string& path) {
  const sparse_format format = sparse_format_of(path);
  if (format != sparse_format::matrix_market && format != sparse_format::compressed_matrix_market) return false;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;  // what is read of a pipe is gone
  return is_complex_matrix_market(path, format == sparse_format::compressed_matrix_market);
}

template <class Real, class Index>
spgemm::complex_csr<Real, Index> read_complex_sparse(const std::string& path, sparse_read_report* report) {
  if (report != nullptr) *report = {};
  return read_complex_matrix_market<Real, Index>(path, is_compressed_matrix_market(path, false), report);
}

template <class Real, class Index>
void write_complex_sparse(const std::string& path, const spgemm::complex_csr_view<Real, Index>& m) {
  const bool is_compressed = is_compressed_matrix_market(path, true);
  check(m, "matrix");
  write_complex_matrix_market(path, m, is_compressed);
}

#define QUINTET_SPARSE_FILE(Value, Index)                                                                         \
  template spgemm::csr<Value, Index> read_sparse(const std::string&, const std::string&, sparse_read_report*);    \
  template spgemm::csr<Value, Index> read_sparse_part(const std::string&, const std::string&, const sparse_rows&, \
                                                      std::int64_t, std::int64_t);                                \
  template void write_sparse(const std::string&, const spgemm::csr_view<Value, Index>&, const std::string&);      \
  template void write_csr(hdf5_writer&, const spgemm::csr_view<Value, Index>&, const std::string&);               \
  template spgemm::complex_csr<Value, Index> read_complex_sparse(const std::string&, sparse_read_report*);        \
  template void write_complex_sparse(const std::string&, const spgemm::complex_csr_view<Value, Index>&);
QUINTET_SPARSE_FILE(float, std::int32_t)
QUINTET_SPARSE_FILE(float, std::int64_t)
QUINTET_SPARSE_FILE(double, std::int32_t)
QUINTET_SPARSE_FILE(double, std::int64_t)
#undef QUINTET_SPARSE_FILE

}  // namespace quintet::io
