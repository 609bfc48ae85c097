#include "quintet/snp/likelihood/likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "device/small_call.hpp"
#include "quintet/core/profile.hpp"
#include "snp/likelihood/plan_cache.hpp"
#include "snp/likelihood/pruning_pass.hpp"
#include "snp/likelihood/state_space.hpp"
#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

evaluation_estimate with_categories(evaluation_estimate size, std::size_t categories) {
  if (size.blocks == 1) size.bytes *= std::int64_t(categories);  // one after another in blocks
  size.operations *= double(categories);
  return size;
}

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

}  // namespace

evaluation_estimate estimate(const Network& network, const Data& data, const model& m,
                             const likelihood_options& options) {
  return with_categories(plan_of(network, data, m, options)->size, m.rate_categories.size());
}

struct Likelihood::state {
  // A parameter that a proposal changed, to be put back by reject().
  struct change {
    enum { length, theta, gamma, root_theta, rates } what;
    std::int64_t branch;
    double before, before2;
  };

  Network network;
  snp::model model;
  std::shared_ptr<const sized_plan> plan;
  evaluation_estimate size;
  std::vector<double> weights;  // of the patterns that count
  std::shared_ptr<process_group> group;
  share_of_range here;       // patterns that this process computes
  std::size_t constants;     // row that the first constant pattern is among those that are computed here
  std::vector<double> logs;  // of all patterns, while they are summed
  std::vector<std::int64_t> pattern_of_site;
  double ordering = 0;
  std::vector<pruning_pass> passes;  // one a rate category, if all rows are one block
  // Of several blocks every evaluation computes all, and keeps only these, [category][row].
  struct row_results {
    std::vector<double> likelihood;
    std::vector<std::int32_t> exponent;
  } results, accepted;
  bool has_evaluated = false;
  parameter_changes changes;
  std::vector<change> proposal;
  // After an exception of a poll or of memory: passes are made anew, and what the parameters before the proposal gave
  // is lost with them.
  bool is_interrupted = false, is_base_lost = false;

  state(const Network& net, const Data& data, const snp::model& m, const likelihood_options& options)
      : network(net), model(m), group(options.shared_by), here(patterns_here(data, options)) {
    constants = std::size_t(group ? std::max<std::int64_t>(here.count, 1) : here.count);
    likelihood_options agreed = options;
    if (group) agreed.memory_limit = min_limit(options);
    together([&] { prepare(data, agreed); });
  }

  // What an evaluation may take in every process of the group: plans have to be those of one and the same limit.
  std::int64_t min_limit(const likelihood_options& options) const {
    const std::vector<double> all = group->allgather(std::vector<double>{bytes_of_evaluation(options)});
    return std::int64_t(*std::min_element(all.begin(), all.end()));
  }

  // Runs `work`; where other processes share the likelihood, all throw or none does.
  template <class Work>
  void together(const Work& work) {
    if (group)
      group->together(work);
    else
      work();
  }

  void prepare(const Data& data, const likelihood_options& options) {
    const snp::model& m = model;
    plan = plan_of(network, data, m, options);
    size = with_categories(plan->size, m.rate_categories.size());
    for (std::int64_t p = 0; p < data.patterns(); ++p)
      weights.push_back(!m.polymorphic_only || data.kind(p) == pattern_kind::polymorphic ? data.weight(p) : 0);
    pattern_of_site.assign(data.pattern_of_site().begin(), data.pattern_of_site().end());
    if (m.ordered_data) ordering = ordering_constant(data, weights);
    make_passes();
    clear_changes();
    changes.all = true;
  }

  void clear_changes() {
    changes.all = changes.root = false;
    changes.branch.assign(std::size_t(network.branches()), false);
    changes.inheritance.assign(std::size_t(network.branches()), false);
  }

  void remember(change one) {
    if (has_evaluated || is_base_lost) proposal.push_back(one);
  }

  bool is_changed() const {
    const auto any = [](const std::vector<bool>& flags) {
      return std::find(flags.begin(), flags.end(), true) != flags.end();
    };
    return changes.all || changes.root || any(changes.branch) || any(changes.inheritance);
  }

  mutation_rates rates_of(std::size_t category) const {
    const double rate = model.rate_categories[category], u = model.u * rate, v = model.v * rate;
    const bool branches = !model.mutation_only_at_root;
    return {branches ? u : 0, branches ? v : 0, u, v};
  }

  // Runs work on the passes; when it throws, they are in between and must not be used again.
  template <class Work>
  void use_passes(const Work& work) {
    try {
      together(work);
    } catch (const InvalidArgument&) {  // found before work began
      throw;
    } catch (...) {
      is_interrupted = true;
      is_base_lost = is_base_lost || has_evaluated;
      has_evaluated = false;
      changes.all = true;
      throw;
    }
  }

  bool is_in_blocks() const { return plan->blocks.size() > 1; }
  std::size_t categories() const { return model.rate_categories.size(); }
  // Rows that are computed here.
  std::size_t rows() const { return std::size_t(plan->blocks.back().first + plan->blocks.back().rows); }
  std::size_t pattern_of(const row_block& block, std::size_t row) const {
    return std::size_t(block.steps.host.root_pattern_of_row[row - std::size_t(block.first)]);
  }

  pruning_pass pass_of(const row_block& block) const {
    return pruning_pass(std::shared_ptr<const device_plan>(plan, &block.steps));
  }

  void make_passes() {
    passes.clear();
    for (std::size_t c = 0; c < categories() && !is_in_blocks(); ++c) passes.push_back(pass_of(plan->blocks[0]));
    is_interrupted = false;
  }

  // Calls f(block, category, pass) for passes that hold the current values, one at a time.
  template <class Function>
  void for_each_block(const Function& f) {
    for (const row_block& block : plan->blocks)
      for (std::size_t c = 0; c < categories(); ++c) {
        pruning_pass pass = pass_of(block);
        pass.evaluate(network, rates_of(c), changes, false);
        f(block, c, pass);
      }
  }

  row_results results_of_blocks() {
    row_results made{std::vector<double>(categories() * rows()), std::vector<std::int32_t>(categories() * rows())};
    for_each_block([&](const row_block& block, std::size_t c, const pruning_pass& pass) {
      for (std::size_t row = std::size_t(block.first); row < std::size_t(block.first + block.rows); ++row) {
        made.likelihood[c * rows() + row] = pass.likelihoods()[pattern_of(block, row)];
        made.exponent[c * rows() + row] = pass.exponents()[pattern_of(block, row)];
      }
    });
    return made;
  }

  // Launches of at most 10 microseconds are not worth waking other threads. (Operations in vectors; exponentials take
  // about 300 a number.)
  double nanoseconds() const {
    double numbers = 0;
    for (const std::int32_t max : plan->blocks[0].steps.host.max_of_branch)
      numbers += double(column_block(std::min(max, dense_limit) + 1));
    return 0.25 * (size.operations + 300 * numbers * double(categories()));
  }

  // Passes whose products with pre-order partials are out of range in any process. What is a product is decided by
  // numbers of all patterns, so all processes ask or none.
  std::vector<bool> out_of_range() {
    std::vector<double> found(passes.size(), 0.0);
    bool is_any = false;
    for (std::size_t c = 0; c < passes.size(); ++c) {
      is_any = is_any || passes[c].is_contracted();
      found[c] = passes[c].is_contracted() && !passes[c].is_in_range() ? 1 : 0;
    }
    if (group && is_any) found = group->allgather(found);
    std::vector<bool> result(passes.size(), false);
    for (std::size_t i = 0; i < found.size(); ++i)
      if (found[i] > 0) result[i % passes.size()] = true;
    return result;
  }

  void update() {
    if (!is_changed()) return;
    const device_plan& steps = plan->blocks[0].steps;
    const int launches = int(2 * (steps.host.rules.size() + 1) * categories());
    const device::small_call alone(3 * nanoseconds(), launches, steps.device);
    use_passes([&] {
      if (is_interrupted) make_passes();
      if (is_in_blocks()) results = results_of_blocks();
      for (std::size_t c = 0; c < passes.size(); ++c) passes[c].evaluate(network, rates_of(c), changes, has_evaluated);
    });
    if (!has_evaluated && proposal.empty()) accepted = results;
    const std::vector<bool> redone = out_of_range();
    if (std::find(redone.begin(), redone.end(), true) != redone.end())
      use_passes([&] {
        for (std::size_t c = 0; c < passes.size(); ++c)
          if (redone[c]) passes[c].finish(network, rates_of(c));
      });
    has_evaluated = true;
    clear_changes();
  }

  // The first parent branch of the reticulation below a branch.
  std::int64_t first_parent(std::int64_t branch) const {
    return network.parent_branches(network.branch(branch).child)[0];
  }

  // Likelihood of a row of the counts that is computed here as value * 2^exponent, the mean over the categories.
  std::pair<double, std::int32_t> likelihood_of(std::size_t row) const {
    const std::size_t p = is_in_blocks() ? 0 : pattern_of(plan->blocks[0], row);
    const auto in = [&](std::size_t c) -> std::pair<double, std::int32_t> {
      if (is_in_blocks()) return {results.likelihood[c * rows() + row], results.exponent[c * rows() + row]};
      return {passes[c].likelihoods()[p], passes[c].exponents()[p]};
    };
    std::int32_t exponent = std::numeric_limits<std::int32_t>::min();
    for (std::size_t c = 0; c < categories(); ++c)
      if (in(c).first > 0) exponent = std::max(exponent, in(c).second);
    if (exponent == std::numeric_limits<std::int32_t>::min()) return {0.0, 0};
    double sum = 0;
    for (std::size_t c = 0; c < categories(); ++c)
      sum += std::ldexp(in(c).first, std::max(in(c).second - exponent, -4000));
    return {sum / double(categories()), exponent};
  }

  double log_likelihood_of(std::size_t row) const {
    const auto [value, exponent] = likelihood_of(row);
    return value > 0 ? std::log(value) + exponent * 0.693147180559945309417232 : -infinity;
  }

  // Probability of the constant pattern of zeros (0) or ones (1).
  double constant(std::size_t which) const {
    const auto [value, exponent] = likelihood_of(constants + which);
    return std::ldexp(value, exponent);
  }

  double weight() const {
    double sum = 0;
    for (const double w : weights) sum += w;
    return sum;
  }

  // log L of all patterns, those of weight 0 only where they are asked for.
  const std::vector<double>& pattern_logs(bool is_each_needed) {
    logs.resize(std::size_t(here.count));
    for (std::size_t i = 0; i < logs.size(); ++i)
      logs[i] = is_each_needed || weights[std::size_t(here.first) + i] > 0 ? log_likelihood_of(i) : 0;
    if (group) logs = group->allgather(logs);
    return logs;
  }

  double log_likelihood() {
    pattern_logs(false);
    double sum = 0;
    for (std::size_t p = 0; p < weights.size(); ++p)
      if (weights[p] > 0) sum += weights[p] * logs[p];
    if (model.polymorphic_only) sum -= weight() * std::log1p(-(constant(0) + constant(1)));
    if (model.unseen_zeros > 0) sum += model.unseen_zeros * log_likelihood_of(constants);
    if (model.unseen_ones > 0) sum += model.unseen_ones * log_likelihood_of(constants + 1);
    return sum - ordering;
  }

  // Derivative of the log-likelihood by the (unscaled) likelihood of every row that is computed here, times that
  // likelihood. Of a group the first process counts the constant patterns.
  std::vector<double> row_weights() const {
    std::vector<double> result(weights.begin() + here.first, weights.begin() + here.first + here.count);
    result.resize(constants, 0.0);
    if (!needs_constant_patterns(model)) return result;
    if (group && group->rank() > 0) {
      result.resize(constants + 2, 0.0);
      return result;
    }
    const double zeros = constant(0), ones = constant(1);
    if (model.polymorphic_only) {
      const double factor = weight() / (1 - zeros - ones);
      result.insert(result.end(), {factor * zeros, factor * ones});
    } else {
      result.insert(result.end(), {model.unseen_zeros, model.unseen_ones});
    }
    return result;
  }

  // By the likelihoods that one pass holds.
  std::vector<double> seeds(const row_block& block, const pruning_pass& one) const {
    std::vector<double> seed(one.likelihoods().size(), 0.0);
    const auto by_row = row_weights();
    const std::size_t end = std::min(by_row.size(), std::size_t(block.first + block.rows));
    for (std::size_t row = std::size_t(block.first); row < end; ++row) {
      if (by_row[row] == 0) continue;
      const std::size_t p = pattern_of(block, row);
      const auto [value, exponent] = likelihood_of(row);
      seed[p] +=
          by_row[row] / value * std::ldexp(1.0, std::max(one.exponents()[p] - exponent, -4000)) / double(categories());
    }
    return seed;
  }

  void put_back(const change& one) {
    switch (one.what) {
      case change::length:
        return network.set_length(one.branch, one.before);
      case change::theta:
        return network.set_theta(one.branch, one.before);
      case change::gamma:
        return network.set_gamma(one.branch, one.before);
      case change::root_theta:
        return network.set_root_theta(one.before);
      case change::rates:
        model.u = one.before;
        model.v = one.before2;
        return;
    }
  }

  void add(snp::gradient& sum, const pruning_gradient& one, double rate) const {
    for (std::size_t b = 0; b < sum.length.size(); ++b) {
      sum.length[b] += one.length[b];
      sum.theta[b] += one.theta[b];
      sum.gamma[b] += one.gamma[b];
    }
    const bool branches = !model.mutation_only_at_root;
    sum.u += rate * (one.root_u + (branches ? one.branch_u : 0));
    sum.v += rate * (one.root_v + (branches ? one.branch_v : 0));
    sum.root_theta += one.root_theta;
  }

  // The sum over the processes of the group, in the order of their ranks.
  void add_up(snp::gradient& sum) {
    if (!group) return;
    std::vector<double*> numbers{&sum.u, &sum.v, &sum.root_theta};
    for (auto* part : {&sum.length, &sum.theta, &sum.gamma})
      for (double& one : *part) numbers.push_back(&one);
    std::vector<double> own;
    for (const double* one : numbers) own.push_back(*one);
    const std::vector<double> all = group->allgather(own);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      *numbers[i] = all[i];
      for (std::size_t rank = 1; rank < std::size_t(group->size()); ++rank)
        *numbers[i] += all[rank * numbers.size() + i];
    }
  }
};

Likelihood::Likelihood(const Network& network, const Data& data, const snp::model& model,
                       const likelihood_options& options) {
  const stage_region stage("setup");
  state_ = std::make_unique<state>(network, data, model, options);
}
Likelihood::~Likelihood() = default;
Likelihood::Likelihood(Likelihood&&) noexcept = default;
Likelihood& Likelihood::operator=(Likelihood&&) noexcept = default;

double Likelihood::evaluate_beside(const Likelihood& donor) {
  const auto& theirs = donor.state_->passes;
  if (!state_->has_evaluated && donor.state_->has_evaluated && donor.state_->proposal.empty())
    for (std::size_t c = 0; c < std::min(state_->passes.size(), theirs.size()); ++c)
      state_->passes[c].take_from(theirs[c]);
  return evaluate();
}

double Likelihood::evaluate() {
  const stage_region stage("likelihood");
  state_->update();
  return state_->log_likelihood();
}

void Likelihood::set_length(std::int64_t branch, double length) {
  const double before = state_->network.branch(branch).length;
  state_->network.set_length(branch, length);
  state_->remember({state::change::length, branch, before, 0});
  state_->changes.branch[std::size_t(branch)] = true;
}

void Likelihood::set_theta(std::int64_t branch, double theta) {
  const double before = state_->network.branch(branch).theta;
  state_->network.set_theta(branch, theta);
  state_->remember({state::change::theta, branch, before, 0});
  state_->changes.branch[std::size_t(branch)] = true;
}

void Likelihood::set_gamma(std::int64_t branch, double gamma) {
  const std::int64_t first = state_->first_parent(branch);
  const double before = state_->network.branch(first).gamma;
  state_->network.set_gamma(branch, gamma);
  state_->remember({state::change::gamma, first, before, 0});
  state_->changes.inheritance[std::size_t(first)] = true;
}

void Likelihood::set_root_theta(double theta) {
  const double before = state_->network.root_theta();
  state_->network.set_root_theta(theta);
  state_->remember({state::change::root_theta, -1, before, 0});
  state_->changes.root = true;
}

void Likelihood::set_rates(double u, double v) {
  snp::model changed = state_->model;
  changed.u = u;
  changed.v = v;
  check_model(changed);
  state_->remember({state::change::rates, -1, state_->model.u, state_->model.v});
  state_->model = changed;
  state_->changes.root = true;
  if (!changed.mutation_only_at_root) state_->changes.branch.assign(state_->changes.branch.size(), true);
}

void Likelihood::accept() {
  state_->update();
  state_->use_passes([&] {
    for (pruning_pass& one : state_->passes) one.accept();
  });
  state_->accepted = state_->results;
  state_->proposal.clear();
  state_->is_base_lost = false;
}

void Likelihood::reject() {
  if (!state_->has_evaluated && !state_->is_base_lost) return;
  if (state_->is_base_lost) {
    state_->is_interrupted = true;
    state_->has_evaluated = false;
  } else {
    for (pruning_pass& one : state_->passes) one.reject();
    state_->results = state_->accepted;
  }
  for (auto change = state_->proposal.rbegin(); change != state_->proposal.rend(); ++change) state_->put_back(*change);
  state_->proposal.clear();
  state_->clear_changes();
  state_->changes.all = std::exchange(state_->is_base_lost, false);
}

const Network& Likelihood::network() const { return state_->network; }
const snp::model& Likelihood::model() const { return state_->model; }
const evaluation_estimate& Likelihood::size() const { return state_->size; }

std::vector<double> Likelihood::pattern_log_likelihoods() {
  state_->update();
  return state_->pattern_logs(true);
}

std::vector<double> Likelihood::site_log_likelihoods() {
  const auto patterns = pattern_log_likelihoods();
  std::vector<double> result;
  for (const std::int64_t p : state_->pattern_of_site) result.push_back(p < 0 ? nan : patterns[std::size_t(p)]);
  return result;
}

gradient Likelihood::gradient() {
  const stage_region stage("gradient");
  if (state_->plan->blocks[0].steps.host.is_scaled)
    throw InvalidArgument(text("gradients take at most ", max_unscaled_lineages, " gene copies of all species"));
  snp::gradient sum;
  const std::size_t branches = std::size_t(state_->network.branches());
  const bool is_finite = std::isfinite(evaluate());
  sum.length.assign(branches, is_finite ? 0.0 : nan);
  sum.theta = sum.gamma = sum.length;
  if (!is_finite) {
    sum.u = sum.v = sum.root_theta = nan;
    return sum;
  }
  state_->use_passes([&] {
    const auto differentiate = [&](const row_block& block, std::size_t c, pruning_pass& pass) {
      const auto one = pass.differentiate(state_->network, state_->rates_of(c), state_->seeds(block, pass));
      state_->add(sum, one, state_->model.rate_categories[c]);
    };
    if (state_->is_in_blocks()) return state_->for_each_block(differentiate);
    for (std::size_t c = 0; c < state_->passes.size(); ++c)
      differentiate(state_->plan->blocks[0], c, state_->passes[c]);
  });
  state_->add_up(sum);
  return sum;
}

}  // namespace quintet::snp
