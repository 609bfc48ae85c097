// Proposals that change little: values up to where all changes meet, and there one product with the covector of that
// value, which accepted parameters determine and which serves until a change elsewhere is accepted.
#include <algorithm>

#include "device/for_each.hpp"
#include "snp/covector_kernels.hpp"
#include "snp/flow_kernel.hpp"
#include "snp/sweep_state.hpp"
#include "snp/value_kernels.hpp"

namespace quintet::snp {

namespace {

// Proposals that the share of accepted ones looks back to.
constexpr double memory_of_acceptance = 8;

// Likelihoods (scaled) outside this range are computed anew, with scales of their own.
constexpr double least_contracted = 1e-200, most_contracted = 1e200;

// Lineages that a covector leaves out may be so many times as probable for a proposal as they are for what is accepted.
constexpr double lineage_slack = 1e10;

}  // namespace

// Steps above the changed ones, the changed ones included: how many changes they see.
std::vector<std::int32_t> sweep::state::changes_below() const {
  std::vector<std::int32_t> count(host.values.size(), 0);
  for (std::size_t s = 0; s < touched.size(); ++s) {
    if (!touched[s]) continue;
    for (std::int32_t step = std::int32_t(s); step >= 0;) {
      const std::size_t out = std::size_t(host.steps[std::size_t(step)].out);
      ++count[out];
      step = steps->down.consumer[out];
    }
  }
  return count;
}

// From where all changes meet up to the root.
std::vector<std::int32_t> sweep::state::common_path(const std::vector<std::int32_t>& count) const {
  const auto all = std::int32_t(std::count(touched.begin(), touched.end(), true));
  std::vector<std::int32_t> path;
  if (all == 0) return path;
  std::int32_t step = std::int32_t(std::find(touched.begin(), touched.end(), true) - touched.begin());
  while (step >= 0) {
    const std::int32_t out = host.steps[std::size_t(step)].out;
    if (count[std::size_t(out)] == all) path.push_back(out);
    step = steps->down.consumer[std::size_t(out)];
  }
  return path;
}

// The place on the path where values end and the covector begins, by counted operations, so that it does not depend on
// how fast the machine is. What is spent on covectors serves until something is accepted.
std::size_t sweep::state::cheapest_meeting(const std::vector<std::int32_t>& path) const {
  const descent_plan& down = steps->down;
  std::vector<double> below(path.size(), 0.0);
  for (std::size_t i = 1; i < path.size(); ++i)
    below[i] = below[i - 1] + down.forward_cost[std::size_t(down.consumer[std::size_t(path[i - 1])])];
  std::size_t best = path.size() - 1;
  double least = below.back(), above = 0;
  for (std::size_t i = path.size() - 1; i-- > 0;) {
    const std::size_t value = std::size_t(path[i]);
    above += down.backward_cost[std::size_t(down.consumer[value])];
    if (covectors[covector_home(path[i])].is_valid) above = 0;
    const double product = double(host.values[value].entries) * down.patterns;
    const double cost = below[i] + acceptance * above + product;
    if (cost > least) continue;
    least = cost;
    best = i;
  }
  return best;
}

// Whether what the covector of a value leaves out is negligible for the proposal too.
bool sweep::state::covers_lineages(std::int32_t value) const {
  if (!has_flow || host.values[std::size_t(value)].branches.size() != 1) return true;
  const version_switch& version = value_version[std::size_t(value)];
  const lineage_bound& now = lineages[version.current()][std::size_t(value)];
  const lineage_bound& accepted = lineages[version.accepted()][std::size_t(value)];
  if (now.limit > accepted.limit) return false;
  for (std::size_t n = 0; n <= std::size_t(now.limit); ++n)
    if (now.bound[n] > lineage_slack * accepted.bound[n]) return false;
  return true;
}

bool sweep::state::contract(const Network& network, const sweep_rates& rates) {
  const std::vector<std::int32_t> count = changes_below();
  const std::vector<std::int32_t> path = common_path(count);
  std::size_t meeting = cheapest_meeting(path);
  if (meeting + 1 == path.size()) return false;
  std::vector<bool> is_above(host.values.size(), false);
  for (std::size_t i = meeting + 1; i < path.size(); ++i) is_above[std::size_t(path[i])] = true;
  for (std::size_t s = 0; s < host.steps.size(); ++s) {
    const std::size_t out = std::size_t(host.steps[s].out);
    if (count[out] > 0 && !is_above[out]) run_changed(s, network, rates, count);
  }
  for (; !covers_lineages(path[meeting]); ++meeting) {
    if (meeting + 2 >= path.size()) return false;
    run_changed(std::size_t(steps->down.consumer[std::size_t(path[meeting])]), network, rates, count);
  }
  return multiply(path[meeting], network, rates);
}

// The root's likelihoods from one value and its covector; whether they are in the range.
bool sweep::state::multiply(std::int32_t v, const Network& network, const sweep_rates& rates) {
  const descent_plan& down = steps->down;
  const std::size_t place = std::size_t(v);
  const std::int64_t patterns = down.patterns, entries = entries_of(v);
  need_covector(v, network, rates);
  const covector& with = covectors[covector_home(v)];
  if (contracted_exponents.size() == 0) {
    contracted = Buffer<double>(patterns, device);
    contracted_exponents = Buffer<std::int32_t>(patterns, device);
  }
  with_rules(device, [&](auto shape) {
    using kernel = contract_kernel<decltype(shape)>;
    const std::int64_t slices = kernel::slices(entries);
    double* partial = work_of(slices * patterns);
    device::launch(kernel{entries, patterns, host.values[place].padded, down.pattern_of[place], with.entries.data(),
                          value(v), partial},
                   slices * kernel::chunks(patterns), device);
    device::for_each(patterns,
                     finish_contraction{slices,
                                        patterns,
                                        partial,
                                        {with.exponents, nullptr},
                                        exponents_at_root(v),
                                        contracted.data(),
                                        contracted_exponents.data()},
                     device);
  });
  begin_write(root_version, true);
  root_result& result = results[root_version.current()];
  const std::size_t used = std::size_t(host.values[std::size_t(host.root_value)].patterns);
  result.likelihood.resize(used);
  result.exponent.resize(used);
  contracted.copy_to_host(result.likelihood.data(), std::int64_t(used));
  contracted_exponents.copy_to_host(result.exponent.data(), std::int64_t(used));
  met_at = v;
  return std::all_of(result.likelihood.begin(), result.likelihood.end(),
                     [](double x) { return x >= least_contracted && x <= most_contracted; });
}

// Exponents of a value, for the patterns of the root.
pattern_numbers sweep::state::exponents_at_root(std::int32_t v) const {
  const std::int32_t join = steps->down.scaled_by[std::size_t(v)];
  if (join < 0) return {};
  const std::size_t out = std::size_t(host.steps[std::size_t(join)].out);
  return {total_exponents[std::size_t(join)].read(value_version[out]), steps->down.pattern_of[out]};
}

// A value whose patterns alone are mapped has the covector of what it becomes.
std::size_t sweep::state::covector_home(std::int32_t v) const {
  for (;;) {
    const std::int32_t consumer = steps->down.consumer[std::size_t(v)];
    if (consumer < 0) return std::size_t(v);
    const plan_step& step = host.steps[std::size_t(consumer)];
    if (step.kind != step_kind::remap || step.entry_of >= 0) return std::size_t(v);
    v = step.out;
  }
}

void sweep::state::need_covector(std::int32_t v, const Network& network, const sweep_rates& rates) {
  const std::size_t home = covector_home(v);
  covector& made = covectors[home];
  if (made.is_valid) return;
  const std::int64_t size = host.values[home].entries * steps->down.patterns;
  if (made.entries.size() != size) made.entries = Buffer<double>(size, device);
  const std::int32_t consumer = steps->down.consumer[home];
  if (consumer < 0) {
    update_root_weight(network, rates);
    device::for_each(host.values[home].entries,
                     root_covector{steps->down.patterns, root_weight.data(), made.entries.data()}, device);
  } else {
    const plan_step& step = host.steps[std::size_t(consumer)];
    need_covector(step.out, network, rates);
    const covector& above = covectors[covector_home(step.out)];
    made.exponents = above.exponents;
    descend(std::size_t(consumer), home == std::size_t(step.in), above, made, network, rates);
  }
  made.is_valid = true;
}

// One step down; is_left: to its first input.
void sweep::state::descend(std::size_t s, bool is_left, const covector& above, covector& made, const Network& network,
                           const sweep_rates& rates) {
  const plan_step& step = host.steps[s];
  const descent_plan& down = steps->down;
  const double* from = above.entries.data();
  double* to = made.entries.data();
  const auto pair_of = [&] {
    pair_tables tables = pair(step);
    tables.patterns = down.patterns;
    tables.tiles = down.tiles[s].first;
    return tables;
  };
  with_rules(device, [&](auto shape) {
    using Shape = decltype(shape);
    const std::int64_t tiles = down.tiles[s].count;
    switch (step.kind) {
      case step_kind::apply: {
        axis_tables tables = axis(step, version::accepted);
        tables.patterns = down.patterns;
        tables.tiles = down.tiles[s].first;
        if (step.is_flow) return descend_flow(step, tables, tiles, from, to, network, rates);
        const std::size_t b = std::size_t(step.branch);
        return device::launch(apply_kernel<Shape, true>{tables, matrices[b].read(matrix_version[b]), from, to}, tiles,
                              device);
      }
      case step_kind::remap:
        return device::for_each(host.values[std::size_t(step.out)].entries,
                                scatter_rows{down.patterns, steps->table(step.entry_of), from, to}, device);
      case step_kind::join:
        return descend_join(s, is_left, above, made, network, rates);
      case step_kind::merge:
        return device::launch(merge_adjoint_kernel<Shape>{pair_of(), {}, from, to}, tiles, device);
      case step_kind::split: {
        const std::size_t b = std::size_t(step.branch);
        return device::launch(
            split_adjoint_kernel<Shape>{pair_of(), weights(step, shares[b].read(share_version[b])), from, to}, tiles,
            device);
      }
    }
  });
}

void sweep::state::descend_join(std::size_t s, bool is_left, const covector& above, covector& made,
                                const Network& network, const sweep_rates& rates) {
  const plan_step& step = host.steps[s];
  const descent_plan& down = steps->down;
  const std::int32_t other = is_left ? step.in2 : step.in;
  const std::int64_t patterns = down.patterns;
  refresh(other, network, rates);
  if (made.sum_exponents.size() == 0) {  // the later one: memory may end between them
    made.own_exponents = Buffer<std::int32_t>(patterns, device);
    made.sum_exponents = Buffer<std::int32_t>(patterns, device);
  }
  with_rules(device, [&](auto shape) {
    using Shape = decltype(shape);
    const double* with = value(other);
    if (const std::int32_t* map = down.pattern_of[std::size_t(other)]) {
      using kernel = remap_kernel<Shape>;
      const std::int64_t entries = entries_of(other, version::accepted);
      double* expanded = work_of(entries * patterns);
      device::launch(kernel{entries, host.values[std::size_t(other)].padded, patterns, nullptr, map, with, expanded},
                     tiles_of(entries, kernel::entries_per_tile), device);
      with = expanded;
    }
    const tile_range& range = is_left ? down.tiles[s] : down.right_tiles[s];
    join_tables tables = join(step, version::accepted);
    tables.patterns = down.patterns;
    tables.tiles = range.first;
    device::launch(join_adjoint_kernel<Shape>{tables, is_left, with, above.entries.data(), made.entries.data()},
                   range.count, device);
  });
  const std::size_t out = std::size_t(step.out);
  device::for_each(patterns,
                   join_exponents{{above.exponents, nullptr},
                                  {own_exponents[s].read(value_version[out]), down.pattern_of[out]},
                                  exponents_at_root(other),
                                  made.own_exponents.data(),
                                  made.sum_exponents.data()},
                   device);
  made.exponents = made.sum_exponents.data();
  const std::int64_t entries = entries_of(is_left ? step.in : step.in2, version::accepted);
  device::for_each(patterns / line, apply_exponents{entries, patterns, made.own_exponents.data(), made.entries.data()},
                   device);
}

void sweep::state::descend_flow(const plan_step& step, axis_tables tables, std::int64_t tiles, const double* from,
                                double* to, const Network& network, const sweep_rates& rates) {
  const std::size_t b = std::size_t(step.branch);
  const branch& one = network.branch(step.branch);
  const flow_plan flow = plan_flow(lineages_of(step.in, version::accepted), one.length, one.theta, rates.branch_u,
                                   rates.branch_v, step.dense);
  Buffer<double> middle;
  if (flow.remaining > 0 || flow.stages.empty()) {
    tables.limit = flow.middle;
    double* below = to;
    if (!flow.stages.empty()) {
      tables.families = steps->table(step.flow_families);
      middle = Buffer<double>(state_count(flow.middle) * tables.patterns, device);
      below = middle.data();
    }
    with_rules(device, [&](auto shape) {
      device::launch(apply_kernel<decltype(shape), true>{tables, matrices[b].read(matrix_version[b]), from, below},
                     tiles, device);
    });
    from = below;
  }
  if (!flow.stages.empty()) stages_down(step, flow, tables.patterns, from, to, network, rates);
}

// The adjoint of the stages, from the last one down.
void sweep::state::stages_down(const plan_step& step, const flow_plan& flow, std::int32_t patterns, const double* from,
                               double* below, const Network& network, const sweep_rates& rates) {
  const branch& one = network.branch(step.branch);
  const std::int32_t* base_below = steps->table(step.families) + 2;
  const std::int32_t* base_above = steps->table(step.flow_families) + 2;
  Buffer<double> now;
  with_rules(device, [&](auto shape) {
    using kernel = flow_kernel<decltype(shape), true, false>;
    for (std::size_t i = flow.stages.size(); i-- > 0;) {
      const flow_stage& stage = flow.stages[i];
      Buffer<double> next(i > 0 ? state_count(stage.from) * patterns : 0, device);
      const std::int64_t tiles = patterns / line;
      Buffer<double> room(tiles * kernel::work_size(stage.from), device);
      const Buffer<double> coefficients(flow_coefficients(stage, one.theta, rates.branch_u, rates.branch_v, true),
                                        device);
      device::launch(kernel{stage.to, stage.from, stage.terms, patterns, stage.length, stage.decay, coefficients.data(),
                            base_above, i > 0 ? base_above : base_below, from, nullptr, nullptr,
                            i > 0 ? next.data() : below, nullptr, nullptr, room.data()},
                     tiles, device);
      now = std::move(next);
      from = now.data();
    }
  });
}

// A value that accepted changes made out of date.
void sweep::state::refresh(std::int32_t v, const Network& network, const sweep_rates& rates) {
  if (!is_stale[std::size_t(v)]) return;
  const std::size_t s = std::size_t(steps->down.producer[std::size_t(v)]);
  refresh(host.steps[s].in, network, rates);
  if (host.steps[s].in2 >= 0) refresh(host.steps[s].in2, network, rates);
  run(s, network, rates, false);
  is_stale[std::size_t(v)] = false;
}

// One step of a proposal; its inputs that no change reaches are brought up to date.
void sweep::state::run_changed(std::size_t s, const Network& network, const sweep_rates& rates,
                               const std::vector<std::int32_t>& count) {
  const plan_step& step = host.steps[s];
  for (const std::int32_t in : {step.in, step.in2})
    if (in >= 0 && count[std::size_t(in)] == 0) refresh(in, network, rates);
  begin_write(value_version[std::size_t(step.out)], true);
  run(s, network, rates, true);
}

// Everything above the changes of a proposal, or everything that accepted changes made out of date.
void sweep::state::complete(const Network& network, const sweep_rates& rates) {
  if (!in_proposal) return refresh(host.root_value, network, rates);
  if (is_complete) return;
  const std::vector<std::int32_t> count = changes_below();
  for (std::size_t s = 0; s < host.steps.size(); ++s)
    if (count[std::size_t(host.steps[s].out)] > 0) run_changed(s, network, rates, count);
  if (count[std::size_t(host.root_value)] == 0) refresh(host.root_value, network, rates);
  is_complete = true;
}

void sweep::state::note(const sweep_changes& changes) {
  touches_root = touches_root || changes.root;
  for (std::size_t s = 0; s < touched.size(); ++s) {
    const plan_step& step = host.steps[s];
    const std::size_t b = std::size_t(std::max<std::int64_t>(step.branch, 0));
    const bool changed = (step.kind == step_kind::apply && changes.branch[b]) ||
                         (step.kind == step_kind::split && changes.inheritance[b]);
    touched[s] = touched[s] || changed;
  }
}

bool sweep::state::can_contract() const {
  return !touches_root && steps->down.bytes <= host.byte_limit &&
         std::find(touched.begin(), touched.end(), true) != touched.end();
}

// An accepted proposal leaves valid the values that it computed or does not reach, and the covectors of values that
// have all its changes below them.
void sweep::state::settle() {
  acceptance += (1 - acceptance) / memory_of_acceptance;
  const std::vector<std::int32_t> count = changes_below();
  std::vector<bool> keeps(host.values.size(), false), is_above(host.values.size(), false);
  bool passed = false;
  if (!touches_root)
    for (const std::int32_t v : common_path(count)) {
      keeps[covector_home(v)] = true;
      is_above[std::size_t(v)] = passed;
      passed = passed || v == met_at;
    }
  for (std::size_t v = 0; v < count.size(); ++v) {
    if (!keeps[v]) covectors[v].is_valid = false;
    if (count[v] > 0) is_stale[v] = !is_complete && is_above[v];
  }
}

void sweep::state::dismiss() { acceptance -= acceptance / memory_of_acceptance; }

void sweep::state::forget() {
  proposed.clear();
  in_proposal = is_complete = touches_root = false;
  touched.assign(touched.size(), false);
}

}  // namespace quintet::snp
