// The Jacobi kernel in every specialisation, with teams of every size: also where a team has fewer threads than are
// meant for a pair of columns, or a number that makes no whole pairs.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <vector>

#include "device/emulation.hpp"
#include "quintet/core/philox.hpp"
#include "quintet/device/buffer.hpp"
#include "quintet/svd/applications.hpp"
#include "quintet/svd/decompose.hpp"
#include "quintet/svd/gradient.hpp"
#include "quintet/svd/randomised.hpp"
#include "support/near.hpp"
#include "support/svd_errors.hpp"
#include "svd/block_jacobi.hpp"
#include "svd/jacobi.hpp"

namespace quintet {
namespace {

/// Those of tests/kernels, which runs these tests with every size, or two that are not what kernels ask for.
std::vector<int> team_sizes() {
  const char* only = std::getenv("QUINTET_TEST_TEAM_SIZE");
  if (only != nullptr && *only != 0) return {std::atoi(only)};
  return {3, 32};
}

/// Matrices with their factors, all on an emulated device.
template <class Real>
class team_problem {
 public:
  team_problem(std::int64_t batch, std::int64_t rows, std::int64_t cols) {
    const Device device = Device::emulated();
    std::vector<Real> numbers(batch * rows * cols);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = normal_at<Real>(3, 0, i);
    a_ = Buffer<Real>(numbers, device);
    factors_.u = std::vector<Real>(batch * rows * cols);
    factors_.v = std::vector<Real>(batch * cols * cols);
    factors_.s = std::vector<Real>(batch * cols);
    factors_.status = factors_.sweeps = std::vector<std::int32_t>(batch);
    factors_.batch = batch;
    factors_.rows = rows;
    factors_.cols = factors_.values = factors_.u_cols = factors_.v_cols = cols;
  }

  /// One launch on all of it. Emulated devices share the memory of the host.
  void run(svd::device_policy policy, svd::route preconditioner) {
    svd::decomposition<Real>& f = factors_;
    constexpr auto type = quintet::scalar_type_of<Real>();
    svd::jacobi_job<Real> job = {};
    job.a = {a_.data(), type, f.rows * f.cols, f.cols, 1};
    job.left = {f.u.data(), type, f.rows * f.cols, f.cols, 1};
    job.right = {f.v.data(), type, f.cols * f.cols, f.cols, 1};
    job.s = {f.s.data(), type, f.cols, 0, 1};
    job.status = f.status.data();
    job.sweeps = f.sweeps.data();
    job.count = f.batch;
    job.rows = std::int32_t(f.rows);
    job.cols = job.left_cols = job.right_cols = job.values = std::int32_t(f.cols);
    job.preconditioner = preconditioner;
    job.max_sweeps = 30;
    job.root_rows = std::sqrt(Real(preconditioner == svd::route::direct ? f.rows : f.cols));
    job.vectors = true;
    svd::run_jacobi_as(policy, job, Device::emulated());
  }

  void check(bool is_graded = false) const {
    const svd::decomposition<Real>& f = factors_;
    const batch_view<const Real> a(a_.data(), f.batch, f.rows, f.cols);
    const test::svd_bounds bounds = test::bounds_for(
        f.rows, f.cols, {.preconditioning = is_graded ? svd::preconditioning::qr : svd::preconditioning::automatic});
    for (std::int64_t b = 0; b < f.batch; ++b) {
      EXPECT_EQ(f.status[b], svd::ok);
      EXPECT_TRUE(test::is_sorted(f, b));
      EXPECT_LE(test::residual(a, f, b) / test::compute_epsilon<Real>, bounds.residual);
      EXPECT_LE(test::orthogonality(f.u_view(), b) / test::compute_epsilon<Real>, bounds.u);
      EXPECT_LE(test::orthogonality(f.v_view(), b) / test::compute_epsilon<Real>, bounds.v);
    }
  }

 private:
  Buffer<Real> a_;
  svd::decomposition<Real> factors_;
};

template <class T>
class svd_teams : public ::testing::Test {};
using real_types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(svd_teams, real_types);

TYPED_TEST(svd_teams, of_any_size_in_every_specialisation) {
  using enum svd::device_policy;
  for (const svd::device_policy policy : {lanes, small, middle, large, emulated})
    for (const int size : team_sizes()) {
      SCOPED_TRACE(text("specialisation ", int(policy), ", teams of ", size));
      const device::emulated_team_size guard(size);
      team_problem<TypeParam> square(1, 5, 5), tall(1, 11, 4);
      square.run(policy, svd::route::direct);
      square.check();
      tall.run(policy, svd::route::pivoted_lower);
      tall.check(true);
    }
}

/// The rest of the family's kernels: beside the host, where the bits may differ by the order of sums.
class svd_team_sizes : public ::testing::TestWithParam<int> {
 protected:
  svd_team_sizes() : guard_(GetParam()) {}

  static std::vector<float> numbers(std::int64_t count) {
    std::vector<float> a(count);
    for (std::int64_t i = 0; i < count; ++i) a[i] = normal_at<float>(4, 0, std::uint64_t(i));
    return a;
  }

 private:
  device::emulated_team_size guard_;
};

TEST_P(svd_team_sizes, randomised) {
  const std::int64_t m = 36, n = 34;
  const auto a = numbers(m * n);
  const auto r = svd::randomised<float>(
      {a.data(), 1, m, n}, {.rank = 25, .power_iterations = 0, .canonical_signs = true}, Device::emulated());
  const auto expected = svd::randomised<float>(
      {a.data(), 1, m, n}, {.rank = 25, .power_iterations = 0, .canonical_signs = true}, Device::host());
  EXPECT_LE(test::orthogonality(r.factors.u_view(), 0), 40 * test::compute_epsilon<float>);
  EXPECT_LE(test::orthogonality(r.factors.v_view(), 0), 40 * test::compute_epsilon<float>);
  test::expect_near(r.factors.s, expected.factors.s, 1e-4);
  EXPECT_NEAR(r.residual[0], expected.residual[0], 1e-4 * expected.residual[0]);
}

/// Two blocks, of a matrix that is nearly diagonal: few sweeps.
TEST_P(svd_team_sizes, blocks) {
  const std::int32_t n = 33;
  auto a = numbers(n * n);
  for (int i = 0; i < n * n; ++i) a[i] = 1e-3F * a[i] + (i % (n + 1) == 0 ? float(i + 1) : 0.0F);
  svd::decomposition<float> r;
  r.batch = 1;
  r.rows = r.cols = r.values = r.u_cols = r.v_cols = n;
  r.u.resize(n * n);
  r.v.resize(n * n);
  r.s.resize(n);
  r.status.resize(1);
  r.sweeps.resize(1);
  svd::jacobi_job<float> job = {};
  constexpr auto type = quintet::scalar_type_of<float>();
  job.a = {a.data(), type, n * n, n, 1};
  job.left = {r.u.data(), type, n * n, n, 1};
  job.right = {r.v.data(), type, n * n, n, 1};
  job.s = {r.s.data(), type, n, 0, 1};
  job.status = r.status.data();
  job.sweeps = r.sweeps.data();
  job.count = 1;
  job.rows = job.cols = job.left_cols = job.right_cols = job.values = n;
  job.max_sweeps = 10;
  job.root_rows = std::sqrt(float(n));
  job.vectors = true;
  svd::run_in_blocks(job, Device::emulated());
  const test::svd_bounds bounds = test::square_bounds(n);
  EXPECT_EQ(r.status[0], svd::ok);
  EXPECT_LE(test::residual<float>({a.data(), 1, n, n}, r, 0) / test::compute_epsilon<float>, bounds.residual);
  EXPECT_LE(test::orthogonality(r.u_view(), 0) / test::compute_epsilon<float>, bounds.u);
  EXPECT_LE(test::orthogonality(r.v_view(), 0) / test::compute_epsilon<float>, bounds.v);
}

/// QR by the Gram matrix, in two tiles: sums of pairs of threads, and threads that are in none.
TEST_P(svd_team_sizes, tall) {
  const std::int64_t m = 1700, n = 5;
  const auto a = numbers(m * n);
  for (const bool centre : {false, true}) {
    const auto r =
        svd::decompose<float>({a.data(), 1, m, n}, {.canonical_signs = centre, .centre = centre}, Device::emulated());
    const auto expected =
        svd::decompose<float>({a.data(), 1, m, n}, {.canonical_signs = centre, .centre = centre}, Device::host());
    const test::svd_bounds bounds = test::bounds_for(m, n, {});
    EXPECT_EQ(r.status[0], svd::ok);
    EXPECT_LE(test::orthogonality(r.u_view(), 0) / test::compute_epsilon<float>, bounds.u);
    EXPECT_LE(test::orthogonality(r.v_view(), 0) / test::compute_epsilon<float>, bounds.v);
    test::expect_near(r.s, expected.s, 1e-6);
    test::expect_near(r.means, expected.means, 1e-6);
  }
}

TEST_P(svd_team_sizes, applications_and_gradient) {
  const std::int64_t m = 7, n = 5;
  const auto a = numbers(m * n);
  const auto d = svd::decompose<float>({a.data(), 1, m, n}, {}, Device::host());
  const Device device = Device::emulated();
  test::expect_same_bits(svd::pseudo_inverse(d, {}, device), svd::pseudo_inverse(d, {}, Device::host()));
  std::vector<float> condition(1);
  svd::condition_number(d.s_view(), condition, device);
  test::expect_same_bits(condition, svd::condition_number(d));
  const auto gu = numbers(m * n);
  const auto on = [&](const Device& where) { return svd::gradient<float>(d, {gu.data(), 1, m, n}, {}, {}, {}, where); };
  test::expect_same_bits(on(device), on(Device::host()));
}

TEST_P(svd_team_sizes, empty_matrices) {
  const auto r = svd::decompose<float>({nullptr, 2, 3, 0}, {.vectors = svd::vectors::full}, Device::emulated());
  EXPECT_EQ(r.u, (std::vector<float>{1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(r.status, (std::vector<std::int32_t>{0, 0}));
}

INSTANTIATE_TEST_SUITE_P(teams, svd_team_sizes, ::testing::ValuesIn(team_sizes()));

}  // namespace
}  // namespace quintet
