#include "hdbscan/boruvka.hpp"

#include <algorithm>
#include <tuple>

#include "device/mirror.hpp"

namespace quintet::hdbscan {

using pairwise::tile_index;

namespace {

// Tiles computed between two looks at the bounds. Few: the bounds get sharp early. On a device they must fill it.
std::int64_t tiles_together(const Device& device) { return device.kind() == device_kind::offload ? 1024 : 48; }

}  // namespace

template <class Real>
boruvka<Real>::boruvka(const pairwise::panels<Real>& panels, pairwise::neighbour_table<Real> table,
                       std::vector<Real> core, const std::vector<std::int32_t>& original)
    : panels_(panels),
      table_(std::move(table)),
      core_(std::move(core)),
      original_(original),
      blocks_(panels.blocks()),
      tile_bound_(blocks_ * blocks_, 0),
      outside_(panels.count),
      sets_(panels.count),
      component_(panels.count),
      best_(panels.count),
      block_outside_(blocks_),
      block_component_(blocks_) {
  for (std::int64_t i = 0; i < panels.count; ++i) {
    component_[i] = std::int32_t(i);
    const bool is_complete = table_.k >= panels.count - 1;
    outside_[i] = is_complete ? infinity : std::max(core_[i], table_.farthest(i));
  }
}

/// An edge between a and b for the component: kept if it is before the best one so far in the order of edges.
template <class Real>
void boruvka<Real>::offer(std::int32_t component, Real weight, std::int32_t a, std::int32_t b) {
  packed_edge<Real>& best = best_[component];
  if (weight > best.weight) return;
  if (original_[a] > original_[b]) std::swap(a, b);
  if (weight == best.weight && best.first >= 0 &&
      std::tie(original_[a], original_[b]) >= std::tie(original_[best.first], original_[best.second]))
    return;
  best = {weight, a, b};
}

template <class Real>
void boruvka<Real>::offer_list_edges() {
  for (std::int32_t i = 0; i < panels_.count; ++i) {
    const Real* value = table_.value.data() + std::int64_t(i) * table_.k;
    const std::int32_t* index = table_.index.data() + std::int64_t(i) * table_.k;
    for (int e = 0; e < table_.k && index[e] >= 0; ++e) {
      const std::int32_t j = index[e];
      if (component_[i] == component_[j]) continue;
      const Real weight = std::max({core_[i], core_[j], value[e]});
      offer(component_[i], weight, i, j);
      offer(component_[j], weight, i, j);
    }
  }
}

/// What earlier scans found, as far as it still leads from one component to another.
template <class Real>
void boruvka<Real>::offer_found_edges() {
  std::erase_if(found_, [&](const packed_edge<Real>& e) { return component_[e.first] == component_[e.second]; });
  for (const packed_edge<Real>& e : found_) {
    offer(component_[e.first], e.weight, e.first, e.second);
    offer(component_[e.second], e.weight, e.first, e.second);
  }
}

template <class Real>
void boruvka<Real>::compute_block_bounds() {
  for (std::int64_t block = 0; block < blocks_; ++block) {
    const std::int64_t first = block * panels_.block_side, end = std::min(first + panels_.block_side, panels_.count);
    block_outside_[block] = *std::min_element(outside_.begin() + first, outside_.begin() + end);
    const bool is_one = std::all_of(component_.begin() + first, component_.begin() + end,
                                    [&](std::int32_t c) { return c == component_[first]; });
    block_component_[block] = is_one ? component_[first] : -1;
  }
}

/// Whether an edge outside the point's list may come before its component's best one. Equality counts: such an edge
/// may be earlier in the order.
template <class Real>
bool boruvka<Real>::is_active(std::int64_t point) const {
  return outside_[point] <= best_[component_[point]].weight;
}

template <class Real>
bool boruvka<Real>::is_inside_one_component(tile_index tile) const {
  return block_component_[tile.row] >= 0 && block_component_[tile.row] == block_component_[tile.col];
}

/// For every other block: a bound from below of the edges that leave `block` for it and may come before the best edge
/// of their component in `block`; infinity if there can be none.
template <class Real>
std::vector<Real> boruvka<Real>::bounds_by_rows(std::int64_t block) const {
  std::vector<Real> bounds(blocks_, infinity);
  const std::int64_t first = block * panels_.block_side, end = std::min(first + panels_.block_side, panels_.count);
  for (std::int64_t i = first; i < end; ++i) {
    if (!is_active(i)) continue;
    const Real best = best_[component_[i]].weight;
    const Real* least = table_.least.data() + i * table_.groups;
    const Real* scanned = tile_bound_.data() + block * blocks_;
    for (std::int64_t other = 0; other < blocks_; ++other) {
      const Real bound = std::max({least[other / table_.blocks_per_group], scanned[other], block_outside_[other]});
      if (bound <= best) bounds[other] = std::min(bounds[other], bound);
    }
  }
  return bounds;
}

/// bounds_by_rows(block)[other].
template <class Real>
Real boruvka<Real>::bound_by_rows(std::int64_t block, std::int64_t other) const {
  Real least_bound = infinity;
  const std::int64_t first = block * panels_.block_side, end = std::min(first + panels_.block_side, panels_.count);
  for (std::int64_t i = first; i < end; ++i) {
    if (!is_active(i)) continue;
    const Real bound = std::max({table_.least[i * table_.groups + other / table_.blocks_per_group],
                                 tile_bound_[block * blocks_ + other], block_outside_[other]});
    if (bound <= best_[component_[i]].weight) least_bound = std::min(least_bound, bound);
  }
  return least_bound;
}

/// The tiles that may hold an edge that comes before a component's best one, those with the smallest bounds first.
template <class Real>
std::vector<tile_index> boruvka<Real>::useful_tiles() const {
  std::vector<std::pair<Real, std::int64_t>> order;
  for (std::int64_t i = 0; i < blocks_; ++i) {
    const std::vector<Real> bounds = bounds_by_rows(i);
    for (std::int64_t j = 0; j < blocks_; ++j)
      if (bounds[j] < infinity && !is_inside_one_component({i, j}))
        order.emplace_back(bounds[j], std::min(i, j) * blocks_ + std::max(i, j));
  }
  std::sort(order.begin(), order.end());
  std::vector<tile_index> tiles;
  std::vector<bool> is_taken(blocks_ * blocks_);
  for (const auto& [bound, number] : order) {
    if (is_taken[number]) continue;
    is_taken[number] = true;
    tiles.push_back({number / blocks_, number % blocks_});
  }
  return tiles;
}

/// Offers what the lines of a scanned tile found, and remembers it: components only grow, so what leaves one later left
/// one now, and is no lighter than the lightest edge that leaves now.
template <class Real>
void boruvka<Real>::take_lines(std::int64_t block, std::int64_t other, const Real* weight, const std::int32_t* target) {
  const std::int64_t first = block * panels_.block_side;
  const std::int64_t lines = std::min(panels_.block_side, panels_.count - first);
  for (std::int64_t l = 0; l < lines; ++l) {
    const auto point = std::int32_t(first + l);
    if (table_.blocks_per_group == 1) table_.least[point * table_.groups + other] = weight[l];
    if (target[l] < 0) continue;
    offer(component_[point], weight[l], point, target[l]);
    if (std::int64_t(found_.size()) < panels_.count) found_.push_back({weight[l], point, target[l]});
  }
  tile_bound_[block * blocks_ + other] = *std::min_element(weight, weight + lines);
}

template <class Real>
void boruvka<Real>::scan(const std::vector<tile_index>& tiles) {
  const Device& device = panels_.device();
  const auto count = std::int64_t(tiles.size()), side = panels_.block_side;
  std::vector<Real> bound(panels_.count);
  for (std::int64_t i = 0; i < panels_.count; ++i) bound[i] = best_[component_[i]].weight;
  std::vector<Real> weight(2 * count * side);
  std::vector<std::int32_t> target(2 * count * side);
  {
    const device::mirror<Real> core_there(core_, device), bound_there(bound, device);
    const device::mirror<std::int32_t> component_there(component_, device), original_there(original_, device);
    const device::mirror<tile_index> tiles_there(tiles, device);
    device::mirror_back<Real> weight_there(weight, device);
    device::mirror_back<std::int32_t> target_there(target, device);
    pairwise::lightest<Real>(
        {panels_.data.data(), panels_.dim, panels_.count, core_there.data(), component_there.data(),
         original_there.data(), bound_there.data(), tiles_there.data(), weight_there.data(), target_there.data()},
        count, device);
  }
  for (std::int64_t t = 0; t < count; ++t) {
    const Real* row_weight = weight.data() + 2 * t * side;
    const std::int32_t* row_target = target.data() + 2 * t * side;
    take_lines(tiles[t].row, tiles[t].col, row_weight, row_target);
    take_lines(tiles[t].col, tiles[t].row, row_weight + side, row_target + side);
  }
}

template <class Real>
void boruvka<Real>::offer_tile_edges(spanning_tree_counters& counters) {
  compute_block_bounds();
  const std::vector<tile_index> tiles = useful_tiles();
  const std::int64_t together = tiles_together(panels_.device());
  for (std::size_t next = 0; next < tiles.size();) {
    std::vector<tile_index> batch;
    for (; next < tiles.size() && std::int64_t(batch.size()) < together; ++next)
      if (std::min(bound_by_rows(tiles[next].row, tiles[next].col), bound_by_rows(tiles[next].col, tiles[next].row)) <
          infinity)
        batch.push_back(tiles[next]);
    if (batch.empty()) break;
    scan(batch);
    counters.tiles_scanned += std::int64_t(batch.size());
  }
}

template <class Real>
void boruvka<Real>::join_components(std::vector<packed_edge<Real>>& edges) {
  for (const packed_edge<Real>& edge : best_)
    if (edge.first >= 0 && sets_.join(edge.first, edge.second)) edges.push_back(edge);
  std::vector<std::int32_t> number(panels_.count, -1);
  std::int32_t count = 0;
  for (std::int64_t i = 0; i < panels_.count; ++i) {
    std::int32_t& of_root = number[sets_.root(i)];
    if (of_root < 0) of_root = count++;
    component_[i] = of_root;
  }
  best_.assign(count, {});
}

template <class Real>
std::vector<packed_edge<Real>> boruvka<Real>::run(spanning_tree_counters& counters, progress& report) {
  std::vector<packed_edge<Real>> edges;
  edges.reserve(panels_.count);
  for (std::int64_t before = -1; components() > 1 && components() != before; ++counters.rounds) {
    report("spanning tree", double(edges.size()) / double(panels_.count));
    before = components();
    offer_list_edges();
    offer_found_edges();
    offer_tile_edges(counters);
    join_components(edges);
  }
  report("spanning tree", 1);
  return edges;
}

template <class Real>
std::vector<packed_edge<Real>> boruvka<Real>::lightest_leaving(std::vector<std::int32_t> component,
                                                               std::int64_t components) {
  component_ = std::move(component);
  best_.assign(components, {});
  offer_list_edges();
  spanning_tree_counters counters;
  offer_tile_edges(counters);
  return std::move(best_);
}

template class boruvka<float>;
template class boruvka<double>;

}  // namespace quintet::hdbscan
