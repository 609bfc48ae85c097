#include "quintet/mpi/snp.hpp"

namespace quintet::mpi::snp {

// The caller keeps the communicator, so that nothing is deleted here.
std::shared_ptr<process_group> group_of(communicator& ranks) { return {std::shared_ptr<void>(), &ranks}; }

}  // namespace quintet::mpi::snp
