// C functions of the singular value decomposition.
#include "quintet/c/svd.h"

#include <algorithm>
#include <variant>

#include "c/support.hpp"
#include "quintet/svd/applications.hpp"
#include "quintet/svd/certify.hpp"
#include "quintet/svd/eigen.hpp"
#include "quintet/svd/gradient.hpp"
#include "quintet/svd/randomised.hpp"
#include "quintet/svd/symmetric.hpp"

struct quintet_svd {
  std::variant<quintet::svd::decomposition<float>, quintet::svd::decomposition<double>,
               quintet::svd::decomposition<quintet::half>, quintet::svd::decomposition<quintet::bfloat16>>
      factors;
  std::vector<double> residual = {};
};

using namespace quintet;
using namespace quintet::c;

namespace {

static_assert(QUINTET_SVD_NONE == int(svd::vectors::none) && QUINTET_SVD_ECONOMY == int(svd::vectors::economy) &&
              QUINTET_SVD_FULL == int(svd::vectors::full));
static_assert(QUINTET_SVD_AUTOMATIC == int(svd::preconditioning::automatic) &&
              QUINTET_SVD_UNCONDITIONED == int(svd::preconditioning::none) &&
              QUINTET_SVD_QR == int(svd::preconditioning::qr) &&
              QUINTET_SVD_PIVOTED_QR == int(svd::preconditioning::pivoted_qr));
static_assert(int(QUINTET_SVD_CONVERGED) == svd::ok && int(QUINTET_SVD_NOT_CONVERGED) == svd::not_converged &&
              int(QUINTET_SVD_NOT_FINITE) == svd::not_finite && int(QUINTET_SVD_NOT_DEFINITE) == svd::not_definite);
static_assert(QUINTET_SVD_LOWER == int(svd::triangle::lower) && QUINTET_SVD_UPPER == int(svd::triangle::upper));
static_assert(QUINTET_SVD_EXACT == int(svd::degeneracy::exact) && QUINTET_SVD_DROP == int(svd::degeneracy::drop) &&
              QUINTET_SVD_BROADEN == int(svd::degeneracy::broaden));

constexpr auto svd_option_list = [](auto visit) {
  using c = quintet_svd_options;
  using library = svd::options;
  visit(&c::vectors, &library::vectors, 3, "vectors");
  visit(&c::preconditioning, &library::preconditioning, 4, "preconditioning");
  visit(&c::top, &library::top);
  visit(&c::max_sweeps, &library::max_sweeps);
  visit(&c::accurate, &library::accurate);
  visit(&c::canonical_signs, &library::canonical_signs);
  visit(&c::centre, &library::centre);
};

constexpr auto randomised_list = [](auto visit) {
  using c = quintet_svd_options;
  using library = svd::randomised_options;
  visit(&c::rank, &library::rank);
  visit(&c::oversampling, &library::oversampling);
  visit(&c::power_iterations, &library::power_iterations);
  visit(&c::seed, &library::seed);
  visit(&c::canonical_signs, &library::canonical_signs);
};

constexpr quintet_svd_options default_svd_options = [] {
  quintet_svd_options options{};
  options.size = sizeof(options);
  copy_to_interface(randomised_list, svd::randomised_options{}, options);
  copy_to_interface(svd_option_list, svd::options{}, options);
  return options;
}();

// The caller's batch.
struct given_batch {
  const void* data;
  std::int64_t batch, rows, cols, batch_stride, row_stride, col_stride;

  template <class T>
  batch_view<const T> view(std::string_view name) const {
    require_argument(batch >= 0, text("number of matrices of ", name), batch, ">= 0");
    require_argument(rows >= 0, text("rows of ", name), rows, ">= 0");
    require_argument(cols >= 0, text("columns of ", name), cols, ">= 0");
    if (data == nullptr && batch > 0 && rows > 0 && cols > 0)
      throw InvalidArgument(text(name, " must not be null (", batch, " matrices ", rows, " x ", cols, ")"));
    return {static_cast<const T*>(data), batch, rows, cols, batch_stride, row_stride, col_stride};
  }
  // An absent batch is an empty view.
  template <class T>
  batch_view<const T> optional_view(std::string_view name) const {
    return data == nullptr ? batch_view<const T>() : view<T>(name);
  }
};

// Calls action(decomposition<T>) for the T of the handle.
template <class Action>
quintet_status with_factors(const quintet_svd* handle, Action&& action) noexcept {
  return guarded([&] { std::visit(action, required(handle, "svd").factors); });
}

template <class T>
T storage_of(const svd::decomposition<T>&);
template <class Decomposition>
using storage = decltype(storage_of(std::declval<const Decomposition&>()));

svd::rank_tolerance relative_to_largest(double tolerance) {
  if (tolerance == QUINTET_SVD_DEFAULT_TOLERANCE) return {};
  require_argument(tolerance >= 0, "tolerance", tolerance, ">= 0 or QUINTET_SVD_DEFAULT_TOLERANCE");
  return {.relative = tolerance};
}

svd::rank_tolerance tolerance_of(double relative, double absolute) {
  svd::rank_tolerance result = relative_to_largest(relative);
  if (absolute == QUINTET_SVD_DEFAULT_TOLERANCE) return result;
  require_argument(absolute >= 0, "absolute", absolute, ">= 0 or QUINTET_SVD_DEFAULT_TOLERANCE");
  result.absolute = absolute;
  return result;
}

// Bases as columns of matrices [batch x rows x cols], which have room for all.
template <class T>
void deliver_bases(const svd::subspace_bases<T>& bases, std::int64_t cols, void* out, std::int64_t* dimension) {
  const std::int64_t rows = bases.batch * bases.rows;
  T* const to = output_array<T>(out, rows * cols, "out").data();
  output_array<std::int64_t>(dimension, bases.batch, "dimension");
  std::fill_n(to, rows * cols, T(0.0f));
  for (std::int64_t row = 0; row < rows; ++row)
    std::copy_n(bases.vectors.data() + row * bases.cols, bases.cols, to + row * cols);
  copy_to(bases.dimension, dimension);
}

// Where the results of an eigenproblem go; v and outcome may be null.
struct eigen_arrays {
  void *w, *v;
  std::int32_t* outcome;
};

// Eigenvalues that are wanted: all for a count of 0.
struct eigen_subset {
  std::int64_t first = 0, count = 0;
};

// solve(matrices, outputs, options) for the type of the batch.
template <class Solve>
quintet_status solve_eigen(const given_batch& batch_of_a, quintet_type type, quintet_svd_triangle triangle,
                           const eigen_arrays& arrays, Solve solve, const eigen_subset& subset = {}) noexcept {
  return guarded([&] {
    const std::int64_t batch = batch_of_a.batch, size = batch_of_a.rows;
    const svd::eigen_options options{.triangle = enumerated<svd::triangle>(triangle, 2, "triangle"),
                                     .vectors = arrays.v != nullptr,
                                     .first = subset.first,
                                     .count = subset.count};
    with_storage(storage_type_of(type), [&]<class T> {
      const auto matrices = batch_of_a.view<T>("a");
      const std::int64_t values = svd::detail::count_eigenvalues(size, options);
      using Real = accumulator_t<T>;
      output_array<Real>(arrays.w, batch * values, "w");
      std::vector<std::int32_t> own(arrays.outcome == nullptr ? batch : 0);
      any_output_batch vectors;
      if (arrays.v != nullptr) vectors = any_output_batch(static_cast<T*>(arrays.v), batch, size, values);
      std::int32_t* const outcome = arrays.outcome == nullptr ? own.data() : arrays.outcome;
      solve(matrices,
            svd::eigen_outputs{any_output_matrix(static_cast<Real*>(arrays.w), batch, values), vectors,
                               vector_view<std::int32_t>(outcome, batch)},
            options);
    });
  });
}

// Copies a result to the caller's memory, which must be there.
template <class T>
void deliver(const std::vector<T>& values, void* out) {
  copy_to(values, output_array<T>(out, std::int64_t(values.size()), "out").data());
}

}  // namespace

extern "C" {

quintet_status quintet_svd_options_default(quintet_svd_options* options, size_t size) noexcept {
  return guarded([&] { write_struct(default_svd_options, options, size, "options"); });
}

quintet_status quintet_svd_decompose(const void* a, quintet_type type, int64_t batch, int64_t rows, int64_t cols,
                                     int64_t batch_stride, int64_t row_stride, int64_t col_stride,
                                     const quintet_svd_options* options, const char* device,
                                     quintet_svd** result) noexcept {
  return make_handle(result, [&] {
    const quintet_svd_options known = known_options(options, default_svd_options);
    svd::options settings;
    copy_to_library(svd_option_list, known, settings);
    const given_batch batch_of_a{a, batch, rows, cols, batch_stride, row_stride, col_stride};
    return with_storage(storage_type_of(type), [&]<class T> {
      return quintet_svd{svd::decompose(batch_of_a.view<T>("a"), settings, chosen_device(device))};
    });
  });
}

quintet_status quintet_svd_randomised(const void* a, quintet_type type, int64_t batch, int64_t rows, int64_t cols,
                                      int64_t batch_stride, int64_t row_stride, int64_t col_stride,
                                      const quintet_svd_options* options, const char* device,
                                      quintet_svd** result) noexcept {
  return make_handle(result, [&] {
    const quintet_svd_options known = known_options(options, default_svd_options);
    svd::randomised_options settings;
    copy_to_library(randomised_list, known, settings);
    const given_batch batch_of_a{a, batch, rows, cols, batch_stride, row_stride, col_stride};
    return with_real(real_type(type), "a", [&]<class T> {
      auto leading = svd::randomised(batch_of_a.view<T>("a"), settings, chosen_device(device));
      return quintet_svd{std::move(leading.factors), std::move(leading.residual)};
    });
  });
}

quintet_status quintet_svd_eigen(const void* a, quintet_type type, int64_t batch, int64_t size, int64_t batch_stride,
                                 int64_t row_stride, int64_t col_stride, quintet_svd_triangle triangle,
                                 const char* device, void* w, void* v, int32_t* outcome) noexcept {
  return solve_eigen({a, batch, size, size, batch_stride, row_stride, col_stride}, type, triangle, {w, v, outcome},
                     [&](const auto& matrices, const svd::eigen_outputs& out, const svd::eigen_options& options) {
                       svd::eigen(matrices, out, options, chosen_device(device));
                     });
}

quintet_status quintet_svd_eigen_subset(const void* a, quintet_type type, int64_t batch, int64_t size,
                                        int64_t batch_stride, int64_t row_stride, int64_t col_stride,
                                        quintet_svd_triangle triangle, int64_t first, int64_t count, const char* device,
                                        void* w, void* v, int32_t* outcome) noexcept {
  return solve_eigen({a, batch, size, size, batch_stride, row_stride, col_stride}, type, triangle, {w, v, outcome},
                     [&](const auto& matrices, const svd::eigen_outputs& out, const svd::eigen_options& options) {
                       svd::eigen(matrices, out, options, chosen_device(device));
                     },
                     {first, count});
}

quintet_status quintet_svd_eigen_range(const void* w, quintet_type type, int64_t batch, int64_t size, double above,
                                       double up_to, int64_t* first, int64_t* count) noexcept {
  return guarded([&] {
    require_argument(batch >= 0, "batch", batch, ">= 0");
    require_argument(size >= 0, "size", size, ">= 0");
    with_real(real_type(type), "w", [&]<class T> {
      if (w == nullptr && batch * size > 0) throw InvalidArgument("w must not be null");
      const auto ranges =
          svd::find_eigenvalues(matrix_view<const T>(static_cast<const T*>(w), batch, size), above, up_to);
      output_array<std::int64_t>(first, batch, "first");
      output_array<std::int64_t>(count, batch, "count");
      for (std::int64_t b = 0; b < batch; ++b) {
        first[b] = ranges[b].first;
        count[b] = ranges[b].count;
      }
    });
  });
}

quintet_status quintet_svd_eigen_positive(const void* a, quintet_type type, int64_t batch, int64_t size,
                                          int64_t batch_stride, int64_t row_stride, int64_t col_stride,
                                          quintet_svd_triangle triangle, const char* device, void* w, void* v,
                                          int32_t* outcome) noexcept {
  return solve_eigen({a, batch, size, size, batch_stride, row_stride, col_stride}, type, triangle, {w, v, outcome},
                     [&](const auto& matrices, const svd::eigen_outputs& out, svd::eigen_options options) {
                       options.positive = true;
                       svd::eigen(matrices, out, options, chosen_device(device));
                     });
}

quintet_status quintet_svd_eigen_generalised(const void* a, quintet_type type, int64_t batch, int64_t size,
                                             int64_t batch_stride, int64_t row_stride, int64_t col_stride,
                                             const void* b, int64_t b_batch_stride, int64_t b_row_stride,
                                             int64_t b_col_stride, quintet_svd_triangle triangle, const char* device,
                                             void* w, void* v, int32_t* outcome) noexcept {
  const given_batch batch_of_b{b, batch, size, size, b_batch_stride, b_row_stride, b_col_stride};
  return solve_eigen({a, batch, size, size, batch_stride, row_stride, col_stride}, type, triangle, {w, v, outcome},
                     [&]<class T>(const batch_view<const T>& matrices, const svd::eigen_outputs& out,
                                  const svd::eigen_options& options) {
                       svd::eigen_generalised(matrices, batch_of_b.view<T>("b"), out, options, chosen_device(device));
                     });
}

quintet_status quintet_svd_decompose_symmetric(const void* a, quintet_type type, int64_t batch, int64_t size,
                                               int64_t batch_stride, int64_t row_stride, int64_t col_stride,
                                               quintet_svd_triangle triangle, int32_t vectors, const char* device,
                                               quintet_svd** result) noexcept {
  return make_handle(result, [&] {
    const given_batch batch_of_a{a, batch, size, size, batch_stride, row_stride, col_stride};
    const svd::eigen_options options{.triangle = enumerated<svd::triangle>(triangle, 2, "triangle"),
                                     .vectors = vectors != 0};
    return with_storage(storage_type_of(type), [&]<class T> {
      return quintet_svd{svd::decompose_symmetric(batch_of_a.view<T>("a"), options, chosen_device(device))};
    });
  });
}

void quintet_svd_free(quintet_svd* handle) noexcept { delete handle; }

quintet_status quintet_svd_get_shape(const quintet_svd* handle, quintet_svd_shape* shape) noexcept {
  return with_factors(handle, [&](const auto& d) {
    quintet_svd_shape result{};
    result.type = type_of<storage<decltype(d)>>;
    result.batch = d.batch;
    result.rows = d.rows;
    result.cols = d.cols;
    result.values = d.values;
    result.u_cols = d.u_cols;
    result.v_cols = d.v_cols;
    write_struct(result, shape, required(shape, "shape").size, "shape->size");
  });
}

quintet_status quintet_svd_s(const quintet_svd* handle, const void** s, int64_t* count) noexcept {
  return with_factors(
      handle, [&](const auto& d) { give(static_cast<const void*>(d.s.data()), std::int64_t(d.s.size()), s, count); });
}

quintet_status quintet_svd_u(const quintet_svd* handle, const void** u, int64_t* count) noexcept {
  return with_factors(
      handle, [&](const auto& d) { give(static_cast<const void*>(d.u.data()), std::int64_t(d.u.size()), u, count); });
}

quintet_status quintet_svd_v(const quintet_svd* handle, const void** v, int64_t* count) noexcept {
  return with_factors(
      handle, [&](const auto& d) { give(static_cast<const void*>(d.v.data()), std::int64_t(d.v.size()), v, count); });
}

quintet_status quintet_svd_means(const quintet_svd* handle, const void** means, int64_t* count) noexcept {
  return with_factors(handle, [&](const auto& d) {
    give(static_cast<const void*>(d.means.data()), std::int64_t(d.means.size()), means, count);
  });
}

quintet_status quintet_svd_outcome(const quintet_svd* handle, const int32_t** outcome, const int32_t** sweeps,
                                   int64_t* count) noexcept {
  return with_factors(handle, [&](const auto& d) {
    give(d.status.data(), d.batch, outcome, count);
    give(d.sweeps.data(), d.batch, sweeps, count);
  });
}

quintet_status quintet_svd_residual(const quintet_svd* handle, const double** residual, int64_t* count) noexcept {
  return guarded([&] {
    const auto& held = required(handle, "svd").residual;
    give(held.data(), std::int64_t(held.size()), residual, count);
  });
}

quintet_status quintet_svd_certify(const quintet_svd* handle, const void* a, int64_t batch_stride, int64_t row_stride,
                                   int64_t col_stride, const char* device, double* bound) noexcept {
  return with_factors(handle, [&](const auto& d) {
    using T = storage<decltype(d)>;
    const given_batch batch_of_a{a, d.batch, d.rows, d.cols, batch_stride, row_stride, col_stride};
    output_array<double>(bound, d.batch, "bound");
    svd::certify(batch_of_a.template view<T>("a"), d, vector_view<double>(bound, d.batch), chosen_device(device));
  });
}

quintet_status quintet_svd_certify_eigen(const void* a, quintet_type type, int64_t batch, int64_t size,
                                         int64_t batch_stride, int64_t row_stride, int64_t col_stride,
                                         quintet_svd_triangle triangle, const void* w, const void* v,
                                         const char* device, double* bound) noexcept {
  return guarded([&] {
    const given_batch batch_of_a{a, batch, size, size, batch_stride, row_stride, col_stride};
    const auto part = enumerated<svd::triangle>(triangle, 2, "triangle");
    with_storage(storage_type_of(type), [&]<class T> {
      const auto matrices = batch_of_a.view<T>("a");
      output_array<double>(bound, batch, "bound");
      svd::certify_eigen(matrices, part, input_matrix<accumulator_t<T>>(w, batch, size, size, "w"),
                         given_batch{v, batch, size, size, size * size, size, 1}.view<T>("v"),
                         vector_view<double>(bound, batch), chosen_device(device));
    });
  });
}

quintet_status quintet_svd_gradient(const quintet_svd* handle, const void* gu, int64_t gu_batch_stride,
                                    int64_t gu_row_stride, int64_t gu_col_stride, const void* gs, int64_t gs_stride,
                                    const void* gv, int64_t gv_batch_stride, int64_t gv_row_stride,
                                    int64_t gv_col_stride, quintet_svd_degeneracy policy, double tolerance,
                                    const char* device, void* ga) noexcept {
  return with_factors(handle, [&](const auto& d) {
    using T = storage<decltype(d)>;
    using Real = accumulator_t<T>;
    const svd::gradient_options settings{enumerated<svd::degeneracy>(policy, 3, "policy"), tolerance};
    const given_batch by_u{gu, d.batch, d.rows, d.u_cols, gu_batch_stride, gu_row_stride, gu_col_stride};
    const given_batch by_v{gv, d.batch, d.cols, d.v_cols, gv_batch_stride, gv_row_stride, gv_col_stride};
    const auto by_s =
        gs == nullptr ? matrix_view<const Real>() : input_matrix<Real>(gs, d.batch, d.values, gs_stride, "gs");
    output_array<T>(ga, d.batch * d.rows * d.cols, "ga");
    copy_to(svd::gradient<T>(d, by_u.template optional_view<T>("gu"), by_s, by_v.template optional_view<T>("gv"),
                             settings, chosen_device(device)),
            static_cast<T*>(ga));
  });
}

quintet_status quintet_svd_rank(const quintet_svd* handle, double tolerance, int64_t* rank) noexcept {
  return with_factors(handle,
                      [&](const auto& d) { deliver(svd::numerical_rank(d, relative_to_largest(tolerance)), rank); });
}

quintet_status quintet_svd_pseudo_inverse(const quintet_svd* handle, double tolerance, void* out) noexcept {
  return with_factors(handle,
                      [&](const auto& d) { deliver(svd::pseudo_inverse(d, relative_to_largest(tolerance)), out); });
}

quintet_status quintet_svd_least_squares(const quintet_svd* handle, const void* right, int64_t r, int64_t batch_stride,
                                         int64_t row_stride, int64_t col_stride, double tolerance, void* out) noexcept {
  return with_factors(handle, [&](const auto& d) {
    using T = storage<decltype(d)>;
    const given_batch batch_of_a{right, d.batch, d.rows, r, batch_stride, row_stride, col_stride};
    deliver(svd::least_squares<T>(d, batch_of_a.template view<T>("right"), relative_to_largest(tolerance)), out);
  });
}

quintet_status quintet_svd_truncate(quintet_svd* handle, double relative, double absolute, int64_t* rank) noexcept {
  return guarded([&] {
    if (handle == nullptr) throw InvalidArgument("svd must not be null");
    std::visit(
        [&](auto& d) {
          const std::vector<std::int64_t> ranks = svd::truncate(d, tolerance_of(relative, absolute));
          copy_to(ranks, rank);
        },
        handle->factors);
  });
}

quintet_status quintet_svd_range(const quintet_svd* handle, double relative, double absolute, void* out,
                                 int64_t* dimension) noexcept {
  return with_factors(handle, [&](const auto& d) {
    deliver_bases(svd::range_basis(d, tolerance_of(relative, absolute)), d.values, out, dimension);
  });
}

quintet_status quintet_svd_null_space(const quintet_svd* handle, double relative, double absolute, void* out,
                                      int64_t* dimension) noexcept {
  return with_factors(handle, [&](const auto& d) {
    deliver_bases(svd::null_space_basis(d, tolerance_of(relative, absolute)), d.cols, out, dimension);
  });
}

quintet_status quintet_svd_solve_least_squares(const void* a, quintet_type type, int64_t batch, int64_t rows,
                                               int64_t cols, int64_t batch_stride, int64_t row_stride,
                                               int64_t col_stride, const void* right, int64_t r,
                                               int64_t right_batch_stride, int64_t right_row_stride,
                                               int64_t right_col_stride, double relative, double absolute,
                                               const char* device, void* x, void* residual, int64_t* rank,
                                               int32_t* outcome) noexcept {
  return guarded([&] {
    const given_batch batch_of_a{a, batch, rows, cols, batch_stride, row_stride, col_stride};
    const given_batch sides{right, batch, rows, r, right_batch_stride, right_row_stride, right_col_stride};
    with_storage(storage_type_of(type), [&]<class T> {
      const auto matrices = batch_of_a.view<T>("a");
      const auto result = svd::solve_least_squares<T>(matrices, sides.view<T>("right"),
                                                      tolerance_of(relative, absolute), chosen_device(device));
      copy_to(result.x, output_array<T>(x, std::int64_t(result.x.size()), "x").data());
      copy_to(result.residual, static_cast<accumulator_t<T>*>(residual));
      copy_to(result.rank, rank);
      copy_to(result.status, outcome);
    });
  });
}

quintet_status quintet_svd_low_rank(const quintet_svd* handle, int64_t rank, void* out) noexcept {
  return with_factors(handle, [&](const auto& d) { deliver(svd::low_rank_approximation(d, rank), out); });
}

quintet_status quintet_svd_condition_number(const quintet_svd* handle, void* out) noexcept {
  return with_factors(handle, [&](const auto& d) { deliver(svd::condition_number(d), out); });
}

quintet_status quintet_svd_polar(const quintet_svd* handle, void* w, void* h) noexcept {
  return with_factors(handle, [&](const auto& d) {
    using T = storage<decltype(d)>;
    const auto factors = svd::polar(d);
    copy_to(factors.w, static_cast<T*>(w));
    copy_to(factors.h, static_cast<T*>(h));
  });
}

}  // extern "C"
