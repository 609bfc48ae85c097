// The processors a kernel can run on: host threads, GPUs behind OpenMP offload, and an emulated device for tests.
// Functions are O(1) and throw nothing unless they say otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "quintet/core/compiler.hpp"

namespace quintet {

/// Kind of a Device.
enum class device_kind : std::uint8_t {
  host,      ///< the threads of this process, one thread a team with SIMD lanes
  emulated,  ///< the device shape of a kernel on host threads: several threads a team, real barriers; for tests
  offload,   ///< an OpenMP target device with separate memory
};

/// A processor. A value type, cheap to copy; it owns nothing.
class Device {
 public:
  /// The host.
  Device() = default;
  /// The threads of this process; the same as a Device made without arguments.
  static Device host() { return Device(device_kind::host, 0); }
  /// Runs the device shape of every kernel on host threads. Slow; it exists to test and race-check device code.
  static Device emulated() { return Device(device_kind::emulated, 0); }
  /// Target device `index`, 0 <= index < count(). Throws DeviceError if it is absent, with a list of the devices. The
  /// first call of this, count(), all() or best() starts the devices' runtime.
  static Device offload(int index);
  /// Number of offload devices that this build and this machine offer; 0 in a host-only build.
  static int count();
  /// The host, then every offload device.
  static std::vector<Device> all();
  /// The first GPU, or the host without a GPU. It never chooses an emulation. A call that gets this may run elsewhere,
  /// on the device of its arguments or where a problem of its size is done faster: see automatic().
  static Device best();
  /// "auto" (best), "host", "emulated", or an offload device: "0" or "offload:0". Throws InvalidArgument for other
  /// text, DeviceError for a number without a device.
  static Device parse(std::string_view text);

  /// Its kind.
  device_kind kind() const { return kind_; }
  /// Number of the offload device; 0 for the others.
  int index() const { return index_; }
  /// Whether it is a suggestion of best(), and not a device that you named. A named device does the work, or the call
  /// throws.
  bool automatic() const { return automatic_; }
  /// Whether a pointer of the host can be used in a kernel there.
  bool shares_host_memory() const { return kind_ != device_kind::offload; }
  /// For people: processor or GPU name. Reads a file of the system or asks the driver: not for loops.
  std::string name() const;
  /// "host", "emulated" or the number: the text for parse().
  std::string spelling() const;
  /// All the memory it has, in bytes, in use or not; 0 when that is not known. Asks the system: not for loops.
  std::int64_t memory_bytes() const;

  /// The same kind and number.
  friend bool operator==(const Device& a, const Device& b) { return a.kind_ == b.kind_ && a.index_ == b.index_; }

 private:
  Device(device_kind kind, int index) : kind_(kind), index_(index) {}
  device_kind kind_ = device_kind::host;
  bool automatic_ = false;
  int index_ = 0;
};

/// Number of host threads that kernels use from now on, >= 1, whichever thread calls them; 0 brings back the default
/// (OMP_NUM_THREADS or all cores). Results do not depend on it. Throws InvalidArgument when negative. O(1).
void set_threads(int count);
/// Number of host threads that kernels use, >= 1. O(1).
int threads();

}  // namespace quintet
