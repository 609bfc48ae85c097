// How likelihoods look from the root: what a pass down, from the root to any value, needs to know besides the plan.
//
// Every value is consumed by one step, so the steps form a tree whose root is the value at the root of the network. For
// one value v the likelihood of a root's pattern p is linear, L[p] = sum over entries e of W_v[e][p] v[e][q(p)], with
// q(p) the pattern of v below p. W_v, the *covector* of v (for trees known as pre-order partial likelihoods), depends
// on nothing below v.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/device/buffer.hpp"
#include "snp/plan.hpp"

namespace quintet::snp {

/// Tiles of a step when its columns are patterns of the root.
struct tile_range {
  const rule_tile* first = nullptr;
  std::int64_t count = 0;
};

struct descent_plan {
  /// `tables` and `tiles` are those of the plan on the device.
  descent_plan(const plan& steps, const Device& device, const rule_tile* tiles);

  std::int32_t patterns = 0;            ///< of the root, padded
  std::vector<std::int32_t> producer;   ///< by value: step, -1: a leaf
  std::vector<std::int32_t> consumer;   ///< by value: step, -1: the root
  std::vector<std::int32_t> scaled_by;  ///< by value: the join whose exponents it has, -1: none
  /// By value: its pattern for every pattern of the root, null: the same.
  std::vector<const std::int32_t*> pattern_of;
  std::vector<tile_range> tiles, right_tiles;       ///< by step; right: of a join's second input
  std::vector<double> forward_cost, backward_cost;  ///< by step: about as many multiply-adds
  double bytes = 0;                                 ///< of all covectors

 private:
  void connect(const plan& steps);
  void map_patterns(const plan& steps, const Device& device);
  void widen(const plan& steps, const Device& device, const rule_tile* tiles);

  std::vector<Buffer<std::int32_t>> maps_;
  Buffer<rule_tile> wide_;
};

}  // namespace quintet::snp
