// Spanning trees of real and made embeddings: the sorted weights, which are those of every minimum spanning tree.
#include <gtest/gtest.h>

#include <algorithm>

#include "quintet/hdbscan/spanning_tree.hpp"
#include "support/devices.hpp"
#include "support/embedding_data.hpp"
#include "support/near.hpp"
#include "support/real_types.hpp"
#include "support/sanitized.hpp"

namespace quintet::hdbscan {
namespace {

template <class Real>
class spanning_tree_data : public ::testing::Test {};
TYPED_TEST_SUITE(spanning_tree_data, test::real_types);

std::vector<double> weights_of(const std::vector<edge>& edges) {
  std::vector<double> weights;
  for (const edge& e : edges) weights.push_back(e.weight);
  return weights;
}

template <class Real>
spanning_tree_result tree_of(const test::clustering_case& c, const Device& device) {
  const auto& o = c.options;
  return spanning_tree(test::read_points<Real>(c.dataset).view(), {o.min_samples, o.count_self, o.distance, o.alpha},
                       device);
}

template <class Real>
void expect_tree(const test::clustering_case& c, const spanning_tree_result& found) {
  test::expect_error_within(c.stem, test::largest_error(weights_of(found.edges), weights_of(test::read_edges(c))),
                            test::data_bound<Real>);
  // The total has 12 digits in the file.
  EXPECT_NEAR(found.total_weight() / c.spanning_tree_weight, 1, std::max(1e-11, test::data_bound<Real>));
}

TYPED_TEST(spanning_tree_data, sorted_weights_of_all_cases) {
  QUINTET_SKIP_WITHOUT(test::embedding_folder());
  for (const auto& c : test::clustering_cases()) {
    // Under a sanitizer one case of each set; hdbscan_data_test has them all.
    if (test::sanitized && !c.stem.ends_with("_cfg0")) continue;
    SCOPED_TRACE(c.stem);
    const spanning_tree_result found = tree_of<TypeParam>(c, Device::host());
    expect_tree<TypeParam>(c, found);
    // In sets of a few tiles whole tiles are more than the pairs.
    EXPECT_TRUE(c.n < 1000 || found.counters.passes <= 2) << found.counters.passes;
  }
}

TYPED_TEST(spanning_tree_data, small_cases_on_other_devices) {
  QUINTET_SKIP_WITHOUT(test::embedding_folder());
  test::on_other_devices([](const Device& device) {
    for (const auto& c : test::clustering_cases()) {
      if (!test::is_small(c)) continue;
      SCOPED_TRACE(c.stem);
      const spanning_tree_result found = tree_of<TypeParam>(c, device);
      expect_tree<TypeParam>(c, found);
      EXPECT_EQ(found.edges, tree_of<TypeParam>(c, Device::host()).edges);
    }
  });
}

}  // namespace
}  // namespace quintet::hdbscan
