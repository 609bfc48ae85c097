#include "quintet/device/device.hpp"

#include <dlfcn.h>
#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <fstream>
#include <system_error>

#include "core/platform.hpp"
#include "device/gpu_names.hpp"
#include "device/host_threads.hpp"
#include "device/one_runtime.hpp"
#include "device/one_thread.hpp"
#include "device/team.hpp"
#include "quintet/core/error.hpp"
#include "quintet/device/thread_scope.hpp"

namespace quintet {

namespace {

std::atomic<int> thread_count{0};
thread_local int one_thread_scopes = 0;
thread_local int own_thread_count = 0;  // of the innermost thread_scope

std::string processor_name() {
#if QUINTET_LINUX
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
#endif
  return "host processor";
}

#ifdef QUINTET_GCC_THREADS

}  // namespace

void device::detail::refuse_emulation() {
  throw DeviceError("device emulated is not available: this build has none (QUINTET_HOST_THREADS=gcc)");
}

namespace {

// Two runtimes do no harm here (host_threads.h).
bool check_runtimes() { return true; }

int default_threads() { return quintet_max_threads(); }

bool is_single_threaded() { return quintet_is_forked() != 0; }

#else

std::string library_of(const char* function) {
  const void* address = ::dlsym(RTLD_DEFAULT, function);
  Dl_info info;
  return address != nullptr && ::dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "unknown";
}

// In a program with the runtimes of two compilers the one that was linked first answers omp_get_thread_num() and all
// others, and the one of this library's compiler runs its parallel regions. Then every thread is number 0: results
// would be wrong, and barriers wait for ever.
bool check_runtimes() {
  const int outside = omp_get_level();
  int inside = outside;
#pragma omp parallel num_threads(1)
  inside = omp_get_level();
  if (inside == outside + 1) return true;
#if defined(__clang__)
  constexpr const char* fork = "__kmpc_fork_call";
#else
  constexpr const char* fork = "GOMP_parallel";
#endif
  throw DeviceError(text("two OpenMP runtimes are in this program: parallel regions of quintet run in ",
                         library_of(fork), ", and omp_get_thread_num() is that of ", library_of("omp_get_thread_num"),
                         ", which was linked or loaded before it; build quintet with the compiler of the program, or "
                         "link its runtime first (docs/threads.md)"));
}

int default_threads() { return omp_get_max_threads(); }

constexpr bool is_single_threaded() { return false; }

#endif

std::int64_t host_memory_bytes() { return std::int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE); }

}  // namespace

void detail::require_one_runtime() { [[maybe_unused]] static const bool checked = check_runtimes(); }

void set_threads(int count) {
  require_argument(count >= 0, "threads", count, ">= 0");
  thread_count = count;
}

thread_scope::thread_scope(int count) : before_(own_thread_count) {
  require_argument(count >= 0, "threads", count, ">= 0");
  own_thread_count = count;
}
thread_scope::~thread_scope() { own_thread_count = before_; }

device::one_thread::one_thread() { ++one_thread_scopes; }
device::one_thread::~one_thread() { --one_thread_scopes; }

int threads() {
  if (one_thread_scopes > 0 || is_single_threaded()) return 1;
  detail::require_one_runtime();
  const int count = own_thread_count > 0 ? own_thread_count : thread_count.load();
  return count > 0 ? count : default_threads();
}

int Device::count() {
#ifdef QUINTET_OFFLOAD
  return omp_get_num_devices();
#else
  return 0;
#endif
}

Device Device::offload(int index) {
  const int devices = count();
  if (index < 0 || index >= devices) {
#ifdef QUINTET_OFFLOAD
    const std::string reason = devices == 0 ? "no offload device was found on this machine"
                                            : text("the offload devices here are 0 to ", devices - 1);
#else
    const std::string reason = "this build is for the host only (configure with QUINTET_OFFLOAD_ARCH)";
#endif
    throw DeviceError(text("device ", index, " is not available: ", reason));
  }
  return Device(device_kind::offload, index);
}

std::vector<Device> Device::all() {
  std::vector<Device> devices{host()};
  for (int i = 0; i < count(); ++i) devices.push_back(Device(device_kind::offload, i));
  return devices;
}

Device Device::best() {
  Device device = detail::offload_is_gpu() && count() > 0 ? Device(device_kind::offload, 0) : host();
  device.automatic_ = true;
  return device;
}

Device Device::parse(std::string_view value) {
  if (value == "auto") return best();
  if (value == "host") return host();
  if (value == "emulated") {
#ifdef QUINTET_GCC_THREADS
    device::detail::refuse_emulation();
#endif
    return emulated();
  }
  constexpr std::string_view prefix = "offload:";
  const std::string_view digits = value.starts_with(prefix) ? value.substr(prefix.size()) : value;
  int index = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  const bool number = error == std::errc() && end == digits.data() + digits.size() && index >= 0;
  require_argument(number, "device", value, "auto, host, emulated, or an offload device as NUMBER or offload:NUMBER");
  return offload(index);
}

std::string Device::name() const {
  switch (kind_) {
    case device_kind::host:
      return processor_name();
    case device_kind::emulated:
      return "emulated device on " + processor_name();
    case device_kind::offload:
      break;
  }
  return detail::gpu_name(index_);
}

std::string Device::spelling() const {
  if (kind_ == device_kind::host) return "host";
  return kind_ == device_kind::emulated ? "emulated" : text(index_);
}

std::int64_t Device::memory_bytes() const {
  return kind_ == device_kind::offload && detail::offload_is_gpu() ? detail::gpu_memory_bytes(index_)
                                                                   : host_memory_bytes();
}

void device::host_team::pause() { sched_yield(); }

}  // namespace quintet
