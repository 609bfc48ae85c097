// What a sweep holds between evaluations.
#pragma once

#include "snp/apply_kernel.hpp"
#include "snp/covector_kernels.hpp"
#include "snp/flow.hpp"
#include "snp/join_kernel.hpp"
#include "snp/reticulation_kernel.hpp"
#include "snp/sweep.hpp"

namespace quintet::snp {

struct sweep::state {
  explicit state(std::shared_ptr<const device_plan> steps);

  std::shared_ptr<const device_plan> steps;
  const plan& host;
  Device device;

  // Values, exponents of joins, matrices of branches, shares of reticulations: each with its switch.
  std::vector<versioned<double>> values;
  std::vector<version_switch> value_version;
  std::vector<versioned<std::int32_t>> own_exponents, total_exponents;  ///< by step
  std::vector<versioned<double>> matrices;
  std::vector<version_switch> matrix_version;
  std::vector<versioned<double>> shares;  ///< by branch y
  std::vector<version_switch> share_version;
  std::vector<version_switch*> proposed;

  // Lineages of values of one branch alone, by version; only where a branch has many (has_flow).
  bool has_flow = false;
  std::vector<lineage_bound> lineages[2];
  std::vector<bool> is_split;  ///< values that a reticulation splits: negligible rows must be zero
  Buffer<double> flow_values[2], flow_work;

  Buffer<double> root_weight, root_likelihood, work;
  double root_weight_of[2] = {-1, -1};  ///< theta v and theta u of root_weight
  struct root_result {
    std::vector<double> likelihood;
    std::vector<std::int32_t> exponent;
  };
  root_result results[2];
  version_switch root_version;

  // What a proposal changed since the last accept() or reject(), and how far it was computed.
  bool in_proposal = false, is_complete = false, touches_root = false;
  std::vector<bool> touched;  ///< by step: its own parameter
  double acceptance = 0.5;    ///< share of the last proposals that were accepted, recent ones counting more
  std::int32_t met_at = -1;   ///< value that was multiplied with its covector

  // Covectors belong to accepted parameters; a value that is stale must be computed again before it is read.
  struct covector {
    bool is_valid = false;
    Buffer<double> entries;                             ///< [entries, patterns of the root]
    const std::int32_t* exponents = nullptr;            ///< of all that is not below the value, null: zero
    Buffer<std::int32_t> own_exponents, sum_exponents;  ///< of the join above, where there is one
  };
  std::vector<covector> covectors;  ///< by value
  std::vector<bool> is_stale;       ///< by value
  Buffer<double> contracted;
  Buffer<std::int32_t> contracted_exponents;

  void begin_write(version_switch& version, bool propose);
  const double* value(std::int32_t v) const;
  double* work_of(std::int64_t size);

  void update_matrices(const Network& network, const sweep_rates& rates, const std::vector<bool>& dirty, bool propose);
  void run(std::size_t step, const Network& network, const sweep_rates& rates, bool propose);
  void run_apply(const plan_step& step, const Network& network, const sweep_rates& rates, bool propose);
  void run_flow(const plan_step& step, const Network& network, const sweep_rates& rates, bool propose);
  void update_matrix(std::size_t branch, const exponential_job& job, bool propose);
  void run_scale(std::size_t step);
  void update_root_weight(const Network& network, const sweep_rates& rates);
  void update_root(const Network& network, const sweep_rates& rates);
  void update_share(const plan_step& step, const Network& network, bool propose);
  void run_all(const Network& network, const sweep_rates& rates);

  // sweep_covector.cpp
  void note(const sweep_changes& changes);
  std::vector<std::int32_t> changes_below() const;
  std::vector<std::int32_t> common_path(const std::vector<std::int32_t>& count) const;
  std::size_t cheapest_meeting(const std::vector<std::int32_t>& path) const;
  bool covers_lineages(std::int32_t value) const;
  bool can_contract() const;
  bool contract(const Network& network, const sweep_rates& rates);
  bool multiply(std::int32_t value, const Network& network, const sweep_rates& rates);
  pattern_numbers exponents_at_root(std::int32_t value) const;
  std::size_t covector_home(std::int32_t value) const;
  void need_covector(std::int32_t value, const Network& network, const sweep_rates& rates);
  void descend(std::size_t step, bool is_left, const covector& above, covector& made, const Network& network,
               const sweep_rates& rates);
  void descend_join(std::size_t step, bool is_left, const covector& above, covector& made, const Network& network,
                    const sweep_rates& rates);
  void descend_flow(const plan_step& step, axis_tables tables, std::int64_t tiles, const double* from, double* to,
                    const Network& network, const sweep_rates& rates);
  void stages_down(const plan_step& step, const flow_plan& flow, std::int32_t patterns, const double* from,
                   double* below, const Network& network, const sweep_rates& rates);
  void refresh(std::int32_t value, const Network& network, const sweep_rates& rates);
  void run_changed(std::size_t step, const Network& network, const sweep_rates& rates,
                   const std::vector<std::int32_t>& count);
  void complete(const Network& network, const sweep_rates& rates);
  void settle();
  void dismiss();
  void forget();

  /// Whose lineages count: those of the last evaluation, or of the accepted parameters, to which covectors belong.
  enum class version { current, accepted };
  std::size_t version_of(std::int32_t value, version which = version::current) const {
    const version_switch& versions = value_version[std::size_t(value)];
    return std::size_t(which == version::accepted ? versions.accepted() : versions.current());
  }
  const lineage_bound& lineages_of(std::int32_t value, version which = version::current) const;
  /// Lineages of a value of one branch, `most` of others.
  std::int32_t limit_of(std::int32_t value, std::int32_t most, version which) const;
  /// Entries that are not negligible.
  std::int64_t entries_of(std::int32_t value, version which = version::current) const;
  void set_lineages(const plan_step& step);

  axis_tables axis(const plan_step& step, version which = version::current) const;
  join_tables join(const plan_step& step, version which = version::current) const;
  pair_tables pair(const plan_step& step) const;
  split_weights weights(const plan_step& step, const double* share) const;
};

/// Calls f(host_rules{}) or f(device_rules{}).
template <class Function>
void with_rules(const Device& device, Function&& f) {
  device::with_shape<host_rules, device_rules>(device, std::forward<Function>(f));
}

inline std::int64_t tiles_of(std::int64_t count, std::int64_t per_tile) { return (count + per_tile - 1) / per_tile; }

}  // namespace quintet::snp
