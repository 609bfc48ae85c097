#include <algorithm>
#include <map>

#include "device/for_each.hpp"
#include "snp/exponential_kernel.hpp"
#include "snp/flow_kernel.hpp"
#include "snp/sweep_state.hpp"
#include "snp/value_kernels.hpp"

namespace quintet::snp {

namespace {

// Slices of the sum over columns that gives the adjoint of a matrix; the number is part of the order of the sum.
constexpr std::int64_t most_slices = 32;

std::int64_t slices_of(const plan_step& step) { return std::min(step.tile_count, most_slices); }

}  // namespace

// One pass back.
class backward {
 public:
  using state = sweep::state;

  backward(state& forward, const Network& network, const sweep_rates& rates, std::span<const double> seed)
      : s_(forward), network_(network), rates_(rates), seed_(seed), matrix_adjoint_(s_.matrices.size(), nullptr) {
    for (const plan_value& value : s_.host.values) adjoints_.emplace_back(value.entries * value.padded, s_.device);
    const std::size_t branches = std::size_t(network.branches());
    result_.length.assign(branches, 0.0);
    result_.theta = result_.gamma = result_.length;
    for (std::size_t b = 0; b < branches; ++b)
      parts_.push_back({network.branch(std::int64_t(b)).length, s_.host.most_of_branch[b], false, 0, 0, 0});
  }

  sweep_gradient run() {
    root();
    place_matrix_adjoints();
    for (std::size_t i = s_.host.steps.size(); i-- > 0;) step(i);
    branches();
    return result_;
  }

 private:
  double* adjoint(std::int32_t value) { return adjoints_[std::size_t(value)].data(); }

  void root() {
    const plan_value& root = s_.host.values[std::size_t(s_.host.root_value)];
    std::vector<double> padded(seed_.begin(), seed_.end());
    padded.resize(std::size_t(root.padded), 0.0);
    const Buffer<double> seed(padded, s_.device);
    Buffer<double> by_weight(root.entries, s_.device);
    const std::int64_t entries = s_.entries_of(s_.host.root_value);
    device::fill(by_weight, 0.0);
    device::for_each(entries * root.padded,
                     root_adjoint{root.padded, s_.root_weight.data(), seed.data(), adjoint(s_.host.root_value)},
                     s_.device);
    device::for_each(entries,
                     root_weight_adjoint{root.padded, seed.data(), s_.value(s_.host.root_value), by_weight.data()},
                     s_.device);
    const double theta = network_.root_theta();
    const root_weights weights = root_weights_of(s_.host.root_layout, theta * rates_.root_v, theta * rates_.root_u);
    const auto slope = by_weight.to_vector();
    double by_a1 = 0, by_a0 = 0;
    for (std::size_t e = 0; e < slope.size(); ++e) {
      by_a1 += slope[e] * weights.by_a1[e];
      by_a0 += slope[e] * weights.by_a0[e];
    }
    result_.root_v = theta * by_a1;
    result_.root_u = theta * by_a0;
    result_.root_theta = rates_.root_v * by_a1 + rates_.root_u * by_a0;
  }

  void place_matrix_adjoints() {
    std::int64_t size = 0;
    for (const plan_step& step : s_.host.steps)
      if (step.kind == step_kind::apply) size += slices_of(step) * s_.matrices[std::size_t(step.branch)].size();
    matrix_memory_ = Buffer<double>(size, s_.device);
    device::fill(matrix_memory_, 0.0);
    double* place = matrix_memory_.data();
    for (const plan_step& step : s_.host.steps)
      if (step.kind == step_kind::apply) {
        matrix_adjoint_[std::size_t(step.branch)] = place;
        place += slices_of(step) * s_.matrices[std::size_t(step.branch)].size();
      }
  }

  void step(std::size_t i) {
    const plan_step& step = s_.host.steps[i];
    switch (step.kind) {
      case step_kind::apply:
        return apply(step);
      case step_kind::remap:
        return remap(step);
      case step_kind::join:
        return join(i);
      case step_kind::merge:
        return with_rules(s_.device, [&](auto shape) {
          device::launch(merge_adjoint_kernel<decltype(shape)>{s_.pair(step), {}, adjoint(step.out), adjoint(step.in)},
                         step.tile_count, s_.device);
        });
      case step_kind::split:
        return split(step);
    }
  }

  void apply(const plan_step& step) {
    if (step.is_flow) return flow(step);
    double* below = s_.steps->leaf_of_value[std::size_t(step.in)] < 0 ? adjoint(step.in) : nullptr;
    apply_matrix(step, s_.axis(step), s_.value(step.in), below);
  }

  // The matrix of the branch: its own adjoint, and that of what lies below (null: not wanted).
  void apply_matrix(const plan_step& step, const axis_tables& tables, const double* in, double* below) {
    const std::size_t b = std::size_t(step.branch);
    const std::int64_t slices = slices_of(step), per_slice = tiles_of(step.tile_count, slices);
    with_rules(s_.device, [&](auto shape) {
      using Shape = decltype(shape);
      device::launch(matrix_adjoint_kernel<Shape>{tables, step.tile_count, per_slice, s_.matrices[b].size(),
                                                  adjoint(step.out), in, matrix_adjoint_[b]},
                     tiles_of(step.tile_count, per_slice), s_.device);
      if (below != nullptr)
        device::launch(
            apply_kernel<Shape, true>{tables, s_.matrices[b].read(s_.matrix_version[b]), adjoint(step.out), below},
            step.tile_count, s_.device);
    });
    device::for_each(s_.matrices[b].size(), add_slices{slices, s_.matrices[b].size(), matrix_adjoint_[b]}, s_.device);
  }

  // Sums a number of every column on the host, in order.
  template <class Columns>
  double sum_columns(Columns columns, std::int64_t padded) {
    Buffer<double> sums(padded, s_.device);
    columns.out = sums.data();
    device::for_each(padded, columns, s_.device);
    double sum = 0;
    for (const double one : sums.to_vector()) sum += one;
    return sum;
  }

  // A branch with many lineages: derivatives by u and v go up with the values, the adjoint comes down through the dense
  // part and then through the stages.
  void flow(const plan_step& step) {
    const std::size_t b = std::size_t(step.branch);
    const branch& one = network_.branch(step.branch);
    const plan_value& shape_of = s_.host.values[std::size_t(step.out)];
    const flow_plan flow =
        plan_flow(s_.lineages_of(step.in), one.length, one.theta, rates_.branch_u, rates_.branch_v, step.dense);
    const std::int32_t* above = s_.steps->table(step.flow_families) + 2;
    branch_part& part = parts_[b];
    part.is_flow = true;
    part.length = flow.remaining;
    part.most = flow.middle;
    part.by_length = sum_columns(slope_columns{flow.top.limit, shape_of.padded, above, 1 / one.theta, rates_.branch_u,
                                               rates_.branch_v, adjoint(step.out), s_.value(step.out), nullptr},
                                 shape_of.padded);
    const bool is_dense = flow.remaining > 0 || flow.stages.empty();
    if (!is_dense) part.most = -1;
    std::vector<Buffer<double>> values = stages_up(step, flow);
    double* below = s_.steps->leaf_of_value[std::size_t(step.in)] < 0 ? adjoint(step.in) : nullptr;
    const double* down = adjoint(step.out);
    Buffer<double> middle(is_dense && !flow.stages.empty() ? state_count(flow.middle) * shape_of.padded : 0, s_.device);
    if (is_dense) {
      axis_tables tables = s_.axis(step);
      tables.limit = flow.middle;
      if (!flow.stages.empty()) tables.families = s_.steps->table(step.flow_families);
      apply_matrix(step, tables, flow.stages.empty() ? s_.value(step.in) : values[0].data(),
                   flow.stages.empty() ? below : middle.data());
      if (flow.stages.empty()) return;
      down = middle.data();
    }
    const std::int64_t entries = std::int64_t(shape_of.prefix[std::size_t(flow.middle)]);
    part.by_u = sum_columns(dot_columns{entries, shape_of.padded, down, values[1].data(), nullptr}, shape_of.padded);
    part.by_v = sum_columns(dot_columns{entries, shape_of.padded, down, values[2].data(), nullptr}, shape_of.padded);
    if (below != nullptr) s_.stages_down(step, flow, shape_of.padded, down, below, network_, rates_);
  }

  // The values after the last stage, and their derivatives by u and v.
  std::vector<Buffer<double>> stages_up(const plan_step& step, const flow_plan& flow) {
    const branch& one = network_.branch(step.branch);
    const std::int32_t padded = s_.host.values[std::size_t(step.out)].padded;
    const std::int32_t* below = s_.steps->table(step.families) + 2;
    const std::int32_t* above = s_.steps->table(step.flow_families) + 2;
    std::vector<Buffer<double>> now;
    with_rules(s_.device, [&](auto shape) {
      using kernel = flow_kernel<decltype(shape), false, true>;
      for (std::size_t i = 0; i < flow.stages.size(); ++i) {
        const flow_stage& stage = flow.stages[i];
        std::vector<Buffer<double>> next;
        for (int k = 0; k < 3; ++k) next.emplace_back(state_count(stage.to) * padded, s_.device);
        const std::int64_t tiles = padded / line;
        Buffer<double> work(tiles * kernel::work_size(stage.from), s_.device);
        const Buffer<double> coefficients(flow_coefficients(stage, one.theta, rates_.branch_u, rates_.branch_v, false),
                                          s_.device);
        device::launch(kernel{stage.from, stage.to, stage.terms, padded, stage.length, stage.decay, coefficients.data(),
                              i == 0 ? below : above, above, i == 0 ? s_.value(step.in) : now[0].data(),
                              i == 0 ? nullptr : now[1].data(), i == 0 ? nullptr : now[2].data(), next[0].data(),
                              next[1].data(), next[2].data(), work.data()},
                       tiles, s_.device);
        now = std::move(next);
      }
    });
    return now;
  }

  void remap(const plan_step& step) {
    const plan_value &in = s_.host.values[std::size_t(step.in)], &out = s_.host.values[std::size_t(step.out)];
    device::for_each(
        out.entries * in.padded,
        remap_adjoint{in.padded, out.padded, in.patterns, s_.steps->table(step.entry_of), s_.steps->table(step.begins),
                      s_.steps->table(step.members), adjoint(step.out), adjoint(step.in)},
        s_.device);
  }

  void join(std::size_t i) {
    const plan_step& step = s_.host.steps[i];
    const plan_value& out = s_.host.values[std::size_t(step.out)];
    const std::int32_t* own = s_.own_exponents[i].read(s_.value_version[std::size_t(step.out)]);
    device::for_each(out.padded / line, apply_exponents{s_.entries_of(step.out), out.padded, own, adjoint(step.out)},
                     s_.device);
    with_rules(s_.device, [&](auto shape) {
      using kernel = join_adjoint_kernel<decltype(shape)>;
      join_tables tables = s_.join(step);
      tables.tiles = s_.steps->tiles.data() + step.left_tiles;
      device::launch(kernel{tables, true, s_.value(step.in2), adjoint(step.out), adjoint(step.in)},
                     step.left_tile_count, s_.device);
      tables.tiles = s_.steps->tiles.data() + step.right_tiles;
      device::launch(kernel{tables, false, s_.value(step.in), adjoint(step.out), adjoint(step.in2)},
                     step.right_tile_count, s_.device);
    });
  }

  void split(const plan_step& step) {
    const std::size_t b = std::size_t(step.branch);
    const Buffer<double> slope(inheritance_shares(step.most, network_.branch(step.branch).gamma, true), s_.device);
    Buffer<double> sums(step.tile_count * tile_columns, s_.device);
    with_rules(s_.device, [&](auto shape) {
      using Shape = decltype(shape);
      device::launch(split_gamma_kernel<Shape>{s_.pair(step), s_.weights(step, slope.data()), s_.value(step.in),
                                               adjoint(step.out), sums.data()},
                     step.tile_count, s_.device);
      device::launch(
          split_adjoint_kernel<Shape>{s_.pair(step), s_.weights(step, s_.shares[b].read(s_.share_version[b])),
                                      adjoint(step.out), adjoint(step.in)},
          step.tile_count, s_.device);
    });
    double sum = 0;
    for (const double one : sums.to_vector()) sum += one;
    const std::int64_t node = network_.branch(step.branch).child;
    result_.gamma[b] = sum;
    result_.gamma[std::size_t(network_.parent_branches(node)[1])] = -sum;
  }

  // Derivatives of the matrices of all branches, and their products with the adjoints.
  void branches() {
    using kernel = exponential_kernel<host_exponential, true>;
    std::map<std::pair<double, double>, std::size_t> job_of;
    std::vector<exponential_job> jobs;
    std::vector<std::size_t> job_of_branch;
    const std::size_t count = s_.matrices.size();
    for (std::size_t b = 0; b < count; ++b) {
      const branch& one = network_.branch(std::int64_t(b));
      const branch_part& part = parts_[b];
      const auto [place, is_new] = job_of.emplace(std::pair(part.length, one.theta), jobs.size());
      if (is_new) jobs.emplace_back();
      exponential_job& job = jobs[place->second];
      if (is_new || job.most < part.most)
        job = exponential_of(std::max(part.most, 0), part.length, one.theta, rates_.branch_u, rates_.branch_v);
      job_of_branch.push_back(place->second);
    }
    std::int64_t size = 0;
    for (const exponential_job& job : jobs)
      size += (kernel::work_parts + 3) * (column_block(job.most + 1) + exponential_padding);
    Buffer<double> memory(size, s_.device);
    double* place = memory.data();
    for (exponential_job& job : jobs) {
      const std::int64_t one = column_block(job.most + 1) + exponential_padding;
      job.out = place, job.by_u = place + one, job.by_v = place + 2 * one, job.work = place + 3 * one;
      place += (kernel::work_parts + 3) * one;
    }
    const Buffer<exponential_job> on_device(jobs, s_.device);
    device::with_shape<host_exponential, device_exponential>(s_.device, [&](auto shape) {
      device::launch(exponential_kernel<decltype(shape), true>{on_device.data()}, std::int64_t(jobs.size()), s_.device);
    });
    dots(jobs, job_of_branch);
  }

  void dots(const std::vector<exponential_job>& jobs, const std::vector<std::size_t>& job_of_branch) {
    const std::size_t count = s_.matrices.size();
    std::int64_t blocks = 1;
    for (const branch_part& part : parts_) blocks = std::max<std::int64_t>(blocks, part.most + 1);
    Buffer<double> sums(std::int64_t(count) * blocks * 3, s_.device);
    std::vector<branch_dot_job> dots;
    for (std::size_t b = 0; b < count; ++b) {
      const exponential_job& job = jobs[job_of_branch[b]];
      dots.push_back({parts_[b].most, 1 / network_.branch(std::int64_t(b)).theta, rates_.branch_u, rates_.branch_v,
                      matrix_adjoint_[b], job.out, job.by_u, job.by_v, sums.data() + std::int64_t(b) * blocks * 3});
    }
    const Buffer<branch_dot_job> dots_on_device(dots, s_.device);
    device::for_each(std::int64_t(count) * blocks, branch_dot{dots_on_device.data(), blocks}, s_.device);
    const auto found = sums.to_vector();
    for (std::size_t b = 0; b < count; ++b) {
      const branch_part& part = parts_[b];
      double by_length = 0, by_u = part.by_u, by_v = part.by_v;
      for (std::int32_t n = 0; n <= part.most; ++n) {
        const double* block = &found[(b * std::size_t(blocks) + std::size_t(n)) * 3];
        by_length += block[0];
        by_u += block[1];
        by_v += block[2];
      }
      if (part.is_flow) by_length = part.by_length;
      // P depends on t / theta, t u and t v alone.
      const branch& one = network_.branch(std::int64_t(b));
      result_.length[b] = by_length;
      result_.theta[b] = -(one.length * by_length - rates_.branch_u * by_u - rates_.branch_v * by_v) / one.theta;
      result_.branch_u += by_u;
      result_.branch_v += by_v;
    }
  }

  // The part of a branch that has a matrix, usually all of it, and what the rest of it adds.
  struct branch_part {
    double length;
    std::int32_t most;  // -1: no matrix
    bool is_flow;
    double by_length, by_u, by_v;  // by_length: of the whole branch
  };

  state& s_;
  const Network& network_;
  const sweep_rates& rates_;
  std::span<const double> seed_;
  std::vector<Buffer<double>> adjoints_;
  Buffer<double> matrix_memory_;
  std::vector<double*> matrix_adjoint_;  // by branch
  std::vector<branch_part> parts_;       // by branch
  sweep_gradient result_;
};

sweep_gradient sweep::differentiate(const Network& network, const sweep_rates& rates, std::span<const double> seed) {
  state_->complete(network, rates);
  state_->update_root_weight(network, rates);
  return backward(*state_, network, rates, seed).run();
}

}  // namespace quintet::snp
