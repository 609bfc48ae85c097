// C functions of the Poincare ball on batches of rows: operations, gradients, means.
#include "c/poincare_support.hpp"

#include <limits>

using namespace quintet;
using namespace quintet::c;

namespace {

// Rows of the caller's arguments, with what all operations take besides them.
struct rows {
  scalar_type type;
  std::int64_t n, dim;
  poincare::ball_options options;
  Device device;

  any_matrix in(const void* data, std::int64_t stride, std::string_view name) const {
    return any_input(data, type, n, dim, stride, name);
  }
  any_output_matrix out(void* data, std::int64_t stride, std::string_view name = "out") const {
    return any_output(data, type, n, dim, stride, name);
  }
};

// Runs operation(rows); it returns the status of the rows.
template <class Operation>
quintet_status each_row(quintet_type type, std::int64_t n, std::int64_t dim, const quintet_poincare_options* options,
                        const char* device, std::uint8_t* status, Operation&& operation) noexcept {
  return guarded([&] {
    const scalar_type real = real_type(type);
    give_status(operation(rows{real, n, dim, ball_options(options), chosen_device(device)}), status);
  });
}

// The columns of points of the hyperboloid.
std::int64_t with_time(std::int64_t dim) {
  require_argument(dim >= 1 && dim < std::numeric_limits<std::int64_t>::max(), "dim", dim, ">= 1");
  return dim + 1;
}

}  // namespace

extern "C" {

quintet_status quintet_poincare_mobius_add(const void* x, int64_t x_stride, const void* y, int64_t y_stride,
                                           quintet_type type, int64_t n, int64_t dim,
                                           const quintet_poincare_options* options, const char* device, void* out,
                                           int64_t out_stride, uint8_t* status) noexcept {
  return each_row(type, n, dim, options, device, status, [&](const rows& r) {
    return poincare::mobius_add(r.in(x, x_stride, "x"), r.in(y, y_stride, "y"), r.out(out, out_stride), r.options,
                                r.device);
  });
}

quintet_status quintet_poincare_mobius_scalar_mul(const void* factor, int64_t factors, const void* x, int64_t x_stride,
                                                  quintet_type type, int64_t n, int64_t dim,
                                                  const quintet_poincare_options* options, const char* device,
                                                  void* out, int64_t out_stride, uint8_t* status) noexcept {
  return each_row(type, n, dim, options, device, status, [&](const rows& r) {
    return poincare::mobius_scalar_mul(any_input(factor, r.type, factors, "r"), r.in(x, x_stride, "x"),
                                       r.out(out, out_stride), r.options, r.device);
  });
}

quintet_status quintet_poincare_exp_map(const void* x, int64_t x_stride, const void* v, int64_t v_stride,
                                        quintet_type type, int64_t n, int64_t dim,
                                        const quintet_poincare_options* options, const char* device, void* out,
                                        int64_t out_stride, uint8_t* status) noexcept {
  return each_row(type, n, dim, options, device, status, [&](const rows& r) {
    return poincare::exp_map(r.in(x, x_stride, "x"), r.in(v, v_stride, "v"), r.out(out, out_stride), r.options,
                             r.device);
  });
}

quintet_status quintet_poincare_log_map(const void* x, int64_t x_stride, const void* y, int64_t y_stride,
                                        quintet_type type, int64_t n, int64_t dim,
                                        const quintet_poincare_options* options, const char* device, void* out,
                                        int64_t out_stride, uint8_t* status) noexcept {
  return each_row(type, n, dim, options, device, status, [&](const rows& r) {
    return poincare::log_map(r.in(x, x_stride, "x"), r.in(y, y_stride, "y"), r.out(out, out_stride), r.options,
                             r.device);
  });
}

quintet_status quintet_poincare_exp_map_origin(const void* v, int64_t v_stride, quintet_type type, int64_t n,
                                               int64_t dim, const quintet_poincare_options* options, const char* device,
                                               void* out, int64_t out_stride, uint8_t* status) noexcept {
  return each_row(type, n, dim, options, device, status, [&](const rows& r) {
    return poincare::exp_map_origin(r.in(v, v_stride, "v"), r.out(out, out_stride), r.options, r.device);
  });
}

quintet_status quintet_poincare_log_map_origin(const void* y, int64_t y_stride, quintet_type type, int64_t n,
                                               int64_t dim, const quintet_poincare_options* options, const char* device,
                                               void* out, int64_t out_stride, uint8_t* status) noexcept {
  return each_row(type, n, dim, options, device, status, [&](const rows& r) {
    return poincare::log_map_origin(r.in(y, y_stride, "y"), r.out(out, out_stride), r.options, r.device);
  });
}

quintet_status quintet_poincare_geodesic(const void* x, int64_t x_stride, const void* y, int64_t y_stride,
                                         const void* t, int64_t times, quintet_type type, int64_t n, int64_t dim,
                                         const quintet_poincare_options* options, const char* device, void* out,
                                         int64_t out_stride, uint8_t* status) noexcept {
  return each_row(type, n, dim, options, device, status, [&](const rows& r) {
    return poincare::geodesic(r.in(x, x_stride, "x"), r.in(y, y_stride, "y"), any_input(t, r.type, times, "t"),
                              r.out(out, out_stride), r.options, r.device);
  });
}

quintet_status quintet_poincare_parallel_transport(const void* x, int64_t x_stride, const void* y, int64_t y_stride,
                                                   const void* v, int64_t v_stride, quintet_type type, int64_t n,
                                                   int64_t dim, const quintet_poincare_options* options,
                                                   const char* device, void* out, int64_t out_stride,
                                                   uint8_t* status) noexcept {
  return each_row(type, n, dim, options, device, status, [&](const rows& r) {
    return poincare::parallel_transport(r.in(x, x_stride, "x"), r.in(y, y_stride, "y"), r.in(v, v_stride, "v"),
                                        r.out(out, out_stride), r.options, r.device);
  });
}

quintet_status quintet_poincare_project(const void* x, int64_t x_stride, quintet_type type, int64_t n, int64_t dim,
                                        double epsilon, const quintet_poincare_options* options, const char* device,
                                        void* out, int64_t out_stride, uint8_t* status, int64_t* moved) noexcept {
  return each_row(type, n, dim, options, device, status, [&](const rows& r) {
    const auto report = poincare::project(r.in(x, x_stride, "x"), epsilon, r.out(out, out_stride), r.options, r.device);
    set(moved, report.moved);
    return report.status;
  });
}

quintet_status quintet_poincare_conformal_factor(const void* x, int64_t x_stride, quintet_type type, int64_t n,
                                                 int64_t dim, const quintet_poincare_options* options,
                                                 const char* device, void* out, uint8_t* status) noexcept {
  return each_row(type, n, dim, options, device, status, [&](const rows& r) {
    return poincare::conformal_factor(r.in(x, x_stride, "x"), any_output(out, r.type, n, "out"), r.options, r.device);
  });
}

quintet_status quintet_poincare_to_hyperboloid(const void* x, int64_t x_stride, quintet_type type, int64_t n,
                                               int64_t dim, const quintet_poincare_options* options, const char* device,
                                               void* out, int64_t out_stride, uint8_t* status) noexcept {
  return each_row(type, n, dim, options, device, status, [&](const rows& r) {
    return poincare::to_hyperboloid(r.in(x, x_stride, "x"),
                                    any_output(out, r.type, n, with_time(dim), out_stride, "out"), r.options, r.device);
  });
}

quintet_status quintet_poincare_from_hyperboloid(const void* h, int64_t h_stride, quintet_type type, int64_t n,
                                                 int64_t dim, const quintet_poincare_options* options,
                                                 const char* device, void* out, int64_t out_stride,
                                                 uint8_t* status) noexcept {
  return each_row(type, n, dim, options, device, status, [&](const rows& r) {
    return poincare::from_hyperboloid(any_input(h, r.type, n, with_time(dim), h_stride, "h"), r.out(out, out_stride),
                                      r.options, r.device);
  });
}

quintet_status quintet_poincare_distance_gradients(const void* x, int64_t x_stride, const void* y, int64_t y_stride,
                                                   quintet_type type, int64_t n, int64_t dim,
                                                   const quintet_poincare_options* options, const char* device,
                                                   void* gradient_x, int64_t gradient_x_stride, void* gradient_y,
                                                   int64_t gradient_y_stride, uint8_t* status) noexcept {
  return each_row(type, n, dim, options, device, status, [&](const rows& r) {
    return poincare::distance_gradients(r.in(x, x_stride, "x"), r.in(y, y_stride, "y"),
                                        r.out(gradient_x, gradient_x_stride, "gradient_x"),
                                        r.out(gradient_y, gradient_y_stride, "gradient_y"), r.options, r.device);
  });
}

quintet_status quintet_poincare_riemannian_gradient(const void* x, int64_t x_stride, const void* gradient,
                                                    int64_t gradient_stride, quintet_type type, int64_t n, int64_t dim,
                                                    const quintet_poincare_options* options, const char* device,
                                                    void* out, int64_t out_stride, uint8_t* status) noexcept {
  return each_row(type, n, dim, options, device, status, [&](const rows& r) {
    return poincare::riemannian_gradient(r.in(x, x_stride, "x"), r.in(gradient, gradient_stride, "gradient"),
                                         r.out(out, out_stride), r.options, r.device);
  });
}

quintet_status quintet_poincare_rsgd_step(const void* x, int64_t x_stride, const void* gradient,
                                          int64_t gradient_stride, quintet_type type, int64_t n, int64_t dim,
                                          double rate, double epsilon, const quintet_poincare_options* options,
                                          const char* device, void* out, int64_t out_stride, uint8_t* status,
                                          int64_t* moved) noexcept {
  return each_row(type, n, dim, options, device, status, [&](const rows& r) {
    const auto report = poincare::rsgd_step(r.in(x, x_stride, "x"), r.in(gradient, gradient_stride, "gradient"), rate,
                                            epsilon, r.out(out, out_stride), r.options, r.device);
    set(moved, report.moved);
    return report.status;
  });
}

quintet_status quintet_poincare_gyromidpoint(const void* points, int64_t stride, quintet_type type, int64_t n,
                                             int64_t dim, const int64_t* offsets, int64_t groups, const void* weights,
                                             const quintet_poincare_options* options, const char* device, void* out,
                                             int64_t out_stride, uint8_t* status) noexcept {
  return guarded([&] {
    const auto report =
        mean_of(type, {points, stride, n, dim, offsets, groups, weights, out, out_stride}, [&](auto... arguments) {
          return poincare::gyromidpoint(arguments..., ball_options(options), chosen_device(device));
        });
    give_status(report.points, status);
  });
}

quintet_status quintet_poincare_frechet_mean(const void* points, int64_t stride, quintet_type type, int64_t n,
                                             int64_t dim, const int64_t* offsets, int64_t groups, const void* weights,
                                             const quintet_poincare_options* options, const char* device, void* out,
                                             int64_t out_stride, uint8_t* status, uint8_t* converged,
                                             int32_t* iterations) noexcept {
  return guarded([&] {
    const quintet_poincare_options known = known_options(options);
    const poincare::frechet_options settings{known.curvature, known.strict != 0, known.tolerance, known.max_iterations};
    const auto report = mean_of(
        type, {points, stride, n, dim, offsets, groups, weights, out, out_stride},
        [&](auto... arguments) { return poincare::frechet_mean(arguments..., settings, chosen_device(device)); });
    give_status(report.points, status);
    copy_to(report.converged, converged);
    copy_to(report.iterations, iterations);
  });
}

}  // extern "C"
