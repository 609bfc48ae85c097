#include "svd/gram_qr.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "instantiate.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/device/buffer.hpp"
#include "svd/gram_qr_steps.hpp"
#include "svd/jacobi.hpp"
#include "svd/jacobi_policies.hpp"
#include "svd/transfer.hpp"

namespace quintet::svd {

namespace {

/// The triangles are one worker's.
constexpr int largest_gram = 512;
/// Fewer numbers stay in a cache while reflections pass over them, and shorter ones have little for the rows to gain.
constexpr int smallest_gram_size = 8192;
template <class Real>
constexpr int shortest_gram = sizeof(Real) == 4 ? 4 : 3;

/// Matrices in work at the same time hold so many bytes a thread, if there are several: what caches hold.
constexpr std::int64_t gram_memory = std::int64_t(1) << 22;
/// Whole groups of lanes for the rotations may hold more.
constexpr std::int64_t group_memory = std::int64_t(1) << 28;

gram_shape divide_rows(std::int32_t rows, std::int32_t cols) {
  gram_shape shape = {};
  shape.rows = rows;
  shape.cols = cols;
  // A tile in the second-level cache.
  shape.tile_rows = cols <= 128 ? 512 : cols <= 256 ? 256 : 128;
  shape.tiles = (rows + shape.tile_rows - 1) / shape.tile_rows;
  shape.parts = std::clamp(shape.tiles / 2, 1, 32);
  // Columns an odd number of cache lines apart.
  shape.ld = shape.tile_rows + 16;
  shape.side = (cols + gram_columns - 1) / gram_columns * gram_columns;
  return shape;
}

/// Some matrices in work. Arrays have their parts for one matrix after the other.
template <class Real>
struct gram_batch {
  gram_shape shape;
  stored_batch a, left, right;
  Real* q;                 ///< [tiles] A, then Q
  double* sums;            ///< [parts, side, side] of a Gram matrix; the first one becomes R of Q
  double* r;               ///< [side, side] R of A
  Real *packed, *inverse;  ///< [side, side] and [side]: see solve_rows(); then the factor of Q in U
  Real *square, *u;        ///< [cols, cols] R for Jacobi; [values, cols] its left vectors
  Real* extreme;           ///< [parts, values] the element of largest size of each column of U in a part
  row_sizes<Real>* sizes;  ///< [parts]
  double* column_sums;     ///< [tiles, cols]; null where means stay
  column_means<Real> means;
  std::int32_t* status;
  std::int32_t values;
  bool vectors, signs;

  double* sums_of(std::int64_t matrix, int part) const {
    return sums + (matrix * shape.parts + part) * shape.side * shape.side;
  }
  double* r_of(std::int64_t matrix) const { return r + matrix * shape.side * shape.side; }
  Real* packed_of(std::int64_t matrix) const { return packed + matrix * shape.side * shape.side; }
  Real* inverse_of(std::int64_t matrix) const { return inverse + matrix * shape.side; }
  Real* tile_of(std::int64_t matrix, int tile) const { return q + (matrix * shape.tiles + tile) * shape.tile_size(); }
  double* column_sums_of(std::int64_t matrix, int tile) const {
    return column_sums + (matrix * shape.tiles + tile) * shape.cols;
  }
  Real* means_of(std::int64_t matrix) const { return means.data + matrix * means.stride; }
  bool centres() const { return column_sums != nullptr; }
  bool is_taken(std::int64_t matrix) const { return status[matrix] == code_ok; }

  /// f(tile) for the tiles of a part.
  template <class Function>
  void for_each_tile(int part, Function f) const {
    for (int tile = shape.first_tile(part); tile < shape.first_tile(part + 1); ++tile) f(tile);
  }
};

/// The tiles of A, their Gram matrix and the sizes of rows: a part of the rows of one matrix.
template <class Real>
struct load_and_multiply {
  gram_batch<Real> all;

  template <class Map>
  void operator()(const Map&, std::int64_t index) const {
    const std::int64_t matrix = index / all.shape.parts;
    const int part = int(index % all.shape.parts);
    double* sums = all.sums_of(matrix, part);
    std::fill_n(sums, std::int64_t(all.shape.side) * all.shape.side, 0.0);
    row_sizes<Real> sizes;
    with_elements<Real>(all.a.type, all.a.data, [&](const auto* data) {
      all.for_each_tile(part, [&](int tile) {
        Real* to = all.tile_of(matrix, tile);
        load_tile(all.shape, data + matrix * all.a.batch, all.a.row, all.a.column, tile, to);
        if (all.centres())
          sum_columns_of_tile(matrix, tile, to);
        else
          sizes.add_tile(all.shape, tile, to);
        add_gram<double>(all.shape, tile, static_cast<const Real*>(to), sums);
      });
    });
    all.sizes[index] = sizes;
  }

 private:
  void sum_columns_of_tile(std::int64_t matrix, int tile, const Real* from) const {
    const int rows = all.shape.rows_in(tile), padded = (rows + gram_rows<Real> - 1) / gram_rows<Real> * gram_rows<Real>;
    double* sums = all.column_sums_of(matrix, tile);
    for (int j = 0; j < all.shape.cols; ++j) sums[j] = sum_tile_column(from + std::int64_t(j) * all.shape.ld, padded);
  }
};

/// The sum over all parts of a matrix, in place of the first one.
template <class Real>
double* add_parts(const gram_batch<Real>& all, std::int64_t matrix) {
  double* first = all.sums_of(matrix, 0);
  const std::int64_t count = std::int64_t(all.shape.side) * all.shape.side;
  for (int part = 1; part < all.shape.parts; ++part)
    for (std::int64_t i = 0; i < count; ++i) first[i] += all.sums_of(matrix, part)[i];
  return first;
}

/// Whether no row differs much in size from another one, of A without its means where they are taken off.
template <class Real>
bool has_rows_of_one_size(const gram_batch<Real>& all, std::int64_t matrix) {
  row_sizes<Real> rows;
  for (int part = 0; part < all.shape.parts; ++part) rows.add(all.sizes[matrix * all.shape.parts + part]);
  return rows.are_within(badly_scaled_ratio<Real>);
}

/// A pivot below this part of its square is rounding errors of a Gram matrix in double; or, in float, those of Q make
/// the second pass fail.
template <class Real>
constexpr double lost_pivot(int n) {
  constexpr double epsilon = std::numeric_limits<Real>::epsilon();
  return std::max(n * std::numeric_limits<double>::epsilon(), 4 * epsilon * epsilon);
}

/// R of A from its Gram matrix, or code_wants_reflections. One matrix.
template <class Real>
struct factorise_first {
  gram_batch<Real> all;

  template <class Map>
  void operator()(const Map&, std::int64_t matrix) const {
    const int n = all.shape.cols, side = all.shape.side;
    const double* sums = add_parts(all, matrix);
    double* r = all.r_of(matrix);
    std::copy_n(sums, std::int64_t(side) * side, r);
    if (all.centres()) centre(matrix, r);
    const bool suits = is_well_scaled(matrix, r) && factorise_gram(r, n, side, lost_pivot<Real>(n));
    all.status[matrix] = suits ? code_ok : code_wants_reflections;
    if (!suits) return;
    Real *packed = all.packed_of(matrix), *inverse = all.inverse_of(matrix);
    for (int j = 0; j < side; ++j) {
      for (int k = 0; k < side; ++k)
        packed[packed_place(k, j, side)] = j < n && k < j ? Real(-r[std::int64_t(j) * side + k]) : Real(0);
      inverse[j] = j < n ? Real(1 / r[std::int64_t(j) * side + j]) : Real(0);
    }
    // What the rows are solved with is what R is made of.
    for (int j = 0; j < n; ++j)
      for (int k = 0; k <= j; ++k) r[std::int64_t(j) * side + k] = double(Real(r[std::int64_t(j) * side + k]));
  }

 private:
  /// Squares in range, so that nothing has to be scaled; rows and columns of about one size (NaN is not).
  bool is_well_scaled(std::int64_t matrix, const double* g) const {
    constexpr double large = sizeof(Real) == 4 ? 0x1p120 : 0x1p400;
    double least = large, largest = 0;
    for (int j = 0; j < all.shape.cols; ++j) {
      const double square = g[std::int64_t(j) * all.shape.side + j];
      if (!(square > 1 / large && square < large)) return false;
      least = std::min(least, square);
      largest = std::max(largest, square);
    }
    const double ratio = double(badly_scaled_ratio<Real>);
    return largest <= ratio * ratio * least && (all.centres() || has_rows_of_one_size(all, matrix));
  }

  /// The means, and G without them.
  void centre(std::int64_t matrix, double* g) const {
    const int n = all.shape.cols;
    double sums[largest_gram];
    Real* means = all.means_of(matrix);
    for (int j = 0; j < n; ++j) {
      compensated_sum<double> sum;
      for (int tile = 0; tile < all.shape.tiles; ++tile) sum.add(all.column_sums_of(matrix, tile)[j]);
      sums[j] = sum.total();
      means[j] = Real(sums[j] / double(all.shape.rows));
    }
    centre_gram(g, n, all.shape.side, double(all.shape.rows), sums, static_cast<const Real*>(means));
  }
};

/// A part of the rows of Q = A R^-1, and of its Gram matrix.
template <class Real>
struct solve_and_multiply {
  gram_batch<Real> all;

  template <class Map>
  void operator()(const Map&, std::int64_t index) const {
    const std::int64_t matrix = index / all.shape.parts;
    const int part = int(index % all.shape.parts);
    if (!all.is_taken(matrix)) return;
    double* sums = all.sums_of(matrix, part);
    std::fill_n(sums, std::int64_t(all.shape.side) * all.shape.side, 0.0);
    row_sizes<Real> sizes;
    all.for_each_tile(part, [&](int tile) {
      Real* q = all.tile_of(matrix, tile);
      if (all.centres()) {
        centre_tile(all.shape, tile, static_cast<const Real*>(all.means_of(matrix)), q);
        sizes.add_tile(all.shape, tile, q);
      }
      solve_rows(all.shape, tile, q, all.packed_of(matrix), all.inverse_of(matrix));
      add_gram<Real>(all.shape, tile, static_cast<const Real*>(q), sums);
    });
    if (all.centres()) all.sizes[index] = sizes;
  }
};

/// Columns of Q may be so far from orthonormal, as a Frobenius norm, that the second pass makes them orthonormal to
/// working accuracy: the condition of Q is below sqrt((1 + d) / (1 - d)).
constexpr double largest_deviation = 0.25;

/// R2 of Q, and R = R2 R1 for Jacobi; or code_wants_reflections, where Q is too far from orthonormal. One matrix.
template <class Real>
struct factorise_second {
  gram_batch<Real> all;

  template <class Map>
  void operator()(const Map&, std::int64_t matrix) const {
    if (!all.is_taken(matrix)) return;
    const int n = all.shape.cols, side = all.shape.side;
    double *sums = add_parts(all, matrix), *r = all.r_of(matrix);
    double deviation = 0;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i <= j; ++i) {
        const double error = sums[std::int64_t(j) * side + i] - (i == j ? 1 : 0);
        deviation += (i == j ? 1 : 2) * error * error;
      }
    if (!(deviation <= largest_deviation * largest_deviation) || !has_rows_of_one_size(all, matrix) ||
        !factorise_gram(sums, n, side, lost_pivot<double>(n))) {
      all.status[matrix] = code_wants_reflections;
      return;
    }
    multiply_triangles(sums, r, n, side);
    Real* square = all.square + matrix * n * n;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i)
        square[std::int64_t(j) * n + i] = i <= j ? Real(r[std::int64_t(j) * side + i]) : Real(0);
  }
};

/// All passes over one matrix, which stays in a cache. The bits are those of the launches one after the other.
template <class Real>
struct factorise_whole {
  gram_batch<Real> all;

  template <class Map>
  void operator()(const Map& map, std::int64_t matrix) const {
    const std::int64_t first = matrix * all.shape.parts, last = first + all.shape.parts;
    for (std::int64_t part = first; part < last; ++part) load_and_multiply<Real>{all}(map, part);
    factorise_first<Real>{all}(map, matrix);
    for (std::int64_t part = first; part < last; ++part) solve_and_multiply<Real>{all}(map, part);
    factorise_second<Real>{all}(map, matrix);
  }
};

/// Four columns of W = R2^-1 U_R, U = Q W.
template <class Real>
struct solve_vectors {
  gram_batch<Real> all;

  std::int64_t blocks() const { return (all.values + gram_columns - 1) / gram_columns; }
  template <class Map>
  void operator()(const Map&, std::int64_t index) const {
    const std::int64_t matrix = index / blocks();
    if (!all.is_taken(matrix)) return;
    const int n = all.shape.cols, side = all.shape.side, first = int(index % blocks()) * gram_columns;
    Real* packed = all.packed_of(matrix);
    for (int j = first; j < first + gram_columns; ++j) {
      double x[largest_gram] = {};
      if (j < all.values) {
        const Real* from = all.u + (matrix * all.values + j) * n;
        for (int i = 0; i < n; ++i) x[i] = double(from[i]);
        solve_triangle(all.sums_of(matrix, 0), x, n, side);
      }
      for (int i = 0; i < n; ++i) packed[packed_place(i, j, side)] = Real(x[i]);
    }
  }
};

/// The element of largest size of each column of U in a part of the rows; the first one among equals.
template <class Real>
struct find_extremes {
  gram_batch<Real> all;

  template <class Map>
  void operator()(const Map&, std::int64_t index) const {
    const std::int64_t matrix = index / all.shape.parts;
    const int part = int(index % all.shape.parts);
    if (!all.is_taken(matrix)) return;
    Real* extreme = all.extreme + index * all.values;
    std::fill_n(extreme, all.values, Real(0));
    all.for_each_tile(part, [&](int tile) {
      multiply_tile_rows(all.shape, tile, all.tile_of(matrix, tile), all.packed_of(matrix), all.values,
                         [&](int, int j, const Real* products) {
                           for (int e = 0; e < gram_columns && j + e < all.values; ++e)
                             for (int i = 0; i < gram_rows<Real>; ++i) {
                               const Real value = products[e * gram_rows<Real> + i];
                               if (absolute(value) > absolute(extreme[j + e])) extreme[j + e] = value;
                             }
                         });
    });
  }
};

/// Columns of U and V whose extreme is negative change their signs. One matrix.
template <class Real>
struct fix_signs {
  gram_batch<Real> all;

  template <class Map>
  void operator()(const Map&, std::int64_t matrix) const {
    if (!all.is_taken(matrix)) return;
    const int n = all.shape.cols;
    Real* packed = all.packed_of(matrix);
    for (int j = 0; j < all.values; ++j) {
      Real extreme = 0;
      for (int part = 0; part < all.shape.parts; ++part) {
        const Real value = all.extreme[(matrix * all.shape.parts + part) * all.values + j];
        if (absolute(value) > absolute(extreme)) extreme = value;
      }
      if (!(extreme < 0)) continue;
      for (int i = 0; i < n; ++i) packed[packed_place(i, j, all.shape.side)] *= -1;
      with_elements<Real>(all.right.type, all.right.data, [&](auto* data) {
        using stored = std::remove_reference_t<decltype(*data)>;
        for (int i = 0; i < n; ++i) {
          stored& value = data[matrix * all.right.batch + i * all.right.row + j * all.right.column];
          value = to_storage<stored>(Real(0) - Real(value));
        }
      });
    }
  }
};

/// U = Q W to the caller's memory: a part of the rows of one matrix.
template <class Real>
struct store_left {
  gram_batch<Real> all;

  template <class Map>
  void operator()(const Map&, std::int64_t index) const {
    const std::int64_t matrix = index / all.shape.parts;
    if (!all.is_taken(matrix)) return;
    with_elements<Real>(all.left.type, all.left.data, [&](auto* data) {
      all.for_each_tile(int(index % all.shape.parts), [&](int tile) {
        const int rows = all.shape.rows_in(tile);
        auto* to = data + matrix * all.left.batch + std::int64_t(tile) * all.shape.tile_rows * all.left.row;
        multiply_tile_rows(all.shape, tile, all.tile_of(matrix, tile), all.packed_of(matrix), all.values,
                           [&](int first, int j, const Real* products) {
                             store_block(products, to + first * all.left.row + j * all.left.column,
                                         std::min(rows - first, int(gram_rows<Real>)),
                                         std::min(all.values - j, int(gram_columns)));
                           });
      });
    });
  }

 private:
  /// Zeros become +0.
  template <class Stored>
  void store_block(const Real* products, Stored* to, int rows, int columns) const {
    const std::int64_t row = all.left.row, column = all.left.column;
    const auto value = [&](int i, int e) { return to_storage<Stored>(products[e * gram_rows<Real> + i] + Real(0)); };
    if (column == 1 && columns == gram_columns) {
      for (int i = 0; i < rows; i += gram_columns) {
        using square = device::pack<Real, gram_columns>;
        square packs[gram_columns];
        for (int e = 0; e < gram_columns; ++e) packs[e] = device::load_pack<square>(products + e * gram_rows<Real> + i);
        device::transpose_packs<gram_columns>(packs);
        for (int e = 0; e < gram_columns && i + e < rows; ++e) {
          Stored* line = to + (i + e) * row;
          for (int k = 0; k < gram_columns; ++k) line[k] = to_storage<Stored>(Real(packs[e][k]) + Real(0));
        }
      }
    } else if (row == 1) {
      for (int e = 0; e < columns; ++e)
        for (int i = 0; i < rows; ++i) to[e * column + i] = value(i, e);
    } else {
      for (int i = 0; i < rows; ++i)
        for (int e = 0; e < columns; ++e) to[i * row + e * column] = value(i, e);
    }
  }
};

template <class Real>
stored_batch from_matrix(stored_batch batch, std::int64_t first) {
  if (batch.data != nullptr)
    with_elements<Real>(batch.type, batch.data, [&](auto* data) { batch.data = data + first * batch.batch; });
  return batch;
}

/// The matrices [first, first + count) of a job.
template <class Real>
class gram_run {
 public:
  gram_run(const jacobi_job<Real>& job, const column_means<Real>& means, const gram_shape& shape, std::int64_t count)
      : job_(job),
        means_(means),
        triangle_(std::int64_t(shape.side) * shape.side),
        q_(count * shape.tiles * shape.tile_size()),
        packed_(count * triangle_),
        inverse_(count * shape.side),
        square_(count * shape.cols * shape.cols),
        u_(job.vectors ? count * shape.cols * job.values : 0),
        sums_(count * shape.parts * triangle_),
        r_(count * triangle_),
        column_sums_(means.data != nullptr ? count * shape.tiles * shape.cols : 0),
        sizes_(count * shape.parts) {
    all_.shape = shape;
    all_.values = job.values;
    all_.vectors = job.vectors;
    all_.signs = job.canonical && !job.sign_by_right && job.vectors;
    extreme_ = Buffer<Real>(all_.signs ? count * shape.parts * job.values : 0);
    all_.q = q_.data();
    all_.packed = packed_.data();
    all_.inverse = inverse_.data();
    all_.square = square_.data();
    all_.u = u_.data();
    all_.sums = sums_.data();
    all_.r = r_.data();
    all_.sizes = sizes_.data();
    all_.column_sums = means.data != nullptr ? column_sums_.data() : nullptr;
    all_.extreme = extreme_.data();
  }

  void run(std::int64_t first, std::int64_t count, std::int64_t batch) {
    all_.a = from_matrix<Real>(job_.a, first);
    all_.left = from_matrix<Real>(job_.left, first);
    all_.right = from_matrix<Real>(job_.right, first);
    all_.status = job_.status + first;
    all_.means = {means_.data + (all_.centres() ? first * means_.stride : 0), means_.stride};
    const std::int64_t parts = count * all_.shape.parts;
    factorise(count, parts);
    rotate(first, count, batch);
    if (!all_.vectors) return;
    const stage_region stage("finish");
    const solve_vectors<Real> solution{all_};
    launch(solution, count * solution.blocks());
    if (all_.signs) {
      launch(find_extremes<Real>{all_}, parts);
      launch(fix_signs<Real>{all_}, count);
    }
    launch(store_left<Real>{all_}, parts);
  }

 private:
  template <class Body>
  void launch(const Body& body, std::int64_t tiles) {
    launch_body<host_rows<Real>>(body, tiles, Device::host());
  }

  void factorise(std::int64_t count, std::int64_t parts) {
    const stage_region stage("qr");
    if (count >= 2 * threads() || all_.shape.parts == 1) return launch(factorise_whole<Real>{all_}, count);
    launch(load_and_multiply<Real>{all_}, parts);
    launch(factorise_first<Real>{all_}, count);
    launch(solve_and_multiply<Real>{all_}, parts);
    launch(factorise_second<Real>{all_}, count);
  }

  /// S, V and the left vectors of R.
  void rotate(std::int64_t first, std::int64_t count, std::int64_t batch) {
    const stage_region stage("rotate");
    std::vector<std::int64_t> accepted;
    for (std::int64_t b = 0; b < count; ++b)
      if (all_.is_taken(b)) accepted.push_back(b);
    const std::int64_t n = all_.shape.cols;
    jacobi_job<Real> job = job_;
    job.a = {all_.square, scalar_type_of<Real>(), n * n, 1, n};
    job.left = {all_.u, scalar_type_of<Real>(), n * job.values, 1, n};
    job.right = all_.right;
    job.s = from_matrix<Real>(job_.s, first);
    job.status = all_.status;
    job.sweeps = job_.sweeps + first;
    job.index = accepted.data();
    job.first = 0;
    job.count = std::int64_t(accepted.size());
    job.rows = std::int32_t(n);
    job.left_cols = job.vectors ? job.values : 0;
    job.preconditioner = route::direct;
    job.is_triangle = true;
    job.defer_badly_scaled = job.defer_out_of_range = false;
    job.canonical = job.canonical && job.sign_by_right;
    run_jacobi(job, batch, Device::host());
  }

  jacobi_job<Real> job_;
  column_means<Real> means_;
  std::int64_t triangle_;
  Buffer<Real> q_, packed_, inverse_, square_, u_, extreme_;
  Buffer<double> sums_, r_, column_sums_;
  Buffer<row_sizes<Real>> sizes_;
  gram_batch<Real> all_ = {};
};

}  // namespace

template <class Real>
bool suits_gram_qr(const jacobi_job<Real>& job, const Device& device) {
  const std::int64_t m = job.rows, n = job.cols;
  return device.kind() == device_kind::host && job.starts_from_eigenvectors && job.preconditioner == route::triangle &&
         n >= 2 && n <= largest_gram && m >= shortest_gram<Real> * n && m * n >= smallest_gram_size &&
         job.left_cols <= n;
}

template <class Real>
void run_gram_qr(const jacobi_job<Real>& job, const column_means<Real>& means, std::int64_t batch, const Device&) {
  const gram_shape shape = divide_rows(job.rows, job.cols);
  const std::int64_t bytes = shape.tiles * shape.tile_size() * std::int64_t(sizeof(Real)) +
                             shape.parts * std::int64_t(shape.side) * shape.side * std::int64_t(sizeof(double));
  constexpr std::int64_t group = 16;
  const std::int64_t fitting = std::max<std::int64_t>(gram_memory * threads() / bytes, 1),
                     rounded = (fitting + group - 1) / group * group;
  const std::int64_t step = std::min(job.count, rounded * bytes <= group_memory * threads() ? rounded : fitting);
  gram_run<Real> run(job, means, shape, step);
  for (std::int64_t first = 0; first < job.count; first += step)
    run.run(first, std::min(step, job.count - first), batch);
}

#define QUINTET_INSTANTIATE(Real)                                      \
  template bool suits_gram_qr(const jacobi_job<Real>&, const Device&); \
  template void run_gram_qr(const jacobi_job<Real>&, const column_means<Real>&, std::int64_t, const Device&);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::svd
