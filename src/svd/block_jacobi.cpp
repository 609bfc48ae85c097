#include "svd/block_jacobi.hpp"

#include <algorithm>

#include "device/for_each.hpp"
#include "instantiate.hpp"
#include "quintet/device/buffer.hpp"
#include "svd/block_jacobi_kernel.hpp"
#include "svd/jacobi_policies.hpp"
#include "svd/large_completion.hpp"
#include "svd/large_eigenvectors.hpp"
#include "svd/large_qr.hpp"
#include "svd/workspace.hpp"

namespace quintet::svd {

namespace {

/// After a sweep: which matrices need another one. The stopping criterion of Demmel, Veselic 1992: see sweeps.hpp.
template <class Real>
struct judge_sweep {
  const Real* seen;
  std::int32_t *active, *status, *sweeps;
  const std::int64_t* index;
  std::int64_t first;
  std::int32_t blocks;
  Real tolerance, angle_error;
  bool is_last;

  void operator()(std::int64_t matrix) const {
    if (active[matrix] == 0) return;
    sweep_sums<Real> all;
    for (int i = 0; i < blocks; ++i)
      for (int j = i; j < blocks; ++j) {
        const Real* from = seen + ((matrix * blocks + i) * blocks + j) * 2;
        all.cosine += from[0];
        all.tangent += from[1];
      }
    const std::int64_t place = index != nullptr ? index[first + matrix] : first + matrix;
    ++sweeps[place];
    if (!needs_more(all, tolerance, angle_error))
      active[matrix] = 0;
    else if (is_last)
      status[place] = code_not_converged;
  }
};

/// Every matrix that was accepted takes part in the first sweep (Hestenes 1958).
template <class Real>
struct start_active {
  std::int32_t* active;
  const std::int32_t* status;
  const std::int64_t* index;
  std::int64_t first;
  void operator()(std::int64_t matrix) const {
    active[matrix] = status[index != nullptr ? index[first + matrix] : first + matrix] == code_ok ? 1 : 0;
  }
};

bool is_any_active(const Buffer<std::int32_t>& active) {
  for (const std::int32_t flag : active.to_vector())
    if (flag != 0) return true;
  return false;
}

/// One sweep over all matrices, wavefront by wavefront.
template <class Policy>
void sweep_blocks(block_kernel<Policy> kernel, std::int64_t matrices, const Device& device) {
  kernel.is_diagonal = true;
  kernel.pairs = kernel.blocks;
  device::launch(kernel, matrices * kernel.pairs, device);
  kernel.is_diagonal = false;
  for (kernel.sum = 1; kernel.sum <= 2 * kernel.blocks - 3; ++kernel.sum) {
    const int min = kernel.sum < kernel.blocks ? 0 : kernel.sum - kernel.blocks + 1;
    kernel.pairs = (kernel.sum - 1) / 2 - min + 1;
    device::launch(kernel, matrices * kernel.pairs, device);
  }
}

/// Sweeps over the matrices of `job`, whose columns are in the working memory.
template <class Policy>
void sweep_until_done(const jacobi_job<typename Policy::real>& job, const Device& device) {
  using real = typename Policy::real;
  const int blocks = (job.cols + block_columns - 1) / block_columns;
  Buffer<std::int32_t> active(job.groups, device);
  Buffer<real> seen(job.groups * blocks * blocks * 2, device);
  device::for_each(job.groups, start_active<real>{active.data(), job.status, job.index, job.first}, device);
  for (int s = 0; s < job.max_sweeps && is_any_active(active); ++s) {
    sweep_blocks(block_kernel<Policy>{{job}, active.data(), seen.data(), blocks, 0, 0, false}, job.groups, device);
    device::for_each(
        job.groups,
        judge_sweep<real>{seen.data(), active.data(), job.status, job.sweeps, job.index, job.first, blocks,
                          cosine_tolerance(job.root_rows), job.vectors && !job.accurate ? angle_error<real>() : real(0),
                          s + 1 == job.max_sweeps},
        device);
  }
}

/// The matrices [job.first, job.count), all of them in work at the same time.
template <class Policy>
void run_chunk(jacobi_job<typename Policy::real> job, bool in_blocks, const Device& device) {
  using real = typename Policy::real;
  lay_out<typename Policy::map>(job, false);
  job.tiles = job.groups;
  const std::int64_t matrices = job.groups;
  Buffer<real> workspace(job.slot * matrices, device);
  job.workspace = workspace.data();
  const bool is_triangle = job.way == route::triangle;
  real* const memory = job.workspace;
  const bool is_pivoted = job.way == route::pivoted_lower;
  const factors_batch<real> q{{memory + job.at.a, memory + job.at.h, memory + job.at.tau,
                               is_pivoted ? memory + job.at.pivots : nullptr, job.rows, job.cols, job.ld_a},
                              job.slot};
  job.phase = phase::load;
  jacobi_launch<Policy>::run(job, device);
  if (is_triangle) factorise_by_all<Policy>(q, matrices, device);
  if (is_pivoted) factorise_pivoted_by_all<Policy>(q, memory + job.at.norm, matrices, device);
  job.phase = phase::start;
  jacobi_launch<Policy>::run(job, device);
  if constexpr (!Policy::on_device) {
    if (in_blocks && job.starts_near) shared_start<Policy>(job, matrices, device).run();
  }
  if (in_blocks) {
    sweep_until_done<Policy>(job, device);
  } else {
    job.phase = phase::rotate;
    jacobi_launch<Policy>::run(job, device);
  }
  job.phase = phase::finish;
  job.completes_by_all = in_blocks;
  jacobi_launch<Policy>::run(job, device);
  if (!job.vectors) return;
  if (in_blocks)
    complete_by_all<Policy>(
        completed_batch<real>{memory + job.at.x, memory + job.at.norm, memory + job.at.source, nullptr, job.slot,
                              std::int32_t(job.way == route::direct ? job.rows : job.cols), job.cols, job.ld_x},
        matrices, device);
  if (job.way != route::direct) {
    job.phase = phase::expand;
    jacobi_launch<Policy>::run(job, device);
    apply_q_by_all<Policy>(q, job.workspace + job.at.left, job.slot, std::max(job.left_cols, job.cols), matrices,
                           device);
  }
  job.phase = phase::store;
  jacobi_launch<Policy>::run(job, device);
}

template <class Policy>
void run_chunks(jacobi_job<typename Policy::real> job, bool in_blocks, std::int64_t max_bytes, const Device& device) {
  jacobi_job<typename Policy::real> one = job;
  lay_out<typename Policy::map>(one, false);
  const std::int64_t all = job.count;
  const std::int64_t fitting =
      std::max<std::int64_t>(1, max_bytes / (one.slot * std::int64_t(sizeof(typename Policy::real))));
  for (job.first = 0; job.first < all; job.first += fitting) {
    job.count = std::min(all, job.first + fitting);
    run_chunk<Policy>(job, in_blocks, device);
  }
}

template <class Real>
void run_either(const jacobi_job<Real>& job, bool in_blocks, const Device& device) {
  if (device.kind() == device_kind::host)
    run_chunks<host_rows<Real>>(job, in_blocks, host_workspace, device);
  else
    run_chunks<gpu_large<Real>>(job, in_blocks, device_workspace, device);
}

}  // namespace

template <class Real>
void run_blocks(jacobi_job<Real> job, const Device& device) {
  run_either(job, job.cols > largest_undivided, device);
}

template <class Real>
void run_in_blocks(jacobi_job<Real> job, const Device& device) {
  run_either(job, true, device);
}

#define QUINTET_INSTANTIATE(Real)                            \
  template void run_blocks(jacobi_job<Real>, const Device&); \
  template void run_in_blocks(jacobi_job<Real>, const Device&);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::svd
