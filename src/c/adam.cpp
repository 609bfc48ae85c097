// C functions of Riemannian Adam.
#include "c/poincare_support.hpp"

using namespace quintet;
using namespace quintet::c;

namespace {

quintet_adam_options default_adam_options() {
  const poincare::adam_options d;
  return {sizeof(quintet_adam_options), d.rate, d.beta1, d.beta2, d.epsilon, d.weight_decay, d.step};
}

poincare::adam_options adam_settings(const quintet_adam_options* chosen) {
  const quintet_adam_options o = known_options(chosen, default_adam_options());
  return {o.rate, o.beta1, o.beta2, o.epsilon, o.weight_decay, o.step};
}

}  // namespace

extern "C" {

quintet_status quintet_adam_options_default(quintet_adam_options* options, size_t size) noexcept {
  return guarded([&] { write_struct(default_adam_options(), options, size, "options"); });
}

quintet_status quintet_poincare_adam_step(const void* x, int64_t x_stride, const void* gradient,
                                          int64_t gradient_stride, quintet_type type, int64_t n, int64_t dim,
                                          double margin, const quintet_adam_options* settings,
                                          const quintet_poincare_options* options, const char* device, void* first,
                                          int64_t first_stride, void* second, void* out, int64_t out_stride,
                                          uint8_t* status, int64_t* moved) noexcept {
  return guarded([&] {
    const scalar_type t = real_type(type);
    const auto report = poincare::adam_step(
        any_input(x, t, n, dim, x_stride, "x"), any_input(gradient, t, n, dim, gradient_stride, "gradient"), margin,
        any_output(first, t, n, dim, first_stride, "first"), any_output(second, t, n, "second"),
        any_output(out, t, n, dim, out_stride, "out"), adam_settings(settings), ball_options(options),
        chosen_device(device));
    give_status(report.status, status);
    if (moved != nullptr) *moved = report.moved;
  });
}

quintet_status quintet_lorentz_adam_step(const void* x, int64_t x_stride, const void* gradient, int64_t gradient_stride,
                                         quintet_type type, int64_t n, int64_t dim,
                                         const quintet_adam_options* settings, const quintet_lorentz_options* options,
                                         const char* device, void* first, int64_t first_stride, void* second, void* out,
                                         int64_t out_stride, uint8_t* status) noexcept {
  return guarded([&] {
    const scalar_type t = real_type(type);
    const lorentz::distance_options known = lorentz_options(options);
    const std::int64_t skip = known.form == lorentz::coordinates::space ? 0 : 1;
    give_status(lorentz::adam_step(any_input(x, t, n, dim, x_stride, "x"),
                                   any_input(gradient, t, n, dim, gradient_stride, "gradient"),
                                   any_output(first, t, n, dim - skip, first_stride, "first"),
                                   any_output(second, t, n, "second"), any_output(out, t, n, dim, out_stride, "out"),
                                   adam_settings(settings), known, chosen_device(device)),
                status);
  });
}

}  // extern "C"
