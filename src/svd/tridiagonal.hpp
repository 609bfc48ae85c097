// Implicit QL steps on a symmetric tridiagonal matrix, and their rotations of V.
#pragma once

#include <cstdint>
#include <limits>

#include "svd/maps.hpp"
#include "svd/rotation.hpp"

namespace quintet::svd {

/// The element that an implicit QL step chases up the diagonal (Golub, Van Loan 1996, 8.3.3; Dubrulle 1970).
template <class Scalar>
struct chased_bulge {
  Scalar s, c, p, g;  ///< the last rotation; what it left of the diagonal; the next element
};

/// The rotation of rows i and i + 1, from the off-diagonal element e_i. `length` is the root of square_with(),
/// which becomes e_{i+1}; d_next is d_{i+1}.
template <class Scalar>
QUINTET_SVD_INLINE Scalar square_with(const chased_bulge<Scalar>& bulge, const Scalar& e) {
  const Scalar f = bulge.s * e;
  return device::fma(f, f, bulge.g * bulge.g);
}
template <class Scalar>
QUINTET_SVD_INLINE chased_bulge<Scalar> chase(const chased_bulge<Scalar>& bulge, const Scalar& e, const Scalar& length,
                                              const Scalar& d, Scalar& d_next) {
  const Scalar b = bulge.c * e, inverse = same<Scalar>(real_of<Scalar>(1)) / length, g = d_next - bulge.p;
  chased_bulge<Scalar> next;
  next.s = bulge.s * e * inverse;
  next.c = bulge.g * inverse;
  const Scalar change = device::fma(d - g, next.s, (b + b) * next.c);
  next.p = next.s * change;
  d_next = g + next.p;
  next.g = device::fma(next.c, change, -b);
  return next;
}

/// The first element of a step with Wilkinson's shift, from the block [l, m] of the tridiagonal matrix.
template <class Scalar>
QUINTET_SVD_INLINE chased_bulge<Scalar> start_bulge(const Scalar& d_l, const Scalar& d_after, const Scalar& e_l,
                                                    const Scalar& d_m) {
  const Scalar zero{}, one = same<Scalar>(real_of<Scalar>(1));
  const Scalar g = (d_after - d_l) / (e_l + e_l), r = root(device::fma(g, g, one));
  return {one, one, zero, d_m - d_l + e_l / choose(g < zero, g - r, g + r)};
}

/// Iterations for all eigenvalues of n rows, as LAPACK's steqr allows. Two an eigenvalue are usual. But the first one
/// of a long block may take more than 60: what rounding leaves of a matrix of rank 1 is one.
constexpr int max_ql_iterations(int n) { return 30 * n; }

/// How far the iteration on a tridiagonal matrix has come.
struct tridiagonal_state {
  int first = 0, iterations = 0;  ///< eigenvalues before `first` are there; iterations so far
  bool failed = false;            ///< an eigenvalue was left that had not converged
};

/// Implicit QL steps, by one thread, until all eigenvalues are there or `capacity` numbers of rotations are written. A
/// step from row m up is m, the number of its rotations, and s / (1 + c) and s of each: columns change signs (kept in
/// `sign`, +-1, of those of T) so that no cosine is negative. Returns the numbers written. An eigenvalue that does not
/// converge is left: the rotations are right all the same. `size`: of a larger matrix that these rows are of, or 0.
template <class Real>
QUINTET_SVD_INLINE std::int64_t iterate_tridiagonal(Real* d, Real* e, Real* sign, int n, tridiagonal_state& at,
                                                    Real* to, std::int64_t capacity, Real size = 0) {
  constexpr Real epsilon = std::numeric_limits<Real>::epsilon();
  std::int64_t used = 0;
  // The Gram matrix knows nothing below epsilon times its size; in a block of zeros and rounding errors, elements
  // off the diagonal would shrink until their squares underflow. Eigenvalues that are there count: without the large
  // ones a block of such errors alone would be taken for the matrix, and would not converge.
  for (int i = 0; i < n; ++i) size = larger(size, larger(absolute(d[i]), absolute(e[i < n - 1 ? i : 0])));
  const Real floor = epsilon * epsilon * size;
  while (at.first < n) {
    const int l = at.first;
    int m = l;
    while (m + 1 < n && absolute(e[m]) > device::fma(epsilon, absolute(d[m]) + absolute(d[m + 1]), floor)) ++m;
    if (m == l || at.iterations == max_ql_iterations(n)) {
      at = {l + 1, at.iterations, at.failed || m != l};
      continue;
    }
    if (used + 2 + 2 * (m - l) > capacity) break;
    ++at.iterations;
    chased_bulge<Real> bulge = start_bulge(d[l], d[l + 1], e[l], d[m]);
    Real *step = to + used, carried = sign[m];
    int i = m - 1;
    used += 2;
    for (; i >= l; --i) {
      const Real square = square_with(bulge, e[i]);
      if (!(square > no_column_threshold<Real>())) {
        e[i + 1] = 0;
        break;
      }
      const Real length = root(square);
      e[i + 1] = length;
      bulge = chase(bulge, e[i], length, d[i], d[i + 1]);
      const Real turn = bulge.c < 0 ? Real(-1) : Real(1), turned = bulge.s * (turn * carried * sign[i]);
      sign[i + 1] = turn * carried;
      carried = turn * sign[i];
      to[used++] = turned / (1 + absolute(bulge.c));
      to[used++] = turned;
    }
    sign[i + 1] = carried;
    step[0] = Real(m);
    step[1] = Real(m - 1 - i);
    if (i >= l) {  // the matrix falls apart here
      d[i + 1] -= bulge.p;
    } else {
      d[l] -= bulge.p;
      e[l] = bulge.g;
    }
    e[m] = 0;
  }
  return used;
}

/// Recorded steps on Count chunks of the columns of V: each chunk meets all of them while it is in a cache (Van Zee,
/// van de Geijn, Quintana-Orti 2014). In Rutishauser's form the cosine is 1 - s s / (1 + c), with more digits than a
/// number holds: with rounded cosines V is three times as far from orthogonal.
template <int Count, class Map>
QUINTET_SVD_INLINE void rotate_rows(const Map& map, typename Map::real* v, int ld, int chunk,
                                    const typename Map::real* record, std::int64_t used) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  using vector = typename Map::vector;
  const auto number = [&](std::int64_t at)
                          QUINTET_SVD_INLINE_LAMBDA { return device::load_pack<scalar>(record + at * Map::width); };
  for (std::int64_t from = 0; from < used;) {
    // The same for all matrices side by side.
    const int m = int(lane_of(number(from), 0)), count = int(lane_of(number(from + 1), 0));
    from += 2;
    real* column = map.column(v, m, ld);
    vector carried[Count];
    for (int e = 0; e < Count; ++e) carried[e] = load<Map>(column, chunk + e);
    for (int i = 0; i < count; ++i, from += 2) {
      const scalar half_tangent = number(from), s = number(from + 1);
      real* next = column - std::int64_t(ld) * Map::width;
      for (int e = 0; e < Count; ++e) {
        const vector value = load<Map>(next, chunk + e);
        store<Map>(column, chunk + e, device::fma(device::fma(carried[e], -half_tangent, value), s, carried[e]));
        carried[e] = device::fma(device::fma(value, half_tangent, carried[e]), -s, value);
      }
      column = next;
    }
    for (int e = 0; e < Count; ++e) store<Map>(column, chunk + e, carried[e]);
  }
}

/// The columns [begin, end) of V get length 1 again, in the lanes of `where`.
template <class Map>
QUINTET_SVD_INLINE void restore_lengths(const Map& map, typename Map::real* v, int n, int ld, int begin, int end,
                                        const mask_of<typename Map::scalar>& where) {
  using scalar = typename Map::scalar;
  const scalar one = same<scalar>(typename Map::real(1));
  for_each_item(map, begin, end, [&](int j, bool valid) QUINTET_SVD_INLINE_LAMBDA {
    typename Map::real* column = map.column(v, j, ld);
    const scalar factor = one / root(pair_dot(map, column, column, n));
    if (valid) scale_column(map, column, n, choose(where, factor, one));
  });
  map.barrier();
}

/// Rotations of a column, on average, after which its length is restored. Rounding errors of lengths add up, and a
/// rotation of columns of different lengths leaves them not orthogonal.
constexpr int rotations_between_lengths = 64;

/// Chunks of V that meet all rotations together.
template <class Map>
constexpr int chunks_rotated() {
  return Map::row_cyclic ? 4 : 1;
}

/// Chunks [begin, end) of the columns of V times `used` numbers of recorded steps.
template <class Map>
QUINTET_SVD_INLINE void rotate_chunks(const Map& map, typename Map::real* v, int ld, int begin, int end,
                                      const typename Map::real* record, std::int64_t used) {
  constexpr int group_size = chunks_rotated<Map>();
  for (int c = begin + map.team_first() * group_size; c < end; c += map.team_step() * group_size)
    if (c + group_size <= end)
      rotate_rows<group_size>(map, v, ld, c, record, used);
    else
      for (int i = c; i < end; ++i) rotate_rows<1>(map, v, ld, i, record, used);
}

}  // namespace quintet::svd
