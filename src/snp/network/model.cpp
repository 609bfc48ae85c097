#include "quintet/snp/network/model.hpp"

#include <algorithm>
#include <cmath>

#include "quintet/core/error.hpp"

namespace quintet::snp {

namespace {

// Share of the gamma distribution (shape a, scale 1) below x: series for small x, Lentz's continued fraction else
// (Abramowitz and Stegun 6.5.29, 6.5.31).
double gamma_share(double a, double x) {
  if (x <= 0) return 0;
  const double factor = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (double k = a + 1; term > sum * 1e-17; ++k) sum += term *= x / k;
    return sum * factor;
  }
  double b = x + 1 - a, c = 1e300, d = 1 / b, fraction = d;
  for (int k = 1; k < 100000; ++k) {
    const double an = -k * (k - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    fraction *= d * c;
    if (std::fabs(d * c - 1) < 1e-16) break;
  }
  return 1 - factor * fraction;
}

// log x, by bisection.
double log_gamma_quantile(double a, double share) {
  // For small x the share is x^a / Gamma(a + 1), to a factor of e^-x; x itself may be far too small for a number.
  constexpr double small = -50;
  const double log_quantile = (std::log(share) + std::lgamma(a + 1)) / a;
  if (log_quantile < small) return log_quantile;
  double low = small, high = std::log(a + 100 + 100 * std::sqrt(a));
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (gamma_share(a, std::exp(middle)) < share ? low : high) = middle;
  }
  return high;
}

}  // namespace

std::vector<double> gamma_rates(double shape, std::int64_t categories) {
  require_argument(shape > 0 && shape <= 1e6, "shape", shape, "in (0, 1e6]");
  require_argument(categories >= 1 && categories <= 64, "categories", categories, "in 1 ... 64");
  std::vector<double> rates;
  for (std::int64_t i = 0; i < categories; ++i)
    rates.push_back(log_gamma_quantile(shape, (2.0 * double(i) + 1) / (2.0 * double(categories))));
  // Beside the largest: of a small shape all of them may be too small for numbers, and all but one are still then.
  constexpr double min_rate = 1e-200;
  const double largest = rates.back();
  double sum = 0;
  for (double& rate : rates) sum += rate = std::max(std::exp(rate - largest), min_rate);
  for (double& rate : rates) rate *= double(categories) / sum;
  return rates;
}

}  // namespace quintet::snp
