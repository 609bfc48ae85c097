// What calls on the smallest data may cost beside their arithmetic, in numbers that do not depend on the machine: no
// thread is started, and little memory is asked for.
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <vector>

#include "quintet/core/philox.hpp"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/poincare/poincare.hpp"
#include "quintet/svd/decompose.hpp"
#include "robustness/failing_memory.hpp"

namespace quintet {
namespace {

std::vector<float> normal_values(std::int64_t count, float scale) {
  std::vector<float> values(std::size_t(count), 0.0F);
  for (std::int64_t i = 0; i < count; ++i) values[std::size_t(i)] = scale * normal_at<float>(1, 0, i);
  return values;
}

int threads_of_process() { return int(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {})); }

void cluster_points(std::int64_t n) {
  const auto points = normal_values(n * 4, 1);
  hdbscan::cluster({points.data(), n, 4}, {}, Device::host());
}

void decompose_matrices(std::int64_t batch) {
  const auto a = normal_values(batch * 9, 1);
  svd::decompose<float>({a.data(), batch, 3, 3}, {}, Device::host());
}

void measure_ball(std::int64_t n) {
  const auto points = normal_values(n * 8, 0.05F);
  std::vector<float> out(std::size_t(n * n));
  poincare::distances({points.data(), n, 8}, {points.data(), n, 8}, {out.data(), n, n}, {}, Device::host());
  poincare::nearest<float>({points.data(), n, 8}, {points.data(), n, 8}, 5, {}, Device::host());
}

// One test, as threads that were started stay.
TEST(small_calls, start_no_threads) {
  set_threads(4);
  ASSERT_EQ(threads_of_process(), 1);
  cluster_points(100);
  cluster_points(150);
  EXPECT_EQ(threads_of_process(), 1) << "cluster of 100 and 150 points";
  decompose_matrices(1);
  decompose_matrices(200);
  EXPECT_EQ(threads_of_process(), 1) << "decompose of 200 matrices";
  measure_ball(100);
  EXPECT_EQ(threads_of_process(), 1) << "distances of 100 points";
  // The others do.
  measure_ball(2000);
  EXPECT_GT(threads_of_process(), 1);
}

TEST(small_calls, ask_for_little_memory) {
  const auto asked = [](const auto& call) {
    call();
    const std::int64_t count = test::allocation_count(), bytes = test::allocated_bytes();
    call();
    return std::pair(test::allocation_count() - count, test::allocated_bytes() - bytes);
  };
  const auto [svd_count, svd_bytes] = asked([] { decompose_matrices(1); });
  EXPECT_LE(svd_count, 12);
  EXPECT_LE(svd_bytes, 4096);
  // Panels, lists and bounds of 100 points are 50 KB.
  const auto [cluster_count, cluster_bytes] = asked([] { cluster_points(100); });
  EXPECT_LE(cluster_count, 400);
  EXPECT_LE(cluster_bytes, 300000);
}

}  // namespace
}  // namespace quintet
