#include "quintet/poincare/lorentz_operations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "quintet/poincare/lorentz.hpp"
#include "quintet/poincare/lorentz_means.hpp"
#include "reference/curved_space_reference.hpp"
#include "support/ball_points.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/points.hpp"
#include "support/real_types.hpp"

namespace quintet::test {
namespace {

constexpr std::int64_t sheet_rows = 40, sheet_dim = 3;
using vector4 = std::array<long double, 4>;  // t, x

/// Minkowski's geometry of the sheet |x|^2 - t^2 = -1 / c in long double, time first: another text than the library's.
long double minkowski(const vector4& x, const vector4& y) {
  return x[1] * y[1] + x[2] * y[2] + x[3] * y[3] - x[0] * y[0];
}
vector4 combine(long double a, const vector4& x, long double b, const vector4& y) {
  vector4 sum;
  for (int k = 0; k < 4; ++k) sum[k] = a * x[k] + b * y[k];
  return sum;
}
vector4 exponential(const vector4& x, const vector4& v, long double root_c) {
  const long double z = root_c * std::sqrt(minkowski(v, v));
  return combine(std::cosh(z), x, z > 0 ? std::sinh(z) / z : 1, v);
}
vector4 logarithm(const vector4& x, const vector4& y, long double root_c) {
  const long double cosine = -root_c * root_c * minkowski(x, y), z = std::acosh(cosine);
  return combine(z / std::sinh(z), y, -z / std::sinh(z) * cosine, x);
}

template <class Real>
class lorentz_operations : public ::testing::Test {
 public:
  static constexpr double tolerance = sizeof(Real) == 4 ? 2e-7 : 1e-14;
};
TYPED_TEST_SUITE(lorentz_operations, real_types);

template <class Real>
struct sheet {
  double c;
  Device device;
  point_set<Real> x = clustered_points<Real>(sheet_rows, sheet_dim, 5),
                  y = clustered_points<Real>(sheet_rows, sheet_dim, 6),
                  v = clustered_points<Real>(sheet_rows, sheet_dim, 7);

  poincare::ball_options options() const { return {.curvature = -c}; }
  long double root_c() const { return std::sqrt((long double)c); }
  vector4 point(const point_set<Real>& p, std::int64_t i) const {
    vector4 at{0, p(i, 0), p(i, 1), p(i, 2)};
    at[0] = std::sqrt(1 / (long double)c + minkowski(at, at));
    return at;
  }
  vector4 tangent(const vector4& at, const point_set<Real>& u, std::int64_t i) const {
    return {(at[1] * u(i, 0) + at[2] * u(i, 1) + at[3] * u(i, 2)) / at[0], u(i, 0), u(i, 1), u(i, 2)};
  }
  static matrix_view<Real> to(point_set<Real>& p) { return {p.data.data(), p.n, p.dim, p.stride}; }
};

template <class Real>
void expect_row(const point_set<Real>& result, std::int64_t i, const vector4& expected, double tolerance) {
  long double largest = 0;
  for (int k = 1; k < 4; ++k) largest = std::max(largest, std::fabs(expected[k]));
  for (int k = 1; k < 4; ++k)
    EXPECT_NEAR(result(i, k - 1), double(expected[k]), tolerance * double(largest)) << i << ", " << k;
}

/// body(sheet, result) on every device, for several curvatures.
template <class Real, class Body>
void on_every_sheet(Body body) {
  on_every_device([&](const Device& device) {
    for (const double c : {1.0, 0.3, 4.0}) {
      SCOPED_TRACE(c);
      point_set<Real> out(sheet_rows, sheet_dim);
      body(sheet<Real>{c, device}, out);
    }
  });
}

TYPED_TEST(lorentz_operations, exponential_and_logarithm) {
  on_every_sheet<TypeParam>([&](const auto& s, auto& out) {
    lorentz::exp_map(s.x.view(), s.v.view(), s.to(out), s.options(), s.device);
    for (std::int64_t i = 0; i < sheet_rows; ++i) {
      const vector4 x = s.point(s.x, i);
      expect_row(out, i, exponential(x, s.tangent(x, s.v, i), s.root_c()), this->tolerance);
    }
    lorentz::log_map(s.x.view(), s.y.view(), s.to(out), s.options(), s.device);
    for (std::int64_t i = 0; i < sheet_rows; ++i)
      expect_row(out, i, logarithm(s.point(s.x, i), s.point(s.y, i), s.root_c()), 4 * this->tolerance);
  });
}

TYPED_TEST(lorentz_operations, geodesic_and_transport) {
  on_every_sheet<TypeParam>([&](const auto& s, auto& out) {
    const std::vector<TypeParam> at{TypeParam(0.25)};
    lorentz::geodesic(s.x.view(), s.y.view(), at, s.to(out), s.options(), s.device);
    for (std::int64_t i = 0; i < sheet_rows; ++i) {
      const vector4 x = s.point(s.x, i), step = logarithm(x, s.point(s.y, i), s.root_c());
      expect_row(out, i, exponential(x, combine(0.25L, step, 0, step), s.root_c()), 8 * this->tolerance);
    }
    lorentz::parallel_transport(s.x.view(), s.y.view(), s.v.view(), s.to(out), s.options(), s.device);
    for (std::int64_t i = 0; i < sheet_rows; ++i) {
      const vector4 x = s.point(s.x, i), y = s.point(s.y, i), v = s.tangent(x, s.v, i);
      const long double part = minkowski(y, v) / (1 / (long double)s.c - minkowski(x, y));
      expect_row(out, i, combine(1, v, part, combine(1, x, 1, y)), 8 * this->tolerance);
    }
  });
}

/// Distances and gradients of rows of x and planes, against Minkowski's products in 113 bits. A gradient is off by what
/// the distance is, as cosh(sqrt(c) d) divides it, and by roundings of its largest number.
template <class Real>
void expect_planes(const sheet<Real>& s, const point_set<Real>& x, const point_set<Real>& z,
                   const std::vector<Real>& offsets) {
  constexpr double eps = std::numeric_limits<Real>::epsilon(), wide_eps = std::numeric_limits<double>::epsilon();
  std::vector<Real> d(x.n), by_offset(x.n);
  point_set<Real> by_point(x.n, x.dim, 1), by_normal(x.n, x.dim);
  const auto status = lorentz::hyperplane_distances(x.view(), z.view(), offsets, d, s.options(), s.device);
  EXPECT_EQ(poincare::first_invalid(status), -1);
  lorentz::hyperplane_gradients(x.view(), z.view(), offsets, s.to(by_point), s.to(by_normal), by_offset, s.options(),
                                s.device);
  for (std::int64_t i = 0; i < x.n; ++i) {
    const reference::sheet_plane_reference plane(reference::widened(row_of(x, i)), reference::widened(row_of(z, i)),
                                                 offsets[offsets.size() > 1 ? i : 0], (long double)s.c);
    const double allowed = (double(x.dim) / 2 + 12) * wide_eps * double(plane.unit / s.root_c());
    EXPECT_NEAR(d[i], double(plane.distance),
                allowed + (sizeof(Real) == 4 ? eps * std::fabs(double(plane.distance)) / 2 : 0))
        << i;
    const double gradient_tolerance = (sizeof(Real) == 4 ? 1e-7 : 1e-14) + 4 * allowed * double(s.root_c());
    const auto expect = [&](const auto& found, const auto& wanted) {
      double largest = 0;
      for (const auto one : wanted) largest = std::max(largest, std::fabs(double(one)));
      for (std::size_t k = 0; k < wanted.size(); ++k)
        EXPECT_NEAR(found[k], double(wanted[k]), gradient_tolerance * largest) << i << ", " << k;
    };
    expect(row_of(by_point, i), plane.by_point);
    expect(row_of(by_normal, i), plane.by_normal);
    EXPECT_NEAR(by_offset[i], double(plane.by_offset), gradient_tolerance * std::fabs(double(plane.by_offset))) << i;
  }
}

TYPED_TEST(lorentz_operations, distances_from_hyperplanes_and_their_gradients) {
  on_every_sheet<TypeParam>([&](const auto& s, auto&) {
    std::vector<TypeParam> offsets;
    for (std::int64_t i = 0; i < sheet_rows; ++i) offsets.push_back(TypeParam(0.25) * TypeParam(i % 9 - 4));
    expect_planes(s, s.x, s.y, offsets);
    expect_planes(s, s.x, s.v, {TypeParam(-0.5)});
  });
}

/// Points up to radius 15, planes up to distance 8.
TYPED_TEST(lorentz_operations, hyperplanes_far_out) {
  const sheet<TypeParam> s{1, Device::host()};
  std::vector<TypeParam> offsets;
  for (std::int64_t i = 0; i < 200; ++i) offsets.push_back(TypeParam(i % 17 - 8));
  for (const std::int64_t dim : {2, 5, 70})
    for (const double radius : {1e-8, 3.0, 15.0})
      expect_planes(s, ball_points<TypeParam>(200, dim, 0, std::sinh(radius), 1, 3),
                    ball_points<TypeParam>(200, dim, 1e-3, 1e3, 1, 4), offsets);
}

TEST(lorentz_hyperplanes, corners) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  // On an axis the distance is the difference of the radii; at any offset.
  const std::vector<double> radius{2, -3, 40, 40, 650, 0, 1, 1}, offset{0.5, 1, 39.5, -600, -650, 300, 1, nan};
  std::vector<double> x, z, d(8), by_offset(8), by_point(16), by_normal(16);
  for (const double r : radius) x.insert(x.end(), {std::sinh(r), 0}), z.insert(z.end(), {3, 0});
  z[12] = 0;
  const matrix_view<const double> points(x.data(), 8, 2), normals(z.data(), 8, 2);
  const auto status = lorentz::hyperplane_distances(points, normals, offset, d);
  EXPECT_EQ(status[7], poincare::point_status::not_finite);
  EXPECT_EQ(poincare::first_invalid(status), 7);
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(d[i], radius[i] - offset[i], 1e-14 * (std::fabs(radius[i]) + 1)) << i;
  EXPECT_EQ(d[6], 0);
  EXPECT_TRUE(std::isnan(d[7]));
  lorentz::hyperplane_gradients(points, normals, offset, {by_point.data(), 8, 2}, {by_normal.data(), 8, 2}, by_offset);
  for (int i = 0; i < 6; ++i) {
    EXPECT_NEAR(by_offset[i], -1, 1e-13) << i;
    EXPECT_NEAR(by_point[2 * i] * std::cosh(radius[i]), 1, 1e-12) << i;
    EXPECT_EQ(by_normal[2 * i], 0) << i;
  }
  for (const double g : {by_point[12], by_normal[12], by_point[13], by_normal[13], by_offset[6]}) EXPECT_EQ(g, 0);
  for (const double g : {by_point[14], by_normal[15], by_offset[7]}) EXPECT_TRUE(std::isnan(g));
  const auto call = [&](const std::vector<double>& offsets, const poincare::ball_options& options = {}) {
    return [&, offsets, options] { lorentz::hyperplane_distances(points, normals, offsets, d, options); };
  };
  expect_invalid(call({1, 2}), "offsets.size must be 1 or N=8 (offsets.size=2)");
  expect_invalid(call(offset, {.strict = true}), "x[7] must be finite, as its normal and offset");
  expect_invalid(call(offset, {.curvature = 0}), "curvature must be negative");
  expect_invalid([&] { lorentz::hyperplane_distances(points, {z.data(), 4, 2}, offset, d); }, "normals must be 8 x 2");
}

/// From radius r straight towards the origin and beyond it: the large numbers do not cancel. On an axis, because
/// roundings of other directions are vectors across, of length eps cosh(r).
TEST(lorentz_far, exponential_towards_the_origin) {
  for (const double r : {1.0, 5.0, 15.0, 25.0})
    for (const double part : {0.25, 0.75, 1.0, 1.5}) {
      point_set<double> x(1, 3), v(1, 3), out(1, 3);
      for (int k = 0; k < 3; ++k) x(0, k) = v(0, k) = 0;
      x(0, 1) = -std::sinh(r), v(0, 1) = r * part * std::cosh(r);
      lorentz::exp_map(x.view(), v.view(), sheet<double>::to(out));
      EXPECT_NEAR(out(0, 1), -std::sinh(r * (1 - part)), 2e-15 * r * std::cosh(r * (1 - part))) << r << ", " << part;
      EXPECT_EQ(out(0, 0), 0);
    }
}

TYPED_TEST(lorentz_operations, maps_between_models) {
  on_every_sheet<TypeParam>([&](const auto& s, auto& out) {
    point_set<TypeParam> back(sheet_rows, sheet_dim);
    const long double r = s.root_c();
    const auto check = [&](auto to_model, auto from_model, auto expected) {
      (*to_model)(s.x.view(), s.to(out), s.options(), s.device);
      (*from_model)(out.view(), s.to(back), s.options(), s.device);
      for (std::int64_t i = 0; i < sheet_rows; ++i) {
        const vector4 x = s.point(s.x, i);
        expect_row(out, i, expected(x), this->tolerance);
        expect_row(back, i, x, 50 * this->tolerance);
      }
    };
    check(&lorentz::to_ball, &lorentz::from_ball,
          [&](const vector4& x) { return combine(1 / (1 + r * x[0]), x, 0, x); });
    check(&lorentz::to_klein, &lorentz::from_klein, [&](const vector4& x) { return combine(1 / (r * x[0]), x, 0, x); });
    check(&lorentz::to_half_space, &lorentz::from_half_space, [&](const vector4& x) {
      const long double h = 1 / (r * x[0] - r * x[3]);
      return vector4{0, r * x[1] * h, r * x[2] * h, h};
    });
  });
}

TEST(lorentz_far, half_space_of_far_points) {
  point_set<double> x(2, 2), out(2, 2);
  x(0, 0) = 1, x(0, 1) = 1e12, x(1, 0) = 1, x(1, 1) = -1e12;
  lorentz::to_half_space(x.view(), sheet<double>::to(out));
  const long double time = std::sqrt(2.0L + 1e24L);
  EXPECT_NEAR(out(0, 1) / double((time + 1e12L) / 2), 1, 1e-15);  // s - x_n = (1 + 1) / (s + x_n)
  EXPECT_NEAR(out(1, 1) / double(1 / (time + 1e12L)), 1, 1e-15);
}

TYPED_TEST(lorentz_operations, status_and_errors) {
  const sheet<TypeParam> s{1, Device::host()};
  point_set<TypeParam> x = s.x, out(sheet_rows, sheet_dim);
  x(2, 1) = std::numeric_limits<TypeParam>::infinity();
  using poincare::point_status;
  auto status = lorentz::exp_map(x.view(), s.v.view(), s.to(out), s.options(), s.device);
  EXPECT_EQ(status[2], point_status::not_finite);
  EXPECT_TRUE(std::isnan(out(2, 0)) && !std::isnan(out(3, 0)));
  x(2, 1) = 2;
  status = lorentz::from_ball(x.view(), s.to(out), s.options(), s.device);
  EXPECT_EQ(status[2], point_status::outside);
  x(2, 2) = 0;
  status = lorentz::from_half_space(x.view(), s.to(out), s.options(), s.device);
  EXPECT_EQ(status[2], point_status::outside);
  expect_invalid([&] { lorentz::from_klein(x.view(), s.to(out), {.strict = true}); }, "p[");
  expect_invalid([&] { lorentz::to_ball(x.view(), s.to(out), {.curvature = 0}); }, "curvature must be negative");
  point_set<TypeParam> narrow(sheet_rows, 2);
  expect_invalid([&] { lorentz::log_map(x.view(), narrow.view(), s.to(out)); }, "y must be 40 x 3");
}

// The centroid is the direction of the sum; at the Frechet mean the logarithms of the points add up to 0.
TYPED_TEST(lorentz_operations, means_of_groups) {
  on_every_device([](const Device& device) {
    for (const double c : {1.0, 0.25}) {
      const sheet<TypeParam> s{c, device};
      constexpr std::int64_t half = sheet_rows / 2;
      const std::vector<std::int64_t> offsets{0, half, sheet_rows, sheet_rows};
      std::vector<TypeParam> weights;
      for (std::int64_t i = 0; i < sheet_rows; ++i) weights.push_back(TypeParam(1 + i % 3));
      auto points = scaled(s.x, TypeParam(0.3));
      point_set<TypeParam> centroid(3, sheet_dim), frechet(3, sheet_dim);
      lorentz::centroid(points.view(), offsets, weights, sheet<TypeParam>::to(centroid), s.options(), device);
      const auto report = lorentz::frechet_mean(points.view(), offsets, weights, sheet<TypeParam>::to(frechet),
                                                {.curvature = -c}, device);
      for (std::int64_t b = 0; b < 2; ++b) {
        vector4 sum{}, pull{};
        const vector4 mean = s.point(frechet, b);
        for (std::int64_t i = b * half; i < (b + 1) * half; ++i) {
          sum = combine(1, sum, weights[i], s.point(points, i));
          pull = combine(1, pull, weights[i], logarithm(mean, s.point(points, i), s.root_c()));
        }
        const long double length = std::sqrt(-minkowski(sum, sum)) * s.root_c();
        expect_row(centroid, b, combine(1 / length, sum, 0, sum), 2e-6 * (sizeof(TypeParam) == 4 ? 1 : 1e-7));
        EXPECT_LT(std::sqrt(minkowski(pull, pull)), sizeof(TypeParam) == 4 ? 1e-4 : 1e-11) << b;
        EXPECT_EQ(report.converged[b], 1);
      }
      EXPECT_TRUE(std::isnan(centroid(2, 0)));
      points(0, 0) = TypeParam(0x1p56);  // no place in the ball of double
      lorentz::centroid(points.view(), offsets, weights, sheet<TypeParam>::to(centroid), s.options(), device);
      EXPECT_TRUE(std::isnan(centroid(0, 0)));
      EXPECT_FALSE(std::isnan(centroid(1, 0)));
      expect_invalid(
          [&] { lorentz::centroid(points.view(), offsets, {}, sheet<TypeParam>::to(centroid), {.curvature = 0}); },
          "curvature must be negative");
    }
  });
}

}  // namespace
}  // namespace quintet::test
