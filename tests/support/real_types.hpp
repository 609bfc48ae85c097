// The types that points can have.
#pragma once

#include <gtest/gtest.h>

namespace quintet::test {

using real_types = ::testing::Types<float, double>;

/// What the data of a type are compared with, relative: 1e-5 for float and 1e-12 for double.
template <class Real>
constexpr double data_bound = sizeof(Real) == 4 ? 1e-5 : 1e-12;

}  // namespace quintet::test
