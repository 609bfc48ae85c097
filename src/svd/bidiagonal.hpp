// A = Q B P^T with an upper bidiagonal B, by reflections (Golub and Kahan 1965), for singular values alone.
//
// A step makes one reflection for a column and one for a row, which take z and w: A - tau_q u z^T - tau_p w v^T. Its
// products z = A^T u and w = A v take one pass over A (Howell, Demmel, Fulton, Hammarling, Marmol 2008): once z_j is
// known, so is element j of the row r that v is made from, and A r is summed while column j is in a cache. A itself
// changes every `pending_pairs` steps, in the pass of the next one; in between, products are corrected by the pairs
// that it lacks. So a step reads A once and hardly writes it.
//
// On the rows map. Parts of columns have sums of their own, which are added in order: the bits do not depend on who
// does what, and no chain of a sum is long.
#pragma once

#include "svd/maps.hpp"
#include "svd/rotation.hpp"

namespace quintet::svd {

/// Pairs of rank one that A may lack.
enum { pending_pairs = 8, pending_vectors = 2 * pending_pairs };
/// Columns of a part, and chunks of rows whose products are added one after the other: short chains, because the errors
/// of equal terms, as of a matrix of ones, all have one sign.
enum { columns_of_reduction = 64, chunks_of_chain = 8 };

/// Memory of the reduction, from an address on that suits double. Vectors of rows have `ld` numbers, those of columns
/// n.
template <class Real>
struct bidiagonal_memory {
  Real* pending;            ///< [pending_vectors] u and tau_p w of the pairs that A lacks, by turns
  Real* records;            ///< [n, pending_vectors] tau_q z_j and v_j of these
  Real *u, *z, *row;        ///< of this step
  Real* sums;               ///< [parts] A r of the columns of a part
  Real* products;           ///< [parts, pending_vectors] records times r
  Real* factors;            ///< [2, pending_vectors] u times pending vectors; what these change of the row
  Real* tau;                ///< of the column
  double* squares;          ///< [4, n] of B, for qd_iteration
  Real *diagonal, *beside;  ///< [n] B

  /// Numbers that this takes, from `first` on.
  QUINTET_SVD_INLINE static std::int64_t size(std::int64_t n, std::int64_t ld) {
    const std::int64_t parts = (n + columns_of_reduction - 1) / columns_of_reduction;
    return padded((pending_vectors + 1 + parts) * ld) + (n + parts + 3) * pending_vectors +
           (4 + 4 * std::int64_t(sizeof(double) / sizeof(Real))) * padded(n);
  }
  QUINTET_SVD_INLINE static bidiagonal_memory at(Real* first, std::int64_t n, std::int64_t ld) {
    const std::int64_t parts = (n + columns_of_reduction - 1) / columns_of_reduction;
    const auto take = [&](std::int64_t count) QUINTET_SVD_INLINE_LAMBDA {
      Real* const array = first;
      first += count;
      return array;
    };
    bidiagonal_memory m;
    m.pending = take(pending_vectors * ld);
    m.u = take(ld);
    m.sums = take(padded((pending_vectors + 1 + parts) * ld) - (pending_vectors + 1) * ld);
    m.records = take(n * pending_vectors);
    m.products = take(parts * pending_vectors);
    m.factors = take(2 * pending_vectors);
    m.tau = take(pending_vectors);
    m.z = take(padded(n));
    m.row = take(padded(n));
    m.diagonal = take(padded(n));
    m.beside = take(padded(n));
    m.squares = reinterpret_cast<double*>(first);
    return m;
  }

 private:
  /// To whole chunks of every map.
  QUINTET_SVD_INLINE static std::int64_t padded(std::int64_t n) { return (n + 15) / 16 * 16; }
};

/// The reduction of the matrix in `m`, whose columns are overwritten. Rows of padding are zero.
template <class Map>
class bidiagonal_reduction {
 public:
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  using vector = typename Map::vector;

  QUINTET_SVD_INLINE bidiagonal_reduction(const Map& map, real* x, int rows, int n, int ld,
                                          const bidiagonal_memory<real>& at)
      : map_(map), x_(x), rows_(rows), n_(n), ld_(ld), at_(at) {}

  /// Parts of the pass of step k.
  static QUINTET_SVD_INLINE int parts(int n, int k) {
    return (n - k - 2 + columns_of_reduction) / columns_of_reduction;
  }

  /// The reflection of row k - 1, then that of column k.
  QUINTET_SVD_INLINE void begin_step(int k) const {
    if (k == 0) {
      for_each_row(map_, n_, (n_ + 15) / 16 * 16, [&](int j) QUINTET_SVD_INLINE_LAMBDA { at_.row[j] = at_.z[j] = 0; });
      for (std::int64_t i = map_.team_first(); i < std::int64_t(n_) * pending_vectors; i += map_.team_step())
        at_.records[i] = 0;
      map_.barrier();
    } else {
      reflect_row(k - 1);
    }
    reflect_column(k);
  }

  /// Part `part` of the columns behind k: z, r and the sums of A r.
  QUINTET_SVD_INLINE void meet_part(int k, int part) const {
    const int begin = k + 1 + part * columns_of_reduction, rest = n_ - begin;
    const int end = begin + (rest < columns_of_reduction ? rest : int(columns_of_reduction));
    real* sums = at_.sums + std::int64_t(part) * ld_;
    real* products = at_.products + std::int64_t(part) * pending_vectors;
    if constexpr (Map::row_cyclic) {
      int j = begin;
      for (; j + 4 <= end; j += 4) meet_group<4>(k, j, sums, products, j == begin);
      for (; j < end; ++j) meet_group<1>(k, j, sums, products, j == begin);
    } else {
      for_each_item(map_, begin, end, [&](int j, bool valid) QUINTET_SVD_INLINE_LAMBDA {
        if (applies(k) && valid)
          for (int q = 0; q < pending_vectors; ++q) pair_add(map_, -record(j)[q], pending(q), column(j), rows_, k);
        const real product = pair_dot(map_, column(j), at_.u, rows_, k);
        if (valid && map_.leads_pair()) at_.z[j] = product;
      });
      map_.barrier();
      for_each_row(map_, begin, end, [&](int j) QUINTET_SVD_INLINE_LAMBDA { correct_products(k, j); });
      map_.barrier();
      for_each_row(map_, k + 1, rows_, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
        sums[i] = sum_of_terms<real>(
            end - begin, [&](int j) QUINTET_SVD_INLINE_LAMBDA { return column(begin + j)[i] * at_.row[begin + j]; });
      });
      for_each_row(map_, 0, pending_vectors, [&](int q) QUINTET_SVD_INLINE_LAMBDA {
        products[q] = sum_of_terms<real>(
            end - begin, [&](int j) QUINTET_SVD_INLINE_LAMBDA { return record(begin + j)[q] * at_.row[begin + j]; });
      });
      map_.barrier();
    }
  }

 private:
  /// Pairs that A lacks when step k begins, and whether its pass applies them.
  static QUINTET_SVD_INLINE int lacking(int k) { return k == 0 ? 0 : (k - 1) % pending_pairs + 1; }
  static QUINTET_SVD_INLINE bool applies(int k) { return lacking(k) == pending_pairs; }
  /// Vectors of pairs that A lacks in step k, once its pass is done.
  static QUINTET_SVD_INLINE int lacking_vectors(int k) { return applies(k) ? 0 : 2 * lacking(k); }

  QUINTET_SVD_INLINE real* column(int j) const { return x_ + std::int64_t(j) * ld_; }
  QUINTET_SVD_INLINE real* pending(int q) const { return at_.pending + std::int64_t(q) * ld_; }
  QUINTET_SVD_INLINE real* record(int j) const { return at_.records + std::int64_t(j) * pending_vectors; }
  QUINTET_SVD_INLINE int chunks() const { return (rows_ + Map::chunk - 1) / Map::chunk; }

  /// beta, tau and 1 / (alpha - beta) of a reflection. What is so small that its squares underflow is dropped.
  struct reflection {
    real beta, tau, inverse;
  };
  static QUINTET_SVD_INLINE reflection reflect(real alpha, real below) {
    if (!(below > no_column_threshold<real>())) return {alpha, 0, 0};
    const real length = root(device::fma(alpha, alpha, below)), beta = alpha > 0 ? -length : length;
    return {beta, (beta - alpha) / beta, 1 / (alpha - beta)};
  }

  QUINTET_SVD_INLINE void reflect_column(int k) const {
    const real* from = column(k);
    const real* of_column = record(k);
    const int count = 2 * lacking(k), first = k / Map::chunk;
    for (int c = first + map_.team_first(); c < chunks(); c += map_.team_step()) {
      vector value = load<Map>(from, c);
      for (int q = 0; q < count; ++q) value = device::fma(load<Map>(pending(q), c), -of_column[q], value);
      store<Map>(at_.u, c, value);
    }
    map_.barrier();
    const reflection h = reflect(at_.u[k], team_dot(map_, at_.u, at_.u, rows_, k + 1));
    map_.barrier();
    for_each_row(map_, first * Map::chunk, ld_, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
      at_.u[i] = i < k || i >= rows_ ? real(0) : i == k ? real(1) : at_.u[i] * h.inverse;
    });
    if (map_.leads_team()) {
      at_.diagonal[k] = h.beta;
      at_.tau[0] = h.tau;
    }
    map_.barrier();
    if (k + 1 == n_) return;
    const int lacks = lacking_vectors(k);
    for_each_item(map_, 0, lacks, [&](int q, bool valid) QUINTET_SVD_INLINE_LAMBDA {
      const real product = pair_dot(map_, at_.u, pending(q), rows_, first * Map::chunk);
      if (!valid || !map_.leads_pair()) return;
      at_.factors[q] = product;
      at_.factors[pending_vectors + q] = pending(q)[k] - h.tau * product;
    });
    for_each_row(map_, lacks, pending_vectors,
                 [&](int q) QUINTET_SVD_INLINE_LAMBDA { at_.factors[q] = at_.factors[pending_vectors + q] = 0; });
    map_.barrier();
  }

  /// Count columns from `first` on, by one thread.
  template <int Count>
  QUINTET_SVD_INLINE void meet_group(int k, int first, real* sums, real* products, bool starts) const {
    if (applies(k))
      multiply_group<Count, true>(k, first);
    else
      multiply_group<Count, false>(k, first);
    for (int e = 0; e < Count; ++e) correct_products(k, first + e);
    const real *of[Count], *r = at_.row + first;
    for (int e = 0; e < Count; ++e) of[e] = column(first + e);
    for (int c = (k + 1) / Map::chunk; c < chunks(); ++c) {
      vector sum = load<Map>(of[0], c) * r[0];
      for (int e = 1; e < Count; ++e) sum = device::fma(load<Map>(of[e], c), r[e], sum);
      store<Map>(sums, c, starts ? sum : load<Map>(sums, c) + sum);
    }
    for (int q = 0; q < packs; ++q) {
      vector sum = starts ? vector{} : load<Map>(products, q);
      for (int e = 0; e < Count; ++e) sum = device::fma(load<Map>(record(first + e), q), r[e], sum);
      store<Map>(products, q, sum);
    }
  }

  template <int Count, bool Applies>
  QUINTET_SVD_INLINE void multiply_group(int k, int first) const {
    constexpr int tile = 4;
    real* of[Count];
    for (int e = 0; e < Count; ++e) of[e] = column(first + e);
    vector total[Count] = {};
    const int end = chunks();
    for (int begin = k / Map::chunk; begin < end; begin += chunks_of_chain) {
      const int last = begin + chunks_of_chain < end ? begin + chunks_of_chain : end;
      vector sum[Count] = {};
      int c = begin;
      if constexpr (Applies) {
        for (; c + tile <= last; c += tile) update_tile<Count, tile>(of, first, c, sum);
        for (; c < last; ++c) update_tile<Count, 1>(of, first, c, sum);
      } else {
        for (; c < last; ++c) {
          const vector value = load<Map>(at_.u, c);
          for (int e = 0; e < Count; ++e) sum[e] = device::fma(load<Map>(of[e], c), value, sum[e]);
        }
      }
      for (int e = 0; e < Count; ++e) total[e] += sum[e];
    }
    for (int e = 0; e < Count; ++e) at_.z[first + e] = map_.fold(total[e]);
  }

  /// Tile chunks of Count columns without what A lacks, and their products with u.
  template <int Count, int Tile>
  QUINTET_SVD_INLINE void update_tile(real* const* of, int first, int c, vector* sum) const {
    vector value[Count][Tile];
    for (int e = 0; e < Count; ++e)
      for (int i = 0; i < Tile; ++i) value[e][i] = load<Map>(of[e], c + i);
    for (int q = 0; q < pending_vectors; ++q) {
      vector other[Tile];
      for (int i = 0; i < Tile; ++i) other[i] = load<Map>(pending(q), c + i);
      for (int e = 0; e < Count; ++e) {
        const real factor = -record(first + e)[q];
        for (int i = 0; i < Tile; ++i) value[e][i] = device::fma(other[i], factor, value[e][i]);
      }
    }
    for (int i = 0; i < Tile; ++i) {
      const vector u = load<Map>(at_.u, c + i);
      for (int e = 0; e < Count; ++e) {
        store<Map>(of[e], c + i, value[e][i]);
        sum[e] = device::fma(value[e][i], u, sum[e]);
      }
    }
  }

  /// z_j and r_j from the product of u with column j as it is stored. Factors are zero where this pass has applied all.
  QUINTET_SVD_INLINE void correct_products(int k, int j) const {
    vector of_z{}, of_row{};
    for (int q = 0; q < packs; ++q) {
      const vector value = load<Map>(record(j), q);
      of_z = device::fma(value, load<Map>(at_.factors, q), of_z);
      of_row = device::fma(value, load<Map>(at_.factors + pending_vectors, q), of_row);
    }
    const real product = at_.z[j];
    at_.z[j] = product - map_.fold(of_z);
    at_.row[j] = device::fma(-at_.tau[0], product, column(j)[k]) - map_.fold(of_row);
  }

  /// The reflection of row k, and the pair of rank one of this step, which A lacks from now on.
  QUINTET_SVD_INLINE void reflect_row(int k) const {
    const int of_parts = parts(n_, k), count = lacking_vectors(k), slot = 2 * (k % pending_pairs), next = k + 1;
    const real alpha = at_.row[next], tau_q = at_.tau[0];
    const reflection h = reflect(alpha, team_dot(map_, at_.row, at_.row, n_, k + 2));
    const real z_r = team_dot(map_, at_.z, at_.row, n_, next);
    const real z_v = (z_r - h.beta * at_.z[next]) * h.inverse;
    for_each_row(map_, 0, count, [&](int q) QUINTET_SVD_INLINE_LAMBDA {
      real product = -h.beta * record(next)[q];
      for (int part = 0; part < of_parts; ++part) product += at_.products[part * pending_vectors + q];
      at_.factors[q] = product;
    });
    if (map_.leads_team()) at_.beside[k] = h.beta;
    map_.barrier();
    const real factor = h.tau * h.inverse, of_u = -(h.tau * tau_q * z_v);
    const real* of_next = column(next);
    for (int c = next / Map::chunk + map_.team_first(); c < chunks(); c += map_.team_step()) {
      const vector u = load<Map>(at_.u, c);
      vector w = load<Map>(of_next, c) * -h.beta;
      for (int part = 0; part < of_parts; ++part) w += load<Map>(at_.sums + std::int64_t(part) * ld_, c);
      for (int q = 0; q < count; ++q) w = device::fma(load<Map>(pending(q), c), -at_.factors[q], w);
      store<Map>(pending(slot), c, u);
      store<Map>(pending(slot + 1), c, device::fma(u, of_u, w * factor));
    }
    map_.barrier();  // everybody has read the records of `next`
    for_each_row(map_, next, n_, [&](int j) QUINTET_SVD_INLINE_LAMBDA {
      record(j)[slot] = tau_q * at_.z[j];
      record(j)[slot + 1] = j == next ? (h.tau != 0 ? real(1) : real(0)) : at_.row[j] * h.inverse;
    });
    map_.barrier();
  }

  /// Packs of a record.
  enum { packs = int(pending_vectors) / int(Map::chunk) };

  const Map& map_;
  real* x_;
  int rows_, n_, ld_;
  bidiagonal_memory<real> at_;
};

/// The whole reduction by one team. `between` is called before every step.
template <class Map, class Between>
QUINTET_SVD_INLINE void reduce_to_bidiagonal(const Map& map, typename Map::real* x, int rows, int n, int ld,
                                             const bidiagonal_memory<typename Map::real>& at, Between between) {
  const bidiagonal_reduction<Map> reduction(map, x, rows, n, ld, at);
  for (int k = 0; k < n; ++k) {
    between();
    reduction.begin_step(k);
    if (k + 1 == n) break;
    for (int part = 0; part < reduction.parts(n, k); ++part) reduction.meet_part(k, part);
  }
}

}  // namespace quintet::svd
