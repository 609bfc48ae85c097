// Which states a group of branches can be in, and where their entries lie.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace quintet::snp {

/// Lineages on every axis of a group.
using lineage_counts = std::vector<std::int32_t>;

/// The blocks of a value: one for every (n1, ..., nK) that can occur, in ascending order, each with (n1 + 1) ... (nK +
/// 1) entries.
class layout {
 public:
  layout() = default;
  /// Axes are branches; -1 is the population above the root. `blocks` maps what can occur to anything.
  layout(std::vector<std::int64_t> axes, const std::map<lineage_counts, std::int64_t>& blocks);

  const std::vector<std::int64_t>& axes() const { return axes_; }
  /// First entry of every block.
  const std::map<lineage_counts, std::int64_t>& blocks() const { return blocks_; }
  std::int64_t entries() const { return entries_; }
  /// First entry of a block, -1 where there is none.
  std::int64_t find(const lineage_counts& counts) const;
  /// The most lineages on an axis.
  std::int32_t max(std::size_t axis) const;
  std::size_t axis_of(std::int64_t branch) const;

 private:
  std::vector<std::int64_t> axes_;
  std::map<lineage_counts, std::int64_t> blocks_;
  std::int64_t entries_ = 0;
};

/// Entries of a block.
std::int64_t block_entries(const lineage_counts& counts);

/// The lineage numbers of a group that are not dropped.
struct kept_cells {
  std::vector<std::int32_t> max;  ///< by axis
  std::vector<bool> is_kept;      ///< [n1][n2]..., n_i <= max[i]

  /// As blocks of a layout that has no entries yet.
  std::map<lineage_counts, std::int64_t> blocks() const;
};

}  // namespace quintet::snp
