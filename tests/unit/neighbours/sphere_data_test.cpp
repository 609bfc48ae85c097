// Great-circle distances and neighbours against mpmath with 60 digits: reuse/haversine_pairs.csv, sphere_knn10.csv.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "quintet/neighbours/index.hpp"
#include "support/csv_table.hpp"
#include "support/data_folder.hpp"
#include "support/pack_errors.hpp"
#include "support/points.hpp"

namespace quintet::neighbours {
namespace {

constexpr point_metric earth(metric::haversine, 6371008.8);

TEST(sphere_data, distances_are_within_4_ulp) {
  const std::filesystem::path folder = test::data_folder("reuse");
  QUINTET_SKIP_WITHOUT(folder);
  const test::csv_table table(folder / "haversine_pairs.csv");
  const char* columns[] = {"lat1_deg", "lon1_deg", "lat2_deg", "lon2_deg"};
  std::int64_t compared = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    double at[4];
    for (int k = 0; k < 4; ++k) at[k] = std::strtod(table.at(row, columns[k]).c_str(), nullptr);
    const long double metres = std::stold(table.at(row, "metres_R6371008.8"));
    const auto found = nearest<double>({at, 1, 2}, {at + 2, 1, 2}, 1, {earth}, Device::host());
    if (metres < 1e-3L) {
      EXPECT_LE(found.distance[0], 1e-3);
      continue;
    }
    EXPECT_LE(test::ulps<double>(found.distance[0], metres), 4) << "row " << row;
    ++compared;
  }
  EXPECT_GT(compared, 70);
}

TEST(sphere_data, neighbours_are_in_order) {
  const std::filesystem::path folder = test::data_folder("reuse");
  QUINTET_SKIP_WITHOUT(folder);
  std::vector<double> points;
  std::ifstream file(folder / "sphere_points_deg.csv");
  for (std::string field; std::getline(file, field, points.size() % 2 == 0 ? ',' : '\n');)
    points.push_back(std::stod(field));
  const matrix_view<const double> view(points.data(), std::int64_t(points.size()) / 2, 2);
  const test::csv_table table(folder / "sphere_knn10.csv");
  const auto query = table.integers("query"), rank = table.integers("rank"), expected = table.integers("index");
  const auto metres = table.doubles("metres");
  ASSERT_EQ(std::ssize(query), view.rows() * 10);
  const auto found = index<double>(view, {earth}, Device::host()).nearest_others(10);
  const auto at_once = nearest(view, 10, {earth}, Device::host());
  EXPECT_EQ(found.index, at_once.index);
  for (std::size_t row = 0; row < query.size(); ++row) {
    const std::int64_t at = query[row] * 10 + rank[row];
    EXPECT_EQ(found.index[at], expected[row]) << "query " << query[row] << ", rank " << rank[row];
    EXPECT_NEAR(found.distance[at], metres[row], metres[row] * 1e-15 + 1e-9);
  }
}

}  // namespace
}  // namespace quintet::neighbours
