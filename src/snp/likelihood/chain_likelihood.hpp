// The likelihood of one walker of a Markov chain: follows its state from proposal to proposal.
#pragma once

#include <optional>

#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/network/network_state.hpp"

namespace quintet::snp {

/// Without data every log-likelihood is 0.
class chain_likelihood {
 public:
  chain_likelihood(const Data* data, const snp::model& model, const likelihood_options& options)
      : data_(data), model_(model), options_(options) {}

  /// Computes everything anew; the bits depend on the state alone.
  double build(const network_state& state);
  /// The value of a proposal; accept() or reject() must follow. `topology`: nodes or branches may have changed.
  double propose(const network_state& state, bool topology);
  void accept();
  void reject();
  /// The network as the likelihood has it, in canonical numbering; only with data.
  Likelihood& likelihood() { return *current_; }
  const canonical_numbering& numbering() const { return numbering_; }

 private:
  void follow(const network_state& state, const canonical_numbering& numbering);

  const Data* data_;
  snp::model model_;
  likelihood_options options_;
  std::optional<Likelihood> current_, proposed_;
  canonical_numbering numbering_, proposed_numbering_;
  enum class change { none, parameters, numbers, object } pending_ = change::none;
};

}  // namespace quintet::snp
