// Masked products beside the whole product: structural masks and their complements, on every device.
#include "quintet/spgemm/mask.hpp"

#include <gtest/gtest.h>

#include "quintet/spgemm/multiply.hpp"
#include "reference/spgemm_reference.hpp"
#include "spgemm/tuning.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/sparse_matrices.hpp"

namespace quintet::spgemm {
namespace {

template <class Semiring, class Value, class Index>
void expect_masked(const csr<Value, Index>& a, const csr<Value, Index>& b, const csr<Value, Index>& mask,
                   const options& settings = {.host_products = 0}) {
  const auto whole = test::reference_product<Semiring>(a.view(), b.view());
  const auto inside = test::reference_masked(whole, mask, true), outside = test::reference_masked(whole, mask, false);
  EXPECT_GT(inside.nnz(), 0);
  EXPECT_GT(outside.nnz(), 0);
  test::on_every_device([&](const Device& device) {
    EXPECT_EQ((multiply_masked<Semiring, structural_mask>(a.view(), b.view(), mask.view(), settings, device)), inside);
    EXPECT_EQ((multiply_masked<Semiring, complement_mask>(a.view(), b.view(), mask.view(), settings, device)), outside);
  });
}

template <class Value, class Index>
void all_semirings() {
  const auto a = test::uniform_matrix<Value, Index>(70, 60, 8, 1), b = test::uniform_matrix<Value, Index>(60, 80, 8, 2);
  const auto mask = test::uniform_matrix<Value, Index>(70, 80, 30, 3);
  expect_masked<plus_times>(a, b, mask);
  expect_masked<min_plus>(a, b, mask);
  expect_masked<or_and>(a, b, mask);
}
TEST(spgemm_mask, float_32) { all_semirings<float, std::int32_t>(); }
TEST(spgemm_mask, float_64) { all_semirings<float, std::int64_t>(); }
TEST(spgemm_mask, double_32) { all_semirings<double, std::int32_t>(); }
TEST(spgemm_mask, double_64) { all_semirings<double, std::int64_t>(); }

TEST(spgemm_mask, every_strategy) {
  // Hash tables and bitmasks, then several windows of columns, then rows of A with a single entry; the mask takes most.
  const auto few = test::uniform_matrix<double, std::int32_t>(30, 300, 40, 4);
  const auto narrow = test::uniform_matrix<double, std::int32_t>(300, 5000, 60, 5);
  expect_masked<plus_times>(few, narrow, test::uniform_matrix<double, std::int32_t>(30, 5000, 2500, 6));
  const auto wide = test::uniform_matrix<double, std::int32_t>(300, 300'000, 60, 7);
  auto mask = test::reference_product<or_and>(few.view(), wide.view());
  for (std::int64_t k = 0; k < mask.nnz(); k += 2) mask.columns[k] = std::int32_t((mask.columns[k] + 1) % 300'000);
  expect_masked<plus_times>(few, wide, mask);
  const auto single = test::matrix_of_rows<double, std::int32_t>(
      20, 300, 8, [](std::int64_t i) { return std::vector<std::int64_t>{i * 7 % 300}; });
  const auto dense = test::uniform_matrix<double, std::int32_t>(300, 4000, 1500, 9);
  expect_masked<plus_times>(single, dense, test::uniform_matrix<double, std::int32_t>(20, 4000, 2000, 10));
}

TEST(spgemm_mask, results_that_do_not_fit_at_first) {
  const auto a = test::rmat_matrix<double, std::int32_t>(8, 12, 11);
  for (const tuning& t : {tuning{.prediction_scale = 1e-6}, tuning{.arena_entries = 0}, tuning{.table_size_cap = 8}})
    expect_masked<plus_times>(a, a, a, tuned(t));
}

TEST(spgemm_mask, hypersparse) {
  constexpr std::int64_t n = std::int64_t{1} << 40;
  const auto a = test::uniform_matrix<double, std::int64_t>(50, 70, 5, 12);
  const auto b = test::uniform_matrix<double, std::int64_t>(70, n, 40, 13);
  // Every second entry of the product, and columns that B does not have.
  const auto whole = test::reference_product<or_and>(a.view(), b.view());
  const auto mask = test::matrix_of_rows<double, std::int64_t>(50, n, 14, [&](std::int64_t i) {
    std::vector<std::int64_t> row;
    for (std::int64_t k = whole.row_pointers[i]; k < whole.row_pointers[i + 1]; k += 2)
      row.insert(row.end(), {whole.columns[k], (whole.columns[k] + 1) % n});
    return row;
  });
  expect_masked<plus_times>(a, b, mask);
}

TEST(spgemm_mask, any_order_any_operands_and_errors) {
  random_stream random(15);
  const auto any = [&](std::int64_t rows, std::int64_t cols, std::uint32_t most) {
    return test::matrix_of_rows<double, std::int32_t>(rows, cols, 16, [&](std::int64_t) {
      std::vector<std::int64_t> row(random.below(most));
      for (auto& j : row) j = random.below(std::uint32_t(cols));
      return row;
    });
  };
  const auto a = any(60, 50, 12), mask = any(60, 40, 40);
  const auto b = test::uniform_matrix<double, std::int32_t>(50, 40, 6, 17);
  expect_masked<plus_times>(a, b, mask);
  const csr<double, std::int32_t> none{60, 40, std::vector<std::int64_t>(61), {}, {}};
  const auto whole = test::reference_product<plus_times>(a.view(), b.view());
  EXPECT_EQ(multiply_masked(a.view(), b.view(), none.view()).nnz(), 0);
  EXPECT_EQ((multiply_masked<plus_times, complement_mask>(a.view(), b.view(), none.view())), whole);
  const csr<double, std::int32_t> nothing{0, 40, {0}, {}, {}};
  const csr<double, std::int32_t> no_rows{0, 50, {0}, {}, {}};
  EXPECT_EQ((multiply_masked<plus_times, complement_mask>(no_rows.view(), b.view(), nothing.view())).nnz(), 0);
  expect_invalid([&] { multiply_masked(a.view(), b.view(), a.view()); }, "mask must be a.rows x b.cols = 60 x 40");
}

}  // namespace
}  // namespace quintet::spgemm
