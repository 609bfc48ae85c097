// The loss of negative sampling against the formula in long double, and against differences of it.
#include "quintet/poincare/training.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "support/ball_points.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/real_types.hpp"

namespace quintet::test {
namespace {

using wide_points = std::vector<std::vector<long double>>;

long double plain_distance(const std::vector<long double>& x, const std::vector<long double>& y, long double c) {
  long double square = 0, of_x = 0, of_y = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    square += (x[k] - y[k]) * (x[k] - y[k]);
    of_x += x[k] * x[k];
    of_y += y[k] * y[k];
  }
  if (c == 0) return 2 * std::sqrt(square);
  return 2 / std::sqrt(c) * std::asinh(std::sqrt(c * square / ((1 - c * of_x) * (1 - c * of_y))));
}

/// cosh(sqrt(c) d) - 1 of space parts: with u = |x - y|^2 and w = s_x - s_y, (c u - w^2) / 2.
long double distance_on_sheet(const std::vector<long double>& x, const std::vector<long double>& y, long double c) {
  long double square = 0, of_x = 0, of_y = 0, products = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    square += (x[k] - y[k]) * (x[k] - y[k]);
    products += (x[k] - y[k]) * (x[k] + y[k]);
    of_x += x[k] * x[k];
    of_y += y[k] * y[k];
  }
  const long double times = c * products / (std::sqrt(1 + c * of_x) + std::sqrt(1 + c * of_y));
  return 2 / std::sqrt(c) * std::asinh(std::sqrt((c * square - times * times) / 4));
}

using plain_measure = long double(const std::vector<long double>&, const std::vector<long double>&, long double);

long double plain_loss(plain_measure& distance, const wide_points& points, const std::int64_t* row, std::int64_t width,
                       long double c) {
  long double sum = 0;
  for (std::int64_t j = 1; j < width; ++j) sum += std::exp(-distance(points[row[0]], points[row[j]], c));
  return distance(points[row[0]], points[row[1]], c) + std::log(sum);
}

struct sampled_links {
  std::int64_t rows, width;
  std::vector<std::int64_t> numbers;

  sampled_links(std::int64_t rows, std::int64_t width, std::int64_t points) : rows(rows), width(width) {
    std::mt19937_64 random(7);
    for (std::int64_t e = 0; e < rows * width; ++e) numbers.push_back(std::int64_t(random() % std::uint64_t(points)));
    numbers[1] = numbers[0];  // a point and itself
  }
  matrix_view<const std::int64_t> view() const { return {numbers.data(), rows, width}; }
};

template <class Real>
wide_points widened_rows(const point_set<Real>& points) {
  wide_points rows(points.n);
  for (std::int64_t i = 0; i < points.n; ++i)
    for (std::int64_t k = 0; k < points.dim; ++k) rows[i].push_back((long double)points(i, k));
  return rows;
}

/// Losses and gradients against the formula, and the gradient against its differences of the fourth order. Of a point
/// linked with itself both sides go up alike. Points and gradient are those of space parts.
template <class Real>
void expect_loss_of_formula(plain_measure& distance, wide_points at, const sampled_links& links, long double c,
                            const std::vector<Real>& losses, const std::vector<Real>& gradient) {
  constexpr bool is_float = sizeof(Real) == 4;
  const auto loss_of = [&](std::int64_t b) {
    return plain_loss(distance, at, links.numbers.data() + b * links.width, links.width, c);
  };
  for (std::int64_t b = 0; b < links.rows; ++b) {
    const double loss = double(loss_of(b));
    EXPECT_NEAR(losses[b], loss, (is_float ? 1e-6 : 1e-14) * std::max(loss, 1.0)) << b;
  }
  const auto mean = [&] {
    long double sum = 0;
    for (std::int64_t b = 0; b < links.rows; ++b) sum += loss_of(b);
    return sum / links.rows;
  };
  const long double h = 1e-5L;
  const std::size_t dim = at[0].size();
  for (std::size_t i = 0; i < at.size(); ++i)
    for (std::size_t k = 0; k < dim; ++k) {
      const long double x = at[i][k];
      long double slope = 0;
      for (const int step : {-2, -1, 1, 2}) {
        at[i][k] = x + step * h;
        slope += (step % 2 == 0 ? -step / 2 : 8 * step) * mean();
      }
      at[i][k] = x;
      EXPECT_NEAR(gradient[i * dim + k], double(slope / (12 * h)), is_float ? 1e-5 : 1e-11) << i << ", " << k;
    }
}

template <class Real>
class negative_sampling : public ::testing::Test {};
TYPED_TEST_SUITE(negative_sampling, real_types);

TYPED_TEST(negative_sampling, losses_and_gradients_are_those_of_the_formula) {
  for (const double c : {1.0, 0.3, 0.0})
    for (const std::int64_t width : {2, 5, 22}) {
      SCOPED_TRACE(::testing::Message() << "c " << c << ", width " << width);
      const std::int64_t n = 30, dim = 5, rows = 25;
      const auto points = ball_points<TypeParam>(n, dim, 0.05, 0.95, c == 0 ? 1 : c, 3);
      const sampled_links links(rows, width, n);
      std::vector<TypeParam> losses(rows), gradient(n * dim);
      poincare::negative_sampling(points.view(), links.view(), losses, {gradient.data(), n, dim}, {.curvature = -c},
                                  Device::host());
      expect_loss_of_formula<TypeParam>(plain_distance, widened_rows(points), links, c, losses, gradient);
      on_other_devices([&](const Device& device) {
        std::vector<TypeParam> again(rows), other(n * dim);
        poincare::negative_sampling(points.view(), links.view(), again, {other.data(), n, dim}, {.curvature = -c},
                                    device);
        expect_same_bits(again, losses);
        expect_same_bits(other, gradient);
      });
    }
}

/// Space parts with radii to `reach` / sqrt(c), one of them the origin: two would have no derivative of their distance.
template <class Real>
point_set<Real> points_on_sheet(std::int64_t n, std::int64_t dim, double reach, double c, std::uint64_t seed) {
  point_set<Real> points = ball_points<Real>(n, dim, 0.5, 0.9, 1, seed);
  std::mt19937_64 random(seed);
  for (std::int64_t i = 0; i < n; ++i) {
    long double square = 0;
    for (std::int64_t k = 0; k < dim; ++k) square += (long double)points(i, k) * points(i, k);
    const long double radius = reach * (i == 7 ? 0 : (long double)(random() % 1000) / 1000);
    for (std::int64_t k = 0; k < dim; ++k)
      points(i, k) = Real(points(i, k) / std::sqrt(square) * std::sinh(radius) / std::sqrt((long double)c));
  }
  return points;
}

TYPED_TEST(negative_sampling, on_the_sheet_they_are_those_of_the_formula) {
  for (const double c : {1.0, 0.3})
    for (const std::int64_t width : {2, 5, 22}) {
      SCOPED_TRACE(::testing::Message() << "c " << c << ", width " << width);
      const std::int64_t n = 30, dim = 5, rows = 25;
      const auto points = points_on_sheet<TypeParam>(n, dim, 3, c, 3);
      const sampled_links links(rows, width, n);
      std::vector<TypeParam> losses(rows), gradient(n * dim);
      lorentz::negative_sampling(points.view(), links.view(), losses, {gradient.data(), n, dim}, {.curvature = -c},
                                 Device::host());
      expect_loss_of_formula<TypeParam>(distance_on_sheet, widened_rows(points), links, c, losses, gradient);
      on_other_devices([&](const Device& device) {
        std::vector<TypeParam> again(rows), other(n * dim);
        lorentz::negative_sampling(points.view(), links.view(), again, {other.data(), n, dim}, {.curvature = -c},
                                   device);
        expect_same_bits(again, losses);
        expect_same_bits(other, gradient);
      });
    }
}

// Points far out on one ray, beside one near the origin: the gradients of their distances are unit vectors of the
// hyperboloid, +-1 / s of space parts, where x - y and x have no digit of it left.
TYPED_TEST(negative_sampling, gradients_far_out_keep_their_digits) {
  constexpr bool is_float = sizeof(TypeParam) == 4;
  for (const double radius : {5.0, 20.0, 60.0, is_float ? 80.0 : 300.0}) {
    SCOPED_TRACE(::testing::Message() << "radius " << radius);
    const std::vector<TypeParam> points{TypeParam(std::sinh(radius)), 0, TypeParam(std::sinh(0.5)), 0};
    const std::vector<std::int64_t> links{0, 1, 0};  // d + log(e^-d + 1), whose derivative is 1 / (1 + e^-d)
    std::vector<TypeParam> losses(1), gradient(4);
    lorentz::negative_sampling({points.data(), 2, 2}, {links.data(), 1, 3}, losses, {gradient.data(), 2, 2});
    const long double x = points[0], y = points[2], d = std::asinh(x) - std::asinh(y), share = 1 / (1 + std::exp(-d));
    EXPECT_NEAR(losses[0] / double(d + std::log1p(std::exp(-d))), 1, is_float ? 1e-6 : 1e-14);
    EXPECT_NEAR(gradient[0] / double(share / std::sqrt(1 + x * x)), 1, is_float ? 1e-6 : 1e-13);
    EXPECT_NEAR(gradient[2] / double(-share / std::sqrt(1 + y * y)), 1, is_float ? 1e-6 : 1e-13);
    EXPECT_EQ(gradient[1], 0);
    EXPECT_EQ(gradient[3], 0);
  }
}

TYPED_TEST(negative_sampling, finite_points_of_the_sheet_have_finite_results) {
  const TypeParam large = std::numeric_limits<TypeParam>::max(), tiny = std::numeric_limits<TypeParam>::denorm_min();
  const std::vector<TypeParam> points{large, -large, -large, large, large / 3, large, tiny, 0, 0, 0, 1, 2};
  std::vector<std::int64_t> links;
  for (std::int64_t u = 0; u < 6; ++u)
    for (std::int64_t v = 0; v < 6; ++v) links.insert(links.end(), {u, v, (v + 1) % 6});
  for (const double curvature : {-1.0, -1e-30, -1e30}) {
    std::vector<TypeParam> losses(36), gradient(12);
    lorentz::negative_sampling({points.data(), 6, 2}, {links.data(), 36, 3}, losses, {gradient.data(), 6, 2},
                               {.curvature = curvature}, Device::host());
    for (const TypeParam loss : losses) EXPECT_TRUE(std::isfinite(loss)) << curvature;
    for (std::size_t e = 0; e < gradient.size(); ++e) EXPECT_TRUE(std::isfinite(gradient[e])) << curvature << ' ' << e;
  }
}

TYPED_TEST(negative_sampling, times_of_the_sheet) {
  const std::int64_t n = 9, dim = 3, rows = 12;
  const auto points = points_on_sheet<TypeParam>(n, dim, 2, 1, 5);
  std::vector<TypeParam> timed(n * (dim + 1));
  for (std::int64_t i = 0; i < n; ++i) {
    long double square = 1;
    for (std::int64_t k = 0; k < dim; ++k) {
      timed[i * (dim + 1) + 1 + k] = points(i, k);
      square += (long double)points(i, k) * points(i, k);
    }
    timed[i * (dim + 1)] = TypeParam(std::sqrt(square));
  }
  const sampled_links links(rows, 4, n);
  std::vector<TypeParam> losses(rows), gradient(n * dim), of_timed(rows), timed_gradient(n * (dim + 1), 7);
  lorentz::negative_sampling(points.view(), links.view(), losses, {gradient.data(), n, dim});
  const auto call = [&](lorentz::coordinates form, bool strict) {
    return lorentz::negative_sampling({timed.data(), n, dim + 1}, links.view(), of_timed,
                                      {timed_gradient.data(), n, dim + 1}, {.form = form, .strict = strict});
  };
  call(lorentz::coordinates::time_and_space, true);
  expect_same_bits(of_timed, losses);
  for (std::int64_t i = 0; i < n; ++i) {
    EXPECT_EQ(timed_gradient[i * (dim + 1)], 0);
    for (std::int64_t k = 0; k < dim; ++k) EXPECT_EQ(timed_gradient[i * (dim + 1) + 1 + k], gradient[i * dim + k]);
  }
  timed[2 * (dim + 1)] += 1;
  call(lorentz::coordinates::time_ignored, true);
  expect_same_bits(of_timed, losses);
  using poincare::point_status;
  EXPECT_EQ(call(lorentz::coordinates::time_and_space, false)[2], point_status::outside);
  for (std::int64_t b = 0; b < rows; ++b) {
    const std::int64_t* const row = links.numbers.data() + b * 4;
    EXPECT_EQ(std::isnan(of_timed[b]), std::count(row, row + 4, 2) > 0) << b;
  }
  expect_invalid([&] { call(lorentz::coordinates::time_and_space, true); }, "points[2]");
}

TYPED_TEST(negative_sampling, points_outside_spoil_their_rows_alone) {
  auto points = ball_points<TypeParam>(4, 2, 0.1, 0.5, 1, 4);
  points(3, 0) = 2;
  const std::vector<std::int64_t> links{0, 1, 2, 0, 1, 3};
  std::vector<TypeParam> losses(2), gradient(8);
  const auto call = [&](bool strict) {
    return poincare::negative_sampling(points.view(), {links.data(), 2, 3}, losses, {gradient.data(), 4, 2},
                                       {.strict = strict}, Device::host());
  };
  using poincare::point_status;
  EXPECT_EQ(call(false), (poincare::row_status{point_status::inside, point_status::inside, point_status::inside,
                                               point_status::outside}));
  EXPECT_FALSE(std::isnan(losses[0]));
  EXPECT_TRUE(std::isnan(losses[1]));
  for (int e = 0; e < 8; ++e) EXPECT_EQ(std::isnan(gradient[e]), e / 2 != 2) << e;
  expect_invalid([&] { call(true); }, "points[3] must be inside the ball");
}

TYPED_TEST(negative_sampling, wrong_arguments) {
  const auto points = ball_points<TypeParam>(4, 2, 0.1, 0.5, 1, 5);
  std::vector<std::int64_t> links{0, 1, 2, 3};
  std::vector<TypeParam> losses(2), gradient(8);
  const auto call = [&](std::int64_t rows, std::int64_t width, std::int64_t n) {
    poincare::negative_sampling(points.view(), {links.data(), rows, width}, losses, {gradient.data(), n, 2});
  };
  expect_invalid([&] { call(4, 1, 4); }, "links.cols must be >= 2");
  expect_invalid([&] { call(1, 4, 4); }, "losses.size must be links.rows=1 (losses.size=2)");
  expect_invalid([&] { call(2, 2, 3); }, "gradient must be 4 x 2 (gradient=3 x 2)");
  links[3] = 4;
  expect_invalid([&] { call(2, 2, 4); }, "links[1][1] must be in [0, points.rows=4) (links[1][1]=4)");
  links[3] = -1;
  expect_invalid([&] { call(2, 2, 4); }, "links[1][1] must be in [0, points.rows=4) (links[1][1]=-1)");
}

}  // namespace
}  // namespace quintet::test
