// Rule 3: a branch splits into the two parent branches y and z of a reticulation (Rabier et al. 2021, Rule 3). Every
// lineage goes up y with probability g, for itself:
//   F((ny, ry), (nz, rz), ..) = C(n, ny) g^ny (1 - g)^nz F((n, r), ..), n = ny + nz, r = ry + rz,
// here with the hypergeometric probability that ry of the r red lineages are among the ny.
#pragma once

#include "snp/likelihood/rules/pair.hpp"

namespace quintet::snp {

struct adjoint_context;
struct group;
struct kept_cells;
class plan_builder;
struct parameters;
struct preorder_context;
class partials_store;

struct split_rule : pair_rule {
  std::int64_t y = -1, z = -1;  ///< parent branches; gamma is that of y

  /// The group with y and z at their bottoms in place of `child`.
  /// `cells`: only these lineage numbers; null: all.
  static group encode(plan_builder& builder, const group& g, std::int64_t child, std::int64_t y, std::int64_t z,
                      const kept_cells* cells = nullptr);
  void forward(partials_store& values) const;
  void adjoint(adjoint_context& pass) const;
  void preorder(preorder_context& pass) const;
};

/// What the rule multiplies with, for the gamma of now.
void update_shares(const split_rule& rule, partials_store& values, const parameters& params, bool propose);

}  // namespace quintet::snp
