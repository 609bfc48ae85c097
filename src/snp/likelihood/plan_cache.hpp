// The plans of likelihoods: made for a network, its data and the processes that share them, and kept for the next time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "quintet/core/process_group.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "snp/likelihood/device_plan.hpp"
#include "snp/likelihood/plan.hpp"
#include "snp/likelihood/schedule.hpp"

namespace quintet::snp {

/// Rows that are computed together.
struct row_block {
  device_plan steps;
  std::int64_t first, rows;
};

/// What a plan that is cut was made of, and what making it again for other parameters takes.
struct plan_cut {
  count_table counts;
  plan_limits limits;
  Device device;
  leaf_copies copies;
  std::vector<std::int64_t> schedule;
  double largest_untruncated;  ///< states of the largest group without a cut
  lineage_cut cells{};
};

/// The blocks of a plan with what they say of their size, for one rate category.
struct sized_plan {
  sized_plan(std::vector<plan_block> new_blocks, const Device& device, std::optional<plan_cut> from = {})
      : cut(std::move(from)) {
    size.blocks = std::int64_t(new_blocks.size());
    for (plan_block& block : new_blocks) {
      const plan& steps = block.steps;
      size.largest_group = std::max(size.largest_group, steps.max_entries);
      for (std::size_t v = 0; v < steps.partials.size(); ++v) {
        const partial_shape& value = steps.partials[v];
        if (blocks.empty())
          size.groups.push_back({value.branches, value.entries, value.patterns});
        else
          size.groups[v].patterns += value.patterns;
      }
      size.bytes = std::max(size.bytes, std::int64_t(bytes_of(steps).total()));
      for (const rule& each : steps.rules) size.operations += base_of(each).operations;
      blocks.push_back(row_block{device_plan(std::move(block.steps), device), block.first, block.rows});
    }
    size.largest_group_untruncated = cut ? std::int64_t(std::min(cut->largest_untruncated, 9e18)) : size.largest_group;
  }
  std::optional<plan_cut> cut;
  std::deque<row_block> blocks;
  evaluation_estimate size;
};

/// Throws InvalidArgument for a model that is none.
void check_model(const model& m);

/// What this process computes of n patterns.
share_of_range share_here(std::int64_t n, const process_group* group);

/// What an evaluation may take at most, in bytes.
double bytes_of_evaluation(const likelihood_options& options);

/// Mass that a rule of a plan may drop at first.
constexpr double first_tau = 1e-30;
/// Networks without a larger group of branches are not cut: all their states are cheap.
constexpr double max_uncut_states = 10000;

/// The plan, from the last ones of the process where it is among them; cut for the parameters of the network where that
/// is asked for and pays. Throws InvalidArgument for models, options and data that have none, and as make_plan().
std::shared_ptr<const sized_plan> plan_of(const Network& network, const Data& data, const model& m,
                                          const likelihood_options& options);

///@{
/// The plan of the same data for the parameters of `network`: cut at tau, or with all states; null where these do not
/// fit.
std::shared_ptr<const sized_plan> cut_again(const plan_cut& cut, const Network& network, double tau);
std::shared_ptr<const sized_plan> without_cut(const plan_cut& cut, const Network& network);
///@}

}  // namespace quintet::snp
