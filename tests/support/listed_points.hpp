// Points with the neighbours and the spanning tree that many digits say they have.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "quintet/hdbscan/spanning_tree.hpp"
#include "quintet/neighbours/index.hpp"
#include "quintet/neighbours/neighbours.hpp"
#include "support/ball_data.hpp"
#include "support/csv_table.hpp"
#include "support/devices.hpp"
#include "support/points.hpp"

namespace quintet::test {

/// points.csv and edges.csv of a folder: 10 neighbours of each point, and the spanning tree for min_samples = 4.
struct listed_points {
  point_set<double> points;
  std::vector<std::vector<std::int64_t>> neighbours;
  std::vector<std::vector<double>> distances;
  std::vector<hdbscan::edge> edges;

  listed_points(const std::filesystem::path& folder, std::int64_t dim) : points(500, dim) {
    const csv_table table(folder / "points.csv"), tree(folder / "edges.csv");
    for (std::size_t i = 0; i < table.rows(); ++i) {
      const auto x = parse_vector<double>(table.at(i, "x"));
      for (std::size_t k = 0; k < x.size(); ++k) points(std::int64_t(i), std::int64_t(k)) = x[k];
      neighbours.push_back(parse_vector<std::int64_t>(table.at(i, "neighbours")));
      distances.push_back(parse_vector<double>(table.at(i, "distances")));
    }
    for (std::size_t e = 0; e < tree.rows(); ++e)
      edges.push_back({tree.integers("u")[e], tree.integers("v")[e], tree.doubles("weight")[e]});
  }

  /// Every search finds the neighbours.
  void expect_neighbours(const point_metric& distance, double radius) const {
    const quintet::neighbours::options settings{distance};
    on_every_device([&](const Device& device) {
      expect_lists(quintet::neighbours::nearest(points.view(), 10, settings, device));
      for (const auto method : {quintet::neighbours::search::tree, quintet::neighbours::search::all_pairs})
        expect_lists(quintet::neighbours::index<double>(points.view(), {distance, method}, device).nearest_others(10));
    });
    expect_within(quintet::neighbours::within_radius(points.view(), radius, settings, Device::host()), radius);
  }
  void expect_tree_everywhere(const point_metric& distance) const {
    on_every_device([&](const Device& device) {
      expect_tree(hdbscan::spanning_tree(points.view(), {.min_samples = 4, .distance = distance}, device).edges);
    });
  }

 private:
  void expect_lists(const quintet::neighbours::nearest_result<double>& lists) const {
    for (std::int64_t i = 0; i < points.n; ++i)
      for (std::int64_t e = 0; e < lists.k; ++e) {
        ASSERT_EQ(lists.index[i * lists.k + e], neighbours[i][e]) << i << ", " << e;
        ASSERT_NEAR(lists.distance[i * lists.k + e], distances[i][e], 1e-12) << i << ", " << e;
      }
  }

  /// The ends of all edges, and their weights in rising order.
  void expect_tree(std::vector<hdbscan::edge> found) const {
    ASSERT_EQ(found.size(), edges.size());
    for (std::size_t e = 0; e < found.size(); ++e) ASSERT_NEAR(found[e].weight, edges[e].weight, 1e-12) << e;
    const auto by_ends = [](const hdbscan::edge& a, const hdbscan::edge& b) {
      return a.u != b.u ? a.u < b.u : a.v < b.v;
    };
    auto expected = edges;
    std::sort(found.begin(), found.end(), by_ends);
    std::sort(expected.begin(), expected.end(), by_ends);
    for (std::size_t e = 0; e < found.size(); ++e) {
      EXPECT_EQ(found[e].u, expected[e].u) << e;
      EXPECT_EQ(found[e].v, expected[e].v) << e;
    }
  }

  /// All within a radius: ten others or more where the tenth is within it, else those that are.
  void expect_within(const quintet::neighbours::radius_result<double>& within, double radius) const {
    for (std::int64_t i = 0; i < points.n; ++i) {
      const auto count = std::count_if(distances[i].begin(), distances[i].end(), [&](double d) { return d <= radius; });
      const std::int64_t entries = within.row_pointers[i + 1] - within.row_pointers[i];
      EXPECT_TRUE(count == 10 ? entries >= 10 : entries == count) << i;
    }
  }
};

}  // namespace quintet::test
