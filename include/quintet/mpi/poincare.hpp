// Distances and nearest neighbours of points of the Poincare ball by several ranks. Every rank has some rows of the
// queries and of the points, those of rank 0 first, and gets the results of its queries. Bits and errors are those of
// quintet::poincare on the whole. Points (or the queries with their lists, if these are less) go round in a ring. Ranks
// transfer the next ones while they compare the present ones.
//
// All functions are collective; D, k and the options are the same on all ranks, and a rank may have no rows. Points
// come in buffers: memory beyond that of quintet::poincare is that of the largest part of a rank, twice.
#pragma once

#include "quintet/mpi/communicator.hpp"
#include "quintet/poincare/nearest.hpp"

namespace quintet::mpi::poincare {

/// For every own query the k nearest of all points; indices count all points. With options.exclude_self the own queries
/// are the own points. Throws InvalidArgument as quintet::poincare::nearest() does, on all ranks; with options.strict
/// it names the first row of all that is not inside. Bytes received by a rank: (N - own points) D s, or Q_other (D s +
/// k (sizeof(Real) + 8)) and the own lists, whichever is less for all ranks together; s: bytes of Storage.
template <class Storage>
quintet::poincare::neighbours<accumulator_t<Storage>> nearest(communicator& ranks, matrix_view<const Storage> queries,
                                                              matrix_view<const Storage> points, std::int64_t k,
                                                              const quintet::poincare::nearest_options& options = {},
                                                              const Device& device = Device::best());

/// out [own queries x N]: distances from the own queries to all points, in memory of the host. The report is of the own
/// rows. Throws as nearest() does. Bytes received by a rank: (N - own points) D s.
quintet::poincare::point_report distances(communicator& ranks, any_matrix queries, any_matrix points,
                                          any_output_matrix out,
                                          const quintet::poincare::distance_options& options = {},
                                          const Device& device = Device::best());

/// out[i] = d(x row i, y row i) of own rows; errors as above. No transfers but those that agree on errors.
quintet::poincare::point_report pair_distances(communicator& ranks, any_matrix x, any_matrix y, any_output_vector out,
                                               const quintet::poincare::distance_options& options = {},
                                               const Device& device = Device::best());

}  // namespace quintet::mpi::poincare
