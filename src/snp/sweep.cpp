#include "snp/sweep.hpp"

#include <algorithm>
#include <map>

#include "device/for_each.hpp"
#include "snp/exponential_kernel.hpp"
#include "snp/flow_kernel.hpp"
#include "snp/sweep_state.hpp"
#include "snp/value_kernels.hpp"

namespace quintet::snp {

device_plan::device_plan(plan steps, const Device& on)
    : host(std::move(steps)), device(on), tables(host.tables, on), tiles(host.tiles, on), down(host, on, tiles.data()) {
  const std::int32_t most =
      host.most_of_branch.empty() ? 0 : *std::max_element(host.most_of_branch.begin(), host.most_of_branch.end());
  binomial_stride = most + 1;
  binomials = Buffer<double>(binomial_table(most), device);
  leaf_of_value.assign(host.values.size(), -1);
  for (std::size_t i = 0; i < host.leaves.size(); ++i) {
    leaf_of_value[std::size_t(host.leaves[i].value)] = std::int32_t(i);
    leaves.emplace_back(host.leaves[i].content, device);
  }
}

sweep::sweep(std::shared_ptr<const device_plan> plan) : state_(std::make_unique<state>(std::move(plan))) {}
sweep::~sweep() = default;
sweep::sweep(sweep&&) noexcept = default;

sweep::state::state(std::shared_ptr<const device_plan> plan)
    : steps(std::move(plan)), host(steps->host), device(steps->device) {
  const std::size_t branches = host.most_of_branch.size();
  for (const plan_value& value : host.values) values.emplace_back(value.entries * value.padded, device);
  value_version.resize(host.values.size());
  covectors.resize(host.values.size());
  is_stale.assign(host.values.size(), false);
  touched.assign(host.steps.size(), false);
  own_exponents.resize(host.steps.size());
  total_exponents.resize(host.steps.size());
  for (std::size_t s = 0; s < host.steps.size(); ++s) {
    if (host.steps[s].kind != step_kind::join) continue;
    const std::int32_t padded = host.values[std::size_t(host.steps[s].out)].padded;
    own_exponents[s] = {padded, device};
    total_exponents[s] = {padded, device};
  }
  is_split.assign(host.values.size(), false);
  std::vector<bool> is_flow(branches, false);
  for (const plan_step& step : host.steps) {
    if (step.kind == step_kind::split) is_split[std::size_t(step.in)] = true;
    if (step.is_flow) has_flow = is_flow[std::size_t(step.branch)] = true;
  }
  for (std::size_t b = 0; b < branches; ++b) {
    const std::int32_t most = is_flow[b] ? dense_limit : host.most_of_branch[b];
    matrices.emplace_back(column_block(most + 1) + exponential_padding, device);
  }
  for (auto& version : lineages) version.resize(host.values.size());
  for (const leaf_value& leaf : host.leaves) {
    const auto& prefix = host.values[std::size_t(leaf.value)].prefix;
    lineage_bound& bound = lineages[0][std::size_t(leaf.value)];
    bound.limit = std::int32_t(prefix.size()) - 1;
    for (std::size_t n = 0; n < prefix.size(); ++n)
      bound.bound.push_back(prefix[n] > (n > 0 ? prefix[n - 1] : 0) ? 1 : 0);
  }
  matrix_version.resize(branches);
  shares.resize(branches);
  share_version.resize(branches);
  for (const plan_step& step : host.steps)
    if (step.kind == step_kind::split) shares[std::size_t(step.branch)] = {(step.most + 1) * (step.most + 1), device};
}

void sweep::state::begin_write(version_switch& version, bool propose) {
  if (!propose || version.is_proposed()) return;
  version.propose();
  proposed.push_back(&version);
}

const double* sweep::state::value(std::int32_t v) const {
  const std::int32_t leaf = steps->leaf_of_value[std::size_t(v)];
  return leaf >= 0 ? steps->leaves[std::size_t(leaf)].data()
                   : values[std::size_t(v)].read(value_version[std::size_t(v)]);
}

double* sweep::state::work_of(std::int64_t size) {
  if (work.size() < size) work = Buffer<double>(size, device);
  return work.data();
}

const lineage_bound& sweep::state::lineages_of(std::int32_t value, version which) const {
  return lineages[version_of(value, which)][std::size_t(value)];
}

std::int32_t sweep::state::limit_of(std::int32_t value, std::int32_t most, version which) const {
  return has_flow && host.values[std::size_t(value)].branches.size() == 1 ? lineages_of(value, which).limit : most;
}

std::int64_t sweep::state::entries_of(std::int32_t value, version which) const {
  const plan_value& one = host.values[std::size_t(value)];
  return has_flow && one.branches.size() == 1 ? one.prefix[std::size_t(lineages_of(value, which).limit)] : one.entries;
}

// Of the result of a rule, before it is run.
void sweep::state::set_lineages(const plan_step& step) {
  if (!has_flow || host.values[std::size_t(step.out)].branches.size() != 1 || step.kind == step_kind::apply) return;
  lineage_bound& out = lineages[version_of(step.out)][std::size_t(step.out)];
  const auto is_single = [&](std::int32_t value) { return host.values[std::size_t(value)].branches.size() == 1; };
  if (step.kind == step_kind::remap)
    out = lineages_of(step.in);
  else if (step.kind == step_kind::join && is_single(step.in) && is_single(step.in2))
    out = join_bounds(lineages_of(step.in), lineages_of(step.in2));
  else
    out = {step.most, std::vector<double>(std::size_t(step.most) + 1, 1.0)};
}

axis_tables sweep::state::axis(const plan_step& step, version which) const {
  return {steps->tiles.data() + step.tiles,
          steps->table(step.families),
          step.most,
          host.values[std::size_t(step.out)].padded,
          limit_of(step.in, step.most, which),
          limit_of(step.out, step.most, which)};
}

join_tables sweep::state::join(const plan_step& step, version which) const {
  return {steps->tiles.data() + step.tiles,
          {steps->table(step.left), step.left_families, step.most1, limit_of(step.in, step.most1, which)},
          {steps->table(step.right), step.right_families, step.most2, limit_of(step.in2, step.most2, which)},
          steps->table(step.families),
          step.most,
          host.values[std::size_t(step.out)].padded,
          limit_of(step.out, step.most, which)};
}

pair_tables sweep::state::pair(const plan_step& step) const {
  return {steps->tiles.data() + step.tiles,         steps->table(step.families), step.most, step.most1, step.most2,
          host.values[std::size_t(step.out)].padded};
}

split_weights sweep::state::weights(const plan_step& step, const double* share) const {
  return {share, steps->binomials.data(), steps->binomial_stride, step.most};
}

// exp(A t) of the dirty branches. Branches of equal length and theta share: the one with the most lineages is computed,
// the others are its leading blocks.
void sweep::state::update_matrices(const Network& network, const sweep_rates& rates, const std::vector<bool>& dirty,
                                   bool propose) {
  std::map<std::pair<double, double>, std::vector<std::size_t>> alike;
  for (std::size_t b = 0; b < dirty.size(); ++b)
    if (dirty[b] && matrices[b].size() > column_block(host.most_of_branch[b] + 1))
      alike[{network.branch(std::int64_t(b)).length, network.branch(std::int64_t(b)).theta}].push_back(b);
  using host_kernel = exponential_kernel<host_exponential, false>;
  std::vector<exponential_job> jobs;
  std::int64_t needed = 0;
  for (auto& [parameters, branches] : alike) {
    std::sort(branches.begin(), branches.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(-host.most_of_branch[a], a) < std::pair(-host.most_of_branch[b], b);
    });
    for (const std::size_t b : branches) begin_write(matrix_version[b], propose);
    const std::size_t first = branches[0];
    exponential_job job =
        exponential_of(host.most_of_branch[first], parameters.first, parameters.second, rates.branch_u, rates.branch_v);
    job.out = matrices[first].write(matrix_version[first]);
    needed += host_kernel::work_parts * matrices[first].size();
    jobs.push_back(job);
  }
  double* place = work_of(needed);
  for (exponential_job& job : jobs) {
    job.work = place;
    place += host_kernel::work_parts * (column_block(job.most + 1) + exponential_padding);
  }
  // Long jobs first.
  std::sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) { return a.most > b.most; });
  const Buffer<exponential_job> on_device(jobs, device);
  device::with_shape<host_exponential, device_exponential>(device, [&](auto shape) {
    device::launch(exponential_kernel<decltype(shape), false>{on_device.data()}, std::int64_t(jobs.size()), device);
  });
  for (const auto& [parameters, branches] : alike)
    for (std::size_t i = 1; i < branches.size(); ++i) {
      versioned<double>& to = matrices[branches[i]];
      detail::copy(to.write(matrix_version[branches[i]]), device,
                   matrices[branches[0]].read(matrix_version[branches[0]]), device,
                   column_block(host.most_of_branch[branches[i]] + 1) * std::int64_t(sizeof(double)));
    }
}

void sweep::state::update_matrix(std::size_t b, const exponential_job& which, bool propose) {
  begin_write(matrix_version[b], propose);
  exponential_job job = which;
  job.out = matrices[b].write(matrix_version[b]);
  job.work = work_of(exponential_kernel<host_exponential, false>::work_parts * matrices[b].size());
  const Buffer<exponential_job> on_device(std::vector<exponential_job>{job}, device);
  device::with_shape<host_exponential, device_exponential>(device, [&](auto shape) {
    device::launch(exponential_kernel<decltype(shape), false>{on_device.data()}, 1, device);
  });
}

void sweep::state::run_apply(const plan_step& step, const Network& network, const sweep_rates& rates, bool propose) {
  const std::size_t b = std::size_t(step.branch);
  const branch& one = network.branch(step.branch);
  if (step.is_flow) return run_flow(step, network, rates, propose);
  if (has_flow && host.values[std::size_t(step.in)].branches.size() == 1)
    lineages[version_of(step.out)][std::size_t(step.out)] =
        plan_flow(lineages_of(step.in), one.length, one.theta, rates.branch_u, rates.branch_v, dense_limit).top;
  double* out = values[std::size_t(step.out)].write(value_version[std::size_t(step.out)]);
  with_rules(device, [&](auto shape) {
    const apply_kernel<decltype(shape), false> kernel{axis(step), matrices[b].read(matrix_version[b]), value(step.in),
                                                      out};
    device::launch(kernel, step.tile_count, device);
  });
}

// Stages without a matrix, then a dense part.
void sweep::state::run_flow(const plan_step& step, const Network& network, const sweep_rates& rates, bool propose) {
  const std::size_t b = std::size_t(step.branch);
  const branch& one = network.branch(step.branch);
  const plan_value& shape_of = host.values[std::size_t(step.out)];
  const flow_plan flow =
      plan_flow(lineages_of(step.in), one.length, one.theta, rates.branch_u, rates.branch_v, step.dense);
  lineages[version_of(step.out)][std::size_t(step.out)] = flow.top;
  double* out = values[std::size_t(step.out)].write(value_version[std::size_t(step.out)]);
  const std::int32_t* below = steps->table(step.families) + 2;
  const std::int32_t* above = steps->table(step.flow_families) + 2;
  const double* from = value(step.in);
  with_rules(device, [&](auto shape) {
    using Shape = decltype(shape);
    using kernel = flow_kernel<Shape, false, false>;
    for (std::size_t i = 0; i < flow.stages.size(); ++i) {
      const flow_stage& stage = flow.stages[i];
      double* to = out;
      if (i + 1 < flow.stages.size() || flow.remaining > 0) {
        Buffer<double>& buffer = flow_values[i % 2];
        const std::int64_t size = state_count(stage.to) * shape_of.padded;
        if (buffer.size() < size) buffer = Buffer<double>(size, device);
        to = buffer.data();
      }
      const std::int64_t tiles = shape_of.padded / line, work_size = tiles * kernel::work_size(stage.from);
      if (flow_work.size() < work_size) flow_work = Buffer<double>(work_size, device);
      const Buffer<double> coefficients(flow_coefficients(stage, one.theta, rates.branch_u, rates.branch_v, false),
                                        device);
      device::launch(
          kernel{stage.from, stage.to, stage.terms, shape_of.padded, stage.length, stage.decay, coefficients.data(),
                 i == 0 ? below : above, above, from, nullptr, nullptr, to, nullptr, nullptr, flow_work.data()},
          tiles, device);
      from = to;
    }
    if (flow.remaining > 0 || flow.stages.empty()) {
      update_matrix(b, exponential_of(flow.middle, flow.remaining, one.theta, rates.branch_u, rates.branch_v), propose);
      axis_tables tables = axis(step);
      if (!flow.stages.empty()) tables.families = steps->table(step.flow_families);
      tables.limit = flow.middle;
      device::launch(apply_kernel<Shape, false>{tables, matrices[b].read(matrix_version[b]), from, out},
                     step.tile_count, device);
    }
  });
}

void sweep::state::run(std::size_t s, const Network& network, const sweep_rates& rates, bool propose) {
  const plan_step& step = host.steps[s];
  set_lineages(step);
  const double* in = value(step.in);
  const double* in2 = step.in2 >= 0 ? value(step.in2) : nullptr;
  double* out = values[std::size_t(step.out)].write(value_version[std::size_t(step.out)]);
  with_rules(device, [&](auto shape) {
    using Shape = decltype(shape);
    switch (step.kind) {
      case step_kind::apply:
        return run_apply(step, network, rates, propose);
      case step_kind::remap: {
        using kernel = remap_kernel<Shape>;
        const plan_value &from = host.values[std::size_t(step.in)], &to = host.values[std::size_t(step.out)];
        return device::launch(kernel{to.entries, from.padded, to.padded, steps->table(step.entry_of),
                                     steps->table(step.pattern_of), in, out},
                              tiles_of(entries_of(step.out), kernel::entries_per_tile), device);
      }
      case step_kind::join:
        return device::launch(join_kernel<Shape>{join(step), in, in2, out}, step.tile_count, device);
      case step_kind::merge:
        return device::launch(merge_kernel<Shape>{pair(step), {}, in, out}, step.tile_count, device);
      case step_kind::split: {
        const std::size_t b = std::size_t(step.branch);
        const double* share = shares[b].read(share_version[b]);
        return device::launch(split_kernel<Shape>{pair(step), weights(step, share), in, out}, step.tile_count, device);
      }
    }
  });
  if (step.kind == step_kind::join) run_scale(s);
  const std::int64_t entries = entries_of(step.out), all = host.values[std::size_t(step.out)].entries;
  const std::int64_t padded = host.values[std::size_t(step.out)].padded;
  if (is_split[std::size_t(step.out)] && entries < all)
    device::for_each((all - entries) * padded, clear_rows{entries, padded, out}, device);
}

void sweep::state::run_scale(std::size_t s) {
  const plan_step& step = host.steps[s];
  const plan_value& shape_of = host.values[std::size_t(step.out)];
  const version_switch& version = value_version[std::size_t(step.out)];
  double* out = values[std::size_t(step.out)].write(version);
  std::int32_t* own = own_exponents[s].write(version);
  std::int32_t* total = total_exponents[s].write(version);
  const auto exponents_of = [&](std::int32_t from) -> const std::int32_t* {
    if (from < 0) return nullptr;
    const std::size_t f = std::size_t(from);
    return total_exponents[f].read(value_version[std::size_t(host.steps[f].out)]);
  };
  with_rules(device, [&](auto shape) {
    using kernel = largest_kernel<decltype(shape)>;
    const std::int64_t chunks = tiles_of(entries_of(step.out), kernel::entries_per_tile);
    double* largest = work_of(chunks * shape_of.padded);
    device::launch(kernel{entries_of(step.out), shape_of.padded, out, largest}, chunks, device);
    device::for_each(shape_of.padded,
                     choose_exponents{chunks, shape_of.padded, shape_of.patterns, largest,
                                      exponents_of(step.left_scale), steps->table(step.left_scale_of),
                                      exponents_of(step.right_scale), steps->table(step.right_scale_of), own, total},
                     device);
  });
  device::for_each(shape_of.padded / line, apply_exponents{entries_of(step.out), shape_of.padded, own, out}, device);
}

void sweep::state::update_root_weight(const Network& network, const sweep_rates& rates) {
  const plan_value& root = host.values[std::size_t(host.root_value)];
  const auto [a1, a0] = scaled_rates(network.root_theta(), rates.root_v, rates.root_u);
  if (root_weight.size() == 0) {
    root_weight = Buffer<double>(root.entries, device);
    root_likelihood = Buffer<double>(root.padded, device);
  }
  if (root_weight_of[0] == a1 && root_weight_of[1] == a0) return;
  root_weight.copy_from_host(root_weights_of(host.root_layout, a1, a0).value.data(), root.entries);
  root_weight_of[0] = a1;
  root_weight_of[1] = a0;
}

void sweep::state::update_root(const Network& network, const sweep_rates& rates) {
  const plan_value& root = host.values[std::size_t(host.root_value)];
  update_root_weight(network, rates);
  with_rules(device, [&](auto shape) {
    device::launch(root_kernel<decltype(shape)>{entries_of(host.root_value), root.padded, root_weight.data(),
                                                value(host.root_value), root_likelihood.data()},
                   tiles_of(root.padded, tile_columns), device);
  });
  root_result& result = results[root_version.current()];
  result.likelihood.resize(std::size_t(root.patterns));
  root_likelihood.copy_to_host(result.likelihood.data(), root.patterns);
  result.exponent.assign(std::size_t(root.patterns), 0);
  if (host.root_scale < 0) return;
  const std::size_t s = std::size_t(host.root_scale);
  total_exponents[s]
      .buffer(value_version[std::size_t(host.steps[s].out)])
      .copy_to_host(result.exponent.data(), root.patterns);
}

void sweep::state::update_share(const plan_step& step, const Network& network, bool propose) {
  const std::size_t b = std::size_t(step.branch);
  begin_write(share_version[b], propose);
  const auto share = inheritance_shares(step.most, network.branch(step.branch).gamma, false);
  shares[b].buffer(share_version[b]).copy_from_host(share.data(), std::int64_t(share.size()));
}

// The first evaluation.
void sweep::state::run_all(const Network& network, const sweep_rates& rates) {
  update_matrices(network, rates, std::vector<bool>(matrices.size(), true), false);
  for (std::size_t i = 0; i < host.steps.size(); ++i) {
    if (host.steps[i].kind == step_kind::split) update_share(host.steps[i], network, false);
    run(i, network, rates, false);
  }
  update_root(network, rates);
}

void sweep::evaluate(const Network& network, const sweep_rates& rates, const sweep_changes& changes, bool propose) {
  state& s = *state_;
  for (const plan_step& step : s.host.steps)
    if (step.is_flow) {
      const branch& one = network.branch(step.branch);
      check_flow(step.most, one.length, one.theta, rates.branch_u, rates.branch_v);
    }
  if (!propose) return s.run_all(network, rates);
  const bool is_first = !s.in_proposal;
  s.note(changes);
  const bool may_contract = is_first && s.can_contract();
  // Covectors go down through branches with many lineages by the bounds of values that are up to date.
  if (may_contract && s.has_flow) s.refresh(s.host.root_value, network, rates);
  s.in_proposal = true;
  s.is_complete = false;
  if (std::find(changes.branch.begin(), changes.branch.end(), true) != changes.branch.end())
    s.update_matrices(network, rates, changes.branch, true);
  for (const plan_step& step : s.host.steps)
    if (step.kind == step_kind::split && changes.inheritance[std::size_t(step.branch)])
      s.update_share(step, network, true);
  if (may_contract && s.contract(network, rates)) return;
  s.complete(network, rates);
  s.begin_write(s.root_version, true);
  s.update_root(network, rates);
}

std::span<const double> sweep::likelihoods() const {
  return state_->results[state_->root_version.current()].likelihood;
}
std::span<const std::int32_t> sweep::exponents() const {
  return state_->results[state_->root_version.current()].exponent;
}

void sweep::accept() {
  if (state_->in_proposal) state_->settle();
  for (version_switch* version : state_->proposed) version->accept();
  state_->forget();
}

void sweep::reject() {
  if (state_->in_proposal) state_->dismiss();
  for (version_switch* version : state_->proposed) version->reject();
  state_->forget();
}

}  // namespace quintet::snp
