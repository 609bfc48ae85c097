// Edges by tiles of pairs of points: lists around the ring, rounds with bounds of tiles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "hdbscan/spanning_tree_parts.hpp"
#include "mpi/edge_search.hpp"
#include "mpi/fault.hpp"
#include "mpi/list_ring.hpp"
#include "mpi/rounds.hpp"

namespace quintet::mpi {

template <class Storage>
class tile_search final : public edge_search<accumulator_t<Storage>> {
 public:
  using Real = accumulator_t<Storage>;
  using typename edge_search<Real>::contents;
  using typename edge_search<Real>::work;

  /// Lists of k entries, the first `exact` of which are the nearest points. Collective, as all of this unless it says
  /// otherwise.
  tile_search(communicator& ranks, const shared_points<Storage>& points, int k, int exact, const Device& device)
      : ranks_(ranks), has_factors_(points.has_factors()), order_(shared_order(ranks, points)) {
    ranks.phase("deal");
    const auto valid = std::int64_t(order_.size());
    dealt_.emplace(valid, pairwise::tile_layout<Real>(device).block_side, ranks.size());
    panels_ = dealt_panels(ranks, points, order_, *dealt_);
    ranks.phase("lists");
    plan_.emplace(dealt_->parts(), pairwise::sharing_of(device));
    const pairwise::ring_request request = filter_for(ranks, points, *plan_, panels_, {exact, k, true});
    ranks.together([&] {
      for (const ring_visit& visit : plan_->visits(ranks.rank())) {
        const auto first = dealt_->blocks_of(visit.source).begin() + visit.visiting.first;
        visitors_.insert(visitors_.end(), first, first + visit.visiting.count);
      }
      lists_ = std::make_unique<pairwise::ring_lists<Real>>(
          panels_, k, dealt_->positions_of(ranks.rank()), std::int64_t(visitors_.size()),
          quintet::hdbscan::bound_table_bytes(panels_.data.bytes()), pairwise::sharing_of(device), request);
    });
  }

  const std::vector<std::int32_t>& order() const override { return order_; }
  const deal& dealt() const override { return *dealt_; }

  int steps() const override { return plan_->steps(); }
  void find_lists(const std::function<void(int)>& after_step, int first_step) override {
    list_ring<Real>(ranks_, *lists_, *plan_, dealt_->side(), panels_.dim, has_factors_, [&](int rank) {
      return dealt_->positions_of(rank);
    }).run(after_step, first_step);
  }
  pairwise::device_neighbours<Real>& lists() override { return lists_->lists(); }
  std::vector<Real> outside_lists() override {
    std::vector<Real> outside = pairwise::kth_value(lists_->lists(), lists_->k());
    for (std::size_t i = 0; i < outside.size(); ++i) outside[i] = std::min(outside[i], lists_->beyond()[i]);
    return outside;
  }
  sizes_of_lists sizes() const override {
    return {lists_->k(), lists_->minima_size(), lists_->visiting_minima().size(), true};
  }
  contents copy_lists() const override { return lists_->copy(); }
  void restore_lists(const contents& saved) override { lists_->restore(saved); }

  void begin_rounds(const std::vector<Real>& core, const std::vector<Real>& outside) override {
    const auto shared = shared_tiles();
    quintet::hdbscan::rank_part<Real> part{.own = dealt_->blocks_of(ranks_.rank()),
                                           .visitors = visitors_,
                                           .list_point = dealt_->positions_of(ranks_.rank()),
                                           .visiting_minima = std::move(lists_->visiting_minima()),
                                           .visiting_groups = lists_->visiting_groups(),
                                           .visiting_blocks_per_group = lists_->visiting_blocks_per_group(),
                                           .shared_row = shared.first,
                                           .shared_place = shared.second};
    this->rounds_ = std::make_unique<quintet::hdbscan::boruvka<Real>>(
        panels_, std::move(lists_->lists()), core, outside, order_, std::move(part), nullptr, limits());
    shared_ = std::make_unique<shared_rounds<Real>>(ranks_, *this->rounds_, panels_, *dealt_, has_factors_, visitors_);
  }
  std::int64_t run_round() override { return shared_->run(); }

  work work_done(communicator& ranks) const override {
    const std::int64_t n = std::int64_t(order_.size()), side = dealt_->side();
    const std::int64_t tiles = ranks.sum(this->rounds_->tiles_scanned());
    const int times = lists_->sharing() == pairwise::list_sharing::symmetric ? 1 : 2;
    return {times * (n * (n - 1) / 2) + tiles * side * side, tiles};
  }

 private:
  quintet::hdbscan::bound_limits limits() const {
    return {.cell_bytes = quintet::hdbscan::bound_table_bytes(panels_.data.bytes()),
            .strip_tiles = tiles_of_strip(quintet::hdbscan::bound_limits().strip_tiles)};
  }

  /// From which own block and visitor on tiles are looked at by the visitors' rank: those that opposite ranks share.
  std::pair<std::int64_t, std::int64_t> shared_tiles() const {
    for (const ring_visit& visit : plan_->visits(ranks_.rank()))
      if (visit.own.count < panels_.blocks()) return {visit.own.count, visit.first_place};
    return {panels_.blocks(), 0};
  }

  communicator& ranks_;
  bool has_factors_;
  std::vector<std::int32_t> order_;
  std::optional<deal> dealt_;
  pairwise::panels<Real> panels_;
  std::optional<ring_plan> plan_;
  std::vector<std::int32_t> visitors_;  ///< the blocks that the own ones meet, in the order of their places
  std::unique_ptr<pairwise::ring_lists<Real>> lists_;
  std::unique_ptr<shared_rounds<Real>> shared_;
};

}  // namespace quintet::mpi
