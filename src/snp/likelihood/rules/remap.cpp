#include "snp/likelihood/rules/remap.hpp"

#include <map>

#include "device/for_each.hpp"
#include "snp/likelihood/adjoint_context.hpp"
#include "snp/likelihood/plan_builder.hpp"
#include "snp/likelihood/preorder_context.hpp"
#include "snp/likelihood/rules/remap_kernel.hpp"

namespace quintet::snp {

namespace {

// For every entry of `to` that of `from`; axis k of `to` is axis axes[k] of `from`.
std::vector<std::int32_t> entry_map(const layout& from, const layout& to, const std::vector<std::size_t>& axes) {
  std::vector<std::int32_t> map(std::size_t(to.entries()));
  const std::size_t number = axes.size();
  for (const auto& [counts, base] : to.blocks()) {
    lineage_counts source(number), r(number, 0);
    for (std::size_t k = 0; k < number; ++k) source[axes[k]] = counts[k];
    std::vector<std::int64_t> stride(number, 1);
    for (std::size_t k = 0; k < number; ++k)
      for (std::size_t j = axes[k] + 1; j < number; ++j) stride[k] *= source[j] + 1;
    const std::int64_t start = from.find(source), entries = block_entries(counts);
    for (std::int64_t e = 0; e < entries; ++e) {
      std::int64_t place = start;
      for (std::size_t k = 0; k < number; ++k) place += r[k] * stride[k];
      map[std::size_t(base + e)] = std::int32_t(place);
      for (std::size_t k = number; k-- > 0;) {
        if (++r[k] <= counts[k]) break;
        r[k] = 0;
      }
    }
  }
  return map;
}

void encode_patterns(plan_builder& builder, remap_rule& rule, std::vector<std::int32_t> pattern_of) {
  const partial_shape& in = builder.shape(rule.in);
  std::vector<std::int32_t> begins(std::size_t(in.patterns) + 1, 0), members(pattern_of.size());
  for (const std::int32_t q : pattern_of) ++begins[std::size_t(q) + 1];
  for (std::size_t q = 1; q < begins.size(); ++q) begins[q] += begins[q - 1];
  auto next = begins;
  for (std::size_t p = 0; p < pattern_of.size(); ++p)
    members[std::size_t(next[std::size_t(pattern_of[p])]++)] = std::int32_t(p);
  rule.begins = builder.add_table(begins);
  rule.members = builder.add_table(members);
  // Padding shows the padding of the input, which is zero, or its last pattern; nobody looks at it.
  pattern_of.resize((pattern_of.size() + line - 1) / line * line, in.padded - 1);
  rule.pattern_of = builder.add_table(pattern_of);
}

}  // namespace

group remap_rule::encode(plan_builder& builder, const group& g, const std::vector<std::int64_t>& axes,
                         const std::vector<std::int32_t>& pattern_of, bool expand) {
  if (axes == g.states.axes() && !expand) return g;
  std::vector<std::size_t> from;
  for (const std::int64_t branch : axes) from.push_back(g.states.axis_of(branch));
  std::map<lineage_counts, std::int64_t> blocks;
  for (const auto& [counts, base] : g.states.blocks()) {
    lineage_counts moved;
    for (const std::size_t k : from) moved.push_back(counts[k]);
    blocks.emplace(moved, 0);
  }
  group result = g;
  result.states = layout(axes, blocks);
  remap_rule rule;
  rule.in = g.partial;
  rule.out = result.partial =
      builder.add_partial(result.states, expand ? std::int32_t(pattern_of.size()) : builder.shape(g.partial).patterns);
  if (axes != g.states.axes()) rule.entry_of = builder.add_table(entry_map(g.states, result.states, from));
  if (expand) encode_patterns(builder, rule, pattern_of);
  builder.add(rule);
  return result;
}

void remap_rule::forward(partials_store& values) const {
  if (values.has_lineages(out)) values.set_lineages(out, values.lineages(in));
  double* to = values.write_partial(out);
  with_rules(values.device(), [&](auto shape) {
    using kernel = remap_kernel<decltype(shape)>;
    device::launch(kernel{values.shape(out).entries, values.shape(in).padded, values.shape(out).padded,
                          values.table(entry_of), values.table(pattern_of), values.partial(in), to},
                   tiles_of(values.entries(out), kernel::entries_per_tile), values.device());
  });
}

void remap_rule::adjoint(adjoint_context& pass) const {
  const partials_store& values = pass.values;
  const partial_shape &below = values.shape(in), &above = values.shape(out);
  device::for_each(above.entries * below.padded,
                   remap_adjoint{below.padded, above.padded, below.patterns, values.table(entry_of),
                                 values.table(begins), values.table(members), pass.adjoint(out), pass.adjoint(in)},
                   values.device());
}

void remap_rule::preorder(preorder_context& pass) const {
  device::for_each(pass.values.shape(out).entries,
                   remap_preorder{pass.patterns, pass.values.table(entry_of), pass.from(), pass.to()},
                   pass.values.device());
}

}  // namespace quintet::snp
