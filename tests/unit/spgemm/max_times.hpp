// A semiring of a program, with kernels of its own: the most probable way, when values are probabilities.
#pragma once

#include <limits>

#include "reference/spgemm_reference.hpp"

namespace quintet::test {

struct max_times {
  static constexpr test::formula formula = test::formula::max_times;
  template <class Value>
  static constexpr Value identity() {
    return std::numeric_limits<Value>::lowest();
  }
  template <class Value>
  static constexpr Value multiply(Value a, Value b) {
    return a * b;
  }
  template <class Value>
  static constexpr Value add(Value x, Value y) {
    return x < y ? y : x;
  }
};

}  // namespace quintet::test

template <>
inline constexpr bool quintet::spgemm::has_kernels<quintet::test::max_times> = true;
