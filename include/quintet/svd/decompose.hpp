// Batched singular value decomposition by one-sided Jacobi: A_b = U_b diag(S_b) V_b^T for b = 0 ... B - 1.
//
//   std::vector<float> a(batch * m * n);                                   // row-major, one matrix after another
//   auto r = quintet::svd::decompose(quintet::batch_view(a.data(), batch, m, n));
//   r.singular_value(b, j);   r.u_view()(b, i, j);   r.v_view()(b, i, j);   r.status[b];
//
// Method: Hestenes (1958). Where one worker has the whole matrix it uses de Rijk's exchange (1989), where several
// threads share one a tournament order. QR and pivoted QR are preconditioners (Drmac and Veselic 2008). Tall and wide
// matrices have Cholesky's QR twice where it is as accurate as reflections (Yamamoto et al. 2015). Small matrices are
// side by side in SIMD registers; all threads work on matrices of more than 256 columns, in blocks.
//
// Accuracy, in units of eps of the type computed in (float for half and bfloat16): for n <= 16 / 32 / 64 / 128 / 256
//   |A - U S V^T|_F / |A|_F, Frobenius norms             8 / 10 / 16 / 25 / 40
//   max_ij |(U^T U - I)_ij| and max_ij |(V^T V - I)_ij|  8 / 12 / 16 / 25 / 40
//   max_j |S_j - exact| / S_0                            5 /  6 /  8 / 12 / 20
// and sqrt(n / 256) times the last column beyond. The same holds with m and n exchanged. Of float matrices with up to
// 16 columns and more rows about one in 10^4 exceeds the 5 of S (5.9 measured), because the sums are longer.
//
// Three cases differ, for the vectors of the long side:
//
// - QR comes first (`automatic`: m >= 1.5 n): 1.5 sqrt(1 + m / 16384) times as far from orthonormal, because of its
//   reflections and sums of m terms. 3.8 eps are measured for 30000 x 5, 9 for 5000 x 3 ones.
// - You ask for QR and m < 1.5 n: all bounds are 1.5 times as much (8.6 measured for 12 x 11).
// - Without QR: orthogonal to max(the bound of m = n, 2 + sqrt(m) / 2), because the threshold for cosines is sqrt(m)
//   eps / 2.
//
// For any scaling of the columns of a well-conditioned matrix, |S_j - exact| <= n eps S_j for every j. So the small
// singular values of graded matrices are right to the last digits, where methods that bidiagonalise lose them.
//
// Values alone come from a bidiagonal matrix, if no column or row is more than 16 times as large as another. They do
// from 24 columns on (float: 5, in batches that fill a quarter of the SIMD lanes 12, with AVX-512 19; on a device 64).
// (Golub and Kahan 1965; dqds: Fernando and Parlett 1994.) So do those of 3 x 3 matrices, if the product of the ratios
// of columns and of rows is at most 256. The bounds of the table hold, 1.5 times as large for float matrices of equal
// entries, because their sums round in one direction (9.2 eps measured for 62 x 62). And |S_j - exact| <= 256 kappa(B)
// times that bound times S_j, where B is A with rows and columns of one size. For n eps S_j choose `accurate`, or a
// `preconditioning` other than `automatic`.
//
// Every matrix is scaled by a power of two, so squares neither overflow nor vanish. Float and bfloat16 matrices are
// computed in double if the largest ratio of column sizes times that of row sizes exceeds 1e15. For double that product
// may be 1e140: singular values below 1e-146 S_0 become 0. Subnormal input is exact on hosts.
//
// With options::centre all this holds for A - 1 means^T with the means that are returned, and eps / 2 |A - 1 means^T|_F
// is added for the rounding of the difference. The means are sums in double, rounded once: |means_j - exact| <= eps
// |means_j| + 2^-48 max_i |a_ij|. So singular values differ from those with exact means by at most sqrt(m) times the
// length of that error. A mean that is more than 1e5 times as large as what is left of its column costs a tall matrix
// the time of reflections, not accuracy. With m = 0 the means are 0. A difference beyond the range of the type is
// infinite: see status::not_finite.
//
// One worker computes every matrix in a fixed order. So results have the same bits for any number of threads, any order
// of the batch and any neighbours in a batch of the same size (options::part_of for parts of a batch). Between devices
// they agree to the accuracy above.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/device/device.hpp"
#include "quintet/svd/options.hpp"

namespace quintet::svd {

template <class T>
struct decomposition;

/// Factors in memory of the host or a device: U [B, m, >= k], V [B, n, >= k], any strides, S [B, k], falling. Functions
/// use the first k columns of U and V.
template <class T>
struct factors_view {
  ///@{
  /// U and V.
  batch_view<const T> u, v;
  ///@}
  matrix_view<const accumulator_t<T>> s;  ///< the singular values
};

/// Factors with the type of the elements as a value: the argument of the functions of a decomposition.
struct any_factors {
  ///@{
  /// U and V.
  any_batch u, v;
  ///@}
  any_matrix s;  ///< the singular values
  ///@{
  /// From views of any type, or from a decomposition, which must outlive this object.
  any_factors(any_batch left, any_batch right, any_matrix values) : u(left), v(right), s(values) {}
  template <class T>
  any_factors(const factors_view<T>& f) : u(f.u), v(f.v), s(f.s) {}
  template <class T>
  any_factors(const decomposition<T>& d) : any_factors(d.view()) {}
  ///@}
};

/// Outputs of the second form of decompose(), in memory of the host or of the device.
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
  any_output_matrix means = {};  ///< [B x n], of the type that is computed in; only used with options::centre
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
  std::int64_t mean_cols = 0;  ///< means of each matrix: n with options::centre, otherwise 0
};
/// The sizes that decompose() gives. O(1). Throws as decompose() does for options and sizes.
decomposition_shape shape_of(std::int64_t batch, std::int64_t rows, std::int64_t cols, const options& options);

/// U, S and V of a batch, dense and row-major. Views are O(1) and valid as long as the vectors stay as they are. T: the
/// storage type; S is float for the 16-bit types. Zeros in U and V are +0.
template <class T>
struct decomposition : decomposition_shape {
  static_assert(sizeof(typename quintet::detail::checked_storage<T>::type) > 0);
  std::vector<T> u;                          ///< [B, m, u_cols]
  std::vector<accumulator_t<T>> s;           ///< [B, values], falling, >= 0
  std::vector<T> v;                          ///< [B, n, v_cols]
  std::vector<std::int32_t> status;          ///< [B], see svd::status
  std::vector<std::int32_t> sweeps;          ///< [B] sweeps until convergence; 0 where values did not need any
  Device ran_on;                             ///< where it was computed
  std::vector<accumulator_t<T>> means = {};  ///< [B, mean_cols] of the columns, with options::centre

  decomposition() = default;
  /// Zeros of these sizes.
  explicit decomposition(const decomposition_shape& shape)
      : decomposition_shape(shape),
        u(batch * rows * u_cols),
        s(batch * values),
        v(batch * cols * v_cols),
        status(batch),
        sweeps(batch),
        means(batch * mean_cols) {}

  /// U [B, m, u_cols].
  batch_view<const T> u_view() const QUINTET_LIFETIMEBOUND { return {u.data(), batch, rows, u_cols}; }
  /// V [B, n, v_cols].
  batch_view<const T> v_view() const QUINTET_LIFETIMEBOUND { return {v.data(), batch, cols, v_cols}; }
  /// V^T [B, v_cols, n], the same memory.
  batch_view<const T> vt_view() const QUINTET_LIFETIMEBOUND { return v_view().transposed(); }
  /// S [B, values].
  matrix_view<const accumulator_t<T>> s_view() const QUINTET_LIFETIMEBOUND { return {s.data(), batch, values}; }
  /// The means [B, mean_cols].
  matrix_view<const accumulator_t<T>> means_view() const QUINTET_LIFETIMEBOUND {
    return {means.data(), batch, mean_cols};
  }
  /// U, S and V.
  factors_view<T> view() const QUINTET_LIFETIMEBOUND { return {u_view(), v_view(), s_view()}; }
  /// All that decompose() writes.
  svd::outputs outputs() QUINTET_LIFETIMEBOUND {
    return {any_output_batch(u.data(), batch, rows, u_cols),
            any_output_batch(v.data(), batch, cols, v_cols),
            any_output_matrix(s.data(), batch, values),
            status,
            sweeps,
            any_output_matrix(means.data(), batch, mean_cols)};
  }
  /// Singular value j of matrix b, 0 <= j < values; not checked.
  accumulator_t<T> singular_value(std::int64_t b, std::int64_t j) const { return s[b * values + j]; }
};

/// Number of singular values that `options` ask for in an m x n matrix: min(m, n), at most options.top if that is not
/// 0. O(1); checks nothing.
std::int64_t value_count(std::int64_t rows, std::int64_t cols, const options& options);

/// Decomposes every matrix of `a` [B x m x n], any strides. T is double, float, half or bfloat16. B = 0, m = 0 and n =
/// 0 are legal; m < n works on the exchanged strides, without a copy.
///
/// Throws InvalidArgument (top < 0, top with full vectors, max_sweeps < 1, m or n over 2^24, both over 32768, B over
/// 2^29), OutOfMemory, DeviceError. A matrix that holds NaN or infinity throws nothing: see status::not_finite. Its
/// neighbours keep their bits.
///
/// Cost for m = n: about 7 n^3 multiply-adds per sweep (4 n^3 without vectors), 5 to 10 sweeps. On the host from n = 28
/// (float: 64, with AVX-512 58 and 100) it is about 7 n^3 and at most 1 or 2 sweeps that rotate little; for a matrix
/// alone from n = 8. Without vectors it is 4 / 3 n^3 from n = 24 (float: 12 in batches, otherwise 5) on. QR adds 4 m
/// n^2, and on the host from 8192 numbers and m = 3 n (float: 4 n) on 5 m n^2 at the rate of a product. Memory: about 2
/// n^2 numbers (3 n^2 from there on) for each matrix in work at the same time, the result, and on a device copies of
/// both there.
///
/// `a` may be on a device, which then does the work: see Device. Throws InvalidArgument if `device` is another one, or
/// if an output of the second form is on another one. Data of the host are copied to the device and back.
template <class T>
decomposition<T> decompose(batch_view<const T> a, const options& options = {}, const Device& device = Device::best());

/// The same of every batch of matrices and every matrix (quintet/core/arguments.hpp).
template <batch_argument A>
auto decompose(const A& a, const options& options = {}, const Device& device = Device::best()) {
  using T = element_of<A>;
  return decompose<T>(batch_view<const T>(batch_of(a)), options, device);
}

/// The same to the caller's memory; the strides choose row- or column-major output. Between arguments on one device
/// only the status of the matrices is transferred. Outputs must not overlap each other or `a`, because `a` may be read
/// a second time. Throws InvalidArgument also for outputs of another shape. Returns the device that did it.
Device decompose(any_batch a, const outputs& out, const options& options, const Device& device = Device::best());

template <class T>
decomposition<T> decompose(batch_view<const T> a, const options& options, const Device& device) {
  decomposition<T> result(shape_of(a.batch(), a.rows(), a.cols(), options));
  result.ran_on = decompose(any_batch(a), result.outputs(), options, device);
  return result;
}

}  // namespace quintet::svd
