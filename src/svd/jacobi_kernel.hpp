// The kernel: one tile works through groups of matrices, from loading (jacobi_load.hpp) through the sweeps (sweeps.hpp)
// to storing (jacobi_store.hpp). Its text is the same for both maps; a policy (jacobi_policies.hpp) says which map, on
// which processor.
#pragma once

#include "device/launch.hpp"
#include "quintet/core/poll.hpp"
#include "svd/jacobi_policies.hpp"
#include "svd/jacobi_store.hpp"

namespace quintet::svd {

/// Calls of `ahead` (see orthogonalise) in four sweeps of matrices small enough for it.
QUINTET_SVD_INLINE int calls_ahead(int n) {
  int calls = 0;
  for (int p = 0; p < n; p += 4) calls += 2 + (n - p - 4 > 0 ? (n - p - 3) / 2 : 0);
  return 4 * calls;
}

/// One-sided Jacobi (Hestenes 1958; Demmel, Veselic 1992), where it pays on the triangle of a QR factorisation (Drmac,
/// Veselic 2008, part I).
template <class Policy>
struct jacobi_kernel : jacobi_tiles<bool(Policy::on_device)>, jacobi_storing<typename Policy::real> {
  struct shape {
    enum { on_device = Policy::on_device };
  };
  using scratch = typename Policy::scratch;
  using real = typename Policy::real;
  enum { threads = Policy::threads, emulated_threads = Policy::emulated_threads };
  using base = jacobi_storing<real>;
  using base::active_lanes, base::any_lane, base::columns_in, base::expand_left, base::factors_in, base::finish,
      base::job, base::left_columns, base::load, base::part, base::start_columns, base::start_in, base::store_vectors;

  template <class Team>
  QUINTET_SVD_INLINE void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    // Neighbouring groups, so that the processor sees what comes next.
    const std::int64_t last = (tile + 1) * job.groups / job.tiles;
    for (std::int64_t group = tile * job.groups / job.tiles; group < last; ++group) {
      if constexpr (!Policy::on_device) poll();
      Policy::run(team, s, [&](const auto& map, real* team_memory) QUINTET_SVD_INLINE_LAMBDA {
        real* memory = job.workspace + tile * job.slot;
        solve_group(map, group, memory, team_memory);
      });
    }
  }

  /// Polls within a group of large matrices. Small ones take less time than they would lose.
  QUINTET_SVD_INLINE void poll_within() const {
    if constexpr (!Policy::on_device)
      if (std::int64_t(job.rows) * job.cols > 64 * 64) poll();
  }

  template <class Map>
  QUINTET_SVD_INLINE void solve_group(const Map& map, std::int64_t group, real* memory, real* team_memory) const {
    columns<real> m = columns_in(map, memory, team_memory);
    const bool does_all = job.phase == phase::all;
    auto active = typename Map::scalar{} > typename Map::scalar{};
    if (does_all || job.phase == phase::load)
      active = load(map, group, memory, m, [this]() QUINTET_SVD_INLINE_LAMBDA { poll_within(); });
    if (does_all || job.phase == phase::start) {
      start_columns(map, factors_in(map, memory, part(map, memory, job.at.a)), m);
      if (!does_all) order_columns(map, m);
    }
    bool has_values = false;
    if (does_all || job.phase == phase::rotate) {
      start_near(map, memory, m);
      has_values = reduce(map, group, memory, m);
    }
    if (does_all && !has_values) {
      if constexpr (Map::packed > 1) {
        memory_ahead ahead(calls_ahead(job.cols));
        ahead.add(map, job, group, job.left, std::int64_t(job.rows) * job.left_cols, true);
        ahead.add(map, job, group, job.right, std::int64_t(job.cols) * job.right_cols, true);
        ahead.add(map, job, group + 1, job.a, std::int64_t(job.rows) * job.cols, false);
        note_outcome(map, group, orthogonalise(map, m, reduce_lanes(map, group, memory, m, active), [&] {
                       poll_within();
                       ahead();
                     }));
      } else {
        note_outcome(map, group, orthogonalise(map, m, active, [this]() QUINTET_SVD_INLINE_LAMBDA { poll_within(); }));
      }
    }
    if (job.phase == phase::rotate && !has_values)
      note_outcome(map, group, orthogonalise(map, m, active_lanes(map, group), [] {}));
    if (does_all || job.phase == phase::finish) finish(map, group, memory, m);
    const bool has_q = job.vectors && job.preconditioner != route::direct;
    if (has_q && (does_all || job.phase == phase::expand)) expand_left(map, memory, m);
    if (has_q && does_all)
      apply_q(map, factors_in(map, memory, part(map, memory, job.at.a)), part(map, memory, job.at.left), 0,
              left_columns(), [this]() QUINTET_SVD_INLINE_LAMBDA { poll_within(); });
    if (job.vectors && (does_all || job.phase == phase::store)) store_vectors(map, group, memory, m);
    map.barrier();
  }

  /// Where the job allows it and the columns are of one size: X and V near their end. Only where one worker has a
  /// matrix in rows: eigenvalues are found one after the other.
  template <class Map>
  QUINTET_SVD_INLINE void start_near(const Map& map, real* memory, columns<real>& m) const {
    if constexpr (Map::chunk > 1) {
      if (!job.starts_from_eigenvectors || part(map, memory, job.at.scaling)[2] == 0) return;
      start_from_eigenvectors(map, m, part(map, memory, job.at.v), start_in(map, memory), [this]() { poll_within(); });
      m.starts_from_eigenvectors = true;
    }
  }

  /// Where the job allows it: singular values without rotations.
  template <class Map>
  QUINTET_SVD_INLINE bool reduce(const Map& map, std::int64_t group, real* memory, const columns<real>& m) const {
    if constexpr (Map::chunk > 1) {
      if (!job.reduces || part(map, memory, job.at.scaling)[2] == 0) return false;
      const auto at = bidiagonal_memory<real>::at(part(map, memory, job.at.start), m.n, m.ld_x);
      reduce_to_bidiagonal(map, m.x, m.rows, m.n, m.ld_x, at, [this]() QUINTET_SVD_INLINE_LAMBDA { poll_within(); });
      const bool converged = find_values(map, at, m.n, part(map, memory, job.at.sigma));
      if (!converged && map.leads_team()) job.status[matrix_in(map, job, group, 0)] = code_not_converged;
      map.barrier();
      return true;
    } else if constexpr (Map::width == 1) {
      return job.reduces && part(map, memory, job.at.scaling)[2] > 0;  // by launches before this one
    }
    return false;
  }

  /// Where the job allows it: singular values of matrices side by side, without rotations. Returns the lanes of
  /// `active` that are left for these.
  template <class Map>
  QUINTET_SVD_INLINE mask_of<typename Map::scalar> reduce_lanes(const Map& map, std::int64_t group, real* memory,
                                                                const columns<real>& m,
                                                                const mask_of<typename Map::scalar>& active) const {
    if (!job.reduces) return active;
    const auto reduced = map.entry(part(map, memory, job.at.scaling), 2) > typename Map::scalar{};
    if (!any(reduced)) return active;
    const auto at = lane_values_memory<real>::at(part(map, memory, job.at.start), m.n, Map::width);
    const typename Map::scalar failed = find_lane_values(map, m.x, m.rows, m.n, m.ld_x, reduced, at);
    for (int l = 0; l < Map::packed; ++l) {
      const std::int64_t matrix = matrix_in(map, job, group, first_lane(map) + l);
      if (matrix >= 0 && lane_of(failed, l) > 0) job.status[matrix] = code_not_converged;
    }
    return active & !reduced;
  }

  template <class Map>
  QUINTET_SVD_INLINE void note_outcome(const Map& map, std::int64_t group,
                                       const sweep_result<typename Map::scalar>& outcome) const {
    if (!map.leads_team()) return;
    for (int l = 0; l < Map::packed; ++l) {
      const std::int64_t matrix = matrix_in(map, job, group, first_lane(map) + l);
      if (matrix < 0) continue;
      job.sweeps[matrix] = std::int32_t(lane_of(outcome.sweeps, l));
      if (any_lane(outcome.unfinished, l)) job.status[matrix] = code_not_converged;
    }
  }
};

/// Instantiated by svd.cmake.
template <class Policy>
void jacobi_launch<Policy>::run(const jacobi_job<typename Policy::real>& job, const Device& device) {
  device::launch(jacobi_kernel<Policy>{{}, {{{job}}}}, job.tiles, device);
}

}  // namespace quintet::svd
