// Non-owning views of matrices and batches of matrices: a pointer, sizes and strides.
#pragma once

#include <cstdint>
#include <type_traits>

#include "quintet/core/error.hpp"

namespace quintet {

/// A row-major matrix that somebody else owns: element (i, j) is data[i * stride + j], stride >= cols.
/// Sizes and strides count elements; indices are 64-bit.
template <class T>
class matrix_view {
 public:
  matrix_view() = default;
  /// Dense rows: stride = cols.
  matrix_view(T* data, std::int64_t rows, std::int64_t cols) : matrix_view(data, rows, cols, cols) {}
  /// Throws InvalidArgument for negative sizes, stride < cols, or no data where there are elements.
  matrix_view(T* data, std::int64_t rows, std::int64_t cols, std::int64_t stride)
      : data_(data), rows_(rows), cols_(cols), stride_(stride) {
    require_argument(rows >= 0, "rows", rows, ">= 0");
    require_argument(cols >= 0, "cols", cols, ">= 0");
    require_argument(stride >= cols, "stride", stride, text(">= cols=", cols));
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
  /// Dense row-major matrices, one after another.
  batch_view(T* data, std::int64_t batch, std::int64_t rows, std::int64_t cols)
      : batch_view(data, batch, rows, cols, rows * cols, cols, 1) {}
  /// Throws InvalidArgument for negative sizes or no data where there are elements.
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
  /// The same data with rows and columns exchanged; nothing is copied.
  batch_view transposed() const {
    return batch_view(data_, batch_, cols_, rows_, batch_stride_, col_stride_, row_stride_);
  }

 private:
  T* data_ = nullptr;
  std::int64_t batch_ = 0, rows_ = 0, cols_ = 0, batch_stride_ = 0, row_stride_ = 0, col_stride_ = 0;
};

}  // namespace quintet
