#include "snp/descent.hpp"

#include <algorithm>

namespace quintet::snp {

namespace {

// A launch costs as much as so many multiply-adds.
constexpr double launch_cost = 4000;

// Columns, without patterns, of a family whose record begins at `record`.
std::int64_t columns_of(const std::int32_t* record, bool has_outer) {
  return has_outer ? std::int64_t(record[0]) * record[1] : record[0];
}

// The families of `narrow` tiles again, each with `patterns` patterns a column.
std::vector<rule_tile> widened(std::span<const rule_tile> narrow, const std::int32_t* families, std::int64_t record,
                               bool has_outer, std::int64_t patterns) {
  std::vector<rule_tile> wide;
  const std::int32_t count = narrow.empty() ? 0 : narrow.back().family + 1;
  for (std::int32_t f = 0; f < count; ++f) {
    const std::int64_t columns = columns_of(families + f * record, has_outer) * patterns;
    for (std::int64_t chunk = 0; chunk * tile_columns < columns; ++chunk) wide.push_back({f, std::int32_t(chunk)});
  }
  return wide;
}

}  // namespace

descent_plan::descent_plan(const plan& steps, const Device& device, const rule_tile* tiles_on_device) {
  patterns = steps.values[std::size_t(steps.root_value)].padded;
  connect(steps);
  map_patterns(steps, device);
  widen(steps, device, tiles_on_device);
  for (const plan_value& value : steps.values) bytes += double(value.entries) * patterns * sizeof(double);
}

void descent_plan::connect(const plan& steps) {
  producer.assign(steps.values.size(), -1);
  consumer = scaled_by = producer;
  for (std::size_t s = 0; s < steps.steps.size(); ++s) {
    const plan_step& step = steps.steps[s];
    producer[std::size_t(step.out)] = consumer[std::size_t(step.in)] = std::int32_t(s);
    if (step.in2 >= 0) consumer[std::size_t(step.in2)] = std::int32_t(s);
    scaled_by[std::size_t(step.out)] = step.kind == step_kind::join ? std::int32_t(s) : scaled_by[std::size_t(step.in)];
    const plan_value& out = steps.values[std::size_t(step.out)];
    const double moved = double(out.entries) * out.padded;
    forward_cost.push_back(std::max(step.operations, moved) + launch_cost);
    backward_cost.push_back(std::max(step.operations, moved) * patterns / out.padded + launch_cost);
  }
}

void descent_plan::map_patterns(const plan& steps, const Device& device) {
  pattern_of.assign(steps.values.size(), nullptr);
  // Maps on the host, by their places on the device.
  std::vector<std::vector<std::int32_t>> host;
  std::vector<std::int32_t> map_of(steps.values.size(), -1);
  const auto pass_on = [&](std::int32_t to, std::int32_t map) {
    map_of[std::size_t(to)] = map;
    pattern_of[std::size_t(to)] = map < 0 ? nullptr : maps_[std::size_t(map)].data();
  };
  for (std::size_t s = steps.steps.size(); s-- > 0;) {
    const plan_step& step = steps.steps[s];
    const std::int32_t above = map_of[std::size_t(step.out)];
    if (step.in2 >= 0) pass_on(step.in2, above);
    if (step.kind != step_kind::remap || step.pattern_of < 0) {
      pass_on(step.in, above);
      continue;
    }
    const std::int32_t* expand = steps.tables.data() + step.pattern_of;
    std::vector<std::int32_t> map(static_cast<std::size_t>(patterns));
    for (std::size_t p = 0; p < map.size(); ++p)
      map[p] = expand[above < 0 ? std::int32_t(p) : host[std::size_t(above)][p]];
    maps_.emplace_back(map, device);
    host.push_back(std::move(map));
    pass_on(step.in, std::int32_t(host.size()) - 1);
  }
}

void descent_plan::widen(const plan& steps, const Device& device, const rule_tile* narrow) {
  std::vector<rule_tile> all;
  // Lists of the plan itself are wide already where the values have the root's patterns.
  struct place {
    bool is_wide;
    std::int64_t first, count;
  };
  std::vector<place> places, right_places;
  const auto place_of = [&](std::int64_t first, std::int64_t count, std::int64_t families, std::int64_t record,
                            bool has_outer, std::int32_t padded) -> place {
    if (families < 0 || padded == patterns) return {false, first, count};
    const auto wide = widened({steps.tiles.data() + first, std::size_t(count)}, steps.tables.data() + families, record,
                              has_outer, patterns);
    const std::int64_t begin = std::int64_t(all.size());
    all.insert(all.end(), wide.begin(), wide.end());
    return {true, begin, std::int64_t(wide.size())};
  };
  for (const plan_step& step : steps.steps) {
    const std::int32_t padded = steps.values[std::size_t(step.out)].padded;
    const bool is_join = step.kind == step_kind::join, is_apply = step.kind == step_kind::apply;
    const std::int64_t pair = 2 + step.most + (step.most1 + 1) * (step.most2 + 1);
    places.push_back(is_join ? place_of(step.left_tiles, step.left_tile_count, step.left, step.most1 + 2, false, padded)
                             : place_of(step.tiles, step.tile_count, step.families, is_apply ? 2 * step.most + 4 : pair,
                                        is_apply, padded));
    right_places.push_back(
        is_join ? place_of(step.right_tiles, step.right_tile_count, step.right, step.most2 + 2, false, padded)
                : place{});
  }
  wide_ = Buffer<rule_tile>(all, device);
  const auto range_of = [&](const place& one) -> tile_range {
    return {(one.is_wide ? wide_.data() : narrow) + one.first, one.count};
  };
  std::transform(places.begin(), places.end(), std::back_inserter(tiles), range_of);
  std::transform(right_places.begin(), right_places.end(), std::back_inserter(right_tiles), range_of);
}

}  // namespace quintet::snp
