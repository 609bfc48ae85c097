// Proposals that change little: partial likelihoods up to where all changes meet, and there one product with the
// pre-order partial, which accepted parameters determine and which serves until a change elsewhere is accepted.
#include <algorithm>
#include <variant>

#include "device/for_each.hpp"
#include "snp/likelihood/preorder_kernels.hpp"
#include "snp/likelihood/pruning_state.hpp"
#include "snp/likelihood/rules/root.hpp"

namespace quintet::snp {

namespace {

// Likelihoods (scaled) outside this range are computed again, each with its scales.
constexpr double min_contracted = 1e-200, max_contracted = 1e200;

// Lineages that a pre-order partial leaves out may be so many times as probable for a proposal as they are for what is
// accepted.
constexpr double lineage_slack = 1e10;

}  // namespace

// From where all changes meet up to the root.
std::vector<std::int32_t> pruning_pass::state::common_path(const std::vector<std::int32_t>& count) const {
  const std::vector<bool>& touched = proposal.touched;
  const auto all = std::int32_t(std::count(touched.begin(), touched.end(), true));
  std::vector<std::int32_t> path;
  if (all == 0) return path;
  std::int32_t s = std::int32_t(std::find(touched.begin(), touched.end(), true) - touched.begin());
  while (s >= 0) {
    const std::int32_t out = base_of(host().rules[std::size_t(s)]).out;
    if (count[std::size_t(out)] == all) path.push_back(out);
    s = down().consumer[std::size_t(out)];
  }
  return path;
}

// The place on the path where partial likelihoods end and the pre-order one begins, by counted operations, so that it
// does not depend on how fast the machine is. What is spent on pre-order partials serves until something is accepted.
std::size_t pruning_pass::state::choose_evaluation_branch(const std::vector<std::int32_t>& path) const {
  std::vector<double> below(path.size(), 0.0);
  for (std::size_t i = 1; i < path.size(); ++i)
    below[i] = below[i - 1] + down().forward_cost[std::size_t(down().consumer[std::size_t(path[i - 1])])];
  std::size_t best = path.size() - 1;
  double min = below.back(), above = 0;
  for (std::size_t i = path.size() - 1; i-- > 0;) {
    const std::size_t v = std::size_t(path[i]);
    above += down().backward_cost[std::size_t(down().consumer[v])];
    if (preorder[preorder_home(path[i])].is_valid) above = 0;
    const double product = double(host().partials[v].entries) * down().patterns_of_all;
    const double cost = below[i] + acceptance * above + product;
    if (cost > min) continue;
    min = cost;
    best = i;
  }
  return best;
}

// Whether what the pre-order partial leaves out is negligible for the proposal too.
bool pruning_pass::state::covers_lineages(std::int32_t v) const {
  if (!values.has_lineages(v)) return true;
  const lineage_bound &current = values.lineages(v), &accepted = values.lineages(v, partials_store::version::accepted);
  if (current.limit > accepted.limit) return false;
  for (std::size_t n = 0; n <= std::size_t(current.limit); ++n)
    if (current.bound[n] > lineage_slack * accepted.bound[n]) return false;
  return true;
}

bool pruning_pass::state::can_contract() const {
  const std::vector<bool>& touched = proposal.touched;
  return !host().is_scaled && !proposal.touches_root && host().is_whole_within_limit &&
         down().bytes <= host().byte_limit && std::find(touched.begin(), touched.end(), true) != touched.end();
}

bool pruning_pass::state::contract(const parameters& params) {
  const std::vector<std::int32_t> count = changes_below();
  const std::vector<std::int32_t> path = common_path(count);
  std::size_t meeting = choose_evaluation_branch(path);
  if (meeting + 1 == path.size()) return false;
  std::vector<bool> is_above(count.size(), false);
  for (std::size_t i = meeting + 1; i < path.size(); ++i) is_above[std::size_t(path[i])] = true;
  for (std::size_t s = 0; s < host().rules.size(); ++s) {
    const std::size_t out = std::size_t(base_of(host().rules[s]).out);
    if (count[out] > 0 && !is_above[out]) run_changed(s, params, count);
  }
  for (; !covers_lineages(path[meeting]); ++meeting) {
    if (meeting + 2 >= path.size()) return false;
    run_changed(std::size_t(down().consumer[std::size_t(path[meeting])]), params, count);
  }
  multiply(path[meeting], params);
  return true;
}

bool pruning_pass::state::is_in_range() {
  return std::all_of(result().likelihood.begin(), result().likelihood.end(),
                     [](double x) { return x >= min_contracted && x <= max_contracted; });
}

// The root's likelihoods from one partial likelihood and its pre-order partial.
void pruning_pass::state::multiply(std::int32_t v, const parameters& params) {
  const std::int64_t patterns = down().patterns, entries = values.entries(v);
  require_preorder(v, params);
  const preorder_partial& with = preorder[preorder_home(v)];
  if (contracted_exponents.size() == 0) {
    contracted = Buffer<double>(patterns, values.device());
    contracted_exponents = Buffer<std::int32_t>(patterns, values.device());
  }
  with_rules(values.device(), [&](auto shape) {
    using kernel = contract_kernel<decltype(shape)>;
    const std::int64_t slices = kernel::slices(entries);
    double* partial = values.work(slices * patterns);
    device::launch(kernel{entries, patterns, values.shape(v).padded, down().pattern_of[std::size_t(v)],
                          with.entries.data(), values.partial(v), partial},
                   slices * kernel::chunks(patterns), values.device());
    device::for_each(patterns,
                     finish_contraction{slices,
                                        patterns,
                                        partial,
                                        {with.exponents, nullptr},
                                        values.exponents_at_root(v),
                                        contracted.data(),
                                        contracted_exponents.data()},
                     values.device());
  });
  values.begin(root_version, true);
  const std::size_t used = std::size_t(values.shape(host().root).patterns);
  result().likelihood.resize(used);
  result().exponent.resize(used);
  contracted.copy_to_host(result().likelihood.data(), std::int64_t(used));
  contracted_exponents.copy_to_host(result().exponent.data(), std::int64_t(used));
  proposal.evaluation_branch = v;
}

// Where patterns alone are mapped the pre-order partial is that of the result.
std::size_t pruning_pass::state::preorder_home(std::int32_t v) const {
  for (;;) {
    const std::int32_t consumer = down().consumer[std::size_t(v)];
    if (consumer < 0) return std::size_t(v);
    const auto* remap = std::get_if<remap_rule>(&host().rules[std::size_t(consumer)]);
    if (remap == nullptr || remap->entry_of >= 0) return std::size_t(v);
    v = remap->out;
  }
}

void pruning_pass::state::require_preorder(std::int32_t v, const parameters& params) {
  const std::size_t home = preorder_home(v);
  preorder_partial& partial = preorder[home];
  if (partial.is_valid) return;
  const std::int64_t entries = host().partials[home].entries, size = entries * down().patterns;
  if (partial.entries.size() != size) partial.entries = Buffer<double>(size, values.device());
  const std::int32_t consumer = down().consumer[home];
  if (consumer < 0) {
    update_root_weights(values, params);
    device::for_each(entries, preorder_root{down().patterns, values.root.weight.data(), partial.entries.data()},
                     values.device());
  } else {
    const rule& any_rule = host().rules[std::size_t(consumer)];
    const bool is_left = std::int32_t(home) == base_of(any_rule).in;
    require_preorder(base_of(any_rule).out, params);
    const preorder_partial& above = preorder[preorder_home(base_of(any_rule).out)];
    partial.exponents = above.exponents;
    if (const std::int32_t second = second_input(any_rule); second >= 0)
      refresh(is_left ? second : base_of(any_rule).in, params);
    const tile_range& tiles = (is_left ? down().tiles : down().right_tiles)[std::size_t(consumer)];
    preorder_context step{values, params, above, partial, tiles, down().patterns, is_left};
    std::visit([&](const auto& concrete) { concrete.preorder(step); }, any_rule);
  }
  partial.is_valid = true;
}

}  // namespace quintet::snp
