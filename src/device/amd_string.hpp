// For AMD's GPUs, in front of every source with kernels: clang 19 leaves std::memcpy a call there, of a function that
// no library has. Its builtin is loads and stores.
#pragma once

#if defined(__AMDGCN__)
#include <cstring>

#pragma omp begin declare target
extern "C" {
[[gnu::always_inline]] inline void* memcpy(void* to, const void* from, std::size_t bytes) noexcept {
  return __builtin_memcpy(to, from, bytes);
}
[[gnu::always_inline]] inline void* memset(void* to, int value, std::size_t bytes) noexcept {
  return __builtin_memset(to, value, bytes);
}
}
#pragma omp end declare target
#endif
