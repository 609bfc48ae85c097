// The loss of negative sampling against the formula in long double, and against differences of it.
#include "quintet/poincare/training.hpp"

#include <gtest/gtest.h>

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

long double plain_loss(const wide_points& points, const std::int64_t* row, std::int64_t width, long double c) {
  long double sum = 0;
  for (std::int64_t j = 1; j < width; ++j) sum += std::exp(-plain_distance(points[row[0]], points[row[j]], c));
  return plain_distance(points[row[0]], points[row[1]], c) + std::log(sum);
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

template <class Real>
class negative_sampling : public ::testing::Test {};
TYPED_TEST_SUITE(negative_sampling, real_types);

TYPED_TEST(negative_sampling, losses_and_gradients_are_those_of_the_formula) {
  constexpr bool is_float = sizeof(TypeParam) == 4;
  for (const double c : {1.0, 0.3, 0.0})
    for (const std::int64_t width : {2, 5, 22}) {
      SCOPED_TRACE(::testing::Message() << "c " << c << ", width " << width);
      const std::int64_t n = 30, dim = 5, rows = 25;
      const auto points = ball_points<TypeParam>(n, dim, 0.05, 0.95, c == 0 ? 1 : c, 3);
      const sampled_links links(rows, width, n);
      std::vector<TypeParam> losses(rows), gradient(n * dim);
      poincare::negative_sampling(points.view(), links.view(), losses, {gradient.data(), n, dim}, {.curvature = -c},
                                  Device::host());
      wide_points at = widened_rows(points);
      for (std::int64_t b = 0; b < rows; ++b)
        EXPECT_NEAR(losses[b], double(plain_loss(at, links.numbers.data() + b * width, width, c)),
                    is_float ? 1e-6 : 1e-14);
      const auto mean = [&] {
        long double sum = 0;
        for (std::int64_t b = 0; b < rows; ++b) sum += plain_loss(at, links.numbers.data() + b * width, width, c);
        return sum / rows;
      };
      // Differences of the fourth order. Of a point linked with itself both sides go up alike.
      const long double h = 1e-5L;
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t k = 0; k < dim; ++k) {
          const long double x = at[i][k];
          long double slope = 0;
          for (const int step : {-2, -1, 1, 2}) {
            at[i][k] = x + step * h;
            slope += (step % 2 == 0 ? -step / 2 : 8 * step) * mean();
          }
          at[i][k] = x;
          EXPECT_NEAR(gradient[i * dim + k], double(slope / (12 * h)), is_float ? 1e-5 : 1e-11) << i << ", " << k;
        }
      on_other_devices([&](const Device& device) {
        std::vector<TypeParam> again(rows), other(n * dim);
        poincare::negative_sampling(points.view(), links.view(), again, {other.data(), n, dim}, {.curvature = -c},
                                    device);
        expect_same_bits(again, losses);
        expect_same_bits(other, gradient);
      });
    }
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
