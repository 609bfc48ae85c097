// C functions of the kappa-stereographic model.
#include "quintet/poincare/stereographic.hpp"
#include "c/poincare_support.hpp"

using namespace quintet;
using namespace quintet::c;

namespace {

using operation = decltype(stereographic::add);

/// out := run(x, y), rows of one shape.
quintet_status joined(operation& run, const void* x, int64_t x_stride, const void* y, int64_t y_stride,
                      const char* y_name, quintet_type type, int64_t n, int64_t dim, double curvature, int32_t strict,
                      const char* device, void* out, int64_t out_stride, uint8_t* status) {
  return guarded([&] {
    const scalar_type t = real_type(type);
    give_status(run(any_input(x, t, n, dim, x_stride, "x"), any_input(y, t, n, dim, y_stride, y_name),
                    any_output(out, t, n, dim, out_stride, "out"), {curvature, strict != 0}, chosen_device(device)),
                status);
  });
}

}  // namespace

extern "C" {

quintet_status quintet_stereographic_add(const void* x, int64_t x_stride, const void* y, int64_t y_stride,
                                         quintet_type type, int64_t n, int64_t dim, double curvature, int32_t strict,
                                         const char* device, void* out, int64_t out_stride, uint8_t* status) noexcept {
  return joined(stereographic::add, x, x_stride, y, y_stride, "y", type, n, dim, curvature, strict, device, out,
                out_stride, status);
}

quintet_status quintet_stereographic_scalar_mul(const void* r, int64_t factors, const void* x, int64_t x_stride,
                                                quintet_type type, int64_t n, int64_t dim, double curvature,
                                                int32_t strict, const char* device, void* out, int64_t out_stride,
                                                uint8_t* status) noexcept {
  return guarded([&] {
    const scalar_type t = real_type(type);
    give_status(stereographic::scalar_mul(any_input(r, t, factors, "r"), any_input(x, t, n, dim, x_stride, "x"),
                                          any_output(out, t, n, dim, out_stride, "out"), {curvature, strict != 0},
                                          chosen_device(device)),
                status);
  });
}

quintet_status quintet_stereographic_exp_map(const void* x, int64_t x_stride, const void* v, int64_t v_stride,
                                             quintet_type type, int64_t n, int64_t dim, double curvature,
                                             int32_t strict, const char* device, void* out, int64_t out_stride,
                                             uint8_t* status) noexcept {
  return joined(stereographic::exp_map, x, x_stride, v, v_stride, "v", type, n, dim, curvature, strict, device, out,
                out_stride, status);
}

quintet_status quintet_stereographic_log_map(const void* x, int64_t x_stride, const void* y, int64_t y_stride,
                                             quintet_type type, int64_t n, int64_t dim, double curvature,
                                             int32_t strict, const char* device, void* out, int64_t out_stride,
                                             uint8_t* status) noexcept {
  return joined(stereographic::log_map, x, x_stride, y, y_stride, "y", type, n, dim, curvature, strict, device, out,
                out_stride, status);
}

quintet_status quintet_stereographic_geodesic(const void* x, int64_t x_stride, const void* y, int64_t y_stride,
                                              const void* at, int64_t count, quintet_type type, int64_t n, int64_t dim,
                                              double curvature, int32_t strict, const char* device, void* out,
                                              int64_t out_stride, uint8_t* status) noexcept {
  return guarded([&] {
    const scalar_type t = real_type(type);
    give_status(stereographic::geodesic(any_input(x, t, n, dim, x_stride, "x"), any_input(y, t, n, dim, y_stride, "y"),
                                        any_input(at, t, count, "t"), any_output(out, t, n, dim, out_stride, "out"),
                                        {curvature, strict != 0}, chosen_device(device)),
                status);
  });
}

}  // extern "C"
