// One sweep per file against one fit per setting: reuse/sweep.json.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <tuple>

#include "quintet/hdbscan/sweep.hpp"
#include "support/data_folder.hpp"
#include "support/json_value.hpp"
#include "support/points.hpp"

namespace quintet::hdbscan {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

test::point_set<float> points_of(const std::filesystem::path& path) {
  std::vector<std::vector<float>> rows;
  std::istringstream lines(text_of(path));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    rows.emplace_back();
    for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(std::stof(field));
  }
  test::point_set<float> points(std::int64_t(rows.size()), std::int64_t(rows.at(0).size()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t k = 0; k < rows[i].size(); ++k) points(std::int64_t(i), std::int64_t(k)) = rows[i][k];
  return points;
}

using setting_key = std::tuple<std::string, std::string, std::int64_t, std::int64_t>;

TEST(sweep_data, every_setting_has_its_clusters_noise_labels_and_validity) {
  const std::filesystem::path folder = test::data_folder("reuse");
  QUINTET_SKIP_WITHOUT(folder);
  const test::json_value all = test::json_value::parse(text_of(folder / "sweep.json"));
  std::map<setting_key, int> place;
  std::map<std::pair<std::string, std::string>, sweep_options> sweeps;
  for (int i = 0; i < int(all.size()); ++i) {
    const auto file = all[i]["file"].text(), method = all[i]["method"].text();
    const auto min_samples = all[i]["min_samples"].integer(), size = all[i]["min_cluster_size"].integer();
    place[{file, method, min_samples, size}] = i;
    sweep_options& options = sweeps[{file, method}];
    options.min_samples.push_back(min_samples);
    options.min_cluster_size.push_back(size);
    options.method = method == "leaf" ? selection::leaf : selection::eom;
  }
  std::size_t compared = 0;
  for (const auto& [of, options] : sweeps) {
    const auto points = points_of(folder / of.first);
    const sweep_result result = sweep(points.view(), options);
    for (std::int64_t s = 0; s < std::ssize(result.settings); ++s, ++compared) {
      const sweep_setting& found = result.settings[s];
      const test::json_value expected = all[place.at({of.first, of.second, found.min_samples, found.min_cluster_size})];
      SCOPED_TRACE(::testing::Message() << expected);
      EXPECT_EQ(found.clusters, expected["clusters"].integer());
      EXPECT_EQ(found.noise, expected["noise"].integer());
      EXPECT_EQ(found.relative_validity, std::strtod(expected["relative_validity"].text().c_str(), nullptr));
      std::int64_t hash = 0;
      for (std::int64_t i = 0; i < points.n; ++i) hash += (i + 1) * (result.labels[s * points.n + i] + 2);
      EXPECT_EQ(hash, expected["labels_sum_hash"].integer());
    }
  }
  EXPECT_EQ(compared, all.size());
}

}  // namespace
}  // namespace quintet::hdbscan
