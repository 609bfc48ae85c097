#include "arrays.hpp"

#include <cstring>

#include "quintet/core/error.hpp"

namespace quintet::python {

namespace {

constexpr int no_element = -1;

/// The element for a format of the struct module, with or without the mark of native order; no_element for others.
int element_of_format(const char* format, std::int64_t bytes) {
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (format[0] == 0 || format[1] != 0) return no_element;
  switch (*format) {
    case 'e':
      return int(element::f16);
    case 'E':
    case 'H':
      return int(element::bf16);
    case 'f':
      return int(element::f32);
    case 'd':
      return int(element::f64);
    case 'i':
    case 'l':
    case 'q':
      return bytes == 4 ? int(element::i32) : int(element::i64);
    case '?':
    case 'B':
      return int(element::u8);
    default:
      return no_element;
  }
}

}  // namespace

const char* name_of(element type) {
  static constexpr const char* names[] = {"float16", "bfloat16", "float32", "float64", "int32", "int64", "uint8"};
  return names[int(type)];
}

void refuse_type(element type, const char* allowed) {
  throw InvalidArgument(text("dtype must be ", allowed, " (dtype=", name_of(type), ")"));
}

void array::release() noexcept {
  if (held_) PyBuffer_Release(&buffer_);
  held_ = false;
}

bool array::take(PyObject* object) noexcept {
  release();
  present_ = object != Py_None;
  if (!present_) return true;
  const bool taken = PyTuple_Check(object) ? take_tuple(object) : take_buffer(object);
  if (!taken) PyErr_Clear();
  return taken;
}

bool array::take_buffer(PyObject* object) noexcept {
  if (PyObject_GetBuffer(object, &buffer_, PyBUF_STRIDES | PyBUF_FORMAT) != 0) return false;
  held_ = true;
  const int type = element_of_format(buffer_.format != nullptr ? buffer_.format : "B", buffer_.itemsize);
  if (type == no_element || buffer_.ndim > max_dimensions) return false;
  type_ = element(type);
  read_only_ = buffer_.readonly != 0;
  dimensions_ = buffer_.ndim;
  data_ = buffer_.buf;
  for (int i = 0; i < dimensions_; ++i) {
    shape_[i] = buffer_.shape[i];
    stride_[i] = buffer_.strides[i] / buffer_.itemsize;
    if (stride_[i] * buffer_.itemsize != buffer_.strides[i]) return false;
  }
  return true;
}

bool array::take_tuple(PyObject* object) noexcept {
  PyObject *shape = nullptr, *strides = nullptr;
  unsigned long long address = 0;
  int code = 0, device = -1;
  if (!PyArg_ParseTuple(object, "KCOOi", &address, &code, &shape, &strides, &device)) return false;
  const char format[2] = {char(code), 0};
  const int type = element_of_format(format, code == 'i' ? 4 : 8);
  const Py_ssize_t count = PySequence_Size(shape);
  if (type == no_element || count < 0 || count > max_dimensions || PySequence_Size(strides) != count) return false;
  type_ = element(type);
  read_only_ = false;
  dimensions_ = int(count);
  data_ = reinterpret_cast<void*>(address);
  const auto number = [](PyObject* sequence, Py_ssize_t i) {
    PyObject* item = PyTuple_GetItem(sequence, i);  // borrowed
    return item != nullptr ? PyLong_AsLongLong(item) : -1LL;
  };
  if (!PyTuple_Check(shape) || !PyTuple_Check(strides)) return false;
  for (int i = 0; i < dimensions_; ++i) {
    shape_[i] = number(shape, i);
    stride_[i] = number(strides, i);
  }
  if (PyErr_Occurred() != nullptr) return false;
  device_ = Device::host();
  if (device >= 0) {
    try {
      device_ = Device::offload(device);
    } catch (...) {
      return false;
    }
  }
  return true;
}

void array::check(element type, int dimensions, bool write) const {
  if (type != type_) refuse_type(type_, name_of(type));
  if (dimensions != dimensions_)
    throw InvalidArgument(text("an array must have ", dimensions, " dimensions (dimensions=", dimensions_, ")"));
  if (write && read_only_) throw InvalidArgument("an output must be writable");
  if (dimensions == 3) return;  // any strides
  const int last = dimensions - 1;
  if (shape_[last] > 1 && stride_[last] != 1)
    throw InvalidArgument(text("the elements of a row must be adjacent (stride=", stride_[last], ")"));
}

scalar_type array::checked_type(int dimensions, bool write) const {
  check(type_, dimensions, write);
  switch (type_) {
    case element::f32:
      return scalar_type::float32;
    case element::f64:
      return scalar_type::float64;
    case element::f16:
      return scalar_type::float16;
    case element::bf16:
      return scalar_type::bfloat16;
    default:
      refuse_type(type_, "float16, bfloat16, float32 or float64");
  }
}

any_vector array::values() const {
  if (!present_) return {};
  return {data_, checked_type(1, false), shape_[0], device_};
}
any_output_vector array::output_values() const {
  if (!present_) return {};
  return {data_, checked_type(1, true), shape_[0], device_};
}
any_matrix array::rows() const {
  if (!present_) return {};
  return {data_, checked_type(2, false), shape_[0], shape_[1], row_stride(), device_};
}
any_output_matrix array::output_rows() const {
  if (!present_) return {};
  return {data_, checked_type(2, true), shape_[0], shape_[1], row_stride(), device_};
}
any_batch array::matrices() const {
  if (!present_) return {};
  return {data_, checked_type(3, false), shape_[0], shape_[1], shape_[2], stride_[0], stride_[1], stride_[2], device_};
}
any_output_batch array::output_matrices() const {
  if (!present_) return {};
  return {data_, checked_type(3, true), shape_[0], shape_[1], shape_[2], stride_[0], stride_[1], stride_[2], device_};
}

namespace {

/// What is wanted of NumPy. Kept for the life of the process, as the interpreter may be gone when statics are
/// destroyed.
struct numpy_names {
  nb::object empty, types[7];

  numpy_names() {
    const nb::module_ numpy = nb::module_::import_("numpy");
    empty = numpy.attr("empty");
    static constexpr const char* names[] = {"float16", "uint16", "float32", "float64", "int32", "int64", "uint8"};
    for (int i = 0; i < 7; ++i) types[i] = numpy.attr("dtype")(names[i]);
  }
  static const numpy_names& get() {
    static const auto& all = *new numpy_names;
    return all;
  }
};

}  // namespace

nb::object copy_to_numpy(element type, const std::size_t* sizes, std::size_t count, const void* data) {
  const numpy_names& numpy = numpy_names::get();
  const nb::object shape = nb::steal(PyTuple_New(Py_ssize_t(count)));
  std::size_t elements = 1;
  for (std::size_t i = 0; i < count; ++i) {
    elements *= sizes[i];
    PyTuple_SetItem(shape.ptr(), Py_ssize_t(i), PyLong_FromSize_t(sizes[i]));
  }
  nb::object result = numpy.empty(shape, numpy.types[int(type)]);
  if (elements == 0) return result;
  Py_buffer buffer;
  if (PyObject_GetBuffer(result.ptr(), &buffer, PyBUF_WRITABLE) != 0) throw nb::python_error();
  std::memcpy(buffer.buf, data, std::size_t(buffer.len));
  PyBuffer_Release(&buffer);
  return result;
}

nb::object with_numpy_type(element type, nb::object given) {
  return type == element::i64 ? given.attr("view")(numpy_names::get().types[int(type)]) : given;
}

}  // namespace quintet::python
