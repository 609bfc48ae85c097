// What a coordinate adds to the reduced distance of a pair of points.
//
//   square     sum of (x - y)^2        euclidean, cosine, hyperbolic
//   magnitude  sum of |x - y|          Manhattan
//   largest    largest |x - y|         Chebyshev
//   power      sum of |x - y|^p        Minkowski
//   great_circle  sum of (x - y)^2 of unit vectors of two words a coordinate, or 4 / sum of (x + y)^2 (device/arc.hpp)
//   split      sum of (x - y)^2 of coordinates in two parts, high and low: the hyperboloid, see sheet_kernel.hpp
//   product    a sum over the factors of a product of spaces of weighted squared distances, see product_rows.hpp
//   hamming, jaccard  bits of words that differ, and their share of those that are 1 in either row, see word_rows.hpp
//   integer_square, integer_cosine, integer_product  |x - y|^2, 1 - cos(x, y) and 2^32 - <x, y> of rows of integers
//
// The reduced distance is the sum, and of powers its root: sums of different powers may have equal roots.
//
// The loop over coordinates is compiled once per term; those other than squares only for any dimension (other_metrics).
// A great circle needs all coordinates of a pair at once: takes_points. Words of bits and integers are taken in by
// kernels of their own (word_rows), and so are products (product_rows), of doubles alone.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "device/arc.hpp"
#include "device/asinh.hpp"
#include "device/bit_count.hpp"
#include "device/dot_product.hpp"
#include "device/pack.hpp"
#include "device/power.hpp"
#include "pairwise/lane_bits.hpp"

/// Behind the parameters of a lambda that has to be inlined.
#define QUINTET_INLINE __attribute__((always_inline))

namespace quintet::pairwise {

enum class term_kind {
  square,
  magnitude,
  largest,
  power,
  great_circle,
  split,
  product,
  hamming,
  jaccard,
  integer_square,
  integer_cosine,
  integer_product
};

template <class Real>
struct coordinate_term {
  term_kind kind = term_kind::square;
  /// The exponent of term_kind::power; of term_kind::split what the low part of a difference may amount to; bits of a
  /// row.
  Real p = 2;
};

/// What stands in the place of a dimension in kernels: any_dimension for sums of squares in any, other_metrics for all
/// other terms, also in any; rounded_products for bounds of squares from inner products, see dot_bounds.hpp; word_rows
/// for rows of bits and of integers, product_rows for those of products of spaces.
enum { any_dimension = 0, other_metrics = -1, rounded_products = -2, word_rows = -3, product_rows = -4 };

/// Whether a kernel takes whole rows behind a number each, see scanned_points.
constexpr bool takes_whole_rows(int dim) { return dim == word_rows || dim == product_rows; }

constexpr bool is_of_words(term_kind kind) { return kind >= term_kind::hamming; }

/// Not below |<x, y>| of rows of max_integers integers in [-255, 255].
constexpr double largest_product = 0x1p32;

/// Calls f.operator()<Dim>() with what stands for a dimension in kernels of the term; squares are in any.
template <class Real, class Function>
void with_any_dimension(const coordinate_term<Real>& term, const Function& f) {
  if constexpr (sizeof(Real) == 8)
    if (is_of_words(term.kind)) return f.template operator()<word_rows>();
  if constexpr (sizeof(Real) == 8)
    if (term.kind == term_kind::product) return f.template operator()<product_rows>();
  if (term.kind == term_kind::square)
    f.template operator()<any_dimension>();
  else
    f.template operator()<other_metrics>();
}

namespace detail {

template <class Real, class Pack>
inline Pack magnitude_of(const Pack& x) {
  constexpr int lanes = sizeof(Pack) / sizeof(Real);
  typedef device::detail::float_layout<Real> layout;
  typedef device::pack<typename layout::integer, lanes> integer;
  return std::bit_cast<Pack>(std::bit_cast<integer>(x) & std::numeric_limits<typename layout::integer>::max());
}

// add(sum, d) takes in a coordinate's difference. Every sum is NaN if a difference is, as those of points that are
// missing are in every coordinate. join(sum, other) takes in the sum of other coordinates. reduced(sum) is the reduced
// distance of a pair. bound(sum, dim) of the distances to a box is not above that of any point in it: rounding is
// monotone, so that needs nothing but for powers.

/// What sums that are reduced distances have in common.
struct sum_of_terms {
  template <class Pack>
  Pack join(const Pack& sum, const Pack& other) const {
    return sum + other;
  }
  template <class Pack>
  Pack reduced(const Pack& sum) const {
    return sum;
  }
  template <class Pack>
  Pack bound(const Pack& sum, std::int64_t) const {
    return sum;
  }
};

template <class Real>
struct square_term : sum_of_terms {
  template <class Pack>
  void add(Pack& sum, const Pack& d) const {
    sum = device::fma(d, d, sum);
  }
};

template <class Real>
struct magnitude_term : sum_of_terms {
  template <class Pack>
  void add(Pack& sum, const Pack& d) const {
    sum = sum + magnitude_of<Real>(d);
  }
};

template <class Real>
struct largest_term : sum_of_terms {
  template <class Pack>
  void add(Pack& sum, const Pack& d) const {
    sum = join(sum, magnitude_of<Real>(d));
  }
  template <class Pack>
  Pack join(const Pack& sum, const Pack& other) const {
    return sum > other ? sum : other;
  }
};

template <class Real>
struct root_of_sum : sum_of_terms {
  Real p;

  template <class Pack>
  Pack reduced(const Pack& sum) const {
    return device::nth_root<Real, int(sizeof(Pack) / sizeof(Real))>(sum, p);
  }
  /// power() is within (p + 2) ulp, and not monotone: the sum of `dim` powers may exceed that of larger numbers by
  /// 2 (p + 2) + dim ulp, and by what is taken for 0. Twice that is taken off. Roots are within 2 ulp.
  template <class Pack>
  Pack bound(const Pack& sum, std::int64_t dim) const {
    constexpr Real eps = std::numeric_limits<Real>::epsilon();
    const Pack less =
        device::fma(sum, 1 - (4 * p + 8 + 2 * Real(dim)) * eps, -2 * Real(dim) * std::numeric_limits<Real>::min());
    const Pack none{};
    return reduced(Pack(less > none ? less : none)) * (1 - 8 * eps);
  }
};

template <class Real>
struct power_term : root_of_sum<Real> {
  template <class Pack>
  void add(Pack& sum, const Pack& d) const {
    sum = sum + device::power<Real, int(sizeof(Pack) / sizeof(Real))>(magnitude_of<Real>(d), this->p);
  }
};

/// Of whole p, by products: those of whole numbers are exact, so that equal distances of grids tie.
template <class Real>
struct whole_power_term : root_of_sum<Real> {
  template <class Pack>
  void add(Pack& sum, const Pack& d) const {
    sum = sum + device::whole_power(magnitude_of<Real>(d), int(this->p));
  }
};

/// Of unit vectors [x_0, x_1, x_2, and what these leave of each], see sphere.hpp. A pair has the same bits in both
/// orders, and 0 only where all words are the same.
template <class Real>
struct great_circle_term : sum_of_terms {
  enum { coordinates = 3, words = 6 };

  /// Takes in the distance to a side of a box, which is of first words: second ones, and the sum of both differences,
  /// change a difference by at most half of what is taken off.
  template <class Pack>
  void add(Pack& sum, const Pack& gap) const {
    const Pack less = gap - 2 * std::numeric_limits<Real>::epsilon(), none{};
    const Pack d = less > none ? less : none;
    sum = device::fma(d, d, sum);
  }
  /// 4 / |x + y|^2 is not below |x - y|^2 but for rounding.
  template <class Pack>
  Pack bound(const Pack& sum, std::int64_t) const {
    return sum * (1 - 16 * std::numeric_limits<Real>::epsilon());
  }

  /// |x - y|^2 of columns and a row in memory.
  template <class Pack>
  QUINTET_INLINE Pack squared_chord(const Pack* column, const Real* row, std::int64_t step) const {
    Pack sum{};
#pragma GCC unroll 3
    for (int k = 0; k < coordinates; ++k) {
      const Pack d = device::subtract_scalar(column[k], row + k * step) +
                     device::subtract_scalar(column[k + coordinates], row + (k + coordinates) * step);
      sum = device::fma(d, d, sum);
    }
    return sum;
  }
  template <class Pack>
  static bool may_exceed_right_angle(const Pack& squared_chord) {
    constexpr int lanes = sizeof(Pack) / sizeof(Real);
    return lanes_up_to<Real, lanes>(device::broadcast_pack<Pack>(Real(2)), squared_chord) != 0;
  }
  /// The reduced distances.
  template <class Pack>
  QUINTET_INLINE Pack reduced_pair(const Pack& squared_chord, const Pack* column, const Real* row,
                                   std::int64_t step) const {
    Pack sum{};
#pragma GCC unroll 3
    for (int k = 0; k < coordinates; ++k) {
      const Pack s = (column[k] + row[k * step]) + (column[k + coordinates] + row[(k + coordinates) * step]);
      sum = device::fma(s, s, sum);
    }
    // Infinity is no distance.
    const Pack least = device::broadcast_pack<Pack>(4 * std::numeric_limits<Real>::min());
    const Pack far = device::broadcast_pack<Pack>(Real(4)) / (sum > least ? sum : least);
    return squared_chord > Real(2) ? far : squared_chord;
  }
  /// Both at once.
  template <class Pack>
  QUINTET_INLINE Pack between(const Pack* column, const Real* row, std::int64_t step) const {
    const Pack near = squared_chord(column, row, step);
    return may_exceed_right_angle(near) ? reduced_pair(near, column, row, step) : near;
  }
};

template <class Term>
constexpr bool takes_points = false;
template <class Real>
constexpr bool takes_points<great_circle_term<Real>> = true;

/// Of rows of words [numbers of the row, words ...], as numbers. The first number is NaN where a row is missing; boxes
/// are of it alone. A term is made of the sum of a `counter` over the words of a pair, and of its numbers:
/// reduced_of(sum, column, row, step) has those of columns and of a row, which are `step` apart. bound_of(gap, first)
/// is not above the distances of rows whose first number is `first` and others with one that is `gap` away at least.
struct word_term : sum_of_terms {
  enum { coordinates = 1 };

  /// Takes in the gap to a side of a box.
  template <class Pack>
  void add(Pack& sum, const Pack& gap) const {
    sum = sum + gap;
  }
};

/// The first number of a row is that of its ones.
struct bit_term : word_term {
  enum { numbers = 1 };
  template <int W>
  using counter = device::bit_counter<W>;

  static void write_numbers(double popcount, double* to) { to[0] = popcount; }
};

/// The bits that differ: an integer, so that equal distances tie.
struct hamming_term : bit_term {
  template <class Pack>
  QUINTET_INLINE Pack reduced_of(const Pack& different, const Pack* column, const double* row, std::int64_t) const {
    const Pack popcount = column[0] + row[0];
    return popcount >= 0.0 ? different : popcount;
  }
  template <class Pack>
  Pack bound_of(const Pack& gap, const Pack&) const {
    return gap;
  }
};

/// x / o with x bits that differ and o = (ones + x) / 2 that are 1 in either row; 0 of two empty rows. Fractions of
/// rows of at most 2^24 bits are 2^-48 apart, so their quotients, rounded once, are ordered and tie as they do.
struct jaccard_term : bit_term {
  template <class Pack>
  QUINTET_INLINE Pack reduced_of(const Pack& different, const Pack* column, const double* row, std::int64_t) const {
    const Pack both = column[0] + row[0] + different;
    return both > 0.0 ? Pack((different + different) / both) : both;
  }
  /// The other row has at most min(ones) bits of the larger of both in common: 1 - min / max >= gap / (ones + gap).
  template <class Pack>
  Pack bound_of(const Pack& gap, const Pack& popcount) const {
    return gap > 0.0 ? Pack(gap / (popcount + gap)) : gap;
  }
};

/// The first number of a row is |x|^2.
struct integer_term : word_term {
  enum { numbers = 1 };
  template <int W>
  using counter = device::dot_product<W>;

  static void write_numbers(double square, double* to) { to[0] = square; }
  /// Lengths say nothing of it.
  template <class Pack>
  Pack bound_of(const Pack& gap, const Pack&) const {
    return gap * 0.0;
  }
};

/// |x|^2 + |y|^2 - 2 <x, y>, exact.
struct integer_square_term : integer_term {
  template <class Pack>
  QUINTET_INLINE Pack reduced_of(const Pack& product, const Pack* column, const double* row, std::int64_t) const {
    return (column[0] + row[0]) - (product + product);
  }
  /// (|y| - |x|)^2, which is smaller for the longer y of two whose squares are as far from |x|^2.
  template <class Pack>
  Pack bound_of(const Pack& gap, const Pack& square) const {
    constexpr int lanes = sizeof(Pack) / sizeof(double);
    const Pack both = device::root<double, lanes>(Pack(square + gap)) + device::root<double, lanes>(square);
    const Pack difference = gap > 0.0 ? Pack(gap / both) : gap;
    return difference * difference * (1 - 16 * std::numeric_limits<double>::epsilon());
  }
};

/// 2^32 - <x, y>, exact: no number is negative.
struct integer_product_term : integer_term {
  template <class Pack>
  QUINTET_INLINE Pack reduced_of(const Pack& product, const Pack* column, const double* row, std::int64_t) const {
    // 0, or NaN where a row is missing.
    const Pack missing = (column[0] + row[0]) * 0.0;
    return (largest_product - product) + missing;
  }
};

/// 1 - g / (|x| |y|) of g = <x, y>, by 1 / |x| in two numbers (Dekker's products: Ogita, Rump, Oishi 2005). Both orders
/// of a pair have the same bits. Near 0 it is (|x|^2 |y|^2 - g^2) / (|x|^2 |y|^2 (1 + cos)), whose numerator is exact.
struct integer_cosine_term : integer_term {
  enum { numbers = 3 };

  static void write_numbers(double square, double* to) {
    to[0] = square;
    to[1] = 1 / device::root<double, 1>(square);
    const double s = to[1] * to[1], rest = device::fused_multiply_add(to[1], to[1], -s);
    to[2] = 0.5 * to[1] * (device::fused_multiply_add(-square, s, 1.0) - square * rest);
  }
  template <class Pack>
  QUINTET_INLINE Pack reduced_of(const Pack& product, const Pack* column, const double* row, std::int64_t step) const {
    constexpr int lanes = sizeof(Pack) / sizeof(double);
    const in_two<Pack> scale = times(column[1], column[2], row[step], row[2 * step]);
    const in_two<Pack> cosine = times(product, Pack{}, scale.high, scale.low);
    const Pack high = 1.0 - cosine.high, result = high + (((1.0 - high) - cosine.high) - cosine.low);
    const Pack near = device::broadcast_pack<Pack>(0x1p-20);
    if (lanes_up_to<double, lanes>(result, near) == 0) return result;
    return result > near ? result : near_zero(product, column[0], row[0], scale, cosine);
  }

 private:
  template <class Pack>
  struct in_two {
    Pack high, low;
  };

  template <class Pack, class Other>
  QUINTET_INLINE static in_two<Pack> times(const Pack& a, const Pack& a_low, const Other& b, const Other& b_low) {
    const Pack other = b - Pack{}, high = a * other;
    return {high, device::fused_multiply_add(a, other, Pack(-high)) + (a * b_low + a_low * other)};
  }
  /// Where 1 - cos is below 2^-19, |x|^2 |y|^2 - g^2 has at most 46 bits.
  template <class Pack>
  QUINTET_INLINE static Pack near_zero(const Pack& product, const Pack& square, double row_square,
                                       const in_two<Pack>& scale, const in_two<Pack>& cosine) {
    const in_two<Pack> squares = times(square, Pack{}, row_square, 0.0);
    const in_two<Pack> of_product = times(product, Pack{}, product, Pack{});
    const Pack rest = (squares.high - of_product.high) + (squares.low - of_product.low);
    const in_two<Pack> scale_squared = times(scale.high, scale.low, scale.high, scale.low);
    const in_two<Pack> top = times(rest, Pack{}, scale_squared.high, scale_squared.low);
    const Pack below = 1.0 + cosine.high, below_low = (cosine.high - (below - 1.0)) + cosine.low;
    const Pack quotient = top.high / below;
    const Pack left = device::fused_multiply_add(Pack(-quotient), below, top.high) + (top.low - quotient * below_low);
    return quotient + left / below;
  }
};

/// The sums of the term's counter over `words` words of a row and of W columns, which are `step` apart.
template <int W, class Term, class Word>
QUINTET_INLINE inline device::pack<double, W> count_words(const Term&, const Word* columns, std::int64_t step,
                                                          const Word* row, std::int64_t words) {
  typedef typename Term::template counter<W> counter;
  counter count;
  for (std::int64_t from = 0; from < words; from += counter::words_at_once) {
    const std::int64_t end = words - from < counter::words_at_once ? words : from + counter::words_at_once;
    for (std::int64_t k = from; k < end; ++k)
      count.add(device::load_words<W>(columns + k * step), device::load_words<1>(row + k) - typename counter::words{});
    count.settle();
  }
  return count.total();
}

template <class Term>
constexpr bool takes_words = std::is_base_of_v<word_term, Term>;

/// How a part's coordinates become a distance: |x - y|; that of the ball, of points with a factor; the same of points
/// of two words a coordinate; the angle of unit vectors of two words a coordinate.
enum class part_curve { flat, ball, sheet, arc };
/// Numbers before the coordinates of a part: its curve, how many they are, the weight of the squared distance, and the
/// point's factor.
enum { part_head = 4 };

/// Of rows [number, parts of factors ...], see product_rows.hpp. All rows have the same factors.
struct factors_term : sum_of_terms {
  enum { coordinates = 1 };

  /// No box excludes anything.
  template <class Pack>
  void add(Pack&, const Pack&) const {}

  /// Adds what `words` numbers say of the factors to the sums of columns and of Rows rows side by side.
  template <int Rows, class Pack>
  QUINTET_INLINE void add_factors(Pack* total, const double* column, std::int64_t column_step, const double* row,
                                  std::int64_t row_step, std::int64_t words) const {
    for (std::int64_t at = 0; at < words;) {
      const double *x = row + at * row_step, *y = column + at * column_step;
      const auto curve = part_curve(int(x[0]));
      const auto length = std::int64_t(x[row_step]);
      const double weight = x[2 * row_step];
      const double* const factor = x + 3 * row_step;
      const Pack of_column = device::load_pack<Pack>(y + 3 * column_step);
      x += part_head * row_step;
      y += part_head * column_step;
      Pack sum[Rows];
      add_part<Rows>(sum, y, column_step, x, row_step, length, curve);
#pragma GCC unroll 8
      for (int i = 0; i < Rows; ++i) {
        constexpr int lanes = sizeof(Pack) / sizeof(double);
        if (curve == part_curve::ball || curve == part_curve::sheet) {
          const Pack both = of_column * factor[i];
          sum[i] = device::twice_asinh_root<double, lanes>(Pack(sum[i] * both));
        } else if (curve == part_curve::arc) {
          sum[i] = device::arc<double, lanes>(sum[i]);
        }
        total[i] = device::fma(curve == part_curve::flat ? sum[i] : Pack(sum[i] * sum[i]), weight, total[i]);
      }
      at += part_head + length;
    }
  }

 private:
  /// |x - y|^2 of a part, and of angles their reduced distance.
  template <int Rows, class Pack>
  QUINTET_INLINE static void add_part(Pack* sum, const double* y, std::int64_t y_step, const double* x,
                                      std::int64_t x_step, std::int64_t length, part_curve curve) {
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) sum[i] = Pack{};
    if (curve == part_curve::flat || curve == part_curve::ball) {
      for (std::int64_t k = 0; k < length; ++k) {
        const Pack column = device::load_pack<Pack>(y + k * y_step);
#pragma GCC unroll 8
        for (int i = 0; i < Rows; ++i) {
          const Pack d = device::subtract_scalar(column, x + k * x_step + i);
          sum[i] = device::fma(d, d, sum[i]);
        }
      }
      return;
    }
    for (std::int64_t k = 0; k < length; k += 2) {
      const Pack high = device::load_pack<Pack>(y + k * y_step), low = device::load_pack<Pack>(y + (k + 1) * y_step);
#pragma GCC unroll 8
      for (int i = 0; i < Rows; ++i) {
        const Pack d =
            device::subtract_scalar(high, x + k * x_step + i) + device::subtract_scalar(low, x + (k + 1) * x_step + i);
        sum[i] = device::fma(d, d, sum[i]);
      }
    }
    if (curve == part_curve::arc) pass_right_angle<Rows>(sum, y, y_step, x, x_step, length);
  }

  /// 4 / |x + y|^2 where |x - y|^2 is above 2, see device/arc.hpp.
  template <int Rows, class Pack>
  QUINTET_INLINE static void pass_right_angle(Pack* sum, const double* y, std::int64_t y_step, const double* x,
                                              std::int64_t x_step, std::int64_t length) {
    bool any_far = false;
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) any_far |= great_circle_term<double>::may_exceed_right_angle(sum[i]);
    if (!any_far) return;
    Pack across[Rows];
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) across[i] = Pack{};
    for (std::int64_t k = 0; k < length; k += 2) {
      const Pack high = device::load_pack<Pack>(y + k * y_step), low = device::load_pack<Pack>(y + (k + 1) * y_step);
#pragma GCC unroll 8
      for (int i = 0; i < Rows; ++i) {
        const Pack s = (high + x[k * x_step + i]) + (low + x[(k + 1) * x_step + i]);
        across[i] = device::fma(s, s, across[i]);
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      const Pack least = device::broadcast_pack<Pack>(4 * std::numeric_limits<double>::min());
      const Pack far = device::broadcast_pack<Pack>(4.0) / (across[i] > least ? across[i] : least);
      sum[i] = sum[i] > 2.0 ? far : sum[i];
    }
  }
};

template <class Term>
constexpr bool takes_factors = std::is_same_v<Term, factors_term>;

/// Coordinates of points of dimension `dim` that boxes bound.
template <class Term>
constexpr std::int64_t boxed_coordinates(const Term&, std::int64_t dim) {
  if constexpr (takes_points<Term> || takes_words<Term> || takes_factors<Term>)
    return Term::coordinates;
  else
    return dim;
}

/// The difference of two high parts is exact where they are near each other, and that of low parts has the digits that
/// the high ones lack: (x - y)^2 is right to about 2^-103 of the larger coordinate. Double alone. What is taken in is
/// the sum of both differences.
template <class Real>
struct split_term : square_term<Real> {
  Real low;

  /// Of the gaps of both parts as coordinates of their own: gaps of the low ones may point the other way, which the
  /// largest that they can be makes up for.
  template <class Pack>
  Pack bound(const Pack& sum, std::int64_t dim) const {
    constexpr Real epsilon = std::numeric_limits<Real>::epsilon();
    const Pack zero{},
        root = device::root<Real, int(sizeof(Pack) / sizeof(Real))>(sum) * (1 - Real(dim + 8) * epsilon) -
               std::sqrt(Real(dim)) * low;
    const Pack least = root > zero ? root : zero;
    return least * least * (1 - 4 * epsilon);
  }
};

/// Numbers of a coordinate in the panels, which a term takes in together.
template <class Term>
inline constexpr int parts_of = 1;
template <class Real>
inline constexpr int parts_of<split_term<Real>> = 2;

/// Takes in coordinates of some columns, and of a row in memory. Terms that are not of differences overload it.
template <class Term, class Pack, class Real>
QUINTET_INLINE inline void take_in(const Term& term, Pack& sum, const Pack& columns, const Real* row) {
  const Pack difference = device::subtract_scalar(columns, row);
  term.add(sum, difference);
}
/// The same of coordinates in two parts; the low ones of the row are `step` numbers after the high ones.
template <class Term, class Pack, class Real>
QUINTET_INLINE inline void take_in_parts(const Term& term, Pack& sum, const Pack& high, const Pack& low,
                                         const Real* row, std::int64_t step) {
  const Pack difference = device::subtract_scalar(high, row) + device::subtract_scalar(low, row + step);
  term.add(sum, difference);
}

/// Calls f with the term of coordinates in two parts; of doubles alone.
template <class Real, class Function>
QUINTET_INLINE inline void with_split_term(const coordinate_term<Real>& term, const Function& f) {
  if constexpr (sizeof(Real) == 8) f(split_term<Real>{{}, term.p});
}

/// Calls f with the term of rows of words.
template <class Function>
QUINTET_INLINE inline void with_word_term(term_kind kind, const Function& f) {
  if (kind == term_kind::hamming)
    f(hamming_term{});
  else if (kind == term_kind::jaccard)
    f(jaccard_term{});
  else if (kind == term_kind::integer_square)
    f(integer_square_term{});
  else if (kind == term_kind::integer_cosine)
    f(integer_cosine_term{});
  else
    f(integer_product_term{});
}

/// Calls f with the term of a kernel for `Dim`.
template <int Dim, class Real, class Function>
QUINTET_INLINE inline void with_term(const coordinate_term<Real>& term, const Function& f) {
  if constexpr (Dim == word_rows) {
    with_word_term(term.kind, f);
  } else if constexpr (Dim == product_rows) {
    f(factors_term{});
  } else if constexpr (Dim != other_metrics) {
    f(square_term<Real>{});
  } else {
    if (term.kind == term_kind::magnitude)
      f(magnitude_term<Real>{});
    else if (term.kind == term_kind::largest)
      f(largest_term<Real>{});
    else if (term.kind == term_kind::great_circle)
      f(great_circle_term<Real>{});
    else if (term.kind == term_kind::split)
      with_split_term(term, f);
    else if (term.p == Real(int(term.p)))
      f(whole_power_term<Real>{{{}, term.p}});
    else
      f(power_term<Real>{{{}, term.p}});
  }
}

}  // namespace detail

}  // namespace quintet::pairwise
