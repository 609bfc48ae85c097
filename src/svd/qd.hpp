// Singular values of bidiagonal matrices to full relative accuracy: the differential quotient-difference algorithm with
// shifts (dqds; Fernando and Parlett 1994), with the shifts and tests of Parlett and Marques (2000).
//
// q_i and e_i are the squares of B on and above its diagonal. A transformation gives those of another B whose squared
// singular values are smaller by the shift, and e_{n-1} falls to zero. One thread has a matrix. Numbers are double,
// whatever the matrix was, so squares stay in range.
#pragma once

#include <limits>

#include "svd/lane_math.hpp"

namespace quintet::svd {

/// The q and e of a matrix.
struct qd_arrays {
  double *q, *e;
};

/// What the sums d_i = q_i - shift - ... of a transformation say: its smallest one, that without the last one and
/// without the last two, and these.
struct qd_sums {
  double least, least_before_last, least_before_two, last, before_last, third_last;
};

/// Of the shifted transformation its smallest sum, that without the last one, and this.
struct qd_outcome {
  double least, least_before_last, last;
  qd_sums sums;  ///< of the transformation without a shift that follows
  bool splits;   ///< whether some e is negligible beside its d and the shift
};

/// e below this part of d, or of a value, changes no value by more than a rounding error (Demmel and Kahan 1990).
constexpr double negligible_e = std::numeric_limits<double>::epsilon() * std::numeric_limits<double>::epsilon();

/// The block [first, last] of `from` less `shift`, transformed once more without a shift, becomes `to`; at least three
/// rows. The second transformation follows the first one row behind: each step waits for a division, and both wait at
/// the same time. `size`: all shifts, this one too.
QUINTET_SVD_INLINE qd_outcome transform_twice(const qd_arrays& from, const qd_arrays& to, int first, int last,
                                              double shift, double size) {
  double d = from.q[first] - shift, least = d, e_before = 0, d_next = 0, least_next = 0;
  bool splits = false;
  const auto shift_row = [&](int i) QUINTET_SVD_INLINE_LAMBDA {
    const double q = d + from.e[i], ratio = from.q[i + 1] / q;
    e_before = from.e[i] * ratio;
    d = device::fma(d, ratio, -shift);
    least = d < least ? d : least;
    return q;
  };
  // From element i of the shifted matrix above its diagonal and q_{i+1}.
  const auto follow = [&](int i, double e, double q_after) QUINTET_SVD_INLINE_LAMBDA {
    splits |= e <= negligible_e * (size + d_next);
    const double q = d_next + e, ratio = q_after / q;
    to.q[i] = q;
    to.e[i] = e * ratio;
    d_next *= ratio;
    least_next = d_next < least_next ? d_next : least_next;
  };
  const auto advance = [&](int i) QUINTET_SVD_INLINE_LAMBDA {
    const double e = e_before;
    follow(i - 1, e, shift_row(i));
  };
  d_next = least_next = shift_row(first);
  for (int i = first + 1; i < last - 1; ++i) advance(i);
  qd_outcome outcome;
  outcome.sums.third_last = d_next;
  outcome.sums.least_before_two = least_next;
  outcome.least_before_last = least;
  advance(last - 1);
  outcome.sums.before_last = d_next;
  outcome.sums.least_before_last = least_next;
  follow(last - 1, e_before, d);
  outcome.sums.last = to.q[last] = d_next;
  outcome.sums.least = least_next;
  outcome.last = d;
  outcome.least = d == d ? least : d;  // comparisons with NaN keep what they had
  outcome.splits = splits;
  return outcome;
}

/// The iteration on one matrix of n rows.
class qd_iteration {
 public:
  /// `other`: memory of the same size.
  QUINTET_SVD_INLINE qd_iteration(const qd_arrays& matrix, const qd_arrays& other, int n)
      : home_(matrix), away_(other), n_(n) {}

  /// The squared singular values take the place of q, in no order. False where one did not converge.
  QUINTET_SVD_INLINE bool run() {
    at_ = home_;
    last_ = n_ - 1;
    find_last_block();
    while (last_ >= 0) {
      begin_block();
      while (last_ >= first_) {
        if (deflate()) continue;
        split();
        if (last_ - first_ >= 2 && !advance()) return false;
      }
    }
    return true;
  }

 private:
  static constexpr double epsilon = std::numeric_limits<double>::epsilon();
  /// Where a block ends, e is -(the shift that it has had), or this if it had none.
  static constexpr double no_shift = -std::numeric_limits<double>::min();

  QUINTET_SVD_INLINE void begin_block() {
    const double mark = last_ + 1 < n_ ? home_.e[last_] : no_shift;
    shift_ = mark == no_shift ? 0 : -mark;
    lost_ = 0;
    at_ = home_;
    other_ = away_;
    for (first_ = last_; first_ > 0 && at_.e[first_ - 1] >= 0;) --first_;
    turn_if_rising();
    may_split_ = false;
    forget();
  }

  /// Marks where [first_, last_] falls apart; where its last block begins.
  QUINTET_SVD_INLINE int find_last_block() {
    int begin = first_;
    double d = at_.q[first_];
    for (int i = first_; i < last_; ++i) {
      if (at_.e[i] <= negligible_e * (shift_ + d)) {
        at_.e[i] = shift_ > 0 ? -(shift_ + lost_) : no_shift;
        begin = i + 1;
        d = at_.q[begin];
      } else {
        d = at_.q[i + 1] * (d / (d + at_.e[i]));
      }
    }
    return begin;
  }

  /// Nothing is known of the sums of this block.
  QUINTET_SVD_INLINE void forget() {
    deflated_ = 3;
    guess_ = 0.25;
    guesses_ = false;
  }

  /// Values converge at the end, the smallest first.
  QUINTET_SVD_INLINE void turn_if_rising() {
    if (!(1.5 * at_.q[first_] < at_.q[last_])) return;
    const auto exchange = [](double& x, double& y) QUINTET_SVD_INLINE_LAMBDA {
      const double value = x;
      x = y;
      y = value;
    };
    for (int i = first_, j = last_; i < j; ++i, --j) exchange(at_.q[i], at_.q[j]);
    for (int i = first_, j = last_ - 1; i < j; ++i, --j) exchange(at_.e[i], at_.e[j]);
    forget();
  }

  /// Takes a value that has converged, or two, from the end of the block.
  QUINTET_SVD_INLINE bool deflate() {
    const bool takes_one = last_ == first_ || at_.e[last_ - 1] <= negligible_e * (shift_ + at_.q[last_]);
    const bool takes_two = !takes_one && (last_ == first_ + 1 || are_last_two_free());
    if (!takes_one && !takes_two) return false;
    if (takes_two) solve_two(at_.q[last_ - 1], at_.e[last_ - 1], at_.q[last_]);
    const int count = takes_one ? 1 : 2;
    for (int i = 0; i < count; ++i, --last_) home_.q[last_] = shift_ + (lost_ + at_.q[last_]);
    deflated_ += count;
    if (last_ > first_) turn_if_rising();
    return true;
  }

  QUINTET_SVD_INLINE bool are_last_two_free() const {
    const double d = at_.q[last_ - 1] * (at_.q[last_] / (at_.q[last_] + at_.e[last_ - 1]));
    return at_.e[last_ - 2] <= negligible_e * (shift_ + d);
  }

  /// q1 and q2 become the squared singular values of two rows.
  static QUINTET_SVD_INLINE void solve_two(double& q1, double e, double& q2) {
    const double large = larger(q1, q2), small = smaller(q1, q2), half = 0.5 * ((large - small) + e);
    q1 = large;
    q2 = small;
    if (!(e > small * negligible_e) || !(half > 0)) return;
    const double ratio = small * (e / half);
    const double s = ratio <= half ? small * (e / (half * (1 + root(1 + ratio / half))))
                                   : small * (e / (half + root(half) * root(half + ratio)));
    q1 = large + (s + e);
    q2 = small * (large / q1);
  }

  /// The last part of a block that has fallen apart is a block; the others wait where they came from.
  QUINTET_SVD_INLINE void split() {
    if (!may_split_) return;
    may_split_ = false;
    const int begin = find_last_block();
    if (begin == first_) return;
    if (at_.q != home_.q)
      for (int i = first_; i < begin; ++i) {
        home_.q[i] = at_.q[i];
        home_.e[i] = at_.e[i];
      }
    first_ = begin;
    forget();
  }

  /// One transformation, with the largest shift that leaves all values positive as far as known.
  QUINTET_SVD_INLINE bool advance() {
    double shift = deflated_ > 2 ? 0 : choose_shift();
    for (int attempt = 0;; ++attempt) {
      if (++transformations_ > 50 * n_ + 100) return false;
      const double size = shift_ + shift;
      const qd_outcome outcome = transform_twice(at_, other_, first_, last_, shift, size);
      const bool is_late = outcome.least < 0 && outcome.least_before_last > 0;  // only the last sum is negative
      const bool is_zero = is_late && -outcome.last <= epsilon * size;          // but for a rounding error
      if (is_zero || outcome.least >= 0) {
        accept(outcome, shift);
        if (is_zero) at_.q[last_] = at_.e[last_ - 1] = sums_.last = sums_.least = 0;
        return true;
      }
      if (shift == 0) return false;
      // Where only the last sum is negative, the sum of both is a good shift.
      const double next = is_late ? (shift + outcome.last) * (1 - 2 * epsilon) : 0.25 * shift;
      shift = attempt < 2 && next > 0 ? next : 0;
    }
  }

  QUINTET_SVD_INLINE void accept(const qd_outcome& outcome, double shift) {
    const qd_arrays before = at_;
    at_ = other_;
    other_ = before;
    sums_ = outcome.sums;
    deflated_ = 0;
    may_split_ = outcome.splits;
    // Shifts are added with what the sum rounds off.
    const double total = shift_ + shift, part = total - shift_;
    lost_ += (shift_ - (total - part)) + (shift - part);
    shift_ = total;
  }

  /// A lower bound of the smallest squared value from the last sums, as far as possible.
  QUINTET_SVD_INLINE double choose_shift() {
    const bool guessed = guesses_;
    guesses_ = false;
    if (deflated_ == 0) {
      if (!(sums_.least > 0)) return 0;
      if (sums_.least == sums_.last)
        return sums_.least_before_last == sums_.before_last ? shift_of_gap()
                                                            : shift_of_residual(sums_.last, 0.25 * sums_.least);
      guess_ = guessed ? guess_ + (1 - guess_) / 3 : 0.25;
      guesses_ = sums_.least != sums_.before_last && sums_.least != sums_.third_last;
      return (guesses_ ? guess_ : 0.25) * sums_.least;
    }
    if (deflated_ == 1) {
      const double least = sums_.least_before_last;
      if (!(least > 0)) return 0;
      if (least != sums_.before_last) return 0.25 * least;
      return shift_of_residual(least, least / 3);
    }
    return sums_.least_before_two > 0 ? 0.25 * sums_.least_before_two : 0;
  }

  /// The last sum less what the two rows before can take from it (cases 2 and 3 of Parlett and Marques).
  QUINTET_SVD_INLINE double shift_of_gap() const {
    const double b1 = root(at_.q[last_]) * root(at_.e[last_ - 1]);
    const double b2 = root(at_.q[last_ - 1]) * root(at_.e[last_ - 2]);
    const double a2 = at_.q[last_ - 1] + at_.e[last_ - 1], d = sums_.last;
    const double gap2 = 0.75 * sums_.least_before_two - a2;
    const double gap1 = a2 - d - (gap2 > 0 && gap2 > b2 ? (b2 / gap2) * b2 : b1 + b2);
    if (gap1 > 0 && gap1 > b1) return larger(d - (b1 / gap1) * b1, 0.5 * sums_.least);
    double shift = d > b1 ? d - b1 : 0;
    if (a2 > b1 + b2) shift = smaller(shift, a2 - (b1 + b2));
    return larger(shift, sums_.least / 3);
  }

  /// The residual of the vector that the last rows would have as an eigenvector (case 4), where it is small.
  QUINTET_SVD_INLINE double shift_of_residual(double quotient, double otherwise) const {
    double product = 1, sum = 0;
    for (int i = last_ - 1; i >= first_; --i) {
      if (at_.e[i] > at_.q[i]) return otherwise;
      const double before = product;
      product *= at_.e[i] / at_.q[i];
      sum += product;
      if (100 * larger(product, i == last_ - 1 ? 0 : before) < sum || sum > 0.563) break;
    }
    sum *= 1.05;
    return sum < 0.563 ? larger(quotient * (1 - root(sum)) / (1 + sum), otherwise) : otherwise;
  }

  qd_arrays home_, away_, at_ = {}, other_ = {};
  int n_, first_ = 0, last_ = 0;
  int deflated_ = 3;  ///< values taken since the last transformation; above 2: its sums say nothing
  int transformations_ = 0;
  bool may_split_ = false, guesses_ = false;
  double guess_ = 0.25, shift_ = 0, lost_ = 0;
  qd_sums sums_ = {};
};

}  // namespace quintet::svd
