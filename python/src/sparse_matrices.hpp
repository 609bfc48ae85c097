// Sparse matrices from Python and back: the tuple (rows, cols, row pointers int64, columns, values).
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <limits>
#include <string>

#include "arrays.hpp"
#include "quintet/spgemm/multiply.hpp"

namespace quintet::python {

using namespace spgemm;

/// The arrays of a matrix, held while the object lives.
struct operand {
  std::int64_t rows = 0, cols = 0;
  array pointers, columns, values;

  explicit operand(const nb::tuple& matrix)
      : rows(nb::cast<std::int64_t>(matrix[0])), cols(nb::cast<std::int64_t>(matrix[1])) {
    array* parts[] = {&pointers, &columns, &values};
    for (int i = 0; i < 3; ++i)
      if (!parts[i]->take(nb::object(matrix[i + 2]).ptr()) || !parts[i]->present())
        throw nb::type_error("a sparse matrix must consist of arrays");
  }

  template <class Value, class Index>
  csr_view<Value, Index> view() const {
    const auto p = pointers.vector<const std::int64_t>();
    const auto c = columns.vector<const Index>();
    const auto v = values.vector<const Value>();
    require_argument(p.size() == rows + 1, "indptr.size", p.size(), text("rows + 1, rows=", rows));
    require_argument(p.data()[0] == 0, "indptr[0]", p.data()[0], "0");
    require_argument(p.data()[rows] <= c.size() && p.data()[rows] <= v.size(), "indptr[-1]", p.data()[rows],
                     text("at most the number of entries, ", std::min(c.size(), v.size())));
    return {rows, cols, p.data(), c.data(), v.data()};
  }
};

template <class T>
nb::object to_numpy(spgemm::array<T>&& values) {
  const auto size = std::int64_t(values.size());
  return elements_to_numpy<T>(std::move(values), {size});
}

template <class Value, class Index>
nb::tuple tuple_of(csr<Value, Index>&& m) {
  return nb::make_tuple(m.rows, m.cols, to_numpy(std::move(m.row_pointers)), to_numpy(std::move(m.columns)),
                        to_numpy(std::move(m.values)));
}

/// The most probable way. A NaN product is passed over.
struct max_times {
  template <class Value>
  static constexpr Value identity() {
    return -std::numeric_limits<Value>::infinity();
  }
  template <class Value>
  static constexpr Value multiply(Value a, Value b) {
    return a * b;
  }
  template <class Value>
  static constexpr Value add(Value x, Value y) {
    return x < y ? y : x;
  }
};
/// Bottlenecks: of two values the larger, of all ways the least. A NaN product is passed over.
struct min_max {
  template <class Value>
  static constexpr Value identity() {
    return std::numeric_limits<Value>::infinity();
  }
  template <class Value>
  static constexpr Value multiply(Value a, Value b) {
    return a != a || b != b ? a + b : a < b ? b : a;
  }
  template <class Value>
  static constexpr Value add(Value x, Value y) {
    return y < x ? y : x;
  }
};

/// f(type_tag<Value>, type_tag<Index>) for the types of a matrix.
template <class Function>
decltype(auto) with_types(const operand& m, Function&& f) {
  return with_real(m.values.type(), [&](auto value) {
    if (m.columns.type() == element::i32) return f(value, type_tag<std::int32_t>{});
    if (m.columns.type() == element::i64) return f(value, type_tag<std::int64_t>{});
    refuse_type(m.columns.type(), "int32 or int64");
  });
}

/// The same and type_tag<Semiring>.
template <class Function>
decltype(auto) with_semiring(const std::string& name, const operand& m, Function&& f) {
  return with_types(m, [&](auto value, auto index) {
    if (name == "plus_times") return f(value, index, type_tag<plus_times>{});
    if (name == "min_plus") return f(value, index, type_tag<min_plus>{});
    if (name == "or_and") return f(value, index, type_tag<or_and>{});
    throw InvalidArgument(text("semiring must be plus_times, min_plus or or_and (semiring=", name, ")"));
  });
}

}  // namespace quintet::python
