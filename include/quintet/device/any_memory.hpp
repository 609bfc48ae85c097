// Arguments of batched functions that lie in host memory or in a Buffer, so that one function serves both.
//
//   f<float>({x.data(), n, dim}, ...)   // a matrix_view's arguments: host memory
//   f<float>({buffer, dim}, ...)        // dense rows in the memory of buffer.device()
//
// Where an argument is a Buffer, the work is done on its device and the function's `device` argument does not count;
// host arguments beside it are copied there and back. Buffers of one call must be on one device: anything else is an
// InvalidArgument of the function. Making these arguments is O(1); they own nothing and copy nothing.
#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include "quintet/core/view.hpp"
#include "quintet/device/buffer.hpp"

namespace quintet {

namespace detail {
/// Buffer<T>&, const Buffer<T>& for const T.
template <class T>
using buffer_of = std::conditional_t<std::is_const_v<T>, const Buffer<std::remove_const_t<T>>, Buffer<T>>;
}  // namespace detail

/// Rows of a matrix: a matrix_view of host memory, or dense rows of a Buffer. Element access only where the memory is
/// the host's.
template <class T>
class any_rows : public matrix_view<T> {
 public:
  using matrix_view<T>::matrix_view;
  any_rows() = default;
  /// Host memory.
  any_rows(const matrix_view<T>& rows) : matrix_view<T>(rows) {}
  /// Rows of T convert to rows of const T, wherever they lie.
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T> && !std::is_same_v<U, T>>>
  any_rows(const any_rows<U>& rows) : matrix_view<T>(rows), where_(rows.where()) {}
  /// buffer.size() / cols dense rows. Throws InvalidArgument unless cols >= 0 divides the size; cols = 0 with an empty
  /// buffer only.
  any_rows(detail::buffer_of<T>& buffer, std::int64_t cols)
      : matrix_view<T>(buffer.data(), rows_of(buffer.size(), cols), cols), where_(&buffer.device()) {}

  /// Rows in the memory of a device; where = nullptr: host memory.
  any_rows(const matrix_view<T>& rows, const Device* where) : matrix_view<T>(rows), where_(where) {}

  /// The device of the Buffer, nullptr for host memory.
  const Device* where() const { return where_; }

 private:
  static std::int64_t rows_of(std::int64_t size, std::int64_t cols) {
    require_argument(cols >= 0 && (cols > 0 ? size % cols == 0 : size == 0), "cols", cols,
                     text("> 0, a divisor of the buffer's size ", size));
    return cols > 0 ? size / cols : 0;
  }

  const Device* where_ = nullptr;
};

/// Values in a line: host memory, or all of a Buffer.
template <class T>
class any_values {
 public:
  any_values() = default;
  ///@{
  /// Host memory.
  any_values(std::span<T> values) : data_(values.data()), size_(std::int64_t(values.size())) {}
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T> && !std::is_same_v<U, T>>>
  any_values(std::span<U> values) : data_(values.data()), size_(std::int64_t(values.size())) {}
  any_values(std::conditional_t<std::is_const_v<T>, const std::vector<std::remove_const_t<T>>, std::vector<T>>& values)
      : data_(values.data()), size_(std::int64_t(values.size())) {}
  ///@}
  /// All elements of the buffer, in the memory of its device.
  any_values(detail::buffer_of<T>& buffer) : data_(buffer.data()), size_(buffer.size()), where_(&buffer.device()) {}

  /// The first value; may be null when there are none. Read on the host only where the memory is the host's.
  T* data() const { return data_; }
  /// Number of values.
  std::int64_t size() const { return size_; }
  /// The device of the Buffer, nullptr for host memory.
  const Device* where() const { return where_; }
  /// The first rows * cols values as a dense matrix. Throws InvalidArgument when there are not so many, and as
  /// matrix_view does.
  any_rows<T> as_rows(std::int64_t rows, std::int64_t cols) const {
    const std::int64_t wanted = rows < 0 || cols < 0 ? -1 : detail::bytes_of(rows, cols, 1, 1);
    if (wanted < 0 || wanted > size_)
      throw InvalidArgument(text("rows * cols must be in [0, ", size_, "] (rows=", rows, ", cols=", cols, ")"));
    return any_rows<T>(matrix_view<T>(data_, rows, cols), where_);
  }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
  const Device* where_ = nullptr;
};

}  // namespace quintet
