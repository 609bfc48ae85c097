#include "snp/likelihood/rules/join.hpp"

#include <map>

#include "device/for_each.hpp"
#include "snp/likelihood/adjoint_context.hpp"
#include "snp/likelihood/plan_builder.hpp"
#include "snp/likelihood/preorder_context.hpp"
#include "snp/likelihood/rules/join_kernel.hpp"
#include "snp/likelihood/rules/remap_kernel.hpp"

namespace quintet::snp {

namespace {

join_side_rule encode_side(plan_builder& builder, const group& g,
                           const std::map<lineage_counts, std::int32_t>& families) {
  using record = side_record<std::int32_t>;
  join_side_rule side;
  side.in = g.partial;
  side.max = g.states.max(0);
  side.family_count = std::int32_t(families.size());
  side.scale = g.scale;
  const std::int32_t size = record::size(side.max), padded = builder.shape(g.partial).padded;
  std::vector<std::int32_t> table(families.size() * std::size_t(size), -1);
  std::vector<std::int64_t> columns;
  for (const auto& [rest, family] : families) {
    record{&table[std::size_t(family * size)]}.columns() = std::int32_t(block_entries(rest));
    columns.push_back(block_entries(rest) * padded);
  }
  for (const auto& [counts, base] : g.states.blocks())
    record{&table[std::size_t(families.at(without(counts, 0, 1)) * size)]}.first()[counts[0]] = std::int32_t(base);
  side.families = builder.add_table(table);
  side.tiles = builder.add_tiles(columns);
  return side;
}

std::map<lineage_counts, std::int64_t> blocks_of_join(const layout& left, const layout& right) {
  std::map<lineage_counts, std::int64_t> blocks;
  const bool is_single = left.axes().size() == 1 && right.axes().size() == 1;
  std::vector<bool> has_sum(is_single ? std::size_t(left.max(0)) + std::size_t(right.max(0)) + 1 : 0, false);
  for (const auto& [l, l_base] : left.blocks())
    for (const auto& [r, r_base] : right.blocks()) {
      // Thousands of lineages on both sides have few sums.
      if (is_single && has_sum[std::size_t(l[0] + r[0])]) continue;
      if (is_single) has_sum[std::size_t(l[0] + r[0])] = true;
      lineage_counts counts = with_first({l[0] + r[0]}, without(l, 0, 1));
      counts.insert(counts.end(), r.begin() + 1, r.end());
      blocks.emplace(counts, 0);
    }
  return blocks;
}

layout joined_states(const layout& left, const layout& right, std::int64_t above, const kept_cells* cells) {
  std::vector<std::int64_t> axes{above};
  axes.insert(axes.end(), left.axes().begin() + 1, left.axes().end());
  axes.insert(axes.end(), right.axes().begin() + 1, right.axes().end());
  return layout(axes, cells != nullptr ? cells->blocks() : blocks_of_join(left, right));
}

// The patterns of two groups together: distinct pairs in ascending order, so that the map to the left ones ascends.
struct pattern_pairs {
  std::vector<std::int32_t> left_of, right_of, pattern_of_row;
};
pattern_pairs pairs_of(const group& left, const group& right) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> pairs;
  const std::size_t rows = left.pattern_of_row.size();
  for (std::size_t row = 0; row < rows; ++row)
    pairs.emplace(std::pair(left.pattern_of_row[row], right.pattern_of_row[row]), 0);
  pattern_pairs joint;
  for (auto& [pair, pattern] : pairs) {
    pattern = std::int32_t(joint.left_of.size());
    joint.left_of.push_back(pair.first);
    joint.right_of.push_back(pair.second);
  }
  for (std::size_t row = 0; row < rows; ++row)
    joint.pattern_of_row.push_back(pairs.at({left.pattern_of_row[row], right.pattern_of_row[row]}));
  return joint;
}

bool must_expand(std::int32_t patterns, const std::vector<std::int32_t>& of) {
  for (std::size_t p = 0; p < of.size(); ++p)
    if (of[p] != std::int32_t(p)) return true;
  return patterns != std::int32_t(of.size());
}

}  // namespace

group join_rule::encode(plan_builder& builder, const group& g, std::int64_t a, const group& h, std::int64_t b,
                        std::int64_t above, const kept_cells* cells) {
  const pattern_pairs pairs = pairs_of(g, h);
  const bool expand_left = builder.expands_next_input(must_expand(builder.shape(g.partial).patterns, pairs.left_of));
  const bool expand_right = builder.expands_next_input(must_expand(builder.shape(h.partial).patterns, pairs.right_of));
  const group left = remap_rule::encode(builder, g, axes_with_first(g.states, {a}), pairs.left_of, expand_left);
  const group right = remap_rule::encode(builder, h, axes_with_first(h.states, {b}), pairs.right_of, expand_right);
  group result;
  result.pattern_of_row = pairs.pattern_of_row;
  result.states = joined_states(left.states, right.states, above, cells);
  join_rule rule;
  const auto left_families = families_behind(left.states, 1), right_families = families_behind(right.states, 1);
  const partial_shape& shape = builder.shape(left.partial);
  const std::int32_t patterns = shape.patterns, padded = shape.padded;
  rule.in = left.partial;
  rule.max = result.states.max(0);
  rule.out = result.partial = result.scale = builder.add_partial(result.states, patterns);
  rule.left = encode_side(builder, left, left_families);
  rule.right = encode_side(builder, right, right_families);
  std::vector<std::int32_t> table;
  std::vector<std::int64_t> columns;
  for (const auto& [l, l_family] : left_families)
    for (const auto& [r, r_family] : right_families) {
      lineage_counts counts = with_first({0}, l);
      counts.insert(counts.end(), r.begin(), r.end());
      for (counts[0] = 0; counts[0] <= rule.max; ++counts[0]) table.push_back(std::int32_t(result.states.find(counts)));
      columns.push_back(block_entries(l) * block_entries(r) * padded);
    }
  rule.families = builder.add_table(table);
  rule.tiles = builder.add_tiles(columns);
  rule.operations = double(left.states.entries()) * double(right.states.entries()) * padded;
  if (left.scale >= 0 && expand_left) rule.left.scale_of = builder.add_table(pairs.left_of);
  if (right.scale >= 0 && expand_right) rule.right.scale_of = builder.add_table(pairs.right_of);
  builder.add(rule);
  return result;
}

std::vector<std::int64_t> join_side_rule::columns(const std::vector<std::int32_t>& tables) const {
  using record = side_record<const std::int32_t>;
  std::vector<std::int64_t> result;
  for (std::int32_t f = 0; f < family_count; ++f)
    result.push_back(record{&tables[std::size_t(families + f * record::size(max))]}.columns());
  return result;
}

namespace {

join_tables tables_of(const join_rule& rule, const partials_store& values, const rule_tile* tiles,
                      std::int32_t patterns, partials_store::version edition = partials_store::version::current) {
  const auto side = [&](const join_side_rule& child) -> join_side {
    return {values.table(child.families), child.family_count, child.max, values.limit(child.in, child.max, edition),
            values.low(child.in)};
  };
  return {tiles,
          side(rule.left),
          side(rule.right),
          values.table(rule.families),
          rule.max,
          patterns,
          values.limit(rule.out, rule.max, edition)};
}

}  // namespace

void join_rule::forward(partials_store& values) const {
  if (values.has_lineages(out)) {
    if (values.shape(in).is_single() && values.shape(right.in).is_single())
      values.set_lineages(out, join_bounds(values.lineages(in), values.lineages(right.in)));
    else
      values.set_all_lineages(out, max);
  }
  double* to = values.write_partial(out);
  const tile_range range = values.range(tiles);
  with_rules(values.device(), [&](auto shape) {
    device::launch(join_kernel<decltype(shape)>{tables_of(*this, values, range.first, values.shape(out).padded),
                                                values.partial(in), values.partial(right.in), to},
                   range.count, values.device());
  });
  scale(values);
}

void join_rule::scale(partials_store& values) const {
  const partial_shape& shape_of = values.shape(out);
  const std::int64_t entries = values.entries(out);
  double* to = values.write_partial(out);
  std::int32_t *own = values.write_own_exponents(out), *total = values.write_total_exponents(out);
  with_rules(values.device(), [&](auto shape) {
    using kernel = column_max_kernel<decltype(shape)>;
    const std::int64_t chunks = tiles_of(entries, kernel::entries_per_tile);
    double* maxima = values.work(chunks * shape_of.padded);
    device::launch(kernel{entries, shape_of.padded, to, maxima}, chunks, values.device());
    device::for_each(
        shape_of.padded,
        choose_exponents{chunks, shape_of.padded, shape_of.patterns, maxima, values.total_exponents(left.scale),
                         values.table(left.scale_of), values.total_exponents(right.scale), values.table(right.scale_of),
                         own, total, values.host().is_scaled ? many_lineages : few_lineages},
        values.device());
  });
  device::for_each(shape_of.padded / line, apply_exponents{entries, shape_of.padded, own, to}, values.device());
}

void join_rule::adjoint(adjoint_context& pass) const {
  const partials_store& values = pass.values;
  const std::int32_t padded = values.shape(out).padded;
  device::for_each(padded / line,
                   apply_exponents{values.entries(out), padded, values.own_exponents(out), pass.adjoint(out)},
                   values.device());
  with_rules(values.device(), [&](auto shape) {
    using kernel = join_adjoint_kernel<decltype(shape)>;
    const auto launch = [&](const join_side_rule& self, const join_side_rule& other, bool is_left) {
      const tile_range range = values.range(self.tiles);
      device::launch(kernel{tables_of(*this, values, range.first, padded), is_left, values.partial(other.in),
                            pass.adjoint(out), pass.adjoint(self.in)},
                     range.count, values.device());
    };
    launch(left, right, true);
    launch(right, left, false);
  });
}

// The other input is up to date.
void join_rule::preorder(preorder_context& pass) const {
  partials_store& values = pass.values;
  preorder_partial& partial = pass.partial;
  const std::int32_t self = pass.is_left ? in : right.in, other = pass.is_left ? right.in : in;
  const std::int64_t patterns = pass.patterns;
  const auto accepted = partials_store::version::accepted;
  if (partial.sum_exponents.size() == 0) {  // the later one: memory may end between them
    partial.own_exponents = Buffer<std::int32_t>(patterns, values.device());
    partial.sum_exponents = Buffer<std::int32_t>(patterns, values.device());
  }
  const std::vector<const std::int32_t*>& pattern_of = values.steps().down.pattern_of;
  with_rules(values.device(), [&](auto shape) {
    using Shape = decltype(shape);
    const double* with = values.partial(other);
    if (const std::int32_t* map = pattern_of[std::size_t(other)]) {
      using kernel = remap_kernel<Shape>;
      const std::int64_t entries = values.entries(other, accepted);
      double* expanded = values.work(entries * patterns);
      device::launch(kernel{entries, values.shape(other).padded, patterns, nullptr, map, with, expanded},
                     tiles_of(entries, kernel::entries_per_tile), values.device());
      with = expanded;
    }
    device::launch(join_adjoint_kernel<Shape>{tables_of(*this, values, pass.tiles.first, pass.patterns, accepted),
                                              pass.is_left, with, pass.from(), pass.to()},
                   pass.tiles.count, values.device());
  });
  device::for_each(patterns,
                   join_exponents{{pass.above.exponents, nullptr},
                                  {values.own_exponents(out), pattern_of[std::size_t(out)]},
                                  values.exponents_at_root(other),
                                  partial.own_exponents.data(),
                                  partial.sum_exponents.data()},
                   values.device());
  partial.exponents = partial.sum_exponents.data();
  device::for_each(patterns / line,
                   apply_exponents{values.entries(self, accepted), patterns, partial.own_exponents.data(), pass.to()},
                   values.device());
}

}  // namespace quintet::snp
