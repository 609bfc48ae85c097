#include "svd/block_jacobi.hpp"

#include <algorithm>

#include "device/for_each.hpp"
#include "instantiate.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/device/buffer.hpp"
#include "svd/block_jacobi_kernel.hpp"
#include "svd/jacobi_policies.hpp"
#include "svd/large_bidiagonal.hpp"
#include "svd/large_completion.hpp"
#include "svd/large_eigenvectors.hpp"
#include "svd/large_qr.hpp"
#include "svd/workspace.hpp"

namespace quintet::svd {

namespace {

/// After a sweep: which matrices need another one. The stopping criterion of Demmel, Veselic 1992: see sweeps.hpp.
template <class Real>
struct judge_sweep {
  const Real* block_sums;
  std::int32_t *active, *status, *sweeps;
  const std::int64_t* index;
  std::int64_t first;
  std::int32_t blocks;
  Real tolerance, angle_error;
  bool is_last;

  void operator()(std::int64_t matrix) const {
    if (active[matrix] == activity::done) return;
    sweep_sums<Real> all;
    for (int i = 0; i < blocks; ++i)
      for (int j = i; j < blocks; ++j) {
        const Real* from = block_sums + ((matrix * blocks + i) * blocks + j) * 3;
        all.cosine += from[0];
        all.tangent += from[1];
        all.exchanged |= from[2] > 0;
      }
    const std::int64_t place = index != nullptr ? index[first + matrix] : first + matrix;
    ++sweeps[place];
    const bool goes_on = needs_more(all, tolerance, angle_error);
    active[matrix] = !goes_on ? activity::done : may_exchange(all) ? activity::exchanges : activity::rotates;
    if (goes_on && is_last) status[place] = code_not_converged;
  }
};

/// Every matrix that was accepted takes part in the first sweep (Hestenes 1958).
template <class Real>
struct start_active {
  std::int32_t* active;
  const std::int32_t* status;
  const std::int64_t* index;
  std::int64_t first;
  const Real* has_values;  ///< positive where values are there already, `slot` numbers apart; or null
  const Real* has_order;   ///< so where columns have come in falling order; or null
  std::int64_t slot;
  void operator()(std::int64_t matrix) const {
    const auto is_set = [=, this](const Real* flag) { return flag != nullptr && flag[matrix * slot] > 0; };
    const bool is_done = is_set(has_values);
    const bool takes_part = !is_done && status[index != nullptr ? index[first + matrix] : first + matrix] == code_ok;
    active[matrix] = !takes_part ? activity::done : is_set(has_order) ? activity::rotates : activity::exchanges;
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
  Buffer<real> block_sums(job.groups * blocks * blocks * 3, device);
  const real* flag = job.workspace + job.at.scaling + 2;
  device::for_each(job.groups,
                   start_active<real>{active.data(), job.status, job.index, job.first, job.reduces ? flag : nullptr,
                                      job.starts_from_eigenvectors ? flag : nullptr, job.slot},
                   device);
  for (int s = 0; s < job.max_sweeps && is_any_active(active); ++s) {
    sweep_blocks(block_kernel<Policy>{{job}, active.data(), block_sums.data(), blocks, 0, 0, false}, job.groups,
                 device);
    device::for_each(
        job.groups,
        judge_sweep<real>{block_sums.data(), active.data(), job.status, job.sweeps, job.index, job.first, blocks,
                          cosine_tolerance(job.root_rows), job.vectors && !job.accurate ? angle_error<real>() : real(0),
                          s + 1 == job.max_sweeps},
        device);
  }
}

/// The matrices [job.first, job.count) of `job`, all of them in work at the same time.
template <class Policy>
class chunk_run {
 public:
  using real = typename Policy::real;

  chunk_run(const jacobi_job<real>& job, bool in_blocks, const Device& device)
      : job_(job), in_blocks_(in_blocks), device_(device) {
    lay_out<typename Policy::map>(job_, false);
    job_.tiles = job_.groups;
    workspace_ = Buffer<real>(job_.slot * job_.groups, device);
    job_.workspace = workspace_.data();
  }

  void run() {
    factorise();
    start();
    rotate();
    finish();
  }

 private:
  void launch(phase step) {
    job_.phase = step;
    jacobi_launch<Policy>::run(job_, device_);
  }

  factors_batch<real> q() const {
    real* const memory = job_.workspace;
    return {{memory + job_.at.a, memory + job_.at.h, memory + job_.at.tau,
             job_.preconditioner == route::pivoted_lower ? memory + job_.at.pivots : nullptr, job_.rows, job_.cols,
             job_.ld_a},
            job_.slot};
  }

  void factorise() {
    const stage_region stage("qr");
    launch(phase::load);
    if (job_.preconditioner == route::triangle) factorise_by_all<Policy>(q(), job_.groups, device_);
    if (job_.preconditioner == route::pivoted_lower)
      factorise_pivoted_by_all<Policy>(q(), job_.workspace + job_.at.norm, job_.groups, device_);
  }

  void start() {
    const stage_region stage("start");
    launch(phase::start);
    if constexpr (!Policy::on_device)
      if (in_blocks_ && job_.starts_from_eigenvectors) shared_start<Policy>(job_, job_.groups, device_).run();
    // On the host an undivided matrix is reduced by one thread, in the launch that would rotate it.
    if (!job_.reduces || (!Policy::on_device && !in_blocks_)) return;
    const stage_region reduction("reduce");
    reduce_batch<Policy>(job_, in_blocks_, device_);
  }

  void rotate() {
    const stage_region stage("rotate");
    if (in_blocks_)
      sweep_until_done<Policy>(job_, device_);
    else
      launch(phase::rotate);
  }

  void finish() {
    const stage_region stage("finish");
    job_.completes_by_all = in_blocks_;
    launch(phase::finish);
    if (!job_.vectors) return;
    real* const memory = job_.workspace;
    const bool is_direct = job_.preconditioner == route::direct;
    if (in_blocks_)
      complete_by_all<Policy>(
          completed_batch<real>{memory + job_.at.x, memory + job_.at.norm, memory + job_.at.source, nullptr, job_.slot,
                                std::int32_t(is_direct ? job_.rows : job_.cols), job_.cols, job_.ld_x},
          job_.groups, device_);
    if (!is_direct) {
      launch(phase::expand);
      apply_q_by_all<Policy>(q(), memory + job_.at.left, job_.slot, std::max(job_.left_cols, job_.cols), job_.groups,
                             device_);
    }
    launch(phase::store);
  }

  jacobi_job<real> job_;
  bool in_blocks_;
  Device device_;
  Buffer<real> workspace_;
};

template <class Policy>
void run_chunks(jacobi_job<typename Policy::real> job, bool in_blocks, std::int64_t max_bytes, const Device& device) {
  jacobi_job<typename Policy::real> sweep_job = job;
  lay_out<typename Policy::map>(sweep_job, false);
  const std::int64_t all = job.count;
  const std::int64_t fitting =
      std::max<std::int64_t>(1, max_bytes / (sweep_job.slot * std::int64_t(sizeof(typename Policy::real))));
  for (job.first = 0; job.first < all; job.first += fitting) {
    job.count = std::min(all, job.first + fitting);
    chunk_run<Policy>(job, in_blocks, device).run();
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
