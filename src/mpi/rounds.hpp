// Rounds of the spanning tree over ranks, by tiles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "mpi/edge_search.hpp"
#include "mpi/fault.hpp"
#include "quintet/mpi/communicator.hpp"

namespace quintet::mpi {

/// quintet::hdbscan::boruvka's rounds, every rank with its lists and tiles. After the lists, after the first tiles and
/// after all of them the best edges of components are the least of all ranks.
template <class Real>
class shared_rounds {
 public:
  /// `rounds` is of this rank's part; `own` are its panels.
  shared_rounds(communicator& ranks, quintet::hdbscan::boruvka<Real>& rounds, const pairwise::panels<Real>& own,
                const deal& dealt, bool has_factors, const std::vector<std::int32_t>& visiting_blocks)
      : ranks_(ranks), rounds_(rounds), own_(own), dealt_(dealt), has_factors_(has_factors) {
    ranks.together([&] {
      place_.assign(dealt.blocks(), -1);
      for (std::size_t i = 0; i < visiting_blocks.size(); ++i) place_[visiting_blocks[i]] = std::int32_t(i);
      visiting_count_ = visiting_blocks.size();
      own_place_.assign(dealt.blocks(), -1);
      const std::vector<std::int32_t>& blocks = dealt.blocks_of(ranks.rank());
      for (std::size_t i = 0; i < blocks.size(); ++i) own_place_[blocks[i]] = std::int32_t(i);
      if (!own.device().shares_host_memory()) {
        own_data_ = own.data.to_vector();
        own_factor_ = own.factor.to_vector();
      }
    });
  }

  /// One round; returns the number of edges in the tree.
  std::int64_t run() {
    failure mine;
    mine.attempt([&] {
      fault_point(ranks_.rank());
      rounds_.relax_lists();
    });
    exchange(mine);
    // Tiles with small bounds first: with the best edges of all ranks many others are of no use any more.
    relax_tiles(mine, true);
    exchange(mine);
    relax_tiles(mine, false);
    exchange(mine);
    std::int64_t joined = 0;
    ranks_.together([&] { joined = rounds_.join_components(); });
    return joined;
  }

 private:
  using tiles = std::vector<pairwise::tile_index>;
  // Panels of visitors at a time.
  static constexpr std::int64_t batch_bytes = std::int64_t(32) << 20;
  static constexpr int panel_tag = 3;

  void exchange(const failure& mine) { exchange_best(ranks_, rounds_, mine); }

  void relax_tiles(failure& mine, bool first_only) {
    tiles listed;
    std::size_t next = 0;
    mine.attempt([&] { rounds_.find_useful_tiles(first_only); });
    std::int64_t scanned = 0;
    while (true) {
      // What this rank will scan, and the blocks it needs for that.
      tiles batch;
      std::vector<std::int32_t> needed;
      mine.attempt([&] {
        std::vector<char> has(visiting_count_, 0);
        const std::int64_t most =
            std::max<std::int64_t>(1, batch_bytes / (own_.block_side * own_.dim * std::int64_t(sizeof(Real))));
        // What is listed has to be scanned before more is.
        if (next == listed.size()) {
          listed = rounds_.useful_tiles();
          next = 0;
        }
        while (next < listed.size()) {
          const std::int32_t place = place_[listed[next].col];
          if (place >= 0 && !has[place]) {
            if (std::int64_t(needed.size()) == most) break;
            has[place] = 1;
            needed.push_back(std::int32_t(listed[next].col));
          }
          batch.push_back(listed[next++]);
        }
      });
      // A rank that failed goes on with nothing of its own.
      if (mine) batch.clear(), needed.clear();
      if (ranks_.maximum(std::int64_t(batch.size())) == 0) return;
      quintet::hdbscan::visiting_panels<Real> visitors = fetch(mine, needed);
      mine.attempt([&] {
        for (std::size_t done = 0; done < batch.size();) {
          const std::size_t end = std::min(batch.size(), done + std::size_t(rounds_.tiles_together(scanned)));
          rounds_.scan({batch.begin() + std::int64_t(done), batch.begin() + std::int64_t(end)}, &visitors);
          scanned += std::int64_t(end - done);
          done = end;
        }
      });
    }
  }

  /// The panels of blocks of other ranks.
  quintet::hdbscan::visiting_panels<Real> fetch(failure& mine, std::vector<std::int32_t> needed) {
    const std::int64_t per_block = own_.block_side * own_.dim, side = own_.block_side;
    std::vector<std::int64_t> counts(ranks_.size(), 0);
    std::sort(needed.begin(), needed.end(), [&](std::int32_t a, std::int32_t b) {
      return std::pair(dealt_.owner(a * side), a) < std::pair(dealt_.owner(b * side), b);
    });
    for (const std::int32_t block : needed) ++counts[dealt_.owner(block * side)];
    std::vector<std::int64_t> asked;
    const std::vector<std::int32_t> wanted = ranks_.alltoallv(std::span<const std::int32_t>(needed), counts, &asked);

    std::vector<Real> data, factor;
    mine.attempt([&] {
      data.resize(std::int64_t(needed.size()) * per_block);
      factor.resize(has_factors_ ? std::int64_t(needed.size()) * side : 0);
    });
    ranks_.agree(mine);
    const Real* own_data = own_data_.empty() ? own_.data.data() : own_data_.data();
    const Real* own_factor = own_factor_.empty() ? own_.factor.data() : own_factor_.data();
    std::vector<std::int64_t> first_needed(1, 0), first_wanted(1, 0);
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      first_needed.push_back(first_needed.back() + counts[rank]);
      first_wanted.push_back(first_wanted.back() + asked[rank]);
    }
    for (int step = 1; step < ranks_.size(); ++step) {
      const int to = (ranks_.rank() + step) % ranks_.size(),
                from = (ranks_.rank() + ranks_.size() - step) % ranks_.size();
      transfer started;
      const std::int64_t begin = first_needed[from];
      const auto blocks = std::size_t(counts[from]);
      for (std::size_t b = 0; b < blocks; ++b)
        ranks_.start_receive(
            std::span<Real>(data.data() + (begin + std::int64_t(b)) * per_block, std::size_t(per_block)), from,
            panel_tag, started);
      if (has_factors_)
        for (std::size_t b = 0; b < blocks; ++b)
          ranks_.start_receive(std::span<Real>(factor.data() + (begin + std::int64_t(b)) * side, std::size_t(side)),
                               from, panel_tag, started);
      for (std::int64_t w = first_wanted[to]; w < first_wanted[to + 1]; ++w)
        ranks_.start_send(std::span<const Real>(own_data + own_place_[wanted[w]] * per_block, std::size_t(per_block)),
                          to, panel_tag, started);
      if (has_factors_)
        for (std::int64_t w = first_wanted[to]; w < first_wanted[to + 1]; ++w)
          ranks_.start_send(std::span<const Real>(own_factor + own_place_[wanted[w]] * side, std::size_t(side)), to,
                            panel_tag, started);
      ranks_.finish(started);
    }
    quintet::hdbscan::visiting_panels<Real> visitors;
    mine.attempt([&] {
      visitors.panel.assign(visiting_count_, -1);
      for (std::size_t i = 0; i < needed.size(); ++i) visitors.panel[place_[needed[i]]] = std::int32_t(i);
      visitors.data = Buffer<Real>(data, own_.device());
      visitors.factor = Buffer<Real>(factor, own_.device());
    });
    return visitors;
  }

  communicator& ranks_;
  quintet::hdbscan::boruvka<Real>& rounds_;
  const pairwise::panels<Real>& own_;
  const deal& dealt_;
  bool has_factors_;
  std::vector<std::int32_t> place_, own_place_;  ///< of every block: among visitors, among own blocks; -1
  std::size_t visiting_count_ = 0;
  std::vector<Real> own_data_, own_factor_;  ///< on the host, where the panels are not
};

}  // namespace quintet::mpi
