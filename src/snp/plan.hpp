// The steps of one likelihood: which rule turns which values into which, and the tables that the kernels read.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/snp/data.hpp"
#include "quintet/snp/network.hpp"
#include "snp/layout.hpp"
#include "snp/rule_tile.hpp"

namespace quintet::snp {

/// The counts that a plan is made for: rows of (copies, red) for every leaf of the network.
struct count_table {
  std::int64_t rows = 0, leaves = 0;
  bool dominant = false;
  std::vector<std::int16_t> copies, red;  ///< [rows, leaves]
};

struct plan_value {
  std::int64_t entries = 0;
  std::int32_t patterns = 0, padded = 0;  ///< distinct rows of the counts below the group; in whole lines
  std::vector<std::int64_t> branches;     ///< open branches of the group, -1: the population above the root
  std::vector<std::int64_t> prefix;       ///< one branch alone: entries with at most n lineages, n = 0 ... most
};

enum class step_kind { apply, remap, join, merge, split };

/// Places in the plan's tables count from their beginnings; -1: none.
struct plan_step {
  step_kind kind;
  std::int32_t in = -1, in2 = -1, out = -1;  ///< values
  std::int64_t branch = -1;                  ///< apply: the branch; split: parent branch y
  std::int32_t most = 0, most1 = 0, most2 = 0;
  std::int64_t families = -1, tiles = -1, tile_count = 0;
  // join
  std::int64_t left = -1, right = -1, left_tiles = -1, right_tiles = -1, left_tile_count = 0, right_tile_count = 0;
  std::int32_t left_families = 0, right_families = 0;
  std::int32_t left_scale = -1, right_scale = -1;        ///< steps whose exponents the sides inherit
  std::int64_t left_scale_of = -1, right_scale_of = -1;  ///< maps of patterns for them
  // apply on one branch alone with many lineages: see flow_kernel.hpp
  bool is_flow = false;
  std::int32_t dense = 0;           ///< lineages with which its dense part may begin
  std::int64_t flow_families = -1;  ///< the axis above the branch, twice
  // remap
  std::int64_t entry_of = -1, pattern_of = -1, begins = -1, members = -1;
  double operations = 0;  ///< multiply-adds of one evaluation
};

/// A value that the data determine: the state at the bottom of a leaf's branch.
struct leaf_value {
  std::int32_t value;
  std::vector<double> content;  ///< [entries, padded]
};

struct plan {
  std::vector<plan_value> values;
  std::vector<plan_step> steps;
  std::vector<leaf_value> leaves;
  std::vector<std::int32_t> tables;
  std::vector<rule_tile> tiles;
  std::int32_t root_value = -1, root_scale = -1;
  layout root_layout;
  std::vector<std::int32_t> root_pattern_of_row;  ///< pattern of the root's value for every row of the counts
  std::vector<std::int32_t> most_of_branch;       ///< lineages
  std::int64_t largest_entries = 0;
  double byte_limit = 0;  ///< of all values together
};

/// Branches with at most so many lineages, and those in groups, have their exponential as a dense matrix.
constexpr std::int32_t dense_limit = 24;
/// A matrix costs the same for any number of patterns, stages cost so much a pattern: for up to few_patterns it is
/// cheaper to go on with stages until dense_limit_few lineages are left (measured).
constexpr std::int32_t few_patterns = 128, dense_limit_few = 16;

/// What making a plan needs to know about room.
struct plan_limits {
  double bytes = 0;  ///< of all values together, at most
};

/// Throws InvalidArgument that names the reticulations when a value gets larger than the limits.
plan make_plan(const Network& network, const count_table& counts, const plan_limits& limits);

}  // namespace quintet::snp
