#include "device/gpu_names.hpp"

#include <dlfcn.h>

#include "quintet/core/error.hpp"

namespace quintet::detail {

namespace {

// The drivers are opened at run time, so that a program built for GPUs starts on machines without them.
template <class Function>
Function* driver_function(const char* library, const char* symbol) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  return handle ? reinterpret_cast<Function*>(dlsym(handle, symbol)) : nullptr;
}

struct gpu_facts {
  std::string name;
  std::int64_t memory_bytes = 0;
};

bool ask_cuda(int index, gpu_facts& facts) {
  constexpr const char* library = "libcuda.so.1";
  const auto init = driver_function<int(unsigned)>(library, "cuInit");
  const auto get = driver_function<int(int*, int)>(library, "cuDeviceGet");
  const auto name = driver_function<int(char*, int, int)>(library, "cuDeviceGetName");
  const auto memory = driver_function<int(std::size_t*, int)>(library, "cuDeviceTotalMem_v2");
  if (!init || !get || !name || !memory || init(0) != 0) return false;
  int device = 0;
  char text[256] = {};
  std::size_t bytes = 0;
  if (get(&device, index) != 0 || name(text, sizeof text, device) != 0 || memory(&bytes, device) != 0) return false;
  facts = {text, std::int64_t(bytes)};
  return true;
}

bool ask_hip(int index, gpu_facts& facts) {
  constexpr const char* library = "libamdhip64.so";
  const auto name = driver_function<int(char*, int, int)>(library, "hipDeviceGetName");
  const auto memory = driver_function<int(std::size_t*, int)>(library, "hipDeviceTotalMem");
  char text[256] = {};
  std::size_t bytes = 0;
  if (!name || !memory || name(text, sizeof text, index) != 0 || memory(&bytes, index) != 0) return false;
  facts = {text, std::int64_t(bytes)};
  return true;
}

gpu_facts ask_drivers(int index) {
  gpu_facts facts{text("offload device ", index), 0};
  if (offload_is_gpu() && !ask_cuda(index, facts)) ask_hip(index, facts);
  return facts;
}

}  // namespace

bool offload_is_gpu() {
#if defined(QUINTET_OFFLOAD) && !defined(QUINTET_OFFLOAD_EMULATION)
  return true;
#else
  return false;
#endif
}

std::string gpu_name(int index) { return ask_drivers(index).name; }
std::int64_t gpu_memory_bytes(int index) { return ask_drivers(index).memory_bytes; }

}  // namespace quintet::detail
