// Bidiagonal matrices of matrices that lie side by side, by reflections (Golub and Kahan 1965): the squares of B for
// qd_lanes.hpp. What a lane does depends on its own matrix alone.
#pragma once

#include "svd/maps.hpp"
#include "svd/rotation.hpp"

namespace quintet::svd {

/// The reduction of X, columns of `rows` elements, in the lanes of `where`; the others keep X and get squares of no
/// meaning. `q` and `e`: n squares each of every lane, of B and above its diagonal. `w` has room for `rows` scalars.
template <class Map>
class bidiagonal_lanes {
 public:
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  using mask = mask_of<scalar>;

  bidiagonal_lanes(const Map& map, real* x, int rows, int n, int ld, const mask& where, real* w)
      : map_(map), x_(x), rows_(rows), n_(n), ld_(ld), where_(where), w_(w) {}

  void run(double* q, double* e) const {
    for (int k = 0; k < n_; ++k) {
      widen(reflect_column(k), q, k);
      widen(k + 1 < n_ ? reflect_row(k) : scalar{}, e, k);
    }
  }

 private:
  /// v v^T / half is taken off the identity; zero where there is nothing to reflect.
  struct reflection {
    scalar head, inverse, square;
  };

  reflection reflect(const scalar& head, const scalar& below) const {
    const scalar square = device::fma(head, head, below), one = same<scalar>(real(1));
    const mask has_length = square > no_column_threshold<real>();
    const scalar length = root(square), half = length * (length + absolute(head));
    return {head + flip_sign(length, head),
            choose(has_length & where_, scalar(one / choose(has_length, half, one)), scalar{}), square};
  }

  real* column(int j) const { return map_.column(x_, j, ld_); }

  /// Groups of four columns from `first` on, then those that are left.
  template <class Function>
  void for_each_group(int first, Function f) const {
    int j = first;
    for (; j + 4 <= n_; j += 4) f(std::integral_constant<int, 4>(), j);
    for (; j < n_; ++j) f(std::integral_constant<int, 1>(), j);
  }

  /// Columns behind column k without their part along it, and w = the sum of r_j x_j over these, r the row k.
  scalar reflect_column(int k) const {
    const real* from = column(k);
    const scalar below = k + 1 < rows_ ? pair_dot(map_, from, from, rows_, k + 1) : scalar{};
    const reflection h = reflect(map_.element(from, k), below);
    for_each_group(k + 1, [&](auto count, int first) {
      constexpr int columns = decltype(count)::value;
      real* of[columns];
      scalar product[columns], factor[columns], row[columns];
      for (int c = 0; c < columns; ++c) {
        of[c] = column(first + c);
        product[c] = h.head * map_.element(of[c], k);
      }
      for (int i = k + 1; i < rows_; ++i) {
        const scalar value = map_.element(from, i);
        for (int c = 0; c < columns; ++c) product[c] = device::fma(value, map_.element(of[c], i), product[c]);
      }
      for (int c = 0; c < columns; ++c) {
        factor[c] = -product[c] * h.inverse;
        row[c] = device::fma(factor[c], h.head, map_.element(of[c], k));
        map_.set_element(of[c], k, choose(where_, row[c], map_.element(of[c], k)));
      }
      for (int i = k + 1; i < rows_; ++i) {
        const scalar value = map_.element(from, i);
        scalar sum = first == k + 1 ? scalar{} : map_.element(w_, i);
        for (int c = 0; c < columns; ++c) {
          const scalar next = device::fma(factor[c], value, map_.element(of[c], i));
          map_.set_element(of[c], i, next);
          sum = device::fma(row[c], next, sum);
        }
        map_.set_element(w_, i, sum);
      }
    });
    return h.square;
  }

  /// The rows below row k without their part along it.
  scalar reflect_row(int k) const {
    const scalar head = map_.element(column(k + 1), k);
    if (k + 2 == n_) return head * head;
    scalar below{};
    for (int j = k + 2; j < n_; ++j) {
      const scalar value = map_.element(column(j), k);
      below = device::fma(value, value, below);
    }
    const reflection h = reflect(head, below);
    const scalar change = h.head - head;
    const real* of_next = column(k + 1);
    for (int i = k + 1; i < rows_; ++i)
      map_.set_element(w_, i, device::fma(change, map_.element(of_next, i), map_.element(w_, i)));
    for_each_group(k + 1, [&](auto count, int first) {
      constexpr int columns = decltype(count)::value;
      real* of[columns];
      scalar factor[columns];
      for (int c = 0; c < columns; ++c) {
        of[c] = column(first + c);
        factor[c] = (first + c == k + 1 ? h.head : map_.element(of[c], k)) * -h.inverse;
      }
      for (int i = k + 1; i < rows_; ++i) {
        const scalar value = map_.element(w_, i);
        for (int c = 0; c < columns; ++c)
          map_.set_element(of[c], i, device::fma(factor[c], value, map_.element(of[c], i)));
      }
    });
    return h.square;
  }

  void widen(const scalar& value, double* to, int j) const {
    for (int l = 0; l < Map::packed; ++l) to[std::int64_t(j) * Map::width + map_.lane + l] = double(lane_of(value, l));
  }

  const Map& map_;
  real* x_;
  int rows_, n_, ld_;
  mask where_;
  real* w_;
};

}  // namespace quintet::svd
