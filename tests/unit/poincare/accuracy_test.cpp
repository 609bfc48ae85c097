// The errors of docs/design/numerics.md: distances by band of norms, over every dimension from 1 to 128, for every
// storage and both expressions; and the vector logarithm at every float where it bends. Long; prints the tables.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

#include "device/asinh.hpp"
#include "quintet/poincare/distances.hpp"
#include "reference/poincare_reference.hpp"
#include "support/near.hpp"

namespace quintet::test {
namespace {

using reference::wide;

/// Points with their exact gaps 1 - |x|^2.
template <class Storage>
struct gapped_points {
  std::int64_t n, dim;
  std::vector<Storage> data;
  std::vector<wide> gap;

  matrix_view<const Storage> view() const { return {data.data(), n, dim}; }
  wide at(std::int64_t i, std::int64_t k) const { return accumulator_t<Storage>(data[i * dim + k]); }
};

/// Norms uniform in [least, most]; a point that rounding to Storage put outside is drawn towards the origin.
template <class Storage>
gapped_points<Storage> random_points(std::int64_t n, std::int64_t dim, double min, double max, std::uint64_t seed) {
  std::mt19937_64 random(seed * 1000 + std::uint64_t(dim));
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> norm(min, max);
  gapped_points<Storage> points{n, dim, std::vector<Storage>(n * dim), std::vector<wide>(n)};
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<double> row(dim);
    double square = 0;
    for (double& x : row) {
      x = normal(random);
      square += x * x;
    }
    for (double length = norm(random) / std::sqrt(square);; length *= 1 - 1.0 / 1024) {
      points.gap[i] = 1;
      for (std::int64_t k = 0; k < dim; ++k) {
        points.data[i * dim + k] = Storage(accumulator_t<Storage>(row[k] * length));
        points.gap[i] -= points.at(i, k) * points.at(i, k);
      }
      if (points.gap[i] > 0) break;
    }
  }
  return points;
}

struct error_summary {
  double worst = 0, sum = 0;
  std::int64_t worst_dim = 0, pairs = 0;
  void add(double error, std::int64_t dim) {
    if (error > worst) worst = error, worst_dim = dim;
    sum += error;
    ++pairs;
  }
};

constexpr std::int64_t side = 24;

/// s = sqrt(t) of all pairs.
template <class Storage>
std::vector<long double> exact_roots(const gapped_points<Storage>& x, const gapped_points<Storage>& y) {
  std::vector<long double> roots;
  for (std::int64_t i = 0; i < x.n; ++i)
    for (std::int64_t j = 0; j < y.n; ++j) {
      wide difference = 0;
      for (std::int64_t k = 0; k < x.dim; ++k) {
        const wide one = x.at(i, k) - y.at(j, k);
        difference += one * one;
      }
      roots.push_back(std::sqrt((long double)(difference / (x.gap[i] * y.gap[j]))));
    }
  return roots;
}

template <class Storage>
std::vector<accumulator_t<Storage>> matrix(const gapped_points<Storage>& x, const gapped_points<Storage>& y,
                                           poincare::formula expression) {
  std::vector<accumulator_t<Storage>> out(x.n * y.n);
  poincare::distances(x.view(), y.view(), {out.data(), x.n, y.n}, {.expression = expression}, Device::host());
  return out;
}

struct band {
  double min, max;
};
const band bands[] = {{0, 1e-6},   {0, 0.1},      {0.1, 0.5},        {0.5, 0.9},
                      {0.9, 0.99}, {0.99, 0.999}, {0.999, 1 - 1e-5}, {1 - 1e-5, 1 - 0x1p-24}};

template <class Storage>
class poincare_accuracy : public ::testing::Test {};
using storages = ::testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(poincare_accuracy, storages);

TYPED_TEST(poincare_accuracy, every_dimension_by_band_of_norms) {
  using Real = accumulator_t<TypeParam>;
  constexpr long double epsilon = std::numeric_limits<Real>::epsilon();
  // Above this the old expression's artanh multiplies an error of its argument by more than 5.
  constexpr long double old_limit = 0.9;
  for (const band b : bands) {
    error_summary geodesic, old;
    for (std::int64_t dim = 1; dim <= 128; ++dim) {
      const auto x = random_points<TypeParam>(side, dim, b.min, b.max, 1);
      const auto y = random_points<TypeParam>(side, dim, b.min, b.max, 2);
      const auto exact = exact_roots(x, y);
      const auto found = matrix(x, y, poincare::formula::geodesic);
      const auto old_found = matrix(x, y, poincare::formula::clamped_artanh);
      for (std::size_t e = 0; e < exact.size(); ++e) {
        if (exact[e] == 0) {
          geodesic.add(double(found[e]), dim);  // the same point: exactly 0
          continue;
        }
        const long double distance = 2 * std::asinh(exact[e]);
        geodesic.add(double(std::fabs(found[e] - distance) / distance / epsilon), dim);
        if (exact[e] > old_limit) continue;
        const long double wrong = 2 * std::atanh(exact[e]);
        old.add(double(std::fabs(old_found[e] - wrong) / wrong / epsilon), dim);
      }
    }
    const std::string name = text("norm_", b.min, "_to_", b.max);
    std::printf(
        "%-24s geodesic: max %.2f (dimension %d) mean %.2f; clamped_artanh, %d pairs: max %.2f mean %.2f epsilon\n",
        name.c_str(), geodesic.worst, int(geodesic.worst_dim), geodesic.sum / double(geodesic.pairs), int(old.pairs),
        old.worst, old.pairs > 0 ? old.sum / double(old.pairs) : 0);
    expect_error_within(name + "_max", geodesic.worst, 4.5);
    expect_error_within(name + "_mean", geodesic.sum / double(geodesic.pairs), 0.8);
    expect_error_within(name + "_clamped_artanh_max", old.worst, 12);
  }
}

/// Largest error in ulp of f(w) over every float in [least, most).
template <class Function, class Exact>
double worst_of_every_float(float min, float max, Function f, Exact exact) {
  constexpr int lanes = device::host_lanes<float>();
  double worst = 0;
  for (std::uint32_t bits = std::bit_cast<std::uint32_t>(min); bits < std::bit_cast<std::uint32_t>(max);
       bits += lanes) {
    float in[lanes], out[lanes];
    for (int lane = 0; lane < lanes; ++lane) in[lane] = std::bit_cast<float>(bits + std::uint32_t(lane));
    device::store_pack(out, f(device::load_pack<device::pack<float, lanes>>(in)));
    for (int lane = 0; lane < lanes; ++lane) {
      const double right = exact(double(in[lane]));
      const double ulp = std::ldexp(1.0, std::ilogb(right) - 23);
      worst = std::max(worst, std::fabs(double(out[lane]) - right) / ulp);
    }
  }
  return worst;
}

// Outside, the logarithm's polynomial sees the same arguments again, and 2 asinh(sqrt(t)) goes over into 2 sqrt(t) or
// log(4 t); poincare_log1p_test samples the whole range.
TEST(poincare_accuracy_of_functions, log1p_at_every_float) {
  constexpr int lanes = device::host_lanes<float>();
  const double worst = worst_of_every_float(
      0x1p-5f, 0x1p5f, [](auto w) { return device::log1p<float, lanes>(w); }, [](double w) { return std::log1p(w); });
  std::printf("log1p: %.2f ulp\n", worst);
  expect_error_within("log1p_ulp", worst, 1.6);
}

TEST(poincare_accuracy_of_functions, asinh_at_every_float) {
  constexpr int lanes = device::host_lanes<float>();
  const double worst = worst_of_every_float(
      0x1p34f, 0x1p46f, [](auto t) { return device::twice_asinh_root<float, lanes>(t); },
      [](double t) { return 2 * std::asinh(std::sqrt(t * 0x1p-40)); });
  std::printf("2 asinh(sqrt(t)): %.2f ulp\n", worst);
  expect_error_within("asinh_ulp", worst, 3.5);
}

}  // namespace
}  // namespace quintet::test
