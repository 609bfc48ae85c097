// How likelihoods look from the root: what the pre-order pass, from the root to any partial likelihood, needs to know
// besides the plan.
//
// Every partial likelihood is consumed by one rule, so the rules form a tree whose root is that at the root of the
// network. For one of them, v, the likelihood of a root's pattern p is linear, L[p] = sum over entries e of
// W_v[e][p] v[e][q(p)], with q(p) the pattern of v below p. W_v, the *pre-order partial* of v (on trees: Ji et al.
// 2020), depends on nothing below v.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/device/buffer.hpp"
#include "snp/likelihood/plan.hpp"

namespace quintet::snp {

struct preorder_plan {
  /// `tables` and `tiles` are those of the plan on the device.
  preorder_plan(const plan& steps, const Device& device, const rule_tile* tiles);

  std::int32_t patterns = 0;            ///< of the root, padded
  std::int32_t patterns_of_all = 0;     ///< the same of all processes that share the likelihood
  std::vector<std::int32_t> producer;   ///< by partial likelihood: rule, -1: a leaf
  std::vector<std::int32_t> consumer;   ///< by partial likelihood: rule, -1: the root
  std::vector<std::int32_t> scaled_by;  ///< by partial likelihood: that of the join whose exponents it has, -1: none
  /// By partial likelihood: its pattern for every pattern of the root, null: the same.
  std::vector<const std::int32_t*> pattern_of;
  std::vector<tile_range> tiles, right_tiles;       ///< by rule; right: of a join's second input
  std::vector<double> forward_cost, backward_cost;  ///< by rule: about as many multiply-adds, for all
  double bytes = 0;                                 ///< of all pre-order partials, for all patterns

 private:
  void connect(const plan& steps);
  void map_patterns(const plan& steps, const Device& device);
  void widen(const plan& steps, const Device& device, const rule_tile* tiles);

  std::vector<Buffer<std::int32_t>> maps_;
  Buffer<rule_tile> wide_;
};

}  // namespace quintet::snp
