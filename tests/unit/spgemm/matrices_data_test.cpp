// Products of real matrices against values that scipy computed.
#include <gtest/gtest.h>

#include <cmath>

#include "quintet/spgemm/multiply.hpp"
#include "quintet/spgemm/summary.hpp"
#include "support/devices.hpp"
#include "support/matrix_data.hpp"

namespace quintet::spgemm {
namespace {

template <class Value, class Index>
void expect_product(const test::matrix_case& c, const csr<Value, Index>& product, double bound) {
  const matrix_summary s = summarise(product.view());
  EXPECT_EQ(product.rows, c.rows);
  EXPECT_EQ(product.nnz(), c.result_nnz);
  EXPECT_EQ(s.struct_ij, c.struct_ij);
  EXPECT_TRUE(s.sorted);
  EXPECT_NEAR(s.sum, c.sum, bound * c.sum_abs);
  EXPECT_NEAR(s.sum_abs, c.sum_abs, bound * c.sum_abs);
  EXPECT_NEAR(s.frobenius, c.frobenius, bound * c.frobenius);
  EXPECT_NEAR(s.weighted, c.weighted, bound * 143 * c.sum_abs);
}

template <class Value, class Index>
void all_matrices(double bound) {
  QUINTET_SKIP_WITHOUT(test::matrix_folder());
  for (const auto& c : test::matrix_cases()) {
    SCOPED_TRACE(c.name);
    const auto m = test::read_matrices<Value, Index>(c);
    EXPECT_EQ(m.a.nnz(), c.nnz);
    report told;
    const auto product = multiply(m.a.view(), m.b.view(), {}, Device::host(), &told);
    EXPECT_EQ(told.products, c.products);
    EXPECT_GE(told.upper_bound, c.result_nnz);
    // Small products are not sampled: what is predicted is the bound.
    if (told.prediction_seconds == 0)
      EXPECT_EQ(told.predicted, told.upper_bound);
    else
      EXPECT_NEAR(double(told.predicted), double(c.result_nnz), 0.3 * double(c.result_nnz));
    expect_product(c, product, bound);
    if (c.transposed) EXPECT_EQ(multiply_transposed(m.a.view(), m.a.view()), product);
  }
}

TEST(matrices_data, double_32) { all_matrices<double, std::int32_t>(1e-10); }
TEST(matrices_data, double_64) { all_matrices<double, std::int64_t>(1e-10); }
TEST(matrices_data, float_32) { all_matrices<float, std::int32_t>(1e-6); }

TEST(matrices_data, same_bits_on_other_devices) {
  QUINTET_SKIP_WITHOUT(test::matrix_folder());
  for (const auto& c : test::matrix_cases()) {
    if (c.products > 200'000) continue;  // the emulated device is slow
    SCOPED_TRACE(c.name);
    const auto m = test::read_matrices<double, std::int32_t>(c);
    const auto expected = multiply(m.a.view(), m.b.view());
    test::on_other_devices([&](const Device& device) {
      report told;
      EXPECT_EQ(multiply(m.a.view(), m.b.view(), {.host_products = 0}, device, &told), expected);
      EXPECT_FALSE(told.ran_on_host);
    });
  }
}

}  // namespace
}  // namespace quintet::spgemm
