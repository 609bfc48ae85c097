// Memory of devices: allocation and copies.
#include <omp.h>

#include <atomic>
#include <cstring>
#include <new>

#include "core/host_memory.hpp"
#include "quintet/device/buffer.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define QUINTET_ADDRESS_SANITIZER
#endif
#endif

namespace quintet::detail {

namespace {
std::atomic<std::int64_t> transfers{0};

// Objects that come and go by the thousand, each with buffers of a few hundred kilobytes, would spend their time on
// pages that the system gives anew: blocks of host memory that a thread gives back are kept for its next ones. Before
// a block stands its class. Sizes are powers of two and three steps in between: a quarter is wasted at most.
struct block_head {
  std::int64_t size_class;
  char unused[56];
};
static_assert(sizeof(block_head) == 64, "blocks are aligned to 64");

constexpr int no_class = -1, classes = 4 * 17, block_step = 4;
constexpr std::int64_t min_block = 64, max_pooled = std::int64_t{32} << 20;

constexpr std::int64_t class_bytes(int c) {
  return (min_block << (c / block_step)) * (block_step + c % block_step) / block_step;
}

int class_of(std::int64_t bytes) {
#if defined(__SANITIZE_ADDRESS__) || defined(QUINTET_ADDRESS_SANITIZER)
  return no_class;  // it is to see every block begin and end
#endif
  if (bytes > class_bytes(classes - 1)) return no_class;
  int c = 0;
  while (class_bytes(c + block_step) < bytes) c += block_step;
  while (class_bytes(c) < bytes) ++c;
  return c;
}

void* block_from_system(std::int64_t bytes) noexcept {
  return ::operator new(static_cast<std::size_t>(bytes) + sizeof(block_head), std::align_val_t{64}, std::nothrow);
}
void block_to_system(void* head) noexcept { ::operator delete(head, std::align_val_t{64}); }

class block_pool {
 public:
  ~block_pool();
  block_head* take(int c) noexcept {
    free_block* first = first_[c];
    if (first == nullptr) return nullptr;
    first_[c] = first->next;
    bytes_ -= class_bytes(c);
    return reinterpret_cast<block_head*>(first);
  }
  bool give(block_head* head) noexcept {
    const int c = int(head->size_class);
    if (bytes_ + class_bytes(c) > max_pooled) return false;
    bytes_ += class_bytes(c);
    first_[c] = new (head) free_block{first_[c]};
    return true;
  }

 private:
  struct free_block {
    free_block* next;
  };
  free_block* first_[classes] = {};
  std::int64_t bytes_ = 0;
};

// Buffers may outlive the pool of a thread that ends.
thread_local bool pool_is_gone = false;
thread_local block_pool pool;

block_pool::~block_pool() {
  pool_is_gone = true;
  for (free_block* first : first_)
    while (first != nullptr) {
      free_block* const next = first->next;
      block_to_system(first);
      first = next;
    }
}

void* allocate_on_host(std::int64_t bytes) noexcept {
  const int c = class_of(bytes);
  block_head* head = c != no_class && !pool_is_gone ? pool.take(c) : nullptr;
  if (head == nullptr) head = static_cast<block_head*>(block_from_system(c == no_class ? bytes : class_bytes(c)));
  if (head == nullptr) return nullptr;
  head->size_class = c;
  return head + 1;
}

void release_on_host(void* data) noexcept {
  block_head* const head = static_cast<block_head*>(data) - 1;
  if (head->size_class == no_class || pool_is_gone || !pool.give(head)) block_to_system(head);
}

}  // namespace

std::int64_t transferred_bytes() noexcept { return transfers; }

void* allocate(std::int64_t bytes, const Device& device) {
  if (bytes == 0) return nullptr;
  void* data = nullptr;
  if (device.shares_host_memory()) {
    require_host_memory(bytes, device);
    data = allocate_on_host(bytes);
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
  if (device.shares_host_memory()) release_on_host(data);
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
