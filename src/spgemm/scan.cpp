#include "spgemm/scan.hpp"

#include <algorithm>

#include "spgemm/device_memory.hpp"
#include "spgemm/range_loop.hpp"

namespace quintet::spgemm {

namespace {

enum : std::int64_t { scan_block = 512 };

/// Sums of the blocks of counts[1, n].
/// Reduce, scan, add (Blelloch 1990), step 1 of 3.
struct sum_blocks {
  const std::int64_t* counts;
  std::int64_t n;
  std::int64_t* sums;
  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t b = begin + team.rank(); b < end; b += team.size()) {
      std::int64_t sum = 0;
      for (std::int64_t i = b * scan_block; i < std::min(n, (b + 1) * scan_block); ++i) sum += counts[i + 1];
      sums[b] = sum;
    }
  }
};
/// sums[b] := sum of those before; one thread.
/// Step 2 of 3.
struct scan_sums {
  std::int64_t* sums;
  std::int64_t blocks;
  template <class Team>
  void operator()(const Team& team, std::int64_t, std::int64_t) const {
    if (team.rank() != 0) return;
    std::int64_t before = 0;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::int64_t sum = sums[b];
      sums[b] = before;
      before += sum;
    }
  }
};
/// counts[i + 1] := sum of counts[1, i + 1].
/// Step 3 of 3.
struct add_before {
  std::int64_t* counts;
  std::int64_t n;
  const std::int64_t* sums;
  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t b = begin + team.rank(); b < end; b += team.size()) {
      std::int64_t sum = sums[b];
      for (std::int64_t i = b * scan_block; i < std::min(n, (b + 1) * scan_block); ++i) sum = counts[i + 1] += sum;
    }
  }
};

}  // namespace

std::int64_t scan_counts(std::int64_t* pointers, std::int64_t rows, const Device& device, memory_source& memory) {
  range_loop(1, 1, set_zero{pointers}, device);
  const std::int64_t blocks = (rows + scan_block - 1) / scan_block;
  device_array<std::int64_t> sums(blocks, device, memory);
  const std::int64_t grain = device.kind() == device_kind::host ? 8 : 128;
  range_loop(blocks, grain, sum_blocks{pointers, rows, sums.data()}, device);
  range_loop(1, 1, scan_sums{sums.data(), blocks}, device);
  range_loop(blocks, grain, add_before{pointers, rows, sums.data()}, device);
  std::int64_t last = 0;
  quintet::detail::copy(&last, Device::host(), pointers + rows, device, sizeof last);
  return last;
}

}  // namespace quintet::spgemm
