#include <algorithm>
#include <limits>
#include <memory>

#include "device/staged.hpp"
#include "hdbscan/checks.hpp"
#include "hdbscan/spanning_tree_parts.hpp"
#include "instantiate.hpp"
#include "mpi/leaf_search.hpp"
#include "mpi/measured_pairs.hpp"
#include "mpi/tile_search.hpp"
#include "quintet/core/profile.hpp"
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

std::string options_text(const spanning_tree_options& o) {
  return text("min_samples=", o.min_samples, " count_self=", o.count_self, " metric=", to_string(o.distance),
              " alpha=", o.alpha);
}

/// How this rank looks for edges: the same on all of them.
template <class Storage>
std::unique_ptr<edge_search<accumulator_t<Storage>>> search_of(communicator& ranks,
                                                               const shared_points<Storage>& points, int k, int exact,
                                                               const Device& device) {
  if (auto leaves = leaf_search<Storage>::where_it_pays(ranks, points, k)) return leaves;
  return std::make_unique<tile_search<Storage>>(ranks, points, k, exact, device);
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
  double neighbours_seconds = 0, spanning_tree_seconds = 0;
  stage_region finding("neighbours", &neighbours_seconds);
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
  const auto exact = int(std::max<std::int64_t>(result.neighbours, 1));
  const auto search = search_of(ranks, points, list_length, exact, device);
  const std::vector<std::int32_t>& order = search->order();
  const deal& dealt = search->dealt();
  std::string identity;
  if (!how_saved.folder.empty()) identity = identity_of(ranks, points, order, options_text(options), dealt.side());
  checkpoint saved(ranks, how_saved, identity);
  const std::optional<checkpoint_state> found = saved.found();
  const auto pack_lists = [&] { return packed<Real>(search->copy_lists()); };
  ranks.phase("lists");
  if (found) ranks.together([&] { search->restore_lists(saved_lists<Real>(ranks, saved, search->sizes(), dealt)); });
  if (!found || found->stage == "lists") {
    const auto after_step = [&](int step) {
      ranks.together([&] { report("neighbours", double(step + 1) / double(search->steps() + 1)); });
      if (step < search->steps() && saved.is_due()) saved.save_lists("lists", step, pack_lists);
    };
    search->find_lists(after_step, found ? int(found->step) + 1 : 0);
    if (saved.is_on()) saved.save_lists("rounds", 0, pack_lists);
  }

  ranks.phase("bounds");
  std::vector<Real> own_core, own_last;
  ranks.together([&] {
    const pairwise::device_neighbours<Real>& lists = search->lists();
    own_core.assign(lists.rows, 0);
    if (lists.rows == 0) return;
    if (result.neighbours > 0) own_core = pairwise::kth_value(lists, result.neighbours);
    own_last = search->outside_lists();
  });
  const std::vector<Real> core = by_position(ranks, own_core, dealt, valid);
  const std::vector<Real> last = by_position(ranks, own_last, dealt, valid);
  finding.end();
  stage_region joining("spanning_tree", &spanning_tree_seconds);

  ranks.phase("rounds");
  std::vector<double> distances;
  ranks.together([&] {
    if (ranks.is_root() || options.alpha != 1) {
      distances.assign(points.spread().rows(), 0);
      for (std::int64_t i = 0; i < valid; ++i) distances[order[i]] = points.measure().distance(core[i]);
    }
    const std::vector<Real> scaled = clustering::scaled_cores(core, options.alpha, points.measure());
    search->begin_rounds(scaled, clustering::bounds_outside(scaled, last, list_length, valid));
  });
  std::int64_t before = -1, joined = 0;
  if (found && found->stage == "rounds" && found->step > 0)
    ranks.together([&] {
      const auto state = saved_rounds<Real>(saved.rounds_path(*found), valid);
      search->rounds().restore(state);
      joined = state.joined;
      result.counters.rounds = found->step;
    });
  while (joined < valid - 1 && joined > before) {
    ranks.together([&] { report("spanning_tree", double(joined) / double(valid)); });
    before = joined;
    joined = search->run_round();
    ++result.counters.rounds;
    if (saved.is_due()) saved.save_rounds(result.counters.rounds, [&] { return packed(search->rounds().state()); });
  }
  saved.remove();
  ranks.phase("edges");
  ranks.together([&] {
    report("spanning_tree", 1);
    if (ranks.is_root() || options.alpha != 1)
      result.edges = clustering::edges_of(search->rounds().tree(), order, points.measure());
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
  const auto work = search->work_done(ranks);
  counters.tiles_scanned = work.tiles;
  counters.pairs_evaluated = work.pairs;
  const std::int64_t all_pairs = valid * (valid - 1) / 2;
  counters.passes = double(counters.pairs_evaluated) / double(all_pairs);
  joining.end();
  result.neighbours_seconds = neighbours_seconds;
  result.spanning_tree_seconds = spanning_tree_seconds;
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
