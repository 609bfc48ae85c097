// What processes give each other in rounds by tiles: best edges, and panels of blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "distributed/shared_search.hpp"
#include "quintet/core/process_group.hpp"

namespace quintet::distributed {

template <class Real>
class panel_exchange final : public best_exchange<Real> {
 public:
  using typename best_exchange<Real>::tiles;

  /// `own`: the panels of this process.
  panel_exchange(process_group& ranks, const pairwise::panels<Real>& own, const block_distribution& distribution,
                 bool has_factors, const std::vector<std::int32_t>& visiting_blocks)
      : best_exchange<Real>(ranks), ranks_(ranks), own_(own), distribution_(distribution), has_factors_(has_factors) {
    ranks.run_collectively([&] {
      place_.assign(distribution.blocks(), -1);
      for (std::size_t i = 0; i < visiting_blocks.size(); ++i) place_[visiting_blocks[i]] = std::int32_t(i);
      visiting_count_ = visiting_blocks.size();
      own_place_.assign(distribution.blocks(), -1);
      const std::vector<std::int32_t>& blocks = distribution.blocks_of(ranks.rank());
      for (std::size_t i = 0; i < blocks.size(); ++i) own_place_[blocks[i]] = std::int32_t(i);
      if (!own.device().shares_host_memory()) {
        own_data_ = own.data.to_vector();
        own_factor_ = own.factor.to_vector();
      }
    });
  }

  /// As many as need batch_bytes of panels of other processes.
  std::size_t batch_size(tiles listed) override {
    needed_.clear();
    std::vector<char> has(visiting_count_, 0);
    const std::int64_t max_panels =
        std::max<std::int64_t>(1, batch_bytes / (own_.block_side * own_.dim * std::int64_t(sizeof(Real))));
    std::size_t count = 0;
    for (; count < listed.size(); ++count) {
      const auto block = std::int32_t(listed[count].col);
      const std::int32_t place = place_[block];
      if (place < 0 || has[place]) continue;
      if (std::int64_t(needed_.size()) == max_panels) break;
      has[place] = 1;
      needed_.push_back(block);
    }
    return count;
  }

  const quintet::hdbscan::visiting_panels<Real>* fetch(tiles batch, failure& local_failure) override {
    visitors_ = fetched(local_failure, batch.empty() ? std::vector<std::int32_t>() : std::move(needed_));
    return &visitors_;
  }

 private:
  static constexpr std::int64_t batch_bytes = std::int64_t(32) << 20;
  static constexpr int panel_tag = 3;

  /// The panels of blocks of other ranks.
  quintet::hdbscan::visiting_panels<Real> fetched(failure& local_failure, std::vector<std::int32_t> needed) {
    const std::int64_t per_block = own_.block_side * own_.dim, side = own_.block_side;
    std::vector<std::int64_t> counts(ranks_.size(), 0);
    std::sort(needed.begin(), needed.end(), [&](std::int32_t a, std::int32_t b) {
      return std::pair(distribution_.owner(a * side), a) < std::pair(distribution_.owner(b * side), b);
    });
    for (const std::int32_t block : needed) ++counts[distribution_.owner(block * side)];
    std::vector<std::int64_t> asked;
    const std::vector<std::int32_t> requested = ranks_.alltoallv(std::span<const std::int32_t>(needed), counts, &asked);

    std::vector<Real> data, factor;
    local_failure.attempt([&] {
      data.resize(std::int64_t(needed.size()) * per_block);
      factor.resize(has_factors_ ? std::int64_t(needed.size()) * side : 0);
    });
    ranks_.agree(local_failure);
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
        ranks_.start_send(
            std::span<const Real>(own_data + own_place_[requested[w]] * per_block, std::size_t(per_block)), to,
            panel_tag, started);
      if (has_factors_)
        for (std::int64_t w = first_wanted[to]; w < first_wanted[to + 1]; ++w)
          ranks_.start_send(std::span<const Real>(own_factor + own_place_[requested[w]] * side, std::size_t(side)), to,
                            panel_tag, started);
      ranks_.finish(started);
    }
    quintet::hdbscan::visiting_panels<Real> visitors;
    local_failure.attempt([&] {
      visitors.panel.assign(visiting_count_, -1);
      for (std::size_t i = 0; i < needed.size(); ++i) visitors.panel[place_[needed[i]]] = std::int32_t(i);
      visitors.data = Buffer<Real>(data, own_.device());
      visitors.factor = Buffer<Real>(factor, own_.device());
    });
    return visitors;
  }

  process_group& ranks_;
  const pairwise::panels<Real>& own_;
  const block_distribution& distribution_;
  bool has_factors_;
  std::vector<std::int32_t> place_, own_place_;  ///< of every block: among visitors, among own blocks; -1
  std::size_t visiting_count_ = 0;
  std::vector<std::int32_t> needed_;  ///< blocks of the batch
  quintet::hdbscan::visiting_panels<Real> visitors_;
  std::vector<Real> own_data_, own_factor_;  ///< on the host, where the panels are not
};

}  // namespace quintet::distributed
