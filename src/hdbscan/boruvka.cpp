#include "hdbscan/boruvka.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "device/for_each.hpp"
#include "instantiate.hpp"

namespace quintet::hdbscan {

using pairwise::tile_index;

namespace {

// Tiles that are listed at a time: 128 MiB of lists at most.
constexpr std::int64_t max_listed = std::int64_t(1) << 22;

std::vector<std::int32_t> inverse(const std::vector<std::int32_t>& original) {
  std::vector<std::int32_t> packed_of(std::size_t(*std::max_element(original.begin(), original.end())) + 1, -1);
  for (std::size_t i = 0; i < original.size(); ++i) packed_of[original[i]] = std::int32_t(i);
  return packed_of;
}

std::vector<std::int32_t> places(std::int64_t blocks, const std::vector<std::int32_t>& block_at) {
  std::vector<std::int32_t> place(blocks, -1);
  for (std::size_t at = 0; at < block_at.size(); ++at) place[block_at[at]] = std::int32_t(at);
  return place;
}

std::vector<std::int32_t> concatenated(std::vector<std::int32_t> first, const std::vector<std::int32_t>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

edge_record<float> record_of(weight_key<float> weight, edge_key ends, float) {
  constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();
  if (ends == no_edge) return {none, none, none};
  return {std::int32_t(weight), std::int32_t(ends >> 32), std::int32_t(ends & 0xffffffffu)};
}
edge_record<double> record_of(weight_key<double> weight, edge_key ends, double) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  if (ends == no_edge) return {none, none};
  return {std::int64_t(weight), std::int64_t(ends)};
}
edge_key ends_of(const edge_record<float>& e) {
  return e.u == std::numeric_limits<std::int32_t>::max() ? no_edge
                                                         : edge_key(std::uint32_t(e.u)) << 32 | std::uint32_t(e.v);
}
edge_key ends_of(const edge_record<double>& e) {
  return e.ends == std::numeric_limits<std::int64_t>::max() ? no_edge : edge_key(e.ends);
}

}  // namespace

template <class Real>
Real weight_of(const edge_record<Real>& e) {
  return ends_of(e) == no_edge ? std::numeric_limits<Real>::infinity()
                               : pairwise::weight_of<Real>(weight_key<Real>(e.weight));
}

template <class Real>
boruvka_state<Real> boruvka_memory<Real>::state(pairwise::device_neighbours<Real>& lists) {
  return {.bounds = {.count = count,
                     .side = side,
                     .blocks = blocks,
                     .outside = outside.data(),
                     .component = component.data(),
                     .best_weight = best_weight.data(),
                     .block_outside = block_outside.data(),
                     .block_component = block_component.data(),
                     .place = place.data(),
                     .block_at = block_at.data(),
                     .own = own,
                     .places = places,
                     .minima = lists.minima.data(),
                     .groups = lists.groups,
                     .blocks_per_group = lists.blocks_per_group,
                     .tile_bound = tile_bound.data(),
                     .first_tile = 0},
          .k = lists.k,
          .list_value = lists.value.data(),
          .list_index = lists.index.data(),
          .list_first = list_first.data(),
          .list_point = list_point.data(),
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
std::vector<Real> lower_bounds_outside_list(const std::vector<Real>& core, const std::vector<Real>& last, int k,
                                            std::int64_t count) {
  std::vector<Real> outside(core.size(), std::numeric_limits<Real>::infinity());
  if (k < count - 1)
    for (std::size_t i = 0; i < outside.size(); ++i) outside[i] = core[i] > last[i] ? core[i] : last[i];
  return outside;
}

template <class Real>
boruvka<Real>::boruvka(const pairwise::panels<Real>& panels, pairwise::device_neighbours<Real> lists,
                       const std::vector<Real>& core, const std::vector<Real>& outside,
                       const std::vector<std::int32_t>& original, rank_part<Real> part,
                       const pairwise::block_tree<Real>* tree, const bound_limits& limits)
    : panels_(panels),
      tree_(tree),
      lists_(std::move(lists)),
      packed_of_(inverse(original)),
      part_(std::move(part)),
      memory_{.count = std::int64_t(core.size()),
              .side = panels.block_side,
              .blocks = tree ? 0 : (std::int64_t(core.size()) + panels.block_side - 1) / panels.block_side,
              .own = tree ? 0 : panels.blocks(),
              .places = tree ? 0 : panels.blocks() + std::int64_t(part_.visitors.size()),
              .nodes = tree ? tree->nodes() : 0,
              .strips = {tree ? 0 : panels.blocks(), tree ? 0 : panels.blocks() + std::int64_t(part_.visitors.size()),
                         sizeof(Real), limits},
              .core = {core, panels.device()},
              .original = {original, panels.device()},
              .packed_of = {packed_of_, panels.device()},
              .outside = {outside, panels.device()},
              .place = {},
              .block_at = {},
              .list_point = {},
              .own_leaf = {}} {
  if (!part_.is_whole) memory_.list_point = {part_.list_point, panels.device()};
  if (!part_.is_whole && tree) memory_.own_leaf = {part_.own, panels.device()};
  if (!part_.is_whole && !tree) {
    const std::vector<std::int32_t> block_at = concatenated(part_.own, part_.visitors);
    memory_.place = {places(memory_.blocks, block_at), panels.device()};
    memory_.block_at = {block_at, panels.device()};
  }
  memory_.list_first = Buffer<std::int32_t>(lists_.rows, panels.device());
  state_ = memory_.state(lists_);
  state_.bounds.visiting_minima = part_.visiting_minima.data();
  state_.bounds.visiting_groups = part_.visiting_groups;
  state_.bounds.visiting_blocks_per_group = part_.visiting_blocks_per_group;
  state_.bounds.shared_row = part_.shared_row;
  state_.bounds.shared_place = part_.shared_place;
  device::fill(memory_.cell_bound, Real(0));
  device::fill(memory_.counters, std::int64_t(0));
  device::fill(memory_.list_first, std::int32_t(0));
  for_each_point(start_point<Real>{state_});
  if (tree_) tree_->for_each_node_upwards(core_of_node<Real>{state_, memory_.node_core.data()});
}

template <class Real>
template <class Function>
void boruvka<Real>::for_each_point(const Function& f) const {
  device::for_each(memory_.count, f, panels_.device());
}

template <class Real>
template <class Weights, class Edges>
void boruvka<Real>::relax_lists_by(const Weights& weights, const Edges& edges) {
  device::for_each(lists_.rows, weights, panels_.device());
  for_each_point(commit_weight<Real>{state_});
  device::for_each(lists_.rows, edges, panels_.device());
}

template <class Real>
void boruvka<Real>::relax_lists() {
  for_each_point(reset_best<Real>{state_});
  if (tree_) {
    Real* const lightest = memory_.found_weight.data();
    relax_lists_by(relax_own_list<Real, true>{state_, lightest}, relax_own_list<Real, false>{state_, lightest});
  } else {
    relax_lists_by(relax_list<Real, true>{state_}, relax_list<Real, false>{state_});
  }
}

template <class Real>
cell_bounds<Real> boruvka<Real>::cells() {
  return {memory_.cell_bound.data(), memory_.strips.cell_side(), memory_.strips.cell_places()};
}

template <class Real>
void boruvka<Real>::find_useful_tiles(bool first_only) {
  device::for_each(memory_.blocks, reduce_block_bounds<Real>{state_}, panels_.device());
  // The bounds of the only strip are still there.
  is_again_ = first_only_ && !first_only && memory_.strips.count() == 1;
  first_only_ = first_only;
  strip_ = 0;
  is_in_strip_ = false;
}

/// Bounds of the next strip's tiles; false if there is none.
template <class Real>
bool boruvka<Real>::begin_strip() {
  const tile_strips& strips = memory_.strips;
  if (strip_ == strips.count()) return false;
  is_in_strip_ = true;
  state_.bounds.first_tile = strips.first_tile(strip_);
  const std::int64_t first = strips.first_row(strip_), tiles = strips.tiles(strip_);
  device::for_each(strips.rows(strip_) * memory_.places,
                   bound_of_blocks<Real>{state_, cells(), first, memory_.useful_bound.data(), is_again_},
                   panels_.device());
  const Real* bounds = memory_.useful_bound.data();
  if (!panels_.device().shares_host_memory()) {
    bounds_.resize(tiles);
    memory_.useful_bound.copy_to_host(bounds_.data(), tiles);
    bounds = bounds_.data();
  }
  waves_.emplace(bounds, tiles, max_listed);
  return true;
}

/// Its cells know what was found.
template <class Real>
void boruvka<Real>::end_strip() {
  const tile_strips& strips = memory_.strips;
  const std::int64_t first = strips.first_row(strip_), rows = strips.rows(strip_), side = strips.cell_side();
  device::for_each((rows + side - 1) / side * strips.cell_places(),
                   bound_of_cells<Real>{state_, cells(), first, first + rows}, panels_.device());
  ++strip_;
  is_in_strip_ = false;
}

template <class Real>
std::vector<tile_index> boruvka<Real>::useful_tiles() {
  std::vector<std::int64_t> positions;
  while (is_in_strip_ || begin_strip()) {
    if (waves_) positions = waves_->next();
    if (!positions.empty()) break;
    end_strip();
  }
  if (first_only_ && !positions.empty()) {
    positions.resize(std::min(positions.size(), std::max<std::size_t>(256, positions.size() / 8)));
    waves_.reset();
  }
  std::vector<tile_index> tiles(positions.size());
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    const tile_index at = pairwise::tile_at_position(memory_.places, state_.bounds.first_tile + positions[t]);
    tiles[t] = part_.is_whole
                   ? at
                   : tile_index{part_.own[at.row],
                                at.col < memory_.own ? part_.own[at.col] : part_.visitors[at.col - memory_.own]};
  }
  return tiles;
}

template <class Real>
void boruvka<Real>::scan(const std::vector<tile_index>& tiles, const visiting_panels<Real>* visitors) {
  const auto count = std::int64_t(tiles.size()), lines = 2 * count * panels_.block_side;
  const Buffer<tile_index> device_tiles(tiles, panels_.device());
  const Buffer<std::int32_t> visiting_panel(visitors ? visitors->panel : std::vector<std::int32_t>{}, panels_.device());
  pairwise::dot_bounds filter;
  if (filter_ && !visitors) filter = pairwise::rounded_points::between(*filter_, *filter_);
  Buffer<Real> weight(lines, panels_.device());
  Buffer<std::int32_t> target(lines, panels_.device());
  pairwise::lightest<Real>({panels_.data.data(),
                            panels_.dim,
                            {panels_.factor.data(), panels_.factor.data()},
                            memory_.core.data(),
                            memory_.original.data(),
                            state_.bounds,
                            device_tiles.data(),
                            weight.data(),
                            target.data(),
                            memory_.counters.data() + 1,
                            visiting_panel.data(),
                            visitors ? visitors->data.data() : nullptr,
                            visitors ? visitors->factor.data() : nullptr,
                            panels_.term,
                            filter,
                            filter_ ? filter_->pairs() : 0},
                           count, panels_.device());
  device::for_each(lines, relax_line<Real, true>{state_, device_tiles.data(), weight.data(), target.data()},
                   panels_.device());
  for_each_point(commit_weight<Real>{state_});
  device::for_each(lines, relax_line<Real, false>{state_, device_tiles.data(), weight.data(), target.data()},
                   panels_.device());
}

// Few at first: the best edges get good early. On a device they must fill it. Later ones are mostly passed over.
template <class Real>
std::int64_t boruvka<Real>::tiles_per_scan(std::int64_t scanned) const {
  const std::int64_t min = panels_.device().kind() == device_kind::offload ? 1024 : 48;
  return std::max(min, scanned / 4);
}

template <class Real>
int boruvka<Real>::tile_passes() const {
  if (tree_) return 0;
  return !part_.is_whole || memory_.strips.count() > 1 ? 2 : 1;
}

/// Every point looks for the lightest edge that leaves its component; the tree passes over what cannot be of use.
template <class Real>
void boruvka<Real>::relax_leaves() {
  tree_->for_each_node_upwards(component_of_node<Real>{state_, memory_.node_component.data()});
  pairwise::lightest<Real>(
      {tree_->view(), memory_.core.data(), memory_.original.data(), memory_.outside.data(), memory_.component.data(),
       memory_.node_component.data(), memory_.node_core.data(), memory_.best_weight.data(), memory_.found_weight.data(),
       memory_.found_target.data(), memory_.own_leaf.data(), memory_.counters.data() + 1},
      part_.is_whole ? tree_->leaves() : memory_.own_leaf.size(), panels_.device());
  for_each_point(commit_weight<Real>{state_});
  device::for_each(lists_.rows, relax_found<Real>{state_, memory_.found_weight.data(), memory_.found_target.data()},
                   panels_.device());
  device::for_each(lists_.rows, sharpen_outside<Real>{state_, memory_.found_weight.data()}, panels_.device());
}

template <class Real>
std::int64_t boruvka<Real>::join_components() {
  for_each_point(follow_best_edge<Real>{state_});
  for_each_point(join_parent<Real>{state_});
  while (jump_to_roots() > 0) {
  }
  for_each_point(take_root<Real>{state_});
  return joined_ = memory_.counters.to_vector()[0];
}

/// Returns the number of components that are not at their roots yet.
template <class Real>
std::int64_t boruvka<Real>::jump_to_roots() {
  device::fill(memory_.below_roots, std::int64_t(0));
  for_each_point(jump_to_root<Real>{state_, state_.parent, memory_.below_roots.data()});
  std::swap(state_.root, state_.parent);
  return memory_.below_roots.to_vector()[0];
}

template <class Real>
std::vector<edge_record<Real>> boruvka<Real>::best() const {
  const std::vector<std::int32_t> component = memory_.component.to_vector();
  const std::vector<edge_key> key = memory_.best_edge.to_vector();
  const std::vector<weight_key<Real>> weight = memory_.best_weight.to_vector();
  std::vector<edge_record<Real>> best;
  for (std::int64_t c = 0; c < memory_.count; ++c)
    if (component[c] == c) best.push_back(record_of(weight[c], key[c], Real()));
  return best;
}

template <class Real>
void boruvka<Real>::take_best(const std::vector<edge_record<Real>>& best) {
  const std::vector<std::int32_t> component = memory_.component.to_vector();
  std::vector<edge_key> key(memory_.count, no_edge);
  std::vector<weight_key<Real>> weight(memory_.count, pairwise::no_weight<Real>);
  auto next = best.begin();
  for (std::int64_t c = 0; c < memory_.count; ++c) {
    if (component[c] != c) continue;
    key[c] = ends_of(*next);
    if (key[c] != no_edge) weight[c] = weight_key<Real>(next->weight);
    ++next;
  }
  memory_.best_edge.copy_from_host(key.data(), memory_.count);
  memory_.best_weight.copy_from_host(weight.data(), memory_.count);
  memory_.committed_weight.copy_from_host(weight.data(), memory_.count);
}

template <class Real>
std::vector<packed_edge<Real>> boruvka<Real>::tree() const {
  const std::vector<edge_key> key = memory_.tree_edge.to_vector();
  const std::vector<Real> weight = memory_.tree_weight.to_vector();
  std::vector<packed_edge<Real>> edges;
  edges.reserve(memory_.count);
  for (std::int64_t c = 0; c < memory_.count; ++c)
    if (key[c] != no_edge) edges.push_back({weight[c], packed_of_[key[c] >> 32], packed_of_[key[c] & 0xffffffffu]});
  return edges;
}

template <class Real>
round_state<Real> boruvka<Real>::state() const {
  return {memory_.component.to_vector(), memory_.tree_edge.to_vector(), memory_.tree_weight.to_vector(), joined_};
}

template <class Real>
void boruvka<Real>::restore(const round_state<Real>& state) {
  device::fill(memory_.list_first, std::int32_t(0));
  memory_.component.copy_from_host(state.component.data(), memory_.count);
  memory_.tree_edge.copy_from_host(state.tree_edge.data(), memory_.count);
  memory_.tree_weight.copy_from_host(state.tree_weight.data(), memory_.count);
  memory_.counters.copy_from_host(&state.joined, 1);
  joined_ = state.joined;
}

#define QUINTET_INSTANTIATE(Real)                                                                               \
  template class boruvka<Real>;                                                                                 \
  template Real weight_of(const edge_record<Real>&);                                                            \
  template std::vector<Real> lower_bounds_outside_list(const std::vector<Real>&, const std::vector<Real>&, int, \
                                                       std::int64_t);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::hdbscan
