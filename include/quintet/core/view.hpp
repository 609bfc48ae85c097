// Non-owning views of vectors, matrices and batches of matrices: a pointer, sizes, strides, and the device of the
// memory. Everything is O(1) and, but for the constructors, throws nothing.
//
//   matrix_view<const float>(x.data(), n, dim)            // host memory
//   matrix_view<const float>(buffer, dim)                 // a Buffer: the memory of buffer.device()
//   matrix_view<float>(pointer, n, dim, Device::offload(0))  // memory of a device that you allocated
//
// The device is a claim that is not checked. You may read and write elements on the host only if
// device().shares_host_memory().
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "quintet/core/error.hpp"
#include "quintet/core/storage16.hpp"
#include "quintet/device/device.hpp"

namespace quintet {

template <class T>
class Buffer;  // quintet/device/buffer.hpp
template <class T>
class matrix_view;

namespace detail {

/// Buffer<T>, const Buffer<T> for const T.
template <class T>
using buffer_of = std::conditional_t<std::is_const_v<T>, const Buffer<std::remove_const_t<T>>, Buffer<T>>;
/// std::vector<T>, const std::vector<T> for const T.
template <class T>
using std_vector_of = std::conditional_t<std::is_const_v<T>, const std::vector<std::remove_const_t<T>>, std::vector<T>>;

/// Whether a view of U gives a view of T: const, and nothing else.
template <class U, class T>
concept becomes_const = std::is_same_v<const U, T> && !std::is_same_v<U, T>;

/// Number of blocks of `block` elements in `size` elements. Throws InvalidArgument unless block > 0 divides size, or
/// both are 0.
inline std::int64_t blocks_in(std::int64_t size, std::int64_t block, const char* name) {
  if (block < 0 || (block > 0 ? size % block != 0 : size != 0))
    require_argument(false, name, block, text("> 0, a divisor of the buffer's size ", size));
  return block > 0 ? size / block : 0;
}

/// a * b * c * bytes, all >= 0, if that is at most 2^63 - 1, otherwise -1.
constexpr std::int64_t bytes_of(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t bytes) {
  if (a == 0 || b == 0 || c == 0) return 0;
  std::int64_t product = 0;
  const bool too_large = __builtin_mul_overflow(a, b, &product) || __builtin_mul_overflow(product, c, &product) ||
                         __builtin_mul_overflow(product, bytes, &product);
  return too_large ? -1 : product;
}

}  // namespace detail

/// Values in a line, not owned.
template <class T>
class vector_view {
 public:
  using element_type = T;                     ///< const where the values are only read
  using value_type = std::remove_const_t<T>;  ///< of a value

  vector_view() = default;
  /// `size` values at `data` in the memory of `device`. Throws InvalidArgument for a negative size, or no data where
  /// there are values.
  vector_view(T* data, std::int64_t size, const Device& device = Device::host())
      : data_(data), size_(size), device_(device) {
    require_argument(size >= 0, "size", size, ">= 0");
    if (data == nullptr && size > 0) throw InvalidArgument("data must not be null for a vector with values");
  }
  ///@{
  /// Host memory.
  vector_view(std::span<T> values) : data_(values.data()), size_(std::int64_t(values.size())) {}
  template <detail::becomes_const<T> U>
  vector_view(std::span<U> values) : data_(values.data()), size_(std::int64_t(values.size())) {}
  vector_view(detail::std_vector_of<T>& values) : data_(values.data()), size_(std::int64_t(values.size())) {}
  ///@}
  /// All elements of the buffer, in the memory of its device.
  vector_view(detail::buffer_of<T>& buffer) : data_(buffer.data()), size_(buffer.size()), device_(buffer.device()) {}
  /// A view of T converts to a view of const T.
  template <detail::becomes_const<T> U>
  vector_view(const vector_view<U>& other) : data_(other.data()), size_(other.size()), device_(other.device()) {}

  /// The first value; may be null for a view of size 0.
  T* data() const { return data_; }
  /// Number of values.
  std::int64_t size() const { return size_; }
  /// Whether the size is 0.
  bool empty() const { return size_ == 0; }
  /// The device of the memory.
  const Device& device() const { return device_; }
  /// Value i, on the host or in a kernel of the device; i is not checked.
  T& operator[](std::int64_t i) const { return data_[i]; }
  /// The first rows * cols values as a dense matrix. Throws InvalidArgument when there are not so many, and as
  /// matrix_view does.
  matrix_view<T> as_rows(std::int64_t rows, std::int64_t cols) const;

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
  Device device_;
};

/// A row-major matrix, not owned: element (i, j) is data[i * stride + j], stride >= cols. Sizes and strides count
/// elements; indices are 64-bit. Nothing is allocated or copied; the memory must outlive the view.
template <class T>
class matrix_view {
 public:
  using element_type = T;                     ///< const where the matrix is only read
  using value_type = std::remove_const_t<T>;  ///< of an element

  matrix_view() = default;
  /// Dense rows: stride = cols. Throws as the other constructor does.
  matrix_view(T* data, std::int64_t rows, std::int64_t cols, const Device& device = Device::host())
      : matrix_view(data, rows, cols, cols, device) {}
  /// Memory of `device`. Throws InvalidArgument for negative sizes, stride < cols, more than 2^63 - 1 bytes in rows *
  /// stride elements, or no data where there are elements.
  matrix_view(T* data, std::int64_t rows, std::int64_t cols, std::int64_t stride, const Device& device = Device::host())
      : data_(data), rows_(rows), cols_(cols), stride_(stride), device_(device) {
    require_argument(rows >= 0, "rows", rows, ">= 0");
    require_argument(cols >= 0, "cols", cols, ">= 0");
    // Texts are made where they are needed only: that takes longer than all the rest.
    if (stride < cols) require_argument(false, "stride", stride, text(">= cols=", cols));
    if (detail::bytes_of(rows, stride, 1, sizeof(T)) < 0)
      throw InvalidArgument(text("rows * stride must be at most 2^63 - 1 bytes (rows=", rows, ", stride=", stride,
                                 ", bytes of an element=", sizeof(T), ")"));
    if (data == nullptr && rows > 0 && cols > 0) throw InvalidArgument("data must not be null for a non-empty matrix");
  }
  /// buffer.size() / cols dense rows in the memory of buffer.device(). Throws InvalidArgument unless cols > 0 divides
  /// the size; cols = 0 with an empty buffer only.
  matrix_view(detail::buffer_of<T>& buffer, std::int64_t cols)
      : matrix_view(buffer.data(), detail::blocks_in(buffer.size(), cols, "cols"), cols, buffer.device()) {}
  /// A view of T converts to a view of const T.
  template <detail::becomes_const<T> U>
  matrix_view(const matrix_view<U>& other)
      : data_(other.data()),
        rows_(other.rows()),
        cols_(other.cols()),
        stride_(other.stride()),
        device_(other.device()) {}

  /// The first element; may be null for an empty matrix.
  T* data() const { return data_; }
  ///@{
  /// Size, in elements.
  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  ///@}
  /// Elements from the start of one row to the start of the next, >= cols.
  std::int64_t stride() const { return stride_; }
  /// The device of the memory.
  const Device& device() const { return device_; }
  /// Rows [first, last), 0 <= first <= last <= rows; not checked.
  matrix_view slice(std::int64_t first, std::int64_t last) const {
    matrix_view part = *this;
    part.data_ = data_ + first * stride_;
    part.rows_ = last - first;
    return part;
  }
  /// The first element of row i; cols elements follow one another there. i is not checked.
  T* row(std::int64_t i) const { return data_ + i * stride_; }
  /// Element (i, j), on the host or in a kernel of the device; the indices are not checked.
  T& operator()(std::int64_t i, std::int64_t j) const { return data_[i * stride_ + j]; }

 private:
  T* data_ = nullptr;
  std::int64_t rows_ = 0, cols_ = 0, stride_ = 0;
  Device device_;
};

template <class T>
matrix_view<T> vector_view<T>::as_rows(std::int64_t rows, std::int64_t cols) const {
  const std::int64_t target = rows < 0 || cols < 0 ? -1 : detail::bytes_of(rows, cols, 1, 1);
  if (target < 0 || target > size_)
    throw InvalidArgument(text("rows * cols must be in [0, ", size_, "] (rows=", rows, ", cols=", cols, ")"));
  return matrix_view<T>(data_, rows, cols, device_);
}

/// B matrices of one shape with any strides: element (i, j) of matrix b is data[b * batch_stride + i * row_stride + j *
/// col_stride]. So row-major, column-major and transposed matrices are alike.
template <class T>
class batch_view {
  // long double, which no function takes; integers travel in views too.
  static_assert(sizeof(detail::checked_storage<std::conditional_t<std::is_floating_point_v<std::remove_const_t<T>>,
                                                                  std::remove_const_t<T>, float>>) > 0);

 public:
  using element_type = T;                     ///< const where the matrices are only read
  using value_type = std::remove_const_t<T>;  ///< of an element

  batch_view() = default;
  /// Dense row-major matrices, one after another. Throws as the other constructor does.
  batch_view(T* data, std::int64_t batch, std::int64_t rows, std::int64_t cols, const Device& device = Device::host())
      : batch_view(data, batch, rows, cols, detail::bytes_of(rows, cols, 1, 1), cols, 1, device) {}
  /// Any strides, also 0 or negative ones; that they stay inside the caller's memory is not checked. Throws
  /// InvalidArgument for negative sizes, more than 2^63 - 1 bytes in batch * rows * cols elements, or no data where
  /// there are elements.
  batch_view(T* data, std::int64_t batch, std::int64_t rows, std::int64_t cols, std::int64_t batch_stride,
             std::int64_t row_stride, std::int64_t col_stride, const Device& device = Device::host())
      : data_(data),
        batch_(batch),
        rows_(rows),
        cols_(cols),
        batch_stride_(batch_stride),
        row_stride_(row_stride),
        col_stride_(col_stride),
        device_(device) {
    require_argument(batch >= 0, "batch", batch, ">= 0");
    require_argument(rows >= 0, "rows", rows, ">= 0");
    require_argument(cols >= 0, "cols", cols, ">= 0");
    if (detail::bytes_of(batch, rows, cols, sizeof(T)) < 0)
      throw InvalidArgument(text("batch * rows * cols must be at most 2^63 - 1 bytes (batch=", batch, ", rows=", rows,
                                 ", cols=", cols, ", bytes of an element=", sizeof(T), ")"));
    if (data == nullptr && batch > 0 && rows > 0 && cols > 0)
      throw InvalidArgument("data must not be null for a non-empty batch");
  }
  /// buffer.size() / (rows * cols) dense matrices in the memory of buffer.device(). Throws InvalidArgument unless rows
  /// * cols > 0 divides the size; no elements with an empty buffer only.
  batch_view(detail::buffer_of<T>& buffer, std::int64_t rows, std::int64_t cols)
      : batch_view(buffer.data(), detail::blocks_in(buffer.size(), detail::bytes_of(rows, cols, 1, 1), "rows * cols"),
                   rows, cols, buffer.device()) {}
  /// A batch of one matrix.
  batch_view(const matrix_view<T>& matrix)
      : batch_view(matrix.data(), 1, matrix.rows(), matrix.cols(), 0, matrix.stride(), 1, matrix.device()) {}
  ///@{
  /// A view of T converts to a view of const T.
  template <detail::becomes_const<T> U>
  batch_view(const batch_view<U>& other)
      : data_(other.data()),
        batch_(other.batch()),
        rows_(other.rows()),
        cols_(other.cols()),
        batch_stride_(other.batch_stride()),
        row_stride_(other.row_stride()),
        col_stride_(other.col_stride()),
        device_(other.device()) {}
  template <detail::becomes_const<T> U>
  batch_view(const matrix_view<U>& matrix) : batch_view(matrix_view<T>(matrix)) {}
  ///@}

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
  /// The device of the memory.
  const Device& device() const { return device_; }
  /// Element (i, j) of matrix b, on the host or in a kernel of the device; the indices are not checked.
  T& operator()(std::int64_t b, std::int64_t i, std::int64_t j) const {
    return data_[b * batch_stride_ + i * row_stride_ + j * col_stride_];
  }
  /// The same data with rows and columns exchanged. O(1): nothing is copied.
  batch_view transposed() const {
    return batch_view(data_, batch_, cols_, rows_, batch_stride_, col_stride_, row_stride_, device_);
  }

 private:
  T* data_ = nullptr;
  std::int64_t batch_ = 0, rows_ = 0, cols_ = 0, batch_stride_ = 0, row_stride_ = 0, col_stride_ = 0;
  Device device_;
};

///@{
/// The type of the elements comes from the argument.
template <class T>
vector_view(std::span<T>) -> vector_view<T>;
template <class T>
vector_view(std::vector<T>&) -> vector_view<T>;
template <class T>
vector_view(const std::vector<T>&) -> vector_view<const T>;
template <class T>
vector_view(Buffer<T>&) -> vector_view<T>;
template <class T>
vector_view(const Buffer<T>&) -> vector_view<const T>;
template <class T>
matrix_view(Buffer<T>&, std::int64_t) -> matrix_view<T>;
template <class T>
matrix_view(const Buffer<T>&, std::int64_t) -> matrix_view<const T>;
template <class T>
batch_view(Buffer<T>&, std::int64_t, std::int64_t) -> batch_view<T>;
template <class T>
batch_view(const Buffer<T>&, std::int64_t, std::int64_t) -> batch_view<const T>;
///@}

}  // namespace quintet
