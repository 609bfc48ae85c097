// A kernel with a host shape alone, which the table of kernels does not know: scripts/kernel_table has to say so.
#include "device/launch.hpp"

namespace planted {

struct kernel_for_hosts_only {
  using shape = quintet::device::host_only_shape;
  struct scratch {};
  int* out;

  template <class Team>
  void operator()(const Team&, std::int64_t tile, scratch&) const {
    out[tile] = int(tile);
  }
};

void launch_it(int* out) { quintet::device::launch(kernel_for_hosts_only{out}, 10, quintet::Device::host()); }

}  // namespace planted
