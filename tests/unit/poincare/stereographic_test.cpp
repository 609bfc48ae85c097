// Operations of the stereographic model against the textbook's expressions in 113 bits.
#include "quintet/poincare/stereographic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "quintet/poincare/product.hpp"
#include "reference/curved_space_reference.hpp"
#include "support/ball_points.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/points.hpp"
#include "support/real_types.hpp"

namespace quintet::test {
namespace {

using reference::ball_vector, reference::widened;

long double square_of(const ball_vector& x) {
  reference::wide sum = 0;
  for (const auto one : x) sum += one * one;
  return (long double)sum;
}

template <class Real>
matrix_view<Real> to(point_set<Real>& p) {
  return {p.data.data(), p.n, p.dim, p.stride};
}

template <class Real>
class stereographic_model : public ::testing::Test {};
TYPED_TEST_SUITE(stereographic_model, real_types);

/// Every operation on rows of a space, with what the textbook has.
template <class Real>
struct operation_rows {
  double k;
  point_set<Real> x, y, v;
  std::vector<Real> part{Real(0.3)};

  /// Coordinates of the points are about `size` / sqrt(k), tangent vectors about a third of a right angle.
  operation_rows(double k, Real size)
      : k(k),
        x(make(k, size, 5)),
        y(make(k, size, 6)),
        v(scaled(clustered_points<Real>(60, 4, 7), Real(0.25 / std::sqrt(k)))) {
    for (std::int64_t i = 0; i < v.n; ++i)
      for (std::int64_t c = 0; c < v.dim; ++c) v(i, c) *= Real(1 + k * double(square_of(widened(row_of(x, i)))));
  }
  static point_set<Real> make(double k, Real size, int seed) {
    return scaled(clustered_points<Real>(60, 4, seed), Real(size / std::sqrt(k)));
  }

  /// The largest error of results of `run`, by a unit of the row: unit(row, result).
  template <class Run, class Expected, class Unit>
  double worst(const Run& run, const Expected& expected, const Unit& unit, const Device& device) const {
    point_set<Real> out(x.n, x.dim, 2);
    const auto status = run(to(out), stereographic::operation_options{k}, device);
    double largest = 0;
    for (std::int64_t i = 0; i < x.n; ++i) {
      EXPECT_EQ(status[i], poincare::point_status::inside);
      const ball_vector wanted = expected(i);
      for (std::int64_t c = 0; c < x.dim; ++c)
        largest = std::max(largest, double(std::fabs((long double)(out(i, c) - wanted[c]))) / unit(i, wanted));
    }
    return largest;
  }

  template <class Unit>
  void expect_all(const Unit& unit, double bound, const Device& device) const {
    const reference::stereographic_reference book{k};
    const auto row = [](const point_set<Real>& points) {
      return [&points](std::int64_t i) { return widened(row_of(points, i)); };
    };
    const auto at_x = row(x), at_y = row(y), at_v = row(v);
    const auto expect = [&](const char* name, const auto& run, const auto& expected, const auto& of_result) {
      expect_error_within(name + std::to_string(k), worst(run, expected, of_result, device), bound);
    };
    expect(
        "add", [&](auto... rest) { return stereographic::add(x.view(), y.view(), rest...); },
        [&](std::int64_t i) { return book.add(at_x(i), at_y(i)); }, unit);
    expect(
        "scalar_mul", [&](auto... rest) { return stereographic::scalar_mul(part, x.view(), rest...); },
        [&](std::int64_t i) { return book.scalar_mul(part[0], at_x(i)); }, unit);
    expect(
        "exp_map", [&](auto... rest) { return stereographic::exp_map(x.view(), v.view(), rest...); },
        [&](std::int64_t i) { return book.exp_map(at_x(i), at_v(i)); }, unit);
    expect(
        "geodesic", [&](auto... rest) { return stereographic::geodesic(x.view(), y.view(), part, rest...); },
        [&](std::int64_t i) { return book.geodesic(at_x(i), at_y(i), part[0]); }, unit);
    expect(
        "log_map", [&](auto... rest) { return stereographic::log_map(x.view(), y.view(), rest...); },
        [&](std::int64_t i) { return book.log_map(at_x(i), at_y(i)); },
        [&](std::int64_t i, const ball_vector&) {
          return (1 + k * double(square_of(widened(row_of(x, i))))) / std::sqrt(k);
        });
  }
};

TYPED_TEST(stereographic_model, operations_are_those_of_the_textbook) {
  constexpr bool is_float = sizeof(TypeParam) == 4;
  for (const double k : {1.0, 0.3, 1e-8, 400.0})
    for (const double size : {0.05, 0.3, 3.0, 40.0}) {
      SCOPED_TRACE(::testing::Message() << k << ", " << size);
      const operation_rows<TypeParam> rows(k, TypeParam(size));
      on_every_device([&](const Device& device) {
        rows.expect_all(
            [&](std::int64_t, const ball_vector& result) { return (1 + k * double(square_of(result))) / std::sqrt(k); },
            is_float ? 1e-7 : 4e-15, device);
      });
    }
}

// As the textbook's formulas go over into each other, so do these functions.
TEST(stereographic_model, is_smooth_at_curvature_0) {
  const auto x = clustered_points<double>(30, 3, 1), y = clustered_points<double>(30, 3, 2);
  const std::vector<double> t{0.7};
  const auto expect_smooth = [&](const char* name, const auto& run) {
    point_set<double> flat(30, 3), found(30, 3);
    run(to(flat), stereographic::operation_options{0});
    for (const double k : {1e-30, -1e-30, 1e-12, -1e-12, 1e-6, -1e-6}) {
      run(to(found), stereographic::operation_options{k});
      double worst = 0;
      for (std::size_t e = 0; e < flat.data.size(); ++e)
        worst = std::max(worst, std::fabs(found.data[e] - flat.data[e]));
      expect_error_within(name + std::to_string(k), worst, 1e-13 + 2000 * std::fabs(k));
    }
  };
  expect_smooth("add", [&](auto... rest) { stereographic::add(x.view(), y.view(), rest...); });
  expect_smooth("scalar_mul", [&](auto... rest) { stereographic::scalar_mul(t, x.view(), rest...); });
  expect_smooth("exp_map", [&](auto... rest) { stereographic::exp_map(x.view(), y.view(), rest...); });
  expect_smooth("log_map", [&](auto... rest) { stereographic::log_map(x.view(), y.view(), rest...); });
  expect_smooth("geodesic", [&](auto... rest) { stereographic::geodesic(x.view(), y.view(), t, rest...); });
}

TEST(stereographic_model, maps_are_inverse_and_lengths_are_distances) {
  for (const double k : {2.0, -0.01, 0.0}) {
    const auto x = clustered_points<double>(50, 3, 1), y = clustered_points<double>(50, 3, 2);
    point_set<double> log(50, 3), back(50, 3);
    stereographic::log_map(x.view(), y.view(), to(log), {k});
    stereographic::exp_map(x.view(), log.view(), to(back), {k});
    std::vector<double> d(50);
    product::pair_distances(x.view(), y.view(), d,
                            std::vector<product::factor>{{product::geometry::stereographic, 3, k}});
    for (std::int64_t i = 0; i < 50; ++i) {
      double square = 0, length = 0;
      for (std::int64_t c = 0; c < 3; ++c) {
        EXPECT_NEAR(back(i, c), y(i, c), 2e-12) << k << ", " << i;
        square += x(i, c) * x(i, c);
        length += log(i, c) * log(i, c);
      }
      EXPECT_NEAR(2 / (1 + k * square) * std::sqrt(length), d[i], 1e-13 * d[i]) << k << ", " << i;
    }
  }
}

TEST(stereographic_model, corners_of_the_sphere) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> x{0, 0, 0.5, 0, 3, 4, nan, 0, 1e71, 0, 1e-200, 0}, y{0, 0, -2, 0, 3, 4, 1, 1, 1, 1, 1, 0};
  std::vector<double> out(12);
  const auto status = stereographic::log_map({x.data(), 6, 2}, {y.data(), 6, 2}, {out.data(), 6, 2}, {1});
  using enum poincare::point_status;
  EXPECT_EQ(status, (poincare::row_status{inside, outside, inside, not_finite, outside, inside}));
  for (const int e : {0, 1, 4, 5, 11}) EXPECT_EQ(out[e], 0) << e;
  for (const int e : {2, 3, 6, 7, 8, 9}) EXPECT_TRUE(std::isnan(out[e])) << e;
  EXPECT_NEAR(out[10], std::numbers::pi / 4, 1e-15);
  // From the origin by a right angle to the equator, and to nowhere by nothing.
  const std::vector<double> v{std::numbers::pi / 4, 0, 0, 0, 0, 0};
  stereographic::exp_map({x.data(), 3, 2}, {v.data(), 3, 2}, {out.data(), 3, 2}, {1});
  EXPECT_NEAR(out[0], 1, 1e-15);
  EXPECT_EQ(std::vector<double>(out.begin() + 1, out.begin() + 6), (std::vector<double>{0, 0.5, 0, 3, 4}));
  // 1 / |x| in the direction of x is what makes the sum the pole.
  EXPECT_EQ(
      stereographic::add({x.data() + 2, 1, 2}, {std::vector<double>{2, 0}.data(), 1, 2}, {out.data(), 1, 2}, {1})[0],
      outside);
  const auto run = [&](const stereographic::operation_options& options, std::int64_t rows = 6) {
    return [&, options, rows] {
      stereographic::log_map({x.data(), 6, 2}, {y.data(), rows, 2}, {out.data(), 6, 2}, options);
    };
  };
  expect_invalid(run({1, true}), "row 1 must be of points with a result (row 1=outside)");
  expect_invalid(run({1e-40}), "curvature must be 0, or of a magnitude in [1e-30, 1e30]");
  expect_invalid(run({nan}), "curvature must be 0, or of a magnitude in [1e-30, 1e30]");
  expect_invalid(run({1}, 5), "y");
}

}  // namespace
}  // namespace quintet::test
