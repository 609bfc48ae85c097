// The search for nearest neighbours, whose points may come from anywhere and in any order.
#pragma once

#include <memory>
#include <vector>

#include "pairwise/tree_points.hpp"
#include "poincare/ball_points.hpp"
#include "quintet/poincare/nearest.hpp"

namespace quintet::poincare {

/// Lists of the nearest points of some queries. They begin with reset(), grow with every take(), and end with
/// finish(): what was found for some points may be kept, moved and taken up by another object.
template <class Storage>
class nearest_search {
 public:
  using Real = accumulator_t<Storage>;

  /// Packs the queries, of which the first has number first_query among all. index and distance [Q x k] are memory that
  /// `device` reaches and must outlive the object.
  nearest_search(matrix_view<const Storage> queries, std::int64_t first_query, matrix_view<std::int64_t> index,
                 matrix_view<Real> distance, const nearest_options& options, const Device& device);

  const std::vector<point_status>& status() const { return queries_.status; }
  /// Empty lists.
  void reset() const;
  /// Compares all queries with points of which the first has number first_point among all, in pieces within the
  /// budget; what they are is appended to `status`. Any order of calls makes the same lists.
  void take(matrix_view<const Storage> points, std::int64_t first_point, std::vector<point_status>& status) const;
  /// NaN where there is no neighbour.
  void finish() const;

 private:
  /// The lists of all queries for one piece of the points, [place][k], by the tree if that pays.
  struct piece_lists {
    pairwise::device_neighbours<Real> lists;
    const std::int32_t* place = nullptr;  ///< of every query; null: in their own order
  };
  piece_lists nearest_in(matrix_view<const Storage> rows, const pairwise::panels<Real>& packed, int k) const;

  ball ball_;
  nearest_options options_;
  Device device_;
  ball_points<Real> queries_;
  /// The valid queries with a tree, and where each of all is in it (-1: nowhere); null where no tree can pay.
  struct query_tree {
    pairwise::tree_points<Real> points;
    Buffer<std::int32_t> place;
  };
  std::unique_ptr<query_tree> tree_;
  std::int64_t first_query_;
  matrix_view<std::int64_t> index_;
  matrix_view<Real> distance_;
};

}  // namespace quintet::poincare
