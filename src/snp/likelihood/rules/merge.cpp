#include "snp/likelihood/rules/merge.hpp"

#include <map>

#include "snp/likelihood/adjoint_context.hpp"
#include "snp/likelihood/plan_builder.hpp"
#include "snp/likelihood/preorder_context.hpp"
#include "snp/likelihood/rules/pair_kernel.hpp"

namespace quintet::snp {

namespace {

std::map<lineage_counts, std::int64_t> blocks_of_merge(const layout& in) {
  std::map<lineage_counts, std::int64_t> blocks;
  for (const auto& [counts, base] : in.blocks())
    blocks.emplace(with_first({counts[0] + counts[1]}, without(counts, 0, 2)), 0);
  return blocks;
}

}  // namespace

group merge_rule::encode(plan_builder& builder, const group& g, std::int64_t a, std::int64_t b, std::int64_t above,
                         const kept_cells* cells) {
  const group in = remap_rule::encode(builder, g, axes_with_first(g.states, {a, b}), {}, false);
  std::vector<std::int64_t> axes{above};
  axes.insert(axes.end(), in.states.axes().begin() + 2, in.states.axes().end());
  group out = in;
  out.states = layout(axes, cells != nullptr ? cells->blocks() : blocks_of_merge(in.states));
  merge_rule rule;
  rule.in = in.partial;
  rule.max = out.states.max(0);
  rule.max1 = in.states.max(0);
  rule.max2 = in.states.max(1);
  rule.out = out.partial = builder.add_partial(out.states, builder.shape(in.partial).patterns);
  rule.encode_tables(builder, out.states, in.states, families_behind(in.states, 2));
  builder.add(rule);
  return out;
}

namespace {

pair_tables tables_of(const merge_rule& rule, const partials_store& values, const rule_tile* tiles,
                      std::int32_t patterns) {
  return {tiles, values.table(rule.families), rule.max, rule.max1, rule.max2, patterns};
}

}  // namespace

void merge_rule::forward(partials_store& values) const {
  if (values.has_lineages(out)) values.set_all_lineages(out, max);
  double* to = values.write_partial(out);
  const tile_range range = values.range(tiles);
  with_rules(values.device(), [&](auto shape) {
    device::launch(
        merge_kernel<decltype(shape)>{
            tables_of(*this, values, range.first, values.shape(out).padded), {}, values.partial(in), to},
        range.count, values.device());
  });
}

void merge_rule::adjoint(adjoint_context& pass) const {
  const partials_store& values = pass.values;
  const tile_range range = values.range(tiles);
  with_rules(values.device(), [&](auto shape) {
    device::launch(
        merge_adjoint_kernel<decltype(shape)>{
            tables_of(*this, values, range.first, values.shape(out).padded), {}, pass.adjoint(out), pass.adjoint(in)},
        range.count, values.device());
  });
}

void merge_rule::preorder(preorder_context& pass) const {
  const partials_store& values = pass.values;
  with_rules(values.device(), [&](auto shape) {
    device::launch(
        merge_adjoint_kernel<decltype(shape)>{
            tables_of(*this, values, pass.tiles.first, pass.patterns), {}, pass.from(), pass.to()},
        pass.tiles.count, values.device());
  });
}

}  // namespace quintet::snp
