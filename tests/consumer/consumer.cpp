// A program that uses the library as any other: no OpenMP flag, no private header. Every device of the build has to
// give the same clusters; that also shows that the device code has arrived in the program.
#include <quintet/core/build_info.hpp>
#include <quintet/hdbscan/hdbscan.hpp>

#include <cstdio>
#include <vector>

int main() {
  std::printf("%s\n", quintet::build_info().summary().c_str());
  // Two groups of ten points on a line each, far apart, in three dimensions.
  std::vector<float> points;
  for (int i = 0; i < 20; ++i) points.insert(points.end(), {float(i % 10), i < 10 ? 0.0f : 100.0f, 0.5f});
  const quintet::matrix_view<const float> view(points.data(), 20, 3);

  int failures = 0;
  std::vector<quintet::Device> devices = quintet::Device::all();
  devices.push_back(quintet::Device::emulated());
  for (const quintet::Device& device : devices) {
    const auto result = quintet::hdbscan::cluster(view, {.min_cluster_size = 5}, device);
    bool right = result.labels.size() == 20;
    for (std::size_t i = 0; i < result.labels.size(); ++i) right &= result.labels[i] == (i < 10 ? 0 : 1);
    std::printf("%s: %s\n", device.name().c_str(), right ? "right" : "WRONG");
    failures += !right;
  }
  return failures;
}
