#include "quintet/core/arguments.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "quintet/device/buffer.hpp"
#include "quintet/io/matrix.hpp"
#include "support/expect_error.hpp"

namespace quintet {
namespace {

/// As std::mdspan, which this standard does not have, with run-time strides.
template <class T>
struct strided_span {
  T* handle;
  std::size_t extents[2], strides[2];
  static constexpr std::size_t rank() { return 2; }
  std::size_t extent(std::size_t r) const { return extents[r]; }
  std::size_t stride(std::size_t r) const { return strides[r]; }
  T* data_handle() const { return handle; }
};

/// A library function as they all are: one compiled template, and an overload that takes everything.
template <storage_type Storage>
const Storage* first(matrix_view<const Storage> points, double = 0) {
  return points.data();
}
template <matrix_argument Points>
auto first(const Points& points, double x = 0) {
  return first<element_of<Points>>(matrix_of(points), x);
}

TEST(arguments, types_of_elements_are_deduced) {
  static_assert(std::is_same_v<element_of<matrix_view<const float>>, float>);
  static_assert(std::is_same_v<element_of<matrix_view<double>&>, double>);
  static_assert(std::is_same_v<element_of<const io::matrix<half>&>, half>);
  static_assert(std::is_same_v<element_of<strided_span<const bfloat16>>, bfloat16>);
  static_assert(std::is_same_v<element_of<batch_view<const double>>, double>);
  static_assert(matrix_argument<io::matrix<long double>> && matrix_argument<matrix_view<int>> &&
                matrix_argument<std::vector<float>> && batch_argument<std::vector<float>>);  // refused by name
  static_assert(!matrix_argument<float> && !matrix_argument<Buffer<float>>);
  static_assert(vector_argument<std::vector<float>> && vector_argument<std::span<const int>> &&
                vector_argument<std::array<double, 3>> && vector_argument<Buffer<float>>);
  static_assert(!vector_argument<matrix_view<float>> && !vector_argument<double>);
  static_assert(batch_argument<batch_view<float>> && batch_argument<io::matrix<float>>);
}

TEST(arguments, matrices_are_taken_as_they_come) {
  io::matrix<float> m{2, 3, {0, 1, 2, 3, 4, 5}};
  const io::matrix<float>& constant = m;
  const matrix_view<float> view = m.view();
  const matrix_view<const float> const_view = view;
  EXPECT_EQ(first(m), m.data.data());
  EXPECT_EQ(first(constant), m.data.data());
  EXPECT_EQ(first(view), m.data.data());
  EXPECT_EQ(first(const_view), m.data.data());
  EXPECT_EQ(first<float>(view), m.data.data());
  EXPECT_EQ(first<float>({m.data.data(), 2, 3}), m.data.data());
  EXPECT_EQ(first(strided_span<float>{m.data.data(), {2, 3}, {3, 1}}), m.data.data());
  static_assert(std::is_same_v<decltype(matrix_of(m)), matrix_view<float>>);
  static_assert(std::is_same_v<decltype(matrix_of(constant)), matrix_view<const float>>);
}

TEST(arguments, mdspans_may_have_rows_apart_but_not_columns) {
  const std::vector<double> x{0, 1, 2, 3, 4, 5, 6, 7};
  const auto view = matrix_of(strided_span<const double>{x.data(), {2, 3}, {4, 1}});
  EXPECT_EQ(view.stride(), 4);
  EXPECT_EQ(view(1, 2), 6);
  const strided_span<const double> by_columns{x.data(), {2, 3}, {1, 2}};
  expect_invalid([&] { matrix_of(by_columns); }, "stride(1) must be 1 (stride(1)=2)");
  EXPECT_EQ(matrix_of(strided_span<const double>{x.data(), {1, 3}, {1, 1}}).stride(), 3);
  EXPECT_EQ(matrix_of(strided_span<const double>{x.data(), {3, 1}, {2, 5}})(2, 0), 4);
}

TEST(arguments, a_matrix_is_a_batch_of_one) {
  io::matrix<double> m{2, 2, {0, 1, 2, 3}};
  const batch_view<double> batch = batch_of(m);
  EXPECT_EQ(batch.batch(), 1);
  EXPECT_EQ(batch(0, 1, 0), 2);
  EXPECT_EQ(batch_of(batch).data(), m.data.data());
}

TEST(arguments, values_are_taken_as_they_come) {
  std::vector<float> v{1, 2, 3};
  const std::array<double, 2> a{4, 5};
  const Buffer<int> b(std::vector<int>{6, 7}, Device::emulated());
  EXPECT_EQ(values_of(v).data(), v.data());
  EXPECT_EQ(values_of(std::span<const float>(v)).size(), 3);
  EXPECT_EQ(values_of(a)[1], 5);
  EXPECT_EQ(values_of(b).device(), Device::emulated());
  EXPECT_EQ(values_of(vector_view<const float>(v)).size(), 3);
  static_assert(std::is_same_v<decltype(values_of(v)), vector_view<float>>);
  static_assert(std::is_same_v<decltype(values_of(a)), vector_view<const double>>);
  static_assert(std::is_same_v<decltype(values_of(b)), vector_view<const int>>);
}

}  // namespace
}  // namespace quintet
