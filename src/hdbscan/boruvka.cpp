#include "hdbscan/boruvka.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "device/for_each.hpp"
#include "instantiate.hpp"

namespace quintet::hdbscan {

using pairwise::tile_index;

namespace {

// Tiles computed between two looks at the best edges. Few at first: the best edges get good early. On a device they
// must fill it. Later ones are mostly passed over.
std::int64_t tiles_together(const Device& device, std::int64_t done) {
  const std::int64_t min = device.kind() == device_kind::offload ? 1024 : 48;
  return std::max(min, done / 4);
}

std::vector<std::int32_t> inverse(const std::vector<std::int32_t>& original) {
  std::vector<std::int32_t> packed_of(std::size_t(*std::max_element(original.begin(), original.end())) + 1, -1);
  for (std::size_t i = 0; i < original.size(); ++i) packed_of[original[i]] = std::int32_t(i);
  return packed_of;
}

}  // namespace

template <class Real>
boruvka_state<Real> boruvka_memory<Real>::state(pairwise::device_neighbours<Real>& lists) {
  return {.bounds = {.count = count,
                     .side = side,
                     .blocks = blocks,
                     .outside = outside.data(),
                     .component = component.data(),
                     .best_weight = best_weight.data(),
                     .minima = lists.minima.data(),
                     .groups = lists.groups,
                     .blocks_per_group = lists.blocks_per_group,
                     .tile_bound = tile_bound.data(),
                     .block_outside = block_outside.data(),
                     .block_component = block_component.data()},
          .k = lists.k,
          .list_value = lists.value.data(),
          .list_index = lists.index.data(),
          .core = core.data(),
          .outside = outside.data(),
          .original = original.data(),
          .packed_of = packed_of.data(),
          .best_edge = best_edge.data(),
          .committed_weight = committed_weight.data(),
          .parent = parent.data(),
          .root = root.data(),
          .tree_edge = tree_edge.data(),
          .tree_weight = tree_weight.data(),
          .joined = counters.data()};
}

template <class Real>
boruvka<Real>::boruvka(const pairwise::panels<Real>& panels, pairwise::device_neighbours<Real> lists,
                       const std::vector<Real>& core, const std::vector<std::int32_t>& original,
                       const pairwise::block_tree<Real>* tree)
    : panels_(panels),
      tree_(tree),
      lists_(std::move(lists)),
      packed_of_(inverse(original)),
      memory_{.count = panels.count,
              .side = panels.block_side,
              .blocks = tree ? 0 : panels.blocks(),
              .nodes = tree ? tree->nodes() : 0,
              .core = {core, panels.device()},
              .original = {original, panels.device()},
              .packed_of = {packed_of_, panels.device()}},
      state_(memory_.state(lists_)) {
  device::fill(memory_.tile_bound, Real(0));
  device::fill(memory_.counters, std::int64_t(0));
  for_each_point(start_point<Real>{state_});
  if (tree_) tree_->for_each_node_upwards(core_of_node<Real>{state_, memory_.node_core.data()});
}

template <class Real>
template <class Function>
void boruvka<Real>::for_each_point(const Function& f) const {
  device::for_each(panels_.count, f, panels_.device());
}

template <class Real>
void boruvka<Real>::offer_lists() {
  for_each_point(reset_best<Real>{state_});
  for_each_point(offer_list<Real, true>{state_});
  for_each_point(commit_weight<Real>{state_});
  for_each_point(offer_list<Real, false>{state_});
}

/// The tiles that may hold an edge that comes before a component's best one, those with the smallest bounds first.
template <class Real>
std::vector<tile_index> boruvka<Real>::useful_tiles() {
  const std::int64_t blocks = panels_.blocks();
  device::for_each(blocks, reduce_block_bounds<Real>{state_}, panels_.device());
  device::for_each(blocks * blocks, bound_of_blocks<Real>{state_, memory_.block_bounds.data()}, panels_.device());
  const std::vector<Real> bound = memory_.block_bounds.to_vector();
  std::vector<std::pair<Real, std::int64_t>> order;
  for (std::int64_t i = 0; i < blocks; ++i)
    for (std::int64_t j = i; j < blocks; ++j) {
      const Real min = std::min(bound[i * blocks + j], bound[j * blocks + i]);
      if (min < std::numeric_limits<Real>::infinity()) order.emplace_back(min, i * blocks + j);
    }
  std::sort(order.begin(), order.end());
  std::vector<tile_index> tiles(order.size());
  for (std::size_t t = 0; t < order.size(); ++t) tiles[t] = {order[t].second / blocks, order[t].second % blocks};
  return tiles;
}

template <class Real>
void boruvka<Real>::scan(const std::vector<tile_index>& tiles) {
  const auto count = std::int64_t(tiles.size()), lines = 2 * count * panels_.block_side;
  const Buffer<tile_index> there(tiles, panels_.device());
  Buffer<Real> weight(lines, panels_.device());
  Buffer<std::int32_t> target(lines, panels_.device());
  pairwise::lightest<Real>({panels_.data.data(),
                            panels_.dim,
                            {panels_.factor.data(), panels_.factor.data()},
                            memory_.core.data(),
                            memory_.original.data(),
                            state_.bounds,
                            there.data(),
                            weight.data(),
                            target.data(),
                            memory_.counters.data() + 1},
                           count, panels_.device());
  device::for_each(lines, offer_line<Real, true>{state_, there.data(), weight.data(), target.data()}, panels_.device());
  for_each_point(commit_weight<Real>{state_});
  device::for_each(lines, offer_line<Real, false>{state_, there.data(), weight.data(), target.data()},
                   panels_.device());
}

template <class Real>
void boruvka<Real>::offer_tiles() {
  const std::vector<tile_index> tiles = useful_tiles();
  for (std::int64_t done = 0; done < std::int64_t(tiles.size());) {
    const std::int64_t end = std::min<std::int64_t>(done + tiles_together(panels_.device(), done), tiles.size());
    scan({tiles.begin() + done, tiles.begin() + end});
    done = end;
  }
}

/// Every point looks for the lightest edge that leaves its component; the tree passes over what cannot be of use.
template <class Real>
void boruvka<Real>::offer_leaves() {
  tree_->for_each_node_upwards(component_of_node<Real>{state_, memory_.node_component.data()});
  pairwise::lightest<Real>(
      {tree_->view(), memory_.core.data(), memory_.original.data(), memory_.outside.data(), memory_.component.data(),
       memory_.node_component.data(), memory_.node_core.data(), memory_.best_weight.data(), memory_.found_weight.data(),
       memory_.found_target.data(), memory_.counters.data() + 1},
      panels_.device());
  for_each_point(commit_weight<Real>{state_});
  for_each_point(offer_found<Real>{state_, memory_.found_weight.data(), memory_.found_target.data()});
  for_each_point(sharpen_outside<Real>{state_, memory_.found_weight.data()});
}

template <class Real>
void boruvka<Real>::offer_others() {
  if (tree_)
    offer_leaves();
  else
    offer_tiles();
}

template <class Real>
void boruvka<Real>::join_components() {
  for_each_point(follow_best_edge<Real>{state_});
  for_each_point(join_parent<Real>{state_});
  for_each_point(find_component<Real>{state_});
}

template <class Real>
packed_edge<Real> boruvka<Real>::unpacked(edge_key key, Real weight) const {
  if (key == no_edge) return {};
  return {weight, packed_of_[key >> 32], packed_of_[key & 0xffffffffu]};
}

template <class Real>
std::vector<packed_edge<Real>> boruvka<Real>::tree() const {
  const std::vector<edge_key> key = memory_.tree_edge.to_vector();
  const std::vector<Real> weight = memory_.tree_weight.to_vector();
  std::vector<packed_edge<Real>> edges;
  edges.reserve(panels_.count);
  for (std::int64_t c = 0; c < panels_.count; ++c)
    if (key[c] != no_edge) edges.push_back(unpacked(key[c], weight[c]));
  return edges;
}

template <class Real>
std::vector<packed_edge<Real>> boruvka<Real>::run(spanning_tree_counters& counters, progress& report) {
  std::int64_t before = -1;
  for (std::int64_t joined = 0; joined < panels_.count - 1 && joined > before; ++counters.rounds) {
    report("spanning tree", double(joined) / double(panels_.count));
    before = joined;
    offer_lists();
    offer_others();
    join_components();
    const std::vector<std::int64_t> counted = memory_.counters.to_vector();
    joined = counted[0];
    counters.tiles_scanned = counted[1];
  }
  report("spanning tree", 1);
  return tree();
}

template <class Real>
std::vector<packed_edge<Real>> boruvka<Real>::lightest_leaving(const std::vector<std::int32_t>& component,
                                                               std::int64_t components) {
  memory_.component.copy_from_host(component.data(), memory_.component.size());
  offer_lists();
  offer_others();
  const std::vector<edge_key> key = memory_.best_edge.to_vector();
  const std::vector<weight_key<Real>> weight = memory_.best_weight.to_vector();
  std::vector<packed_edge<Real>> best(components);
  for (std::int64_t c = 0; c < components; ++c) best[c] = unpacked(key[c], pairwise::weight_of<Real>(weight[c]));
  return best;
}

#define QUINTET_INSTANTIATE(Real) template class boruvka<Real>;
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::hdbscan
