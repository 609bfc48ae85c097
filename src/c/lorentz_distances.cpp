// C functions of the Lorentz model.
#include <cmath>

#include "c/poincare_support.hpp"

using namespace quintet;
using namespace quintet::c;

namespace {

static_assert(QUINTET_SPACE == int(lorentz::coordinates::space) &&
              QUINTET_TIME_AND_SPACE == int(lorentz::coordinates::time_and_space) &&
              QUINTET_TIME_IGNORED == int(lorentz::coordinates::time_ignored));

constexpr quintet_lorentz_options default_lorentz_options = [] {
  const lorentz::distance_options distance;
  quintet_lorentz_options options{};
  options.size = sizeof(options);
  options.curvature = distance.curvature;
  options.tolerance = QUINTET_LORENTZ_DEFAULT_TOLERANCE;
  options.form = static_cast<quintet_coordinates>(distance.form);
  options.strict = distance.strict;
  return options;
}();

}  // namespace

lorentz::distance_options quintet::c::lorentz_options(const quintet_lorentz_options* chosen) {
  const quintet_lorentz_options options = known_options(chosen, default_lorentz_options);
  std::optional<double> tolerance;
  if (options.tolerance != QUINTET_LORENTZ_DEFAULT_TOLERANCE) tolerance = options.tolerance;
  return {options.curvature, enumerated<lorentz::coordinates>(options.form, 3, "form"), tolerance, options.strict != 0};
}

extern "C" {

quintet_status quintet_lorentz_options_default(quintet_lorentz_options* options, size_t size) noexcept {
  return guarded([&] { write_struct(default_lorentz_options, options, size, "options"); });
}

quintet_status quintet_lorentz_distances(const void* queries, int64_t q, int64_t query_stride, const void* points,
                                         int64_t n, int64_t point_stride, quintet_type type, int64_t dim,
                                         const quintet_lorentz_options* options, const char* device, void* out,
                                         int64_t out_stride, uint8_t* query_status, uint8_t* point_status) noexcept {
  return guarded([&] {
    const scalar_type t = storage_type_of(type);
    const auto report = lorentz::distances(
        any_input(queries, t, q, dim, query_stride, "queries"), any_input(points, t, n, dim, point_stride, "points"),
        any_output(out, accumulator_of(t), q, n, out_stride, "out"), lorentz_options(options), chosen_device(device));
    give_status(report.queries, query_status);
    give_status(report.points, point_status);
  });
}

quintet_status quintet_lorentz_pair_distances(const void* x, int64_t x_stride, const void* y, int64_t y_stride,
                                              quintet_type type, int64_t n, int64_t dim,
                                              const quintet_lorentz_options* options, const char* device, void* out,
                                              uint8_t* x_status, uint8_t* y_status) noexcept {
  return guarded([&] {
    const scalar_type t = storage_type_of(type);
    const auto report = lorentz::pair_distances(
        any_input(x, t, n, dim, x_stride, "x"), any_input(y, t, n, dim, y_stride, "y"),
        any_output(out, accumulator_of(t), n, "out"), lorentz_options(options), chosen_device(device));
    give_status(report.queries, x_status);
    give_status(report.points, y_status);
  });
}

quintet_status quintet_lorentz_distance(const void* x, const void* y, quintet_type type, int64_t dim,
                                        const quintet_lorentz_options* options, void* out) noexcept {
  return guarded([&] {
    const scalar_type t = storage_type_of(type);
    lorentz::pair_distances(any_input(x, t, 1, dim, dim, "x"), any_input(y, t, 1, dim, dim, "y"),
                            any_output(out, accumulator_of(t), 1, "out"), lorentz_options(options), Device::host());
  });
}

quintet_status quintet_lorentz_origin_distances(const void* x, int64_t stride, quintet_type type, int64_t n,
                                                int64_t dim, const quintet_lorentz_options* options, const char* device,
                                                void* out, uint8_t* status) noexcept {
  return guarded([&] {
    const scalar_type t = storage_type_of(type);
    give_status(
        lorentz::origin_distances(any_input(x, t, n, dim, stride, "x"), any_output(out, accumulator_of(t), n, "out"),
                                  lorentz_options(options), chosen_device(device)),
        status);
  });
}

}  // extern "C"
