// Products of complex matrices.
#include "quintet/spgemm/complex_product.hpp"

#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <limits>
#include <map>
#include <vector>

#include "support/csr_types.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/sparse_matrices.hpp"

namespace quintet::spgemm {
namespace {

using complex_matrix = complex_csr<double, std::int32_t>;

template <class Real, class Index>
complex_csr<Real, Index> random_complex(std::int64_t rows, std::int64_t cols, double entries, std::uint64_t seed) {
  const auto real = test::uniform_matrix<Real, Index>(rows, cols, entries, seed);
  random_stream random(seed, 5);
  std::vector<std::complex<Real>> values;
  for (const Real value : real.values) values.emplace_back(value, 2 * random.uniform<Real>() - 1);
  return {rows, cols, real.row_pointers, real.columns, values};
}

/// The matrix, its transpose or its conjugate transpose.
template <class Real, class Index>
complex_csr<Real, Index> formed(const complex_csr<Real, Index>& m, operand_form form) {
  if (form == operand_form::plain) return m;
  std::vector<std::int64_t> row_pointers{0};
  std::vector<Index> columns;
  std::vector<std::complex<Real>> values;
  for (std::int64_t j = 0; j < m.cols; ++j) {
    for (std::int64_t i = 0; i < m.rows; ++i)
      for (std::int64_t k = m.row_pointers[i]; k < m.row_pointers[i + 1]; ++k) {
        if (m.columns[k] != j) continue;
        columns.push_back(Index(i));
        values.push_back(form == operand_form::adjoint ? std::conj(m.values[k]) : m.values[k]);
      }
    row_pointers.push_back(std::int64_t(columns.size()));
  }
  return {m.cols, m.rows, row_pointers, columns, values};
}

/// Four sums of products of parts for every entry, in the order of A's row.
template <class Real, class Index>
complex_csr<Real, Index> reference_complex(const complex_csr<Real, Index>& a, const complex_csr<Real, Index>& b) {
  std::vector<std::int64_t> row_pointers{0};
  std::vector<Index> columns;
  std::vector<std::complex<Real>> values;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    std::map<Index, std::array<Real, 4>> row;
    for (std::int64_t k = a.row_pointers[i]; k < a.row_pointers[i + 1]; ++k)
      for (std::int64_t q = b.row_pointers[a.columns[k]]; q < b.row_pointers[a.columns[k] + 1]; ++q) {
        const std::complex<Real> x = a.values[k], y = b.values[q];
        const Real products[] = {x.real() * y.real(), x.imag() * y.imag(), x.real() * y.imag(), x.imag() * y.real()};
        auto& sums = row[b.columns[q]];
        for (std::size_t part = 0; part < 4; ++part) sums[part] += products[part];
      }
    for (const auto& [column, s] : row) {
      columns.push_back(column);
      values.emplace_back(s[0] - s[1], s[2] + s[3]);
    }
    row_pointers.push_back(std::int64_t(columns.size()));
  }
  return {a.rows, b.cols, row_pointers, columns, values};
}

template <class T>
class spgemm_complex_of : public ::testing::Test {};
TYPED_TEST_SUITE(spgemm_complex_of, test::all_csr_types);

TYPED_TEST(spgemm_complex_of, every_form) {
  using Real = typename TypeParam::value;
  using Index = typename TypeParam::index;
  const auto a = random_complex<Real, Index>(50, 30, 4, 1), b = random_complex<Real, Index>(30, 40, 5, 2);
  for (const operand_form x : {operand_form::plain, operand_form::transposed, operand_form::adjoint})
    for (const operand_form y : {operand_form::plain, operand_form::transposed, operand_form::adjoint}) {
      // What is multiplied has the sizes of a and b.
      const auto left = x == operand_form::plain ? a : formed(a, operand_form::transposed);
      const auto right = y == operand_form::plain ? b : formed(b, operand_form::transposed);
      const auto expected = reference_complex(formed(left, x), formed(right, y));
      test::on_every_device([&](const Device& device) {
        report stats;
        EXPECT_EQ(multiply_complex(left.view(), right.view(), {x, y}, {}, device, &stats), expected);
        EXPECT_EQ(stats.nnz, expected.nnz());
        EXPECT_EQ(stats.ran_on_host, device.kind() == device_kind::host);
      });
    }
}

TEST(spgemm_complex, any_threads) {
  const auto a = random_complex<double, std::int32_t>(300, 300, 9, 3);
  const auto expected = reference_complex(a, a);
  for (const int count : {1, 3}) {
    set_threads(count);
    EXPECT_EQ(multiply_complex(a.view(), a.view()), expected);
  }
  set_threads(0);
}

// By arithmetic of complex numbers: the real part of 4 (1 + 2i) is 4, not 8.
TEST(spgemm_complex, known_values) {
  const complex_matrix a{1, 2, {0, 2}, {0, 1}, {{1, 2}, {0, -1}}};
  const complex_matrix b{2, 1, {0, 1, 2}, {0, 0}, {{3, -1}, {2, 5}}};
  EXPECT_EQ(multiply_complex(a.view(), b.view()).values[0], std::complex(10.0, 3.0));
  EXPECT_EQ(multiply_complex(a.view(), a.view(), {.b = operand_form::adjoint}).values[0], std::complex(6.0, 0.0));
  EXPECT_EQ(multiply_complex(a.view(), a.view(), {.b = operand_form::transposed}).values[0], std::complex(-4.0, 4.0));
}

// Row pointers that count from elsewhere; repeated columns are added.
TEST(spgemm_complex, slices_and_repeated_columns) {
  const auto all = random_complex<double, std::int32_t>(50, 20, 6, 4),
             b = random_complex<double, std::int32_t>(20, 20, 3, 5);
  const auto product = multiply_complex(all.view(), b.view());
  auto rows = all.view();
  rows.rows = 25;
  rows.row_pointers += 20;
  const auto part = multiply_complex(rows, b.view());
  ASSERT_EQ(part.rows, 25);
  for (std::int64_t k = 0; k < part.nnz(); ++k) EXPECT_EQ(part.values[k], product.values[product.row_pointers[20] + k]);
  const auto turned = multiply_complex(rows, rows, {.a = operand_form::adjoint});
  EXPECT_EQ(turned.rows, 20);
  const complex_matrix repeated{1, 1, {0, 2}, {0, 0}, {{1, 1}, {2, -1}}};
  EXPECT_EQ(multiply_complex(repeated.view(), repeated.view()).values[0], std::complex(9.0, 0.0));
}

TEST(spgemm_complex, empty_operands_and_numbers_that_are_none) {
  const complex_matrix none{0, 3, {0}, {}, {}}, square{3, 3, {0, 0, 0, 0}, {}, {}};
  EXPECT_EQ(multiply_complex(none.view(), square.view()), none);
  EXPECT_EQ(multiply_complex(none.view(), none.view(), {.a = operand_form::adjoint}), square);
  const double infinity = std::numeric_limits<double>::infinity();
  const complex_matrix one{1, 1, {0, 1}, {0}, {{1, 0}}}, infinite{1, 1, {0, 1}, {0}, {{infinity, 0}}};
  const auto product = multiply_complex(one.view(), infinite.view()).values[0];
  EXPECT_EQ(product.real(), infinity);
  EXPECT_NE(product.imag(), product.imag());  // 0 * infinity
}

TEST(spgemm_complex, errors) {
  const auto a = random_complex<double, std::int32_t>(4, 5, 2, 1);
  expect_invalid([&] { multiply_complex(a.view(), a.view()); }, "a and b must fit (a is 4 x 5, b is 4 x 5)");
  expect_invalid([&] { multiply_complex(a.view(), a.view(), {operand_form::adjoint, operand_form::transposed}); },
                 "(a is the transpose of 4 x 5, b is the transpose of 4 x 5)");
  const complex_matrix outside{1, 4, {0, 1}, {4}, {{1, 0}}};
  expect_invalid([&] { multiply_complex(outside.view(), a.view()); }, "a.columns must be in [0, 4)");
  expect_invalid([&] { multiply_complex(a.view(), a.view(), {.b = operand_form::transposed}, {.host_products = -1}); },
                 "host_products must be >= 0");
}

}  // namespace
}  // namespace quintet::spgemm
