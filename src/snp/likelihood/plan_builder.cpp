#include "snp/likelihood/plan_builder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <variant>

namespace quintet::snp {

plan_builder::plan_builder(const plan_limits& limits, reason responsible, const plan* whole)
    : is_part_(whole != nullptr), responsible_(std::move(responsible)) {
  plan_.byte_limit = limits.bytes;
  if (whole == nullptr) return;
  plan_.operations_of_all = whole->operations_of_all;
  plan_.padded_of_all = whole->padded_of_all;
  plan_.is_whole_within_limit = whole->is_whole_within_limit;
  std::vector<bool> is_expanded(whole->partials.size(), false);
  for (const rule& any_rule : whole->rules) {
    if (const auto* remap = std::get_if<remap_rule>(&any_rule))
      is_expanded[std::size_t(remap->out)] = remap->pattern_of >= 0;
    if (const auto* branch = std::get_if<branch_rule>(&any_rule); branch != nullptr && branch->has_stages)
      dense_of_branch_.push_back(branch->dense);
    if (const auto* join = std::get_if<join_rule>(&any_rule))
      for (const std::int32_t in : {join->in, join->right.in}) expands_.push_back(is_expanded[std::size_t(in)]);
  }
}

std::int32_t plan_builder::dense_of_next_branch(std::int32_t chosen) {
  return dense_of_branch_.empty() ? chosen : dense_of_branch_.at(branches_++);
}

bool plan_builder::expands_next_input(bool needed) { return expands_.empty() ? needed : expands_.at(inputs_++); }

std::int32_t plan_builder::add_partial(const layout& states, std::int32_t patterns) {
  const std::int32_t padded = (patterns + line - 1) / line * line;
  check_size(states);
  plan_.partials.push_back({states.entries(), patterns, padded, states.axes(), {}});
  if (!is_part_) plan_.padded_of_all.push_back(padded);
  if (states.axes().size() == 1)
    for (std::int32_t n = 0, next = 0; n <= states.max(0); ++n) {
      if (states.find({n}) >= 0) next += n + 1;
      plan_.partials.back().prefix.push_back(next);
    }
  plan_.max_entries = std::max(plan_.max_entries, states.entries());
  return std::int32_t(plan_.partials.size()) - 1;
}

// Patterns may follow each other in blocks, but a line of them is together.
void plan_builder::check_size(const layout& states) {
  const double bytes = double(states.entries()) * line * sizeof(double);
  bytes_ += bytes;
  if (bytes_ <= plan_.byte_limit && states.entries() <= std::numeric_limits<std::int32_t>::max()) return;
  throw InvalidArgument(text("the network needs a group of ", states.axes().size(), " open branches with ",
                             states.entries(), " states (", std::ceil(bytes / 1e6), " MB for ", line, " patterns, ",
                             std::ceil(bytes_ / 1e6), " MB with all groups before it), more than the limit of ",
                             std::floor(plan_.byte_limit / 1e6), " MB, because of ", responsible_(states.axes())));
}

void plan_builder::add(rule any_rule) {
  if (!is_part_) plan_.operations_of_all.push_back(base_of(any_rule).operations);
  plan_.rules.push_back(std::move(any_rule));
}

std::int64_t plan_builder::add_table(const std::vector<std::int32_t>& table) {
  const std::int64_t place = std::int64_t(plan_.tables.size());
  plan_.tables.insert(plan_.tables.end(), table.begin(), table.end());
  return place;
}

tile_slice plan_builder::add_tiles(const std::vector<std::int64_t>& columns) {
  const std::int64_t place = std::int64_t(plan_.tiles.size());
  for (std::size_t f = 0; f < columns.size(); ++f)
    for (std::int64_t chunk = 0; chunk * tile_columns < columns[f]; ++chunk)
      plan_.tiles.push_back({std::int32_t(f), std::int32_t(chunk)});
  return {place, std::int64_t(plan_.tiles.size()) - place};
}

lineage_counts without(const lineage_counts& counts, std::size_t first, std::size_t number) {
  lineage_counts rest = counts;
  rest.erase(rest.begin() + std::ptrdiff_t(first), rest.begin() + std::ptrdiff_t(first + number));
  return rest;
}

lineage_counts with_first(std::initializer_list<std::int32_t> first, const lineage_counts& rest) {
  lineage_counts counts(first);
  counts.insert(counts.end(), rest.begin(), rest.end());
  return counts;
}

std::map<lineage_counts, std::int32_t> families_behind(const layout& states, std::size_t number) {
  std::map<lineage_counts, std::int32_t> families;
  for (const auto& [counts, base] : states.blocks()) families.emplace(without(counts, 0, number), 0);
  std::int32_t next = 0;
  for (auto& [rest, family] : families) family = next++;
  return families;
}

std::vector<std::int64_t> axes_with_first(const layout& states, std::initializer_list<std::int64_t> first) {
  std::vector<std::int64_t> axes(first);
  for (const std::int64_t branch : states.axes())
    if (std::find(first.begin(), first.end(), branch) == first.end()) axes.push_back(branch);
  return axes;
}

}  // namespace quintet::snp
