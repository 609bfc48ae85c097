// The kernel of the symmetric eigenproblem: A = Q T Q^T with a tridiagonal T (eigenvectors.hpp), then implicit QL steps
// on T, whose rotations V = Q meets. Its text is the same for both maps; where matrices lie side by side, their QL
// steps are in lockstep (tridiagonal_lanes.hpp).
#pragma once

#include "device/launch.hpp"
#include "quintet/core/poll.hpp"
#include "svd/jacobi_policies.hpp"
#include "svd/jacobi_store.hpp"
#include "svd/large_eigenvectors.hpp"
#include "svd/tridiagonal_lanes.hpp"

namespace quintet::svd {

/// The phases of a job: all of it, or `load` and `store` with launches of large_eigenvectors.hpp between them.
template <class Policy>
struct eigen_kernel : jacobi_tiles<bool(Policy::on_device)>, jacobi_storing<typename Policy::real> {
  struct shape {
    enum { on_device = Policy::on_device };
  };
  using scratch = typename Policy::scratch;
  using real = typename Policy::real;
  enum { threads = Policy::threads, emulated_threads = Policy::emulated_threads };
  using base = jacobi_storing<real>;
  using base::accept, base::any_lane, base::job, base::part, base::store_each_value;

  template <class Team>
  QUINTET_SVD_INLINE void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    const std::int64_t last = (tile + 1) * job.groups / job.tiles;
    for (std::int64_t group = tile * job.groups / job.tiles; group < last; ++group)
      Policy::run(team, s, [&](const auto& map, real*) QUINTET_SVD_INLINE_LAMBDA {
        solve_group(map, group, job.workspace + tile * job.slot);
      });
  }

  template <class Map>
  QUINTET_SVD_INLINE void solve_group(const Map& map, std::int64_t group, real* memory) const {
    if (job.phase != phase::store) load_symmetric(map, group, memory);
    if (job.phase == phase::all) diagonalise(map, group, memory);
    if (job.phase != phase::load) store_ordered(map, group, memory);
    map.barrier();
  }

  QUINTET_SVD_INLINE void poll_within() const {
    if constexpr (!Policy::on_device)
      if (job.cols > 64) poll();
  }

  template <class Map>
  QUINTET_SVD_INLINE real* vectors_in(const Map& map, real* memory) const {
    return job.vectors ? part(map, memory, job.at.v) : nullptr;
  }

  /// The matrix is where the tridiagonalisation leaves its reflections, and rotations are recorded after them.
  template <class Map>
  QUINTET_SVD_INLINE start_memory<real> memory_in(const Map& map, real* memory) const {
    const workspace_layout& at = job.at;
    return {part(map, memory, at.x),       part(map, memory, at.sigma),   part(map, memory, at.rank),
            part(map, memory, at.sign),    part(map, memory, at.start_w), part(map, memory, at.start_y),
            base::division_in(map, memory)};
  }

  template <class Map>
  QUINTET_SVD_INLINE void load_symmetric(const Map& map, std::int64_t group, real* memory) const {
    real* x = part(map, memory, job.at.x);
    load_matrices(map, job, group, x, job.ld_x, static_cast<real*>(nullptr));
    mirror_triangle(map, x, job.cols, job.ld_x, job.reads_upper);
    const auto extremes = survey_matrices(map, x, job.cols, job.cols, job.ld_x, part(map, memory, job.at.row_size));
    accept(map, group, memory, x, job.ld_x, extremes);
  }

  template <class Map>
  QUINTET_SVD_INLINE void diagonalise(const Map& map, std::int64_t group, real* memory) const {
    const start_memory<real> at = memory_in(map, memory);
    real* v = vectors_in(map, memory);
    for (int k = 0; k < job.cols; ++k) {
      poll_within();
      begin_step(map, at.matrix, job.cols, job.ld_x, k, at);
      if (k + 1 < job.cols) update_columns(map, at.matrix, job.cols, job.ld_x, k, k + 1, job.cols, at);
      map.barrier();
    }
    if constexpr (Map::width > 1) {
      if (v != nullptr) form_columns(map, at.matrix, job.ld_x, at.tau, v, job.cols, job.ld_v, 0, job.cols);
      iterate_lanes(map, group, at, v);
    } else {
      const bool has_converged = v == nullptr
                                     ? iterate_values(map, at)
                                     : make_eigenvectors(map, at, v, job.cols, job.ld_v,
                                                         [this]() QUINTET_SVD_INLINE_LAMBDA { poll_within(); });
      if (map.leads_team() && !has_converged) note_failure(map, group, 0);
    }
  }

  /// Matrices side by side. Lengths are restored after a fixed number of steps, whatever the neighbours need.
  template <class Map>
  QUINTET_SVD_INLINE void iterate_lanes(const Map& map, std::int64_t group, const start_memory<real>& at,
                                        real* v) const {
    const int n = job.cols, fitting = job.ld_x / 2;
    const int steps = fitting < rotations_between_lengths / 2 ? fitting : rotations_between_lengths / 2;
    tridiagonal_lanes<Map> iteration(map, at.diagonal, at.off_diagonal, v != nullptr ? at.w : nullptr, n);
    while (iteration.has_more()) {
      const auto unfinished = iteration.unfinished();
      poll_within();
      const std::int64_t used = iteration.iterate(steps, at.matrix);
      if (v == nullptr) continue;
      rotate_chunks(map, v, job.ld_v, 0, n, lanes_of_array(map, at.matrix), used);
      restore_lengths(map, v, n, job.ld_v, 0, n, unfinished);
    }
    for (int l = 0; l < Map::packed; ++l)
      if (any_lane(iteration.failed(), l)) note_failure(map, group, l);
  }

  /// Without vectors. Whether all eigenvalues have converged.
  template <class Map>
  QUINTET_SVD_INLINE bool iterate_values(const Map& map, const start_memory<real>& at) const {
    tridiagonal_state state;
    for (bool has_more = true; has_more;) {
      poll_within();
      record_rotations(map, at, job.cols, job.ld_x, state);
      has_more = at.y[1] > 0;
      map.barrier();  // everybody has read y
    }
    return !state.failed;
  }

  template <class Map>
  QUINTET_SVD_INLINE void note_failure(const Map& map, std::int64_t group, int l) const {
    const std::int64_t matrix = matrix_in(map, job, group, first_lane(map) + l);
    if (matrix >= 0) job.status[matrix] = code_not_converged;
  }

  /// The first one that is wanted comes to place 0, those before it behind the last one.
  template <class Map>
  QUINTET_SVD_INLINE void rotate_ranks(const Map& map, real* rank) const {
    using scalar = typename Map::scalar;
    const scalar first = same<scalar>(real(job.first_value)), all = same<scalar>(real(job.cols));
    for_each_row(map, 0, job.cols, [&](int j) QUINTET_SVD_INLINE_LAMBDA {
      const scalar place = map.entry(rank, j) - first;
      map.set_entry(rank, j, choose(place < scalar{}, place + all, place));
    });
    map.barrier();
  }

  /// Eigenvalues in rising order, and their vectors with canonical signs.
  template <class Map>
  QUINTET_SVD_INLINE void store_ordered(const Map& map, std::int64_t group, real* memory) const {
    using scalar = typename Map::scalar;
    const workspace_layout& at = job.at;
    real *sigma = part(map, memory, at.sigma), *rank = part(map, memory, at.rank), *sign = part(map, memory, at.sign);
    real *key = part(map, memory, at.norm), *kept = part(map, memory, at.scaling), *v = vectors_in(map, memory);
    if constexpr (Map::width == 1)
      if (job.phase == phase::store && map.leads_team() && part(map, memory, at.start_y)[failure_in_y] > 0)
        note_failure(map, group, 0);
    for_each_row(map, 0, job.cols,
                 [&](int j) QUINTET_SVD_INLINE_LAMBDA { map.set_entry(key, j, -map.entry(sigma, j)); });
    map.barrier();
    rank_falling(map, key, job.cols, rank);
    if (job.first_value > 0) rotate_ranks(map, rank);
    store_each_value(map, group, sigma, rank, scaling<scalar>{map.entry(kept, 0), map.entry(kept, 1)});
    if (v == nullptr) return;
    canonical_signs(map, v, job.cols, job.cols, job.ld_v, sign);
    store_elements(map, job, group, v, job.cols, job.cols, job.ld_v, rank, sign, static_cast<real*>(nullptr), job.right,
                   job.right_cols, job.status);
  }
};

/// Instantiated by svd.cmake.
template <class Policy>
void eigen_launch<Policy>::run(const jacobi_job<typename Policy::real>& job, const Device& device) {
  device::launch(eigen_kernel<Policy>{{}, {{{job}}}}, job.tiles, device);
}

}  // namespace quintet::svd
