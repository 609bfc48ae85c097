// Weights of the gradients of all distances, against their formulas in long double.
#include "quintet/poincare/gradient_weights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"

namespace quintet::test {
namespace {

struct weight_case {
  std::int64_t rows = 7, cols = 45;
  std::vector<double> distances, gradients, x_gap, y_gap, x_square, y_square;

  weight_case() {
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> uniform(0, 1), exponent(-12, 1.5);
    std::normal_distribution<double> normal;
    for (std::int64_t e = 0; e < rows * cols; ++e) {
      distances.push_back(e % 11 == 0 ? 0 : std::pow(10, exponent(random)));
      gradients.push_back(normal(random));
    }
    for (std::int64_t i = 0; i < rows; ++i) x_gap.push_back(uniform(random)), x_square.push_back(uniform(random));
    for (std::int64_t j = 0; j < cols; ++j) y_gap.push_back(uniform(random)), y_square.push_back(uniform(random));
    distances[8] = std::numeric_limits<double>::quiet_NaN();
  }
};

double relative_error(double found, long double expected) {
  return expected == 0 ? std::fabs(found) : double(std::fabs((found - expected) / expected));
}

TEST(gradient_weights, are_those_of_the_formulas) {
  const weight_case of;
  const std::int64_t count = of.rows * of.cols;
  for (const auto model : {poincare::distance_model::ball, poincare::distance_model::hyperboloid})
    for (const double c : {1.0, 0.3, 9.0}) {
      const bool in_ball = model == poincare::distance_model::ball;
      const double part = 1e-3;
      on_every_device([&](const Device& device) {
        std::vector<double> weights(count), shares(in_ball ? count : 0);
        const std::vector<double> none;
        const std::int64_t near_pairs = poincare::gradient_weights(
            matrix_view<const double>(of.distances.data(), of.rows, of.cols),
            matrix_view<const double>(of.gradients.data(), of.rows, of.cols), {in_ball ? of.x_gap : none, of.x_square},
            {in_ball ? of.y_gap : none, of.y_square}, {weights.data(), of.rows, of.cols},
            {shares.data(), in_ball ? of.rows : 0, in_ball ? of.cols : 0}, {model, -c, part}, device);
        double worst = 0;
        std::int64_t expected_pairs = 0;
        for (std::int64_t e = 0; e < count; ++e) {
          const std::int64_t i = e / of.cols, j = e % of.cols;
          const long double d = of.distances[e], root = std::sqrt((long double)c), h = root * d / 2;
          if (std::isnan(of.distances[e])) {
            EXPECT_TRUE(std::isnan(weights[e]));
            continue;
          }
          const long double gaps = in_ball ? (long double)of.x_gap[i] * of.y_gap[j] : 1, g = of.gradients[e];
          const long double sinh = std::sinh(h);
          const long double weight = d == 0    ? 0
                                     : in_ball ? 2 * root * g / (gaps * sinh * std::cosh(h))
                                               : root * g / std::sinh(2 * h);
          const double unit = double(16 + 4 * h) * 0x1p-53;
          worst = std::max(worst, relative_error(weights[e], weight) / unit);
          if (in_ball) worst = std::max(worst, relative_error(shares[e], 2 * root * g * std::tanh(h)) / unit);
          const long double chord = (in_ball ? gaps : 4) * sinh * sinh / c;
          expected_pairs += d > 0 && chord < part * part * ((long double)of.x_square[i] + of.y_square[j]);
        }
        expect_error_within("weights", worst, 1);
        EXPECT_EQ(near_pairs, expected_pairs);
        EXPECT_GT(near_pairs, 10);
      });
    }
}

TEST(gradient_weights, bad_arguments) {
  const weight_case of;
  std::vector<double> weights(of.rows * of.cols);
  const auto call = [&](const poincare::weight_points& x, const poincare::weight_options& options) {
    const matrix_view<const double> pairs(of.distances.data(), of.rows, of.cols);
    poincare::gradient_weights(pairs, pairs, x, {{}, of.y_square}, {weights.data(), of.rows, of.cols}, {}, options);
  };
  constexpr auto sheet = poincare::distance_model::hyperboloid;
  call({{}, of.x_square}, {sheet, -1});
  expect_invalid([&] { call({{}, of.x_square}, {sheet, 0}); }, "curvature must be in [-1e30, -1e-30]");
  expect_invalid([&] { call({{}, of.x_square}, {sheet, -1, -1}); }, "near_part must be >= 0");
  expect_invalid([&] { call({{}, of.y_square}, {sheet, -1}); }, "x.square.size must be 7");
  expect_invalid([&] { call({of.x_gap, of.x_square}, {sheet, -1}); }, "x.gap.size must be 0");
  expect_invalid([&] { call({of.x_gap, of.x_square}, {}); }, "shares must be 7 x 45");
}

}  // namespace
}  // namespace quintet::test
