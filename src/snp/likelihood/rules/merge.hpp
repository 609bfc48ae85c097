// Rule 4: two branches of one group meet at a node (Rabier et al. 2021, Rule 4),
//   F((n, r), ..) = sum over n1 + n2 = n, r1 + r2 = r of F((n1, r1), (n2, r2), ..) in the library's coordinates.
#pragma once

#include "snp/likelihood/rules/pair.hpp"

namespace quintet::snp {

struct adjoint_context;
struct group;
struct kept_cells;
class plan_builder;
struct preorder_context;
class partials_store;

struct merge_rule : pair_rule {
  /// The group with `above` (-1: above the root) at its bottom in place of a and b. `cells`: only these lineage
  /// numbers; null: all.
  static group encode(plan_builder& builder, const group& g, std::int64_t a, std::int64_t b, std::int64_t above,
                      const kept_cells* cells = nullptr);
  void forward(partials_store& values) const;
  void adjoint(adjoint_context& pass) const;
  void preorder(preorder_context& pass) const;
};

}  // namespace quintet::snp
