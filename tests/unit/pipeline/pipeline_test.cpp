// Nearest neighbours -> graph -> sparse product -> randomised SVD on one device: the results of the host, and nothing
// but bookkeeping comes back.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "quintet/core/philox.hpp"
#include "quintet/device/buffer.hpp"
#include "quintet/poincare/nearest.hpp"
#include "quintet/spgemm/dense_product.hpp"
#include "quintet/spgemm/device_csr.hpp"
#include "quintet/svd/randomised.hpp"
#include "support/device_of_arguments.hpp"
#include "support/devices.hpp"

namespace quintet::test {
namespace {

constexpr std::int64_t n = 300, dim = 40, k = 24, rank = 2;

std::vector<double> points_in_ball() {
  std::vector<double> points(n * dim);
  for (std::int64_t e = 0; e < n * dim; ++e) points[e] = 0.03 * normal_at<double>(5, 0, e);
  return points;
}

struct stages {
  std::vector<double> singular_values;
  std::int64_t moved[3] = {0, 0, 0};  ///< bytes that each stage transferred
};

stages run(const Device& device) {
  stages found;
  std::int64_t before = 0;
  const auto begin = [&] { before = detail::transferred_bytes(); };
  const auto end = [&](int stage) { found.moved[stage] = detail::transferred_bytes() - before; };
  const Device given = device_of_arguments(device);
  const Buffer<double> points(points_in_ball(), device);
  const matrix_view x(points, dim);
  std::vector<std::int64_t> row_pointers(n + 1);
  for (std::int64_t i = 0; i <= n; ++i) row_pointers[i] = i * k;
  spgemm::device_csr<double, std::int64_t> graph;
  graph.rows = graph.cols = n;
  graph.row_pointers = Buffer<std::int64_t>(row_pointers, device);
  graph.columns = Buffer<std::int64_t>(n * k, device);
  graph.values = Buffer<double>(n * k, device);
  begin();
  poincare::nearest(x, x, matrix_view(graph.columns, k), matrix_view(graph.values, k), {.exclude_self = true}, given);
  end(0);
  begin();
  Buffer<double> product(n * dim, device);
  spgemm::multiply_dense(graph.view(), x, matrix_view(product, dim), given);
  end(1);
  Buffer<double> u(n * rank, device), v(dim * rank, device), s(rank, device), residual(1, device);
  Buffer<std::int32_t> status(1, device), sweeps(1, device);
  begin();
  svd::randomised(batch_view(product, n, dim),
                  {batch_view(u, n, rank), batch_view(v, dim, rank), matrix_view(s, rank), vector_view(residual),
                   vector_view(status), vector_view(sweeps)},
                  {.rank = rank}, given);
  end(2);
  found.singular_values = s.to_vector();
  return found;
}

TEST(pipeline, stays_on_the_device) {
  const stages host = run(Device::host());
  EXPECT_EQ(host.moved[0] + host.moved[1] + host.moved[2], 0);
  on_other_devices([&](const Device& device) {
    const stages there = run(device);
    ASSERT_EQ(there.singular_values.size(), host.singular_values.size());
    for (std::size_t j = 0; j < host.singular_values.size(); ++j)
      EXPECT_NEAR(there.singular_values[j], host.singular_values[j], 1e-12 * host.singular_values[0]);
    // A number per point of each set, its status; row pointers, which are checked; and the status of the matrix.
    EXPECT_LE(there.moved[0], 2 * n * 8 + 64);
    EXPECT_LE(there.moved[1], (n + 1) * 8 + 1024);
    EXPECT_LE(there.moved[2], 64);
    // Neither points nor lists nor products.
    EXPECT_LT(there.moved[0] + there.moved[1], n * std::min(dim, k) * 8 / 4);
    for (int stage = 0; stage < 3; ++stage)
      RecordProperty("bytes_of_stage_" + std::to_string(stage), std::to_string(there.moved[stage]));
  });
}

}  // namespace
}  // namespace quintet::test
