#include "snp/likelihood/lbfgs.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "quintet/core/error.hpp"
#include "support/near.hpp"

namespace quintet::snp {
namespace {

using vector = std::vector<double>;

// A function of two variables with its gradient; checks that only accepted points are asked for their gradient.
template <class Function, class Slope>
struct smooth_problem {
  Function function;
  Slope slope;
  vector trial = {}, accepted = {};
  bool pending = false;
  std::int64_t iterations_allowed = 1000000;

  double value(const vector& x) {
    EXPECT_FALSE(pending);
    pending = true;
    trial = x;
    return function(x);
  }
  void accept() {
    pending = false;
    accepted = trial;
  }
  void reject() { pending = false; }
  vector gradient() { return slope(accepted); }
  void report(std::int64_t iteration) {
    if (iteration >= iterations_allowed) throw Cancelled("test");
  }
};

template <class Function, class Slope>
smooth_problem(Function, Slope) -> smooth_problem<Function, Slope>;

const auto rosenbrock = [](const vector& x) { return 100 * std::pow(x[1] - x[0] * x[0], 2) + std::pow(1 - x[0], 2); };
const auto rosenbrock_slope = [](const vector& x) {
  return vector{-400 * x[0] * (x[1] - x[0] * x[0]) - 2 * (1 - x[0]), 200 * (x[1] - x[0] * x[0])};
};

TEST(lbfgs, valley_of_rosenbrock) {
  smooth_problem problem{rosenbrock, rosenbrock_slope};
  vector x{-1.2, 1};
  const vector lower{-10, -10}, upper{10, 10};
  const lbfgs_options options{.tolerance = 1e-14};
  const lbfgs_report report = lbfgs(problem, lower, upper, options).minimise(x);
  EXPECT_EQ(report.stop, lbfgs_stop::converged);
  EXPECT_LT(report.iterations, 80);
  test::expect_error_within("rosenbrock", std::fmax(std::fabs(x[0] - 1), std::fabs(x[1] - 1)), 1e-6);
}

TEST(lbfgs, minimum_at_a_bound) {
  // Under x <= 0.5 the minimum of Rosenbrock's function is at (0.5, 0.25).
  smooth_problem problem{rosenbrock, rosenbrock_slope};
  vector x{-1.2, 1};
  const vector lower{-10, -10}, upper{0.5, 10};
  const lbfgs_options options{.tolerance = 1e-14};
  const lbfgs_report report = lbfgs(problem, lower, upper, options).minimise(x);
  EXPECT_EQ(report.stop, lbfgs_stop::converged);
  EXPECT_EQ(x[0], 0.5);
  test::expect_error_within("at the bound", std::fabs(x[1] - 0.25), 1e-6);
  test::expect_error_within("value", std::fabs(report.value - 0.25), 1e-12);
}

TEST(lbfgs, start_outside_and_infinite_values) {
  // x - log x with a wall at 0: a step over the wall is not taken.
  smooth_problem problem{[](const vector& x) { return x[0] - std::log(x[0]); },
                         [](const vector& x) { return vector{1 - 1 / x[0]}; }};
  vector x{1e9};
  const vector lower{-5}, upper{50};
  const lbfgs_options options{.tolerance = 1e-12, .longest_step = 100};
  const lbfgs_report report = lbfgs(problem, lower, upper, options).minimise(x);
  EXPECT_EQ(report.stop, lbfgs_stop::converged);
  test::expect_error_within("x", std::fabs(x[0] - 1), 1e-5);
}

TEST(lbfgs, flat_function_converges_at_once) {
  smooth_problem problem{[](const vector&) { return 3.0; }, [](const vector&) { return vector{0, 0}; }};
  vector x{1, 2};
  const vector lower{-5, -5}, upper{5, 5};
  const lbfgs_options options;
  const lbfgs_report report = lbfgs(problem, lower, upper, options).minimise(x);
  EXPECT_EQ(report.stop, lbfgs_stop::converged);
  EXPECT_EQ(x, (vector{1, 2}));
}

TEST(lbfgs, stops_after_the_iterations_or_on_demand) {
  smooth_problem problem{rosenbrock, rosenbrock_slope};
  const vector lower{-10, -10}, upper{10, 10};
  const lbfgs_options few{.max_iterations = 5};
  vector x{-1.2, 1};
  const lbfgs_report report = lbfgs(problem, lower, upper, few).minimise(x);
  EXPECT_EQ(report.stop, lbfgs_stop::iterations);
  EXPECT_EQ(report.iterations, 5);
  EXPECT_EQ(report.value, rosenbrock(x));
  EXPECT_EQ(x, problem.accepted);
  problem.iterations_allowed = 3;
  x = {-1.2, 1};
  EXPECT_THROW(lbfgs(problem, lower, upper, few).minimise(x), Cancelled);
}

TEST(lbfgs, wrong_gradient_is_no_descent) {
  smooth_problem problem{[](const vector& x) { return x[0] * x[0]; },
                         [](const vector& x) { return vector{-2 * x[0]}; }};
  vector x{1};
  const vector lower{-5}, upper{5};
  const lbfgs_options options;
  EXPECT_EQ(lbfgs(problem, lower, upper, options).minimise(x).stop, lbfgs_stop::no_descent);
  EXPECT_EQ(x[0], 1);
}

}  // namespace
}  // namespace quintet::snp
