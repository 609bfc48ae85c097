#include "quintet/snp/likelihood/optimise.hpp"

#include <cmath>
#include <limits>

#include "quintet/core/error.hpp"
#include "quintet/core/profile.hpp"
#include "snp/likelihood/climb.hpp"

namespace quintet::snp {

namespace {

void check(const optimise_options& o) {
  const auto positive = [](const char* name, double value) {
    require_argument(std::isfinite(value) && value > 0, name, value, "finite and > 0");
  };
  const auto counted = [](const char* name, std::int64_t value, std::int64_t most) {
    require_argument(value >= 1 && value <= most, name, value, text("in 1 ... ", most));
  };
  counted("starts", o.starts, max_optimise_starts);
  counted("max_iterations", o.max_iterations, max_optimise_iterations);
  positive("tolerance", o.tolerance);
  positive("min_length", o.min_length);
  positive("min_theta", o.min_theta);
  require_argument(o.max_length > o.min_length && std::isfinite(o.max_length), "max_length", o.max_length,
                   text("finite and > min_length=", o.min_length));
  require_argument(o.max_theta > o.min_theta && std::isfinite(o.max_theta), "max_theta", o.max_theta,
                   text("finite and > min_theta=", o.min_theta));
  require_argument(o.min_gamma > 0 && o.min_gamma < 0.5, "min_gamma", o.min_gamma, "in (0, 0.5)");
}

}  // namespace

double aic(double log_likelihood, std::int64_t parameters) { return 2 * double(parameters) - 2 * log_likelihood; }

double bic(double log_likelihood, std::int64_t parameters, double sites) {
  return std::log(sites) * double(parameters) - 2 * log_likelihood;
}

optimise_result optimise(Likelihood& likelihood, const optimise_options& options) {
  check(options);
  const stage_region stage("optimise");
  climb_problem climb(likelihood, options);
  if (climb.empty())
    throw InvalidArgument("there is nothing to optimise: no lengths, no thetas, and no gammas or no reticulations");
  optimise_result result;
  result.start = likelihood.evaluate();
  if (!std::isfinite(result.start))
    throw InvalidArgument(text("the log-likelihood of the start must be finite (it is ", result.start, ")"));
  likelihood.accept();
  const climb_vector first = climb.start();
  climb_vector best = first;
  double best_value = climb_from(climb, best, 0, options, result);
  bool best_converged = result.converged, best_is_last = true;
  for (std::int64_t number = 1; number < options.starts; ++number) {
    climb_vector x = climb.scattered(first, random_stream(options.seed, std::uint64_t(number)));
    const bool is_finite = std::isfinite(climb.value(x));
    climb.accept();
    const double value = is_finite ? climb_from(climb, x, number, options, result) : 0;
    if (!is_finite) result.ends.push_back(-std::numeric_limits<double>::infinity());
    best_is_last = is_finite && value < best_value;
    if (!best_is_last) continue;
    best = x;
    best_value = value;
    best_converged = result.converged;
  }
  if (!best_is_last) {
    best_value = climb.value(best);
    climb.accept();
  }
  result.converged = best_converged;
  result.log_likelihood = -best_value;
  result.parameters = climb.parameters();
  result.at_bounds = climb.at_bounds(best);
  result.truncation_bound = likelihood.truncation().bound;
  return result;
}

}  // namespace quintet::snp
