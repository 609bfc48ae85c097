#include "quintet/poincare/lorentz.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "reference/poincare_reference.hpp"
#include "support/ball_data.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/points.hpp"
#include "support/real_types.hpp"

namespace quintet::test {
namespace {

using reference::wide;

/// Units in the last place of the expected value.
template <class Real>
double ulps(Real found, long double expected) {
  const Real rounded = Real(expected);
  const Real unit = std::nextafter(rounded, std::numeric_limits<Real>::infinity()) - rounded;
  return double(std::fabs((long double)found - expected) / (long double)unit);
}

template <class Real>
Real distance_of(const std::vector<Real>& x, const std::vector<Real>& y,
                 const lorentz::distance_options& options = {}) {
  return lorentz::distance<Real>(x, y, options);
}

/// (t, x) with t as the type has it.
template <class Real>
std::vector<Real> with_time(const std::vector<Real>& x) {
  long double square = 1;
  for (const Real a : x) square += (long double)a * (long double)a;
  std::vector<Real> point{Real(std::sqrt(square))};
  point.insert(point.end(), x.begin(), x.end());
  return point;
}

template <class Real>
class lorentz_distances : public ::testing::Test {
 public:
  static constexpr double bound = sizeof(Real) == 4 ? 1 : 4;
};
TYPED_TEST_SUITE(lorentz_distances, real_types);

TYPED_TEST(lorentz_distances, every_row_of_the_data_within_the_bound) {
  const auto folder = data_folder("lorentz");
  QUINTET_SKIP_WITHOUT(folder);
  const csv_table table(folder / "lorentz_pairs.csv");
  const std::string type = sizeof(TypeParam) == 4 ? "float" : "double";
  int rows = 0;
  double worst = 0;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    if (table.at(i, "type") != type) continue;
    SCOPED_TRACE(table.at(i, "case"));
    const auto x = parse_vector<TypeParam>(table.at(i, "x")), y = parse_vector<TypeParam>(table.at(i, "y"));
    const long double expected = std::strtold(table.at(i, "distance").c_str(), nullptr);
    const TypeParam there = distance_of(x, y);
    EXPECT_LE(ulps(there, expected), this->bound);
    EXPECT_EQ(distance_of(y, x), there);
    EXPECT_EQ(distance_of(with_time(x), with_time(y), {.form = lorentz::coordinates::time_and_space}), there);
    on_every_device([&](const Device& device) {
      const auto dim = std::int64_t(x.size());
      TypeParam matrix = 0;
      lorentz::distances({x.data(), 1, dim}, {y.data(), 1, dim}, {&matrix, 1, 1}, {}, device);
      EXPECT_EQ(matrix, there);
    });
    worst = std::max(worst, ulps(there, expected));
    ++rows;
  }
  EXPECT_EQ(rows, 64);
  expect_error_within("lorentz_pairs_" + type, worst, this->bound);
}

/// In the plane: sinh^2(d / 2) = m'^2 / 4 + |x ^ y|^2 / (2 (a b + x.y)), whose cross product 113 bits hold exactly.
long double plane_distance(const double* x, const double* y) {
  const wide cross = wide(x[0]) * y[1] - wide(x[1]) * y[0], dot = wide(x[0]) * y[0] + wide(x[1]) * y[1];
  const auto length = [](const double* p) { return std::hypot((long double)p[0], (long double)p[1]); };
  const long double a = length(x), b = length(y), across = (long double)cross;
  const long double angular =
      dot > 0 ? across * across / (2 * (a * b + (long double)dot)) : (a * b - (long double)dot) / 2;
  const wide squares = (wide(x[0]) - y[0]) * (wide(x[0]) + y[0]) + (wide(x[1]) - y[1]) * (wide(x[1]) + y[1]);
  const long double m = (long double)squares / (a * std::sqrt(1 + b * b) + b * std::sqrt(1 + a * a));
  const long double radial = m * m / (2 * (1 + std::sqrt(1 + m * m)));
  return 2 * std::asinh(std::sqrt(radial + angular));
}

/// Random, nearly equal, nearly radial and nearly parallel pairs at radii up to 300.
TEST(lorentz_plane, any_radius_within_the_bound) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  double worst = 0;
  for (const double radius : {1e-300, 1e-160, 1e-20, 1e-3, 1.0, 5.0, 17.0, 40.0, 100.0, 200.0, 300.0})
    for (int repeat = 0; repeat < 400; ++repeat) {
      const double angle = 6.3 * uniform(random), size = std::sinh(radius) * (0.5 + uniform(random));
      const double x[2] = {size * std::cos(angle), size * std::sin(angle)};
      const double part = std::pow(10.0, -17 * uniform(random));
      double y[2] = {x[0], x[1]};
      switch (repeat % 5) {
        case 0:
          y[0] = size * uniform(random), y[1] = -size * uniform(random);
          break;
        case 1:
          y[0] *= 1 + part, y[1] *= 1 - part;
          break;
        case 2:
          y[0] *= 1 + part, y[1] *= 1 + part;
          break;
        case 3:
          y[1] = std::nextafter(y[1], 0.0);
          break;
        default:
          y[0] *= 0.25, y[1] = std::nextafter(y[1] * 0.25, 0.0);
      }
      const double found = distance_of<double>({x[0], x[1]}, {y[0], y[1]});
      const double error = ulps(found, plane_distance(x, y));
      EXPECT_LE(error, 4) << radius << ", " << repeat;
      worst = std::max(worst, error);
    }
  expect_error_within("plane", worst, 4);
}

/// Multiples of one point lie on a ray: their distance is the difference of the radii.
TEST(lorentz_plane, points_of_a_ray) {
  for (int i = -900; i <= 900; i += 60)
    for (int j = -900; j <= 900; j += 50) {
      const long double a = std::ldexp(5.0L, i), b = std::ldexp(5.0L, j);
      const std::vector<double> x{std::ldexp(3.0, i), std::ldexp(4.0, i)}, y{std::ldexp(3.0, j), std::ldexp(4.0, j)};
      // asinh(a) - asinh(b) without a cancellation.
      const long double m = (a - b) * (a + b) / (a * std::sqrt(1 + b * b) + b * std::sqrt(1 + a * a));
      EXPECT_LE(ulps(distance_of(x, y), std::fabs(std::asinh(m))), 4) << i << ", " << j;
    }
}

/// -<x, y> = cosh(d) in 113 bits, for radii where those suffice.
template <class Real>
long double product_distance(const Real* x, const Real* y, std::int64_t dim, double c) {
  wide xx = 0, yy = 0, square = 0, sum = 0;
  for (std::int64_t k = 0; k < dim; ++k) {
    xx += wide(x[k]) * x[k], yy += wide(y[k]) * y[k];
    square += (wide(x[k]) - y[k]) * (wide(x[k]) - y[k]);
    sum += (wide(x[k]) - y[k]) * (wide(x[k]) + y[k]);
  }
  // t_x t_y - x.y - 1 = (|x - y|^2 - (t_x - t_y)^2) / 2, and sinh^2(d / 2) is half of it.
  const long double tx = std::sqrt(1 + (long double)(c * xx)), ty = std::sqrt(1 + (long double)(c * yy));
  const long double apart = (long double)(c * sum) / (tx + ty);
  return 2 * std::asinh(std::sqrt(((long double)(c * square) - apart * apart) / 4)) / std::sqrt((long double)c);
}

TYPED_TEST(lorentz_distances, matrix_pairs_and_origin) {
  for (const double c : {1.0, 0.25, 3.7}) {
    for (const std::int64_t dim : {1, 2, 7, 33}) {
      const std::int64_t n = 45;
      auto x = clustered_points<TypeParam>(n, dim, 3), y = clustered_points<TypeParam>(n, dim, 4);
      on_every_device([&](const Device& device) {
        SCOPED_TRACE(text(c, ", ", dim));
        const lorentz::distance_options options{.curvature = -c};
        std::vector<TypeParam> matrix(n * n), pairs(n), origin(n), point(dim);
        const auto report = lorentz::distances(x.view(), y.view(), {matrix.data(), n, n}, options, device);
        EXPECT_TRUE(report.all_inside());
        lorentz::pair_distances(x.view(), y.view(), pairs, options, device);
        lorentz::origin_distances(x.view(), origin, options, device);
        double worst = 0;
        for (std::int64_t i = 0; i < n; ++i) {
          EXPECT_EQ(pairs[i], matrix[i * n + i]);
          const TypeParam* row = x.data.data() + i * x.stride;
          worst = std::max(worst, ulps(origin[i], product_distance(row, point.data(), dim, c)));
          for (std::int64_t j = 0; j < n; ++j)
            worst =
                std::max(worst, ulps(matrix[i * n + j], product_distance(row, y.data.data() + j * y.stride, dim, c)));
        }
        expect_error_within("matrix", worst, this->bound);
      });
    }
  }
}

TYPED_TEST(lorentz_distances, equal_points_and_the_origin) {
  const std::vector<TypeParam> zero{0, 0}, tiny{std::numeric_limits<TypeParam>::denorm_min(), 0},
      large{std::numeric_limits<TypeParam>::max(), -std::numeric_limits<TypeParam>::max()};
  EXPECT_EQ(distance_of(zero, zero), 0);
  EXPECT_EQ(distance_of(large, large), 0);
  EXPECT_EQ(distance_of(zero, tiny), tiny[0]);
  for (const auto* x : {&zero, &tiny, &large})
    for (const auto* y : {&zero, &tiny, &large})
      for (const double c : {1e-30, 1.0, 1e30}) {
        const TypeParam d = distance_of(*x, *y, {.curvature = -c});
        EXPECT_TRUE(d >= 0 && std::isfinite(d)) << (*x)[0] << ", " << (*y)[0] << ", " << c;
      }
  const long double radius = std::log(2 * std::sqrt(2.0L)) + std::log((long double)large[0]);
  EXPECT_LE(ulps(distance_of(zero, large), radius), this->bound);
  std::vector<TypeParam> opposite{-large[0], -large[1]};
  EXPECT_LE(ulps(distance_of(large, opposite), 2 * radius), this->bound);
}

TYPED_TEST(lorentz_distances, status_and_errors) {
  constexpr TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  const TypeParam root = std::sqrt(TypeParam(2));
  const point_set<TypeParam> points = [&] {
    point_set<TypeParam> p(4, 2);
    const TypeParam values[] = {root, 1, TypeParam(1.5), 1, -root, 1, nan, 1};
    for (int e = 0; e < 8; ++e) p(e / 2, e % 2) = values[e];
    return p;
  }();
  using poincare::point_status;
  const std::vector<point_status> expected{point_status::inside, point_status::outside, point_status::outside,
                                           point_status::not_finite};
  lorentz::distance_options options{.form = lorentz::coordinates::time_and_space};
  std::vector<TypeParam> d(4);
  on_every_device([&](const Device& device) {
    EXPECT_EQ(lorentz::origin_distances(points.view(), d, options, device), expected);
    EXPECT_NEAR(d[0], std::asinh(1.0), 1e-6);
    for (int i = 1; i < 4; ++i) EXPECT_TRUE(std::isnan(d[i]));
    const auto report = lorentz::pair_distances(points.view(), points.view(), d, options, device);
    EXPECT_EQ(report.queries, expected);
    EXPECT_EQ(d[0], 0);
    EXPECT_TRUE(std::isnan(d[1]));
    lorentz::origin_distances(points.view(), d, {.form = lorentz::coordinates::time_ignored}, device);
    EXPECT_EQ(d[1], d[0]);
    EXPECT_EQ(d[3], d[0]);
    lorentz::origin_distances(points.view(), d, {.form = options.form, .tolerance = 0.1}, device);
    EXPECT_EQ(d[1], d[0]);
  });
  options.strict = true;
  expect_invalid([&] { lorentz::origin_distances(points.view(), d, options); }, "x[1] must be finite with t = sqrt");
  expect_invalid([&] { lorentz::origin_distances(points.view(), d, {.curvature = 0}); }, "curvature must be negative");
  expect_invalid([&] { lorentz::origin_distances(points.view(), d, {.form = options.form, .tolerance = 0.0}); },
                 "tolerance must be > 0");
  point_set<TypeParam> time(4, 1);
  expect_invalid([&] { lorentz::origin_distances(time.view(), d, options); }, "x.cols must be >= 2");
  d.resize(3);
  expect_invalid([&] { lorentz::origin_distances(points.view(), d); }, "out.size must be x.rows=4");
}

TEST(lorentz_storage, half_and_bfloat16_are_widened) {
  const std::vector<float> x{0.5f, -1.25f, 3}, y{1.5f, 2, -0.75f};
  const float expected = distance_of(x, y);
  const auto check = [&](auto type) {
    using Storage = decltype(type);
    std::vector<Storage> a, b;
    for (int k = 0; k < 3; ++k) a.push_back(Storage(x[k])), b.push_back(Storage(y[k]));
    EXPECT_EQ(lorentz::distance<Storage>(a, b), expected);
  };
  check(half(0.0f));
  check(bfloat16(0.0f));
}

}  // namespace
}  // namespace quintet::test
