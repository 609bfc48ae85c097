// Distances and mutual reachabilities of listed pairs of embeddings, from all three functions, against values computed
// in float64 by another program.
#include <gtest/gtest.h>

#include "quintet/hdbscan/core_distances.hpp"
#include "quintet/hdbscan/mutual_reachability.hpp"
#include "support/devices.hpp"
#include "support/embedding_data.hpp"
#include "support/near.hpp"
#include "support/real_types.hpp"

namespace quintet::hdbscan {
namespace {

template <class Real>
class mutual_reachability_data : public ::testing::Test {};
TYPED_TEST_SUITE(mutual_reachability_data, test::real_types);

struct listed_pairs {
  std::vector<std::int64_t> index;  // i0, j0, i1, j1, ...
  std::vector<double> distance, reachability;

  explicit listed_pairs(const std::string& name) {
    const test::csv_table table(test::embedding_folder() / (name + "_mreach_pairs_ms5.csv"));
    const auto i = table.integers("i"), j = table.integers("j");
    for (std::size_t p = 0; p < i.size(); ++p) index.insert(index.end(), {i[p], j[p]});
    distance = table.doubles("euclidean");
    reachability = table.doubles("mreach");
  }
  matrix_view<const std::int64_t> view() const { return {index.data(), std::int64_t(distance.size()), 2}; }
};

template <class Real>
std::vector<Real> entries_at(const std::vector<Real>& matrix, std::int64_t n, const listed_pairs& pairs) {
  std::vector<Real> entries;
  for (std::size_t p = 0; p < pairs.distance.size(); ++p)
    entries.push_back(matrix[pairs.index[2 * p] * n + pairs.index[2 * p + 1]]);
  return entries;
}

TYPED_TEST(mutual_reachability_data, listed_pairs) {
  QUINTET_SKIP_WITHOUT(test::embedding_folder());
  for (const std::string& name : test::embedding_names()) {
    SCOPED_TRACE(name);
    const auto points = test::read_points<TypeParam>(name);
    const listed_pairs pairs(name);
    const auto core = core_distances(points.view(), {.min_samples = 5}).distances;
    const auto distance = mutual_reachability_pairs<TypeParam>(points.view(), {}, pairs.view());
    test::expect_error_within(name + "_distance", test::largest_error(distance, pairs.distance),
                              test::data_bound<TypeParam>);
    const auto reachability = mutual_reachability_pairs<TypeParam>(points.view(), core, pairs.view());
    test::expect_error_within(name + "_reachability", test::largest_error(reachability, pairs.reachability),
                              test::data_bound<TypeParam>);
  }
}

TYPED_TEST(mutual_reachability_data, the_matrix_at_the_listed_pairs) {
  QUINTET_SKIP_WITHOUT(test::embedding_folder());
  const auto check = [](const std::string& name, const Device& device) {
    SCOPED_TRACE(name);
    const auto points = test::read_points<TypeParam>(name);
    const std::int64_t n = points.n;
    const listed_pairs pairs(name);
    const auto core = core_distances(points.view(), {.min_samples = 5}).distances;
    std::vector<TypeParam> matrix(n * n);
    mutual_reachability(points.view(), core, {matrix.data(), n, n}, {}, device);
    test::expect_near(entries_at(matrix, n, pairs), pairs.reachability, test::data_bound<TypeParam>);
  };
  for (const std::string& name : test::embedding_names()) check(name, Device::host());
  test::on_other_devices([&](const Device& device) {
    for (const char* name : {"iris", "synth512"}) check(name, device);
  });
}

}  // namespace
}  // namespace quintet::hdbscan
