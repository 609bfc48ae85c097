// Symmetric eigenproblems: every kind of matrix, every way that they are worked on, on every device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "quintet/core/philox.hpp"
#include "quintet/svd/eigen.hpp"
#include "quintet/svd/symmetric.hpp"
#include "reference/svd_reference.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/real_types.hpp"
#include "support/svd_errors.hpp"
#include "svd_case.hpp"

namespace quintet::test {
namespace {

enum class eigen_kind {
  random,
  zero,
  identity,
  equal_elements,  // eigenvalues 0, n - 1 times, and n
  diagonal,        // not in order
  clustered,       // the identity and a little of rank one
  graded,          // elements from 1 to 1e-12
  wilkinson,       // pairs that agree to all digits
  falls_apart,     // two blocks
  opposite,        // eigenvalues in pairs of both signs
  tiny,
  huge,
  last
};

template <class T>
std::vector<T> symmetric_of(eigen_kind kind, std::int64_t batch, std::int64_t n) {
  std::vector<T> a(batch * n * n);
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j <= i; ++j) {
        const auto random = [&](std::int64_t stream) {
          return double(normal_at<float>(std::uint64_t(b + 1), std::uint64_t(stream), 0));
        };
        const bool is_diagonal = i == j, is_beside = i == j + 1;
        double value = random(i * n + j);
        if (kind == eigen_kind::zero) value = 0;
        if (kind == eigen_kind::identity) value = is_diagonal ? 1 : 0;
        if (kind == eigen_kind::equal_elements) value = 1;
        if (kind == eigen_kind::diagonal) value = is_diagonal ? random(i) : 0;
        if (kind == eigen_kind::clustered) value = (is_diagonal ? 1 : 0) + 1e-6 * random(i) * random(j);
        if (kind == eigen_kind::graded) value = std::pow(10.0, -12.0 * double(i + j) / double(2 * n)) * (2 + value);
        if (kind == eigen_kind::wilkinson)
          value = is_diagonal ? std::fabs(double(i) - double(n - 1) / 2) : is_beside ? 1 : 0;
        if (kind == eigen_kind::falls_apart && (2 * i < n) != (2 * j < n)) value = 0;
        if (kind == eigen_kind::opposite && (i + j) % 2 == 0) value = 0;
        if (kind == eigen_kind::tiny) value *= double(std::numeric_limits<T>::min()) * 4;
        if (kind == eigen_kind::huge) value *= double(std::numeric_limits<T>::max()) / double(16 * n);
        a[(b * n + i) * n + j] = a[(b * n + j) * n + i] = T(value);
      }
  return a;
}

/// What an eigendecomposition promises, in units of epsilon.
struct eigen_errors {
  double values = 0, residual = 0, orthogonality = 0;
};

template <class T>
eigen_errors errors_of(const batch_view<const T>& a, const svd::eigen_decomposition<T>& r, std::int64_t b) {
  const double epsilon = compute_epsilon<T>, tiny = std::numeric_limits<accumulator_t<T>>::denorm_min();
  const reference::matrix whole = reference::widened(a, b);
  const auto exact = reference::eigenvalues(whole);
  const std::int64_t n = a.rows();
  long double largest = 0;
  for (const long double w : exact) largest = std::max(largest, std::fabs(w));
  eigen_errors errors;
  for (std::int64_t j = 0; j < n; ++j) {
    const double difference = double(std::fabs(exact[j] - r.eigenvalue(b, j)));
    if (difference > tiny) errors.values = std::max(errors.values, double(difference / largest) / epsilon);
  }
  if (r.v.empty()) return errors;
  const reference::matrix v = reference::widened(r.v_view(), b);
  std::vector<long double> w(r.w.begin() + b * n, r.w.begin() + (b + 1) * n);
  const long double rest = norm(whole * v - reference::scaled_columns(v, w)), size = norm(whole);
  // Subnormal eigenvalues have fewer digits themselves.
  if (rest > std::sqrt(double(n)) * tiny) errors.residual = double(rest / size) / epsilon;
  errors.orthogonality = orthogonality(r.v_view(), b) / epsilon;
  return errors;
}

template <class T>
bool has_canonical_signs(const svd::eigen_decomposition<T>& r, std::int64_t b) {
  const auto v = r.v_view();
  for (std::int64_t j = 0; j < r.size; ++j) {
    T largest = 0;
    for (std::int64_t i = 0; i < r.size; ++i)
      if (std::fabs(v(b, i, j)) > std::fabs(largest)) largest = v(b, i, j);
    if (!(largest > 0)) return false;
  }
  return true;
}

/// The bounds of include/quintet/svd/eigen.hpp.
template <class T>
void check_eigen(const batch_view<const T>& a, const svd::eigen_decomposition<T>& r) {
  const double n = double(a.rows());
  for (std::int64_t b = 0; b < a.batch(); ++b) {
    SCOPED_TRACE(text("matrix ", b));
    ASSERT_EQ(r.status[b], svd::ok);
    EXPECT_TRUE(std::is_sorted(r.w.begin() + b * r.size, r.w.begin() + (b + 1) * r.size));
    const eigen_errors errors = errors_of(a, r, b);
    EXPECT_LE(errors.values, 2 * n);
    EXPECT_LE(errors.residual, 4 * n);
    EXPECT_LE(errors.orthogonality, std::max(8.0, 2 * std::sqrt(n)));
    if (!r.v.empty()) {
      EXPECT_TRUE(has_canonical_signs(r, b));
    }
  }
}

template <class T>
class svd_eigen : public ::testing::Test {};
TYPED_TEST_SUITE(svd_eigen, real_types);

TYPED_TEST(svd_eigen, every_kind_of_matrix) {
  on_every_device([](const Device& device) {
    // Full groups and one that is not. The teams of emulated devices take their time.
    const bool is_host = device.kind() == device_kind::host;
    for (const std::int64_t n : is_host ? std::vector<std::int64_t>{1, 2, 3, 4, 5, 8, 9, 16, 31, 32, 33}
                                        : std::vector<std::int64_t>{1, 2, 5, 8, 9, 12})
      for (int k = 0; k < int(eigen_kind::last); ++k) {
        SCOPED_TRACE(text("n = ", n, ", kind ", k));
        const std::int64_t batch = is_host ? (n < 10 ? 37 : 19) : n < 9 ? 5 : 1;
        const auto a = symmetric_of<TypeParam>(eigen_kind(k), batch, n);
        const batch_view<const TypeParam> view(a.data(), batch, n, n);
        check_eigen(view, svd::eigen(view, {}, device));
      }
  });
}

TYPED_TEST(svd_eigen, larger_matrices_and_few) {
  for (const std::int64_t n : {5, 17, 48, 81, 97, 140, 141, 257, 300}) {
    SCOPED_TRACE(n);
    for (const std::int64_t batch : {1, 4})
      for (const auto kind : {eigen_kind::random, eigen_kind::clustered, eigen_kind::wilkinson, eigen_kind::zero}) {
        if (n > 50 && batch == 4 && kind != eigen_kind::random) continue;
        const auto a = symmetric_of<TypeParam>(kind, batch, n);
        const batch_view<const TypeParam> view(a.data(), batch, n, n);
        check_eigen(view, svd::eigen(view, {}, Device::host()));
      }
  }
}

// Rounding leaves a long block of noise of a matrix of rank 1. Its first eigenvalue takes more than 50 steps.
TYPED_TEST(svd_eigen, rank_one_leaves_a_block_of_noise) {
  for (const std::int64_t n : {73, 132, 196, 212, 256}) {
    std::vector<TypeParam> a(4 * n * n);
    double largest = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      largest += double((i + 1) * (i + 1));
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t b = 0; b < 4; ++b) a[(b * n + i) * n + j] = TypeParam((i + 1) * (j + 1));
    }
    for (const std::int64_t batch : {1, 4})
      for (const bool vectors : {true, false}) {
        SCOPED_TRACE(text("n = ", n, ", batch ", batch, ", vectors ", vectors));
        const auto r = svd::eigen(batch_view<const TypeParam>(a.data(), batch, n, n), {.vectors = vectors});
        for (std::int64_t b = 0; b < batch; ++b) {
          EXPECT_EQ(r.status[b], svd::ok);
          for (std::int64_t j = 0; j < n; ++j)
            EXPECT_NEAR(r.eigenvalue(b, j), j + 1 < n ? 0 : largest,
                        2 * double(n) * compute_epsilon<TypeParam> * largest);
        }
      }
  }
}

TYPED_TEST(svd_eigen, values_alone_are_those_with_vectors) {
  on_every_device([](const Device& device) {
    for (const std::int64_t n : {1, 3, 8, 20, 40, 70}) {
      const std::int64_t batch = device.kind() == device_kind::host ? 20 : 2;
      if (device.kind() != device_kind::host && n > 20) continue;
      const auto a = symmetric_of<TypeParam>(eigen_kind::random, batch, n);
      const batch_view<const TypeParam> view(a.data(), batch, n, n);
      const auto with = svd::eigen(view, {}, device);
      const auto alone = svd::eigen(view, {.vectors = false}, device);
      EXPECT_TRUE(alone.v.empty());
      expect_same_bits(alone.w, with.w);
    }
  });
}

// Only one triangle is read: the other may hold anything.
TYPED_TEST(svd_eigen, reads_one_triangle) {
  on_every_device([](const Device& device) {
    for (const std::int64_t n : {4, 12}) {
      const std::int64_t batch = 6;
      const auto whole = symmetric_of<TypeParam>(eigen_kind::random, batch, n);
      const auto expected = svd::eigen(batch_view<const TypeParam>(whole.data(), batch, n, n), {}, device);
      for (const bool is_upper : {false, true}) {
        auto part = whole;
        for (std::int64_t b = 0; b < batch; ++b)
          for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < n; ++j)
              if (is_upper ? i > j : i < j) part[(b * n + i) * n + j] = std::numeric_limits<TypeParam>::quiet_NaN();
        const auto r = svd::eigen(batch_view<const TypeParam>(part.data(), batch, n, n),
                                  {.triangle = is_upper ? svd::triangle::upper : svd::triangle::lower}, device);
        expect_same_bits(r.w, expected.w);
        expect_same_bits(r.v, expected.v);
      }
    }
  });
}

// NaN in one matrix, and neighbours that take more or fewer steps, change no bit of the others.
TYPED_TEST(svd_eigen, a_matrix_knows_nothing_of_its_neighbours) {
  on_every_device([](const Device& device) {
    for (const std::int64_t n : {3, 6, 20}) {
      SCOPED_TRACE(n);
      const std::int64_t batch = device.kind() == device_kind::host ? 40 : 5, size = n * n;
      auto a = symmetric_of<TypeParam>(eigen_kind::random, batch, n);
      const auto clean = svd::eigen(batch_view<const TypeParam>(a.data(), batch, n, n), {}, device);
      a[2 * size] = std::numeric_limits<TypeParam>::quiet_NaN();
      a[3 * size + n * (n - 1)] = std::numeric_limits<TypeParam>::infinity();
      std::fill_n(a.begin() + 4 * size, size, TypeParam(0));
      const auto r = svd::eigen(batch_view<const TypeParam>(a.data(), batch, n, n), {}, device);
      for (std::int64_t b = 0; b < batch; ++b) {
        const bool is_lost = b == 2 || b == 3;
        EXPECT_EQ(r.status[b], is_lost ? svd::not_finite : svd::ok);
        if (b == 4) continue;
        for (std::int64_t e = b * size; e < (b + 1) * size; ++e)
          ASSERT_TRUE(is_lost ? std::isnan(r.v[e]) : r.v[e] == clean.v[e]) << b;
        for (std::int64_t e = b * n; e < (b + 1) * n; ++e)
          ASSERT_TRUE(is_lost ? std::isnan(r.w[e]) : r.w[e] == clean.w[e]) << b;
      }
    }
  });
}

// Another order of the batch, and parts of it.
TYPED_TEST(svd_eigen, order_and_parts_do_not_matter) {
  const std::int64_t n = 11, batch = 50, size = n * n;
  const auto a = symmetric_of<TypeParam>(eigen_kind::random, batch, n);
  const auto all = svd::eigen(batch_view<const TypeParam>(a.data(), batch, n, n), {}, Device::host());
  std::vector<TypeParam> turned;
  for (std::int64_t b = batch - 1; b >= 0; --b) turned.insert(turned.end(), &a[b * size], &a[b * size] + size);
  const auto other = svd::eigen(batch_view<const TypeParam>(turned.data(), batch, n, n), {}, Device::host());
  for (std::int64_t b = 0; b < batch; ++b) {
    const auto alone =
        svd::eigen(batch_view<const TypeParam>(&a[b * size], 1, n, n), {.part_of = batch}, Device::host());
    for (std::int64_t e = 0; e < size; ++e) {
      ASSERT_EQ(other.v[(batch - 1 - b) * size + e], all.v[b * size + e]);
      ASSERT_EQ(alone.v[e], all.v[b * size + e]);
    }
  }
}

TYPED_TEST(svd_eigen, threads_do_not_matter) {
  const int before = threads();
  for (const std::int64_t n : {7, 60, 270}) {
    const std::int64_t batch = n < 100 ? 70 : 2;
    const auto a = symmetric_of<TypeParam>(eigen_kind::random, batch, n);
    const batch_view<const TypeParam> view(a.data(), batch, n, n);
    set_threads(1);
    const auto alone = svd::eigen(view, {}, Device::host());
    for (const int count : {2, 5}) {
      set_threads(count);
      const auto r = svd::eigen(view, {}, Device::host());
      expect_same_bits(r.w, alone.w);
      expect_same_bits(r.v, alone.v);
    }
  }
  set_threads(before);
}

// Any strides of A and V, gaps, and one matrix for the whole batch.
TYPED_TEST(svd_eigen, strides) {
  on_every_device([](const Device& device) {
    for (const std::int64_t n : {3, 10}) {
      const std::int64_t batch = 5, gap = n * n + 3;
      const auto a = symmetric_of<TypeParam>(eigen_kind::random, batch, n);
      const auto expected = svd::eigen(batch_view<const TypeParam>(a.data(), batch, n, n), {}, device);
      std::vector<TypeParam> gaps(batch * gap, 77), v(batch * gap, 55), w(batch * (n + 2), 33);
      for (std::int64_t b = 0; b < batch; ++b)
        for (std::int64_t e = 0; e < n * n; ++e) gaps[b * gap + e] = a[b * n * n + e];
      std::vector<std::int32_t> status(batch, 9);
      svd::eigen(any_batch(batch_view<const TypeParam>(gaps.data(), batch, n, n, gap, n, 1)),
                 {matrix_view<TypeParam>(w.data(), batch, n, n + 2),
                  batch_view<TypeParam>(v.data(), batch, n, n, gap, 1, n), status},
                 {}, device);
      for (std::int64_t b = 0; b < batch; ++b) {
        EXPECT_EQ(status[b], svd::ok);
        EXPECT_EQ(v[b * gap + n * n], TypeParam(55));
        EXPECT_EQ(w[b * (n + 2) + n], TypeParam(33));
        for (std::int64_t i = 0; i < n; ++i) {
          EXPECT_EQ(w[b * (n + 2) + i], expected.w[b * n + i]);
          for (std::int64_t j = 0; j < n; ++j) EXPECT_EQ(v[b * gap + j * n + i], expected.v[(b * n + i) * n + j]);
        }
      }
      const auto repeated = svd::eigen(batch_view<const TypeParam>(a.data(), batch, n, n, 0, n, 1), {}, device);
      for (std::int64_t b = 0; b < batch; ++b)
        for (std::int64_t e = 0; e < n * n; ++e) EXPECT_EQ(repeated.v[b * n * n + e], expected.v[e]);
    }
  });
}

// Every way that matrices are worked on. Beyond four rows a part has the bits of the whole.
TYPED_TEST(svd_eigen, subsets_are_parts_of_all) {
  on_every_device([](const Device& device) {
    const bool is_host = device.kind() == device_kind::host;
    for (const std::int64_t n : {1, 2, 3, 4, 5, 12, 30, 90, 260}) {
      if (n > 12 && !is_host) continue;
      const std::int64_t batch = n < 50 ? 37 : 2;
      auto a = symmetric_of<TypeParam>(eigen_kind::random, batch, n);
      a[0] = std::numeric_limits<TypeParam>::quiet_NaN();
      const batch_view<const TypeParam> view(a.data(), batch, n, n);
      const auto all = svd::eigen(view, {}, device);
      for (const auto& [first, count] : {std::pair<std::int64_t, std::int64_t>{0, 1}, {n / 2, (n + 1) / 2}, {n - 1, 1}})
        for (const bool vectors : {true, false}) {
          SCOPED_TRACE(text("n = ", n, ", first ", first, ", count ", count));
          const auto part = svd::eigen(view, {.vectors = vectors, .first = first, .count = count}, device);
          EXPECT_EQ(part.status, all.status);
          ASSERT_EQ(part.values, count);
          ASSERT_EQ(std::int64_t(part.v.size()), vectors ? batch * n * count : 0);
          const double bound = n > 4 ? 0 : 8 * compute_epsilon<TypeParam>;
          for (std::int64_t b = 0; b < batch; ++b)
            for (std::int64_t j = 0; j < count; ++j) {
              const double value = part.eigenvalue(b, j), expected = all.eigenvalue(b, first + j);
              if (b == 0) {
                EXPECT_TRUE(std::isnan(value));
                if (vectors) EXPECT_TRUE(std::isnan(part.v_view()(b, n - 1, j)));
                continue;
              }
              // Without vectors larger matrices are worked on in other groups.
              EXPECT_NEAR(value, expected, (vectors ? bound : double(n) * compute_epsilon<TypeParam>)*10);
              if (vectors && n > 4)
                for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(part.v_view()(b, i, j), all.v_view()(b, i, first + j));
            }
        }
    }
  });
}

TEST(svd_eigen_subsets, by_value) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> w{-1, 2, 2, 5, nan, nan, nan, nan, 3, 3, 3, 3};
  const auto ranges = svd::find_eigenvalues(matrix_view<const double>(w.data(), 3, 4), -1, 2);
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0].first, 1);
  EXPECT_EQ(ranges[0].count, 2);
  EXPECT_EQ(ranges[1].count, 0);
  EXPECT_EQ(ranges[2].first, 0);
  EXPECT_EQ(ranges[2].count, 0);
  const std::vector<float> narrow{1, 2, 3};
  const auto open = svd::find_eigenvalues(matrix_view<const float>(narrow.data(), 1, 3), 1.5, HUGE_VAL);
  EXPECT_EQ(open[0].first, 1);
  EXPECT_EQ(open[0].count, 2);
  EXPECT_TRUE(svd::find_eigenvalues(matrix_view<const double>(w.data(), 0, 4), 0, 1).empty());
  expect_invalid([&] { svd::find_eigenvalues(matrix_view<const double>(w.data(), 3, 4), 2, 2); },
                 "above must be < up_to (above=2, up_to=2)");
  expect_invalid([&] { svd::find_eigenvalues(matrix_view<const double>(w.data(), 3, 4), nan, 2); }, "above must be");
}

TEST(svd_eigen_subsets, wrong_ones) {
  const std::vector<double> a(18);
  const batch_view<const double> view(a.data(), 2, 3, 3);
  expect_invalid([&] { svd::eigen(view, {.count = 4}); },
                 "count must be in 0 ... 3, the size of the matrices (count=4)");
  expect_invalid([&] { svd::eigen(view, {.count = -1}); }, "count must be in 0 ... 3");
  expect_invalid([&] { svd::eigen(view, {.first = 2, .count = 2}); }, "first must be in 0 ... 1 with a count of 2");
  expect_invalid([&] { svd::eigen(view, {.first = -1, .count = 2}); }, "first must be in 0 ... 1");
  expect_invalid([&] { svd::eigen(view, {.first = 1}); }, "first must be 0 with a count of 0");
  expect_invalid([&] { svd::decompose_symmetric(view, {.count = 2}); }, "count must be 0");
  std::vector<double> v(18), w(6);
  std::vector<std::int32_t> status(2);
  expect_invalid(
      [&] {
        svd::eigen(view, {any_output_matrix(w.data(), 2, 3), any_output_batch(v.data(), 2, 3, 2), status},
                   {.count = 2});
      },
      "w.cols must be the count of eigenvalues, 2 (w.cols=3)");
}

TEST(svd_eigen_data, every_case) {
  const auto folder = data_folder("eigh");
  QUINTET_SKIP_WITHOUT(folder);
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with("_A.csv")) continue;
    SCOPED_TRACE(name);
    ++cases;
    const auto numbers = read_numbers(entry.path());
    const auto exact = read_numbers(folder / (name.substr(0, name.size() - 6) + "_W.csv"));
    const std::int64_t n = std::int64_t(exact.size());
    ASSERT_EQ(std::int64_t(numbers.size()), n * n);
    const auto check = [&]<class T>() {
      for (const std::int64_t batch : {1, 20}) {  // alone and among others
        std::vector<T> a;
        for (std::int64_t b = 0; b < batch; ++b) a.insert(a.end(), numbers.begin(), numbers.end());
        const auto r = svd::eigen(batch_view<const T>(a.data(), batch, n, n), {}, Device::host());
        double largest = 0, error = 0;
        for (const double w : exact) largest = std::max(largest, std::fabs(w));
        for (std::int64_t j = 0; j < n; ++j) error = std::max(error, std::fabs(double(r.w[j]) - exact[j]));
        expect_error_within(name, largest > 0 ? error / largest / compute_epsilon<T> : error, 2 * double(n));
      }
    };
    if (name.find("_f32_") != std::string::npos)
      check.template operator()<float>();
    else
      check.template operator()<double>();
  }
  EXPECT_GE(cases, 14);
}

template <class T>
void check_sixteen_bits() {
  const std::int64_t batch = 9, n = 6;
  const auto numbers = symmetric_of<float>(eigen_kind::random, batch, n);
  std::vector<T> a;
  for (const float value : numbers) a.push_back(T(value));
  std::vector<float> rounded;
  for (const T value : a) rounded.push_back(float(value));
  const auto r = svd::eigen(batch_view<const T>(a.data(), batch, n, n), {}, Device::host());
  const auto single = svd::eigen(batch_view<const float>(rounded.data(), batch, n, n), {}, Device::host());
  expect_same_bits(r.w, single.w);
  for (std::size_t e = 0; e < r.v.size(); ++e) ASSERT_EQ(float(r.v[e]), float(T(single.v[e])));
}

TEST(svd_eigen_arguments, sixteen_bits) {
  check_sixteen_bits<half>();
  check_sixteen_bits<bfloat16>();
}

TEST(svd_eigen_arguments, empty) {
  const std::vector<double> nothing;
  const auto no_matrices = svd::eigen(batch_view<const double>(nothing.data(), 0, 3, 3), {}, Device::host());
  EXPECT_TRUE(no_matrices.w.empty() && no_matrices.v.empty() && no_matrices.status.empty());
  const auto no_rows = svd::eigen(batch_view<const double>(nothing.data(), 4, 0, 0), {}, Device::host());
  EXPECT_EQ(no_rows.status, std::vector<std::int32_t>(4, svd::ok));
  EXPECT_TRUE(no_rows.w.empty());
}

TEST(svd_eigen_arguments, checks) {
  const std::vector<double> a(24);
  expect_invalid([&] { svd::eigen(batch_view<const double>(a.data(), 2, 3, 4)); }, "a must be square");
  std::vector<double> v(18), w(6);
  std::vector<std::int32_t> status(2);
  const batch_view<const double> matrices(a.data(), 2, 3, 3);
  const any_output_batch wrong(v.data(), 2, 3, 2);
  expect_invalid([&] { svd::eigen(matrices, {any_output_matrix(w.data(), 2, 3), wrong, status}, {}); },
                 "v must be [2 x 3 x 3]");
  expect_invalid(
      [&] {
        svd::eigen(matrices, {any_output_matrix(w.data(), 3, 2), any_output_batch(v.data(), 2, 3, 3), status}, {});
      },
      "w.rows");
}

}  // namespace
}  // namespace quintet::test
