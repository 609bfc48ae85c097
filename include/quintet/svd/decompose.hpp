// Batched singular value decomposition by one-sided Jacobi: A_b = U_b diag(S_b) V_b^T for b = 0 ... B - 1.
//
//   std::vector<float> a(batch * m * n);                                   // row-major, one matrix after another
//   auto r = quintet::svd::decompose(quintet::batch_view(a.data(), batch, m, n));
//   r.singular_value(b, j);   r.u_view()(b, i, j);   r.v_view()(b, i, j);   r.status[b];
//
// Method: Hestenes (1958) with de Rijk's exchange (1989) where one worker has the whole matrix, a tournament order
// where several threads share one; QR and pivoted QR as preconditioners (Drmac and Veselic 2008). Small matrices lie
// side by side in SIMD registers; matrices of more than 256 columns are worked on in blocks, by all threads.
//
// Accuracy, in units of eps of the type computed in (float for half and bfloat16): for n <= 16 / 32 / 64 / 128 / 256
//   |A - U S V^T|_F / |A|_F, Frobenius norms             8 / 10 / 16 / 25 / 40
//   max_ij |(U^T U - I)_ij| and max_ij |(V^T V - I)_ij|  8 / 12 / 16 / 25 / 40
//   max_j |S_j - exact| / S_0                            5 /  6 /  8 / 12 / 20
// and sqrt(n / 256) times the last column beyond. Where QR comes first (`automatic`: m >= 1.5 n) the vectors of the
// long side may be 1.5 sqrt(1 + m / 16384) times as far from orthonormal, for its reflections and sums of m terms (3.8
// eps were measured for 30000 x 5, 9 for 5000 x 3 ones); where QR is asked for and m < 1.5 n, all of it is 1.5 times as
// much (8.6 for 12 x 11). Without QR the vectors of the long side are orthogonal to max(that of m = n, 2 + sqrt(m) /
// 2), what the threshold for cosines, sqrt(m) eps / 2, leaves. The same with m and n exchanged. And, for any scaling of
// the columns of a well-conditioned matrix, |S_j - exact| <= n eps S_j for every j: the small singular values of graded
// matrices are right to the last digits, where methods that bidiagonalise lose them.
//
// Every matrix is scaled by a power of two: squares neither overflow nor vanish. Float and bfloat16 matrices are
// computed in double where the largest ratio of column sizes times that of row sizes exceeds 1e15. For double that
// product may be 1e140: singular values below 1e-146 S_0 become 0. Subnormal input is exact on hosts.
//
// Every matrix is computed by one worker in a fixed order: results have the same bits for any number of threads, any
// order of the batch and any neighbours in a batch of the same size (options::part_of for parts of a batch). Between
// devices they agree to the accuracy above.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/device/device.hpp"
#include "quintet/svd/options.hpp"

namespace quintet::svd {

template <class T>
struct decomposition;

/// Factors that lie anywhere, host or device: U [B, m, >= k], V [B, n, >= k], any strides, S [B, k], falling. Of U and
/// V the first k columns are used.
template <class T>
struct factors_view {
  ///@{
  /// U and V.
  batch_view<const T> u, v;
  ///@}
  matrix_view<const accumulator_t<T>> s;  ///< the singular values
};

/// The same with the type of the elements as a value: what the functions of a decomposition take.
struct any_factors {
  ///@{
  /// U and V.
  any_batch u, v;
  ///@}
  any_matrix s;  ///< the singular values
  ///@{
  /// From views of any type, and from a decomposition, which has to live as long.
  any_factors(any_batch left, any_batch right, any_matrix values) : u(left), v(right), s(values) {}
  template <class T>
  any_factors(const factors_view<T>& f) : u(f.u), v(f.v), s(f.s) {}
  template <class T>
  any_factors(const decomposition<T>& d) : any_factors(d.view()) {}
  ///@}
};

/// Where the second form of decompose() writes: memory of the host or of the device.
struct outputs {
  ///@{
  /// [B x m x u_cols], [B x n x v_cols], any strides; unused for vectors::none.
  any_output_batch u, v;
  ///@}
  any_output_matrix s;  ///< [B x value_count], of the type that is computed in
  ///@{
  /// [B] each, as in decomposition.
  vector_view<std::int32_t> status, sweeps;
  ///@}
};

/// Sizes of a decomposition.
struct decomposition_shape {
  ///@{
  /// B, m, n.
  std::int64_t batch = 0, rows = 0, cols = 0;
  ///@}
  std::int64_t values = 0;  ///< k = min(m, n), or `top` of them
  ///@{
  /// Vectors of each kind; 0 without vectors.
  std::int64_t u_cols = 0, v_cols = 0;
  ///@}
};
/// The sizes that decompose() gives. O(1). Throws what decompose() throws for options and sizes.
decomposition_shape shape_of(std::int64_t batch, std::int64_t rows, std::int64_t cols, const options& options);

/// U, S and V of a batch, dense and row-major. Views are O(1) and valid as long as the vectors stay as they are. T: the
/// storage type; S is float for the 16-bit types. Zeros in U and V are +0.
template <class T>
struct decomposition : decomposition_shape {
  std::vector<T> u;                  ///< [B, m, u_cols]
  std::vector<accumulator_t<T>> s;   ///< [B, values], falling, >= 0
  std::vector<T> v;                  ///< [B, n, v_cols]
  std::vector<std::int32_t> status;  ///< [B], see svd::status
  std::vector<std::int32_t> sweeps;  ///< [B] sweeps until convergence
  Device ran_on;                     ///< where it was computed

  decomposition() = default;
  /// Zeros of these sizes.
  explicit decomposition(const decomposition_shape& shape)
      : decomposition_shape(shape),
        u(batch * rows * u_cols),
        s(batch * values),
        v(batch * cols * v_cols),
        status(batch),
        sweeps(batch) {}

  /// U [B, m, u_cols].
  batch_view<const T> u_view() const QUINTET_LIFETIMEBOUND { return {u.data(), batch, rows, u_cols}; }
  /// V [B, n, v_cols].
  batch_view<const T> v_view() const QUINTET_LIFETIMEBOUND { return {v.data(), batch, cols, v_cols}; }
  /// V^T [B, v_cols, n], the same memory.
  batch_view<const T> vt_view() const QUINTET_LIFETIMEBOUND { return v_view().transposed(); }
  /// S [B, values].
  matrix_view<const accumulator_t<T>> s_view() const QUINTET_LIFETIMEBOUND { return {s.data(), batch, values}; }
  /// All of them.
  factors_view<T> view() const QUINTET_LIFETIMEBOUND { return {u_view(), v_view(), s_view()}; }
  /// All that decompose() writes.
  svd::outputs outputs() QUINTET_LIFETIMEBOUND {
    return {any_output_batch(u.data(), batch, rows, u_cols), any_output_batch(v.data(), batch, cols, v_cols),
            any_output_matrix(s.data(), batch, values), status, sweeps};
  }
  /// Singular value j of matrix b, 0 <= j < values; not checked.
  accumulator_t<T> singular_value(std::int64_t b, std::int64_t j) const { return s[b * values + j]; }
};

/// Number of singular values that `options` ask for in an m x n matrix: min(m, n), at most options.top if that is not
/// 0. O(1); checks nothing.
std::int64_t value_count(std::int64_t rows, std::int64_t cols, const options& options);

/// Decomposes every matrix of `a` [B x m x n], any strides. T is double, float, half or bfloat16. B = 0, m = 0 and n =
/// 0 are legal; m < n works on the exchanged strides, nothing is copied for it.
///
/// Throws InvalidArgument (top < 0, top with full vectors, max_sweeps < 1, m or n over 2^24, both over 32768, B
/// over 2^29), OutOfMemory, DeviceError. A matrix that holds NaN or infinity throws nothing: see status::not_finite.
/// Its neighbours keep their bits. Cost: about 7 n^3 multiply-adds per sweep (4 n^3 without vectors) for m = n, 5 to 10
/// sweeps; on the host from n = 64 (float: 120) on about 7 n^3 and no more than 1 or 2 sweeps that rotate little; 4 m
/// n^2 more for QR. Memory: about 2 n^2 numbers (3 n^2 from n = 64) for each matrix that is in work at the same time,
/// the result, and on a device copies of both there.
///
/// `a` may lie on a device, and the work is done there: see Device. Where `device` is another one, or an output of the
/// second form lies on another one, InvalidArgument. From the host they are copied to the device and back.
template <class T>
decomposition<T> decompose(batch_view<const T> a, const options& options = {}, const Device& device = Device::best());

/// The same of everything that is a batch of matrices or one matrix (quintet/core/arguments.hpp).
template <batch_argument A>
auto decompose(const A& a, const options& options = {}, const Device& device = Device::best()) {
  using T = element_of<A>;
  return decompose<T>(batch_view<const T>(batch_of(a)), options, device);
}

/// The same to the caller's memory; row- or column-major output is a matter of the strides. Between arguments on one
/// device nothing is transferred but the status of the matrices. Outputs must not overlap each other or `a`, which may
/// be read a second time. Throws InvalidArgument also for outputs of another shape. Returns the device that did it.
Device decompose(any_batch a, const outputs& out, const options& options, const Device& device = Device::best());

template <class T>
decomposition<T> decompose(batch_view<const T> a, const options& options, const Device& device) {
  decomposition<T> result(shape_of(a.batch(), a.rows(), a.cols(), options));
  result.ran_on = decompose(any_batch(a), result.outputs(), options, device);
  return result;
}

}  // namespace quintet::svd
