// The types of sparse matrices for typed tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

namespace quintet::test {

template <class Value, class Index>
struct csr_types {
  using value = Value;
  using index = Index;
};
using all_csr_types = ::testing::Types<csr_types<float, std::int32_t>, csr_types<float, std::int64_t>,
                                       csr_types<double, std::int32_t>, csr_types<double, std::int64_t>>;

}  // namespace quintet::test
