// The numbers that the rules need besides their tables.
#pragma once

#include <cstdint>
#include <span>

#include "quintet/snp/network/network.hpp"

namespace quintet::snp {

/// Rates of mutation on the branches and at the root.
struct mutation_rates {
  double branch_u, branch_v, root_u, root_v;
};

/// Lengths, thetas and gammas of all branches, and the rates.
struct parameters {
  std::span<const branch> branches;
  double root_theta;
  mutation_rates rates;

  const branch& of(std::int64_t b) const { return branches[std::size_t(b)]; }
};

inline parameters parameters_of(const Network& network, const mutation_rates& rates) {
  return {{&network.branch(0), std::size_t(network.branches())}, network.root_theta(), rates};
}

}  // namespace quintet::snp
