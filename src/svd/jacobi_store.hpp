// From orthogonal columns to S, U and V in the caller's memory.
#pragma once

#include <limits>

#include "svd/finish.hpp"
#include "svd/jacobi_load.hpp"

namespace quintet::svd {

/// The last part of the kernel: finish(), expand_left() and store_vectors().
template <class Real>
struct jacobi_storing : jacobi_loading<Real> {
  using base = jacobi_loading<Real>;
  using real = Real;
  using base::factors_in, base::job, base::left_columns, base::part;

  /// From orthogonal columns to S in the caller's memory and to vectors of length 1.
  template <class Map>
  QUINTET_SVD_INLINE void finish(const Map& map, std::int64_t group, real* memory, columns<real>& m) const {
    using scalar = typename Map::scalar;
    const workspace_layout& at = job.at;
    real *sigma = part(map, memory, at.sigma), *rank = part(map, memory, at.rank),
         *kept = part(map, memory, at.scaling);
    const scaling<scalar> scale{map.entry(kept, 0), map.entry(kept, 1)};
    bool has_values = false;
    if constexpr (Map::width == 1) has_values = job.reduces && kept[2] > 0;
    if (!has_values) normalise(map, m, sigma);
    if constexpr (Map::packed > 1) {
      if (job.reduces) take_lane_values(map, memory, sigma);
      sort_columns(map, m, sigma);
      for (int j = 0; j < m.n; ++j) map.set_entry(rank, j, same<scalar>(real(j)));
    } else {
      rank_falling(map, sigma, m.n, rank);
    }
    store_values(map, group, sigma, rank, scale);
    if (job.vectors && !job.completes_by_all) complete(map, m);
  }

  /// Of the matrices side by side that have been reduced.
  template <class Map>
  QUINTET_SVD_INLINE void take_lane_values(const Map& map, real* memory, real* sigma) const {
    const auto at = lane_values_memory<real>::at(part(map, memory, job.at.start), job.cols, Map::width);
    const auto reduced = map.entry(part(map, memory, job.at.scaling), 2) > typename Map::scalar{};
    for (int j = 0; j < job.cols; ++j)
      map.set_entry(sigma, j, choose(reduced, map.entry(at.values, j), map.entry(sigma, j)));
  }

  /// The vectors of R become what Q is applied to.
  template <class Map>
  QUINTET_SVD_INLINE void expand_left(const Map& map, real* memory, const columns<real>& m) const {
    const bool is_lower = job.preconditioner == route::pivoted_lower;
    expand(map, factors_in(map, memory, part(map, memory, job.at.a)), is_lower ? m.v : m.x, is_lower ? m.ld_v : m.ld_x,
           part(map, memory, job.at.left), left_columns());
  }

  /// Singular values, scaled back; here they may overflow or become subnormal, as they should.
  template <class Map>
  QUINTET_SVD_INLINE void store_values(const Map& map, std::int64_t group, real* sigma, real* rank,
                                       const scaling<typename Map::scalar>& scale) const {
    map.barrier();  // status is complete
    if constexpr (Map::packed > 1) {
      const memory_lines lines = lines_of({nullptr, job.s.type, job.s.batch, job.values, job.s.column}, 1, job.values);
      if (lines.count > 0) {
        const typename Map::scalar factor = nan_where_lost(map, job, group);
        with_elements<real>(job.s.type, job.s.data, [&](auto* data) {
          std::remove_reference_t<decltype(data)> to[Map::packed];
          find_results(map, job, group, data, job.s.batch, to);
          write_lines<Map::packed, real>(lines, to, [&](int, int j) {
            return typename Map::scalar(map.entry(sigma, j) / scale.second / scale.first * factor);
          });
        });
        return;
      }
    }
    store_each_value(map, group, sigma, rank, scale);
  }

  /// The same, value by value, each to the place of its rank.
  template <class Map>
  QUINTET_SVD_INLINE void store_each_value(const Map& map, std::int64_t group, real* sigma, real* rank,
                                           const scaling<typename Map::scalar>& scale) const {
    for (int l = 0; l < Map::packed; ++l) {
      const std::int64_t matrix = matrix_in(map, job, group, first_lane(map) + l);
      if (matrix < 0 || !has_result(job.status[matrix])) continue;
      const bool is_lost = job.status[matrix] == code_not_finite;
      with_elements<real>(job.s.type, job.s.data, [&](auto* data) QUINTET_SVD_INLINE_LAMBDA {
        using stored = std::remove_reference_t<decltype(*data)>;
        for_each_row(map, 0, job.cols, [&](int j) QUINTET_SVD_INLINE_LAMBDA {
          const int place = int(lane_element(map, rank, 0, j, 0, l));
          if (place >= job.values) return;
          const real value = lane_element(map, sigma, 0, j, 0, l) / lane_of(scale.second, l) / lane_of(scale.first, l);
          data[matrix * job.s.batch + place * job.s.column] =
              to_storage<stored>(is_lost ? std::numeric_limits<real>::quiet_NaN() : value);
        });
      });
    }
  }

  template <class Map>
  QUINTET_SVD_INLINE void store_vectors(const Map& map, std::int64_t group, real* memory,
                                        const columns<real>& m) const {
    const workspace_layout& at = job.at;
    const bool is_lower = job.preconditioner == route::pivoted_lower, is_direct = job.preconditioner == route::direct;
    real *left = is_direct ? m.x : part(map, memory, at.left), *right = is_lower ? m.x : m.v;
    real *rank = part(map, memory, at.rank), *row_rank = is_lower ? part(map, memory, at.row_rank) : nullptr;
    real* source = nullptr;
    const int ld_left = is_direct ? m.ld_x : job.ld_a, ld_right = is_lower ? m.ld_x : m.ld_v;
    const int columns = is_direct ? m.n : left_columns();
    if (is_lower) {
      source = part(map, memory, at.source);
      invert_pivots(map, part(map, memory, at.pivots), m.n, source);
    }
    real* sign = part(map, memory, at.sign);
    for_each_row(map, 0, m.n,
                 [&](int j) QUINTET_SVD_INLINE_LAMBDA { map.set_entry(sign, j, same<typename Map::scalar>(real(1))); });
    map.barrier();
    if (job.canonical) {
      if (job.sign_by_right)
        canonical_signs(map, right, m.n, m.n, ld_right, sign);
      else
        canonical_signs(map, left, job.rows, m.n, ld_left, sign);
    }
    store_matrices(map, job, group, left, job.rows, columns, ld_left, rank, sign, row_rank, job.left, job.left_cols,
                   job.status);
    store_matrices(map, job, group, right, m.n, m.n, ld_right, rank, sign, source, job.right, job.right_cols,
                   job.status);
  }

  /// `count` columns of `rows` elements: those of `from` with zeros below, then canonical vectors.
  template <class Map>
  QUINTET_SVD_INLINE void expand(const Map& map, const factors<real>& f, real* from, int ld_from, real* to,
                                 int count) const {
    using scalar = typename Map::scalar;
    for (int j = 0; j < count; ++j)
      for_each_row(map, 0, f.ld, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
        scalar value{};
        if (j < f.n && i < f.n) value = map.element(map.column(from, j, ld_from), i);
        if (j >= f.n && i == j) value = same<scalar>(real(1));
        map.set_element(map.column(to, j, f.ld), i, value);
      });
    map.barrier();
  }

  template <class Map>
  QUINTET_SVD_INLINE void invert_pivots(const Map& map, real* pivots, int n, real* source) const {
    for (int l = 0; l < Map::packed; ++l)
      for_each_row(map, 0, n, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
        lane_element(map, source, 0, int(lane_element(map, pivots, 0, i, 0, l)), 0, l) = real(i);
      });
    map.barrier();
  }
};

}  // namespace quintet::svd
