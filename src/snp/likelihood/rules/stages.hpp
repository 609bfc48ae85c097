// A branch with many lineages: exp(A t) F by uniformisation in stages, without a matrix.
//
// While lineages coalesce, fewer and fewer of them occur with more than a negligible probability, whatever the data: a
// bound on Pr(n lineages) is carried along, and once Pr(more than n) is below negligible_lineages, states with more are
// dropped. A stage is so long that the fastest state has about stage_shift events; the next one begins with fewer
// lineages and is longer. What remains when few enough are left is done with a dense matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "snp/likelihood/rules/exponential_job.hpp"

namespace quintet::snp {

/// States whose lineages occur with a smaller probability are dropped; so the error of a site's likelihood is at most
/// this for every branch, times the largest Pr(data | lineages).
constexpr double negligible_lineages = 1e-40;
constexpr double stage_shift = 48;

/// What can be on one branch: at most `limit` lineages; bound[n] >= Pr(n lineages) for every pattern, n = 0 ... limit.
struct lineage_bound {
  std::int32_t limit = 0;
  std::vector<double> bound;
};

/// Lineages for certain: `prefix` as in partial_shape.
lineage_bound certain(const std::vector<std::int64_t>& prefix);

/// From `from` lineages or fewer to `to` or fewer.
struct stage {
  std::int32_t from, to, terms;
  double length, shift, decay;  ///< h, s h and e^(-s h)
};

struct stage_plan {
  std::vector<stage> stages;
  double remaining = 0;     ///< length of the dense part
  std::int32_t middle = 0;  ///< lineages with which it begins
  lineage_bound top;

  bool has_dense_part() const { return remaining > 0 || stages.empty(); }
};

/// Throws InvalidArgument when the stages of a branch would be too many: mutation that is fast compared with
/// coalescence makes stages short. `max`: lineages at its bottom. Called before anything is computed.
void check_stages(std::int32_t max, double length, double theta, double u, double v);

/// Throws InvalidArgument when mutation takes the numbers of a scaled plan out of the range that one exponent a pattern
/// gives them. `mutations`: expected ones of all lineages, summed over the branches with stages.
void check_mutations(double mutations);
/// Of one branch.
double mutations_on_branch(std::int32_t max, double length, double theta, double u, double v);

/// Stages until at most `dense` lineages are left, then a dense part.
stage_plan plan_stages(const lineage_bound& bottom, double length, double theta, double u, double v,
                       std::int32_t dense);

/// Lineages of two branches together.
lineage_bound join_bounds(const lineage_bound& left, const lineage_bound& right);

/// Whether patterns go up in stages one by one: a line of them costs as much as three, padding included (measured).
inline bool are_single(std::int32_t patterns) { return patterns <= 3; }

/// Which coefficients lie side by side: those of one state, or those of all states with one neighbour.
enum class coefficient_order { by_state, by_neighbour };
/// Coefficients of (A + s I) h, or of its transpose, by state with at most stage.from lineages: [state][5] or
/// [5][state], for the state itself and its neighbours as stage_kernel.hpp orders them.
std::vector<double> stage_coefficients(const stage& stage, double theta, double u, double v, bool transposed,
                                       coefficient_order order = coefficient_order::by_state);

}  // namespace quintet::snp
