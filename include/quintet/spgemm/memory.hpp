// Memory of sparse products: replaceable, so that a program can count it, limit it or make it fail.
#pragma once

#include <cstdint>

#include "quintet/device/device.hpp"

namespace quintet::spgemm {

/// The standard source: the C library for small blocks, the system's mapping calls for large ones. Derive from it and
/// call the base from the overrides to count or to refuse; an override refuses by throwing OutOfMemory.
///
/// Host memory comes in two steps. reserve() gives addresses, which cost nothing; commit() makes a part of them usable,
/// and only that counts as memory. So a result can grow in place, up to the known bound of its size, and is never
/// copied to a larger place. Calls come from several threads, for one block from one at a time. Arguments are sizes in
/// bytes that belong together, which the standard source does not check. It keeps up to 64 MB of released memory for
/// the next product, and 4 GB in blocks over 32 MB, which the system takes back when it needs memory (MADV_FREE).
class memory_source {
 public:
  virtual ~memory_source() = default;

  /// Addresses for `bytes` > 0 bytes, aligned to 16. Throws OutOfMemory.
  virtual void* reserve(std::int64_t bytes);
  /// Makes bytes [from, to) of a block usable; [0, from) are already. Throws OutOfMemory.
  virtual void commit(void* data, std::int64_t reserved, std::int64_t from, std::int64_t to);
  /// Gives back the memory behind the first `keep` > 0 bytes; `committed` >= keep bytes were usable. The block may
  /// move. Throws OutOfMemory.
  virtual void* trim(void* data, std::int64_t reserved, std::int64_t committed, std::int64_t keep);
  /// Ends the block that reserve() or trim() gave; `committed` bytes of it are usable.
  virtual void release(void* data, std::int64_t reserved, std::int64_t committed) noexcept;

  /// Memory of a device, aligned to 64. Throws OutOfMemory.
  virtual void* allocate(std::int64_t bytes, const Device& device);
  /// Gives back memory of allocate(), with the same `bytes` and `device`.
  virtual void deallocate(void* data, std::int64_t bytes, const Device& device) noexcept;

  /// The default source. Valid until the program ends.
  static memory_source& standard();
};

}  // namespace quintet::spgemm
