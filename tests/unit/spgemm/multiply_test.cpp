// Sparse products beside a plain reference, to the bit, on every device.
#include "quintet/spgemm/multiply.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "quintet/spgemm/plan.hpp"
#include "quintet/spgemm/summary.hpp"
#include "quintet/spgemm/transpose.hpp"
#include "quintet/spgemm/triple_plan.hpp"
#include "reference/spgemm_reference.hpp"
#include "support/csr_types.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/sanitized.hpp"
#include "support/sparse_matrices.hpp"

namespace quintet::spgemm {
namespace {

template <class T>
class multiply_of : public ::testing::Test {};
TYPED_TEST_SUITE(multiply_of, test::all_csr_types);

// Devices do the work themselves, however small it is.
options for_test() { return {.host_products = 0}; }

template <class Semiring, class Value, class Index>
void expect_product(const csr<Value, Index>& a, const csr<Value, Index>& b, const options& settings = for_test()) {
  const auto expected = test::reference_product<Semiring>(a.view(), b.view());
  test::on_every_device(
      [&](const Device& device) { EXPECT_EQ(multiply<Semiring>(a.view(), b.view(), settings, device), expected); });
}

TYPED_TEST(multiply_of, uniform_matrices_of_many_shapes) {
  using V = typename TypeParam::value;
  using I = typename TypeParam::index;
  const struct {
    std::int64_t m, k, n;
    double a, b;
  } shapes[] = {{0, 0, 0, 0, 0},       {0, 5, 7, 0, 1},         {5, 0, 7, 0, 0},
                {5, 7, 0, 2, 0},       {1, 1, 1, 1, 1},         {30, 20, 10, 3, 3},
                {100, 100, 100, 0, 2}, {60, 40, 3000, 20, 100}, {40, 400, 9000, 60, 60}};
  for (const auto& s : shapes) {
    SCOPED_TRACE(text(s.m, " x ", s.k, " x ", s.n));
    const auto a = test::uniform_matrix<V, I>(s.m, s.k, s.a, 1), b = test::uniform_matrix<V, I>(s.k, s.n, s.b, 2);
    expect_product<plus_times>(a, b);
    expect_product<min_plus>(a, b);
    expect_product<or_and>(a, b);
  }
}

TEST(multiply, structures_that_strain_a_strategy) {
  using test::matrix_of_rows;
  const auto arrow = test::arrow_matrix<double, std::int32_t>(test::sized(1200, 700), 3);
  expect_product<plus_times>(arrow, arrow);
  const auto blocks = test::block_diagonal<double, std::int32_t>(3, 64, 4);
  expect_product<plus_times>(blocks, blocks);
  const auto graph = test::rmat_matrix<double, std::int32_t>(9, 4, 5);
  expect_product<plus_times>(graph, graph);
  // All products in one column; rows of B that nobody uses; a row of A that uses only empty rows of B.
  const auto one_column = matrix_of_rows<double, std::int32_t>(300, 300, 6, [](std::int64_t i) {
    return i % 3 == 0 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{7};
  });
  expect_product<plus_times>(graph, matrix_of_rows<double, std::int32_t>(512, 900, 6, [](std::int64_t i) {
                               return i % 3 == 0 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{7};
                             }));
  expect_product<plus_times>(one_column, one_column);
}

// Nodes of `dofs` unknowns on a line, each coupled with `reach` neighbours on both sides: rows have much in common.
template <class Value, class Index>
csr<Value, Index> mesh_matrix(std::int64_t nodes, std::int64_t dofs, std::int64_t reach, std::uint64_t seed) {
  return test::matrix_of_rows<Value, Index>(nodes * dofs, nodes * dofs, seed, [=](std::int64_t i) {
    std::vector<std::int64_t> row;
    const std::int64_t node = i / dofs;
    for (std::int64_t j = std::max<std::int64_t>(0, node - reach); j <= std::min(nodes - 1, node + reach); ++j)
      for (std::int64_t d = 0; d < dofs; ++d)
        if (i % 7 != 3 || d != 1) row.push_back(j * dofs + d);
    return row;
  });
}

TYPED_TEST(multiply_of, rows_with_much_in_common) {
  using V = typename TypeParam::value;
  using I = typename TypeParam::index;
  auto a = mesh_matrix<V, I>(40, 3, 3, 1);
  const auto b = mesh_matrix<V, I>(40, 3, 2, 2);
  expect_product<plus_times>(a, b);
  expect_product<min_plus>(a, b);
  expect_product<or_and>(a, b);
  // What one row has of infinity and NaN stays in it; A's rows need not be in order.
  a.values[200] = std::numeric_limits<V>::infinity();
  a.values[500] = -std::numeric_limits<V>::infinity();
  expect_product<min_plus>(a, b);
  for (std::int64_t i = 0; i < a.rows; i += 5)
    std::swap(a.columns[a.row_pointers[i]], a.columns[a.row_pointers[i + 1] - 1]);
  expect_product<plus_times>(a, b);
}

TEST(multiply, rows_with_much_in_common_far_apart) {
  // Columns over more than a group of rows covers; in others just so many.
  for (const std::int64_t far : {8000, 8192, 8300, 20000}) {
    SCOPED_TRACE(far);
    const auto a = test::matrix_of_rows<double, std::int32_t>(30, 40, 3, [](std::int64_t i) {
      std::vector<std::int64_t> row;
      for (std::int64_t j = i / 4; j < i / 4 + 30; ++j) row.push_back(j);
      return row;
    });
    const auto b = test::matrix_of_rows<double, std::int32_t>(40, 30000, 4, [=](std::int64_t j) {
      std::vector<std::int64_t> row;
      for (std::int64_t c = 0; c < 9; ++c) row.push_back(37 + c * (1 + j % 3));
      row.push_back(37 + far - 1);
      return row;
    });
    expect_product<plus_times>(a, b);
  }
}

TEST(multiply, wide_rows_in_windows) {
  // Over 2^17 columns a device needs several windows.
  const auto a = test::uniform_matrix<double, std::int32_t>(6, 50, 20, 7);
  const auto b = test::uniform_matrix<double, std::int32_t>(50, 400'000, 400, 8);
  expect_product<plus_times>(a, b);
  report told;
  multiply(a.view(), b.view(), for_test(), Device::emulated(), &told);
  EXPECT_GT(told.rows_by_strategy[int(strategy::windows)], 0);
}

TEST(multiply, operands_with_unsorted_and_repeated_columns) {
  random_stream random(9);
  const auto any = [&](std::int64_t rows, std::int64_t cols) {
    return test::matrix_of_rows<double, std::int32_t>(rows, cols, 10, [&](std::int64_t) {
      std::vector<std::int64_t> row(random.below(12));
      for (auto& j : row) j = random.below(std::uint32_t(cols));
      return row;
    });
  };
  const auto a = any(80, 60), b = any(60, 40);
  const auto expected = test::reference_product<plus_times>(a.view(), b.view());
  test::on_every_device([&](const Device& device) {
    const auto c = multiply(a.view(), b.view(), for_test(), device);
    EXPECT_EQ(c.columns, expected.columns);
    EXPECT_EQ(c.row_pointers, expected.row_pointers);
    ASSERT_EQ(c.nnz(), expected.nnz());
    for (std::int64_t k = 0; k < c.nnz(); ++k) EXPECT_NEAR(c.values[k], expected.values[k], 1e-13);
  });
}

TEST(multiply, hypersparse_with_64_bit_columns) {
  constexpr std::int64_t n = std::int64_t{1} << 40;
  const auto a = test::uniform_matrix<double, std::int64_t>(50, 70, 5, 11);
  const auto b = test::uniform_matrix<double, std::int64_t>(70, n, 40, 12);
  expect_product<plus_times>(a, b);
}

TEST(multiply, special_values_go_their_way) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const csr<double, std::int32_t> a{2, 2, {0, 2, 3}, {0, 1, 1}, {1, -1, 0}};
  const csr<double, std::int32_t> b{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {inf, 2, inf, 2}};
  test::on_every_device([&](const Device& device) {
    const auto c = multiply(a.view(), b.view(), for_test(), device);
    ASSERT_EQ(c.nnz(), 4);  // inf - inf, 2 - 2 (stays), 0 * inf, 0 * 2
    EXPECT_TRUE(std::isnan(c.values[0]));
    EXPECT_EQ(c.values[1], 0);
    EXPECT_TRUE(std::isnan(c.values[2]));
    EXPECT_EQ(c.values[3], 0);
  });
}

TEST(multiply, any_number_of_threads_gives_the_same_bits) {
  const auto a = test::rmat_matrix<double, std::int32_t>(11, test::sized(16, 8), 13);
  set_threads(1);
  const auto expected = multiply(a.view(), a.view());
  EXPECT_EQ(expected, test::reference_product<plus_times>(a.view(), a.view()));
  for (const int count : {2, 3, 7, 16}) {
    set_threads(count);
    EXPECT_EQ(multiply(a.view(), a.view()), expected) << count;
  }
  set_threads(0);
}

TEST(multiply, transposed) {
  const auto a = test::uniform_matrix<double, std::int32_t>(40, 90, 6, 14);
  const auto t = transpose(a.view());
  EXPECT_EQ(transpose(t.view()), a);
  EXPECT_EQ(multiply_transposed(a.view(), a.view()), multiply(a.view(), t.view()));
}

TEST(multiply, plan_gives_the_same_bits_with_new_values) {
  auto a = test::uniform_matrix<double, std::int32_t>(70, 60, 8, 18);
  const auto b = test::uniform_matrix<double, std::int32_t>(60, 80, 8, 19);
  test::on_every_device([&](const Device& device) {
    const plan<plus_times, double, std::int32_t> p(a.view(), b.view(), for_test(), device);
    auto c = p.execute(a.view(), b.view());
    EXPECT_EQ(c, multiply(a.view(), b.view()));
    for (auto& value : a.values) value *= -3;
    p.execute(a.view(), b.view(), c);
    EXPECT_EQ(c, multiply(a.view(), b.view()));
  });
  const plan<plus_times, double, std::int32_t> p(a.view(), b.view());
  expect_invalid([&] { p.execute(b.view(), b.view()); }, "as planned");
  auto wider = a.view();
  ++wider.cols;
  expect_invalid([&] { p.execute(wider, b.view()); }, "a must be as planned");
  auto c = multiply(a.view(), b.view());
  c.row_pointers = array<std::int64_t>(1);
  expect_invalid([&] { p.execute(a.view(), b.view(), c); }, "c must be a result of this plan");
  auto nothing = a.view();
  nothing.row_pointers = nullptr;
  expect_invalid([&] { plan<plus_times, double, std::int32_t>(nothing, b.view()); }, "a.row_pointers must not be null");
}

TEST(multiply, triple_plan_gives_the_bits_of_two_products) {
  auto a = test::uniform_matrix<double, std::int32_t>(70, 70, 8, 20);
  auto p = test::uniform_matrix<double, std::int32_t>(70, 20, 3, 21);
  const auto r = transpose(p.view());
  const auto expected = [&] { return multiply(r.view(), multiply(a.view(), p.view()).view()); };
  test::on_every_device([&](const Device& device) {
    const triple_plan<plus_times, double, std::int32_t> coarse(r.view(), a.view(), p.view(), for_test(), device);
    auto c = coarse.execute(r.view(), a.view(), p.view());
    EXPECT_EQ(c, expected());
    EXPECT_EQ(coarse.nnz(), c.nnz());
    auto ap = coarse.multiply_inner(a.view(), p.view());
    for (auto& value : a.values) value *= -3;
    for (auto& value : p.values) value += 0.1;
    coarse.execute(r.view(), a.view(), p.view(), ap, c);
    EXPECT_EQ(c, expected());
  });
  const triple_plan<min_plus, double, std::int32_t> plan(r.view(), a.view(), p.view());
  EXPECT_EQ(plan.execute(r.view(), a.view(), p.view()),
            multiply<min_plus>(r.view(), multiply<min_plus>(a.view(), p.view()).view()));
  auto c = plan.execute(r.view(), a.view(), p.view());
  expect_invalid([&] { plan.execute(p.view(), a.view(), p.view()); }, "r must be as planned: 20 x 70");
  expect_invalid([&] { plan.execute(r.view(), r.view(), p.view()); }, "a must be as planned: 70 x 70");
  expect_invalid([&] { plan.execute(r.view(), a.view(), r.view()); }, "p must be as planned: 70 x 20");
  expect_invalid([&] { plan.execute(r.view(), a.view(), p.view(), c, c); }, "c must be a result of this plan");
  using triple = triple_plan<plus_times, double, std::int32_t>;
  expect_invalid([&] { triple(p.view(), a.view(), p.view()); }, "r is 70 x 20, a is 70 x 70");
}

TEST(multiply, blocks_within_a_budget) {
  const auto a = test::rmat_matrix<double, std::int32_t>(9, 8, 22);
  const auto expected = multiply(a.view(), a.view());
  for (const std::int64_t budget : {1040, 3000, 100'000, 1'000'000'000}) {
    SCOPED_TRACE(budget);
    csr<double, std::int32_t> whole{a.rows, a.cols, {}, {}, {}};
    std::vector<std::int64_t> row_entries(std::size_t(a.rows));
    std::vector<std::int32_t> columns;
    std::vector<double> values;
    multiply_in_blocks<plus_times, double, std::int32_t>(
        a.view(), a.view(), budget, [&](result_block<double, std::int32_t>&& piece) {
          EXPECT_LE(piece.block.bytes(), budget);
          for (std::int64_t i = 0; i < piece.block.rows; ++i)
            row_entries[std::size_t(piece.first_row + i)] +=
                piece.block.row_pointers[i + 1] - piece.block.row_pointers[i];
          columns.insert(columns.end(), piece.block.columns.begin(), piece.block.columns.end());
          values.insert(values.end(), piece.block.values.begin(), piece.block.values.end());
          return true;
        });
    EXPECT_EQ(array<std::int32_t>(columns), expected.columns);
    EXPECT_EQ(array<double>(values), expected.values);
    for (std::int64_t i = 0; i < a.rows; ++i)
      EXPECT_EQ(row_entries[std::size_t(i)], expected.row_pointers[i + 1] - expected.row_pointers[i]);
  }
  const auto ignore = [](result_block<double, std::int32_t>&&) { return false; };
  expect_invalid([&] { multiply_in_blocks<plus_times, double, std::int32_t>(a.view(), a.view(), 1, ignore); },
                 "budget");
  expect_invalid([&] { multiply_in_blocks<plus_times, double, std::int32_t>(a.view(), a.view(), 2000, nullptr); },
                 "take must not be empty");
}

TEST(multiply, wrong_operands_are_named) {
  const auto a = test::uniform_matrix<double, std::int32_t>(7, 6, 3, 23);
  const auto b = test::uniform_matrix<double, std::int32_t>(5, 8, 3, 24);
  expect_invalid([&] { multiply(a.view(), b.view()); }, "a is 7 x 6, b is 5 x 8");
  auto bad = test::uniform_matrix<double, std::int32_t>(6, 8, 3, 25);
  bad.columns[2] = 8;
  expect_invalid([&] { multiply(a.view(), bad.view()); }, "b.columns must be in [0, 8) (entry 2 is 8)");
  bad = test::uniform_matrix<double, std::int32_t>(6, 8, 3, 25);
  bad.row_pointers[3] = -1;
  expect_invalid([&] { multiply(a.view(), bad.view()); }, "b.row_pointers must not fall (row 2");
  const csr_view<double, std::int32_t> wide{0, std::int64_t{1} << 32, nullptr, nullptr, nullptr};
  expect_invalid([&] { multiply(csr_view<double, std::int32_t>{}, wide); }, "use 64-bit columns");
}

}  // namespace
}  // namespace quintet::spgemm
