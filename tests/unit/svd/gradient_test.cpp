// Gradients against finite differences, against analytic ones, and against derivatives of 60 digits.
#include "quintet/svd/gradient.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>

#include "quintet/core/philox.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "svd_case.hpp"

namespace quintet {
namespace {

/// The losses of the reference data: sum w_r s_r, and sum w_r (a^2 - 2 b^2 + 3 a b) with a = x . u_r, b = y . v_r.
/// Signs of the vectors do not matter to them.
struct loss {
  bool of_values, of_vectors;
  std::vector<double> w, x, y;

  double value(const svd::decomposition<double>& d, std::int64_t b = 0) const {
    double sum = 0;
    for (std::size_t r = 0; r < w.size(); ++r) {
      if (of_values) sum += w[r] * d.singular_value(b, r);
      if (!of_vectors) continue;
      const double a = dot(x, d.u_view(), b, r), c = dot(y, d.v_view(), b, r);
      sum += w[r] * (a * a - 2 * c * c + 3 * a * c);
    }
    return sum;
  }

  static double dot(const std::vector<double>& x, batch_view<const double> m, std::int64_t b, std::int64_t r) {
    double sum = 0;
    for (std::int64_t i = 0; i < m.rows(); ++i) sum += x[i] * m(b, i, r);
    return sum;
  }

  std::vector<double> gradient(const svd::decomposition<double>& d, const Device& device,
                               const svd::gradient_options& options = {}) const {
    std::vector<double> gu(d.u.size()), gs(d.s.size()), gv(d.v.size());
    for (std::int64_t b = 0; b < d.batch; ++b)
      for (std::size_t r = 0; r < w.size(); ++r) {
        gs[b * d.values + r] = of_values ? w[r] : 0;
        if (!of_vectors) continue;
        const double a = dot(x, d.u_view(), b, r), c = dot(y, d.v_view(), b, r);
        for (std::int64_t i = 0; i < d.rows; ++i) gu[(b * d.rows + i) * d.u_cols + r] = w[r] * (2 * a + 3 * c) * x[i];
        for (std::int64_t i = 0; i < d.cols; ++i) gv[(b * d.cols + i) * d.v_cols + r] = w[r] * (3 * a - 4 * c) * y[i];
      }
    using view = batch_view<const double>;
    return svd::gradient<double>(d, of_vectors ? view(gu.data(), d.batch, d.rows, d.u_cols) : view(),
                                 {gs.data(), d.batch, d.values},
                                 of_vectors ? view(gv.data(), d.batch, d.cols, d.v_cols) : view(), options, device);
  }
};

constexpr svd::degeneracy policies[] = {svd::degeneracy::exact, svd::degeneracy::drop, svd::degeneracy::broaden};
constexpr svd::vectors kinds[] = {svd::vectors::economy, svd::vectors::full};

TEST(svd_gradient, reference_derivatives) {
  QUINTET_SKIP_WITHOUT(test::svd_folder());
  for (const auto& entry : std::filesystem::directory_iterator(test::svd_folder())) {
    const std::string file = entry.path().filename().string();
    if (file.rfind("grad", 0) != 0 || file.size() < 8 || file.substr(file.size() - 7) != "_dA.csv") continue;
    const std::string name = file.substr(0, file.size() - 7);
    // gradMxN_KIND or gradN..._KIND: the shape is in the name, before the kind.
    if (file.rfind("graded", 0) == 0) continue;
    SCOPED_TRACE(name);
    const auto read = [&](const char* what) { return test::read_numbers(test::svd_folder() / (name + what)); };
    const std::size_t cross = name.find('x'), end = name.find('_');
    const std::int64_t m = std::stoll(name.substr(4, cross - 4)), n = std::stoll(name.substr(cross + 1, end - cross));
    const std::string kind = name.substr(name.rfind('_') + 1);
    const loss l{kind.find('S') != std::string::npos, kind.find("UV") != std::string::npos, read("_w.csv"),
                 read("_x.csv"), read("_y.csv")};
    const auto a = read("_A.csv"), expected = read("_dA.csv");
    test::on_every_device([&](const Device& device) {
      for (const auto which : kinds) {
        const auto d = svd::decompose<double>({a.data(), 1, m, n}, {.vectors = which}, device);
        test::expect_near(std::vector<double>{l.value(d)}, read("_L.csv"), 1e-13);
        for (const auto policy : policies)
          test::expect_error_within(text(name, "_", int(which), "_", int(policy)),
                                    test::largest_error(l.gradient(d, device, {.policy = policy}), expected, 1), 1e-12);
      }
    });
  }
}

TEST(svd_gradient, finite_differences) {
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{5, 5}, {7, 4}, {3, 6}})
    for (const auto which : kinds) {
      const std::int64_t k = std::min(m, n);
      std::vector<double> a(m * n), x(m), y(n), w(k);
      for (std::int64_t i = 0; i < m * n; ++i) a[i] = normal_at<double>(3, 0, i);
      for (std::int64_t i = 0; i < m; ++i) x[i] = normal_at<double>(3, 1, i);
      for (std::int64_t i = 0; i < n; ++i) y[i] = normal_at<double>(3, 2, i);
      for (std::int64_t i = 0; i < k; ++i) w[i] = normal_at<double>(3, 3, i);
      const loss l{true, true, w, x, y};
      const auto value = [&](const std::vector<double>& at) {
        return l.value(svd::decompose<double>({at.data(), 1, m, n}, {.vectors = which}, Device::host()));
      };
      const auto d = svd::decompose<double>({a.data(), 1, m, n}, {.vectors = which}, Device::host());
      std::vector<double> expected(m * n);
      for (std::int64_t i = 0; i < m * n; ++i) {
        const double step = 1e-5;
        auto up = a, down = a;
        up[i] += step;
        down[i] -= step;
        expected[i] = (value(up) - value(down)) / (2 * step);
      }
      for (const auto policy : policies)
        test::expect_near(l.gradient(d, Device::host(), {.policy = policy}), expected, 1e-6, 1);
    }
}

/// The square of what lies outside the range of A or of A^T: a loss of the completing columns that depends on their
/// space alone.
TEST(svd_gradient, completing_columns_of_full_vectors) {
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{6, 3}, {2, 5}}) {
    const std::int64_t k = std::min(m, n), longer = std::max(m, n);
    std::vector<double> a(m * n), x(longer);
    for (std::int64_t i = 0; i < m * n; ++i) a[i] = normal_at<double>(11, 0, i);
    for (std::int64_t i = 0; i < longer; ++i) x[i] = normal_at<double>(11, 1, i);
    const auto full_of = [&](const std::vector<double>& at) {
      return svd::decompose<double>({at.data(), 1, m, n}, {.vectors = svd::vectors::full}, Device::host());
    };
    const auto longer_side = [&](const svd::decomposition<double>& d) { return m > n ? d.u_view() : d.v_view(); };
    const auto value = [&](const std::vector<double>& at) {
      const auto d = full_of(at);
      double sum = 0;
      for (std::int64_t c = k; c < longer; ++c) sum += std::pow(loss::dot(x, longer_side(d), 0, c), 2);
      return sum;
    };
    std::vector<double> expected(m * n);
    for (std::int64_t i = 0; i < m * n; ++i) {
      auto up = a, down = a;
      up[i] += 1e-5;
      down[i] -= 1e-5;
      expected[i] = (value(up) - value(down)) / 2e-5;
    }
    const auto d = full_of(a);
    std::vector<double> derivative(longer * longer);
    for (std::int64_t c = k; c < longer; ++c)
      for (std::int64_t i = 0; i < longer; ++i)
        derivative[i * longer + c] = 2 * loss::dot(x, longer_side(d), 0, c) * x[i];
    const batch_view<const double> given(derivative.data(), 1, longer, longer), none;
    test::on_every_device([&](const Device& device) {
      test::expect_near(svd::gradient<double>(d, m > n ? given : none, {}, m > n ? none : given, {}, device), expected,
                        1e-8, 1);
    });
  }
}

TEST(svd_gradient, degenerate_matrices_are_counted) {
  // Four matrices 3 x 2: two equal values, different ones, a value of zero, nothing but zeros.
  const std::vector<double> a{2, 0, 0, 2, 0, 0, 2, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(svd::count_degenerate(svd::decompose<double>({a.data(), 4, 3, 2})), 3);
  // A single zero of a square matrix divides nothing.
  const std::vector<double> square{2, 0, 0, 0};
  EXPECT_EQ(svd::count_degenerate(svd::decompose<double>({square.data(), 1, 2, 2})), 0);
  const std::vector<double> near{1, 0, 0, 0.999};
  const auto d = svd::decompose<double>({near.data(), 1, 2, 2});
  EXPECT_EQ(svd::count_degenerate(d), 0);
  EXPECT_EQ(svd::count_degenerate(d, {.tolerance = 1e-2}), 1);
  EXPECT_THROW(svd::count_degenerate(d, {.tolerance = -1}), InvalidArgument);
}

/// At the identity all singular values are equal: the gradient of the nuclear norm is U V^T = I, and losses that do not
/// depend on the choice of vectors have finite gradients.
TEST(svd_gradient, identity_matrix) {
  const std::int64_t n = 4;
  std::vector<double> a(n * n), target(n * n), ones(n, 1.0);
  for (std::int64_t i = 0; i < n; ++i) a[i * n + i] = 1;
  for (std::int64_t i = 0; i < n * n; ++i) target[i] = std::sin(double(i));
  const auto d = svd::decompose<double>({a.data(), 1, n, n}, {}, Device::host());
  const matrix_view<const double> gs(ones.data(), 1, n);
  test::expect_near(svd::gradient<double>(d, {}, gs, {}), a, 1e-14, 1);

  // |U S V^T - C|^2 has the gradient 2 (A - C): G = 2 (A - C), gU = G V S, gV = G^T U S, gS = diag(U^T G V).
  std::vector<double> g(n * n), gu(n * n), gv(n * n), values(n);
  for (std::int64_t i = 0; i < n * n; ++i) g[i] = 2 * (a[i] - target[i]);
  const auto u = d.u_view(), v = d.v_view();
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t r = 0; r < n; ++r) {
        gu[i * n + j] += g[i * n + r] * v(0, r, j) * d.s[j];
        gv[i * n + j] += g[r * n + i] * u(0, r, j) * d.s[j];
        values[j] += u(0, i, j) * g[i * n + r] * v(0, r, j);
      }
  test::on_every_device([&](const Device& device) {
    for (const auto policy : {svd::degeneracy::drop, svd::degeneracy::broaden}) {
      const auto found = svd::gradient<double>(d, {gu.data(), 1, n, n}, {values.data(), 1, n}, {gv.data(), 1, n, n},
                                               {.policy = policy}, device);
      // Which rotation of two equal columns a change of A asks for, the factors do not know: of what lies off the
      // diagonal the part that turns U against V remains.
      std::vector<double> expected(n * n);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          expected[i * n + j] = i == j ? g[i * n + i] : (g[i * n + j] - g[j * n + i]) / 2;
      test::expect_near(found, expected, 1e-13, 1);
    }
  });
  // A loss of the vectors alone that does depend on their choice has no gradient here: `exact` says so.
  std::vector<double> twist(n * n);
  twist[1] = 1;
  bool is_finite = true;
  for (const double x : svd::gradient<double>(d, {twist.data(), 1, n, n}, {}, {}, {.policy = svd::degeneracy::exact}))
    is_finite = is_finite && std::isfinite(x);
  EXPECT_FALSE(is_finite);
}

/// Two singular values 1 and 1 - 1e-3 that a tolerance of 1e-2 counts as equal: what each policy puts for 1 / x.
TEST(svd_gradient, policies_on_two_values_that_are_nearly_equal) {
  const double s0 = 1, s1 = 0.999, tolerance = 1e-2;
  const std::vector<double> a{s0, 0, 0, s1}, gu{0, 1, 0, 0};
  const auto quotient = [&](svd::degeneracy policy, double x, double limit) {
    if (policy == svd::degeneracy::broaden) return x / (x * x + limit * limit);
    return policy == svd::degeneracy::drop && std::fabs(x) <= limit ? 0 : 1 / x;
  };
  test::on_every_device([&](const Device& device) {
    const auto d = svd::decompose<double>({a.data(), 1, 2, 2}, {.canonical_signs = true}, device);
    for (const auto policy : policies) {
      const auto found =
          svd::gradient<double>(d, {gu.data(), 1, 2, 2}, {}, {}, {.policy = policy, .tolerance = tolerance}, device);
      const double turn = quotient(policy, s1 - s0, tolerance), twist = quotient(policy, s1 + s0, 2 * tolerance);
      // P = [0 1; -1 0], Q = 0, U = V = I.
      test::expect_near(found, std::vector<double>{0, (turn + twist) / 2, (turn - twist) / 2, 0}, 1e-9, 1);
    }
  });
}

/// In float, and for a batch: as close to the gradient in double as the gaps allow.
TEST(svd_gradient, float_agrees_with_double) {
  const std::int64_t batch = 3, m = 6, n = 4;
  std::vector<float> a(batch * m * n), gu(batch * m * n), gv(batch * n * n), gs(batch * n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = normal_at<float>(6, 0, i);
  for (std::size_t i = 0; i < gu.size(); ++i) gu[i] = normal_at<float>(6, 1, i);
  for (std::size_t i = 0; i < gv.size(); ++i) gv[i] = normal_at<float>(6, 2, i);
  for (std::size_t i = 0; i < gs.size(); ++i) gs[i] = normal_at<float>(6, 3, i);
  const auto wide = [](const std::vector<float>& x) { return std::vector<double>(x.begin(), x.end()); };
  const auto wide_gu = wide(gu), wide_gv = wide(gv), wide_gs = wide(gs);
  const auto d = svd::decompose<float>({a.data(), batch, m, n}, {.canonical_signs = true}, Device::host());
  svd::decomposition<double> same;
  same.batch = batch;
  same.rows = m;
  same.cols = same.values = same.u_cols = same.v_cols = n;
  same.u = wide(d.u);
  same.s = wide(d.s);
  same.v = wide(d.v);
  same.status = d.status;
  for (const auto policy : policies) {
    const auto exact = svd::gradient<double>(same, {wide_gu.data(), batch, m, n}, {wide_gs.data(), batch, n},
                                             {wide_gv.data(), batch, n, n}, {.policy = policy}, Device::host());
    test::on_every_device([&](const Device& device) {
      const auto found = svd::gradient<float>(d, {gu.data(), batch, m, n}, {gs.data(), batch, n},
                                              {gv.data(), batch, n, n}, {.policy = policy}, device);
      test::expect_near(wide(found), exact, 1e-4, 1);
    });
  }
}

TEST(svd_gradient, sixteen_bits_are_the_float_result_rounded) {
  const std::int64_t m = 5, n = 3;
  std::vector<half> a(m * n);
  for (std::int64_t i = 0; i < m * n; ++i) a[i] = half(normal_at<float>(5, 0, i));
  const auto d = svd::decompose<half>({a.data(), 1, m, n}, {}, Device::host());
  const std::vector<float> w{1, 2, 3};
  const auto g = svd::gradient<half>(d, {}, {w.data(), 1, n}, {}, {}, Device::host());
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double expected = 0;
      for (std::int64_t r = 0; r < n; ++r)
        expected += double(d.u_view()(0, i, r)) * double(w[r]) * double(d.v_view()(0, j, r));
      EXPECT_NEAR(double(g[i * n + j]), expected, 2e-3);
    }
}

TEST(svd_gradient, wrong_arguments) {
  const std::vector<double> a{1, 2, 3, 4, 5, 6};
  const auto top = svd::decompose<double>({a.data(), 1, 2, 3}, {.top = 1}, Device::host());
  expect_invalid([&] { svd::gradient<double>(top, {}, {}, {}); }, "values must be min(m, n) = 2");
  const auto none = svd::decompose<double>({a.data(), 1, 2, 3}, {.vectors = svd::vectors::none}, Device::host());
  expect_invalid([&] { svd::gradient<double>(none, {}, {}, {}); }, "must have its vectors");
  const auto d = svd::decompose<double>({a.data(), 1, 2, 3}, {}, Device::host());
  expect_invalid([&] { svd::gradient<double>(d, {a.data(), 1, 3, 2}, {}, {}); }, "gu must be empty or [1 x 2 x 2]");
}

}  // namespace
}  // namespace quintet
