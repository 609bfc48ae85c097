// Properties of decompose(): strides, empty shapes, determinism, statuses, signs, rank deficiency, errors.
#include "quintet/svd/decompose.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "quintet/core/philox.hpp"
#include "quintet/device/buffer.hpp"
#include "support/device_of_arguments.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/svd_errors.hpp"

namespace quintet {
namespace {

template <class T>
std::vector<T> random_numbers(std::int64_t count, std::uint64_t seed = 7) {
  std::vector<T> a(count);
  for (std::int64_t i = 0; i < count; ++i) a[i] = T(normal_at<double>(seed, 0, i));
  return a;
}

template <class T>
void expect_same(const svd::decomposition<T>& x, const svd::decomposition<T>& y) {
  test::expect_same_bits(x.s, y.s);
  test::expect_same_bits(x.u, y.u);
  test::expect_same_bits(x.v, y.v);
  EXPECT_EQ(x.status, y.status);
  EXPECT_EQ(x.sweeps, y.sweeps);
}

TEST(svd_decompose, same_bits_for_any_strides) {
  const std::int64_t batch = 21, m = 9, n = 6;
  const auto a = random_numbers<float>(batch * m * n);
  std::vector<float> columns(a.size()), interleaved(a.size() * 2);
  const batch_view<float> by_column(columns.data(), batch, m, n, m * n, 1, m);
  const batch_view<float> apart(interleaved.data(), batch, m, n, 2, 2 * batch * n, 2 * batch);
  const batch_view<const float> dense(a.data(), batch, m, n);
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) by_column(b, i, j) = apart(b, i, j) = dense(b, i, j);
  const auto expected = svd::decompose<float>(dense, {}, Device::host());
  for (const batch_view<float>& view : {by_column, apart})
    expect_same(
        svd::decompose<float>({view.data(), batch, m, n, view.batch_stride(), view.row_stride(), view.col_stride()}, {},
                              Device::host()),
        expected);
}

TEST(svd_decompose, wide_is_tall_with_factors_exchanged) {
  test::on_every_device([](const Device& device) {
    const std::int64_t batch = 3, m = 5, n = 7;
    const auto a = random_numbers<double>(batch * m * n);
    const batch_view<const double> wide(a.data(), batch, m, n);
    for (const auto which : {svd::vectors::economy, svd::vectors::full}) {
      const auto x = svd::decompose<double>(wide, {.vectors = which}, device);
      const auto y = svd::decompose<double>(wide.transposed(), {.vectors = which}, device);
      EXPECT_EQ(x.s, y.s);
      EXPECT_EQ(x.u, y.v);
      EXPECT_EQ(x.v, y.u);
    }
  });
}

TEST(svd_decompose, writes_through_any_strides) {
  const std::int64_t batch = 4, n = 5;
  const auto a = random_numbers<double>(batch * n * n);
  const batch_view<const double> view(a.data(), batch, n, n);
  const auto expected = svd::decompose<double>(view, {}, Device::host());
  std::vector<double> u(batch * n * n), v(u), s(batch * (n + 2));
  std::vector<std::int32_t> status(batch), sweeps(batch);
  const svd::outputs out{{u.data(), batch, n, n, n * n, 1, n},  // column-major
                         {v.data(), batch, n, n, 1, batch, batch * n},
                         {s.data(), batch, n, n + 2},
                         status,
                         sweeps};
  svd::decompose(view, out, {}, Device::host());
  const auto u_view = out.u.as<double>(), v_view = out.v.as<double>();
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t i = 0; i < n; ++i) {
      EXPECT_EQ(s[b * (n + 2) + i], expected.singular_value(b, i));
      for (std::int64_t j = 0; j < n; ++j) {
        EXPECT_EQ(u_view(b, i, j), expected.u_view()(b, i, j));
        EXPECT_EQ(v_view(b, i, j), expected.v_view()(b, i, j));
      }
    }
}

TEST(svd_decompose, top_values_are_the_first_of_all) {
  const std::int64_t batch = 18, m = 12, n = 8;
  const auto a = random_numbers<float>(batch * m * n);
  const auto all = svd::decompose<float>({a.data(), batch, m, n}, {}, Device::host());
  const auto top = svd::decompose<float>({a.data(), batch, m, n}, {.top = 3}, Device::host());
  ASSERT_EQ(top.values, 3);
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t j = 0; j < 3; ++j) {
      EXPECT_EQ(top.singular_value(b, j), all.singular_value(b, j));
      for (std::int64_t i = 0; i < m; ++i) EXPECT_EQ(top.u_view()(b, i, j), all.u_view()(b, i, j));
      for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(top.v_view()(b, i, j), all.v_view()(b, i, j));
    }
}

/// A batch in which everything differs: sizes of entries, rank, gradation, NaN.
std::vector<float> mixed_batch(std::int64_t batch, std::int64_t n) {
  auto a = random_numbers<float>(batch * n * n);
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t i = 0; i < n * n; ++i) {
      float& x = a[b * n * n + i];
      if (b % 7 == 1) x *= 1e30f;
      if (b % 7 == 2) x *= std::pow(10.0f, -float(i % n));
      if (b % 7 == 3 && i % n == 2) x = 0;
      if (b % 7 == 4) x = float(i / n + i % n);
      if (b % 7 == 5 && i == 3) x = NAN;
      if (b % 7 == 6) x = i % n == i / n ? -1.0f : 0.0f;
    }
  return a;
}

TEST(svd_decompose, permuting_the_batch_permutes_the_result_bit_for_bit) {
  const std::int64_t batch = 50, n = 9;
  const auto a = mixed_batch(batch, n);
  std::vector<float> permuted(a.size());
  std::vector<std::int64_t> place(batch);
  for (std::int64_t b = 0; b < batch; ++b) place[b] = b * 37 % batch;
  for (std::int64_t b = 0; b < batch; ++b) std::copy_n(&a[b * n * n], n * n, &permuted[place[b] * n * n]);
  for (const auto which : {svd::vectors::none, svd::vectors::economy}) {
    const auto x = svd::decompose<float>({a.data(), batch, n, n}, {.vectors = which}, Device::host());
    const auto y = svd::decompose<float>({permuted.data(), batch, n, n}, {.vectors = which}, Device::host());
    for (std::int64_t b = 0; b < batch; ++b) {
      const auto slice = [&](const std::vector<float>& all, std::int64_t which_matrix, std::int64_t size) {
        return std::vector<float>(all.begin() + which_matrix * size, all.begin() + (which_matrix + 1) * size);
      };
      test::expect_same_bits(slice(x.s, b, n), slice(y.s, place[b], n));
      test::expect_same_bits(slice(x.u, b, n * x.u_cols), slice(y.u, place[b], n * x.u_cols));
      test::expect_same_bits(slice(x.v, b, n * x.v_cols), slice(y.v, place[b], n * x.v_cols));
      EXPECT_EQ(x.status[b], y.status[place[b]]);
      EXPECT_EQ(x.sweeps[b], y.sweeps[place[b]]);
    }
  }
}

TEST(svd_decompose, same_bits_for_any_number_of_threads) {
  const std::int64_t batch = 150, n = 8;
  const auto a = mixed_batch(batch, n);
  set_threads(1);
  const auto one = svd::decompose<float>({a.data(), batch, n, n}, {}, Device::host());
  for (const int count : {2, 3, 7}) {
    set_threads(count);
    expect_same(svd::decompose<float>({a.data(), batch, n, n}, {}, Device::host()), one);
  }
  set_threads(0);
}

TEST(svd_decompose, devices_agree) {
  const std::int64_t batch = 3, n = 10;
  const auto a = random_numbers<double>(batch * n * n);
  const svd::options options{.canonical_signs = true};
  const auto host = svd::decompose<double>({a.data(), batch, n, n}, options, Device::host());
  test::on_other_devices([&](const Device& device) {
    const auto other = svd::decompose<double>({a.data(), batch, n, n}, options, device);
    EXPECT_EQ(other.status, host.status);
    test::expect_near(other.s, host.s, 1e-14);
    test::expect_near(other.u, host.u, 1e-12, 1);
    test::expect_near(other.v, host.v, 1e-12, 1);
  });
}

TEST(svd_decompose, rank_deficient_matrices_have_orthonormal_factors) {
  test::on_every_device([](const Device& device) {
    const std::int64_t batch = device.kind() == device_kind::host ? 40 : 2, m = 10, n = 9;
    const auto x = random_numbers<float>(batch * m * 3, 1), y = random_numbers<float>(batch * n * 3, 2);
    std::vector<float> a(batch * m * n);
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          for (std::int64_t k = 0; k < b % 4; ++k)
            a[(b * m + i) * n + j] += x[(b * m + i) * 3 + k] * y[(b * n + j) * 3 + k];
          if (b % 2 == 1 && j % 3 == 0) a[(b * m + i) * n + j] = 0;
        }
    const batch_view<const float> view(a.data(), batch, m, n);
    for (const auto which : {svd::vectors::economy, svd::vectors::full}) {
      const auto r = svd::decompose<float>(view, {.vectors = which}, device);
      for (std::int64_t b = 0; b < batch; ++b) {
        EXPECT_EQ(r.status[b], svd::ok);
        EXPECT_LE(test::orthogonality(r.u_view(), b), 8 * test::compute_epsilon<float>) << b;
        EXPECT_LE(test::orthogonality(r.v_view(), b), 8 * test::compute_epsilon<float>) << b;
        EXPECT_LE(test::residual(view, r, b), 8 * test::compute_epsilon<float>) << b;
      }
    }
  });
}

TEST(svd_decompose, canonical_signs) {
  const std::int64_t batch = 20, m = 4, n = 6;
  const auto a = random_numbers<double>(batch * m * n);
  for (const auto& view : {batch_view<const double>(a.data(), batch, m, n),
                           batch_view<const double>(a.data(), batch, m, n).transposed()}) {
    const auto r = svd::decompose<double>(view, {.canonical_signs = true}, Device::host());
    for (std::int64_t b = 0; b < batch; ++b) {
      for (std::int64_t j = 0; j < r.values; ++j) {
        double largest = 0;
        for (std::int64_t i = 0; i < r.rows; ++i)
          if (std::fabs(r.u_view()(b, i, j)) > std::fabs(largest)) largest = r.u_view()(b, i, j);
        EXPECT_GT(largest, 0);
      }
      EXPECT_LE(test::residual(view, r, b), 8 * test::compute_epsilon<double>);
    }
  }
}

TEST(svd_decompose, too_few_sweeps_give_a_status_and_a_result) {
  const std::int64_t batch = 3, n = 12;
  const auto a = random_numbers<float>(batch * n * n);
  test::on_every_device([&](const Device& device) {
    const svd::options options{.preconditioning = svd::preconditioning::none, .max_sweeps = 2};
    const auto r = svd::decompose<float>({a.data(), batch, n, n}, options, device);
    for (std::int64_t b = 0; b < batch; ++b) {
      EXPECT_EQ(r.status[b], svd::not_converged);
      EXPECT_EQ(r.sweeps[b], 2);
      EXPECT_TRUE(test::is_sorted(r, b));
    }
  });
}

TEST(svd_decompose, empty_shapes) {
  const float nothing = 0;
  test::on_every_device([&](const Device& device) {
    EXPECT_TRUE(svd::decompose<float>({&nothing, 0, 3, 4}, {}, device).s.empty());
    for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{0, 3}, {3, 0}, {0, 0}}) {
      const auto economy = svd::decompose<float>({&nothing, 2, m, n}, {}, device);
      EXPECT_EQ(economy.values, 0);
      EXPECT_EQ(economy.status, std::vector<std::int32_t>(2, svd::ok));
      const auto full = svd::decompose<float>({&nothing, 2, m, n}, {.vectors = svd::vectors::full}, device);
      EXPECT_EQ(std::int64_t(full.u.size()), 2 * m * m);
      EXPECT_EQ(std::int64_t(full.v.size()), 2 * n * n);
      for (std::int64_t b = 0; b < 2; ++b) {
        EXPECT_EQ(test::orthogonality(full.u_view(), b), 0);
        EXPECT_EQ(test::orthogonality(full.v_view(), b), 0);
      }
    }
  });
}

TEST(svd_decompose, vt_view_is_the_transpose_of_v_view) {
  const std::vector<double> a{1, 2, 3, 4, 5, 6};
  const auto d = svd::decompose<double>({a.data(), 1, 3, 2}, {}, Device::host());
  EXPECT_EQ(d.vt_view().data(), d.v_view().data());
  EXPECT_EQ(d.vt_view()(0, 0, 1), d.v_view()(0, 1, 0));
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 2; ++j) {
      double product = 0;
      for (std::int64_t k = 0; k < 2; ++k)
        product += d.u_view()(0, i, k) * d.singular_value(0, k) * d.vt_view()(0, k, j);
      EXPECT_NEAR(product, a[i * 2 + j], 1e-14);
    }
}

TEST(svd_decompose, matrices_and_factors_on_devices) {
  const std::int64_t batch = 2, m = 6, n = 4;
  const auto a = random_numbers<float>(batch * m * n);
  test::on_every_device([&](const Device& device) {
    const auto expected = svd::decompose<float>({a.data(), batch, m, n}, {}, device);
    EXPECT_EQ(expected.ran_on, device);
    const Buffer<float> there(a, device);
    const Device given = test::device_of_arguments(device);
    const auto r = svd::decompose(batch_view(there, m, n), {}, given);
    EXPECT_EQ(r.ran_on, device);
    test::expect_same_bits(r.u, expected.u);
    test::expect_same_bits(r.s, expected.s);
    Buffer<float> u(batch * m * n, device), v(batch * n * n, device), s(batch * n, device);
    Buffer<std::int32_t> status(batch, device), sweeps(batch, device);
    EXPECT_EQ(svd::decompose(batch_view(there, m, n), {{u, m, n}, {v, n, n}, {s, n}, status, sweeps}, {}, given),
              device);
    test::expect_same_bits(u.to_vector(), expected.u);
    test::expect_same_bits(v.to_vector(), expected.v);
    test::expect_same_bits(s.to_vector(), expected.s);
    EXPECT_EQ(status.to_vector(), expected.status);
    EXPECT_EQ(sweeps.to_vector(), expected.sweeps);
    // From the device to the host.
    std::vector<float> home(batch * n);
    std::vector<std::int32_t> outcome(batch), count(batch);
    svd::decompose(batch_view(there, m, n), svd::outputs{{}, {}, {home.data(), batch, n}, outcome, count},
                   {.vectors = svd::vectors::none}, given);
    for (std::int64_t b = 0; b < batch; ++b) EXPECT_NEAR(home[b * n], expected.s[b * n], 1e-5 * expected.s[b * n]);
  });
  const Buffer<float> there(a, Device::emulated());
  expect_invalid([&] { svd::decompose(batch_view(there, m, n), {}, Device::host()); },
                 "device must be where the arguments are");
}

TEST(svd_decompose, wrong_arguments) {
  const std::vector<float> a(12);
  const auto run = [&](const svd::options& options) {
    svd::decompose<float>({a.data(), 1, 3, 4}, options, Device::host());
  };
  expect_invalid([&] { run({.top = -1}); }, "top must be >= 0 (top=-1)");
  expect_invalid([&] { run({.vectors = svd::vectors::full, .top = 2}); }, "top must be 0 with full vectors (top=2)");
  expect_invalid([&] { run({.max_sweeps = 0}); }, "max_sweeps must be >= 1 (max_sweeps=0)");
  const std::int64_t long_side = (std::int64_t(1) << 24) + 1;
  expect_invalid([&] { svd::decompose<float>({a.data(), 0, long_side, 4}, {}, Device::host()); },
                 "rows must be <= 16777216 (rows=16777217)");
  expect_invalid([&] { svd::decompose<float>({a.data(), 0, 40000, 32769}, {}, Device::host()); },
                 "rows or cols must be <= 32768 (rows=40000, cols=32769)");
  expect_invalid(
      [&] { svd::decompose<float>({a.data(), 1 << 20, 1 << 24, 1}, {.vectors = svd::vectors::full}, Device::host()); },
      "batch must have at most 2^59 numbers (batch=1048576, rows=16777216, cols=1)");
  const std::int64_t many = (std::int64_t(1) << 29) + 1;
  expect_invalid([&] { svd::decompose<float>({a.data(), many, 3, 4, 0, 0, 0}, {}, Device::host()); }, "batch must be");
  const svd::outputs none{};
  expect_invalid([&] { svd::decompose({a.data(), 1, 3, 4}, none, {}, Device::host()); }, "u must be [1 x 3 x 3]");
}

}  // namespace
}  // namespace quintet
