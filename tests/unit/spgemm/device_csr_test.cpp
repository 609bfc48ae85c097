// Products of matrices that stay on a device.
#include <gtest/gtest.h>

#include "device/emulation.hpp"
#include "quintet/spgemm/add.hpp"
#include "quintet/spgemm/dense_product.hpp"
#include "quintet/spgemm/device_csr.hpp"
#include "quintet/spgemm/plan.hpp"
#include "quintet/spgemm/summary.hpp"
#include "reference/spgemm_reference.hpp"
#include "spgemm/tuning.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/sparse_matrices.hpp"

namespace quintet::spgemm {
namespace {

using matrix = csr<double, std::int32_t>;

template <class Value, class Index>
void expect_chain() {
  const auto a = test::uniform_matrix<Value, Index>(60, 50, 6, 1), b = test::uniform_matrix<Value, Index>(50, 70, 6, 2);
  const auto c = test::uniform_matrix<Value, Index>(70, 30, 6, 3);
  const auto ab = test::reference_product<plus_times>(a.view(), b.view());
  const auto expected = test::reference_product<min_plus>(ab.view(), c.view());
  test::on_every_device([&](const Device& device) {
    const auto first = multiply(upload(a.view(), device), upload(b.view(), device));
    EXPECT_EQ(first.device(), device);
    EXPECT_EQ(download(first), ab);
    EXPECT_EQ(download(multiply<min_plus>(first, upload(c.view(), device))), expected);
  });
}
TEST(spgemm_resident, float_32) { expect_chain<float, std::int32_t>(); }
TEST(spgemm_resident, float_64) { expect_chain<float, std::int64_t>(); }
TEST(spgemm_resident, double_32) { expect_chain<double, std::int32_t>(); }
TEST(spgemm_resident, double_64) { expect_chain<double, std::int64_t>(); }

TEST(spgemm_resident, predictions_are_those_of_the_host) {
  const matrix a = test::rmat_matrix<double, std::int32_t>(8, 12, 4);
  const matrix expected = test::reference_product<plus_times>(a.view(), a.view());
  const size_estimate e = estimate(a.view(), a.view());
  test::on_other_devices([&](const Device& device) {
    const auto there = upload(a.view(), device);
    for (const double scale : {1e-6, 0.5, 2.0}) {
      report told;
      EXPECT_EQ(download(multiply(there, there, tuned({.prediction_scale = scale}), &told)), expected);
      EXPECT_EQ(told.predicted, e.predicted_nnz);
      EXPECT_EQ(told.upper_bound, e.upper_bound);
      EXPECT_EQ(told.products, e.products);
      EXPECT_EQ(told.nnz, expected.nnz());
      EXPECT_FALSE(told.ran_on_host);
      EXPECT_EQ(told.retries > 0, scale < 1);
      EXPECT_LE(told.peak_bytes, std::int64_t(2.5 * double(expected.bytes())) + 64 * a.rows);
    }
    EXPECT_EQ(download(multiply(there, there, tuned({.arena_entries = 0, .table_size_cap = 8}))), expected);
  });
}

TEST(spgemm_resident, slices_unsorted_operands_and_none) {
  const auto whole = test::uniform_matrix<double, std::int32_t>(60, 50, 6, 5);
  const auto slice = whole.view().slice(20, 45);
  random_stream random(6);
  const auto any = test::matrix_of_rows<double, std::int32_t>(50, 40, 7, [&](std::int64_t) {
    std::vector<std::int64_t> row(random.below(12));
    for (auto& j : row) j = random.below(40);
    return row;
  });
  test::on_every_device([&](const Device& device) {
    const auto c = multiply(upload(slice, device), upload(any.view(), device));
    EXPECT_EQ(download(c), multiply(slice, any.view()));
    const matrix none{0, 50, {0}, {}, {}};
    EXPECT_EQ(download(multiply(upload(none.view(), device), upload(any.view(), device))).rows, 0);
  });
}

// Operands, masks and the operands of plans may lie on a device; what is done there has the bits of the host.
TEST(spgemm_resident, every_function_takes_matrices_of_a_device) {
  const auto a = test::uniform_matrix<double, std::int32_t>(60, 50, 6, 11);
  const auto b = test::uniform_matrix<double, std::int32_t>(50, 70, 6, 12);
  const auto mask = test::uniform_matrix<double, std::int32_t>(60, 70, 20, 13);
  const auto product = test::reference_product<plus_times>(a.view(), b.view());
  test::on_other_devices([&](const Device& device) {
    const auto a_there = upload(a.view(), device), b_there = upload(b.view(), device);
    const auto mask_there = upload(mask.view(), device);
    report told;
    EXPECT_EQ(multiply(a_there.view(), b_there.view(), {}, Device::best(), &told), product);
    EXPECT_EQ(told.ran_on, device);
    EXPECT_EQ(multiply(a_there.view(), b.view()), product);  // the other one is taken there
    EXPECT_EQ(multiply_masked(a.view(), b_there.view(), mask_there.view()),
              test::reference_masked(product, mask, true));
    EXPECT_EQ((multiply_masked<plus_times, complement_mask>(a_there.view(), b_there.view(), mask_there.view())),
              test::reference_masked(product, mask, false));
    const plan<plus_times, double, std::int32_t> p(a_there.view(), b_there.view());
    EXPECT_EQ(p.execute(a_there.view(), b_there.view()), product);
    EXPECT_EQ(download(transpose(a_there)), transpose(a.view()));
    EXPECT_EQ(multiply_transposed(a_there.view(), transpose(b_there).view()), product);
    EXPECT_EQ(download(add(2.0, a_there, -1.0, a_there)), add(2.0, a.view(), -1.0, a.view()));
    EXPECT_EQ(estimate(a_there.view(), b_there.view()).predicted_nnz, estimate(a.view(), b.view()).predicted_nnz);
    EXPECT_EQ(summarise(a_there.view()).weighted, summarise(a.view()).weighted);
    EXPECT_EQ(download(upload(a_there.view(), Device::host())), a);
    std::vector<double> x(std::size_t(50 * 9), 0.5), y(std::size_t(60 * 9)), expected(y.size());
    multiply_dense<double, std::int32_t>(a.view(), {x.data(), 50, 9}, {expected.data(), 60, 9}, Device::host());
    Buffer<double> x_there(x, device), y_there(std::int64_t(y.size()), device);
    multiply_dense<double, std::int32_t>(a_there.view(), matrix_view<const double>(x_there.data(), 50, 9, 9, device),
                                         matrix_view<double>(y_there.data(), 60, 9, 9, device));
    EXPECT_EQ(y_there.to_vector(), expected);
    // Who names another device than the one that has an operand is told so.
    expect_invalid([&] { multiply(a_there.view(), b.view(), {}, Device::host()); }, "device must be where");
  });
}

// Sorting, sums and transposes are kernels: threads and devices do not change a bit of them.
TEST(spgemm_resident, sorting_adding_and_transposing_on_every_device) {
  random_stream random(14);
  const auto any = test::matrix_of_rows<double, std::int32_t>(700, 300, 15, [&](std::int64_t i) {
    std::vector<std::int64_t> row(i % 50 == 0 ? 900 : random.below(12));
    for (auto& j : row) j = random.below(300);
    return row;
  });
  const auto other = test::uniform_matrix<double, std::int32_t>(700, 300, 20, 16);
  set_threads(1);
  const auto sum = add(1.0, any.view(), 3.0, other.view(), Device::host());
  const auto reversed = transpose(any.view(), memory_source::standard(), Device::host());
  for (const int threads : {1, 2, 5, 64}) {
    set_threads(threads);
    const device::emulated_team_size guard(threads);
    test::on_every_device([&](const Device& device) {
      EXPECT_EQ(add(1.0, any.view(), 3.0, other.view(), device), sum) << threads;
      EXPECT_EQ(transpose(any.view(), memory_source::standard(), device), reversed) << threads;
    });
  }
  set_threads(0);
  for (std::int64_t j = 0; j < reversed.rows; ++j)
    for (std::int64_t k = reversed.row_pointers[j] + 1; k < reversed.row_pointers[j + 1]; ++k)
      ASSERT_LE(reversed.columns[k - 1], reversed.columns[k]);
}

TEST(spgemm_resident, wrong_operands_are_named) {
  const auto a = test::uniform_matrix<double, std::int32_t>(7, 6, 3, 8),
             b = test::uniform_matrix<double, std::int32_t>(5, 8, 3, 9);
  const auto good = test::uniform_matrix<double, std::int32_t>(6, 8, 3, 10);
  test::on_other_devices([&](const Device& device) {
    const auto left = upload(a.view(), device);
    expect_invalid([&] { multiply(left, upload(b.view(), device)); }, "a is 7 x 6, b is 5 x 8");
    expect_invalid([&] { multiply(left, upload(good.view(), Device::host())); }, "must be on one device");
    const std::int32_t column = 8;
    auto bad = upload(good.view(), device);
    bad.columns.copy_from_host(&column, 1, 2);
    expect_invalid([&] { multiply(left, bad); }, "b.columns must be in [0, 8)");
    const std::int64_t pointer = -1;
    bad = upload(good.view(), device);
    bad.row_pointers.copy_from_host(&pointer, 1, 3);
    expect_invalid([&] { multiply(left, bad); }, "b.row_pointers must not fall");
    bad = upload(good.view(), device);
    bad.values = Buffer<double>(1, device);
    expect_invalid([&] { multiply(left, bad); }, "b.values.size()");
    auto wide = upload(csr<double, std::int64_t>{2, std::int64_t{1} << 40, {0, 0, 0}, {}, {}}.view(), device);
    auto two = upload(csr<double, std::int64_t>{1, 2, {0, 1}, {0}, {1}}.view(), device);
    expect_invalid([&] { multiply(two, wide); }, "b.cols must be <= 2^31");
  });
  const auto left = upload(a.view(), Device::host());
  auto bad = upload(good.view(), Device::host());
  bad.row_pointers = Buffer<std::int64_t>(2);
  expect_invalid([&] { multiply(left, bad); }, "b.row_pointers.size() must be rows + 1 = 7");
  bad = upload(good.view(), Device::host());
  bad.columns = Buffer<std::int32_t>(1);
  bad.values = Buffer<double>(1);
  expect_invalid([&] { multiply(left, bad); }, "b.row_pointers must rise from 0 to the number of entries, 1");
}

}  // namespace
}  // namespace quintet::spgemm
