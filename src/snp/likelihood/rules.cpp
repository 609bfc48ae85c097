#include "quintet/snp/likelihood/rules.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <variant>

#include "quintet/core/error.hpp"
#include "snp/likelihood/partials_store.hpp"
#include "snp/likelihood/plan_builder.hpp"
#include "snp/likelihood/rules/root.hpp"
#include "snp/likelihood/state_space.hpp"

namespace quintet::snp {

namespace {

constexpr std::int64_t lineage_limit = 1000;

double binomial(std::int64_t n, std::int64_t k) {
  double value = 1;
  for (std::int64_t i = 1; i <= std::min(k, n - k); ++i) value = value * double(n - std::min(k, n - k) + i) / double(i);
  return value;
}

void check(const partial_likelihood& partial, const char* name) {
  require_argument(!partial.max.empty(), text("branches of ", name), 0, ">= 1");
  double states = 1;
  std::int64_t all = 0;
  for (const std::int64_t max : partial.max) {
    require_argument(max >= 0 && max <= lineage_limit, text("most of ", name), max, text("in 0 ... ", lineage_limit));
    states *= double(state_count(max));
    all += max;
  }
  require_argument(all <= lineage_limit, text("lineages of ", name), all, text("<= ", lineage_limit));
  require_argument(double(partial.entries.size()) == states, text("entries of ", name), partial.entries.size(),
                   text("as many as there are states, ", states));
}

void check_axis(const partial_likelihood& partial, const char* name, std::int64_t axis) {
  require_argument(axis >= 0 && axis < std::int64_t(partial.max.size()), name, axis,
                   text("one of the ", partial.max.size(), " branches"));
}

void check(const rates& mutation) {
  require_argument(mutation.u >= 0 && std::isfinite(mutation.u), "u", mutation.u, "finite and >= 0");
  require_argument(mutation.v >= 0 && std::isfinite(mutation.v), "v", mutation.v, "finite and >= 0");
  require_argument(mutation.u + mutation.v > 0, "u + v", mutation.u + mutation.v, "> 0");
}

// Place of the state of every axis in a dense table.
std::int64_t place_of(const std::vector<std::int64_t>& max, std::span<const lineage_state> states) {
  std::int64_t place = 0;
  for (std::size_t k = 0; k < max.size(); ++k)
    place = place * state_count(max[k]) + state_index(states[k].n, states[k].r);
  return place;
}

// f(states of all axes, place in the block) for the entries of a block, in their order.
template <class Function>
void each_entry(const lineage_counts& counts, Function&& f) {
  std::vector<lineage_state> states;
  for (const std::int32_t n : counts) states.push_back({n, 0});
  for (std::int64_t e = 0; e < block_entries(counts); ++e) {
    f(states, e);
    for (std::size_t k = counts.size(); k-- > 0;) {
      if (++states[k].r <= counts[k]) break;
      states[k].r = 0;
    }
  }
}

// What one rule needs: a plan of its own whose leaves are the rule's inputs.
class one_rule {
 public:
  explicit one_rule(const Device& device)
      : device_(device), builder_(limits_of(device), [](const auto&) { return std::string("its lineages"); }) {}

  plan_builder& builder() { return builder_; }

  // A group with the branches first, first + 1, ...
  group input(const partial_likelihood& from, std::int64_t first) {
    std::map<lineage_counts, std::int64_t> blocks;
    lineage_counts counts(from.max.size(), 0);
    for (bool more = true; more;) {
      bool is_there = false;
      each_entry(counts, [&](const auto& states, std::int64_t) {
        is_there = is_there || from.entries[std::size_t(place_of(from.max, states))] != 0;
      });
      if (is_there) blocks.emplace(counts, 0);
      more = false;
      for (std::size_t k = counts.size(); k-- > 0 && !more;) {
        more = ++counts[k] <= from.max[k];
        if (!more) counts[k] = 0;
      }
    }
    if (blocks.empty()) blocks.emplace(lineage_counts(from.max.size(), 0), 0);
    std::vector<std::int64_t> axes;
    for (std::size_t k = 0; k < from.max.size(); ++k) {
      axes.push_back(first + std::int64_t(k));
      set_max(axes.back(), from.max[k]);
    }
    group result;
    result.states = layout(axes, blocks);
    result.partial = builder_.add_partial(result.states, 1);
    result.pattern_of_row = {0};
    leaf_rule leaf{result.partial, std::vector<double>(std::size_t(result.states.entries() * line), 0.0)};
    for (const auto& [n, base] : result.states.blocks())
      each_entry(n, [&](const auto& states, std::int64_t e) {
        double value = from.entries[std::size_t(place_of(from.max, states))];
        for (const lineage_state& state : states) value *= binomial(state.n, state.r);
        leaf.content[std::size_t((base + e) * line)] = value;
      });
    builder_.add(std::move(leaf));
    return result;
  }

  void set_max(std::int64_t branch, std::int64_t max) {
    auto& all = builder_.result().max_of_branch;
    all.resize(std::max(all.size(), std::size_t(branch) + 1), 0);
    all[std::size_t(branch)] = std::int32_t(max);
    branches_.resize(all.size(), snp::branch{-1, -1, 0, 1, 1});
  }
  snp::branch& parameters_of(std::int64_t branch) { return branches_[std::size_t(branch)]; }

  // The result of what was encoded, with `max` lineages on its branches.
  partial_likelihood run(const group& result, std::vector<std::int64_t> max, const rates& mutation = {}) {
    partials_store values = evaluate(result, 1, mutation);
    partial_likelihood result_partial{std::move(max), {}};
    std::size_t size = 1;
    for (const std::int64_t m : result_partial.max) size *= std::size_t(state_count(m));
    result_partial.entries.assign(size, 0.0);
    std::vector<std::int32_t> exponent(1, 0);
    if (result.scale >= 0) values.copy_total_exponents(result.scale, exponent);
    std::vector<double> values_out(std::size_t(values.shape(result.partial).entries * line));
    detail::copy(values_out.data(), Device::host(), values.partial(result.partial), device_,
                 std::int64_t(values_out.size() * sizeof(double)));
    // Lineages that are negligible are not computed.
    const std::int64_t used = values.entries(result.partial);
    for (const auto& [n, base] : result.states.blocks())
      each_entry(n, [&](const auto& states, std::int64_t e) {
        if (base + e >= used) return;
        double value = std::ldexp(values_out[std::size_t((base + e) * line)], exponent[0]);
        for (const lineage_state& state : states) value /= binomial(state.n, state.r);
        result_partial.entries[std::size_t(place_of(result_partial.max, states))] = value;
      });
    return result_partial;
  }

  double likelihood(const group& result, double theta, const rates& mutation) {
    partials_store values = evaluate(result, theta, mutation);
    std::vector<double> values_out;
    std::vector<std::int32_t> exponent;
    evaluate_root(values, parameters{branches_, theta, rates_of(mutation)}, values_out, exponent);
    return std::ldexp(values_out[0], exponent[0]);
  }

 private:
  static plan_limits limits_of(const Device& device) {
    const std::int64_t memory = device.memory_bytes();
    return {memory > 0 ? double(memory) / 2 : 1e18};
  }
  static mutation_rates rates_of(const rates& mutation) { return {mutation.u, mutation.v, mutation.u, mutation.v}; }

  partials_store evaluate(const group& result, double root_theta, const rates& mutation) {
    plan& plan_of_rule = builder_.result();
    plan_of_rule.root = result.partial;
    plan_of_rule.root_scale = result.scale;
    plan_of_rule.root_layout = result.states;
    partials_store values(std::make_shared<device_plan>(std::move(plan_of_rule), device_));
    const parameters params{branches_, root_theta, rates_of(mutation)};
    std::vector<bool> has_rule(branches_.size(), false);
    for (const rule& any_rule : values.host().rules) {
      if (const auto* branch = std::get_if<branch_rule>(&any_rule)) {
        has_rule[std::size_t(branch->branch)] = true;
        if (branch->has_stages)
          check_stages(branch->max, params.of(branch->branch).length, params.of(branch->branch).theta, mutation.u,
                       mutation.v);
      }
      if (const auto* split = std::get_if<split_rule>(&any_rule)) update_shares(*split, values, params, false);
    }
    if (std::find(has_rule.begin(), has_rule.end(), true) != has_rule.end())
      update_matrices(values, params, has_rule, false);
    for (const rule& any_rule : values.host().rules) forward(any_rule, values, params, false);
    return values;
  }

  Device device_;
  plan_builder builder_;
  std::vector<snp::branch> branches_;
};

std::vector<std::int64_t> without_axes(const std::vector<std::int64_t>& max, std::int64_t a, std::int64_t b = -1) {
  std::vector<std::int64_t> rest;
  for (std::size_t k = 0; k < max.size(); ++k)
    if (std::int64_t(k) != a && std::int64_t(k) != b) rest.push_back(max[k]);
  return rest;
}

}  // namespace

double partial_likelihood::at(std::span<const lineage_state> states) const {
  require_argument(states.size() == max.size(), "states", states.size(),
                   text("one for each of ", max.size(), " branches"));
  for (std::size_t k = 0; k < max.size(); ++k) {
    const auto [n, r] = states[k];
    if (n < 0 || r < 0 || r > n || n > max[k]) return 0;
  }
  return entries[std::size_t(place_of(max, states))];
}

partial_likelihood rules::leaf(std::int64_t copies, std::int64_t red, bool dominant) {
  require_argument(copies >= 0 && copies <= lineage_limit, "copies", copies, text("in 0 ... ", lineage_limit));
  require_argument(!dominant || copies % 2 == 0, "copies", copies, "even: two of every individual");
  const std::int64_t counted = dominant ? copies / 2 : copies;
  require_argument(red >= 0 && red <= counted, "red", red, text("in 0 ... ", counted));
  one_rule rule(Device::host());
  const std::vector<leaf_counts> rows{{std::int32_t(copies), std::int32_t(red)}};
  rule.set_max(0, copies);
  return rule.run(leaf_rule::encode(rule.builder(), 0, rows, dominant), {copies});
}

partial_likelihood rules::branch(const partial_likelihood& below, std::int64_t axis, const population& on,
                                 const snp::rates& mutation, const Device& device) {
  check(below, "below");
  check_axis(below, "axis", axis);
  check(mutation);
  require_argument(on.length >= 0 && std::isfinite(on.length), "length", on.length, "finite and >= 0");
  require_argument(on.theta > 0 && std::isfinite(on.theta), "theta", on.theta, "finite and > 0");
  one_rule rule(device);
  group g = rule.input(below, 0);
  rule.parameters_of(axis).length = on.length;
  rule.parameters_of(axis).theta = on.theta;
  branch_rule::encode(rule.builder(), g, std::size_t(axis));
  return rule.run(g, below.max, mutation);
}

partial_likelihood rules::join(const partial_likelihood& left, std::int64_t left_axis, const partial_likelihood& right,
                               std::int64_t right_axis, const Device& device) {
  check(left, "left");
  check(right, "right");
  check_axis(left, "left_axis", left_axis);
  check_axis(right, "right_axis", right_axis);
  one_rule rule(device);
  const auto count = std::int64_t(left.max.size());
  const group g = rule.input(left, 0), h = rule.input(right, count);
  const std::int64_t above = count + std::int64_t(right.max.size());
  std::vector<std::int64_t> max{left.max[std::size_t(left_axis)] + right.max[std::size_t(right_axis)]};
  require_argument(max[0] <= lineage_limit, "lineages together", max[0], text("<= ", lineage_limit));
  rule.set_max(above, max[0]);
  for (const std::int64_t m : without_axes(left.max, left_axis)) max.push_back(m);
  for (const std::int64_t m : without_axes(right.max, right_axis)) max.push_back(m);
  return rule.run(join_rule::encode(rule.builder(), g, left_axis, h, count + right_axis, above), max);
}

partial_likelihood rules::split(const partial_likelihood& below, std::int64_t axis, double gamma,
                                const Device& device) {
  check(below, "below");
  check_axis(below, "axis", axis);
  require_argument(gamma >= 0 && gamma <= 1, "gamma", gamma, "in 0 ... 1");
  one_rule rule(device);
  const auto count = std::int64_t(below.max.size());
  const std::int64_t m = below.max[std::size_t(axis)];
  const group g = rule.input(below, 0);
  rule.set_max(count, m);
  rule.set_max(count + 1, m);
  rule.parameters_of(count).gamma = gamma;
  std::vector<std::int64_t> max{m, m};
  for (const std::int64_t rest : without_axes(below.max, axis)) max.push_back(rest);
  return rule.run(split_rule::encode(rule.builder(), g, axis, count, count + 1), max);
}

partial_likelihood rules::merge(const partial_likelihood& below, std::int64_t first_axis, std::int64_t second_axis,
                                const Device& device) {
  check(below, "below");
  check_axis(below, "first_axis", first_axis);
  check_axis(below, "second_axis", second_axis);
  require_argument(first_axis != second_axis, "second_axis", second_axis, "another branch than first_axis");
  one_rule rule(device);
  const auto count = std::int64_t(below.max.size());
  std::vector<std::int64_t> max{below.max[std::size_t(first_axis)] + below.max[std::size_t(second_axis)]};
  const group g = rule.input(below, 0);
  rule.set_max(count, max[0]);
  for (const std::int64_t rest : without_axes(below.max, first_axis, second_axis)) max.push_back(rest);
  return rule.run(merge_rule::encode(rule.builder(), g, first_axis, second_axis, count), max);
}

double rules::root(const partial_likelihood& below, double theta, const snp::rates& mutation, const Device& device) {
  check(below, "below");
  require_argument(below.max.size() == 1, "branches of below", below.max.size(), "1");
  require_argument(theta > 0 && std::isfinite(theta), "theta", theta, "finite and > 0");
  check(mutation);
  one_rule rule(device);
  return rule.likelihood(rule.input(below, 0), theta, mutation);
}

}  // namespace quintet::snp
