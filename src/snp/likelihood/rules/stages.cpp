#include "snp/likelihood/rules/stages.hpp"

#include <algorithm>
#include <cmath>

#include "quintet/core/error.hpp"
#include "snp/likelihood/generator.hpp"
#include "snp/likelihood/state_space.hpp"

namespace quintet::snp {

namespace {

// Terms until the rest of the Poisson distribution with mean x is negligible.
std::int32_t poisson_terms(double x) {
  if (x == 0) return 0;
  const double enough = -std::log(negligible_lineages);
  std::int32_t k = std::int32_t(x) + 1;
  while (k * std::log(k / x) - k + x < enough) ++k;
  return k;
}

// The bound after a time h / theta = scaled_time: n lineages become n - 1 with rate n (n - 1) / theta.
void coalesce(std::vector<double>& bound, double scaled_time) {
  const double n = double(bound.size()) - 1, shift = n * (n - 1) * scaled_time;
  if (shift <= 0) return;
  std::vector<double> term = bound, sum(bound.size(), 0.0);
  const std::int32_t terms = poisson_terms(shift);
  const double decay = std::exp(-shift);
  for (std::int32_t k = 0; k <= terms; ++k) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += decay * term[i];
    const double inverse = 1.0 / (k + 1);
    for (std::size_t i = 0; i < term.size(); ++i) {
      const double rate = double(i) * (double(i) - 1) * scaled_time;
      const double more = i + 1 < term.size() ? (double(i) + 1) * double(i) * scaled_time * term[i + 1] : 0;
      term[i] = ((shift - rate) * term[i] + more) * inverse;
    }
  }
  bound = std::move(sum);
}

// Drops what is negligible.
void cut(lineage_bound& lineages) {
  double more = 0;
  while (lineages.limit > 1) {
    more += lineages.bound[std::size_t(lineages.limit)];
    if (more > negligible_lineages) break;
    --lineages.limit;
  }
  lineages.bound.resize(std::size_t(lineages.limit) + 1);
}

// The dense part is not cut into stages: squaring the death process is not worth it, one lineage is always possible.
void coalesce_long(lineage_bound& lineages, double scaled_time) {
  constexpr double max = 512;
  while (scaled_time > 0 && lineages.limit > 1) {
    const double n = lineages.limit, step = std::min(scaled_time, max / (n * (n - 1)));
    coalesce(lineages.bound, step);
    cut(lineages);
    scaled_time = step < scaled_time ? scaled_time - step : 0;
  }
}

}  // namespace

void check_stages(std::int32_t max, double length, double theta, double u, double v) {
  // Within a fifth of a theta few enough lineages are left for a matrix.
  constexpr double thetas = 0.2, max_stages = 1e4, min_theta = 1e-290;
  const double stages = max * std::max(u, v) * std::min(length, thetas * theta) / stage_shift;
  if (stages <= max_stages && theta >= min_theta) return;
  throw InvalidArgument(text("a branch with ", max, " lineages must have theta >= ", min_theta, " and at most ",
                             max_stages, " steps of ", stage_shift, " mutations in the time in which they coalesce",
                             " (length=", length, ", theta=", theta, ", u=", u, ", v=", v, ")"));
}

// n lineages are max / (1 + t max / theta) after a time t, and one in the end.
double mutations_on_branch(std::int32_t max, double length, double theta, double u, double v) {
  return std::max(u, v) * theta * std::log1p(max * std::min(length / theta, 1.0));
}

void check_mutations(double mutations) {
  constexpr double most = 100;
  if (mutations <= most) return;
  throw InvalidArgument(text("more than 1000 gene copies must have at most ", most,
                             " expected mutations on all branches with more than 24 lineages together (", mutations,
                             "): theta u or theta v is large"));
}

stage_plan plan_stages(const lineage_bound& bottom, double length, double theta, double u, double v,
                       std::int32_t dense) {
  stage_plan result;
  result.top = bottom;
  double left = length;
  // A branch without length has one stage, which copies.
  while (result.top.limit > dense && (left > 0 || result.stages.empty())) {
    const std::int32_t from = result.top.limit;
    const double rate = from * (from - 1.0) / theta + from * std::max(u, v);
    const double h = rate * left > stage_shift ? stage_shift / rate : left;
    coalesce(result.top.bound, h / theta);
    cut(result.top);
    left = h < left ? left - h : 0;
    result.stages.push_back({from, result.top.limit, poisson_terms(rate * h), h, rate * h, std::exp(-rate * h)});
  }
  result.remaining = left;
  result.middle = result.top.limit;
  if (left > 0) coalesce_long(result.top, left / theta);
  return result;
}

lineage_bound join_bounds(const lineage_bound& left, const lineage_bound& right) {
  lineage_bound both;
  both.limit = left.limit + right.limit;
  both.bound.assign(std::size_t(both.limit) + 1, 0.0);
  for (std::size_t i = 0; i < left.bound.size(); ++i)
    for (std::size_t j = 0; j < right.bound.size(); ++j) both.bound[i + j] += left.bound[i] * right.bound[j];
  for (double& bound_value : both.bound) bound_value = std::min(bound_value, 1.0);
  return both;
}

lineage_bound certain(const std::vector<std::int64_t>& prefix) {
  lineage_bound all;
  all.limit = std::int32_t(prefix.size()) - 1;
  for (std::size_t n = 0; n < prefix.size(); ++n) all.bound.push_back(prefix[n] > (n > 0 ? prefix[n - 1] : 0) ? 1 : 0);
  return all;
}

std::vector<double> stage_coefficients(const stage& stage_of_branch, double theta, double u, double v, bool transposed,
                                       coefficient_order order) {
  const double h = stage_of_branch.length;
  const generator rates{h / theta, h * u, h * v, stage_of_branch.shift};
  const std::int64_t states = state_count(stage_of_branch.from);
  std::vector<double> table(std::size_t(states) * 5, 0.0);
  for (std::int32_t n = 0; n <= stage_of_branch.from; ++n)
    for (std::int32_t r = 0; r <= n; ++r) {
      double c[5];
      transposed ? rates.write_column(n, r, c) : rates.write_row(n, r, stage_of_branch.from, c);
      const std::int64_t s = state_index(n, r);
      for (int i = 0; i < 5; ++i)
        table[std::size_t(order == coefficient_order::by_state ? s * 5 + i : i * states + s)] = c[i];
    }
  return table;
}

}  // namespace quintet::snp
