// Eigenvectors of a symmetric tridiagonal matrix by divide and conquer (Cuppen 1981): T is two halves and a matrix of
// rank one, whose eigenvectors are products with those of the halves.
//
// Eigenvalues between two poles are found as distances from the nearer one, and vectors belong to the weights that have
// just these eigenvalues (Gu, Eisenstat 1995): so they are orthogonal to all digits, however close eigenvalues are.
// Halves are halved down to leaves, which have implicit QL steps. Where blocks begin follows from n alone, and so do
// the bits, whoever does what. One thread works on a part of a step, with columns in SIMD registers.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "svd/division_memory.hpp"
#include "svd/large_products.hpp"
#include "svd/reflection_blocks.hpp"
#include "svd/tridiagonal.hpp"

namespace quintet::svd {

static_assert(smallest_divided >= smallest_blocked);

/// The function 1 / rho + sum of weight_i^2 / (pole_i - x), whose zeros are the eigenvalues of D + rho w w^T.
template <class Map>
struct secular_equation {
  using real = typename Map::real;
  using vector = typename Map::vector;
  const real *pole, *weight;  ///< poles rise; both have padding to whole chunks, of weight 0
  int count;
  real rho;  ///< with weights of length 1

  /// An eigenvalue: pole[origin] + distance.
  struct zero {
    int origin;
    real distance;
  };

  /// Sums over the poles up to `left` and behind it, and those of their derivatives.
  struct value {
    real before, behind, slope_before, slope_behind;
  };

  QUINTET_SVD_INLINE value evaluate(int left, real origin, real distance) const {
    constexpr int chunk = Map::chunk;
    const int chunks = (count + chunk - 1) / chunk, split = (left + 1) / chunk;
    vector sum[2] = {}, slope[2] = {};
    const auto add = [&](int c, int side, const vector& w) {
      const vector term = w / ((load<Map>(pole, c) - origin) - distance);
      sum[side] = device::fma(w, term, sum[side]);
      slope[side] = device::fma(term, term, slope[side]);
    };
    for (int c = 0; c < split; ++c) add(c, 0, load<Map>(weight, c));
    int next = split;
    if ((left + 1) % chunk != 0) {  // a chunk on both sides
      real lanes[chunk];
      for (int l = 0; l < chunk; ++l) lanes[l] = real(l);
      const vector w = load<Map>(weight, split), lane = device::load_pack<vector>(lanes);
      const auto is_before = lane <= same<vector>(real(left % chunk));
      add(split, 0, choose(is_before, w, vector{}));
      add(split, 1, choose(is_before, vector{}, w));
      ++next;
    }
    for (int c = next; c < chunks; ++c) add(c, 1, load<Map>(weight, c));
    return {fold_lanes<real>(sum[0]), fold_lanes<real>(sum[1]), fold_lanes<real>(slope[0]), fold_lanes<real>(slope[1])};
  }

  /// Zero j. The two nearest poles keep their places in the model, and value and slope of either side decide about the
  /// rest (Li 1993, "middle way"); bisection where a step leaves the interval or does not pay.
  QUINTET_SVD_INLINE zero find(int j) const {
    constexpr real epsilon = std::numeric_limits<real>::epsilon();
    constexpr int max_steps = 100;
    if (count == 1) return {0, rho};
    const bool is_last = j + 1 == count;
    const int left = is_last ? count - 2 : j;
    const real gap = pole[left + 1] - pole[left];
    zero at{};
    real low = 0, high = 0;
    start(j, left, gap, at, low, high);
    real previous = std::numeric_limits<real>::infinity();
    for (int step = 0; step < max_steps; ++step) {
      const real origin = pole[at.origin];
      const value f = evaluate(left, origin, at.distance);
      const real sum = 1 / rho + f.before + f.behind, size = 1 / rho + absolute(f.before) + absolute(f.behind);
      if (absolute(sum) <= 8 * epsilon * size) break;
      (sum < 0 ? low : high) = at.distance;
      real next = at.distance + step_of(f, sum, (pole[left] - origin) - at.distance,
                                        (pole[left + 1] - origin) - at.distance, is_last);
      const bool is_slow = absolute(sum) > previous / 2;
      if (!(next > low && next < high) || is_slow) next = (low + high) / 2;
      previous = is_slow ? std::numeric_limits<real>::infinity() : absolute(sum);
      if (!(next > low && next < high)) break;  // neighbours
      const real change = absolute(next - at.distance);
      at.distance = next;
      if (change <= epsilon / 2 * absolute(next)) break;
    }
    return at;
  }

 private:
  /// The origin, the interval of zero j and a first guess: the two nearest poles and the rest as it is half-way.
  QUINTET_SVD_INLINE void start(int j, int left, real gap, zero& at, real& low, real& high) const {
    const bool is_last = j + 1 == count;
    const real half = (is_last ? rho : gap) / 2, origin = pole[j];
    const value f = evaluate(left, origin, half);
    const real sum = 1 / rho + f.before + f.behind;
    const real first = weight[left] * weight[left], second = weight[left + 1] * weight[left + 1];
    const real rest = sum - first / ((pole[left] - origin) - half) - second / ((pole[left + 1] - origin) - half);
    real guess;
    if (is_last) {
      at.origin = j;
      low = sum > 0 ? real(0) : half;
      high = sum > 0 ? half : 2 * rho;  // the zero is at most rho away, up to rounding
      const real a = device::fma(-rest, gap, first + second), b = second * gap;
      const real length = root(larger(device::fma(a, a, 4 * b * rest), real(0)));
      guess = a < 0 ? 2 * b / (length - a) : (a + length) / (2 * rest);
    } else {
      const bool is_left = sum > 0;
      at.origin = is_left ? j : j + 1;
      low = is_left ? real(0) : -half;
      high = is_left ? half : real(0);
      const real a = is_left ? device::fma(rest, gap, first + second) : device::fma(rest, gap, -first - second);
      const real b = is_left ? first * gap : -second * gap;
      const real length = root(larger(device::fma(a, a, -4 * b * rest), real(0)));
      guess = (a > 0) == is_left ? 2 * b / (is_left ? a + length : a - length)
                                 : (is_left ? a - length : a + length) / (2 * rest);
    }
    at.distance = guess > low && guess < high ? guess : (low + high) / 2;
  }

  /// The step to the zero of rest + s / (left - x) + t / (right - x) with the values and slopes of f.
  static QUINTET_SVD_INLINE real step_of(const value& f, real sum, real left, real right, bool is_last) {
    const real product = left * right;
    real c = device::fma(-right, f.slope_behind, device::fma(-left, f.slope_before, sum));
    const real a = device::fma(left + right, sum, -product * (f.slope_before + f.slope_behind)), b = product * sum;
    if (is_last) c = absolute(c);
    const real length = root(absolute(device::fma(a, a, -4 * b * c)));
    const real step = (a > 0) != is_last ? 2 * b / (is_last ? a - length : a + length)
                                         : (is_last ? a + length : a - length) / (2 * c);
    return sum * step > 0 ? -sum / (f.slope_before + f.slope_behind) : step;
  }
};

/// What a merge of two blocks knows.
template <class Real>
struct division_merge {
  int begin, middle, end;
  int upper, both,
      lower;  ///< columns of `copy` whose lower half is zero, those without zeros, those whose upper half is
  Real rho;
  QUINTET_SVD_INLINE int poles() const { return upper + both + lower; }
  QUINTET_SVD_INLINE int count() const { return end - begin; }
};

/// T = Z diag(d) Z^T, step by step: split(), every solve_leaf(), then for the levels from the last one to 0 all
/// merges, each by the methods from deflate() on, in their order. Eigenvalues come in no order.
template <class Map>
class tridiagonal_division {
 public:
  using real = typename Map::real;
  using vector = typename Map::vector;

  tridiagonal_division(const Map& map, real* d, real* e, real* z, int n, int ld, const division_memory<real>& at)
      : map_(map), d_(d), e_(e), z_(z), n_(n), ld_(ld), at_(at) {}

  /// Halvings of a matrix of n rows.
  static QUINTET_SVD_INLINE int levels(int n) {
    int result = 0;
    while ((units(n) + (1 << result) - 1) >> result > units_of_leaf) ++result;
    return result;
  }

  /// Every coupling becomes a matrix of rank one.
  QUINTET_SVD_INLINE void split() const {
    real size = 0;
    for (int i = 0; i < n_; ++i) size = larger(size, larger(absolute(d_[i]), absolute(i + 1 < n_ ? e_[i] : real(0))));
    at_.header[size_place] = size;
    const int leaves = 1 << levels(n_);
    for (int i = 1; i < leaves; ++i) {
      const int begin = bound(levels(n_), i);
      const real coupling = e_[begin - 1];
      at_.coupling[begin] = coupling;
      d_[begin - 1] -= absolute(coupling);
      d_[begin] -= absolute(coupling);
    }
  }

  /// Implicit QL steps on leaf i. Whether all its eigenvalues have converged.
  QUINTET_SVD_INLINE void solve_leaf(int i) const {
    const int level = levels(n_), begin = bound(level, i), end = bound(level, i + 1), count = end - begin;
    const int chunks = (count + Map::chunk - 1) / Map::chunk;
    for (int j = begin; j < end; ++j)
      for (int r = 0; r < ld_; ++r) z_[std::int64_t(j) * ld_ + r] = r == j ? real(1) : real(0);
    real *block = block_of(z_, begin), *record = at_.copy + std::int64_t(begin) * ld_, *sign = at_.z + begin;
    for (int j = 0; j < count; ++j) sign[j] = 1;
    tridiagonal_state state;
    do {
      const std::int64_t used = iterate_tridiagonal(d_ + begin, e_ + begin, sign, count, state, record,
                                                    std::int64_t(count) * ld_, at_.header[size_place]);
      rotate_chunks(map_, block, ld_, 0, chunks, record, used);
    } while (state.first < count);
    restore_lengths(map_, block, count, ld_, 0, count, true);
    at_.header[begin + failure] = state.failed ? 1 : 0;
    for (int j = begin; j < end; ++j) {
      int k = j;
      for (; k > begin && d_[int(at_.order[k - 1])] > d_[j]; --k) at_.order[k] = at_.order[k - 1];
      at_.order[k] = real(j);
    }
  }

  /// Whether the QL steps of a leaf have left an eigenvalue that had not converged.
  QUINTET_SVD_INLINE bool has_failed() const {
    bool any_failed = false;
    for (int i = 0; i < 1 << levels(n_); ++i) any_failed |= at_.header[bound(levels(n_), i) + failure] > 0;
    return any_failed;
  }

  /// Parts of the steps of a merge of this level: columns, roots or rows.
  static QUINTET_SVD_INLINE int parts(int n, int level) {
    return (largest_block(n, level) + columns_of_part - 1) / columns_of_part;
  }
  /// Parts of multiply().
  static QUINTET_SVD_INLINE int product_parts(int n, int level) {
    return 2 * row_parts(n, level) * column_parts(n, level);
  }

  /// Columns with the same eigenvalue, or with none of the coupling, are eigenvectors as they are (Dongarra, Sorensen
  /// 1987). One part.
  QUINTET_SVD_INLINE void deflate(int level, int i) const {
    division_merge<real> m = blocks_of(level, i);
    const real coupling = at_.coupling[m.middle];
    m.rho = 2 * absolute(coupling);
    read_couplings(m, coupling < 0 ? real(-1) : real(1));
    sort_columns(m);
    real largest = m.rho;
    for (int j = m.begin; j < m.end; ++j) largest = larger(largest, absolute(d_[j]));
    constexpr real epsilon = std::numeric_limits<real>::epsilon();
    // T knows nothing below epsilon times its size; squares of less might underflow.
    const real tolerance = deflation_factor * epsilon * larger(largest, epsilon * at_.header[size_place]);
    int poles = 0, deflated = 0, pending = -1;
    real *list = at_.list + m.begin, *last = at_.source + m.end;
    const auto keep = [&](int j) {
      at_.pole[m.begin + poles] = d_[j];
      at_.weight[m.begin + poles] = at_.z[j];
      list[poles++] = real(j);
    };
    const auto leave = [&](int j) {
      ++deflated;
      int k = deflated;  // the list of these rises to its front
      for (; k > 1 && d_[int(last[1 - k])] > d_[j]; --k) last[-k] = last[1 - k];
      last[-k] = real(j);
    };
    for (int k = 0; k < m.count(); ++k) {
      const int j = int(list[k]);
      if (m.rho * absolute(at_.z[j]) <= tolerance) {
        leave(j);
      } else if (pending < 0) {
        pending = j;
      } else {
        if (join_columns(m, pending, j, tolerance))
          leave(pending);
        else
          keep(pending);
        pending = j;
      }
    }
    if (pending >= 0) keep(pending);
    arrange(m, poles);
  }

  /// The columns of Z in the order of products; a half that is zero is left out.
  QUINTET_SVD_INLINE void copy_columns(int level, int i, int part) const {
    const division_merge<real> m = merge_of(level, i);
    for (int k = part * columns_of_part; k < m.count() && k < (part + 1) * columns_of_part; ++k) {
      const int first = k >= m.upper + m.both && k < m.poles() ? m.middle : m.begin,
                last = k < m.upper ? m.middle : m.end;
      copy_rows(z_ + std::int64_t(at_.source[m.begin + k]) * ld_, at_.copy + std::int64_t(m.begin + k) * ld_, first,
                last);
    }
  }

  /// Eigenvalues, as distances from poles.
  QUINTET_SVD_INLINE void find_roots(int level, int i, int part) const {
    const division_merge<real> m = merge_of(level, i);
    const secular_equation<Map> equation{at_.pole + m.begin, at_.weight + m.begin, m.poles(), m.rho};
    for (int j = part * columns_of_part; j < m.poles() && j < (part + 1) * columns_of_part; ++j) {
      const auto zero = equation.find(j);
      const int to = m.begin + j;
      at_.origin[to] = equation.pole[zero.origin];
      at_.distance[to] = zero.distance;
      d_[to] = at_.origin[to] + zero.distance;
    }
  }

  /// The weights that have these eigenvalues (Loewner 1934; Gu, Eisenstat 1995), with the signs of those that were. For
  /// float in double: a product of so many factors would have the rounding errors of all.
  QUINTET_SVD_INLINE void find_weights(int level, int i, int part) const {
    const division_merge<real> m = merge_of(level, i);
    const real* pole = at_.pole + m.begin;
    const int begin = part * columns_of_part;
    if (begin >= m.poles()) return;
    const int end = begin + columns_of_part < m.poles() ? begin + columns_of_part : m.poles();
    constexpr int group_size = int(columns_of_part) / int(Map::chunk);
    // Rows that are there: the others of the last group do as it does.
    const int chunks = (end - begin + Map::chunk - 1) / Map::chunk, first = begin / Map::chunk;
    wide_vector row[group_size], product[group_size];
    for (int g = 0; g < group_size; ++g) {
      row[g] = widen(load<Map>(pole, first + (g < chunks ? g : 0)));
      product[g] = same<wide_vector>(wide(1));
    }
    const auto multiply_by = [&](int j) {
      const wide origin = at_.origin[m.begin + j], distance = at_.distance[m.begin + j], other = pole[j];
      for (int g = 0; g < group_size; ++g) product[g] *= ((row[g] - origin) - distance) / (row[g] - other);
    };
    for (int j = 0; j < begin; ++j) multiply_by(j);
    for (int j = end; j < m.poles(); ++j) multiply_by(j);
    wide numbers[columns_of_part];
    real* weight = at_.weight + m.begin;
    for (int g = 0; g < group_size; ++g) device::store_pack(numbers + g * Map::chunk, product[g]);
    for (int r = begin; r < end; ++r) {
      const auto difference = [&](int j) {
        return (wide(pole[r]) - wide(at_.origin[m.begin + j])) - wide(at_.distance[m.begin + j]);
      };
      wide square = -numbers[r - begin] * difference(r);
      for (int j = begin; j < end; ++j)
        if (j != r) square *= difference(j) / (wide(pole[r]) - wide(pole[j]));
      weight[r] = std::copysign(real(root(square)), weight[r]);
    }
  }

  /// Eigenvectors of D + rho w w^T, by the columns of `copy`. The first part also orders the columns of the block.
  QUINTET_SVD_INLINE void find_vectors(int level, int i, int part) const {
    const division_merge<real> m = merge_of(level, i);
    const real *pole = at_.pole + m.begin, *weight = at_.weight + m.begin, *place = at_.place + m.begin;
    const int chunks = (m.poles() + Map::chunk - 1) / Map::chunk;
    for (int j = part * columns_of_part; j < m.poles() && j < (part + 1) * columns_of_part; ++j) {
      const wide origin = at_.origin[m.begin + j], distance = at_.distance[m.begin + j];
      real *column = block_of(z_, m.begin) + std::int64_t(j) * ld_,
           *to = block_of(at_.factor, m.begin) + std::int64_t(j) * ld_;
      for (int c = 0; c < chunks; ++c)
        store<Map>(column, c, narrow(widen(load<Map>(weight, c)) / ((widen(load<Map>(pole, c)) - origin) - distance)));
      const real inverse = 1 / root(fold_lanes<real>(chunk_dot<Map>(column, column, 0, 1, chunks)));
      for (int k = 0; k < m.poles(); ++k) to[int(place[k])] = column[k] * inverse;
    }
    if (part == 0) order_columns(m);
  }

  /// Z of the block: products for a tile of the rows of one half; columns that were deflated come back.
  QUINTET_SVD_INLINE void multiply(int level, int i, int part) const {
    const division_merge<real> m = merge_of(level, i);
    const int side = part % 2, row_part = part / 2 % row_parts(n_, level),
              column_part = part / 2 / row_parts(n_, level);
    const int first = side == 0 ? 0 : m.upper, begin = side == 0 ? m.begin : m.middle,
              end = side == 0 ? m.middle : m.end;
    const int from = column_part * columns_of_product;
    using product = multiply_by_rows<real>;
    constexpr int rows_of_tile = product::template chunks_of_tile<Map>() * Map::chunk;
    const int row = begin + row_part * rows_of_tile;
    if (row >= end) return;
    const int last_row = row + rows_of_tile < end ? row + rows_of_tile : end;
    const int last = from + columns_of_product < m.count() ? from + columns_of_product : m.count();
    if (from < m.poles()) {
      real* const z = z_ + std::int64_t(m.begin + from) * ld_ + row;
      const int inner = m.both + (side == 0 ? m.upper : m.lower);
      product{{at_.copy + std::int64_t(m.begin + first) * ld_ + row, 0, 1, ld_},
              {block_of(at_.factor, m.begin) + std::int64_t(from) * ld_ + first, 0, 1, ld_},
              {z, 0, 1, ld_},
              last_row - row,
              inner,
              (last < m.poles() ? last : m.poles()) - from,
              true}(map_, 0);
    }
    for (int k = from > m.poles() ? from : m.poles(); k < last; ++k)
      copy_rows(at_.copy + std::int64_t(m.begin + k) * ld_, z_ + std::int64_t(m.begin + k) * ld_, row, last_row);
  }

 private:
  using wide = std::conditional_t<sizeof(real) == sizeof(float), double, real>;
  using wide_vector = device::pack<wide, Map::chunk>;
  static QUINTET_SVD_INLINE wide_vector widen(const vector& value) {
    return __builtin_convertvector(value, wide_vector);
  }
  static QUINTET_SVD_INLINE vector narrow(const wide_vector& value) { return __builtin_convertvector(value, vector); }

  enum { columns_of_part = 32, columns_of_product = 256, failure = division_unit - 1, size_place = division_unit - 2 };
  static constexpr real deflation_factor = 4;

  static QUINTET_SVD_INLINE int units(int n) { return (n + division_unit - 1) / division_unit; }
  static QUINTET_SVD_INLINE int largest_block(int n, int level) {
    return ((units(n) + (1 << level) - 1) >> level) * division_unit;
  }
  static QUINTET_SVD_INLINE int row_parts(int n, int level) {
    constexpr int rows_of_tile = multiply_by_rows<real>::template chunks_of_tile<Map>() * Map::chunk;
    return (largest_block(n, level + 1) + rows_of_tile - 1) / rows_of_tile;
  }
  static QUINTET_SVD_INLINE int column_parts(int n, int level) {
    return (largest_block(n, level) + columns_of_product - 1) / columns_of_product;
  }

  /// Where block i of a level begins.
  QUINTET_SVD_INLINE int bound(int level, int i) const {
    const int row = int(std::int64_t(units(n_)) * i >> level) * division_unit;
    return row < n_ ? row : n_;
  }
  QUINTET_SVD_INLINE real* block_of(real* matrix, int begin) const {
    return matrix + std::int64_t(begin) * ld_ + begin;
  }

  QUINTET_SVD_INLINE division_merge<real> blocks_of(int level, int i) const {
    return {bound(level, i), bound(level + 1, 2 * i + 1), bound(level, i + 1), 0, 0, 0, 0};
  }
  QUINTET_SVD_INLINE division_merge<real> merge_of(int level, int i) const {
    division_merge<real> m = blocks_of(level, i);
    const real* header = at_.header + m.begin;
    m.upper = int(header[0]);
    m.both = int(header[1]);
    m.lower = int(header[2]);
    m.rho = header[3];
    return m;
  }

  /// z, of length 1: the last row of the first half and the first row of the second one.
  QUINTET_SVD_INLINE void read_couplings(const division_merge<real>& m, real sign) const {
    const real half = root(real(0.5));
    for (int j = m.begin; j < m.end; ++j) {
      const bool is_first = j < m.middle;
      const real element = z_[std::int64_t(j) * ld_ + (is_first ? m.middle - 1 : m.middle)];
      at_.z[j] = (is_first ? half : half * sign) * element;
      at_.kind[j] = real(is_first ? 0 : 2);
    }
  }

  /// The list of the columns of both halves by rising eigenvalues.
  QUINTET_SVD_INLINE void sort_columns(const division_merge<real>& m) const {
    int a = m.begin, b = m.middle;
    for (int k = m.begin; k < m.end; ++k) {
      const bool takes_first = b == m.end || (a < m.middle && d_[int(at_.order[a])] <= d_[int(at_.order[b])]);
      at_.list[k] = at_.order[takes_first ? a++ : b++];
    }
  }

  /// Rotates the columns i and j so that i is uncoupled, where the eigenvalues are so close that this changes nothing
  /// above `tolerance`.
  QUINTET_SVD_INLINE bool join_columns(const division_merge<real>& m, int i, int j, real tolerance) const {
    const real length = root(device::fma(at_.z[i], at_.z[i], at_.z[j] * at_.z[j]));
    const real c = at_.z[j] / length, s = -at_.z[i] / length;
    if (!(absolute((d_[j] - d_[i]) * c * s) <= tolerance)) return false;
    at_.z[j] = length;
    at_.z[i] = 0;
    if (at_.kind[i] != at_.kind[j]) at_.kind[j] = 1;
    real *x = z_ + std::int64_t(i) * ld_, *y = z_ + std::int64_t(j) * ld_;
    for (int r = m.begin / Map::chunk; r * Map::chunk < m.end; ++r) {
      const vector a = load<Map>(x, r), b = load<Map>(y, r);
      store<Map>(x, r, device::fma(a, c, b * s));
      store<Map>(y, r, device::fma(b, c, -(a * s)));
    }
    const real d_i = d_[i], d_j = d_[j];
    d_[i] = device::fma(d_i * c, c, d_j * s * s);
    d_[j] = device::fma(d_i * s, s, d_j * c * c);
    return true;
  }

  /// Columns by their zeros, then those that are left as they are; weights of length 1; what the other steps read.
  QUINTET_SVD_INLINE void arrange(const division_merge<real>& m, int poles) const {
    real *pole = at_.pole + m.begin, *weight = at_.weight + m.begin, *source = at_.source + m.begin,
         *header = at_.header + m.begin;
    const real* list = at_.list + m.begin;
    int next[3] = {}, count[3] = {};
    for (int k = 0; k < poles; ++k) ++count[int(at_.kind[int(list[k])])];
    next[1] = count[0];
    next[2] = count[0] + count[1];
    for (int k = 0; k < poles; ++k) {
      const int to = next[int(at_.kind[int(list[k])])]++;
      at_.place[m.begin + k] = real(to);
      source[to] = list[k];
    }
    real* values = at_.z + m.begin;
    for (int a = poles, b = m.count() - 1; a < b; ++a, --b) {
      const real other = source[a];
      source[a] = source[b];
      source[b] = other;
    }
    for (int k = poles; k < m.count(); ++k) values[k] = d_[int(source[k])];
    for (int k = poles; k < m.count(); ++k) d_[m.begin + k] = values[k];
    const real square = sum_of_terms<real>(poles, [&](int k) { return weight[k] * weight[k]; });
    const real inverse = poles > 0 ? 1 / root(square) : real(0);
    for (int k = 0; k < poles; ++k) weight[k] *= inverse;
    const real rho = m.rho * square;
    for (int k = poles; k % Map::chunk != 0; ++k) {
      pole[k] = 2 * (absolute(pole[poles - 1]) + rho) + 1;
      weight[k] = 0;
    }
    header[0] = real(count[0]);
    header[1] = real(count[1]);
    header[2] = real(count[2]);
    header[3] = rho;
  }

  /// Eigenvalues of both kinds rise: those of the merge and those that it has left.
  QUINTET_SVD_INLINE void order_columns(const division_merge<real>& m) const {
    int a = m.begin, b = m.begin + m.poles();
    for (int k = m.begin; k < m.end; ++k) {
      const bool takes_first = b == m.end || (a < m.begin + m.poles() && d_[a] <= d_[b]);
      at_.order[k] = real(takes_first ? a++ : b++);
    }
  }

  /// The rows [begin, end) of a column, with padding.
  static QUINTET_SVD_INLINE void copy_rows(const real* from, real* to, int begin, int end) {
    for (int c = begin / Map::chunk; c * Map::chunk < end; ++c) store<Map>(to, c, load<Map>(from, c));
  }

  const Map& map_;
  real *d_, *e_, *z_;
  int n_, ld_;
  division_memory<real> at_;
};

}  // namespace quintet::svd
