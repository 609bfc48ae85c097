// The rules of one likelihood: which turns which partial likelihoods into which, and the tables that the kernels read.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "quintet/snp/markers/data.hpp"
#include "quintet/snp/network/network.hpp"
#include "snp/likelihood/layout.hpp"
#include "snp/likelihood/lineage_masses.hpp"
#include "snp/likelihood/rules/branch.hpp"
#include "snp/likelihood/rules/join.hpp"
#include "snp/likelihood/rules/leaf.hpp"
#include "snp/likelihood/rules/merge.hpp"
#include "snp/likelihood/rules/remap.hpp"
#include "snp/likelihood/rules/split.hpp"

namespace quintet::snp {

/// The counts that a plan is made for: rows of (copies, red) for every leaf of the network.
struct count_table {
  std::int64_t rows = 0, leaves = 0;
  bool dominant = false;
  std::vector<std::int16_t> copies, red;  ///< [rows, leaves]
  /// Rows whose likelihoods this process computes, at least one: the states are those of all rows, the patterns those
  /// of these. Empty: all.
  std::vector<std::int64_t> part{};
};

/// The partial likelihood of one group.
struct partial_shape {
  std::int64_t entries = 0;
  std::int32_t patterns = 0, padded = 0;  ///< distinct rows of the counts below the group; in whole lines
  std::vector<std::int64_t> branches;     ///< open branches of the group, -1: the population above the root
  std::vector<std::int64_t> prefix;       ///< one branch alone: entries with at most n lineages, n = 0 ... max

  bool is_single() const { return branches.size() == 1; }
};

using rule = std::variant<branch_rule, remap_rule, join_rule, merge_rule, split_rule>;

inline const rule_base& base_of(const rule& any_rule) {
  return std::visit([](const auto& concrete) -> const rule_base& { return concrete; }, any_rule);
}
/// The other input of a join, -1: none.
inline std::int32_t second_input(const rule& any_rule) {
  const auto* join = std::get_if<join_rule>(&any_rule);
  return join != nullptr ? join->right.in : -1;
}

struct plan {
  std::vector<partial_shape> partials;
  std::vector<rule> rules;
  std::vector<leaf_rule> leaves;
  std::vector<std::int32_t> tables;
  std::vector<rule_tile> tiles;
  std::int32_t root = -1, root_scale = -1;  ///< partial likelihoods: at the root, and whose exponents it has
  layout root_layout;
  std::vector<std::int32_t> root_pattern_of_row;  ///< pattern of the root for every row that is computed
  std::vector<std::int32_t> max_of_branch;        ///< lineages
  std::int64_t max_entries = 0;
  /// More lineages than doubles have binomials for: leaves and branches with stages have exponents too, every partial
  /// likelihood of one branch has its largest number near 2^many_lineages.target, and there are no derivatives.
  bool is_scaled = false;
  bool is_cut = false;    ///< lineage numbers without mass have no states (lineage_masses.hpp)
  double byte_limit = 0;  ///< of one evaluation
  ///@{
  /// What decisions go by, so that they do not depend on which part of the rows this is the plan of: numbers of the
  /// plan of all rows, and whether that is within the limit.
  std::vector<double> operations_of_all{};    ///< by rule
  std::vector<std::int32_t> padded_of_all{};  ///< by partial likelihood: patterns
  bool is_whole_within_limit = true;
  ///@}
};

///@{
/// Gene copies of all species: at most; and so many that plans are not scaled. C(1000, 500) = 2.7e299. With more than
/// max_lineages one exponent a pattern is not enough (docs/design/numerics.md).
constexpr std::int64_t max_lineages = 8000, max_unscaled_lineages = 1000;
///@}

/// What making a plan needs to know about room.
struct plan_limits {
  double bytes = 0;  ///< of one evaluation, at most
};

/// What one evaluation holds.
struct evaluation_bytes {
  double values = 0;    ///< partial likelihoods
  double matrices = 0;  ///< of branches and reticulations
  double work = 0;      ///< what kernels need besides, the most at a time
  double total() const { return values + matrices + work; }
};
evaluation_bytes bytes_of(const plan& steps);

/// A plan for some rows of the counts (of count_table::part) that follow each other.
struct plan_block {
  plan steps;
  std::int64_t first = 0, rows = 0;
};

/// One block for all rows that are computed if an evaluation of it is within the limit, otherwise as many as make each
/// so: the same bits. Throws InvalidArgument when one line of patterns is too large, and names the reticulations or
/// what else it is.
/// `cut`: only these lineage numbers, chosen for the copies of all rows in the order of best_schedule(); null: all.
std::vector<plan_block> make_plan(const Network& network, const count_table& counts, const plan_limits& limits,
                                  const lineage_cut* cut = nullptr);

/// The most copies of each leaf in all rows, and the numbers of copies that occur.
std::vector<std::int64_t> most_copies(const count_table& counts);
leaf_copies copies_that_occur(const count_table& counts);

}  // namespace quintet::snp
