#include "hdbscan/rounds.hpp"

#include <algorithm>
#include <cmath>

#include "instantiate.hpp"

namespace quintet::hdbscan {

namespace {

/// Scans the tiles that may hold a better edge, batch by batch. A process that failed goes on with nothing to scan.
template <class Real>
void relax_tiles(boruvka<Real>& rounds, bool first_only, round_exchange<Real>& exchange, failure& local_failure) {
  using tiles = typename round_exchange<Real>::tiles;
  std::vector<pairwise::tile_index> listed;
  std::size_t next = 0;
  std::int64_t scanned = 0;
  local_failure.attempt([&] { rounds.find_useful_tiles(first_only); });
  while (true) {
    tiles batch;
    local_failure.attempt([&] {
      // The next tiles are listed after the scan of these.
      if (next == listed.size()) {
        listed = rounds.useful_tiles();
        next = 0;
      }
      batch = tiles(listed).subspan(next);
      batch = batch.first(exchange.batch_size(batch));
      next += batch.size();
    });
    if (local_failure) batch = {};
    if (exchange.group().maximum(std::int64_t(batch.size())) == 0) return;
    const visiting_panels<Real>* const visitors = exchange.fetch(batch, local_failure);
    local_failure.attempt([&] {
      while (!batch.empty()) {
        const tiles part = batch.first(std::min(batch.size(), std::size_t(rounds.tiles_per_scan(scanned))));
        rounds.scan({part.begin(), part.end()}, visitors);
        scanned += std::int64_t(part.size());
        batch = batch.subspan(part.size());
      }
    });
  }
}

}  // namespace

template <class Real>
void relax_edges(boruvka<Real>& rounds, round_exchange<Real>& exchange) {
  failure local_failure;
  local_failure.attempt([&] {
    exchange.group().begin_step();
    rounds.relax_lists();
  });
  exchange.share_best(rounds, local_failure);
  const int passes = rounds.tile_passes();
  if (passes == 0) {
    local_failure.attempt([&] { rounds.relax_leaves(); });
    exchange.share_best(rounds, local_failure);
  }
  // Tiles with small bounds first, because good edges of all strips and processes make many other tiles useless.
  for (int pass = passes; pass-- > 0;) {
    relax_tiles(rounds, pass > 0, exchange, local_failure);
    exchange.share_best(rounds, local_failure);
  }
}

template <class Real>
std::int64_t run_rounds(boruvka<Real>& rounds, round_exchange<Real>& exchange, progress& report,
                        tree_checkpoints<Real>& saved) {
  process_group& group = exchange.group();
  std::int64_t number = saved.restore_rounds(rounds), joined = 0, before = -1;
  group.run_collectively([&] { joined = rounds.joined(); });
  const std::int64_t points = rounds.points();
  for (; joined < points - 1 && joined > before; saved.after_round(rounds, ++number)) {
    // A round divides the number of components by two or more, and rounds take about the same time.
    group.run_collectively(
        [&] { report("spanning_tree", 1 - std::log(double(points - joined)) / std::log(double(points))); });
    before = joined;
    relax_edges(rounds, exchange);
    group.run_collectively([&] { joined = rounds.join_components(); });
  }
  return number;
}

#define QUINTET_INSTANTIATE(Real)                                   \
  template void relax_edges(boruvka<Real>&, round_exchange<Real>&); \
  template std::int64_t run_rounds(boruvka<Real>&, round_exchange<Real>&, progress&, tree_checkpoints<Real>&);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::hdbscan
