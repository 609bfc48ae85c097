#include <algorithm>
#include <limits>
#include <memory>

#include "core/seconds.hpp"
#include "device/staged.hpp"
#include "hdbscan/checks.hpp"
#include "hdbscan/spanning_tree_parts.hpp"
#include "instantiate.hpp"
#include "mpi/checkpoint.hpp"
#include "mpi/dealt_points.hpp"
#include "mpi/list_ring.hpp"
#include "mpi/rounds.hpp"
#include "mpi/shared_rows.hpp"
#include "pairwise/pairs.hpp"
#include "quintet/mpi/hdbscan.hpp"

namespace quintet::mpi {

using quintet::hdbscan::edge, quintet::hdbscan::spanning_tree_options, quintet::hdbscan::spanning_tree_result;
namespace clustering = quintet::hdbscan;

namespace {

/// Values of the own points, as they are packed, become values of all points by position.
template <class Real>
std::vector<Real> by_position(communicator& ranks, const std::vector<Real>& own, const deal& dealt,
                              std::int64_t points) {
  const std::vector<Real> all = ranks.allgather(std::span<const Real>(own));
  std::vector<Real> values;
  ranks.together([&] {
    values.resize(points);
    auto next = all.begin();
    for (int rank = 0; rank < ranks.size(); ++rank)
      for (const std::int32_t position : dealt.positions_of(rank)) values[position] = *next++;
  });
  return values;
}

/// The blocks that a rank's own ones meet, in the order of their places.
std::vector<std::int32_t> visitors_of(const ring_plan& plan, const deal& dealt, int rank) {
  std::vector<std::int32_t> blocks;
  for (const ring_visit& visit : plan.visits(rank)) {
    const auto first = dealt.blocks_of(visit.source).begin() + visit.visiting.first;
    blocks.insert(blocks.end(), first, first + visit.visiting.count);
  }
  return blocks;
}

/// Tiles of own blocks and visitors that the visitors' rank looks at.
std::vector<std::int64_t> tiles_elsewhere(const ring_plan& plan, int rank) {
  std::int64_t places = plan.part(rank).blocks;
  for (const ring_visit& visit : plan.visits(rank)) places += visit.visiting.count;
  std::vector<std::int64_t> tiles;
  for (const ring_visit& visit : plan.visits(rank))
    for (std::int64_t own = visit.own.count; own < plan.part(rank).blocks; ++own)
      for (std::int64_t other = 0; other < visit.visiting.count; ++other)
        tiles.push_back(pairwise::triangle_position(places, own, visit.first_place + other));
  return tiles;
}

/// Weights of edges for alpha != 1: the owner of u measures the pair. The other end's coordinates travel.
template <class Storage>
void measure_pairs(communicator& ranks, const shared_points<Storage>& points, double alpha,
                   const std::vector<double>& core, const Device& device, std::vector<edge>& edges) {
  using Real = accumulator_t<Storage>;
  const row_spread& spread = points.spread();
  const std::int64_t first = points.first_row(), end = first + points.rows().rows(), dim = points.dim();
  const auto is_own = [&](std::int64_t row) { return row >= first && row < end; };
  // Ends that others have, each once; and who has them.
  std::vector<std::int32_t> foreign;
  std::vector<std::int64_t> counts(ranks.size(), 0);
  ranks.together([&] {
    for (const edge& e : edges)
      if (is_own(e.u) && !is_own(e.v)) foreign.push_back(std::int32_t(e.v));
    std::sort(foreign.begin(), foreign.end());
    foreign.erase(std::unique(foreign.begin(), foreign.end()), foreign.end());
    for (const std::int32_t row : foreign) ++counts[spread.rank_of(row)];
  });
  std::vector<std::int64_t> asked;
  std::vector<std::int32_t> wanted = ranks.alltoallv(std::span<const std::int32_t>(foreign), counts, &asked);
  std::vector<Storage> send;
  ranks.together([&] {
    for (std::int32_t& row : wanted) row -= std::int32_t(first);
    send = points.coordinates(wanted);
  });
  for (std::int64_t& count : asked) count *= dim;
  const std::vector<Storage> came = ranks.alltoallv(std::span<const Storage>(send), asked);
  std::vector<Real> mine;
  ranks.together([&] {
    // Own rows and those that came, one after another.
    std::vector<std::int32_t> own_rows(points.rows().rows());
    for (std::size_t i = 0; i < own_rows.size(); ++i) own_rows[i] = std::int32_t(i);
    std::vector<Storage> together = points.coordinates(own_rows);
    together.insert(together.end(), came.begin(), came.end());
    const auto scanned = points.scan(together);
    std::vector<std::int64_t> pairs;
    for (const edge& e : edges) {
      if (!is_own(e.u)) continue;
      const std::int64_t v =
          is_own(e.v) ? e.v - first
                      : end - first + (std::lower_bound(foreign.begin(), foreign.end(), e.v) - foreign.begin());
      pairs.insert(pairs.end(), {e.u - first, v});
    }
    const Buffer<std::int64_t> there(pairs, device);
    Buffer<Real> values(std::int64_t(pairs.size()) / 2, device);
    pairwise::reduced_pairs<Storage>(*scanned, {there.data(), values.size(), 2}, values.data());
    mine = values.to_vector();
  });
  const std::vector<Real> reduced = ranks.allgather(std::span<const Real>(mine));
  ranks.together([&] {
    // Ranks have their edges in one order.
    std::vector<std::int64_t> next(ranks.size() + 1, 0);
    for (const edge& e : edges) ++next[spread.rank_of(e.u) + 1];
    for (int rank = 0; rank < ranks.size(); ++rank) next[rank + 1] += next[rank];
    for (edge& e : edges)
      e.weight =
          clustering::edge_weight(core[e.u], core[e.v], reduced[next[spread.rank_of(e.u)]++], alpha, points.measure());
  });
}

std::string options_text(const spanning_tree_options& o) {
  return text("min_samples=", o.min_samples, " count_self=", o.count_self, " metric=", to_string(o.distance),
              " alpha=", o.alpha);
}

/// What a checkpoint has to agree with: everything that lists and rounds follow from.
template <class Storage>
std::string identity_of(communicator& ranks, const shared_points<Storage>& points,
                        const std::vector<std::int32_t>& order, const spanning_tree_options& options,
                        std::int64_t side) {
  std::uint64_t mine = 0;
  ranks.together([&] {
    const matrix_view<const Storage>& rows = points.rows();
    for (std::int64_t i = 0; i < rows.rows(); ++i) {
      const std::int64_t row = points.first_row() + i;
      mine += hash_bytes(rows.data() + i * rows.stride(), std::size_t(rows.cols()) * sizeof(Storage),
                         hash_bytes(&row, sizeof row));
    }
  });
  std::uint64_t all = 0;
  for (const std::int64_t one : ranks.allgather_counts(std::int64_t(mine))) all += std::uint64_t(one);
  return text("hdbscan 1: ", points.spread().rows(), " x ", points.dim(), " of ", sizeof(Storage), " bytes, ",
              options_text(options), ", blocks of ", side, ", rows ", all, ", order ",
              hash_bytes(order.data(), order.size() * sizeof(order[0])));
}

template <class Real>
packed_arrays packed(const pairwise::ring_lists<Real>& lists) {
  const auto all = lists.copy();
  packed_arrays arrays;
  arrays.add(all.value);
  arrays.add(all.index);
  arrays.add(all.minima);
  arrays.add(all.visiting_minima);
  return arrays;
}

/// The lists of the own points from a checkpoint. By as many ranks it has the bounds of tiles too.
template <class Real>
typename pairwise::ring_lists<Real>::contents saved_lists(communicator& ranks, const checkpoint& saved,
                                                          pairwise::ring_lists<Real>& lists, const deal& dealt,
                                                          std::int64_t points) {
  const checkpoint_state state = *saved.found();
  const std::int64_t k = lists.k(), entries = lists.own().count * k, side = lists.own().block_side;
  if (state.ranks == ranks.size()) {
    const std::string path = saved.lists_path(state, ranks.rank());
    array_reader arrays(read_checked(path), path);
    typename pairwise::ring_lists<Real>::contents all;
    all.value = arrays.take<Real>(entries);
    all.index = arrays.take<std::int32_t>(entries);
    all.minima = arrays.take<Real>(lists.minima_size());
    all.visiting_minima = arrays.take<Real>(lists.visiting_minima().size());
    return all;
  }
  for (std::int64_t rank = ranks.rank(); rank < state.ranks; rank += ranks.size())
    read_checked(saved.lists_path(state, rank));
  // Where every block was.
  const deal before(points, side, int(state.ranks));
  const std::vector<ring_part> parts = before.parts();
  std::vector<std::int64_t> place(before.blocks());
  for (int rank = 0; rank < int(state.ranks); ++rank)
    for (std::size_t at = 0; at < before.blocks_of(rank).size(); ++at)
      place[before.blocks_of(rank)[at]] = std::int64_t(at);
  typename pairwise::ring_lists<Real>::contents all;
  all.value.resize(entries);
  all.index.resize(entries);
  std::int64_t next = 0;
  for (const std::int64_t block : dealt.blocks_of(ranks.rank())) {
    const int rank = before.owner(block * side);
    const std::string path = saved.lists_path(state, rank);
    const std::int64_t count = std::min(side, points - block * side) * k, first = place[block] * side * k;
    read_part(path, first * std::int64_t(sizeof(Real)), all.value.data() + next, count * std::int64_t(sizeof(Real)));
    read_part(path, parts[rank].points * k * std::int64_t(sizeof(Real)) + first * std::int64_t(sizeof(std::int32_t)),
              all.index.data() + next, count * std::int64_t(sizeof(std::int32_t)));
    next += count;
  }
  return all;
}

template <class Real>
packed_arrays packed(const clustering::round_state<Real>& state) {
  packed_arrays arrays;
  arrays.add(&state.joined, 1);
  arrays.add(state.component);
  arrays.add(state.tree_edge);
  arrays.add(state.tree_weight);
  return arrays;
}

template <class Real>
clustering::round_state<Real> saved_rounds(const std::string& path, std::int64_t points) {
  array_reader arrays(read_checked(path), path);
  clustering::round_state<Real> state;
  state.joined = arrays.take<std::int64_t>(1)[0];
  state.component = arrays.take<std::int32_t>(points);
  state.tree_edge = arrays.take<clustering::edge_key>(points);
  state.tree_weight = arrays.take<Real>(points);
  return state;
}

template <class Storage>
spanning_tree_result tree_of(communicator& ranks, matrix_view<const Storage> rows, std::int64_t first_row,
                             const spanning_tree_options& options, const Device& given,
                             const progress_callback& callback, const checkpoint_options& how_saved) {
  using Real = accumulator_t<Storage>;
  ranks.phase("start");
  Device device;
  ranks.together([&] {
    device = device::run_device(given, {{"rows", rows}});
    clustering::check_alpha<Real>(options.alpha);
  });
  require_same_work(ranks, text(options_text(options), " bytes=", sizeof(Storage)), device);
  progress report(callback);
  const double start = seconds_now();
  ranks.phase("order");
  const shared_points<Storage> points(ranks, rows, first_row, options.distance, device);
  const std::int64_t valid = points.valid_count();
  spanning_tree_result result;
  ranks.together([&] {
    result.ran_on = {device, device, Device::host()};
    result.neighbours = clustering::neighbour_count(options, valid);
    result.clamped = clustering::is_clamped(options, result.neighbours);
    result.invalid_rows = points.invalid_rows();
    if (ranks.is_root()) {
      result.core_distances.assign(points.spread().rows(), 0);
      for (const std::int64_t i : result.invalid_rows)
        result.core_distances[i] = std::numeric_limits<double>::quiet_NaN();
    }
  });
  if (valid < 2) return result;

  ranks.together([&] { report("neighbours", 0); });
  const auto list_length = int(std::min(valid - 1, result.neighbours + clustering::spare_neighbours));
  const std::vector<std::int32_t> order = shared_order(ranks, points);
  ranks.phase("deal");
  const std::int64_t side = pairwise::tile_layout<Real>(device).block_side;
  const deal dealt(valid, side, ranks.size());
  const pairwise::panels<Real> panels = dealt_panels(ranks, points, order, dealt);

  ranks.phase("lists");
  const pairwise::list_sharing sharing = pairwise::sharing_of(device);
  const ring_plan plan(dealt.parts(), sharing);
  std::vector<std::int32_t> visitors;
  std::unique_ptr<pairwise::ring_lists<Real>> lists;
  ranks.together([&] {
    visitors = visitors_of(plan, dealt, ranks.rank());
    lists = std::make_unique<pairwise::ring_lists<Real>>(
        panels, list_length, dealt.positions_of(ranks.rank()), std::int64_t(visitors.size()),
        std::max(clustering::minima_table_bytes, panels.data.bytes() / 4), sharing);
  });
  list_ring<Real> around(ranks, *lists, plan, side, panels.dim, points.has_factors(),
                         [&](int rank) { return dealt.positions_of(rank); });
  std::string identity;
  if (!how_saved.folder.empty()) identity = identity_of(ranks, points, order, options, side);
  checkpoint saved(ranks, how_saved, identity);
  const std::optional<checkpoint_state> found = saved.found();
  if (found) ranks.together([&] { lists->restore(saved_lists(ranks, saved, *lists, dealt, valid)); });
  if (!found || found->stage == "lists") {
    const auto after_step = [&](int step) {
      ranks.together([&] { report("neighbours", double(step + 1) / double(plan.steps() + 1)); });
      if (step < plan.steps() && saved.is_due()) saved.save_lists("lists", step, [&] { return packed(*lists); });
    };
    around.run(after_step, found ? int(found->step) + 1 : 0);
    if (saved.is_on()) saved.save_lists("rounds", 0, [&] { return packed(*lists); });
  }

  ranks.phase("bounds");
  std::vector<Real> own_core(panels.count, 0), own_last;
  ranks.together([&] {
    if (panels.count == 0) return;
    if (result.neighbours > 0) own_core = pairwise::kth_value(lists->lists(), result.neighbours);
    own_last = pairwise::kth_value(lists->lists(), list_length);
  });
  const std::vector<Real> core = by_position(ranks, own_core, dealt, valid);
  const std::vector<Real> last = by_position(ranks, own_last, dealt, valid);
  const double middle = seconds_now();

  ranks.phase("rounds");
  std::unique_ptr<clustering::boruvka<Real>> rounds;
  std::vector<double> distances;
  ranks.together([&] {
    if (ranks.is_root() || options.alpha != 1) {
      distances.assign(points.spread().rows(), 0);
      for (std::int64_t i = 0; i < valid; ++i) distances[order[i]] = points.measure().distance(core[i]);
    }
    const std::vector<Real> scaled = clustering::scaled_cores(core, options.alpha, points.measure());
    clustering::rank_part<Real> part{.own = dealt.blocks_of(ranks.rank()),
                                     .visitors = visitors,
                                     .list_point = dealt.positions_of(ranks.rank()),
                                     .visiting_minima = std::move(lists->visiting_minima()),
                                     .visiting_groups = lists->visiting_groups(),
                                     .visiting_blocks_per_group = lists->visiting_blocks_per_group(),
                                     .elsewhere = tiles_elsewhere(plan, ranks.rank())};
    rounds = std::make_unique<clustering::boruvka<Real>>(panels, std::move(lists->lists()), scaled,
                                                         clustering::bounds_outside(scaled, last, list_length, valid),
                                                         order, std::move(part));
  });
  shared_rounds<Real> shared(ranks, *rounds, panels, dealt, points.has_factors(), visitors);
  std::int64_t before = -1, joined = 0;
  if (found && found->stage == "rounds" && found->step > 0)
    ranks.together([&] {
      const auto state = saved_rounds<Real>(saved.rounds_path(*found), valid);
      rounds->restore(state);
      joined = state.joined;
      result.counters.rounds = found->step;
    });
  while (joined < valid - 1 && joined > before) {
    ranks.together([&] { report("spanning tree", double(joined) / double(valid)); });
    before = joined;
    joined = shared.run();
    ++result.counters.rounds;
    if (saved.is_due()) saved.save_rounds(result.counters.rounds, [&] { return packed(rounds->state()); });
  }
  saved.remove();
  ranks.phase("edges");
  ranks.together([&] {
    report("spanning tree", 1);
    if (ranks.is_root() || options.alpha != 1)
      result.edges = clustering::edges_of(rounds->tree(), order, points.measure());
  });
  if (options.alpha != 1) measure_pairs(ranks, points, options.alpha, distances, device, result.edges);
  ranks.together([&] {
    if (ranks.is_root()) {
      for (std::int64_t i = 0; i < valid; ++i) result.core_distances[order[i]] = distances[order[i]];
      std::sort(result.edges.begin(), result.edges.end());
    } else {
      std::vector<edge>().swap(result.edges);
    }
  });
  clustering::spanning_tree_counters& counters = result.counters;
  counters.tiles = pairwise::triangle_size(dealt.blocks());
  counters.tiles_scanned = ranks.sum(rounds->tiles_scanned());
  const std::int64_t all_pairs = valid * (valid - 1) / 2;
  counters.pairs_evaluated =
      (sharing == pairwise::list_sharing::symmetric ? 1 : 2) * all_pairs + counters.tiles_scanned * side * side;
  counters.passes = double(counters.pairs_evaluated) / double(all_pairs);
  result.neighbours_seconds = middle - start;
  result.tree_seconds = seconds_now() - middle;
  return result;
}

}  // namespace

namespace hdbscan {

template <class Storage, class>
spanning_tree_result spanning_tree(communicator& ranks, matrix_view<const Storage> rows, std::int64_t first_row,
                                   const spanning_tree_options& options, const Device& device,
                                   const progress_callback& report, const checkpoint_options& checkpoint) {
  return tree_of(ranks, rows, first_row, options, device, report, checkpoint);
}

#define QUINTET_INSTANTIATE(Storage)                                                                                 \
  template spanning_tree_result spanning_tree(communicator&, matrix_view<const Storage>, std::int64_t,               \
                                              const spanning_tree_options&, const Device&, const progress_callback&, \
                                              const checkpoint_options&);
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)

}  // namespace hdbscan
}  // namespace quintet::mpi
