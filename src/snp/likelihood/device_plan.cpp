#include "snp/likelihood/device_plan.hpp"

#include <algorithm>
#include <variant>

#include "snp/likelihood/rates.hpp"

namespace quintet::snp {

device_plan::device_plan(plan steps, const Device& on)
    : host(std::move(steps)), device(on), tables(host.tables, on), tiles(host.tiles, on), down(host, on, tiles.data()) {
  std::int32_t max = 0;
  for (const rule& any_rule : host.rules)
    if (const auto* split = std::get_if<split_rule>(&any_rule)) max = std::max(max, split->max);
  binomial_stride = max + 1;
  binomials = Buffer<double>(binomial_table(max), device);
  leaf_of_partial.assign(host.partials.size(), -1);
  for (std::size_t i = 0; i < host.leaves.size(); ++i) {
    leaf_of_partial[std::size_t(host.leaves[i].out)] = std::int32_t(i);
    leaves.emplace_back(host.leaves[i].content, device);
  }
}

}  // namespace quintet::snp
