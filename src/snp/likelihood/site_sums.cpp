#include "snp/likelihood/site_sums.hpp"

#include <algorithm>
#include <cmath>

#include "snp/likelihood/constant_patterns.hpp"
#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

double log_choose(std::int64_t n, std::int64_t k) {
  return std::lgamma(double(n) + 1) - std::lgamma(double(k) + 1) - std::lgamma(double(n - k) + 1);
}

// sum w log C(n, r) of the patterns that count.
double ordering_constant(const Data& data, const std::vector<double>& weights) {
  double sum = 0;
  for (std::int64_t p = 0; p < data.patterns(); ++p)
    for (std::int64_t s = 0; s < std::int64_t(data.species().size()); ++s) {
      const std::int64_t n = data.dominant() ? data.copies(p, s) / 2 : data.copies(p, s);
      sum += weights[std::size_t(p)] * log_choose(n, data.red(p, s));
    }
  return sum;
}

double log_of(const std::pair<double, std::int32_t>& likelihood) {
  const auto [value, exponent] = likelihood;
  return value > 0 ? std::log(value) + exponent * 0.693147180559945309417232 : -infinity;
}

}  // namespace

site_sums::site_sums(const Data& data, const model& m, std::shared_ptr<process_group> group)
    : group_(std::move(group)), pattern_of_site_(data.pattern_of_site().begin(), data.pattern_of_site().end()) {
  const constant_patterns constants(data, m);
  own_ = share_here(data.patterns(), group_.get());
  own_pairs_ = share_here(std::int64_t(constants.copies.size()), group_.get());
  first_constant_ = std::size_t(group_ ? std::max<std::int64_t>(own_.count, 1) : own_.count);
  condition_weights_.assign(constants.copies.size(), 0.0);
  for (std::int64_t p = 0; p < data.patterns(); ++p) {
    const std::int64_t condition = constants.condition_of_pattern[std::size_t(p)];
    weights_.push_back(!m.polymorphic_only || condition >= 0 ? data.weight(p) : 0);
    if (condition >= 0) condition_weights_[std::size_t(condition)] += data.weight(p);
  }
  if (m.ordered_data) ordering_ = ordering_constant(data, weights_);
}

std::pair<double, double> site_sums::constants(const pattern_blocks& blocks, std::int64_t pair) const {
  const auto probability = [&](std::size_t allele) {
    const auto [value, exponent] = blocks.likelihood_of(first_constant_ + 2 * std::size_t(pair) + allele);
    return std::ldexp(value, exponent);
  };
  return {probability(0), probability(1)};
}

std::vector<double> site_sums::own_logs(const pattern_blocks& blocks, bool is_each_needed) const {
  std::vector<double> logs(std::size_t(own_.count));
  for (std::size_t i = 0; i < logs.size(); ++i)
    logs[i] = is_each_needed || weights_[std::size_t(own_.first) + i] > 0 ? log_of(blocks.likelihood_of(i)) : 0;
  return logs;
}

std::vector<double> site_sums::pattern_logs(const pattern_blocks& blocks) const {
  std::vector<double> logs = own_logs(blocks, true);
  return group_ ? group_->allgather(logs) : logs;
}

// Those of every process are its patterns and then its constant ones; afterwards those of all are in this order.
void site_sums::gather_values(std::vector<double>& values) const {
  if (!group_) return;
  const std::vector<double> all = group_->allgather(values);
  values.resize(all.size());
  auto pattern = values.begin(), constant = pattern + std::ptrdiff_t(weights_.size());
  for (auto [rank, next] = std::pair(0, all.begin()); rank < group_->size(); ++rank) {
    const auto patterns = share_of(std::int64_t(weights_.size()), rank, group_->size()).count;
    const auto constants = 2 * share_of(std::int64_t(condition_weights_.size()), rank, group_->size()).count;
    pattern = std::copy_n(next, patterns, pattern);
    constant = std::copy_n(next + patterns, constants, constant);
    next += patterns + constants;
  }
}

std::vector<double> site_sums::all_values(const pattern_blocks& blocks, const model& m) const {
  std::vector<double> values = own_logs(blocks, false);
  for (std::int64_t pair = 0; pair < own_pairs_.count; ++pair) {
    const std::size_t row = first_constant_ + 2 * std::size_t(pair);
    const auto [zeros, ones] =
        m.polymorphic_only ? constants(blocks, pair)
                           : std::pair(log_of(blocks.likelihood_of(row)), log_of(blocks.likelihood_of(row + 1)));
    values.insert(values.end(), {zeros, ones});
  }
  gather_values(values);
  return values;
}

double site_sums::log_likelihood(const pattern_blocks& blocks, const model& m) const {
  const std::vector<double> values = all_values(blocks, m);
  double sum = 0;
  for (std::size_t p = 0; p < weights_.size(); ++p)
    if (weights_[p] > 0) sum += weights_[p] * values[p];
  const double* constant = values.data() + weights_.size();
  for (const double weight : condition_weights_) {
    if (m.polymorphic_only && weight > 0) sum -= weight * std::log1p(-(constant[0] + constant[1]));
    if (m.unseen_zeros > 0) sum += m.unseen_zeros * constant[0];
    if (m.unseen_ones > 0) sum += m.unseen_ones * constant[1];
    constant += 2;
  }
  return sum - ordering_;
}

double site_sums::truncation_bound(const pattern_blocks& blocks, const model& m, double mass) const {
  if (mass == 0) return 0;
  const std::vector<double> values = all_values(blocks, m);
  // log((L + mass) / L).
  const auto gain = [&](double log) { return std::log1p(std::exp(std::log(mass) - log)); };
  double sum = 0;
  for (std::size_t p = 0; p < weights_.size(); ++p)
    if (weights_[p] > 0) sum += weights_[p] * gain(values[p]);
  const double* constant = values.data() + weights_.size();
  for (const double weight : condition_weights_) {
    // Both constant patterns have larger probabilities, so the chance of being polymorphic is smaller.
    if (m.polymorphic_only && weight > 0)
      sum -= weight * std::log1p(-std::min(2 * mass / (1 - (constant[0] + constant[1])), 1.0));
    if (m.unseen_zeros > 0) sum += m.unseen_zeros * gain(constant[0]);
    if (m.unseen_ones > 0) sum += m.unseen_ones * gain(constant[1]);
    constant += 2;
  }
  return sum;
}

std::pair<std::int64_t, double> site_sums::least_likely(const pattern_blocks& blocks) const {
  const std::vector<double> logs = pattern_logs(blocks);
  std::pair<std::int64_t, double> least{-1, infinity};
  for (std::size_t p = 0; p < logs.size(); ++p)
    if (weights_[p] > 0 && logs[p] < least.second) least = {std::int64_t(p), logs[p]};
  return least;
}

std::vector<double> site_sums::row_weights(const pattern_blocks& blocks, const model& m) const {
  std::vector<double> result(weights_.begin() + own_.first, weights_.begin() + own_.first + own_.count);
  result.resize(first_constant_, 0.0);
  for (std::int64_t pair = 0; pair < own_pairs_.count; ++pair) {
    if (!m.polymorphic_only) {
      result.insert(result.end(), {m.unseen_zeros, m.unseen_ones});
      continue;
    }
    const auto [zeros, ones] = constants(blocks, pair);
    const double factor = condition_weights_[std::size_t(own_pairs_.first + pair)] / (1 - zeros - ones);
    result.insert(result.end(), {factor * zeros, factor * ones});
  }
  return result;
}

}  // namespace quintet::snp
