// Errors as numbers: what was measured goes into the test's report, what is allowed into an assertion.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace quintet::test {

/// The largest |found - expected| / max(|expected|, floor) over two ranges; infinity where only one of them is NaN.
/// floor = 0 asks for the relative error, with exact zeros; floor = 1 for an absolute error of small values.
template <class Found, class Expected>
double largest_error(const Found& found, const Expected& expected, double floor = 0) {
  if (std::size(found) != std::size(expected)) return std::numeric_limits<double>::infinity();
  long double error = 0;
  for (std::size_t i = 0; i < std::size(found); ++i) {
    const long double f = found[i], e = expected[i];
    if (f == e || (std::isnan(f) && std::isnan(e))) continue;
    const long double one = std::fabs(f - e) / std::fmax(std::fabs(e), static_cast<long double>(floor));
    error = std::isnan(one) ? std::numeric_limits<long double>::infinity() : std::fmax(error, one);
  }
  return double(error);
}

/// Reports `error` under `name` in the test's XML or JSON output, and expects it within `bound`.
inline void expect_error_within(const std::string& name, double error, double bound) {
  ::testing::Test::RecordProperty(name, ::testing::PrintToString(error) + " of " + ::testing::PrintToString(bound));
  EXPECT_LE(error, bound) << name;
}

template <class Found, class Expected>
void expect_near(const Found& found, const Expected& expected, double bound, double floor = 0) {
  ASSERT_EQ(std::size(found), std::size(expected));
  EXPECT_LE(largest_error(found, expected, floor), bound);
}

/// Expects equal elements; NaN equals NaN. Tells the first difference.
template <class Found, class Expected>
void expect_same_bits(const Found& found, const Expected& expected) {
  ASSERT_EQ(std::size(found), std::size(expected));
  for (std::size_t i = 0; i < std::size(found); ++i) {
    const bool both_nan = found[i] != found[i] && expected[i] != expected[i];
    if (both_nan || (found[i] == expected[i] && std::signbit(found[i]) == std::signbit(expected[i]))) continue;
    ADD_FAILURE() << "element " << i << " is " << ::testing::PrintToString(found[i]) << ", not "
                  << ::testing::PrintToString(expected[i]);
    return;
  }
}

}  // namespace quintet::test
