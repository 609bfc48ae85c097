#include "snp/likelihood/pattern_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "device/small_call.hpp"
#include "snp/likelihood/state_space.hpp"

namespace quintet::snp {

namespace {

mutation_rates rates_of(const model& m, std::size_t category) {
  const double rate = m.rate_categories[category], u = m.u * rate, v = m.v * rate;
  const bool branches = !m.mutation_only_at_root;
  return {branches ? u : 0, branches ? v : 0, u, v};
}

// Launches of at most 10 microseconds are not worth waking other threads. (Operations in vectors; exponentials take
// about 300 a number.)
double evaluation_nanoseconds(const plan& steps, std::size_t categories, double operations) {
  double numbers = 0;
  for (const std::int32_t max : steps.max_of_branch) numbers += double(column_block(std::min(max, dense_limit) + 1));
  return 0.25 * (operations + 300 * numbers * double(categories));
}

}  // namespace

pattern_blocks::pattern_blocks(std::shared_ptr<const sized_plan> plan, std::size_t categories,
                               std::shared_ptr<process_group> group)
    : plan_(std::move(plan)), categories_(categories), group_(std::move(group)) {
  make_passes();
}

pruning_pass pattern_blocks::pass_of(const row_block& block) const {
  return pruning_pass(std::shared_ptr<const device_plan>(plan_, &block.steps));
}

void pattern_blocks::make_passes() {
  passes_.clear();
  for (std::size_t c = 0; c < categories_ && !are_several(); ++c) passes_.push_back(pass_of(plan_->blocks[0]));
}

// Runs work on the passes; when it throws, they are in between and must not be used again.
template <class Work>
void pattern_blocks::use_passes(change_log& changes, const Work& work) {
  try {
    run_collectively(group_.get(), work);
  } catch (const InvalidArgument&) {  // found before work began
    throw;
  } catch (...) {
    changes.interrupt();
    throw;
  }
}

// Calls f(block, category, pass) for passes that hold the current values, one at a time.
template <class Function>
void pattern_blocks::for_each_block(const Network& network, const model& m, const parameter_changes& changes,
                                    const Function& f) {
  for (const row_block& block : plan_->blocks)
    for (std::size_t c = 0; c < categories_; ++c) {
      pruning_pass pass = pass_of(block);
      pass.evaluate(network, rates_of(m, c), changes, false);
      f(block, c, pass);
    }
}

pattern_blocks::row_results pattern_blocks::results_of_blocks(const Network& network, const model& m,
                                                              const parameter_changes& changes) {
  row_results results{std::vector<double>(categories_ * rows()), std::vector<std::int32_t>(categories_ * rows())};
  for_each_block(network, m, changes, [&](const row_block& block, std::size_t c, const pruning_pass& pass) {
    for (std::size_t row = std::size_t(block.first); row < std::size_t(block.first + block.rows); ++row) {
      results.likelihood[c * rows() + row] = pass.likelihoods()[pattern_of(block, row)];
      results.exponent[c * rows() + row] = pass.exponents()[pattern_of(block, row)];
    }
  });
  return results;
}

// Passes whose products with pre-order partials are out of range in any process. What is a product is decided by
// numbers of all patterns, so all processes ask or none.
std::vector<bool> pattern_blocks::out_of_range() {
  std::vector<double> flags(passes_.size(), 0.0);
  bool is_any = false;
  for (std::size_t c = 0; c < passes_.size(); ++c) {
    is_any = is_any || passes_[c].is_contracted();
    flags[c] = passes_[c].is_contracted() && !passes_[c].is_in_range() ? 1 : 0;
  }
  if (group_ && is_any) flags = group_->allgather(flags);
  std::vector<bool> result(passes_.size(), false);
  for (std::size_t i = 0; i < flags.size(); ++i)
    if (flags[i] > 0) result[i % passes_.size()] = true;
  return result;
}

void pattern_blocks::take_from(const pattern_blocks& donor) {
  for (std::size_t c = 0; c < std::min(passes_.size(), donor.passes_.size()); ++c)
    passes_[c].take_from(donor.passes_[c]);
}

void pattern_blocks::evaluate(const Network& network, const model& m, change_log& changes, double operations) {
  if (!changes.is_changed()) return;
  const int launches = int(2 * (steps().host.rules.size() + 1) * categories_);
  const device::small_call serial_if_small(3 * evaluation_nanoseconds(steps().host, categories_, operations), launches,
                                           steps().device);
  use_passes(changes, [&] {
    if (changes.is_interrupted()) {
      make_passes();
      changes.passes_are_new();
    }
    if (are_several()) results_ = results_of_blocks(network, m, changes.since_evaluation());
    for (std::size_t c = 0; c < passes_.size(); ++c)
      passes_[c].evaluate(network, rates_of(m, c), changes.since_evaluation(), changes.has_evaluated());
  });
  if (!changes.has_evaluated() && !changes.has_proposal()) accepted_ = results_;
  const std::vector<bool> repeated = out_of_range();
  if (std::find(repeated.begin(), repeated.end(), true) != repeated.end())
    use_passes(changes, [&] {
      for (std::size_t c = 0; c < passes_.size(); ++c)
        if (repeated[c]) passes_[c].finish(network, rates_of(m, c));
    });
  changes.evaluated();
}

void pattern_blocks::accept(change_log& changes) {
  use_passes(changes, [&] {
    for (pruning_pass& pass : passes_) pass.accept();
  });
  accepted_ = results_;
  changes.accept();
}

void pattern_blocks::reject(change_log& changes, Network& network, model& m) {
  const auto kind = changes.kind_of_rejection();
  if (kind == change_log::rejection::nothing) return;
  if (kind == change_log::rejection::to_base) {
    for (pruning_pass& pass : passes_) pass.reject();
    results_ = accepted_;
  }
  changes.reject(network, m);
}

std::pair<double, std::int32_t> pattern_blocks::likelihood_of(std::size_t row) const {
  const std::size_t p = are_several() ? 0 : pattern_of(plan_->blocks[0], row);
  const auto in = [&](std::size_t c) -> std::pair<double, std::int32_t> {
    if (are_several()) return {results_.likelihood[c * rows() + row], results_.exponent[c * rows() + row]};
    return {passes_[c].likelihoods()[p], passes_[c].exponents()[p]};
  };
  std::int32_t exponent = std::numeric_limits<std::int32_t>::min();
  for (std::size_t c = 0; c < categories_; ++c)
    if (in(c).first > 0) exponent = std::max(exponent, in(c).second);
  if (exponent == std::numeric_limits<std::int32_t>::min()) return {0.0, 0};
  double sum = 0;
  for (std::size_t c = 0; c < categories_; ++c)
    sum += std::ldexp(in(c).first, std::max(in(c).second - exponent, -4000));
  return {sum / double(categories_), exponent};
}

// By the likelihoods that one pass holds.
std::vector<double> pattern_blocks::seeds(const row_block& block, const pruning_pass& pass,
                                          const std::vector<double>& row_weights) const {
  std::vector<double> seed(pass.likelihoods().size(), 0.0);
  const std::size_t end = std::min(row_weights.size(), std::size_t(block.first + block.rows));
  for (std::size_t row = std::size_t(block.first); row < end; ++row) {
    if (row_weights[row] == 0) continue;
    const std::size_t p = pattern_of(block, row);
    const auto [value, exponent] = likelihood_of(row);
    seed[p] += row_weights[row] / value * std::ldexp(1.0, std::max(pass.exponents()[p] - exponent, -4000)) /
               double(categories_);
  }
  return seed;
}

void pattern_blocks::differentiate(const Network& network, const model& m, change_log& changes,
                                   const std::function<std::vector<double>()>& row_weights,
                                   const std::function<void(const pruning_gradient&, double)>& add) {
  use_passes(changes, [&] {
    const std::vector<double> weights = row_weights();
    const auto differentiate_pass = [&](const row_block& block, std::size_t c, pruning_pass& pass) {
      add(pass.differentiate(network, rates_of(m, c), seeds(block, pass, weights)), m.rate_categories[c]);
    };
    if (are_several()) return for_each_block(network, m, changes.since_evaluation(), differentiate_pass);
    for (std::size_t c = 0; c < passes_.size(); ++c) differentiate_pass(plan_->blocks[0], c, passes_[c]);
  });
}

}  // namespace quintet::snp
