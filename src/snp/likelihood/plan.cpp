#include "snp/likelihood/plan.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "snp/likelihood/plan_builder.hpp"
#include "snp/likelihood/schedule.hpp"

namespace quintet::snp {

namespace {

// The nodes in the order of the schedule, each with its rule and Rule 1 on the branches above it.
class planner {
 public:
  planner(const Network& network, const count_table& counts, const plan_limits& limits, const lineage_cut* cut,
          const plan* whole)
      : network_(network),
        counts_(counts),
        cut_(cut),
        builder_(
            limits, [this](const auto& axes) { return reticulations_below(network_, axes); }, whole),
        group_of_branch_(std::size_t(network.branches()), -1) {
    const std::vector<std::int64_t> max = most_copies(counts);
    const auto below = copies_below_branches(network, max);
    builder_.result().max_of_branch.assign(below.begin(), below.end());
    std::int64_t all = 0;
    for (const std::int64_t m : max) all += m;
    require_argument(all <= max_lineages, "gene copies of all species", all, text("<= ", max_lineages));
    builder_.result().is_cut = cut != nullptr;
    builder_.result().is_scaled = (cut != nullptr ? cut->max_lineages : all) > max_unscaled_lineages;
    schedule_ = best_schedule(network, max);
  }

  plan run() {
    for (const std::int64_t node : schedule_) {
      switch (network_.kind(node)) {
        case node_kind::leaf:
          leaf(node);
          break;
        case node_kind::reticulation:
          reticulation(node);
          break;
        case node_kind::tree:
        case node_kind::root:
          tree_node(node);
          break;
      }
    }
    return std::move(builder_.result());
  }

 private:
  void leaf(std::int64_t node) {
    const auto leaves = network_.leaves();
    const std::size_t leaf = std::size_t(std::find(leaves.begin(), leaves.end(), node) - leaves.begin());
    std::vector<leaf_counts> rows;
    for (std::size_t row = 0; row < std::size_t(counts_.rows); ++row) {
      const std::size_t place = row * std::size_t(counts_.leaves) + leaf;
      rows.push_back({counts_.copies[place], counts_.red[place]});
    }
    group result = leaf_rule::encode(builder_, network_.parent_branches(node)[0], rows, counts_.dominant, counts_.part);
    branch_rule::encode(builder_, result, 0, next_kept());
    take(std::move(result));
  }

  void reticulation(std::int64_t node) {
    const std::int64_t child = network_.child_branches(node)[0];
    const layout& top = group_with(child).states;
    const std::int64_t most = top.max(top.axis_of(child));
    const std::string name = network_.name(node).empty() ? text("node ", node) : network_.name(node);
    require_argument(most <= max_unscaled_lineages, text("lineages below reticulation ", name), most,
                     text("<= ", max_unscaled_lineages, ", as a reticulation has their binomials"));
    const auto parents = network_.parent_branches(node);
    group result = split_rule::encode(builder_, group_with(child), child, parents[0], parents[1], next_kept());
    for (const std::size_t axis : {std::size_t{0}, std::size_t{1}})
      branch_rule::encode(builder_, result, axis, next_kept());
    take(std::move(result));
  }

  void tree_node(std::int64_t node) {
    const auto children = network_.child_branches(node);
    const auto parents = network_.parent_branches(node);
    const std::int64_t a = children[0], b = children[1], above = parents.empty() ? -1 : parents[0];
    const bool is_one_group = group_of_branch_[std::size_t(a)] == group_of_branch_[std::size_t(b)];
    const kept_cells* cells = next_kept();
    group root_group = is_one_group ? merge_rule::encode(builder_, group_with(a), a, b, above, cells)
                                    : join_rule::encode(builder_, group_with(a), a, group_with(b), b, above, cells);
    if (above >= 0) {
      branch_rule::encode(builder_, root_group, 0, next_kept());
      return take(std::move(root_group));
    }
    plan& result = builder_.result();
    result.root = root_group.partial;
    result.root_scale = root_group.scale;
    result.root_layout = root_group.states;
    result.root_pattern_of_row = root_group.pattern_of_row;
  }

  void take(group&& result) {
    for (const std::int64_t branch : result.states.axes())
      if (branch >= 0) group_of_branch_[std::size_t(branch)] = std::int32_t(groups_.size());
    groups_.push_back(std::move(result));
  }

  const group& group_with(std::int64_t branch) const {
    return groups_[std::size_t(group_of_branch_[std::size_t(branch)])];
  }

  // The lineage numbers of the next rule that are kept; null: all.
  const kept_cells* next_kept() { return cut_ != nullptr ? &cut_->steps.at(next_step_++) : nullptr; }

  const Network& network_;
  const count_table& counts_;
  const lineage_cut* cut_;
  std::size_t next_step_ = 0;
  plan_builder builder_;
  std::vector<std::int64_t> schedule_;
  std::vector<std::int32_t> group_of_branch_;
  std::vector<group> groups_;
};

}  // namespace

std::vector<std::int64_t> most_copies(const count_table& counts) {
  std::vector<std::int64_t> most(std::size_t(counts.leaves), 0);
  for (std::size_t i = 0; i < counts.copies.size(); ++i)
    most[i % most.size()] = std::max<std::int64_t>(most[i % most.size()], counts.copies[i]);
  return most;
}

leaf_copies copies_that_occur(const count_table& counts) {
  std::vector<std::set<std::int32_t>> occur(std::size_t(counts.leaves));
  for (std::size_t i = 0; i < counts.copies.size(); ++i) occur[i % occur.size()].insert(counts.copies[i]);
  leaf_copies result;
  for (const auto& of_leaf : occur) result.emplace_back(of_leaf.begin(), of_leaf.end());
  return result;
}

std::vector<plan_block> make_plan(const Network& network, const count_table& counts, const plan_limits& limits,
                                  const lineage_cut* cut) {
  count_table all = counts;
  all.part.clear();
  std::vector<std::int64_t> rows = counts.part;
  plan whole = planner(network, all, limits, cut, nullptr).run();
  whole.is_whole_within_limit = bytes_of(whole).total() <= limits.bytes;
  if (rows.empty() && whole.is_whole_within_limit) return {{std::move(whole), 0, counts.rows}};
  for (std::int64_t row = 0; counts.part.empty() && row < counts.rows; ++row) rows.push_back(row);
  const std::int64_t count = std::int64_t(rows.size()), max_blocks = (count + line - 1) / line;
  const double min_blocks = bytes_of(whole).total() * double(count) / double(counts.rows) / limits.bytes;
  for (std::int64_t blocks = std::int64_t(std::clamp(min_blocks, 1.0, double(max_blocks)));;
       blocks = std::min(max_blocks, blocks + (blocks + 1) / 2)) {
    std::vector<plan_block> result;
    double bytes = 0;
    for (std::int64_t b = 0; b < blocks && bytes <= limits.bytes; ++b) {
      // Whole lines of rows; the last block may have fewer.
      const std::int64_t first = std::min(count, b * max_blocks / blocks * line);
      const std::int64_t end = std::min(count, (b + 1) * max_blocks / blocks * line);
      all.part.assign(rows.begin() + first, rows.begin() + end);
      result.push_back({planner(network, all, limits, cut, &whole).run(), first, end - first});
      bytes = bytes_of(result.back().steps).total();
    }
    if (bytes <= limits.bytes) return result;
    if (blocks < max_blocks) continue;
    const evaluation_bytes of = bytes_of(result.back().steps);
    throw InvalidArgument(text("an evaluation of ", line, " patterns takes ", std::ceil(of.values / 1e6),
                               " MB for the states of groups of branches, ", std::ceil(of.matrices / 1e6),
                               " MB for the matrices of branches and ", std::ceil(of.work / 1e6),
                               " MB besides, more than the limit of ", std::floor(limits.bytes / 1e6), " MB"));
  }
}

}  // namespace quintet::snp
