// bidiagonal_values.hpp as launches: for matrices that several workers share, step by step, and for a batch on a
// device, a team a matrix. The bits do not depend on who does what.
#pragma once

#include <limits>
#include <type_traits>

#include "svd/bidiagonal_values.hpp"
#include "svd/eigenvectors.hpp"
#include "svd/jacobi_policies.hpp"

namespace quintet::svd {

enum class reduction_phase {
  whole,  ///< all steps, by the team of a matrix
  begin,  ///< step k: the reflections of row k - 1 and column k
  meet,   ///< the columns behind it
};

/// One phase of the reduction of several matrices of one shape, `slot` numbers apart (Golub, Kahan 1965). Matrices that
/// are not reduced are left alone.
template <class Real>
struct reduction_step {
  Real *x, *memory;  ///< of the first matrix, as what follows
  const Real* is_reduced;
  std::int64_t slot;
  int rows, n, ld;
  reduction_phase phase;
  int parts;  ///< tiles of a matrix
  int k;

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t tile) const {
    const std::int64_t matrix = tile / parts, offset = matrix * slot;
    if (!(is_reduced[offset] > 0)) return;
    const auto at = bidiagonal_memory<Real>::at(memory + offset, n, ld);
    const bidiagonal_reduction<Map> reduction(map, x + offset, rows, n, ld, at);
    switch (phase) {
      case reduction_phase::whole:
        return reduce_to_bidiagonal(map, x + offset, rows, n, ld, at, [] {});
      case reduction_phase::begin:
        return reduction.begin_step(k);
      case reduction_phase::meet:
        return reduction.meet_part(k, int(tile % parts));
    }
  }
};

/// The singular values of the bidiagonal matrices, in no order (qd.hpp): on a device a thread has one.
template <class Real>
struct bidiagonal_step {
  Real *memory, *sigma;  ///< of the first matrix, as what follows
  const Real* is_reduced;
  std::int64_t slot, count;
  std::int32_t* status;
  const std::int64_t* index;
  std::int64_t first;
  int n, ld;

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t tile) const {
    const std::int64_t matrix = tile * Map::width + first_lane(map), offset = matrix * slot;
    if (matrix >= count || !(is_reduced[offset] > 0)) return;
    if (!find_values(map, bidiagonal_memory<Real>::at(memory + offset, n, ld), n, sigma + offset))
      status[index != nullptr ? index[first + matrix] : first + matrix] = code_not_converged;
  }
};

/// Leaves matrices to the rotations that have a row of another size. On a device load() looks at columns alone.
template <class Real>
struct row_judgement {
  const Real* row_size;  ///< of the first matrix, as what follows
  Real* is_reduced;
  std::int64_t slot;
  int rows;

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t matrix) const {
    const Real* size = row_size + matrix * slot;
    Real largest = 0, least = std::numeric_limits<Real>::infinity();
    for_each_row(map, 0, rows, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
      largest = larger(largest, size[i]);
      if (size[i] > 0) least = smaller(least, size[i]);
    });
    largest = map.team_max(largest);
    least = -map.team_max(-least);
    if (map.leads_team() && !(largest / least <= started_ratio<Real>)) is_reduced[matrix * slot] = 0;
  }
};

/// `shares`: all workers take part in a matrix. Otherwise it has a team.
template <class Policy>
void reduce_steps(reduction_step<typename Policy::real> step, std::int64_t matrices, bool shares,
                  const Device& device) {
  const auto launch = [&](reduction_phase phase, int parts, int k) {
    step.phase = phase;
    step.parts = parts;
    step.k = k;
    launch_body<Policy>(step, matrices * parts, device);
  };
  if (!shares) return launch(reduction_phase::whole, 1, 0);
  using reduction = bidiagonal_reduction<typename Policy::map>;
  for (int k = 0; k < step.n; ++k) {
    launch(reduction_phase::begin, 1, k);
    if (k + 1 < step.n) launch(reduction_phase::meet, reduction::parts(step.n, k), k);
  }
}

/// The singular values of the matrices in the working memory of `job`, in no order; see reduce_steps().
template <class Policy>
void reduce_batch(const jacobi_job<typename Policy::real>& job, bool shares, const Device& device) {
  using real = typename Policy::real;
  real* const memory = job.workspace;
  if (job.preconditioner == route::direct && !job.is_triangle)
    launch_body<Policy>(row_judgement<real>{memory + job.at.row_size, memory + job.at.scaling + 2, job.slot, job.rows},
                        job.groups, device);
  reduction_step<real> step = {};
  step.x = memory + job.at.x;
  step.memory = memory + job.at.start;
  step.is_reduced = memory + job.at.scaling + 2;
  step.slot = job.slot;
  step.n = job.cols;
  step.rows = job.preconditioner == route::direct ? job.rows : job.cols;
  step.ld = job.ld_x;
  reduce_steps<Policy>(step, job.groups, shares, device);
  using of_values = std::conditional_t<bool(Policy::on_device), device_lanes<real>, Policy>;
  constexpr int width = of_values::map::width;
  launch_body<of_values>(bidiagonal_step<real>{step.memory, memory + job.at.sigma, step.is_reduced, job.slot,
                                               job.groups, job.status, job.index, job.first, step.n, step.ld},
                         (job.groups + width - 1) / width, device);
}

}  // namespace quintet::svd
