// Singular values by way of a bidiagonal matrix: bidiagonal.hpp, then qd.hpp; side by side bidiagonal_lanes.hpp, then
// qd_lanes.hpp.
#pragma once

#include "svd/bidiagonal.hpp"
#include "svd/bidiagonal_lanes.hpp"
#include "svd/qd.hpp"
#include "svd/qd_lanes.hpp"

namespace quintet::svd {

/// Numbers of working memory of one matrix.
template <class Real>
std::int64_t reduction_size(std::int64_t n, std::int64_t ld) {
  return bidiagonal_memory<Real>::size(n, ld);
}

/// The singular values of B, in no order, by one thread of the team. False where one did not converge.
template <class Map>
QUINTET_SVD_INLINE bool find_values(const Map& map, const bidiagonal_memory<typename Map::real>& at, int n,
                                    typename Map::real* sigma) {
  if (!map.leads_team()) return true;
  double *q = at.squares, *e = q + n;
  for (int i = 0; i < n; ++i) {
    q[i] = double(at.diagonal[i]) * double(at.diagonal[i]);
    e[i] = i + 1 < n ? double(at.beside[i]) * double(at.beside[i]) : 0;
  }
  const bool converged = qd_iteration({q, e}, {e + n, e + 2 * n}, n).run();
  for (int i = 0; i < n; ++i) sigma[i] = typename Map::real(root(q[i]));
  return converged;
}

/// Memory of the same of matrices that lie side by side, from an address on that suits double.
template <class Real>
struct lane_values_memory {
  double *q, *e;
  Real *values, *w;

  /// Numbers that a matrix takes.
  static std::int64_t size(std::int64_t n, std::int64_t ld) {
    return 2 * n * std::int64_t(sizeof(double) / sizeof(Real)) + n + ld;
  }
  static lane_values_memory at(Real* first, std::int64_t n, std::int64_t width) {
    double* const squares = reinterpret_cast<double*>(first);
    Real* const values = reinterpret_cast<Real*>(squares + 2 * n * width);
    return {squares, squares + n * width, values, values + n * width};
  }
};

/// The singular values of X in the lanes of `where`, in no order, to at.values; X is overwritten there. Returns 1 in
/// the lanes where one did not converge.
template <class Map>
typename Map::scalar find_lane_values(const Map& map, typename Map::real* x, int rows, int n, int ld,
                                      const mask_of<typename Map::scalar>& where,
                                      const lane_values_memory<typename Map::real>& at) {
  using real = typename Map::real;
  constexpr int packed =
      int(Map::packed) < device::host_lanes<double>() ? int(Map::packed) : device::host_lanes<double>();
  using qd_map = lanes_map<double, Map::width, packed>;
  bidiagonal_lanes<Map>(map, x, rows, n, ld, where, at.w).run(at.q, at.e);
  real failed[Map::packed];
  for (int first = 0; first < Map::packed; first += packed) {
    const qd_map lanes{map.lane + first};
    const auto lost = choose(qd_lanes<qd_map>(lanes, at.q, at.e, n).run(), same<typename qd_map::scalar>(1.0),
                             typename qd_map::scalar{});
    for (int l = 0; l < packed; ++l) failed[first + l] = real(lane_of(lost, l));
    for (int j = 0; j < n; ++j) {
      const auto value = root(lanes.entry(at.q, j));
      for (int l = 0; l < packed; ++l)
        at.values[std::int64_t(j) * Map::width + lanes.lane + l] = real(lane_of(value, l));
    }
  }
  return choose(where, device::load_pack<typename Map::scalar>(failed), typename Map::scalar{});
}

}  // namespace quintet::svd
