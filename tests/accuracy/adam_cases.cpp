// Steps of Riemannian Adam against the same step in Minkowski's space, in 113 bits.
#include <algorithm>
#include <cmath>

#include "accuracy/bounds.hpp"
#include "accuracy/case_run.hpp"
#include "accuracy/stored_points.hpp"
#include "reference/adam_reference.hpp"

namespace quintet::accuracy {

namespace {

using reference::adam_on_minkowski, reference::ball_vector;

/// Points, gradients and moments of a step that is not the first, as a model has them: in coordinates of the ball or
/// space parts.
template <class Storage>
struct moving_points {
  using real = accumulator_t<Storage>;
  double c;
  std::int64_t n, dim;
  bool in_ball;
  stored_points<Storage> x, gradient;
  stored_points<real> first;
  std::vector<real> second;
  poincare::adam_options settings;

  explicit moving_points(const test_case& p)
      : c(p.has("c") ? p.real("c") : 1), n(p.integer("n")), dim(p.integer("dim")), in_ball(p.family == "poincare") {
    const auto [least, most] = range_of(p, "norms");
    const auto seed = std::uint64_t(p.integer("seed"));
    x = {test::ball_points<real>(n, dim, least, most, c, seed), in_ball ? c : 0};
    gradient = {test::ball_points<real>(n, dim, 0.2, 3, 1, seed + 1), 0};
    first = {test::ball_points<real>(n, dim, 0.1, 1, 1, seed + 2), 0};
    for (std::int64_t i = 0; i < n; ++i) second.push_back(real(0.25 + double(i % 5)));
    settings = {.rate = p.real("rate"), .beta1 = 0.875, .beta2 = 0.96875, .step = 3};
    if (in_ball) settings.weight_decay = 0.0625;
  }

  /// Row i on the sheet: numbers of (t, x) without their time.
  static ball_vector with_time(ball_vector row) {
    row.insert(row.begin(), 0);
    return row;
  }
  adam_on_minkowski step(std::int64_t i) const {
    ball_vector at = with_time(x.row(i)), moment = with_time(first.row(i)), slope = with_time(gradient.row(i));
    if (in_ball) {
      const reference::lifted_point lifted(at, c);
      adam_on_minkowski state{lifted.point(), lifted.vector(moment), second[i]};
      state.take_step(lifted.gradient(slope, settings.weight_decay), settings, c);
      return state;
    }
    const long double time = std::sqrt(1 / (long double)c + (long double)reference::space_product(at, at));
    moment[0] = reference::space_product(at, moment) / time;
    at[0] = time;
    adam_on_minkowski state{at, moment, second[i]};
    state.take_step(slope, settings, c);
    return state;
  }

  /// Coordinates for a tangent vector of length 1, at most: lambda^-1 in the ball, the time of the hyperboloid.
  double stretch(const adam_on_minkowski& state) const {
    const double time = std::sqrt(c) * double(state.x[0]);
    return in_ball ? 1 / (1 + time) : time;
  }
};

/// Results of a step, one after another.
template <class Real>
struct step_results {
  std::vector<Real> out, first, second;
};

template <class Storage>
step_results<accumulator_t<Storage>> take_step(const moving_points<Storage>& p, const Device& device) {
  using real = accumulator_t<Storage>;
  step_results<real> r{std::vector<real>(p.x.data.size()), p.first.data, p.second};
  const matrix_view<real> out(r.out.data(), p.n, p.dim), first(r.first.data(), p.n, p.dim);
  if (p.in_ball)
    poincare::adam_step(p.x.view(), p.gradient.view(), 1e-6, first, r.second, out, p.settings, {.curvature = -p.c},
                        device);
  else
    lorentz::adam_step(p.x.view(), p.gradient.view(), first, r.second, out, p.settings, {.curvature = -p.c}, device);
  return r;
}

/// Rows of numbers and the sizes of their errors.
struct expected_rows {
  std::vector<long double> numbers;
  std::vector<double> sizes;

  /// Numbers of `row` after its time.
  void add(const ball_vector& row, double size, bool by_coordinate) {
    double largest = 0;
    for (std::size_t k = 1; k < row.size(); ++k) largest = std::max(largest, std::fabs(double(row[k])));
    numbers.insert(numbers.end(), row.begin() + 1, row.end());
    sizes.insert(sizes.end(), row.size() - 1, size + (by_coordinate ? largest : 0));
  }
};

template <class Storage>
void adam_step(case_run& run) {
  using real = accumulator_t<Storage>;
  const moving_points<Storage> p(run.parameters());
  expected_rows points, moments;
  std::vector<long double> squares;
  for (std::int64_t i = 0; i < p.n; ++i) {
    const adam_on_minkowski state = p.step(i);
    // On the hyperboloid a rounding across the direction from the origin is longer than its part of the vector.
    const double tilt =
        p.in_ball
            ? 1
            : std::sqrt(1 + p.c * double(reference::space_product(p.with_time(p.x.row(i)), p.with_time(p.x.row(i)))));
    const double parted = double(state.cancelled) * tilt * p.stretch(state);
    points.add(p.in_ball ? reference::into_ball(state.x, p.c) : state.x,
               parted * std::sinh(double(state.length)) / std::sqrt(p.c), true);
    const auto moment = double(std::sqrt((long double)reference::minkowski_product(state.first, state.first)));
    moments.add(p.in_ball ? reference::vector_into_ball(state.x, state.first, p.c) : state.first,
                parted * moment * std::cosh(double(state.length)), false);
    squares.push_back(state.second);
  }
  // In double the sums and roundings of a walk. In float the moments that a step is made of are rounded before it, and
  // it is rounded after it: half a unit of a coordinate, half of the way's direction and a quarter of its length.
  const double walk = 2 * sum_bound(double(p.dim)) + 16;
  const bool is_wide = sizeof(real) == 8;
  const std::string way = p.in_ball ? "(1 - c |x|^2) / 2" : "sqrt((1 + c |x|^2) (1 + c |out|^2))";
  const auto measure = [&](const char* quantity, const auto& exact, const tolerance& allowed, auto member) {
    measure_elements(run, quantity, exact, allowed, [&](const Device& device) { return take_step(p, device).*member; });
  };
  measure("point", points.numbers,
          {.bound = is_wide ? walk : 0.75, .sizes = points.sizes, .unit = "eps (max |x_k| + sinh l " + way + ")"},
          &step_results<real>::out);
  measure("first moment", moments.numbers,
          {.bound = is_wide ? walk : 1.25, .sizes = moments.sizes, .unit = "eps |m| cosh l " + way},
          &step_results<real>::first);
  measure("second moment", squares, {.bound = is_wide ? sum_bound(double(p.dim)) + 5 : 0.5 + 1e-3},
          &step_results<real>::second);
}

}  // namespace

void run_adam(case_run& run) {
  with_storage(run.parameters(), [&]<class T>() { adam_step<T>(run); });
}

}  // namespace quintet::accuracy
