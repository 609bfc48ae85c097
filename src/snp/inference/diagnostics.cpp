#include "quintet/snp/inference/diagnostics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "quintet/core/error.hpp"
#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

using draws = std::vector<std::vector<double>>;

void check(chain_values chains) {
  require_argument(!chains.empty(), "chains", chains.size(), ">= 1");
  for (const auto& chain : chains) {
    require_argument(chain.size() == chains[0].size(), "draws of a chain", chain.size(),
                     text("those of the first one, ", chains[0].size()));
    for (const double x : chain) require_argument(std::isfinite(x), "draw", x, "finite");
  }
}

bool says_nothing(chain_values chains) {
  if (chains[0].size() < 4) return true;
  for (const auto& chain : chains)
    for (const double x : chain)
      if (x != chains[0][0]) return false;
  return true;
}

draws halves(chain_values chains) {
  draws result;
  for (const auto& chain : chains) {
    const auto half = std::ptrdiff_t(chain.size() / 2);
    result.emplace_back(chain.begin(), chain.begin() + half);
    result.emplace_back(chain.end() - half, chain.end());
  }
  return result;
}

std::vector<double> all_of(chain_values chains) {
  std::vector<double> values;
  for (const auto& chain : chains) values.insert(values.end(), chain.begin(), chain.end());
  return values;
}

// Linear interpolation between order statistics, (S - 1) q from the least.
double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double at = q * double(values.size() - 1);
  const auto below = std::size_t(at);
  if (below + 1 >= values.size()) return values.back();
  return values[below] + (at - double(below)) * (values[below + 1] - values[below]);
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// Normal scores of the ranks among all values; equal values have their mean rank.
draws normal_scores(const draws& chains) {
  const std::vector<double> values = all_of(chains);
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> score(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
    const double rank = double(first + last) / 2 + 1;
    const double z = normal_quantile((rank - 0.375) / (double(values.size()) + 0.25));
    for (; first <= last; ++first) score[order[first]] = z;
  }
  draws result;
  std::size_t place = 0;
  for (const auto& chain : chains) {
    const auto begin = score.begin() + std::ptrdiff_t(place);
    result.emplace_back(begin, begin + std::ptrdiff_t(chain.size()));
    place += chain.size();
  }
  return result;
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

// Divisor N - 1.
double variance_of(std::span<const double> values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double x : values) sum += (x - mean) * (x - mean);
  return sum / double(values.size() - 1);
}

// Sum of (x_i - mean)(x_(i + t) - mean).
double lagged_sum(std::span<const double> values, double mean, std::size_t t) {
  double sum = 0;
  for (std::size_t i = 0; i + t < values.size(); ++i) sum += (values[i] - mean) * (values[i + t] - mean);
  return sum;
}

struct spread {
  double within, pooled;  // W, and V = (N - 1) / N W + B
};

spread spread_of(const draws& chains) {
  std::vector<double> means;
  double within = 0;
  for (const auto& chain : chains) {
    means.push_back(mean_of(chain));
    within += variance_of(chain) / double(chains.size());
  }
  const double n = double(chains[0].size());
  return {within, (n - 1) / n * within + variance_of(means)};
}

double basic_rhat(const draws& chains) {
  const auto [within, pooled] = spread_of(chains);
  return std::sqrt(pooled / within);
}

// Geyer's initial monotone sequence on the autocorrelations of all chains.
double basic_ess(const draws& chains) {
  const std::size_t n = chains[0].size();
  const auto [within, pooled] = spread_of(chains);
  const double all = double(n * chains.size());
  if (!(pooled > 0)) return nan;
  std::vector<double> means;
  for (const auto& chain : chains) means.push_back(mean_of(chain));
  const auto correlation = [&, W = within, V = pooled](std::size_t t) {
    double covariance = 0;
    for (std::size_t c = 0; c < chains.size(); ++c)
      covariance += lagged_sum(chains[c], means[c], t) / double(n) / double(chains.size());
    return 1 - (W - covariance) / V;
  };
  double even = 1, odd = correlation(1), sum = 0, before = std::numeric_limits<double>::infinity();
  std::size_t t = 0;
  while (t + 5 < n && even + odd > 0) {
    before = std::min(before, even + odd);
    sum += before;
    t += 2;
    even = correlation(t);
    odd = correlation(t + 1);
  }
  const double time = std::max(-1 + 2 * sum + std::max(even, 0.0), 1 / std::log10(all));
  return all / time;
}

draws at_most(const draws& chains, double limit) {
  draws result = chains;
  for (auto& chain : result)
    for (double& x : chain) x = x <= limit ? 1 : 0;
  return result;
}

}  // namespace

double normal_quantile(double p) {
  require_argument(p > 0 && p < 1, "p", p, "in (0, 1)");
  const bool is_upper = p > 0.5;
  const double tail = is_upper ? 1 - p : p;
  // Abramowitz and Stegun 26.2.23, right to 5e-4, then Halley's method on the complementary error function.
  const double t = std::sqrt(-2 * std::log(tail));
  double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  for (int i = 0; i < 3; ++i) {
    const double error = std::erfc(x * 0.70710678118654752440) / 2 - tail;
    const double step = error * 2.50662827463100050242 * std::exp(x * x / 2);
    x += step / (1 - x * step / 2);
  }
  return is_upper ? x : -x;
}

double split_rhat(chain_values chains) {
  check(chains);
  if (says_nothing(chains)) return nan;
  const draws parts = halves(chains);
  const double median = median_of(all_of(parts));
  draws folded = parts;
  for (auto& chain : folded)
    for (double& x : chain) x = std::fabs(x - median);
  const double bulk = basic_rhat(normal_scores(parts)), tail = basic_rhat(normal_scores(folded));
  // Two values at equal distances from the median have no spread once folded.
  return std::isnan(tail) ? bulk : std::max(bulk, tail);
}

double ess_bulk(chain_values chains) {
  check(chains);
  return says_nothing(chains) ? nan : basic_ess(normal_scores(halves(chains)));
}

double ess_tail(chain_values chains) {
  check(chains);
  if (says_nothing(chains)) return nan;
  const std::vector<double> values = all_of(chains);
  const draws parts = halves(chains);
  double min = nan;
  for (const double q : {0.05, 0.95}) min = std::fmin(min, basic_ess(at_most(parts, quantile(values, q))));
  return min;
}

double ess_mean(chain_values chains) {
  check(chains);
  return says_nothing(chains) ? nan : basic_ess(halves(chains));
}

double tracer_ess(std::span<const double> chain) {
  const std::vector<double> copy(chain.begin(), chain.end());
  check({&copy, 1});
  if (says_nothing({&copy, 1})) return nan;
  const std::size_t n = chain.size(), max = std::min<std::size_t>(n - 1, 2000);
  const double mean = mean_of(chain);
  const auto covariance = [&](std::size_t t) { return lagged_sum(chain, mean, t) / double(n - t); };
  const double variance = covariance(0);
  double sum = variance;
  for (std::size_t t = 1; t + 1 < max; t += 2) {
    const double pair = covariance(t) + covariance(t + 1);
    if (pair <= 0) break;
    sum += 2 * pair;
  }
  return double(n) * variance / sum;
}

interval shortest_interval(std::vector<double> values, double mass) {
  require_argument(!values.empty(), "values", values.size(), ">= 1");
  require_argument(mass > 0 && mass <= 1, "mass", mass, "in (0, 1]");
  std::sort(values.begin(), values.end());
  const auto inside = std::max<std::size_t>(std::size_t(std::ceil(mass * double(values.size()))), 1);
  std::size_t best = 0;
  for (std::size_t first = 0; first + inside <= values.size(); ++first)
    if (values[first + inside - 1] - values[first] < values[best + inside - 1] - values[best]) best = first;
  return {values[best], values[best + inside - 1]};
}

column_summary summarise(chain_values chains) {
  check(chains);
  const std::vector<double> values = all_of(chains);
  require_argument(!values.empty(), "draws", values.size(), ">= 1");
  column_summary result{};
  result.mean = mean_of(values);
  result.sd = values.size() > 1 ? std::sqrt(variance_of(values)) : nan;
  result.median = median_of(values);
  result.hpd95 = shortest_interval(values);
  result.ess_bulk = ess_bulk(chains);
  result.ess_tail = ess_tail(chains);
  result.rhat = split_rhat(chains);
  result.mcse = result.sd / std::sqrt(ess_mean(chains));
  return result;
}

double frequency_deviation(std::span<const std::map<std::string, double>> frequencies, double min) {
  if (frequencies.size() < 2) return nan;
  std::set<std::string> frequent;
  for (const auto& chain : frequencies)
    for (const auto& [item, frequency] : chain)
      if (frequency >= min) frequent.insert(item);
  double sum = 0;
  for (const std::string& item : frequent) {
    std::vector<double> shares;
    for (const auto& chain : frequencies) shares.push_back(chain.contains(item) ? chain.at(item) : 0.0);
    sum += std::sqrt(variance_of(shares));
  }
  return frequent.empty() ? 0 : sum / double(frequent.size());
}

}  // namespace quintet::snp
