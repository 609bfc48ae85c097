// What branch.cpp and branch_adjoint.cpp hand to the kernels.
#pragma once

#include "snp/likelihood/partials_store.hpp"
#include "snp/likelihood/rules/branch_kernel.hpp"

namespace quintet::snp {

inline branch_tables tables_of(const branch_rule& rule, const partials_store& values, const rule_tile* tiles,
                               std::int32_t patterns,
                               partials_store::version edition = partials_store::version::current) {
  return {tiles,
          values.table(rule.families),
          rule.max,
          patterns,
          values.limit(rule.in, rule.max, edition),
          values.limit(rule.out, rule.max, edition)};
}

///@{
/// Of a branch with stages: first entries by n below it, between stages, and above it.
inline const std::int32_t* blocks_below(const branch_rule& rule, const partials_store& values) {
  return branch_family{values.table(rule.families), rule.max}.below();
}
inline const std::int32_t* blocks_between(const branch_rule& rule, const partials_store& values) {
  return branch_family{values.table(rule.stage_families), rule.max}.below();
}
inline const std::int32_t* blocks_above(const branch_rule& rule, const partials_store& values) {
  return branch_family{values.table(rule.families), rule.max}.above();
}
///@}

/// The adjoint of the stages, from the last one down to `below`, for any number of patterns.
void adjoint_of_stages(const branch_rule& rule, const partials_store& values, const stage_plan& plan,
                       std::int32_t patterns, std::int32_t used, const double* from, double* below,
                       const parameters& at);

}  // namespace quintet::snp
