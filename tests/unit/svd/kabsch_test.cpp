// Rotations: proper_rotations of decompose(), polar_gradient(), kabsch() and its gradient, against Eigen, against
// defining equations and against differences.
#include "quintet/svd/kabsch.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "quintet/core/philox.hpp"
#include "quintet/device/buffer.hpp"
#include "quintet/svd/applications.hpp"
#include "quintet/svd/gradient.hpp"
#include "reference/svd_reference.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"

namespace quintet {
namespace {

using matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::vector<double> normals(std::int64_t count, std::uint64_t seed) {
  std::vector<double> values(count);
  for (std::int64_t i = 0; i < count; ++i) values[i] = normal_at<double>(seed, 0, std::uint64_t(i));
  return values;
}

template <class T>
std::vector<T> narrowed(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

template <class T>
matrix widened(const T* data, std::int64_t rows, std::int64_t cols) {
  matrix m(rows, cols);
  for (std::int64_t i = 0; i < rows * cols; ++i) m.data()[i] = data[i];
  return m;
}

template <class T>
struct svd_rotations : testing::Test {};
using reals = testing::Types<float, double>;
TYPED_TEST_SUITE(svd_rotations, reals);

/// Matrices of both determinants, of rank n - 1 and 0, badly scaled ones and a NaN.
template <class T>
std::vector<T> square_batch(std::int64_t n, std::int64_t batch) {
  auto a = narrowed<T>(normals(batch * n * n, 11 + std::uint64_t(n)));
  for (std::int64_t e = 0; e < n; ++e) a[2 * n * n + e] = a[2 * n * n + n + e];
  for (std::int64_t e = 0; e < n * n; ++e) a[3 * n * n + e] = 0;
  for (std::int64_t i = 0; i < n; ++i) a[4 * n * n + i * n] *= T(1e-12);
  a[5 * n * n] = std::numeric_limits<T>::quiet_NaN();
  return a;
}

TYPED_TEST(svd_rotations, both_factors_are_rotations) {
  using T = TypeParam;
  constexpr std::int64_t batch = 37;
  const long double bound = 20 * std::numeric_limits<T>::epsilon();
  test::on_every_device([&](const Device& device) {
    for (const std::int64_t n : {2, 3, 4}) {
      SCOPED_TRACE(n);
      const auto a = square_batch<T>(n, batch);
      const auto d = svd::decompose<T>({a.data(), batch, n, n}, {.proper_rotations = true}, device);
      const auto usual = svd::decompose<T>({a.data(), batch, n, n}, {}, device);
      int negative = 0;
      for (std::int64_t b = 0; b < batch; ++b) {
        if (b == 5) {
          EXPECT_EQ(d.status[b], svd::not_finite);
          continue;
        }
        const matrix u = widened(&d.u[b * n * n], n, n), v = widened(&d.v[b * n * n], n, n);
        const matrix exact = widened(&a[b * n * n], n, n);
        matrix s = matrix::Zero(n, n);
        for (std::int64_t j = 0; j < n; ++j) s(j, j) = d.singular_value(b, j);
        EXPECT_NEAR(double(u.determinant()), 1, double(bound)) << b;
        EXPECT_NEAR(double(v.determinant()), 1, double(bound)) << b;
        EXPECT_LE((u * s * v.transpose() - exact).norm(), bound * exact.norm()) << b;
        for (std::int64_t j = 0; j < n; ++j)
          EXPECT_EQ(std::abs(d.singular_value(b, j)), usual.singular_value(b, j)) << b << " " << j;
        const long double determinant = exact.determinant();
        if (std::abs(determinant) > bound * std::pow(exact.norm(), n))
          EXPECT_EQ(d.singular_value(b, n - 1) < 0, determinant < 0) << b;
        negative += d.singular_value(b, n - 1) < 0;
      }
      EXPECT_GT(negative, 5);
      EXPECT_LT(negative, 31);
    }
  });
}

TEST(svd_rotations, wrong_options) {
  const std::vector<double> a(36, 1.0);
  const auto decompose = [&](std::int64_t m, std::int64_t n, svd::options options) {
    options.proper_rotations = true;
    return [&a, m, n, options] { svd::decompose<double>({a.data(), 1, m, n}, options, Device::host()); };
  };
  expect_invalid(decompose(3, 2, {}), "rows=3, cols=2");
  expect_invalid(decompose(5, 5, {}), "rows=5, cols=5");
  expect_invalid(decompose(3, 3, {.vectors = svd::vectors::none}), "vectors=none");
  expect_invalid(decompose(3, 3, {.top = 2}), "top=2");
  expect_invalid(decompose(3, 3, {.canonical_signs = true}), "canonical_signs");
}

/// A = U S V^T by Eigen's JacobiSVD, which is compiled with the reference.
struct factors {
  matrix u, v, s;
};
factors decomposed(const matrix& a) {
  reference::matrix copy(a.rows(), a.cols());
  std::copy(a.data(), a.data() + a.size(), copy.data());
  const reference::decomposition d = reference::decomposed(copy);
  const auto mapped = [](const reference::matrix& m) -> matrix {
    return Eigen::Map<const matrix>(m.data(), m.rows(), m.cols());
  };
  const auto k = Eigen::Index(d.s.size());
  matrix s = matrix::Zero(k, k);
  for (Eigen::Index j = 0; j < k; ++j) s(j, j) = d.s[std::size_t(j)];
  return {mapped(d.u), mapped(d.v), s};
}

/// Sum of gw W + gh H of the polar decomposition by Eigen, in long double.
struct polar_loss {
  std::int64_t m, n;
  matrix gw, gh;
  bool is_rotation;

  long double operator()(const matrix& a) const {
    auto [u, v, s] = decomposed(a);
    if (is_rotation && u.determinant() * v.determinant() < 0) {
      u.col(n - 1) *= -1;
      s(n - 1, n - 1) *= -1;
    }
    return (gw.array() * (u * v.transpose()).array()).sum() + (gh.array() * (v * s * v.transpose()).array()).sum();
  }
};

/// Central differences of fourth order in long double.
template <class Function>
long double difference(const Function& f, matrix& a, std::int64_t e) {
  const long double h = 1e-4L, x = a.data()[e];
  const auto at = [&](long double step) {
    a.data()[e] = x + step;
    const long double value = f(a);
    a.data()[e] = x;
    return value;
  };
  return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
}

void expect_polar_gradient(std::int64_t m, std::int64_t n, bool is_rotation, const std::vector<double>& a,
                           const Device& device) {
  const auto gw = normals(m * n, 21), gh = normals(n * n, 22);
  const auto d = svd::decompose<double>({a.data(), 1, m, n}, {.proper_rotations = is_rotation}, device);
  const auto ga = svd::polar_gradient<double>(d, {gw.data(), 1, m, n}, {gh.data(), 1, n, n}, {}, device);
  const auto of_w = svd::polar_gradient<double>(d, {gw.data(), 1, m, n}, {}, {}, device);
  const auto of_h = svd::polar_gradient<double>(d, {}, {gh.data(), 1, n, n}, {}, device);
  const polar_loss loss{m, n, widened(gw.data(), m, n), widened(gh.data(), n, n), is_rotation};
  matrix exact = widened(a.data(), m, n);
  for (std::int64_t e = 0; e < m * n; ++e) {
    EXPECT_NEAR(ga[e], double(difference(loss, exact, e)), 1e-9 * (1 + std::abs(ga[e]))) << m << " " << n << " " << e;
    EXPECT_NEAR(of_w[e] + of_h[e], ga[e], 1e-12 * (1 + std::abs(of_w[e]) + std::abs(of_h[e])));
  }
}

TEST(svd_polar_gradient, agrees_with_differences) {
  test::on_every_device([&](const Device& device) {
    for (const auto& [m, n] : {std::pair{1, 1}, {3, 3}, {5, 3}, {3, 5}, {7, 7}, {20, 6}, {2, 9}})
      expect_polar_gradient(m, n, false, normals(m * n, 31 + std::uint64_t(m * 100 + n)), device);
    for (const std::uint64_t seed : {41, 42, 43, 44})
      for (const std::int64_t n : {2, 3, 4}) expect_polar_gradient(n, n, true, normals(n * n, seed), device);
  });
}

TEST(svd_polar_gradient, equal_singular_values_are_no_special_case) {
  // A multiple of an orthogonal matrix: all singular values are equal.
  const std::vector<double> a{0, -2, 0, 2, 0, 0, 0, 0, 2};
  test::on_every_device([&](const Device& device) {
    expect_polar_gradient(3, 3, false, a, device);
    expect_polar_gradient(3, 3, true, a, device);
  });
}

TEST(svd_polar_gradient, wrong_shapes) {
  const auto a = normals(6, 1);
  const auto d = svd::decompose<double>({a.data(), 1, 3, 2}, {}, Device::host());
  expect_invalid([&] { svd::polar_gradient<double>(d, {a.data(), 1, 2, 3}, {}); }, "gw must be");
  expect_invalid([&] { svd::polar_gradient<double>(d, {}, {a.data(), 1, 2, 3}); }, "gh must be");
  expect_invalid([&] { svd::polar_gradient<double>(d, {}, {}, {.tolerance = -1}); }, "tolerance=-1");
}

/// Umeyama's solution by Eigen for one set, in long double.
struct motion {
  matrix rotation, translation;
  long double rmsd, scale = 1;
};
motion reference_motion(const matrix& p, const matrix& q, const std::vector<double>& weights, bool reflections,
                        bool scaled = false) {
  const std::int64_t count = p.rows(), dim = p.cols();
  matrix w(count, 1);
  for (std::int64_t i = 0; i < count; ++i) w(i, 0) = weights.empty() ? 1 : weights[i];
  w /= w.sum();
  const matrix p0 = w.transpose() * p, q0 = w.transpose() * q;
  const matrix pc = p - matrix::Ones(count, 1) * p0, qc = q - matrix::Ones(count, 1) * q0;
  const matrix h = pc.transpose() * w.asDiagonal() * qc;
  const auto [u, v, s] = decomposed(h);
  matrix turn = matrix::Identity(dim, dim);
  if (!reflections && matrix(v * u.transpose()).determinant() < 0) turn(dim - 1, dim - 1) = -1;
  motion m;
  m.rotation = v * turn * u.transpose();
  const long double spread = (w.transpose() * pc.rowwise().squaredNorm())(0, 0);
  if (scaled && spread > 0) m.scale = (s * turn).trace() / spread;
  m.translation = q0.transpose() - m.scale * m.rotation * p0.transpose();
  m.rmsd = std::sqrt((w.transpose() * (m.scale * pc * m.rotation.transpose() - qc).rowwise().squaredNorm())(0, 0));
  return m;
}

struct two_sets {
  std::int64_t batch, count, dim;
  std::vector<double> p, q, w;

  two_sets(std::int64_t b, std::int64_t n, std::int64_t d, std::uint64_t seed)
      : batch(b), count(n), dim(d), p(normals(b * n * d, seed)), q(p), w(normals(b * n, seed + 1)) {
    const auto noise = normals(b * n * d, seed + 2);
    // Coordinates change places, which is a reflection for D = 2 and 4; far from the origin.
    for (std::int64_t e = 0; e < b * n; ++e)
      for (std::int64_t k = 0; k < d; ++k) q[e * d + k] = p[e * d + (k + 1) % d] + 0.1 * noise[e * d + k] + 3;
    for (double& x : w) x = std::abs(x);
  }
  matrix points(std::int64_t b) const { return widened(&p[b * count * dim], count, dim); }
  matrix target(std::int64_t b) const { return widened(&q[b * count * dim], count, dim); }
  std::vector<double> weights(std::int64_t b, bool weighted) const {
    return weighted ? std::vector<double>(w.begin() + b * count, w.begin() + (b + 1) * count) : std::vector<double>();
  }
};

TYPED_TEST(svd_rotations, kabsch_agrees_with_eigen) {
  using T = TypeParam;
  const double bound = 200 * double(std::numeric_limits<T>::epsilon());
  test::on_every_device([&](const Device& device) {
    for (const auto& [count, dim, reflections] : {std::tuple{1, 3, false},
                                                  {4, 2, false},
                                                  {10, 3, false},
                                                  {600, 3, false},
                                                  {9, 4, false},
                                                  {12, 3, true},
                                                  {30, 6, true},
                                                  {5, 1, true}}) {
      for (const bool weighted : {false, true}) {
        SCOPED_TRACE(text(count, " points, D = ", dim, ", reflections ", reflections, ", weighted ", weighted));
        const two_sets sets(3, count, dim, 51);
        const auto p = narrowed<T>(sets.p), q = narrowed<T>(sets.q), w = narrowed<T>(sets.w);
        const matrix_view<const T> weights =
            weighted ? matrix_view<const T>(w.data(), 3, count) : matrix_view<const T>();
        const auto found = svd::kabsch<T>({p.data(), 3, count, dim}, {q.data(), 3, count, dim}, weights,
                                          {.reflections = reflections}, device);
        const auto similar = svd::kabsch<T>({p.data(), 3, count, dim}, {q.data(), 3, count, dim}, weights,
                                            {.reflections = reflections, .scale = true}, device);
        EXPECT_EQ(similar.rotation, found.rotation);
        EXPECT_TRUE(found.scale.empty());
        for (std::int64_t b = 0; b < 3; ++b) {
          const motion with_scale =
              reference_motion(widened(&p[b * count * dim], count, dim), widened(&q[b * count * dim], count, dim),
                               sets.weights(b, weighted), reflections, true);
          EXPECT_NEAR(double(similar.rmsd[b]), double(with_scale.rmsd), 10 * bound);
          EXPECT_NEAR(double(similar.scale[b]), double(with_scale.scale), 10 * bound);
          if (count > dim)
            EXPECT_LE(double((widened(&similar.translation[b * dim], dim, 1) - with_scale.translation).norm()),
                      50 * bound);
          const motion exact =
              reference_motion(widened(&p[b * count * dim], count, dim), widened(&q[b * count * dim], count, dim),
                               sets.weights(b, weighted), reflections);
          const matrix r = widened(&found.rotation[b * dim * dim], dim, dim);
          EXPECT_LE(double((r * r.transpose() - matrix::Identity(dim, dim)).norm()), bound);
          if (!reflections) EXPECT_NEAR(double(r.determinant()), 1, bound);
          EXPECT_NEAR(double(found.rmsd[b]), double(exact.rmsd), 10 * bound);
          if (count <= dim) continue;  // not unique
          EXPECT_LE(double((r - exact.rotation).norm()), 10 * bound);
          EXPECT_LE(double((widened(&found.translation[b * dim], dim, 1) - exact.translation).norm()), 50 * bound);
        }
      }
    }
  });
}

/// gr R + gt t + g rmsd + gc c of one set, as a function of the points of both.
struct motion_loss {
  const two_sets& sets;
  bool weighted, reflections;
  matrix gr, gt;
  long double g;
  bool scaled = false;
  long double gc = 0;
  long double operator()(const matrix& both) const {
    const std::int64_t n = sets.count;
    const motion m =
        reference_motion(both.topRows(n), both.bottomRows(n), sets.weights(1, weighted), reflections, scaled);
    return (gr.array() * m.rotation.array()).sum() + (gt.array() * m.translation.array()).sum() + g * m.rmsd +
           gc * m.scale;
  }
};

TEST(svd_kabsch_gradient, agrees_with_differences) {
  test::on_every_device([&](const Device& device) {
    for (const auto& [count, dim, reflections] :
         {std::tuple{5, 2, false}, {7, 3, false}, {8, 4, false}, {7, 3, true}, {9, 5, true}})
      for (const bool weighted : {false, true}) {
        SCOPED_TRACE(text(count, " points, D = ", dim, ", reflections ", reflections, ", weighted ", weighted));
        const two_sets sets(2, count, dim, 61);
        const auto gr = normals(2 * dim * dim, 71), gt = normals(2 * dim, 72), g = normals(2, 73);
        const matrix_view<const double> weights =
            weighted ? matrix_view<const double>(sets.w.data(), 2, count) : matrix_view<const double>();
        const auto found = svd::kabsch_gradient<double>(
            {sets.p.data(), 2, count, dim}, {sets.q.data(), 2, count, dim}, weights, {gr.data(), 2, dim, dim},
            {gt.data(), 2, dim}, vector_view<const double>(g.data(), 2), {.reflections = reflections}, device);
        const motion_loss loss{
            sets, weighted, reflections, widened(&gr[dim * dim], dim, dim), widened(&gt[dim], dim, 1), g[1]};
        matrix both(2 * count, dim);
        both << sets.points(1), sets.target(1);
        for (std::int64_t e = 0; e < 2 * count * dim; ++e) {
          const double got =
              e < count * dim ? found.points[count * dim + e] : found.target[count * dim + e - count * dim];
          EXPECT_NEAR(got, double(difference(loss, both, e)), 1e-9 * (1 + std::abs(got))) << e;
        }
      }
  });
}

TEST(svd_kabsch_gradient, of_the_scale_agrees_with_differences) {
  test::on_every_device([&](const Device& device) {
    for (const auto& [count, dim, reflections] : {std::tuple{5, 2, false}, {7, 3, false}, {9, 5, true}})
      for (const bool weighted : {false, true}) {
        SCOPED_TRACE(text(count, " points, D = ", dim, ", reflections ", reflections, ", weighted ", weighted));
        const two_sets sets(2, count, dim, 64);
        const auto gr = normals(2 * dim * dim, 71), gt = normals(2 * dim, 72), g = normals(2, 73), gc = normals(2, 74);
        const matrix_view<const double> weights =
            weighted ? matrix_view<const double>(sets.w.data(), 2, count) : matrix_view<const double>();
        const auto found = svd::kabsch_gradient<double>(
            {sets.p.data(), 2, count, dim}, {sets.q.data(), 2, count, dim}, weights, {gr.data(), 2, dim, dim},
            {gt.data(), 2, dim}, vector_view<const double>(g.data(), 2), {.reflections = reflections, .scale = true},
            device, vector_view<const double>(gc.data(), 2));
        const motion_loss loss{
            sets, weighted, reflections, widened(&gr[dim * dim], dim, dim), widened(&gt[dim], dim, 1),
            g[1], true,     gc[1]};
        matrix both(2 * count, dim);
        both << sets.points(1), sets.target(1);
        for (std::int64_t e = 0; e < 2 * count * dim; ++e) {
          const double got =
              e < count * dim ? found.points[count * dim + e] : found.target[count * dim + e - count * dim];
          EXPECT_NEAR(got, double(difference(loss, both, e)), 1e-9 * (1 + std::abs(got))) << e;
        }
      }
  });
}

/// Points of weight 0 hold NaN: the motion and the gradient are those without them.
TEST(svd_kabsch, points_of_weight_zero_are_ignored) {
  const two_sets sets(1, 8, 3, 97);
  auto p = sets.p, q = sets.q;
  std::vector<double> w(8, 1.0), few_p, few_q;
  for (std::int64_t i = 0; i < 8; ++i) {
    if (i % 3 == 1) w[i] = 0;
    for (std::int64_t k = 0; k < 3; ++k)
      if (i % 3 == 1) {
        p[i * 3 + k] = std::numeric_limits<double>::quiet_NaN();
        q[i * 3 + k] = std::numeric_limits<double>::infinity();
      } else {
        few_p.push_back(p[i * 3 + k]);
        few_q.push_back(q[i * 3 + k]);
      }
  }
  const std::vector<double> g{1};
  const matrix_view<const double> weights(w.data(), 1, 8);
  test::on_every_device([&](const Device& device) {
    const auto found = svd::kabsch<double>({p.data(), 1, 8, 3}, {q.data(), 1, 8, 3}, weights, {.scale = true}, device);
    const auto few = svd::kabsch<double>({few_p.data(), 1, 5, 3}, {few_q.data(), 1, 5, 3}, {}, {.scale = true}, device);
    for (std::int64_t e = 0; e < 9; ++e) EXPECT_NEAR(found.rotation[e], few.rotation[e], 1e-14);
    EXPECT_NEAR(found.rmsd[0], few.rmsd[0], 1e-14);
    EXPECT_NEAR(found.scale[0], few.scale[0], 1e-14);
    const auto gradient = svd::kabsch_gradient<double>({p.data(), 1, 8, 3}, {q.data(), 1, 8, 3}, weights, {}, {},
                                                       {g.data(), 1}, {.scale = true}, device, {g.data(), 1});
    const auto of_few = svd::kabsch_gradient<double>({few_p.data(), 1, 5, 3}, {few_q.data(), 1, 5, 3}, {}, {}, {},
                                                     {g.data(), 1}, {.scale = true}, device, {g.data(), 1});
    for (std::int64_t i = 0, few_row = 0; i < 8; ++i) {
      const bool counts = i % 3 != 1;
      for (std::int64_t k = 0; k < 3; ++k)
        EXPECT_NEAR(gradient.points[i * 3 + k], counts ? of_few.points[few_row * 3 + k] : 0, 1e-13);
      few_row += counts;
    }
  });
}

TEST(svd_kabsch, equal_points_have_a_scale_of_one) {
  const std::vector<double> p(6, 2.0), q{1, 2, 3, 4, 5, 6};
  const auto found = svd::kabsch<double>({p.data(), 1, 2, 3}, {q.data(), 1, 2, 3}, {}, {.scale = true});
  EXPECT_EQ(found.scale[0], 1);
  const auto onto_a_point = svd::kabsch<double>({q.data(), 1, 2, 3}, {p.data(), 1, 2, 3}, {}, {.scale = true});
  EXPECT_EQ(onto_a_point.scale[0], 0);
  EXPECT_EQ(onto_a_point.rmsd[0], 0);
}

TEST(svd_kabsch_gradient, absent_derivatives_are_zero_and_a_perfect_fit_is_finite) {
  const auto p = normals(12, 81);
  const auto found = svd::kabsch_gradient<double>({p.data(), 1, 4, 3}, {p.data(), 1, 4, 3}, {}, {}, {}, {});
  for (const double x : found.points) EXPECT_EQ(x, 0);
  const std::vector<double> g{1};
  const auto perfect = svd::kabsch_gradient<double>({p.data(), 1, 4, 3}, {p.data(), 1, 4, 3}, {}, {}, {},
                                                    vector_view<const double>(g.data(), 1));
  for (const double x : perfect.points) EXPECT_TRUE(std::isfinite(x));
}

TEST(svd_kabsch, not_finite_sets_leave_their_neighbours_alone) {
  const two_sets sets(3, 6, 3, 91);
  auto p = sets.p;
  p[6 * 3 + 4] = std::numeric_limits<double>::infinity();
  const auto clean = svd::kabsch<double>({sets.p.data(), 3, 6, 3}, {sets.q.data(), 3, 6, 3});
  const auto found = svd::kabsch<double>({p.data(), 3, 6, 3}, {sets.q.data(), 3, 6, 3});
  for (std::int64_t b = 0; b < 3; ++b)
    for (std::int64_t e = 0; e < 9; ++e) {
      if (b == 1)
        EXPECT_TRUE(std::isnan(found.rotation[b * 9 + e]));
      else
        EXPECT_EQ(found.rotation[b * 9 + e], clean.rotation[b * 9 + e]);
    }
  EXPECT_TRUE(std::isnan(found.rmsd[1]));
}

TEST(svd_kabsch, many_points_in_float) {
  // Coordinates near 1000 with a turn by a right angle: sums of 10^5 terms.
  constexpr std::int64_t count = 100000;
  std::vector<float> p(count * 3), q(count * 3);
  const auto x = normals(count * 3, 95);
  for (std::int64_t i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) p[i * 3 + k] = 1000 + float(x[i * 3 + k]);
    q[i * 3] = -p[i * 3 + 1], q[i * 3 + 1] = p[i * 3], q[i * 3 + 2] = p[i * 3 + 2];
  }
  const auto found = svd::kabsch<float>({p.data(), 1, count, 3}, {q.data(), 1, count, 3});
  const float exact[9] = {0, -1, 0, 1, 0, 0, 0, 0, 1};
  for (int e = 0; e < 9; ++e) EXPECT_NEAR(found.rotation[e], exact[e], 5e-6);
  EXPECT_LT(found.rmsd[0], 1e-3);
}

TEST(svd_kabsch, wrong_arguments) {
  const auto a = normals(60, 1);
  using batch = batch_view<const double>;
  const auto call = [&](std::int64_t n, std::int64_t d, matrix_view<const double> w, svd::kabsch_options options = {}) {
    return
        [&a, n, d, w, options] { svd::kabsch<double>(batch(a.data(), 2, n, d), batch(a.data(), 2, n, d), w, options); };
  };
  const std::vector<double> zero(8, 0.0), negative{1, 1, 1, 1, 1, 1, -1, 1};
  expect_invalid(call(4, 5, {}), "points.cols=5");
  expect_invalid(call(0, 3, {}), "points.rows=0");
  expect_invalid(call(4, 3, {a.data(), 2, 5}), "weights=[2 x 5]");
  expect_invalid(call(4, 3, {zero.data(), 2, 4}), "set 0");
  expect_invalid(call(4, 3, {negative.data(), 2, 4}), "weights[1, 2]");
  expect_invalid([&] { svd::kabsch<double>(batch(a.data(), 2, 4, 3), batch(a.data(), 2, 5, 3)); }, "target must be");
  const batch sets(a.data(), 2, 4, 3);
  expect_invalid([&] { svd::kabsch_gradient<double>(sets, sets, {}, {}, {}, {}, {}, Device::host(), {a.data(), 2}); },
                 "options.scale must be true");
}

}  // namespace
}  // namespace quintet
