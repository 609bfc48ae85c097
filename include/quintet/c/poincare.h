/// @file
/// The Poincare ball in C: distances, nearest neighbours, operations, gradients and means. Conventions of pointers,
/// types, devices, errors and threads: quintet/c/core.h. Formulas, sources, accuracy: quintet/poincare/*.hpp.
//
// Curvature is negative: -c means the ball c |x|^2 < 1; 0 is Euclidean space with distances 2 |x - y|. A point that is
// not inside the ball, or holds NaN or infinity, has a status other than QUINTET_INSIDE and NaN in every result that
// involves it; with options.strict it is an error, QUINTET_INVALID_ARGUMENT. Every `status` argument is an array of one
// byte a row and may be NULL.
//
// "real" types are QUINTET_FLOAT and QUINTET_DOUBLE; "any" type includes QUINTET_HALF and QUINTET_BFLOAT16, with
// results of the real type float. dim >= 1, numbers of rows in [0, 2^31 - 1025]. Errors of all functions: invalid
// argument (shapes, types, options out of range), out of memory, device error. Memory: a byte per row and the memory
// that a comment states; on a device also copies of all arrays.
#ifndef QUINTET_C_POINCARE_H
#define QUINTET_C_POINCARE_H

#include "quintet/c/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Status of a row.
enum {
  QUINTET_INSIDE = 0,
  QUINTET_OUTSIDE = 1,    ///< c |x|^2 >= 1
  QUINTET_NOT_FINITE = 2  ///< a coordinate is NaN or infinite
};

/// Which expression is evaluated as the distance.
typedef int32_t quintet_formula;
enum {
  QUINTET_GEODESIC = 0,       ///< the distance
  QUINTET_CLAMPED_ARTANH = 1  ///< an expression quoted for it that is not a distance; to compare with results of it
};

/// Options of all functions of the family; each reads the members that concern it.
typedef struct quintet_poincare_options {
  size_t size;              ///< of this struct
  double curvature;         ///< 0, or -c with c in [1e-30, 1e30]; default -1
  int32_t strict;           ///< not 0: points that are not inside are an error; default 0
  quintet_formula formula;  ///< of distances; default QUINTET_GEODESIC
  int32_t exclude_self;     ///< nearest: queries and points are the same rows, none its own neighbour; default 0
  int32_t reserved;         ///< 0
  int64_t budget_bytes;     ///< nearest: of packed points at a time, >= 0; default 2^28
  double tolerance;         ///< Frechet mean: of the gradient's length, > 0; default 1e-15
  int64_t max_iterations;   ///< Frechet mean, 0 ... 2^31 - 1; default 500
} quintet_poincare_options;

/// *options := the defaults. `size` is sizeof *options.
QUINTET_API quintet_status quintet_poincare_options_default(quintet_poincare_options* options,
                                                            size_t size) QUINTET_NOEXCEPT;

// --- distances ---

/// out [q x n] (real type of `type`) := d(row i of queries [q x dim], row j of points [n x dim]). Any type.
/// Time q n (2 dim + 35); memory (q + n) dim numbers.
QUINTET_API quintet_status quintet_poincare_distances(const void* queries, int64_t q, int64_t query_stride,
                                                      const void* points, int64_t n, int64_t point_stride,
                                                      quintet_type type, int64_t dim,
                                                      const quintet_poincare_options* options, const char* device,
                                                      void* out, int64_t out_stride, uint8_t* query_status,
                                                      uint8_t* point_status) QUINTET_NOEXCEPT;

/// out[i] (real type) := d(row i of x, row i of y), both [n x dim], the same bits as the matrix. Any type. Time n dim.
QUINTET_API quintet_status quintet_poincare_pair_distances(const void* x, int64_t x_stride, const void* y,
                                                           int64_t y_stride, quintet_type type, int64_t n, int64_t dim,
                                                           const quintet_poincare_options* options, const char* device,
                                                           void* out, uint8_t* x_status,
                                                           uint8_t* y_status) QUINTET_NOEXCEPT;

/// *out (real type) := d(x, y) of two points of dim coordinates; NaN if one is not inside. Any type. On the host. Time
/// dim.
QUINTET_API quintet_status quintet_poincare_distance(const void* x, const void* y, quintet_type type, int64_t dim,
                                                     const quintet_poincare_options* options,
                                                     void* out) QUINTET_NOEXCEPT;

/// out[i] (real type) := d(0, row i of x [n x dim]). Any type; options.formula must be QUINTET_GEODESIC.
/// Time n dim.
QUINTET_API quintet_status quintet_poincare_origin_distances(const void* x, int64_t stride, quintet_type type,
                                                             int64_t n, int64_t dim,
                                                             const quintet_poincare_options* options,
                                                             const char* device, void* out,
                                                             uint8_t* status) QUINTET_NOEXCEPT;

/// The k nearest rows of points [n x dim] of every row of queries [q x dim], by (distance, index). index [q x k] is
/// dense, with -1 where there are fewer neighbours. distance [q x k] is dense, of the real type (may be NULL), with NaN
/// there. Any type. Exact. 1 <= k <= n, n - 1 with options.exclude_self. Time q n (2 dim + 4); nothing q x n is stored.
QUINTET_API quintet_status quintet_poincare_nearest(const void* queries, int64_t q, int64_t query_stride,
                                                    const void* points, int64_t n, int64_t point_stride,
                                                    quintet_type type, int64_t dim, int64_t k,
                                                    const quintet_poincare_options* options, const char* device,
                                                    int64_t* index, void* distance, uint8_t* query_status,
                                                    uint8_t* point_status) QUINTET_NOEXCEPT;

// --- operations: row i of every argument [n x dim] makes row i of out [n x dim], which may be an argument. Real types.
// Time n dim, two passes over the rows ---

/// out := x (+) y, Moebius addition.
QUINTET_API quintet_status quintet_poincare_mobius_add(const void* x, int64_t x_stride, const void* y, int64_t y_stride,
                                                       quintet_type type, int64_t n, int64_t dim,
                                                       const quintet_poincare_options* options, const char* device,
                                                       void* out, int64_t out_stride, uint8_t* status) QUINTET_NOEXCEPT;

/// out := r (x) x, Moebius scalar multiplication. `r` has `factors` elements: 1 for all rows, or n. Invalid: another
/// number.
QUINTET_API quintet_status quintet_poincare_mobius_scalar_mul(const void* r, int64_t factors, const void* x,
                                                              int64_t x_stride, quintet_type type, int64_t n,
                                                              int64_t dim, const quintet_poincare_options* options,
                                                              const char* device, void* out, int64_t out_stride,
                                                              uint8_t* status) QUINTET_NOEXCEPT;

/// out := exp_x(v) of tangent vectors v at x.
QUINTET_API quintet_status quintet_poincare_exp_map(const void* x, int64_t x_stride, const void* v, int64_t v_stride,
                                                    quintet_type type, int64_t n, int64_t dim,
                                                    const quintet_poincare_options* options, const char* device,
                                                    void* out, int64_t out_stride, uint8_t* status) QUINTET_NOEXCEPT;

/// out := log_x(y), the tangent vector at x with exp_x(log_x(y)) = y.
QUINTET_API quintet_status quintet_poincare_log_map(const void* x, int64_t x_stride, const void* y, int64_t y_stride,
                                                    quintet_type type, int64_t n, int64_t dim,
                                                    const quintet_poincare_options* options, const char* device,
                                                    void* out, int64_t out_stride, uint8_t* status) QUINTET_NOEXCEPT;

/// out := exp_0(v).
QUINTET_API quintet_status quintet_poincare_exp_map_origin(const void* v, int64_t v_stride, quintet_type type,
                                                           int64_t n, int64_t dim,
                                                           const quintet_poincare_options* options, const char* device,
                                                           void* out, int64_t out_stride,
                                                           uint8_t* status) QUINTET_NOEXCEPT;

/// out := log_0(y).
QUINTET_API quintet_status quintet_poincare_log_map_origin(const void* y, int64_t y_stride, quintet_type type,
                                                           int64_t n, int64_t dim,
                                                           const quintet_poincare_options* options, const char* device,
                                                           void* out, int64_t out_stride,
                                                           uint8_t* status) QUINTET_NOEXCEPT;

/// out := the point at t of the geodesic from x (t = 0) to y (t = 1). `t` has `times` elements: 1 for all rows, or n.
/// Invalid: another number.
QUINTET_API quintet_status quintet_poincare_geodesic(const void* x, int64_t x_stride, const void* y, int64_t y_stride,
                                                     const void* t, int64_t times, quintet_type type, int64_t n,
                                                     int64_t dim, const quintet_poincare_options* options,
                                                     const char* device, void* out, int64_t out_stride,
                                                     uint8_t* status) QUINTET_NOEXCEPT;

/// out := the tangent vector v at x, moved along the geodesic to y.
QUINTET_API quintet_status quintet_poincare_parallel_transport(const void* x, int64_t x_stride, const void* y,
                                                               int64_t y_stride, const void* v, int64_t v_stride,
                                                               quintet_type type, int64_t n, int64_t dim,
                                                               const quintet_poincare_options* options,
                                                               const char* device, void* out, int64_t out_stride,
                                                               uint8_t* status) QUINTET_NOEXCEPT;

/// out := x, with points of sqrt(c) |x| > 1 - epsilon scaled to 1 - epsilon; epsilon in [4 u, 1), u = 2^-24 or 2^-53.
/// *moved: how many were (may be NULL). `status` is that before the projection.
QUINTET_API quintet_status quintet_poincare_project(const void* x, int64_t x_stride, quintet_type type, int64_t n,
                                                    int64_t dim, double epsilon,
                                                    const quintet_poincare_options* options, const char* device,
                                                    void* out, int64_t out_stride, uint8_t* status,
                                                    int64_t* moved) QUINTET_NOEXCEPT;

/// out[i] := lambda = 2 / (1 - c |x|^2) of row i; n elements.
QUINTET_API quintet_status quintet_poincare_conformal_factor(const void* x, int64_t x_stride, quintet_type type,
                                                             int64_t n, int64_t dim,
                                                             const quintet_poincare_options* options,
                                                             const char* device, void* out,
                                                             uint8_t* status) QUINTET_NOEXCEPT;

/// out [n x (dim + 1)] := points of the hyperboloid. The curvature must not be 0.
QUINTET_API quintet_status quintet_poincare_to_hyperboloid(const void* x, int64_t x_stride, quintet_type type,
                                                           int64_t n, int64_t dim,
                                                           const quintet_poincare_options* options, const char* device,
                                                           void* out, int64_t out_stride,
                                                           uint8_t* status) QUINTET_NOEXCEPT;

/// out [n x dim] := points of the ball for h [n x (dim + 1)] of the hyperboloid. The curvature must not be 0.
QUINTET_API quintet_status quintet_poincare_from_hyperboloid(const void* h, int64_t h_stride, quintet_type type,
                                                             int64_t n, int64_t dim,
                                                             const quintet_poincare_options* options,
                                                             const char* device, void* out, int64_t out_stride,
                                                             uint8_t* status) QUINTET_NOEXCEPT;

// --- gradients, all [n x dim]. Real types. Time n dim ---

/// gradient_x, gradient_y := Euclidean gradients of d(x_i, y_i) by x_i and by y_i; 0 where x_i = y_i.
QUINTET_API quintet_status quintet_poincare_distance_gradients(
    const void* x, int64_t x_stride, const void* y, int64_t y_stride, quintet_type type, int64_t n, int64_t dim,
    const quintet_poincare_options* options, const char* device, void* gradient_x, int64_t gradient_x_stride,
    void* gradient_y, int64_t gradient_y_stride, uint8_t* status) QUINTET_NOEXCEPT;

/// out := gradient / lambda_x^2, the Riemannian gradient that belongs to a Euclidean one.
QUINTET_API quintet_status quintet_poincare_riemannian_gradient(const void* x, int64_t x_stride, const void* gradient,
                                                                int64_t gradient_stride, quintet_type type, int64_t n,
                                                                int64_t dim, const quintet_poincare_options* options,
                                                                const char* device, void* out, int64_t out_stride,
                                                                uint8_t* status) QUINTET_NOEXCEPT;

/// out := exp_x(-rate gradient / lambda_x^2), pulled to sqrt(c) |out| <= 1 - epsilon; rate finite, `gradient`
/// Euclidean. *moved: points that had to be pulled (may be NULL). Invalid: also epsilon outside [4 u, 1).
QUINTET_API quintet_status quintet_poincare_rsgd_step(const void* x, int64_t x_stride, const void* gradient,
                                                      int64_t gradient_stride, quintet_type type, int64_t n,
                                                      int64_t dim, double rate, double epsilon,
                                                      const quintet_poincare_options* options, const char* device,
                                                      void* out, int64_t out_stride, uint8_t* status,
                                                      int64_t* moved) QUINTET_NOEXCEPT;

// --- means of groups: group b is rows offsets[b] ... offsets[b + 1] - 1 of points [n x dim]; groups + 1 offsets from 0
// to n that do not decrease. weights [n] of the type, finite and >= 0; NULL: all 1. out [groups x dim]. Real types.
// Invalid: also other offsets and weights. Memory 16 dim bytes per group ---

/// out := gyromidpoints (Einstein midpoints). NaN for a group without a point of positive weight. Time n dim.
QUINTET_API quintet_status quintet_poincare_gyromidpoint(const void* points, int64_t stride, quintet_type type,
                                                         int64_t n, int64_t dim, const int64_t* offsets, int64_t groups,
                                                         const void* weights, const quintet_poincare_options* options,
                                                         const char* device, void* out, int64_t out_stride,
                                                         uint8_t* status) QUINTET_NOEXCEPT;

/// out := Frechet means, by options.tolerance and options.max_iterations. converged [groups] (may be NULL): 1 where the
/// mean was found; iterations [groups] (may be NULL). Time n dim an iteration.
QUINTET_API quintet_status quintet_poincare_frechet_mean(const void* points, int64_t stride, quintet_type type,
                                                         int64_t n, int64_t dim, const int64_t* offsets, int64_t groups,
                                                         const void* weights, const quintet_poincare_options* options,
                                                         const char* device, void* out, int64_t out_stride,
                                                         uint8_t* status, uint8_t* converged,
                                                         int32_t* iterations) QUINTET_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
