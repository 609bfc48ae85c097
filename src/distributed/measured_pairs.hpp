// Distances of pairs of points that are spread over ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "distributed/shared_rows.hpp"
#include "hdbscan/spanning_tree_stages.hpp"
#include "pairwise/pairs.hpp"

namespace quintet::distributed {

/// Weights of edges for alpha != 1: the owner of u measures the pair. The other end's coordinates travel.
template <class Storage>
void measure_pairs(process_group& ranks, const shared_points<Storage>& points, double alpha,
                   const std::vector<double>& core, const Device& device, std::vector<quintet::hdbscan::edge>& edges) {
  using Real = accumulator_t<Storage>;
  const row_spread& spread = points.spread();
  const std::int64_t first = points.first_row(), end = first + points.rows().rows(), dim = points.dim();
  const auto is_own = [&](std::int64_t row) { return row >= first && row < end; };
  // Ends that others have, each once; and who has them.
  std::vector<std::int32_t> foreign;
  std::vector<std::int64_t> counts(ranks.size(), 0);
  ranks.run_collectively([&] {
    for (const quintet::hdbscan::edge& e : edges)
      if (is_own(e.u) && !is_own(e.v)) foreign.push_back(std::int32_t(e.v));
    std::sort(foreign.begin(), foreign.end());
    foreign.erase(std::unique(foreign.begin(), foreign.end()), foreign.end());
    for (const std::int32_t row : foreign) ++counts[spread.rank_of(row)];
  });
  std::vector<std::int64_t> asked;
  std::vector<std::int32_t> requested = ranks.alltoallv(std::span<const std::int32_t>(foreign), counts, &asked);
  std::vector<Storage> send;
  ranks.run_collectively([&] {
    for (std::int32_t& row : requested) row -= std::int32_t(first);
    send = points.coordinates(requested);
  });
  for (std::int64_t& count : asked) count *= dim;
  const std::vector<Storage> came = ranks.alltoallv(std::span<const Storage>(send), asked);
  std::vector<Real> local;
  ranks.run_collectively([&] {
    // Own rows and those that came, one after another.
    std::vector<std::int32_t> own_rows(points.rows().rows());
    for (std::size_t i = 0; i < own_rows.size(); ++i) own_rows[i] = std::int32_t(i);
    std::vector<Storage> coordinates = points.coordinates(own_rows);
    coordinates.insert(coordinates.end(), came.begin(), came.end());
    const auto scanned = points.scan(coordinates);
    std::vector<std::int64_t> pairs;
    for (const quintet::hdbscan::edge& e : edges) {
      if (!is_own(e.u)) continue;
      const std::int64_t v =
          is_own(e.v) ? e.v - first
                      : end - first + (std::lower_bound(foreign.begin(), foreign.end(), e.v) - foreign.begin());
      pairs.insert(pairs.end(), {e.u - first, v});
    }
    const Buffer<std::int64_t> device_pairs(pairs, device);
    Buffer<Real> values(std::int64_t(pairs.size()) / 2, device);
    pairwise::reduced_pairs<Storage>(*scanned, {device_pairs.data(), values.size(), 2}, values.data());
    local = values.to_vector();
  });
  const std::vector<Real> reduced = ranks.allgather(std::span<const Real>(local));
  ranks.run_collectively([&] {
    // Ranks have their edges in one order.
    std::vector<std::int64_t> next(ranks.size() + 1, 0);
    for (const quintet::hdbscan::edge& e : edges) ++next[spread.rank_of(e.u) + 1];
    for (int rank = 0; rank < ranks.size(); ++rank) next[rank + 1] += next[rank];
    for (quintet::hdbscan::edge& e : edges)
      e.weight = quintet::hdbscan::edge_weight(core[e.u], core[e.v], reduced[next[spread.rank_of(e.u)]++], alpha,
                                               points.measure());
  });
}

}  // namespace quintet::distributed
