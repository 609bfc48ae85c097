// Eigenvalues of tridiagonal matrices that lie side by side: iterate_tridiagonal() of each, in lockstep.
//
// Every matrix is at a block [l, m] and a shift of its own, and takes one step whenever the others do, until its
// eigenvalues are there. So the steps of a matrix do not depend on its neighbours. Rows that are not in the block of a
// matrix have a rotation by nothing.
#pragma once

#include "svd/eigenvectors.hpp"

namespace quintet::svd {

/// The iteration on the matrices of one group. Where `sign` is null, nothing is recorded.
template <class Map>
class tridiagonal_lanes {
 public:
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  using mask = mask_of<scalar>;

  /// T: `d` on the diagonal and `e` next to it, both overwritten.
  QUINTET_SVD_INLINE tridiagonal_lanes(const Map& map, real* d, real* e, real* sign, int n)
      : map_(map), d_(d), e_(e), sign_(sign), n_(n) {
    scalar size{};
    for (int i = 0; i < n; ++i) size = larger(size, absolute(map_.entry(d_, i)));
    for (int i = 0; i + 1 < n; ++i) size = larger(size, absolute(map_.entry(e_, i)));
    constexpr real epsilon = std::numeric_limits<real>::epsilon();
    floor_ = size * (epsilon * epsilon);
    if (sign_ != nullptr)
      for (int i = 0; i < n; ++i) map_.set_entry(sign_, i, one());
    find_blocks();
  }

  QUINTET_SVD_INLINE bool has_more() const { return any(open_); }
  /// Matrices with eigenvalues left.
  QUINTET_SVD_INLINE const mask& unfinished() const { return open_; }
  /// Matrices with an eigenvalue that did not converge.
  QUINTET_SVD_INLINE const mask& failed() const { return failed_; }

  /// At most `steps` steps of every matrix; rotate_rows() takes what is recorded. Returns the numbers written.
  QUINTET_SVD_INLINE std::int64_t iterate(int steps, real* record) {
    std::int64_t used = 0;
    for (int step = 0; step < steps && has_more(); ++step) {
      take_step(record, used);
      find_blocks();
    }
    return used;
  }

 private:
  static QUINTET_SVD_INLINE scalar one() { return same<scalar>(real(1)); }
  static QUINTET_SVD_INLINE scalar number(int i) { return same<scalar>(real(i)); }
  static QUINTET_SVD_INLINE mask nothing() { return scalar{} > scalar{}; }

  /// The first block of every matrix that does not fall apart. An eigenvalue that does not converge is left.
  QUINTET_SVD_INLINE void find_blocks() {
    for (;;) {
      const scalar before = l_;
      search_blocks(before);
      const mask stuck = open_ & (iterations_ >= real(max_ql_iterations(n_)));
      if (!any(stuck)) break;
      failed_ = failed_ | stuck;
      for (int i = 0; i + 1 < n_; ++i)
        map_.set_entry(e_, i, choose(stuck & is_row(l_, i), scalar{}, map_.entry(e_, i)));
    }
    iterations_ = choose(open_, iterations_ + one(), iterations_);
  }

  /// Eigenvalues in the rows before `before` are there.
  QUINTET_SVD_INLINE void search_blocks(const scalar& before) {
    constexpr real epsilon = std::numeric_limits<real>::epsilon();
    open_ = nothing();
    mask closed = nothing();
    l_ = number(n_);
    m_ = scalar{};
    top_ = 0;
    scalar d = map_.entry(d_, lowest_);
    for (int i = lowest_; i + 1 < n_; ++i) {
      const scalar d_next = map_.entry(d_, i + 1), e = map_.entry(e_, i);
      const mask couples =
          (absolute(e) > device::fma(absolute(d) + absolute(d_next), epsilon, floor_)) & (before <= real(i));
      const mask starts = couples & !open_, ends = open_ & !couples & !closed;
      if (any(starts)) {
        if (!any(open_)) lowest_ = i;
        l_ = choose(starts, number(i), l_);
        d_l_ = choose(starts, d, d_l_);
        d_after_ = choose(starts, d_next, d_after_);
        e_l_ = choose(starts, e, e_l_);
        open_ = open_ | starts;
      }
      if (any(ends)) {
        end_blocks(ends, i, d);
        closed = closed | ends;
      }
      d = d_next;
    }
    const mask rest = open_ & !closed;
    if (any(rest)) end_blocks(rest, n_ - 1, d);
  }

  QUINTET_SVD_INLINE void end_blocks(const mask& ends, int m, const scalar& d) {
    m_ = choose(ends, number(m), m_);
    d_m_ = choose(ends, d, d_m_);
    top_ = m;
  }

  static QUINTET_SVD_INLINE mask is_row(const scalar& row, int i) { return (row >= real(i)) & (row <= real(i)); }

  /// One implicit QL step of every matrix that is not done, over the rows of all blocks.
  QUINTET_SVD_INLINE void take_step(real* record, std::int64_t& used) {
    const scalar zero{};
    chased_bulge<scalar> bulge = start_bulge(d_l_, d_after_, choose(open_, e_l_, one()), d_m_);
    mask chasing = open_;  // until the matrix falls apart
    scalar d_next = map_.entry(d_, top_), carried{};
    if (sign_ != nullptr) {
      carried = map_.entry(sign_, top_);
      append(record, used, number(top_));
      append(record, used, number(top_ - lowest_));
    }
    for (int i = top_ - 1; i >= lowest_; --i) {
      const scalar d = map_.entry(d_, i), e = map_.entry(e_, i), e_next = map_.entry(e_, i + 1);
      const mask inside = chasing & (l_ <= real(i)) & (m_ > real(i));
      const scalar square = square_with(bulge, e);
      const mask turns = inside & (square > no_column_threshold<real>()), vanishes = inside & !turns;
      const scalar length = root(choose(turns, square, one()));
      scalar turned_d = d_next;
      const chased_bulge<scalar> next = chase(bulge, e, length, d, turned_d);
      // The last row of the block is free of the others now.
      const scalar new_e = choose(vanishes | is_row(m_, i + 1), zero, length);
      map_.set_entry(e_, i + 1, choose(inside, new_e, e_next));
      map_.set_entry(d_, i + 1, choose(turns, turned_d, choose(vanishes, d_next - bulge.p, d_next)));
      bulge = {choose(turns, next.s, bulge.s), choose(turns, next.c, bulge.c), choose(turns, next.p, bulge.p),
               choose(turns, next.g, bulge.g)};
      chasing = chasing & !vanishes;
      const mask arrives = turns & is_row(l_, i);
      d_next = choose(arrives, d - bulge.p, d);
      map_.set_entry(e_, i, choose(arrives, bulge.g, e));
      if (sign_ != nullptr) carried = record_turn(bulge, turns, i, carried, record, used);
    }
    map_.set_entry(d_, lowest_, d_next);
    if (sign_ != nullptr) map_.set_entry(sign_, lowest_, carried);
  }

  /// Rotation i of a step; the sign of column i + 1 is final, that of the other one is returned.
  QUINTET_SVD_INLINE scalar record_turn(const chased_bulge<scalar>& bulge, const mask& turns, int i,
                                        const scalar& carried, real* record, std::int64_t& used) {
    const scalar zero{}, sign = map_.entry(sign_, i);
    const scalar turn = choose(turns & (bulge.c < zero), -one(), one());
    const scalar turned = choose(turns, bulge.s * (turn * carried * sign), zero);
    append(record, used, turned / (one() + absolute(choose(turns, bulge.c, zero))));
    append(record, used, turned);
    map_.set_entry(sign_, i + 1, turn * carried);
    return turn * sign;
  }

  QUINTET_SVD_INLINE void append(real* record, std::int64_t& used, const scalar& value) {
    map_.set_entry(record, int(used++), value);
  }

  const Map& map_;
  real *d_, *e_, *sign_;
  int n_;
  scalar floor_;
  mask open_ = nothing(), failed_ = nothing();
  scalar l_{}, m_{}, d_l_{}, d_after_{}, e_l_ = one(), d_m_{}, iterations_{};
  int lowest_ = 0, top_ = 0;
};

}  // namespace quintet::svd
