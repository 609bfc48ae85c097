#include "hdbscan/boruvka.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "device/for_each.hpp"

namespace quintet::hdbscan {

using pairwise::tile_index;

namespace {

// Tiles computed between two looks at the best edges. Few at first: the best edges get good early. On a device they
// must fill it. Later ones are mostly passed over.
std::int64_t tiles_together(const Device& device, std::int64_t done) {
  const std::int64_t least = device.kind() == device_kind::offload ? 1024 : 48;
  return std::max(least, done / 4);
}

std::vector<std::int32_t> inverse(const std::vector<std::int32_t>& original) {
  std::vector<std::int32_t> packed_of(std::size_t(*std::max_element(original.begin(), original.end())) + 1, -1);
  for (std::size_t i = 0; i < original.size(); ++i) packed_of[original[i]] = std::int32_t(i);
  return packed_of;
}

}  // namespace

template <class Real>
boruvka<Real>::boruvka(const pairwise::panels<Real>& panels, pairwise::neighbours_there<Real> lists,
                       const std::vector<Real>& core, const std::vector<std::int32_t>& original,
                       const pairwise::block_tree<Real>* tree)
    : panels_(panels),
      tree_(tree),
      device_(panels.device()),
      lists_(std::move(lists)),
      packed_of_(inverse(original)),
      core_(core, device_),
      outside_(panels.count, device_),
      tree_weight_(panels.count, device_),
      tile_bound_(tree ? 0 : panels.blocks() * panels.blocks(), device_),
      block_outside_(tree ? 0 : panels.blocks(), device_),
      block_bounds_(tree ? 0 : panels.blocks() * panels.blocks(), device_),
      original_(original, device_),
      packed_of_there_(packed_of_, device_),
      component_(panels.count, device_),
      parent_(panels.count, device_),
      root_(panels.count, device_),
      block_component_(tree ? 0 : panels.blocks(), device_),
      best_weight_(panels.count, device_),
      settled_weight_(panels.count, device_),
      best_edge_(panels.count, device_),
      tree_edge_(panels.count, device_),
      found_weight_(tree ? panels.count : 0, device_),
      node_core_(tree ? tree->nodes() : 0, device_),
      found_target_(tree ? panels.count : 0, device_),
      node_component_(tree ? tree->nodes() : 0, device_),
      counters_(2, device_) {
  state_.bounds = {panels.count,        panels.block_side,     panels.blocks(),
                   outside_.data(),     component_.data(),     best_weight_.data(),
                   lists_.least.data(), lists_.groups,         lists_.blocks_per_group,
                   tile_bound_.data(),  block_outside_.data(), block_component_.data()};
  state_.k = lists_.k;
  state_.list_value = lists_.value.data();
  state_.list_index = lists_.index.data();
  state_.core = core_.data();
  state_.outside = outside_.data();
  state_.original = original_.data();
  state_.packed_of = packed_of_there_.data();
  state_.best_edge = best_edge_.data();
  state_.settled_weight = settled_weight_.data();
  state_.parent = parent_.data();
  state_.root = root_.data();
  state_.tree_edge = tree_edge_.data();
  state_.tree_weight = tree_weight_.data();
  state_.joined = counters_.data();
  device::fill(tile_bound_, Real(0));
  device::fill(counters_, std::int64_t(0));
  for_each_point(start_point<Real>{state_});
  if (tree_) tree_->for_each_node_upwards(core_of_node<Real>{state_, node_core_.data()});
}

template <class Real>
template <class Function>
void boruvka<Real>::for_each_point(const Function& f) const {
  device::for_each(panels_.count, f, device_);
}

template <class Real>
void boruvka<Real>::offer_lists() {
  for_each_point(forget_best<Real>{state_});
  for_each_point(offer_list<Real, true>{state_});
  for_each_point(settle_weight<Real>{state_});
  for_each_point(offer_list<Real, false>{state_});
}

/// The tiles that may hold an edge that comes before a component's best one, those with the smallest bounds first.
template <class Real>
std::vector<tile_index> boruvka<Real>::useful_tiles() {
  const std::int64_t blocks = panels_.blocks();
  device::for_each(blocks, look_at_block<Real>{state_}, device_);
  device::for_each(blocks * blocks, bound_of_blocks<Real>{state_, block_bounds_.data()}, device_);
  const std::vector<Real> bound = block_bounds_.to_vector();
  std::vector<std::pair<Real, std::int64_t>> order;
  for (std::int64_t i = 0; i < blocks; ++i)
    for (std::int64_t j = i; j < blocks; ++j) {
      const Real least = std::min(bound[i * blocks + j], bound[j * blocks + i]);
      if (least < std::numeric_limits<Real>::infinity()) order.emplace_back(least, i * blocks + j);
    }
  std::sort(order.begin(), order.end());
  std::vector<tile_index> tiles(order.size());
  for (std::size_t t = 0; t < order.size(); ++t) tiles[t] = {order[t].second / blocks, order[t].second % blocks};
  return tiles;
}

template <class Real>
void boruvka<Real>::scan(const std::vector<tile_index>& tiles) {
  const auto count = std::int64_t(tiles.size()), lines = 2 * count * panels_.block_side;
  const Buffer<tile_index> there(tiles, device_);
  Buffer<Real> weight(lines, device_);
  Buffer<std::int32_t> target(lines, device_);
  pairwise::lightest<Real>({panels_.data.data(),
                            panels_.dim,
                            {panels_.factor.data(), panels_.factor.data()},
                            core_.data(),
                            original_.data(),
                            state_.bounds,
                            there.data(),
                            weight.data(),
                            target.data(),
                            counters_.data() + 1},
                           count, device_);
  device::for_each(lines, offer_line<Real, true>{state_, there.data(), weight.data(), target.data()}, device_);
  for_each_point(settle_weight<Real>{state_});
  device::for_each(lines, offer_line<Real, false>{state_, there.data(), weight.data(), target.data()}, device_);
}

template <class Real>
void boruvka<Real>::offer_tiles() {
  const std::vector<tile_index> tiles = useful_tiles();
  for (std::int64_t done = 0; done < std::int64_t(tiles.size());) {
    const std::int64_t end = std::min<std::int64_t>(done + tiles_together(device_, done), tiles.size());
    scan({tiles.begin() + done, tiles.begin() + end});
    done = end;
  }
}

/// Every point looks for the lightest edge that leaves its component; the tree passes over what cannot be of use.
template <class Real>
void boruvka<Real>::offer_leaves() {
  tree_->for_each_node_upwards(component_of_node<Real>{state_, node_component_.data()});
  pairwise::lightest<Real>(
      {tree_->view(), core_.data(), original_.data(), outside_.data(), component_.data(), node_component_.data(),
       node_core_.data(), best_weight_.data(), found_weight_.data(), found_target_.data(), counters_.data() + 1},
      device_);
  for_each_point(settle_weight<Real>{state_});
  for_each_point(offer_found<Real>{state_, found_weight_.data(), found_target_.data()});
  for_each_point(sharpen_outside<Real>{state_, found_weight_.data()});
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
  const std::vector<edge_key> key = tree_edge_.to_vector();
  const std::vector<Real> weight = tree_weight_.to_vector();
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
    const std::vector<std::int64_t> counted = counters_.to_vector();
    joined = counted[0];
    counters.tiles_scanned = counted[1];
  }
  report("spanning tree", 1);
  return tree();
}

template <class Real>
std::vector<packed_edge<Real>> boruvka<Real>::lightest_leaving(const std::vector<std::int32_t>& component,
                                                               std::int64_t components) {
  component_.copy_from_host(component.data(), component_.size());
  offer_lists();
  offer_others();
  const std::vector<edge_key> key = best_edge_.to_vector();
  const std::vector<weight_key<Real>> weight = best_weight_.to_vector();
  std::vector<packed_edge<Real>> best(components);
  for (std::int64_t c = 0; c < components; ++c) best[c] = unpacked(key[c], pairwise::weight_of<Real>(weight[c]));
  return best;
}

template class boruvka<float>;
template class boruvka<double>;

}  // namespace quintet::hdbscan
