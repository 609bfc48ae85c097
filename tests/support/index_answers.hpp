// What an index answers is what one call does.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "quintet/neighbours/index.hpp"
#include "support/devices.hpp"
#include "support/near.hpp"

namespace quintet::test {

/// The first lists of `all` are those of fewer queries.
inline void expect_first_lists(const neighbours::nearest_result<double>& few,
                               const neighbours::nearest_result<double>& all) {
  EXPECT_TRUE(std::equal(few.index.begin(), few.index.end(), all.index.begin()));
  EXPECT_TRUE(std::equal(few.distance.begin(), few.distance.end(), all.distance.begin()));
}

/// An index that grew, and its copy by bytes, answer as one call, with the same bits, for every search and device: many
/// queries and few, the k nearest and all within `radius`.
inline void expect_index_answers(matrix_view<const double> queries, matrix_view<const double> points, std::int64_t k,
                                 const point_metric& distance, double radius) {
  const neighbours::options how{distance};
  const std::int64_t n = points.rows(), few = std::min<std::int64_t>(9, queries.rows());
  const auto expected = neighbours::nearest(queries, points, k, how, Device::host());
  const auto own = neighbours::nearest(points, k, how, Device::host());
  const auto near = neighbours::within_radius(queries, points, radius, how, Device::host());
  on_every_device([&](const Device& device) {
    for (const auto method : {neighbours::search::automatic, neighbours::search::tree, neighbours::search::all_pairs}) {
      neighbours::index<double> kept(points.slice(0, n / 2), {distance, method}, device);
      for (const std::int64_t end : {n / 2 + 1, n - n / 4, n - 1, n}) kept.append(points.slice(kept.size(), end));
      const auto read = neighbours::index<double>::from_bytes(kept.to_bytes(), device);
      EXPECT_EQ(read.distance(), distance);
      for (const neighbours::index<double>& one : {kept, read}) {
        const auto lists = one.nearest(queries, k), others = one.nearest_others(k);
        EXPECT_EQ(lists.index, expected.index);
        expect_same_bits(lists.distance, expected.distance);
        EXPECT_EQ(others.index, own.index);
        expect_same_bits(others.distance, own.distance);
        EXPECT_EQ(one.within_radius(queries, radius).index, near.index);
        expect_same_bits(one.within_radius(queries, radius).distance, near.distance);
        expect_first_lists(one.nearest(queries.slice(0, few), k), expected);
        const auto few_near = one.within_radius(queries.slice(0, few), radius);
        EXPECT_TRUE(std::equal(few_near.index.begin(), few_near.index.end(), near.index.begin()));
      }
    }
  });
}

}  // namespace quintet::test
