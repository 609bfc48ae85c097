// Non-owning views of matrices and batches of matrices: a pointer, sizes and strides. Everything is O(1) and, but for
// the constructors, throws nothing.
#pragma once

#include <cstdint>
#include <type_traits>

#include "quintet/core/error.hpp"

namespace quintet {

namespace detail {

/// a * b * c * bytes, all >= 0, if that is at most 2^63 - 1, otherwise -1.
constexpr std::int64_t bytes_of(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t bytes) {
  if (a == 0 || b == 0 || c == 0) return 0;
  std::int64_t product = 0;
  const bool too_large = __builtin_mul_overflow(a, b, &product) || __builtin_mul_overflow(product, c, &product) ||
                         __builtin_mul_overflow(product, bytes, &product);
  return too_large ? -1 : product;
}

}  // namespace detail

/// A row-major matrix that somebody else owns: element (i, j) is data[i * stride + j], stride >= cols.
/// Sizes and strides count elements; indices are 64-bit. Nothing is allocated or copied; the memory
/// has to outlive the view.
template <class T>
class matrix_view {
 public:
  matrix_view() = default;
  /// Dense rows: stride = cols. Throws as the other constructor does.
  matrix_view(T* data, std::int64_t rows, std::int64_t cols) : matrix_view(data, rows, cols, cols) {}
  /// Throws InvalidArgument for negative sizes, stride < cols, more than 2^63 - 1 bytes in rows * stride elements, or
  /// no data where there are elements.
  matrix_view(T* data, std::int64_t rows, std::int64_t cols, std::int64_t stride)
      : data_(data), rows_(rows), cols_(cols), stride_(stride) {
    require_argument(rows >= 0, "rows", rows, ">= 0");
    require_argument(cols >= 0, "cols", cols, ">= 0");
    // Texts are made where they are needed only: that takes longer than all the rest.
    if (stride < cols) require_argument(false, "stride", stride, text(">= cols=", cols));
    if (detail::bytes_of(rows, stride, 1, sizeof(T)) < 0)
      throw InvalidArgument(text("rows * stride must be at most 2^63 - 1 bytes (rows=", rows, ", stride=", stride,
                                 ", bytes of an element=", sizeof(T), ")"));
    if (data == nullptr && rows > 0 && cols > 0) throw InvalidArgument("data must not be null for a non-empty matrix");
  }
  /// A view of T converts to a view of const T.
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T> && !std::is_same_v<U, T>>>
  matrix_view(const matrix_view<U>& other)
      : data_(other.data()), rows_(other.rows()), cols_(other.cols()), stride_(other.stride()) {}

  /// The first element; may be null when there are none.
  T* data() const { return data_; }
  ///@{
  /// Size, in elements.
  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  ///@}
  /// Elements from the start of one row to the start of the next, >= cols.
  std::int64_t stride() const { return stride_; }
  /// The first element of row i; cols elements follow one another there. i is not checked.
  T* row(std::int64_t i) const { return data_ + i * stride_; }
  /// Element (i, j); the indices are not checked.
  T& operator()(std::int64_t i, std::int64_t j) const { return data_[i * stride_ + j]; }

 private:
  T* data_ = nullptr;
  std::int64_t rows_ = 0, cols_ = 0, stride_ = 0;
};

/// B matrices of one shape with any strides: element (i, j) of matrix b is
/// data[b * batch_stride + i * row_stride + j * col_stride]. Row-major, column-major and transposed are the same to it.
template <class T>
class batch_view {
 public:
  batch_view() = default;
  /// Dense row-major matrices, one after another. Throws as the other constructor does.
  batch_view(T* data, std::int64_t batch, std::int64_t rows, std::int64_t cols)
      : batch_view(data, batch, rows, cols, detail::bytes_of(rows, cols, 1, 1), cols, 1) {}
  /// Any strides, also 0 or negative ones; that they stay inside the caller's memory is not checked. Throws
  /// InvalidArgument for negative sizes, more than 2^63 - 1 bytes in batch * rows * cols elements, or no data where
  /// there are elements.
  batch_view(T* data, std::int64_t batch, std::int64_t rows, std::int64_t cols, std::int64_t batch_stride,
             std::int64_t row_stride, std::int64_t col_stride)
      : data_(data),
        batch_(batch),
        rows_(rows),
        cols_(cols),
        batch_stride_(batch_stride),
        row_stride_(row_stride),
        col_stride_(col_stride) {
    require_argument(batch >= 0, "batch", batch, ">= 0");
    require_argument(rows >= 0, "rows", rows, ">= 0");
    require_argument(cols >= 0, "cols", cols, ">= 0");
    if (detail::bytes_of(batch, rows, cols, sizeof(T)) < 0)
      throw InvalidArgument(text("batch * rows * cols must be at most 2^63 - 1 bytes (batch=", batch, ", rows=", rows,
                                 ", cols=", cols, ", bytes of an element=", sizeof(T), ")"));
    if (data == nullptr && batch > 0 && rows > 0 && cols > 0)
      throw InvalidArgument("data must not be null for a non-empty batch");
  }

  /// Element (0, 0) of matrix 0; may be null when there are no elements.
  T* data() const { return data_; }
  /// Number of matrices.
  std::int64_t batch() const { return batch_; }
  ///@{
  /// Size of every matrix.
  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  ///@}
  ///@{
  /// Elements from one matrix, row or column to the next; not checked.
  std::int64_t batch_stride() const { return batch_stride_; }
  std::int64_t row_stride() const { return row_stride_; }
  std::int64_t col_stride() const { return col_stride_; }
  ///@}
  /// Element (i, j) of matrix b; the indices are not checked.
  T& operator()(std::int64_t b, std::int64_t i, std::int64_t j) const {
    return data_[b * batch_stride_ + i * row_stride_ + j * col_stride_];
  }
  /// The same data with rows and columns exchanged. O(1): nothing is copied.
  batch_view transposed() const {
    return batch_view(data_, batch_, cols_, rows_, batch_stride_, col_stride_, row_stride_);
  }

 private:
  T* data_ = nullptr;
  std::int64_t batch_ = 0, rows_ = 0, cols_ = 0, batch_stride_ = 0, row_stride_ = 0, col_stride_ = 0;
};

}  // namespace quintet
