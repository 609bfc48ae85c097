// Spanning trees of all k up to that of a tree with its lists: see quintet/hdbscan/spanning_trees.hpp.
//
// An edge e outside the K-lists of both its ends has d(e) >= c_K(u) and c_K(v), so its key is d(e) for every k <= K. If
// it is not in the tree of K, a path of smaller keys of K joins its ends. None of these grows when k falls, so e closes
// a cycle as its largest edge for every k. Equal keys are ordered by points, alike for all k.
//
// So the tree of k is among the entries of lists and the tree of K; with the tree of a k' between them, among the first
// k' entries of lists and the tree of k'.
#pragma once

#include <cstdint>
#include <vector>

#include "hdbscan/lightest_forest.hpp"
#include "hdbscan/listed_tree.hpp"

namespace quintet::hdbscan {

template <class Real>
class tree_candidates {
 public:
  /// Takes the lists of `largest`.
  tree_candidates(listed_tree<Real>& largest, std::int64_t points, double alpha);

  /// Whether no point outside a list is nearer than its core distance times alpha, which the proof needs. Always true
  /// for alpha = 1.
  bool suffice() const { return suffice_; }

  /// The tree of k, at most that of the call before.
  spanning_tree_result tree(std::int64_t k);

 private:
  /// An edge u < v of the caller's points.
  struct candidate {
    std::int32_t u, v;
    Real distance;
    std::int32_t place;  ///< in the list of u or v, the smaller
  };

  bool lists_reach_far() const;
  /// Calls use(u, v, distance, place) for all entries of lists, and the edges of the largest tree.
  template <class Use>
  void for_each_entry(const listed_tree<Real>& largest, const Use& use) const;
  void gather(const listed_tree<Real>& largest);
  /// Of entries of the same points the first is kept; `begin` are those of rows u, sorted.
  void keep_distinct(const std::vector<std::int64_t>& begin);
  /// Those that no further tree can have: in neither the first entries of lists nor the last tree.
  void drop_unneeded();
  /// Reduced core distances by the caller's numbers.
  std::vector<Real> cores(std::int64_t k) const;
  std::vector<edge> weigh(const std::vector<std::uint32_t>& tree, const std::vector<double>& core) const;

  std::int64_t points_;
  double alpha_;
  pairwise::reduced_metric<Real> measure_;
  std::vector<std::int32_t> order_;
  pairwise::neighbour_table<Real> lists_;
  int exact_;
  std::int64_t largest_;
  std::vector<std::int64_t> invalid_rows_, excluded_rows_;
  std::vector<double> weights_;        ///< see spanning_tree_result
  std::vector<candidate> candidates_;  ///< by (u, v)
  std::vector<char> in_tree_;          ///< whether each is in the last tree
  std::int64_t last_;                  ///< its k
  lightest_forest<Real> forest_;
  bool suffice_;
};

}  // namespace quintet::hdbscan
