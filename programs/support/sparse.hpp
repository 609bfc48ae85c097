// Sparse matrices from a file, and what drivers say about them.
#pragma once

#include <cstdint>
#include <string>

#include "quintet/io/sparse_file.hpp"
#include "support/driver.hpp"

namespace quintet::driver {

/// Whether the name is that of a format that has sparse matrices alone.
inline bool is_sparse_format(const std::string& path) {
  return path.ends_with(".mtx") || path.ends_with(".mtx.gz") || path.ends_with(".npz");
}

/// Warns of what is unusual about a file that was read.
inline void warn_of(session& session, const std::string& path, const io::sparse_read_report& report) {
  if (report.above_diagonal > 0)
    session.warn(text(path, " claims symmetry and holds ", report.above_diagonal,
                      " entries above the diagonal; each stands for its mirror image too"));
}

/// Reads the matrix as stage "read", and warns of what is unusual about the file. Throws as io::read_sparse does.
template <class Real>
spgemm::csr<Real, std::int64_t> read_sparse(session& session, const std::string& path, const std::string& group = "") {
  io::sparse_read_report report;
  auto matrix = session.timed("read", [&] { return io::read_sparse<Real, std::int64_t>(path, group, &report); });
  warn_of(session, path, report);
  return matrix;
}

}  // namespace quintet::driver
