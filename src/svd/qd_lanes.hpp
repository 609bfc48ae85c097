// Singular values of bidiagonal matrices that lie side by side: the differential qd algorithm with shifts (Fernando and
// Parlett 1994) in lockstep. qd.hpp has it for one matrix.
//
// A shift is Laguerre's bound of the smallest squared value, from the traces of the inverse and of its square. Both are
// sums of positive terms, in the pass of the transformation before. The bound never exceeds that value, so no
// transformation fails, and lanes need no second copy. Every matrix has its own block and shift: what a lane does
// depends on its own matrix alone.
#pragma once

#include <limits>

#include "svd/maps.hpp"

namespace quintet::svd {

/// The iteration on the matrices of one pack; Map is a lanes_map of double. `q` and `e`: squares of B and above its
/// diagonal, overwritten. The squared singular values take the place of `q`, in no order.
template <class Map>
class qd_lanes {
 public:
  using scalar = typename Map::scalar;
  using mask = mask_of<scalar>;

  qd_lanes(const Map& map, double* q, double* e, int n) : map_(map), q_(q), e_(e), n_(n) {
    turn_if_rising();
    mark_blocks();
    for (int l = 0; l < Map::packed; ++l) open_block(l, n - 1, 0);
  }

  /// Returns the lanes that did not converge.
  mask run() {
    for (int pass = 0; pass < 20 * n_ + 100; ++pass) {
      if (!has_blocks()) break;
      transform();
      take_values();
    }
    return pack_of_lanes(last_) >= 0.0;
  }

 private:
  static constexpr double epsilon = std::numeric_limits<double>::epsilon();
  /// e below this part of a squared value changes no value by more than a rounding error (Demmel and Kahan 1990).
  static constexpr double negligible = epsilon * epsilon;
  /// What is smaller counts as zero.
  static constexpr double least_square = 1e-300;
  /// Where a block ends, e is -(the shift that it has had), or this if it had none.
  static constexpr double no_shift = -std::numeric_limits<double>::min();

  double& element(double* array, int i, int l) { return lane_element(map_, array, 0, i, 0, l); }
  static scalar pack_of_lanes(const double* values) { return device::load_pack<scalar>(values); }

  /// Values converge at the end, the smallest first.
  void turn_if_rising() {
    const mask rises = 1.5 * map_.entry(q_, 0) < map_.entry(q_, n_ - 1);
    if (!any(rises)) return;
    turn(rises, q_, n_ - 1);
    turn(rises, e_, n_ - 2);
  }
  void turn(const mask& where, double* array, int last) {
    for (int i = 0, j = last; i < j; ++i, --j) {
      const scalar x = map_.entry(array, i), y = map_.entry(array, j);
      map_.set_entry(array, i, choose(where, y, x));
      map_.set_entry(array, j, choose(where, x, y));
    }
  }

  /// Where a matrix falls apart from the beginning.
  void mark_blocks() {
    scalar d = map_.entry(q_, 0);
    for (int i = 0; i + 1 < n_; ++i) {
      const scalar e = map_.entry(e_, i), q = map_.entry(q_, i + 1), sum = d + e;
      const mask splits = e <= negligible * d;
      map_.set_entry(e_, i, choose(splits, same<scalar>(no_shift), e));
      d = choose(splits, q, scalar(q * (d / choose(splits, same<scalar>(1.0), sum))));
    }
  }

  /// The block of lane l that ends in row `last`, which has had `shift`. Blocks of one row are values; below row 0
  /// there is none.
  void open_block(int l, int last, double shift) {
    for (; last >= 0; --last) {
      int first = last;
      while (first > 0 && !(element(e_, first - 1, l) < 0)) --first;
      first_[l] = first;
      last_[l] = last;
      shift_[l] = shift;
      lost_[l] = next_[l] = 0;
      if (first < last) return;
      take_value(l, last, element(q_, last, l));
      if (last > 0) shift = shift_of_mark(element(e_, last - 1, l));
    }
    first_[l] = n_;
    last_[l] = -1;
  }
  static double shift_of_mark(double mark) { return mark == no_shift ? 0 : -mark; }
  void take_value(int l, int row, double value) { element(q_, row, l) = shift_[l] + (lost_[l] + value); }

  bool has_blocks() {
    low_ = n_;
    top_ = 0;
    for (int l = 0; l < Map::packed; ++l) {
      low_ = first_[l] < low_ ? int(first_[l]) : low_;
      top_ = last_[l] > top_ ? int(last_[l]) : top_;
    }
    return low_ < top_;
  }

  /// Traces of the inverse of B B^T, and of the square of that: t_k is |column k of B^-1|^2, u_k the sum of the squares
  /// of its products with the columns before.
  struct traces {
    scalar t{}, u{}, sum{}, of_squares{};
    void add(const scalar& e, const scalar& inverse) {
      u = (e * inverse) * device::fma(t, t, u);
      t = device::fma(e, t, same<scalar>(1.0)) * inverse;
      sum += t;
      of_squares += device::fma(t, t, 2.0 * u);
    }
    void choose_from(const mask& where, const traces& other) {
      t = choose(where, other.t, t);
      u = choose(where, other.u, u);
      sum = choose(where, other.sum, sum);
      of_squares = choose(where, other.of_squares, of_squares);
    }
  };

  static scalar inverse_of(const scalar& x) { return same<scalar>(1.0) / larger(x, same<scalar>(least_square)); }

  /// Laguerre's bound for `count` rows, less what rounds.
  scalar bound(const traces& all, const scalar& count) const {
    const scalar one = same<scalar>(1.0), zero{}, inverse = one / larger(all.sum, same<scalar>(least_square));
    const scalar excess = device::fma(count * (all.of_squares * inverse), inverse, -one);
    // With what rounds: the root of a small number is worth half its digits.
    const scalar spread = larger(excess, zero) + count * (64 * epsilon);
    const scalar laguerre = count / (one + root((count - one) * spread)) * inverse;
    // Squares of large sums overflow.
    const scalar safe = choose(all.sum < 1e140, laguerre, inverse) * (1 - 32 * epsilon * n_);
    return choose((safe > zero) & (all.sum < 1e290), safe, zero);
  }

  /// One transformation of every block by its shift.
  void transform() {
    const scalar zero{}, first = pack_of_lanes(first_), last = pack_of_lanes(last_), shift = pack_of_lanes(next_);
    const scalar before = pack_of_lanes(shift_), size = before + shift, part = size - before;
    const scalar lost = pack_of_lanes(lost_) + ((before - (size - part)) + (shift - part));
    const scalar mark = smaller(scalar(-(size + lost)), same<scalar>(no_shift));
    scalar d{}, begin = first, q = map_.entry(q_, low_), e_before{}, above{}, e_last{}, end{};
    traces running, of_block;
    for (int i = low_; i < top_; ++i) {
      const scalar row = same<scalar>(double(i)), e = map_.entry(e_, i), q_next = map_.entry(q_, i + 1);
      const mask starts = first == row, inside = (first <= row) & (row < last), ends = last == row + 1.0;
      d = choose(starts, larger(q - shift, zero), d);
      const scalar q_new = d + e, inverse = inverse_of(q_new), ratio = q_next * inverse;
      const scalar e_new = e * ratio, d_next = larger(device::fma(d, ratio, -shift), zero);
      running.add(e_before, inverse);
      const mask splits = inside & !ends & (e_new <= negligible * (size + d_next));
      map_.set_entry(q_, i, choose(inside, q_new, q));
      map_.set_entry(e_, i, choose(inside, choose(splits, mark, e_new), e));
      of_block.choose_from(ends, running);
      above = choose(ends, q_new, above);
      e_last = choose(ends, e_new, e_last);
      end = choose(ends, d_next, end);
      q = choose(ends, d_next, q_next);
      e_before = e_new;
      d = choose(inside, d_next, d);
      const mask restarts = splits | !inside;
      begin = choose(splits, row + 1.0, begin);
      e_before = choose(restarts, zero, e_before);
      running.choose_from(restarts, traces());
    }
    map_.set_entry(q_, top_, q);
    store(first_, begin);
    store(shift_, size);
    store(lost_, lost);
    judge(of_block, above, e_last, end, size, last - begin);
  }

  static void store(double* to, const scalar& values) { device::store_pack(to, values); }

  /// Which blocks have a value at their end, and the shifts for what is left. `count`: rows before the last one.
  void judge(const traces& before_last, const scalar& above, const scalar& e, const scalar& end, const scalar& size,
             const scalar& count) {
    const scalar zero{}, part = size * (epsilon / 8);
    const mask converged = (e <= negligible * (size + end)) | (e * (above + e) < part * part);
    traces all = before_last;
    all.add(e, inverse_of(end));
    const scalar of_rest = bound(before_last, count), of_all = bound(all, count + 1.0);
    store(next_, choose(converged, of_rest, of_all));
    store(converged_, choose(converged, same<scalar>(1.0), zero));
    store(end_, end);
  }

  void take_values() {
    for (int l = 0; l < Map::packed; ++l) {
      if (last_[l] < 0 || converged_[l] == 0) continue;
      const int first = int(first_[l]), last = int(last_[l]);
      take_value(l, last, end_[l]);
      last_[l] = last - 1;
      if (last - 1 > first) continue;
      take_value(l, first, element(q_, first, l));
      open_block(l, first - 1, first > 0 ? shift_of_mark(element(e_, first - 1, l)) : 0);
    }
  }

  const Map& map_;
  double *q_, *e_;
  int n_, low_ = 0, top_ = 0;
  // Of every lane. A lane that is done has its first row behind all others.
  double first_[Map::packed] = {}, last_[Map::packed] = {}, shift_[Map::packed] = {}, lost_[Map::packed] = {};
  double next_[Map::packed] = {}, converged_[Map::packed] = {}, end_[Map::packed] = {};
};

}  // namespace quintet::svd
