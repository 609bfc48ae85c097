// The errors of support/svd_errors.hpp, sums over three indices, are compiled here once and optimised.
#include "support/svd_errors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quintet::test {

template <class T>
double orthogonality(batch_view<const T> m, std::int64_t b) {
  double worst = 0;
  for (std::int64_t p = 0; p < m.cols(); ++p)
    for (std::int64_t q = p; q < m.cols(); ++q) {
      // Not in double: the sum over many rows would have an error like the one that is measured.
      long double sum = p == q ? -1 : 0;
      for (std::int64_t i = 0; i < m.rows(); ++i)
        sum += static_cast<long double>(double(m(b, i, p))) * double(m(b, i, q));
      worst = std::max(worst, std::isnan(sum) ? std::numeric_limits<double>::infinity() : double(std::fabs(sum)));
    }
  return worst;
}

template <class T>
double residual(batch_view<const T> a, const svd::decomposition<T>& r, std::int64_t b) {
  const auto u = r.u_view(), v = r.v_view();
  // In units of the largest singular value: entries near the ends of the range must not over- or underflow.
  const double unit = r.values > 0 && r.s[b * r.values] > 0 ? double(r.s[b * r.values]) : 1;
  double error = 0, size = 0;
  for (std::int64_t i = 0; i < a.rows(); ++i)
    for (std::int64_t j = 0; j < a.cols(); ++j) {
      double sum = double(a(b, i, j)) / unit;
      size += sum * sum;
      for (std::int64_t k = 0; k < r.values; ++k)
        sum -= double(u(b, i, k)) * (double(r.singular_value(b, k)) / unit) * double(v(b, j, k));
      error += sum * sum;
    }
  const double relative = size > 0 ? std::sqrt(error / size) : std::sqrt(error);
  return std::isnan(relative) ? std::numeric_limits<double>::infinity() : relative;
}

template double orthogonality(batch_view<const float>, std::int64_t);
template double residual(batch_view<const float>, const svd::decomposition<float>&, std::int64_t);
template double orthogonality(batch_view<const double>, std::int64_t);
template double residual(batch_view<const double>, const svd::decomposition<double>&, std::int64_t);
template double orthogonality(batch_view<const half>, std::int64_t);
template double residual(batch_view<const half>, const svd::decomposition<half>&, std::int64_t);
template double orthogonality(batch_view<const bfloat16>, std::int64_t);
template double residual(batch_view<const bfloat16>, const svd::decomposition<bfloat16>&, std::int64_t);

}  // namespace quintet::test
