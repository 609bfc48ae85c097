#include "quintet/snp/model.hpp"

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

// By bisection of log x.
double gamma_quantile(double a, double share) {
  double low = -800, high = std::log(a + 100 + 100 * std::sqrt(a));
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (gamma_share(a, std::exp(middle)) < share ? low : high) = middle;
  }
  return std::exp(high);
}

}  // namespace

std::vector<double> gamma_rates(double shape, std::int64_t categories) {
  require_argument(shape > 0 && shape <= 1e6, "shape", shape, "in (0, 1e6]");
  require_argument(categories >= 1 && categories <= 64, "categories", categories, "in 1 ... 64");
  std::vector<double> rates;
  double sum = 0;
  for (std::int64_t i = 0; i < categories; ++i) {
    rates.push_back(gamma_quantile(shape, (2.0 * double(i) + 1) / (2.0 * double(categories))));
    sum += rates.back();
  }
  for (double& rate : rates) rate *= double(categories) / sum;
  return rates;
}

}  // namespace quintet::snp
