// Plain numbers behind the kernels: how a branch's exponential is computed, the weights of the root and of
// reticulations.
#pragma once

#include <utility>
#include <vector>

#include "snp/likelihood/layout.hpp"
#include "snp/likelihood/rules/exponential_job.hpp"

namespace quintet::snp {

/// How exp(A t) of a branch is computed: everything of the job but its memory.
exponential_job exponential_of(std::int32_t max, double length, double theta, double u, double v);

/// Pr(r of n lineages are red at the root) / C(n, r) for every entry of a layout with one axis: beta-binomial with
/// a1 = theta v, a0 = theta u (the stationary Moran process with pair rate 2 / theta), and its derivatives by a1 and
/// a0.
struct root_weights {
  std::vector<double> value, by_a1, by_a0;
};
root_weights root_weights_of(const layout& states, double a1, double a0);

/// The same weights for any number of lineages: weight = value * 2^exponent.
struct scaled_root_weights {
  std::vector<double> value;  ///< in [1/2, 1)
  std::vector<std::int32_t> exponent;
};
scaled_root_weights scaled_root_weights_of(const layout& states, double a1, double a0);

/// theta v and theta u, or where they are no numbers or nothing their limits of the same ratio.
std::pair<double, double> scaled_rates(double theta, double v, double u);

/// C(ny + nz, ny) g^ny (1 - g)^nz for ny, nz = 0 ... max, [ny * (max + 1) + nz], 0 where ny + nz > max; or the
/// derivatives by g.
std::vector<double> inheritance_shares(std::int32_t max, double gamma, bool derivative);

/// C(n, k), [n * (max + 1) + k].
std::vector<double> binomial_table(std::int32_t max);

}  // namespace quintet::snp
