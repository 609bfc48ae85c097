// Exact nearest neighbours of points that are spread over ranks: the lists of quintet::neighbours::nearest(), bit for
// bit, on any number of ranks.
#pragma once

#include <cstdint>

#include "quintet/core/view.hpp"
#include "quintet/mpi/communicator.hpp"
#include "quintet/mpi/distribution.hpp"
#include "quintet/neighbours/neighbours.hpp"

namespace quintet::mpi::neighbours {

/// The k nearest other rows, of the rows of all ranks (rank 0's first), of every row of this rank. `rows` [n x D] in
/// host memory are those from `first_row` on, n >= 0. The result has the rows of this rank as queries, n of them, and
/// numbers of rows of all ranks. invalid_queries counts the rows of this rank from 0. 1 <= k <= N - 1 for N rows of all
/// ranks (k >= 1 for N <= 1).
///
/// Collective. Points travel in a ring: half way round on hosts, where each pair is computed once, all the way round on
/// devices. In few dimensions this function searches no tree of blocks, so one node with quintet::neighbours may be
/// faster than several.
///
/// All ranks throw the same errors: those of quintet::neighbours::nearest(), and InvalidArgument for rows that do not
/// follow one another. It is also thrown if ranks differ in options, build, kind of device or the dimension. Cost per
/// rank, with P ranks: N^2 D / 2P multiply-adds on hosts, N^2 D / P on devices. A host rank receives about N D / 2
/// coordinates. Memory: its points, about 100 MiB, and 3 k list entries for each of them.
template <class Storage>
quintet::neighbours::nearest_result<accumulator_t<Storage>> nearest(communicator& ranks,
                                                                    matrix_view<const Storage> rows,
                                                                    std::int64_t first_row, std::int64_t k,
                                                                    const quintet::neighbours::options& settings = {},
                                                                    const Device& device = Device::best());

/// The k nearest of the rows of all ranks, of every row of this rank's `queries` [q x D], q >= 0: for each the lists of
/// quintet::neighbours::nearest(queries, rows) of all rows, bit for bit. 1 <= k <= N. invalid_queries counts the own
/// queries from 0, invalid_points the rows of all ranks.
///
/// Collective; errors as above. Queries stay where they are, and all rows go round in a ring. Cost per
/// rank: q N D multiply-adds. A rank receives (N - own rows) D coordinates, and has memory for the largest part of a
/// rank three times.
template <class Storage>
quintet::neighbours::nearest_result<accumulator_t<Storage>> nearest(communicator& ranks,
                                                                    matrix_view<const Storage> queries,
                                                                    matrix_view<const Storage> rows, std::int64_t k,
                                                                    const quintet::neighbours::options& settings = {},
                                                                    const Device& device = Device::best());

}  // namespace quintet::mpi::neighbours
