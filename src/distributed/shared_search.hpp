// The search for edges of one process of several: by tiles of pairs (tile_search.hpp), or, in few dimensions, by a tree
// of blocks (leaf_search.hpp).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "distributed/block_distribution.hpp"
#include "distributed/measured_pairs.hpp"
#include "distributed/ring_lists.hpp"
#include "hdbscan/edge_search.hpp"

namespace quintet::distributed {

/// The best edges of components become the least of all processes.
template <class Real>
class best_exchange : public quintet::hdbscan::round_exchange<Real> {
 public:
  using quintet::hdbscan::round_exchange<Real>::round_exchange;

  void share_best(quintet::hdbscan::boruvka<Real>& rounds, const failure& local_failure) override {
    process_group& ranks = this->group();
    std::vector<quintet::hdbscan::edge_record<Real>> best;
    failure all = local_failure;
    all.attempt([&] { best = rounds.best(); });
    ranks.agree(all);
    ranks.template minimum<typename quintet::hdbscan::edge_record<Real>::word>(std::span(best));
    ranks.run_collectively([&] { rounds.take_best(best); });
  }
};

/// How much of everything a process has in its lists.
struct sizes_of_lists {
  std::int64_t k = 0, minima = 0, visiting_minima = 0;
  bool has_beyond = false;
};

template <class Real>
class distributed_search : public quintet::hdbscan::edge_search<Real> {
 public:
  using contents = typename pairwise::ring_lists<Real>::contents;

  virtual const block_distribution& distribution() const = 0;  ///< who looks for the edges of which points

  ///@{
  /// For checkpoints of the lists; not collective.
  virtual sizes_of_lists sizes() const = 0;
  virtual contents copy_lists() const = 0;
  virtual void restore_lists(const contents& saved) = 0;
  ///@}
};

template <class Storage>
class shared_search : public distributed_search<accumulator_t<Storage>> {
 public:
  using Real = accumulator_t<Storage>;

  const pairwise::reduced_metric<Real>& measure() const override { return points_.measure(); }

  std::vector<Real> of_all_points(std::vector<Real> own) override {
    const std::vector<Real> all = ranks_.allgather(std::span<const Real>(own));
    std::vector<Real> values;
    ranks_.run_collectively([&] {
      values.resize(this->order().size());
      auto next = all.begin();
      for (int rank = 0; rank < ranks_.size(); ++rank)
        for (const std::int32_t position : this->distribution().positions_of(rank)) values[position] = *next++;
    });
    return values;
  }

  void measure_edges(std::vector<quintet::hdbscan::edge>& edges, double alpha,
                     const std::vector<double>& core) override {
    measure_pairs(ranks_, points_, alpha, core, points_.own().device(), edges);
  }

 protected:
  shared_search(process_group& ranks, const shared_points<Storage>& points) : ranks_(ranks), points_(points) {}
  /// The blocks that this process looks at.
  quintet::hdbscan::rank_part<Real> own_part() const {
    quintet::hdbscan::rank_part<Real> part;
    part.is_whole = false;
    part.own = this->distribution().blocks_of(ranks_.rank());
    part.list_point = this->distribution().positions_of(ranks_.rank());
    return part;
  }

  process_group& ranks_;
  const shared_points<Storage>& points_;
};

}  // namespace quintet::distributed
