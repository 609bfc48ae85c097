// How a process looks for the edges of a spanning tree: among all points, or its part of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "hdbscan/rounds.hpp"
#include "pairwise/metric.hpp"
#include "quintet/hdbscan/edge.hpp"

namespace quintet::hdbscan {

/// One process's part. Points are numbered by their positions in an order of all valid ones.
template <class Real>
class edge_search {
 public:
  edge_search() = default;
  edge_search(const edge_search&) = delete;
  virtual ~edge_search() = default;

  virtual const std::vector<std::int32_t>& order() const = 0;  ///< the caller's numbers
  virtual const pairwise::reduced_metric<Real>& measure() const = 0;

  ///@{
  /// Neighbours of the own points. find_lists() is collective, goes on after `first_step` - 1 steps, and calls
  /// after_step(t), t = 0, ..., steps(), in all processes alike.
  virtual int steps() const { return 0; }
  virtual void find_lists(const std::function<void(int step)>& after_step, int first_step) = 0;
  virtual pairwise::device_neighbours<Real>& lists() = 0;
  /// Reduced distances of the own points to their k-th nearest, k >= 1, on the host; nothing of this is collective.
  virtual std::vector<Real> core_distances(std::int64_t k) { return pairwise::kth_value(lists(), k); }
  /// Of every own point: no point outside its list is nearer. On the host; nothing of this is collective.
  virtual std::vector<Real> outside_lists() { return pairwise::outside_lists(lists()); }
  ///@}
  /// Values of the own points become values of all points, by position. Collective.
  virtual std::vector<Real> of_all_points(std::vector<Real> own) { return own; }

  /// Begins the rounds; by position: core distances scaled, and bounds from below of the edges in no list. Takes the
  /// lists.
  virtual void begin_rounds(const std::vector<Real>& core, const std::vector<Real>& outside) = 0;
  boruvka<Real>& rounds() { return *rounds_; }
  /// Frees the rounds, and the lists with them: most of all memory.
  void end_rounds() { rounds_.reset(); }
  virtual round_exchange<Real>& exchange() = 0;

  /// Weights of edges for alpha != 1, from core distances by the caller's numbers. Collective.
  virtual void measure_edges(std::vector<edge>& edges, double alpha, const std::vector<double>& core) = 0;

  /// Tiles of all pairs, and what all processes computed: tiles in rounds, and pairs in all. Before end_rounds();
  /// collective.
  struct work {
    std::int64_t tiles = 0, tiles_scanned = 0, pairs = 0;
  };
  virtual work work_done() = 0;

 protected:
  std::unique_ptr<boruvka<Real>> rounds_;
};

}  // namespace quintet::hdbscan
