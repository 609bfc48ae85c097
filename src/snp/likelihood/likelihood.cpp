#include "quintet/snp/likelihood/likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include "quintet/core/profile.hpp"
#include "snp/likelihood/change_log.hpp"
#include "snp/likelihood/pattern_blocks.hpp"
#include "snp/likelihood/plan_cache.hpp"
#include "snp/likelihood/site_sums.hpp"
#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

// Where a bound is not reached the mass that rules may drop is divided by 1e10, at most three times.
constexpr double tau_step = 1e-10, min_tau = first_tau * 1e-31;

// What the stages of branches with many lineages leave out: negligible_lineages for each of at most 1e4 stages.
double mass_of_stages(const plan& steps) {
  double mass = 0;
  for (const rule& each : steps.rules)
    if (const auto* branch = std::get_if<branch_rule>(&each))
      mass += branch->has_stages ? 1e4 * negligible_lineages : 0;
  return mass;
}

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
  // The passes of a plan, and what the plan leaves out.
  struct evaluation {
    std::shared_ptr<const sized_plan> plan;
    evaluation_estimate size;
    pattern_blocks blocks;
    truncation_report truncation{};
    bool is_fresh = true;  // the parameters are those that the plan was made for
  };

  Network network;
  snp::model model;
  std::shared_ptr<process_group> group;
  double truncation;
  change_log changes;
  evaluation current;
  std::optional<evaluation> base;  // of the accepted parameters, where a proposal needed another plan
  truncation_report accepted;
  bool is_bounded = false;
  site_sums sums;

  state(const Network& net, const Data& data, const snp::model& m, const likelihood_options& options)
      : network(net), model(m), group(options.shared_by), truncation(options.truncation), changes(net.branches()) {
    likelihood_options agreed = options;
    if (group) agreed.memory_limit = min_limit(*group, options);
    run_collectively(group.get(), [&] {
      auto plan = plan_of(network, data, model, agreed);
      sums = site_sums(data, model, group);
      current = with_plan(std::move(plan));
    });
  }

  evaluation with_plan(std::shared_ptr<const sized_plan> plan) const {
    const std::size_t categories = model.rate_categories.size();
    const evaluation_estimate size = with_categories(plan->size, categories);
    pattern_blocks blocks(plan, categories, group);
    return {std::move(plan), size, std::move(blocks)};
  }

  void update() {
    if (changes.is_changed()) is_bounded = false;
    current.blocks.evaluate(network, model, changes, current.size.operations);
    if (is_bounded) return;
    assess(current);
    while (current.truncation.bound > truncation) keep_more();
    is_bounded = true;
    if (!changes.has_proposal()) accepted = current.truncation;
  }

  void assess(evaluation& of) const {
    of.truncation = {};
    if (!of.plan->cut) return;
    const plan_cut& cut = *of.plan->cut;
    of.truncation.mass = (of.is_fresh ? cut.cells.mass : dropped_mass(network, cut.schedule, cut.copies, cut.cells)) +
                         mass_of_stages(of.plan->blocks[0].steps.host);
    of.truncation.bound = sums.truncation_bound(of.blocks, model, of.truncation.mass);
  }

  // Another plan, of the present parameters: with more states where the present one is of these already.
  void keep_more() {
    const plan_cut& cut = *current.plan->cut;
    const double tau = (current.is_fresh ? cut.cells.tau : first_tau) * tau_step;
    std::shared_ptr<const sized_plan> plan;
    run_collectively(group.get(), [&] {
      plan = tau >= min_tau ? cut_again(cut, network, tau) : without_cut(cut, network);
      if (plan == nullptr) throw_unreachable(cut);
    });
    evaluation next = with_plan(std::move(plan));
    change_log all_changes(network.branches());
    next.blocks.evaluate(network, model, all_changes, next.size.operations);
    assess(next);
    if (changes.has_proposal() && !base) base = std::move(current);
    current = std::move(next);
  }

  [[noreturn]] void throw_unreachable(const plan_cut& cut) const {
    const auto [pattern, log] = sums.least_likely(current.blocks);
    std::string counts;
    const auto leaves = network.leaves();
    for (std::size_t i = 0; i < leaves.size() && pattern >= 0; ++i) {
      const std::size_t place = std::size_t(pattern) * leaves.size() + i;
      counts +=
          text(i == 0 ? "" : " ", network.name(leaves[i]), "=", cut.counts.red[place], "/", cut.counts.copies[place]);
    }
    throw InvalidArgument(text("truncation=", truncation, " is out of reach: the bound is ", current.truncation.bound,
                               " because the likelihood of a site is only e^", log, " (", counts,
                               "), and all states do not fit. A larger truncation, fewer individuals or the site left"
                               " out helps"));
  }

  void accept() {
    update();
    current.blocks.accept(changes);
    base.reset();
    accepted = current.truncation;
  }

  void reject() {
    if (base) {
      current = std::move(*base);
      base.reset();
    }
    current.blocks.reject(changes, network, model);
    current.truncation = accepted;
    is_bounded = true;
  }

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
    state_->current.blocks.take_from(donor.state_->current.blocks);
  return evaluate();
}

double Likelihood::evaluate() {
  const stage_region stage("likelihood");
  state_->update();
  return state_->sums.log_likelihood(state_->current.blocks, state_->model);
}

void Likelihood::set_length(std::int64_t branch, double length) {
  const double before = state_->network.branch(branch).length;
  state_->network.set_length(branch, length);
  state_->changes.remember({change_log::change::length, branch, before, 0});
  state_->changes.mark_branch(branch);
  state_->current.is_fresh = false;
}

void Likelihood::set_theta(std::int64_t branch, double theta) {
  const double before = state_->network.branch(branch).theta;
  state_->network.set_theta(branch, theta);
  state_->changes.remember({change_log::change::theta, branch, before, 0});
  state_->changes.mark_branch(branch);
  state_->current.is_fresh = false;
}

void Likelihood::set_gamma(std::int64_t branch, double gamma) {
  const std::int64_t first = state_->first_parent(branch);
  const double before = state_->network.branch(first).gamma;
  state_->network.set_gamma(branch, gamma);
  state_->changes.remember({change_log::change::gamma, first, before, 0});
  state_->changes.mark_inheritance(first);
  state_->current.is_fresh = false;
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

void Likelihood::accept() { state_->accept(); }

void Likelihood::reject() { state_->reject(); }

const Network& Likelihood::network() const { return state_->network; }
const snp::model& Likelihood::model() const { return state_->model; }
const evaluation_estimate& Likelihood::size() const { return state_->current.size; }
const truncation_report& Likelihood::truncation() const { return state_->current.truncation; }

std::vector<double> Likelihood::pattern_log_likelihoods() {
  state_->update();
  return state_->sums.pattern_logs(state_->current.blocks);
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
  if (s.current.blocks.steps().host.is_scaled)
    throw InvalidArgument(text("gradients take at most ", max_unscaled_lineages, " gene copies of all species"));
  snp::gradient sum;
  const bool is_finite = std::isfinite(evaluate());
  sum.length.assign(std::size_t(s.network.branches()), is_finite ? 0.0 : nan);
  sum.theta = sum.gamma = sum.length;
  if (!is_finite) {
    sum.u = sum.v = sum.root_theta = nan;
    return sum;
  }
  s.current.blocks.differentiate(
      s.network, s.model, s.changes, [&] { return s.sums.row_weights(s.current.blocks, s.model); },
      [&](const pruning_gradient& part, double rate) { add(sum, part, rate, s.model.mutation_only_at_root); });
  if (s.group) add_up(sum, *s.group);
  return sum;
}

}  // namespace quintet::snp
