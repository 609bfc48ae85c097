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

/// The loss of negative sampling (Nickel and Kiela 2017). A row of links [rows x width], width >= 2, has the numbers of
/// points u, v_1, ..., v_K. losses[b] (real type) := d(u, v_1) + log sum_j exp(-d(u, v_j)). gradient [n x dim] := that
/// of their mean by the points, Euclidean. NaN for rows with a point that is not inside, and for the points of such
/// rows. Invalid: also a number outside [0, n). Time rows width dim + n dim; memory 8 (3 rows width + (rows + n) dim)
/// and 16 rows width bytes.
QUINTET_API quintet_status quintet_poincare_negative_sampling(
    const void* points, int64_t stride, quintet_type type, int64_t n, int64_t dim, const int64_t* links, int64_t rows,
    int64_t width, const quintet_poincare_options* options, const char* device, void* losses, void* gradient,
    int64_t gradient_stride, uint8_t* status) QUINTET_NOEXCEPT;

/// Settings of one step of Riemannian Adam; quintet/poincare/adam.hpp.
typedef struct quintet_adam_options {
  size_t size;          ///< of this struct
  double rate;          ///< finite; default 1e-3
  double beta1;         ///< of the first moment, in [0, 1); default 0.9
  double beta2;         ///< of the second moment, in [0, 1); default 0.999
  double epsilon;       ///< > 0; default 1e-8
  double weight_decay;  ///< finite; default 0
  int64_t step;         ///< of these rows, from 1; default 1
} quintet_adam_options;

/// *options := the defaults. `size` is sizeof *options.
QUINTET_API quintet_status quintet_adam_options_default(quintet_adam_options* options, size_t size) QUINTET_NOEXCEPT;

/// One step of Riemannian Adam in one pass. first [n x dim] and second [n] are the moments, 0 before the first step.
/// out [n x dim], which may be x, := the new points, pulled to sqrt(c) |out| <= 1 - margin. `gradient` is Euclidean.
/// *moved: points that had to be pulled (may be NULL). NaN for rows that are not inside. Invalid: also margin outside
/// [4 u, 1).
QUINTET_API quintet_status quintet_poincare_adam_step(const void* x, int64_t x_stride, const void* gradient,
                                                      int64_t gradient_stride, quintet_type type, int64_t n,
                                                      int64_t dim, double margin, const quintet_adam_options* settings,
                                                      const quintet_poincare_options* options, const char* device,
                                                      void* first, int64_t first_stride, void* second, void* out,
                                                      int64_t out_stride, uint8_t* status,
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

// --- the Lorentz model: formulas, accuracy and what the numbers of a row are, in quintet/poincare/lorentz.hpp ---

/// What the numbers of a row are.
typedef int32_t quintet_coordinates;
enum {
  QUINTET_SPACE = 0,           ///< the space part x
  QUINTET_TIME_AND_SPACE = 1,  ///< t, x: a time that does not belong to x has the status QUINTET_OUTSIDE
  QUINTET_TIME_IGNORED = 2     ///< t, x: t is not read
};

/// A tolerance of 16 roundings of the storage type.
#define QUINTET_LORENTZ_DEFAULT_TOLERANCE (-1.0)

/// Options of the functions of the Lorentz model.
typedef struct quintet_lorentz_options {
  size_t size;               ///< of this struct
  double curvature;          ///< -c with c in [1e-30, 1e30]; default -1
  double tolerance;          ///< of a time part, relative, > 0; default QUINTET_LORENTZ_DEFAULT_TOLERANCE
  quintet_coordinates form;  ///< of all rows; default QUINTET_SPACE
  int32_t strict;            ///< not 0: points with a status are an error; default 0
} quintet_lorentz_options;

/// *options := the defaults. `size` is sizeof *options.
QUINTET_API quintet_status quintet_lorentz_options_default(quintet_lorentz_options* options,
                                                           size_t size) QUINTET_NOEXCEPT;

/// out [q x n] (real type of `type`) := d(row i of queries [q x dim], row j of points [n x dim]); dim counts the time.
/// Any type. Time 25 q n dim; memory 16 bytes a point.
QUINTET_API quintet_status quintet_lorentz_distances(const void* queries, int64_t q, int64_t query_stride,
                                                     const void* points, int64_t n, int64_t point_stride,
                                                     quintet_type type, int64_t dim,
                                                     const quintet_lorentz_options* options, const char* device,
                                                     void* out, int64_t out_stride, uint8_t* query_status,
                                                     uint8_t* point_status) QUINTET_NOEXCEPT;

/// out[i] (real type) := d(row i of x, row i of y), both [n x dim], the same bits as the matrix. Any type. Time n dim.
QUINTET_API quintet_status quintet_lorentz_pair_distances(const void* x, int64_t x_stride, const void* y,
                                                          int64_t y_stride, quintet_type type, int64_t n, int64_t dim,
                                                          const quintet_lorentz_options* options, const char* device,
                                                          void* out, uint8_t* x_status,
                                                          uint8_t* y_status) QUINTET_NOEXCEPT;

/// *out (real type) := d(x, y) of two points of dim numbers; NaN if one has a status. Any type. On the host. Time dim.
QUINTET_API quintet_status quintet_lorentz_distance(const void* x, const void* y, quintet_type type, int64_t dim,
                                                    const quintet_lorentz_options* options, void* out) QUINTET_NOEXCEPT;

/// out[i] (real type) := d(origin, row i of x [n x dim]). Any type. Time n dim.
QUINTET_API quintet_status quintet_lorentz_origin_distances(const void* x, int64_t stride, quintet_type type, int64_t n,
                                                            int64_t dim, const quintet_lorentz_options* options,
                                                            const char* device, void* out,
                                                            uint8_t* status) QUINTET_NOEXCEPT;

// --- operations of the Lorentz model, and maps to other models: rows are space parts [n x dim], so options.form must
// be QUINTET_SPACE. `out` [n x dim] may be an argument. Real types. Time n dim. quintet/poincare/lorentz_operations.hpp
// ---

/// out := exp_x(v).
QUINTET_API quintet_status quintet_lorentz_exp_map(const void* x, int64_t x_stride, const void* v, int64_t v_stride,
                                                   quintet_type type, int64_t n, int64_t dim,
                                                   const quintet_lorentz_options* options, const char* device,
                                                   void* out, int64_t out_stride, uint8_t* status) QUINTET_NOEXCEPT;

/// out := log_x(y).
QUINTET_API quintet_status quintet_lorentz_log_map(const void* x, int64_t x_stride, const void* y, int64_t y_stride,
                                                   quintet_type type, int64_t n, int64_t dim,
                                                   const quintet_lorentz_options* options, const char* device,
                                                   void* out, int64_t out_stride, uint8_t* status) QUINTET_NOEXCEPT;

/// out := the point at t of the geodesic from x to y. `at` has `count` values of t: 1 for all rows, or n.
QUINTET_API quintet_status quintet_lorentz_geodesic(const void* x, int64_t x_stride, const void* y, int64_t y_stride,
                                                    const void* at, int64_t count, quintet_type type, int64_t n,
                                                    int64_t dim, const quintet_lorentz_options* options,
                                                    const char* device, void* out, int64_t out_stride,
                                                    uint8_t* status) QUINTET_NOEXCEPT;

/// out := the tangent vector v at x, moved along the geodesic to y.
QUINTET_API quintet_status quintet_lorentz_parallel_transport(const void* x, int64_t x_stride, const void* y,
                                                              int64_t y_stride, const void* v, int64_t v_stride,
                                                              quintet_type type, int64_t n, int64_t dim,
                                                              const quintet_lorentz_options* options,
                                                              const char* device, void* out, int64_t out_stride,
                                                              uint8_t* status) QUINTET_NOEXCEPT;

/// out[i] := the signed distance of row i of x from a hyperplane, positive on the side to which its normal points. The
/// hyperplane is across the geodesic from the origin along row i of normals, at distance offsets[i] of the origin.
/// `offsets` has `count` values: 1 for all rows, or n.
QUINTET_API quintet_status quintet_lorentz_hyperplane_distances(const void* x, int64_t x_stride, const void* normals,
                                                                int64_t normal_stride, const void* offsets,
                                                                int64_t count, quintet_type type, int64_t n,
                                                                int64_t dim, const quintet_lorentz_options* options,
                                                                const char* device, void* out,
                                                                uint8_t* status) QUINTET_NOEXCEPT;

/// Rows of gradient_x and gradient_normals [n x dim], and gradient_offsets [n], := its derivatives by x, normal and
/// offset.
QUINTET_API quintet_status quintet_lorentz_hyperplane_gradients(
    const void* x, int64_t x_stride, const void* normals, int64_t normal_stride, const void* offsets, int64_t count,
    quintet_type type, int64_t n, int64_t dim, const quintet_lorentz_options* options, const char* device,
    void* gradient_x, int64_t gradient_x_stride, void* gradient_normals, int64_t gradient_normal_stride,
    void* gradient_offsets, uint8_t* status) QUINTET_NOEXCEPT;

/// One step of Riemannian Adam, see quintet_poincare_adam_step(). With form QUINTET_SPACE all rows are space parts;
/// with QUINTET_TIME_IGNORED those of x, gradient and out have the time first, and first is [n x (dim - 1)].
QUINTET_API quintet_status quintet_lorentz_adam_step(const void* x, int64_t x_stride, const void* gradient,
                                                     int64_t gradient_stride, quintet_type type, int64_t n, int64_t dim,
                                                     const quintet_adam_options* settings,
                                                     const quintet_lorentz_options* options, const char* device,
                                                     void* first, int64_t first_stride, void* second, void* out,
                                                     int64_t out_stride, uint8_t* status) QUINTET_NOEXCEPT;

/// quintet_poincare_negative_sampling() in the Lorentz model; points and gradient are as options->form says, and the
/// gradient by times is 0. quintet/poincare/training.hpp. NaN for rows with a point that has a status. Memory 16 n
/// bytes more.
QUINTET_API quintet_status quintet_lorentz_negative_sampling(const void* points, int64_t stride, quintet_type type,
                                                             int64_t n, int64_t dim, const int64_t* links, int64_t rows,
                                                             int64_t width, const quintet_lorentz_options* options,
                                                             const char* device, void* losses, void* gradient,
                                                             int64_t gradient_stride, uint8_t* status) QUINTET_NOEXCEPT;

/// out [groups x dim] := centroids, in the direction of the sums of weighted (t, x); the smallest sums of w cosh of the
/// distances. Groups as for quintet_poincare_gyromidpoint(), points [n x dim]. Taken in the ball, in double: exact to
/// about 2^-50 exp(radius); NaN for groups with a point farther than 36 / sqrt(c). Time n dim.
QUINTET_API quintet_status quintet_lorentz_centroid(const void* points, int64_t stride, quintet_type type, int64_t n,
                                                    int64_t dim, const int64_t* offsets, int64_t groups,
                                                    const void* weights, const quintet_lorentz_options* options,
                                                    const char* device, void* out, int64_t out_stride,
                                                    uint8_t* status) QUINTET_NOEXCEPT;

/// out [groups x dim] := Frechet means, the smallest sums of w d^2, with the defaults of
/// quintet_poincare_frechet_mean(). converged [groups] and iterations [groups] may be NULL. Everything else as for
/// quintet_lorentz_centroid(). Time n dim an iteration.
QUINTET_API quintet_status quintet_lorentz_frechet_mean(const void* points, int64_t stride, quintet_type type,
                                                        int64_t n, int64_t dim, const int64_t* offsets, int64_t groups,
                                                        const void* weights, const quintet_lorentz_options* options,
                                                        const char* device, void* out, int64_t out_stride,
                                                        uint8_t* status, uint8_t* converged,
                                                        int32_t* iterations) QUINTET_NOEXCEPT;

/// out := the point of the Poincare ball.
QUINTET_API quintet_status quintet_lorentz_to_ball(const void* x, int64_t x_stride, quintet_type type, int64_t n,
                                                   int64_t dim, const quintet_lorentz_options* options,
                                                   const char* device, void* out, int64_t out_stride,
                                                   uint8_t* status) QUINTET_NOEXCEPT;

/// out := the point with the place x in the Poincare ball.
QUINTET_API quintet_status quintet_lorentz_from_ball(const void* x, int64_t x_stride, quintet_type type, int64_t n,
                                                     int64_t dim, const quintet_lorentz_options* options,
                                                     const char* device, void* out, int64_t out_stride,
                                                     uint8_t* status) QUINTET_NOEXCEPT;

/// out := the point of Klein's ball.
QUINTET_API quintet_status quintet_lorentz_to_klein(const void* x, int64_t x_stride, quintet_type type, int64_t n,
                                                    int64_t dim, const quintet_lorentz_options* options,
                                                    const char* device, void* out, int64_t out_stride,
                                                    uint8_t* status) QUINTET_NOEXCEPT;

/// out := the point with the place x in Klein's ball.
QUINTET_API quintet_status quintet_lorentz_from_klein(const void* x, int64_t x_stride, quintet_type type, int64_t n,
                                                      int64_t dim, const quintet_lorentz_options* options,
                                                      const char* device, void* out, int64_t out_stride,
                                                      uint8_t* status) QUINTET_NOEXCEPT;

/// out := the point of the half space, its height last.
QUINTET_API quintet_status quintet_lorentz_to_half_space(const void* x, int64_t x_stride, quintet_type type, int64_t n,
                                                         int64_t dim, const quintet_lorentz_options* options,
                                                         const char* device, void* out, int64_t out_stride,
                                                         uint8_t* status) QUINTET_NOEXCEPT;

/// out := the point with the place x in the half space.
QUINTET_API quintet_status quintet_lorentz_from_half_space(const void* x, int64_t x_stride, quintet_type type,
                                                           int64_t n, int64_t dim,
                                                           const quintet_lorentz_options* options, const char* device,
                                                           void* out, int64_t out_stride,
                                                           uint8_t* status) QUINTET_NOEXCEPT;

// --- products of spaces of constant curvature: formulas and accuracy, in quintet/poincare/product.hpp ---

/// out [q x n] (real type of `type`) := sqrt(sum of weight_i d_i^2) of row i of queries [q x dim] and row j of points
/// [n x dim]. The dimensions of the `count` factors add up to dim. Any type. strict not 0: points with a status are an
/// error. Time q n dim; memory 16 bytes a point and factor.
QUINTET_API quintet_status quintet_product_distances(const void* queries, int64_t q, int64_t query_stride,
                                                     const void* points, int64_t n, int64_t point_stride,
                                                     quintet_type type, int64_t dim, const quintet_factor* factors,
                                                     int64_t count, int32_t strict, const char* device, void* out,
                                                     int64_t out_stride, uint8_t* query_status,
                                                     uint8_t* point_status) QUINTET_NOEXCEPT;

/// out[i] (real type) := the distance of row i of x and row i of y, both [n x dim], the same bits as the matrix. Any
/// type. Time n dim.
QUINTET_API quintet_status quintet_product_pair_distances(const void* x, int64_t x_stride, const void* y,
                                                          int64_t y_stride, quintet_type type, int64_t n, int64_t dim,
                                                          const quintet_factor* factors, int64_t count, int32_t strict,
                                                          const char* device, void* out, uint8_t* x_status,
                                                          uint8_t* y_status) QUINTET_NOEXCEPT;

// --- the kappa-stereographic model: formulas and accuracy, in quintet/poincare/stereographic.hpp. curvature is k of
// any sign, 0 or of a magnitude in [1e-30, 1e30]. out [n x dim], which may be an argument; real types. strict not 0:
// rows with a status are an error. Time n dim ---

/// out := x (+) y.
QUINTET_API quintet_status quintet_stereographic_add(const void* x, int64_t x_stride, const void* y, int64_t y_stride,
                                                     quintet_type type, int64_t n, int64_t dim, double curvature,
                                                     int32_t strict, const char* device, void* out, int64_t out_stride,
                                                     uint8_t* status) QUINTET_NOEXCEPT;

/// out := r (x) x. `r` has `factors` elements: 1 for all rows, or n. Invalid: another number.
QUINTET_API quintet_status quintet_stereographic_scalar_mul(const void* r, int64_t factors, const void* x,
                                                            int64_t x_stride, quintet_type type, int64_t n, int64_t dim,
                                                            double curvature, int32_t strict, const char* device,
                                                            void* out, int64_t out_stride,
                                                            uint8_t* status) QUINTET_NOEXCEPT;

/// out := exp_x(v) of tangent vectors v at x.
QUINTET_API quintet_status quintet_stereographic_exp_map(const void* x, int64_t x_stride, const void* v,
                                                         int64_t v_stride, quintet_type type, int64_t n, int64_t dim,
                                                         double curvature, int32_t strict, const char* device,
                                                         void* out, int64_t out_stride,
                                                         uint8_t* status) QUINTET_NOEXCEPT;

/// out := log_x(y).
QUINTET_API quintet_status quintet_stereographic_log_map(const void* x, int64_t x_stride, const void* y,
                                                         int64_t y_stride, quintet_type type, int64_t n, int64_t dim,
                                                         double curvature, int32_t strict, const char* device,
                                                         void* out, int64_t out_stride,
                                                         uint8_t* status) QUINTET_NOEXCEPT;

/// out := the point at t of the geodesic from x (t = 0) to y (t = 1). `t` has `count` elements: 1 or n. Invalid:
/// another number.
QUINTET_API quintet_status quintet_stereographic_geodesic(const void* x, int64_t x_stride, const void* y,
                                                          int64_t y_stride, const void* t, int64_t count,
                                                          quintet_type type, int64_t n, int64_t dim, double curvature,
                                                          int32_t strict, const char* device, void* out,
                                                          int64_t out_stride, uint8_t* status) QUINTET_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
