// The reduction to a bidiagonal matrix and its singular values, on the memory of a test. Compiled as the library is:
// see eigenvectors_start.hpp.
#pragma once

#include <vector>

#include "eigenvectors_start.hpp"

namespace quintet::test {

/// Singular values of the bidiagonal matrix with `diagonal` and, above it, `beside`, falling. None if one did not
/// converge.
std::vector<double> values_of_bidiagonal(const std::vector<double>& diagonal, const std::vector<double>& beside);

/// The same beside matrices of the same numbers in another order.
std::vector<double> values_of_bidiagonal_lane(const std::vector<double>& diagonal, const std::vector<double>& beside);

/// Singular values of a matrix of columns `ld` apart, falling, by one worker.
template <class Real>
std::vector<Real> values_alone(std::vector<Real> x, int rows, int n, int ld);
/// By `threads` threads of a team.
template <class Real>
std::vector<Real> values_in_team(int threads, std::vector<Real> x, int rows, int n, int ld);

}  // namespace quintet::test
