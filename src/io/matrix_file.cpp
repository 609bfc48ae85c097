#include "quintet/io/matrix_file.hpp"

#include "instantiate.hpp"
#include "quintet/core/error.hpp"
#include "quintet/io/csv.hpp"
#include "quintet/io/file_format.hpp"
#include "quintet/io/hdf5.hpp"
#include "quintet/io/npy.hpp"

namespace quintet::io {

namespace {

template <class T>
matrix<T> as_matrix(const std::string& path, array<T> values) {
  const std::size_t rank = values.shape.size();
  if (rank != 1 && rank != 2)
    throw FileError(path, text("holds an array of ", rank, " dimensions; a matrix (1 or 2 dimensions) is needed"));
  return {values.shape[0], rank == 2 ? values.shape[1] : 1, std::move(values.data)};
}

template <class T>
matrix<T> read(const std::string& path, const std::string& dataset) {
  const file_format format = format_of(path);
  if (format == file_format::hdf5) return as_matrix(path, read_hdf5<T>(path, dataset));
  if (!dataset.empty())
    throw FileError(path, text("has no datasets (\"", dataset, "\" was asked for); only .h5 and .hdf5 files have"));
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

#define QUINTET_INSTANTIATE(Real)                                                                   \
  template matrix<Real> read_matrix<Real>(const std::string&, const std::string&);                  \
  template void write_matrix<Real>(const std::string&, matrix_view<const Real>, const std::string&, \
                                   std::span<const std::string>);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::io
