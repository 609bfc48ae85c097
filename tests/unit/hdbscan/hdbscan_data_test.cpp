// Clustering end to end, from points to labels, against the canonical results of an independent reference in float64.
#include "quintet/hdbscan/hdbscan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/devices.hpp"
#include "support/embedding_data.hpp"
#include "support/near.hpp"
#include "support/partition.hpp"
#include "support/real_types.hpp"
#include "support/sanitized.hpp"

namespace quintet::hdbscan {
namespace {

template <class Real>
class hdbscan_data : public ::testing::Test {};
TYPED_TEST_SUITE(hdbscan_data, test::real_types);

// Clustering in float may order heights differently that differ by less than this (relative).
constexpr double near_tie = 1e-6;

// The decimals of iris make distances that are equal in decimal and differ by 1e-7 in binary. In float some of them
// become equal, and the probabilities of the points there jump.
bool is_exact_in(const test::clustering_case& c, std::size_t size_of_real) {
  return size_of_real == sizeof(double) || c.dataset != "iris";
}

template <class Real>
void expect_near_clustering(const std::string& name, const clustering& found, const std::vector<std::int64_t>& labels,
                            const std::vector<double>& probabilities, const std::vector<double>& outlier_scores) {
  EXPECT_EQ(test::canonical_labels(found.labels), test::canonical_labels(labels));
  // Both lie in [0, 1]: the error is absolute.
  test::expect_error_within(name + "_probability", test::largest_error(found.probabilities, probabilities, 1),
                            test::data_bound<Real>);
  test::expect_error_within(name + "_outlier_score", test::largest_error(found.outlier_scores, outlier_scores, 1),
                            test::data_bound<Real>);
}

template <class Real>
void expect_canonical_result(const test::clustering_case& c, const Device& device) {
  SCOPED_TRACE(c.stem);
  const test::csv_table expected = test::read_results(c);
  const auto points = test::read_points<Real>(c.dataset);
  cluster_result found = cluster(points.view(), c.options, device);
  const auto labels = expected.integers("label_canonical");
  EXPECT_EQ(test::adjusted_rand_index(found.labels, labels), 1);
  EXPECT_EQ(found.clusters(), c.clusters_canonical);
  EXPECT_EQ(std::count(found.labels.begin(), found.labels.end(), -1), c.noise_canonical);
  if (!is_exact_in(c, sizeof(Real))) return;
  cluster_options as_the_reference = c.options;
  as_the_reference.tie_tolerance = 0;
  found = cluster(points.view(), as_the_reference, device);
  expect_near_clustering<Real>(c.stem, found, labels, expected.doubles("prob_canonical"),
                               expected.doubles("outlier_canonical"));
  test::expect_near(found.persistence, c.persistence_canonical, std::max(1e-8, test::data_bound<Real>), 1);
}

TYPED_TEST(hdbscan_data, all_cases) {
  QUINTET_SKIP_WITHOUT(test::embedding_folder());
  for (const auto& c : test::clustering_cases()) expect_canonical_result<TypeParam>(c, Device::host());
}

TYPED_TEST(hdbscan_data, small_cases_on_other_devices) {
  QUINTET_SKIP_WITHOUT(test::embedding_folder());
  test::on_other_devices([](const Device& device) {
    for (const auto& c : test::clustering_cases())
      if (test::is_small(c)) expect_canonical_result<TypeParam>(c, device);
  });
}

// With near ties made ties, float and double see the same tree, iris included.
TYPED_TEST(hdbscan_data, all_cases_with_near_ties_joined) {
  QUINTET_SKIP_WITHOUT(test::embedding_folder());
  for (auto c : test::clustering_cases()) {
    if (test::sanitized && !test::is_small(c)) continue;  // all_cases has the others
    SCOPED_TRACE(c.stem);
    c.options.tie_tolerance = near_tie;
    const clustering expected = cluster_tree(test::read_edges(c), c.n, c.options);
    const cluster_result found = cluster(test::read_points<TypeParam>(c.dataset).view(), c.options);
    expect_near_clustering<TypeParam>(c.stem, found, expected.labels, expected.probabilities, expected.outlier_scores);
    test::expect_near(found.persistence, expected.persistence, test::data_bound<TypeParam>, 1);
  }
}

}  // namespace
}  // namespace quintet::hdbscan
