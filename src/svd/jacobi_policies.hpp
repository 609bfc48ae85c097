// On which map, with how many threads and on which processor a kernel of this family runs: its policy. A kernel's text
// is the same for all.
#pragma once

#include "device/inverse.hpp"
#include "device/launch.hpp"
#include "quintet/device/device.hpp"
#include "svd/job.hpp"
#include "svd/maps.hpp"

namespace quintet::svd {

/// Registers of AVX-512.
constexpr bool has_wide_lanes = device::host_lanes<double>() >= 8;

/// W matrices side by side in SIMD registers.
template <class Real, int W>
struct lanes_on_host {
  enum { on_device = 0, threads = 1, emulated_threads = 1, team_numbers = 0 };
  using real = Real;
  using map = lanes_map<Real, W, W>;
  struct scratch {};
  template <class Team, class Function>
  static QUINTET_SVD_INLINE void run(const Team&, scratch&, Function f) {
    f(map{0}, static_cast<Real*>(nullptr));
  }
};
template <class Real>
struct host_lanes : lanes_on_host<Real, device::host_lanes<Real>()> {};
/// Two registers full where the compiler splits such packs well, for small_kernel.hpp: each rotation waits for the one
/// before it, and there is time for another matrix meanwhile.
template <class Real>
#if defined(__clang__)
constexpr int registers_for_small = device::has_estimates<device::pack<Real, device::host_lanes<Real>()>>() ? 2 : 1;
#else
constexpr int registers_for_small = 1;
#endif
template <class Real>
struct host_double_lanes : lanes_on_host<Real, registers_for_small<Real> * device::host_lanes<Real>()> {};
/// Half as many, for large matrices: half the working memory, and twice as many groups for the threads.
template <class Real>
struct host_half_lanes : lanes_on_host<Real, device::host_lanes<Real>() / 2> {};

/// One matrix, its rows in SIMD registers: for few matrices or large ones.
template <class Real>
struct host_rows {
  enum { on_device = 0, threads = 1, emulated_threads = 1, team_numbers = 0 };
  using real = Real;
  using map = rows_map<Real, 1, device::host_lanes<Real>(), device::host_team>;
  struct scratch {};
  template <class Team, class Function>
  static QUINTET_SVD_INLINE void run(const Team&, scratch&, Function f) {
    f(map{{}, nullptr}, static_cast<Real*>(nullptr));
  }
};

/// 32 matrices side by side, each in one thread.
template <class Real>
struct device_lanes {
  enum { on_device = 1, threads = 32, emulated_threads = 4, team_numbers = 0 };
  using real = Real;
  using map = lanes_map<Real, 32, 1>;
  struct scratch {};
  template <class Team, class Function>
  static QUINTET_SVD_INLINE void run(const Team& team, scratch&, Function f) {
    for (int lane = team.rank(); lane < 32; lane += team.size()) f(map{lane}, static_cast<Real*>(nullptr));
  }
};

/// One matrix per team, ThreadsPerPair threads per pair of columns. TeamNumbers: numbers of team memory for X and V; 0
/// keeps them in global memory, which the caches hold.
template <class Real, int ThreadsPerPair, int TeamNumbers>
struct device_rows {
  enum { on_device = 1, threads = 256, emulated_threads = 16, team_numbers = TeamNumbers };
  using real = Real;
  using map = rows_map<Real, ThreadsPerPair, 1, device::device_team>;
  struct scratch {
    alignas(16) Real exchange[threads];
    Real matrices[TeamNumbers > 0 ? TeamNumbers : 1];
  };
  template <class Team, class Function>
  static QUINTET_SVD_INLINE void run(const Team& team, scratch& s, Function f) {
    f(map{team, s.exchange}, TeamNumbers > 0 ? s.matrices : static_cast<Real*>(nullptr));
  }
};

/// Numbers of team memory for X and V: n = 64 in float, n = 52 in double.
template <class Real>
constexpr int team_numbers = sizeof(Real) == 4 ? 2 * 64 * 64 : 2 * 52 * 52;

template <class Real>
using gpu_small = device_rows<Real, 32, team_numbers<Real>>;
template <class Real>
using gpu_middle = device_rows<Real, 16, 0>;
template <class Real>
using gpu_large = device_rows<Real, 8, 0>;
/// For emulated devices, whose teams have 16 threads.
template <class Real>
using emulated_small = device_rows<Real, 8, team_numbers<Real>>;

/// On the host a tile may take seconds: its threads look at the caller's poll within it, and the caller while it waits.
template <bool OnDevice>
struct jacobi_tiles {
  enum { long_tiles = 1 };
};
template <>
struct jacobi_tiles<true> {};

/// Compiled in translation units of their own: svd.cmake.
template <class Policy>
struct jacobi_launch {
  static void run(const jacobi_job<typename Policy::real>& job, const Device& device);
};

/// Up to this size square matrices have kernels of their own, unrolled.
constexpr int largest_small = 4;

/// The same for square matrices of N columns, and for symmetric ones.
template <class Policy, int N, bool Symmetric = false>
struct small_launch {
  static void run(const jacobi_job<typename Policy::real>& job, const Device& device);
};

/// The kernel of eigen_kernel.hpp.
template <class Policy>
struct eigen_launch {
  static void run(const jacobi_job<typename Policy::real>& job, const Device& device);
};

/// A function of a map and a tile as a kernel, on the map of a policy.
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
