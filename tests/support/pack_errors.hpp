// Errors of functions of packs, in units of the last place of what they give.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "device/pack.hpp"

namespace quintet::test {

template <class Real>
double ulps(Real found, long double exact) {
  const Real near = Real(exact);
  const Real step = std::nextafter(near, std::numeric_limits<Real>::infinity()) - near;
  return double(std::fabs((long double)found - exact) / (long double)step);
}

/// The largest error of f(pack) for `count` arguments 2^u, u uniform in [min, max]; one value alone has the same bits.
template <class Real, class OfPack, class OfOne, class Exact>
double worst_ulps(int count, double min, double max, OfPack of_pack, OfOne of_one, Exact exact) {
  constexpr int lanes = device::host_lanes<Real>();
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(min, max);
  double worst = 0;
  for (int i = 0; i < count / lanes; ++i) {
    Real in[lanes], out[lanes];
    for (Real& x : in) x = Real(std::exp2(exponent(random)));
    device::store_pack(out, of_pack(device::load_pack<device::pack<Real, lanes>>(in)));
    for (int lane = 0; lane < lanes; ++lane) {
      EXPECT_EQ(out[lane], of_one(in[lane]));
      worst = std::max(worst, ulps(out[lane], exact((long double)in[lane])));
    }
  }
  return worst;
}

}  // namespace quintet::test
