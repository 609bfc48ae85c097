// How a rank looks for the edges of a spanning tree: by tiles of pairs (tile_search.hpp), or, in few dimensions, by a
// tree of blocks (leaf_search.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "hdbscan/boruvka.hpp"
#include "mpi/dealt_points.hpp"
#include "mpi/saved_tree.hpp"

namespace quintet::mpi {

/// One rank's part. Points are numbered by their positions in an order of all valid ones.
template <class Real>
class edge_search {
 public:
  using contents = typename pairwise::ring_lists<Real>::contents;

  edge_search() = default;
  edge_search(const edge_search&) = delete;
  virtual ~edge_search() = default;

  virtual const std::vector<std::int32_t>& order() const = 0;  ///< the caller's numbers
  virtual const deal& dealt() const = 0;                       ///< who looks for the edges of which points

  ///@{
  /// Neighbours of the own points. find_lists() is collective, goes on after `first_step` - 1 steps, and calls
  /// after_step(t), t = 0, ..., steps(), on all ranks alike.
  virtual int steps() const = 0;
  virtual void find_lists(const std::function<void(int step)>& after_step, int first_step) = 0;
  virtual pairwise::device_neighbours<Real>& lists() = 0;
  /// Of every own point: no point outside its list is nearer. On the host; nothing of this is collective.
  virtual std::vector<Real> outside_lists() { return pairwise::outside_lists(lists()); }
  virtual sizes_of_lists sizes() const = 0;
  virtual contents copy_lists() const = 0;
  virtual void restore_lists(const contents& saved) = 0;
  ///@}

  /// The rounds; by position: core distances scaled, and bounds from below of the edges in no list. Takes the lists.
  virtual void begin_rounds(const std::vector<Real>& core, const std::vector<Real>& outside) = 0;
  quintet::hdbscan::boruvka<Real>& rounds() { return *rounds_; }
  /// One round; returns the number of edges in the tree. Collective.
  virtual std::int64_t run_round() = 0;

  /// Pairs that all ranks computed, and those of them in rounds as tiles. Collective.
  struct work {
    std::int64_t pairs = 0, tiles = 0;
  };
  virtual work work_done(communicator& ranks) const = 0;

 protected:
  std::unique_ptr<quintet::hdbscan::boruvka<Real>> rounds_;
};

/// The best edges of components become the least of all ranks. Throws what went wrong on any of them.
template <class Real>
void exchange_best(communicator& ranks, quintet::hdbscan::boruvka<Real>& rounds, const failure& mine) {
  std::vector<quintet::hdbscan::edge_record<Real>> best;
  failure all = mine;
  all.attempt([&] { best = rounds.best(); });
  ranks.agree(all);
  ranks.template minimum<typename quintet::hdbscan::edge_record<Real>::word>(std::span(best));
  ranks.together([&] { rounds.take_best(best); });
}

}  // namespace quintet::mpi
