// How the rules are laid out on a processor, and the numbers that all of their kernels share.
//
// A *partial likelihood* is the tensor of one group of branches: [entries][patterns], patterns fastest and padded to
// whole lines of
// 8. An entry is a state (n1, r1), ..., (nK, rK) of the K open branches. Entries with the same (n1, ..., nK) form a
// block, a dense tensor over (r1, ..., rK), the first slowest; only those (n1, ..., nK) that can occur have a block. A
// rule works on the first one or two axes: whatever the other axes and the patterns are, they are *columns* to it, side
// by side in memory, and become SIMD lanes or threads.
#pragma once

#include <utility>

#include "device/launch.hpp"
#include "device/pack.hpp"
#include "snp/likelihood/rules/tile.hpp"

namespace quintet::snp {

struct host_rules {
  enum { on_device = 0, lanes = device::host_lanes<double>(), packs = 2 };
};
struct device_rules {
  enum { on_device = 1, lanes = 1, packs = 1 };
};
template <class Shape>
using rule_pack = device::pack<double, Shape::lanes>;

/// Calls f(host_rules{}) or f(device_rules{}).
template <class Function>
void with_rules(const Device& device, Function&& f) {
  device::with_shape<host_rules, device_rules>(device, std::forward<Function>(f));
}

inline std::int64_t tiles_of(std::int64_t count, std::int64_t per_tile) { return (count + per_tile - 1) / per_tile; }

}  // namespace quintet::snp
