// The likelihood of one site on a network, as the rules are written: a group is a list of branches and a table from
// (n1, r1), ..., (nK, rK) to a number. In the coordinates of the literature, with dense exponentials (Eigen) and the
// root's vector from its recursion. Slow; shares nothing with the library but the network.
#pragma once

#include <utility>
#include <vector>

#include "quintet/snp/network/network.hpp"

namespace quintet::reference {

/// Binomial coefficients; 0 for k outside 0 ... n.
double choose(int n, int k);

/// Lineages and red ones among them on one branch.
using snp_state = std::pair<int, int>;

/// What exponentials are computed in; all else is in long double. Those of more than 16 lineages take minutes in it.
enum class exponentials { in_double, in_long_double };

/// counts[i] = (copies, red) of network.leaves()[i]; dominant: red counts individuals.
long double snp_likelihood(const snp::Network& network, const std::vector<snp_state>& counts, long double u,
                           long double v, exponentials precision, bool dominant = false);

}  // namespace quintet::reference
