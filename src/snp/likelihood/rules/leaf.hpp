// Rule 0: the bottom of a leaf's branch (Rabier et al. 2021, Rule 0). F(n, r) = 1 for the n copies and r red ones that
// were counted. Dominant markers (Bryant et al. 2012): of N = n / 2 individuals R show the band, so r = R ... 2R copies
// are red, F(n, r) = C(N, R) C(R, r - R) 2^(2R - r) / C(n, r).
#pragma once

#include <span>
#include <vector>

#include "snp/likelihood/rules/rule.hpp"

namespace quintet::snp {

struct group;
class plan_builder;

struct leaf_counts {
  std::int32_t copies, red;
};

/// A partial likelihood that the data determine.
struct leaf_rule {
  std::int32_t out = -1;
  std::vector<double> content;  ///< [entries][padded patterns]
  /// By pattern, where the plan is of many lineages: the content is multiplied by 2^exponent. Otherwise empty.
  std::vector<std::int32_t> exponents{};

  /// The group at the bottom of `branch`; one count for every row of the data. Patterns are made of the rows of `part`
  /// alone, unless it is empty; states are those of all.
  static group encode(plan_builder& builder, std::int64_t branch, std::span<const leaf_counts> rows, bool dominant,
                      std::span<const std::int64_t> part = {});
};

}  // namespace quintet::snp
