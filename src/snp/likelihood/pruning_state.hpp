// What a pruning pass holds between evaluations: the partials store, the pre-order partials, and what the proposal
// changed.
#pragma once

#include "snp/likelihood/partials_store.hpp"
#include "snp/likelihood/preorder_context.hpp"
#include "snp/likelihood/pruning_pass.hpp"

namespace quintet::snp {

/// The likelihoods of the root's patterns.
struct root_result {
  std::vector<double> likelihood;
  std::vector<std::int32_t> exponent;
};

/// What was changed since the last accept() or reject(), and how far it was computed.
struct open_proposal {
  bool is_open = false, is_complete = false, touches_root = false;
  bool is_contracted = false;           ///< the likelihoods are products with a pre-order partial
  std::vector<bool> touched;            ///< by rule: its own parameter
  std::int32_t evaluation_branch = -1;  ///< partial likelihood that was multiplied with its pre-order partial
};

struct pruning_pass::state {
  explicit state(std::shared_ptr<const device_plan> steps);

  const plan& host() const { return values.host(); }
  const preorder_plan& down() const { return values.steps().down; }

  partials_store values;
  const partials_store* donor = nullptr;  ///< of the first evaluation
  root_result results[2];
  version_switch root_version;
  open_proposal proposal;
  double acceptance = 0.5;  ///< share of the last proposals that were accepted, recent ones counting more

  // Pre-order partials belong to accepted parameters; a partial likelihood that is stale must be computed again before
  // it is read.
  std::vector<preorder_partial> preorder;  ///< by partial likelihood
  std::vector<bool> is_stale;              ///< by partial likelihood
  Buffer<double> contracted;
  Buffer<std::int32_t> contracted_exponents;

  root_result& result() { return results[root_version.current()]; }

  // pruning_pass.cpp
  void run(std::size_t rule, const parameters& params, bool propose);
  void run_all(const parameters& params);
  void update_root(const parameters& params);
  void refresh(std::int32_t v, const parameters& params);
  void run_changed(std::size_t rule, const parameters& params, const std::vector<std::int32_t>& count);
  void complete(const parameters& params);
  void finish(const parameters& params);
  void note(const parameter_changes& changes);
  std::vector<std::int32_t> changes_below() const;
  void commit();
  void close();

  // preorder_pass.cpp
  bool can_contract() const;
  bool contract(const parameters& params);
  std::vector<std::int32_t> common_path(const std::vector<std::int32_t>& count) const;
  std::size_t choose_evaluation_branch(const std::vector<std::int32_t>& path) const;
  bool covers_lineages(std::int32_t v) const;
  void multiply(std::int32_t v, const parameters& params);
  bool is_in_range();
  std::size_t preorder_home(std::int32_t v) const;
  void require_preorder(std::int32_t v, const parameters& params);
};

}  // namespace quintet::snp
