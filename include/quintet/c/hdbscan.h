/// @file
/// HDBSCAN* in C: exact hierarchical density-based clustering (Campello, Moulavi, Sander 2013, 2015) and its
/// stages. Conventions of pointers, types, devices, errors and threads: quintet/c/core.h. Formulas, sources, accuracy
/// and costs: quintet/hdbscan/*.hpp.
//
// `points` is [n x dim], 0 <= n <= 2^31 - 1025, dim >= 1, of any type. Rows with NaN or infinity (cosine: without
// length; Poincare: not in the ball) are invalid: they are left out, and are noise.
//
// Invalid everywhere: other shapes and types, options out of range. Functions of points also return out of memory and
// device error. Memory: one copy of the points on the device that works, and the memory that a comment states.
#ifndef QUINTET_C_HDBSCAN_H
#define QUINTET_C_HDBSCAN_H

#include "quintet/c/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Treatment of several merges of one height.
typedef int32_t quintet_ties;
enum {
  QUINTET_TIES_CANONICAL = 0,  ///< merges of one height happen at once: the result depends on the points alone
  QUINTET_TIES_BINARY = 1      ///< one after another, as other programs do
};

/// Which clusters of the condensed tree are taken.
typedef int32_t quintet_selection;
enum {
  QUINTET_SELECT_EOM = 0,  ///< the antichain of largest total stability ("excess of mass")
  QUINTET_SELECT_LEAF = 1  ///< clusters that do not split any more
};

/// As options.min_cluster_size of functions that cluster: the most persistent size (PLSCAN), or 5 where nothing splits.
/// options.min_samples 0 is 5 then.
#define QUINTET_AUTOMATIC_SIZE INT64_MIN

/// What makes a setting of a sweep the best.
typedef int32_t quintet_score;
enum {
  QUINTET_SCORE_PERSISTENCE = 0,        ///< that of the leaves, over min_cluster_size
  QUINTET_SCORE_RELATIVE_VALIDITY = 1,  ///< see quintet_hdbscan_relative_validity()
  QUINTET_SCORE_DBCV = 2                ///< see quintet_hdbscan_validity(); of the 16 of the largest relative validity
};

/// The tie_tolerance of options that leave it to the library: quintet_hdbscan_default_tie_tolerance() of the points.
#define QUINTET_HDBSCAN_DEFAULT_TIE_TOLERANCE (-1.0)

/// Options of all functions of the family; each reads the members that concern it.
typedef struct quintet_hdbscan_options {
  size_t size;                  ///< of this struct
  int64_t min_cluster_size;     ///< smallest group that is a cluster; >= 2, or QUINTET_AUTOMATIC_SIZE; default 5
  int64_t min_samples;          ///< k of the core distances, >= 0; 0 (default): min_cluster_size
  int32_t count_self;           ///< not 0: k = min_samples - 1, as scikit-learn and the paper count; default 0
  quintet_metric metric;        ///< default QUINTET_EUCLIDEAN
  double curvature;             ///< of QUINTET_POINCARE and _LORENTZ alone: -c with c in [1e-30, 1e30]; default -1
  double alpha;                 ///< > 0, finite: divides distances, not core distances; default 1
  quintet_ties ties;            ///< default QUINTET_TIES_CANONICAL
  quintet_selection selection;  ///< default QUINTET_SELECT_EOM
  /// canonical: heights in [h (1 - tie_tolerance), h] count as h; in [0, 1), or the default,
  /// QUINTET_HDBSCAN_DEFAULT_TIE_TOLERANCE
  double tie_tolerance;
  double epsilon;                ///< >= 0: clusters born at a smaller height give way to an ancestor; default 0 = off
  double epsilon_max;            ///< > 0: eom takes no cluster born at a larger height; default infinity
  int64_t max_cluster_size;      ///< >= 0: eom takes no larger cluster; default 0 = no limit
  int32_t allow_single_cluster;  ///< not 0: the root may be taken; default 0
  int32_t core_on_diagonal;      ///< matrices: not 0: m(i, i) = core_i instead of 0; default 0
  double p;                      ///< of QUINTET_MINKOWSKI alone: infinity, or in [1, 8], double [1, 64]; default 2
  double sphere_radius;          ///< of QUINTET_HAVERSINE alone: in [1e-30, 1e30]; default 1
  quintet_angle_unit unit;       ///< of QUINTET_HAVERSINE alone; default QUINTET_DEGREES
  /// [n] of functions of n points, >= 0 and finite: how often each counts, as if it were repeated; NULL (default):
  /// once. Ties have to be canonical. Points of weight 0 are left out, and are noise.
  const double* weights;
  /// Of a row, of QUINTET_HAMMING and _JACCARD in [1, 2^24], of QUINTET_INTEGER_* 16 for each integer; default 0: must
  /// be set.
  int64_t bits;
  /// [factor_count] of QUINTET_PRODUCT alone, of weights in [1e-30, 1e30]; their dimensions add up to that of the
  /// points.
  const quintet_factor* factors;
  int64_t factor_count;  ///< in [1, 16]
} quintet_hdbscan_options;

/// *options := the defaults. `size` is sizeof *options.
QUINTET_API quintet_status quintet_hdbscan_options_default(quintet_hdbscan_options* options,
                                                           size_t size) QUINTET_NOEXCEPT;

/// *tolerance := (dim / 2 + 68) eps, at most 1/1024: what rounding may do to equal distances of dim >= 0 coordinates of
/// `type` (eps of float for 16-bit types). Distances from elsewhere count as dim = 0. Invalid: dim < 0. Time O(1).
QUINTET_API quintet_status quintet_hdbscan_default_tie_tolerance(quintet_type type, int64_t dim,
                                                                 double* tolerance) QUINTET_NOEXCEPT;

/// An edge between points u < v. Never changes.
typedef struct quintet_edge {
  int64_t u;      ///< the smaller end
  int64_t v;      ///< the larger end
  double weight;  ///< a distance, >= 0
} quintet_edge;

/// One merge of the dendrogram: ids below n are points, id n + t is the node of row t. Never changes.
typedef struct quintet_linkage_row {
  int64_t left;    ///< id of one of the two that join
  int64_t right;   ///< id of the other
  double height;   ///< a distance, >= 0; +infinity: no edge joins them
  int64_t points;  ///< below, >= 2
} quintet_linkage_row;

/// One departure of the condensed tree: at density lambda = 1 / height `child` leaves `parent`. Child ids below n are
/// points; clusters have the ids n (the root), n + 1, ... Never changes.
typedef struct quintet_condensed_row {
  int64_t parent;  ///< id of a cluster
  int64_t child;   ///< id of a point or a cluster
  double lambda;   ///< >= 0; 0 at height +infinity, +infinity at height 0
  int64_t points;  ///< in the child
} quintet_condensed_row;

/// A clustering with its inputs.
typedef struct quintet_hdbscan_clustering quintet_hdbscan_clustering;

/// A clustering that is kept ready for new points.
typedef struct quintet_hdbscan_predictor quintet_hdbscan_predictor;

/// A setting of a sweep, and its clustering in figures. Never changes.
typedef struct quintet_hdbscan_setting {
  int64_t min_samples;       ///< as asked for
  int64_t min_cluster_size;  ///< its size
  double epsilon;            ///< its epsilon
  int64_t tree;              ///< settings of one tree have the same number
  int64_t clusters;          ///< labels
  int64_t noise;             ///< points without one; with weights the sum of theirs, rounded down
  double persistence;        ///< of the leaves at min_cluster_size; 0 for sizes up to min_samples
  double relative_validity;  ///< see quintet_hdbscan_relative_validity()
  double dbcv;               ///< NaN: not computed
  double stability;          ///< sum over the clusters; may be +infinity
} quintet_hdbscan_setting;

/// Clusterings with many parameters.
typedef struct quintet_hdbscan_sweep quintet_hdbscan_sweep;

// --- distances ---

/// Distance of every point to its k-th nearest other point: core[n], of the real type of `type`; NaN for invalid rows.
/// *neighbours: the k that was used, smaller than the option if there are fewer points (may be NULL). With
/// options.weights it is the smallest radius within which they sum to k + 1, that of the point with them. Time n^2 dim
/// / 2 multiply-adds. Invalid: shapes, options; also out of memory, device error.
QUINTET_API quintet_status quintet_hdbscan_core_distances(const void* points, quintet_type type, int64_t n, int64_t dim,
                                                          int64_t stride, const quintet_hdbscan_options* options,
                                                          const char* device, void* core,
                                                          int64_t* neighbours) QUINTET_NOEXCEPT;

/// out [n x n] (stride out_stride, of the real type) := max(core_i, core_j, d(i, j) / alpha), 0 on the diagonal. `core`
/// [n] of the real type; NULL stands for zeros. NaN in the rows and columns of invalid points.
/// Invalid: shapes, options, a core distance that is negative, or NaN where the point is not. Time n^2 dim / 2.
QUINTET_API quintet_status quintet_hdbscan_mutual_reachability(const void* points, quintet_type type, int64_t n,
                                                               int64_t dim, int64_t stride, const void* core,
                                                               const quintet_hdbscan_options* options,
                                                               const char* device, void* out,
                                                               int64_t out_stride) QUINTET_NOEXCEPT;

/// Both at once, every distance computed once: core [n] (may be NULL) and out [n x n], the same bits. Errors of the
/// two, and options.weights; time n^2 dim / 2, on an offload device that of the two.
QUINTET_API quintet_status quintet_hdbscan_core_and_reachability(const void* points, quintet_type type, int64_t n,
                                                                 int64_t dim, int64_t stride,
                                                                 const quintet_hdbscan_options* options,
                                                                 const char* device, void* core, void* out,
                                                                 int64_t out_stride) QUINTET_NOEXCEPT;

/// out[e], of the real type := mutual reachability of points pairs[2 e] and pairs[2 e + 1], for e in [0, count). The
/// same bits as the matrix. Runs on the host. Invalid: also an index outside [0, n). Time (n + count) dim.
QUINTET_API quintet_status quintet_hdbscan_reachability_pairs(const void* points, quintet_type type, int64_t n,
                                                              int64_t dim, int64_t stride, const void* core,
                                                              const int64_t* pairs, int64_t count,
                                                              const quintet_hdbscan_options* options,
                                                              void* out) QUINTET_NOEXCEPT;

/// Gets rows [first_row, first_row + rows) of the matrix: n columns, of the real type, valid during the call only.
/// Returning 0 stops the work.
typedef int32_t (*quintet_row_block)(int64_t first_row, const void* values, int64_t rows, int64_t columns,
                                     int64_t stride, void* user);

/// The matrix by blocks of rows, in ascending order, with at most `budget_bytes` >= 0 for a block (but at least 96
/// rows). Nothing n x n is stored. QUINTET_CANCELLED when `receive` stopped it. Invalid: also a negative budget, no
/// `receive`. Time n^2 dim.
QUINTET_API quintet_status quintet_hdbscan_reachability_rows(const void* points, quintet_type type, int64_t n,
                                                             int64_t dim, int64_t stride, const void* core,
                                                             int64_t budget_bytes,
                                                             const quintet_hdbscan_options* options, const char* device,
                                                             quintet_row_block receive, void* user) QUINTET_NOEXCEPT;

/// The exact minimum spanning tree of mutual reachability: edges[n - 1] by (weight, u, v). The function writes *count
/// of them, one less than there are valid rows. core [n] in double (may be NULL). Nothing n x n is stored. Also
/// cancelled. Time: 1 to 2 passes over all pairs; memory: 8 (float) or 12 (double) bytes for each of k + 11 neighbours
/// of a point, and 32 MiB or a quarter of the points' bytes.
QUINTET_API quintet_status quintet_hdbscan_spanning_tree(const void* points, quintet_type type, int64_t n, int64_t dim,
                                                         int64_t stride, const quintet_hdbscan_options* options,
                                                         const char* device, quintet_progress report, void* user,
                                                         quintet_edge* edges, int64_t* count,
                                                         double* core) QUINTET_NOEXCEPT;

// --- clustering ---

/// Clusters points. *clustering is freed with quintet_hdbscan_free(). Same bits on every run, for any number of threads
/// and on every device. Time and memory of the spanning tree; O(n) for the result. Invalid: shapes, options; also out
/// of memory, device error, cancelled.
QUINTET_API quintet_status quintet_hdbscan_cluster(const void* points, quintet_type type, int64_t n, int64_t dim,
                                                   int64_t stride, const quintet_hdbscan_options* options,
                                                   const char* device, quintet_progress report, void* user,
                                                   quintet_hdbscan_clustering** clustering) QUINTET_NOEXCEPT;

/// Clusters by given distances [n x n], float or double: symmetric, >= 0, +infinity for no edge; the diagonal is not
/// read. Invalid: also the first entry that breaks this, and options.weights. Time O(n^2), on the host.
QUINTET_API quintet_status quintet_hdbscan_cluster_distances(const void* distances, quintet_type type, int64_t n,
                                                             int64_t stride, const quintet_hdbscan_options* options,
                                                             quintet_hdbscan_clustering** clustering) QUINTET_NOEXCEPT;

/// Clusters an undirected graph of n nodes in compressed rows: the neighbours of i are columns[e] at distance
/// values[e] >= 0, float or double, for row_begin[i] <= e < row_begin[i + 1]; row_begin [n + 1] begins with 0. An edge
/// may stand in one direction or in both. Invalid: also a loop, a column outside [0, n), an edge with two values, and
/// options.weights. Time O(E log E), on the host.
QUINTET_API quintet_status quintet_hdbscan_cluster_graph(const int64_t* row_begin, const int64_t* columns,
                                                         const void* values, quintet_type type, int64_t n,
                                                         const quintet_hdbscan_options* options,
                                                         quintet_hdbscan_clustering** clustering) QUINTET_NOEXCEPT;

/// The tree stage alone: n >= 1 points and the edges of a spanning tree of theirs, or of any graph. Core distances are
/// those of no points. Without a tie_tolerance the edges are distances in double from elsewhere. Invalid: also
/// options.weights, n < 1, an end outside [0, n), u = v, a weight that is negative or NaN. Time O(count log count), on
/// the host; about 250 bytes per point.
QUINTET_API quintet_status quintet_hdbscan_cluster_edges(const quintet_edge* edges, int64_t count, int64_t n,
                                                         const quintet_hdbscan_options* options,
                                                         quintet_hdbscan_clustering** clustering) QUINTET_NOEXCEPT;

/// Frees a clustering and all arrays that its accessors gave. NULL is allowed.
QUINTET_API void quintet_hdbscan_free(quintet_hdbscan_clustering* clustering) QUINTET_NOEXCEPT;

// --- contents of a clustering: arrays of the handle, O(1); both outputs may be NULL. Invalid: a NULL handle ---

/// Label of each of the n points: 0 ... clusters - 1, -1 for noise.
QUINTET_API quintet_status quintet_hdbscan_labels(const quintet_hdbscan_clustering* clustering, const int64_t** labels,
                                                  int64_t* n) QUINTET_NOEXCEPT;
/// Membership of each point in its cluster, in [0, 1]; 0 for noise.
QUINTET_API quintet_status quintet_hdbscan_probabilities(const quintet_hdbscan_clustering* clustering,
                                                         const double** probabilities, int64_t* n) QUINTET_NOEXCEPT;
/// GLOSH outlier score of each point, in [0, 1].
QUINTET_API quintet_status quintet_hdbscan_outlier_scores(const quintet_hdbscan_clustering* clustering,
                                                          const double** scores, int64_t* n) QUINTET_NOEXCEPT;
/// Persistence of each cluster; *clusters is their number.
QUINTET_API quintet_status quintet_hdbscan_persistence(const quintet_hdbscan_clustering* clustering,
                                                       const double** persistence, int64_t* clusters) QUINTET_NOEXCEPT;
/// Core distance of each point; NaN for rows that are left out.
QUINTET_API quintet_status quintet_hdbscan_core(const quintet_hdbscan_clustering* clustering, const double** core,
                                                int64_t* n) QUINTET_NOEXCEPT;
/// Edges of the spanning tree, by (weight, u, v).
QUINTET_API quintet_status quintet_hdbscan_tree_edges(const quintet_hdbscan_clustering* clustering,
                                                      const quintet_edge** edges, int64_t* count) QUINTET_NOEXCEPT;
/// The dendrogram: n - 1 merges, children before parents.
QUINTET_API quintet_status quintet_hdbscan_single_linkage(const quintet_hdbscan_clustering* clustering,
                                                          const quintet_linkage_row** rows,
                                                          int64_t* count) QUINTET_NOEXCEPT;
/// The condensed tree, by (parent, lambda, child).
QUINTET_API quintet_status quintet_hdbscan_condensed_tree(const quintet_hdbscan_clustering* clustering,
                                                          const quintet_condensed_row** rows,
                                                          int64_t* count) QUINTET_NOEXCEPT;
/// Ids in the condensed tree of the clusters with label 0, 1, ...
QUINTET_API quintet_status quintet_hdbscan_selected(const quintet_hdbscan_clustering* clustering, const int64_t** ids,
                                                    int64_t* clusters) QUINTET_NOEXCEPT;
/// Exemplars, the points that stay to the end: those of label k are points[offsets[k]] ... points[offsets[k + 1] - 1].
/// offsets has clusters + 1 elements (one 0 without clusters). All outputs may be NULL.
QUINTET_API quintet_status quintet_hdbscan_exemplars(const quintet_hdbscan_clustering* clustering,
                                                     const int64_t** offsets, int64_t* clusters, const int64_t** points,
                                                     int64_t* count) QUINTET_NOEXCEPT;
/// Rows that held NaN or infinity, ascending.
QUINTET_API quintet_status quintet_hdbscan_invalid_rows(const quintet_hdbscan_clustering* clustering,
                                                        const int64_t** rows, int64_t* count) QUINTET_NOEXCEPT;
/// Rows of weight 0, ascending; no others are left out but invalid ones.
QUINTET_API quintet_status quintet_hdbscan_excluded_rows(const quintet_hdbscan_clustering* clustering,
                                                         const int64_t** rows, int64_t* count) QUINTET_NOEXCEPT;
/// The k of the core distances, and the connected components of the edges (of the valid points). May be NULL.
QUINTET_API quintet_status quintet_hdbscan_facts(const quintet_hdbscan_clustering* clustering, int64_t* neighbours,
                                                 int64_t* components) QUINTET_NOEXCEPT;

// --- functions of a clustering ---

/// labels[n] of the dendrogram cut at `height` >= 0 (DBSCAN* of that radius): components of merges below it, numbered
/// by smallest point; -1 in components of fewer than min_cluster_size >= 1 points. Invalid: also a height that is NaN,
/// a clustering of no points. Time O(n).
QUINTET_API quintet_status quintet_hdbscan_cut(const quintet_hdbscan_clustering* clustering, double height,
                                               int64_t min_cluster_size, int64_t* labels) QUINTET_NOEXCEPT;

/// labels[n] of the clustering with a label for every point of noise too: that of the cluster that it reaches first
/// along the spanning tree. What no edge joins to a cluster stays -1. Invalid: a NULL handle or array. Time O(n log n).
QUINTET_API quintet_status quintet_hdbscan_assign_noise(const quintet_hdbscan_clustering* clustering,
                                                        int64_t* labels) QUINTET_NOEXCEPT;

/// Puts m new points into a clustering, each by itself. `points` are those that were clustered, again; both sets are of
/// the type and dimension that the clustering was made from. Outputs of m elements each, any of them NULL: label or -1,
/// membership, GLOSH score, and the point that each was joined to (-1: none).
/// Invalid: also other numbers, types or dimensions, and a clustering that was not made from points. Time n m dim.
QUINTET_API quintet_status quintet_hdbscan_predict(const quintet_hdbscan_clustering* clustering, const void* points,
                                                   quintet_type type, int64_t n, int64_t dim, int64_t stride,
                                                   const void* new_points, int64_t m, int64_t new_stride,
                                                   const char* device, int64_t* labels, double* probabilities,
                                                   double* outlier_scores, int64_t* neighbours) QUINTET_NOEXCEPT;

/// Soft clustering of the clustered points: out [n x clusters], each row how much a point belongs to each cluster.
/// Errors as quintet_hdbscan_predict(). Computed by blocks of rows; time n E dim for E exemplars.
QUINTET_API quintet_status quintet_hdbscan_membership(const quintet_hdbscan_clustering* clustering, const void* points,
                                                      quintet_type type, int64_t n, int64_t dim, int64_t stride,
                                                      const char* device, double* out,
                                                      int64_t out_stride) QUINTET_NOEXCEPT;

/// The same for m new points: out [m x clusters]. Time m (n + E) dim.
QUINTET_API quintet_status quintet_hdbscan_membership_new(const quintet_hdbscan_clustering* clustering,
                                                          const void* points, quintet_type type, int64_t n, int64_t dim,
                                                          int64_t stride, const void* new_points, int64_t m,
                                                          int64_t new_stride, const char* device, double* out,
                                                          int64_t out_stride) QUINTET_NOEXCEPT;

/// *predictor := the clustering with an index of `points`, those that were clustered, again. Both have to outlive it;
/// freed with quintet_hdbscan_predictor_free(). Errors as quintet_hdbscan_predict(). Time about n dim log n.
QUINTET_API quintet_status quintet_hdbscan_predictor_create(const quintet_hdbscan_clustering* clustering,
                                                            const void* points, quintet_type type, int64_t n,
                                                            int64_t dim, int64_t stride, const char* device,
                                                            quintet_hdbscan_predictor** predictor) QUINTET_NOEXCEPT;
/// NULL is allowed.
QUINTET_API void quintet_hdbscan_predictor_free(quintet_hdbscan_predictor* predictor) QUINTET_NOEXCEPT;
/// The clustering of a predictor, also of one from a file: valid as long as the predictor. O(1).
QUINTET_API quintet_status quintet_hdbscan_predictor_clustering(
    const quintet_hdbscan_predictor* predictor, const quintet_hdbscan_clustering** clustering) QUINTET_NOEXCEPT;
/// quintet_hdbscan_predict(), bit for bit, in microseconds for one point. Threads may share a predictor. Invalid: also
/// points of another type or dimension.
QUINTET_API quintet_status quintet_hdbscan_predictor_predict(const quintet_hdbscan_predictor* predictor,
                                                             const void* new_points, quintet_type type, int64_t m,
                                                             int64_t dim, int64_t stride, int64_t* labels,
                                                             double* probabilities, double* outlier_scores,
                                                             int64_t* neighbours) QUINTET_NOEXCEPT;
/// quintet_hdbscan_membership_new(), bit for bit: out [m x clusters].
QUINTET_API quintet_status quintet_hdbscan_predictor_membership(const quintet_hdbscan_predictor* predictor,
                                                                const void* new_points, quintet_type type, int64_t m,
                                                                int64_t dim, int64_t stride, double* out,
                                                                int64_t out_stride) QUINTET_NOEXCEPT;

/// DBCV of labels[n] (0 ... clusters - 1, -1 for noise, from anywhere), in [-1, 1]. `dimension` is the exponent of its
/// core distances, > 0; 0: dim. per_cluster (may be NULL) gets the validity of each cluster: one element more than the
/// largest label. Of the options the metric counts, and weights: whole numbers, for which rows are repeated. Invalid:
/// also a label outside [-1, n). Also cancelled. Time: 1 1/2 passes over the pairs within clusters.
QUINTET_API quintet_status quintet_hdbscan_validity(const void* points, quintet_type type, int64_t n, int64_t dim,
                                                    int64_t stride, const int64_t* labels, double dimension,
                                                    const quintet_hdbscan_options* options, const char* device,
                                                    quintet_progress report, void* user, double* index,
                                                    double* per_cluster) QUINTET_NOEXCEPT;

/// The clustering with other options of the tree (min_cluster_size, epsilon, selection and the like) from the spanning
/// tree of a clustering that is there; no distance is computed. Freed with quintet_hdbscan_free().
/// options.min_samples may be 0, which is that of the clustering; weights are always those. Invalid: also a
/// min_samples, count_self, alpha or metric of another value. Time O(n log n).
QUINTET_API quintet_status quintet_hdbscan_refit(const quintet_hdbscan_clustering* clustering,
                                                 const quintet_hdbscan_options* options,
                                                 quintet_hdbscan_clustering** refitted) QUINTET_NOEXCEPT;

/// The clustering with `clusters` >= 1 clusters: refitted with an epsilon, and if eom has fewer with the leaves, that
/// give this number. *selection and *epsilon (may be NULL) get them. A number that is out of reach becomes the largest
/// possible one below it, or else the smallest. Freed with quintet_hdbscan_free(). Time O(n log n).
QUINTET_API quintet_status quintet_hdbscan_flat(const quintet_hdbscan_clustering* clustering, int64_t clusters,
                                                quintet_selection* selection, double* epsilon,
                                                quintet_hdbscan_clustering** refitted) QUINTET_NOEXCEPT;

/// The min_cluster_size of a clustering, also where QUINTET_AUTOMATIC_SIZE was asked for. O(1).
QUINTET_API quintet_status quintet_hdbscan_cluster_size(const quintet_hdbscan_clustering* clustering,
                                                        int64_t* min_cluster_size) QUINTET_NOEXCEPT;

/// The cheap relative of DBCV, from the spanning tree of the clustering and its labels. Time O(n).
QUINTET_API quintet_status quintet_hdbscan_relative_validity(const quintet_hdbscan_clustering* clustering,
                                                             double* index) QUINTET_NOEXCEPT;

/// medoids[k] := the point of label k with the least total distance to the others, weighted by weights[n] >= 0 (NULL:
/// all 1); -1 where no valid row has the label. `clusters` is the number of elements of `medoids`; it has to be one
/// more than the largest label. Of the options the metric counts. Invalid: also a label outside [-1, n), a weight that
/// is negative or not finite. Time (cluster size)^2 dim; memory 64 MB.
QUINTET_API quintet_status quintet_hdbscan_medoids(const void* points, quintet_type type, int64_t n, int64_t dim,
                                                   int64_t stride, const int64_t* labels, const double* weights,
                                                   const quintet_hdbscan_options* options, const char* device,
                                                   int64_t* medoids, int64_t clusters) QUINTET_NOEXCEPT;

/// centroids [clusters x dim] := weighted means of the points of each label; otherwise as quintet_hdbscan_medoids().
/// NaN where no valid row has the label. QUINTET_HAVERSINE: the direction of the mean of unit vectors, which may not be
/// 0; other metrics take rows as they are. QUINTET_INTEGER_*: means of the integers,
/// options.bits / 16 in a row. Time n dim, on the host.
QUINTET_API quintet_status quintet_hdbscan_centroids(const void* points, quintet_type type, int64_t n, int64_t dim,
                                                     int64_t stride, const int64_t* labels, const double* weights,
                                                     const quintet_hdbscan_options* options, double* centroids,
                                                     int64_t clusters) QUINTET_NOEXCEPT;

// --- many parameters at once ---

/// All combinations of min_samples[samples] >= 1, min_cluster_size[sizes] >= 2 (no sizes: all at which the clusters of
/// a tree change) and epsilon[epsilons] >= 0. Values that repeat count once. The other options are shared. *sweep is
/// freed with quintet_hdbscan_sweep_free(). Each setting is that of quintet_hdbscan_cluster(), bit for bit. Invalid:
/// shapes, options, no min_samples or epsilon, more than 10^6 settings; also out of memory, device error, cancelled.
/// Time: that of the largest min_samples, and O(n) for every tree and setting. Memory: also 32 bytes for each of its
/// neighbours of a point and for each tree.
QUINTET_API quintet_status quintet_hdbscan_sweep_points(const void* points, quintet_type type, int64_t n, int64_t dim,
                                                        int64_t stride, const int64_t* min_samples, int64_t samples,
                                                        const int64_t* min_cluster_size, int64_t sizes,
                                                        const double* epsilon, int64_t epsilons, quintet_score score,
                                                        const quintet_hdbscan_options* options, const char* device,
                                                        quintet_progress report, void* user,
                                                        quintet_hdbscan_sweep** sweep) QUINTET_NOEXCEPT;

/// Frees a sweep and the arrays that it gave. NULL is allowed.
QUINTET_API void quintet_hdbscan_sweep_free(quintet_hdbscan_sweep* sweep) QUINTET_NOEXCEPT;

/// The settings by (min_samples, min_cluster_size, epsilon), and which of them is the best: -1 if no setting has two
/// clusters. Arrays of the handle, O(1); all outputs may be NULL.
QUINTET_API quintet_status quintet_hdbscan_sweep_settings(const quintet_hdbscan_sweep* sweep,
                                                          const quintet_hdbscan_setting** settings, int64_t* count,
                                                          int64_t* best) QUINTET_NOEXCEPT;

/// labels[n] at a setting. Invalid: also a setting outside [0, count). Time O(n).
QUINTET_API quintet_status quintet_hdbscan_sweep_labels(const quintet_hdbscan_sweep* sweep, int64_t setting,
                                                        int64_t* labels) QUINTET_NOEXCEPT;

/// The clustering at a setting, as quintet_hdbscan_cluster() makes it; no distance is computed. It is a handle by
/// itself. Invalid: also a setting outside [0, count). Time O(n log n).
QUINTET_API quintet_status quintet_hdbscan_sweep_clustering(const quintet_hdbscan_sweep* sweep, int64_t setting,
                                                            quintet_hdbscan_clustering** clustering) QUINTET_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
