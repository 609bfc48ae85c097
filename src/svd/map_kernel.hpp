// A function of a map and a tile as a kernel, on the map of a policy (see jacobi_kernel.hpp).
#pragma once

#include "svd/jacobi_kernel.hpp"

namespace quintet::svd {

template <class Body, class Policy>
struct map_kernel {
  struct shape {
    enum { on_device = Policy::on_device };
  };
  using scratch = typename Policy::scratch;
  enum { threads = Policy::threads, emulated_threads = Policy::emulated_threads };
  Body body;

  template <class Team>
  QUINTET_SVD_INLINE void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    Policy::run(team, s, [&](const auto& map, auto*) QUINTET_SVD_INLINE_LAMBDA { body(map, tile); });
  }
};

/// body(map, 0), ..., body(map, tiles - 1) on `device`.
template <class Policy, class Body>
void launch_body(const Body& body, std::int64_t tiles, const Device& device) {
  device::launch(map_kernel<Body, Policy>{body}, tiles, device);
}

}  // namespace quintet::svd
