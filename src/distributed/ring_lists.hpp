// Neighbour lists of points that are spread over several ranks: each holds some blocks of points, its own, and sees the
// blocks of other ranks pass by. No communication here; see src/mpi.
//
// On the host a pair of points is met once, by one of its ranks, and feeds the lists of both: lists of visitors travel
// with them. On a device, whose teams own their lists, a pair is met by both ranks, and every rank fills its own lists
// only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "distributed/ring_filter.hpp"
#include "pairwise/nearest_kernel.hpp"
#include "pairwise/neighbours.hpp"

namespace quintet::pairwise {

/// Blocks `first`, ..., `first + count - 1`.
struct block_range {
  std::int64_t first = 0, count = 0;
};

/// Points of another rank, in memory of the device, with their lists where those are filled here.
template <class Real>
struct remote_points {
  std::int64_t count = 0;        ///< points
  std::int64_t first_place = 0;  ///< of their first block in the tables of bounds; see edge_bounds
  Buffer<Real> data, factor;     ///< as in panels
  Buffer<std::int32_t> number;   ///< what lists hold of them
  Buffer<Real> value;            ///< lists [point][k]; empty where they are not filled
  Buffer<std::int32_t> index, locks;
  ///@{
  /// With a filter, on the host: what entry request.exact of a point's list is not above where it is at home, and what
  /// no point is below that was left out here.
  std::vector<Real> exact_kth, min_excluded;
  ///@}
};

/// The lists of the own points, and bounds of all tiles that were computed.
template <class Real>
class ring_lists {
 public:
  /// `own` must outlive this. `number`: what lists hold of the own points and what decides between ties.
  /// `visiting_blocks`: blocks of others that will pass by, by places after the own blocks; minima_bytes > 0: tables of
  /// bounds of so many bytes each (one entry per point at least). `request`: with a filter, on all ranks or on none;
  /// float and list_sharing::symmetric only.
  ring_lists(const panels<Real>& own, int k, const std::vector<std::int32_t>& number, std::int64_t visiting_blocks,
             std::int64_t minima_bytes, list_sharing sharing, const ring_request& request = {});
  /// The filter's memory goes; nothing is met after that.
  void end_ring() { filter_.reset(); }

  /// Pairs of own points; on the host `between` is called some forty times.
  void meet_own(const std::function<void()>& between = {});
  /// Pairs of points of some own blocks and of some blocks of visitors (all own blocks with list_sharing::owned).
  /// Between begin_list_update() and end_meeting(), which have the same own blocks and all visitors.
  void meet(remote_points<Real>& visitors, block_range own, block_range visiting);
  void begin_list_update(remote_points<Real>& visitors, block_range own);
  void end_meeting(remote_points<Real>& visitors, block_range own);

  /// Room for visitors whose lists begin as long as they are: nothing above `kth`, the longest entry of each, counts.
  /// There is none for coordinates yet.
  remote_points<Real> room_for(std::int64_t count, std::int64_t blocks, std::int64_t first_place,
                               bool has_factors) const;
  void begin_lists(remote_points<Real>& visitors, const std::vector<Real>& kth) const;

  /// The own lists take in those that another rank filled, [point][k].
  /// `beyond`: what those leave out, of every point; empty: nothing.
  void take(const std::vector<Real>& value, const std::vector<std::int32_t>& index,
            const std::vector<Real>& min_excluded);

  ///@{
  /// All that the lists and tables hold, to go on later: entries [point][k], then the tables, which restore() can do
  /// without (empty): nothing is known of tiles then.
  struct contents {
    std::vector<Real> value;
    std::vector<std::int32_t> index;
    std::vector<Real> min_excluded, minima, visiting_minima;
  };
  contents copy() const;
  void restore(const contents& saved);
  ///@}

  list_sharing sharing() const { return sharing_; }
  bool has_filter() const { return request_.exact > 0; }
  const ring_request& request() const { return request_; }
  const panels<Real>& own() const { return own_; }
  int k() const { return lists_.k; }
  device_neighbours<Real>& lists() { return lists_; }
  /// Of every own point: no point that is not in its list is nearer than this and than its last entry.
  const std::vector<Real>& min_excluded() const { return min_excluded_; }
  std::int64_t minima_size() const { return lists_.minima.size(); }
  Buffer<Real>& visiting_minima() { return visiting_minima_; }
  const Buffer<Real>& visiting_minima() const { return visiting_minima_; }
  std::int64_t visiting_groups() const { return visiting_groups_; }
  std::int64_t visiting_blocks_per_group() const { return visiting_blocks_per_group_; }

 private:
  void merge();
  template <class Value>
  void meet_in_parts(nearest_arguments<Value> arguments, std::int64_t tiles);

  const panels<Real>& own_;
  list_sharing sharing_;
  device_neighbours<Real> lists_;  ///< [lists to merge, the result first][point][k]
  Buffer<std::int32_t> number_, locks_;
  ring_request request_;
  std::optional<ring_filter> filter_;
  std::vector<Real> min_excluded_;
  std::function<void()> between_;  ///< while own points meet
  std::vector<Real> exact_kth_;    ///< of own points, in a meeting
  panels<Real> visiting_panels_;   ///< in a meeting: the visitors' coordinates
  Buffer<Real> visiting_minima_;
  std::int64_t visiting_groups_ = 0, visiting_blocks_per_group_ = 1;
};

}  // namespace quintet::pairwise
