// C functions of the Poincare ball that give distances and neighbours.
#include "c/poincare_support.hpp"

#include <cstddef>

using namespace quintet;
using namespace quintet::c;

namespace {

static_assert(QUINTET_INSIDE == int(poincare::point_status::inside) &&
              QUINTET_OUTSIDE == int(poincare::point_status::outside) &&
              QUINTET_NOT_FINITE == int(poincare::point_status::not_finite));
static_assert(QUINTET_GEODESIC == int(poincare::formula::geodesic) &&
              QUINTET_CLAMPED_ARTANH == int(poincare::formula::clamped_artanh));

constexpr quintet_poincare_options default_poincare_options = [] {
  const poincare::distance_options distance;
  const poincare::nearest_options nearest;
  const poincare::frechet_options frechet;
  quintet_poincare_options options{};
  options.size = sizeof(options);
  options.curvature = distance.curvature;
  options.strict = distance.strict;
  options.formula = static_cast<quintet_formula>(distance.expression);
  options.exclude_self = nearest.exclude_self;
  options.budget_bytes = nearest.budget_bytes;
  options.tolerance = frechet.tolerance;
  options.max_iterations = frechet.max_iterations;
  return options;
}();

poincare::distance_options distance_options(const quintet_poincare_options* c_options) {
  const quintet_poincare_options options = known_options(c_options);
  return {options.curvature, enumerated<poincare::formula>(options.formula, 2, "formula"), options.strict != 0};
}

}  // namespace

quintet_poincare_options quintet::c::known_options(const quintet_poincare_options* c_options) {
  return known_options(c_options, default_poincare_options);
}

poincare::ball_options quintet::c::ball_options(const quintet_poincare_options* c_options) {
  const quintet_poincare_options options = known_options(c_options);
  return {options.curvature, options.strict != 0};
}

extern "C" {

quintet_status quintet_poincare_options_default(quintet_poincare_options* options, size_t size) noexcept {
  return guarded([&] { write_struct(default_poincare_options, options, size, "options"); });
}

quintet_status quintet_poincare_distances(const void* queries, int64_t q, int64_t query_stride, const void* points,
                                          int64_t n, int64_t point_stride, quintet_type type, int64_t dim,
                                          const quintet_poincare_options* options, const char* device, void* out,
                                          int64_t out_stride, uint8_t* query_status, uint8_t* point_status) noexcept {
  return guarded([&] {
    const scalar_type t = storage_type_of(type);
    const auto report = poincare::distances(
        any_input(queries, t, q, dim, query_stride, "queries"), any_input(points, t, n, dim, point_stride, "points"),
        any_output(out, accumulator_of(t), q, n, out_stride, "out"), distance_options(options), chosen_device(device));
    give_status(report.queries, query_status);
    give_status(report.points, point_status);
  });
}

quintet_status quintet_poincare_pair_distances(const void* x, int64_t x_stride, const void* y, int64_t y_stride,
                                               quintet_type type, int64_t n, int64_t dim,
                                               const quintet_poincare_options* options, const char* device, void* out,
                                               uint8_t* x_status, uint8_t* y_status) noexcept {
  return guarded([&] {
    const scalar_type t = storage_type_of(type);
    const auto report = poincare::pair_distances(
        any_input(x, t, n, dim, x_stride, "x"), any_input(y, t, n, dim, y_stride, "y"),
        any_output(out, accumulator_of(t), n, "out"), distance_options(options), chosen_device(device));
    give_status(report.queries, x_status);
    give_status(report.points, y_status);
  });
}

quintet_status quintet_poincare_distance(const void* x, const void* y, quintet_type type, int64_t dim,
                                         const quintet_poincare_options* options, void* out) noexcept {
  return guarded([&] {
    const scalar_type t = storage_type_of(type);
    const any_output_vector result = any_output(out, accumulator_of(t), 1, "out");
    poincare::pair_distances(any_input(x, t, 1, dim, dim, "x"), any_input(y, t, 1, dim, dim, "y"), result,
                             distance_options(options), Device::host());
  });
}

quintet_status quintet_poincare_origin_distances(const void* x, int64_t stride, quintet_type type, int64_t n,
                                                 int64_t dim, const quintet_poincare_options* options,
                                                 const char* device, void* out, uint8_t* status) noexcept {
  return guarded([&] {
    const scalar_type t = storage_type_of(type);
    give_status(
        poincare::origin_distances(any_input(x, t, n, dim, stride, "x"), any_output(out, accumulator_of(t), n, "out"),
                                   distance_options(options), chosen_device(device)),
        status);
  });
}

quintet_status quintet_poincare_nearest(const void* queries, int64_t q, int64_t query_stride, const void* points,
                                        int64_t n, int64_t point_stride, quintet_type type, int64_t dim, int64_t k,
                                        const quintet_poincare_options* options, const char* device, int64_t* index,
                                        void* distance, uint8_t* query_status, uint8_t* point_status) noexcept {
  return guarded([&] {
    const quintet_poincare_options known = known_options(options);
    const scalar_type t = storage_type_of(type), real = accumulator_of(t);
    output_matrix<std::int64_t>(index, q, k, k, "index");
    const any_matrix x = any_input(queries, t, q, dim, query_stride, "queries"),
                     y = any_input(points, t, n, dim, point_stride, "points");
    const poincare::nearest_options search{known.curvature, known.strict != 0, known.exclude_self != 0,
                                           known.budget_bytes};
    poincare::check_neighbours(k, n, search);  // before memory is asked for
    // The caller's arrays get results of calls that succeed only.
    std::vector<std::int64_t> nearest(q * k);
    std::vector<std::byte> distances(q * k * element_bytes(real));
    const auto report = poincare::nearest(x, y, {nearest.data(), q, k}, {distances.data(), real, q, k, k}, search,
                                          chosen_device(device));
    copy_to(nearest, index);
    copy_to(distances, static_cast<std::byte*>(distance));
    give_status(report.queries, query_status);
    give_status(report.points, point_status);
  });
}

}  // extern "C"
