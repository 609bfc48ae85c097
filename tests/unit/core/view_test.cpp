#include "quintet/core/view.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "quintet/device/buffer.hpp"
#include "support/expect_error.hpp"

namespace quintet {
namespace {

constexpr std::int64_t huge = std::int64_t(1) << 40;

TEST(matrix_view, wrong_sizes_are_named) {
  float x = 0;
  expect_invalid([&] { matrix_view<float>(&x, -1, 2); }, "rows must be >= 0 (rows=-1)");
  expect_invalid([&] { matrix_view<float>(&x, 2, -1); }, "cols must be >= 0 (cols=-1)");
  expect_invalid([&] { matrix_view<float>(&x, 2, 3, 2); }, "stride must be >= cols=3 (stride=2)");
  expect_invalid([&] { matrix_view<float>(nullptr, 2, 3); }, "data must not be null");
  expect_invalid([&] { matrix_view<float>(&x, huge, huge); }, "rows * stride must be at most 2^63 - 1 bytes");
  expect_invalid([&] { matrix_view<float>(&x, std::int64_t(1) << 61, 1); }, "bytes of an element=4");
}

TEST(matrix_view, one_size_may_be_huge_when_the_other_is_none) {
  EXPECT_EQ(matrix_view<float>(nullptr, 0, INT64_MAX).cols(), INT64_MAX);
  EXPECT_EQ(matrix_view<float>(nullptr, INT64_MAX, 0).rows(), INT64_MAX);
}

TEST(batch_view, wrong_sizes_are_named) {
  double x = 0;
  expect_invalid([&] { batch_view<double>(&x, -1, 1, 1); }, "batch must be >= 0 (batch=-1)");
  expect_invalid([&] { batch_view<double>(&x, 1, -1, 1); }, "rows must be >= 0 (rows=-1)");
  expect_invalid([&] { batch_view<double>(&x, 1, 1, -1); }, "cols must be >= 0 (cols=-1)");
  expect_invalid([&] { batch_view<double>(nullptr, 1, 1, 1); }, "data must not be null");
  expect_invalid([&] { batch_view<double>(&x, 1, huge, huge); }, "batch * rows * cols must be at most 2^63 - 1 bytes");
  expect_invalid([&] { batch_view<double>(&x, huge, 1 << 10, 1 << 11, 0, 0, 0); }, "batch=1099511627776");
  EXPECT_EQ(batch_view<double>(nullptr, 0, huge, huge).rows(), huge);
}

TEST(batch_view, transposed_exchanges_rows_and_columns) {
  const double x[6] = {0, 1, 2, 3, 4, 5};
  const auto view = batch_view<const double>(x, 1, 2, 3).transposed();
  EXPECT_EQ(view.rows(), 3);
  EXPECT_EQ(view.cols(), 2);
  EXPECT_EQ(view(0, 2, 1), 5);
}

TEST(views, know_their_place) {
  const Buffer<float> buffer(12, Device::emulated());
  const matrix_view<const float> m(buffer, 4);
  EXPECT_EQ(m.rows(), 3);
  EXPECT_EQ(m.device(), Device::emulated());
  EXPECT_EQ(m.slice(1, 3).device(), Device::emulated());
  EXPECT_EQ(m.slice(1, 3).data(), buffer.data() + 4);
  EXPECT_EQ(vector_view<const float>(buffer).device(), Device::emulated());
  EXPECT_EQ(vector_view(buffer).as_rows(2, 5).device(), Device::emulated());
  const batch_view<const float> b(buffer, 2, 3);
  EXPECT_EQ(b.batch(), 2);
  EXPECT_EQ(b.transposed().device(), Device::emulated());
  EXPECT_EQ(batch_view<const float>(m).device(), Device::emulated());
  float x[4] = {};
  EXPECT_EQ(matrix_view<float>(x, 2, 2).device(), Device::host());
  EXPECT_EQ(matrix_view<const float>(matrix_view<float>(x, 2, 2, Device::emulated())).device(), Device::emulated());
  EXPECT_EQ(batch_view<const float>(batch_view<float>(x, 1, 2, 2, Device::emulated())).device(), Device::emulated());
}

TEST(views, of_buffers_need_a_size_that_fits) {
  const Buffer<float> buffer(10);
  expect_invalid([&] { matrix_view<const float>(buffer, 3); }, "cols must be > 0, a divisor of the buffer's size 10");
  expect_invalid([&] { matrix_view<const float>(buffer, 0); }, "(cols=0)");
  expect_invalid([&] { batch_view<const float>(buffer, 2, 3); }, "rows * cols must be > 0, a divisor");
  const Buffer<float> empty;
  EXPECT_EQ(matrix_view<const float>(empty, 0).rows(), 0);
}

TEST(vector_view, wrong_sizes_are_named) {
  const std::vector<float> x(6);
  expect_invalid([&] { vector_view<const float>(x.data(), -1); }, "size must be >= 0 (size=-1)");
  expect_invalid([] { vector_view<const float>(nullptr, 1); }, "data must not be null");
  expect_invalid([&] { vector_view<const float>(x).as_rows(2, 4); }, "rows * cols must be in [0, 6] (rows=2, cols=4)");
  EXPECT_EQ(vector_view(x).as_rows(2, 3)(1, 2), 0);
}

}  // namespace
}  // namespace quintet
