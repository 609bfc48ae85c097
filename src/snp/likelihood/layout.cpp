#include "snp/likelihood/layout.hpp"

#include <algorithm>
#include <map>

namespace quintet::snp {

layout::layout(std::vector<std::int64_t> axes, const std::map<lineage_counts, std::int64_t>& blocks)
    : axes_(std::move(axes)), blocks_(blocks) {
  for (auto& [counts, base] : blocks_) {
    base = entries_;
    entries_ += block_entries(counts);
  }
}

std::int64_t layout::find(const lineage_counts& counts) const {
  const auto it = blocks_.find(counts);
  return it == blocks_.end() ? -1 : it->second;
}

std::int32_t layout::max(std::size_t axis) const {
  std::int32_t max = 0;
  for (const auto& [counts, base] : blocks_) max = std::max(max, counts[axis]);
  return max;
}

std::size_t layout::axis_of(std::int64_t branch) const {
  return std::size_t(std::find(axes_.begin(), axes_.end(), branch) - axes_.begin());
}

std::int64_t block_entries(const lineage_counts& counts) {
  std::int64_t entries = 1;
  for (const std::int32_t n : counts) entries *= n + 1;
  return entries;
}

std::map<lineage_counts, std::int64_t> kept_cells::blocks() const {
  std::map<lineage_counts, std::int64_t> result;
  lineage_counts counts(max.size(), 0);
  for (const bool has_states : is_kept) {
    if (has_states) result.emplace_hint(result.end(), counts, 0);
    for (std::size_t k = max.size(); k-- > 0;) {
      if (++counts[k] <= max[k]) break;
      counts[k] = 0;
    }
  }
  return result;
}

}  // namespace quintet::snp
