#include "snp/likelihood/partials_store.hpp"

#include <algorithm>
#include <variant>

#include "device/for_each.hpp"
#include "snp/likelihood/rules/exponential_kernel.hpp"
#include "snp/likelihood/rules/remap_kernel.hpp"
#include "snp/likelihood/state_space.hpp"

namespace quintet::snp {

partials_store::partials_store(std::shared_ptr<const device_plan> plan) : steps_(std::move(plan)) {
  const std::size_t branches = host().max_of_branch.size();
  for (const partial_shape& shape : host().partials) partials_.emplace_back(shape.entries * shape.padded, device());
  partial_version_.resize(host().partials.size());
  own_exponents_.resize(host().partials.size());
  total_exponents_.resize(host().partials.size());
  is_split_.assign(host().partials.size(), false);
  matrix_version_.resize(branches);
  for (auto& version : matrix_of_) version.resize(branches);
  shares_.resize(branches);
  share_version_.resize(branches);
  std::vector<bool> has_stages(branches, false);
  for (const rule& any_rule : host().rules) {
    if (const auto* join = std::get_if<join_rule>(&any_rule)) {
      own_exponents_[std::size_t(join->out)] = {shape(join->out).padded, device()};
      total_exponents_[std::size_t(join->out)] = {shape(join->out).padded, device()};
    } else if (const auto* split = std::get_if<split_rule>(&any_rule)) {
      is_split_[std::size_t(split->in)] = true;
      shares_[std::size_t(split->y)] = {(split->max + 1) * (split->max + 1), device()};
    } else if (const auto* branch = std::get_if<branch_rule>(&any_rule)) {
      if (branch->has_stages) has_stages_ = has_stages[std::size_t(branch->branch)] = true;
      if (branch->scale >= 0)
        for (auto* exponents : {&own_exponents_, &total_exponents_})
          (*exponents)[std::size_t(branch->out)] = {shape(branch->out).padded, device()};
    }
  }
  for (std::size_t b = 0; b < branches; ++b) {
    const std::int32_t max = has_stages[b] ? dense_limit : host().max_of_branch[b];
    matrices_.emplace_back(column_block(max + 1) + exponential_padding, device());
  }
  for (auto& version : lineages_) version.resize(host().partials.size());
  for (std::size_t v = 0; host().is_cut && v < host().partials.size(); ++v)
    for (auto& version : lineages_)
      if (has_lineages(std::int32_t(v))) version[v] = certain(host().partials[v].prefix);
  for (const leaf_rule& leaf : host().leaves) {
    const std::size_t out = std::size_t(leaf.out);
    lineages_[0][out] = certain(shape(leaf.out).prefix);
    if (leaf.exponents.empty()) continue;
    total_exponents_[out] = {shape(leaf.out).padded, device()};
    total_exponents_[out].buffer(partial_version_[out]).copy_from_host(leaf.exponents.data(), shape(leaf.out).padded);
  }
}

evaluation_bytes bytes_of(const plan& steps) {
  constexpr std::int64_t parts = exponential_kernel<host_exponential, false>::work_parts, one = sizeof(double);
  evaluation_bytes bytes;
  for (const partial_shape& value : steps.partials) bytes.values += double(value.entries) * double(value.padded * one);
  std::vector<bool> has_stages(steps.max_of_branch.size(), false);
  double exponentials = 0, stages = 0;
  for (const rule& step : steps.rules) {
    if (const auto* split = std::get_if<split_rule>(&step))
      bytes.matrices += double((split->max + 1) * (split->max + 1) * one);
    const auto* branch = std::get_if<branch_rule>(&step);
    if (branch == nullptr || !branch->has_stages) continue;
    has_stages[std::size_t(branch->branch)] = true;
    const partial_shape& out = steps.partials[std::size_t(branch->out)];
    stages = std::max(stages, double(branch->stage_numbers(out) * one));
  }
  for (std::size_t b = 0; b < has_stages.size(); ++b) {
    const std::int32_t max = has_stages[b] ? dense_limit : steps.max_of_branch[b];
    const double matrix = double((column_block(max + 1) + exponential_padding) * one);
    bytes.matrices += matrix;
    exponentials =
        has_stages[b] ? std::max(exponentials, double(parts) * matrix) : exponentials + double(parts) * matrix;
  }
  bytes.work = exponentials + stages;
  return bytes;
}

void partials_store::begin(version_switch& version, bool propose) {
  if (!propose || version.is_proposed()) return;
  version.propose();
  proposed_.push_back(&version);
}

void partials_store::accept() {
  for (version_switch* version : proposed_) version->accept();
  proposed_.clear();
}

void partials_store::reject() {
  for (version_switch* version : proposed_) version->reject();
  proposed_.clear();
}

const double* partials_store::partial(std::int32_t v) const {
  const std::int32_t leaf = steps_->leaf_of_partial[std::size_t(v)];
  return leaf >= 0 ? steps_->leaves[std::size_t(leaf)].data() : read(partials_, partial_version_, v);
}

pattern_numbers partials_store::exponents_at_root(std::int32_t v) const {
  const std::int32_t join = steps_->down.scaled_by[std::size_t(v)];
  if (join < 0) return {};
  return {total_exponents(join), steps_->down.pattern_of[std::size_t(join)]};
}

void partials_store::set_all_lineages(std::int32_t v, std::int32_t max) {
  set_lineages(v, {max, std::vector<double>(std::size_t(max) + 1, 1.0)});
}

std::int32_t partials_store::limit(std::int32_t v, std::int32_t max, version edition) const {
  return has_lineages(v) ? lineages(v, edition).limit : max;
}

std::int32_t partials_store::low(std::int32_t v) const {
  if (!host().is_scaled || !has_lineages(v)) return 0;
  const lineage_bound& of = lineages(v);
  std::int32_t n = 0;
  for (double fewer = of.bound[0]; n < of.limit && fewer <= negligible_lineages; fewer += of.bound[std::size_t(n)]) ++n;
  return n;
}

std::int64_t partials_store::entries(std::int32_t v, version edition) const {
  const partial_shape& partial = shape(v);
  return has_lineages(v) ? partial.prefix[std::size_t(lineages(v, edition).limit)] : partial.entries;
}

void partials_store::clear_negligible(std::int32_t v) {
  if (is_split_[std::size_t(v)]) clear_entries(v, entries(v));
}

void partials_store::clear_entries(std::int32_t v, std::int64_t first) {
  const partial_shape& partial = shape(v);
  if (first >= partial.entries) return;
  device::for_each((partial.entries - first) * partial.padded, clear_rows{first, partial.padded, write_partial(v)},
                   device());
}

void forward(const rule& any_rule, partials_store& values, const parameters& params, bool propose) {
  std::visit(
      [&](const auto& concrete) {
        if constexpr (requires { concrete.forward(values, params, propose); })
          concrete.forward(values, params, propose);
        else
          concrete.forward(values);
      },
      any_rule);
  values.clear_negligible(base_of(any_rule).out);
}

}  // namespace quintet::snp
