#include <algorithm>
#include <map>

#include "device/for_each.hpp"
#include "snp/exponential_kernel.hpp"
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
    device::for_each(root.entries * root.padded,
                     root_adjoint{root.padded, s_.root_weight.data(), seed.data(), adjoint(s_.host.root_value)},
                     s_.device);
    device::for_each(root.entries,
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
          device::launch(merge_adjoint_kernel<decltype(shape)>{s_.pair(step), adjoint(step.out), adjoint(step.in)},
                         step.tile_count, s_.device);
        });
      case step_kind::split:
        return split(step);
    }
  }

  void apply(const plan_step& step) {
    const std::size_t b = std::size_t(step.branch);
    const std::int64_t slices = slices_of(step), per_slice = tiles_of(step.tile_count, slices);
    with_rules(s_.device, [&](auto shape) {
      using Shape = decltype(shape);
      device::launch(matrix_adjoint_kernel<Shape>{s_.axis(step), step.tile_count, per_slice, s_.matrices[b].size(),
                                                  adjoint(step.out), s_.value(step.in), matrix_adjoint_[b]},
                     tiles_of(step.tile_count, per_slice), s_.device);
      if (s_.steps->leaf_of_value[std::size_t(step.in)] < 0)
        device::launch(apply_kernel<Shape, true>{s_.axis(step), s_.matrices[b].read(s_.matrix_version[b]),
                                                 adjoint(step.out), adjoint(step.in)},
                       step.tile_count, s_.device);
    });
    device::for_each(s_.matrices[b].size(), add_slices{slices, s_.matrices[b].size(), matrix_adjoint_[b]}, s_.device);
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
    device::for_each(out.entries, apply_exponents{out.padded, own, adjoint(step.out)}, s_.device);
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
      const auto [place, is_new] = job_of.emplace(std::pair(one.length, one.theta), jobs.size());
      if (is_new) jobs.emplace_back();
      exponential_job& job = jobs[place->second];
      if (is_new || job.most < s_.host.most_of_branch[b])
        job = exponential_of(s_.host.most_of_branch[b], one.length, one.theta, rates_.branch_u, rates_.branch_v);
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
    for (const std::int32_t most : s_.host.most_of_branch) blocks = std::max<std::int64_t>(blocks, most + 1);
    Buffer<double> sums(std::int64_t(count) * blocks * 3, s_.device);
    std::vector<branch_dot_job> dots;
    for (std::size_t b = 0; b < count; ++b) {
      const exponential_job& job = jobs[job_of_branch[b]];
      dots.push_back({s_.host.most_of_branch[b], 1 / network_.branch(std::int64_t(b)).theta, rates_.branch_u,
                      rates_.branch_v, matrix_adjoint_[b], job.out, job.by_u, job.by_v,
                      sums.data() + std::int64_t(b) * blocks * 3});
    }
    const Buffer<branch_dot_job> dots_on_device(dots, s_.device);
    device::for_each(std::int64_t(count) * blocks, branch_dot{dots_on_device.data(), blocks}, s_.device);
    const auto found = sums.to_vector();
    for (std::size_t b = 0; b < count; ++b) {
      double by_length = 0, by_u = 0, by_v = 0;
      for (std::int32_t n = 0; n <= s_.host.most_of_branch[b]; ++n) {
        const double* block = &found[(b * std::size_t(blocks) + std::size_t(n)) * 3];
        by_length += block[0];
        by_u += block[1];
        by_v += block[2];
      }
      // P depends on t / theta, t u and t v alone.
      const branch& one = network_.branch(std::int64_t(b));
      result_.length[b] = by_length;
      result_.theta[b] = -(one.length * by_length - rates_.branch_u * by_u - rates_.branch_v * by_v) / one.theta;
      result_.branch_u += by_u;
      result_.branch_v += by_v;
    }
  }

  state& s_;
  const Network& network_;
  const sweep_rates& rates_;
  std::span<const double> seed_;
  std::vector<Buffer<double>> adjoints_;
  Buffer<double> matrix_memory_;
  std::vector<double*> matrix_adjoint_;  // by branch
  sweep_gradient result_;
};

sweep_gradient sweep::differentiate(const Network& network, const sweep_rates& rates, std::span<const double> seed) {
  return backward(*state_, network, rates, seed).run();
}

}  // namespace quintet::snp
