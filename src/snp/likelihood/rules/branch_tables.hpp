// What branch.cpp and branch_adjoint.cpp hand to the kernels.
#pragma once

#include "snp/likelihood/rules/branch_kernel.hpp"
#include "snp/likelihood/tape.hpp"

namespace quintet::snp {

inline branch_tables tables_of(const branch_rule& rule, const tape& values, const rule_tile* tiles,
                               std::int32_t patterns, tape::version which = tape::version::current) {
  return {tiles,
          values.table(rule.families),
          rule.max,
          patterns,
          values.limit(rule.in, rule.max, which),
          values.limit(rule.out, rule.max, which)};
}

///@{
/// Of a branch with stages: first entries by n below it, and between stages and above it.
inline const std::int32_t* blocks_below(const branch_rule& rule, const tape& values) {
  return branch_family{values.table(rule.families), rule.max}.below();
}
inline const std::int32_t* blocks_between(const branch_rule& rule, const tape& values) {
  return branch_family{values.table(rule.stage_families), rule.max}.below();
}
///@}

/// The adjoint of the stages, from the last one down to `below`, for any number of patterns.
void adjoint_of_stages(const branch_rule& rule, const tape& values, const stage_plan& plan, std::int32_t patterns,
                       std::int32_t used, const double* from, double* below, const parameters& at);

}  // namespace quintet::snp
