// Vectors of the library's structures as NumPy arrays, and lists of rows behind callbacks.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "arrays.hpp"
#include "call.hpp"
#include "quintet/core/error.hpp"

namespace quintet::python {

/// Structures of 8-byte members as int64 patterns [rows, members]: NumPy looks at them as records.
template <class T>
nb::object records(std::vector<T>&& values) {
  static_assert(sizeof(T) % 8 == 0 && std::is_trivially_copyable_v<T>);
  const auto rows = std::int64_t(values.size());
  return elements_to_numpy<std::int64_t>(std::move(values), {rows, std::int64_t(sizeof(T) / 8)});
}

/// The other way: a copy of int64 patterns [rows, members].
template <class T>
std::vector<T> from_records(const array& patterns) {
  const auto view = patterns.matrix<const std::int64_t>();
  if (view.cols() != std::int64_t(sizeof(T) / 8))
    throw InvalidArgument(text("records must have ", sizeof(T) / 8, " members (members=", view.cols(), ")"));
  std::vector<T> values(static_cast<std::size_t>(view.rows()));
  for (std::int64_t i = 0; i < view.rows(); ++i)
    std::memcpy(&values[std::size_t(i)], view.data() + i * view.stride(), sizeof(T));
  return values;
}

template <class T>
std::span<const T> span_of(const array& values) {
  const auto view = values.vector<const T>();
  return {view.data(), std::size_t(view.size())};
}

/// A copy: of labels and other indices, which a thread of Python might change while the library follows them.
template <class T>
std::vector<T> vector_of(const array& values) {
  const auto view = span_of<T>(values);
  return {view.begin(), view.end()};
}

/// A copy of a matrix as a NumPy array: what a callback may keep. Needs the GIL.
template <class T>
nb::object copy_of(matrix_view<const T> rows) {
  std::vector<T> values;
  values.reserve(std::size_t(rows.rows() * rows.cols()));
  for (std::int64_t i = 0; i < rows.rows(); ++i)
    values.insert(values.end(), rows.data() + i * rows.stride(), rows.data() + i * rows.stride() + rows.cols());
  return to_numpy(std::move(values), {rows.rows(), rows.cols()});
}

/// take(first_row, rows) of Python as the library's callback; False ends the work.
template <class T>
auto block_receiver(nb::handle take) {
  return [take](std::int64_t first_row, matrix_view<const T> rows) {
    const callback_lock lock;
    const nb::object answer = take(first_row, copy_of<T>(rows));
    return answer.ptr() != Py_False;
  };
}
/// The same for blocks of float or double.
inline auto any_block_receiver(nb::handle take) {
  return [take](std::int64_t first_row, any_matrix rows) {
    return quintet::with_real(rows.type, "rows",
                              [&]<class Real>() { return block_receiver<Real>(take)(first_row, rows.as<Real>()); });
  };
}

/// A new NumPy array of `count` values that fill(any_output_vector) has written. Needs the GIL; fill() gives it back.
template <class Fill>
nb::object filled_values(scalar_type real, std::int64_t count, Fill&& fill) {
  return quintet::with_real(real, "values", [&]<class Real>() {
    std::vector<Real> values(count);
    fill(any_output_vector(values));
    return to_numpy(std::move(values));
  });
}

}  // namespace quintet::python
