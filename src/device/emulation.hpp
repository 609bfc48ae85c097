// How many threads the teams of an emulated device have, and whether a device gave the team that a kernel needs.
#pragma once

#include "quintet/device/device.hpp"

namespace quintet::device {

/// Teams that run at the same time on the emulated device.
constexpr int emulated_teams = 2;

/// For tests: while it lives, every launch on an emulated device (Device::emulated() and the x86_64 plugin) asks for
/// teams of `threads` threads, for every kernel: at most as many as on a GPU, and whole multiples of the kernel's
/// team_multiple, one at least. The environment variable QUINTET_EMULATED_THREADS does the same for a whole program.
/// Guards nest. Throws InvalidArgument unless 1 <= threads <= 1024.
class emulated_team_size {
 public:
  explicit emulated_team_size(int threads);
  emulated_team_size(const emulated_team_size&) = delete;
  emulated_team_size& operator=(const emulated_team_size&) = delete;
  ~emulated_team_size();

 private:
  int previous_;
};

namespace detail {

/// Threads that a launch on an emulated device asks for: `usual` unless a test wants another number.
int emulated_team(int usual, int most, int multiple);

/// Throws DeviceError: a team of `got` threads where a multiple of `multiple` is needed and `wanted` were asked for.
[[noreturn]] void refuse_team(int got, int multiple, int expected, const Device& device);

#ifdef QUINTET_OFFLOAD
/// Threads per team that offload device `device` gives to `teams` teams of `threads`, found out by one launch.
int offload_team(int device, int teams, int threads);
#endif

}  // namespace detail

}  // namespace quintet::device
