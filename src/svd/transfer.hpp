// Matrices from the caller's memory into the layout of a map and back, and what is found out about them on the way.
#pragma once

#include <limits>

#include "svd/job.hpp"
#include "svd/maps.hpp"

namespace quintet::svd {

/// Number of the matrix in lane l of a group; -1 for a lane to spare.
template <class Map, class Real>
QUINTET_SVD_INLINE std::int64_t matrix_in(const Map&, const jacobi_job<Real>& job, std::int64_t group, int lane) {
  const std::int64_t place = group * Map::width + lane;
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

/// Element (i, j) of one lane, by reference.
template <class Map>
QUINTET_SVD_INLINE typename Map::real& lane_element(const Map& map, typename Map::real* base, int j, int i, int ld,
                                                    int l) {
  return map.column(base, j, ld)[std::int64_t(i) * Map::width + l];
}

/// Rows go to the places that row_rank names, where it is given. Padding and spare lanes become zero.
template <class Map, class Real>
QUINTET_SVD_INLINE void load_matrices(const Map& map, const jacobi_job<Real>& job, std::int64_t group, Real* to, int ld,
                                      Real* row_rank) {
  for (int l = 0; l < Map::packed; ++l) {
    const std::int64_t matrix = matrix_in(map, job, group, first_lane(map) + l);
    with_storage<Real>(job.a.type, job.a.data, [&](const auto* data) QUINTET_SVD_INLINE_LAMBDA {
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
  scalar largest{}, not_finite{}, least_row = infinite, least_column = infinite;
  for_each_row(map, 0, rows, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
    scalar size{};
    for (int j = 0; j < n; ++j) {
      const scalar value = map.element(map.column(a, j, ld), i);
      not_finite += value * zero;  // NaN for NaN and infinity
      size = larger(size, absolute(value));
    }
    map.set_entry(row_size, i, size);
    largest = larger(largest, size);
    least_row = choose((size > zero) & (size < least_row), size, least_row);
  });
  for_each_row(map, 0, n, [&](int j) QUINTET_SVD_INLINE_LAMBDA {
    scalar size{};
    for (int i = 0; i < rows; ++i) size = larger(size, absolute(map.element(map.column(a, j, ld), i)));
    least_column = choose((size > zero) & (size < least_column), size, least_column);
  });
  survey<scalar> s;
  s.finite =
      choose(map.team_max(choose((not_finite >= zero) & (not_finite <= zero), zero, same<scalar>(real(1)))) > zero,
             same<scalar>(real(1)), zero) <= zero;
  s.largest = map.team_max(largest);
  least_row = -map.team_max(-least_row);
  least_column = -map.team_max(-least_column);
  // Divided in two steps: the quotient itself may overflow, to infinity, which is as good a large number as any.
  s.row_ratio = s.largest / least_row;
  s.column_ratio = s.largest / least_column;
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

/// Writes columns of unit vectors in the order of `rank`: element (i, j) of a lane to row i, column rank_j of the
/// output, read from row source_i where `source` is given. Column j >= n keeps its place.
template <class Map, class Real>
QUINTET_SVD_INLINE void store_matrices(const Map& map, const jacobi_job<Real>& job, std::int64_t group, Real* from,
                                       int rows, int columns, int ld, Real* rank, Real* sign, Real* source,
                                       const stored_batch& out, int out_columns, const std::int32_t* code) {
  for (int l = 0; l < Map::packed; ++l) {
    const std::int64_t matrix = matrix_in(map, job, group, first_lane(map) + l);
    if (matrix < 0 || code[matrix] >= code_graded) continue;
    const bool is_lost = code[matrix] == code_not_finite;
    with_storage<Real>(out.type, out.data, [&](auto* data) QUINTET_SVD_INLINE_LAMBDA {
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
          to[i * out.row + place * out.column] = to_storage<stored>(factor * lane_element(map, from, j, row, ld, l));
        });
      }
    });
  }
}

}  // namespace quintet::svd
