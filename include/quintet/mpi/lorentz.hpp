// Distances of points of the Lorentz model by several ranks. Ranks, memory, transfers and errors are those of
// mpi/poincare.hpp, bits and statuses those of quintet::lorentz on the whole. Nearest neighbours are those of metric
// lorentz in mpi/neighbours.hpp.
#pragma once

#include "quintet/mpi/communicator.hpp"
#include "quintet/poincare/lorentz.hpp"

namespace quintet::mpi::lorentz {

/// out [own queries x N]: distances from the own queries to all points, in memory of the host. The report is of the own
/// rows. Collective; options and D are the same on all ranks, and a rank may have no rows. Throws InvalidArgument as
/// quintet::lorentz::distances() does, on all ranks; with options.strict it names the first row of all with a status.
/// Bytes received by a rank: (N - own points) D s, s: bytes of the type.
quintet::poincare::point_report distances(communicator& ranks, any_matrix queries, any_matrix points,
                                          any_output_matrix out, const quintet::lorentz::distance_options& options = {},
                                          const Device& device = Device::best());

/// out[i] = d(x row i, y row i) of own rows; errors as above. No transfers but those that agree on errors.
quintet::poincare::point_report pair_distances(communicator& ranks, any_matrix x, any_matrix y, any_output_vector out,
                                               const quintet::lorentz::distance_options& options = {},
                                               const Device& device = Device::best());

}  // namespace quintet::mpi::lorentz
