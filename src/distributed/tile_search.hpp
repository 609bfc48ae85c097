// Edges by tiles of pairs of points: lists around the ring, rounds with bounds of tiles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "distributed/list_ring.hpp"
#include "distributed/panel_exchange.hpp"
#include "distributed/shared_search.hpp"
#include "hdbscan/spanning_tree_stages.hpp"

namespace quintet::distributed {

template <class Storage>
class tile_search final : public shared_search<Storage> {
 public:
  using Real = accumulator_t<Storage>;
  using typename distributed_search<Real>::contents;
  using typename quintet::hdbscan::edge_search<Real>::work;

  /// Collective, as all of this unless it says otherwise. `strip_tiles`: see bound_limits.
  tile_search(process_group& ranks, const shared_points<Storage>& points, const quintet::hdbscan::list_lengths& lengths,
              const Device& device, std::int64_t strip_tiles)
      : shared_search<Storage>(ranks, points), order_(shared_order(ranks, points)), strip_tiles_(strip_tiles) {
    ranks.phase("deal");
    const auto valid = std::int64_t(order_.size());
    distribution_.emplace(valid, pairwise::tile_layout<Real>(device).block_side, ranks.size());
    panels_ = distributed_panels(ranks, points, order_, *distribution_);
    ranks.phase("lists");
    plan_.emplace(distribution_->parts(), pairwise::sharing_of(device));
    const pairwise::ring_request request =
        filter_for(ranks, points, *plan_, panels_, {lengths.exact, lengths.length, true});
    ranks.run_collectively([&] {
      for (const ring_visit& visit : plan_->visits(ranks.rank())) {
        const auto first = distribution_->blocks_of(visit.source).begin() + visit.visiting.first;
        visitors_.insert(visitors_.end(), first, first + visit.visiting.count);
      }
      lists_ = std::make_unique<pairwise::ring_lists<Real>>(
          panels_, lengths.length, distribution_->positions_of(ranks.rank()), std::int64_t(visitors_.size()),
          table_bytes(), pairwise::sharing_of(device), request);
    });
  }

  const std::vector<std::int32_t>& order() const override { return order_; }
  const block_distribution& distribution() const override { return *distribution_; }

  int steps() const override { return plan_->steps(); }
  void find_lists(const std::function<void(int)>& after_step, int first_step) override {
    list_ring<Real>(ranks_, *lists_, *plan_, distribution_->side(), panels_.dim, points_.has_factors(), [&](int rank) {
      return distribution_->positions_of(rank);
    }).run(after_step, first_step);
  }
  pairwise::device_neighbours<Real>& lists() override { return lists_->lists(); }
  std::vector<Real> outside_lists() override {
    std::vector<Real> outside = pairwise::kth_value(lists_->lists(), lists_->k());
    for (std::size_t i = 0; i < outside.size(); ++i) outside[i] = std::min(outside[i], lists_->min_excluded()[i]);
    return outside;
  }
  sizes_of_lists sizes() const override {
    return {lists_->k(), lists_->minima_size(), lists_->visiting_minima().size(), true};
  }
  contents copy_lists() const override { return lists_->copy(); }
  void restore_lists(const contents& saved) override { lists_->restore(saved); }

  void begin_rounds(const std::vector<Real>& core, const std::vector<Real>& outside) override {
    quintet::hdbscan::rank_part<Real> part = this->own_part();
    part.visitors = visitors_;
    part.visiting_minima = std::move(lists_->visiting_minima());
    part.visiting_groups = lists_->visiting_groups();
    part.visiting_blocks_per_group = lists_->visiting_blocks_per_group();
    std::tie(part.shared_row, part.shared_place) = shared_tiles();
    this->rounds_ = std::make_unique<quintet::hdbscan::boruvka<Real>>(
        panels_, std::move(lists_->lists()), core, outside, order_, std::move(part), nullptr,
        quintet::hdbscan::bound_limits{table_bytes(), strip_tiles_});
    exchange_ =
        std::make_unique<panel_exchange<Real>>(ranks_, panels_, *distribution_, points_.has_factors(), visitors_);
  }
  quintet::hdbscan::round_exchange<Real>& exchange() override { return *exchange_; }

  work work_done() override {
    const std::int64_t n = std::int64_t(order_.size()), side = distribution_->side();
    const std::int64_t tiles = ranks_.sum(this->rounds_->tiles_scanned());
    const int times = lists_->sharing() == pairwise::list_sharing::symmetric ? 1 : 2;
    return {pairwise::triangle_size(distribution_->blocks()), tiles, times * (n * (n - 1) / 2) + tiles * side * side};
  }

 private:
  using shared_search<Storage>::ranks_;
  using shared_search<Storage>::points_;

  std::int64_t table_bytes() const { return quintet::hdbscan::bound_table_bytes(panels_.data.bytes()); }

  /// From which own block and visitor on tiles are looked at by the visitors' rank: those that opposite ranks share.
  std::pair<std::int64_t, std::int64_t> shared_tiles() const {
    for (const ring_visit& visit : plan_->visits(ranks_.rank()))
      if (visit.own.count < panels_.blocks()) return {visit.own.count, visit.first_place};
    return {panels_.blocks(), 0};
  }

  std::vector<std::int32_t> order_;
  std::int64_t strip_tiles_;
  std::optional<block_distribution> distribution_;
  pairwise::panels<Real> panels_;
  std::optional<ring_plan> plan_;
  std::vector<std::int32_t> visitors_;  ///< the blocks that the own ones meet, in the order of their places
  std::unique_ptr<pairwise::ring_lists<Real>> lists_;
  std::unique_ptr<panel_exchange<Real>> exchange_;
};

}  // namespace quintet::distributed
