// The memory that spanning_tree() states, beside what the system counts.
#include <gtest/gtest.h>

#include <algorithm>

#include "quintet/core/philox.hpp"
#include "quintet/hdbscan/spanning_tree.hpp"
#include "support/peak_memory.hpp"
#include "support/sanitized.hpp"

namespace quintet::hdbscan {
namespace {

TEST(hdbscan_memory_bound, of_50000_embeddings) {
  if (test::sanitized) GTEST_SKIP() << "a sanitizer has memory of its own";
  constexpr std::int64_t n = 50'000, dim = 384, clusters = 100, k = 10;
  std::vector<float> points(n * dim);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t d = 0; d < dim; ++d)
      points[i * dim + d] = normal_at<float>(1, 0, i % clusters * dim + d) + 0.2f * normal_at<float>(1, 1, i * dim + d);
  const matrix_view<const float> rows(points.data(), n, dim);
  spanning_tree(rows.slice(0, 2000), {.min_samples = k}, Device::host());  // threads and their stacks
  const test::peak_memory memory;
  const spanning_tree_result tree = spanning_tree(rows, {.min_samples = k}, Device::host());
  const std::int64_t measured = memory.extra_bytes();
  ASSERT_GE(measured, 0) << "this system does not say";
  EXPECT_EQ(std::int64_t(tree.edges.size()), n - 1);
  const std::int64_t bytes = n * dim * std::int64_t(sizeof(float));
  // With the filter of many dimensions: half a copy and two more lists.
  const std::int64_t copies = 2 * bytes + bytes / 2, lists = 3 * 8 * (k + 11) * n;
  const std::int64_t stated = copies + lists + 64 * n + std::max<std::int64_t>(32 << 20, bytes / 4) + n * n / 2304;
  EXPECT_LE(measured, stated);
  EXPECT_GE(measured, bytes);  // the copy at least: the measurement sees it
  RecordProperty("measured_bytes", std::to_string(measured));
  RecordProperty("stated_bytes", std::to_string(stated));
}

}  // namespace
}  // namespace quintet::hdbscan
