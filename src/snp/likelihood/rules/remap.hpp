// Between the rules: axes change places, and a group gets the patterns of a larger one. No arithmetic.
#pragma once

#include <vector>

#include "snp/likelihood/rules/rule.hpp"

namespace quintet::snp {

struct adjoint_context;
struct group;
class plan_builder;
struct preorder_context;
class partials_store;

struct remap_rule : rule_base {
  std::int64_t entry_of = -1, pattern_of = -1;  ///< maps from the result to the input; -1: the same
  std::int64_t begins = -1, members = -1;       ///< patterns of the result by pattern of the input

  /// The group with the axes in another order and, if `expand`, other patterns; the group itself where nothing changes.
  static group encode(plan_builder& builder, const group& g, const std::vector<std::int64_t>& axes,
                      const std::vector<std::int32_t>& pattern_of, bool expand);
  void forward(partials_store& values) const;
  void adjoint(adjoint_context& pass) const;
  void preorder(preorder_context& pass) const;
};

}  // namespace quintet::snp
