#include "quintet/poincare/adam.hpp"

#include <algorithm>
#include <cmath>

#include "device/launch.hpp"
#include "device/small_call.hpp"
#include "device/staged.hpp"
#include "poincare/adam_kernel.hpp"
#include "poincare/checks.hpp"
#include "poincare/curvature.hpp"

namespace quintet::poincare {

namespace {

/// Rows as the caller has them.
struct adam_rows {
  const any_matrix &x, &gradient;
  const any_output_matrix& first;
  const any_output_vector& second;
  const any_output_matrix& out;
  int skip;
};

void check_settings(const adam_options& s) {
  require_argument(std::isfinite(s.rate), "rate", s.rate, "finite");
  require_argument(s.beta1 >= 0 && s.beta1 < 1, "beta1", s.beta1, "in [0, 1)");
  require_argument(s.beta2 >= 0 && s.beta2 < 1, "beta2", s.beta2, "in [0, 1)");
  require_argument(s.epsilon > 0 && std::isfinite(s.epsilon), "epsilon", s.epsilon, "> 0 and finite");
  require_argument(std::isfinite(s.weight_decay), "weight_decay", s.weight_decay, "finite");
  require_argument(s.step >= 1, "step", s.step, ">= 1");
}

void check_adam_rows(const adam_rows& rows) {
  const std::int64_t n = rows.x.rows, cols = rows.x.cols;
  check_rows(rows.x, "x");
  if (n > 0) require_argument(cols > rows.skip, "x.cols", cols, text(">= ", 1 + rows.skip));
  require_shape(rows.gradient, "gradient", n, cols);
  require_shape(rows.first, "first", n, cols - rows.skip);
  require_argument(rows.second.size == n, "second.size", rows.second.size, text("x.rows=", n));
  require_shape(rows.out, "out", n, cols);
}

/// What kernels read and write: in place, or a copy that goes back.
template <class View>
class staged_through {
 public:
  staged_through(const View& view, const Device& device)
      : to_(view, device),
        copied_from_(device::reaches(device, view.device()) ? std::vector<value_type>{} : device::host_copy(view)) {
    if (!copied_from_.empty())
      quintet::detail::copy(to_.view().data(), device, copied_from_.data(), Device::host(),
                            std::int64_t(copied_from_.size() * sizeof(value_type)));
  }
  const View& view() const { return to_.view(); }
  void finish() { to_.finish(); }

 private:
  using value_type = typename View::value_type;
  device::staged_out<View> to_;
  std::vector<value_type> copied_from_;
};

template <class Model, class Storage>
projection_report take_step(const adam_rows& rows, double margin, const adam_options& s, const ball& b,
                            const Device& requested_device) {
  using Real = accumulator_t<Storage>;
  const auto in_x = rows.x.as<Storage>("x"), in_gradient = rows.gradient.as<Storage>("gradient");
  const auto in_first = rows.first.as<Real>("first"), out = rows.out.as<Real>("out");
  const auto in_second = rows.second.as<Real>("second");
  const Device device = device::run_device(
      requested_device,
      {{"x", in_x}, {"gradient", in_gradient}, {"first", in_first}, {"second", in_second}, {"out", out}});
  const std::int64_t n = in_x.rows();
  const device::small_call serial_if_small(double(n) * (60 + 20 * double(in_x.cols())), 1, device);
  const device::staged_in x(in_x, device), gradient(in_gradient, device);
  staged_through first(in_first, device);
  staged_through second(in_second, device);
  device::staged_out to(out, device);
  Buffer<point_status> status(n, device);
  Buffer<std::int32_t> moved(margin > 0 ? n : 0, device);
  const adam_arguments<Storage> a{.x = stored(x.view()),
                                  .gradient = stored(gradient.view()),
                                  .skip = rows.skip,
                                  .first = first.view().data(),
                                  .second = second.view().data(),
                                  .out = to.view().data(),
                                  .first_stride = first.view().stride(),
                                  .out_stride = to.view().stride(),
                                  .status = status.data(),
                                  .moved = margin > 0 ? moved.data() : nullptr,
                                  .c = b.c,
                                  .root_c = b.root_c,
                                  .margin = margin,
                                  .beta1 = s.beta1,
                                  .beta2 = s.beta2,
                                  .epsilon = s.epsilon,
                                  .decay = s.weight_decay,
                                  .rate = s.rate / -std::expm1(double(s.step) * std::log(s.beta1)),
                                  .second_unit = 1 / -std::expm1(double(s.step) * std::log(s.beta2))};
  device::with_shape<host_operation_shape, device_operation_shape>(device, [&](auto shape) {
    using kernel = adam_kernel<Storage, Model, decltype(shape)>;
    device::launch(kernel{a}, (n + kernel::rows_per_tile - 1) / kernel::rows_per_tile, device);
  });
  projection_report report;
  report.status = status.to_vector();
  const std::vector<std::int32_t> pulled = moved.to_vector();
  report.moved = std::count(pulled.begin(), pulled.end(), 1);
  device::finish(first, second, to);
  return report;
}

/// A function of points that throws for the first with a status: before a step changes anything.
template <class Storage, class Function>
void look_strictly(std::int64_t n, const Function& function) {
  std::vector<accumulator_t<Storage>> values(n);
  function({values.data(), n});
}

}  // namespace

projection_report adam_step(any_matrix x, any_matrix gradient, double margin, any_output_matrix first,
                            any_output_vector second, any_output_matrix out, const adam_options& settings,
                            const ball_options& options, const Device& device) {
  check_settings(settings);
  check_margin(margin, x.type, "margin");
  const adam_rows rows{x, gradient, first, second, out, 0};
  check_adam_rows(rows);
  const ball b(options.curvature);
  return with_storage(x.type, [&]<class T>() {
    if (options.strict)
      look_strictly<T>(x.rows, [&](any_output_vector to) { conformal_factor(x, to, options, device); });
    return take_step<adam_in_ball, T>(rows, margin, settings, b, device);
  });
}

}  // namespace quintet::poincare

namespace quintet::lorentz {

poincare::row_status adam_step(any_matrix x, any_matrix gradient, any_output_matrix first, any_output_vector second,
                               any_output_matrix out, const adam_options& settings, const distance_options& options,
                               const Device& device) {
  poincare::check_settings(settings);
  require_argument(options.form != coordinates::time_and_space, "form", "time_and_space",
                   "space or time_ignored: a step writes times and compares none");
  require_argument(poincare::checked_curvature(options.curvature) > 0, "curvature", options.curvature,
                   "negative: flat space has no hyperboloid");
  const poincare::adam_rows rows{x, gradient, first, second, out, options.form == coordinates::space ? 0 : 1};
  poincare::check_adam_rows(rows);
  const poincare::ball b(options.curvature);
  return with_storage(x.type, [&]<class T>() {
    if (options.strict)
      poincare::look_strictly<T>(x.rows, [&](any_output_vector to) { origin_distances(x, to, options, device); });
    return poincare::take_step<poincare::adam_on_sheet, T>(rows, 0, settings, b, device).status;
  });
}

}  // namespace quintet::lorentz
