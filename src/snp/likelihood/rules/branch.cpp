#include "snp/likelihood/rules/branch.hpp"

#include <algorithm>
#include <map>

#include "device/for_each.hpp"
#include "snp/likelihood/plan_builder.hpp"
#include "snp/likelihood/preorder_context.hpp"
#include "snp/likelihood/rates.hpp"
#include "snp/likelihood/rules/branch_tables.hpp"
#include "snp/likelihood/rules/exponential_kernel.hpp"
#include "snp/likelihood/rules/join_kernel.hpp"
#include "snp/likelihood/rules/stage_kernel.hpp"

namespace quintet::snp {

namespace {

// What can be at the top of the branch of an axis.
std::map<lineage_counts, std::int64_t> blocks_at_top(const layout& below, std::size_t axis) {
  std::map<lineage_counts, std::int64_t> blocks;
  for (const auto& [counts, base] : below.blocks()) {
    lineage_counts above = counts;
    for (std::int32_t n = std::min(counts[axis], 1); n <= counts[axis]; ++n) {
      above[axis] = n;
      blocks.emplace(above, 0);
    }
  }
  return blocks;
}

}  // namespace

void branch_rule::encode(plan_builder& builder, group& g, std::size_t axis, const kept_cells* cells) {
  using record = branch_record<std::int32_t>;
  const layout below = g.states;
  std::map<lineage_counts, std::int32_t> families;
  for (const auto& [counts, base] : below.blocks()) families.emplace(without(counts, axis, 1), 0);
  std::int32_t next = 0;
  for (auto& [rest, family] : families) family = next++;
  g.states = layout(below.axes(), cells != nullptr ? cells->blocks() : blocks_at_top(below, axis));
  branch_rule rule;
  rule.branch = below.axes()[axis];
  rule.max = below.max(axis);
  rule.in = g.partial;
  const std::int32_t padded = builder.shape(g.partial).padded, size = record::size(rule.max);
  rule.out = g.partial = builder.add_partial(g.states, builder.shape(g.partial).patterns);
  std::vector<std::int32_t> table(families.size() * std::size_t(size), -1);
  const auto record_of = [&](std::int32_t family) { return record{&table[std::size_t(family * size)], rule.max}; };
  std::vector<std::int64_t> columns;
  for (const auto& [rest, family] : families) {
    std::int64_t outer = 1, inner = 1;
    for (std::size_t k = 0; k < rest.size(); ++k) (k < axis ? outer : inner) *= rest[k] + 1;
    record_of(family).outer() = std::int32_t(outer);
    record_of(family).inner() = std::int32_t(inner);
    columns.push_back(outer * inner * padded);
  }
  for (const auto& [counts, base] : below.blocks())
    record_of(families.at(without(counts, axis, 1))).below()[counts[axis]] = std::int32_t(base);
  for (const auto& [counts, base] : g.states.blocks())
    record_of(families.at(without(counts, axis, 1))).above()[counts[axis]] = std::int32_t(base);
  for (const auto& [rest, family] : families) {
    const record entry = record_of(family);
    double products = 0;
    for (int n = 0; n <= rule.max; ++n)
      for (int k = n; k <= rule.max; ++k)
        if (entry.below()[k] >= 0 && entry.above()[n] >= 0) products += double(n + 1) * (k + 1);
    rule.operations += products * double(columns[std::size_t(family)]);
  }
  if (builder.result().is_cut) builder.result().max_of_branch[std::size_t(rule.branch)] = rule.max;
  rule.families = builder.add_table(table);
  rule.family_count_ = std::int32_t(families.size());
  rule.tiles = builder.add_tiles(columns);
  rule.has_stages = below.axes().size() == 1 && rule.max > dense_limit;
  if (rule.has_stages) {
    rule.dense = builder.dense_of_next_branch(padded <= few_patterns ? dense_limit_few : dense_limit);
    // Between stages nothing is cut yet.
    if (builder.result().is_cut)
      for (std::int32_t n = 0; n <= rule.max; ++n) record_of(0).below()[n] = std::int32_t(state_index(n, 0));
    else
      std::copy(record_of(0).above(), record_of(0).above() + rule.max + 1, record_of(0).below());
    rule.stage_families = builder.add_table(table);
    if (builder.result().is_scaled) {
      rule.scale = g.scale;
      g.scale = g.partial;
    }
  }
  builder.add(rule);
}

std::int64_t branch_rule::stage_numbers(const partial_shape& out) const {
  const std::int64_t states = state_count(max);
  const std::int64_t work = are_single(out.patterns)
                                ? out.patterns * stage_kernel<host_rules, false, false, 1>::work_size(max)
                                : out.padded / line * stage_kernel<host_rules, false, false>::work_size(max);
  return 2 * states * out.padded + 5 * states + work;
}

std::vector<std::int64_t> branch_rule::columns(const std::vector<std::int32_t>& tables) const {
  using record = branch_record<const std::int32_t>;
  std::vector<std::int64_t> result;
  for (std::int32_t f = 0; f < family_count_; ++f) {
    const record entry{&tables[std::size_t(families + f * record::size(max))], max};
    result.push_back(std::int64_t(entry.outer()) * entry.inner());
  }
  return result;
}

namespace {

// The branch of a partials store whose matrix serves, -1: none.
std::int64_t branch_with(const partials_store& donor, const matrix_parameters& requested) {
  for (std::int64_t b = 0; b < std::int64_t(donor.branches()); ++b)
    if (donor.matrix_of(b).serves(requested)) return b;
  return -1;
}

}  // namespace

void update_matrices(partials_store& values, const parameters& params, const std::vector<bool>& dirty, bool propose,
                     const partials_store* donor) {
  const std::vector<std::int32_t>& max_lineages_of = values.host().max_of_branch;
  std::map<std::pair<double, double>, std::vector<std::size_t>> alike;
  for (std::size_t b = 0; b < dirty.size(); ++b)
    if (dirty[b] && values.matrix_size(std::int64_t(b)) > column_block(max_lineages_of[b] + 1))
      alike[{params.branches[b].length, params.branches[b].theta}].push_back(b);
  using host_kernel = exponential_kernel<host_exponential, false>;
  std::vector<exponential_job> jobs;
  std::int64_t needed = 0;
  const auto copy_matrix = [&](double* to, const partials_store& from, std::int64_t branch, std::int32_t max) {
    detail::copy(to, values.device(), from.matrix(branch), from.device(),
                 column_block(max + 1) * std::int64_t(sizeof(double)));
  };
  for (auto& [lengths, branches] : alike) {
    std::sort(branches.begin(), branches.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(-max_lineages_of[a], a) < std::pair(-max_lineages_of[b], b);
    });
    for (const std::size_t b : branches) values.begin_matrix(std::int64_t(b), propose);
    const std::size_t first = branches[0];
    const matrix_parameters of{max_lineages_of[first], lengths.first, lengths.second, params.rates.branch_u,
                               params.rates.branch_v};
    double* to = values.write_matrix(std::int64_t(first), of);
    if (const std::int64_t b = donor != nullptr ? branch_with(*donor, of) : -1; b >= 0) {
      copy_matrix(to, *donor, b, of.max);
      continue;
    }
    exponential_job job = exponential_of(of.max, of.length, of.theta, of.u, of.v);
    job.out = to;
    needed += host_kernel::work_parts * values.matrix_size(std::int64_t(first));
    jobs.push_back(job);
  }
  double* place = values.work(needed);
  for (exponential_job& job : jobs) {
    job.work = place;
    place += host_kernel::work_parts * (column_block(job.max + 1) + exponential_padding);
  }
  // Long jobs first.
  std::sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) { return a.max > b.max; });
  const Buffer<exponential_job> on_device(jobs, values.device());
  device::with_shape<host_exponential, device_exponential>(values.device(), [&](auto shape) {
    device::launch(exponential_kernel<decltype(shape), false>{on_device.data()}, std::int64_t(jobs.size()),
                   values.device());
  });
  for (const auto& [lengths, branches] : alike)
    for (std::size_t i = 1; i < branches.size(); ++i) {
      matrix_parameters of = values.matrix_of(std::int64_t(branches[0]));
      of.max = max_lineages_of[branches[i]];
      copy_matrix(values.write_matrix(std::int64_t(branches[i]), of), values, std::int64_t(branches[0]), of.max);
    }
}

namespace {

// The matrix of the dense part after the stages.
void update_matrix(partials_store& values, std::int64_t b, exponential_job job, bool propose) {
  values.begin_matrix(b, propose);
  job.out = values.write_matrix(b, {});
  job.work = values.work(exponential_kernel<host_exponential, false>::work_parts * values.matrix_size(b));
  const Buffer<exponential_job> on_device(std::vector<exponential_job>{job}, values.device());
  device::with_shape<host_exponential, device_exponential>(values.device(), [&](auto shape) {
    device::launch(exponential_kernel<decltype(shape), false>{on_device.data()}, 1, values.device());
  });
}

}  // namespace

void branch_rule::forward(partials_store& values, const parameters& params, bool propose) const {
  if (has_stages) return forward_stages(values, params, propose);
  const snp::branch& branch_values = params.of(branch);
  if (values.has_lineages(in) && !values.host().is_cut)
    values.set_lineages(out, plan_stages(values.lineages(in), branch_values.length, branch_values.theta,
                                         params.rates.branch_u, params.rates.branch_v, dense_limit)
                                 .top);
  double* to = values.write_partial(out);
  const tile_range range = values.range(tiles);
  with_rules(values.device(), [&](auto shape) {
    device::launch(
        propagate_kernel<decltype(shape), false>{tables_of(*this, values, range.first, values.shape(out).padded),
                                                 values.matrix(branch), values.partial(in), to},
        range.count, values.device());
  });
}

// After a stage, of a scaled plan: the exponents of the branch are those of its input and what its stages add. Without
// entries only the former.
void branch_rule::scale_stage(partials_store& values, std::int64_t entries, bool is_first, double* partial) const {
  const partial_shape& shape_of = values.shape(out);
  std::int32_t *own = values.write_own_exponents(out), *total = values.write_total_exponents(out);
  with_rules(values.device(), [&](auto shape) {
    using kernel = column_max_kernel<decltype(shape)>;
    const std::int64_t chunks = tiles_of(entries, kernel::entries_per_tile);
    double* maxima = values.work(chunks * shape_of.padded);
    device::launch(kernel{entries, shape_of.padded, partial, maxima}, chunks, values.device());
    device::for_each(shape_of.padded,
                     choose_exponents{chunks, shape_of.padded, shape_of.patterns, maxima,
                                      is_first ? values.total_exponents(scale) : total, nullptr, nullptr, nullptr, own,
                                      total, many_lineages},
                     values.device());
  });
  device::for_each(shape_of.padded / line, apply_exponents{entries, shape_of.padded, own, partial}, values.device());
}

// Entries after a stage with at most so many lineages.
std::int64_t branch_rule::stage_entries(const partials_store& values, std::int32_t lineages, bool is_last) const {
  const std::vector<std::int64_t>& prefix = values.shape(out).prefix;
  if (!is_last && values.host().is_cut) return state_count(lineages);
  return prefix[std::min(std::size_t(lineages), prefix.size() - 1)];
}

// Stages without a matrix, then a dense part.
void branch_rule::forward_stages(partials_store& values, const parameters& params, bool propose) const {
  const snp::branch& branch_values = params.of(branch);
  const mutation_rates& rates = params.rates;
  const std::int32_t padded = values.shape(out).padded;
  const stage_plan plan = plan_stages(values.lineages(in), branch_values.length, branch_values.theta, rates.branch_u,
                                      rates.branch_v, dense);
  values.set_lineages(out, plan.top);
  const std::int32_t *below = blocks_below(*this, values), *between = blocks_between(*this, values);
  double* result = values.write_partial(out);
  const double* from = values.partial(in);
  const std::int32_t used = values.shape(out).patterns;
  if (scale >= 0 && plan.stages.empty()) scale_stage(values, 0, true, nullptr);
  with_rules(values.device(), [&](auto shape) {
    using Shape = decltype(shape);
    for (std::size_t i = 0; i < plan.stages.size(); ++i) {
      const stage& now_stage = plan.stages[i];
      const bool is_last = i + 1 == plan.stages.size() && !plan.has_dense_part();
      double* to = is_last ? result : values.stage_partial(i % 2, state_count(now_stage.to) * padded);
      const auto run = [&]<class Kernel>(coefficient_order order, std::int64_t tiles, Kernel) {
        const Buffer<double> coefficients(
            stage_coefficients(now_stage, branch_values.theta, rates.branch_u, rates.branch_v, false, order),
            values.device());
        device::launch(Kernel{now_stage.from, now_stage.to, now_stage.terms, padded, now_stage.length, now_stage.decay,
                              coefficients.data(), i == 0 ? below : between,
                              is_last ? blocks_above(*this, values) : between, from, nullptr, nullptr, to, nullptr,
                              nullptr, values.stage_work(tiles * Kernel::work_size(now_stage.from)), used},
                       tiles, values.device());
      };
      if (are_single(used))
        run(coefficient_order::by_neighbour, used, stage_kernel<Shape, false, false, 1>{});
      else
        run(coefficient_order::by_state, padded / line, stage_kernel<Shape, false, false>{});
      if (scale >= 0) scale_stage(values, stage_entries(values, now_stage.to, is_last), i == 0, to);
      from = to;
    }
    if (!plan.has_dense_part()) {
      // Of a plan that is cut all entries are read.
      if (values.host().is_cut) values.clear_entries(out, stage_entries(values, plan.stages.back().to, true));
      return;
    }
    update_matrix(values, branch,
                  exponential_of(plan.middle, plan.remaining, branch_values.theta, rates.branch_u, rates.branch_v),
                  propose);
    const tile_range range = values.range(tiles);
    branch_tables tables = tables_of(*this, values, range.first, padded);
    if (!plan.stages.empty()) tables.families = values.table(stage_families);
    tables.limit = plan.middle;
    device::launch(propagate_kernel<Shape, false>{tables, values.matrix(branch), from, result}, range.count,
                   values.device());
  });
}

void branch_rule::preorder(preorder_context& pass) const {
  if (has_stages) return preorder_stages(pass);
  const partials_store& values = pass.values;
  with_rules(values.device(), [&](auto shape) {
    device::launch(propagate_kernel<decltype(shape), true>{tables_of(*this, values, pass.tiles.first, pass.patterns,
                                                                     partials_store::version::accepted),
                                                           values.matrix(branch), pass.from(), pass.to()},
                   pass.tiles.count, values.device());
  });
}

void branch_rule::preorder_stages(preorder_context& pass) const {
  const partials_store& values = pass.values;
  const snp::branch& branch_values = pass.params.of(branch);
  const stage_plan plan =
      plan_stages(values.lineages(in, partials_store::version::accepted), branch_values.length, branch_values.theta,
                  pass.params.rates.branch_u, pass.params.rates.branch_v, dense);
  branch_tables tables = tables_of(*this, values, pass.tiles.first, pass.patterns, partials_store::version::accepted);
  const double* from = pass.from();
  Buffer<double> middle;
  if (plan.has_dense_part()) {
    tables.limit = plan.middle;
    double* below = pass.to();
    if (!plan.stages.empty()) {
      tables.families = values.table(stage_families);
      middle = Buffer<double>(state_count(plan.middle) * pass.patterns, values.device());
      below = middle.data();
    }
    with_rules(values.device(), [&](auto shape) {
      device::launch(propagate_kernel<decltype(shape), true>{tables, values.matrix(branch), from, below},
                     pass.tiles.count, values.device());
    });
    from = below;
  }
  if (!plan.stages.empty())
    adjoint_of_stages(*this, values, plan, pass.patterns, pass.patterns, from, pass.to(), pass.params);
}

void adjoint_of_stages(const branch_rule& rule, const partials_store& values, const stage_plan& plan,
                       std::int32_t patterns, std::int32_t used, const double* from, double* below,
                       const parameters& at) {
  const double theta = at.of(rule.branch).theta;
  const std::int32_t *base_below = blocks_below(rule, values), *between = blocks_between(rule, values);
  Buffer<double> current;
  with_rules(values.device(), [&](auto shape) {
    using Shape = decltype(shape);
    for (std::size_t i = plan.stages.size(); i-- > 0;) {
      const stage& stage_of_branch = plan.stages[i];
      const bool is_last = i + 1 == plan.stages.size() && !plan.has_dense_part();
      Buffer<double> next(i > 0 ? state_count(stage_of_branch.from) * patterns : 0, values.device());
      const auto run = [&]<class Kernel>(coefficient_order order, std::int64_t tiles, Kernel) {
        Buffer<double> room(tiles * Kernel::work_size(stage_of_branch.from), values.device());
        const Buffer<double> coefficients(
            stage_coefficients(stage_of_branch, theta, at.rates.branch_u, at.rates.branch_v, true, order),
            values.device());
        device::launch(Kernel{stage_of_branch.to, stage_of_branch.from, stage_of_branch.terms, patterns,
                              stage_of_branch.length, stage_of_branch.decay, coefficients.data(),
                              is_last ? blocks_above(rule, values) : between, i > 0 ? between : base_below, from,
                              nullptr, nullptr, i > 0 ? next.data() : below, nullptr, nullptr, room.data(), used},
                       tiles, values.device());
      };
      if (are_single(used))
        run(coefficient_order::by_neighbour, used, stage_kernel<Shape, true, false, 1>{});
      else
        run(coefficient_order::by_state, patterns / line, stage_kernel<Shape, true, false>{});
      current = std::move(next);
      from = current.data();
    }
  });
}

}  // namespace quintet::snp
