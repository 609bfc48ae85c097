#include "snp/likelihood/rates.hpp"

#include <algorithm>
#include <cmath>

#include "snp/likelihood/state_space.hpp"

namespace quintet::snp {

namespace {

// Largest s h of one uniformisation: more costs terms, less costs squarings.
constexpr double shift_limit = 2;

// The first `max` terms reach every element; those after them make it right to 2^-60 relative to itself.
std::int32_t terms_for(std::int32_t max, double x) {
  if (x == 0) return 0;
  double remainder = 1;
  std::int32_t k = max;
  while (remainder > 0x1p-60) remainder *= x / ++k;
  return k;
}

double power(double x, int n) {
  double value = 1;
  for (; n > 0; --n) value *= x;
  return value;
}

// After so many theta two lineages are one, but for a probability below the smallest number: e^(-2 * 400).
constexpr double max_thetas = 400;
// After a mean of so many mutations a lineage has forgotten what it was, to the same degree.
constexpr double max_mutations = 800;
// Where a lineage mutates so often before it meets another one only u / v counts, to about 1e-8. That is also what
// more squarings would cost, each of which doubles the errors.
constexpr double mutations_per_theta = 1e8;

// exp(t Q) of one lineage.
single_lineage mutations_of(double t, double u, double v) {
  single_lineage lineage;
  const double fastest = std::max(u, v);
  if (!(t > 0) || fastest == 0) return lineage;
  // In units of the faster rate, which may be near the largest number.
  const double share_u = u / fastest, share_v = v / fastest, both = share_u + share_v;
  const double changed = -std::expm1(-(fastest * t) * both);
  const double slope = changed < 1 ? t * (1 - changed) : 0, per_rate = changed / (both * both) / fastest;
  lineage.to_1 = share_v / both * changed;
  lineage.to_0 = share_u / both * changed;
  lineage.to_1_by_u = -share_v * per_rate + share_v / both * slope;
  lineage.to_1_by_v = share_u * per_rate + share_v / both * slope;
  lineage.to_0_by_u = share_v * per_rate + share_u / both * slope;
  lineage.to_0_by_v = -share_u * per_rate + share_u / both * slope;
  return lineage;
}

}  // namespace

// Branches and rates may be so long and fast that their product is no number. Then the exponential is that of the
// limit: of one lineage for what lies beyond max_thetas, and of a rate that is fast enough in place of a faster one.
exponential_job exponential_of(std::int32_t max, double length, double theta, double u, double v) {
  exponential_job job;
  job.max = max;
  const double t = std::min(length, max_thetas * theta), in_thetas = length > t ? max_thetas : t / theta;
  const double fastest = std::max(u, v), limit = std::max(max_mutations, mutations_per_theta * in_thetas);
  const bool is_fast = t * fastest > limit;
  const double mutations = is_fast ? limit : t * fastest;
  if (length > t) job.rest = mutations_of(length - t, u, v);
  double x = length > t || is_fast ? max * (max - 1.0) * in_thetas + max * mutations
                                   : length * (max * (max - 1.0) / theta + max * fastest);
  double h = 1;
  while (x > shift_limit) x /= 2, h /= 2, ++job.squarings;
  job.shift = x;
  job.decay = std::exp(-x);
  job.terms = terms_for(max, x);
  job.length = h * (is_fast ? limit / fastest : t);
  job.coalescence = length > t ? h * in_thetas : h * t / theta;
  job.u = is_fast ? h * limit * (u / fastest) : job.length * u;
  job.v = is_fast ? h * limit * (v / fastest) : job.length * v;
  return job;
}

std::pair<double, double> scaled_rates(double theta, double v, double u) {
  constexpr double max_scaled = 1e300, min_scaled = 1e-300;
  const double fastest = std::max(u, v), scaled = theta * fastest;
  if (scaled <= max_scaled && scaled >= min_scaled) return {theta * v, theta * u};
  const double limit = scaled > max_scaled ? max_scaled : min_scaled;
  return {limit * (v / fastest), limit * (u / fastest)};
}

root_weights root_weights_of(const layout& states, double a1, double a0) {
  // State (n, r) has one factor more than (n - 1, r), or the last one of a block than (n - 1, n - 1).
  struct weight {
    double value = 1, by_a1 = 0, by_a0 = 0;
  };
  const std::int32_t max = states.max(0);
  std::vector<weight> known(std::size_t(state_count(max)));
  for (std::int32_t n = 1; n <= max; ++n)
    for (std::int32_t r = 0; r <= n; ++r) {
      const bool red = r == n;
      const weight& before = known[std::size_t(state_index(n - 1, red ? r - 1 : r))];
      // Whole numbers first: a1 and a0 may be small compared with 1.
      const double above = red ? a1 + (r - 1) : a0 + (n - 1 - r), below = a1 + a0 + (n - 1), factor = above / below;
      known[std::size_t(state_index(n, r))] = {before.value * factor,
                                               before.by_a1 * factor + before.value * ((red ? 1 : 0) - factor) / below,
                                               before.by_a0 * factor + before.value * ((red ? 0 : 1) - factor) / below};
    }
  root_weights weights;
  weights.value.resize(std::size_t(states.entries()));
  weights.by_a1 = weights.by_a0 = weights.value;
  for (const auto& [counts, base] : states.blocks())
    for (std::int32_t r = 0; r <= counts[0]; ++r) {
      const weight& entry = known[std::size_t(state_index(counts[0], r))];
      const std::size_t e = std::size_t(base + r);
      weights.value[e] = entry.value;
      weights.by_a1[e] = entry.by_a1;
      weights.by_a0[e] = entry.by_a0;
    }
  return weights;
}

scaled_root_weights scaled_root_weights_of(const layout& states, double a1, double a0) {
  scaled_root_weights weights;
  weights.value.resize(std::size_t(states.entries()));
  weights.exponent.resize(weights.value.size());
  // Row n from row n - 1, as in root_weights_of.
  std::vector<double> value{1};
  std::vector<int> exponent{0};
  const auto multiply = [&](std::size_t r, double factor) {
    int more = 0;
    value[r] = std::frexp(value[r] * factor, &more);
    exponent[r] += more;
  };
  for (std::int32_t n = 0; n <= states.max(0); ++n) {
    if (n > 0) {
      const double below = a1 + a0 + (n - 1);
      value.push_back(value.back());
      exponent.push_back(exponent.back());
      for (std::int32_t r = 0; r < n; ++r) multiply(std::size_t(r), (a0 + (n - 1 - r)) / below);
      multiply(std::size_t(n), (a1 + (n - 1)) / below);
    }
    const std::int64_t base = states.find({n});
    if (base < 0) continue;
    std::copy(value.begin(), value.end(), weights.value.begin() + base);
    std::copy(exponent.begin(), exponent.end(), weights.exponent.begin() + base);
  }
  return weights;
}

std::vector<double> inheritance_shares(std::int32_t max, double gamma, bool derivative) {
  const auto binomials = binomial_table(max);
  std::vector<double> shares(std::size_t(max + 1) * std::size_t(max + 1), 0.0);
  const double other = 1 - gamma;
  for (std::int32_t ny = 0; ny <= max; ++ny)
    for (std::int32_t nz = 0; ny + nz <= max; ++nz) {
      double share = power(gamma, ny) * power(other, nz);
      if (derivative)
        share = (ny > 0 ? ny * power(gamma, ny - 1) * power(other, nz) : 0) -
                (nz > 0 ? nz * power(gamma, ny) * power(other, nz - 1) : 0);
      shares[std::size_t(ny * (max + 1) + nz)] = binomials[std::size_t((ny + nz) * (max + 1) + ny)] * share;
    }
  return shares;
}

std::vector<double> binomial_table(std::int32_t max) {
  const std::size_t stride = std::size_t(max) + 1;
  std::vector<double> table(stride * stride, 0.0);
  for (std::size_t n = 0; n < stride; ++n) {
    table[n * stride] = 1;
    for (std::size_t k = 1; k <= n; ++k)
      table[n * stride + k] = table[(n - 1) * stride + k - 1] + table[(n - 1) * stride + k];
  }
  return table;
}

}  // namespace quintet::snp
