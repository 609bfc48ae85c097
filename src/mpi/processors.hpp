// The processors of this process.
#pragma once

#include <bitset>
#include <vector>

namespace quintet::mpi {

/// Processors by number. Ranks send it to each other as bytes.
using processor_set = std::bitset<1024>;

/// Those it may run on; all of them where the system does not bind processes.
processor_set own_processors();

/// Those it may ask for: all that its container or batch system allows.
processor_set available_processors();

/// What a rank may use of its host.
struct processor_share {
  int threads;        ///< for this rank
  int used, present;  ///< processors that all ranks of the host may use together, and that are there
  bool is_too_small;  ///< they may use less than half of it
};

/// Where masks of a host's ranks overlap, each rank takes an even share of what they cover; otherwise its own mask.
processor_share share_of(const std::vector<processor_set>& masks, int own_index, const processor_set& available);

}  // namespace quintet::mpi
