// Arithmetic whose text is the same for one number and for a pack of numbers: comparison gives a mask (bool or a vector
// of integers), choose() selects without a branch.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "device/pack.hpp"

// On a GPU everything becomes one function: a call would put what is passed by reference on a stack.
#if defined(__NVPTX__) || defined(__AMDGCN__)
#define QUINTET_SVD_INLINE __attribute__((always_inline)) inline
#define QUINTET_SVD_INLINE_LAMBDA __attribute__((always_inline))
#else
#define QUINTET_SVD_INLINE inline
#define QUINTET_SVD_INLINE_LAMBDA
#endif

namespace quintet::svd {

template <class Scalar>
using mask_of = decltype(std::declval<Scalar>() < std::declval<Scalar>());

template <class Mask>
QUINTET_SVD_INLINE bool any(const Mask& mask) {
  if constexpr (std::is_same_v<Mask, bool>) {
    return mask;
  } else {
#if defined(__clang__)
    return __builtin_reduce_or(mask) != 0;
#else
    std::int64_t words[sizeof(Mask) / 8], found = 0;
    std::memcpy(words, &mask, sizeof(Mask));
    for (const std::int64_t word : words) found |= word;
    return found != 0;
#endif
  }
}

template <class Mask, class Scalar>
QUINTET_SVD_INLINE Scalar choose(const Mask& mask, const Scalar& yes, const Scalar& no) {
  return mask ? yes : no;
}

template <class Scalar>
QUINTET_SVD_INLINE Scalar absolute(const Scalar& x) {
#if defined(__clang__)
  if constexpr (!std::is_floating_point_v<Scalar>) return __builtin_elementwise_abs(x);
#endif
  return choose(x < Scalar{}, -x, x);
}

template <class Scalar>
QUINTET_SVD_INLINE Scalar larger(const Scalar& a, const Scalar& b) {
  return choose(a < b, b, a);
}

template <class Scalar>
QUINTET_SVD_INLINE Scalar smaller(const Scalar& a, const Scalar& b) {
  return choose(b < a, b, a);
}

template <class Scalar>
QUINTET_SVD_INLINE Scalar root(const Scalar& x) {
  if constexpr (std::is_floating_point_v<Scalar>) {
    return std::sqrt(x);
  } else {
#if defined(__clang__)
    return __builtin_elementwise_sqrt(x);
#else
    Scalar result;
    for (unsigned l = 0; l < sizeof(Scalar) / sizeof(x[0]); ++l) result[l] = std::sqrt(x[l]);
    return result;
#endif
  }
}

/// `value` in every lane.
template <class Scalar, class Real>
QUINTET_SVD_INLINE Scalar same(Real value) {
  return value - Scalar{};
}

/// Lane l of a pack, or the number itself.
template <class Scalar>
QUINTET_SVD_INLINE auto lane_of(const Scalar& value, [[maybe_unused]] int l) {
  if constexpr (std::is_floating_point_v<Scalar>)
    return value;
  else
    return value[l];
}

/// The sum of the lanes, halves added to halves: fewer steps than in order, and as fixed.
template <class Real, class Pack>
QUINTET_SVD_INLINE Real fold_lanes(const Pack& values) {
  if constexpr (std::is_floating_point_v<Pack>) {
    return values;
  } else if constexpr (sizeof(Pack) == 2 * sizeof(Real)) {
    return values[0] + values[1];
  } else {
    device::pack<Real, int(sizeof(Pack) / sizeof(Real) / 2)> half[2];
    std::memcpy(half, &values, sizeof(Pack));
    half[0] += half[1];
    return fold_lanes<Real>(half[0]);
  }
}

/// The type of the numbers in a pack, or of the number itself.
template <class Scalar>
using real_of =
    std::conditional_t<std::is_floating_point_v<Scalar>, Scalar, std::remove_cvref_t<decltype(lane_of(Scalar{}, 0))>>;

template <class Scalar>
constexpr bool is_single = sizeof(real_of<Scalar>) == sizeof(float);

/// The bits of a number or a pack as integers, for operations on single bits.
template <class Scalar>
using integers_of = device::pack<std::conditional_t<is_single<Scalar>, std::int32_t, std::int64_t>,
                                 int(sizeof(Scalar) / sizeof(real_of<Scalar>))>;

/// x with its sign changed where `by` is negative (or -0).
template <class Scalar>
QUINTET_SVD_INLINE Scalar flip_sign(const Scalar& x, const Scalar& by) {
  using integers = integers_of<Scalar>;
  using integer = std::conditional_t<is_single<Scalar>, std::int32_t, std::int64_t>;
  integers bits, sign;
  std::memcpy(&bits, &x, sizeof(Scalar));
  std::memcpy(&sign, &by, sizeof(Scalar));
  bits ^= sign & std::numeric_limits<integer>::min();
  Scalar flipped;
  std::memcpy(&flipped, &bits, sizeof(Scalar));
  return flipped;
}

/// The power of two at or below a normal positive number: its sign and significand bits cleared.
template <class Scalar>
QUINTET_SVD_INLINE Scalar power_of_two_below(const Scalar& x) {
  using integers = integers_of<Scalar>;
  using integer = std::conditional_t<is_single<Scalar>, std::int32_t, std::int64_t>;
  constexpr integer exponent_bits = is_single<Scalar> ? integer(0x7f800000) : integer(0x7ff0000000000000);
  integers bits;
  std::memcpy(&bits, &x, sizeof(Scalar));
  bits &= exponent_bits;
  Scalar power;
  std::memcpy(&power, &bits, sizeof(Scalar));
  return power;
}

}  // namespace quintet::svd
