// Points from a file, and what drivers that work on points say about them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "quintet/io/matrix.hpp"
#include "quintet/pairwise/metric.hpp"
#include "support/driver.hpp"

namespace quintet::driver {

/// Reads the matrix of points as stage "read"; "n" and "dim" go into the results. Storage is float, double, half or
/// bfloat16. Throws FileError when the file cannot be read, holds no points, or holds a finite number beyond the range
/// of Storage.
template <class Storage>
io::matrix<Storage> read_points(session& session, const std::string& path, const std::string& dataset);

/// Reads more points, of `dim` coordinates each; throws FileError for none, and for another number of coordinates.
template <class Storage>
io::matrix<Storage> read_further_points(session& session, const std::string& path, std::int64_t dim);

/// Makes words of rows of 0 and 1 for metric::hamming and jaccard, and of integers in [-255, 255] for metrics of those,
/// and notes in `distance` how many bits they have; other metrics leave the points as they are. Throws FileError for
/// another number and for rows that the factors of a product do not fit, InvalidArgument for Storage other than double.
template <class Storage>
void pack_words(io::matrix<Storage>& points, const std::string& path, point_metric& distance);

/// Columns of files of points that have `cols` columns in memory: of rows of words their bits or integers.
std::int64_t columns_in_files(const point_metric& distance, std::int64_t cols);

/// Reads one number for each of `rows` points; throws FileError for another number of them, and for a matrix.
std::vector<double> read_weights(session& session, const std::string& path, std::int64_t rows);

#ifdef QUINTET_HAS_MPI
/// Points of which every rank has its own rows.
template <class Storage>
struct shared_points {
  std::int64_t first_row = 0, all_rows = 0;
  io::matrix<Storage> own;
};

/// The same on several ranks: each reads its part where the format allows it, see mpi::read_rows(). Collective; all
/// ranks throw what the one with the smallest rows throws. Notes n and dim in the results, unless these are `further`
/// points.
template <class Storage>
shared_points<Storage> read_shared_points(session& session, const std::string& path, const std::string& dataset,
                                          bool further = false);
#endif

/// What a computation of core distances found out on the way.
struct neighbour_facts {
  std::int64_t neighbours;  ///< the k that was used
  bool clamped;             ///< a larger one was asked for
  const std::vector<std::int64_t>& invalid_rows;
};

/// Puts the facts into the results, and warns of a lowered k and of rows that were left out.
void report(session& session, const neighbour_facts& facts, metric distance);

}  // namespace quintet::driver
