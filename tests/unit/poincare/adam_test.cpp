// Steps of Riemannian Adam in both models against one text, that of the hyperboloid in Minkowski's space.
#include "quintet/poincare/adam.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "reference/adam_reference.hpp"
#include "support/ball_points.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/points.hpp"
#include "support/real_types.hpp"

namespace quintet::test {
namespace {

using reference::adam_on_minkowski, reference::ball_vector, reference::lifted_point;

template <class Real>
ball_vector row_of(const std::vector<Real>& rows, std::int64_t i, std::int64_t dim) {
  ball_vector row{0};
  for (std::int64_t k = 0; k < dim; ++k) row.push_back(rows[i * dim + k]);
  return row;
}

/// Largest difference from row i over the length of the expected row.
template <class Real>
double error_of(const std::vector<Real>& rows, std::int64_t i, std::int64_t dim, const ball_vector& expected) {
  long double error = 0, size = 0;
  for (std::int64_t k = 0; k < dim; ++k) {
    const auto one = (long double)expected[k + 1];
    error = std::fmax(error, std::fabs(rows[i * dim + k] - one));
    size = std::fmax(size, std::fabs(one));
  }
  return double(size > 0 ? error / size : error);
}

constexpr std::int64_t adam_rows = 70, adam_dim = 5;

template <class Real>
struct trained_rows {
  std::vector<Real> x, first = std::vector<Real>(adam_rows * adam_dim), second = std::vector<Real>(adam_rows);

  explicit trained_rows(const point_set<Real>& points) : x(points.data.begin(), points.data.end()) {}
  matrix_view<const Real> points() const { return {x.data(), adam_rows, adam_dim}; }
  matrix_view<Real> next() { return {x.data(), adam_rows, adam_dim}; }
  matrix_view<Real> moment() { return {first.data(), adam_rows, adam_dim}; }
};

template <class Real>
class riemannian_adam : public ::testing::Test {
 public:
  static constexpr double tolerance = sizeof(Real) == 4 ? 3e-7 : 3e-14;
};
TYPED_TEST_SUITE(riemannian_adam, real_types);

TYPED_TEST(riemannian_adam, steps_in_the_ball_are_those_on_the_hyperboloid) {
  for (const double c : {1.0, 0.3, 4.0}) {
    SCOPED_TRACE(c);
    trained_rows<TypeParam> rows(ball_points<TypeParam>(adam_rows, adam_dim, 0.05, 0.9, c, 3));
    poincare::adam_options settings{.rate = 0.1, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-6, .weight_decay = 0.01};
    double point_error = 0, moment_error = 0, square_error = 0;
    for (settings.step = 1; settings.step <= 5; ++settings.step) {
      const auto gradient = clustered_points<TypeParam>(adam_rows, adam_dim, 10 + settings.step);
      std::vector<adam_on_minkowski> expected;
      for (std::int64_t i = 0; i < adam_rows; ++i) {
        const lifted_point at(row_of(rows.x, i, adam_dim), c);
        expected.push_back({at.point(), at.vector(row_of(rows.first, i, adam_dim)), rows.second[i]});
        expected.back().take_step(at.gradient(row_of(gradient.data, i, adam_dim), settings.weight_decay), settings, c);
      }
      poincare::adam_step(rows.points(), gradient.view(), 1e-3, rows.moment(), rows.second, rows.next(), settings,
                          {.curvature = -c}, Device::host());
      for (std::int64_t i = 0; i < adam_rows; ++i) {
        const auto& of_row = expected[i];
        point_error = std::max(point_error, error_of(rows.x, i, adam_dim, reference::into_ball(of_row.x, c)));
        moment_error = std::max(
            moment_error, error_of(rows.first, i, adam_dim, reference::vector_into_ball(of_row.x, of_row.first, c)));
        square_error = std::max(square_error, double(std::fabs(rows.second[i] / of_row.second - 1)));
      }
    }
    EXPECT_LE(point_error, this->tolerance);
    EXPECT_LE(moment_error, 4 * this->tolerance);
    EXPECT_LE(square_error, this->tolerance);
  }
}

TYPED_TEST(riemannian_adam, steps_of_the_lorentz_model_with_and_without_times) {
  for (const double c : {1.0, 0.3, 4.0})
    for (const int skip : {0, 1}) {
      SCOPED_TRACE(::testing::Message() << c << ", " << skip);
      trained_rows<TypeParam> rows(clustered_points<TypeParam>(adam_rows, adam_dim, 4));
      const std::int64_t width = adam_dim + skip;
      std::vector<TypeParam> x(adam_rows * width), gradient(adam_rows * width);
      poincare::adam_options settings{.rate = 0.2, .beta1 = 0.8, .beta2 = 0.95};
      double point_error = 0, moment_error = 0, square_error = 0, time_error = 0;
      for (settings.step = 1; settings.step <= 5; ++settings.step) {
        const auto drawn = clustered_points<TypeParam>(adam_rows, width, 20 + settings.step);
        gradient.assign(drawn.data.begin(), drawn.data.end());
        std::vector<adam_on_minkowski> expected;
        for (std::int64_t i = 0; i < adam_rows; ++i) {
          for (std::int64_t k = 0; k < adam_dim; ++k) x[i * width + skip + k] = rows.x[i * adam_dim + k];
          ball_vector at = row_of(rows.x, i, adam_dim), moment = row_of(rows.first, i, adam_dim), slope = at;
          at[0] = std::sqrt(1 / (long double)c + (long double)reference::space_product(at, at));
          moment[0] = reference::space_product(at, moment) / at[0];
          slope[0] = skip > 0 ? -gradient[i * width] : TypeParam(0);
          for (std::int64_t k = 0; k < adam_dim; ++k) slope[k + 1] = gradient[i * width + skip + k];
          expected.push_back({at, moment, rows.second[i]});
          expected.back().take_step(slope, settings, c);
        }
        lorentz::adam_step(
            {x.data(), adam_rows, width}, {gradient.data(), adam_rows, width}, rows.moment(), rows.second,
            {x.data(), adam_rows, width}, settings,
            {.curvature = -c, .form = skip > 0 ? lorentz::coordinates::time_ignored : lorentz::coordinates::space},
            Device::host());
        for (std::int64_t i = 0; i < adam_rows; ++i) {
          const auto& of_row = expected[i];
          for (std::int64_t k = 0; k < adam_dim; ++k) rows.x[i * adam_dim + k] = x[i * width + skip + k];
          point_error = std::max(point_error, error_of(rows.x, i, adam_dim, of_row.x));
          moment_error = std::max(moment_error, error_of(rows.first, i, adam_dim, of_row.first));
          square_error = std::max(square_error, double(std::fabs(rows.second[i] / of_row.second - 1)));
          if (skip > 0)
            time_error = std::max(time_error, double(std::fabs((long double)(x[i * width] / of_row.x[0] - 1))));
        }
      }
      EXPECT_LE(point_error, 4 * this->tolerance);
      EXPECT_LE(moment_error, 4 * this->tolerance);
      EXPECT_LE(square_error, this->tolerance);
      EXPECT_LE(time_error, 4 * this->tolerance);
    }
}

TYPED_TEST(riemannian_adam, the_flat_ball_is_adam_of_numbers) {
  trained_rows<TypeParam> rows(clustered_points<TypeParam>(adam_rows, adam_dim, 5));
  const trained_rows<TypeParam> before = rows;
  const auto gradient = clustered_points<TypeParam>(adam_rows, adam_dim, 6);
  const poincare::adam_options settings{.rate = 0.5, .epsilon = 1e-9};
  poincare::adam_step(rows.points(), gradient.view(), 1e-3, rows.moment(), rows.second, rows.next(), settings,
                      {.curvature = 0}, Device::host());
  // The metric is 4 |dx|^2. In the first step the direction is that of the gradient.
  for (std::int64_t i = 0; i < adam_rows; ++i) {
    long double square = 0;
    for (std::int64_t k = 0; k < adam_dim; ++k) square += (long double)gradient(i, k) * gradient(i, k) / 4;
    for (std::int64_t k = 0; k < adam_dim; ++k) {
      const long double step = gradient(i, k) / 4 / (std::sqrt(square) + settings.epsilon);
      EXPECT_NEAR(rows.x[i * adam_dim + k], double(before.x[i * adam_dim + k] - settings.rate * step),
                  this->tolerance * 10);
      EXPECT_NEAR(rows.first[i * adam_dim + k], double(gradient(i, k)) / 40, this->tolerance);
    }
  }
}

TYPED_TEST(riemannian_adam, points_are_pulled_to_the_margin_and_have_the_same_bits_everywhere) {
  const auto points = ball_points<TypeParam>(adam_rows, adam_dim, 0.05, 0.99, 1, 7);
  const auto gradient = clustered_points<TypeParam>(adam_rows, adam_dim, 8);
  const poincare::adam_options settings{.rate = 9};
  trained_rows<TypeParam> rows(points);
  const auto report = poincare::adam_step(rows.points(), gradient.view(), 0.01, rows.moment(), rows.second, rows.next(),
                                          settings, {}, Device::host());
  std::int64_t at_margin = 0;
  for (std::int64_t i = 0; i < adam_rows; ++i) {
    const ball_vector x = row_of(rows.x, i, adam_dim);
    const long double norm = std::sqrt((long double)reference::space_product(x, x));
    EXPECT_LE(norm, 0.99 + 1e-6);
    at_margin += norm > 0.99 - 1e-6;
  }
  EXPECT_GT(report.moved, adam_rows / 2);
  EXPECT_EQ(report.moved, at_margin);
  std::vector<TypeParam> out(adam_rows * adam_dim);
  trained_rows<TypeParam> apart(points);
  poincare::adam_step(points.view(), gradient.view(), 0.01, apart.moment(), apart.second,
                      {out.data(), adam_rows, adam_dim}, settings, {}, Device::host());
  expect_same_bits(out, rows.x);
  expect_same_bits(apart.first, rows.first);
}

TYPED_TEST(riemannian_adam, devices_agree) {
  const auto points = ball_points<TypeParam>(adam_rows, adam_dim, 0.05, 0.9, 1, 9);
  const auto gradient = clustered_points<TypeParam>(adam_rows, adam_dim, 10);
  const auto step = [&](const Device& device) {
    trained_rows<TypeParam> rows(points), on_sheet(points);
    for (const std::int64_t count : {1, 2}) {
      poincare::adam_step(rows.points(), gradient.view(), 0.01, rows.moment(), rows.second, rows.next(),
                          {.step = count}, {}, device);
      lorentz::adam_step(on_sheet.points(), gradient.view(), on_sheet.moment(), on_sheet.second, on_sheet.next(),
                         {.step = count}, {}, device);
    }
    std::vector<TypeParam> all = rows.x;
    for (const auto* part : {&rows.first, &rows.second, &on_sheet.x, &on_sheet.first, &on_sheet.second})
      all.insert(all.end(), part->begin(), part->end());
    return all;
  };
  const auto expected = step(Device::host());
  on_other_devices([&](const Device& device) {
    const auto found = step(device);
    for (std::size_t e = 0; e < found.size(); ++e)
      EXPECT_NEAR(found[e], expected[e], this->tolerance * (1 + std::fabs(expected[e]))) << e;
  });
}

TYPED_TEST(riemannian_adam, rows_without_a_point_and_wrong_arguments) {
  auto points = ball_points<TypeParam>(adam_rows, adam_dim, 0.05, 0.9, 1, 11);
  points(3, 0) = 5;
  trained_rows<TypeParam> rows(points);
  const auto gradient = clustered_points<TypeParam>(adam_rows, adam_dim, 12);
  const auto call = [&](const poincare::adam_options& settings, double margin = 0.01, bool strict = false) {
    return poincare::adam_step(rows.points(), gradient.view(), margin, rows.moment(), rows.second, rows.next(),
                               settings, {.strict = strict}, Device::host());
  };
  const auto before = rows.x;
  expect_invalid([&] { call({}, 0.01, true); }, "x[3] must be inside the ball");
  EXPECT_EQ(rows.x, before);
  EXPECT_EQ(call({}).status[3], poincare::point_status::outside);
  EXPECT_TRUE(std::isnan(rows.x[3 * adam_dim]) && std::isnan(rows.first[3 * adam_dim]) && std::isnan(rows.second[3]));
  EXPECT_FALSE(std::isnan(rows.x[4 * adam_dim]));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  expect_invalid([&] { call({.rate = infinity}); }, "rate must be finite");
  expect_invalid([&] { call({.beta1 = 1}); }, "beta1 must be in [0, 1) (beta1=1)");
  expect_invalid([&] { call({.beta2 = -0.1}); }, "beta2 must be in [0, 1) (beta2=-0.1)");
  expect_invalid([&] { call({.epsilon = 0}); }, "epsilon must be > 0 and finite (epsilon=0)");
  expect_invalid([&] { call({.weight_decay = -infinity}); }, "weight_decay must be finite");
  expect_invalid([&] { call({.step = 0}); }, "step must be >= 1 (step=0)");
  expect_invalid([&] { call({}, 0); }, "margin must be in [");
  expect_invalid(
      [&] {
        lorentz::adam_step(rows.points(), gradient.view(), rows.moment(), rows.second, rows.next(), {},
                           {.form = lorentz::coordinates::time_and_space});
      },
      "form must be space or time_ignored");
  expect_invalid(
      [&] {
        lorentz::adam_step(rows.points(), gradient.view(), rows.moment(), rows.second, rows.next(), {},
                           {.form = lorentz::coordinates::time_ignored});
      },
      "first must be 70 x 4 (first=70 x 5)");
}

}  // namespace
}  // namespace quintet::test
