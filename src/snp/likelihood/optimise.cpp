#include "quintet/snp/likelihood/optimise.hpp"

#include <cmath>

#include "quintet/core/error.hpp"
#include "quintet/core/profile.hpp"
#include "snp/likelihood/climb.hpp"

namespace quintet::snp {

void check_climb(const optimise_options& o) {
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

double aic(double log_likelihood, std::int64_t parameters) { return 2 * double(parameters) - 2 * log_likelihood; }

double bic(double log_likelihood, std::int64_t parameters, double sites) {
  return std::log(sites) * double(parameters) - 2 * log_likelihood;
}

optimise_result optimise(Likelihood& likelihood, const optimise_options& options) {
  check_climb(options);
  const stage_region stage("optimise");
  optimise_result result = maximise(likelihood, options);
  result.truncation_bound = likelihood.truncation().bound;
  return result;
}

}  // namespace quintet::snp
