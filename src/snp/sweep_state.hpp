// What a sweep holds between evaluations.
#pragma once

#include "snp/apply_kernel.hpp"
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
  struct root_result {
    std::vector<double> likelihood;
    std::vector<std::int32_t> exponent;
  };
  root_result results[2];
  version_switch root_version;

  void begin_write(version_switch& version, bool propose);
  const double* value(std::int32_t v) const;
  double* work_of(std::int64_t size);

  void update_matrices(const Network& network, const sweep_rates& rates, const std::vector<bool>& dirty, bool propose);
  void run(std::size_t step, const Network& network, const sweep_rates& rates, bool propose);
  void run_apply(const plan_step& step, const Network& network, const sweep_rates& rates, bool propose);
  void run_flow(const plan_step& step, const Network& network, const sweep_rates& rates, bool propose);
  void update_matrix(std::size_t branch, const exponential_job& job, bool propose);
  void run_scale(std::size_t step);
  void update_root(const Network& network, const sweep_rates& rates);

  std::size_t version_of(std::int32_t value) const { return std::size_t(value_version[std::size_t(value)].current()); }
  const lineage_bound& lineages_of(std::int32_t value) const;
  /// Lineages of a value of one branch, `most` of others.
  std::int32_t limit_of(std::int32_t value, std::int32_t most) const;
  /// Entries that are not negligible.
  std::int64_t entries_of(std::int32_t value) const;
  void set_lineages(const plan_step& step);

  axis_tables axis(const plan_step& step) const;
  join_tables join(const plan_step& step) const;
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
