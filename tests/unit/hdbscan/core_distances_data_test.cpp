// Core distances of real and made embeddings against values computed in float64 by another program.
#include <gtest/gtest.h>

#include "quintet/hdbscan/core_distances.hpp"
#include "support/devices.hpp"
#include "support/embedding_data.hpp"
#include "support/near.hpp"
#include "support/real_types.hpp"
#include "support/sanitized.hpp"

namespace quintet::hdbscan {
namespace {

template <class Real>
class core_distances_data : public ::testing::Test {};
TYPED_TEST_SUITE(core_distances_data, test::real_types);

template <class Real>
double largest_core_error(const std::string& name, std::int64_t k, const Device& device) {
  const auto points = test::read_points<Real>(name);
  const test::csv_table expected(test::embedding_folder() / (name + "_core.csv"));
  const auto found = core_distances(points.view(), {.min_samples = k}, device);
  return test::largest_error(found.distances, expected.doubles("k" + std::to_string(k)));
}

TYPED_TEST(core_distances_data, all_columns_of_all_files) {
  QUINTET_SKIP_WITHOUT(test::embedding_folder());
  for (const std::string& name : test::embedding_names())
    for (const std::int64_t k : {1, 2, 3, 5, 10, 15}) {
      if (test::sanitized && k % 5 != 0) continue;
      const std::string title = name + "_k" + std::to_string(k);
      const double error = largest_core_error<TypeParam>(name, k, Device::host());
      test::expect_error_within(title, error, test::data_bound<TypeParam>);
    }
}

TYPED_TEST(core_distances_data, small_files_on_other_devices) {
  QUINTET_SKIP_WITHOUT(test::embedding_folder());
  test::on_other_devices([](const Device& device) {
    for (const char* name : {"iris", "synth512"})
      EXPECT_LE(largest_core_error<TypeParam>(name, 5, device), test::data_bound<TypeParam>) << name;
  });
}

}  // namespace
}  // namespace quintet::hdbscan
