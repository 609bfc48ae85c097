// Edges by a tree of blocks: every rank has all points and the tree, as a single process would, and searches it for the
// points of its own leaves.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "device/for_each.hpp"
#include "mpi/edge_search.hpp"
#include "mpi/fault.hpp"
#include "mpi/ring.hpp"
#include "pairwise/tree_points.hpp"

namespace quintet::mpi {

template <class Storage>
class leaf_search final : public edge_search<accumulator_t<Storage>> {
 public:
  using Real = accumulator_t<Storage>;
  using typename edge_search<Real>::contents;
  using typename edge_search<Real>::work;

  /// Null where a tree does not pay, by the rule of a single process. Collective.
  static std::unique_ptr<leaf_search> where_it_pays(communicator& ranks, const shared_points<Storage>& points, int k) {
    if (points.dim() > pairwise::max_tree_dimensions || points.valid_count() < pairwise::min_tree_points)
      return nullptr;
    ranks.phase("points");
    std::vector<Storage> own;
    ranks.together([&] { own = dense_rows(points.rows()); });
    const std::vector<Storage> all = ranks.allgather(std::span<const Storage>(own));
    std::unique_ptr<leaf_search> search;
    bool pays = false;
    ranks.together([&] {
      search.reset(new leaf_search(ranks, *points.scan(all), k));
      pays = ranks.is_root() && pairwise::sampled_share(search->points_.tree, k) <= pairwise::worthwhile_share;
    });
    // Rank 0 decides: in the end the others might come to another result.
    return ranks.maximum(pays) > 0 ? std::move(search) : nullptr;
  }

  const std::vector<std::int32_t>& order() const override { return points_.order; }
  const deal& dealt() const override { return dealt_; }

  int steps() const override { return 0; }
  void find_lists(const std::function<void(int)>& after_step, int first_step) override {
    if (first_step > 0) return;
    ranks_.together([&] {
      fault_point(ranks_.rank());
      lists_ =
          pairwise::nearest_others_on_device(points_.tree, dealt_.blocks_of(ranks_.rank()), int(lists_.k), searched_);
    });
    after_step(0);
  }
  pairwise::device_neighbours<Real>& lists() override { return lists_; }
  sizes_of_lists sizes() const override { return {.k = lists_.k}; }
  contents copy_lists() const override { return {lists_.value.to_vector(), lists_.index.to_vector(), {}, {}, {}}; }
  void restore_lists(const contents& saved) override {
    lists_.rows = std::int64_t(saved.value.size()) / lists_.k;
    lists_.value = {saved.value, points_.tree.device()};
    lists_.index = {saved.index, points_.tree.device()};
  }

  void begin_rounds(const std::vector<Real>& core, const std::vector<Real>& outside) override {
    quintet::hdbscan::rank_part<Real> part;
    part.own = dealt_.blocks_of(ranks_.rank());
    part.list_point = dealt_.positions_of(ranks_.rank());
    this->rounds_ = std::make_unique<quintet::hdbscan::boruvka<Real>>(points_.packed, std::move(lists_), core, outside,
                                                                      points_.order, std::move(part), &points_.tree);
  }

  std::int64_t run_round() override {
    quintet::hdbscan::boruvka<Real>& rounds = *this->rounds_;
    failure mine;
    mine.attempt([&] {
      fault_point(ranks_.rank());
      rounds.relax_lists();
    });
    exchange_best(ranks_, rounds, mine);
    mine.attempt([&] { rounds.relax_leaves(); });
    exchange_best(ranks_, rounds, mine);
    std::int64_t joined = 0;
    ranks_.together([&] { joined = rounds.join_components(); });
    return joined;
  }

  work work_done(communicator& ranks) const override {
    const std::int64_t rows = ranks.sum(this->rounds_->tiles_scanned());
    return {ranks.sum(searched_.pairs) + rows * pairwise::leaf_points, rows / pairwise::leaf_points};
  }

 private:
  leaf_search(communicator& ranks, const pairwise::scanned_points<Storage>& all, int k)
      : ranks_(ranks), points_(all), dealt_(points_.packed.count, pairwise::leaf_points, ranks.size()) {
    lists_.k = k;
  }

  communicator& ranks_;
  pairwise::tree_points<Real> points_;
  deal dealt_;
  pairwise::device_neighbours<Real> lists_;
  pairwise::tree_work searched_;
};

}  // namespace quintet::mpi
