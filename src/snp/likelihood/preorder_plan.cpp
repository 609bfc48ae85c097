#include "snp/likelihood/preorder_plan.hpp"

#include <algorithm>
#include <iterator>
#include <variant>

namespace quintet::snp {

namespace {

// A launch costs as much as so many multiply-adds.
constexpr double launch_cost = 4000;

// Tiles of families with `columns` columns of `patterns` patterns each.
std::vector<rule_tile> tiles_of(const std::vector<std::int64_t>& columns, std::int64_t patterns) {
  std::vector<rule_tile> wide;
  for (std::size_t f = 0; f < columns.size(); ++f)
    for (std::int64_t chunk = 0; chunk * tile_columns < columns[f] * patterns; ++chunk)
      wide.push_back({std::int32_t(f), std::int32_t(chunk)});
  return wide;
}

// A rule's tiles on the way down to its first input, and the columns of its families; a remap has neither.
struct input_tiles {
  tile_slice tiles;
  std::vector<std::int64_t> columns;
};
input_tiles tiles_to_input(const rule& any_rule, const std::vector<std::int32_t>& tables) {
  if (const auto* join = std::get_if<join_rule>(&any_rule)) return {join->left.tiles, join->left.columns(tables)};
  if (const auto* branch = std::get_if<branch_rule>(&any_rule)) return {branch->tiles, branch->columns(tables)};
  if (const auto* merge = std::get_if<merge_rule>(&any_rule)) return {merge->tiles, merge->columns(tables)};
  if (const auto* split = std::get_if<split_rule>(&any_rule)) return {split->tiles, split->columns(tables)};
  return {};
}

}  // namespace

preorder_plan::preorder_plan(const plan& steps, const Device& device, const rule_tile* tiles_on_device) {
  patterns = steps.partials[std::size_t(steps.root)].padded;
  patterns_of_all = steps.padded_of_all[std::size_t(steps.root)];
  connect(steps);
  map_patterns(steps, device);
  widen(steps, device, tiles_on_device);
  for (const partial_shape& shape : steps.partials) bytes += double(shape.entries) * patterns_of_all * sizeof(double);
}

void preorder_plan::connect(const plan& steps) {
  producer.assign(steps.partials.size(), -1);
  consumer = scaled_by = producer;
  for (std::size_t s = 0; s < steps.rules.size(); ++s) {
    const rule_base& base = base_of(steps.rules[s]);
    const std::int32_t second = second_input(steps.rules[s]);
    producer[std::size_t(base.out)] = consumer[std::size_t(base.in)] = std::int32_t(s);
    if (second >= 0) consumer[std::size_t(second)] = std::int32_t(s);
    scaled_by[std::size_t(base.out)] = second >= 0 ? base.out : scaled_by[std::size_t(base.in)];
    const double padded = steps.padded_of_all[std::size_t(base.out)];
    const double moved = double(steps.partials[std::size_t(base.out)].entries) * padded;
    const double work = std::max(steps.operations_of_all[s], moved);
    forward_cost.push_back(work + launch_cost);
    backward_cost.push_back(work * patterns_of_all / padded + launch_cost);
  }
}

void preorder_plan::map_patterns(const plan& steps, const Device& device) {
  pattern_of.assign(steps.partials.size(), nullptr);
  // Maps on the host, by their places on the device.
  std::vector<std::vector<std::int32_t>> host;
  std::vector<std::int32_t> map_of(steps.partials.size(), -1);
  const auto pass_on = [&](std::int32_t to, std::int32_t map) {
    map_of[std::size_t(to)] = map;
    pattern_of[std::size_t(to)] = map < 0 ? nullptr : maps_[std::size_t(map)].data();
  };
  for (std::size_t s = steps.rules.size(); s-- > 0;) {
    const rule_base& base = base_of(steps.rules[s]);
    const std::int32_t second = second_input(steps.rules[s]), above = map_of[std::size_t(base.out)];
    if (second >= 0) pass_on(second, above);
    const auto* remap = std::get_if<remap_rule>(&steps.rules[s]);
    if (remap == nullptr || remap->pattern_of < 0) {
      pass_on(base.in, above);
      continue;
    }
    const std::int32_t* expand = steps.tables.data() + remap->pattern_of;
    std::vector<std::int32_t> map(static_cast<std::size_t>(patterns));
    for (std::size_t p = 0; p < map.size(); ++p)
      map[p] = expand[above < 0 ? std::int32_t(p) : host[std::size_t(above)][p]];
    maps_.emplace_back(map, device);
    host.push_back(std::move(map));
    pass_on(base.in, std::int32_t(host.size()) - 1);
  }
}

void preorder_plan::widen(const plan& steps, const Device& device, const rule_tile* narrow) {
  std::vector<rule_tile> all;
  // Lists of the plan itself are wide already where the partial likelihoods have the root's patterns.
  struct place {
    bool is_wide;
    tile_slice tiles;
  };
  std::vector<place> places, right_places;
  const auto place_of = [&](const input_tiles& input, std::int32_t padded) -> place {
    if (input.columns.empty() || padded == patterns) return {false, input.tiles};
    const auto wide = tiles_of(input.columns, patterns);
    const std::int64_t begin = std::int64_t(all.size());
    all.insert(all.end(), wide.begin(), wide.end());
    return {true, {begin, std::int64_t(wide.size())}};
  };
  for (const rule& any_rule : steps.rules) {
    const std::int32_t padded = steps.partials[std::size_t(base_of(any_rule).out)].padded;
    places.push_back(place_of(tiles_to_input(any_rule, steps.tables), padded));
    const auto* join = std::get_if<join_rule>(&any_rule);
    right_places.push_back(join != nullptr ? place_of({join->right.tiles, join->right.columns(steps.tables)}, padded)
                                           : place{});
  }
  wide_ = Buffer<rule_tile>(all, device);
  const auto range_of = [&](const place& at) -> tile_range {
    return {(at.is_wide ? wide_.data() : narrow) + at.tiles.first, at.tiles.count};
  };
  std::transform(places.begin(), places.end(), std::back_inserter(tiles), range_of);
  std::transform(right_places.begin(), right_places.end(), std::back_inserter(right_tiles), range_of);
}

}  // namespace quintet::snp
