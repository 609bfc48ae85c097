// The time left that quintet-hdbscan shows is right within a factor of 2, from a tenth of the time to six tenths.
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "quintet/hdbscan/hdbscan.hpp"
#include "support/points.hpp"
#include "support/time_left.hpp"

namespace quintet {
namespace {

struct estimate {
  double at;
  std::optional<double> left;
};

void expect_within_a_factor_of_2(std::int64_t n, std::int64_t dim) {
  const auto points = test::clustered_points<float>(n, dim, 3);
  driver::time_left left(driver::clustering_shares(dim));
  const auto begin = std::chrono::steady_clock::now();
  const auto now = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  std::vector<estimate> estimates;
  hdbscan::cluster(points.view(), {.min_cluster_size = 50, .min_samples = 10}, Device::host(),
                   [&](std::string_view stage, double fraction) {
                     estimates.push_back({now(), left(stage, fraction, now())});
                     return true;
                   });
  const double whole = now();
  int seen = 0;
  for (const estimate& e : estimates) {
    if (e.at < 0.1 * whole || e.at > 0.6 * whole || !e.left) continue;
    ++seen;
    EXPECT_LE(*e.left, 2 * (whole - e.at)) << "after " << e.at << " of " << whole << " s";
    EXPECT_GE(*e.left, (whole - e.at) / 2) << "after " << e.at << " of " << whole << " s";
  }
  EXPECT_GE(seen, 5) << whole;
}

TEST(time_left_of_a_clustering, few_dimensions) { expect_within_a_factor_of_2(400000, 3); }
TEST(time_left_of_a_clustering, many_dimensions) { expect_within_a_factor_of_2(40000, 128); }

}  // namespace
}  // namespace quintet
