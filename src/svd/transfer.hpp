// Matrices from the caller's memory into the layout of a map and back, and what is found out about them on the way.
#pragma once

#include <algorithm>
#include <limits>

#include "device/transpose.hpp"
#include "svd/job.hpp"
#include "svd/maps.hpp"

namespace quintet::svd {

/// Number of the matrix in lane l of a group; -1 for a lane to spare.
template <class Map, class Real>
QUINTET_SVD_INLINE std::int64_t matrix_in(const Map&, const jacobi_job<Real>& job, std::int64_t group, int lane) {
  const std::int64_t place = job.first + group * Map::width + lane;
  if (place >= job.count) return -1;
  return job.index != nullptr ? job.index[place] : place;
}

template <class Map>
QUINTET_SVD_INLINE int first_lane(const Map& map) {
  if constexpr (Map::width > 1)
    return map.lane;
  else
    return 0;
}

/// How the elements of one matrix lie in memory, where they lie in lines of neighbours: all rows or columns in one
/// line when the matrix is dense.
struct memory_lines {
  bool by_column;
  int count, length;    ///< lines, and elements of one; count = 0: no neighbours
  std::int64_t stride;  ///< from line to line
  int minor;            ///< size of a column (by_column) or row
};

QUINTET_SVD_INLINE memory_lines lines_of(const stored_batch& a, int rows, int cols) {
  const bool fits_a_line = std::int64_t(rows) * cols <= (1 << 30);
  if (a.column == 1)
    return (a.row == cols && fits_a_line) || rows == 1 ? memory_lines{false, 1, rows * cols, 0, cols}
                                                       : memory_lines{false, rows, cols, a.row, cols};
  if (a.row == 1)
    return (a.column == rows && fits_a_line) || cols == 1 ? memory_lines{true, 1, rows * cols, 0, rows}
                                                          : memory_lines{true, cols, rows, a.column, rows};
  return {};
}

/// Calls f(line, first, count, i, j) for the pieces of at most `Width` elements that begin at row i, column j.
template <int Width, class Function>
QUINTET_SVD_INLINE void for_each_piece(const memory_lines& lines, Function f) {
  for (int line = 0; line < lines.count; ++line)
    for (int first = 0; first < lines.length; first += Width) {
      const int rest = lines.length - first, major = line + first / lines.minor, minor = first % lines.minor;
      f(line, first, rest < Width ? rest : Width, lines.by_column ? minor : major, lines.by_column ? major : minor);
    }
}

/// The next element of a line.
QUINTET_SVD_INLINE void step(const memory_lines& lines, int& i, int& j) {
  int &minor = lines.by_column ? i : j, &major = lines.by_column ? j : i;
  if (++minor == lines.minor) {
    minor = 0;
    ++major;
  }
}

/// Reads the matrices from[l] of all lanes and calls set(i, j, pack) for every element.
template <int Width, class Real, class Stored, class Function>
QUINTET_SVD_INLINE void read_lines(const memory_lines& lines, const Stored* const* from, Function set) {
  using vector = device::pack<Real, Width>;
  for_each_piece<Width>(lines, [&](int line, int first, int count, int i, int j) {
    vector packs[Width];
    for (int l = 0; l < Width; ++l) {
      const Stored* at = from[l] + line * lines.stride + first;
      if (count == Width) {
        if constexpr (std::is_same_v<Real, Stored>)
          packs[l] = device::load_pack<vector>(at);
        else
          packs[l] = device::convert_pack<vector, Real>(at);
      } else {
        packs[l] = vector{};
        for (int e = 0; e < count; ++e) packs[l][e] = Real(at[e]);
      }
    }
    device::transpose_packs<Width>(packs);
    for (int e = 0; e < count; ++e, step(lines, i, j)) set(i, j, packs[e]);
  });
}

/// Writes get(i, j) to the matrices to[l]; lanes with a null pointer are left out.
template <int Width, class Real, class Stored, class Function>
QUINTET_SVD_INLINE void write_lines(const memory_lines& lines, Stored* const* to, Function get) {
  using vector = device::pack<Real, Width>;
  for_each_piece<Width>(lines, [&](int line, int first, int count, int i, int j) {
    vector packs[Width];
    for (int e = 0; e < count; ++e, step(lines, i, j)) packs[e] = get(i, j);
    for (int e = count; e < Width; ++e) packs[e] = vector{};
    device::transpose_packs<Width>(packs);
    for (int l = 0; l < Width; ++l) {
      if (to[l] == nullptr) continue;
      Stored* at = to[l] + line * lines.stride + first;
      if (std::is_same_v<Real, Stored> && count == Width)
        device::store_pack(at, packs[l]);
      else
        for (int e = 0; e < count; ++e) at[e] = to_storage<Stored>(Real(packs[l][e]));
    }
  });
}

/// Asks for the memory of groups of small matrices before it is needed, a little at a time: a processor waits for few
/// lines at once, and would stand still for the rest.
class memory_ahead {
 public:
  /// shares: calls after which all lines have been asked for.
  explicit memory_ahead(int shares) : shares_(shares) {}

  /// Adds the matrices of a group, `elements` numbers each.
  template <class Map, class Real>
  void add(const Map&, const jacobi_job<Real>& job, std::int64_t group, const stored_batch& matrices,
           std::int64_t elements, bool is_written) {
    if (matrices.data == nullptr) return;  // not asked for
    constexpr std::int64_t max_bytes = 1024;
    with_elements<Real>(matrices.type, matrices.data, [&](auto* data) {
      const std::int64_t bytes = elements * std::int64_t(sizeof(*data)), first = job.first + group * Map::width;
      const std::int64_t count = std::min<std::int64_t>(job.count - first, Map::width);
      if (job.index != nullptr || bytes > max_bytes || matrices.batch != elements || count <= 0) return;
      const char* begin = reinterpret_cast<const char*>(data + first * matrices.batch);
      parts_[size_++] = {begin, begin + count * bytes, is_written};
      lines_ += int((count * bytes + line - 1) / line);
    });
  }

  void operator()() {
    for (int left = (lines_ + shares_ - 1) / shares_; left > 0 && next_ < size_; --left) {
      part& p = parts_[next_];
      if (p.is_written)
        __builtin_prefetch(p.begin, 1);
      else
        __builtin_prefetch(p.begin, 0);
      p.begin += line;
      if (p.begin >= p.end) ++next_;
    }
  }

 private:
  enum { line = 64 };
  struct part {
    const char *begin, *end;
    bool is_written;
  };
  part parts_[3] = {};
  int shares_, size_ = 0, next_ = 0, lines_ = 0;
};

/// Rows go to the places that row_rank names, where it is given. Padding becomes zero; what spare lanes hold is not
/// used.
template <class Map, class Real>
QUINTET_SVD_INLINE void load_matrices(const Map& map, const jacobi_job<Real>& job, std::int64_t group, Real* to, int ld,
                                      Real* row_rank) {
  if constexpr (Map::packed > 1) {
    const memory_lines lines = lines_of(job.a, job.rows, job.cols);
    if (row_rank == nullptr && lines.count > 0) {
      with_elements<Real>(job.a.type, job.a.data, [&](const auto* data) {
        std::remove_reference_t<decltype(data)> from[Map::packed];
        for (int l = 0; l < Map::packed; ++l) {
          const std::int64_t matrix = matrix_in(map, job, group, l);
          from[l] = data + (matrix < 0 ? matrix_in(map, job, group, 0) : matrix) * job.a.batch;
        }
        read_lines<Map::packed, Real>(lines, from, [&](int i, int j, const typename Map::scalar& value) {
          map.set_element(map.column(to, j, ld), i, value);
        });
      });
      return;
    }
  }
  for (int l = 0; l < Map::packed; ++l) {
    const std::int64_t matrix = matrix_in(map, job, group, first_lane(map) + l);
    with_elements<Real>(job.a.type, job.a.data, [&](const auto* data) QUINTET_SVD_INLINE_LAMBDA {
      const auto* from = data + (matrix < 0 ? 0 : matrix) * job.a.batch;
      for_each_row(map, 0, ld, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
        const bool inside = matrix >= 0 && i < job.rows;
        const int place = inside && row_rank != nullptr ? int(lane_element(map, row_rank, 0, i, 0, l)) : i;
        for (int j = 0; j < job.cols; ++j)
          lane_element(map, to, j, place, ld, l) = inside ? Real(from[i * job.a.row + j * job.a.column]) : Real(0);
      });
    });
  }
  map.barrier();
}

/// Ratios of the sizes of rows or columns beyond which a matrix is code_badly_scaled, and their product beyond which it
/// is code_out_of_range: pivoted QR makes the shortest column as short as both ratios.
template <class Real>
constexpr Real badly_scaled_ratio = Real(1e3);
template <class Real>
constexpr Real out_of_range_ratio = Real(1e15);

/// What there is to know about the elements of each matrix.
template <class Scalar>
struct survey {
  Scalar largest;                  ///< largest |a_ij|
  mask_of<Scalar> finite;          ///< no NaN, no infinity
  Scalar row_ratio, column_ratio;  ///< largest over smallest size of the rows (columns) that are not zero
};

/// Sizes are largest absolute elements. row_size receives those of the rows.
template <class Map>
QUINTET_SVD_INLINE survey<typename Map::scalar> survey_matrices(const Map& map, typename Map::real* a, int rows, int n,
                                                                int ld, typename Map::real* row_size) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  const scalar zero{}, infinite = same<scalar>(std::numeric_limits<real>::infinity());
  scalar largest{}, not_finite{}, min_row = infinite, min_column = infinite;
  for_each_row(map, 0, rows, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
    scalar size{};
    for (int j = 0; j < n; ++j) {
      const scalar value = map.element(map.column(a, j, ld), i);
      not_finite = device::fma(value, zero, not_finite);  // NaN for NaN and infinity
      size = larger(size, absolute(value));
    }
    map.set_entry(row_size, i, size);
    largest = larger(largest, size);
    min_row = choose((size > zero) & (size < min_row), size, min_row);
  });
  for_each_row(map, 0, n, [&](int j) QUINTET_SVD_INLINE_LAMBDA {
    scalar size{};
    for (int i = 0; i < rows; ++i) size = larger(size, absolute(map.element(map.column(a, j, ld), i)));
    min_column = choose((size > zero) & (size < min_column), size, min_column);
  });
  survey<scalar> s;
  s.finite =
      choose(map.team_max(choose((not_finite >= zero) & (not_finite <= zero), zero, same<scalar>(real(1)))) > zero,
             same<scalar>(real(1)), zero) <= zero;
  s.largest = map.team_max(largest);
  min_row = -map.team_max(-min_row);
  min_column = -map.team_max(-min_column);
  // Divided in two steps: the quotient itself may overflow, to infinity, which is as good a large number as any.
  s.row_ratio = s.largest / min_row;
  s.column_ratio = s.largest / min_column;
  map.barrier();
  return s;
}

/// Two powers of two, applied one after the other, that bring the largest element into [2, 4). (One would not do for
/// subnormal numbers.)
template <class Scalar>
struct scaling {
  Scalar first, second;
};

template <class Real, class Scalar>
QUINTET_SVD_INLINE scaling<Scalar> scaling_for(const Scalar& largest) {
  constexpr Real lift = sizeof(Real) == 4 ? Real(0x1p64f) : Real(0x1p128), small = Real(1) / lift;
  const Scalar one = same<Scalar>(Real(1));
  scaling<Scalar> s;
  s.first = choose((largest > Scalar{}) & (largest < small), same<Scalar>(lift), one);
  const Scalar lifted = choose(largest > Scalar{}, largest * s.first, same<Scalar>(Real(2)));
  s.second = same<Scalar>(Real(2)) / power_of_two_below(lifted);
  return s;
}

/// Whether a result is written for a matrix with this code.
QUINTET_SVD_INLINE bool has_result(std::int32_t code) { return code < code_badly_scaled; }

/// The places where the matrices of a group lie that have a result; null for other lanes.
template <class Map, class Real, class Stored>
QUINTET_SVD_INLINE void find_results(const Map& map, const jacobi_job<Real>& job, std::int64_t group, Stored* data,
                                     std::int64_t stride, Stored** places) {
  for (int l = 0; l < Map::packed; ++l) {
    const std::int64_t matrix = matrix_in(map, job, group, l);
    places[l] = matrix >= 0 && has_result(job.status[matrix]) ? data + matrix * stride : nullptr;
  }
}

/// NaN in the lanes whose matrix is not finite, 1 in the others.
template <class Map, class Real>
QUINTET_SVD_INLINE typename Map::scalar nan_where_lost(const Map& map, const jacobi_job<Real>& job,
                                                       std::int64_t group) {
  typename Map::scalar factor = same<typename Map::scalar>(Real(1));
  for (int l = 0; l < Map::packed; ++l) {
    const std::int64_t matrix = matrix_in(map, job, group, l);
    if (matrix >= 0 && job.status[matrix] == code_not_finite) factor[l] = std::numeric_limits<Real>::quiet_NaN();
  }
  return factor;
}

/// Element (i, j) from element (j, i) of the triangle that is read.
template <class Map>
QUINTET_SVD_INLINE void mirror_triangle(const Map& map, typename Map::real* a, int n, int ld, bool reads_upper) {
  for (int j = 0; j < n; ++j)
    for_each_row(map, j + 1, n, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
      typename Map::real *lower = map.column(a, j, ld), *upper = map.column(a, i, ld);
      if (reads_upper)
        map.set_element(lower, i, map.element(upper, j));
      else
        map.set_element(upper, j, map.element(lower, i));
    });
  map.barrier();
}

/// What store_matrices() does, element by element.
template <class Map, class Real>
QUINTET_SVD_INLINE void store_elements(const Map& map, const jacobi_job<Real>& job, std::int64_t group, Real* from,
                                       int rows, int columns, int ld, Real* rank, Real* sign, Real* source,
                                       const stored_batch& out, int out_columns, const std::int32_t* code) {
  for (int l = 0; l < Map::packed; ++l) {
    const std::int64_t matrix = matrix_in(map, job, group, first_lane(map) + l);
    if (matrix < 0 || !has_result(code[matrix])) continue;
    const bool is_lost = code[matrix] == code_not_finite;
    with_elements<Real>(out.type, out.data, [&](auto* data) QUINTET_SVD_INLINE_LAMBDA {
      using stored = std::remove_reference_t<decltype(*data)>;
      auto* to = data + matrix * out.batch;
      for (int j = 0; j < columns; ++j) {
        const int place = j < job.cols ? int(lane_element(map, rank, 0, j, 0, l)) : j;
        if (place >= out_columns) continue;
        const Real factor = is_lost         ? std::numeric_limits<Real>::quiet_NaN()
                            : j >= job.cols ? Real(1)
                                            : lane_element(map, sign, 0, j, 0, l);
        for_each_row(map, 0, rows, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
          const int row = source != nullptr ? int(lane_element(map, source, 0, i, 0, l)) : i;
          to[i * out.row + place * out.column] =
              to_storage<stored>(device::fma(factor, lane_element(map, from, j, row, ld, l), Real(0)));
        });
      }
    });
  }
}

/// Writes columns of unit vectors in the order of `rank`: element (i, j) of a lane to row i, column rank_j of the
/// output, read from row source_i where `source` is given. Column j >= n keeps its place. Zeros are written as +0:
/// which zero a lane holds may depend on its neighbours, who make it take part in a rotation by nothing.
template <class Map, class Real>
QUINTET_SVD_INLINE void store_matrices(const Map& map, const jacobi_job<Real>& job, std::int64_t group, Real* from,
                                       int rows, int columns, int ld, Real* rank, Real* sign, Real* source,
                                       const stored_batch& out, int out_columns, const std::int32_t* code) {
  if constexpr (Map::packed > 1) {
    const memory_lines lines = lines_of(out, rows, columns < out_columns ? columns : out_columns);
    if (source == nullptr && lines.count > 0) {
      const typename Map::scalar factor = nan_where_lost(map, job, group);
      with_elements<Real>(out.type, out.data, [&](auto* data) {
        std::remove_reference_t<decltype(data)> to[Map::packed];
        find_results(map, job, group, data, out.batch, to);
        write_lines<Map::packed, Real>(lines, to, [&](int i, int j) {
          const typename Map::scalar value = map.element(map.column(from, j, ld), i);
          return device::fma(value, j < job.cols ? map.entry(sign, j) * factor : factor, typename Map::scalar{});
        });
      });
      return;
    }
  }
  store_elements(map, job, group, from, rows, columns, ld, rank, sign, source, out, out_columns, code);
}

}  // namespace quintet::svd
