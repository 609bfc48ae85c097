// A matrix of the references as one of Eigen; for their sources alone.
#pragma once

#include <Eigen/Core>

#include "reference/matrix.hpp"

namespace quintet::reference {

using eigen_rows = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline Eigen::Map<const eigen_rows> mapped(const matrix& a) { return {a.data(), a.rows(), a.cols()}; }
inline Eigen::Map<eigen_rows> mapped(matrix& a) { return {a.data(), a.rows(), a.cols()}; }

}  // namespace quintet::reference
