// The population above the root, which is of one size and infinitely long (Bryant et al. 2012, eq. 7): L = sum of
// F(n, r) Pr(r of n lineages are red).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace quintet::snp {

struct adjoint_context;
struct parameters;
class partials_store;

/// The weights of now on the device.
void update_root_weights(partials_store& values, const parameters& params);
/// Likelihoods of the patterns and their exponents, from the partial likelihood at the root.
void evaluate_root(partials_store& values, const parameters& params, std::vector<double>& likelihood,
                   std::vector<std::int32_t>& exponent);
/// Derivatives of sum seed[p] likelihood[p].
void adjoint_root(adjoint_context& pass, std::span<const double> seed);

}  // namespace quintet::snp
