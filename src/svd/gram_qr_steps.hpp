// The steps of QR by the Gram matrix (gram_qr.cpp) on tiles of rows: A comes to tiles of columns that a cache holds,
// the Gram matrix is summed tile by tile, triangular systems and products run over the rows of a tile in registers.
// Everything has an order that follows from the shape: the bits do not depend on who does what. The threads of a team
// share the register tiles of a tile; those of a pair (maps.hpp) share the rows of a sum.
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

/// A register of Real on the host, one number on a device, as fold_sixteen() wants it. Map: of any type.
template <class Map, class Real>
struct gram_map {
  using real = Real;
  enum { chunk = Map::row_cyclic ? device::host_lanes<Real>() : 1 };
  using vector = device::pack<Real, int(chunk)>;
};

/// Chunks of rows in a register tile.
enum { gram_chunks = 4 };

/// Rows of a tile that are worked on together.
template <class Map, class Real>
constexpr int gram_rows = int(gram_chunks) * int(gram_map<Map, Real>::chunk);

/// Rows of a tile that sums and register tiles run over; those below the last row are zero.
template <class Map, class Real>
constexpr int padded_tile_rows(int rows) {
  return (rows + gram_rows<Map, Real> - 1) / gram_rows<Map, Real> * gram_rows<Map, Real>;
}

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
template <class Map, class Real, class Stored>
QUINTET_SVD_INLINE void load_tile(const Map& map, const gram_shape& shape, const Stored* from, std::int64_t row,
                                  std::int64_t column, int tile, Real* to) {
  const int rows = shape.rows_in(tile), padded = padded_tile_rows<Map, Real>(rows), cols = shape.cols;
  from += std::int64_t(tile) * shape.tile_rows * row;
  if constexpr (Map::row_cyclic) {
    if (column == 1 && row != 1) {
      transpose_tile<int(gram_map<Map, Real>::chunk)>(from, row, rows, 0, cols, to, shape.ld);
    } else {
      for (int j = 0; j < cols; ++j) {
        const Stored* source = from + j * column;
        Real* target = to + std::int64_t(j) * shape.ld;
        if (row == 1)
          for (int i = 0; i < rows; ++i) target[i] = Real(source[i]);
        else
          for (int i = 0; i < rows; ++i) target[i] = Real(source[i * row]);
      }
    }
    for (int j = 0; j < cols; ++j)
      for (int i = rows; i < padded; ++i) to[std::int64_t(j) * shape.ld + i] = 0;
  } else {  // neighbours in A for neighbouring threads
    const bool by_row = column == 1;
    const int minor = by_row ? cols : padded;
    for_each_row(map, 0, padded * cols, [&](int e) QUINTET_SVD_INLINE_LAMBDA {
      const int i = by_row ? e / minor : e % minor, j = by_row ? e % minor : e / minor;
      to[std::int64_t(j) * shape.ld + i] = i < rows ? Real(from[i * row + j * column]) : Real(0);
    });
  }
  map.barrier();
}

/// The largest and the smallest size of rows that are not zero.
template <class Real>
struct row_sizes {
  Real largest = 0, least = std::numeric_limits<Real>::infinity();

  QUINTET_SVD_INLINE void add(const row_sizes& other) {
    largest = larger(largest, other.largest);
    least = smaller(least, other.least);
  }
  /// Whether no row is more than `ratio` times as large as another one.
  QUINTET_SVD_INLINE bool are_within(Real ratio) const { return largest <= ratio * least; }
};

/// Adds the rows of a tile that fall to this thread.
template <class Map, class Real>
QUINTET_SVD_INLINE void add_row_sizes(const Map& map, const gram_shape& shape, int tile, const Real* from,
                                      row_sizes<Real>& sizes) {
  using lanes = gram_map<Map, Real>;
  using vector = typename lanes::vector;
  const int rows = shape.rows_in(tile);
  vector largest = same<vector>(sizes.largest), least = same<vector>(sizes.least);
  for (int i = map.team_first() * lanes::chunk; i < rows; i += map.team_step() * lanes::chunk) {
    vector size{};
    for (int j = 0; j < shape.cols; ++j)
      size = larger(size, absolute(device::load_pack<vector>(from + std::int64_t(j) * shape.ld + i)));
    largest = larger(largest, size);
    least = choose((size > vector{}) & (size < least), size, least);
  }
  for (int e = 0; e < lanes::chunk; ++e) sizes.add({lane_of(largest, e), lane_of(least, e)});
}

/// Those of all threads of the team.
template <class Map, class Real>
QUINTET_SVD_INLINE row_sizes<Real> sizes_of_team(const Map& map, const row_sizes<Real>& own) {
  using real = typename Map::real;
  const real largest = map.team_max(real(own.largest)), opposite = map.team_max(-real(own.least));
  return {Real(largest), Real(-opposite)};
}

/// One chunk of a column as numbers of another type.
template <class Map, class Sum, class Real>
QUINTET_SVD_INLINE typename gram_map<Map, Sum>::vector widened_chunk(const Real* from) {
  using vector = typename gram_map<Map, Sum>::vector;
  if constexpr (std::is_same_v<Sum, Real>)
    return device::load_pack<vector>(from);
  else if constexpr (!Map::row_cyclic)
    return Sum(*from);
  else
    return device::convert_pack<vector, Sum>(from);
}

/// The sum of a column of a tile, with the zeros below its last row, by one thread.
template <class Map, class Real>
QUINTET_SVD_INLINE double sum_tile_column(const Real* from, int rows) {
  using lanes = gram_map<Map, double>;
  using vector = typename lanes::vector;
  constexpr int width = int(lanes::chunk);
  vector sums[gram_chunks] = {};
  for (int i = 0; i < rows; i += gram_chunks * width)
    for (int e = 0; e < gram_chunks; ++e) sums[e] += widened_chunk<Map, double>(from + i + e * width);
  return fold_lanes<double>(vector((sums[0] + sums[1]) + (sums[2] + sums[3])));
}

/// Takes the means of the columns off the rows of a tile.
template <class Map, class Real>
QUINTET_SVD_INLINE void centre_tile(const Map& map, const gram_shape& shape, int tile, const Real* means, Real* to) {
  const int rows = shape.rows_in(tile);
  if constexpr (Map::row_cyclic) {
    for (int j = 0; j < shape.cols; ++j) {
      Real* column = to + std::int64_t(j) * shape.ld;
      for (int i = 0; i < rows; ++i) column[i] -= means[j];
    }
  } else {
    for_each_row(map, 0, rows * shape.cols, [&](int e) QUINTET_SVD_INLINE_LAMBDA {
      to[std::int64_t(e / rows) * shape.ld + e % rows] -= means[e / rows];
    });
  }
  map.barrier();
}

/// The Gram matrix of A - 1 means^T from that of A, above the diagonal. `sums`: of the columns of A.
template <class Map, class Real>
QUINTET_SVD_INLINE void centre_gram(const Map& map, double* g, int n, int side, double rows, const double* sums,
                                    const Real* means) {
  for_each_row(map, 0, n, [&](int j) QUINTET_SVD_INLINE_LAMBDA {
    for (int i = 0; i <= j; ++i) {
      const double mean = double(means[i]), other = double(means[j]);
      g[std::int64_t(j) * side + i] -= sums[i] * other + mean * (sums[j] - rows * other);
    }
  });
  map.barrier();
}

/// The products of four columns with four others over the rows of a tile, summed in Sum: chains of terms_of_short_sum.
/// f(k, e, product) for left column k and right column e; where threads share sums, each of them gets the product.
template <class Sum, class Map, class Real, class Function>
QUINTET_SVD_INLINE void multiply_columns_of_tile(const Map& map, const Real* const* left, const Real* const* right,
                                                 int rows, Function f) {
  using lanes = gram_map<Map, Sum>;
  using vector = typename lanes::vector;
  const int step = map.pair_step() * int(lanes::chunk), length = int(terms_of_short_sum) * step;
  vector total[16] = {};
  for (int first = map.pair_first() * int(lanes::chunk); first < rows; first += length) {
    const int last = first + length < rows ? first + length : rows;
    vector sums[16] = {};
    for (int i = first; i < last; i += step) {
      vector value[4];
      for (int k = 0; k < 4; ++k) value[k] = widened_chunk<Map, Sum>(left[k] + i);
      for (int e = 0; e < 4; ++e) {
        const vector other = widened_chunk<Map, Sum>(right[e] + i);
        for (int k = 0; k < 4; ++k) sums[4 * k + e] = device::fma(value[k], other, sums[4 * k + e]);
      }
    }
    for (int k = 0; k < 16; ++k) total[k] += sums[k];
  }
  if constexpr (Map::row_cyclic) {
    Sum products[16];
    fold_sixteen<lanes>(total, products);
    for (int k = 0; k < 4; ++k)
      for (int e = 0; e < 4; ++e) f(k, e, products[4 * k + e]);
  } else {
    // Unrolled, or a GPU would keep the sums on a stack.
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k)
#pragma GCC unroll 4
      for (int e = 0; e < 4; ++e) f(k, e, Sum(map.pair_sum(total[4 * k + e])));
  }
}

/// Row and column of place `index` in an upper triangle, column after column.
QUINTET_SVD_INLINE void place_in_triangle(int index, int& row, int& column) {
  column = int((std::sqrt(8.0f * float(index) + 1) - 1) / 2);
  while ((column + 1) * (column + 2) / 2 <= index) ++column;
  while (column * (column + 1) / 2 > index) --column;
  row = index - column * (column + 1) / 2;
}

/// G += tile^T tile above the diagonal, columns of G `side` apart.
template <class Sum, class Map, class Real>
QUINTET_SVD_INLINE void add_gram(const Map& map, const gram_shape& shape, int tile, const Real* from, double* g) {
  using lanes = gram_map<Map, Sum>;
  const int n = shape.cols, rows = shape.rows_in(tile), blocks = shape.side / 4;
  const int padded = (rows + lanes::chunk - 1) / lanes::chunk * lanes::chunk;
  for_each_item(map, 0, blocks * (blocks + 1) / 2, [&](int item, bool valid) QUINTET_SVD_INLINE_LAMBDA {
    int i, j;
    place_in_triangle(item, i, j);
    const Real *left[4], *right[4];
    for (int e = 0; e < 4; ++e) {
      left[e] = from + std::int64_t(4 * i + e < n ? 4 * i + e : n - 1) * shape.ld;
      right[e] = from + std::int64_t(4 * j + e < n ? 4 * j + e : n - 1) * shape.ld;
    }
    double* block = g + std::int64_t(4 * j) * shape.side + 4 * i;
    multiply_columns_of_tile<Sum>(map, left, right, valid ? padded : 0,
                                  [&](int k, int e, Sum product) QUINTET_SVD_INLINE_LAMBDA {
                                    if (valid && map.leads_pair())
                                      block[std::int64_t(e) * shape.side + k] += double(product);
                                  });
  });
}

/// x . y of `count` numbers, in an order that `count` and the threads of a pair fix. Every thread of a pair has it.
template <class Map>
QUINTET_SVD_INLINE double dot_of_column(const Map& map, const double* x, const double* y, int count) {
  using lanes = gram_map<Map, double>;
  using vector = typename lanes::vector;
  const int step = map.pair_step() * int(lanes::chunk);
  vector sum[2] = {};
  int i = map.pair_first() * int(lanes::chunk);
  for (; i + step + int(lanes::chunk) <= count; i += 2 * step)
    for (int e = 0; e < 2; ++e)
      sum[e] =
          device::fma(device::load_pack<vector>(x + i + e * step), device::load_pack<vector>(y + i + e * step), sum[e]);
  if constexpr (Map::row_cyclic) {
    double total = fold_lanes<double>(vector(sum[0] + sum[1]));
    for (; i < count; ++i) total = device::fma(x[i], y[i], total);
    return total;
  } else {
    if (i < count) sum[0] = device::fma(x[i], y[i], sum[0]);
    return map.pair_sum(sum[0] + sum[1]);
  }
}

/// y += factor * x of `count` numbers, by one thread.
template <class Map>
QUINTET_SVD_INLINE void add_column(double factor, const double* x, double* y, int count) {
  using lanes = gram_map<Map, double>;
  using vector = typename lanes::vector;
  int i = 0;
  for (; i + lanes::chunk <= count; i += lanes::chunk)
    device::store_pack(y + i, device::fma(device::load_pack<vector>(x + i), factor, device::load_pack<vector>(y + i)));
  for (; i < count; ++i) y[i] = device::fma(x[i], factor, y[i]);
}

/// The upper triangle of G becomes R with R^T R = G (Golub, Van Loan 1996, Algorithm 4.2.1; row after row, so that
/// threads share a row), unless a pivot is at most `lost` times the square of its column: then false.
template <class Map>
QUINTET_SVD_INLINE bool factorise_gram(const Map& map, double* g, int n, int side, double lost) {
  for (int k = 0; k < n; ++k) {
    double* column = g + std::int64_t(k) * side;
    const double subtracted = dot_of_column(map, column, column, k);
    if (map.leads_team()) {
      const double square = column[k], pivot = square - subtracted;
      column[k] = pivot > lost * square ? root(pivot) : 0.0;
    }
    map.barrier();
    const double diagonal = column[k];
    if (!(diagonal > 0)) return false;
    for_each_item(map, k + 1, n, [&](int j, bool valid) QUINTET_SVD_INLINE_LAMBDA {
      double* other = g + std::int64_t(j) * side;
      const double known = dot_of_column(map, column, static_cast<const double*>(other), k);
      if (valid && map.leads_pair()) other[k] = (other[k] - known) / diagonal;
    });
    map.barrier();
  }
  return true;
}

/// R1 := R2 R1, both upper triangles; a column per thread.
template <class Map>
QUINTET_SVD_INLINE void multiply_triangles(const Map& map, const double* r2, double* r1, int n, int side) {
  for_each_row(map, 0, n, [&](int j) QUINTET_SVD_INLINE_LAMBDA {
    double* column = r1 + std::int64_t(j) * side;
    // From the top: entry k is used before it is replaced.
    for (int k = 0; k <= j; ++k) {
      const double factor = column[k];
      column[k] = 0;
      add_column<Map>(factor, r2 + std::int64_t(k) * side, column, k + 1);
    }
  });
  map.barrier();
}

/// x := R^-1 x, by one thread.
template <class Map>
QUINTET_SVD_INLINE void solve_triangle(const double* r, double* x, int n, int side) {
  for (int k = n - 1; k >= 0; --k) {
    const double* column = r + std::int64_t(k) * side;
    x[k] /= column[k];
    add_column<Map>(-x[k], column, x, k);
  }
}

/// Place of element (k, j) of a factor of rows in registers: four neighbours in a row, row after row of a block.
inline std::int64_t packed_place(int k, int j, int side) {
  return (std::int64_t(j / gram_columns) * side + k) * gram_columns + j % gram_columns;
}

/// X R = A for a tile of rows of A, in place. `packed`: -R above the diagonal; `inverse`: of its diagonal; both zero in
/// the padding.
template <class Map, class Real>
QUINTET_SVD_INLINE void solve_rows(const Map& map, const gram_shape& shape, int tile, Real* x, const Real* packed,
                                   const Real* inverse) {
  using lanes = gram_map<Map, Real>;
  using vector = typename lanes::vector;
  constexpr int height = gram_rows<Map, Real>;
  const int n = shape.cols, rows = shape.rows_in(tile);
  for (int first = map.team_first() * height; first < rows; first += map.team_step() * height)
    for (int j = 0; j < n; j += gram_columns) {
      const Real* factor = packed + std::int64_t(j) * shape.side;
      vector sum[gram_chunks][gram_columns];
      const int width = n - j < gram_columns ? n - j : int(gram_columns);
      for (int e = 0; e < gram_columns; ++e) {
        const Real* column = x + std::int64_t(e < width ? j + e : n - 1) * shape.ld + first;
        for (int i = 0; i < gram_chunks; ++i) sum[i][e] = device::load_pack<vector>(column + i * lanes::chunk);
      }
      for (int k = 0; k < j; ++k, factor += gram_columns) {
        const Real* column = x + std::int64_t(k) * shape.ld + first;
        vector value[gram_chunks];
        for (int i = 0; i < gram_chunks; ++i) value[i] = device::load_pack<vector>(column + i * lanes::chunk);
        for (int e = 0; e < gram_columns; ++e)
          for (int i = 0; i < gram_chunks; ++i) sum[i][e] = device::fma(value[i], factor[e], sum[i][e]);
      }
      for (int e = 0; e < gram_columns; ++e) {
        for (int k = 0; k < e; ++k)
          for (int i = 0; i < gram_chunks; ++i)
            sum[i][e] = device::fma(sum[i][k], factor[k * gram_columns + e], sum[i][e]);
        for (int i = 0; i < gram_chunks; ++i) sum[i][e] = sum[i][e] * inverse[j + e];
      }
      for (int e = 0; e < gram_columns; ++e) {
        if (e >= width) continue;
        for (int i = 0; i < gram_chunks; ++i)
          device::store_pack(x + std::int64_t(j + e) * shape.ld + first + i * lanes::chunk, sum[i][e]);
      }
    }
  map.barrier();
}

/// Four columns of the product of some rows of a tile with W: f(i, e, vector) for chunk i of the rows and column e.
template <class Map, class Real, class Function>
QUINTET_SVD_INLINE void multiply_rows(const gram_shape& shape, const Real* rows, const Real* packed, Function f) {
  using lanes = gram_map<Map, Real>;
  using vector = typename lanes::vector;
  vector total[gram_chunks][gram_columns] = {};
  constexpr int length = 4 * terms_of_short_sum;
  for (int begin = 0; begin < shape.cols; begin += length) {
    const int end = begin + length < shape.cols ? begin + length : shape.cols;
    vector sum[gram_chunks][gram_columns] = {};
    for (int k = begin; k < end; ++k) {
      const Real *column = rows + std::int64_t(k) * shape.ld, *factor = packed + std::int64_t(k) * gram_columns;
      vector value[gram_chunks];
      for (int i = 0; i < gram_chunks; ++i) value[i] = device::load_pack<vector>(column + i * lanes::chunk);
      for (int e = 0; e < gram_columns; ++e)
        for (int i = 0; i < gram_chunks; ++i) sum[i][e] = device::fma(value[i], factor[e], sum[i][e]);
    }
    for (int i = 0; i < gram_chunks; ++i)
      for (int e = 0; e < gram_columns; ++e) total[i][e] += sum[i][e];
  }
#pragma GCC unroll 4
  for (int e = 0; e < gram_columns; ++e)
#pragma GCC unroll 4
    for (int i = 0; i < gram_chunks; ++i) f(i, e, total[i][e]);
}

}  // namespace quintet::svd
