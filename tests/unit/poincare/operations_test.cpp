#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "quintet/poincare/poincare.hpp"
#include "reference/poincare_reference.hpp"
#include "support/ball_points.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/real_types.hpp"

namespace quintet::test {
namespace {

constexpr std::int64_t rows = 70, dim = 5;

/// Arguments and results of operations in one ball.
template <class Real>
struct laboratory {
  double c;
  Device device;
  point_set<Real> x, y, v;

  laboratory(double c_, const Device& device_, double max = 0.9)
      : c(c_),
        device(device_),
        x(ball_points<Real>(rows, dim, 0.1, max, c > 0 ? c : 1, 1, 2)),
        y(ball_points<Real>(rows, dim, 0, max, c > 0 ? c : 1, 2)),
        v(ball_points<Real>(rows, dim, 0, 0.7, 1, 3)) {}

  poincare::ball_options options() const { return {.curvature = -c}; }
  point_set<Real> room() const { return point_set<Real>(rows, dim); }
  static matrix_view<Real> to(point_set<Real>& p) { return {p.data.data(), p.n, p.dim, p.stride}; }

  point_set<Real> add(const point_set<Real>& a, const point_set<Real>& b) const {
    auto out = room();
    poincare::mobius_add(a.view(), b.view(), to(out), options(), device);
    return out;
  }
  point_set<Real> exp(const point_set<Real>& a, const point_set<Real>& b) const {
    auto out = room();
    poincare::exp_map(a.view(), b.view(), to(out), options(), device);
    return out;
  }
  point_set<Real> log(const point_set<Real>& a, const point_set<Real>& b) const {
    auto out = room();
    poincare::log_map(a.view(), b.view(), to(out), options(), device);
    return out;
  }
  point_set<Real> times(Real r, const point_set<Real>& a) const {
    auto out = room();
    const std::vector<Real> factor{r};
    poincare::mobius_scalar_mul(factor, a.view(), to(out), options(), device);
    return out;
  }
  point_set<Real> along(const point_set<Real>& a, const point_set<Real>& b, Real t) const {
    auto out = room();
    const std::vector<Real> at{t};
    poincare::geodesic(a.view(), b.view(), at, to(out), options(), device);
    return out;
  }
  std::vector<Real> distance(const point_set<Real>& a, const point_set<Real>& b) const {
    std::vector<Real> d(rows);
    poincare::pair_distances(a.view(), b.view(), d, {.curvature = -c}, device);
    return d;
  }
  /// Lengths of tangent vectors at a, lambda_a |v|.
  std::vector<double> lengths(const point_set<Real>& a, const point_set<Real>& t) const {
    std::vector<double> result;
    for (std::int64_t i = 0; i < rows; ++i) {
      double square = 0;
      for (std::int64_t k = 0; k < dim; ++k) square += double(t(i, k)) * double(t(i, k));
      result.push_back(2 / double(reference::ball_gap(row_of(a, i), c)) * std::sqrt(square));
    }
    return result;
  }
};

template <class Real>
std::vector<Real> packed(const point_set<Real>& p) {
  std::vector<Real> values;
  for (std::int64_t i = 0; i < p.n; ++i)
    for (std::int64_t k = 0; k < p.dim; ++k) values.push_back(p(i, k));
  return values;
}

template <class Real>
class poincare_operations : public ::testing::Test {
 public:
  /// Runs body(laboratory, tolerance) for several curvatures on every device.
  template <class Body>
  static void everywhere(Body body) {
    on_every_device([&](const Device& device) {
      for (const double c : {1.0, 2.5, 0.04, 0.0}) {
        SCOPED_TRACE(c);
        // Coordinates are of size 1 / sqrt(c).
        const double size = c > 0 ? 1 / std::sqrt(c) : 1;
        body(laboratory<Real>(c, device), size * (sizeof(Real) == 4 ? 4e-6 : 1e-14));
      }
    });
  }
};
TYPED_TEST_SUITE(poincare_operations, real_types);

template <class Real>
void expect_rows_near(const point_set<Real>& found, const point_set<Real>& expected, double tolerance) {
  for (std::int64_t i = 0; i < found.n; ++i)
    for (std::int64_t k = 0; k < found.dim; ++k) ASSERT_NEAR(found(i, k), expected(i, k), tolerance) << i << ", " << k;
}

TYPED_TEST(poincare_operations, adding_the_negative_gives_the_distance) {
  this->everywhere([](const auto& lab, double tolerance) {
    auto negative = lab.x;
    for (TypeParam& a : negative.data) a = -a;
    const auto difference = lab.add(negative, lab.y);
    auto origin = lab.room();
    std::fill(origin.data.begin(), origin.data.end(), TypeParam(0));
    EXPECT_LE(largest_error(lab.distance(origin, difference), lab.distance(lab.x, lab.y)), 100 * tolerance);
    expect_rows_near(lab.add(lab.x, lab.add(negative, lab.y)), lab.y, 10 * tolerance);  // left cancellation
  });
}

TYPED_TEST(poincare_operations, exp_undoes_log) {
  this->everywhere([](const auto& lab, double tolerance) {
    const auto tangent = lab.log(lab.x, lab.y);
    expect_rows_near(lab.exp(lab.x, tangent), lab.y, tolerance);
    EXPECT_LE(largest_error(lab.lengths(lab.x, tangent), lab.distance(lab.x, lab.y)),
              sizeof(TypeParam) == 4 ? 2e-6 : 1e-14);
  });
}

TYPED_TEST(poincare_operations, maps_at_the_origin) {
  this->everywhere([](const auto& lab, double tolerance) {
    auto origin = lab.room(), there = lab.room(), back = lab.room();
    std::fill(origin.data.begin(), origin.data.end(), TypeParam(0));
    poincare::exp_map_origin(lab.v.view(), lab.to(there), lab.options(), lab.device);
    expect_rows_near(there, lab.exp(origin, lab.v), tolerance);
    poincare::log_map_origin(there.view(), lab.to(back), lab.options(), lab.device);
    expect_rows_near(back, lab.v, 4 * tolerance);
  });
}

TYPED_TEST(poincare_operations, scalar_multiplication_scales_distances_from_the_origin) {
  this->everywhere([](const auto& lab, double tolerance) {
    const auto twice = lab.times(2, lab.x);
    expect_rows_near(twice, lab.add(lab.x, lab.x), tolerance);
    expect_rows_near(lab.times(TypeParam(0.5), twice), lab.x, 20 * tolerance);
    expect_rows_near(lab.times(1, lab.x), lab.x, tolerance);
  });
}

TYPED_TEST(poincare_operations, geodesic_is_walked_at_constant_speed) {
  this->everywhere([](const auto& lab, double tolerance) {
    expect_rows_near(lab.along(lab.x, lab.y, 0), lab.x, tolerance);
    expect_rows_near(lab.along(lab.x, lab.y, 1), lab.y, 2 * tolerance);
    const auto part = lab.along(lab.x, lab.y, TypeParam(0.25));
    const auto whole = lab.distance(lab.x, lab.y), found = lab.distance(lab.x, part);
    // The length of a tangent vector is lambda times that of its coordinates, and so is the error of a point's place.
    for (std::int64_t i = 0; i < rows; ++i) {
      const double lambda = 2 / double(reference::ball_gap(row_of(part, i), lab.c));
      ASSERT_NEAR(found[i], whole[i] / 4, lambda * std::sqrt(double(dim)) * tolerance) << i;
    }
  });
}

TYPED_TEST(poincare_operations, parallel_transport_is_an_isometry_along_the_geodesic) {
  this->everywhere([](const auto& lab, double tolerance) {
    auto moved = lab.room();
    const auto carry = [&](const auto& v) {
      poincare::parallel_transport(lab.x.view(), lab.y.view(), v.view(), lab.to(moved), lab.options(), lab.device);
    };
    carry(lab.v);
    EXPECT_LE(largest_error(lab.lengths(lab.y, moved), lab.lengths(lab.x, lab.v)),
              sizeof(TypeParam) == 4 ? 2e-6 : 1e-13);
    // The direction of the geodesic stays its direction: P log_x(y) = -log_y(x).
    carry(lab.log(lab.x, lab.y));
    auto expected = lab.log(lab.y, lab.x);
    for (TypeParam& e : expected.data) e = -e;
    expect_rows_near(moved, expected, 20 * tolerance);
  });
}

TYPED_TEST(poincare_operations, hyperboloid_and_back) {
  on_every_device([](const Device& device) {
    const laboratory<TypeParam> lab(2.5, device);
    point_set<TypeParam> h(rows, dim + 1);
    auto back = lab.room();
    poincare::to_hyperboloid(lab.x.view(), lab.to(h), lab.options(), device);
    for (std::int64_t i = 0; i < rows; ++i) {
      double form = -double(h(i, 0)) * double(h(i, 0));
      for (std::int64_t k = 1; k <= dim; ++k) form += double(h(i, k)) * double(h(i, k));
      EXPECT_NEAR(form, -1 / 2.5, 1e3 * std::numeric_limits<TypeParam>::epsilon());
    }
    poincare::from_hyperboloid(h.view(), lab.to(back), lab.options(), device);
    expect_rows_near(back, lab.x, sizeof(TypeParam) == 4 ? 2e-7 : 1e-15);
    expect_invalid([&] { poincare::to_hyperboloid(lab.x.view(), lab.to(h), {.curvature = 0}, device); },
                   "curvature must be negative");
  });
}

TYPED_TEST(poincare_operations, projection_moves_what_is_outside_and_says_so) {
  on_every_device([](const Device& device) {
    laboratory<TypeParam> lab(1, device);
    lab.x(0, 0) = 3;
    for (std::int64_t k = 0; k < dim; ++k) lab.x(1, k) = std::numeric_limits<TypeParam>::max() / 4;
    lab.x(2, 0) = std::numeric_limits<TypeParam>::quiet_NaN();
    auto out = lab.room();
    const auto report = poincare::project(lab.x.view(), 1e-3, lab.to(out), lab.options(), device);
    EXPECT_EQ(report.moved, 2);
    EXPECT_EQ(report.status[0], poincare::point_status::outside);
    EXPECT_TRUE(std::isnan(out(2, 1)));
    for (const std::int64_t i : {0, 1}) EXPECT_NEAR(double(reference::ball_gap(row_of(out, i), 1)), 2e-3 - 1e-6, 1e-6);
    EXPECT_EQ(out(10, 3), lab.x(10, 3));
    const auto again = out;
    for (std::int64_t k = 0; k < dim; ++k) lab.x(2, k) = 0;
    EXPECT_EQ(poincare::project(again.view(), 1e-3, lab.to(out), lab.options(), device).moved, 0);
    expect_invalid([&] { poincare::project(lab.x.view(), 0, lab.to(out), lab.options(), device); },
                   "epsilon must be in");
  });
}

TYPED_TEST(poincare_operations, gradients_of_the_distance) {
  this->everywhere([](const auto& lab, double) {
    auto of_x = lab.room(), of_y = lab.room(), x = lab.x;
    for (std::int64_t k = 0; k < dim; ++k) x(9, k) = lab.y(9, k);
    poincare::distance_gradients(x.view(), lab.y.view(), lab.to(of_x), lab.to(of_y), lab.options(), lab.device);
    for (std::int64_t i = 0; i < rows; ++i) {
      std::vector<double> a(dim), b(dim);
      for (std::int64_t k = 0; k < dim; ++k) a[k] = x(i, k), b[k] = lab.y(i, k);
      for (std::int64_t k = 0; k < dim; ++k) {
        if (i == 9) {
          EXPECT_EQ(of_x(i, k), 0);
          continue;
        }
        const double h = 1e-6 * (lab.c > 0 ? 1 / std::sqrt(lab.c) : 1);
        const auto slope = [&](std::vector<double>& moved) {
          const double at = moved[k];
          moved[k] = at + h;
          const long double above = reference::ball_distance<double>(a, b, lab.c);
          moved[k] = at - h;
          const long double below = reference::ball_distance<double>(a, b, lab.c);
          moved[k] = at;
          return double((above - below) / (2 * h));
        };
        const double size =
            2 / double(reference::ball_gap<double>(a, lab.c)) + 2 / double(reference::ball_gap<double>(b, lab.c));
        EXPECT_NEAR(of_x(i, k), slope(a), 1e-6 * size);
        EXPECT_NEAR(of_y(i, k), slope(b), 1e-6 * size);
      }
    }
    // In the metric every gradient has length 1: lambda |g / lambda^2| = |g| / lambda.
    auto riemannian = lab.room();
    poincare::riemannian_gradient(x.view(), of_x.view(), lab.to(riemannian), lab.options(), lab.device);
    auto length = lab.lengths(x, riemannian);
    length[9] = 1;
    EXPECT_LE(largest_error(length, std::vector<double>(rows, 1.0)), sizeof(TypeParam) == 4 ? 1e-6 : 1e-14);
  });
}

TYPED_TEST(poincare_operations, gradient_step_goes_down_and_stays_inside) {
  on_every_device([](const Device& device) {
    const laboratory<TypeParam> lab(1, device);
    auto of_x = lab.room(), of_y = lab.room(), next = lab.room();
    poincare::distance_gradients(lab.x.view(), lab.y.view(), lab.to(of_x), lab.to(of_y), lab.options(), device);
    const auto step = [&](double rate) {
      return poincare::rsgd_step(lab.x.view(), of_x.view(), rate, 1e-5, lab.to(next), lab.options(), device);
    };
    EXPECT_EQ(step(0.05).moved, 0);
    auto expected = lab.distance(lab.x, lab.y);
    for (TypeParam& d : expected) d = std::fabs(d - TypeParam(0.05));  // unit speed along the geodesic
    const auto found = lab.distance(next, lab.y);
    for (std::int64_t i = 0; i < rows; ++i) EXPECT_NEAR(found[i], expected[i], sizeof(TypeParam) == 4 ? 1e-5 : 1e-13);
    EXPECT_EQ(step(-1e3).moved, rows);
    for (std::int64_t i = 0; i < rows; ++i) EXPECT_GT(reference::ball_gap(row_of(next, i), 1), 1.9e-5);
  });
}

TYPED_TEST(poincare_operations, means_of_groups) {
  this->everywhere([](const auto& lab, double tolerance) {
    // Pairs: both means are the midpoint of the geodesic. Then a point alone, and a group without weight.
    point_set<TypeParam> points(2 * rows + 2, dim), out(rows + 2, dim), frechet(rows + 2, dim);
    std::vector<std::int64_t> offsets{0};
    std::vector<TypeParam> weights(points.n, TypeParam(0.5));
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t k = 0; k < dim; ++k) points(2 * i, k) = lab.x(i, k), points(2 * i + 1, k) = lab.y(i, k);
      offsets.push_back(2 * i + 2);
    }
    for (std::int64_t k = 0; k < dim; ++k) points(2 * rows, k) = lab.x(0, k), points(2 * rows + 1, k) = 100;
    weights[2 * rows + 1] = 0;
    offsets.push_back(2 * rows + 1);
    offsets.push_back(2 * rows + 2);
    const auto of_midpoint =
        poincare::gyromidpoint(points.view(), offsets, weights, lab.to(out), lab.options(), lab.device);
    const auto of_frechet =
        poincare::frechet_mean(points.view(), offsets, weights, lab.to(frechet), {.curvature = -lab.c}, lab.device);
    EXPECT_EQ(of_midpoint.converged[rows], 1);
    EXPECT_EQ(of_midpoint.converged[rows + 1], 0);
    EXPECT_TRUE(std::isnan(out(rows + 1, 0)));
    const auto middle = lab.along(lab.x, lab.y, TypeParam(0.5));
    for (std::int64_t i = 0; i < rows; ++i) {
      EXPECT_EQ(of_frechet.converged[i], 1) << i;
      for (std::int64_t k = 0; k < dim; ++k) {
        EXPECT_NEAR(out(i, k), middle(i, k), 2 * tolerance);
        EXPECT_NEAR(frechet(i, k), middle(i, k), 2 * tolerance);
      }
    }
    for (std::int64_t k = 0; k < dim; ++k) EXPECT_NEAR(frechet(rows, k), lab.x(0, k), tolerance);
  });
}

/// Rounding puts what lies near the boundary onto the sphere, or outside: results are rounded towards the origin.
TYPED_TEST(poincare_operations, results_near_the_boundary_are_inside) {
  on_every_device([](const Device& device) {
    for (const double c : {1.0, 2.5, 0.04}) {
      SCOPED_TRACE(c);
      laboratory<TypeParam> lab(c, device);
      const auto expect_inside = [&](const point_set<TypeParam>& points) {
        std::vector<TypeParam> distance(points.n);
        const auto status = poincare::origin_distances(points.view(), distance, {.curvature = -c}, device);
        EXPECT_EQ(poincare::first_invalid(status), -1);
      };
      auto out = lab.room();
      for (const double size :
           {4.0, 8.0, 12.0, 17.0, 20.0, 40.0, 1e3, double(std::numeric_limits<TypeParam>::max()) / 64}) {
        SCOPED_TRACE(size);
        auto far = lab.v;
        for (TypeParam& v : far.data) v *= TypeParam(size / std::sqrt(c));
        poincare::exp_map_origin(far.view(), lab.to(out), lab.options(), device);
        expect_inside(out);
        for (std::int64_t k = 0; k < dim; ++k) EXPECT_EQ(out(0, k) > 0, far(0, k) > 0);
        expect_inside(lab.add(out, out));
        expect_inside(lab.along(lab.x, out, TypeParam(2)));
        if (size > 1e3) continue;
        expect_inside(lab.exp(lab.x, far));
        expect_inside(lab.times(TypeParam(size), lab.x));
        point_set<TypeParam> h(rows, dim + 1);
        poincare::to_hyperboloid(out.view(), lab.to(h), lab.options(), device);
        poincare::from_hyperboloid(h.view(), lab.to(out), lab.options(), device);
        expect_inside(out);
      }
    }
  });
}

/// Two points at right angles: (1/2) (x) z with z = lambda s / (2 (lambda - 1)) in both coordinates.
TYPED_TEST(poincare_operations, mean_of_points_near_the_boundary) {
  on_every_device([](const Device& device) {
    for (const double away : {1e-3, 1e-6, 1e-8, 1e-9, 1e-12, 1e-15}) {
      SCOPED_TRACE(away);
      if (TypeParam(1 - away) == TypeParam(1)) continue;
      point_set<TypeParam> points(2, 2), out(1, 2);
      std::fill(points.data.begin(), points.data.end(), TypeParam(0));
      points(0, 0) = points(1, 1) = TypeParam(1 - away);
      const long double s = points(0, 0), lambda = 2 / ((1 - s) * (1 + s)), z = lambda * s / (2 * (lambda - 1));
      const std::vector<std::int64_t> offsets{0, 2};
      poincare::gyromidpoint(points.view(), offsets, {}, laboratory<TypeParam>::to(out), {}, device);
      for (int k = 0; k < 2; ++k)
        EXPECT_NEAR(out(0, k), double(z / (1 + std::sqrt(1 - 2 * z * z))),
                    2 * std::numeric_limits<TypeParam>::epsilon());
    }
  });
}

/// On a diameter the mean is that of the artanh coordinates, for any weights.
TEST(poincare_means, frechet_mean_of_two_points) {
  const double u[2] = {0.6, 0.8};
  for (const double r : {0.0, 0.3, 0.9, 0.999999, 1 - 1e-10, 1 - 1e-13})
    for (const double w : {0.5, 0.9, 1e-3, 1e250, 1e-250}) {
      SCOPED_TRACE(text(r, ", ", w));
      point_set<double> points(2, 2), out(1, 2);
      for (int k = 0; k < 2; ++k) points(0, k) = 0.25 * u[k], points(1, k) = -r * u[k];
      const std::vector<double> weights{w, w * 2};
      const std::vector<std::int64_t> offsets{0, 2};
      const auto report = poincare::frechet_mean(points.view(), offsets, weights, laboratory<double>::to(out));
      EXPECT_EQ(report.converged[0], 1);
      EXPECT_LE(report.iterations[0], 60);
      const auto coordinate = [&](int i) {
        const long double length = std::hypot((long double)points(i, 0), (long double)points(i, 1));
        return std::copysign(std::log1p(2 * length / (1 - length)) / 2, points(i, 0));
      };
      const auto mean = std::tanh((coordinate(0) + 2 * coordinate(1)) / 3);
      // A rounding of a point's coordinates moves the mean as much in the metric.
      const double moved = 8e-16 * (1 + double(1 - mean * mean) / (1 - r * r));
      for (int k = 0; k < 2; ++k) EXPECT_NEAR(out(0, k), double(mean * u[k]), moved);
    }
}

/// At the mean the sum of the logarithms vanishes; the logarithms are those of another text, in wide numbers.
TEST(poincare_means, frechet_mean_of_spread_groups) {
  on_every_device([](const Device& device) {
    for (const double max : {0.5, 0.99, 0.999999}) {
      SCOPED_TRACE(max);
      const std::int64_t n = 12;
      const auto points = ball_points<double>(n, 3, 0.3, max, 1, 9);
      point_set<double> out(1, 3);
      const std::vector<std::int64_t> offsets{0, n};
      const auto report = poincare::frechet_mean(points.view(), offsets, {}, laboratory<double>::to(out), {}, device);
      EXPECT_EQ(report.converged[0], 1);
      EXPECT_LE(report.iterations[0], 40);
      const auto mean = reference::widened(row_of(out, 0));
      const long double gap = reference::ball_gap(mean, 1);
      long double sum[3] = {}, distances = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const auto x = reference::widened(row_of(points, i));
        const long double d = reference::ball_distance(mean, x, 1);
        long double square = 0, direction[3], length = 0;
        for (int k = 0; k < 3; ++k) square += (long double)((x[k] - mean[k]) * (x[k] - mean[k]));
        for (int k = 0; k < 3; ++k) {
          direction[k] = gap * (long double)(x[k] - mean[k]) - square * (long double)mean[k];
          length += direction[k] * direction[k];
        }
        for (int k = 0; k < 3; ++k) sum[k] += d * direction[k] / std::sqrt(length);
        distances += d;
      }
      for (int k = 0; k < 3; ++k) EXPECT_NEAR(double(sum[k] / distances), 0, 4e-16 / double(gap)) << k;
    }
  });
}

/// Curvature 0 is Euclidean for coordinates of any size: their squares may be infinite.
TEST(poincare_range, flat_ball_of_large_points) {
  const poincare::ball_options flat{.curvature = 0};
  point_set<double> x(2, 2), v(2, 2), out(2, 2), other(2, 2), mean(1, 2);
  const double size = 1e200, values[4] = {1, -2, 3, 0.5};
  for (int e = 0; e < 4; ++e) x(e / 2, e % 2) = size * values[e], v(e / 2, e % 2) = size * values[3 - e];
  const auto to = [](auto& p) { return laboratory<double>::to(p); };
  const auto expect = [&](auto value) {
    for (int i = 0; i < 2; ++i)
      for (int k = 0; k < 2; ++k) EXPECT_NEAR(out(i, k) / size, value(i, k) / size, 1e-15) << i << ", " << k;
  };
  std::vector<double> one{0.5}, d(2);
  poincare::exp_map(x.view(), v.view(), to(out), flat);
  expect([&](int i, int k) { return x(i, k) + v(i, k); });
  poincare::log_map(x.view(), v.view(), to(out), flat);
  expect([&](int i, int k) { return v(i, k) - x(i, k); });
  poincare::mobius_add(x.view(), v.view(), to(out), flat);
  expect([&](int i, int k) { return x(i, k) + v(i, k); });
  poincare::mobius_scalar_mul(one, x.view(), to(out), flat);
  expect([&](int i, int k) { return x(i, k) / 2; });
  poincare::geodesic(x.view(), v.view(), one, to(out), flat);
  expect([&](int i, int k) { return x(i, k) / 2 + v(i, k) / 2; });
  poincare::parallel_transport(x.view(), v.view(), x.view(), to(out), flat);
  expect([&](int i, int k) { return x(i, k); });
  for (auto* map : {&poincare::exp_map_origin, &poincare::log_map_origin}) {
    (*map)(x.view(), to(out), flat, Device::best());
    expect([&](int i, int k) { return x(i, k); });
  }
  poincare::distance_gradients(x.view(), v.view(), to(out), to(other), flat);
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(std::hypot(out(i, 0), out(i, 1)), 2, 1e-14);
  poincare::origin_distances(x.view(), d, {.curvature = 0});
  EXPECT_NEAR(d[0] / size, 2 * std::sqrt(5.0), 1e-14);
  poincare::pair_distances(x.view(), v.view(), d, {.curvature = 0});
  EXPECT_NEAR(d[0] / size, 2 * std::hypot(0.5, 5.0), 1e-14);
  const std::vector<std::int64_t> offsets{0, 2};
  const auto report = poincare::frechet_mean(x.view(), offsets, {}, to(mean), {.curvature = 0});
  EXPECT_EQ(report.converged[0], 1);
  EXPECT_NEAR(mean(0, 0) / size, 2, 1e-15);
  poincare::gyromidpoint(x.view(), offsets, {}, to(mean), flat);
  EXPECT_NEAR(mean(0, 1) / size, -0.75, 1e-15);
}

/// Differences with squares below the range of double still have a direction.
TEST(poincare_range, gradient_of_points_near_the_origin) {
  point_set<double> x(1, 2), y(1, 2), of_x(1, 2), of_y(1, 2);
  for (point_set<double>* p : {&x, &y}) std::fill(p->data.begin(), p->data.end(), 0.0);
  x(0, 0) = 1e-200;
  poincare::distance_gradients(x.view(), y.view(), laboratory<double>::to(of_x), laboratory<double>::to(of_y));
  EXPECT_NEAR(of_x(0, 0), 2, 1e-15);
  EXPECT_NEAR(of_y(0, 0), -2, 1e-15);
}

TYPED_TEST(poincare_operations, status_and_errors) {
  laboratory<TypeParam> lab(1, Device::host());
  lab.y(3, 0) = 2;
  auto out = lab.room();
  const auto status = poincare::mobius_add(lab.x.view(), lab.y.view(), lab.to(out), lab.options(), lab.device);
  EXPECT_EQ(poincare::first_invalid(status), 3);
  EXPECT_TRUE(std::isnan(out(3, 0)));
  EXPECT_FALSE(std::isnan(out(4, 0)));
  expect_invalid([&] { poincare::mobius_add(lab.x.view(), lab.y.view(), lab.to(out), {.strict = true}, lab.device); },
                 "y[3] must be inside the ball");
  expect_invalid([&] { poincare::exp_map(lab.x.view(), lab.v.view(), lab.to(out), {.curvature = 1}, lab.device); },
                 "curvature must be 0 (Euclidean) or negative");
  std::vector<TypeParam> lambda(rows);
  poincare::conformal_factor(lab.x.view(), lambda, lab.options(), lab.device);
  for (std::int64_t i = 0; i < rows; ++i)
    EXPECT_NEAR(lambda[i], 2 / double(reference::ball_gap(row_of(lab.x, i), 1)), lambda[i] * 1e-6);
}

}  // namespace
}  // namespace quintet::test
