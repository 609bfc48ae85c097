// Semirings: the meaning of "multiply" and "add" in a sparse product.
//
// A semiring is a type with three static members:
//
//   struct max_times {
//     template <class Value> static constexpr Value identity() { return std::numeric_limits<Value>::lowest(); }
//     template <class Value> static constexpr Value multiply(Value a, Value b) { return a * b; }
//     template <class Value> static constexpr Value add(Value x, Value y) { return x < y ? y : x; }
//   };
//
// Every entry of a product is add(... add(add(identity, a1*b1), a2*b2) ..., ak*bk) with the products in the order of
// the entries of A's row: the same bits on every device and for any number of threads. A product is rounded before it
// is added (no fused multiply-add, not even in programs compiled with -ffast-math), for the same reason. Repeated
// entries of an operand are added, too: A's as products, B's before.
//
// Members are called in device code: O(1), no exceptions, no memory.
//
// The three of this file have kernels inside the library. Any other type works too: on the host as it is, and on
// devices (and with every strategy of the host) when its kernels are compiled into the program, by
//
//   template <> inline constexpr bool quintet::spgemm::has_kernels<max_times> = true;    // where max_times is declared
//
//   #include "spgemm/semiring_kernels.hpp"                    // in one source among the KERNELS of quintet_test, or
//   QUINTET_SEMIRING_KERNELS(max_times, double, std::int32_t)  // given to quintet_kernel_objects
#pragma once

#include <limits>
#include <type_traits>

#include "quintet/core/compiler.hpp"

namespace quintet::spgemm {

/// The usual product.
struct plus_times {
  /// 0.
  template <class Value>
  static constexpr Value identity() {
    return Value(0);
  }
  /// a b.
  template <class Value>
  static constexpr Value multiply(Value a, Value b) {
    return a * b;
  }
  /// x + y.
  template <class Value>
  static constexpr Value add(Value x, Value y) {
    return x + y;
  }
};

/// Shortest paths: the product of two lengths is their sum, the sum of two is the smaller. The identity is +infinity. A
/// NaN product is ignored, because any comparison with it fails: an entry without other products is +infinity.
struct min_plus {
  /// +infinity; the largest number of types without it.
  template <class Value>
  static constexpr Value identity() {
    return std::numeric_limits<Value>::has_infinity ? std::numeric_limits<Value>::infinity()
                                                    : (std::numeric_limits<Value>::max)();
  }
  /// a + b.
  template <class Value>
  static constexpr Value multiply(Value a, Value b) {
    return a + b;
  }
  /// The smaller one; x when y is NaN.
  template <class Value>
  static constexpr Value add(Value x, Value y) {
    return y < x ? y : x;
  }
};

/// Reachability: values are 0 or not 0; results are 0 or 1. A NaN is not 0.
struct or_and {
  /// 0.
  template <class Value>
  static constexpr Value identity() {
    return Value(0);
  }
  /// 1 where both are not 0, else 0.
  template <class Value>
  static constexpr Value multiply(Value a, Value b) {
    return a != Value(0) && b != Value(0) ? Value(1) : Value(0);
  }
  /// 1 where one of them is not 0, else 0.
  template <class Value>
  static constexpr Value add(Value x, Value y) {
    return x != Value(0) || y != Value(0) ? Value(1) : Value(0);
  }
};

/// Whether the library has kernels for the semiring.
template <class Semiring>
constexpr bool is_built_in =
    std::is_same_v<Semiring, plus_times> || std::is_same_v<Semiring, min_plus> || std::is_same_v<Semiring, or_and>;
/// Whether the program has kernels; a program specialises it for its semirings.
template <class Semiring>
constexpr bool has_kernels = is_built_in<Semiring>;

}  // namespace quintet::spgemm
