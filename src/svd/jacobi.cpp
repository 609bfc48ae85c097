#include "svd/jacobi.hpp"

#include <cmath>
#include <type_traits>

#include "device/gpu_names.hpp"
#include "instantiate.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/device/buffer.hpp"
#include "svd/block_jacobi.hpp"
#include "svd/jacobi_policies.hpp"
#include "svd/workspace.hpp"

namespace quintet::svd {

namespace {

/// Up to this size a matrix fits a single GPU thread.
constexpr int lane_size = 8;
/// Beyond this size half a register of matrices side by side is faster, for its smaller working set.
template <class Real>
constexpr int full_lanes_size = sizeof(Real) == 4 ? 96 : 192;

template <class Policy, class Launch = jacobi_launch<Policy>>
void run_policy(jacobi_job<typename Policy::real> job, const Device& device) {
  using real = typename Policy::real;
  lay_out<typename Policy::map>(job, Policy::team_numbers > 0);
  job.tiles = tiles_that_fit(job, device);
  constexpr bool has_workspace = std::is_same_v<Launch, jacobi_launch<Policy>>;
  Buffer<real> workspace(has_workspace ? job.slot * job.tiles : 0, device);
  job.workspace = workspace.data();
  const stage_region stage(job.reduces ? "reduce" : "rotate");  // and what comes before and after it, in one launch
  Launch::run(job, device);
}

/// Whether small_kernel is compiled for this.
template <class Real>
bool is_small(const jacobi_job<Real>& job) {
  const int n = job.cols;
  const bool has_all = !job.vectors || (job.left_cols == n && job.right_cols == n);
  return n >= 2 && n <= largest_small && job.rows == n && has_all && job.values == n &&
         job.preconditioner == route::direct && !job.accurate;
}

template <class Policy, class PolicyOfFour = Policy>
void run_small(const jacobi_job<typename Policy::real>& job, const Device& device) {
  if (job.cols == 2) return run_policy<Policy, small_launch<Policy, 2>>(job, device);
  if (job.cols == 3) return run_policy<Policy, small_launch<Policy, 3>>(job, device);
  run_policy<PolicyOfFour, small_launch<PolicyOfFour, 4>>(job, device);
}

/// Whether lanes are better than rows: a group of lanes costs the same however few of them hold a matrix, and less than
/// four times as much as rotations of one in rows (with registers of 128 and 256 bits 1 to 3 times, so never for one
/// alone).
template <class Real>
bool fills_lanes(const jacobi_job<Real>& job, std::int64_t batch) {
  if (!lanes_have_room<typename host_lanes<Real>::map>(job)) return false;
  return (batch * 4 >= device::host_lanes<Real>() && (batch > 1 || has_wide_lanes)) || job.cols < 4;
}

/// From this size on a matrix alone starts from eigenvectors: they cost less than the sweeps that they save.
constexpr int smallest_near = 8;
/// From this size on matrices start so even where they would fill the lanes: with registers of 512 bits (measured on
/// Zen 4 and Cascade Lake), of 256 (Zen 1: they cost the same at 64 and 22 rows) and of 128 (there at 38 and 13).
template <class Real>
constexpr int smallest_near_of_many = has_wide_lanes                      ? (sizeof(Real) == 4 ? 100 : 58)
                                      : device::host_lanes<double>() == 4 ? (sizeof(Real) == 4 ? 64 : 28)
                                                                          : (sizeof(Real) == 4 ? 40 : 16);

/// Whether matrices start from eigenvectors: see eigenvectors.hpp. A full group of lanes takes c n^3, a start s n^2 for
/// each matrix; they are equal at smallest_near_of_many. So a start pays where the filled part of the lanes is less
/// than n / smallest_near_of_many. It is taken for five eighths of that, because matrices that may not start so (their
/// columns differ in size) then have their rotations one by one, at 2.5 times the price of a start (measured). With
/// shorter registers the first matrix of a group is worth a start at every size.
template <class Real>
bool starts_from_eigenvectors(const jacobi_job<Real>& job, std::int64_t batch, const Device& device) {
  if (!job.starts_from_eigenvectors || device.kind() != device_kind::host ||
      job.preconditioner == route::pivoted_lower || job.cols < smallest_near)
    return false;
  constexpr int of_many = smallest_near_of_many<Real>;
  const std::int64_t lanes = device::host_lanes<Real>(), groups = (batch + lanes - 1) / lanes;
  const std::int64_t filled = (batch + groups - 1) / groups;  // in the mean
  const std::int64_t priced = has_wide_lanes ? filled : filled - 1;
  return job.cols >= of_many || !fills_lanes(job, batch) || 8 * priced * of_many <= 5 * job.cols * lanes;
}

/// From this size on a bidiagonal matrix costs less than rotations where values are all that is wanted, and from the
/// second on than rotations of a matrix alone. In double it is not accurate enough for small ones: see below.
template <class Real>
constexpr int smallest_reduced = sizeof(Real) == 4 ? 56 : 24;
template <class Real>
constexpr int smallest_reduced_alone = sizeof(Real) == 4 ? 5 : 24;

/// The size at which a bidiagonal matrix costs less in registers too: see small_values.hpp.
constexpr int reduced_in_registers = 3;

/// As fills_lanes() for values alone. One matrix in rows costs a quarter of a group with registers of 128 and 256 bits,
/// and less for large ones (measured on Zen 1).
template <class Real>
bool fills_lanes_of_values(const jacobi_job<Real>& job, std::int64_t batch) {
  const std::int64_t quarters = has_wide_lanes || job.cols < 4 ? 1 : job.cols <= 24 ? 2 : 3;
  return fills_lanes(job, batch) && batch * 4 >= quarters * device::host_lanes<Real>();
}

/// On a device a step waits for its team several times. Matrices in team memory have their rotations in less time, by
/// counting what waits.
constexpr int smallest_reduced_on_device = 64;

/// Whether values come from a bidiagonal matrix: see bidiagonal.hpp.
template <class Real>
bool reduces(const jacobi_job<Real>& job, std::int64_t batch, const Device& device) {
  const int smallest = device.kind() != device_kind::host  ? smallest_reduced_on_device
                       : fills_lanes_of_values(job, batch) ? smallest_reduced<Real>
                                                           : smallest_reduced_alone<Real>;
  const bool is_small_enough = job.cols == reduced_in_registers && is_small(job);
  return job.starts_from_eigenvectors && !job.vectors && job.preconditioner != route::pivoted_lower &&
         (job.cols >= smallest || is_small_enough);
}

/// Float matrices side by side of these sizes have bidiagonal matrices in lockstep: see bidiagonal_lanes.hpp. In double
/// the qd algorithm alone would take up the bound of small matrices, since it rounds up to 5 eps at n = 16. For float
/// it is in double.
/// More lanes make rotations cheaper, which do not wait for scalars, and larger groups too.
constexpr int smallest_reduced_in_lanes = has_wide_lanes ? 19 : 12;
constexpr int largest_reduced_in_lanes = has_wide_lanes ? 224 : device::host_lanes<double>() == 4 ? 128 : 96;
/// A group of larger matrices in a quarter of wide lanes takes longer than one after the other.
constexpr int largest_reduced_in_few_lanes = 64;

/// Whether values come from bidiagonal matrices side by side.
template <class Real>
bool reduces_in_lanes(const jacobi_job<Real>& job, std::int64_t batch, const Device& device) {
  return device.kind() == device_kind::host && job.starts_from_eigenvectors && !job.vectors && sizeof(Real) == 4 &&
         job.preconditioner != route::pivoted_lower && job.cols >= smallest_reduced_in_lanes &&
         job.cols <= largest_reduced_in_lanes && fills_lanes_of_values(job, batch) &&
         (job.cols <= largest_reduced_in_few_lanes || batch * 2 >= device::host_lanes<Real>());
}

/// Shorter ones have a bidiagonal matrix without a QR factorisation first (Chan 1982 finds 5 / 3 by counting
/// operations; reflections of columns alone take one pass over A each).
constexpr int shortest_with_triangle = 3;

/// Few matrices with so many rows that workers should share their QR. On the host the bits are the same.
template <class Real>
bool is_long(const jacobi_job<Real>& job, std::int64_t batch) {
  return job.preconditioner == route::triangle && job.rows >= long_rows && job.cols >= 8 && batch <= 4;
}

template <class Real>
void run_on_device(const jacobi_job<Real>& job, std::int64_t batch, const Device& device) {
  if (job.cols > lane_size && is_long(job, batch)) return run_blocks(job, device);
  if (is_small(job)) return run_small<device_lanes<Real>>(job, device);
  if (job.cols <= lane_size) return run_jacobi_as(device_policy::lanes, job, device);
  const std::int64_t x_rows = job.preconditioner == route::direct ? job.rows : job.cols;
  const bool fits = job.cols * (x_rows + job.cols) <= team_numbers<Real>;
  const bool is_gpu = device.kind() == device_kind::offload && quintet::detail::offload_is_gpu();
  const device_policy fitting = is_gpu ? device_policy::small : device_policy::emulated;
  const device_policy other = is_gpu && job.cols <= 128 ? device_policy::middle : device_policy::large;
  run_jacobi_as(fits ? fitting : other, job, device);
}

}  // namespace

template <class Real>
void run_jacobi_as(device_policy policy, jacobi_job<Real> job, const Device& device) {
  switch (policy) {
    case device_policy::lanes:
      return run_policy<device_lanes<Real>>(job, device);
    case device_policy::small:
      return run_policy<gpu_small<Real>>(job, device);
    case device_policy::middle:
      return run_policy<gpu_middle<Real>>(job, device);
    case device_policy::large:
      return run_policy<gpu_large<Real>>(job, device);
    case device_policy::emulated:
      return run_policy<emulated_small<Real>>(job, device);
  }
}

template <class Real>
void run_jacobi(jacobi_job<Real> job, std::int64_t batch, const Device& device) {
  if (job.count == 0) return;
  job.first = 0;
  job.phase = phase::all;
  const bool in_lanes = reduces_in_lanes(job, batch, device);
  job.reduces = in_lanes || reduces(job, batch, device);
  if (job.reduces && job.preconditioner == route::triangle && job.rows < shortest_with_triangle * job.cols)
    job.preconditioner = route::direct;
  job.root_rows = std::sqrt(Real(job.preconditioner == route::direct ? job.rows : job.cols));
  job.starts_from_eigenvectors = !job.reduces && starts_from_eigenvectors(job, batch, device);
  const bool is_host = device.kind() == device_kind::host;
  const bool reduces_in_memory = job.reduces && !in_lanes && job.cols > largest_small;
  if (job.cols > largest_undivided || (!is_host && reduces_in_memory)) return run_blocks(job, device);
  if (!is_host) return run_on_device(job, batch, device);
  if (job.starts_from_eigenvectors || reduces_in_memory || !fills_lanes(job, batch))
    return is_long(job, batch) ? run_blocks(job, device) : run_policy<host_rows<Real>>(job, device);
  if (is_small(job)) return run_small<host_double_lanes<Real>, host_lanes<Real>>(job, device);
  return job.cols > full_lanes_size<Real> ? run_policy<host_half_lanes<Real>>(job, device)
                                          : run_policy<host_lanes<Real>>(job, device);
}

#define QUINTET_INSTANTIATE(Real)                                              \
  template void run_jacobi_as(device_policy, jacobi_job<Real>, const Device&); \
  template void run_jacobi(jacobi_job<Real>, std::int64_t, const Device&);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::svd
