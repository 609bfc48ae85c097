// The steps of QR by the Gram matrix (gram_qr.cpp) on tiles of rows: A comes to tiles of columns that a cache holds,
// the Gram matrix is summed tile by tile, triangular systems and products run over the rows of a tile in registers.
// Everything has an order that follows from the shape: the bits do not depend on who does what.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "svd/job.hpp"
#include "svd/maps.hpp"

namespace quintet::svd {

/// Columns of a register tile.
enum { gram_columns = 4 };

/// How the rows of a matrix are divided.
struct gram_shape {
  std::int32_t rows, cols;
  std::int32_t tile_rows, tiles, parts;
  std::int32_t ld;    ///< of the columns of a tile
  std::int32_t side;  ///< cols, padded to whole register tiles

  std::int64_t tile_size() const { return std::int64_t(ld) * cols; }
  int first_tile(int part) const { return int(std::int64_t(tiles) * part / parts); }
  int rows_in(int tile) const {
    const int rest = rows - tile * tile_rows;
    return rest < tile_rows ? rest : tile_rows;
  }
};

/// A register of Real on the host, as fold_sixteen() wants it.
template <class Real>
struct gram_map {
  using real = Real;
  using vector = device::pack<Real, device::host_lanes<Real>()>;
  enum { chunk = device::host_lanes<Real>() };
};

/// Chunks of rows in a register tile.
enum { gram_chunks = 4 };

/// Rows of a tile that are worked on together.
template <class Real>
constexpr int gram_rows = int(gram_chunks) * int(gram_map<Real>::chunk);

/// Columns [first, first + Width) of rows in one piece each, to columns of `to`; as many whole squares as there are.
template <int Width, class Real, class Stored>
inline int transpose_rows(const Stored* from, std::int64_t stride, int rows, int first, Real* to, int ld) {
  using vector = device::pack<Real, Width>;
  int i = 0;
  for (; i + Width <= rows; i += Width) {
    vector packs[Width];
    for (int r = 0; r < Width; ++r) {
      const Stored* row = from + (i + r) * stride + first;
      if constexpr (std::is_same_v<Real, Stored>)
        packs[r] = device::load_pack<vector>(row);
      else
        packs[r] = device::convert_pack<vector, Real>(row);
    }
    device::transpose_packs<Width>(packs);
    for (int e = 0; e < Width; ++e) device::store_pack(to + std::int64_t(first + e) * ld + i, packs[e]);
  }
  return i;
}

/// The columns from `first` on, by squares of Width and smaller ones for the rest; what makes no square one by one.
template <int Width, class Real, class Stored>
inline void transpose_tile(const Stored* from, std::int64_t stride, int rows, int first, int cols, Real* to, int ld) {
  if constexpr (Width >= 4) {
    // The last columns are a whole square with some that are there already.
    if (Width == 4 && cols >= 4 && first < cols && first + 4 > cols) first = cols - 4;
    for (; first + Width <= cols; first += Width) {
      for (int i = transpose_rows<Width>(from, stride, rows, first, to, ld); i < rows; ++i)
        for (int j = first; j < first + Width; ++j) to[std::int64_t(j) * ld + i] = Real(from[i * stride + j]);
      if (Width == 4 && first + 4 < cols && first + 8 > cols) first = cols - 8;
    }
    transpose_tile<Width / 2>(from, stride, rows, first, cols, to, ld);
  } else {
    for (int j = first; j < cols; ++j)
      for (int i = 0; i < rows; ++i) to[std::int64_t(j) * ld + i] = Real(from[i * stride + j]);
  }
}

/// One tile of A from the caller's memory, with zeros below the last row.
template <class Real, class Stored>
inline void load_tile(const gram_shape& shape, const Stored* from, std::int64_t row, std::int64_t column, int tile,
                      Real* to) {
  const int rows = shape.rows_in(tile), padded = (rows + gram_rows<Real> - 1) / gram_rows<Real> * gram_rows<Real>;
  from += std::int64_t(tile) * shape.tile_rows * row;
  if (column == 1 && row != 1) {
    transpose_tile<gram_map<Real>::chunk>(from, row, rows, 0, shape.cols, to, shape.ld);
  } else {
    for (int j = 0; j < shape.cols; ++j) {
      const Stored* source = from + j * column;
      Real* target = to + std::int64_t(j) * shape.ld;
      if (row == 1)
        for (int i = 0; i < rows; ++i) target[i] = Real(source[i]);
      else
        for (int i = 0; i < rows; ++i) target[i] = Real(source[i * row]);
    }
  }
  for (int j = 0; j < shape.cols; ++j)
    for (int i = rows; i < padded; ++i) to[std::int64_t(j) * shape.ld + i] = 0;
}

/// The largest and the smallest size of rows that are not zero: those of all rows in a lane, then of all lanes.
template <class Real>
class row_sizes {
  using map = gram_map<Real>;
  using vector = typename map::vector;

 public:
  void add_tile(const gram_shape& shape, int tile, const Real* from) {
    const int rows = shape.rows_in(tile);
    for (int i = 0; i < rows; i += map::chunk) {
      vector size{};
      for (int j = 0; j < shape.cols; ++j)
        size = larger(size, absolute(device::load_pack<vector>(from + std::int64_t(j) * shape.ld + i)));
      largest_ = larger(largest_, size);
      least_ = choose((size > vector{}) & (size < least_), size, least_);
    }
  }
  void add(const row_sizes& other) {
    largest_ = larger(largest_, other.largest_);
    least_ = smaller(least_, other.least_);
  }
  /// Whether no row is more than `ratio` times as large as another one.
  bool are_within(Real ratio) const {
    Real largest = 0, least = std::numeric_limits<Real>::infinity();
    for (int e = 0; e < map::chunk; ++e) {
      largest = larger(largest, Real(largest_[e]));
      least = smaller(least, Real(least_[e]));
    }
    return largest <= ratio * least;
  }

 private:
  vector largest_{}, least_ = same<vector>(std::numeric_limits<Real>::infinity());
};

/// One chunk of a column as numbers of another type.
template <class Sum, class Real>
inline typename gram_map<Sum>::vector widened_chunk(const Real* from) {
  using vector = typename gram_map<Sum>::vector;
  if constexpr (std::is_same_v<Sum, Real>)
    return device::load_pack<vector>(from);
  else
    return device::convert_pack<vector, Sum>(from);
}

/// The sum of a column of a tile, with the zeros below its last row.
template <class Real>
inline double sum_tile_column(const Real* from, int rows) {
  using vector = typename gram_map<double>::vector;
  constexpr int width = int(gram_map<double>::chunk);
  vector sums[gram_chunks] = {};
  for (int i = 0; i < rows; i += gram_chunks * width)
    for (int e = 0; e < gram_chunks; ++e) sums[e] += widened_chunk<double>(from + i + e * width);
  return fold_lanes<double>(vector((sums[0] + sums[1]) + (sums[2] + sums[3])));
}

/// Takes the means of the columns off the rows of a tile.
template <class Real>
inline void centre_tile(const gram_shape& shape, int tile, const Real* means, Real* to) {
  const int rows = shape.rows_in(tile);
  for (int j = 0; j < shape.cols; ++j) {
    Real* column = to + std::int64_t(j) * shape.ld;
    for (int i = 0; i < rows; ++i) column[i] -= means[j];
  }
}

/// The Gram matrix of A - 1 means^T from that of A, above the diagonal. `sums`: of the columns of A.
template <class Real>
inline void centre_gram(double* g, int n, int side, double rows, const double* sums, const Real* means) {
  for (int j = 0; j < n; ++j)
    for (int i = 0; i <= j; ++i) {
      const double mean = double(means[i]), other = double(means[j]);
      g[std::int64_t(j) * side + i] -= sums[i] * other + mean * (sums[j] - rows * other);
    }
}

/// The products of four columns with four others over the rows of a tile, summed in Sum: chains of terms_of_short_sum.
template <class Sum, class Real>
inline void multiply_columns_of_tile(const Real* const* left, const Real* const* right, int rows, Sum* products) {
  using map = gram_map<Sum>;
  using vector = typename map::vector;
  constexpr int length = int(terms_of_short_sum) * int(map::chunk);
  vector total[16] = {};
  for (int first = 0; first < rows; first += length) {
    const int last = first + length < rows ? first + length : rows;
    vector sums[16] = {};
    for (int i = first; i < last; i += map::chunk) {
      vector value[4];
      for (int k = 0; k < 4; ++k) value[k] = widened_chunk<Sum>(left[k] + i);
      for (int e = 0; e < 4; ++e) {
        const vector other = widened_chunk<Sum>(right[e] + i);
        for (int k = 0; k < 4; ++k) sums[4 * k + e] = device::fma(value[k], other, sums[4 * k + e]);
      }
    }
    for (int k = 0; k < 16; ++k) total[k] += sums[k];
  }
  fold_sixteen<map>(total, products);
}

/// G += tile^T tile above the diagonal, columns of G `side` apart.
template <class Sum, class Real>
inline void add_gram(const gram_shape& shape, int tile, const Real* from, double* g) {
  const int n = shape.cols, rows = shape.rows_in(tile);
  const int padded = (rows + gram_map<Sum>::chunk - 1) / gram_map<Sum>::chunk * gram_map<Sum>::chunk;
  const auto pointers = [&](int first, const Real** columns) {
    for (int e = 0; e < 4; ++e) columns[e] = from + std::int64_t(first + e < n ? first + e : n - 1) * shape.ld;
  };
  for (int j = 0; j < n; j += 4) {
    const Real* right[4];
    pointers(j, right);
    for (int i = 0; i <= j; i += 4) {
      const Real* left[4];
      pointers(i, left);
      Sum products[16];
      multiply_columns_of_tile<Sum>(left, right, padded, products);
      for (int e = 0; e < 4; ++e)
        for (int k = 0; k < 4; ++k) g[std::int64_t(j + e) * shape.side + i + k] += double(products[4 * k + e]);
    }
  }
}

/// x . y of `count` numbers, in an order that `count` fixes.
inline double dot_of_column(const double* x, const double* y, int count) {
  using map = gram_map<double>;
  using vector = typename map::vector;
  vector sum[2] = {};
  int i = 0;
  for (; i + 2 * map::chunk <= count; i += 2 * map::chunk)
    for (int e = 0; e < 2; ++e)
      sum[e] = device::fma(device::load_pack<vector>(x + i + e * map::chunk),
                           device::load_pack<vector>(y + i + e * map::chunk), sum[e]);
  double total = fold_lanes<double>(vector(sum[0] + sum[1]));
  for (; i < count; ++i) total = device::fma(x[i], y[i], total);
  return total;
}

/// y += factor * x of `count` numbers.
inline void add_column(double factor, const double* x, double* y, int count) {
  using map = gram_map<double>;
  using vector = typename map::vector;
  int i = 0;
  for (; i + map::chunk <= count; i += map::chunk)
    device::store_pack(y + i, device::fma(device::load_pack<vector>(x + i), factor, device::load_pack<vector>(y + i)));
  for (; i < count; ++i) y[i] = device::fma(x[i], factor, y[i]);
}

/// The upper triangle of G becomes R with R^T R = G (Golub, Van Loan 1996, Algorithm 4.2.1), unless a pivot is at most
/// `lost` times the square of its column: then false.
inline bool factorise_gram(double* g, int n, int side, double lost) {
  for (int j = 0; j < n; ++j) {
    double* column = g + std::int64_t(j) * side;
    const double square = column[j];
    for (int i = 0; i < j; ++i) {
      const double* other = g + std::int64_t(i) * side;
      column[i] = (column[i] - dot_of_column(other, column, i)) / other[i];
    }
    const double pivot = square - dot_of_column(column, column, j);
    if (!(pivot > lost * square)) return false;
    column[j] = std::sqrt(pivot);
  }
  return true;
}

/// R1 := R2 R1, both upper triangles.
inline void multiply_triangles(const double* r2, double* r1, int n, int side) {
  for (int j = 0; j < n; ++j) {
    double* column = r1 + std::int64_t(j) * side;
    // From the top: entry k is used before it is replaced.
    for (int k = 0; k <= j; ++k) {
      const double factor = column[k];
      column[k] = 0;
      add_column(factor, r2 + std::int64_t(k) * side, column, k + 1);
    }
  }
}

/// x := R^-1 x.
inline void solve_triangle(const double* r, double* x, int n, int side) {
  for (int k = n - 1; k >= 0; --k) {
    const double* column = r + std::int64_t(k) * side;
    x[k] /= column[k];
    add_column(-x[k], column, x, k);
  }
}

/// Place of element (k, j) of a factor of rows in registers: four neighbours in a row, row after row of a block.
inline std::int64_t packed_place(int k, int j, int side) {
  return (std::int64_t(j / gram_columns) * side + k) * gram_columns + j % gram_columns;
}

/// X R = A for a tile of rows of A, in place. `packed`: -R above the diagonal; `inverse`: of its diagonal; both zero in
/// the padding.
template <class Real>
inline void solve_rows(const gram_shape& shape, int tile, Real* x, const Real* packed, const Real* inverse) {
  using map = gram_map<Real>;
  using vector = typename map::vector;
  const int n = shape.cols, rows = shape.rows_in(tile);
  for (int first = 0; first < rows; first += gram_rows<Real>)
    for (int j = 0; j < n; j += gram_columns) {
      const Real* factor = packed + std::int64_t(j) * shape.side;
      vector sum[gram_chunks][gram_columns];
      const int width = n - j < gram_columns ? n - j : int(gram_columns);
      for (int e = 0; e < gram_columns; ++e) {
        const Real* column = x + std::int64_t(e < width ? j + e : n - 1) * shape.ld + first;
        for (int i = 0; i < gram_chunks; ++i) sum[i][e] = device::load_pack<vector>(column + i * map::chunk);
      }
      for (int k = 0; k < j; ++k, factor += gram_columns) {
        const Real* column = x + std::int64_t(k) * shape.ld + first;
        vector value[gram_chunks];
        for (int i = 0; i < gram_chunks; ++i) value[i] = device::load_pack<vector>(column + i * map::chunk);
        for (int e = 0; e < gram_columns; ++e)
          for (int i = 0; i < gram_chunks; ++i) sum[i][e] = device::fma(value[i], factor[e], sum[i][e]);
      }
      for (int e = 0; e < gram_columns; ++e) {
        for (int k = 0; k < e; ++k)
          for (int i = 0; i < gram_chunks; ++i)
            sum[i][e] = device::fma(sum[i][k], factor[k * gram_columns + e], sum[i][e]);
        for (int i = 0; i < gram_chunks; ++i) sum[i][e] = sum[i][e] * inverse[j + e];
      }
      for (int e = 0; e < width; ++e)
        for (int i = 0; i < gram_chunks; ++i)
          device::store_pack(x + std::int64_t(j + e) * shape.ld + first + i * map::chunk, sum[i][e]);
    }
}

/// Four columns of the product of some rows of a tile with W.
template <class Real>
inline void multiply_rows(const gram_shape& shape, const Real* rows, const Real* packed, Real* products) {
  using map = gram_map<Real>;
  using vector = typename map::vector;
  vector total[gram_chunks][gram_columns] = {};
  constexpr int length = 4 * terms_of_short_sum;
  for (int begin = 0; begin < shape.cols; begin += length) {
    const int end = begin + length < shape.cols ? begin + length : shape.cols;
    vector sum[gram_chunks][gram_columns] = {};
    for (int k = begin; k < end; ++k) {
      const Real *column = rows + std::int64_t(k) * shape.ld, *factor = packed + std::int64_t(k) * gram_columns;
      vector value[gram_chunks];
      for (int i = 0; i < gram_chunks; ++i) value[i] = device::load_pack<vector>(column + i * map::chunk);
      for (int e = 0; e < gram_columns; ++e)
        for (int i = 0; i < gram_chunks; ++i) sum[i][e] = device::fma(value[i], factor[e], sum[i][e]);
    }
    for (int i = 0; i < gram_chunks; ++i)
      for (int e = 0; e < gram_columns; ++e) total[i][e] += sum[i][e];
  }
  for (int e = 0; e < gram_columns; ++e)
    for (int i = 0; i < gram_chunks; ++i)
      device::store_pack(products + e * gram_rows<Real> + i * map::chunk, total[i][e]);
}

/// Q W of a tile, W with `columns` columns: f(row, column, products) for blocks of gram_rows x gram_columns, products
/// of a column side by side.
template <class Real, class Function>
inline void multiply_tile_rows(const gram_shape& shape, int tile, const Real* q, const Real* packed, int columns,
                               Function f) {
  const int rows = shape.rows_in(tile);
  Real products[gram_columns * gram_rows<Real>];
  for (int first = 0; first < rows; first += gram_rows<Real>)
    for (int j = 0; j < columns; j += gram_columns) {
      multiply_rows(shape, q + first, packed + std::int64_t(j) * shape.side, products);
      f(first, j, static_cast<const Real*>(products));
    }
}

}  // namespace quintet::svd
