// Eigen's matrices, maps, blocks and sparse matrices as arguments and results, without a copy where the layout allows.
// The only header of the library that includes Eigen (3.3 or later).
//
//   Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> points = ...;
//   auto clusters = quintet::hdbscan::cluster(points, {.min_cluster_size = 10});   // rows are points
//   Eigen::MatrixXd a = ...;
//   auto usv = quintet::svd::decompose(a);                                         // stored by columns: as it is
//   auto u = quintet::eigen_map(usv.u_view(), 0);                                  // U of matrix 0, in place
//   Eigen::SparseMatrix<double, Eigen::RowMajor> s = ...;
//   const auto rows = quintet::csr_of(s);                                          // columns and values in place
//   auto c = quintet::spgemm::multiply(rows.view(), rows.view());
//   Eigen::SparseMatrix<double, Eigen::RowMajor> e = quintet::eigen_matrix(c.view());
//
// If a function takes rows, the compiler refuses a matrix that is stored by columns. If strides are free (the svd), any
// order works. Expressions are refused: evaluate them first, with .eval(). Everything is O(1) unless it says otherwise.
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "quintet/core/arguments.hpp"
#include "quintet/spgemm/csr.hpp"

namespace quintet {

namespace detail {

/// Dense matrices and vectors of Eigen, of all kinds.
template <class M>
concept eigen_dense = requires(const M& m) { []<class Dense>(const Eigen::DenseBase<Dense>&) {}(m); };

template <eigen_dense M>
constexpr bool eigen_has_memory = (M::Flags & Eigen::DirectAccessBit) != 0;

template <eigen_dense M>
using eigen_element =
    std::conditional_t<(M::Flags & Eigen::LvalueBit) != 0, typename M::Scalar, const typename M::Scalar>;

/// m.data(), of const elements where m is const.
template <class M>
auto* eigen_data(M& m) {
  static_assert(eigen_has_memory<std::remove_const_t<M>>,
                "quintet: an expression of Eigen has no memory of its own: evaluate it first, with .eval()");
  if constexpr (eigen_has_memory<std::remove_const_t<M>>)
    return m.data();
  else
    return static_cast<const typename M::Scalar*>(nullptr);
}

inline void require_adjacent(bool adjacent, const char* label, std::int64_t stride) {
  require_argument(adjacent, text("innerStride() of ", label), stride, "1: copy the block to a matrix first");
}

}  // namespace detail

/// \cond specialisations
template <detail::eigen_dense M>
struct matrix_access<M> {
  using element_type = detail::eigen_element<M>;
  static constexpr bool by_rows = bool(M::IsRowMajor) || M::ColsAtCompileTime == 1;
  template <class Matrix>
  static auto view(Matrix& m) {
    auto* data = detail::eigen_data(m);
    using view_type = matrix_view<std::remove_pointer_t<decltype(data)>>;
    if constexpr (detail::eigen_has_memory<M>) {
      if constexpr (M::ColsAtCompileTime == 1) {
        return view_type(data, m.rows(), 1, std::max<std::int64_t>(1, m.innerStride()));
      } else {
        detail::require_adjacent(m.innerStride() == 1 || m.cols() <= 1, "a matrix by rows", m.innerStride());
        return view_type(data, m.rows(), m.cols(), std::max<std::int64_t>(m.cols(), m.rowStride()));
      }
    } else {
      return view_type();
    }
  }
};

template <detail::eigen_dense M>
struct batch_access<M> {
  using element_type = detail::eigen_element<M>;
  template <class Matrix>
  static auto view(Matrix& m) {
    auto* data = detail::eigen_data(m);
    using view_type = batch_view<std::remove_pointer_t<decltype(data)>>;
    if constexpr (detail::eigen_has_memory<M>)
      return view_type(data, 1, m.rows(), m.cols(), 0, m.rowStride(), m.colStride());
    else
      return view_type();
  }
};

template <detail::eigen_dense M>
  requires(bool(M::IsVectorAtCompileTime))
struct vector_access<M> {
  using element_type = detail::eigen_element<M>;
  template <class Vector>
  static auto view(Vector& v) {
    auto* data = detail::eigen_data(v);
    using view_type = vector_view<std::remove_pointer_t<decltype(data)>>;
    if constexpr (detail::eigen_has_memory<M>) {
      detail::require_adjacent(v.innerStride() == 1 || v.size() <= 1, "a vector", v.innerStride());
      return view_type(data, v.size());
    } else {
      return view_type();
    }
  }
};
/// \endcond

namespace detail {

/// Memory that Eigen may read: that of the host.
template <class View>
const View& on_host(const View& view) {
  if (!view.device().shares_host_memory())
    throw InvalidArgument(text("a view for Eigen must be of host memory (device=", view.device().spelling(), ")"));
  return view;
}

template <class T, int Cols, int Order>
using eigen_of = std::conditional_t<std::is_const_v<T>, const Eigen::Matrix<std::remove_const_t<T>, -1, Cols, Order>,
                                    Eigen::Matrix<T, -1, Cols, Order>>;

}  // namespace detail

///@{
/// A view as Eigen sees it, in place. Throws InvalidArgument for memory that the host cannot use.
template <class T>
auto eigen_map(const matrix_view<T>& m) {
  using matrix = detail::eigen_of<T, -1, Eigen::RowMajor>;
  detail::on_host(m);
  return Eigen::Map<matrix, 0, Eigen::OuterStride<>>(m.data(), m.rows(), m.cols(), Eigen::OuterStride<>(m.stride()));
}
template <class T>
auto eigen_map(const vector_view<T>& v) {
  return Eigen::Map<detail::eigen_of<T, 1, Eigen::ColMajor>>(detail::on_host(v).data(), v.size());
}
/// Matrix `b` of the batch; b is not checked.
template <class T>
auto eigen_map(const batch_view<T>& batch, std::int64_t b) {
  using matrix = detail::eigen_of<T, -1, Eigen::ColMajor>;
  using strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  return Eigen::Map<matrix, 0, strides>(detail::on_host(batch).data() + b * batch.batch_stride(), batch.rows(),
                                        batch.cols(), strides(batch.col_stride(), batch.row_stride()));
}
///@}

/// Rows of a sparse matrix of Eigen. Columns and values are Eigen's own memory, and so are the row pointers where
/// Eigen's index has 64 bits; it holds a copy of them where it has 32. The matrix must outlive it, unchanged.
template <class Value, class Index>
class eigen_rows {
 public:
  /// Throws InvalidArgument for a matrix that is not compressed. Cost: O(rows) with 32-bit indices.
  template <class Sparse>
  explicit eigen_rows(const Sparse& m) : rows_(m.rows()), cols_(m.cols()) {
    if (!m.isCompressed())
      throw InvalidArgument("a sparse matrix of Eigen must be compressed: call makeCompressed() first");
    columns_ = reinterpret_cast<const Index*>(m.innerIndexPtr());
    values_ = m.valuePtr();
    if constexpr (sizeof(Index) == 8)
      row_pointers_ = reinterpret_cast<const std::int64_t*>(m.outerIndexPtr());
    else
      copied_.assign(m.outerIndexPtr(), m.outerIndexPtr() + m.rows() + 1);
  }
  /// Valid as long as this and the matrix are.
  spgemm::csr_view<Value, Index> view() const QUINTET_LIFETIMEBOUND {
    spgemm::csr_view<Value, Index> rows;
    rows.rows = rows_;
    rows.cols = cols_;
    rows.row_pointers = copied_.empty() ? row_pointers_ : copied_.data();
    rows.columns = columns_;
    rows.values = values_;
    return rows;
  }

 private:
  std::int64_t rows_, cols_;
  std::vector<std::int64_t> copied_;
  const std::int64_t* row_pointers_ = nullptr;
  const Index* columns_;
  const Value* values_;
};

/// A row-major sparse matrix (a map of one, or the transpose() of one by columns) as an operand of quintet::spgemm.
template <class Sparse>
auto csr_of(const Eigen::SparseCompressedBase<Sparse>& matrix) {
  using value = std::remove_const_t<typename Sparse::Scalar>;
  using index = typename Sparse::StorageIndex;
  static_assert(bool(Sparse::IsRowMajor),
                "quintet: rows are meant here, and this sparse matrix is stored by columns: use "
                "Eigen::SparseMatrix<T, Eigen::RowMajor>, or pass its transpose(), whose rows they are");
  static_assert(std::is_same_v<value, float> || std::is_same_v<value, double>,
                "quintet: values of sparse matrices must be float or double");
  static_assert(sizeof(index) == 4 || sizeof(index) == 8, "quintet: columns must have 32 or 64 bits");
  return eigen_rows<value, std::conditional_t<sizeof(index) == 4, std::int32_t, std::int64_t>>(matrix.derived());
}

/// A copy as a matrix of Eigen. Throws InvalidArgument where 32-bit indices cannot count the entries. O(nnz + rows).
template <class Value, class Index>
Eigen::SparseMatrix<Value, Eigen::RowMajor, Index> eigen_matrix(const spgemm::csr_view<Value, Index>& m) {
  const std::int64_t entries = m.nnz();
  require_argument(entries <= (std::numeric_limits<Index>::max)() && m.rows <= (std::numeric_limits<Index>::max)() - 1,
                   "entries", entries, text("at most ", (std::numeric_limits<Index>::max)(), ", as the rows"));
  Eigen::SparseMatrix<Value, Eigen::RowMajor, Index> copy(m.rows, m.cols);
  copy.resizeNonZeros(entries);
  const std::int64_t first = m.rows > 0 ? m.row_pointers[0] : 0;
  for (std::int64_t i = 0; m.rows > 0 && i <= m.rows; ++i) copy.outerIndexPtr()[i] = Index(m.row_pointers[i] - first);
  std::copy_n(m.columns + first, entries, copy.innerIndexPtr());
  std::copy_n(m.values + first, entries, copy.valuePtr());
  return copy;
}

/// Rows with 64-bit columns as Eigen sees them, in place; the columns of every row must ascend, as those of results do.
template <class Value>
auto eigen_map(const spgemm::csr_view<Value, std::int64_t>& m) {
  using matrix = Eigen::SparseMatrix<Value, Eigen::RowMajor, std::int64_t>;
  return Eigen::Map<const matrix>(m.rows, m.cols, m.nnz(), m.row_pointers, m.columns, m.values);
}

}  // namespace quintet
