// Rule 2: two groups meet at a node (Rabier et al. 2021, Rule 2; Bryant et al. 2012, eq. 5). In the library's
// coordinates a plain convolution of the two child branches,
//   F(x, others) = sum over n1 + n2 = n, r1 + r2 = r of G((n1, r1), others of G) H((n2, r2), others of H).
// Results that get small are multiplied by powers of two, pattern by pattern.
#pragma once

#include <vector>

#include "snp/likelihood/rules/rule.hpp"

namespace quintet::snp {

struct adjoint_context;
struct group;
struct kept_cells;
class plan_builder;
struct preorder_context;
class partials_store;

/// A family of one side is one choice of the lineages on its other axes.
template <class Number>
struct side_record {
  Number* at;

  static std::int32_t size(std::int32_t max) { return max + 2; }
  Number& columns() const { return at[0]; }  ///< behind the axis, without patterns
  Number* first() const { return at + 1; }   ///< first entry of the block with n = 0 ... max lineages, -1: none
};

/// A family (i, j) of the result has number i * families of the right side + j: first entry of the block with n = 0 ...
/// most lineages, -1: none.
struct join_record {
  static std::int32_t size(std::int32_t max) { return max + 1; }
};

struct join_side_rule {
  std::int32_t in = -1;
  std::int32_t max = 0, family_count = 0;
  std::int64_t families = -1;
  tile_slice tiles;            ///< of the side alone, for its adjoint
  std::int32_t scale = -1;     ///< partial likelihood whose exponents the side has
  std::int64_t scale_of = -1;  ///< map of patterns for them

  std::vector<std::int64_t> columns(const std::vector<std::int32_t>& tables) const;
};

struct join_rule : rule_base {
  join_side_rule left, right;  ///< left.in is in
  std::int64_t families = -1;
  std::int32_t max = 0;

  /// The group of branch `above` (-1: above the root) made of a in g and b in h. `cells`: only these lineage numbers;
  /// null: all.
  static group encode(plan_builder& builder, const group& g, std::int64_t a, const group& h, std::int64_t b,
                      std::int64_t above, const kept_cells* cells = nullptr);
  void forward(partials_store& values) const;
  void adjoint(adjoint_context& pass) const;
  void preorder(preorder_context& pass) const;

 private:
  void scale(partials_store& values) const;
};

}  // namespace quintet::snp
