#include "quintet/spgemm/memory.hpp"

#include <cstdlib>
#if defined(__unix__)
#include <sys/mman.h>
#endif

#include "quintet/core/error.hpp"
#include "quintet/device/buffer.hpp"

namespace quintet::spgemm {

namespace {

// Below this the C library keeps and reuses the memory, which saves the system the clearing of pages.
constexpr std::int64_t mapped_bytes = std::int64_t{32} << 20;
constexpr std::int64_t page = 4096;

std::int64_t whole_pages(std::int64_t bytes) { return (bytes + page - 1) / page * page; }

[[noreturn]] void fail(std::int64_t bytes) { throw OutOfMemory(bytes, "host"); }

// Mappings begin with a page; blocks of the C library are kept from it, so the address tells which is which, however
// much of a mapping has been given back. The pointer that the library knows stands before the block.
bool is_mapped(const void* data) { return reinterpret_cast<std::uintptr_t>(data) % page == 0; }

struct block_head {
  void* raw;
  std::int64_t unused;
};
constexpr std::int64_t head_bytes = sizeof(block_head);

block_head& head_of(void* data) { return static_cast<block_head*>(data)[-1]; }

void* with_head(void* raw) {
  block_head* place = static_cast<block_head*>(raw) + 1;
  if (is_mapped(place)) ++place;
  place[-1].raw = raw;
  return place;
}

}  // namespace

void* memory_source::reserve(std::int64_t bytes) {
#if defined(__unix__)
  if (bytes >= mapped_bytes) {
    void* data = ::mmap(nullptr, std::size_t(whole_pages(bytes)), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) fail(bytes);
#ifdef MADV_HUGEPAGE
    ::madvise(data, std::size_t(whole_pages(bytes)), MADV_HUGEPAGE);
#endif
    return data;
  }
#endif
  void* raw = std::malloc(std::size_t(bytes + 2 * head_bytes));
  if (raw == nullptr) fail(bytes);
  return with_head(raw);
}

void memory_source::commit([[maybe_unused]] void* data, std::int64_t, [[maybe_unused]] std::int64_t from,
                           [[maybe_unused]] std::int64_t to) {
  if (!is_mapped(data)) return;  // malloc gave them with the addresses
#if defined(__unix__)
  const std::int64_t first = from / page * page;
  if (::mprotect(static_cast<char*>(data) + first, std::size_t(whole_pages(to) - first), PROT_READ | PROT_WRITE) != 0)
    fail(to - from);
#endif
}

void* memory_source::trim(void* data, [[maybe_unused]] std::int64_t reserved, std::int64_t, std::int64_t keep) {
#if defined(__unix__)
  if (is_mapped(data)) {
    const std::int64_t first = whole_pages(keep), last = whole_pages(reserved);
    if (last > first) ::munmap(static_cast<char*>(data) + first, std::size_t(last - first));
    return data;
  }
#endif
  void* const old = head_of(data).raw;
  const std::int64_t offset = static_cast<char*>(data) - static_cast<char*>(old);
  void* raw = std::realloc(old, std::size_t(keep + 2 * head_bytes));
  if (raw == nullptr) return data;
  void* place = with_head(raw);
  // The data moved with the block; where they begin in it may have changed by a head.
  const std::int64_t now = static_cast<char*>(place) - static_cast<char*>(raw);
  if (now != offset) __builtin_memmove(place, static_cast<char*>(raw) + offset, std::size_t(keep));
  head_of(place).raw = raw;
  return place;
}

void memory_source::release(void* data, [[maybe_unused]] std::int64_t reserved, std::int64_t) noexcept {
#if defined(__unix__)
  if (is_mapped(data)) {
    ::munmap(data, std::size_t(whole_pages(reserved)));
    return;
  }
#endif
  std::free(head_of(data).raw);
}

void* memory_source::allocate(std::int64_t bytes, const Device& device) {
  return quintet::detail::allocate(bytes, device);
}

void memory_source::deallocate(void* data, std::int64_t, const Device& device) noexcept {
  quintet::detail::release(data, device);
}

memory_source& memory_source::standard() {
  static memory_source source;
  return source;
}

}  // namespace quintet::spgemm
