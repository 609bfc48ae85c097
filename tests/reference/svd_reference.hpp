// Singular values by Eigen's two-sided Jacobi method in long double: slow, plain, and exact to every precision tested.
#pragma once

#include <Eigen/SVD>
#include <cstdint>
#include <vector>

#include "quintet/core/view.hpp"

namespace quintet::test {

template <class T>
std::vector<double> reference_singular_values(batch_view<const T> a, std::int64_t b) {
  using real = long double;
  Eigen::Matrix<real, Eigen::Dynamic, Eigen::Dynamic> m(a.rows(), a.cols());
  for (std::int64_t i = 0; i < a.rows(); ++i)
    for (std::int64_t j = 0; j < a.cols(); ++j) m(i, j) = real(a(b, i, j));
  const Eigen::JacobiSVD<decltype(m)> svd(m);
  std::vector<double> values;
  for (Eigen::Index j = 0; j < svd.singularValues().size(); ++j) values.push_back(double(svd.singularValues()(j)));
  return values;
}

}  // namespace quintet::test
