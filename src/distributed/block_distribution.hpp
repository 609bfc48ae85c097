// Points that ranks hold in blocks of neighbours.
#pragma once

#include <cstdint>
#include <vector>

#include "distributed/list_ring.hpp"
#include "distributed/shared_rows.hpp"
#include "pairwise/locality.hpp"

namespace quintet::distributed {

/// Who has which blocks of the points in their order. Chunks of whole blocks go around: points that are far from all
/// others come last in the order, and so spread over the ranks.
class block_distribution {
 public:
  block_distribution(std::int64_t points, std::int64_t side, int ranks) : points_(points), side_(side), own_(ranks) {
    const std::int64_t blocks = (points + side - 1) / side, chunks = chunks_per_rank * ranks;
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
      for (std::int64_t block = chunk * blocks / chunks; block < (chunk + 1) * blocks / chunks; ++block) {
        own_[chunk % ranks].push_back(std::int32_t(block));
        owner_.push_back(int(chunk % ranks));
      }
  }

  std::int64_t points() const { return points_; }
  std::int64_t side() const { return side_; }
  std::int64_t blocks() const { return std::int64_t(owner_.size()); }
  /// Of a point by its position in the order.
  int owner(std::int64_t position) const { return owner_[position / side_]; }
  const std::vector<std::int32_t>& blocks_of(int rank) const { return own_[rank]; }
  /// Positions of a rank's points, as they are packed: increasing.
  std::vector<std::int32_t> positions_of(int rank) const {
    std::vector<std::int32_t> positions;
    for (const std::int64_t block : own_[rank])
      for (std::int64_t i = block * side_; i < std::min(points_, (block + 1) * side_); ++i)
        positions.push_back(std::int32_t(i));
    return positions;
  }
  std::vector<ring_part> parts() const {
    std::vector<ring_part> parts;
    for (const std::vector<std::int32_t>& blocks : own_) {
      const auto count = std::int64_t(blocks.size());
      const bool has_last = count > 0 && blocks.back() == std::int32_t(owner_.size()) - 1;
      parts.push_back({count * side_ - (has_last ? std::int64_t(owner_.size()) * side_ - points_ : 0), count});
    }
    return parts;
  }

 private:
  static constexpr std::int64_t chunks_per_rank = 8;
  std::int64_t points_, side_;
  std::vector<std::vector<std::int32_t>> own_;  ///< by rank
  std::vector<int> owner_;                      ///< by block
};

/// An order of all valid points in which neighbours follow one another, the same on all ranks: as
/// pairwise::locality_order() finds it.
template <class Storage>
std::vector<std::int32_t> shared_order(process_group& ranks, const shared_points<Storage>& points) {
  using Real = accumulator_t<Storage>;
  const std::vector<std::int32_t> valid = points.valid_rows();
  std::vector<std::int32_t> chosen = pairwise::chosen_pivots(std::int64_t(valid.size()));
  if (chosen.empty()) return valid;
  const std::int64_t first = points.first_row(), end = first + points.rows().rows();
  const auto own_of = [&](const std::vector<std::int32_t>& rows) {
    std::vector<std::int32_t> own;
    for (const std::int32_t row : rows)
      if (row >= first && row < end) own.push_back(std::int32_t(row - first));
    return own;
  };
  for (std::int32_t& row : chosen) row = valid[row];
  std::vector<Storage> local;
  ranks.run_collectively([&] { local = points.coordinates(own_of(chosen)); });
  const std::vector<Storage> coordinates = ranks.allgather(std::span<const Storage>(local));
  pairwise::pivot_choice<Real> own;
  ranks.run_collectively([&] {
    const auto scanned = points.scan(coordinates);
    const auto pivots = scanned->pack();
    own =
        pairwise::choose_pivots(points.own(), own_of(valid), pivots, pairwise::pivot_places(pivots, points.measure()));
  });
  pairwise::pivot_choice<Real> all;
  all.pivot = ranks.allgather(std::span<const std::int32_t>(own.pivot));
  all.distance = ranks.allgather(std::span<const Real>(own.distance));
  std::vector<std::int32_t> order;
  ranks.run_collectively([&] { order = pairwise::order_by_pivot(all, valid); });
  return order;
}

/// The own points of a distribution, packed. Every point travels once at most.
template <class Storage>
pairwise::panels<accumulator_t<Storage>> distributed_panels(process_group& ranks, const shared_points<Storage>& points,
                                                            const std::vector<std::int32_t>& order,
                                                            const block_distribution& distribution) {
  std::vector<Storage> send, received;
  std::vector<std::int64_t> counts(ranks.size(), 0);
  std::vector<std::int32_t> own_positions;
  ranks.run_collectively([&] {
    std::vector<std::vector<std::int32_t>> rows_for(ranks.size());
    const std::int64_t first = points.first_row(), end = first + points.rows().rows();
    for (std::size_t position = 0; position < order.size(); ++position)
      if (order[position] >= first && order[position] < end)
        rows_for[distribution.owner(std::int64_t(position))].push_back(std::int32_t(order[position] - first));
    std::vector<std::int32_t> rows;
    for (int rank = 0; rank < ranks.size(); ++rank) {
      rows.insert(rows.end(), rows_for[rank].begin(), rows_for[rank].end());
      counts[rank] = std::int64_t(rows_for[rank].size()) * points.dim();
    }
    send = points.coordinates(rows);
    own_positions = distribution.positions_of(ranks.rank());
  });
  std::vector<std::int64_t> from;
  received = ranks.alltoallv(std::span<const Storage>(send), counts, &from);
  pairwise::panels<accumulator_t<Storage>> packed;
  ranks.run_collectively([&] {
    std::vector<Storage>().swap(send);
    // Rows of one rank come in the order of positions.
    std::vector<std::int64_t> next(ranks.size(), 0);
    for (int rank = 1; rank < ranks.size(); ++rank) next[rank] = next[rank - 1] + from[rank - 1] / points.dim();
    std::vector<std::int32_t> place;
    for (const std::int32_t position : own_positions)
      place.push_back(std::int32_t(next[points.spread().rank_of(order[position])]++));
    packed = points.scan(received)->pack(place);
  });
  return packed;
}

}  // namespace quintet::distributed
