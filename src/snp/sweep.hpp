// One pass from the leaves to the root for one pair of mutation rates, repeated only where something changed, and the
// pass back that gives the derivatives.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "quintet/device/buffer.hpp"
#include "quintet/snp/network.hpp"
#include "snp/descent.hpp"
#include "snp/plan.hpp"
#include "snp/rates.hpp"
#include "snp/versioned.hpp"

namespace quintet::snp {

/// A plan with its tables on the device; sweeps of all rate categories share it.
struct device_plan {
  device_plan(plan steps, const Device& device);
  plan host;
  Device device;
  Buffer<std::int32_t> tables;
  Buffer<rule_tile> tiles;
  Buffer<double> binomials;
  std::int32_t binomial_stride;
  std::vector<Buffer<double>> leaves;       ///< as host.leaves
  std::vector<std::int32_t> leaf_of_value;  ///< -1: not a leaf's
  descent_plan down;

  const std::int32_t* table(std::int64_t place) const { return place < 0 ? nullptr : tables.data() + place; }
};

/// Rates of mutation on the branches and at the root.
struct sweep_rates {
  double branch_u, branch_v, root_u, root_v;
};

/// What changed since the last evaluation.
struct sweep_changes {
  bool all = false, root = false;
  std::vector<bool> branch;       ///< length, theta
  std::vector<bool> inheritance;  ///< by branch: gamma of the reticulation whose parent branch y it is
};

/// Derivatives of one sweep; by_branch_u and by_branch_v are by the rates on the branches alone.
struct sweep_gradient {
  std::vector<double> length, theta, gamma;  ///< by branch
  double branch_u = 0, branch_v = 0, root_u = 0, root_v = 0, root_theta = 0;
};

class sweep {
 public:
  explicit sweep(std::shared_ptr<const device_plan> plan);
  ~sweep();
  sweep(sweep&&) noexcept;

  /// Computes what depends on the changes; `propose`: into the other version. A proposal that does not change the root
  /// is computed up to where its changes meet, or a little higher, and multiplied with the covector there. Such values
  /// differ from those of a fresh evaluation by rounding.
  void evaluate(const Network& network, const sweep_rates& rates, const sweep_changes& changes, bool propose);
  /// Likelihood of every pattern of the root is likelihood * 2^exponent.
  std::span<const double> likelihoods() const;
  std::span<const std::int32_t> exponents() const;
  void accept();
  void reject();
  /// Derivatives of sum seed[p] * likelihoods()[p]. The last evaluation must be of these parameters.
  sweep_gradient differentiate(const Network& network, const sweep_rates& rates, std::span<const double> seed);

 private:
  friend class backward;
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace quintet::snp
