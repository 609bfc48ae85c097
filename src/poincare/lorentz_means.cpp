#include "quintet/poincare/lorentz_means.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "device/staged.hpp"
#include "poincare/checks.hpp"
#include "quintet/core/storage16.hpp"

namespace quintet::lorentz {

namespace {

/// The same numbers as double, on the host.
template <class Storage, class View>
std::vector<double> widened(const View& values) {
  std::vector<double> wide;
  for (const Storage x : device::host_copy(values)) wide.push_back(double(accumulator_t<Storage>(x)));
  return wide;
}

// Largest sqrt(c) |x|: the ball of double has no place farther out.
constexpr double largest_in_ball = 0x1p52;

/// Points in the ball; NaN where there is no place for them.
std::vector<double> placed_in_ball(const std::vector<double>& sheet, std::int64_t dim, double curvature,
                                   const Device& device) {
  std::vector<double> ball(sheet.size());
  const std::int64_t n = dim == 0 ? 0 : std::int64_t(sheet.size()) / dim;
  to_ball({sheet.data(), n, dim}, {ball.data(), n, dim}, {curvature}, device);
  for (std::int64_t i = 0; i < n; ++i) {
    double norm = 0;
    for (std::int64_t k = 0; k < dim; ++k) norm = std::hypot(norm, sheet[i * dim + k]);
    if (!(std::sqrt(-curvature) * norm <= largest_in_ball))
      std::fill_n(ball.begin() + i * dim, dim, std::numeric_limits<double>::quiet_NaN());
  }
  return ball;
}

/// mean(points in the ball, weights, out in the ball), with points and result of the sheet.
template <class Storage, class Mean>
mean_report mean_in_ball(matrix_view<const Storage> points, any_vector weights, matrix_view<accumulator_t<Storage>> out,
                         double curvature, const Device& device, const Mean& mean) {
  using Real = accumulator_t<Storage>;
  require_argument(poincare::checked_curvature(curvature) > 0, "curvature", curvature,
                   "negative: flat space has no hyperboloid");
  poincare::check_rows(points, "points");
  const std::int64_t n = points.rows(), dim = points.cols(), groups = out.rows();
  poincare::require_shape(out, "out", groups, dim);
  const std::vector<double> in_ball = placed_in_ball(widened<Storage>(points), dim, curvature, device);
  const std::vector<double> wide_weights =
      weights.size == 0 ? std::vector<double>{} : widened<Real>(weights.as<Real>("weights"));
  std::vector<double> of_groups(groups * dim), on_sheet(groups * dim);
  mean_report report = mean(any_matrix(matrix_view<const double>(in_ball.data(), n, dim)), any_vector(wide_weights),
                            any_output_matrix(matrix_view<double>(of_groups.data(), groups, dim)));
  from_ball({of_groups.data(), groups, dim}, {on_sheet.data(), groups, dim}, {curvature}, device);
  const std::vector<Real> rounded(on_sheet.begin(), on_sheet.end());
  device::detail::download<Real>(device::detail::as_batch(out),
                                 device::detail::as_batch(matrix_view<const Real>(rounded.data(), groups, dim)));
  return report;
}

template <class Mean>
mean_report means_on_sheet(any_matrix points, any_vector weights, const any_output_matrix& out, double curvature,
                           const Device& device, const Mean& mean) {
  return with_storage(points.type, [&]<class T>() {
    return mean_in_ball<T>(points.as<T>("points"), weights, out.as<accumulator_t<T>>("out"), curvature, device, mean);
  });
}

}  // namespace

mean_report centroid(any_matrix points, vector_view<const std::int64_t> offsets, any_vector weights,
                     any_output_matrix out, const ball_options& options, const Device& device) {
  return means_on_sheet(points, weights, out, options.curvature, device,
                        [&](const any_matrix& in_ball, const any_vector& of_points, const any_output_matrix& to) {
                          return poincare::gyromidpoint(in_ball, offsets, of_points, to, options, device);
                        });
}

mean_report frechet_mean(any_matrix points, vector_view<const std::int64_t> offsets, any_vector weights,
                         any_output_matrix out, const frechet_options& options, const Device& device) {
  return means_on_sheet(points, weights, out, options.curvature, device,
                        [&](const any_matrix& in_ball, const any_vector& of_points, const any_output_matrix& to) {
                          return poincare::frechet_mean(in_ball, offsets, of_points, to, options, device);
                        });
}

}  // namespace quintet::lorentz
