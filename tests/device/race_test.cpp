// race_test right|planted: runs a kernel on the emulated device, with its barrier or without. ThreadSanitizer is to
// be silent about the one and to find the other; see CMakeLists.txt.
#include <cstdio>
#include <string_view>
#include <vector>

#include "device/launch.hpp"
#include "race_kernel.hpp"

int main(int argc, char** argv) {
  using namespace quintet;
  constexpr std::int64_t tiles = 50;
  using right = test::race_kernel<true>;
  using planted = test::race_kernel<false>;
  const std::string_view which = argc == 2 ? argv[1] : "";
  if (which != "right" && which != "planted") {
    std::fprintf(stderr, "usage: race_test right|planted\n");
    return 2;
  }
  std::vector<std::int32_t> out(tiles * right::threads);
  if (which == "planted") {
    device::launch(planted{out.data()}, tiles, Device::emulated());
    return 0;
  }
  device::launch(right{out.data()}, tiles, Device::emulated());
  for (std::int64_t tile = 0; tile < tiles; ++tile)
    for (int rank = 0; rank < right::emulated_threads; ++rank)
      if (out[tile * right::threads + rank] != tile + (rank + 1) % right::emulated_threads) {
        std::printf("tile %lld, thread %d: %d is wrong\n", static_cast<long long>(tile), rank,
                    out[tile * right::threads + rank]);
        return 1;
      }
  return 0;
}
