#include "robustness/failing_memory.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> allocated{0}, bytes_asked{0}, live{0}, until_failure{-1};

void* allocate_or_fail(std::size_t bytes, std::size_t alignment) {
  ++allocated;
  bytes_asked += std::int64_t(bytes);
  if (until_failure.load(std::memory_order_relaxed) >= 0 && until_failure-- == 0) return nullptr;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* data = alignment <= alignof(std::max_align_t)
                   ? std::malloc(bytes > 0 ? bytes : 1)
                   : std::aligned_alloc(alignment, rounded > 0 ? rounded : alignment);
  if (data != nullptr) ++live;
  return data;
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* data = allocate_or_fail(bytes, alignment);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}

void give_back(void* data) {
  if (data == nullptr) return;
  --live;
  std::free(data);
}

constexpr std::size_t usual = alignof(std::max_align_t);

}  // namespace

namespace quintet::test {

void fail_allocation_after(std::int64_t countdown) { until_failure = countdown; }
std::int64_t allocation_count() { return allocated; }
std::int64_t allocated_bytes() { return bytes_asked; }
std::int64_t live_allocations() { return live; }

}  // namespace quintet::test

void* operator new(std::size_t n) { return allocate_or_throw(n, usual); }
void* operator new[](std::size_t n) { return allocate_or_throw(n, usual); }
void* operator new(std::size_t n, std::align_val_t a) { return allocate_or_throw(n, std::size_t(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return allocate_or_throw(n, std::size_t(a)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocate_or_fail(n, usual); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocate_or_fail(n, usual); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate_or_fail(n, std::size_t(a));
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate_or_fail(n, std::size_t(a));
}
void operator delete(void* p) noexcept { give_back(p); }
void operator delete[](void* p) noexcept { give_back(p); }
void operator delete(void* p, std::size_t) noexcept { give_back(p); }
void operator delete[](void* p, std::size_t) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete[](void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }
