#include "device/staged.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <vector>

#include "support/devices.hpp"
#include "support/expect_error.hpp"

namespace quintet::test {
namespace {

using device::located;
using device::run_device;
using device::staged_in;
using device::staged_out;

std::vector<int> counting(std::int64_t size) {
  std::vector<int> values(size);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

/// out := 10 in, in place of a kernel on the device of `out`.
void times_ten(const batch_view<const int>& in, const batch_view<int>& out) {
  std::vector<int> memory(in.batch() * in.rows() * in.cols());
  const bool direct = out.device().shares_host_memory();
  const batch_view<int> to(direct ? out.data() : memory.data(), out.batch(), out.rows(), out.cols(), out.batch_stride(),
                           out.row_stride(), out.col_stride());
  const std::vector<int> values = device::host_copy(in);
  for (std::int64_t b = 0, e = 0; b < in.batch(); ++b)
    for (std::int64_t i = 0; i < in.rows(); ++i)
      for (std::int64_t j = 0; j < in.cols(); ++j) to(b, i, j) = 10 * values[e++];
  if (!direct)
    quintet::detail::copy(out.data(), out.device(), memory.data(), Device::host(), memory.size() * sizeof(int));
}

template <class In, class Out>
void multiply_on_device(const In& in, const Out& out, const Device& device) {
  const staged_in<In> from(in, device);
  staged_out<Out> to(out, device);
  EXPECT_EQ(from.copied(), !device.shares_host_memory());
  EXPECT_TRUE(device::reaches(device, from.view().device()) && device::reaches(device, to.view().device()));
  times_ten(from.view(), to.view());
  to.finish();
}

TEST(staged, strides_of_any_kind_go_there_and_back) {
  on_every_device([](const Device& device) {
    const std::vector<int> x = counting(200);
    struct strides {
      std::int64_t batch, row, col;
    };
    // Dense rows, dense columns, rows apart, everything apart, matrices between one another, and backwards.
    for (const strides s : {strides{12, 4, 1}, {12, 1, 3}, {20, 6, 1}, {100, 30, 7}, {1, 8, 2}, {-12, 4, 1}}) {
      const std::int64_t begin = s.batch < 0 ? 12 : 0;
      std::vector<int> y(200, -1);
      const batch_view<const int> in(x.data() + begin, 2, 3, 4, s.batch, s.row, s.col);
      const batch_view<int> out(y.data() + begin, 2, 3, 4, s.batch, s.row, s.col);
      multiply_on_device(in, out, device);
      std::int64_t written = 0;
      for (std::int64_t b = 0; b < 2; ++b)
        for (std::int64_t i = 0; i < 3; ++i)
          for (std::int64_t j = 0; j < 4; ++j) {
            EXPECT_EQ(out(b, i, j), 10 * in(b, i, j));
            ++written;
          }
      // What lies between the elements is as it was.
      EXPECT_EQ(std::count(y.begin(), y.end(), -1), 200 - written);
    }
  });
}

TEST(staged, one_order_may_go_into_another) {
  on_every_device([](const Device& device) {
    const std::vector<int> x = counting(12);
    std::vector<int> y(12, -1);
    multiply_on_device(batch_view<const int>(x.data(), 1, 3, 4), batch_view<int>(y.data(), 1, 3, 4, 0, 1, 3), device);
    EXPECT_EQ(y, (std::vector<int>{0, 40, 80, 10, 50, 90, 20, 60, 100, 30, 70, 110}));
  });
}

TEST(staged, more_than_one_piece) {
  on_every_device([](const Device& device) {
    const std::int64_t rows = 5000, cols = 450, stride = 460;  // 9 MB
    const std::vector<int> x = counting(rows * stride);
    std::vector<int> y(rows * stride, -1);
    const matrix_view<const int> in(x.data(), rows, cols, stride);
    const matrix_view<int> out(y.data(), rows, cols, stride);
    multiply_on_device(batch_view<const int>(in), batch_view<int>(out), device);
    std::int64_t wrong = 0;
    for (std::int64_t e = 0; e < rows * stride; ++e) wrong += y[e] != (e % stride < cols ? 10 * x[e] : -1);
    EXPECT_EQ(wrong, 0);
  });
}

// The same text on memory that every build has.
TEST(staged, copies_between_any_strides) {
  const std::vector<int> x = counting(60);
  for (const auto& from : {batch_view<const int>(x.data(), 2, 3, 4), batch_view<const int>(x.data(), 2, 3, 4, 1, 8, 2),
                           batch_view<const int>(x.data(), 2, 3, 4, 30, 9, 1)}) {
    std::vector<int> dense(24), back(60, -1);
    device::detail::upload<int>({dense.data(), 2, 3, 4}, from);
    EXPECT_EQ(dense, device::host_copy(from));
    const batch_view<int> to(back.data(), 2, 3, 4, from.batch_stride(), from.row_stride(), from.col_stride());
    device::detail::download<int>(to, {dense.data(), 2, 3, 4});
    EXPECT_EQ(device::host_copy(to), dense);
    EXPECT_EQ(from(1, 2, 3), dense[23]);
  }
}

TEST(staged, vectors_and_matrices_too) {
  on_every_device([](const Device& device) {
    const std::vector<int> x = counting(5);
    std::vector<int> y(5);
    const staged_in from(x, device);
    staged_out to(y, device);
    static_assert(std::is_same_v<decltype(to.view()), const vector_view<int>&>);
    quintet::detail::copy(to.view().data(), device, from.view().data(), device, 20);
    to.finish();
    EXPECT_EQ(y, x);
    const staged_in none(matrix_view<const int>(nullptr, 0, 7), device);
    EXPECT_EQ(none.view().cols(), 7);
    EXPECT_FALSE(none.copied());
  });
}

TEST(staged, memory_of_the_device_is_used_as_it_is) {
  on_every_device([](const Device& device) {
    Buffer<int> x(counting(6), device);
    const staged_in from(matrix_view<const int>(x, 3), device);
    staged_out to(vector_view<int>(x), device);
    EXPECT_EQ(from.view().data(), x.data());
    EXPECT_EQ(to.view().data(), x.data());
    EXPECT_EQ(from.view().rows(), 2);
    to.finish();
    EXPECT_EQ(device::host_copy(from.view().slice(1, 2)), (std::vector<int>{3, 4, 5}));
  });
}

TEST(staged, without_finish_nothing_is_copied) {
  on_every_device([](const Device& device) {
    std::vector<int> y{1, 2};
    const std::int64_t before = quintet::detail::transferred_bytes();
    {
      const staged_out to(y, device);
    }
    EXPECT_EQ(quintet::detail::transferred_bytes(), before);
    EXPECT_EQ(y, (std::vector<int>{1, 2}));
  });
}

TEST(run_device, arguments_on_a_device_decide) {
  const matrix_view<const int> here(nullptr, 0, 1), there(nullptr, 0, 1, Device::emulated());
  EXPECT_EQ(run_device(Device::host(), {{"x", here}}), Device::host());
  EXPECT_EQ(run_device(Device::emulated(), {{"x", here}}), Device::emulated());
  EXPECT_EQ(run_device(Device::best(), {{"x", here}}), Device::best());
  EXPECT_EQ(run_device(Device::best(), {{"x", here}, {"y", there}}), Device::emulated());
  EXPECT_EQ(run_device(Device::emulated(), {{"x", there}}), Device::emulated());
  EXPECT_TRUE(run_device(Device::best(), {{"x", here}}).automatic());
  EXPECT_FALSE(run_device(Device::best(), {{"x", there}}).automatic());
}

TEST(run_device, two_places_are_refused_by_name) {
  const matrix_view<const int> there(nullptr, 0, 1, Device::emulated());
  expect_invalid([&] { run_device(Device::host(), {{"points", there}}); },
                 "device must be where the arguments are (device=host, points is in the memory of device emulated)");
  if (Device::count() == 0) return;
  const matrix_view<const int> offload(nullptr, 0, 1, Device::offload(0));
  expect_invalid([&] { run_device(Device::best(), {{"x", there}, {"y", offload}}); },
                 "(x is in the memory of device emulated, y is in the memory of device 0)");
}

TEST(transferred_bytes, count_what_goes_from_one_device_to_another) {
  const std::int64_t before = quintet::detail::transferred_bytes();
  Buffer<int> here(counting(10), Device::host());
  EXPECT_EQ(quintet::detail::transferred_bytes(), before);
  Buffer<int> there(counting(10), Device::emulated());
  EXPECT_EQ(quintet::detail::transferred_bytes(), before + 40);
  there.to_vector();
  EXPECT_EQ(quintet::detail::transferred_bytes(), before + 80);
}

}  // namespace
}  // namespace quintet::test
