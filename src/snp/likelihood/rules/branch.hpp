// Rule 1: up a branch. F(.., (n', r'), ..) = sum over (n, r) of P[(n', r'), (n, r)] F(.., (n, r), ..), P = exp(A t)
// (Rabier et al. 2021, Rule 1; Bryant et al. 2012, eq. 3).
//
// P is a dense matrix, made by exponential_kernel.hpp; a branch that is alone in its group and has many lineages goes
// up in stages, without a matrix (stages.hpp), as far as that is cheaper.
#pragma once

#include <vector>

#include "quintet/device/buffer.hpp"
#include "snp/likelihood/rules/rule.hpp"
#include "snp/likelihood/rules/stages.hpp"

namespace quintet::snp {

struct adjoint_context;
struct group;
struct parameters;
struct partial_shape;
struct kept_cells;
class plan_builder;
struct preorder_context;
class partials_store;

/// Branches with at most so many lineages, and those in groups, have their exponential as a dense matrix.
constexpr std::int32_t dense_limit = 24;
/// A matrix costs the same for any number of patterns, stages cost so much a pattern: for up to few_patterns it is
/// cheaper to go on with stages until dense_limit_few lineages are left (measured).
constexpr std::int32_t few_patterns = 128, dense_limit_few = 16;

/// The blocks of an axis: a family is one choice of the lineages on all other axes. Its record, of `const std::int32_t`
/// or of `std::int32_t` while it is written.
template <class Number>
struct branch_record {
  Number* at;
  std::int32_t max;

  static std::int32_t size(std::int32_t max) { return 2 * max + 4; }
  Number& outer() const { return at[0]; }         ///< rows before the axis
  Number& inner() const { return at[1]; }         ///< columns behind it, without patterns
  Number* below() const { return at + 2; }        ///< first entry of the block with n = 0 ... max lineages
  Number* above() const { return at + 3 + max; }  ///< the same above the branch; -1: no such block
};

struct branch_rule : rule_base {
  std::int64_t branch = -1;
  std::int32_t max = 0;
  std::int64_t families = -1;
  bool has_stages = false;
  std::int32_t dense = 0;            ///< lineages with which the dense part after the stages may begin
  std::int64_t stage_families = -1;  ///< as `families`, with the axis between stages instead of that below the branch
  std::int32_t scale = -1;           ///< of a scaled plan: partial likelihood whose exponents the input has

  /// The group at the top of the branch, in its place. `cells`: only these lineage numbers; null: all.
  static void encode(plan_builder& builder, group& g, std::size_t axis, const kept_cells* cells = nullptr);
  void forward(partials_store& values, const parameters& params, bool propose) const;
  void adjoint(adjoint_context& pass) const;
  void preorder(preorder_context& pass) const;
  /// Numbers that stages need besides the partial likelihoods below and above.
  std::int64_t stage_numbers(const partial_shape& out) const;
  /// Columns without patterns of every family, from the tables of the plan.
  std::vector<std::int64_t> columns(const std::vector<std::int32_t>& tables) const;

 private:
  void forward_stages(partials_store& values, const parameters& params, bool propose) const;
  std::int64_t stage_entries(const partials_store& values, std::int32_t lineages, bool is_last) const;
  void scale_stage(partials_store& values, std::int64_t entries, bool is_first, double* partial) const;
  void adjoint_stages(adjoint_context& pass) const;
  void adjoint_matrix(adjoint_context& pass, const std::int32_t* table, std::int32_t limit, const double* in,
                      double* below) const;
  void preorder_stages(preorder_context& pass) const;
  std::vector<Buffer<double>> stages_with_derivatives(const adjoint_context& pass, const stage_plan& stages) const;
  std::int32_t family_count_ = 0;
};

/// The exponentials of the branches in `dirty`. Branches of equal length and theta share: the one with the most
/// lineages is computed, the others are its leading blocks. What `donor` has, on the same device, is copied.
void update_matrices(partials_store& values, const parameters& params, const std::vector<bool>& dirty, bool propose,
                     const partials_store* donor = nullptr);

/// What the adjoints of all matrices say about lengths, thetas and rates; once, after adjoint() of all rules.
void finish_branches(adjoint_context& pass);

}  // namespace quintet::snp
