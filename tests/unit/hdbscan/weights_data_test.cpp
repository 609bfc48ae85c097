// Weighted points against fits of repeated points: reuse/weights.json.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "quintet/hdbscan/hdbscan.hpp"
#include "support/data_folder.hpp"
#include "support/json_value.hpp"
#include "support/points.hpp"

namespace quintet::hdbscan {
namespace {

std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Points, and the last column apart.
struct weighted_points {
  test::point_set<float> points{0, 1};
  std::vector<double> weights;

  explicit weighted_points(const std::filesystem::path& path) {
    std::vector<std::vector<double>> rows;
    std::istringstream lines(file_text(path));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      rows.emplace_back();
      for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(std::stod(field));
      weights.push_back(rows.back().back());
      rows.back().pop_back();
    }
    points = test::point_set<float>(std::int64_t(rows.size()), std::int64_t(rows.at(0).size()));
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t k = 0; k < rows[i].size(); ++k) points(std::int64_t(i), std::int64_t(k)) = float(rows[i][k]);
  }
};

TEST(weights_data, labels_probabilities_and_core_distances_are_those_of_repeated_points) {
  const std::filesystem::path folder = test::data_folder("reuse");
  QUINTET_SKIP_WITHOUT(folder);
  const test::json_value all = test::json_value::parse(file_text(folder / "weights.json"));
  ASSERT_EQ(all.size(), 72u);
  for (int c = 0; c < int(all.size()); ++c) {
    const test::json_value expected = all[c];
    const weighted_points given(folder / expected["file"].text());
    cluster_options options;
    options.min_samples = expected["min_samples"].integer();
    options.min_cluster_size = expected["min_cluster_size"].integer();
    options.method = expected["method"].text() == "leaf" ? selection::leaf : selection::eom;
    SCOPED_TRACE(::testing::Message() << "case " << c);
    const auto found = cluster(given.points.view(), options, Device::host(), {}, given.weights);
    for (int i = 0; i < int(given.weights.size()); ++i) {
      EXPECT_EQ(found.labels[i], expected["labels"][i].integer()) << i;
      // The program of these values let the infinite density of copies make all others nothing.
      const double probability = std::stod(expected["probabilities"][i].text());
      if (probability > 0 || found.labels[i] < 0) EXPECT_EQ(found.probabilities[i], probability) << i;
      if (given.weights[i] > 0) EXPECT_EQ(found.core_distances[i], std::stod(expected["core"][i].text())) << i;
    }
  }
}

}  // namespace
}  // namespace quintet::hdbscan
