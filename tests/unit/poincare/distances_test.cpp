#include "quintet/poincare/distances.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include <gtest/gtest.h>

#include "quintet/poincare/nearest.hpp"
#include "reference/poincare_reference.hpp"
#include "support/ball_points.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/real_types.hpp"
#include "support/sanitized.hpp"

namespace quintet::test {
namespace {

using poincare::point_status;

template <class Real>
class poincare_distances : public ::testing::Test {};
TYPED_TEST_SUITE(poincare_distances, real_types);

template <class Real>
std::vector<Real> matrix_of(const point_set<Real>& x, const point_set<Real>& y, double c, const Device& device,
                            poincare::formula expression = poincare::formula::geodesic) {
  std::vector<Real> out(x.n * y.n, Real(-1));
  poincare::distances(x.view(), y.view(), {out.data(), x.n, y.n}, {.curvature = -c, .expression = expression}, device);
  return out;
}

template <class Real>
std::vector<long double> exact_matrix(const point_set<Real>& x, const point_set<Real>& y, double c) {
  std::vector<long double> out;
  for (std::int64_t i = 0; i < x.n; ++i)
    for (std::int64_t j = 0; j < y.n; ++j) out.push_back(reference::ball_distance(row_of(x, i), row_of(y, j), c));
  return out;
}

template <class Real>
constexpr double bound(std::int64_t dim) {
  const double unit = std::numeric_limits<Real>::epsilon() / 2;
  return (double(dim) / 4 + 6) * unit;
}

TYPED_TEST(poincare_distances, agree_with_the_reference_on_every_device) {
  for (const std::int64_t dim : {1, 2, 8, 16, 17, 32, 64, 100, 128})
    for (const double c : {1.0, 0.25, 7.0, 1e-6, 0.0}) {
      const auto x = ball_points<TypeParam>(37, dim, 0.1, 0.999, c > 0 ? c : 1, 1, 3);
      const auto y = ball_points<TypeParam>(101, dim, 0, 0.99999, c > 0 ? c : 1, 2);
      const auto host = matrix_of(x, y, c, Device::host());
      EXPECT_LE(largest_error(host, exact_matrix(x, y, c)), bound<TypeParam>(dim)) << "dim " << dim << ", c " << c;
      on_other_devices([&](const Device& device) { expect_same_bits(matrix_of(x, y, c, device), host); });
    }
}

TYPED_TEST(poincare_distances, more_than_one_tile_any_threads) {
  const auto x = ball_points<TypeParam>(205, 24, 0, 0.9999, 1, 3), y = ball_points<TypeParam>(333, 24, 0, 0.9999, 1, 4);
  set_threads(1);
  const auto once = matrix_of(x, y, 1, Device::host());
  set_threads(3);
  expect_same_bits(matrix_of(x, y, 1, Device::host()), once);
  set_threads(0);
  EXPECT_LE(largest_error(once, exact_matrix(x, y, 1)), bound<TypeParam>(24));
  on_other_devices([&](const Device& device) { expect_same_bits(matrix_of(x, y, 1, device), once); });
}

TYPED_TEST(poincare_distances, symmetric_with_zeros_at_the_same_points) {
  const auto x = ball_points<TypeParam>(150, 10, 0.9, 1 - 1e-6, 1, 5);
  const auto d = matrix_of(x, x, 1, Device::host());
  for (std::int64_t i = 0; i < x.n; ++i) {
    EXPECT_EQ(d[i * x.n + i], 0);
    for (std::int64_t j = 0; j < i; ++j) {
      EXPECT_EQ(d[i * x.n + j], d[j * x.n + i]);
      EXPECT_GT(d[i * x.n + j], 0);
    }
  }
}

TYPED_TEST(poincare_distances, pairs_have_the_bits_of_the_matrix) {
  const auto x = ball_points<TypeParam>(77, 33, 0, 0.9999, 2, 6, 5), y = ball_points<TypeParam>(77, 33, 0, 1, 2, 7);
  const auto d = matrix_of(x, y, 2, Device::host());
  on_every_device([&](const Device& device) {
    std::vector<TypeParam> pairs(x.n);
    poincare::pair_distances(x.view(), y.view(), pairs, {.curvature = -2}, device);
    for (std::int64_t i = 0; i < x.n; ++i) EXPECT_EQ(pairs[i], d[i * x.n + i]);
  });
}

TYPED_TEST(poincare_distances, from_the_origin) {
  for (const double c : {1.0, 3.0, 0.0}) {
    auto x = ball_points<TypeParam>(300, 20, 0, 1, c > 0 ? c : 1, 8);
    for (std::int64_t k = 0; k < x.dim; ++k) x(5, k) = 0;
    const std::vector<TypeParam> origin(20, 0);
    std::vector<long double> exact;
    for (std::int64_t i = 0; i < x.n; ++i)
      exact.push_back(reference::ball_distance<TypeParam>(origin, row_of(x, i), c));
    on_every_device([&](const Device& device) {
      std::vector<TypeParam> d(x.n);
      poincare::origin_distances(x.view(), d, {.curvature = -c}, device);
      EXPECT_LE(largest_error(d, exact), sizeof(TypeParam) == 4 ? 1.2e-7 : 1e-15);
      EXPECT_EQ(d[5], 0);
    });
  }
}

// By the largest norm: random pairs whose norms lie in a band that ends at 1 - 2^-24, in ulp of the type.
TYPED_TEST(poincare_distances, sweep_over_norms) {
  struct band {
    double min, max;
  };
  const double top = 1 - std::ldexp(1.0, -24);
  for (const band b : {band{0, 1e-6},
                       {0, 0.1},
                       {0.1, 0.5},
                       {0.5, 0.9},
                       {0.9, 0.99},
                       {0.99, 0.999},
                       {0.999, 1 - 1e-5},
                       {1 - 1e-5, top}})
    for (const std::int64_t dim : {2, 10, 64}) {
      const std::int64_t n = sized(100, 40);
      const auto x = ball_points<TypeParam>(n, dim, b.min, b.max, 1, 9),
                 y = ball_points<TypeParam>(n, dim, b.min, b.max, 1, 10);
      const auto found = matrix_of(x, y, 1, Device::host());
      const auto exact = exact_matrix(x, y, 1);
      double worst = 0, sum = 0;
      for (std::size_t e = 0; e < found.size(); ++e) {
        const double error =
            double(std::fabs(found[e] - exact[e]) / exact[e]) / (std::numeric_limits<TypeParam>::epsilon());
        worst = std::max(worst, error);
        sum += error;
      }
      const std::string name = text("norm_", b.min, "_to_", b.max, "_dim_", dim);
      ::testing::Test::RecordProperty(name, text("max ", worst, " mean ", sum / double(found.size()), " epsilon"));
      std::printf("%-40s max %.2f mean %.2f epsilon\n", name.c_str(), worst, sum / double(found.size()));
      EXPECT_LE(worst, 5) << name;
    }
}

TYPED_TEST(poincare_distances, points_that_are_not_inside) {
  auto x = ball_points<TypeParam>(20, 3, 0, 0.9, 1, 11), y = ball_points<TypeParam>(110, 3, 0, 0.9, 1, 12);
  x(4, 0) = 1, x(4, 1) = 0, x(4, 2) = 0;  // on the sphere
  x(7, 1) = std::numeric_limits<TypeParam>::quiet_NaN();
  y(100, 2) = std::numeric_limits<TypeParam>::infinity();
  y(3, 0) = 17;
  on_every_device([&](const Device& device) {
    std::vector<TypeParam> d(x.n * y.n);
    const auto report = poincare::distances(x.view(), y.view(), {d.data(), x.n, y.n}, {}, device);
    EXPECT_EQ(report.queries[4], point_status::outside);
    EXPECT_EQ(report.queries[7], point_status::not_finite);
    EXPECT_EQ(report.points[100], point_status::not_finite);
    EXPECT_EQ(report.points[3], point_status::outside);
    EXPECT_FALSE(report.all_inside());
    EXPECT_EQ(poincare::first_invalid(report.queries), 4);
    for (std::int64_t i = 0; i < x.n; ++i)
      for (std::int64_t j = 0; j < y.n; ++j)
        EXPECT_EQ(std::isnan(d[i * y.n + j]), i == 4 || i == 7 || j == 3 || j == 100) << i << " " << j;
  });
  std::vector<TypeParam> d(x.n * y.n);
  const auto strict = [&] {
    poincare::distances(x.view(), y.view(), {d.data(), x.n, y.n}, {.strict = true}, Device::host());
  };
  expect_invalid(strict, "queries[4] must be inside the ball, of norm < 1 (queries[4]=norm 1)");
}

TYPED_TEST(poincare_distances, boundary_is_decided_exactly) {
  // 0.6^2 + 0.8^2 = 1 is missed by the roundings of the coordinates only.
  const std::vector<double> exact{0.6, 0.8};
  const std::vector<TypeParam> x(exact.begin(), exact.end()), origin{0, 0};
  const bool inside = reference::ball_gap<TypeParam>(x, 1) > 0;
  EXPECT_EQ(std::isnan(poincare::distance<TypeParam>(x, origin)), !inside);
  const TypeParam last = std::nextafter(TypeParam(1), TypeParam(0));
  const double farthest = double(2 * std::atanh((long double)last));
  EXPECT_NEAR(double(poincare::distance<TypeParam>(std::vector<TypeParam>{last, 0}, origin)), farthest,
              bound<TypeParam>(2) * farthest);
}

TYPED_TEST(poincare_distances, errors) {
  const auto x = ball_points<TypeParam>(2, 3, 0, 0.5, 1, 13), y = ball_points<TypeParam>(2, 4, 0, 0.5, 1, 13);
  std::vector<TypeParam> d(4);
  const auto call = [&](const auto& a, const auto& b, double curvature) {
    poincare::distances(a.view(), b.view(), {d.data(), 2, 2}, {.curvature = curvature}, Device::host());
  };
  expect_invalid([&] { call(x, x, 1.0); }, "curvature must be 0 (Euclidean) or negative");
  expect_invalid([&] { call(x, x, std::nan("")); }, "curvature");
  expect_invalid([&] { call(x, y, -1.0); }, "dimension");
  expect_invalid([&] { poincare::distances(x.view(), x.view(), {d.data(), 1, 2}, {}, Device::host()); }, "Q x N");
}

TYPED_TEST(poincare_distances, buffers_on_a_device) {
  const auto x = ball_points<TypeParam>(9, 5, 0, 0.99, 1, 14), y = ball_points<TypeParam>(70, 5, 0, 0.99, 1, 15);
  const auto host = matrix_of(x, y, 1, Device::host());
  on_every_device([&](const Device& device) {
    const Buffer<TypeParam> queries(x.data, device), points(y.data, device);
    Buffer<TypeParam> out(x.n * y.n, device);
    EXPECT_TRUE(poincare::distances({queries, 5}, {points, 5}, {out, y.n}).all_inside());
    expect_same_bits(out.to_vector(), host);
  });
}

template <class Storage>
void expect_storage16_like_float() {
  const auto wide_x = ball_points<float>(30, 12, 0, 0.9, 1, 16), wide_y = ball_points<float>(40, 12, 0, 0.9, 1, 17);
  std::vector<Storage> x, y;
  point_set<float> rounded_x(30, 12), rounded_y(40, 12);
  for (std::size_t e = 0; e < wide_x.data.size(); ++e) rounded_x.data[e] = x.emplace_back(wide_x.data[e]);
  for (std::size_t e = 0; e < wide_y.data.size(); ++e) rounded_y.data[e] = y.emplace_back(wide_y.data[e]);
  on_every_device([&](const Device& device) {
    std::vector<float> d(30 * 40);
    poincare::distances({x.data(), 30, 12}, {y.data(), 40, 12}, {d.data(), 30, 40}, {}, device);
    expect_same_bits(d, matrix_of(rounded_x, rounded_y, 1, Device::host()));
  });
}
TEST(poincare_storage16, half) { expect_storage16_like_float<half>(); }
TEST(poincare_storage16, bfloat16) { expect_storage16_like_float<bfloat16>(); }

// The two numbers of docs/numerics.md.
// Differences of every size that float has, beside points of the whole ball: squares of them leave float's range.
TYPED_TEST(poincare_distances, of_any_size_near_the_origin) {
  for (const double c : {1.0, 1e-6, 1e20, 0.0})
    for (const std::int64_t dim : {1, 3, 40}) {
      const double unit = c > 0 ? 1 / std::sqrt(c) : 1;
      point_set<TypeParam> x = ball_points<TypeParam>(160, dim, 0, 0.9, c > 0 ? c : 1, 11);
      for (std::int64_t i = 0; i < x.n; ++i) {
        if (i % 5 == 0) continue;
        // Nearly the same as another row in a few coordinates, or tiny as a whole.
        const double tiny = unit * std::ldexp(1.0, -int(40 + i / 2));
        for (std::int64_t k = 0; k < dim; ++k) x(i, k) = TypeParam(x(i, k) / unit * tiny);
        if (dim > 1 && i % 5 == 4) x(i, dim - 1) = TypeParam(0.5 * unit);
      }
      const auto exact = exact_matrix(x, x, c);
      const auto host = matrix_of(x, x, c, Device::host());
      double error = 0;
      for (std::size_t e = 0; e < host.size(); ++e) {
        EXPECT_EQ(host[e] > 0, exact[e] > 0) << "c " << c << ", dim " << dim << ", " << e << ": " << double(exact[e]);
        if (exact[e] > std::numeric_limits<TypeParam>::min())
          error = std::max(error, double(std::fabs(host[e] - exact[e]) / exact[e]));
      }
      EXPECT_LE(error, bound<TypeParam>(dim)) << "c " << c << ", dim " << dim;
      on_every_device([&](const Device& device) {
        expect_same_bits(matrix_of(x, x, c, device), host);
        for (std::int64_t i = 0; i < x.n; i += 7) {
          std::vector<TypeParam> pairs(x.n), row(x.n);
          point_set<TypeParam> same(x.n, dim);
          for (std::int64_t j = 0; j < x.n; ++j) {
            row[j] = host[i * x.n + j];
            for (std::int64_t k = 0; k < dim; ++k) same(j, k) = x(i, k);
          }
          poincare::pair_distances(same.view(), x.view(), pairs, {.curvature = -c}, device);
          expect_same_bits(pairs, row);
        }
      });
    }
}

// Issue 21, point 9: it was 0.
TEST(poincare_range, of_two_points_near_the_origin) {
  const float x[2] = {0, 1e-30f}, most[2] = {-1e30f, 2e30f};
  const auto measured = [](const float* of, double curvature) {
    return poincare::distance<float>(std::span(of, 1), std::span(of + 1, 1), {.curvature = curvature});
  };
  EXPECT_FLOAT_EQ(measured(x, -1), 2e-30f);
  EXPECT_FLOAT_EQ(measured(x, 0), 2e-30f);
  EXPECT_FLOAT_EQ(measured(most, 0), 6e30f);
}

TEST(poincare_range, of_two_doubles_of_any_size) {
  const auto measured = [](double x, double y, double curvature) {
    return poincare::distance<double>(std::span(&x, 1), std::span(&y, 1), {.curvature = curvature});
  };
  for (const double x : {5e-324, 1.5e-323, 3e-308, 7e-200, 1e-155, 1e-100})
    for (const double curvature : {-1.0, -1e-20, -1e20, 0.0}) {
      // 2 |x - y| to all digits: |x|^2 is far below the last one.
      EXPECT_DOUBLE_EQ(measured(0, x, curvature), 2 * x) << x;
      EXPECT_DOUBLE_EQ(measured(-x, x, curvature), 4 * x) << x;
      EXPECT_EQ(measured(x, x, curvature), 0) << x;
    }
}

// One float for every pair cannot tell these apart.
TEST(poincare_range, of_neighbours_near_the_origin) {
  const auto first = [](double apart) {
    const float points[3] = {0, float(2 * apart), float(apart)};
    return poincare::nearest<float>({points, 1, 1}, {points + 1, 2, 1}, 1).index[0];
  };
  EXPECT_EQ(first(std::ldexp(1.0, -83)), 1);
  EXPECT_EQ(first(std::ldexp(1.0, -97)), 1);
}

TEST(poincare_formula, clamped_artanh_is_no_metric) {
  const std::vector<double> origin{0, 0}, near{0.3, 0}, middle{0.5, 0}, far{0.6, 0};
  const poincare::distance_options old{.expression = poincare::formula::clamped_artanh};
  EXPECT_NEAR(poincare::distance<double>(origin, middle), 1.0986123, 1e-7);
  EXPECT_NEAR(poincare::distance<double>(origin, middle, old), 1.3169579, 1e-7);
  EXPECT_NEAR(poincare::distance<double>(near, far), 0.7672552, 1e-7);
  EXPECT_NEAR(poincare::distance<double>(near, far, old), 0.8309389, 1e-7);
  // Along a straight line through the origin the parts must add up.
  EXPECT_NEAR(poincare::distance<double>(origin, near) + poincare::distance<double>(near, far),
              poincare::distance<double>(origin, far), 1e-15);
}

}  // namespace
}  // namespace quintet::test
