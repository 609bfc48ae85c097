// Data that stay on a device between two calls: what goes there once is not copied again, and results are left there
// too.
//
//   device_buffers [DEVICE]      // auto, host, emulated, 0, offload:0
#include <algorithm>
#include <iostream>
#include <vector>

#include "quintet/core/philox.hpp"
#include "quintet/device/buffer.hpp"
#include "quintet/svd/applications.hpp"

int main(int argc, char** argv) {
  const quintet::Device device = quintet::Device::parse(argc > 1 ? argv[1] : "auto");
  const std::int64_t batch = 100, n = 8;
  std::vector<float> a(batch * n * n);
  for (std::size_t e = 0; e < a.size(); ++e) a[e] = quintet::normal_at<float>(1, 0, std::int64_t(e));

  const quintet::Buffer<float> matrices(a, device);
  quintet::Buffer<float> u(batch * n * n, device), v(batch * n * n, device), s(batch * n, device),
      condition(batch, device);
  quintet::Buffer<std::int32_t> status(batch, device), sweeps(batch, device);
  const quintet::svd::outputs out{{u, n, n}, {v, n, n}, {s, n}, status, sweeps};
  quintet::svd::decompose(quintet::batch_view(matrices, n, n), out, {});
  quintet::svd::condition_number({s, n}, condition);

  float worst = 0;
  for (const float c : condition.to_vector()) worst = std::max(worst, c);  // the only copy back
  std::cout << "worst condition number on " << device.spelling() << ": " << worst << "\n";
}
