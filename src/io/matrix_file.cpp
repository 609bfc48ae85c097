#include "quintet/io/matrix_file.hpp"

#include <filesystem>

#include "instantiate.hpp"
#include "io/input_file.hpp"
#include "quintet/core/error.hpp"
#include "quintet/io/csv.hpp"
#include "quintet/io/file_format.hpp"
#include "quintet/io/hdf5.hpp"
#include "quintet/io/npy.hpp"

namespace quintet::io {

namespace {

matrix_extent extent_of(const std::string& path, const std::vector<std::int64_t>& shape) {
  const std::size_t rank = shape.size();
  if (rank != 1 && rank != 2)
    throw FileError(path, text("holds an array of ", rank, " dimensions; a matrix (1 or 2 dimensions) is needed"));
  return {shape[0], rank == 2 ? shape[1] : 1};
}

template <class T>
matrix<T> as_matrix(const std::string& path, array<T> values) {
  const matrix_extent extent = extent_of(path, values.shape);
  return {extent.rows, extent.cols, std::move(values.data)};
}

// Throws for a dataset of a file that has none.
file_format format_with(const std::string& path, const std::string& dataset) {
  const file_format format = format_of(path);
  if (format != file_format::hdf5 && !dataset.empty())
    throw FileError(path, text("has no datasets (\"", dataset, "\" was asked for); only .h5 and .hdf5 files have"));
  return format;
}

template <class T>
matrix<T> read(const std::string& path, const std::string& dataset) {
  const file_format format = format_with(path, dataset);
  if (format == file_format::hdf5) return as_matrix(path, read_hdf5<T>(path, dataset));
  return format == file_format::npy ? as_matrix(path, read_npy<T>(path)) : read_csv<T>(path).values;
}

}  // namespace

template <class Real>
matrix<Real> read_matrix(const std::string& path, const std::string& dataset) {
  return read<Real>(path, dataset);
}

matrix<std::int64_t> read_table(const std::string& path, const std::string& dataset) {
  return read<std::int64_t>(path, dataset);
}

bool fits_float(const std::string& path, const std::string& dataset) {
  switch (format_with(path, dataset)) {
    case file_format::hdf5:
      return hdf5_fits_float(path, dataset);
    case file_format::npy:
      return npy_fits_float(path);
    case file_format::csv:
      break;
  }
  return std::filesystem::is_regular_file(path) && csv_fits_float(path);
}

bool has_row_access(const std::string& path) { return format_of(path) != file_format::csv; }

matrix_extent matrix_shape(const std::string& path, const std::string& dataset) {
  switch (format_with(path, dataset)) {
    case file_format::hdf5:
      return extent_of(path, hdf5_shape(path, dataset));
    case file_format::npy:
      return extent_of(path, npy_shape(path));
    case file_format::csv:
      break;
  }
  const auto values = read_csv<double>(path).values;
  return {values.rows, values.cols};
}

template <class Real>
matrix<Real> read_matrix_rows(const std::string& path, const std::string& dataset, std::int64_t first,
                              std::int64_t count) {
  const file_format format = format_with(path, dataset);
  if (format != file_format::csv)
    extent_of(path, format == file_format::npy ? npy_shape(path) : hdf5_shape(path, dataset));
  if (format == file_format::hdf5) return as_matrix(path, read_hdf5_rows<Real>(path, dataset, first, count));
  if (format == file_format::npy) return as_matrix(path, read_npy_rows<Real>(path, first, count));
  matrix<Real> all = read_csv<Real>(path).values;
  require_rows(first, count, all.rows);
  const auto begin = all.data.begin() + first * all.cols;
  return {count, all.cols, {begin, begin + count * all.cols}};
}

template <class Real>
void write_matrix(const std::string& path, matrix_view<const Real> values, const std::string& dataset,
                  std::span<const std::string> names) {
  switch (format_of(path)) {
    case file_format::csv:
      return write_csv(path, values, names);
    case file_format::npy:
      return write_npy(path, values);
    case file_format::hdf5:
      break;
  }
  hdf5_writer out(path);
  out.write(dataset, values);
  out.commit();
}

#define QUINTET_INSTANTIATE(Real)                                                                                   \
  template matrix<Real> read_matrix<Real>(const std::string&, const std::string&);                                  \
  template matrix<Real> read_matrix_rows<Real>(const std::string&, const std::string&, std::int64_t, std::int64_t); \
  template void write_matrix<Real>(const std::string&, matrix_view<const Real>, const std::string&,                 \
                                   std::span<const std::string>);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::io
