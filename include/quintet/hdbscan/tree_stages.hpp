// The stages of HDBSCAN's tree: edges become a dendrogram, a condensed tree, clusters, and labels with scores.
// cluster_tree() does all of them. Call the stages for a tree of another program, for other rules, or for intermediate
// results.
//
//   auto tree = single_linkage(edges, n);               // or a dendrogram from elsewhere
//   auto summary = summarise(condense(tree, options));
//   auto labels = label_points(summary, select_clusters(summary, options), options);
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/hdbscan/edge.hpp"
#include "quintet/pairwise/metric.hpp"

namespace quintet::hdbscan {

/// Treatment of several merges of the same height.
///
/// Mutual reachability makes equal heights common even without duplicate points, and a binary tree then depends on the
/// order of equal edges. `canonical` does all merges of one height at once, so the result depends on the points alone.
/// `binary` takes the rows of the dendrogram one by one, as other implementations do.
enum class ties { canonical, binary };

/// The tie_tolerance of options without one: (dim / 2 + 68) eps, at most 1/1024; eps is that of the type computed in
/// (float for 16-bit types).
///
/// Distances of `dim` coordinates have an error of (dim / 2 + 4) eps. 64 eps are for the coordinates, which are rounded
/// too: two of a size of up to 64 distances, such as 7.9 and 7.8, bring an error of as much. So equal distances stay
/// equal in every unit of length. Coordinates of M > 64 distances need M eps. Distances from elsewhere count as dim =
/// 0. O(1).
double default_tie_tolerance(scalar_type type = scalar_type::float64, std::int64_t dim = 0);

/// Which clusters of the condensed tree are taken.
enum class selection {
  eom,  ///< the antichain of largest total stability ("excess of mass", Campello, Moulavi, Sander 2013)
  leaf  ///< all clusters that do not split any more
};

/// Options of cluster(). Those up to allow_single_cluster are of the tree: condense(), select_clusters() and everything
/// after them read no others. Heights are distances, in units of the edges.
struct cluster_options {
  std::int64_t min_cluster_size = 5;  ///< smallest group that is a cluster; >= 2, may exceed N; 5 as other programs
  ties tie_mode = ties::canonical;    ///< treatment of equal heights
  /// canonical: heights in [h (1 - tie_tolerance), h] count as h; in [0, 1). Empty: default_tie_tolerance() of the
  /// points
  std::optional<double> tie_tolerance = std::nullopt;
  selection method = selection::eom;  ///< which clusters are taken
  double epsilon = 0;                 ///< >= 0: clusters born at a smaller height give way to an ancestor; 0 = off
  double epsilon_max = std::numeric_limits<double>::infinity();  ///< > 0: eom takes no cluster born at a larger height
  std::int64_t max_cluster_size = 0;                             ///< >= 0: eom takes no larger cluster; 0 = no limit
  bool allow_single_cluster = false;                             ///< the root may be taken
  std::int64_t min_samples = 0;                                  ///< k of the core distances; 0: min_cluster_size
  bool count_self = false;                    ///< k = min_samples - 1, as scikit-learn and the paper count
  double alpha = 1;                           ///< > 0, finite: divides distances, not core distances
  point_metric distance = metric::euclidean;  ///< d of points
};
/// A name of the same options if there is only a tree.
using tree_options = cluster_options;

/// Throws InvalidArgument naming the first option of the tree that is outside its range (or NaN), its value and the
/// range. O(1).
void check_options(const tree_options& options);

// Single linkage: the binary tree of merges that Kruskal's algorithm makes from weighted edges. It takes edges in the
// total order (weight, u, v); each edge that joins two components makes one merge. The result is the dendrogram of the
// graph (Gower & Ross 1969), in the row format of SciPy and scikit-learn-contrib/hdbscan.

/// One merge. Ids below N are points; id N + t is the node of row t.
struct linkage_row {
  ///@{
  /// Ids of the two nodes that join.
  std::int64_t left = 0, right = 0;
  ///@}
  double height = 0;      ///< weight of the edge that joins them, >= 0, +infinity = no edge does
  std::int64_t size = 0;  ///< points below, >= 2

  /// Equal in everything.
  friend bool operator==(const linkage_row& a, const linkage_row& b) = default;
};

/// A dendrogram of `points` points: points - 1 rows, children before parents.
///
/// Points may have weights. One of weight w counts w times wherever the functions below count points. Where w > 1 it
/// stands for a node with w children of size 1, as w copies of it join at its height, the core distance.
struct single_linkage_tree {
  std::int64_t points = 0;        ///< N
  std::vector<linkage_row> rows;  ///< N - 1 (none for N = 0), heights do not decrease from child to parent
  std::vector<double> weights{};  ///< N, >= 0, finite; empty: 1 each
  std::vector<double> heights{};  ///< N if there are weights: of the points, not above those of their parents
};

/// The dendrogram of n points joined by `edges`, in any order and orientation.
///
/// Edges that close a cycle are ignored, so you can pass the edges of any graph: its minimum spanning forest decides.
/// Parts that finite edges leave unconnected join at height +infinity, components by increasing smallest point;
/// connected_components() counts them. Row t has left = the node of the edge's smaller end point.
///
/// Throws InvalidArgument for n < 1, an end point outside [0, n), u = v, or a weight that is negative or NaN.
/// Cost: O(E log E) time (O(E) when the edges come in the total order), 24 bytes per edge and 56 per point.
single_linkage_tree single_linkage(std::span<const edge> edges, std::int64_t n);

/// Number of components that merges of finite height leave: 1 + rows of height +infinity (0 for a tree of no points).
/// `tree` is not checked. Cost: O(N).
std::int64_t connected_components(const single_linkage_tree& tree);

/// Throws InvalidArgument unless `tree` is a dendrogram. It must have points - 1 rows, use every node once as a child
/// and after it was made, and have sizes that add up. Heights must be >= 0, not NaN, and not decrease from child to
/// parent. Weights and heights must be as single_linkage_tree says. Cost: O(N) time, 2 bytes per point.
void check_linkage(const single_linkage_tree& tree);

// The condensed tree: the dendrogram without the splits that only shed a few points. Walking down from the root, a
// split is real if at least two sides have min_cluster_size points. Otherwise points just leave and the cluster
// continues (Campello, Moulavi, Sander 2013; the row format of McInnes & Healy 2017).

/// One departure: `child` leaves `parent` at density lambda = 1 / height. Child ids below N are points, of size 1;
/// others are clusters born at that lambda, of `size` points.
struct condensed_row {
  ///@{
  /// Ids; `parent` is a cluster.
  std::int64_t parent = 0, child = 0;
  ///@}
  double lambda = 0;      ///< >= 0; 0 at height +infinity, +infinity at height 0
  std::int64_t size = 0;  ///< points that leave, >= 1, whatever their weights

  /// Equal in everything.
  friend bool operator==(const condensed_row& a, const condensed_row& b) = default;
};

/// The condensed tree of `points` points. Cluster ids: the root is `points`, the others follow without a gap, parents
/// before children, the children of one cluster one after another.
struct condensed_tree {
  std::int64_t points = 0;          ///< N
  std::int64_t clusters = 0;        ///< number of clusters, the root included
  std::vector<condensed_row> rows;  ///< increasing in (parent, lambda, child)
  std::vector<double> weights{};    ///< N; empty: 1 each
};

/// Condenses `tree` with options.min_cluster_size, tie_mode and tie_tolerance (empty: default_tie_tolerance() of
/// heights in double).
///
/// The function walks breadth-first from the root. Let cluster P be at a node of height h with children below it:
///
/// - At least two children have min_cluster_size points: each of these is a new cluster, and the points of the others
///   leave P.
/// - One child has: it continues as P.
/// - No child has: all points leave.
///
/// `binary` has the two children of the row, left first. `canonical` has all components just below h, so neither the
/// order of points nor the choice among minimum spanning trees matters. New clusters are numbered by increasing
/// smallest point. No cluster is ever split at height 0, in either mode.
///
/// With weights "have min_cluster_size points" means that their weights sum to as much, and a single point may. Such a
/// point leaves its cluster at its height, or at h where the two tie. Sums are rounded once.
///
/// A single point of weight 1 at most gives a tree of no rows. Throws InvalidArgument for weights with `binary` ties.
/// Throws InvalidArgument if `tree` is not a valid dendrogram (check_linkage()) and for options out of range. Cost: at
/// most O(N log N) time, about 150 bytes per point without the tree, no recursion.
condensed_tree condense(const single_linkage_tree& tree, const tree_options& options);

// Properties of each cluster and each point of the condensed tree, as plain arrays.

/// Columns over clusters, indexed by id - N (0 is the root), and over points. Densities are lambda = 1 / height.
struct tree_summary {
  std::vector<std::int64_t> parent;       ///< index of the cluster it came from; -1 for the root
  std::vector<std::int64_t> size;         ///< points at birth
  std::vector<double> mass;               ///< sum of their weights; empty: size
  std::vector<std::int64_t> first_child;  ///< index of the first of its child clusters, which follow one another
  std::vector<std::int64_t> children;     ///< number of child clusters
  std::vector<double> birth;              ///< lambda at which it appears; 0 for the root
  std::vector<double> death;              ///< largest lambda of its rows; 0 without rows
  std::vector<double> deepest;            ///< largest lambda of its rows and those of its descendants
  std::vector<double> stability;          ///< sum over its rows of (lambda - birth) * mass; may be +infinity, never NaN

  std::vector<std::int64_t> point_cluster;  ///< per point: index of the cluster that it leaves
  std::vector<double> point_lambda;         ///< per point: lambda at which it leaves
  std::vector<double> point_weight;         ///< per point; empty: 1 each
};

/// Summarises a tree that condense() made. Stability is that of Campello, Moulavi, Sander (2013), where infinity -
/// infinity counts as 0. Rows of one lambda are added up before anything is rounded, so the sums do not depend on the
/// order of the points.
///
/// Throws InvalidArgument for rows that such a tree cannot have. Every point and every cluster but the root leaves one
/// cluster once. That cluster was born at no larger lambda, and has as many points as leave it. Ids are in range,
/// parents come before children, and children follow one another. lambda is >= 0 and not NaN. The order of the rows is
/// free otherwise. Cost: O(N) time, 16 bytes per point and 72 per cluster.
tree_summary summarise(const condensed_tree& tree);

// Selection of the clusters of the flat clustering.

/// Indices (id - N) of the selected clusters, increasing: the k-th is label k. None contains another.
///
/// `eom` goes from the leaves up and takes a cluster, with three exceptions (Campello, Moulavi, Sander 2013). The
/// stabilities of the best clusters below its children sum to more than that of the cluster, it is larger than
/// max_cluster_size, or it was born above epsilon_max. `leaf` takes the clusters without children. `eom` takes the root
/// only with allow_single_cluster, `leaf` never does.
///
/// With epsilon > 0, unless the root alone is selected, every cluster born at a height below epsilon is then replaced
/// by its nearest ancestor born above epsilon (Malzer & Baum 2020). If only the root is above, the root's child on the
/// way replaces it (the root itself with allow_single_cluster). Heights within tie_tolerance of epsilon or epsilon_max
/// are equal to it (canonical).
///
/// Throws InvalidArgument for options out of range and a `summary` that summarise() cannot have made. Cost: O(N) time
/// for that and O(C log C) at most, O(C) memory for C clusters.
std::vector<std::int64_t> select_clusters(const tree_summary& summary, const tree_options& options);

/// `options` with an epsilon, and if need be a method, at which select_clusters() takes `clusters` clusters. A larger
/// epsilon never gives more. options.epsilon is not read; its place is taken by 0 if that is enough, or else by the
/// middle between two heights at which clusters are born. Where eom has fewer clusters, the method becomes leaf.
///
/// A split may add several clusters, and a tree has only so many leaves. A number that is out of reach gives the
/// largest possible number below it, or the smallest possible of all. Throws InvalidArgument for clusters < 1, and as
/// select_clusters() does. Cost: log C times that of select_clusters().
tree_options options_for_clusters(const tree_summary& summary, std::int64_t clusters, const tree_options& options);

// Labels, membership probabilities, persistence and exemplars of selected clusters.

/// The flat clustering, one entry per point.
struct point_labels {
  std::vector<std::int64_t> labels;   ///< 0..K-1, or -1 for noise
  std::vector<double> probabilities;  ///< in [0, 1]; 0 for noise
};

/// Points grouped by label: those of label k are points[offsets[k]] .. points[offsets[k + 1] - 1], increasing.
struct point_groups {
  std::vector<std::int64_t> offsets;  ///< K + 1 entries
  std::vector<std::int64_t> points;   ///< indices of points
};

/// Labels the points; `selected` is the result of select_clusters() for the same summary and options.
///
/// A point belongs to the selected cluster that it leaves, or that is above the cluster it leaves. Of a selected root
/// only the points with lambda >= 1 / epsilon stay (without epsilon: lambda >= the largest lambda of the root's own
/// rows).
///
/// The probability is min(lambda, M) / M (McInnes & Healy 2017), 1 where M = 0 or lambda is infinite. M is the largest
/// finite lambda of the selected cluster's own rows, because copies of a point leave at infinity and would make all
/// others nothing. M is infinite only if all are copies.
///
/// Throws InvalidArgument for options out of range, for a `summary` that summarise() cannot have made, and for clusters
/// that do not increase or are not in it. Cost: O(N) time and memory.
point_labels label_points(const tree_summary& summary, std::span<const std::int64_t> selected,
                          const tree_options& options);

/// Persistence of each selected cluster: its stability / (mass labelled with it * largest lambda of the whole tree);
/// 1 where that lambda is 0 or infinite or no point has the label. It is in [0, 1], but a single root with much noise
/// may exceed 1, because dropped points add to its stability. `labels` are those of label_points(), one per point, in
/// [-1, K). Throws InvalidArgument for others, and for summary and clusters as label_points() does. Cost: O(N) time,
/// O(K) memory.
std::vector<double> persistence(const tree_summary& summary, std::span<const std::int64_t> selected,
                                std::span<const std::int64_t> labels);

/// Exemplars of each selected cluster: the points that stay to the end, that is to the largest lambda, in the leaf
/// clusters below it (McInnes & Healy 2017), as far as they carry its label. Arguments and errors as for persistence().
/// Cost: O(N) time and memory.
point_groups exemplars(const tree_summary& summary, std::span<const std::int64_t> selected,
                       std::span<const std::int64_t> labels);

// GLOSH: how much earlier a point leaves its cluster than the densest part of it dissolves.

/// GLOSH outlier score of every point, selected clusters or not: (M - lambda) / M, in [0, 1]. The point leaves cluster
/// c at lambda, and M is the largest finite lambda in c and all its descendants (Campello, Moulavi, Zimek, Sander 2015;
/// finite as in label_points()). 0 where M = 0 or lambda is infinite. Throws InvalidArgument for a `summary` that
/// summarise() cannot have made. Cost: O(N) time and memory.
std::vector<double> outlier_scores(const tree_summary& summary);

}  // namespace quintet::hdbscan
