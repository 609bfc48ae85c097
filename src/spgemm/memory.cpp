#include "quintet/spgemm/memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>
#if defined(__unix__)
#include <sys/mman.h>
#endif

#include "core/host_memory.hpp"
#include "core/platform.hpp"
#include "quintet/core/error.hpp"
#include "quintet/device/buffer.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define QUINTET_ADDRESS_SANITIZER
#endif
#endif

namespace quintet::spgemm {

namespace {

// Below this the C library has the memory. A page that the system gives anew costs as much as the 300 or so entries of
// a result that fit into it, so mappings are kept for the next product: small ones as they are, the pages of large ones
// for the system to take when it needs memory. It counts such pages as available. Sanitizers see the blocks of the C
// library only.
#if defined(__SANITIZE_ADDRESS__) || defined(QUINTET_ADDRESS_SANITIZER)
constexpr std::int64_t mapped_bytes = INT64_MAX;
#else
constexpr std::int64_t mapped_bytes = std::int64_t{64} << 10;
#endif
constexpr std::int64_t page = 4096;
// Mappings of at most so much are usable as a whole, and so much is not given back: a call of the system costs as much
// as writing some ten kilobytes, and what nobody has written is no memory anyway.
constexpr std::int64_t slack_bytes = std::int64_t{1} << 20;

std::int64_t whole_pages(std::int64_t bytes) { return (bytes + page - 1) / page * page; }

[[noreturn]] void fail(std::int64_t bytes) { throw OutOfMemory(bytes, "host"); }

// Mappings begin with a page; blocks of the C library are kept from it, so the address tells which is which. The
// pointer that the library knows stands before the block.
bool is_mapped(const void* data) { return reinterpret_cast<std::uintptr_t>(data) % page == 0; }

struct block_head {
  void* raw;
  std::int64_t unused;
};
constexpr std::int64_t head_bytes = sizeof(block_head);

block_head& head_of(void* data) { return static_cast<block_head*>(data)[-1]; }

/// Where the block begins in what the library gave.
void* place_in(void* raw) {
  block_head* place = static_cast<block_head*>(raw) + 1;
  if (is_mapped(place)) ++place;
  return place;
}

#if defined(__unix__)
// The mappings in use, and some that no longer are.
class mappings {
 public:
  mappings() { cached_.reserve(max_kept + 1); }
  void* take(std::int64_t bytes) {
    const std::int64_t length = whole_pages(bytes);
    if (void* const data = take_kept(length); data != nullptr) return data;
    const bool whole = length <= slack_bytes;
    void* data = map(length, whole);
    if (data == MAP_FAILED && drop_kept()) data = map(length, whole);
    if (data == MAP_FAILED) fail(bytes);
#if QUINTET_LINUX
    if (!whole) ::madvise(data, std::size_t(length), MADV_HUGEPAGE);
#endif
    try {
      const std::lock_guard guard(lock_);
      used_.emplace(data, mapping{data, length, whole ? length : 0});
    } catch (const std::bad_alloc&) {
      ::munmap(data, std::size_t(length));
      throw;
    }
    return data;
  }
  /// Makes the first `bytes` usable.
  void commit(void* data, std::int64_t bytes) {
    mapping& m = of(data);
    const std::int64_t end = whole_pages(bytes);
    if (end <= m.usable) return;
    try {
      require_host_memory(end - m.usable);
    } catch (const OutOfMemory&) {
      if (!drop_kept()) throw;
      require_host_memory(end - m.usable);
    }
    if (::mprotect(static_cast<char*>(data) + m.usable, std::size_t(end - m.usable), PROT_READ | PROT_WRITE) != 0)
      fail(end - m.usable);
    m.usable = end;
  }
  /// Gives back the memory, not the addresses, behind `bytes`.
  void trim(void* data, std::int64_t bytes) {
    mapping& m = of(data);
    const std::int64_t end = whole_pages(bytes);
    if (m.usable - end <= slack_bytes) return;
    if (::mmap(static_cast<char*>(data) + end, std::size_t(m.usable - end), PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
      m.usable = end;
  }
  void give(void* data) {
    const mapping released = of(data);
    const bool is_offered = released.is_offered();
#if QUINTET_LINUX
    if (is_offered) ::madvise(data, std::size_t(released.usable), MADV_FREE);
#endif
    mapping out[max_kept + 1];
    int count = 0;
    {
      const std::lock_guard guard(lock_);
      used_.erase(data);
      cached_.push_back(released);
      kept_bytes_[is_offered] += released.usable;
      while (kept_bytes_[is_offered] > max_kept_bytes[is_offered] ||
             cached_.size() > max_kept) {  // the oldest go first
        const bool too_many = cached_.size() > max_kept;
        out[count++] = remove(std::find_if(cached_.begin(), cached_.end(),
                                           [&](const mapping& m) { return too_many || m.is_offered() == is_offered; }));
      }
    }
    for (int m = 0; m < count; ++m) ::munmap(out[m].data, std::size_t(out[m].length));
  }

 private:
  struct mapping {
    void* data;
    std::int64_t length, usable;  // bytes of addresses, and how many of the first of them are memory
    /// Whether the system may have the pages while the mapping is kept. The call takes some time for each page, which
    /// results of a few milliseconds would notice.
    bool is_offered() const { return QUINTET_LINUX != 0 && usable > std::int64_t{32} << 20; }
  };
  /// Of those whose pages stay, and of those that are offered.
  static constexpr std::int64_t max_kept_bytes[2] = {std::int64_t{64} << 20, std::int64_t{4} << 30};
  static constexpr std::size_t max_kept = 32;

  static void* map(std::int64_t length, bool usable) {
    return ::mmap(nullptr, std::size_t(length), usable ? PROT_READ | PROT_WRITE : PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  /// One that is kept, or null.
  void* take_kept(std::int64_t length) {
    mapping block{};
    {
      const std::lock_guard guard(lock_);
      auto best = cached_.end();  // the smallest that is large enough, unless it is much too large
      for (auto m = cached_.begin(); m != cached_.end(); ++m)
        if (m->length >= length && m->usable <= 2 * length && (best == cached_.end() || m->length < best->length))
          best = m;
      if (best == cached_.end()) return nullptr;
      used_.emplace(best->data, *best);  // before anything changes: it may throw
      block = remove(best);
    }
    // The system may have the pages by now, and not as many others.
    if (!block.is_offered() || has_memory(block.usable)) return block.data;
    const std::lock_guard guard(lock_);
    used_.erase(block.data);
    ::munmap(block.data, std::size_t(block.length));
    return nullptr;
  }
  static bool has_memory(std::int64_t bytes) {
    try {
      require_host_memory(bytes);
    } catch (const OutOfMemory&) {
      return false;
    }
    return true;
  }
  mapping remove(std::vector<mapping>::iterator place) {
    const mapping removed = *place;
    kept_bytes_[removed.is_offered()] -= removed.usable;
    cached_.erase(place);
    return removed;
  }
  /// Gives all back that is kept; whether there was something.
  bool drop_kept() {
    const std::lock_guard guard(lock_);
    for (const mapping& m : cached_) ::munmap(m.data, std::size_t(m.length));
    const bool was_some = !cached_.empty();
    cached_.clear();
    kept_bytes_[0] = kept_bytes_[1] = 0;
    return was_some;
  }

  // A mapping belongs to one thread at a time, its place in the table to all.
  mapping& of(void* data) {
    const std::lock_guard guard(lock_);
    return used_.find(data)->second;
  }

  std::mutex lock_;
  std::unordered_map<void*, mapping> used_;
  std::vector<mapping> cached_;
  std::int64_t kept_bytes_[2] = {};
};

mappings& all_mappings() {
  static mappings* const all = new mappings;  // results may outlive the objects of this file
  return *all;
}
#endif

}  // namespace

void* memory_source::reserve(std::int64_t bytes) {
#if defined(__unix__)
  if (bytes >= mapped_bytes) {
    try {
      return all_mappings().take(bytes);
    } catch (const std::bad_alloc&) {
      fail(bytes);
    }
  }
#endif
  void* raw = std::malloc(std::size_t(bytes + 2 * head_bytes));
  if (raw == nullptr) fail(bytes);
  void* place = place_in(raw);
  head_of(place).raw = raw;
  return place;
}

void memory_source::commit([[maybe_unused]] void* data, std::int64_t, std::int64_t, [[maybe_unused]] std::int64_t to) {
  if (!is_mapped(data)) return;  // malloc gave them with the addresses
#if defined(__unix__)
  all_mappings().commit(data, to);
#endif
}

void* memory_source::trim(void* data, std::int64_t, std::int64_t, std::int64_t keep) {
#if defined(__unix__)
  if (is_mapped(data)) {
    all_mappings().trim(data, keep);
    return data;
  }
#endif
  void* const old = head_of(data).raw;
  const std::int64_t offset = static_cast<char*>(data) - static_cast<char*>(old);
  void* raw = std::realloc(old, std::size_t(keep + 2 * head_bytes));
  if (raw == nullptr) return data;
  void* place = place_in(raw);
  // The data moved with the block; where they begin in it may have changed by a head, which lies on them until then.
  const std::int64_t new_offset = static_cast<char*>(place) - static_cast<char*>(raw);
  if (new_offset != offset) __builtin_memmove(place, static_cast<char*>(raw) + offset, std::size_t(keep));
  head_of(place).raw = raw;
  return place;
}

void memory_source::release(void* data, std::int64_t, std::int64_t) noexcept {
#if defined(__unix__)
  if (is_mapped(data)) return all_mappings().give(data);
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
