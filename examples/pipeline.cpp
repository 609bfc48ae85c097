// A pipeline that stays on a device: the nearest neighbours of points of the Poincare ball become the rows of a sparse
// matrix, that is multiplied with the points, and the product is decomposed. Only the points go there and only
// the leading singular values and vectors come back.
//
//   pipeline [DEVICE]      // auto, host, emulated, 0, offload:0
#include <cstdint>
#include <exception>
#include <iostream>
#include <vector>

#include "quintet/core/philox.hpp"
#include "quintet/device/buffer.hpp"
#include "quintet/poincare/nearest.hpp"
#include "quintet/spgemm/dense_product.hpp"
#include "quintet/spgemm/device_csr.hpp"
#include "quintet/svd/randomised.hpp"

namespace {

using quintet::Buffer;
using quintet::Device;

constexpr std::int64_t n = 500, dim = 10, k = 8;

std::vector<double> points_in_ball() {
  std::vector<double> points(n * dim);
  for (std::int64_t e = 0; e < n * dim; ++e) points[e] = 0.1 * quintet::normal_at<double>(1, 0, e);
  return points;
}

void run(const Device& device) {
  const Buffer<double> points(points_in_ball(), device);
  const quintet::matrix_view x(points, dim);

  // Row i of the graph: the k nearest of point i, weighted by their distances. Lists of one length are rows of a sparse
  // matrix as they are.
  quintet::spgemm::device_csr<double, std::int64_t> graph;
  graph.rows = graph.cols = n;
  std::vector<std::int64_t> row_pointers(n + 1);
  for (std::int64_t i = 0; i <= n; ++i) row_pointers[i] = i * k;
  graph.row_pointers = Buffer<std::int64_t>(row_pointers, device);
  graph.columns = Buffer<std::int64_t>(n * k, device);
  graph.values = Buffer<double>(n * k, device);
  quintet::poincare::nearest(x, x, quintet::matrix_view(graph.columns, k), quintet::matrix_view(graph.values, k),
                             {.exclude_self = true});

  // Sums of the neighbours of every point, weighted.
  Buffer<double> product(n * dim, device);
  quintet::spgemm::multiply_dense(graph.view(), x, quintet::matrix_view(product, dim));

  const auto found = quintet::svd::randomised(quintet::batch_view(product, n, dim), {.rank = 3});
  std::cout << "on " << device.name() << ": singular values";
  for (const double s : found.factors.s) std::cout << " " << s;
  std::cout << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(Device::parse(argc > 1 ? argv[1] : "auto"));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "pipeline: " << error.what() << "\n";
    return 1;
  }
}
