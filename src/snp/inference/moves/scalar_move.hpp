// netdiv, theta mean, turnover, pi1: one number of the state. A positive number x is multiplied by s, log s uniform in
// (-w/2, w/2): the ratio is x' / x = s. A number p in (0, 1) takes a uniform step of its logit: the ratio is
// p' (1 - p') / (p (1 - p)). Both follow from the symmetry of the step in log x or logit p; see proposals.hpp.
#pragma once

#include "snp/inference/moves/move.hpp"
#include "snp/inference/moves/proposals.hpp"

namespace quintet::snp {

/// Where the density of a number is not zero.
enum class support { positive, unit_interval };

class scalar_move final : public move {
 public:
  scalar_move(std::string_view name, double weight, double width, double network_state::* member, support range,
              bool changes_likelihood)
      : move(weight, width), name_(name), member_(member), support_(range), changes_likelihood_(changes_likelihood) {}
  std::string_view name() const override { return name_; }
  bool is_tunable() const override { return true; }

  proposal propose(network_state& state, random_stream& random) const override {
    proposal result{.applies = true, .changes_likelihood = changes_likelihood_};
    double& x = state.*member_;
    if (support_ == support::positive) {
      const double factor = draw_factor(width(), random);
      x *= factor;
      result.log_hastings = std::log(factor);
    } else {
      const logit_step step = draw_logit_step(x, width(), random);
      x = step.value;
      result.log_hastings = step.log_hastings;
    }
    return result;
  }

 private:
  std::string_view name_;
  double network_state::* member_;
  support support_;
  bool changes_likelihood_;
};

}  // namespace quintet::snp
