#include "quintet/snp/likelihood/likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "quintet/core/profile.hpp"
#include "snp/likelihood/change_log.hpp"
#include "snp/likelihood/pattern_blocks.hpp"
#include "snp/likelihood/plan_cache.hpp"
#include "snp/likelihood/site_sums.hpp"
#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

evaluation_estimate with_categories(evaluation_estimate size, std::size_t categories) {
  if (size.blocks == 1) size.bytes *= std::int64_t(categories);  // one after another in blocks
  size.operations *= double(categories);
  return size;
}

// What an evaluation may take in every process of the group: plans have to be those of one and the same limit.
std::int64_t min_limit(process_group& group, const likelihood_options& options) {
  const std::vector<double> all = group.allgather(std::vector<double>{bytes_of_evaluation(options)});
  return std::int64_t(*std::min_element(all.begin(), all.end()));
}

void add(gradient& sum, const pruning_gradient& part, double rate, bool mutation_only_at_root) {
  for (std::size_t b = 0; b < sum.length.size(); ++b) {
    sum.length[b] += part.length[b];
    sum.theta[b] += part.theta[b];
    sum.gamma[b] += part.gamma[b];
  }
  const bool branches = !mutation_only_at_root;
  sum.u += rate * (part.root_u + (branches ? part.branch_u : 0));
  sum.v += rate * (part.root_v + (branches ? part.branch_v : 0));
  sum.root_theta += part.root_theta;
}

// The sum over the processes of the group, in the order of their ranks.
void add_up(gradient& sum, process_group& group) {
  std::vector<double*> numbers{&sum.u, &sum.v, &sum.root_theta};
  for (auto* part : {&sum.length, &sum.theta, &sum.gamma})
    for (double& number : *part) numbers.push_back(&number);
  std::vector<double> own;
  for (const double* number : numbers) own.push_back(*number);
  const std::vector<double> all = group.allgather(own);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    *numbers[i] = all[i];
    for (std::size_t rank = 1; rank < std::size_t(group.size()); ++rank) *numbers[i] += all[rank * numbers.size() + i];
  }
}

}  // namespace

evaluation_estimate estimate(const Network& network, const Data& data, const model& m,
                             const likelihood_options& options) {
  return with_categories(plan_of(network, data, m, options)->size, m.rate_categories.size());
}

struct Likelihood::state {
  Network network;
  snp::model model;
  std::shared_ptr<process_group> group;
  evaluation_estimate size;
  change_log changes;
  pattern_blocks blocks;
  site_sums sums;

  state(const Network& net, const Data& data, const snp::model& m, const likelihood_options& options)
      : network(net), model(m), group(options.shared_by), changes(net.branches()) {
    likelihood_options agreed = options;
    if (group) agreed.memory_limit = min_limit(*group, options);
    run_collectively(group.get(), [&] {
      const auto plan = plan_of(network, data, model, agreed);
      size = with_categories(plan->size, model.rate_categories.size());
      sums = site_sums(data, model, group);
      blocks = pattern_blocks(plan, model.rate_categories.size(), group);
    });
  }

  void update() { blocks.evaluate(network, model, changes, size.operations); }

  // The first parent branch of the reticulation below a branch.
  std::int64_t first_parent(std::int64_t branch) const {
    return network.parent_branches(network.branch(branch).child)[0];
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
  if (!state_->changes.has_evaluated() && donor.state_->changes.has_evaluated() &&
      !donor.state_->changes.has_proposal())
    state_->blocks.take_from(donor.state_->blocks);
  return evaluate();
}

double Likelihood::evaluate() {
  const stage_region stage("likelihood");
  state_->update();
  return state_->sums.log_likelihood(state_->blocks, state_->model);
}

void Likelihood::set_length(std::int64_t branch, double length) {
  const double before = state_->network.branch(branch).length;
  state_->network.set_length(branch, length);
  state_->changes.remember({change_log::change::length, branch, before, 0});
  state_->changes.mark_branch(branch);
}

void Likelihood::set_theta(std::int64_t branch, double theta) {
  const double before = state_->network.branch(branch).theta;
  state_->network.set_theta(branch, theta);
  state_->changes.remember({change_log::change::theta, branch, before, 0});
  state_->changes.mark_branch(branch);
}

void Likelihood::set_gamma(std::int64_t branch, double gamma) {
  const std::int64_t first = state_->first_parent(branch);
  const double before = state_->network.branch(first).gamma;
  state_->network.set_gamma(branch, gamma);
  state_->changes.remember({change_log::change::gamma, first, before, 0});
  state_->changes.mark_inheritance(first);
}

void Likelihood::set_root_theta(double theta) {
  const double before = state_->network.root_theta();
  state_->network.set_root_theta(theta);
  state_->changes.remember({change_log::change::root_theta, -1, before, 0});
  state_->changes.mark_root();
}

void Likelihood::set_rates(double u, double v) {
  snp::model changed = state_->model;
  changed.u = u;
  changed.v = v;
  check_model(changed);
  state_->changes.remember({change_log::change::rates, -1, state_->model.u, state_->model.v});
  state_->model = changed;
  state_->changes.mark_root();
  if (!changed.mutation_only_at_root) state_->changes.mark_all_branches();
}

void Likelihood::accept() {
  state_->update();
  state_->blocks.accept(state_->changes);
}

void Likelihood::reject() { state_->blocks.reject(state_->changes, state_->network, state_->model); }

const Network& Likelihood::network() const { return state_->network; }
const snp::model& Likelihood::model() const { return state_->model; }
const evaluation_estimate& Likelihood::size() const { return state_->size; }

std::vector<double> Likelihood::pattern_log_likelihoods() {
  state_->update();
  return state_->sums.pattern_logs(state_->blocks);
}

std::vector<double> Likelihood::site_log_likelihoods() {
  const auto patterns = pattern_log_likelihoods();
  std::vector<double> result;
  for (const std::int64_t p : state_->sums.pattern_of_site()) result.push_back(p < 0 ? nan : patterns[std::size_t(p)]);
  return result;
}

gradient Likelihood::gradient() {
  const stage_region stage("gradient");
  state& s = *state_;
  if (s.blocks.steps().host.is_scaled)
    throw InvalidArgument(text("gradients take at most ", max_unscaled_lineages, " gene copies of all species"));
  snp::gradient sum;
  const bool is_finite = std::isfinite(evaluate());
  sum.length.assign(std::size_t(s.network.branches()), is_finite ? 0.0 : nan);
  sum.theta = sum.gamma = sum.length;
  if (!is_finite) {
    sum.u = sum.v = sum.root_theta = nan;
    return sum;
  }
  s.blocks.differentiate(
      s.network, s.model, s.changes, [&] { return s.sums.row_weights(s.blocks, s.model); },
      [&](const pruning_gradient& part, double rate) { add(sum, part, rate, s.model.mutation_only_at_root); });
  if (s.group) add_up(sum, *s.group);
  return sum;
}

}  // namespace quintet::snp
