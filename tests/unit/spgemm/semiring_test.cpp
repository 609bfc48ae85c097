// Semirings of a program: with kernels of their own on every device, without on the host.
#include <gtest/gtest.h>

#include <limits>

#include "quintet/spgemm/device_csr.hpp"
#include "quintet/spgemm/plan.hpp"
#include "reference/spgemm_reference.hpp"
#include "support/devices.hpp"
#include "support/sparse_matrices.hpp"
#include "unit/spgemm/max_times.hpp"

namespace quintet::spgemm {
namespace {

using matrix = csr<double, std::int32_t>;
using test::max_times;

// The widest road: the narrower of two in a row, the wider of two side by side. Nobody compiled kernels for it.
struct max_min {
  static constexpr test::formula formula = test::formula::max_min;
  template <class Value>
  static constexpr Value identity() {
    return -std::numeric_limits<Value>::infinity();
  }
  template <class Value>
  static constexpr Value multiply(Value a, Value b) {
    return a < b ? a : b;
  }
  template <class Value>
  static constexpr Value add(Value x, Value y) {
    return x < y ? y : x;
  }
};

TEST(spgemm_semiring, with_kernels_on_every_device) {
  // Tiny rows, hash tables, bits in windows, and rows with one entry.
  const matrix graph = test::rmat_matrix<double, std::int32_t>(8, 8, 1);
  const auto few = test::uniform_matrix<double, std::int32_t>(40, 400, 60, 2);
  const auto wide = test::uniform_matrix<double, std::int32_t>(400, 200'000, 60, 3);
  const matrix square = test::reference_product<max_times>(graph.view(), graph.view());
  const matrix spread = test::reference_product<max_times>(few.view(), wide.view());
  test::on_every_device([&](const Device& device) {
    const options settings{.host_products = 0};
    EXPECT_EQ(multiply<max_times>(graph.view(), graph.view(), settings, device), square);
    EXPECT_EQ(multiply<max_times>(few.view(), wide.view(), settings, device), spread);
    const auto there = upload(graph.view(), device);
    EXPECT_EQ(download(multiply<max_times>(there, there, settings)), square);
    const plan<max_times, double, std::int32_t> p(graph.view(), graph.view(), settings, device);
    EXPECT_EQ(p.execute(graph.view(), graph.view()), square);
    EXPECT_EQ(multiply_transposed<max_times>(graph.view(), transpose(graph.view()).view(), settings, device), square);
    EXPECT_EQ(multiply_masked<max_times>(graph.view(), graph.view(), square.view(), settings, device), square);
    const auto outside =
        multiply_masked<max_times, complement_mask>(graph.view(), graph.view(), square.view(), settings, device);
    EXPECT_EQ(outside.nnz(), 0);
    std::int64_t entries = 0;
    multiply_in_blocks<max_times, double, std::int32_t>(
        graph.view(), graph.view(), 20'000,
        [&](result_block<double, std::int32_t>&& piece) { return entries += piece.block.nnz(), true; }, settings,
        device);
    EXPECT_EQ(entries, square.nnz());
  });
}

TEST(spgemm_semiring, without_kernels_on_the_host) {
  const auto a = test::uniform_matrix<double, std::int32_t>(70, 60, 8, 4);
  const auto b = test::uniform_matrix<double, std::int32_t>(60, 80, 8, 5);
  const auto mask = test::uniform_matrix<double, std::int32_t>(70, 80, 20, 6);
  const auto whole = test::reference_product<max_min>(a.view(), b.view());
  EXPECT_EQ(multiply<max_min>(a.view(), b.view()), whole);
  EXPECT_EQ(multiply_transposed<max_min>(a.view(), transpose(b.view()).view()), whole);
  EXPECT_EQ(multiply_masked<max_min>(a.view(), b.view(), mask.view()), test::reference_masked(whole, mask, true));
  EXPECT_EQ((multiply_masked<max_min, complement_mask>(a.view(), b.view(), mask.view())),
            test::reference_masked(whole, mask, false));
}

// The library's own a second time: nobody compiled kernels for it.
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

// Rows whose columns come in any order and repeatedly.
matrix repeating_matrix(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  random_stream random(seed);
  return test::matrix_of_rows<double, std::int32_t>(rows, cols, seed, [&](std::int64_t) {
    std::vector<std::int64_t> row(random.below(12));
    for (auto& j : row) j = random.below(std::uint32_t(cols));
    return row;
  });
}

TEST(spgemm_semiring, without_kernels_repeated_entries_of_b_are_added_first) {
  const matrix a = repeating_matrix(300, 40, 9), b = repeating_matrix(40, 30, 10), mask = repeating_matrix(300, 30, 11);
  const matrix expected = multiply(a.view(), b.view());
  EXPECT_EQ(multiply<own_plus_times>(a.view(), b.view()), expected);
  EXPECT_EQ(multiply_masked<own_plus_times>(a.view(), b.view(), mask.view()),
            multiply_masked(a.view(), b.view(), mask.view()));
  EXPECT_EQ(multiply_transposed<own_plus_times>(a.view(), transpose(b.view()).view()), expected);
  // Rows of a larger matrix, whose entries count from elsewhere.
  const auto right = repeating_matrix(100, 30, 12);
  const auto rows = right.view().slice(30, 70);
  EXPECT_EQ(multiply<own_plus_times>(a.view(), rows), multiply(a.view(), rows));
}

TEST(spgemm_semiring, min_plus_passes_over_nan) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const matrix one{1, 1, {0, 1}, {0}, {1}};
  const struct {
    std::vector<double> values;
    double sum;
  } cases[] = {{{nan, 3}, 4}, {{3, nan}, 4}, {{nan, 3, 2, nan}, 3}, {{nan}, infinity}, {{nan, nan}, infinity}};
  for (const auto& [values, sum] : cases) {
    const auto count = std::int64_t(values.size());
    const matrix repeated{1, 1, std::vector<std::int64_t>{0, count}, std::vector<std::int32_t>(values.size()), values};
    test::on_every_device([&](const Device& device) {
      EXPECT_EQ(multiply<min_plus>(one.view(), repeated.view(), {.host_products = 0}, device).values[0], sum);
      EXPECT_EQ(multiply<min_plus>(repeated.view(), one.view(), {.host_products = 0}, device).values[0], sum);
    });
  }
}

TEST(spgemm_semiring, without_kernels_and_with_more_columns_than_a_map_has) {
  constexpr std::int64_t n = std::int64_t{1} << 40;
  const auto a = test::uniform_matrix<double, std::int64_t>(50, 70, 5, 7);
  const auto b = test::uniform_matrix<double, std::int64_t>(70, n, 40, 8);
  EXPECT_EQ(multiply<max_min>(a.view(), b.view()), test::reference_product<max_min>(a.view(), b.view()));
}

}  // namespace
}  // namespace quintet::spgemm
