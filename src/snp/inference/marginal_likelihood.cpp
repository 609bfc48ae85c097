#include "quintet/snp/inference/marginal_likelihood.hpp"

#include <algorithm>
#include <cmath>

#include "quintet/core/error.hpp"
#include "quintet/snp/inference/diagnostics.hpp"
#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

constexpr double ladder_shape = 0.3;  // of the beta density that has the powers as quantiles
constexpr std::int64_t max_power_steps = 1023;

using power_draws = std::vector<std::vector<double>>;  // [chain][draw]

double mean_of(const power_draws& draws) {
  double sum = 0, count = 0;
  for (const auto& chain : draws)
    for (const double x : chain) sum += x, ++count;
  return sum / count;
}

double variance_of(const power_draws& draws) {
  const double mean = mean_of(draws);
  double sum = 0, count = 0;
  for (const auto& chain : draws)
    for (const double x : chain) sum += (x - mean) * (x - mean), ++count;
  return sum / (count - 1);
}

// Draws that are all equal count each.
double effective_number(const power_draws& draws) {
  const double all = double(draws.size() * draws[0].size()), ess = ess_mean(draws);
  return ess > 0 ? std::min(ess, all) : all;
}

// exp(width log L) without the largest factor, whose logarithm is the second.
std::pair<power_draws, double> ratios_of(const power_draws& log_likelihoods, double width) {
  double most = -infinity;
  for (const auto& chain : log_likelihoods)
    for (const double x : chain) most = std::max(most, width * x);
  power_draws ratios = log_likelihoods;
  for (auto& chain : ratios)
    for (double& x : chain) x = std::exp(width * x - most);
  return {std::move(ratios), most};
}

power_step step_of(const power_draws& log_likelihoods, double power, double width) {
  power_step step{.power = power, .mean = mean_of(log_likelihoods), .variance = variance_of(log_likelihoods)};
  step.ess = effective_number(log_likelihoods);
  if (width == 0) return step;
  const auto [ratios, log_most] = ratios_of(log_likelihoods, width);
  const double mean = mean_of(ratios);
  step.log_ratio = log_most + std::log(mean);
  step.error = std::sqrt(variance_of(ratios) / effective_number(ratios)) / mean;
  return step;
}

double log_ratio_of(const std::vector<double>& log_likelihoods, double width) {
  const auto [ratios, log_most] = ratios_of({log_likelihoods}, width);
  return log_most + std::log(mean_of(ratios));
}

void check_powers(std::span<const double> powers, std::span<const power_draws> log_likelihoods) {
  require_argument(powers.size() >= 2 && powers.front() == 1 && powers.back() == 0, "powers", powers.size(),
                   "two or more, from 1 to 0");
  for (std::size_t k = 1; k < powers.size(); ++k)
    require_argument(powers[k] < powers[k - 1], "power", powers[k], text("less than the one before, ", powers[k - 1]));
  require_argument(!log_likelihoods.empty(), "chains", 0, ">= 1");
  const std::size_t draws = log_likelihoods[0].empty() ? 0 : log_likelihoods[0][0].size();
  require_argument(draws >= std::size_t(min_power_draws), "draws at every power", draws, text(">= ", min_power_draws));
  for (const power_draws& chain : log_likelihoods) {
    require_argument(chain.size() == powers.size(), "powers of a chain", chain.size(), text(powers.size()));
    for (const auto& values : chain) {
      require_argument(values.size() == draws, "draws at every power", values.size(), text(draws));
      for (const double x : values) require_argument(std::isfinite(x), "log-likelihood", x, "finite");
    }
  }
}

}  // namespace

std::vector<double> power_ladder(std::int64_t steps) {
  require_argument(steps >= 1 && steps <= max_power_steps, "steps", steps, text("in 1 ... ", max_power_steps));
  std::vector<double> powers;
  for (std::int64_t k = steps; k >= 0; --k) powers.push_back(std::pow(double(k) / double(steps), 1 / ladder_shape));
  return powers;
}

marginal_likelihood_estimate marginal_likelihood(std::span<const double> powers,
                                                 std::span<const power_draws> log_likelihoods) {
  check_powers(powers, log_likelihoods);
  marginal_likelihood_estimate result;
  result.by_chain.assign(log_likelihoods.size(), 0);
  double variance = 0, thermodynamic_variance = 0, worst = -1;
  for (std::size_t k = 0; k < powers.size(); ++k) {
    const double width = k == 0 ? 0 : powers[k - 1] - powers[k];
    power_draws draws;
    for (std::size_t c = 0; c < log_likelihoods.size(); ++c) {
      draws.push_back(log_likelihoods[c][k]);
      if (k > 0) result.by_chain[c] += log_ratio_of(draws.back(), width);
    }
    result.steps.push_back(step_of(draws, powers[k], width));
    const power_step& step = result.steps.back();
    result.log_z += step.log_ratio;
    variance += step.error * step.error;
    if (k > 0 && step.error > worst) {
      worst = step.error;
      result.worst_step = std::int64_t(k);
    }
    // Half of the widths on both sides.
    const double weight = 0.5 * (width + (k + 1 < powers.size() ? powers[k] - powers[k + 1] : 0));
    thermodynamic_variance += weight * weight * step.variance / step.ess;
    result.thermodynamic += weight * step.mean;
    if (k > 0) result.thermodynamic -= width * width / 12 * (result.steps[k - 1].variance - step.variance);
  }
  result.error = std::sqrt(variance);
  if (const power_draws chains{result.by_chain}; result.by_chain.size() > 1)
    result.error = std::max(result.error, std::sqrt(variance_of(chains) / double(result.by_chain.size())));
  result.thermodynamic_error = std::sqrt(thermodynamic_variance);
  result.agrees =
      std::fabs(result.log_z - result.thermodynamic) <= 3 * std::hypot(result.error, result.thermodynamic_error);
  return result;
}

std::string_view evidence_in_words(double two_log_factor) {
  if (two_log_factor < 2) return "not worth more than a bare mention";
  if (two_log_factor < 6) return "positive";
  return two_log_factor < 10 ? "strong" : "very strong";
}

}  // namespace quintet::snp
