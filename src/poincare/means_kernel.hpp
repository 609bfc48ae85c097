// Means of groups of points: one group a thread, in double. The mean so far lies in `workspace`.
#pragma once

#include <limits>

#include "poincare/row_operations_kernel.hpp"

namespace quintet::poincare {

template <class Storage>
struct mean_arguments {
  using Real = accumulator_t<Storage>;
  stored_rows<Storage> points;
  const std::int64_t* offsets;
  const Real* weights;  ///< null: all 1
  const point_status* status;
  double c, root_c, tolerance;
  std::int64_t max_iterations;  ///< of the Frechet mean
  bool frechet;
  double* workspace;  ///< [group][2][dim]: mean, sum
  Real* out;
  std::int64_t out_stride;
  std::int32_t* iterations;
  std::uint8_t* converged;

  double weight(std::int64_t i) const { return weights == nullptr ? 1.0 : double(weights[i]); }
  auto row(std::int64_t i) const {
    return [data = points.data + i * points.stride](std::int64_t k) { return double(data[k]); };
  }
};

/// Ungar 2008 (gyromidpoint) and Karcher 1977 (gradient flow to the Frechet mean): see quintet/poincare/means.hpp.
template <class Storage, class Shape>
struct mean_kernel {
  using Real = accumulator_t<Storage>;
  using shape = Shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, groups_per_tile = Shape::on_device ? 64 : 1 };
  /// A pass goes up to 19 / sqrt(c) far, and points of double are at most 76 / sqrt(c) apart.
  enum { max_passes = 8 };
  static constexpr double min_gap = 0x1p-52;
  mean_arguments<Storage> a;
  std::int64_t groups;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int g = team.rank(); g < groups_per_tile; g += team.size())
      if (tile * groups_per_tile + g < groups) mean_of(tile * groups_per_tile + g);
  }

 private:
  struct group {
    std::int64_t first, end;
    double* mean;
    double* sum;
  };

  void mean_of(std::int64_t g) const {
    const std::int64_t dim = a.points.dim;
    const group of{a.offsets[g], a.offsets[g + 1], a.workspace + g * 2 * dim, a.workspace + (g * 2 + 1) * dim};
    a.iterations[g] = 0;
    a.converged[g] = start(of);
    if (a.converged[g]) {
      // In the frame of the mean found before, the midpoint is near the origin and nothing cancels. One that is far
      // from the origin of its frame, where rounding decides how far, is the next frame.
      for (int pass = 0; pass < max_passes; ++pass)
        if (midpoint_in_frame(of) > 0.5 && pass > 0) break;
      if (a.frechet) descend(of, g);
    }
    for (std::int64_t k = 0; k < dim; ++k)
      a.out[g * a.out_stride + k] =
          a.converged[g] || a.iterations[g] > 0 ? Real(of.mean[k]) : std::numeric_limits<Real>::quiet_NaN();
    keep_inside(dim, a.c, examine_point(dim, a.c, mean_row(of)).gap, a.out + g * a.out_stride);
  }

  /// mean := the first point that counts; false if there is none or one of them is not inside.
  bool start(const group& of) const {
    std::int64_t first = -1;
    for (std::int64_t i = of.end - 1; i >= of.first; --i) {
      if (!(a.weight(i) > 0)) continue;
      if (a.status[i] != point_status::inside) return false;
      first = i;
    }
    if (first < 0) return false;
    for (std::int64_t k = 0; k < a.points.dim; ++k) of.mean[k] = a.row(first)(k);
    return true;
  }

  auto mean_row(const group& of) const {
    return [data = of.mean](std::int64_t k) { return data[k]; };
  }
  auto sum_row(const group& of) const {
    return [data = of.sum](std::int64_t k) { return data[k]; };
  }
  auto mean_writer(const group& of) const {
    return [to = of.mean](std::int64_t k, double value) { to[k] = value; };
  }

  /// With w = (-mean) (+) x, 1 - c |w|^2 = 1 / (1 + t): lambda_w = 2 (1 + t), and lambda_w w = 2 direction / (a_m a_x).
  /// Returns 1 - c |z|^2 of the midpoint (1/2) (x) z in the frame.
  double midpoint_in_frame(const group& of) const {
    const std::int64_t dim = a.points.dim;
    const auto mean = mean_row(of);
    const double gap = examine_point(dim, a.c, mean).gap;
    double below = 0;
    for (std::int64_t k = 0; k < dim; ++k) of.sum[k] = 0;
    for (std::int64_t i = of.first; i < of.end; ++i) {
      if (!(a.weight(i) > 0)) continue;
      const auto x = a.row(i);
      const double x_gap = examine_point(dim, a.c, x).gap;
      const auto frame = difference_frame::of(dim, a.c, gap, mean, x_gap, x);
      const double scale = 2 * a.weight(i) / (gap * x_gap);
      for (std::int64_t k = 0; k < dim; ++k)
        of.sum[k] = device::fma(scale, frame.direction(a.c, gap, mean(k), x(k)), of.sum[k]);
      below = device::fma(a.weight(i), device::fma(2, frame.t, 1), below);
    }
    for (std::int64_t k = 0; k < dim; ++k) of.sum[k] /= below;
    // (1/2) (x) z = z / (1 + sqrt(1 - c |z|^2)).
    const double z_gap = examine_point(dim, a.c, sum_row(of)).gap, root = std::sqrt(z_gap > min_gap ? z_gap : min_gap);
    const auto half = [&](std::int64_t k) { return of.sum[k] / (1 + root); };
    keep_inside(dim, a.c, write_mobius_sum(dim, a.c, gap, mean, 2 * root / (1 + root), half, mean_writer(of)), of.mean);
    return z_gap;
  }

  void descend(const group& of, std::int64_t g) const {
    const std::int64_t dim = a.points.dim;
    a.converged[g] = 0;
    for (std::int64_t iteration = 0; iteration <= a.max_iterations && !a.converged[g]; ++iteration) {
      const auto mean = mean_row(of);
      const double gap = examine_point(dim, a.c, mean).gap;
      const double bound = gradient(of, gap);
      const double length = 2 / gap * std::sqrt(squared_norm(dim, sum_row(of))) * (a.c > 0 ? a.root_c : 1);
      a.converged[g] = length <= a.tolerance * (1 + bound);
      if (iteration == a.max_iterations) break;
      const double step = 2 / (1 + bound);
      const auto along = [&](std::int64_t k) { return step * of.sum[k]; };
      keep_inside(dim, a.c, write_exponential(dim, a.c, gap, mean, along, mean_writer(of)), of.mean);
      a.iterations[g] = std::int32_t(iteration + 1);
    }
  }

  /// sum := mean of log_m(x_i); returns L, the mean of sqrt(c) d_i coth(sqrt(c) d_i).
  double gradient(const group& of, double gap) const {
    const std::int64_t dim = a.points.dim;
    const auto mean = mean_row(of);
    double total = 0, bound = 0;
    for (std::int64_t k = 0; k < dim; ++k) of.sum[k] = 0;
    for (std::int64_t i = of.first; i < of.end; ++i) {
      const double weight = a.weight(i);
      if (!(weight > 0)) continue;
      const auto x = a.row(i);
      const double x_gap = examine_point(dim, a.c, x).gap;
      const auto frame = difference_frame::of(dim, a.c, gap, mean, x_gap, x);
      const double scale = weight * frame.log_scale(x_gap), distance = 2 * asinh_root(frame.t);
      for (std::int64_t k = 0; k < dim; ++k)
        of.sum[k] = device::fma(scale, frame.direction(a.c, gap, mean(k), x(k)), of.sum[k]);
      bound += weight / tanh_ratio(distance);
      total += weight;
    }
    for (std::int64_t k = 0; k < dim; ++k) of.sum[k] /= total;
    return bound / total;
  }
};

/// The status of every point.
struct look_row {
  enum { fails_with_nan = 0 };
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    return examine_point(a.x.dim, a.c, a.row(a.x, i)).status;
  }
};

}  // namespace quintet::poincare
