// From the caller's memory to the columns that are rotated: scaling, QR where there is one, status.
#pragma once

#include "svd/jacobi_group.hpp"

namespace quintet::svd {

/// The first part of the kernel: load() and start_columns().
template <class Real>
struct jacobi_loading : jacobi_group<Real> {
  using base = jacobi_group<Real>;
  using real = Real;
  using base::any_lane, base::factors_in, base::job, base::part, base::set_lane;

  /// From the caller's memory to the working memory, and QR where this launch does all. Returns the lanes to work
  /// on. `between`: see factorise().
  template <class Map, class Between>
  QUINTET_SVD_INLINE mask_of<typename Map::scalar> load(const Map& map, std::int64_t group, real* memory,
                                                        columns<real>& m, Between between) const {
    using scalar = typename Map::scalar;
    const workspace_layout& at = job.at;
    const bool is_direct = job.preconditioner == route::direct;
    real* a = is_direct ? m.x : part(map, memory, at.a);
    const int ld = is_direct ? job.ld_x : job.ld_a;
    real *row_size = part(map, memory, at.row_size), *row_rank = nullptr;
    load_matrices(map, job, group, a, ld, row_rank);
    const survey<scalar> extremes = survey_matrices(map, a, job.rows, job.cols, ld, row_size);
    if (job.preconditioner == route::pivoted_lower) {
      // Sorted rows make Householder's method accurate row by row (Cox and Higham 1998), sorted up to a factor of two
      // to a digit less.
      row_rank = part(map, memory, at.row_rank);
      if (job.rows <= max_compared_rows)
        rank_falling(map, row_size, job.rows, row_rank);
      else
        rank_by_exponent(map, row_size, job.rows, row_rank, part(map, memory, at.h));
      load_matrices(map, job, group, a, ld, row_rank);
    }
    const auto active = accept(map, group, memory, a, ld, extremes);
    if (job.preconditioner != route::direct && job.phase == phase::all)
      factorise(map, factors_in(map, memory, a), between);
    return active;
  }

  /// Of matrices in the working memory: status and scaling. Returns the lanes to work on.
  template <class Map>
  QUINTET_SVD_INLINE mask_of<typename Map::scalar> accept(const Map& map, std::int64_t group, real* memory, real* a,
                                                          int ld, const survey<typename Map::scalar>& extremes) const {
    using scalar = typename Map::scalar;
    const workspace_layout& at = job.at;
    const auto active = note_codes(map, group, extremes);
    const scaling<scalar> scale = scaling_for<real>(choose(active, extremes.largest, same<scalar>(real(1))));
    if (map.leads_team()) {
      map.set_entry(part(map, memory, at.scaling), 0, scale.first);
      map.set_entry(part(map, memory, at.scaling), 1, scale.second);
      if constexpr (Map::width == 1)
        part(map, memory, at.scaling)[2] = real(job.is_symmetric || is_of_one_size<Map>(extremes) ? 1 : 0);
      else if constexpr (Map::packed > 1)
        map.set_entry(part(map, memory, at.scaling), 2,
                      choose(active & is_of_one_size<Map>(extremes), same<scalar>(real(1)), scalar{}));
    }
    prepare(map, a, ld, active, scale);
    return active;
  }

  /// Whether X V may take the place of X, or a bidiagonal matrix. Rotations keep small values right under any scaling
  /// of the rows; of the two others, those of a triangle never did. Only hosts have packs of rows or matrices, and
  /// reduce them here; a GPU would need a stack for the second ratio.
  template <class Map>
  QUINTET_SVD_INLINE mask_of<typename Map::scalar> is_of_one_size(const survey<typename Map::scalar>& extremes) const {
    const mask_of<typename Map::scalar> columns_are = extremes.column_ratio <= started_ratio<real>;
    if constexpr (Map::chunk > 1 || Map::packed > 1) {
      const bool rows_count = job.reduces && job.preconditioner == route::direct && !job.is_triangle;
      if (rows_count) return columns_are & (extremes.row_ratio <= started_ratio<real>);
    }
    return columns_are;
  }

  /// Sets status; gives the lanes to work on.
  template <class Map>
  QUINTET_SVD_INLINE mask_of<typename Map::scalar> note_codes(const Map& map, std::int64_t group,
                                                              const survey<typename Map::scalar>& extremes) const {
    using scalar = typename Map::scalar;
    scalar active{};
    for (int l = 0; l < Map::packed; ++l) {
      const std::int64_t matrix = matrix_in(map, job, group, first_lane(map) + l);
      std::int32_t code = code_ok;
      const bool is_finite = any_lane(extremes.finite, l);
      const real columns = lane_of(extremes.column_ratio, l), rows = lane_of(extremes.row_ratio, l);
      if (!is_finite)
        code = code_not_finite;
      else if (job.defer_out_of_range && job.cols > 1 && columns * rows > out_of_range_ratio<real>)
        code = code_out_of_range;
      else if (job.defer_badly_scaled && job.cols > 1 &&
               (columns > badly_scaled_ratio<real> || rows > badly_scaled_ratio<real>))
        code = code_badly_scaled;
      set_lane(active, l, matrix >= 0 && code == code_ok ? real(1) : real(0));
      if (matrix < 0 || !map.leads_team()) continue;
      job.status[matrix] = code;
      if (job.sweeps != nullptr) job.sweeps[matrix] = 0;
    }
    map.barrier();
    return active > scalar{};
  }

  /// Scales; lanes that are not worked on become identity matrices, which cost nothing and disturb nobody.
  template <class Map>
  QUINTET_SVD_INLINE void prepare(const Map& map, real* a, int ld, const mask_of<typename Map::scalar>& active,
                                  const scaling<typename Map::scalar>& scale) const {
    using scalar = typename Map::scalar;
    const scalar zero{}, one = same<scalar>(real(1));
    const bool is_lifted = any(scale.first > one);
    for (int j = 0; j < job.cols; ++j) {
      real* column = map.column(a, j, ld);
      for_each_row(map, 0, job.rows, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
        scalar value = map.element(column, i);
        if (is_lifted) value = value * scale.first;
        map.set_element(column, i, choose(active, value * scale.second, i == j ? one : zero));
      });
    }
    map.barrier();
  }

  /// X: R or its transpose, where there is one. V: the identity. No norm correction yet.
  template <class Map>
  QUINTET_SVD_INLINE void start_columns(const Map& map, const factors<real>& f, columns<real>& m) const {
    using scalar = typename Map::scalar;
    const scalar zero{}, one = same<scalar>(real(1));
    const bool is_lower = job.preconditioner == route::pivoted_lower;
    for (int j = 0; j < m.n; ++j) {
      if (f.a != nullptr)
        for_each_row(map, 0, m.ld_x, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
          scalar value{};
          if (i < m.n && (is_lower ? i >= j : i <= j))
            value = is_lower ? map.element(map.column(f.a, i, f.ld), j) : map.element(map.column(f.a, j, f.ld), i);
          map.set_element(map.column(m.x, j, m.ld_x), i, value);
        });
      if (m.v != nullptr)
        for_each_row(map, 0, m.ld_v, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
          map.set_element(map.column(m.v, j, m.ld_v), i, i == j ? one : zero);
        });
    }
    for_each_row(map, 0, m.n, [&](int j) QUINTET_SVD_INLINE_LAMBDA { map.set_entry(m.norm_correction, j, zero); });
    map.barrier();
  }
};

}  // namespace quintet::svd
