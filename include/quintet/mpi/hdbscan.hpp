// HDBSCAN* of points that are spread over ranks: the clustering of quintet::hdbscan::cluster(), bit for bit, on any
// number of ranks.
//
//   quintet::mpi::communicator ranks(MPI_COMM_WORLD);
//   quintet::mpi::row_range mine = quintet::mpi::even_rows(n, ranks.rank(), ranks.size());
//   auto result = quintet::mpi::hdbscan::cluster<float>(ranks, {rows_of(mine), mine.count, dim}, mine.first,
//                                              {.min_cluster_size = 10});
//   result.labels[i]            // of the own row i, on every rank
//   result.whole.condensed      // everything else, on rank 0
//
// Points are distributed again, in blocks of neighbours. On hosts every pair of ranks meets once (a ring half way
// round), and each pair of points is computed once. On devices the ring goes all the way, and pairs are computed twice.
// The rounds of the spanning tree end in a minimum over ranks of (weight, u, v) for every component. So the order of
// edges decides, not the rank that has them. In few dimensions every rank has all points and the tree of blocks of one
// process, and searches it for its points.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/core/progress.hpp"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/mpi/communicator.hpp"
#include "quintet/mpi/distribution.hpp"

namespace quintet::mpi {

/// Checkpoints of long work, so that it can continue after an interruption.
struct checkpoint_options {
  std::string folder;   ///< on a file system that all ranks see; empty: nothing is written
  double minutes = 10;  ///< >= 0: the least time between two of them
  bool resume = false;  ///< continue from the folder, if it is of the same points and options
};

namespace hdbscan {

/// The spanning tree of the rows of all ranks, rank 0's first: `rows` [n x D] in host memory are those from `first_row`
/// on, n >= 0. The rest is as in quintet::hdbscan::spanning_tree(), with its bits. On rank 0: the whole result;
/// elsewhere edges and core distances are empty. Counters of tiles and pairs are sums over ranks.
///
/// Collective. All ranks throw the same errors: those of quintet::hdbscan::spanning_tree(), and InvalidArgument for
/// rows that do not follow one another. It is also thrown if ranks differ in options, build, kind of device or the
/// dimension.
///
/// Cost per rank, with P ranks: N^2 D / 2P multiply-adds on hosts, N^2 D / P on devices. A host rank receives about N D
/// / 2 coordinates. Memory of a rank:
///
/// - its part of the points (twice for a moment), and about 100 MiB for visiting points;
/// - 3 (k + 11) list entries for each of N / P points;
/// - three tables of bounds, each 32 MiB or a quarter of the bytes of its points;
/// - at most 128 MiB (double: 256) for bounds of tiles, and 56 bytes for each of the N points.
///
/// If the tree of blocks pays (D <= 32), a rank receives N D coordinates. It holds all points (three times for a
/// moment), k + 11 list entries for each of N / P points, and 80 bytes for each of the N points.
quintet::hdbscan::spanning_tree_result spanning_tree(communicator& ranks, any_matrix rows, std::int64_t first_row,
                                                     const quintet::hdbscan::spanning_tree_options& options = {},
                                                     const Device& device = Device::best(),
                                                     const progress_callback& report = {},
                                                     const checkpoint_options& checkpoint = {});

/// A clustering of the rows of all ranks.
struct cluster_result {
  quintet::hdbscan::cluster_result whole;  ///< on rank 0; on others only options, invalid_rows and counters
  std::vector<std::int64_t> labels;        ///< of the own rows
  std::vector<double> probabilities;       ///< of the own rows
  std::vector<double> outlier_scores;      ///< of the own rows
};

/// Clusters the rows of all ranks; arguments, errors and costs are those of spanning_tree(). The tree stage runs on
/// rank 0, as in quintet::hdbscan::cluster(), in O(N log N) time.
cluster_result cluster(communicator& ranks, any_matrix rows, std::int64_t first_row,
                       const quintet::hdbscan::cluster_options& options = {}, const Device& device = Device::best(),
                       const progress_callback& report = {}, const checkpoint_options& checkpoint = {});

}  // namespace hdbscan
}  // namespace quintet::mpi
