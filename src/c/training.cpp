// C functions of the loss of negative sampling.
#include "c/poincare_support.hpp"

#include <limits>

using namespace quintet;
using namespace quintet::c;

namespace {

struct training_call {
  const void* points;
  int64_t stride;
  quintet_type type;
  int64_t n, dim;
  const int64_t* links;
  int64_t rows, width;
  void *losses, *gradient;
  int64_t gradient_stride;
};

/// loss(points, links, losses, gradient).
template <class Loss>
quintet_status trained(const training_call& call, uint8_t* status, const Loss& loss) {
  return guarded([&] {
    const auto& [points, stride, type, n, dim, links, rows, width, losses, gradient, gradient_stride] = call;
    const scalar_type real = real_type(type);
    require_argument(rows >= 0, "rows", rows, ">= 0");
    require_argument(width >= 2 && (rows == 0 || width <= std::numeric_limits<std::int64_t>::max() / 8 / rows), "width",
                     width, ">= 2, and rows * width numbers fit into memory");
    const auto numbers = array(links, rows * width, "links");
    give_status(
        loss(any_input(points, real, n, dim, stride, "points"),
             matrix_view<const std::int64_t>(numbers.data(), rows, width), any_output(losses, real, rows, "losses"),
             any_output(gradient, real, n, dim, gradient_stride, "gradient")),
        status);
  });
}

}  // namespace

extern "C" {

quintet_status quintet_poincare_negative_sampling(const void* points, int64_t stride, quintet_type type, int64_t n,
                                                  int64_t dim, const int64_t* links, int64_t rows, int64_t width,
                                                  const quintet_poincare_options* options, const char* device,
                                                  void* losses, void* gradient, int64_t gradient_stride,
                                                  uint8_t* status) noexcept {
  return trained({points, stride, type, n, dim, links, rows, width, losses, gradient, gradient_stride}, status,
                 [&](const auto&... arguments) {
                   return poincare::negative_sampling(arguments..., ball_options(options), chosen_device(device));
                 });
}

quintet_status quintet_lorentz_negative_sampling(const void* points, int64_t stride, quintet_type type, int64_t n,
                                                 int64_t dim, const int64_t* links, int64_t rows, int64_t width,
                                                 const quintet_lorentz_options* options, const char* device,
                                                 void* losses, void* gradient, int64_t gradient_stride,
                                                 uint8_t* status) noexcept {
  return trained({points, stride, type, n, dim, links, rows, width, losses, gradient, gradient_stride}, status,
                 [&](const auto&... arguments) {
                   return lorentz::negative_sampling(arguments..., lorentz_options(options), chosen_device(device));
                 });
}

}  // extern "C"
