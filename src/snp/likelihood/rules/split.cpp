#include "snp/likelihood/rules/split.hpp"

#include <map>

#include "snp/likelihood/adjoint_context.hpp"
#include "snp/likelihood/plan_builder.hpp"
#include "snp/likelihood/preorder_context.hpp"
#include "snp/likelihood/rates.hpp"
#include "snp/likelihood/rules/pair_kernel.hpp"

namespace quintet::snp {

namespace {

std::map<lineage_counts, std::int64_t> blocks_of_split(const layout& in) {
  std::map<lineage_counts, std::int64_t> blocks;
  for (const auto& [counts, base] : in.blocks())
    for (std::int32_t ny = 0; ny <= counts[0]; ++ny)
      blocks.emplace(with_first({ny, counts[0] - ny}, without(counts, 0, 1)), 0);
  return blocks;
}

}  // namespace

group split_rule::encode(plan_builder& builder, const group& g, std::int64_t child, std::int64_t y, std::int64_t z,
                         const kept_cells* cells) {
  const group in = remap_rule::encode(builder, g, axes_with_first(g.states, {child}), {}, false);
  std::vector<std::int64_t> axes{y, z};
  axes.insert(axes.end(), in.states.axes().begin() + 1, in.states.axes().end());
  group out = in;
  out.states = layout(axes, cells != nullptr ? cells->blocks() : blocks_of_split(in.states));
  split_rule rule;
  rule.y = y;
  rule.z = z;
  rule.in = in.partial;
  rule.max = in.states.max(0);
  rule.max1 = out.states.max(0);
  rule.max2 = out.states.max(1);
  rule.out = out.partial = builder.add_partial(out.states, builder.shape(in.partial).patterns);
  rule.encode_tables(builder, in.states, out.states, families_behind(in.states, 1));
  builder.add(rule);
  return out;
}

namespace {

pair_tables tables_of(const split_rule& rule, const partials_store& values, const rule_tile* tiles,
                      std::int32_t patterns) {
  return {tiles, values.table(rule.families), rule.max, rule.max1, rule.max2, patterns};
}

split_weights weights_of(const split_rule& rule, const partials_store& values, const double* shares) {
  return {shares, values.steps().binomials.data(), values.steps().binomial_stride, rule.max};
}

}  // namespace

void update_shares(const split_rule& rule, partials_store& values, const parameters& params, bool propose) {
  values.begin_shares(rule.y, propose);
  values.write_shares(rule.y, inheritance_shares(rule.max, params.of(rule.y).gamma, false));
}

void split_rule::forward(partials_store& values) const {
  double* to = values.write_partial(out);
  const tile_range range = values.range(tiles);
  with_rules(values.device(), [&](auto shape) {
    device::launch(split_kernel<decltype(shape)>{tables_of(*this, values, range.first, values.shape(out).padded),
                                                 weights_of(*this, values, values.shares(y)), values.partial(in), to},
                   range.count, values.device());
  });
}

void split_rule::adjoint(adjoint_context& pass) const {
  const partials_store& values = pass.values;
  const tile_range range = values.range(tiles);
  const pair_tables tables = tables_of(*this, values, range.first, values.shape(out).padded);
  const Buffer<double> slope(inheritance_shares(max, pass.params.of(y).gamma, true), values.device());
  Buffer<double> sums(range.count * tile_columns, values.device());
  with_rules(values.device(), [&](auto shape) {
    using Shape = decltype(shape);
    device::launch(split_gamma_kernel<Shape>{tables, weights_of(*this, values, slope.data()), values.partial(in),
                                             pass.adjoint(out), sums.data()},
                   range.count, values.device());
    device::launch(split_adjoint_kernel<Shape>{tables, weights_of(*this, values, values.shares(y)), pass.adjoint(out),
                                               pass.adjoint(in)},
                   range.count, values.device());
  });
  double sum = 0;
  for (const double value : sums.to_vector()) sum += value;
  pass.result.gamma[std::size_t(y)] = sum;
  pass.result.gamma[std::size_t(z)] = -sum;
}

void split_rule::preorder(preorder_context& pass) const {
  const partials_store& values = pass.values;
  with_rules(values.device(), [&](auto shape) {
    device::launch(
        split_adjoint_kernel<decltype(shape)>{tables_of(*this, values, pass.tiles.first, pass.patterns),
                                              weights_of(*this, values, values.shares(y)), pass.from(), pass.to()},
        pass.tiles.count, values.device());
  });
}

}  // namespace quintet::snp
