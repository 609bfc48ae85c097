#include "quintet/svd/decompose.hpp"

#include <algorithm>
#include <type_traits>

#include "device/for_each.hpp"
#include "device/small_call.hpp"
#include "device/staged.hpp"
#include "quintet/core/error.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/device/buffer.hpp"
#include "svd/centring.hpp"
#include "svd/checks.hpp"
#include "svd/gram_qr.hpp"
#include "svd/jacobi.hpp"

namespace quintet::svd {

namespace {

// Kernels keep numbers of rows in float, and count columns in 32 bits.
constexpr std::int64_t max_rows = std::int64_t(1) << 24, max_cols = 32768;

// So many numbers have 2^62 bytes.
constexpr std::int64_t largest_batch = std::int64_t(1) << 29;
constexpr double max_numbers = 0x1p59;

void check_proper_rotations(std::int64_t rows, std::int64_t cols, const options& options) {
  if (rows != cols || rows < 2 || rows > 4)
    throw InvalidArgument(
        text("proper_rotations needs 2 x 2, 3 x 3 or 4 x 4 matrices (rows=", rows, ", cols=", cols, ")"));
  if (options.vectors == vectors::none) throw InvalidArgument("proper_rotations needs vectors (vectors=none)");
  if (options.top > 0 && options.top < rows)
    throw InvalidArgument(text("top must be 0 with proper_rotations (top=", options.top, ")"));
  if (options.canonical_signs)
    throw InvalidArgument("canonical_signs and proper_rotations exclude each other: both choose the signs of vectors");
}

void check(std::int64_t batch, std::int64_t rows, std::int64_t cols, const options& options) {
  require_argument(batch <= largest_batch, "batch", batch, text("<= ", largest_batch));
  require_argument(rows <= max_rows, "rows", rows, text("<= ", max_rows));
  require_argument(cols <= max_rows, "cols", cols, text("<= ", max_rows));
  if (std::min(rows, cols) > max_cols)
    throw InvalidArgument(text("rows or cols must be <= ", max_cols, " (rows=", rows, ", cols=", cols, ")"));
  const double side = double(std::max(rows, cols));
  const double numbers =
      double(batch) * side * (options.vectors == vectors::full ? side : double(std::min(rows, cols)));
  if (numbers > max_numbers)
    throw InvalidArgument(
        text("batch must have at most 2^59 numbers (batch=", batch, ", rows=", rows, ", cols=", cols, ")"));
  require_argument(options.top >= 0, "top", options.top, ">= 0");
  if (options.top > 0 && options.vectors == vectors::full)
    throw InvalidArgument(text("top must be 0 with full vectors (top=", options.top, ")"));
  require_argument(options.max_sweeps >= 1, "max_sweeps", options.max_sweeps, ">= 1");
  if (options.proper_rotations) check_proper_rotations(rows, cols, options);
}

/// outputs with elements of T.
template <class T>
struct typed_outputs {
  batch_view<T> u, v;
  matrix_view<accumulator_t<T>> s;
  vector_view<std::int32_t> status, sweeps;
  matrix_view<accumulator_t<T>> means;

  explicit typed_outputs(const outputs& out)
      : typed_outputs(out.u.as<T>("u"), out.v.as<T>("v"), out.s.as<accumulator_t<T>>("s"), out.status, out.sweeps,
                      out.means.as<accumulator_t<T>>("means")) {}
  typed_outputs(batch_view<T> u, batch_view<T> v, matrix_view<accumulator_t<T>> s, vector_view<std::int32_t> status,
                vector_view<std::int32_t> sweeps, matrix_view<accumulator_t<T>> means)
      : u(u), v(v), s(s), status(status), sweeps(sweeps), means(means) {}
};

template <class T>
stored_batch stored(const batch_view<T>& view) {
  using plain = std::remove_const_t<T>;
  return {const_cast<plain*>(view.data()), scalar_type_of<plain>(), view.batch_stride(), view.row_stride(),
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
jacobi_job<Real> make_job(batch_view<const T> a, const typed_outputs<T>& out, const options& options,
                          bool is_exchanged) {
  jacobi_job<Real> job = {};
  job.a = stored(a);
  job.left = stored(out.u);
  job.right = stored(out.v);
  using value = accumulator_t<T>;
  job.s = {out.s.data(), scalar_type_of<value>(), out.s.stride(), 0, 1};
  job.status = out.status.data();
  job.sweeps = out.sweeps.data();
  job.count = a.batch();
  job.rows = std::int32_t(a.rows());
  job.cols = std::int32_t(a.cols());
  job.left_cols = std::int32_t(out.u.cols());
  job.right_cols = std::int32_t(out.v.cols());
  job.values = std::int32_t(out.s.cols());
  job.preconditioner = first_route(a.rows(), a.cols(), options);
  job.max_sweeps = std::int32_t(std::min<std::int64_t>(options.max_sweeps, 1 << 20));
  job.vectors = options.vectors != vectors::none;
  job.accurate = options.accurate;
  job.starts_from_eigenvectors = options.preconditioning == preconditioning::automatic && !options.accurate;
  job.canonical = options.canonical_signs;
  job.sign_by_right = is_exchanged;
  return job;
}

/// The matrices that a first run has left alone, by the reason, and those that it did not finish.
struct deferred {
  std::vector<std::int64_t> badly_scaled, out_of_range, reflected, unfinished;
};

/// Sweeps after which a matrix gets another run, with pivoted QR. A lower limit of the caller is one of time.
constexpr std::int64_t sweeps_before_pivoting = 20;

deferred find_deferred(const std::int32_t* status, std::int64_t batch, const Device& device) {
  std::vector<std::int32_t> copy;
  if (!device.shares_host_memory()) {
    copy.resize(batch);
    quintet::detail::copy(copy.data(), Device::host(), status, device, batch * std::int64_t(sizeof(std::int32_t)));
    status = copy.data();
  }
  deferred left;
  for (std::int64_t b = 0; b < batch; ++b) {
    if (status[b] == code_badly_scaled) left.badly_scaled.push_back(b);
    if (status[b] == code_out_of_range) left.out_of_range.push_back(b);
    if (status[b] == code_wants_reflections) left.reflected.push_back(b);
    if (status[b] == code_not_converged) left.unfinished.push_back(b);
  }
  return left;
}

template <class Real>
void run_listed(jacobi_job<Real> job, const std::vector<std::int64_t>& list, std::int64_t batch, const Device& device) {
  if (list.empty()) return;
  const Buffer<std::int64_t> index(list, device);
  job.index = index.data();
  job.count = index.size();
  run_jacobi(job, batch, device);
}

/// The matrices that a job works on, exchanged or not, without the means of the columns that the caller's matrices
/// have.
template <class Real>
class centred_source {
 public:
  centred_source(const column_means<Real>& means, bool is_exchanged) : means_(means), is_exchanged_(is_exchanged) {}

  /// Of all matrices, or of those of a list. The job of the copy, which lives as long as this object.
  jacobi_job<Real> replace(jacobi_job<Real> job, std::int64_t batch, const std::vector<std::int64_t>* list,
                           const Device& device) {
    if (means_.data == nullptr) return job;
    const std::int64_t rows = is_exchanged_ ? job.cols : job.rows, cols = is_exchanged_ ? job.rows : job.cols;
    stored_batch a = job.a;
    if (is_exchanged_) std::swap(a.row, a.column);
    copy_ = centre_columns(a, {batch, rows, cols}, list, means_, device);
    job.a = {copy_.data(), scalar_type_of<Real>(), rows * cols, is_exchanged_ ? 1 : cols, is_exchanged_ ? cols : 1};
    return job;
  }

 private:
  column_means<Real> means_;
  bool is_exchanged_;
  Buffer<Real> copy_;
};

/// rows >= cols >= 1, at least one matrix.
template <class T>
void decompose_tall(batch_view<const T> a, const typed_outputs<T>& out, const options& options, const Device& device,
                    bool is_exchanged) {
  using real = accumulator_t<T>;
  constexpr bool has_wider_type = std::is_same_v<real, float> && !std::is_same_v<T, half>;
  jacobi_job<real> job = make_job<real>(a, out, options, is_exchanged);
  job.defer_badly_scaled = options.preconditioning == preconditioning::automatic;
  job.defer_out_of_range = has_wider_type;
  const std::int64_t batch = std::max(a.batch(), options.part_of);
  const column_means<real> means = {out.means.data(), out.means.stride()};
  centred_source<real> source(means, is_exchanged);
  // The means of rows make every Gram matrix of columns singular.
  const bool has_gram_qr = suits_gram_qr(job) && !(options.centre && is_exchanged);
  if (has_gram_qr) {
    run_gram_qr(job, means, batch, device);
    const deferred left = find_deferred(out.status.data(), a.batch(), device);
    if (!left.reflected.empty()) {
      const stage_region stage("reflections");
      job = source.replace(job, a.batch(), &left.reflected, device);
      run_listed(job, left.reflected, batch, device);
    }
  } else {
    job = source.replace(job, a.batch(), nullptr, device);
    run_jacobi(job, batch, device);
  }
  if (!job.defer_badly_scaled && !job.defer_out_of_range) return;
  const deferred left = find_deferred(out.status.data(), a.batch(), device);
  if (job.defer_badly_scaled) job.preconditioner = route::pivoted_lower;
  // Singular values that fall far below eps S_0 take many sweeps, and a third of them after pivoted QR.
  const bool has_retry = job.defer_badly_scaled && options.max_sweeps >= sweeps_before_pivoting && !has_gram_qr;
  job.defer_badly_scaled = job.defer_out_of_range = false;
  run_listed(job, left.badly_scaled, batch, device);
  if (has_retry) run_listed(job, left.unfinished, batch, device);
  if constexpr (has_wider_type) {
    jacobi_job<double> wide = make_job<double>(a, out, options, is_exchanged);
    wide.preconditioner = job.preconditioner;
    wide.a = job.a;
    run_listed(wide, left.out_of_range, batch, device);
  }
}

/// The identity in every matrix, one number per call: the vectors of a matrix without rows or columns.
template <class T>
struct set_identity {
  batch_view<T> to;
  void operator()(std::int64_t index) const {
    const std::int64_t j = index % to.cols(), i = index / to.cols() % to.rows(), b = index / to.cols() / to.rows();
    to(b, i, j) = T(i == j ? 1.0f : 0.0f);
  }
};

/// Of matrices without rows or columns: nothing was rotated.
struct set_outcome {
  std::int32_t *status, *sweeps;
  void operator()(std::int64_t b) const {
    status[b] = ok;
    sweeps[b] = 0;
  }
};

/// The mean of no numbers.
template <class Real>
struct set_no_mean {
  matrix_view<Real> means;
  void operator()(std::int64_t index) const { means(index / means.cols(), index % means.cols()) = 0; }
};

/// What remains to be done where min(m, n) = 0: the square factor of full vectors is an identity.
template <class T>
void decompose_empty(const typed_outputs<T>& out, const Device& device) {
  for (const batch_view<T>& view : {out.u, out.v})
    device::for_each(view.batch() * view.rows() * view.cols(), set_identity<T>{view}, device);
  device::for_each(out.s.rows(), set_outcome{out.status.data(), out.sweeps.data()}, device);
  device::for_each(out.means.rows() * out.means.cols(), set_no_mean<accumulator_t<T>>{out.means}, device);
}

/// det A of matrix b, n = 2, 3 or 4, by minors of two rows.
template <class T>
accumulator_t<T> determinant(const batch_view<T>& a, std::int64_t b) {
  using real = accumulator_t<T>;
  const auto at = [&](int i, int j) { return real(a(b, i, j)); };
  const auto minor = [&](int i, int j, int k) { return at(i, j) * at(i + 1, k) - at(i, k) * at(i + 1, j); };
  if (a.rows() == 2) return minor(0, 0, 1);
  if (a.rows() == 3) return at(0, 0) * minor(1, 1, 2) - at(0, 1) * minor(1, 0, 2) + at(0, 2) * minor(1, 0, 1);
  return minor(0, 0, 1) * minor(2, 2, 3) - minor(0, 0, 2) * minor(2, 1, 3) + minor(0, 0, 3) * minor(2, 1, 2) +
         minor(0, 1, 2) * minor(2, 0, 3) - minor(0, 1, 3) * minor(2, 0, 2) + minor(0, 2, 3) * minor(2, 0, 1);
}

/// U or V of negative determinant: its last column and the last singular value change their signs. Zeros stay +0.
template <class T>
struct make_rotations {
  using real = accumulator_t<T>;
  batch_view<T> u, v;
  matrix_view<real> s;

  void operator()(std::int64_t b) const {
    real& last = s(b, s.cols() - 1);
    turn(u, b, last);
    turn(v, b, last);
  }

 private:
  static void turn(const batch_view<T>& vectors, std::int64_t b, real& value) {
    if (!(determinant(vectors, b) < 0)) return;
    const std::int64_t n = vectors.rows();
    for (std::int64_t i = 0; i < n; ++i) vectors(b, i, n - 1) = T(real(0) - real(vectors(b, i, n - 1)));
    value = real(0) - value;
  }
};

std::int64_t vector_count(std::int64_t size, std::int64_t values, vectors choice) {
  return choice == vectors::none ? 0 : choice == vectors::full ? size : values;
}

/// Everything in the memory of the device, shapes checked.
template <class T>
void decompose_on_device(batch_view<const T> a, const typed_outputs<T>& out, const options& options,
                         const Device& device) {
  if (std::min(a.rows(), a.cols()) == 0) return decompose_empty(out, device);
  if (a.rows() >= a.cols())
    decompose_tall(a, out, options, device, false);
  else
    decompose_tall(a.transposed(), {out.v, out.u, out.s, out.status, out.sweeps, out.means}, options, device, true);
  if (options.proper_rotations) device::for_each(a.batch(), make_rotations<T>{out.u, out.v, out.s}, device);
}

template <class T>
void check_outputs(const typed_outputs<T>& out, const decomposition_shape& shape, const options& options) {
  const std::int64_t batch = shape.batch;
  if (options.vectors != vectors::none) {
    require_shape(out.u, batch, shape.rows, shape.u_cols, "u");
    require_shape(out.v, batch, shape.cols, shape.v_cols, "v");
  }
  require_argument(out.s.rows() == batch, "s.rows", out.s.rows(), text("the batch, ", batch));
  require_argument(out.s.cols() == shape.values, "s.cols", out.s.cols(), text("the number of values, ", shape.values));
  require_argument(out.status.size() == batch, "status.size", out.status.size(), text("the batch, ", batch));
  require_argument(out.sweeps.size() == batch, "sweeps.size", out.sweeps.size(), text("the batch, ", batch));
  if (!options.centre) return;
  require_argument(out.means.rows() == batch, "means.rows", out.means.rows(), text("the batch, ", batch));
  require_argument(out.means.cols() == shape.mean_cols, "means.cols", out.means.cols(),
                   text("the number of columns, ", shape.mean_cols));
}

template <class T>
Device decompose_typed(batch_view<const T> a, typed_outputs<T> out, const options& options,
                       const Device& requested_device) {
  check_outputs(out, shape_of(a.batch(), a.rows(), a.cols(), options), options);
  if (!options.centre) out.means = {};
  const Device device = device::run_device(requested_device, {{"a", a},
                                                              {"u", out.u},
                                                              {"v", out.v},
                                                              {"s", out.s},
                                                              {"status", out.status},
                                                              {"sweeps", out.sweeps},
                                                              {"means", out.means}});
  if (a.batch() == 0) return device;
  const stage_region stage("decompose");
  const double rows = double(std::max(a.rows(), a.cols())), cols = double(std::min(a.rows(), a.cols()));
  const device::small_call serial_if_small(double(a.batch()) * (20 + 2 * rows * cols * cols), 1, device);
  const device::staged_in in(a, device);
  device::staged_out u(out.u, device), v(out.v, device);
  device::staged_out s(out.s, device), means(out.means, device);
  device::staged_out status(out.status, device), sweeps(out.sweeps, device);
  decompose_on_device<T>(in.view(), {u.view(), v.view(), s.view(), status.view(), sweeps.view(), means.view()}, options,
                         device);
  device::finish(u, v, s, status, sweeps, means);
  return device;
}

}  // namespace

std::int64_t value_count(std::int64_t rows, std::int64_t cols, const options& options) {
  const std::int64_t all = std::min(rows, cols);
  return options.top > 0 ? std::min(options.top, all) : all;
}

decomposition_shape shape_of(std::int64_t batch, std::int64_t rows, std::int64_t cols, const options& options) {
  check(batch, rows, cols, options);
  const std::int64_t values = value_count(rows, cols, options);
  return {batch,
          rows,
          cols,
          values,
          vector_count(rows, values, options.vectors),
          vector_count(cols, values, options.vectors),
          options.centre ? cols : 0};
}

Device decompose(any_batch a, const outputs& out, const options& options, const Device& device) {
  return with_storage(
      a.type, [&]<class T>() { return decompose_typed<T>(a.as<T>("a"), typed_outputs<T>(out), options, device); });
}

}  // namespace quintet::svd
