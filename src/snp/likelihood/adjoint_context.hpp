// Derivatives while they come down from the root: what the rules' adjoint() read and write.
#pragma once

#include <span>
#include <vector>

#include "snp/likelihood/partials_store.hpp"

namespace quintet::snp {

/// Derivatives of one pruning pass; branch_u and branch_v are by the rates on the branches alone.
struct pruning_gradient {
  std::vector<double> length, theta, gamma;  ///< by branch
  double branch_u = 0, branch_v = 0, root_u = 0, root_v = 0, root_theta = 0;
};

struct adjoint_context {
  adjoint_context(partials_store& forward, const parameters& at);

  double* adjoint(std::int32_t v) { return adjoints[std::size_t(v)].data(); }
  /// Of what a rule was made of; null: nobody wants it, as for a leaf.
  double* wanted_adjoint(std::int32_t v) { return values.is_leaf(v) ? nullptr : adjoint(v); }

  /// The part of a branch that has a matrix, usually all of it, and what the rest of it adds.
  struct branch_part {
    double length;
    std::int32_t max;  ///< -1: no matrix
    bool has_stages;
    double by_length, by_u, by_v;  ///< by_length: of the whole branch
  };

  partials_store& values;
  const parameters& params;
  std::vector<Buffer<double>> adjoints;  ///< by partial likelihood
  Buffer<double> matrix_memory;
  std::vector<double*> matrix_adjoint;  ///< by branch, [slices][size of the matrix]
  std::vector<branch_part> parts;       ///< by branch
  pruning_gradient result;
};

}  // namespace quintet::snp
