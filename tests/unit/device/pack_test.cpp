// Packs of the widths in use: one value, and whole registers.
#include "device/pack.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels.hpp"
#include "support/near.hpp"

namespace quintet::device {
namespace {

// Calls f with the type and width of every pack that kernels use.
template <class Function>
void for_every_pack(Function f) {
  const auto widths = [&]<class Real>(Real) {
    f.template operator()<Real, 1>();
    f.template operator()<Real, 2>();
    f.template operator()<Real, 4>();
    f.template operator()<Real, host_lanes<Real>()>();
  };
  widths(0.0f);
  widths(0.0);
}

template <class Real>
std::vector<Real> some_values(int count) {
  std::vector<Real> values;
  for (int i = 0; i < count; ++i) values.push_back(std::ldexp(Real(1) / Real(3), i * 7 % 11) * Real(i % 2 ? -1 : 1));
  return values;
}

TEST(pack, values_are_loaded_and_stored_at_any_address) {
  for_every_pack([]<class Real, int W>() {
    const auto values = some_values<Real>(W + 1);
    std::vector<Real> out(W + 2, Real(-5));
    store_pack(out.data() + 1, load_pack<pack<Real, W>>(values.data() + 1));
    for (int i = 0; i < W; ++i) EXPECT_EQ(out[i + 1], values[i + 1]);
    EXPECT_EQ(out.front(), Real(-5));
    EXPECT_EQ(out.back(), Real(-5));
  });
}

TEST(pack, one_value_fills_all_lanes_with_its_sign) {
  for_every_pack([]<class Real, int W>() {
    for (const Real value : {Real(2.5), Real(-0.0), Real(0), std::numeric_limits<Real>::infinity()}) {
      Real out[W];
      store_pack(out, broadcast_pack<pack<Real, W>>(value));
      test::expect_same_bits(std::vector<Real>(out, out + W), std::vector<Real>(W, value));
    }
  });
}

TEST(pack, lanes_are_summed_in_order) {
  for_every_pack([]<class Real, int W>() {
    const auto values = some_values<Real>(W);
    Real expected = values[0];
    for (int i = 1; i < W; ++i) expected += values[i];
    EXPECT_EQ((sum_lanes<Real>(load_pack<pack<Real, W>>(values.data()))), expected);
  });
}

TEST(pack, the_least_lane_is_found_in_every_place) {
  for_every_pack([]<class Real, int W>() {
    for (int place = 0; place < W; ++place) {
      auto values = some_values<Real>(W);
      values[place] = Real(-1e6);
      EXPECT_EQ((least_lane<Real>(load_pack<pack<Real, W>>(values.data()))), Real(-1e6));
    }
    const std::vector<Real> infinite(W, std::numeric_limits<Real>::infinity());
    EXPECT_EQ((least_lane<Real>(load_pack<pack<Real, W>>(infinite.data()))), std::numeric_limits<Real>::infinity());
  });
}

/// Products that cancel against the third number in full, in part and not at all, of many sizes.
template <class Real>
std::vector<Real> cancelling_terms(std::size_t count) {
  std::vector<Real> terms;
  const int range = std::numeric_limits<Real>::max_exponent / 4;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> number(-1, 1), exponent(-range, range);
  for (std::size_t i = 0; i < count; ++i) {
    const Real a = std::ldexp(Real(number(random)), int(exponent(random)));
    const Real b = std::ldexp(Real(number(random)), int(exponent(random))), product = a * b;
    const Real c[] = {-product, Real(-product * (1 + std::ldexp(number(random), -15))), Real(product * number(random)),
                      std::ldexp(Real(number(random)), int(exponent(random)))};
    terms.insert(terms.end(), {a, b, c[i % 4]});
  }
  return terms;
}

TEST(pack, fused_multiply_add_rounds_once_on_every_processor) {
  for_every_pack([]<class Real, int W>() {
    typedef pack<Real, W> value;
    const std::size_t count = 4000 * W;
    const auto terms = cancelling_terms<Real>(count);
    std::vector<Real> a(count), b(count), c(count), exact(count), found(count), parts(count);
    for (std::size_t i = 0; i < count; ++i) {
      a[i] = terms[3 * i];
      b[i] = terms[3 * i + 1];
      c[i] = terms[3 * i + 2];
      exact[i] = std::fma(a[i], b[i], c[i]);
    }
    for (std::size_t i = 0; i < count; i += W) {
      const value x = load_pack<value>(&a[i]), y = load_pack<value>(&b[i]), z = load_pack<value>(&c[i]);
      store_pack(&found[i], value(fused_multiply_add(x, y, z)));
      store_pack(&parts[i], detail::fma_by_parts<value>(x, y, z));
    }
    test::expect_same_bits(found, exact);
    test::expect_same_bits(parts, exact);
  });
}

TEST(pack, errors_of_large_products_are_finite) {
  const double largest = std::numeric_limits<double>::max();
  for (const double a : {largest, 1.5 * 0x1p1023, 0x1.fffffffffffffp1020})
    for (const double b : {1.0, 0.75, 1 + 0x1p-52, 0x1p-1000})
      if (const double product = a * b; std::isfinite(product)) {
        EXPECT_TRUE(std::isfinite(detail::fma_by_parts(a, b, -product))) << a << " " << b;
        EXPECT_EQ(detail::fma_by_parts(a, b, 0.0), product);
        if (a < largest) EXPECT_EQ(detail::fma_by_parts(a, b, -product), std::fma(a, b, -product)) << a << " " << b;
      }
  EXPECT_EQ(detail::fma_by_parts(largest, 2.0, 1.0), std::numeric_limits<double>::infinity());
}

TEST(pack, a_scalar_is_subtracted_from_all_lanes) {
  for_every_pack([]<class Real, int W>() {
    const auto values = some_values<Real>(W);
    const Real scalar = Real(1) / Real(7);
    Real out[W];
    store_pack(out, subtract_scalar(load_pack<pack<Real, W>>(values.data()), &scalar));
    for (int i = 0; i < W; ++i) EXPECT_EQ(out[i], values[i] - scalar);
  });
}

// Compilers make no multiply-add of kernels' expressions, so that what is fused is what is written.
TEST(pack, nothing_is_fused_that_is_not_written) {
  const double a = 1 + 0x1p-30, b = 1 - 0x1p-30;
  EXPECT_EQ(test::product_and_sum(a, b, -1), 0);  // fused: -2^-60
}

#if defined(__FMA__) || defined(__aarch64__)
template <class Real, int W>
void expect_one_rounding() {
  typedef pack<Real, W> value;
  constexpr Real tiny = sizeof(Real) == 4 ? Real(0x1p-13) : Real(0x1p-30);
  Real a[W], b[W], c[W], found[W];
  for (int lane = 0; lane < W; ++lane) {
    a[lane] = 1 + tiny * Real(lane + 1);
    b[lane] = 1 - tiny * Real(lane + 1);
    c[lane] = -1;
  }
  store_pack(found, value(fma(load_pack<value>(a), load_pack<value>(b), load_pack<value>(c))));
  for (int lane = 0; lane < W; ++lane) {
    EXPECT_EQ(found[lane], std::fma(a[lane], b[lane], c[lane])) << W << " lanes, lane " << lane;
    EXPECT_NE(found[lane], 0);
  }
  // Numbers are spread to all lanes, wherever they stand.
  store_pack(found, value(fma(load_pack<value>(a), b[0], Real(-1))));
  for (int lane = 0; lane < W; ++lane) EXPECT_EQ(found[lane], std::fma(a[lane], b[0], Real(-1)));
  store_pack(found, value(fma(a[0], load_pack<value>(b), c[0])));
  for (int lane = 0; lane < W; ++lane) EXPECT_EQ(found[lane], std::fma(a[0], b[lane], c[0]));
}

TEST(pack, fma_rounds_once_in_every_lane) {
  expect_one_rounding<float, 1>();
  expect_one_rounding<float, 4>();
  expect_one_rounding<float, host_lanes<float>()>();
  expect_one_rounding<double, 1>();
  expect_one_rounding<double, 2>();
  expect_one_rounding<double, host_lanes<double>()>();
}
#endif

}  // namespace
}  // namespace quintet::device
