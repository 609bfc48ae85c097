#include "quintet/svd/decompose.hpp"

#include <algorithm>

#include "quintet/core/error.hpp"
#include "quintet/device/buffer.hpp"
#include "svd/checks.hpp"
#include "svd/jacobi.hpp"
#include "svd/resident_batch.hpp"

namespace quintet::svd {

namespace {

// Kernels keep numbers of rows in float, and count columns in 32 bits.
constexpr std::int64_t most_rows = std::int64_t(1) << 24, most_cols = 32768;

// So many numbers have 2^62 bytes.
constexpr std::int64_t largest_batch = std::int64_t(1) << 29;
constexpr double most_numbers = 0x1p59;

void check(std::int64_t batch, std::int64_t rows, std::int64_t cols, const options& options) {
  require_argument(batch <= largest_batch, "batch", batch, text("<= ", largest_batch));
  require_argument(rows <= most_rows, "rows", rows, text("<= ", most_rows));
  require_argument(cols <= most_rows, "cols", cols, text("<= ", most_rows));
  if (std::min(rows, cols) > most_cols)
    throw InvalidArgument(text("rows or cols must be <= ", most_cols, " (rows=", rows, ", cols=", cols, ")"));
  const double side = double(std::max(rows, cols));
  const double numbers =
      double(batch) * side * (options.vectors == vectors::full ? side : double(std::min(rows, cols)));
  if (numbers > most_numbers)
    throw InvalidArgument(
        text("batch must have at most 2^59 numbers (batch=", batch, ", rows=", rows, ", cols=", cols, ")"));
  require_argument(options.top >= 0, "top", options.top, ">= 0");
  if (options.top > 0 && options.vectors == vectors::full)
    throw InvalidArgument(text("top must be 0 with full vectors (top=", options.top, ")"));
  require_argument(options.max_sweeps >= 1, "max_sweeps", options.max_sweeps, ">= 1");
}

template <class T>
stored_batch stored(const batch_view<T>& view) {
  using plain = std::remove_const_t<T>;
  return {const_cast<plain*>(view.data()), storage_of<plain>(), view.batch_stride(), view.row_stride(),
          view.col_stride()};
}

route first_route(std::int64_t rows, std::int64_t cols, const options& options) {
  switch (options.preconditioning) {
    case preconditioning::qr:
      return route::triangle;
    case preconditioning::pivoted_qr:
      return route::pivoted_lower;
    default:
      break;
  }
  // Only Q has the columns of U that are not images of columns of V.
  if (options.vectors == vectors::full && rows > cols) return route::triangle;
  const bool is_tall = 2 * rows >= 3 * cols;
  return options.preconditioning == preconditioning::automatic && is_tall ? route::triangle : route::direct;
}

/// The job of a batch with rows >= cols, computed in Real, for all its matrices.
template <class Real, class T>
jacobi_job<Real> make_job(batch_view<const T> a, const outputs<T>& out, const options& options, bool is_exchanged) {
  jacobi_job<Real> job = {};
  job.a = stored(a);
  job.left = stored(out.u);
  job.right = stored(out.v);
  using value = accumulator_t<T>;
  job.s = {out.s.data(), storage_of<value>(), out.s.stride(), 0, 1};
  job.status = out.status;
  job.sweeps = out.sweeps;
  job.count = a.batch();
  job.rows = std::int32_t(a.rows());
  job.cols = std::int32_t(a.cols());
  job.left_cols = std::int32_t(out.u.cols());
  job.right_cols = std::int32_t(out.v.cols());
  job.values = std::int32_t(out.s.cols());
  job.way = first_route(a.rows(), a.cols(), options);
  job.max_sweeps = std::int32_t(std::min<std::int64_t>(options.max_sweeps, 1 << 20));
  job.vectors = options.vectors != vectors::none;
  job.accurate = options.accurate;
  job.canonical = options.canonical_signs;
  job.sign_by_right = is_exchanged;
  return job;
}

/// The matrices that a first run has left alone, by the reason.
struct deferred {
  std::vector<std::int64_t> graded, extreme;
};

deferred find_deferred(const std::int32_t* status, std::int64_t batch, const Device& device) {
  std::vector<std::int32_t> copy;
  if (!device.shares_host_memory()) {
    copy.resize(batch);
    detail::copy(copy.data(), Device::host(), status, device, batch * std::int64_t(sizeof(std::int32_t)));
    status = copy.data();
  }
  deferred left;
  for (std::int64_t b = 0; b < batch; ++b) {
    if (status[b] == code_graded) left.graded.push_back(b);
    if (status[b] == code_extreme) left.extreme.push_back(b);
  }
  return left;
}

template <class Real>
void run_listed(jacobi_job<Real> job, const std::vector<std::int64_t>& list, const Device& device) {
  if (list.empty()) return;
  const Buffer<std::int64_t> index(list, device);
  job.index = index.data();
  job.count = index.size();
  run_jacobi(job, device);
}

/// rows >= cols >= 1, at least one matrix.
template <class T>
void decompose_tall(batch_view<const T> a, const outputs<T>& out, const options& options, const Device& device,
                    bool is_exchanged) {
  using real = accumulator_t<T>;
  constexpr bool has_wider_type = std::is_same_v<real, float> && !std::is_same_v<T, half>;
  jacobi_job<real> job = make_job<real>(a, out, options, is_exchanged);
  job.defer_graded = options.preconditioning == preconditioning::automatic;
  job.defer_extreme = has_wider_type;
  run_jacobi(job, device);
  if (!job.defer_graded && !job.defer_extreme) return;
  const deferred left = find_deferred(out.status, a.batch(), device);
  if (job.defer_graded) job.way = route::pivoted_lower;
  job.defer_graded = job.defer_extreme = false;
  run_listed(job, left.graded, device);
  if constexpr (has_wider_type) {
    jacobi_job<double> wide = make_job<double>(a, out, options, is_exchanged);
    wide.way = job.way;
    run_listed(wide, left.extreme, device);
  }
}

/// What remains to be done where min(m, n) = 0: the square factor of full vectors is an identity.
template <class T>
void decompose_empty(const outputs<T>& out, const Device& device) {
  const auto set = [&](auto* to, auto value) { detail::copy(to, device, &value, Device::host(), sizeof value); };
  for (const batch_view<T>& view : {out.u, out.v})
    for (std::int64_t b = 0; b < view.batch(); ++b)
      for (std::int64_t i = 0; i < view.rows(); ++i)
        for (std::int64_t j = 0; j < view.cols(); ++j) set(&view(b, i, j), T(i == j ? 1.0f : 0.0f));
  for (std::int64_t b = 0; b < out.s.rows(); ++b) {
    set(out.status + b, std::int32_t(ok));
    set(out.sweeps + b, std::int32_t(0));
  }
}

std::int64_t vector_count(std::int64_t size, std::int64_t values, vectors which) {
  return which == vectors::none ? 0 : which == vectors::full ? size : values;
}

}  // namespace

std::int64_t value_count(std::int64_t rows, std::int64_t cols, const options& options) {
  const std::int64_t all = std::min(rows, cols);
  return options.top > 0 ? std::min(options.top, all) : all;
}

template <class T>
void decompose_into(batch_view<const T> a, const outputs<T>& out, const options& options, const Device& device) {
  check(a.batch(), a.rows(), a.cols(), options);
  const std::int64_t values = value_count(a.rows(), a.cols(), options);
  if (options.vectors != vectors::none) {
    require_shape(out.u, a.batch(), a.rows(), vector_count(a.rows(), values, options.vectors), "u");
    require_shape(out.v, a.batch(), a.cols(), vector_count(a.cols(), values, options.vectors), "v");
  }
  require_argument(out.s.rows() == a.batch(), "s.rows", out.s.rows(), text("the batch, ", a.batch()));
  require_argument(out.s.cols() == values, "s.cols", out.s.cols(), text("the number of values, ", values));
  if (a.batch() == 0) return;
  if (out.status == nullptr || out.sweeps == nullptr) throw InvalidArgument("status and sweeps must not be null");
  if (std::min(a.rows(), a.cols()) == 0) return decompose_empty(out, device);
  if (a.rows() >= a.cols()) return decompose_tall(a, out, options, device, false);
  const outputs<T> exchanged{out.v, out.u, out.s, out.status, out.sweeps};
  decompose_tall(a.transposed(), exchanged, options, device, true);
}

template <class T>
decomposition<T> decompose(batch_view<const T> a, const options& options, const Device& device) {
  check(a.batch(), a.rows(), a.cols(), options);
  decomposition<T> result;
  result.batch = a.batch();
  result.rows = a.rows();
  result.cols = a.cols();
  result.values = value_count(a.rows(), a.cols(), options);
  result.u_cols = vector_count(a.rows(), result.values, options.vectors);
  result.v_cols = vector_count(a.cols(), result.values, options.vectors);
  result.u.resize(a.batch() * a.rows() * result.u_cols);
  result.v.resize(a.batch() * a.cols() * result.v_cols);
  result.s.resize(a.batch() * result.values);
  result.status.resize(a.batch());
  result.sweeps.resize(a.batch());
  {
    const resident_batch<T> input(a, device);
    device::mirror_back<T> u(result.u, device), v(result.v, device);
    device::mirror_back<accumulator_t<T>> s(result.s, device);
    device::mirror_back<std::int32_t> status(result.status, device), sweeps(result.sweeps, device);
    const outputs<T> out{{u.data(), a.batch(), a.rows(), result.u_cols},
                         {v.data(), a.batch(), a.cols(), result.v_cols},
                         {s.data(), a.batch(), result.values},
                         status.data(),
                         sweeps.data()};
    decompose_into<T>(input.view(), out, options, device);
  }
  return result;
}

template decomposition<double> decompose(batch_view<const double>, const options&, const Device&);
template decomposition<float> decompose(batch_view<const float>, const options&, const Device&);
template decomposition<half> decompose(batch_view<const half>, const options&, const Device&);
template decomposition<bfloat16> decompose(batch_view<const bfloat16>, const options&, const Device&);
template void decompose_into(batch_view<const double>, const outputs<double>&, const options&, const Device&);
template void decompose_into(batch_view<const float>, const outputs<float>&, const options&, const Device&);
template void decompose_into(batch_view<const half>, const outputs<half>&, const options&, const Device&);
template void decompose_into(batch_view<const bfloat16>, const outputs<bfloat16>&, const options&, const Device&);

}  // namespace quintet::svd
