// Included by force before the sources of a few kernels (CMakeLists.txt): one product inside them is wrong, the n-th of
// the process, n = QUINTET_SPOILED_TERM. Everything else is the text of the library.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define fma right_fma
#include "device/pack.hpp"
#undef fma
#define plus_times right_plus_times
#include "quintet/spgemm/semiring.hpp"
#undef plus_times

namespace quintet::accuracy {

/// Whether this call is the n-th.
bool is_spoiled();

}  // namespace quintet::accuracy

namespace quintet::device {

template <class A, class B, class C>
inline auto fma(const A& a, const B& b, const C& c) {
  return accuracy::is_spoiled() ? right_fma(a + a, b, c) : right_fma(a, b, c);
}

}  // namespace quintet::device

namespace quintet::spgemm {

struct plus_times : right_plus_times {
  template <class Value>
  static constexpr Value multiply(Value a, Value b) {
    return accuracy::is_spoiled() ? a * b + a * b : a * b;
  }
};
template <>
inline constexpr bool has_kernels<plus_times> = true;

}  // namespace quintet::spgemm
