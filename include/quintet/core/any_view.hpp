// Views with the element type as a value: the arguments of every public function that takes points, matrices or
// batches. So such a function is compiled once and switches on the type once.
//
//   void norms(any_matrix points, any_output_vector out, const Device&);         // one declaration, one contract
//   with_storage(points.type, [&]<class T>() { norms_of(points.as<T>()); });     // the one switch, in its source
//
// Views convert to them. The C interface and the Python module fill them from their own arguments; as<T>() checks
// sizes, strides and the pointer as the constructors of the views do. Everything is O(1); nothing is allocated or
// copied.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "quintet/core/arguments.hpp"
#include "quintet/core/error.hpp"
#include "quintet/core/storage16.hpp"
#include "quintet/core/view.hpp"
#include "quintet/device/device.hpp"

namespace quintet {

/// Type of the stored elements; the numbers are those of the C interface.
enum class scalar_type : std::int32_t { float32 = 1, float64 = 2, float16 = 3, bfloat16 = 4 };

/// The value that stands for T.
template <storage_type T>
constexpr scalar_type scalar_type_of() {
  if constexpr (std::is_same_v<T, float>)
    return scalar_type::float32;
  else if constexpr (std::is_same_v<T, double>)
    return scalar_type::float64;
  else if constexpr (std::is_same_v<T, half>)
    return scalar_type::float16;
  else
    return scalar_type::bfloat16;
}

/// "float32", "float64", "float16" or "bfloat16".
constexpr std::string_view name_of(scalar_type type) {
  constexpr std::string_view names[] = {"float32", "float64", "float16", "bfloat16"};
  return names[static_cast<std::int32_t>(type) - 1];
}

/// Bytes of an element.
constexpr std::int64_t element_bytes(scalar_type type) {
  return type == scalar_type::float64 ? 8 : type == scalar_type::float32 ? 4 : 2;
}

/// The type that elements of `type` are computed in: float64 for float64, float32 for the others.
constexpr scalar_type accumulator_of(scalar_type type) {
  return type == scalar_type::float64 ? scalar_type::float64 : scalar_type::float32;
}

/// Calls `action.operator()<T>()` with the T of `type`: float, double, half or bfloat16.
template <class Action>
decltype(auto) with_storage(scalar_type type, Action&& action) {
  switch (type) {
    case scalar_type::float32:
      return action.template operator()<float>();
    case scalar_type::float64:
      return action.template operator()<double>();
    case scalar_type::float16:
      return action.template operator()<half>();
    case scalar_type::bfloat16:
      break;
  }
  return action.template operator()<bfloat16>();
}

/// The same where only float and double are supported. Throws InvalidArgument for the other two; `name` is the
/// argument.
template <class Action>
decltype(auto) with_real(scalar_type type, std::string_view name, Action&& action) {
  if (type != scalar_type::float32 && type != scalar_type::float64)
    throw InvalidArgument(
        text("the elements of ", name, " must be float32 or float64 (", name, ".type=", name_of(type), ")"));
  return type == scalar_type::float64 ? action.template operator()<double>() : action.template operator()<float>();
}

namespace detail {

/// void or const void: void with the const of T.
template <class T>
using erased_t = std::conditional_t<std::is_const_v<T>, const void, void>;
/// T with the const of Void.
template <class Void, class T>
using like_erased_t = std::conditional_t<std::is_const_v<Void>, const T, T>;
/// Elements that a view of Void can hold.
template <class T, class Void>
concept erasable = storage_type<std::remove_const_t<T>> && (std::is_const_v<Void> || !std::is_const_v<T>);

/// Throws InvalidArgument unless `type`, that of the argument `name`, is `wanted`.
inline void check_scalar_type(scalar_type type, scalar_type expected, const char* name) {
  if (type != expected)
    throw InvalidArgument(
        text("the elements of ", name, " must be ", name_of(expected), " (", name, ".type=", name_of(type), ")"));
}

/// A view of a storage type: it has a constructor of another kind.
template <class A, template <class> class View>
constexpr bool is_stored = false;
template <class T, template <class> class View>
constexpr bool is_stored<View<T>, View> = storage_type<std::remove_const_t<T>>;

/// The view that an argument is, where results can be written to it.
template <class Void, class View>
View writable(const View& view) {
  static_assert(std::is_const_v<Void> || !std::is_const_v<typename View::element_type>,
                "quintet: a result must be writable, and its elements are const");
  return view;
}

}  // namespace detail

/// Values in a line: see vector_view. Void is const void where they are only read.
template <class Void>
struct basic_any_vector {
  Void* data = nullptr;                     ///< the first value
  scalar_type type = scalar_type::float32;  ///< of the values
  std::int64_t size = 0;                    ///< number of values
  Device device;                            ///< the owner of the memory

  basic_any_vector() = default;
  /// Of members set by the caller; nothing is checked before as<T>().
  basic_any_vector(Void* first, scalar_type element_type, std::int64_t count, const Device& place = Device::host())
      : data(first), type(element_type), size(count), device(place) {}
  /// Any view of a storage type.
  template <detail::erasable<Void> T>
  basic_any_vector(const vector_view<T>& view)
      : data(view.data()), type(scalar_type_of<std::remove_const_t<T>>()), size(view.size()), device(view.device()) {}
  /// `count` values at `first`. Throws as vector_view does.
  template <detail::erasable<Void> T>
  basic_any_vector(T* first, std::int64_t count, const Device& place = Device::host())
      : basic_any_vector(vector_view<T>(first, count, place)) {}
  /// Anything that is values in a line.
  template <vector_argument V>
    requires(!detail::is_stored<std::remove_cvref_t<V>, vector_view>)
  basic_any_vector(V&& values) : basic_any_vector(detail::writable<Void>(values_of(values))) {
    static_assert(storage_type<std::remove_const_t<typename decltype(values_of(values))::element_type>>,
                  "quintet: values must be float, double, quintet::half or quintet::bfloat16: convert them first");
  }

  /// As a view of T; an empty one, without data, is a view of every type. Throws InvalidArgument, which calls the
  /// argument `name`, if T is not the type of the elements, and as vector_view does.
  template <storage_type T>
  vector_view<detail::like_erased_t<Void, T>> as(const char* name = "the argument") const {
    if (data != nullptr) detail::check_scalar_type(type, scalar_type_of<T>(), name);
    return {static_cast<detail::like_erased_t<Void, T>*>(data), size, device};
  }
};

/// Rows with adjacent elements: see matrix_view. Void is const void where they are only read.
template <class Void>
struct basic_any_matrix {
  Void* data = nullptr;                     ///< element (0, 0)
  scalar_type type = scalar_type::float32;  ///< of the elements
  ///@{
  /// Sizes, in elements.
  std::int64_t rows = 0, cols = 0;
  ///@}
  std::int64_t stride = 0;  ///< elements from one row to the next
  Device device;            ///< the owner of the memory

  basic_any_matrix() = default;
  /// Of members set by the caller; nothing is checked before as<T>().
  basic_any_matrix(Void* first, scalar_type element_type, std::int64_t row_count, std::int64_t col_count,
                   std::int64_t row_step, const Device& place = Device::host())
      : data(first), type(element_type), rows(row_count), cols(col_count), stride(row_step), device(place) {}
  /// Any view of a storage type.
  template <detail::erasable<Void> T>
  basic_any_matrix(const matrix_view<T>& view)
      : data(view.data()),
        type(scalar_type_of<std::remove_const_t<T>>()),
        rows(view.rows()),
        cols(view.cols()),
        stride(view.stride()),
        device(view.device()) {}
  ///@{
  /// Rows at `first`, dense without a stride. Throw as matrix_view does.
  template <detail::erasable<Void> T>
  basic_any_matrix(T* first, std::int64_t row_count, std::int64_t col_count, const Device& place = Device::host())
      : basic_any_matrix(matrix_view<T>(first, row_count, col_count, place)) {}
  template <detail::erasable<Void> T>
  basic_any_matrix(T* first, std::int64_t row_count, std::int64_t col_count, std::int64_t row_step,
                   const Device& place = Device::host())
      : basic_any_matrix(matrix_view<T>(first, row_count, col_count, row_step, place)) {}
  ///@}
  ///@{
  /// Dense rows of `col_count` elements in a buffer. Throw as matrix_view does.
  template <detail::erasable<Void> T>
  basic_any_matrix(Buffer<T>& buffer, std::int64_t col_count) : basic_any_matrix(matrix_view<T>(buffer, col_count)) {}
  template <class T>
    requires detail::erasable<const T, Void>
  basic_any_matrix(const Buffer<T>& buffer, std::int64_t col_count)
      : basic_any_matrix(matrix_view<const T>(buffer, col_count)) {}
  ///@}
  /// Anything that is a matrix by rows; the compiler refuses other elements and columns that are contiguous.
  template <matrix_argument M>
    requires(!detail::is_stored<std::remove_cvref_t<M>, matrix_view>)
  basic_any_matrix(M&& matrix) : basic_any_matrix(of<element_of<M>>(matrix)) {}

  /// As a view of T: see basic_any_vector.
  template <storage_type T>
  matrix_view<detail::like_erased_t<Void, T>> as(const char* name = "the argument") const {
    if (data != nullptr) detail::check_scalar_type(type, scalar_type_of<T>(), name);
    return {static_cast<detail::like_erased_t<Void, T>*>(data), rows, cols, stride, device};
  }

 private:
  template <class T, class M>
  static matrix_view<detail::like_erased_t<Void, T>> of(M& matrix) {
    return detail::writable<Void>(matrix_of(matrix));
  }
};

/// Matrices of one shape with any strides: see batch_view. Void is const void where they are only read.
template <class Void>
struct basic_any_batch {
  Void* data = nullptr;                     ///< element (0, 0) of matrix 0
  scalar_type type = scalar_type::float32;  ///< of the elements
  ///@{
  /// Sizes, in elements.
  std::int64_t batch = 0, rows = 0, cols = 0;
  ///@}
  ///@{
  /// Elements to the next matrix, row and column.
  std::int64_t batch_stride = 0, row_stride = 0, col_stride = 0;
  ///@}
  Device device;  ///< the owner of the memory

  basic_any_batch() = default;
  /// Of members set by the caller; nothing is checked before as<T>().
  basic_any_batch(Void* first, scalar_type element_type, std::int64_t matrix_count, std::int64_t row_count,
                  std::int64_t col_count, std::int64_t matrix_step, std::int64_t row_step, std::int64_t col_step,
                  const Device& place = Device::host())
      : data(first),
        type(element_type),
        batch(matrix_count),
        rows(row_count),
        cols(col_count),
        batch_stride(matrix_step),
        row_stride(row_step),
        col_stride(col_step),
        device(place) {}
  /// Any view of a storage type.
  template <detail::erasable<Void> T>
  basic_any_batch(const batch_view<T>& view)
      : data(view.data()),
        type(scalar_type_of<std::remove_const_t<T>>()),
        batch(view.batch()),
        rows(view.rows()),
        cols(view.cols()),
        batch_stride(view.batch_stride()),
        row_stride(view.row_stride()),
        col_stride(view.col_stride()),
        device(view.device()) {}
  ///@{
  /// Matrices at `first`, dense without strides. Throw as batch_view does.
  template <detail::erasable<Void> T>
  basic_any_batch(T* first, std::int64_t matrix_count, std::int64_t row_count, std::int64_t col_count,
                  const Device& place = Device::host())
      : basic_any_batch(batch_view<T>(first, matrix_count, row_count, col_count, place)) {}
  template <detail::erasable<Void> T>
  basic_any_batch(T* first, std::int64_t matrix_count, std::int64_t row_count, std::int64_t col_count,
                  std::int64_t matrix_step, std::int64_t row_step, std::int64_t col_step,
                  const Device& place = Device::host())
      : basic_any_batch(
            batch_view<T>(first, matrix_count, row_count, col_count, matrix_step, row_step, col_step, place)) {}
  ///@}
  ///@{
  /// Dense matrices in a buffer. Throw as batch_view does.
  template <detail::erasable<Void> T>
  basic_any_batch(Buffer<T>& buffer, std::int64_t row_count, std::int64_t col_count)
      : basic_any_batch(batch_view<T>(buffer, row_count, col_count)) {}
  template <class T>
    requires detail::erasable<const T, Void>
  basic_any_batch(const Buffer<T>& buffer, std::int64_t row_count, std::int64_t col_count)
      : basic_any_batch(batch_view<const T>(buffer, row_count, col_count)) {}
  ///@}
  /// Anything that is a batch, or one matrix; the compiler refuses other elements.
  template <batch_argument B>
    requires(!detail::is_stored<std::remove_cvref_t<B>, batch_view>)
  basic_any_batch(B&& matrices) : basic_any_batch(of<element_of<B>>(matrices)) {}

  /// As a view of T: see basic_any_vector.
  template <storage_type T>
  batch_view<detail::like_erased_t<Void, T>> as(const char* name = "the argument") const {
    if (data != nullptr) detail::check_scalar_type(type, scalar_type_of<T>(), name);
    return {static_cast<detail::like_erased_t<Void, T>*>(data),
            batch,
            rows,
            cols,
            batch_stride,
            row_stride,
            col_stride,
            device};
  }

 private:
  template <class T, class B>
  static batch_view<detail::like_erased_t<Void, T>> of(B& batch) {
    return detail::writable<Void>(batch_of(batch));
  }
};

///@{
/// Arguments that are only read.
using any_vector = basic_any_vector<const void>;
using any_matrix = basic_any_matrix<const void>;
using any_batch = basic_any_batch<const void>;
///@}
///@{
/// Arguments that are written.
using any_output_vector = basic_any_vector<void>;
using any_output_matrix = basic_any_matrix<void>;
using any_output_batch = basic_any_batch<void>;
///@}

}  // namespace quintet
