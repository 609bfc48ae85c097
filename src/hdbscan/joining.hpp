// Which point of a clustering a new point is next to, in mutual reachability.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pairwise/tree_points.hpp"
#include "quintet/hdbscan/hdbscan.hpp"

namespace quintet::hdbscan {

/// Throws InvalidArgument unless `model` can be a clustering of `points`, and `queries` are of the same dimension.
template <class Storage>
void check_model(const cluster_result& model, matrix_view<const Storage> points, matrix_view<const Storage> queries);

/// The nearest point of some queries.
struct join_table {
  std::vector<std::int32_t> neighbour;  ///< -1 where there is no valid point
  std::vector<double> lambda;           ///< 1 / mutual reachability distance, +infinity at distance 0
};

/// Packs the points of a clustering once, with a tree where that pays, and answers for any queries.
template <class Storage>
class join_finder {
  using Real = accumulator_t<Storage>;

 public:
  /// `queries` are expected in all: few of them are not worth a tree of the points.
  join_finder(const pairwise::scanned_points<Storage>& points, const cluster_result& model, std::int64_t queries);

  /// For rows `which` of `queries`: the point that comes first in the order (m, distance, index), where
  /// m = max(core of the query, core of the point, distance / alpha). With weights the core of a query is the radius
  /// within which points weigh k. Exact: lists of 2 k nearest points are made
  /// longer, four times each time, for the queries that they do not resolve.
  join_table operator()(const pairwise::scanned_points<Storage>& queries,
                        const std::vector<std::int32_t>& row_numbers) const;

 private:
  struct open_query {
    std::int32_t row;       ///< of the queries
    std::int64_t position;  ///< in the result
  };
  std::vector<open_query> resolve(const pairwise::scanned_points<Storage>& queries, std::span<const open_query> open,
                                  int length, join_table& result) const;
  /// Lists of `length` nearest points of the open queries, which are put into the order of the lists.
  pairwise::neighbour_table<Real> nearest(const pairwise::scanned_points<Storage>& queries,
                                          std::vector<open_query>& open, int length) const;

  std::optional<pairwise::tree_points<Real>> tree_;
  Buffer<std::int32_t> number_;    ///< of the points of the tree, as they are packed
  pairwise::panels<Real> panels_;  ///< without a tree
  std::vector<Real> core_;
  std::vector<double> weights_;  ///< of the points; empty: 1 each
  double needed_ = 0;            ///< mass within the core distance of a query
  std::int64_t valid_ = 0, neighbours_ = 0;
  Real alpha_ = 1;
};

}  // namespace quintet::hdbscan
