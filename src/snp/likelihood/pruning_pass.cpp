#include "snp/likelihood/pruning_pass.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "snp/likelihood/pruning_state.hpp"
#include "snp/likelihood/rules/root.hpp"

namespace quintet::snp {

namespace {

// Proposals that the share of accepted ones looks back to.
constexpr double memory_of_acceptance = 8;

}  // namespace

pruning_pass::pruning_pass(std::shared_ptr<const device_plan> plan)
    : state_(std::make_unique<state>(std::move(plan))) {}
pruning_pass::~pruning_pass() = default;
pruning_pass::pruning_pass(pruning_pass&&) noexcept = default;

void pruning_pass::take_from(const pruning_pass& donor) { state_->donor = &donor.state_->values; }

pruning_pass::state::state(std::shared_ptr<const device_plan> plan)
    : values(std::move(plan)), preorder(host().partials.size()), is_stale(host().partials.size(), false) {
  proposal.touched.assign(host().rules.size(), false);
}

void pruning_pass::state::run(std::size_t s, const parameters& params, bool propose) {
  forward(host().rules[s], values, params, propose);
}

void pruning_pass::state::update_root(const parameters& params) {
  evaluate_root(values, params, result().likelihood, result().exponent);
}

// The first evaluation.
void pruning_pass::state::run_all(const parameters& params) {
  update_matrices(values, params, std::vector<bool>(values.branches(), true), false, std::exchange(donor, nullptr));
  for (std::size_t s = 0; s < host().rules.size(); ++s) {
    if (const auto* split = std::get_if<split_rule>(&host().rules[s])) update_shares(*split, values, params, false);
    run(s, params, false);
  }
  update_root(params);
}

// What accepted changes made out of date.
void pruning_pass::state::refresh(std::int32_t v, const parameters& params) {
  if (!is_stale[std::size_t(v)]) return;
  const std::size_t s = std::size_t(down().producer[std::size_t(v)]);
  refresh(base_of(host().rules[s]).in, params);
  if (const std::int32_t second = second_input(host().rules[s]); second >= 0) refresh(second, params);
  run(s, params, false);
  is_stale[std::size_t(v)] = false;
}

// Rules above the changed ones, the changed ones included: how many changes their results see.
std::vector<std::int32_t> pruning_pass::state::changes_below() const {
  std::vector<std::int32_t> count(host().partials.size(), 0);
  for (std::size_t s = 0; s < proposal.touched.size(); ++s) {
    if (!proposal.touched[s]) continue;
    for (std::int32_t at = std::int32_t(s); at >= 0;) {
      const std::size_t out = std::size_t(base_of(host().rules[std::size_t(at)]).out);
      ++count[out];
      at = down().consumer[out];
    }
  }
  return count;
}

// One rule of a proposal; its inputs that no change reaches are brought up to date.
void pruning_pass::state::run_changed(std::size_t s, const parameters& params, const std::vector<std::int32_t>& count) {
  const rule& any_rule = host().rules[s];
  for (const std::int32_t in : {base_of(any_rule).in, second_input(any_rule)})
    if (in >= 0 && count[std::size_t(in)] == 0) refresh(in, params);
  values.begin_partial(base_of(any_rule).out, true);
  run(s, params, true);
}

// Everything above the changes of a proposal, or everything that accepted changes made out of date.
void pruning_pass::state::complete(const parameters& params) {
  if (!proposal.is_open) return refresh(host().root, params);
  if (proposal.is_complete) return;
  const std::vector<std::int32_t> count = changes_below();
  for (std::size_t s = 0; s < host().rules.size(); ++s)
    if (count[std::size_t(base_of(host().rules[s]).out)] > 0) run_changed(s, params, count);
  if (count[std::size_t(host().root)] == 0) refresh(host().root, params);
  proposal.is_complete = true;
}

void pruning_pass::state::note(const parameter_changes& changes) {
  proposal.touches_root = proposal.touches_root || changes.root;
  for (std::size_t s = 0; s < proposal.touched.size(); ++s) {
    const rule& any_rule = host().rules[s];
    const auto* branch = std::get_if<branch_rule>(&any_rule);
    const auto* split = std::get_if<split_rule>(&any_rule);
    const bool changed = (branch != nullptr && changes.branch[std::size_t(branch->branch)]) ||
                         (split != nullptr && changes.inheritance[std::size_t(split->y)]);
    proposal.touched[s] = proposal.touched[s] || changed;
  }
}

// An accepted proposal leaves valid the partial likelihoods that it computed or does not reach, and the pre-order ones
// of those that have all its changes below them.
void pruning_pass::state::commit() {
  acceptance += (1 - acceptance) / memory_of_acceptance;
  const std::vector<std::int32_t> count = changes_below();
  std::vector<bool> keeps(count.size(), false), is_above(count.size(), false);
  bool passed = false;
  if (!proposal.touches_root)
    for (const std::int32_t v : common_path(count)) {
      keeps[preorder_home(v)] = true;
      is_above[std::size_t(v)] = passed;
      passed = passed || v == proposal.evaluation_branch;
    }
  for (std::size_t v = 0; v < count.size(); ++v) {
    if (!keeps[v]) preorder[v].is_valid = false;
    if (count[v] > 0) is_stale[v] = !proposal.is_complete && is_above[v];
  }
}

void pruning_pass::state::close() {
  proposal.is_open = proposal.is_complete = proposal.touches_root = proposal.is_contracted = false;
  proposal.touched.assign(proposal.touched.size(), false);
}

void pruning_pass::evaluate(const Network& network, const mutation_rates& rates, const parameter_changes& changes,
                            bool propose) {
  state& s = *state_;
  const parameters params = parameters_of(network, rates);
  double mutations = 0;
  for (const rule& any_rule : s.host().rules)
    if (const auto* branch = std::get_if<branch_rule>(&any_rule); branch != nullptr && branch->has_stages) {
      const snp::branch& at = params.of(branch->branch);
      check_stages(branch->max, at.length, at.theta, rates.branch_u, rates.branch_v);
      mutations += mutations_on_branch(branch->max, at.length, at.theta, rates.branch_u, rates.branch_v);
    }
  if (s.host().is_scaled) check_mutations(mutations);
  if (!propose) return s.run_all(params);
  const bool is_first = !s.proposal.is_open;
  s.note(changes);
  const bool may_contract = is_first && s.can_contract();
  // Pre-order partials go down through branches with many lineages by the bounds of partial likelihoods that are up to
  // date.
  if (may_contract && s.values.has_stages()) s.refresh(s.host().root, params);
  s.proposal.is_open = true;
  s.proposal.is_complete = false;
  if (std::find(changes.branch.begin(), changes.branch.end(), true) != changes.branch.end())
    update_matrices(s.values, params, changes.branch, true);
  for (const rule& any_rule : s.host().rules)
    if (const auto* split = std::get_if<split_rule>(&any_rule);
        split != nullptr && changes.inheritance[std::size_t(split->y)])
      update_shares(*split, s.values, params, true);
  s.proposal.is_contracted = may_contract && s.contract(params);
  if (!s.proposal.is_contracted) s.finish(params);
}

bool pruning_pass::is_contracted() const { return state_->proposal.is_contracted; }
bool pruning_pass::is_in_range() const { return state_->is_in_range(); }

void pruning_pass::finish(const Network& network, const mutation_rates& rates) {
  state_->finish(parameters_of(network, rates));
}

void pruning_pass::state::finish(const parameters& params) {
  complete(params);
  values.begin(root_version, true);
  update_root(params);
  proposal.is_contracted = false;
}

std::span<const double> pruning_pass::likelihoods() const { return state_->result().likelihood; }
std::span<const std::int32_t> pruning_pass::exponents() const { return state_->result().exponent; }

void pruning_pass::accept() {
  if (state_->proposal.is_open) state_->commit();
  state_->values.accept();
  state_->close();
}

void pruning_pass::reject() {
  if (state_->proposal.is_open) state_->acceptance -= state_->acceptance / memory_of_acceptance;
  state_->values.reject();
  state_->close();
}

pruning_gradient pruning_pass::differentiate(const Network& network, const mutation_rates& rates,
                                             std::span<const double> seed) {
  const parameters params = parameters_of(network, rates);
  state_->complete(params);
  update_root_weights(state_->values, params);
  adjoint_context pass(state_->values, params);
  adjoint_root(pass, seed);
  const std::vector<rule>& rules = state_->host().rules;
  for (std::size_t s = rules.size(); s-- > 0;)
    std::visit([&](const auto& rule_of_step) { rule_of_step.adjoint(pass); }, rules[s]);
  finish_branches(pass);
  return pass.result;
}

}  // namespace quintet::snp
