// What a coordinate adds to the reduced distance of a pair of points.
//
//   square     sum of (x - y)^2        euclidean, cosine, hyperbolic
//   magnitude  sum of |x - y|          Manhattan
//   largest    largest |x - y|         Chebyshev
//   power      sum of |x - y|^p        Minkowski
//
// The loop over coordinates is compiled once per term; those other than squares only for any dimension (other_metrics).
#pragma once

#include <bit>
#include <limits>

#include "device/pack.hpp"
#include "device/power.hpp"

/// Behind the parameters of a lambda that has to be inlined.
#define QUINTET_INLINE __attribute__((always_inline))

namespace quintet::pairwise {

enum class term_kind { square, magnitude, largest, power };

template <class Real>
struct coordinate_term {
  term_kind kind = term_kind::square;
  Real p = 2;  ///< of term_kind::power
};

/// What stands in the place of a dimension in kernels: any_dimension for sums of squares in any, other_metrics for all
/// other terms, also in any; rounded_products for bounds of squares from inner products, see dot_bounds.hpp.
enum { any_dimension = 0, other_metrics = -1, rounded_products = -2 };

namespace detail {

template <class Real, class Pack>
inline Pack magnitude_of(const Pack& x) {
  constexpr int lanes = sizeof(Pack) / sizeof(Real);
  typedef device::detail::float_layout<Real> layout;
  typedef device::pack<typename layout::integer, lanes> integer;
  return std::bit_cast<Pack>(std::bit_cast<integer>(x) & std::numeric_limits<typename layout::integer>::max());
}

// add(sum, d) takes in a coordinate's difference. Every sum is NaN if a difference is, as those of points that are
// missing are in every coordinate. bound(sum) of the distances to a box is not above the sum of any point in it:
// rounding is monotone, so that needs nothing but for powers.

template <class Real>
struct square_term {
  template <class Pack>
  void add(Pack& sum, const Pack& d) const {
    sum = device::fma(d, d, sum);
  }
  template <class Pack>
  Pack bound(const Pack& sum) const {
    return sum;
  }
};

template <class Real>
struct magnitude_term {
  template <class Pack>
  void add(Pack& sum, const Pack& d) const {
    sum = sum + magnitude_of<Real>(d);
  }
  template <class Pack>
  Pack bound(const Pack& sum) const {
    return sum;
  }
};

template <class Real>
struct largest_term {
  template <class Pack>
  void add(Pack& sum, const Pack& d) const {
    const Pack m = magnitude_of<Real>(d);
    sum = sum > m ? sum : m;
  }
  template <class Pack>
  Pack bound(const Pack& sum) const {
    return sum;
  }
};

template <class Real>
struct power_term {
  Real p;

  template <class Pack>
  void add(Pack& sum, const Pack& d) const {
    sum = sum + device::power<Real, int(sizeof(Pack) / sizeof(Real))>(magnitude_of<Real>(d), p);
  }
  /// power() is within (p + 2) ulp, and not monotone: the sum of at most 32 = max_tree_dimensions powers may exceed
  /// that of larger numbers by 2 (p + 2) + 32 ulp, and by what is taken for 0. Twice that is taken off.
  template <class Pack>
  Pack bound(const Pack& sum) const {
    return device::fma(sum, 1 - (4 * p + 72) * std::numeric_limits<Real>::epsilon(),
                       -64 * std::numeric_limits<Real>::min());
  }
};

/// Takes in coordinates of some columns, and of a row in memory. Terms that are not of differences overload it.
template <class Term, class Pack, class Real>
QUINTET_INLINE inline void take_in(const Term& term, Pack& sum, const Pack& columns, const Real* row) {
  const Pack difference = device::subtract_scalar(columns, row);
  term.add(sum, difference);
}
/// Calls f with the term of a kernel for `Dim`.
template <int Dim, class Real, class Function>
QUINTET_INLINE inline void with_term(const coordinate_term<Real>& term, const Function& f) {
  if constexpr (Dim != other_metrics) {
    f(square_term<Real>{});
  } else {
    if (term.kind == term_kind::magnitude)
      f(magnitude_term<Real>{});
    else if (term.kind == term_kind::largest)
      f(largest_term<Real>{});
    else
      f(power_term<Real>{term.p});
  }
}

}  // namespace detail

}  // namespace quintet::pairwise
