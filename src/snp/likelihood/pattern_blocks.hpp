// The pruning passes of a likelihood: the rows of this process, one pass for each rate category where all rows are one
// block, and passes that come and go where they are several.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "quintet/core/process_group.hpp"
#include "quintet/snp/network/model.hpp"
#include "snp/likelihood/change_log.hpp"
#include "snp/likelihood/plan_cache.hpp"
#include "snp/likelihood/pruning_pass.hpp"

namespace quintet::snp {

/// Runs `work`; where other processes share the likelihood, all throw or none does.
template <class Work>
void run_collectively(process_group* group, const Work& work) {
  if (group != nullptr)
    group->run_collectively(work);
  else
    work();
}

class pattern_blocks {
 public:
  pattern_blocks() = default;
  pattern_blocks(std::shared_ptr<const sized_plan> plan, std::size_t categories, std::shared_ptr<process_group> group);

  /// Rows that this process computes.
  std::size_t rows() const { return std::size_t(plan_->blocks.back().first + plan_->blocks.back().rows); }
  /// The plan of the first block.
  const device_plan& steps() const { return plan_->blocks[0].steps; }
  /// Likelihood of a row as value * 2^exponent, the mean over the categories.
  std::pair<double, std::int32_t> likelihood_of(std::size_t row) const;

  /// The first evaluation may copy exponentials from `donor`: see pruning_pass.
  void take_from(const pattern_blocks& donor);
  /// Computes what depends on the changes; `operations` of one evaluation decide whether other threads are woken.
  void evaluate(const Network& network, const model& m, change_log& changes, double operations);
  void accept(change_log& changes);
  void reject(change_log& changes, Network& network, model& m);

  /// Calls add(gradient, rate) with the derivatives of every pass, times those of the log-likelihood by the (unscaled)
  /// likelihoods of the rows, which row_weights() gives times these likelihoods.
  void differentiate(const Network& network, const model& m, change_log& changes,
                     const std::function<std::vector<double>()>& row_weights,
                     const std::function<void(const pruning_gradient&, double)>& add);

 private:
  // Of several blocks every evaluation computes all, and keeps only these, [category][row].
  struct row_results {
    std::vector<double> likelihood;
    std::vector<std::int32_t> exponent;
  };

  bool are_several() const { return plan_->blocks.size() > 1; }
  std::size_t pattern_of(const row_block& block, std::size_t row) const {
    return std::size_t(block.steps.host.root_pattern_of_row[row - std::size_t(block.first)]);
  }
  pruning_pass pass_of(const row_block& block) const;
  void make_passes();
  template <class Work>
  void use_passes(change_log& changes, const Work& work);
  template <class Function>
  void for_each_block(const Network& network, const model& m, const parameter_changes& changes, const Function& f);
  row_results results_of_blocks(const Network& network, const model& m, const parameter_changes& changes);
  std::vector<bool> out_of_range();
  std::vector<double> seeds(const row_block& block, const pruning_pass& pass,
                            const std::vector<double>& row_weights) const;

  std::shared_ptr<const sized_plan> plan_;
  std::size_t categories_ = 1;
  std::shared_ptr<process_group> group_;
  std::vector<pruning_pass> passes_;  // one a rate category, if all rows are one block
  row_results results_, accepted_;
};

}  // namespace quintet::snp
