// Singular values alone of 3 x 3 matrices in registers: a bidiagonal matrix by reflections, then the differential qd
// algorithm (Fernando and Parlett 1994) in lockstep. What a lane does depends on its own matrix alone.
#pragma once

#include <limits>

#include "svd/rotation.hpp"

namespace quintet::svd {

/// The squares of a bidiagonal matrix of three rows, less `shift`: q on the diagonal, e above it.
template <class Scalar>
struct three_squares {
  Scalar q0, q1, q2, e0, e1, shift;
};

/// The reflection that makes column k zero below row k, on the columns behind it; the square of what is left of it.
template <class Scalar>
QUINTET_SVD_INLINE Scalar reflect_small_column(Scalar (&x)[3][3], int k) {
  using real = real_of<Scalar>;
  const Scalar one = same<Scalar>(real(1)), zero{}, head = x[k][k];
  Scalar square = head * head;
#pragma GCC unroll 2
  for (int i = k + 1; i < 3; ++i) square = device::fma(x[k][i], x[k][i], square);
  const mask_of<Scalar> has_length = square > no_column_threshold<real>();
  const Scalar length = root(square), v = head + flip_sign(length, head);
  const Scalar inverse =
      choose(has_length, Scalar(one / choose(has_length, Scalar(length * (length + absolute(head))), one)), zero);
#pragma GCC unroll 2
  for (int j = k + 1; j < 3; ++j) {
    Scalar product = v * x[j][k];
#pragma GCC unroll 2
    for (int i = k + 1; i < 3; ++i) product = device::fma(x[k][i], x[j][i], product);
    const Scalar factor = -product * inverse;
    x[j][k] = device::fma(factor, v, x[j][k]);
#pragma GCC unroll 2
    for (int i = k + 1; i < 3; ++i) x[j][i] = device::fma(factor, x[k][i], x[j][i]);
  }
  return square;
}

/// Of a matrix [column][row] whose largest element is in [2, 4); it is overwritten.
template <class Scalar>
QUINTET_SVD_INLINE three_squares<Scalar> reduce_three(Scalar (&x)[3][3]) {
  using real = real_of<Scalar>;
  const Scalar one = same<Scalar>(real(1)), zero{};
  three_squares<Scalar> b;
  b.shift = zero;
  b.q0 = reflect_small_column(x, 0);
  b.e0 = device::fma(x[1][0], x[1][0], Scalar(x[2][0] * x[2][0]));
  const mask_of<Scalar> has_length = b.e0 > no_column_threshold<real>();
  const Scalar inverse = device::inverse_root(choose(has_length, b.e0, one));
  const Scalar c = choose(has_length, Scalar(x[1][0] * inverse), one);
  const Scalar s = choose(has_length, Scalar(x[2][0] * inverse), zero);
#pragma GCC unroll 2
  for (int i = 1; i < 3; ++i) {
    const Scalar first = x[1][i], second = x[2][i];
    x[1][i] = device::fma(c, first, Scalar(s * second));
    x[2][i] = device::fma(c, second, Scalar(-s * first));
  }
  b.q1 = reflect_small_column(x, 1);
  b.e1 = x[2][1] * x[2][1];
  b.q2 = x[2][2] * x[2][2];
  return b;
}

/// The other way round, in the lanes of `where`: the values are the same.
template <class Scalar>
QUINTET_SVD_INLINE void turn_three(three_squares<Scalar>& b, const mask_of<Scalar>& where) {
  const Scalar q = b.q0, e = b.e0;
  b.q0 = choose(where, b.q2, q);
  b.q2 = choose(where, q, b.q2);
  b.e0 = choose(where, b.e1, e);
  b.e1 = choose(where, e, b.e1);
}

/// A number below the smallest squared value, and near it: Laguerre's step from 0 on the characteristic polynomial
/// comes from below, also where values are nearly equal. All terms of the coefficients are positive.
template <class Scalar>
QUINTET_SVD_INLINE Scalar shift_for_three(const three_squares<Scalar>& b) {
  using real = real_of<Scalar>;
  constexpr real epsilon = std::numeric_limits<real>::epsilon();
  const Scalar zero{}, one = same<Scalar>(real(1)), low = b.q2 + b.e1;
  const Scalar c2 = (b.q0 + b.q1) + (low + b.e0), c0 = b.q0 * b.q1 * b.q2;
  const Scalar c1 = device::fma(b.q0, Scalar(b.q1 + low), Scalar(device::fma(b.e0, low, Scalar(b.q1 * b.q2))));
  // With what rounds, so that the root is not too small.
  const Scalar square = c1 * c1, rest = larger(device::fma(Scalar(real(-3) * c2), c0, square), zero);
  const Scalar sum = c1 + real(2) * root(device::fma(square, same<Scalar>(8 * epsilon), rest));
  const Scalar shift = (real(3) * (1 - 16 * epsilon)) * (c0 / choose(sum > zero, sum, one));
  return choose(shift < b.q1 + b.q2, shift, zero);
}

/// One transformation with a shift, in the lanes of `active`. A lane whose sums become negative takes a smaller one.
template <class Scalar>
QUINTET_SVD_INLINE void transform_three(three_squares<Scalar>& b, Scalar shift, const mask_of<Scalar>& active) {
  using real = real_of<Scalar>;
  const Scalar zero{};
  for (int attempt = 0; attempt < 3; ++attempt) {
    const Scalar d0 = b.q0 - shift, q0 = d0 + b.e0, ratio0 = b.q1 / q0, d1 = device::fma(d0, ratio0, Scalar(-shift));
    const Scalar q1 = d1 + b.e1, ratio1 = b.q2 / q1, d2 = device::fma(d1, ratio1, Scalar(-shift));
    const mask_of<Scalar> wrong = active & ((d0 < zero) | (d1 < zero) | (d2 < zero));
    if (attempt < 2 && any(wrong)) {
      shift = choose(wrong, attempt == 0 ? Scalar(shift * real(0.9)) : zero, shift);
      continue;
    }
    const mask_of<Scalar> right = active & (d0 >= zero) & (d1 >= zero) & (d2 >= zero);
    b.e0 = choose(right, Scalar(b.e0 * ratio0), b.e0);
    b.e1 = choose(right, Scalar(b.e1 * ratio1), b.e1);
    b.q0 = choose(right, q0, b.q0);
    b.q1 = choose(right, q1, b.q1);
    b.q2 = choose(right, d2, b.q2);
    b.shift = choose(right, Scalar(b.shift + shift), b.shift);
    return;
  }
}

/// Where e beside q above and `own` below or the other way round is negligible: as an element below epsilon / 4 of a
/// matrix whose largest one is 2, or with an effect below epsilon / 8 on values above `shift`.
template <class Scalar>
QUINTET_SVD_INLINE mask_of<Scalar> is_negligible(const Scalar& e, const Scalar& q, const Scalar& own,
                                                 const Scalar& shift) {
  using real = real_of<Scalar>;
  constexpr real epsilon = std::numeric_limits<real>::epsilon();
  const Scalar part = shift * (epsilon / 8);
  return (e <=
          device::fma(same<Scalar>(epsilon * epsilon), Scalar(shift + own), same<Scalar>(epsilon * epsilon / 16))) |
         (e * (q + e) <= part * part);
}

/// e1 becomes negligible. Returns the lanes where it has not.
template <class Scalar>
QUINTET_SVD_INLINE mask_of<Scalar> iterate_three(three_squares<Scalar>& b, mask_of<Scalar> active) {
  for (int step = 0; step < 12; ++step) {
    turn_three(b, active & (b.e1 > b.e0) & is_negligible(b.e0, b.q1, b.q0, b.shift));
    const mask_of<Scalar> ends = is_negligible(b.e1, b.q1, b.q2, b.shift);
    active = active & (ends == (b.e1 < b.e1));
    if (!any(active)) break;
    transform_three(b, shift_for_three(b), active);
  }
  return active;
}

/// The singular values of matrices [column][row] in the lanes of `active`, in no order. Returns those of these lanes
/// that have none.
template <class Scalar>
QUINTET_SVD_INLINE mask_of<Scalar> find_three_values(Scalar (&x)[3][3], const mask_of<Scalar>& active,
                                                     Scalar (&sigma)[3]) {
  using real = real_of<Scalar>;
  constexpr real part = std::numeric_limits<real>::epsilon() * std::numeric_limits<real>::epsilon();
  const Scalar zero{}, one = same<Scalar>(real(1));
  three_squares<Scalar> b = reduce_three(x);
  const mask_of<Scalar> left = iterate_three(b, active);
  // The two rows that are left have a closed form: see qd_iteration::solve_two().
  const Scalar large = larger(b.q0, b.q1), small = smaller(b.q0, b.q1);
  const Scalar half = ((large - small) + b.e0) * real(0.5);
  const mask_of<Scalar> is_coupled = (b.e0 > small * part) & (half > zero);
  const Scalar middle = choose(is_coupled, half, one), change = small * (b.e0 / middle);
  const Scalar distance = middle + root(device::fma(middle, middle, Scalar(middle * change)));
  const Scalar first = choose(is_coupled, Scalar(large + (b.e0 + small * (b.e0 / distance))), large);
  const Scalar second = choose(is_coupled, Scalar(small * (large / choose(first > zero, first, one))), small);
  sigma[0] = root(first + b.shift);
  sigma[1] = root(second + b.shift);
  sigma[2] = root(b.q2 + b.shift);
  return left;
}

}  // namespace quintet::svd
