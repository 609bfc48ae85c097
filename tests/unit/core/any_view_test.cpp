#include "quintet/core/any_view.hpp"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "quintet/device/buffer.hpp"
#include "quintet/io/matrix.hpp"

namespace quintet {
namespace {

std::string refusal(auto&& action) {
  try {
    action();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

template <class T>
class AnyView : public ::testing::Test {};
using Types = ::testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(AnyView, Types);

TYPED_TEST(AnyView, ViewsComeBackAsTheyWent) {
  using T = TypeParam;
  std::vector<T> values(24);
  const batch_view<T> batch(values.data(), 2, 3, 2, 12, 4, 2, Device::emulated());
  const auto b = any_batch(batch).as<T>();
  EXPECT_EQ(b.data(), values.data());
  EXPECT_EQ(b.batch(), 2);
  EXPECT_EQ(b.rows(), 3);
  EXPECT_EQ(b.cols(), 2);
  EXPECT_EQ(b.batch_stride(), 12);
  EXPECT_EQ(b.row_stride(), 4);
  EXPECT_EQ(b.col_stride(), 2);
  EXPECT_EQ(b.device(), Device::emulated());

  const matrix_view<T> matrix(values.data(), 5, 3, 4);
  const auto m = any_output_matrix(matrix).as<T>();
  static_assert(std::is_same_v<decltype(m), const matrix_view<T>>);
  EXPECT_EQ(m.data(), values.data());
  EXPECT_EQ(m.rows(), 5);
  EXPECT_EQ(m.cols(), 3);
  EXPECT_EQ(m.stride(), 4);
  EXPECT_EQ(any_batch(matrix).as<T>().row_stride(), 4);

  const auto v = any_vector(vector_view<T>(values)).as<T>();
  static_assert(std::is_same_v<decltype(v), const vector_view<const T>>);
  EXPECT_EQ(v.data(), values.data());
  EXPECT_EQ(v.size(), 24);
}

TYPED_TEST(AnyView, TheSwitchFindsTheType) {
  const bool same = with_storage(scalar_type_of<TypeParam>(), []<class T>() { return std::is_same_v<T, TypeParam>; });
  EXPECT_TRUE(same);
  EXPECT_EQ(accumulator_of(scalar_type_of<TypeParam>()), scalar_type_of<accumulator_t<TypeParam>>());
}

TEST(AnyView, ConstIsKept) {
  static_assert(std::is_convertible_v<matrix_view<const float>, any_matrix>);
  static_assert(!std::is_convertible_v<matrix_view<const float>, any_output_matrix>);
  static_assert(!std::is_convertible_v<vector_view<const double>, any_output_vector>);
}

TEST(AnyView, ArgumentsConvertAsTheyAre) {
  std::vector<float> values(12);
  const std::vector<double> constants(3);
  EXPECT_EQ(any_vector(constants).type, scalar_type::float64);
  EXPECT_EQ(any_output_vector(values).size, 12);
  const auto rows = [](any_matrix m) { return m.rows; };
  EXPECT_EQ(rows({values.data(), 4, 3}), 4);
  EXPECT_EQ(rows({values.data(), 2, 3, 5}), 2);
  io::matrix<bfloat16> matrix{2, 3, std::vector<bfloat16>(6)};
  EXPECT_EQ(any_matrix(matrix).type, scalar_type::bfloat16);
  EXPECT_EQ(any_output_matrix(matrix).data, matrix.view().data());
  EXPECT_EQ(any_batch(matrix).rows, 2);
  Buffer<half> buffer(6, Device::host());
  EXPECT_EQ(any_matrix(buffer, 3).rows, 2);
  EXPECT_EQ(any_output_batch(buffer, 1, 3).batch, 2);
}

TEST(AnyView, AnotherTypeIsRefused) {
  std::vector<double> values(4);
  const any_vector view = vector_view<double>(values);
  EXPECT_EQ(refusal([&] { (void)view.as<float>("x"); }), "the elements of x must be float32 (x.type=float64)");
}

TEST(AnyView, OnlyRealTypesWhereTheOthersHaveNoKernel) {
  EXPECT_TRUE(with_real(scalar_type::float64, "weights", []<class T>() { return sizeof(T) == 8; }));
  EXPECT_EQ(refusal([] { with_real(scalar_type::bfloat16, "weights", []<class T>() {}); }),
            "the elements of weights must be float32 or float64 (weights.type=bfloat16)");
}

TEST(AnyView, SizesFromOutsideAreCheckedOnTheWayIn) {
  float value = 0;
  EXPECT_EQ(refusal([&] { (void)any_matrix(&value, scalar_type::float32, 2, 3, 2).as<float>(); }),
            "stride must be >= cols=3 (stride=2)");
  EXPECT_EQ(refusal([] { (void)any_matrix(nullptr, scalar_type::float32, 2, 3, 3).as<float>(); }),
            "data must not be null for a non-empty matrix");
  EXPECT_EQ(refusal([] { (void)any_vector(nullptr, scalar_type::float32, -1).as<float>(); }),
            "size must be >= 0 (size=-1)");
}

}  // namespace
}  // namespace quintet
