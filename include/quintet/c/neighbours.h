/// @file
/// Exact nearest neighbours in C: an index of points that is kept. Conventions of pointers, types, devices, errors and
/// threads: quintet/c/core.h; contract: quintet/neighbours/index.hpp. Files of indexes: quintet/c/neighbours_files.h.
//
//   quintet_index* index = NULL;
//   quintet_index_create(points, QUINTET_FLOAT, n, dim, dim, NULL, NULL, &index);
//   quintet_index_nearest(index, query, QUINTET_FLOAT, 1, dim, dim, 10, numbers, distances);  // microseconds
//
// Points and queries are of any type, and of the same one; distances are of its real type. Rows with NaN or infinity
// (cosine: without length; Poincare: not in the ball) have no neighbours and are no row's neighbour. Several threads
// may search an index at the same time. Invalid everywhere: a NULL handle, other shapes and types, options out of
// range. All functions but accessors can also return out of memory and device error.
#ifndef QUINTET_C_NEIGHBOURS_H
#define QUINTET_C_NEIGHBOURS_H

#include "quintet/c/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How an index answers. Results are the same.
typedef int32_t quintet_search;
enum {
  QUINTET_SEARCH_AUTOMATIC = 0,  ///< by the tree if a sample of the searches shows that it pays
  QUINTET_SEARCH_TREE = 1,       ///< past what boxes of points exclude
  QUINTET_SEARCH_ALL_PAIRS = 2   ///< by a look at every point
};

/// What an index is made for.
typedef struct quintet_index_options {
  size_t size;              ///< of this struct
  quintet_metric metric;    ///< default QUINTET_EUCLIDEAN
  quintet_search search;    ///< default QUINTET_SEARCH_AUTOMATIC
  double curvature;         ///< of QUINTET_POINCARE and _LORENTZ alone: -c with c in [1e-30, 1e30]; default -1
  double p;                 ///< of QUINTET_MINKOWSKI alone: infinity, or in [1, 8], double [1, 64]; default 2
  double sphere_radius;     ///< of QUINTET_HAVERSINE alone: in [1e-30, 1e30]; default 1
  quintet_angle_unit unit;  ///< of QUINTET_HAVERSINE alone; default QUINTET_DEGREES
  /// Of a row, of QUINTET_HAMMING and _JACCARD in [1, 2^24], of QUINTET_INTEGER_* 16 for each integer; default 0: must
  /// be set.
  int64_t bits;
  /// [factor_count] of QUINTET_PRODUCT alone, of weights in [1e-30, 1e30]; their dimensions add up to that of the
  /// points.
  const quintet_factor* factors;
  int64_t factor_count;  ///< in [1, 16]
} quintet_index_options;

/// *options := the defaults. `size` is sizeof *options.
QUINTET_API quintet_status quintet_index_options_default(quintet_index_options* options, size_t size) QUINTET_NOEXCEPT;

/// Points that are ordered for searches.
typedef struct quintet_index quintet_index;
/// All points within a radius of every query.
typedef struct quintet_index_lists quintet_index_lists;

/// *index := an index of points [n x dim], which it copies; freed with quintet_index_free(). Time about dim n log n.
QUINTET_API quintet_status quintet_index_create(const void* points, quintet_type type, int64_t n, int64_t dim,
                                                int64_t stride, const quintet_index_options* options,
                                                const char* device, quintet_index** index) QUINTET_NOEXCEPT;
/// Frees an index. NULL is allowed.
QUINTET_API void quintet_index_free(quintet_index* index) QUINTET_NOEXCEPT;

/// The k nearest points of every query [q x dim], by (distance, number): numbers[q * k] and distances[q * k], -1 and
/// NaN where there are fewer. For q = 1 nothing is allocated after the first call of a thread. Invalid: k outside [1,
/// n].
QUINTET_API quintet_status quintet_index_nearest(const quintet_index* index, const void* queries, quintet_type type,
                                                 int64_t q, int64_t dim, int64_t stride, int64_t k, int64_t* numbers,
                                                 void* distances) QUINTET_NOEXCEPT;
/// The same of every point, which is not its own neighbour: numbers[n * k] and distances[n * k]. Invalid: k outside
/// [1, n - 1].
QUINTET_API quintet_status quintet_index_nearest_others(const quintet_index* index, int64_t k, int64_t* numbers,
                                                        void* distances) QUINTET_NOEXCEPT;
/// *lists := all points within `radius` of every query; freed with quintet_index_lists_free(). Invalid: a radius that
/// is not finite or < 0.
QUINTET_API quintet_status quintet_index_within_radius(const quintet_index* index, const void* queries,
                                                       quintet_type type, int64_t q, int64_t dim, int64_t stride,
                                                       double radius, quintet_index_lists** lists) QUINTET_NOEXCEPT;
/// The same of every point, which is not its own neighbour.
QUINTET_API quintet_status quintet_index_others_within_radius(const quintet_index* index, double radius,
                                                              quintet_index_lists** lists) QUINTET_NOEXCEPT;

/// Entries of query i are row_pointers[i] ... row_pointers[i + 1] - 1; *queries is their number. Outputs may be NULL.
QUINTET_API quintet_status quintet_index_lists_rows(const quintet_index_lists* lists, const int64_t** row_pointers,
                                                    int64_t* queries) QUINTET_NOEXCEPT;
/// Numbers of the points, ascending for each query, and their distances (real type). Outputs may be NULL.
QUINTET_API quintet_status quintet_index_lists_entries(const quintet_index_lists* lists, const int64_t** numbers,
                                                       const void** distances, int64_t* entries) QUINTET_NOEXCEPT;
/// Frees lists and all arrays that their accessors gave. NULL is allowed.
QUINTET_API void quintet_index_lists_free(quintet_index_lists* lists) QUINTET_NOEXCEPT;

/// Points n, n + 1, ... [more x dim] of the index. Time: that of an index of them; now and then of all points.
QUINTET_API quintet_status quintet_index_append(quintet_index* index, const void* points, quintet_type type,
                                                int64_t more, int64_t dim, int64_t stride) QUINTET_NOEXCEPT;

/// Number of points, their dimension and type, and bytes of memory. Outputs may be NULL. O(1).
QUINTET_API quintet_status quintet_index_facts(const quintet_index* index, int64_t* n, int64_t* dim, quintet_type* type,
                                               int64_t* bytes) QUINTET_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
