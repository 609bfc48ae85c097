// pack<Real, W>: W values side by side. A SIMD register on the host (a compiler vector type), one value in a GPU
// thread.
//
// Register tiles are made of packs because compilers unroll constant inner loops before their vectoriser sees them:
// the same tile left to `omp simd` was measured ten times slower.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#if !defined(__clang__) && defined(__FMA__)
#include <immintrin.h>
#endif

namespace quintet::device {

template <class Real, int W>
struct pack_of {
  typedef Real type __attribute__((vector_size(sizeof(Real) * W)));
};
template <class Real>
struct pack_of<Real, 1> {
  typedef Real type;
};
template <class Real, int W>
using pack = typename pack_of<Real, W>::type;

/// Reads a pack from memory of any alignment.
template <class Pack, class Real>
inline Pack load_pack(const Real* from) {
  Pack value;
  std::memcpy(&value, from, sizeof(Pack));
  return value;
}

/// Reads a pack of Real from numbers of another type.
template <class Pack, class Real, class Storage>
inline Pack convert_pack(const Storage* from) {
  constexpr int lanes = sizeof(Pack) / sizeof(Real);
  Real values[lanes];
  for (int e = 0; e < lanes; ++e) values[e] = Real(from[e]);
  return load_pack<Pack>(values);
}

template <class Pack, class Real>
inline void store_pack(Real* to, const Pack& value) {
  std::memcpy(to, &value, sizeof(Pack));
}

/// All lanes equal to `value`. (Adding to an all-zero pack would turn -0 into +0; subtracting a zero does not.)
template <class Pack, class Real>
inline Pack broadcast_pack(Real value) {
  return value - Pack{};
}

namespace detail {

/// Whether the processor multiplies and adds with one rounding.
constexpr bool has_fma =
#if defined(__FMA__) || defined(__aarch64__) || defined(__NVPTX__) || defined(__AMDGCN__)
    true;
#else
    false;
#endif

/// a * b + c with one rounding, of packs or numbers of one type, by the instruction for it.
template <class Value>
inline Value fma_instruction(const Value& a, const Value& b, const Value& c) {
  if constexpr (std::is_same_v<Value, float>) {
    return __builtin_fmaf(a, b, c);
  } else if constexpr (std::is_same_v<Value, double>) {
    return __builtin_fma(a, b, c);
  } else {
#if __has_builtin(__builtin_elementwise_fma)
    return __builtin_elementwise_fma(a, b, c);
#else
    constexpr bool single = sizeof(a[0]) == sizeof(float);
    (void)single;
#if defined(__AVX512F__)
    if constexpr (sizeof(Value) == 64 && single) return _mm512_fmadd_ps(a, b, c);
    if constexpr (sizeof(Value) == 64 && !single) return _mm512_fmadd_pd(a, b, c);
#endif
#if defined(__FMA__)
    if constexpr (sizeof(Value) == 32 && single) return _mm256_fmadd_ps(a, b, c);
    if constexpr (sizeof(Value) == 32 && !single) return _mm256_fmadd_pd(a, b, c);
    if constexpr (sizeof(Value) == 16 && single) return _mm_fmadd_ps(a, b, c);
    if constexpr (sizeof(Value) == 16 && !single) return _mm_fmadd_pd(a, b, c);
#endif
    Value result = c;
    for (unsigned lane = 0; lane < sizeof(Value) / sizeof(a[0]); ++lane)
      result[lane] = fma_instruction<std::decay_t<decltype(a[0])>>(a[lane], b[lane], c[lane]);
    return result;
#endif
  }
}

/// For its type.
template <class Value>
inline auto first_lane(const Value& x) {
  if constexpr (std::is_arithmetic_v<Value>)
    return x;
  else
    return x[0];
}

/// As many numbers of another type.
template <class Pack, class Other>
struct pack_with {
  typedef Other type __attribute__((vector_size(sizeof(Other) * (sizeof(Pack) / sizeof(Pack{}[0])))));
};
template <>
struct pack_with<double, std::uint64_t> {
  typedef std::uint64_t type;
};

/// The nearest number with the upper 26 bits of the significand. Veltkamp's split (Dekker 1971) multiplies by 2^27 + 1
/// for it, which would overflow; this does not.
template <class Value>
inline Value upper_half(const Value& x) {
  typedef typename pack_with<Value, std::uint64_t>::type integers;
  integers bits;
  std::memcpy(&bits, &x, sizeof x);
  bits = (bits + (std::uint64_t(1) << 26)) & ~((std::uint64_t(1) << 27) - 1);
  Value upper;
  std::memcpy(&upper, &bits, sizeof x);
  return upper;
}

/// a * b - product of doubles, exactly, for the rounded product of both (Dekker 1971, 5.14) of at least 2^-969; 0 where
/// one of them is not finite, or within 2^-27 of the largest number.
template <class Value>
inline Value error_of_product(const Value& a, const Value& b, const Value& product) {
  const Value a1 = upper_half(a), a2 = a - a1, b1 = upper_half(b), b2 = b - b1;
  const Value error = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
  return error - error == 0 ? error : Value{};
}

/// a * b + c as with one rounding, without an instruction for it. (The sum of three numbers is rounded twice: it may be
/// the other neighbour where the exact value lies within 2^-50 of the middle of two.)
template <class Value>
inline Value fma_by_parts(const Value& a, const Value& b, const Value& c) {
  if constexpr (std::is_same_v<Value, float>) {
    return float(double(a) * double(b) + double(c));
  } else if constexpr (std::is_same_v<decltype(first_lane(a)), float>) {
    typedef typename pack_with<Value, double>::type wide;
    return __builtin_convertvector(
        __builtin_convertvector(a, wide) * __builtin_convertvector(b, wide) + __builtin_convertvector(c, wide), Value);
  } else {
    const Value product = a * b, error = error_of_product(a, b, product);
    const Value sum = product + c, grown = sum - product;
    const Value lost = (product - (sum - grown)) + (c - grown);
    return sum - sum == 0 ? sum + (lost + error) : sum;
  }
}

template <class Pack, class Value>
inline Pack spread(const Value& value) {
  if constexpr (std::is_same_v<Pack, Value>)
    return value;
  else if constexpr (std::is_arithmetic_v<Pack>)
    return Pack(value);
  else
    return std::decay_t<decltype(Pack{}[0])>(value) - Pack{};
}

/// The type of a * b + c: that of numbers, or that of the packs among them.
template <class A, class B, class C>
struct common_pack_of {
  typedef std::conditional_t<!std::is_arithmetic_v<A>, A, std::conditional_t<!std::is_arithmetic_v<B>, B, C>> type;
};
template <class A, class B, class C>
  requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B> && std::is_arithmetic_v<C>)
struct common_pack_of<A, B, C> {
  typedef decltype(A{} * B{} + C{}) type;
};
template <class A, class B, class C>
using common_pack = typename common_pack_of<A, B, C>::type;

}  // namespace detail

/// a * b + c, the multiply-add of kernels: with one rounding where the processor has an instruction for it, with two
/// elsewhere (a function of the C library would be a hundred times slower). Compilers may not make one of `a * b + c`
/// (-ffp-contract=off), so that what is fused is written, and the same for every compiler. Numbers among packs are
/// spread to all lanes. For the error of a product see fused_multiply_add().
template <class A, class B, class C>
inline auto fma(const A& a, const B& b, const C& c) {
  typedef detail::common_pack<A, B, C> value;
  if constexpr (detail::has_fma)
    return detail::fma_instruction<value>(detail::spread<value>(a), detail::spread<value>(b), detail::spread<value>(c));
  else
    return value(detail::spread<value>(a) * detail::spread<value>(b) + detail::spread<value>(c));
}

/// a * b + c with one rounding on every processor (IEEE 754's fusedMultiplyAdd): for errors of products, and wherever
/// a * b and c cancel. Without an instruction it takes 25 operations.
template <class A, class B, class C>
inline auto fused_multiply_add(const A& a, const B& b, const C& c) {
  typedef detail::common_pack<A, B, C> value;
  if constexpr (detail::has_fma)
    return detail::fma_instruction<value>(detail::spread<value>(a), detail::spread<value>(b), detail::spread<value>(c));
  else
    return detail::fma_by_parts<value>(detail::spread<value>(a), detail::spread<value>(b), detail::spread<value>(c));
}

/// Whether a comparison of packs of W lanes holds in all of them. Where a compiler has no instruction for that, it may
/// say no: only for shortcuts.
template <int W, class Mask>
inline bool all_lanes(const Mask& mask) {
  if constexpr (W == 1) {
    return mask != 0;
  } else {
#if __has_builtin(__builtin_reduce_and)
    return __builtin_reduce_and(mask) != 0;
#else
    return false;
#endif
  }
}

/// The smallest lane, of lanes without NaN.
template <class Real, class Pack>
inline Real least_lane(const Pack& values) {
  constexpr int lanes = sizeof(Pack) / sizeof(Real);
  Real lane[lanes];
  std::memcpy(lane, &values, sizeof(Pack));
  for (int width = lanes / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) lane[i] = lane[i + width] < lane[i] ? lane[i + width] : lane[i];
  return lane[0];
}

/// The sum of the lanes, in order.
template <class Real, class Pack>
inline Real sum_lanes(const Pack& values) {
  constexpr int lanes = sizeof(Pack) / sizeof(Real);
  Real lane[lanes];
  std::memcpy(lane, &values, sizeof(Pack));
  Real sum = lane[0];
  for (int i = 1; i < lanes; ++i) sum += lane[i];
  return sum;
}

/// values - *scalar in every lane.
///
/// On AVX-512 the scalar is broadcast inside the subtraction. Compilers hoist the broadcast into an instruction of its
/// own when it has several users, and on Zen 4 that instruction takes a slot of the arithmetic pipes: a register tile
/// of 8 x 3 packs was measured at 0.37 ns a pack with it and 0.275 ns without (0.273 ns is the multiply-add alone).
template <class Pack, class Real>
inline Pack subtract_scalar(const Pack& values, const Real* scalar) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Pack) == 64) {
    Pack difference;
    if constexpr (sizeof(Real) == 4)
      asm("vsubps %2%{1to16%}, %1, %0" : "=v"(difference) : "v"(values), "m"(*scalar));
    else
      asm("vsubpd %2%{1to8%}, %1, %0" : "=v"(difference) : "v"(values), "m"(*scalar));
    return difference;
  }
#endif
  return values - *scalar;
}

/// Lanes in the widest SIMD register of the host this is compiled for.
template <class Real>
constexpr int host_lanes() {
#if defined(__AVX512F__)
  return 64 / sizeof(Real);
#elif defined(__AVX__)
  return 32 / sizeof(Real);
#elif defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 0
  return __ARM_FEATURE_SVE_BITS / 8 / sizeof(Real);
#else
  return 16 / sizeof(Real);
#endif
}

/// SIMD registers of the host; a register tile has to fit into them.
constexpr int host_registers() {
#if defined(__AVX512F__) || defined(__aarch64__)
  return 32;
#else
  return 16;
#endif
}

}  // namespace quintet::device
