// C functions of the Lorentz model on batches of rows.
#include "c/poincare_support.hpp"

using namespace quintet;
using namespace quintet::c;

namespace {

poincare::ball_options sheet_options(const quintet_lorentz_options* chosen) {
  const lorentz::distance_options options = lorentz_options(chosen);
  require_argument(options.form == lorentz::coordinates::space, "form", int(options.form),
                   text("QUINTET_SPACE=", QUINTET_SPACE, " for operations"));
  return {options.curvature, options.strict};
}

/// out := map(x), a map between models.
quintet_status mapped(decltype(lorentz::to_ball)& map, const void* x, int64_t x_stride, quintet_type type, int64_t n,
                      int64_t dim, const quintet_lorentz_options* options, const char* device, void* out,
                      int64_t out_stride, uint8_t* status) {
  return guarded([&] {
    const scalar_type t = real_type(type);
    give_status(map(any_input(x, t, n, dim, x_stride, "x"), any_output(out, t, n, dim, out_stride, "out"),
                    sheet_options(options), chosen_device(device)),
                status);
  });
}

}  // namespace

extern "C" {

quintet_status quintet_lorentz_exp_map(const void* x, int64_t x_stride, const void* v, int64_t v_stride,
                                       quintet_type type, int64_t n, int64_t dim,
                                       const quintet_lorentz_options* options, const char* device, void* out,
                                       int64_t out_stride, uint8_t* status) noexcept {
  return guarded([&] {
    const scalar_type t = real_type(type);
    give_status(
        lorentz::exp_map(any_input(x, t, n, dim, x_stride, "x"), any_input(v, t, n, dim, v_stride, "v"),
                         any_output(out, t, n, dim, out_stride, "out"), sheet_options(options), chosen_device(device)),
        status);
  });
}

quintet_status quintet_lorentz_log_map(const void* x, int64_t x_stride, const void* y, int64_t y_stride,
                                       quintet_type type, int64_t n, int64_t dim,
                                       const quintet_lorentz_options* options, const char* device, void* out,
                                       int64_t out_stride, uint8_t* status) noexcept {
  return guarded([&] {
    const scalar_type t = real_type(type);
    give_status(
        lorentz::log_map(any_input(x, t, n, dim, x_stride, "x"), any_input(y, t, n, dim, y_stride, "y"),
                         any_output(out, t, n, dim, out_stride, "out"), sheet_options(options), chosen_device(device)),
        status);
  });
}

quintet_status quintet_lorentz_geodesic(const void* x, int64_t x_stride, const void* y, int64_t y_stride,
                                        const void* at, int64_t count, quintet_type type, int64_t n, int64_t dim,
                                        const quintet_lorentz_options* options, const char* device, void* out,
                                        int64_t out_stride, uint8_t* status) noexcept {
  return guarded([&] {
    const scalar_type t = real_type(type);
    give_status(lorentz::geodesic(any_input(x, t, n, dim, x_stride, "x"), any_input(y, t, n, dim, y_stride, "y"),
                                  any_input(at, t, count, "t"), any_output(out, t, n, dim, out_stride, "out"),
                                  sheet_options(options), chosen_device(device)),
                status);
  });
}

quintet_status quintet_lorentz_parallel_transport(const void* x, int64_t x_stride, const void* y, int64_t y_stride,
                                                  const void* v, int64_t v_stride, quintet_type type, int64_t n,
                                                  int64_t dim, const quintet_lorentz_options* options,
                                                  const char* device, void* out, int64_t out_stride,
                                                  uint8_t* status) noexcept {
  return guarded([&] {
    const scalar_type t = real_type(type);
    give_status(lorentz::parallel_transport(
                    any_input(x, t, n, dim, x_stride, "x"), any_input(y, t, n, dim, y_stride, "y"),
                    any_input(v, t, n, dim, v_stride, "v"), any_output(out, t, n, dim, out_stride, "out"),
                    sheet_options(options), chosen_device(device)),
                status);
  });
}

quintet_status quintet_lorentz_hyperplane_distances(const void* x, int64_t x_stride, const void* normals,
                                                    int64_t normal_stride, const void* offsets, int64_t count,
                                                    quintet_type type, int64_t n, int64_t dim,
                                                    const quintet_lorentz_options* options, const char* device,
                                                    void* out, uint8_t* status) noexcept {
  return guarded([&] {
    const scalar_type t = real_type(type);
    give_status(lorentz::hyperplane_distances(any_input(x, t, n, dim, x_stride, "x"),
                                              any_input(normals, t, n, dim, normal_stride, "normals"),
                                              any_input(offsets, t, count, "offsets"), any_output(out, t, n, "out"),
                                              sheet_options(options), chosen_device(device)),
                status);
  });
}

quintet_status quintet_lorentz_hyperplane_gradients(const void* x, int64_t x_stride, const void* normals,
                                                    int64_t normal_stride, const void* offsets, int64_t count,
                                                    quintet_type type, int64_t n, int64_t dim,
                                                    const quintet_lorentz_options* options, const char* device,
                                                    void* gradient_x, int64_t gradient_x_stride, void* gradient_normals,
                                                    int64_t gradient_normal_stride, void* gradient_offsets,
                                                    uint8_t* status) noexcept {
  return guarded([&] {
    const scalar_type t = real_type(type);
    give_status(
        lorentz::hyperplane_gradients(
            any_input(x, t, n, dim, x_stride, "x"), any_input(normals, t, n, dim, normal_stride, "normals"),
            any_input(offsets, t, count, "offsets"), any_output(gradient_x, t, n, dim, gradient_x_stride, "gradient_x"),
            any_output(gradient_normals, t, n, dim, gradient_normal_stride, "gradient_normals"),
            any_output(gradient_offsets, t, n, "gradient_offsets"), sheet_options(options), chosen_device(device)),
        status);
  });
}

quintet_status quintet_lorentz_to_ball(const void* x, int64_t x_stride, quintet_type type, int64_t n, int64_t dim,
                                       const quintet_lorentz_options* options, const char* device, void* out,
                                       int64_t out_stride, uint8_t* status) noexcept {
  return mapped(lorentz::to_ball, x, x_stride, type, n, dim, options, device, out, out_stride, status);
}

quintet_status quintet_lorentz_from_ball(const void* x, int64_t x_stride, quintet_type type, int64_t n, int64_t dim,
                                         const quintet_lorentz_options* options, const char* device, void* out,
                                         int64_t out_stride, uint8_t* status) noexcept {
  return mapped(lorentz::from_ball, x, x_stride, type, n, dim, options, device, out, out_stride, status);
}

quintet_status quintet_lorentz_to_klein(const void* x, int64_t x_stride, quintet_type type, int64_t n, int64_t dim,
                                        const quintet_lorentz_options* options, const char* device, void* out,
                                        int64_t out_stride, uint8_t* status) noexcept {
  return mapped(lorentz::to_klein, x, x_stride, type, n, dim, options, device, out, out_stride, status);
}

quintet_status quintet_lorentz_from_klein(const void* x, int64_t x_stride, quintet_type type, int64_t n, int64_t dim,
                                          const quintet_lorentz_options* options, const char* device, void* out,
                                          int64_t out_stride, uint8_t* status) noexcept {
  return mapped(lorentz::from_klein, x, x_stride, type, n, dim, options, device, out, out_stride, status);
}

quintet_status quintet_lorentz_to_half_space(const void* x, int64_t x_stride, quintet_type type, int64_t n, int64_t dim,
                                             const quintet_lorentz_options* options, const char* device, void* out,
                                             int64_t out_stride, uint8_t* status) noexcept {
  return mapped(lorentz::to_half_space, x, x_stride, type, n, dim, options, device, out, out_stride, status);
}

quintet_status quintet_lorentz_from_half_space(const void* x, int64_t x_stride, quintet_type type, int64_t n,
                                               int64_t dim, const quintet_lorentz_options* options, const char* device,
                                               void* out, int64_t out_stride, uint8_t* status) noexcept {
  return mapped(lorentz::from_half_space, x, x_stride, type, n, dim, options, device, out, out_stride, status);
}

quintet_status quintet_lorentz_centroid(const void* points, int64_t stride, quintet_type type, int64_t n, int64_t dim,
                                        const int64_t* offsets, int64_t groups, const void* weights,
                                        const quintet_lorentz_options* options, const char* device, void* out,
                                        int64_t out_stride, uint8_t* status) noexcept {
  return guarded([&] {
    const auto report =
        mean_of(type, {points, stride, n, dim, offsets, groups, weights, out, out_stride}, [&](auto... arguments) {
          return lorentz::centroid(arguments..., sheet_options(options), chosen_device(device));
        });
    give_status(report.points, status);
  });
}

quintet_status quintet_lorentz_frechet_mean(const void* points, int64_t stride, quintet_type type, int64_t n,
                                            int64_t dim, const int64_t* offsets, int64_t groups, const void* weights,
                                            const quintet_lorentz_options* options, const char* device, void* out,
                                            int64_t out_stride, uint8_t* status, uint8_t* converged,
                                            int32_t* iterations) noexcept {
  return guarded([&] {
    const poincare::ball_options known = sheet_options(options);
    const auto report =
        mean_of(type, {points, stride, n, dim, offsets, groups, weights, out, out_stride}, [&](auto... arguments) {
          return lorentz::frechet_mean(arguments..., {known.curvature, known.strict}, chosen_device(device));
        });
    give_status(report.points, status);
    copy_to(report.converged, converged);
    copy_to(report.iterations, iterations);
  });
}

}  // extern "C"
