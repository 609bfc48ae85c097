// A plan with its tables on the device; passes of all rate categories share it.
#pragma once

#include <vector>

#include "quintet/device/buffer.hpp"
#include "snp/likelihood/plan.hpp"
#include "snp/likelihood/preorder_plan.hpp"

namespace quintet::snp {

struct device_plan {
  device_plan(plan steps, const Device& device);
  plan host;
  Device device;
  Buffer<std::int32_t> tables;
  Buffer<rule_tile> tiles;
  Buffer<double> binomials;
  std::int32_t binomial_stride;
  std::vector<Buffer<double>> leaves;         ///< as host.leaves
  std::vector<std::int32_t> leaf_of_partial;  ///< -1: not a leaf's
  preorder_plan down;

  const std::int32_t* table(std::int64_t place) const { return place < 0 ? nullptr : tables.data() + place; }
  tile_range range(const tile_slice& slice) const { return {tiles.data() + slice.first, slice.count}; }
};

}  // namespace quintet::snp
