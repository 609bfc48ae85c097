// What a sweep holds between evaluations.
#pragma once

#include "snp/apply_kernel.hpp"
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
  void run(std::size_t step);
  void run_scale(std::size_t step);
  void update_root(const Network& network, const sweep_rates& rates);

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
