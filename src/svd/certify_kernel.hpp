// Norms of A - U diag(S) V^T, U^T U - I and V^T V - I for certify.cpp, in double, with sums whose rounding is bounded.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

#include "device/pack.hpp"
#include "device/team.hpp"
#include "svd/job.hpp"
#include "svd/lane_math.hpp"

namespace quintet::svd {

enum class symmetry : std::int32_t { none, lower, upper };  ///< which elements of A are read

/// Everything about a group of matrices; copies in double, with zeros in the padding of rows.
struct certificate_job {
  stored_batch a, u, v, s;  ///< s: element (b, j) at b * batch + j * column
  std::int64_t first, count;
  std::int32_t rows, cols, values;
  symmetry reads;
  bool has_own_u;  ///< false for eigenproblems, where U = V
  std::int32_t ld_cols, ld_values;
  double *a_rows, *u_rows, *v_rows, *sv_columns;  ///< [m, ld_cols], [m, ld_values], [n, ld_values], [k, ld_cols] each
  double* scale;                                  ///< [count, 2]: a power of two near the largest |S|, and that largest
  double* squares;                                ///< [count, tiles_of_matrix, blocks_of_strip]
  double* bound;                                  ///< [B]
};

/// Copies start with the next multiple of it.
enum { certificate_padding = 16 };

/// Sizes of the three products: a strip is rows of one of them, a block columns of a strip.
template <class Shape>
struct certificate_tiles {
  enum { lanes = Shape::on_device ? 1 : device::host_lanes<double>() };
  /// A register tile is tile_rows x packs x lanes. On a device it is a number: arrays would lie on a stack.
  enum { tile_rows = Shape::on_device ? 1 : device::host_registers() >= 32 ? 8 : 4, packs = Shape::on_device ? 1 : 2 };
  enum { tile_columns = int(packs) * int(lanes) };
  enum { strip_rows = Shape::on_device ? 4 : int(tile_rows), block = Shape::on_device ? 4 : int(tile_columns) };
};

inline std::int64_t strips_of(std::int64_t rows, int strip) { return (rows + strip - 1) / strip; }

/// Terms of a chain; sums are chains of chains, so that no term passes more than twice as many additions.
inline std::int64_t terms_of_chain(std::int64_t terms) {
  std::int64_t chain = 16;
  while (chain * chain < terms) chain *= 2;
  return chain;
}

/// 2^floor(log2 x), between 2^-1000 and 2^1000, of a number >= 0; 1 for 0, infinity and NaN.
inline double power_of_two_near(double x) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  std::uint64_t exponent = bits >> 52 & 2047;
  if (x == 0 || exponent == 2047) exponent = 1023;
  if (exponent < 23) exponent = 23;
  if (exponent > 2023) exponent = 2023;
  bits = exponent << 52;
  std::memcpy(&x, &bits, sizeof bits);
  return x;
}

/// The largest |S| of a matrix and the power of two by which all is divided. Values that are not in order have no
/// certificate: NaN.
struct certificate_scale {
  certificate_job job;
  void operator()(std::int64_t b) const {
    double largest = 0;
    with_elements<double>(job.s.type, job.s.data, [&](const auto* s) {
      const auto* const values = s + (job.first + b) * job.s.batch;
      for (int j = 0; j < job.values; ++j) {
        const double x = double(values[j * job.s.column]), size = absolute(x);
        const double last = j == 0 ? x : double(values[(j - 1) * job.s.column]);
        const bool in_order = job.has_own_u ? j == 0 || size <= absolute(last) : x >= last;
        if (!in_order) largest = std::numeric_limits<double>::quiet_NaN();
        if (size > largest) largest = size;
      }
    });
    job.scale[2 * b] = power_of_two_near(largest);
    job.scale[2 * b + 1] = largest;
  }
};

/// Copies of 32 rows a tile: rows of A and U, then rows of V.
template <class Shape>
struct certificate_copy {
  using shape = Shape;
  struct scratch {};
  enum { threads = 128, emulated_threads = 4, rows_of_tile = 32 };
  certificate_job job;

  static std::int64_t tiles(const certificate_job& job) {
    return strips_of(job.rows, rows_of_tile) + strips_of(job.cols, rows_of_tile);
  }

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const std::int64_t all = tiles(job), b = tile / all, of_left = strips_of(job.rows, rows_of_tile), part = tile % all;
    const bool is_left = part < of_left;
    const std::int64_t first = (is_left ? part : part - of_left) * rows_of_tile, rows = is_left ? job.rows : job.cols;
    const std::int64_t last = first + rows_of_tile < rows ? first + rows_of_tile : rows;
    const double factor = 1 / job.scale[2 * b];
    for (std::int64_t i = first + team.rank(); i < last; i += team.size())
      if (is_left)
        copy_left(b, i, factor);
      else
        copy_row(job.v, b, i, 1, job.values, job.ld_values, job.v_rows + (b * job.cols + i) * job.ld_values);
    if (!is_left) copy_scaled(team, b, first, last, factor);
  }

  void copy_left(std::int64_t b, std::int64_t i, double factor) const {
    double* const to = job.a_rows + (b * job.rows + i) * job.ld_cols;
    if (job.reads == symmetry::none)
      copy_row(job.a, b, i, factor, job.cols, job.ld_cols, to);
    else
      copy_symmetric_row(b, i, factor, to);
    if (job.has_own_u)
      copy_row(job.u, b, i, 1, job.values, job.ld_values, job.u_rows + (b * job.rows + i) * job.ld_values);
  }

  void copy_row(const stored_batch& from, std::int64_t b, std::int64_t i, double factor, int count, int padded,
                double* to) const {
    with_elements<double>(from.type, from.data, [&](const auto* data) {
      const auto* row = data + (job.first + b) * from.batch + i * from.row;
      if (from.column == 1)
        for (int j = 0; j < count; ++j) to[j] = factor * double(row[j]);
      else
        for (int j = 0; j < count; ++j) to[j] = factor * double(row[j * from.column]);
    });
    for (int j = count; j < padded; ++j) to[j] = 0;
  }

  void copy_symmetric_row(std::int64_t b, std::int64_t i, double factor, double* to) const {
    with_elements<double>(job.a.type, job.a.data, [&](const auto* data) {
      const auto* matrix = data + (job.first + b) * job.a.batch;
      for (int j = 0; j < job.cols; ++j) {
        const bool is_read = job.reads == symmetry::lower ? j <= i : j >= i;
        to[j] = factor * double(matrix[(is_read ? i : j) * job.a.row + (is_read ? j : i) * job.a.column]);
      }
    });
    for (int j = job.cols; j < job.ld_cols; ++j) to[j] = 0;
  }

  /// (S V^T)_tq for q in [first, last); the last tile also the padding.
  template <class Team>
  void copy_scaled(const Team& team, std::int64_t b, std::int64_t first, std::int64_t last, double factor) const {
    const std::int64_t end = last == job.cols ? job.ld_cols : last;
    with_elements<double>(job.s.type, job.s.data, [&](const auto* s) {
      with_elements<double>(job.v.type, job.v.data, [&](const auto* v) {
        for (std::int64_t t = team.rank(); t < job.values; t += team.size()) {
          const double value = factor * double(s[(job.first + b) * job.s.batch + t * job.s.column]);
          const auto* column = v + (job.first + b) * job.v.batch + t * job.v.column;
          double* const to = job.sv_columns + (b * job.values + t) * job.ld_cols;
          for (std::int64_t q = first; q < last; ++q) to[q] = value * double(column[q * job.v.row]);
          for (std::int64_t q = last; q < end; ++q) to[q] = 0;
        }
      });
    });
  }
};

/// A strip of one of the products a tile; its blocks are shared among the threads of a team.
template <class Shape>
struct certificate_products {
  using shape = Shape;
  using sizes = certificate_tiles<Shape>;
  using pack = device::pack<double, sizes::lanes>;
  struct scratch {};
  enum { threads = 128, emulated_threads = 4 };
  certificate_job job;

  static std::int64_t strips_of_residual(const certificate_job& job) { return strips_of(job.rows, sizes::strip_rows); }
  static std::int64_t strips_of_gram(const certificate_job& job) { return strips_of(job.values, sizes::strip_rows); }
  static std::int64_t tiles(const certificate_job& job) {
    return strips_of_residual(job) + (job.has_own_u ? 2 : 1) * strips_of_gram(job);
  }
  static std::int64_t blocks(const certificate_job& job) {
    return (job.cols > job.values ? job.cols : job.values) / sizes::block + 1;
  }

  /// sum over t < terms of left[p * left_p + t * left_t] right[t * ld + q] is compared with `with`, or with I.
  struct product {
    const double *left, *right, *with;
    std::int64_t left_p, left_t, ld, terms, columns;
    bool is_gram;
  };

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const std::int64_t all = tiles(job), b = tile / all, part = tile % all, width = blocks(job);
    const std::int64_t of_residual = strips_of_residual(job), of_gram = strips_of_gram(job);
    const bool is_gram = part >= of_residual, is_right = !job.has_own_u || part >= of_residual + of_gram;
    const std::int64_t strip = !is_gram ? part : (part - of_residual) % of_gram;
    const product p = is_gram ? gram_of(b, is_right) : residual_of(b);
    const std::int64_t row = strip * sizes::strip_rows, rows = is_gram ? job.values : job.rows;
    for (std::int64_t item = team.rank(); item < width; item += team.size()) {
      const std::int64_t column = item * sizes::block;
      // The lower triangle of a Gram matrix is its upper one.
      const bool is_needed = column < p.columns && !(is_gram && column + sizes::block <= row);
      job.squares[tile * width + item] = is_needed ? squares_of_block(p, row, rows, column) : 0;
    }
  }

  const double* left_of(std::int64_t b) const {
    return job.has_own_u ? job.u_rows + b * job.rows * job.ld_values : job.v_rows + b * job.cols * job.ld_values;
  }
  product residual_of(std::int64_t b) const {
    return {left_of(b),
            job.sv_columns + b * job.values * job.ld_cols,
            job.a_rows + b * job.rows * job.ld_cols,
            job.ld_values,
            1,
            job.ld_cols,
            job.values,
            job.cols,
            false};
  }
  product gram_of(std::int64_t b, bool is_right) const {
    const double* rows = is_right ? job.v_rows + b * job.cols * job.ld_values : left_of(b);
    return {rows, rows, nullptr, 1, job.ld_values, job.ld_values, is_right ? job.cols : job.rows, job.values, true};
  }

  /// The sum of squares of what is left of a block, one register tile after another.
  double squares_of_block(const product& p, std::int64_t row, std::int64_t rows, std::int64_t column) const {
    double sum = 0;
    for (int i = 0; i < sizes::strip_rows && row + i < rows; i += sizes::tile_rows)
      for (int q = 0; q < sizes::block && column + q < p.columns; q += sizes::tile_columns)
        sum += squares_of_tile(p, row + i, rows, column + q);
    return sum;
  }

  double squares_of_tile(const product& p, std::int64_t row, std::int64_t rows, std::int64_t column) const {
    pack total[sizes::tile_rows][sizes::packs] = {};
    const std::int64_t chain = terms_of_chain(p.terms);
    for (std::int64_t first = 0; first < p.terms; first += chain)
      add_chain(p, row, rows, column, first, first + chain < p.terms ? first + chain : p.terms, total);
    if (p.is_gram && column < row + sizes::tile_rows) return squares_at_diagonal(total, row, rows, column, p.columns);
    // What is left of a tile away from the diagonal; the padding is zero on both sides.
    pack squares{};
    for (int i = 0; i < sizes::tile_rows && row + i < rows; ++i)
      for (int e = 0; e < sizes::packs; ++e) {
        pack rest = total[i][e];
        if (!p.is_gram) rest = device::load_pack<pack>(p.with + (row + i) * p.ld + column + e * sizes::lanes) - rest;
        squares = device::fma(rest, rest, squares);
      }
    double sum = 0;
    for (int e = 0; e < sizes::lanes; ++e) sum += lane_of(squares, e);
    return p.is_gram ? 2 * sum : sum;  // an element of the upper triangle counts for two
  }

  void add_chain(const product& p, std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t first,
                 std::int64_t last, pack (&total)[sizes::tile_rows][sizes::packs]) const {
    pack sum[sizes::tile_rows][sizes::packs] = {};
    const double* left[sizes::tile_rows];
    for (int i = 0; i < sizes::tile_rows; ++i) left[i] = p.left + (row + i < rows ? row + i : rows - 1) * p.left_p;
    for (std::int64_t t = first; t < last; ++t) {
      pack value[sizes::packs];
      for (int e = 0; e < sizes::packs; ++e)
        value[e] = device::load_pack<pack>(p.right + t * p.ld + column + e * sizes::lanes);
      for (int i = 0; i < sizes::tile_rows; ++i) {
        const double factor = left[i][t * p.left_t];
        for (int e = 0; e < sizes::packs; ++e) sum[i][e] = device::fma(value[e], factor, sum[i][e]);
      }
    }
    for (int i = 0; i < sizes::tile_rows; ++i)
      for (int e = 0; e < sizes::packs; ++e) total[i][e] += sum[i][e];
  }

  /// Of a tile of a Gram matrix: elements of the upper triangle count for two, those below for nothing.
  static double squares_at_diagonal(const pack (&total)[sizes::tile_rows][sizes::packs], std::int64_t row,
                                    std::int64_t rows, std::int64_t column, std::int64_t columns) {
    double sum = 0;
    for (int i = 0; i < sizes::tile_rows && row + i < rows; ++i) {
      double numbers[sizes::tile_columns];
      for (int e = 0; e < sizes::packs; ++e) device::store_pack(numbers + e * sizes::lanes, total[i][e]);
      for (int q = 0; q < sizes::tile_columns && column + q < columns; ++q) {
        const bool is_diagonal = column + q == row + i;
        const double rest = is_diagonal ? numbers[q] - 1 : numbers[q];
        const double weight = column + q < row + i ? 0 : is_diagonal ? 1 : 2;
        sum += weight * rest * rest;
      }
    }
    return sum;
  }
};

/// The bound of each matrix by its sums of squares. Every step rounds up.
template <class Shape>
struct certificate_bound {
  certificate_job job;

  static constexpr double unit = 1.0 / 9007199254740992.0;  // 2^-53
  /// gamma_c of sums of `terms` products, whose terms pass at most 2 chains of additions and a few more operations.
  static double gamma(std::int64_t terms) {
    const std::int64_t chain = terms_of_chain(terms);
    const double c = double(chain + (terms + chain - 1) / chain + 4) * unit;
    return c / (1 - c) * (1 + 4 * unit);
  }

  double norm(std::int64_t b, std::int64_t first, std::int64_t last) const {
    const std::int64_t all = certificate_products<Shape>::tiles(job), width = certificate_products<Shape>::blocks(job);
    const double* squares = job.squares + (b * all + first) * width;
    const std::int64_t count = (last - first) * width;
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += squares[i];
    // All operations on a term, and the root; what underflows is below 1e-150 for each of count * 512 terms.
    return root(sum) * (1 + 2 * unit * double(count + 512)) + 1e-150 * root(512 * double(count));
  }

  /// Of |X^T X - I|_F for X [length x k], by its computed value.
  double departure(double computed, std::int64_t length) const {
    const double k = job.values, g = gamma(length);
    const double squares = (k + root(k) * computed) / (1 - g);  // |X|_F^2
    return (computed * (1 + 4 * unit) + g * squares) * (1 + 16 * unit);
  }

  void operator()(std::int64_t b) const {
    const std::int64_t of_residual = certificate_products<Shape>::strips_of_residual(job);
    const std::int64_t of_gram = certificate_products<Shape>::strips_of_gram(job);
    const double largest = job.scale[2 * b + 1] / job.scale[2 * b];
    const double beta =
        departure(norm(b, of_residual + (job.has_own_u ? of_gram : 0), of_residual + (job.has_own_u ? 2 : 1) * of_gram),
                  job.cols);
    const double alpha = job.has_own_u ? departure(norm(b, of_residual, of_residual + of_gram), job.rows) : beta;
    const double k = job.values, ratio = (1 + alpha) * (1 + beta);
    // |S|_F <= sqrt(k) S_0, |U|_F <= sqrt(k (1 + alpha)).
    const double rounding = gamma(job.values) * k * largest * root(ratio);
    const double rest = norm(b, 0, of_residual) * (1 + 4 * unit) + rounding * (1 + 16 * unit);
    const double above = (alpha + beta + alpha * beta) / 2, lost = alpha + beta - alpha * beta;
    const double below = lost / (1 + root(1 - lost));
    const double spread = (above > below ? above : below) * (1 + 16 * unit);
    const double sum = (rest + largest * spread) * (1 + 8 * unit);
    double result = sum * job.scale[2 * b];
    result += result * 4 * unit + std::numeric_limits<double>::denorm_min();
    const bool exists = alpha < 1 && beta < 1 && result <= std::numeric_limits<double>::max();  // not NaN
    job.bound[b] = exists ? result : std::numeric_limits<double>::infinity();
  }
};

}  // namespace quintet::svd
