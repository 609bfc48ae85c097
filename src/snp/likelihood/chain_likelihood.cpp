#include "snp/likelihood/chain_likelihood.hpp"

#include <utility>

namespace quintet::snp {

namespace {

snp::model with_rates(snp::model model, const network_state& state) {
  model.u = state.u();
  model.v = state.v();
  return model;
}

}  // namespace

double chain_likelihood::build(const network_state& state) {
  if (data_ == nullptr) return 0;
  pending_ = change::none;
  numbering_ = number_canonically(state);
  current_.emplace(to_network(state, numbering_), *data_, with_rates(model_, state), options_);
  return current_->evaluate();
}

double chain_likelihood::propose(const network_state& state, bool topology) {
  if (data_ == nullptr) return 0;
  pending_ = change::parameters;
  if (topology) {
    proposed_numbering_ = number_canonically(state);
    if (proposed_numbering_.key != numbering_.key) {
      pending_ = change::object;
      proposed_.emplace(to_network(state, proposed_numbering_), *data_, with_rates(model_, state), options_);
      return proposed_->evaluate_beside(*current_);
    }
    pending_ = change::numbers;
  }
  follow(state, topology ? proposed_numbering_ : numbering_);
  return current_->evaluate();
}

// Sets what differs.
void chain_likelihood::follow(const network_state& state, const canonical_numbering& numbering) {
  Likelihood& likelihood = *current_;
  const Network& network = likelihood.network();
  for (std::int32_t x = 0; x < std::int32_t(state.nodes.size()); ++x) {
    const std::int32_t parents = state.node(x).parents;
    for (std::int32_t parent = 0; parent < parents; ++parent) {
      const std::int32_t b = network_state::branch_of(x, parent);
      const std::int64_t mapped = numbering.branch[std::size_t(b)];
      if (mapped < 0) continue;
      const branch& current_branch = network.branch(mapped);
      if (current_branch.length != state.length(b)) likelihood.set_length(mapped, state.length(b));
      if (current_branch.theta != state.theta(b)) likelihood.set_theta(mapped, state.theta(b));
      // The second gamma follows from the first.
      if (parents == 2 && network.parent_branches(current_branch.child)[0] == mapped &&
          current_branch.gamma != state.gamma(b))
        likelihood.set_gamma(mapped, state.gamma(b));
    }
  }
  if (network.root_theta() != state.theta(state.root_branch()))
    likelihood.set_root_theta(state.theta(state.root_branch()));
  if (likelihood.model().u != state.u() || likelihood.model().v != state.v())
    likelihood.set_rates(state.u(), state.v());
}

void chain_likelihood::accept() {
  switch (std::exchange(pending_, change::none)) {
    case change::none:
      return;
    case change::object:
      current_ = std::move(proposed_);
      proposed_.reset();
      std::swap(numbering_, proposed_numbering_);
      return;
    case change::numbers:
      std::swap(numbering_, proposed_numbering_);
      [[fallthrough]];
    case change::parameters:
      current_->accept();
  }
}

void chain_likelihood::reject() {
  switch (std::exchange(pending_, change::none)) {
    case change::none:
      return;
    case change::object:
      proposed_.reset();
      return;
    case change::numbers:
    case change::parameters:
      current_->reject();
  }
}

}  // namespace quintet::snp
