// Arrays of Python in and out of the bindings.
//
// quintet/_arrays.py has checked and prepared every array before a binding sees it: native byte order, aligned, on the
// processor's memory, of a type that the function takes. bfloat16, which the buffer protocol cannot name, comes as
// uint16. Outputs are allocated in Python and written in place, or leave a std::vector through to_numpy() without a
// copy.
//
// An argument of a binding is either an object with the buffer protocol or, for tensors, whose way through a protocol
// costs microseconds, the tuple (address, code, shape, strides, device): strides count elements, code is a character of
// the struct module ('E' for bfloat16), device is -1 for the host.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/core/storage16.hpp"
#include "quintet/core/view.hpp"

namespace quintet::python {

namespace nb = nanobind;

/// Type of the elements of an array.
enum class element : std::uint8_t { f16, bf16, f32, f64, i32, i64, u8 };

/// Name for messages.
const char* name_of(element type);

template <class T>
constexpr element element_for() {
  if constexpr (std::is_same_v<T, half>)
    return element::f16;
  else if constexpr (std::is_same_v<T, bfloat16>)
    return element::bf16;
  else if constexpr (std::is_same_v<T, float>)
    return element::f32;
  else if constexpr (std::is_same_v<T, double>)
    return element::f64;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return element::i32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return element::i64;
  else
    return element::u8;
}

/// An array argument: memory that Python owns, held while the object lives. None gives an absent one.
class array {
 public:
  static constexpr int max_dimensions = 8;

  array() = default;
  array(const array&) = delete;
  array& operator=(const array&) = delete;
  ~array() { release(); }

  /// Takes what the file's head describes. False, without a Python error, for anything else. Needs the GIL.
  bool take(PyObject* object) noexcept;
  /// Lets the memory go. Needs the GIL.
  void release() noexcept;

  /// False for None.
  bool present() const { return present_; }
  element type() const { return type_; }
  int dimensions() const { return dimensions_; }
  std::int64_t shape(int i) const { return shape_[i]; }
  /// In elements.
  std::int64_t stride(int i) const { return stride_[i]; }
  const Device& device() const { return device_; }

  ///@{
  /// As a view of the library; absent arrays give an empty view. Throw InvalidArgument for another number of dimensions
  /// or type, for a row, or values, that are not contiguous, and where T is not const and the memory is read-only.
  template <class T>
  vector_view<T> vector() const {
    if (!present_) return {};
    check(element_for<std::remove_const_t<T>>(), 1, !std::is_const_v<T>);
    return vector_view<T>(static_cast<T*>(data_), shape_[0], device_);
  }
  template <class T>
  matrix_view<T> matrix() const {
    if (!present_) return {};
    check(element_for<std::remove_const_t<T>>(), 2, !std::is_const_v<T>);
    return matrix_view<T>(static_cast<T*>(data_), shape_[0], shape_[1], row_stride(), device_);
  }
  template <class T>
  batch_view<T> batch() const {
    if (!present_) return {};
    check(element_for<std::remove_const_t<T>>(), 3, !std::is_const_v<T>);
    return batch_view<T>(static_cast<T*>(data_), shape_[0], shape_[1], shape_[2], stride_[0], stride_[1], stride_[2],
                         device_);
  }
  ///@}
  ///@{
  /// The same with the type as a value; those that are written must be writable.
  any_vector values() const;
  any_output_vector output_values() const;
  any_matrix rows() const;
  any_output_matrix output_rows() const;
  any_batch matrices() const;
  any_output_batch output_matrices() const;
  ///@}

 private:
  bool take_buffer(PyObject* object) noexcept;
  bool take_tuple(PyObject* object) noexcept;
  void check(element type, int dimensions, bool write) const;
  scalar_type checked_type(int dimensions, bool write) const;
  std::int64_t row_stride() const { return shape_[0] > 1 ? stride_[0] : shape_[1]; }

  Py_buffer buffer_{};
  bool held_ = false, present_ = false, read_only_ = false;
  element type_ = element::f64;
  int dimensions_ = 0;
  void* data_ = nullptr;
  std::int64_t shape_[max_dimensions] = {}, stride_[max_dimensions] = {};
  Device device_;
};

template <class T>
struct type_tag {
  using type = T;
};

/// Throws InvalidArgument: `type` is none that the function takes.
[[noreturn]] void refuse_type(element type, const char* allowed);

/// f(type_tag<T>{}) for the storage type of an array: float, double, half or bfloat16.
template <class Function>
decltype(auto) with_storage(element type, Function&& f) {
  switch (type) {
    case element::f32:
      return f(type_tag<float>{});
    case element::f64:
      return f(type_tag<double>{});
    case element::f16:
      return f(type_tag<half>{});
    case element::bf16:
      return f(type_tag<bfloat16>{});
    default:
      refuse_type(type, "float16, bfloat16, float32 or float64");
  }
}

/// The same for float and double.
template <class Function>
decltype(auto) with_real(element type, Function&& f) {
  switch (type) {
    case element::f32:
      return f(type_tag<float>{});
    case element::f64:
      return f(type_tag<double>{});
    default:
      refuse_type(type, "float32 or float64");
  }
}

/// A NumPy array of `count` sizes with a copy of the elements. Needs the GIL.
nb::object copy_to_numpy(element type, const std::size_t* sizes, std::size_t count, const void* data);

/// The same array with the type as NumPy names it: what is "long long" to a buffer is int64.
nb::object with_numpy_type(element type, nb::object given);

/// Up to so many bytes a copy is faster than an owner.
constexpr std::size_t min_owned_bytes = 8192;

/// A NumPy array of the elements of `values`, which it owns where they are many: of a vector or an array of the
/// library. 16-bit types come out as uint16 patterns, structures as Element. Needs the GIL.
template <class Element, class Values>
nb::object elements_to_numpy(Values&& values, std::initializer_list<std::int64_t> shape) {
  std::size_t sizes[array::max_dimensions];
  std::size_t count = 0, bytes = sizeof(Element);
  for (const std::int64_t size : shape) bytes *= sizes[count++] = std::size_t(size);
  constexpr element type = sizeof(Element) == 2 ? element::bf16 : element_for<Element>();
  static_assert(type != element::u8 || sizeof(Element) == 1);
  if (bytes < min_owned_bytes) return copy_to_numpy(type, sizes, count, values.data());
  using Owned = std::remove_cvref_t<Values>;
  auto* owned = new Owned(std::forward<Values>(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Owned*>(p); });
  using Seen = std::conditional_t<sizeof(Element) == 2, std::uint16_t, Element>;
  nb::ndarray<nb::numpy, Seen> seen(reinterpret_cast<Seen*>(owned->data()), count, sizes, owner);
  return with_numpy_type(type, nb::cast(seen, nb::rv_policy::reference));
}

template <class T>
nb::object to_numpy(std::vector<T>&& values, std::initializer_list<std::int64_t> shape) {
  return elements_to_numpy<T>(std::move(values), shape);
}

/// One dimension.
template <class T>
nb::object to_numpy(std::vector<T>&& values) {
  const auto size = std::int64_t(values.size());
  return elements_to_numpy<T>(std::move(values), {size});
}

}  // namespace quintet::python

namespace nanobind::detail {

template <>
struct type_caster<quintet::python::array> {
  NB_TYPE_CASTER(quintet::python::array, const_name("object"))
  bool from_python(handle source, std::uint8_t, cleanup_list*) noexcept { return value.take(source.ptr()); }
};

}  // namespace nanobind::detail
