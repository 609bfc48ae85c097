// C functions of product spaces.
#include "quintet/poincare/product.hpp"
#include "c/poincare_support.hpp"

using namespace quintet;
using namespace quintet::c;

extern "C" {

quintet_status quintet_product_distances(const void* queries, int64_t q, int64_t query_stride, const void* points,
                                         int64_t n, int64_t point_stride, quintet_type type, int64_t dim,
                                         const quintet_factor* factors, int64_t count, int32_t strict,
                                         const char* device, void* out, int64_t out_stride, uint8_t* query_status,
                                         uint8_t* point_status) noexcept {
  return guarded([&] {
    const scalar_type t = storage_type_of(type);
    const auto report = product::distances(
        any_input(queries, t, q, dim, query_stride, "queries"), any_input(points, t, n, dim, point_stride, "points"),
        any_output(out, accumulator_of(t), q, n, out_stride, "out"), known_factors(factors, count, "count"),
        {strict != 0}, chosen_device(device));
    give_status(report.queries, query_status);
    give_status(report.points, point_status);
  });
}

quintet_status quintet_product_pair_distances(const void* x, int64_t x_stride, const void* y, int64_t y_stride,
                                              quintet_type type, int64_t n, int64_t dim, const quintet_factor* factors,
                                              int64_t count, int32_t strict, const char* device, void* out,
                                              uint8_t* x_status, uint8_t* y_status) noexcept {
  return guarded([&] {
    const scalar_type t = storage_type_of(type);
    const auto report =
        product::pair_distances(any_input(x, t, n, dim, x_stride, "x"), any_input(y, t, n, dim, y_stride, "y"),
                                any_output(out, accumulator_of(t), n, "out"), known_factors(factors, count, "count"),
                                {strict != 0}, chosen_device(device));
    give_status(report.queries, x_status);
    give_status(report.points, y_status);
  });
}

}  // extern "C"
