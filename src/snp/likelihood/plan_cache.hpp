// The plans of likelihoods: made for a network, its data and the processes that share them, and kept for the next time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "quintet/core/process_group.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "snp/likelihood/device_plan.hpp"
#include "snp/likelihood/plan.hpp"

namespace quintet::snp {

/// Rows that are computed together.
struct row_block {
  device_plan steps;
  std::int64_t first, rows;
};

/// The blocks of a plan with what they say of their size, for one rate category.
struct sized_plan {
  sized_plan(std::vector<plan_block> made, const Device& device) {
    size.blocks = std::int64_t(made.size());
    for (plan_block& one : made) {
      const plan& steps = one.steps;
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
      blocks.push_back(row_block{device_plan(std::move(one.steps), device), one.first, one.rows});
    }
  }
  std::deque<row_block> blocks;
  evaluation_estimate size;
};

/// Throws InvalidArgument for a model that is none.
void check_model(const model& m);

/// What this process computes of n patterns.
share_of_range share_here(std::int64_t n, const process_group* group);

/// What an evaluation may take at most, in bytes.
double bytes_of_evaluation(const likelihood_options& options);

/// The plan, from the last ones of the process where it is among them. Throws InvalidArgument for models, options and
/// data that have none, and as make_plan().
std::shared_ptr<const sized_plan> plan_of(const Network& network, const Data& data, const model& m,
                                          const likelihood_options& options);

}  // namespace quintet::snp
