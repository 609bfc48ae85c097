#include "snp/plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "snp/schedule.hpp"
#include "snp/state_space.hpp"

namespace quintet::snp {

namespace {

constexpr std::int64_t lineage_limit = 1000;  // binomials stay finite: C(1000, 500) = 2.7e299

// A group while the plan grows: its value, what it can be, and the pattern of every row of the counts.
struct group {
  std::int32_t value = -1;
  layout states;
  std::vector<std::int32_t> pattern_of_row;
  std::int32_t scale = -1;  // step whose exponents it has
};

lineage_counts without(const lineage_counts& counts, std::size_t first, std::size_t number) {
  lineage_counts rest = counts;
  rest.erase(rest.begin() + std::ptrdiff_t(first), rest.begin() + std::ptrdiff_t(first + number));
  return rest;
}

lineage_counts with_first(std::initializer_list<std::int32_t> first, const lineage_counts& rest) {
  lineage_counts counts(first);
  counts.insert(counts.end(), rest.begin(), rest.end());
  return counts;
}

// The families of a layout with the first `number` axes taken out, numbered in ascending order.
std::map<lineage_counts, std::int32_t> families_behind(const layout& states, std::size_t number) {
  std::map<lineage_counts, std::int32_t> families;
  for (const auto& [counts, base] : states.blocks()) families.emplace(without(counts, 0, number), 0);
  std::int32_t next = 0;
  for (auto& [rest, family] : families) family = next++;
  return families;
}

double binomial(int n, int k) {
  double value = 1;
  for (int i = 1; i <= std::min(k, n - k); ++i) value = value * (n - std::min(k, n - k) + i) / i;
  return value;
}

class planner {
 public:
  planner(const Network& network, const count_table& counts, const plan_limits& limits)
      : network_(network), counts_(counts), limits_(limits), group_of_branch_(std::size_t(network.branches()), -1) {
    const auto leaves = network.leaves();
    std::vector<std::int64_t> most(leaves.size(), 0);
    for (std::int64_t row = 0; row < counts.rows; ++row)
      for (std::size_t i = 0; i < leaves.size(); ++i)
        most[i] = std::max<std::int64_t>(most[i], counts.copies[std::size_t(row) * leaves.size() + i]);
    const auto below = copies_below_branches(network, most);
    plan_.most_of_branch.assign(below.begin(), below.end());
    std::int64_t all = 0;
    for (const std::int64_t m : most) all += m;
    require_argument(all <= lineage_limit, "gene copies of all species", all, text("<= ", lineage_limit));
    schedule_ = best_schedule(network, most);
    plan_.byte_limit = limits.bytes;
  }

  plan run() {
    for (const std::int64_t node : schedule_) {
      switch (network_.kind(node)) {
        case node_kind::leaf:
          do_leaf(node);
          break;
        case node_kind::reticulation:
          do_reticulation(node);
          break;
        case node_kind::tree:
        case node_kind::root:
          do_tree_node(node);
          break;
      }
    }
    return std::move(plan_);
  }

 private:
  std::int32_t add_value(const layout& states, std::int32_t patterns) {
    const std::int32_t padded = (patterns + line - 1) / line * line;
    check_size(states, padded);
    plan_.values.push_back({states.entries(), patterns, padded, states.axes(), {}});
    if (states.axes().size() == 1)
      for (std::int32_t n = 0, next = 0; n <= states.most(0); ++n) {
        if (states.find({n}) >= 0) next += n + 1;
        plan_.values.back().prefix.push_back(next);
      }
    plan_.largest_entries = std::max(plan_.largest_entries, states.entries());
    return std::int32_t(plan_.values.size()) - 1;
  }

  void check_size(const layout& states, std::int32_t padded) {
    const double bytes = double(states.entries()) * padded * sizeof(double);
    bytes_ += bytes;
    if (bytes_ <= limits_.bytes && states.entries() <= std::numeric_limits<std::int32_t>::max()) return;
    throw InvalidArgument(text("the network needs a group of ", states.axes().size(), " open branches with ",
                               states.entries(), " states for ", padded, " patterns (", std::ceil(bytes / 1e6), " MB, ",
                               std::ceil(bytes_ / 1e6), " MB with all before it), more than the limit of ",
                               std::floor(limits_.bytes / 1e6), " MB, because of ", responsible(states.axes())));
  }

  // Reticulations both of whose ways up end in open branches of the group.
  std::string responsible(const std::vector<std::int64_t>& axes) const {
    std::string names;
    for (const std::int64_t node : network_.reticulations()) {
      int ways = 0;
      for (const std::int64_t b : axes) ways += b >= 0 && is_below(node, b);
      if (ways < 2) continue;
      names += names.empty() ? "reticulation " : ", ";
      names += network_.name(node).empty() ? text("node ", node) : network_.name(node);
    }
    return names.empty() ? "the number of gene copies" : names;
  }

  bool is_below(std::int64_t node, std::int64_t branch) const {
    const std::int64_t child = network_.branch(branch).child;
    if (child == node) return true;
    const auto children = network_.child_branches(child);
    return std::any_of(children.begin(), children.end(), [&](std::int64_t b) { return is_below(node, b); });
  }

  std::int64_t add_table(const std::vector<std::int32_t>& table) {
    const std::int64_t place = std::int64_t(plan_.tables.size());
    plan_.tables.insert(plan_.tables.end(), table.begin(), table.end());
    return place;
  }

  // Tiles of families with columns[f] columns.
  std::pair<std::int64_t, std::int64_t> add_tiles(const std::vector<std::int64_t>& columns) {
    const std::int64_t place = std::int64_t(plan_.tiles.size());
    for (std::size_t f = 0; f < columns.size(); ++f)
      for (std::int64_t chunk = 0; chunk * tile_columns < columns[f]; ++chunk)
        plan_.tiles.push_back({std::int32_t(f), std::int32_t(chunk)});
    return {place, std::int64_t(plan_.tiles.size()) - place};
  }

  void take(group&& made) {
    for (const std::int64_t branch : made.states.axes())
      if (branch >= 0) group_of_branch_[std::size_t(branch)] = std::int32_t(groups_.size());
    groups_.push_back(std::move(made));
  }

  group& group_with(std::int64_t branch) { return groups_[std::size_t(group_of_branch_[std::size_t(branch)])]; }

  // Rule 0.
  void do_leaf(std::int64_t node) {
    const auto leaves = network_.leaves();
    const std::size_t leaf = std::size_t(std::find(leaves.begin(), leaves.end(), node) - leaves.begin());
    std::map<std::pair<int, int>, std::int32_t> rows;
    for (std::int64_t row = 0; row < counts_.rows; ++row) rows.emplace(counts_at(row, leaf), 0);
    std::int32_t next = 0;
    for (auto& [count, pattern] : rows) pattern = next++;
    group made;
    std::map<lineage_counts, std::int64_t> blocks;
    for (const auto& [count, pattern] : rows) blocks.emplace(lineage_counts{count.first}, 0);
    const std::int64_t branch = network_.parent_branches(node)[0];
    made.states = layout({branch}, blocks);
    made.value = add_value(made.states, next);
    for (std::int64_t row = 0; row < counts_.rows; ++row) made.pattern_of_row.push_back(rows.at(counts_at(row, leaf)));
    leaf_value bottom{made.value, {}};
    const std::int32_t padded = plan_.values.back().padded;
    bottom.content.assign(std::size_t(made.states.entries() * padded), 0.0);
    for (const auto& [count, pattern] : rows)
      fill_leaf(bottom.content, made.states.find({count.first}), count.first, count.second, pattern, padded);
    plan_.leaves.push_back(std::move(bottom));
    apply(made, 0);
    take(std::move(made));
  }

  std::pair<int, int> counts_at(std::int64_t row, std::size_t leaf) const {
    const std::size_t place = std::size_t(row * counts_.leaves) + leaf;
    return {counts_.copies[place], counts_.red[place]};
  }

  // C(n, r) F(n, r). Dominant: N = n / 2 individuals, R of them with the band, of r = R ... 2R copies.
  void fill_leaf(std::vector<double>& content, std::int64_t base, int n, int red, std::int32_t pattern,
                 std::int32_t padded) const {
    const auto at = [&](int r) -> double& { return content[std::size_t((base + r) * padded + pattern)]; };
    if (!counts_.dominant) {
      at(red) = binomial(n, red);
      return;
    }
    for (int r = red; r <= 2 * red; ++r) at(r) = std::exp2(2 * red - r) * binomial(n / 2, red) * binomial(red, r - red);
  }

  // Rule 1 on an axis, in place of the group.
  void apply(group& g, std::size_t axis) {
    const layout below = g.states;
    std::map<lineage_counts, std::int64_t> blocks;
    std::map<lineage_counts, std::int32_t> families;
    for (const auto& [counts, base] : below.blocks()) {
      lineage_counts above = counts;
      for (std::int32_t n = std::min(counts[axis], 1); n <= counts[axis]; ++n) {
        above[axis] = n;
        blocks.emplace(above, 0);
      }
      families.emplace(without(counts, axis, 1), 0);
    }
    g.states = layout(below.axes(), blocks);
    plan_step step{step_kind::apply};
    step.branch = below.axes()[axis];
    step.most = below.most(axis);
    step.in = g.value;
    const plan_value value = plan_.values[std::size_t(g.value)];
    step.out = g.value = add_value(g.states, value.patterns);
    const std::int32_t record = 2 * step.most + 4;
    std::vector<std::int32_t> table(families.size() * std::size_t(record), -1);
    std::vector<std::int64_t> columns;
    std::int32_t next = 0;
    for (auto& [rest, family] : families) {
      family = next++;
      std::int64_t outer = 1, inner = 1;
      for (std::size_t k = 0; k < rest.size(); ++k) (k < axis ? outer : inner) *= rest[k] + 1;
      table[std::size_t(family * record)] = std::int32_t(outer);
      table[std::size_t(family * record + 1)] = std::int32_t(inner);
      columns.push_back(outer * inner * value.padded);
    }
    for (const auto& [counts, base] : below.blocks())
      table[std::size_t(families.at(without(counts, axis, 1)) * record + 2 + counts[axis])] = std::int32_t(base);
    for (const auto& [counts, base] : g.states.blocks())
      table[std::size_t(families.at(without(counts, axis, 1)) * record + 3 + step.most + counts[axis])] =
          std::int32_t(base);
    for (const auto& [rest, family] : families) {
      const std::int32_t* in = &table[std::size_t(family * record + 2)];
      double products = 0;
      for (int n = 0; n <= step.most; ++n)
        for (int k = n; k <= step.most; ++k)
          if (in[k] >= 0 && in[step.most + 1 + n] >= 0) products += double(n + 1) * (k + 1);
      step.operations += products * double(columns[std::size_t(family)]);
    }
    step.families = add_table(table);
    std::tie(step.tiles, step.tile_count) = add_tiles(columns);
    step.is_flow = below.axes().size() == 1 && step.most > dense_limit;
    if (step.is_flow) {
      step.dense = value.padded <= few_patterns ? dense_limit_few : dense_limit;
      std::copy(table.begin() + 3 + step.most, table.end(), table.begin() + 2);
      step.flow_families = add_table(table);
    }
    plan_.steps.push_back(step);
  }

  // The same value with the axes in another order and the patterns of another group, if that is a change.
  group remapped(const group& g, const std::vector<std::int64_t>& axes, const std::vector<std::int32_t>& pattern_of,
                 bool expand) {
    if (axes == g.states.axes() && !expand) return g;
    std::vector<std::size_t> from;
    for (const std::int64_t branch : axes) from.push_back(g.states.axis_of(branch));
    std::map<lineage_counts, std::int64_t> blocks;
    for (const auto& [counts, base] : g.states.blocks()) {
      lineage_counts moved;
      for (const std::size_t k : from) moved.push_back(counts[k]);
      blocks.emplace(moved, 0);
    }
    group made = g;
    made.states = layout(axes, blocks);
    plan_step step{step_kind::remap};
    step.in = g.value;
    const std::int32_t patterns =
        expand ? std::int32_t(pattern_of.size()) : plan_.values[std::size_t(g.value)].patterns;
    step.out = made.value = add_value(made.states, patterns);
    if (axes != g.states.axes()) step.entry_of = add_table(entry_map(g.states, made.states, from));
    if (expand) add_pattern_maps(step, pattern_of, plan_.values[std::size_t(g.value)]);
    plan_.steps.push_back(step);
    return made;
  }

  void add_pattern_maps(plan_step& step, std::vector<std::int32_t> pattern_of, const plan_value& in) {
    std::vector<std::int32_t> begins(std::size_t(in.patterns) + 1, 0), members(pattern_of.size());
    for (const std::int32_t q : pattern_of) ++begins[std::size_t(q) + 1];
    for (std::size_t q = 1; q < begins.size(); ++q) begins[q] += begins[q - 1];
    auto next = begins;
    for (std::size_t p = 0; p < pattern_of.size(); ++p)
      members[std::size_t(next[std::size_t(pattern_of[p])]++)] = std::int32_t(p);
    step.begins = add_table(begins);
    step.members = add_table(members);
    // Padding shows the padding of the input, which is zero, or its last pattern; nobody looks at it.
    pattern_of.resize((pattern_of.size() + line - 1) / line * line, in.padded - 1);
    step.pattern_of = add_table(pattern_of);
  }

  // For every entry of `to` that of `from`; axis k of `to` is axis axes[k] of `from`.
  static std::vector<std::int32_t> entry_map(const layout& from, const layout& to,
                                             const std::vector<std::size_t>& axes) {
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

  static std::vector<std::int64_t> axes_with_first(const layout& states, std::initializer_list<std::int64_t> first) {
    std::vector<std::int64_t> axes(first);
    for (const std::int64_t branch : states.axes())
      if (std::find(first.begin(), first.end(), branch) == first.end()) axes.push_back(branch);
    return axes;
  }

  void do_tree_node(std::int64_t node) {
    const auto children = network_.child_branches(node);
    const auto parents = network_.parent_branches(node);
    const std::int64_t above = parents.empty() ? -1 : parents[0];
    const bool together = group_of_branch_[std::size_t(children[0])] == group_of_branch_[std::size_t(children[1])];
    group made = together ? merge(group_with(children[0]), children[0], children[1], above)
                          : join(group_with(children[0]), children[0], group_with(children[1]), children[1], above);
    if (above >= 0) {
      apply(made, 0);
      take(std::move(made));
      return;
    }
    plan_.root_value = made.value;
    plan_.root_scale = made.scale;
    plan_.root_layout = made.states;
    plan_.root_pattern_of_row = made.pattern_of_row;
  }

  // Rule 4.
  group merge(const group& g, std::int64_t a, std::int64_t b, std::int64_t above) {
    const group in = remapped(g, axes_with_first(g.states, {a, b}), {}, false);
    const auto families = families_behind(in.states, 2);
    std::map<lineage_counts, std::int64_t> blocks;
    for (const auto& [counts, base] : in.states.blocks())
      blocks.emplace(with_first({counts[0] + counts[1]}, without(counts, 0, 2)), 0);
    group out = in;
    std::vector<std::int64_t> axes{above};
    axes.insert(axes.end(), in.states.axes().begin() + 2, in.states.axes().end());
    out.states = layout(axes, blocks);
    plan_step step{step_kind::merge};
    step.in = in.value;
    step.most = out.states.most(0);
    step.most1 = in.states.most(0);
    step.most2 = in.states.most(1);
    step.out = out.value = add_value(out.states, plan_.values[std::size_t(in.value)].patterns);
    add_pair_tables(step, out.states, in.states, families);
    plan_.steps.push_back(step);
    return out;
  }

  // Records of pair_tables: `single` has the axis, `both` the pair.
  void add_pair_tables(plan_step& step, const layout& single, const layout& both,
                       const std::map<lineage_counts, std::int32_t>& families) {
    const std::int32_t record = 2 + step.most + (step.most1 + 1) * (step.most2 + 1);
    std::vector<std::int32_t> table(families.size() * std::size_t(record), -1);
    std::vector<std::int64_t> columns;
    const std::int32_t padded = plan_.values[std::size_t(step.in)].padded;
    for (const auto& [rest, family] : families) {
      table[std::size_t(family * record)] = std::int32_t(block_entries(rest));
      columns.push_back(block_entries(rest) * padded);
    }
    for (const auto& [counts, base] : single.blocks())
      table[std::size_t(families.at(without(counts, 0, 1)) * record + 1 + counts[0])] = std::int32_t(base);
    for (const auto& [counts, base] : both.blocks())
      table[std::size_t(families.at(without(counts, 0, 2)) * record + 2 + step.most + counts[0] * (step.most2 + 1) +
                        counts[1])] = std::int32_t(base);
    step.families = add_table(table);
    std::tie(step.tiles, step.tile_count) = add_tiles(columns);
    step.operations = double(both.entries()) * padded;
  }

  // Rule 3.
  void do_reticulation(std::int64_t node) {
    const std::int64_t child = network_.child_branches(node)[0];
    const std::int64_t y = network_.parent_branches(node)[0], z = network_.parent_branches(node)[1];
    const group& g = group_with(child);
    const group in = remapped(g, axes_with_first(g.states, {child}), {}, false);
    const auto families = families_behind(in.states, 1);
    std::map<lineage_counts, std::int64_t> blocks;
    for (const auto& [counts, base] : in.states.blocks())
      for (std::int32_t ny = 0; ny <= counts[0]; ++ny)
        blocks.emplace(with_first({ny, counts[0] - ny}, without(counts, 0, 1)), 0);
    group out = in;
    std::vector<std::int64_t> axes{y, z};
    axes.insert(axes.end(), in.states.axes().begin() + 1, in.states.axes().end());
    out.states = layout(axes, blocks);
    plan_step step{step_kind::split};
    step.branch = y;
    step.in = in.value;
    step.most = step.most1 = step.most2 = in.states.most(0);
    step.out = out.value = add_value(out.states, plan_.values[std::size_t(in.value)].patterns);
    add_pair_tables(step, in.states, out.states, families);
    plan_.steps.push_back(step);
    apply(out, 0);
    apply(out, 1);
    take(std::move(out));
  }

  // Rule 2.
  group join(const group& g, std::int64_t a, const group& h, std::int64_t b, std::int64_t above) {
    // Distinct pairs of patterns, in ascending order: the map to g's patterns then ascends.
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> pairs;
    for (std::int64_t row = 0; row < counts_.rows; ++row)
      pairs.emplace(std::pair(g.pattern_of_row[std::size_t(row)], h.pattern_of_row[std::size_t(row)]), 0);
    std::vector<std::int32_t> left_of, right_of;
    for (auto& [pair, pattern] : pairs) {
      pattern = std::int32_t(left_of.size());
      left_of.push_back(pair.first);
      right_of.push_back(pair.second);
    }
    const auto expand = [&](const group& side, const std::vector<std::int32_t>& of) {
      for (std::size_t p = 0; p < of.size(); ++p)
        if (of[p] != std::int32_t(p)) return true;
      return plan_.values[std::size_t(side.value)].patterns != std::int32_t(of.size());
    };
    const bool expand_left = expand(g, left_of), expand_right = expand(h, right_of);
    const group left = remapped(g, axes_with_first(g.states, {a}), left_of, expand_left);
    const group right = remapped(h, axes_with_first(h.states, {b}), right_of, expand_right);
    group out;
    for (std::int64_t row = 0; row < counts_.rows; ++row)
      out.pattern_of_row.push_back(pairs.at({g.pattern_of_row[std::size_t(row)], h.pattern_of_row[std::size_t(row)]}));
    add_join(out, left, right, above);
    plan_step& step = plan_.steps.back();
    step.left_scale = left.scale;
    step.right_scale = right.scale;
    if (left.scale >= 0 && expand_left) step.left_scale_of = add_table(left_of);
    if (right.scale >= 0 && expand_right) step.right_scale_of = add_table(right_of);
    out.scale = std::int32_t(plan_.steps.size()) - 1;
    return out;
  }

  void add_join(group& out, const group& left, const group& right, std::int64_t above) {
    const auto left_families = families_behind(left.states, 1), right_families = families_behind(right.states, 1);
    std::map<lineage_counts, std::int64_t> blocks;
    for (const auto& [l, l_base] : left.states.blocks())
      for (const auto& [r, r_base] : right.states.blocks()) {
        lineage_counts counts = with_first({l[0] + r[0]}, without(l, 0, 1));
        counts.insert(counts.end(), r.begin() + 1, r.end());
        blocks.emplace(counts, 0);
      }
    std::vector<std::int64_t> axes{above};
    axes.insert(axes.end(), left.states.axes().begin() + 1, left.states.axes().end());
    axes.insert(axes.end(), right.states.axes().begin() + 1, right.states.axes().end());
    out.states = layout(axes, blocks);
    plan_step step{step_kind::join};
    step.in = left.value;
    step.in2 = right.value;
    step.most = out.states.most(0);
    step.left_families = std::int32_t(left_families.size());
    step.right_families = std::int32_t(right_families.size());
    step.most1 = left.states.most(0);
    step.most2 = right.states.most(0);
    const plan_value value = plan_.values[std::size_t(left.value)];
    step.out = out.value = add_value(out.states, value.patterns);
    std::tie(step.left, step.left_tiles, step.left_tile_count) =
        add_side(left.states, left_families, step.most1, value.padded);
    std::tie(step.right, step.right_tiles, step.right_tile_count) =
        add_side(right.states, right_families, step.most2, value.padded);
    std::vector<std::int32_t> table(left_families.size() * right_families.size() * std::size_t(step.most + 1), -1);
    std::vector<std::int64_t> columns;
    std::size_t place = 0;
    for (const auto& [l, l_family] : left_families)
      for (const auto& [r, r_family] : right_families) {
        lineage_counts counts = with_first({0}, l);
        counts.insert(counts.end(), r.begin(), r.end());
        for (counts[0] = 0; counts[0] <= step.most; ++counts[0]) table[place++] = std::int32_t(out.states.find(counts));
        columns.push_back(block_entries(l) * block_entries(r) * value.padded);
      }
    step.families = add_table(table);
    std::tie(step.tiles, step.tile_count) = add_tiles(columns);
    step.operations = double(left.states.entries()) * double(right.states.entries()) * value.padded;
    plan_.steps.push_back(step);
  }

  std::tuple<std::int64_t, std::int64_t, std::int64_t> add_side(const layout& states,
                                                                const std::map<lineage_counts, std::int32_t>& families,
                                                                std::int32_t most, std::int32_t padded) {
    const std::int32_t record = most + 2;
    std::vector<std::int32_t> table(families.size() * std::size_t(record), -1);
    std::vector<std::int64_t> columns;
    for (const auto& [rest, family] : families) {
      table[std::size_t(family * record)] = std::int32_t(block_entries(rest));
      columns.push_back(block_entries(rest) * padded);
    }
    for (const auto& [counts, base] : states.blocks())
      table[std::size_t(families.at(without(counts, 0, 1)) * record + 1 + counts[0])] = std::int32_t(base);
    const std::int64_t place = add_table(table);
    const auto [tiles, count] = add_tiles(columns);
    return {place, tiles, count};
  }

  const Network& network_;
  const count_table& counts_;
  const plan_limits& limits_;
  plan plan_;
  double bytes_ = 0;
  std::vector<std::int64_t> schedule_;
  std::vector<std::int32_t> group_of_branch_;
  std::vector<group> groups_;
};

}  // namespace

plan make_plan(const Network& network, const count_table& counts, const plan_limits& limits) {
  return planner(network, counts, limits).run();
}

}  // namespace quintet::snp
