// Means of groups of points: one group a thread, in double. A launch does a slice of a group's work, so that polls come
// between the slices of a large one; what has to last from slice to slice lies in `states` and `workspace`.
#pragma once

#include <limits>

#include "poincare/row_operations_kernel.hpp"

namespace quintet::poincare {

/// What the next slice of a group's work does.
enum class mean_phase : std::int32_t { midpoint, gradient, done };

/// How far the mean of a group is.
struct mean_state {
  mean_phase phase = mean_phase::midpoint;
  std::int32_t pass = 0;        ///< midpoints so far
  std::int32_t iterations = 0;  ///< steps so far
  std::int32_t stalled = 0;     ///< steps since the shortest gradient
  std::int64_t next = 0;        ///< first row that the sums of this phase lack
  double weight_unit = 1;       ///< weights are multiplied by it: their sums and products stay in range
  double total = 0, bound = 0;  ///< sums over rows
  double step = 0;              ///< that led to this mean; 0: none
  double shortest = 0;          ///< gradient so far
  bool converged = false;
};

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
  bool first_launch;
  double* workspace;  ///< [group][3][dim]: mean, sum, the mean before
  mean_state* states;
  Real* out;
  std::int64_t out_stride;

  double weight(std::int64_t i) const { return weights == nullptr ? 1.0 : double(weights[i]); }
  auto row(std::int64_t i) const {
    return [data = points.data + i * points.stride](std::int64_t k) { return double(data[k]); };
  }
};

/// Ungar 2008 (gyromidpoint) and Karcher 1977 (gradient flow to the Frechet mean) with the steps of Barzilai and
/// Borwein 1988: see quintet/poincare/means.hpp.
template <class Storage, class Shape>
struct mean_kernel {
  using Real = accumulator_t<Storage>;
  using shape = Shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, groups_per_tile = Shape::on_device ? 64 : 1 };
  /// A pass goes up to 19 / sqrt(c) far, and points of double are at most 76 / sqrt(c) apart.
  enum { max_passes = 8 };
  /// Coordinates of a slice: milliseconds of a thread.
  enum { slice = Shape::on_device ? 1 << 16 : 1 << 20 };
  static constexpr double min_gap = 0x1p-52;
  mean_arguments<Storage> a;
  std::int64_t groups;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int g = team.rank(); g < groups_per_tile; g += team.size())
      if (tile * groups_per_tile + g < groups) continue_mean(tile * groups_per_tile + g);
  }

 private:
  struct group {
    std::int64_t first, end;
    double *mean, *sum, *before;
  };

  void continue_mean(std::int64_t g) const {
    const std::int64_t dim = a.points.dim;
    double* const work = a.workspace + g * 3 * dim;
    const group of{a.offsets[g], a.offsets[g + 1], work, work + dim, work + 2 * dim};
    mean_state s = a.first_launch ? start(of) : a.states[g];
    std::int64_t rows = slice / dim + 1;
    while (s.phase != mean_phase::done && rows > 0) {
      const std::int64_t begin = s.next, end = of.end - begin < rows ? of.end : begin + rows;
      rows -= end - begin;
      s.next = end < of.end ? end : of.first;
      s.phase == mean_phase::midpoint ? add_to_midpoint(of, s, begin, end) : add_to_gradient(of, s, begin, end);
      if (end < of.end) break;
      s.phase == mean_phase::midpoint ? finish_midpoint(of, s) : finish_gradient(of, s);
    }
    a.states[g] = s;
    if (s.phase == mean_phase::done) write_mean(of, s, a.out + g * a.out_stride);
  }

  void write_mean(const group& of, const mean_state& s, Real* to) const {
    const std::int64_t dim = a.points.dim;
    for (std::int64_t k = 0; k < dim; ++k)
      to[k] = s.converged || s.iterations > 0 ? Real(of.mean[k]) : std::numeric_limits<Real>::quiet_NaN();
    keep_inside(dim, a.c, examine_point(dim, a.c, mean_row(of)).gap, to);
  }

  /// mean := the first point that counts; ends if no point counts or one of them is not inside.
  mean_state start(const group& of) const {
    mean_state s;
    s.next = of.first;
    s.phase = mean_phase::done;
    std::int64_t first = -1;
    double largest = 0;
    for (std::int64_t i = of.end - 1; i >= of.first; --i) {
      if (!(a.weight(i) > 0)) continue;
      if (a.status[i] != point_status::inside) return s;
      largest = a.weight(i) > largest ? a.weight(i) : largest;
      first = i;
    }
    if (first < 0) return s;
    if (largest > 1e100) s.weight_unit = 0x1p-1000;
    if (largest < 1e-100) s.weight_unit = 0x1p1000;
    for (std::int64_t k = 0; k < a.points.dim; ++k) of.mean[k] = a.row(first)(k);
    s.phase = mean_phase::midpoint;
    return s;
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

  void clear_sums(const group& of, mean_state& s) const {
    s.total = s.bound = 0;
    for (std::int64_t k = 0; k < a.points.dim; ++k) of.sum[k] = 0;
  }

  /// With w = (-mean) (+) x, 1 - c |w|^2 = 1 / (1 + t): lambda_w = 2 (1 + t), and lambda_w w = 2 direction / (a_m a_x).
  void add_to_midpoint(const group& of, mean_state& s, std::int64_t begin, std::int64_t end) const {
    const std::int64_t dim = a.points.dim;
    const auto mean = mean_row(of);
    const double gap = examine_point(dim, a.c, mean).gap;
    if (begin == of.first) clear_sums(of, s);
    for (std::int64_t i = begin; i < end; ++i) {
      const double weight = a.weight(i) * s.weight_unit;
      if (!(weight > 0)) continue;
      const auto x = a.row(i);
      const double x_gap = examine_point(dim, a.c, x).gap;
      const auto frame = difference_frame::of(dim, a.c, gap, mean, x_gap, x);
      const double scale = 2 * weight / (gap * x_gap);
      for (std::int64_t k = 0; k < dim; ++k)
        of.sum[k] = device::fma(scale, frame.direction(a.c, gap, mean(k), x(k)), of.sum[k]);
      s.total = device::fma(weight, device::fma(2, frame.t, 1), s.total);
    }
  }

  /// In the frame of the mean found before, the midpoint is near the origin and nothing cancels. One that is far from
  /// the origin of its frame, where rounding decides how far, is the next frame.
  void finish_midpoint(const group& of, mean_state& s) const {
    const std::int64_t dim = a.points.dim;
    const auto mean = mean_row(of);
    const double gap = examine_point(dim, a.c, mean).gap;
    for (std::int64_t k = 0; k < dim; ++k) of.sum[k] /= s.total;
    // (1/2) (x) z = z / (1 + sqrt(1 - c |z|^2)).
    const double z_gap = examine_point(dim, a.c, sum_row(of)).gap, root = std::sqrt(z_gap > min_gap ? z_gap : min_gap);
    const auto half = [&](std::int64_t k) { return of.sum[k] / (1 + root); };
    keep_inside(dim, a.c, write_mobius_sum(dim, a.c, gap, mean, 2 * root / (1 + root), half, mean_writer(of)), of.mean);
    const bool near_origin = z_gap > 0.5 && s.pass > 0;
    if (++s.pass < max_passes && !near_origin) return;
    s.converged = !a.frechet;
    s.phase = a.frechet ? mean_phase::gradient : mean_phase::done;
  }

  /// sum, total, bound: sums of log_m(x_i), of 1 and of sqrt(c) d_i coth(sqrt(c) d_i), weighted.
  void add_to_gradient(const group& of, mean_state& s, std::int64_t begin, std::int64_t end) const {
    const std::int64_t dim = a.points.dim;
    const auto mean = mean_row(of);
    const double gap = examine_point(dim, a.c, mean).gap;
    if (begin == of.first) clear_sums(of, s);
    for (std::int64_t i = begin; i < end; ++i) {
      const double weight = a.weight(i) * s.weight_unit;
      if (!(weight > 0)) continue;
      const auto x = a.row(i);
      const double x_gap = examine_point(dim, a.c, x).gap;
      const auto frame = difference_frame::of(dim, a.c, gap, mean, x_gap, x);
      const double scale = weight * frame.log_scale(x_gap), distance = 2 * asinh_root(frame.t);
      for (std::int64_t k = 0; k < dim; ++k)
        of.sum[k] = device::fma(scale, frame.direction(a.c, gap, mean(k), x(k)), of.sum[k]);
      s.bound += weight / tanh_ratio(distance);
      s.total += weight;
    }
  }

  /// m <- exp_m(step gradient). Done when the gradient is as short as its rounding, or that of the mean's coordinates.
  void finish_gradient(const group& of, mean_state& s) const {
    constexpr double epsilon = std::numeric_limits<double>::epsilon();
    const std::int64_t dim = a.points.dim;
    const auto mean = mean_row(of);
    const double gap = examine_point(dim, a.c, mean).gap, to_metric = 2 / gap * (a.c > 0 ? a.root_c : 1);
    for (std::int64_t k = 0; k < dim; ++k) of.sum[k] /= s.total;
    const double bound = s.bound / s.total, length = to_metric * norm(dim, sum_row(of));
    s.converged = length <= (a.tolerance + epsilon * to_metric * norm(dim, mean)) * (1 + bound);
    if (s.converged || s.iterations == a.max_iterations) s.phase = mean_phase::done;
    if (s.iterations == a.max_iterations) return;
    const double step = next_step(of, s, gap, bound, length);
    for (std::int64_t k = 0; k < dim; ++k) of.before[k] = of.mean[k];
    const auto along = [&](std::int64_t k) { return step * of.sum[k]; };
    keep_inside(dim, a.c, write_exponential(dim, a.c, gap, mean, along, mean_writer(of)), of.mean);
    s.step = step;
    ++s.iterations;
  }

  /// The second derivatives of the objective are between 1 and the bound: 2 / (1 + bound) is a step that always comes
  /// nearer. That of Barzilai and Borwein divides the step before by the change of the gradient along it.
  double next_step(const group& of, mean_state& s, double gap, double bound, double length) const {
    const double safe = 2 / (1 + bound);
    const bool is_shortest = s.step == 0 || length < s.shortest;
    s.stalled = is_shortest ? 0 : s.stalled + 1;
    s.shortest = is_shortest ? length : s.shortest;
    if (s.step == 0 || a.c == 0 || s.stalled > 8 || length > 4 * s.shortest) return safe;
    const std::int64_t dim = a.points.dim;
    const auto mean = mean_row(of);
    const auto before = [data = of.before](std::int64_t k) { return data[k]; };
    const double before_gap = examine_point(dim, a.c, before).gap;
    const auto frame = difference_frame::of(dim, a.c, gap, mean, before_gap, before);
    const double scale = frame.log_scale(before_gap);
    double square = 0, gain = 0;  // of log_m(the mean before), which is the step turned round
    for (std::int64_t k = 0; k < dim; ++k) {
      const double component = scale * frame.direction(a.c, gap, mean(k), before(k));
      square = device::fma(component, component, square);
      gain = device::fma(component, of.sum[k], gain);
    }
    const double change = square / s.step + gain, step = square / change;
    if (!(change > 0 && square > 0)) return safe;
    return step > 1 ? 1 : step < 1 / bound ? 1 / bound : step;
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
