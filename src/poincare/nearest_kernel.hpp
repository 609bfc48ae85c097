// Lists of the nearest points of one piece, taken into the lists of all pieces.
#pragma once

#include <cstdint>
#include <limits>

#include "poincare/packed_pairs.hpp"
#include "quintet/core/view.hpp"

namespace quintet::poincare {

/// The engine orders points by (reduced distance, index). Rounding makes several reduced distances one distance, so the
/// lists of all pieces are ordered by (distance, index), and pieces may come in any order. Insertion into sorted lists
/// (Knuth 1998, 5.2.1). Distances are 2 asinh(sqrt(t)) / sqrt(c), which is arcosh(1 + 2 t) / sqrt(c) of Nickel, Kiela
/// 2017.
template <class Real, class Shape>
struct take_piece_kernel {
  using shape = Shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, queries_per_tile = Shape::on_device ? 64 : 16 };

  packed_pairs<Real> pairs;  ///< of queries and the points of the piece
  const Real* piece_value;
  const std::int32_t* piece_index;
  const std::int32_t* place;  ///< of every query: its list, -1 for none; null: in their own order
  /// Entries of a list of the piece, and how many of them are wanted: one less, if the piece has so many points.
  std::int64_t piece_k, wanted;
  bool may_lose;  ///< see pairwise::scanned_points
  std::int64_t first_point, first_query;
  bool exclude_self;
  matrix_view<Real> value;
  matrix_view<std::int64_t> index;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int e = team.rank(); e < queries_per_tile; e += team.size()) {
      const std::int64_t query = tile * queries_per_tile + e;
      if (query < index.rows()) take(query);
    }
  }

 private:
  /// Distances of reduced distances that ascend do so up to a few roundings.
  static constexpr Real slack = 8 * std::numeric_limits<Real>::epsilon();

  void take(std::int64_t query) const {
    const std::int64_t list = place == nullptr ? query : place[query];
    if (list < 0) return;
    const entries of{piece_value + list * piece_k, piece_index + list * piece_k};
    if (wanted < piece_k && of.points[wanted] >= 0) {
      const Real farthest = farthest_wanted(query, of);
      if (has_equals_outside(query, of, farthest)) return take_all(query, of.reduced[wanted], farthest);
    }
    // Entries after one that is too far may be as near by a rounding.
    for (std::int64_t e = 0; e < piece_k && of.points[e] >= 0; ++e)
      insert(query, distance(query, of, e), first_point + of.points[e]);
  }

  struct entries {
    const Real* reduced;
    const std::int32_t* points;
  };
  Real distance(std::int64_t query, const entries& of, std::int64_t e) const {
    return pairs.distance(query, of.points[e], of.reduced[e], may_lose);
  }

  /// Of the entries that are wanted, up to `slack`.
  Real farthest_wanted(std::int64_t query, const entries& of) const {
    Real farthest = 0;
    for (std::int64_t e = may_lose ? 0 : wanted - 1; e < wanted; ++e) {
      const Real measured = distance(query, of, e);
      farthest = measured > farthest ? measured : farthest;
    }
    return farthest;
  }

  /// Whether points that are not in the list may come before some that are wanted.
  bool has_equals_outside(std::int64_t query, const entries& of, Real farthest) const {
    const Real last = of.reduced[wanted];
    const bool is_lost = may_lose && pairs.ball.lost(pairs.measure.distance(last));
    // All points at distance 0 have the same reduced distance, and are in the order of their indices.
    if (last == 0 && !is_lost) return false;
    return is_lost || distance(query, of, wanted) * (1 - slack) <= farthest;
  }

  /// Every point of the piece that may be as near as `farthest`; `last` is the reduced distance of one that is.
  void take_all(std::int64_t query, Real last, Real farthest) const {
    const Real limit = farthest * (1 + slack);
    // A change of d by a part of it is one of t by at most max(2, d sqrt(c)) times that part, and d sqrt(c) < 80.
    const Real reduced_limit = may_lose ? std::numeric_limits<Real>::infinity() : last * (1 + 200 * slack);
    // A panel at once in SIMD registers; one point on a device, whose threads have no registers that are indexed.
    constexpr int step = Shape::on_device ? 1 : int(packed_pairs<Real>::columns);
    Real reduced[step];
    for (std::int64_t first = 0; first < pairs.count; first += step) {
      pairs.template reduce<step>(query, first, reduced);
      for (std::int64_t j = 0; j < step && first + j < pairs.count; ++j) {
        if (!(reduced[j] <= reduced_limit)) continue;
        const Real measured = pairs.distance(query, first + j, reduced[j], may_lose);
        if (measured <= limit) insert(query, measured, first_point + first + j);
      }
    }
  }

  static bool comes_before(Real distance, std::int64_t point, Real other_distance, std::int64_t other) {
    return other < 0 || distance < other_distance || (distance == other_distance && point < other);
  }
  void insert(std::int64_t query, Real candidate, std::int64_t point) const {
    if (exclude_self && point == first_query + query) return;
    Real* values = value.row(query);
    std::int64_t *points = index.row(query), e = index.cols() - 1;
    if (!comes_before(candidate, point, values[e], points[e])) return;
    for (; e > 0 && comes_before(candidate, point, values[e - 1], points[e - 1]); --e) {
      values[e] = values[e - 1];
      points[e] = points[e - 1];
    }
    values[e] = candidate;
    points[e] = point;
  }
};

}  // namespace quintet::poincare
