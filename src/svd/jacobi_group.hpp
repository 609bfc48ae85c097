// The working memory of a group of matrices, and which of its lanes are worked on.
#pragma once

#include <type_traits>

#include "svd/bidiagonal_values.hpp"
#include "svd/eigenvectors.hpp"
#include "svd/householder.hpp"
#include "svd/sweeps.hpp"
#include "svd/transfer.hpp"

namespace quintet::svd {

/// What loading, rotating and storing share. The kernels derive from it: nothing is copied.
template <class Real>
struct jacobi_group {
  using real = Real;
  jacobi_job<real> job;

  /// One array or matrix of the group's working memory.
  template <class Map>
  QUINTET_SVD_INLINE real* part(const Map&, real* memory, std::int64_t offset) const {
    return memory + offset * Map::width;
  }

  /// X and V of the group in this working memory.
  template <class Map>
  QUINTET_SVD_INLINE columns<real> columns_in(const Map& map, real* memory, real* team_memory) const {
    const workspace_layout& at = job.at;
    columns<real> m = {};
    m.x = team_memory != nullptr ? team_memory : part(map, memory, at.x);
    m.v = !job.vectors             ? nullptr
          : team_memory != nullptr ? team_memory + std::int64_t(job.cols) * job.ld_x
                                   : part(map, memory, at.v);
    m.n = job.cols;
    m.rows = job.preconditioner == route::direct ? job.rows : job.cols;
    m.ld_x = job.ld_x;
    m.ld_v = job.ld_v;
    m.norm = part(map, memory, at.norm);
    m.column_scale = part(map, memory, at.column_scale);
    m.norm_correction = part(map, memory, at.norm_correction);
    m.order = part(map, memory, at.order);
    m.root_rows = job.root_rows;
    m.max_sweeps = job.max_sweeps;
    m.accurate = job.accurate;
    return m;
  }

  /// The memory of division.hpp, where a matrix has it.
  template <class Map>
  QUINTET_SVD_INLINE real* division_in(const Map& map, real* memory) const {
    return job.at.division > 0 ? part(map, memory, job.at.division) : nullptr;
  }

  /// The memory of start_from_eigenvectors(): arrays that the sweeps fill anew.
  template <class Map>
  QUINTET_SVD_INLINE start_memory<real> start_in(const Map& map, real* memory) const {
    const workspace_layout& at = job.at;
    return {part(map, memory, at.start), part(map, memory, at.sigma),   part(map, memory, at.rank),
            part(map, memory, at.sign),  part(map, memory, at.start_w), part(map, memory, at.start_y),
            division_in(map, memory)};
  }

  /// The places of Q and R; none on the direct way.
  template <class Map>
  QUINTET_SVD_INLINE factors<real> factors_in(const Map& map, real* memory, real* a) const {
    factors<real> f = {};
    if (job.preconditioner == route::direct) return f;
    f.a = a;
    f.h = part(map, memory, job.at.h);
    f.tau = part(map, memory, job.at.tau);
    f.pivots = job.preconditioner == route::pivoted_lower ? part(map, memory, job.at.pivots) : nullptr;
    f.rows = job.rows;
    f.n = job.cols;
    f.ld = job.ld_a;
    return f;
  }

  /// The lanes whose matrices an earlier launch has accepted.
  template <class Map>
  QUINTET_SVD_INLINE mask_of<typename Map::scalar> active_lanes(const Map& map, std::int64_t group) const {
    typename Map::scalar active{};
    for (int l = 0; l < Map::packed; ++l) {
      const std::int64_t matrix = matrix_in(map, job, group, first_lane(map) + l);
      set_lane(active, l, matrix >= 0 && job.status[matrix] == code_ok ? real(1) : real(0));
    }
    map.barrier();  // everybody has read the status
    return active > typename Map::scalar{};
  }

  /// Columns of the left vectors that are worked on where there is a Q.
  QUINTET_SVD_INLINE int left_columns() const { return job.left_cols > job.cols ? job.left_cols : job.cols; }

  template <class Mask>
  static QUINTET_SVD_INLINE bool any_lane(const Mask& mask, [[maybe_unused]] int l) {
    if constexpr (std::is_same_v<Mask, bool>)
      return mask;
    else
      return mask[l] != 0;
  }

  template <class Scalar>
  static QUINTET_SVD_INLINE void set_lane(Scalar& value, [[maybe_unused]] int l, real number) {
    if constexpr (std::is_floating_point_v<Scalar>)
      value = number;
    else
      value[l] = number;
  }
};

}  // namespace quintet::svd
