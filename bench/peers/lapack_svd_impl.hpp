// The peers of peers/lapack_svd.hpp. Eigen's take long to compile: a file for each type.
#pragma once

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <vector>

#include "peers/lapack_svd.hpp"

#ifdef QUINTET_HAVE_OPENBLAS
extern "C" {
void openblas_set_num_threads(int);
void sgesdd_(const char*, const int*, const int*, float*, const int*, float*, float*, const int*, float*, const int*,
             float*, const int*, int*, int*, std::size_t);
void dgesdd_(const char*, const int*, const int*, double*, const int*, double*, double*, const int*, double*,
             const int*, double*, const int*, int*, int*, std::size_t);
void sgesvj_(const char*, const char*, const char*, const int*, const int*, float*, const int*, float*, const int*,
             float*, const int*, float*, const int*, int*, std::size_t, std::size_t, std::size_t);
void dgesvj_(const char*, const char*, const char*, const int*, const int*, double*, const int*, double*, const int*,
             double*, const int*, double*, const int*, int*, std::size_t, std::size_t, std::size_t);
}
#endif

namespace quintet::bench {

namespace detail {

#ifdef QUINTET_HAVE_OPENBLAS
inline auto gesdd(float) { return sgesdd_; }
inline auto gesdd(double) { return dgesdd_; }
inline auto gesvj(float) { return sgesvj_; }
inline auto gesvj(double) { return dgesvj_; }

template <class Real>
bool by_gesdd(const Real* a, std::int64_t batch, int n, Real* u, Real* s, Real* v) {
  openblas_set_num_threads(1);
  std::vector<Real> copy(n * n), work(1), vt(n * n);
  std::vector<int> iwork(8 * n);
  int info = 0, size = -1;
  const char all = 'A';
  Real wanted = 0;
  gesdd(Real())(&all, &n, &n, copy.data(), &n, s, u, &n, vt.data(), &n, &wanted, &size, iwork.data(), &info, 1);
  size = int(wanted) + 1;
  work.resize(size);
  for (std::int64_t b = 0; b < batch; ++b) {
    std::copy_n(a + b * n * n, n * n, copy.data());
    gesdd(Real())(&all, &n, &n, copy.data(), &n, s, u, &n, vt.data(), &n, work.data(), &size, iwork.data(), &info, 1);
    if (info != 0) return false;
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) v[j * n + i] = vt[i * n + j];
  return true;
}

template <class Real>
bool by_gesvj(const Real* a, std::int64_t batch, int n, Real* u, Real* s, Real* v) {
  openblas_set_num_threads(1);
  const int size = std::max(6, 2 * n);
  std::vector<Real> work(size);
  int info = 0;
  const char general = 'G', vectors_u = 'U', vectors_v = 'V';
  for (std::int64_t b = 0; b < batch; ++b) {
    std::copy_n(a + b * n * n, n * n, u);
    gesvj(Real())(&general, &vectors_u, &vectors_v, &n, &n, u, &n, s, &n, v, &n, work.data(), &size, &info, 1, 1, 1);
    if (info != 0) return false;
    for (int j = 0; j < n; ++j) s[j] *= work[0];
  }
  return true;
}
#endif

template <class Decomposition, class Real>
bool by_eigen(const Real* a, std::int64_t batch, std::int64_t n, Real* u, Real* s, Real* v) {
  using matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
  Decomposition svd(n, n, Eigen::ComputeFullU | Eigen::ComputeFullV);
  for (std::int64_t b = 0; b < batch; ++b) svd.compute(Eigen::Map<const matrix>(a + b * n * n, n, n));
  Eigen::Map<matrix>(u, n, n) = svd.matrixU();
  Eigen::Map<matrix>(v, n, n) = svd.matrixV();
  std::copy_n(svd.singularValues().data(), n, s);
  return true;
}

}  // namespace detail

template <class Real>
bool peer_svd(svd_peer peer, const Real* a, std::int64_t batch, std::int64_t n, Real* u, Real* s, Real* v) {
  using matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
  switch (peer) {
#ifdef QUINTET_HAVE_OPENBLAS
    case svd_peer::gesdd:
      return detail::by_gesdd(a, batch, int(n), u, s, v);
    case svd_peer::gesvj:
      return detail::by_gesvj(a, batch, int(n), u, s, v);
#endif
    case svd_peer::eigen_jacobi:
      return detail::by_eigen<Eigen::JacobiSVD<matrix>>(a, batch, n, u, s, v);
    case svd_peer::eigen_bdc:
      return detail::by_eigen<Eigen::BDCSVD<matrix>>(a, batch, n, u, s, v);
    default:
      return false;
  }
}

}  // namespace quintet::bench
