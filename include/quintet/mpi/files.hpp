// Matrices in files that several ranks read and write, each its own rows. Needs quintet::io.
#pragma once

#include <string>

#include "quintet/io/csv.hpp"
#include "quintet/io/file_format.hpp"
#include "quintet/io/matrix_file.hpp"
#include "quintet/io/shared_matrix.hpp"
#include "quintet/io/sparse_file.hpp"
#include "quintet/mpi/communicator.hpp"
#include "quintet/mpi/distribution.hpp"
#include "quintet/mpi/spgemm.hpp"

namespace quintet::mpi {

/// Rows of a matrix that is in a file.
template <class Real>
struct rows_of_file {
  std::int64_t first_row = 0;  ///< of these
  std::int64_t all_rows = 0;   ///< of the file
  io::matrix<Real> rows;       ///< with all columns
};

/// This rank's rows of the matrix that io::read_matrix() would read, parts of even size. Collective. All ranks must see
/// .npy and .h5 files, and each reads its part; rank 0 reads text and scatters it. All ranks throw the error of the
/// lowest rank: FileError, and InvalidArgument where ranks see files of different sizes.
template <class Real>
rows_of_file<Real> read_rows(communicator& ranks, const std::string& path, const std::string& dataset = "") {
  rows_of_file<Real> result;
  ranks.phase("read");
  bool has_access = false;
  ranks.run_collectively([&] { has_access = io::has_row_access(path); });
  io::matrix<Real> whole;
  std::int64_t size[2] = {0, 0};
  ranks.run_collectively([&] {
    if (has_access) {
      const io::matrix_extent extent = io::matrix_shape(path, dataset);
      size[0] = extent.rows;
      size[1] = extent.cols;
    } else if (ranks.is_root()) {
      whole = io::read_matrix<Real>(path, dataset);
      size[0] = whole.rows;
      size[1] = whole.cols;
    }
  });
  if (has_access)
    ranks.require_same(path, text(size[0], " x ", size[1], " numbers"));
  else
    ranks.broadcast(std::span<std::int64_t>(size));
  const row_range own = even_rows(size[0], ranks.rank(), ranks.size());
  result.first_row = own.first;
  result.all_rows = size[0];
  if (has_access) {
    ranks.run_collectively([&] { result.rows = io::read_matrix_rows<Real>(path, dataset, own.first, own.count); });
    return result;
  }
  std::vector<std::int64_t> counts = even_counts(size[0], ranks.size());
  for (std::int64_t& count : counts) count *= size[1];
  result.rows = {own.count, size[1], ranks.scatter(std::span<const Real>(whole.data), counts)};
  return result;
}

/// The rows of all ranks as one .npy or .h5 file, by all ranks at the same time, see io/shared_matrix.hpp; as .csv by
/// rank 0, which takes the rows of one rank after another. Collective; `more` is called on rank 0. All ranks throw the
/// errors of io::write_matrix(), and then leave nothing.
template <class T>
void write_rows(communicator& ranks, const std::string& path, const std::string& dataset, std::int64_t first_row,
                std::int64_t all_rows, matrix_view<const T> own, std::int64_t cols,
                const std::function<void(io::hdf5_writer&)>& more = {}) {
  ranks.phase("write");
  io::file_format format = io::file_format::csv;
  ranks.run_collectively([&] { format = io::format_of(path); });
  if (format != io::file_format::csv) {
    std::unique_ptr<io::shared_matrix_file<T>> file;
    io::shared_matrix_place place;
    ranks.run_collectively([&] {
      if (!ranks.is_root()) return;
      file = std::make_unique<io::shared_matrix_file<T>>(path, dataset, all_rows, cols, more);
      place = file->place();
    });
    ranks.broadcast(place.file);
    std::int64_t numbers[2] = {place.offset, place.cols};
    ranks.broadcast(std::span<std::int64_t>(numbers));
    place.offset = numbers[0];
    place.cols = numbers[1];
    ranks.run_collectively([&] {
      if (own.rows() > 0) io::write_shared_rows<T>(place, path, first_row, own);
    });
    return ranks.run_collectively([&] {
      if (file) file->commit();
    });
  }
  std::unique_ptr<io::csv_writer> out;
  ranks.run_collectively([&] {
    if (ranks.is_root()) out = std::make_unique<io::csv_writer>(path);
  });
  failure local_failure;
  std::vector<T> dense;
  local_failure.attempt([&] {
    for (std::int64_t i = 0; i < own.rows(); ++i) dense.insert(dense.end(), own.row(i), own.row(i) + own.cols());
  });
  ranks.agree(local_failure);
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const std::vector<T> rows = ranks.gather(std::span<const T>(dense.data(), rank == ranks.rank() ? dense.size() : 0));
    local_failure.attempt([&] {
      if (!out) return;
      for (std::size_t i = 0; i < rows.size(); i += std::size_t(cols)) {
        for (std::int64_t j = 0; j < cols; ++j) out->field(rows[i + std::size_t(j)]);
        out->end_row();
      }
    });
    ranks.agree(local_failure);
  }
  ranks.run_collectively([&] {
    if (out) out->commit();
  });
}

/// This rank's rows of a sparse matrix: from .h5 each rank reads its own; Matrix Market is read by rank 0 and
/// scattered. Collective; errors as for read_rows().
template <class Value, class Index>
spgemm::rows_of<Value, Index> read_sparse_rows(communicator& ranks, const std::string& path, const std::string& group,
                                               io::sparse_read_report* report = nullptr) {
  ranks.phase("read");
  bool has_access = false;
  ranks.run_collectively([&] { has_access = io::has_sparse_row_access(path); });
  if (report != nullptr) *report = {};
  if (!has_access) {
    quintet::spgemm::csr<Value, Index> whole;
    ranks.run_collectively([&] {
      if (ranks.is_root()) whole = io::read_sparse<Value, Index>(path, group, report);
    });
    return spgemm::scatter(ranks, whole.view());
  }
  io::sparse_rows all;
  ranks.run_collectively([&] { all = io::read_sparse_rows(path, group); });
  ranks.require_same(path, text(all.rows, " x ", all.cols, " with ", all.row_pointers.back(), " entries"));
  const row_range own = even_rows(all.rows, ranks.rank(), ranks.size());
  spgemm::rows_of<Value, Index> result{own.first, {}};
  ranks.run_collectively(
      [&] { result.block = io::read_sparse_part<Value, Index>(path, group, all, own.first, own.count); });
  return result;
}

}  // namespace quintet::mpi
