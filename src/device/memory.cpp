// Memory of devices: allocation and copies.
#include <omp.h>

#include <atomic>
#include <cstring>
#include <new>

#include "core/host_memory.hpp"
#include "quintet/device/buffer.hpp"

namespace quintet::detail {

namespace {
std::atomic<std::int64_t> transfers{0};
}

std::int64_t transferred_bytes() noexcept { return transfers; }

void* allocate(std::int64_t bytes, const Device& device) {
  if (bytes == 0) return nullptr;
  void* data = nullptr;
  if (device.shares_host_memory()) {
    require_host_memory(bytes);
    data = ::operator new(static_cast<std::size_t>(bytes), std::align_val_t{64}, std::nothrow);
  }
#ifdef QUINTET_OFFLOAD
  else
    data = omp_target_alloc(static_cast<std::size_t>(bytes), device.index());
#endif
  if (data == nullptr) throw OutOfMemory(bytes, device.name());
  return data;
}

void release(void* data, const Device& device) noexcept {
  if (data == nullptr) return;
  if (device.shares_host_memory()) ::operator delete(data, std::align_val_t{64});
#ifdef QUINTET_OFFLOAD
  else
    omp_target_free(data, device.index());
#endif
}

void copy(void* to, const Device& to_device, const void* from, const Device& from_device, std::int64_t bytes) {
  if (bytes == 0) return;
  if (to_device != from_device) transfers += bytes;
  if (to_device.shares_host_memory() && from_device.shares_host_memory()) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
#ifdef QUINTET_OFFLOAD
  const int host = omp_get_initial_device();
  const int target = to_device.shares_host_memory() ? host : to_device.index();
  const int source = from_device.shares_host_memory() ? host : from_device.index();
  if (omp_target_memcpy(to, from, static_cast<std::size_t>(bytes), 0, 0, target, source) != 0)
    throw DeviceError(text("copying ", bytes, " bytes from ", from_device.name(), " to ", to_device.name(), " failed"));
#endif
}

}  // namespace quintet::detail
