// The team that runs one tile of a kernel: one host thread, or a block of device threads.
//
// A kernel must be right for any team size: loops over work are strided by team.size(), and every thread of the team
// reaches every barrier. Collective operations take their storage from the kernel's scratch, which lies in team memory.
#pragma once

#ifdef _OPENMP
#include <omp.h>
#endif

#include <sched.h>

#include <cstdint>

namespace quintet::device {

/// One thread with SIMD lanes. Collectives cost nothing.
struct host_team {
  enum { on_device = 0 };
  int rank() const { return 0; }
  int size() const { return 1; }
  void barrier() const {}

  /// Spins until `*lock` (0 = free) is taken. For merging into data that several teams write; the merged result must
  /// not depend on the order.
  void lock(std::int32_t* lock) const {
    for (int spins = 0; __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) != 0; ++spins)
      if (spins >= 64) pause();
  }
  void unlock(std::int32_t* lock) const { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }

 private:
  static void pause();
};

/// The threads of one block: OpenMP threads of the innermost parallel region, in CUDA's terms threadIdx and blockDim.
struct device_team {
  enum { on_device = 1 };
  int rank() const { return omp_get_thread_num(); }
  int size() const { return omp_get_num_threads(); }
  void barrier() const {
#pragma omp barrier
  }

  /// The same for all threads of the team together, which all call it. A team that holds the lock is running, so those
  /// that wait for it do not stop it. On GPUs the exchange and the store are relaxed, as LLVM 19 translates no others
  /// for NVIDIA's, and flushes (membar.gl) order what lies between.
  void lock(std::int32_t* lock) const {
    if (rank() == 0) {
#if defined(__NVPTX__) || defined(__AMDGCN__)
      while (__atomic_exchange_n(lock, 1, __ATOMIC_RELAXED) != 0) {
      }
#pragma omp flush
#else
      while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) != 0) sched_yield();
#endif
    }
    barrier();
  }
  void unlock(std::int32_t* lock) const {
    barrier();
    if (rank() == 0) {
#if defined(__NVPTX__) || defined(__AMDGCN__)
#pragma omp flush
      __atomic_store_n(lock, 0, __ATOMIC_RELAXED);
#else
      __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
#endif
    }
  }
};

/// Calls f(i, j) for 0 <= i < rows, 0 <= j < Columns, j fastest: neighbouring lanes and threads differ in j.
template <int Columns, class Team, class Function>
inline void for_each_in_tile(const Team& team, int rows, Function f) {
  if constexpr (Team::on_device) {
    for (int e = team.rank(); e < rows * Columns; e += team.size()) f(e / Columns, e % Columns);
  } else {
    for (int i = 0; i < rows; ++i)
#pragma omp simd
      for (int j = 0; j < Columns; ++j) f(i, j);
  }
}

/// Values that reduce() combines before it combines their results: a chain of k equal terms errs by up to k / 8 eps.
enum { values_of_block = 16 };

/// Every thread's `value`, combined in the order of the ranks by blocks of values_of_block; every thread gets the
/// result. `combine` must be associative but for rounding. `storage` has at least team.size() elements of team memory
/// and may be used again afterwards.
template <class Team, class Value, class Combine>
Value reduce(const Team& team, Value value, Combine combine, Value* storage) {
  if constexpr (!Team::on_device) {
    return value;
  } else {
    storage[team.rank()] = value;
    team.barrier();
    Value total = storage[0];
    for (int first = 0; first < team.size(); first += values_of_block) {
      const int last = team.size() - first > values_of_block ? first + values_of_block : team.size();
      Value block = storage[first];
      for (int r = first + 1; r < last; ++r) block = combine(block, storage[r]);
      total = first == 0 ? block : combine(total, block);
    }
    team.barrier();
    return total;
  }
}

/// The `value` of thread `root`, for every thread. `storage`: one element of team memory.
template <class Team, class Value>
Value broadcast(const Team& team, Value value, int root, Value* storage) {
  if constexpr (!Team::on_device) {
    return value;
  } else {
    if (team.rank() == root) *storage = value;
    team.barrier();
    const Value result = *storage;
    team.barrier();
    return result;
  }
}

namespace detail {
#if defined(__NVPTX__)
/// Exchanges with the lane whose number differs by `mask`; all 32 lanes of the warp take part.
inline float shuffle_xor(float value, int mask) { return __nvvm_shfl_sync_bfly_f32(0xffffffffu, value, mask, 31); }
inline std::int32_t shuffle_xor(std::int32_t value, int mask) {
  return __nvvm_shfl_sync_bfly_i32(0xffffffffu, value, mask, 31);
}
inline double shuffle_xor(double value, int mask) {
  std::int32_t half[2];
  __builtin_memcpy(half, &value, sizeof value);
  half[0] = shuffle_xor(half[0], mask);
  half[1] = shuffle_xor(half[1], mask);
  __builtin_memcpy(&value, half, sizeof value);
  return value;
}
#endif
}  // namespace detail

/// Combines the values of each group of Width threads with consecutive ranks (Width a power of two that divides
/// team.size()) by a butterfly, and gives every thread its group's result. `combine` must be commutative; the tree is
/// the same on every device, so the bits are too. All threads of the team take part. `storage`: team.size() elements.
template <int Width, class Team, class Value, class Combine>
Value subgroup_reduce(const Team& team, Value value, Combine combine, [[maybe_unused]] Value* storage) {
  static_assert(Width > 0 && (Width & (Width - 1)) == 0, "Width must be a power of two");
  if constexpr (!Team::on_device || Width == 1) {
    return value;
  } else {
#if defined(__NVPTX__)
    if constexpr (Width <= 32) {
#pragma unroll
      for (int mask = 1; mask < Width; mask *= 2) value = combine(value, detail::shuffle_xor(value, mask));
      return value;
    }
#endif
    for (int mask = 1; mask < Width; mask *= 2) {
      storage[team.rank()] = value;
      team.barrier();
      const Value other = storage[team.rank() ^ mask];
      team.barrier();
      value = combine(value, other);
    }
    return value;
  }
}

}  // namespace quintet::device
