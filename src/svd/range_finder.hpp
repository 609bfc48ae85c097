// Range finder of the randomised decomposition: Q with orthonormal columns that nearly span A's leading directions, and
// Q^T A. A sequence of launches on some matrices at once, each shared among all threads and all teams.
#pragma once

#include <algorithm>

#include "device/for_each.hpp"
#include "quintet/core/philox.hpp"
#include "quintet/core/view.hpp"
#include "svd/large_products.hpp"
#include "svd/large_qr.hpp"
#include "svd/transfer.hpp"

namespace quintet::svd {

/// What there is of each of `matrices` matrices that are in work, `slot` numbers apart; columns with padding.
template <class Real>
struct range_memory {
  Real *a, *y, *z, *h, *tau;
  std::int64_t slot;
  int ld_m, ld_n;
  Real* largest;   ///< [matrices, parts] of the parts' elements; NaN where a part has NaN or infinity
  double* square;  ///< [matrices, n] of the columns of scaled A
};

/// For each matrix: the powers of two that it is multiplied by, and 0 or NaN, which is added.
template <class Real>
struct range_scale {
  Real first, second, lost;
};

/// Columns of A that a tile surveys or copies: rows of a row-major matrix are read in pieces of so many numbers.
enum { range_columns = 32 };

/// f(i, j) for all rows i and the columns [begin, end), in the order of the memory.
template <class Map, class Real, class Function>
QUINTET_SVD_INLINE void for_each_element(const Map& map, const batch_view<const Real>& a, int begin, int end,
                                         Function f) {
  const int rows = int(a.rows());
  if (a.row_stride() == 1) {
    for (int j = begin; j < end; ++j) for_each_row(map, 0, rows, [&](int i) QUINTET_SVD_INLINE_LAMBDA { f(i, j); });
  } else if constexpr (Map::row_cyclic) {  // one thread per team
    for (int i = 0; i < rows; ++i)
      for (int j = begin; j < end; ++j) f(i, j);
  } else {
    const std::int64_t count = std::int64_t(rows) * range_columns;
    for (std::int64_t e = map.team_first(); e < count; e += map.team_step())
      if (begin + int(e % range_columns) < end) f(int(e / range_columns), begin + int(e % range_columns));
  }
}

/// The largest magnitude in some columns (some rows where these lie in one piece each), NaN where one is not finite: A
/// is scaled as LAPACK does (Anderson et al. 1999, xGESVD).
template <class Real>
struct survey_range {
  batch_view<const Real> a;
  Real* largest;

  /// The same of numbers in one piece, by one thread.
  template <class Map>
  static QUINTET_SVD_INLINE void survey_piece(const Real* from, std::int64_t count, typename Map::vector* max,
                                              typename Map::vector* lost) {
    using vector = typename Map::vector;
    constexpr int chunk = Map::chunk;
    std::int64_t e = 0;
    for (; e + 4 * chunk <= count; e += 4 * chunk)
      for (int k = 0; k < 4; ++k) {
        const vector value = device::load_pack<vector>(from + e + k * chunk);
        lost[k] = device::fma(value, Real(0), lost[k]);
        max[k] = larger(max[k], absolute(value));
      }
    for (; e < count; ++e) {
      const vector value = same<vector>(from[e]);
      lost[0] = device::fma(value, Real(0), lost[0]);
      max[0] = larger(max[0], absolute(value));
    }
  }

  /// Rows [begin, end), or columns of a transposed matrix, in one piece each, by one thread.
  template <class Map>
  QUINTET_SVD_INLINE Real survey_pieces(const Map& map, const Real* from, std::int64_t stride, std::int64_t begin,
                                        std::int64_t end, std::int64_t length) const {
    typename Map::vector max[4] = {}, lost[4] = {};
    for (std::int64_t i = begin; i < end; ++i) survey_piece<Map>(from + i * stride, length, max, lost);
    Real numbers[Map::chunk], result = 0;
    device::store_pack(numbers, larger(larger(max[0], max[1]), larger(max[2], max[3])));
    for (const Real number : numbers) result = larger(result, number);
    return result + map.fold((lost[0] + lost[1]) + (lost[2] + lost[3]));
  }

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t tile) const {
    const std::int64_t parts = (a.cols() + range_columns - 1) / range_columns, b = tile / parts;
    const int begin = int(tile % parts) * range_columns;
    const int end = begin + range_columns < a.cols() ? begin + range_columns : int(a.cols());
    if constexpr (Map::row_cyclic) {
      const Real* from = a.data() + b * a.batch_stride();
      const std::int64_t part = tile % parts;
      if (a.row_stride() == 1) {
        largest[tile] = survey_pieces(map, from, a.col_stride(), begin, end, a.rows());
        return;
      }
      if (a.col_stride() == 1) {
        largest[tile] =
            survey_pieces(map, from, a.row_stride(), part * a.rows() / parts, (part + 1) * a.rows() / parts, a.cols());
        return;
      }
    }
    Real max = 0, lost = 0;
    for_each_element(map, a, begin, end, [&](int i, int j) QUINTET_SVD_INLINE_LAMBDA {
      const Real value = a(b, i, j);
      lost = device::fma(value, Real(0), lost);
      max = larger(max, absolute(value));
    });
    max = map.team_max(max);
    lost = map.team_sum(lost);
    if (map.leads_team()) largest[tile] = max + lost;
  }
};

/// The scale of every matrix, a power of two (Anderson et al. 1999, xGESVD).
template <class Real>
struct scale_range {
  const Real* largest;
  std::int64_t parts;
  range_scale<Real>* scale;

  void operator()(std::int64_t b) const {
    Real max = 0, lost = 0;
    for (std::int64_t p = 0; p < parts; ++p) {
      lost = device::fma(largest[b * parts + p], Real(0), lost);
      max = larger(max, largest[b * parts + p]);
    }
    const scaling<Real> s = scaling_for<Real>(lost == 0 ? max : Real(0));
    scale[b] = {s.first, s.second, lost};
  }
};

/// A, scaled so that squares stay in range. NaN for a matrix with NaN or infinity: it spreads to everything, as it
/// should. (The input of Algorithm 4.4 of Halko, Martinsson, Tropp 2011.)
template <class Real>
struct load_range {
  batch_view<const Real> a;
  range_memory<Real> to;
  const range_scale<Real>* scale;

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t tile) const {
    const std::int64_t parts = (a.cols() + range_columns - 1) / range_columns, b = tile / parts;
    const int begin = int(tile % parts) * range_columns;
    const int end = begin + range_columns < a.cols() ? begin + range_columns : int(a.cols());
    const range_scale<Real> s = scale[b];
    Real* memory = to.a + b * to.slot;
    for_each_element(map, a, begin, end, [&](int i, int j) QUINTET_SVD_INLINE_LAMBDA {
      memory[std::int64_t(j) * to.ld_m + i] = device::fma(a(b, i, j) * s.first, s.second, s.lost);
    });
    for (int j = begin; j < end; ++j)
      for_each_row(map, int(a.rows()), to.ld_m,
                   [&](int i) QUINTET_SVD_INLINE_LAMBDA { memory[std::int64_t(j) * to.ld_m + i] = 0; });
  }
};

/// Where A is read: columns of A, or rows, `ld` apart, each in one piece.
template <class Real>
struct range_operand {
  const Real* data;
  std::int64_t slot, ld;
  bool has_rows;
};

/// |column|^2 in double, the terms of |A|_F for remaining_norm; n terms of a matrix, of a column or some rows each.
template <class Real>
struct square_columns {
  range_operand<Real> a;
  std::int64_t m, n;
  double* square;

  void operator()(std::int64_t index) const {
    const std::int64_t matrix = index / n, j = index % n;
    const Real* from = a.data + matrix * a.slot;
    if (!a.has_rows) {
      square[index] = square_of(from + j * a.ld, m);
      return;
    }
    double sum = 0;
    for (std::int64_t i = j * m / n; i < (j + 1) * m / n; ++i) sum += square_of(from + i * a.ld, n);
    square[index] = sum;
  }

 private:
  static double square_of(const Real* from, std::int64_t count) {
    double sum[8] = {};
    std::int64_t i = 0;
    for (; i + 8 <= count; i += 8)
      for (int e = 0; e < 8; ++e) sum[e] = device::fma(double(from[i + e]), double(from[i + e]), sum[e]);
    for (; i < count; ++i) sum[0] = device::fma(double(from[i]), double(from[i]), sum[0]);
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  }
};

/// Omega in place of Z, one number per call: that of Algorithm 4.1 of Halko, Martinsson, Tropp 2011, standard normal.
template <class Real>
struct draw_directions {
  range_memory<Real> to;
  std::int64_t n, l, first;  ///< number of the first matrix
  std::uint64_t seed;

  void operator()(std::int64_t index) const {
    const std::int64_t i = index % to.ld_n, j = index / to.ld_n % l, b = index / to.ld_n / l;
    to.z[b * to.slot + j * to.ld_n + i] =
        i < n ? normal_at<Real>(seed, std::uint64_t(first + b), std::uint64_t(i) * std::uint64_t(l) + std::uint64_t(j))
              : Real(0);
  }
};

/// The first columns of the identity, one number per call: what Q is applied to (Golub, Van Loan 1996, 5.1.6).
template <class Real>
struct identity_columns {
  Real* to;
  std::int64_t slot, ld, columns;

  void operator()(std::int64_t index) const {
    const std::int64_t i = index % ld, j = index / ld % columns, b = index / ld / columns;
    to[b * slot + j * ld + i] = Real(i == j ? 1 : 0);
  }
};

/// Takes the scale out of Z, one number per call. (Anderson et al. 1999, xGESVD.)
template <class Real>
struct unscale_range {
  range_memory<Real> of;
  const range_scale<Real>* scale;
  std::int64_t l;

  void operator()(std::int64_t index) const {
    const std::int64_t b = index / (l * of.ld_n);
    Real& value = of.z[b * of.slot + index % (l * of.ld_n)];
    value = value / scale[b].second / scale[b].first;
  }
};

template <class Policy>
class range_finder {
 public:
  using real = typename Policy::real;
  using map = typename Policy::map;

  /// Numbers of working memory of one matrix.
  static std::int64_t numbers(std::int64_t m, std::int64_t n, std::int64_t l) {
    const std::int64_t pm = padded_rows<map>(int(m)), pn = padded_rows<map>(int(n));
    return pm * n + pm * l + pn * l + std::max(pm, pn) * l + padded_rows<map>(int(l));
  }

  range_finder(std::int64_t matrices, std::int64_t m, std::int64_t n, std::int64_t l, const Device& device)
      : m_(m),
        n_(n),
        l_(l),
        parts_((n + range_columns - 1) / range_columns),
        device_(device),
        memory_(numbers(m, n, l) * matrices, device),
        largest_(parts_ * matrices, device),
        square_(n * matrices, device),
        scale_(matrices, device) {
    part_.ld_m = padded_rows<map>(int(m));
    part_.ld_n = padded_rows<map>(int(n));
    part_.slot = numbers(m, n, l);
    part_.a = memory_.data();
    part_.y = part_.a + part_.ld_m * n;
    part_.z = part_.y + part_.ld_m * l;
    part_.h = part_.z + part_.ld_n * l;
    part_.tau = part_.h + std::max(part_.ld_m, part_.ld_n) * l;
    part_.largest = largest_.data();
    part_.square = square_.data();
  }

  /// Leaves Q in y() and (Q^T A)^T in z(). `first`: number of the first matrix of `a`.
  void find(const batch_view<const real>& a, std::int64_t first, std::int64_t power_iterations, std::uint64_t seed) {
    const std::int64_t matrices = a.batch();
    launch_body<Policy>(survey_range<real>{a, part_.largest}, matrices * parts_, device_);
    device::for_each(matrices, scale_range<real>{part_.largest, parts_, scale_.data()}, device_);
    if (is_read_in_place(a)) {
      const bool has_rows = a.row_stride() != 1;
      operand_ = {a.data(), a.batch_stride(), has_rows ? a.row_stride() : a.col_stride(), has_rows};
      for (std::int64_t b = 0; b < matrices; ++b) {
        scale_.data()[b] = {1, 1, 0};
        std::fill_n(part_.y + b * part_.slot, l_ * part_.ld_m, real(0));  // its padding
      }
    } else {
      operand_ = {part_.a, part_.slot, part_.ld_m, false};
      launch_body<Policy>(load_range<real>{a, part_, scale_.data()}, matrices * parts_, device_);
    }
    device::for_each(matrices * n_, square_columns<real>{operand_, m_, n_, part_.square}, device_);
    device::for_each(matrices * l_ * part_.ld_n, draw_directions<real>{part_, n_, l_, first, seed}, device_);
    times_a(matrices);
    orthonormalise(part_.y, m_, part_.ld_m, matrices);
    for (std::int64_t pass = 0; pass < power_iterations; ++pass) {
      times_transpose(matrices);
      orthonormalise(part_.z, n_, part_.ld_n, matrices);
      times_a(matrices);
      orthonormalise(part_.y, m_, part_.ld_m, matrices);
    }
    times_transpose(matrices);
    device::for_each(matrices * l_ * part_.ld_n, unscale_range<real>{part_, scale_.data(), l_}, device_);
  }

  /// Y C for each matrix, to `out`.
  void lift(const strided_batch<const real>& c, int columns, const strided_batch<real>& out, std::int64_t matrices) {
    multiply({part_.y, part_.slot, 1, part_.ld_m}, c, out, l_, columns, matrices, false);
  }

  const range_memory<real>& memory() const { return part_; }
  const range_scale<real>* scale() const { return scale_.data(); }

 private:
  /// On the host a copy costs as much as a product. None is needed where columns (or rows) lie in one piece of whole
  /// chunks and no power of two is: squares of sums stay in range.
  bool is_read_in_place(const batch_view<const real>& a) const {
    if constexpr (map::row_cyclic) {  // the memory is the host's
      const bool by_columns = a.row_stride() == 1 && m_ % map::chunk == 0;
      if (!by_columns && !(a.col_stride() == 1 && n_ % map::chunk == 0)) return false;
      constexpr real small = sizeof(real) == 4 ? real(0x1p-30f) : real(0x1p-200);
      for (std::int64_t b = 0; b < a.batch(); ++b) {
        const range_scale<real>& s = scale_.data()[b];
        if (!(s.lost == 0 && s.first == 1 && s.second > small && s.second < 1 / small)) return false;
      }
      return true;
    }
    return false;
  }

  void multiply(const strided_batch<const real>& a, const strided_batch<const real>& x, const strided_batch<real>& y,
                std::int64_t inner, int columns, std::int64_t matrices, bool has_padding) {
    const multiply_by_rows<real> product{a, x, y, int(m_), int(inner), columns, has_padding};
    launch_body<Policy>(product, matrices * product.template tiles<map>(), device_);
  }
  /// Y = A Z and Z = A^T Y.
  void times_a(std::int64_t matrices) {
    const strided_batch<real> z{part_.z, part_.slot, 1, part_.ld_n}, y{part_.y, part_.slot, 1, part_.ld_m};
    operand_.has_rows ? by_products_of_pieces(z, n_, y, m_, matrices) : by_sums_of_pieces(z, n_, y, m_, matrices);
  }
  void times_transpose(std::int64_t matrices) {
    const strided_batch<real> z{part_.z, part_.slot, 1, part_.ld_n}, y{part_.y, part_.slot, 1, part_.ld_m};
    operand_.has_rows ? by_sums_of_pieces(y, m_, z, n_, matrices) : by_products_of_pieces(y, m_, z, n_, matrices);
  }
  /// `to` = P `from` and P^T `from`, P with the pieces of A as columns.
  void by_sums_of_pieces(const strided_batch<real>& from, std::int64_t pieces, const strided_batch<real>& to,
                         std::int64_t length, std::int64_t matrices) {
    const multiply_by_rows<real> product{
        pieces_of_a(), {from.data, from.slot, 1, from.column}, to, int(length), int(pieces), int(l_), true};
    launch_body<Policy>(product, matrices * product.template tiles<map>(), device_);
  }
  void by_products_of_pieces(const strided_batch<real>& from, std::int64_t length, const strided_batch<real>& to,
                             std::int64_t pieces, std::int64_t matrices) {
    const multiply_transposed<real> product{
        pieces_of_a(), {from.data, from.slot, 1, from.column}, to, int(length), int(pieces), int(l_)};
    launch_body<Policy>(product, matrices * product.tiles(), device_);
  }
  strided_batch<const real> pieces_of_a() const { return {operand_.data, operand_.slot, 1, operand_.ld}; }
  /// The columns become those of Q of their QR factorisation.
  void orthonormalise(real* columns, std::int64_t rows, int ld, std::int64_t matrices) {
    const factors_batch<real> q{{columns, part_.h, part_.tau, nullptr, int(rows), int(l_), ld}, part_.slot};
    factorise_by_all<Policy>(q, matrices, device_);
    device::for_each(matrices * l_ * ld, identity_columns<real>{columns, part_.slot, ld, l_}, device_);
    apply_q_by_all<Policy>(q, columns, part_.slot, int(l_), matrices, device_);
  }

  std::int64_t m_, n_, l_, parts_;
  Device device_;
  Buffer<real> memory_, largest_;
  Buffer<double> square_;
  Buffer<range_scale<real>> scale_;
  range_memory<real> part_;
  range_operand<real> operand_ = {};
};

}  // namespace quintet::svd
