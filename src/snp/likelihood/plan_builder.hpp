// A plan while it grows: what the rules' encode() write into.
#pragma once

#include <functional>
#include <string>

#include "snp/likelihood/plan.hpp"

namespace quintet::snp {

/// A group while the plan grows: its partial likelihood, its states, and the pattern of every row of the counts.
struct group {
  std::int32_t partial = -1;
  layout states;
  std::vector<std::int32_t> pattern_of_row;
  std::int32_t scale = -1;  ///< partial likelihood whose exponents it has
};

class plan_builder {
 public:
  /// `responsible` says what makes a group of branches so large.
  using reason = std::function<std::string(const std::vector<std::int64_t>& axes)>;
  /// `whole`: the plan of all rows where this one is of a part of them. What it chose by the number of patterns is
  /// taken over, so that likelihoods have the same bits in any part.
  plan_builder(const plan_limits& limits, reason responsible, const plan* whole = nullptr);

  /// Lineages with which the dense part of the next branch's rule may begin: `chosen`, or what the whole plan has.
  std::int32_t dense_of_next_branch(std::int32_t chosen);
  /// Whether the next input of a join is mapped to the join's patterns: `needed`, or as in the whole plan, so that all
  /// parts have the same rules.
  bool expands_next_input(bool needed);

  /// Throws InvalidArgument when all partial likelihoods together exceed the limit even for one line of patterns.
  std::int32_t add_partial(const layout& states, std::int32_t patterns);
  const partial_shape& shape(std::int32_t partial) const { return plan_.partials[std::size_t(partial)]; }
  std::int64_t add_table(const std::vector<std::int32_t>& table);
  /// Tiles of families with columns[f] columns, patterns included.
  tile_slice add_tiles(const std::vector<std::int64_t>& columns);
  void add(rule any_rule);
  void add(leaf_rule leaf) { plan_.leaves.push_back(std::move(leaf)); }

  plan& result() { return plan_; }

 private:
  void check_size(const layout& states);

  plan plan_;
  bool is_part_;
  reason responsible_;
  std::vector<std::int32_t> dense_of_branch_;  // of the whole plan, in the order of its rules with stages
  std::size_t branches_ = 0;
  std::vector<bool> expands_;  // of the whole plan, by input of a join
  std::size_t inputs_ = 0;
  double bytes_ = 0;
};

///@{
/// Lineage counts without some of the axes, and with others before them.
lineage_counts without(const lineage_counts& counts, std::size_t first, std::size_t number);
lineage_counts with_first(std::initializer_list<std::int32_t> first, const lineage_counts& rest);
///@}
/// The families of a layout with the first `number` axes taken out, numbered in ascending order.
std::map<lineage_counts, std::int32_t> families_behind(const layout& states, std::size_t number);
/// The axes of a layout with some of them first.
std::vector<std::int64_t> axes_with_first(const layout& states, std::initializer_list<std::int64_t> first);

}  // namespace quintet::snp
