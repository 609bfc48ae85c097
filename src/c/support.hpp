// What the C interface is made of: exceptions to status, pointers to views, numbers to types.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/processor.hpp"
#include "quintet/c/core.h"
#include "quintet/core/any_view.hpp"
#include "quintet/core/error.hpp"
#include "quintet/core/progress.hpp"
#include "quintet/core/storage16.hpp"
#include "quintet/core/view.hpp"
#include "quintet/device/device.hpp"
#include "quintet/pairwise/metric.hpp"

namespace quintet::c {

/// Status of the exception that is being handled, whose message becomes that of the thread. Call in a handler only.
quintet_status report_exception() noexcept;

/// The status, and the message, of a processor that lacks what `sentence` says.
quintet_status report_processor(const char* sentence) noexcept;

/// Runs `action`; what it throws becomes a status. Not where the processor lacks instructions that it may have.
template <class Action>
quintet_status guarded(Action&& action) noexcept {
  if (const char* const sentence = quintet::detail::missing_instructions()) return report_processor(sentence);
  try {
    action();
    return QUINTET_OK;
  } catch (...) {
    return report_exception();
  }
}

/// Makes a handle: *handle is NULL until `make` has returned the new object.
template <class Handle, class Action>
quintet_status make_handle(Handle** handle, Action&& make) noexcept {
  return guarded([&] {
    if (handle == nullptr) throw InvalidArgument("handle must not be null");
    *handle = nullptr;
    *handle = new Handle(make());
  });
}

/// *pointer; throws InvalidArgument for a null one.
template <class T>
T& required(T* pointer, std::string_view name) {
  if (pointer == nullptr) throw InvalidArgument(text(name, " must not be null"));
  return *pointer;
}

/// Throws InvalidArgument unless `count` elements of `bytes` bytes, `data` not null if there are any, fit into memory.
void check_array(const void* data, std::int64_t count, std::int64_t bytes, std::string_view name);
/// The same for the elements of a matrix; rows and cols >= 0, stride >= cols.
void check_matrix(const void* data, std::int64_t rows, std::int64_t cols, std::int64_t stride, std::int64_t bytes,
                  std::string_view name);

/// The elements of an array of the caller.
template <class T>
std::span<T> array(T* data, std::int64_t count, std::string_view name) {
  check_array(data, count, sizeof(T), name);
  return {data, static_cast<std::size_t>(count)};
}
template <class T>
std::span<const T> input_array(const void* data, std::int64_t count, std::string_view name) {
  return array(static_cast<const T*>(data), count, name);
}
template <class T>
std::span<T> output_array(void* data, std::int64_t count, std::string_view name) {
  return array(static_cast<T*>(data), count, name);
}
/// The same where null stands for an absent array.
template <class T>
std::span<const T> optional_array(const void* data, std::int64_t count, std::string_view name) {
  return data == nullptr ? std::span<const T>() : input_array<T>(data, count, name);
}

template <class T>
matrix_view<const T> input_matrix(const void* data, std::int64_t rows, std::int64_t cols, std::int64_t stride,
                                  std::string_view name) {
  check_matrix(data, rows, cols, stride, sizeof(T), name);
  return {static_cast<const T*>(data), rows, cols, stride};
}
template <class T>
matrix_view<T> output_matrix(void* data, std::int64_t rows, std::int64_t cols, std::int64_t stride,
                             std::string_view name) {
  check_matrix(data, rows, cols, stride, sizeof(T), name);
  return {static_cast<T*>(data), rows, cols, stride};
}

/// `type` as the library has it. Throws InvalidArgument for other numbers, real_type() for 16-bit types too.
scalar_type storage_type_of(quintet_type type);
scalar_type real_type(quintet_type type);

///@{
/// The caller's memory as an argument of the library, checked under its name.
any_matrix any_input(const void* data, scalar_type type, std::int64_t rows, std::int64_t cols, std::int64_t stride,
                     std::string_view name);
any_output_matrix any_output(void* data, scalar_type type, std::int64_t rows, std::int64_t cols, std::int64_t stride,
                             std::string_view name);
any_vector any_input(const void* data, scalar_type type, std::int64_t count, std::string_view name);
any_output_vector any_output(void* data, scalar_type type, std::int64_t count, std::string_view name);
/// Null stands for an absent array.
any_vector any_optional(const void* data, scalar_type type, std::int64_t count, std::string_view name);
///@}

/// Copies `values` to the caller's array of as many elements; a null one is not wanted.
template <class Values, class T>
void copy_to(const Values& values, T* out) {
  if (out != nullptr) std::copy(values.begin(), values.end(), out);
}
/// Tells where an array of a handle lies, to a caller who may want only one of the two.
template <class T>
void give(const T* data, std::int64_t count, const T** out, std::int64_t* out_count) {
  if (out != nullptr) *out = data;
  if (out_count != nullptr) *out_count = count;
}
template <class T>
void set(T* out, T value) {
  if (out != nullptr) *out = value;
}

/// The device of a text; null is "auto".
Device chosen_device(const char* device);

/// The callback as the library takes it; null is none.
progress_callback passed_on(quintet_progress report, void* user);

/// The number of `T` in the interface.
template <storage_type T>
constexpr auto type_of = static_cast<quintet_type>(scalar_type_of<T>());

/// A named value as the enumeration that has the same numbers 0 ... count - 1.
template <class Enum>
Enum enumerated(std::int32_t value, std::int32_t count, std::string_view name) {
  require_argument(value >= 0 && value < count, name, value, text("one of the named values 0 to ", count - 1));
  return static_cast<Enum>(value);
}

static_assert(QUINTET_EUCLIDEAN == int(metric::euclidean) && QUINTET_COSINE == int(metric::cosine) &&
              QUINTET_POINCARE == int(metric::poincare) && QUINTET_MANHATTAN == int(metric::manhattan) &&
              QUINTET_CHEBYSHEV == int(metric::chebyshev) && QUINTET_MINKOWSKI == int(metric::minkowski) &&
              QUINTET_HAVERSINE == int(metric::haversine) && QUINTET_LORENTZ == int(metric::lorentz) &&
              QUINTET_HAMMING == int(metric::hamming) && QUINTET_JACCARD == int(metric::jaccard) &&
              QUINTET_PRODUCT == int(metric::product) &&

              QUINTET_INTEGER_EUCLIDEAN == int(metric::integer_euclidean) &&
              QUINTET_INTEGER_COSINE == int(metric::integer_cosine) &&
              QUINTET_INTEGER_INNER_PRODUCT == int(metric::integer_inner_product));
static_assert(QUINTET_DEGREES == int(angle_unit::degrees) && QUINTET_RADIANS == int(angle_unit::radians));

static_assert(QUINTET_FLAT_FACTOR == int(product::geometry::euclidean) &&
              QUINTET_SPHERE_FACTOR == int(product::geometry::sphere) &&
              QUINTET_STEREOGRAPHIC_FACTOR == int(product::geometry::stereographic) &&
              QUINTET_LORENTZ_FACTOR == int(product::geometry::lorentz));

/// The factors of an array of the caller.
inline std::vector<product::factor> known_factors(const quintet_factor* factors, std::int64_t count,
                                                  std::string_view count_name) {
  require_argument(count >= 1 && count <= std::numeric_limits<std::int32_t>::max(), count_name, count, ">= 1");
  std::vector<product::factor> space;
  for (const quintet_factor& f : array(factors, count, "factors"))
    space.push_back({enumerated<product::geometry>(f.geometry, 4, "geometry"), f.dim, f.curvature, f.weight});
  return space;
}

/// The distance of options that have a metric and its parameters.
template <class Options>
point_metric metric_of(const Options& options) {
  point_metric result = enumerated<metric>(options.metric, 14, "metric");
  if (result.kind == metric::product)
    result.space =
        std::span<const product::factor>(known_factors(options.factors, options.factor_count, "factor_count"));
  result.curvature = options.curvature;
  result.p = options.p;
  result.sphere_radius = options.sphere_radius;
  result.unit = enumerated<angle_unit>(options.unit, 2, "unit");
  result.bits = options.bits;
  return result;
}

// Options are lists of pairs of members: list(visit) calls visit(C member, library member), for an enumeration also
// with the number of its values and its name. Defaults and the options of the library are made from one list.

/// Members of the library's options into those of the interface.
template <class List, class Library, class Options>
constexpr void copy_to_interface(List list, const Library& library, Options& options) {
  list([&]<class C>(C Options::* member, auto library_member, auto...) {
    options.*member = static_cast<C>(library.*library_member);
  });
}
/// And back. Throws InvalidArgument for a number that names no value of an enumeration.
template <class List, class Options, class Library>
void copy_to_library(List list, const Options& options, Library& library) {
  list([&]<class Value>(auto member, Value Library::* library_member, auto... enumeration) {
    if constexpr (std::is_enum_v<Value>)
      library.*library_member = enumerated<Value>(options.*member, enumeration...);
    else if constexpr (std::is_same_v<Value, bool>)
      library.*library_member = options.*member != 0;
    else
      library.*library_member = options.*member;
  });
}

/// Throws InvalidArgument unless `size` is one that this struct had in this or an earlier version.
void check_struct_size(std::size_t size, std::size_t known, std::string_view name);

/// Options of the caller, who may know fewer members than the library; null: `defaults`.
template <class Options>
Options known_options(const Options* c_options, const Options& defaults) {
  Options result = defaults;
  if (c_options == nullptr) return result;
  check_struct_size(c_options->size, sizeof(Options), "options->size");
  std::memcpy(&result, c_options, c_options->size);
  return result;
}
/// *out := value, as far as the caller, who set out->size to `size`, knows its members.
template <class Struct>
void write_struct(const Struct& value, Struct* out, std::size_t size, std::string_view name) {
  check_struct_size(size, sizeof(Struct), name);
  std::memcpy(&required(out, name), &value, size);
  out->size = size;
}

}  // namespace quintet::c
