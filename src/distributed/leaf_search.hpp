// Edges by a tree of blocks: every rank has all points and the tree, as a single process would, and searches it for the
// points of its own leaves.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "distributed/ring.hpp"
#include "distributed/shared_search.hpp"
#include "pairwise/tree_points.hpp"

namespace quintet::distributed {

template <class Storage>
class leaf_search final : public shared_search<Storage> {
 public:
  using Real = accumulator_t<Storage>;
  using typename distributed_search<Real>::contents;
  using typename quintet::hdbscan::edge_search<Real>::work;

  /// Null where a tree does not pay, by the rule of a single process. Collective.
  static std::unique_ptr<leaf_search> where_it_pays(process_group& ranks, const shared_points<Storage>& points, int k) {
    if (!pairwise::has_boxes(points.own().kind())) return nullptr;
    if (points.dim() > pairwise::max_tree_dimensions || points.valid_count() < pairwise::min_tree_points)
      return nullptr;
    ranks.phase("points");
    std::vector<Storage> own;
    ranks.run_collectively([&] { own = dense_rows(points.rows()); });
    const std::vector<Storage> all = ranks.allgather(std::span<const Storage>(own));
    std::unique_ptr<leaf_search> search;
    bool pays = false;
    ranks.run_collectively([&] {
      search.reset(new leaf_search(ranks, points, *points.scan(all), k));
      pays = ranks.is_root() && pairwise::sampled_share(search->all_.tree, k) <= pairwise::worthwhile_share;
    });
    // Rank 0 decides: in the end the others might come to another result.
    return ranks.maximum(pays) > 0 ? std::move(search) : nullptr;
  }

  const std::vector<std::int32_t>& order() const override { return all_.order; }
  const block_distribution& distribution() const override { return distribution_; }

  void find_lists(const std::function<void(int)>& after_step, int) override {
    ranks_.run_collectively([&] {
      ranks_.begin_step();
      lists_ = pairwise::nearest_others_on_device(all_.tree, distribution_.blocks_of(ranks_.rank()), int(lists_.k),
                                                  searched_);
    });
    after_step(0);
  }
  pairwise::device_neighbours<Real>& lists() override { return lists_; }
  sizes_of_lists sizes() const override { return {.k = lists_.k}; }
  contents copy_lists() const override { return {lists_.value.to_vector(), lists_.index.to_vector(), {}, {}, {}}; }
  void restore_lists(const contents& saved) override {
    lists_.rows = std::int64_t(saved.value.size()) / lists_.k;
    lists_.value = {saved.value, all_.tree.device()};
    lists_.index = {saved.index, all_.tree.device()};
  }

  void begin_rounds(const std::vector<Real>& core, const std::vector<Real>& outside) override {
    this->rounds_ = std::make_unique<quintet::hdbscan::boruvka<Real>>(all_.packed, std::move(lists_), core, outside,
                                                                      all_.order, this->own_part(), &all_.tree);
  }
  quintet::hdbscan::round_exchange<Real>& exchange() override { return exchange_; }

  work work_done() override {
    const std::int64_t rows = ranks_.sum(this->rounds_->tiles_scanned());
    return {pairwise::triangle_size(distribution_.blocks()), rows / pairwise::leaf_points,
            ranks_.sum(searched_.pairs) + rows * pairwise::leaf_points};
  }

 private:
  using shared_search<Storage>::ranks_;

  leaf_search(process_group& ranks, const shared_points<Storage>& points, const pairwise::scanned_points<Storage>& all,
              int k)
      : shared_search<Storage>(ranks, points),
        all_(all),
        distribution_(all_.packed.count, pairwise::leaf_points, ranks.size()),
        exchange_(ranks) {
    lists_.k = k;
  }

  pairwise::tree_points<Real> all_;
  block_distribution distribution_;
  pairwise::device_neighbours<Real> lists_;
  pairwise::tree_work searched_;
  best_exchange<Real> exchange_;
};

}  // namespace quintet::distributed
