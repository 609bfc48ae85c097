#include "quintet/svd/eigen.hpp"

#include <algorithm>
#include <type_traits>

#include "device/for_each.hpp"
#include "device/small_call.hpp"
#include "device/staged.hpp"
#include "quintet/core/error.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/device/buffer.hpp"
#include "svd/block_jacobi.hpp"
#include "svd/checks.hpp"
#include "svd/definite.hpp"
#include "svd/jacobi_policies.hpp"
#include "svd/large_eigenvectors.hpp"
#include "svd/workspace.hpp"

namespace quintet::svd {

namespace {

/// Up to this size a symmetric matrix fits a single GPU thread.
constexpr int eigen_lane_size = 8;

/// Where matrices of one call are: side by side in all lanes of a register, in half of them, or one after another.
enum class eigen_place { lanes, half_lanes, rows };

/// Whether memory holds a group of a policy. The group costs the same however few of its lanes hold a matrix.
template <class Policy>
bool has_room_for(const jacobi_job<typename Policy::real>& job) {
  return lanes_have_room<typename Policy::map>(job);
}

/// With registers of 512 bits (measured on Zen 4 and Cascade Lake). Matrices side by side are better up to some size:
/// each rotation waits for the one before it, and lanes share that wait. Beyond, their working memory leaves the cache,
/// with half as many of them later, and large ones have their vectors by division, one after another.
template <class Real>
eigen_place place_in_wide_lanes(const jacobi_job<Real>& job, std::int64_t batch) {
  constexpr int of_part = sizeof(Real) == 4 ? 96 : 80, of_all = sizeof(Real) == 4 ? 192 : 112;
  const int of_half = !job.vectors ? largest_undivided : sizeof(Real) == 4 ? 140 : 80;
  const int n = job.cols, groups = n <= 48 ? 4 : n <= of_part ? 2 : 1, groups_of_half = n <= 48 ? 4 : 2;
  const std::int64_t lanes = device::host_lanes<Real>();
  if (n <= of_all && batch * groups >= lanes && has_room_for<host_lanes<Real>>(job)) return eigen_place::lanes;
  if (n > 48 && n <= of_half && batch * groups_of_half >= lanes / 2 && has_room_for<host_half_lanes<Real>>(job))
    return eigen_place::half_lanes;
  return eigen_place::rows;
}

/// The largest matrices that are better in all lanes, and in half of them.
struct lane_limits {
  int all, half;
};

/// Measured with registers of 256 bits, on Zen 1. Those of 128 have half the lanes to share what a rotation waits for.
template <class Real>
constexpr lane_limits limits_of_short_lanes(bool vectors) {
  constexpr bool is_float = sizeof(Real) == 4;
  if (device::host_lanes<double>() == 4)
    return !vectors ? lane_limits{192, 192} : is_float ? lane_limits{160, 140} : lane_limits{80, 64};
  if (!is_float) return {vectors ? 40 : 64, 0};  // one lane is half of a register
  return vectors ? lane_limits{80, 70} : lane_limits{192, 192};
}

/// A matrix alone is never better in lanes, and up to half of the lanes is better in half a register.
template <class Real>
eigen_place place_in_short_lanes(const jacobi_job<Real>& job, std::int64_t batch) {
  const lane_limits limits = limits_of_short_lanes<Real>(job.vectors);
  const std::int64_t lanes = device::host_lanes<Real>(), n = job.cols;
  if (batch < 2) return eigen_place::rows;
  if (batch * 2 > lanes)
    return n <= limits.all && has_room_for<host_lanes<Real>>(job) ? eigen_place::lanes : eigen_place::rows;
  const bool fills_half = !job.vectors || n <= 48 || batch * 8 >= 3 * lanes;
  return n <= limits.half && fills_half && has_room_for<host_half_lanes<Real>>(job) ? eigen_place::half_lanes
                                                                                    : eigen_place::rows;
}

/// `batch`: the matrices of the whole call.
template <class Real>
eigen_place place_of(const jacobi_job<Real>& job, std::int64_t batch) {
  if (job.cols < 4 && has_room_for<host_lanes<Real>>(job)) return eigen_place::lanes;
  return has_wide_lanes ? place_in_wide_lanes(job, batch) : place_in_short_lanes(job, batch);
}

template <class Policy, class Launch = eigen_launch<Policy>>
void run_eigen_policy(jacobi_job<typename Policy::real> job, const Device& device) {
  lay_out<typename Policy::map>(job, false);
  job.tiles = tiles_that_fit(job, device);
  constexpr bool has_workspace = std::is_same_v<Launch, eigen_launch<Policy>>;
  Buffer<typename Policy::real> workspace(has_workspace ? job.slot * job.tiles : 0, device);
  job.workspace = workspace.data();
  Launch::run(job, device);
}

/// Matrices of 2, 3 and 4 rows, in registers.
template <class Policy, class PolicyOfFour = Policy>
void run_small_eigen(const jacobi_job<typename Policy::real>& job, const Device& device) {
  if (job.cols == 2) return run_eigen_policy<Policy, small_launch<Policy, 2, true>>(job, device);
  if (job.cols == 3) return run_eigen_policy<Policy, small_launch<Policy, 3, true>>(job, device);
  run_eigen_policy<PolicyOfFour, small_launch<PolicyOfFour, 4, true>>(job, device);
}

/// Large matrices on the host, each by all threads.
template <class Policy>
void run_shared(jacobi_job<typename Policy::real> job, const Device& device) {
  using real = typename Policy::real;
  lay_out<typename Policy::map>(job, false);
  const std::int64_t all = job.count, bytes = job.slot * std::int64_t(sizeof(real));
  const std::int64_t group_size = std::min(all, std::max<std::int64_t>(1, host_workspace / bytes));
  Buffer<real> workspace(job.slot * group_size, device);
  job.workspace = workspace.data();
  for (job.first = 0; job.first < all; job.first += group_size) {
    job.count = std::min(all, job.first + group_size);
    job.tiles = job.groups = job.count - job.first;
    job.phase = phase::load;
    eigen_launch<Policy>::run(job, device);
    shared_start<Policy>(job, job.groups, device).diagonalise();
    job.phase = phase::store;
    eigen_launch<Policy>::run(job, device);
  }
}

/// `batch`: the matrices of the whole call, which decide as in run_jacobi().
template <class Real>
void run_eigen(const jacobi_job<Real>& job, std::int64_t batch, const Device& device) {
  // In registers all are sorted, and all are stored.
  const bool is_small = job.cols >= 2 && job.cols <= largest_small && job.values == job.cols;
  if (device.kind() != device_kind::host) {
    if (is_small) return run_small_eigen<device_lanes<Real>>(job, device);
    if (job.cols <= eigen_lane_size) return run_eigen_policy<device_lanes<Real>>(job, device);
    return run_eigen_policy<gpu_large<Real>>(job, device);
  }
  if (job.cols > largest_undivided) return run_shared<host_rows<Real>>(job, device);
  if (is_small) return run_small_eigen<host_double_lanes<Real>, host_lanes<Real>>(job, device);
  switch (place_of(job, batch)) {
    case eigen_place::lanes:
      return run_eigen_policy<host_lanes<Real>>(job, device);
    case eigen_place::half_lanes:
      return run_eigen_policy<host_half_lanes<Real>>(job, device);
    case eigen_place::rows:
      return run_eigen_policy<host_rows<Real>>(job, device);
  }
}

template <class T>
struct typed_eigen_outputs {
  matrix_view<accumulator_t<T>> w;
  batch_view<T> v;
  vector_view<std::int32_t> status;
};

template <class T>
stored_batch elements_of_batch(const batch_view<T>& view) {
  using plain = std::remove_const_t<T>;
  return {const_cast<plain*>(view.data()), scalar_type_of<plain>(), view.batch_stride(), view.row_stride(),
          view.col_stride()};
}

/// Everything in the memory of the device, n >= 1.
template <class T>
jacobi_job<accumulator_t<T>> make_eigen_job(const batch_view<const T>& a, const typed_eigen_outputs<T>& out,
                                            const eigen_options& options) {
  jacobi_job<accumulator_t<T>> job = {};
  job.a = elements_of_batch(a);
  job.right = elements_of_batch(out.v);
  job.s = {out.w.data(), scalar_type_of<accumulator_t<T>>(), out.w.stride(), 0, 1};
  job.status = out.status.data();
  job.count = a.batch();
  job.rows = job.cols = std::int32_t(a.rows());
  job.values = job.right_cols = std::int32_t(out.w.cols());
  job.first_value = std::int32_t(options.first);
  job.max_sweeps = 30;
  job.preconditioner = route::direct;
  job.phase = phase::all;
  job.vectors = options.vectors;
  job.is_symmetric = true;
  job.reads_upper = options.triangle == triangle::upper;
  return job;
}

template <class T>
Device eigen_typed(const batch_view<const T>& a, const typed_eigen_outputs<T>& out, const eigen_options& options,
                   const Device& requested_device) {
  check_eigen(a, out.w, out.v, out.status, options);
  const Device device =
      device::run_device(requested_device, {{"a", a}, {"w", out.w}, {"v", out.v}, {"status", out.status}});
  if (a.batch() == 0) return device;
  const stage_region stage("eigen");
  const double n = double(a.rows());
  const device::small_call serial_if_small(double(a.batch()) * (20 + 2 * n * n * n), 1, device);
  const device::staged_in in(a, device);
  device::staged_out w(out.w, device);
  device::staged_out v(options.vectors ? out.v : batch_view<T>(), device);
  device::staged_out status(out.status, device);
  if (a.rows() == 0)
    device::for_each(a.batch(), device::detail::fill_function<std::int32_t>{status.view().data(), ok}, device);
  else
    run_eigen(make_eigen_job<T>(in.view(), {w.view(), v.view(), status.view()}, options),
              std::max(a.batch(), options.part_of), device);
  device::finish(w, v, status);
  return device;
}

}  // namespace

std::int64_t detail::count_eigenvalues(std::int64_t n, const eigen_options& options) {
  const std::int64_t first = options.first, count = options.count;
  require_argument(count >= 0 && count <= n, "count", count, text("in 0 ... ", n, ", the size of the matrices"));
  if (count == 0) require_argument(first == 0, "first", first, "0 with a count of 0, which stands for all eigenvalues");
  require_argument(first >= 0 && first <= n - count, "first", first,
                   text("in 0 ... ", n - count, " with a count of ", count));
  return count == 0 ? n : count;
}

std::vector<eigen_range> find_eigenvalues(any_matrix w, double above, double up_to) {
  if (!(above < up_to)) throw InvalidArgument(text("above must be < up_to (above=", above, ", up_to=", up_to, ")"));
  return with_real(w.type, "w", [&]<class Real> {
    const auto values = w.as<Real>("w");
    device::run_device(Device::host(), {{"w", values}});  // throws for memory that the host does not see
    std::vector<eigen_range> ranges;
    ranges.reserve(values.rows());
    for (std::int64_t b = 0; b < values.rows(); ++b) {
      const auto count_up_to = [&](double limit) {
        std::int64_t begin = 0, end = values.cols();
        while (begin < end) {
          const std::int64_t middle = begin + (end - begin) / 2;
          if (double(values(b, middle)) <= limit)
            begin = middle + 1;
          else
            end = middle;
        }
        return begin;
      };
      const std::int64_t first = count_up_to(above);
      ranges.push_back({first, count_up_to(up_to) - first});
    }
    return ranges;
  });
}

Device eigen(any_batch a, const eigen_outputs& out, const eigen_options& options, const Device& device) {
  return with_storage(a.type, [&]<class T>() {
    if (options.positive && a.batch > 0 && a.rows > 0) {
      check_eigen<T>(a.as<T>("a"), out.w.as<accumulator_t<T>>("w"), out.v.as<T>("v"), out.status, options);
      return eigen_positive(a, out, options, device);
    }
    return eigen_typed<T>(a.as<T>("a"), {out.w.as<accumulator_t<T>>("w"), out.v.as<T>("v"), out.status}, options,
                          device);
  });
}

}  // namespace quintet::svd
