// A semiring without kernels in a program whose compiler may fuse and reorder: the bits of the library's own.
#include <gtest/gtest.h>

#include "quintet/spgemm/plan.hpp"
#include "support/sparse_matrices.hpp"

namespace quintet::spgemm {
namespace {

struct own_plus_times {
  template <class Value>
  static constexpr Value identity() {
    return Value(0);
  }
  template <class Value>
  static constexpr Value multiply(Value a, Value b) {
    return a * b;
  }
  template <class Value>
  static constexpr Value add(Value x, Value y) {
    return x + y;
  }
};

template <class Value>
void expect_bits_of_library() {
  const auto a = test::uniform_matrix<Value, std::int32_t>(300, 200, 20, 1);
  const auto b = test::uniform_matrix<Value, std::int32_t>(200, 300, 20, 2);
  const auto mask = test::uniform_matrix<Value, std::int32_t>(300, 300, 90, 3);
  EXPECT_EQ(multiply<own_plus_times>(a.view(), b.view()), multiply(a.view(), b.view()));
  EXPECT_EQ(multiply_masked<own_plus_times>(a.view(), b.view(), mask.view()),
            multiply_masked(a.view(), b.view(), mask.view()));
}

TEST(spgemm_fast_math, products_are_rounded_before_they_are_added) {
  expect_bits_of_library<float>();
  expect_bits_of_library<double>();
}

}  // namespace
}  // namespace quintet::spgemm
