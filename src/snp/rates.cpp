#include "snp/rates.hpp"

#include <algorithm>
#include <cmath>

namespace quintet::snp {

namespace {

// Largest s h of one uniformisation: more costs terms, less costs squarings.
constexpr double shift_limit = 2;

// The first `most` terms reach every element; those after them make it right to 2^-60 relative to itself.
std::int32_t terms_for(std::int32_t most, double x) {
  if (x == 0) return 0;
  double remainder = 1;
  std::int32_t k = most;
  while (remainder > 0x1p-60) remainder *= x / ++k;
  return k;
}

double power(double x, int n) {
  double value = 1;
  for (; n > 0; --n) value *= x;
  return value;
}

}  // namespace

exponential_job exponential_of(std::int32_t most, double length, double theta, double u, double v) {
  exponential_job job;
  job.most = most;
  double x = length * (most * (most - 1.0) / theta + most * std::max(u, v));
  double h = 1;
  while (x > shift_limit) x /= 2, h /= 2, ++job.squarings;
  job.shift = x;
  job.decay = std::exp(-x);
  job.terms = terms_for(most, x);
  job.length = h * length;
  job.coalescence = job.length / theta;
  job.u = job.length * u;
  job.v = job.length * v;
  return job;
}

root_weights root_weights_of(const layout& states, double a1, double a0) {
  root_weights weights;
  weights.value.resize(std::size_t(states.entries()));
  weights.by_a1 = weights.by_a0 = weights.value;
  for (const auto& [counts, base] : states.blocks())
    for (std::int32_t r = 0; r <= counts[0]; ++r) {
      double value = 1, by_a1 = 0, by_a0 = 0;
      for (std::int32_t i = 0; i < counts[0]; ++i) {
        // Factor i: one of the numerator over one of the denominator.
        const double above = i < r ? a1 + i : a0 + (i - r), below = a1 + a0 + i;
        const double factor = above / below;
        by_a1 = by_a1 * factor + value * ((i < r ? 1 : 0) - factor) / below;
        by_a0 = by_a0 * factor + value * ((i < r ? 0 : 1) - factor) / below;
        value *= factor;
      }
      const std::size_t e = std::size_t(base + r);
      weights.value[e] = value;
      weights.by_a1[e] = by_a1;
      weights.by_a0[e] = by_a0;
    }
  return weights;
}

std::vector<double> inheritance_shares(std::int32_t most, double gamma, bool derivative) {
  const auto binomials = binomial_table(most);
  std::vector<double> shares(std::size_t(most + 1) * std::size_t(most + 1), 0.0);
  const double other = 1 - gamma;
  for (std::int32_t ny = 0; ny <= most; ++ny)
    for (std::int32_t nz = 0; ny + nz <= most; ++nz) {
      double share = power(gamma, ny) * power(other, nz);
      if (derivative)
        share = (ny > 0 ? ny * power(gamma, ny - 1) * power(other, nz) : 0) -
                (nz > 0 ? nz * power(gamma, ny) * power(other, nz - 1) : 0);
      shares[std::size_t(ny * (most + 1) + nz)] = binomials[std::size_t((ny + nz) * (most + 1) + ny)] * share;
    }
  return shares;
}

std::vector<double> binomial_table(std::int32_t most) {
  const std::size_t stride = std::size_t(most) + 1;
  std::vector<double> table(stride * stride, 0.0);
  for (std::size_t n = 0; n < stride; ++n) {
    table[n * stride] = 1;
    for (std::size_t k = 1; k <= n; ++k)
      table[n * stride + k] = table[(n - 1) * stride + k - 1] + table[(n - 1) * stride + k];
  }
  return table;
}

}  // namespace quintet::snp
