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
      tile_bound_(table_.tile_least),
      outside_(panels.count),
      sets_(panels.count),
      component_(panels.count),
      best_(panels.count),
      bounds_(blocks_) {
  for (std::int64_t i = 0; i < panels.count; ++i) {
    component_[i] = std::int32_t(i);
    const bool is_complete = table_.k >= panels.count - 1;
    outside_[i] = is_complete ? std::numeric_limits<Real>::infinity() : std::max(core_[i], table_.farthest(i));
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

template <class Real>
void boruvka<Real>::compute_block_bounds() {
  for (std::int64_t block = 0; block < blocks_; ++block) {
    const std::int64_t first = block * panels_.block_side, end = std::min(first + panels_.block_side, panels_.count);
    block_bounds bounds{-std::numeric_limits<Real>::infinity(), std::numeric_limits<Real>::infinity(),
                        component_[first]};
    for (std::int64_t i = first; i < end; ++i) {
      const Real bound = best_[component_[i]].weight;
      // Equality counts: an edge outside the list may come earlier in the order.
      if (outside_[i] <= bound) bounds.most_useful = std::max(bounds.most_useful, bound);
      bounds.least_outside = std::min(bounds.least_outside, outside_[i]);
      if (component_[i] != bounds.only_component) bounds.only_component = -1;
    }
    bounds_[block] = bounds;
  }
}

/// No edge in the tile that leaves a component, and is in no list of its ends, is lighter.
template <class Real>
Real boruvka<Real>::tile_bound(tile_index tile) const {
  return std::max({tile_bound_[pairwise::triangle_position(blocks_, tile.row, tile.col)],
                   bounds_[tile.row].least_outside, bounds_[tile.col].least_outside});
}

/// Whether the tile may hold an edge that comes before a component's best one.
template <class Real>
bool boruvka<Real>::is_useful(tile_index tile) const {
  const block_bounds &row = bounds_[tile.row], &col = bounds_[tile.col];
  if (row.only_component >= 0 && row.only_component == col.only_component) return false;
  return tile_bound(tile) <= std::max(row.most_useful, col.most_useful);
}

/// The useful tiles, those with the smallest bounds first.
template <class Real>
std::vector<tile_index> boruvka<Real>::useful_tiles() const {
  std::vector<std::pair<Real, std::int64_t>> order;
  for (std::int64_t i = 0; i < blocks_; ++i)
    for (std::int64_t j = i; j < blocks_; ++j)
      if (is_useful({i, j})) order.emplace_back(tile_bound({i, j}), i * blocks_ + j);
  std::sort(order.begin(), order.end());
  std::vector<tile_index> tiles(order.size());
  for (std::size_t t = 0; t < order.size(); ++t) tiles[t] = {order[t].second / blocks_, order[t].second % blocks_};
  return tiles;
}

/// Offers what the lines of a scanned tile found.
template <class Real>
void boruvka<Real>::take_lines(std::int64_t block, const Real* weight, const std::int32_t* target) {
  const std::int64_t first = block * panels_.block_side;
  const std::int64_t lines = std::min(panels_.block_side, panels_.count - first);
  for (std::int64_t l = 0; l < lines; ++l)
    if (target[l] >= 0) offer(component_[first + l], weight[l], std::int32_t(first + l), target[l]);
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
    take_lines(tiles[t].row, row_weight, row_target);
    take_lines(tiles[t].col, row_weight + side, row_target + side);
    // Components only grow: what leaves one later left one now.
    const std::int64_t rows = std::min(side, panels_.count - tiles[t].row * side);
    tile_bound_[pairwise::triangle_position(blocks_, tiles[t].row, tiles[t].col)] =
        *std::min_element(row_weight, row_weight + rows);
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
      if (is_useful(tiles[next])) batch.push_back(tiles[next]);
    if (batch.empty()) break;
    scan(batch);
    counters.tiles_scanned += std::int64_t(batch.size());
    compute_block_bounds();
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
    offer_tile_edges(counters);
    join_components(edges);
  }
  report("spanning tree", 1);
  return edges;
}

template class boruvka<float>;
template class boruvka<double>;

}  // namespace quintet::hdbscan
