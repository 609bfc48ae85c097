#include <algorithm>
#include <map>
#include <variant>

#include "device/for_each.hpp"
#include "snp/likelihood/adjoint_context.hpp"
#include "snp/likelihood/rates.hpp"
#include "snp/likelihood/rules/branch_tables.hpp"
#include "snp/likelihood/rules/exponential_kernel.hpp"
#include "snp/likelihood/rules/stage_kernel.hpp"

namespace quintet::snp {

namespace {

// Slices of the sum over columns that gives the adjoint of a matrix; the number is part of the order of the sum.
constexpr std::int64_t max_slices = 32;

std::int64_t slices_of(const branch_rule& rule) { return std::min(rule.tiles.count, max_slices); }

// Sums a number of every column on the host, in order.
template <class Columns>
double sum_columns(Columns columns, std::int64_t padded, const Device& device) {
  Buffer<double> sums(padded, device);
  columns.out = sums.data();
  device::for_each(padded, columns, device);
  double sum = 0;
  for (const double value : sums.to_vector()) sum += value;
  return sum;
}

}  // namespace

adjoint_context::adjoint_context(partials_store& forward, const parameters& at)
    : values(forward), params(at), matrix_adjoint(forward.branches(), nullptr) {
  const plan& host = values.host();
  for (const partial_shape& shape : host.partials) adjoints.emplace_back(shape.entries * shape.padded, values.device());
  const std::size_t branches = params.branches.size();
  result.length.assign(branches, 0.0);
  result.theta = result.gamma = result.length;
  for (std::size_t b = 0; b < branches; ++b)
    parts.push_back({params.branches[b].length, host.max_of_branch[b], false, 0, 0, 0});
  std::int64_t size = 0;
  const auto each_branch = [&](auto f) {
    for (const rule& any_rule : host.rules)
      if (const auto* branch = std::get_if<branch_rule>(&any_rule)) f(*branch);
  };
  each_branch([&](const branch_rule& rule) { size += slices_of(rule) * values.matrix_size(rule.branch); });
  matrix_memory = Buffer<double>(size, values.device());
  device::fill(matrix_memory, 0.0);
  double* place = matrix_memory.data();
  each_branch([&](const branch_rule& rule) {
    matrix_adjoint[std::size_t(rule.branch)] = place;
    place += slices_of(rule) * values.matrix_size(rule.branch);
  });
}

void branch_rule::adjoint(adjoint_context& pass) const {
  if (has_stages) return adjoint_stages(pass);
  adjoint_matrix(pass, pass.values.table(families), pass.values.limit(in, max), pass.values.partial(in),
                 pass.wanted_adjoint(in));
}

// The matrix of the branch: its own adjoint, and that of what lies below (null: not wanted).
void branch_rule::adjoint_matrix(adjoint_context& pass, const std::int32_t* table, std::int32_t limit,
                                 const double* from, double* below) const {
  const partials_store& values = pass.values;
  const tile_range range = values.range(tiles);
  branch_tables tables = tables_of(*this, values, range.first, values.shape(out).padded);
  tables.families = table;
  tables.limit = limit;
  const std::int64_t slices = slices_of(*this), per_slice = tiles_of(range.count, slices);
  const std::int64_t size = values.matrix_size(branch);
  double* matrix = pass.matrix_adjoint[std::size_t(branch)];
  with_rules(values.device(), [&](auto shape) {
    using Shape = decltype(shape);
    device::launch(matrix_adjoint_kernel<Shape>{tables, range.count, per_slice, size, pass.adjoint(out), from, matrix},
                   tiles_of(range.count, per_slice), values.device());
    if (below != nullptr)
      device::launch(propagate_kernel<Shape, true>{tables, values.matrix(branch), pass.adjoint(out), below},
                     range.count, values.device());
  });
  device::for_each(size, add_slices{slices, size, matrix}, values.device());
}

// A branch with many lineages: derivatives by u and v go up with the values, the adjoint comes down through the dense
// part and then through the stages.
void branch_rule::adjoint_stages(adjoint_context& pass) const {
  const partials_store& values = pass.values;
  const snp::branch& branch_values = pass.params.of(branch);
  const mutation_rates& rates = pass.params.rates;
  const partial_shape& shape_of = values.shape(out);
  const stage_plan plan = plan_stages(values.lineages(in), branch_values.length, branch_values.theta, rates.branch_u,
                                      rates.branch_v, dense);
  adjoint_context::branch_part& part = pass.parts[std::size_t(branch)];
  part.has_stages = true;
  part.length = plan.remaining;
  part.max = plan.has_dense_part() ? plan.middle : -1;
  part.by_length = sum_columns(slope_columns{values.limit(out, max), shape_of.padded, blocks_above(*this, values),
                                             generator{1 / branch_values.theta, rates.branch_u, rates.branch_v},
                                             pass.adjoint(out), values.partial(out), nullptr},
                               shape_of.padded, values.device());
  double* below = pass.wanted_adjoint(in);
  if (plan.stages.empty()) return adjoint_matrix(pass, values.table(families), plan.middle, values.partial(in), below);
  const std::vector<Buffer<double>> last = stages_with_derivatives(pass, plan);
  const double* down = pass.adjoint(out);
  Buffer<double> middle(plan.has_dense_part() ? state_count(plan.middle) * shape_of.padded : 0, values.device());
  if (plan.has_dense_part()) {
    adjoint_matrix(pass, values.table(stage_families), plan.middle, last[0].data(), middle.data());
    down = middle.data();
  }
  const std::int64_t entries = stage_entries(values, plan.middle, !plan.has_dense_part());
  part.by_u = sum_columns(dot_columns{entries, shape_of.padded, down, last[1].data(), nullptr}, shape_of.padded,
                          values.device());
  part.by_v = sum_columns(dot_columns{entries, shape_of.padded, down, last[2].data(), nullptr}, shape_of.padded,
                          values.device());
  if (below != nullptr)
    adjoint_of_stages(*this, values, plan, shape_of.padded, shape_of.patterns, down, below, pass.params);
}

// What the last stage gives, and its derivatives by u and v.
std::vector<Buffer<double>> branch_rule::stages_with_derivatives(const adjoint_context& pass,
                                                                 const stage_plan& plan) const {
  const partials_store& values = pass.values;
  const double theta = pass.params.of(branch).theta;
  const std::int32_t padded = values.shape(out).padded;
  const std::int32_t *below = blocks_below(*this, values), *between = blocks_between(*this, values);
  const std::int32_t used = values.shape(out).patterns;
  std::vector<Buffer<double>> current;
  with_rules(values.device(), [&](auto shape) {
    using Shape = decltype(shape);
    for (std::size_t i = 0; i < plan.stages.size(); ++i) {
      const stage& stage_of_branch = plan.stages[i];
      const bool is_last = i + 1 == plan.stages.size() && !plan.has_dense_part();
      std::vector<Buffer<double>> next;
      for (int k = 0; k < 3; ++k) next.emplace_back(state_count(stage_of_branch.to) * padded, values.device());
      const auto run = [&]<class Kernel>(coefficient_order order, std::int64_t tiles, Kernel) {
        Buffer<double> work(tiles * Kernel::work_size(stage_of_branch.from), values.device());
        const Buffer<double> coefficients(stage_coefficients(stage_of_branch, theta, pass.params.rates.branch_u,
                                                             pass.params.rates.branch_v, false, order),
                                          values.device());
        device::launch(
            Kernel{stage_of_branch.from, stage_of_branch.to, stage_of_branch.terms, padded, stage_of_branch.length,
                   stage_of_branch.decay, coefficients.data(), i == 0 ? below : between,
                   is_last ? blocks_above(*this, values) : between, i == 0 ? values.partial(in) : current[0].data(),
                   i == 0 ? nullptr : current[1].data(), i == 0 ? nullptr : current[2].data(), next[0].data(),
                   next[1].data(), next[2].data(), work.data(), used},
            tiles, values.device());
      };
      if (are_single(used))
        run(coefficient_order::by_neighbour, used, stage_kernel<Shape, false, true, 1>{});
      else
        run(coefficient_order::by_state, padded / line, stage_kernel<Shape, false, true>{});
      current = std::move(next);
    }
  });
  return current;
}

namespace {

// Products of the adjoints of all branches with the derivatives of their matrices.
void multiply_adjoints(adjoint_context& pass, const std::vector<exponential_job>& jobs,
                       const std::vector<std::size_t>& job_of_branch) {
  const partials_store& values = pass.values;
  const mutation_rates& rates = pass.params.rates;
  const std::size_t count = pass.parts.size();
  std::int64_t blocks = 1;
  for (const auto& part : pass.parts) blocks = std::max<std::int64_t>(blocks, part.max + 1);
  Buffer<double> sums(std::int64_t(count) * blocks * 3, values.device());
  std::vector<branch_dot_job> dots;
  for (std::size_t b = 0; b < count; ++b) {
    const exponential_job& job = jobs[job_of_branch[b]];
    dots.push_back({pass.parts[b].max, generator{1 / pass.params.branches[b].theta, rates.branch_u, rates.branch_v},
                    pass.matrix_adjoint[b], job.out, job.by_u, job.by_v, sums.data() + std::int64_t(b) * blocks * 3});
  }
  const Buffer<branch_dot_job> dots_on_device(dots, values.device());
  device::for_each(std::int64_t(count) * blocks, branch_dot{dots_on_device.data(), blocks}, values.device());
  const auto totals = sums.to_vector();
  for (std::size_t b = 0; b < count; ++b) {
    const adjoint_context::branch_part& part = pass.parts[b];
    double by_length = 0, by_u = part.by_u, by_v = part.by_v;
    for (std::int32_t n = 0; n <= part.max; ++n) {
      const double* block = &totals[(b * std::size_t(blocks) + std::size_t(n)) * 3];
      by_length += block[0];
      by_u += block[1];
      by_v += block[2];
    }
    if (part.has_stages) by_length = part.by_length;
    // P depends on t / theta, t u and t v alone.
    const branch& branch_values = pass.params.branches[b];
    pass.result.length[b] = by_length;
    pass.result.theta[b] =
        -(branch_values.length * by_length - rates.branch_u * by_u - rates.branch_v * by_v) / branch_values.theta;
    pass.result.branch_u += by_u;
    pass.result.branch_v += by_v;
  }
}

}  // namespace

void finish_branches(adjoint_context& pass) {
  using kernel = exponential_kernel<host_exponential, true>;
  const Device& device = pass.values.device();
  std::map<std::pair<double, double>, std::size_t> job_of;
  std::vector<exponential_job> jobs;
  std::vector<std::size_t> job_of_branch;
  for (std::size_t b = 0; b < pass.parts.size(); ++b) {
    const branch& branch_values = pass.params.branches[b];
    const adjoint_context::branch_part& part = pass.parts[b];
    const auto [place, is_new] = job_of.emplace(std::pair(part.length, branch_values.theta), jobs.size());
    if (is_new) jobs.emplace_back();
    exponential_job& job = jobs[place->second];
    if (is_new || job.max < part.max)
      job = exponential_of(std::max(part.max, 0), part.length, branch_values.theta, pass.params.rates.branch_u,
                           pass.params.rates.branch_v);
    job_of_branch.push_back(place->second);
  }
  std::int64_t size = 0;
  for (const exponential_job& job : jobs)
    size += (kernel::work_parts + 3) * (column_block(job.max + 1) + exponential_padding);
  Buffer<double> memory(size, device);
  double* place = memory.data();
  for (exponential_job& job : jobs) {
    const std::int64_t slice_size = column_block(job.max + 1) + exponential_padding;
    job.out = place, job.by_u = place + slice_size, job.by_v = place + 2 * slice_size,
    job.work = place + 3 * slice_size;
    place += (kernel::work_parts + 3) * slice_size;
  }
  const Buffer<exponential_job> on_device(jobs, device);
  device::with_shape<host_exponential, device_exponential>(device, [&](auto shape) {
    device::launch(exponential_kernel<decltype(shape), true>{on_device.data()}, std::int64_t(jobs.size()), device);
  });
  multiply_adjoints(pass, jobs, job_of_branch);
}

}  // namespace quintet::snp
