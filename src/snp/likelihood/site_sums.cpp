#include "snp/likelihood/site_sums.hpp"

#include <algorithm>
#include <cmath>

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

site_sums::site_sums(share_of_range own, std::shared_ptr<process_group> group)
    : own_(own),
      group_(std::move(group)),
      constants_(std::size_t(group_ ? std::max<std::int64_t>(own.count, 1) : own.count)) {}

void site_sums::count(const Data& data, const model& m) {
  for (std::int64_t p = 0; p < data.patterns(); ++p)
    weights_.push_back(!m.polymorphic_only || data.kind(p) == pattern_kind::polymorphic ? data.weight(p) : 0);
  pattern_of_site_.assign(data.pattern_of_site().begin(), data.pattern_of_site().end());
  if (m.ordered_data) ordering_ = ordering_constant(data, weights_);
}

// Probability of the constant pattern of zeros (0) or ones (1).
double site_sums::constant(const pattern_blocks& blocks, std::size_t allele) const {
  const auto [value, exponent] = blocks.likelihood_of(constants_ + allele);
  return std::ldexp(value, exponent);
}

double site_sums::weight() const {
  double sum = 0;
  for (const double w : weights_) sum += w;
  return sum;
}

const std::vector<double>& site_sums::pattern_logs(const pattern_blocks& blocks, bool is_each_needed) {
  logs_.resize(std::size_t(own_.count));
  for (std::size_t i = 0; i < logs_.size(); ++i)
    logs_[i] = is_each_needed || weights_[std::size_t(own_.first) + i] > 0 ? log_of(blocks.likelihood_of(i)) : 0;
  if (group_) logs_ = group_->allgather(logs_);
  return logs_;
}

double site_sums::log_likelihood(const pattern_blocks& blocks, const model& m) {
  pattern_logs(blocks, false);
  double sum = 0;
  for (std::size_t p = 0; p < weights_.size(); ++p)
    if (weights_[p] > 0) sum += weights_[p] * logs_[p];
  if (m.polymorphic_only) sum -= weight() * std::log1p(-(constant(blocks, 0) + constant(blocks, 1)));
  if (m.unseen_zeros > 0) sum += m.unseen_zeros * log_of(blocks.likelihood_of(constants_));
  if (m.unseen_ones > 0) sum += m.unseen_ones * log_of(blocks.likelihood_of(constants_ + 1));
  return sum - ordering_;
}

std::vector<double> site_sums::row_weights(const pattern_blocks& blocks, const model& m) const {
  std::vector<double> result(weights_.begin() + own_.first, weights_.begin() + own_.first + own_.count);
  result.resize(constants_, 0.0);
  if (!needs_constant_patterns(m)) return result;
  if (group_ && group_->rank() > 0) {
    result.resize(constants_ + 2, 0.0);
    return result;
  }
  const double zeros = constant(blocks, 0), ones = constant(blocks, 1);
  if (m.polymorphic_only) {
    const double factor = weight() / (1 - zeros - ones);
    result.insert(result.end(), {factor * zeros, factor * ones});
  } else {
    result.insert(result.end(), {m.unseen_zeros, m.unseen_ones});
  }
  return result;
}

}  // namespace quintet::snp
