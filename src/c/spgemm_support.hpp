// What the C functions of sparse matrices share.
#pragma once

#include <memory>
#include <variant>

#include "c/support.hpp"
#include "quintet/c/spgemm.h"
#include "quintet/spgemm/complex_product.hpp"
#include "quintet/spgemm/multiply.hpp"

struct quintet_spgemm_matrix {
  std::variant<quintet::spgemm::csr<float, std::int32_t>, quintet::spgemm::csr<float, std::int64_t>,
               quintet::spgemm::csr<double, std::int32_t>, quintet::spgemm::csr<double, std::int64_t>,
               quintet::spgemm::complex_csr<float, std::int32_t>, quintet::spgemm::complex_csr<float, std::int64_t>,
               quintet::spgemm::complex_csr<double, std::int32_t>, quintet::spgemm::complex_csr<double, std::int64_t>>
      held;
  std::shared_ptr<const int> plan = {};  ///< of the plan that made it
};

namespace quintet::c {

template <class Index>
constexpr quintet_index_type index_type_of = std::is_same_v<Index, std::int32_t> ? QUINTET_INT32 : QUINTET_INT64;

template <class Real>
constexpr quintet_type complex_type_of = std::is_same_v<Real, float> ? QUINTET_COMPLEX_FLOAT : QUINTET_COMPLEX_DOUBLE;

inline void require_index_type(const quintet_csr& csr, std::string_view name) {
  require_argument(csr.index_type == QUINTET_INT32 || csr.index_type == QUINTET_INT64, text(name, ".index_type"),
                   csr.index_type, "QUINTET_INT32 (1) or QUINTET_INT64 (2)");
}

/// Calls action.operator()<Value, Index>() with the types of the matrix.
template <class Action>
decltype(auto) with_csr_types(const quintet_csr* matrix, std::string_view name, Action&& action) {
  const quintet_csr& csr = required(matrix, name);
  require_index_type(csr, name);
  require_argument(csr.value_type == QUINTET_FLOAT || csr.value_type == QUINTET_DOUBLE, text(name, ".value_type"),
                   csr.value_type, "QUINTET_FLOAT (1) or QUINTET_DOUBLE (2)");
  return with_real(real_type(csr.value_type), "values", [&]<class Value>() -> decltype(auto) {
    return csr.index_type == QUINTET_INT32 ? action.template operator()<Value, std::int32_t>()
                                           : action.template operator()<Value, std::int64_t>();
  });
}

/// Calls action.operator()<Real, Index>() with the types of the parts of a complex matrix.
template <class Action>
decltype(auto) with_complex_types(const quintet_csr* matrix, std::string_view name, Action&& action) {
  const quintet_csr& csr = required(matrix, name);
  require_index_type(csr, name);
  require_argument(csr.value_type == QUINTET_COMPLEX_FLOAT || csr.value_type == QUINTET_COMPLEX_DOUBLE,
                   text(name, ".value_type"), csr.value_type,
                   "QUINTET_COMPLEX_FLOAT (5) or QUINTET_COMPLEX_DOUBLE (6)");
  return with_real(csr.value_type == QUINTET_COMPLEX_FLOAT ? scalar_type::float32 : scalar_type::float64, "values",
                   [&]<class Real>() -> decltype(auto) {
                     return csr.index_type == QUINTET_INT32 ? action.template operator()<Real, std::int32_t>()
                                                            : action.template operator()<Real, std::int64_t>();
                   });
}

/// The matrix, after its types and its number of rows were compared with those of the first operand.
template <class Index>
const quintet_csr& checked_types(const quintet_csr* matrix, quintet_type type, std::string_view name) {
  const quintet_csr& csr = required(matrix, name);
  require_argument(csr.value_type == type, text(name, ".value_type"), csr.value_type,
                   text("that of the first operand: ", type));
  require_argument(csr.index_type == index_type_of<Index>, text(name, ".index_type"), csr.index_type,
                   text("that of the first operand: ", index_type_of<Index>));
  require_argument(csr.rows >= 0 && csr.rows < std::numeric_limits<std::int64_t>::max() / 8, text(name, ".rows"),
                   csr.rows, "in [0, 2^60)");
  return csr;
}

/// The operand, which has to have these types.
template <class Value, class Index>
spgemm::csr_view<Value, Index> operand(const quintet_csr* matrix, std::string_view name) {
  const quintet_csr& csr = checked_types<Index>(matrix, type_of<Value>, name);
  return {csr.rows, csr.cols, csr.row_pointers, static_cast<const Index*>(csr.columns),
          static_cast<const Value*>(csr.values)};
}
template <class Real, class Index>
spgemm::complex_csr_view<Real, Index> complex_operand(const quintet_csr* matrix, std::string_view name) {
  const quintet_csr& csr = checked_types<Index>(matrix, complex_type_of<Real>, name);
  return {csr.rows, csr.cols, csr.row_pointers, static_cast<const Index*>(csr.columns),
          static_cast<const std::complex<Real>*>(csr.values)};
}

template <class Value, class Index>
quintet_csr shown(const spgemm::csr<Value, Index>& matrix) {
  return {matrix.rows,          matrix.cols,   matrix.row_pointers.data(), matrix.columns.data(), matrix.values.data(),
          index_type_of<Index>, type_of<Value>};
}

template <class Real, class Index>
quintet_csr shown(const spgemm::complex_csr<Real, Index>& matrix) {
  return {matrix.rows,          matrix.cols,          matrix.row_pointers.data(), matrix.columns.data(),
          matrix.values.data(), index_type_of<Index>, complex_type_of<Real>};
}

/// Calls action.operator()<Semiring>().
template <class Action>
decltype(auto) with_semiring(quintet_semiring semiring, Action&& action) {
  switch (semiring) {
    case QUINTET_PLUS_TIMES:
      return action.template operator()<spgemm::plus_times>();
    case QUINTET_MIN_PLUS:
      return action.template operator()<spgemm::min_plus>();
    case QUINTET_OR_AND:
      return action.template operator()<spgemm::or_and>();
    default:
      throw InvalidArgument(text(
          "semiring must be QUINTET_PLUS_TIMES (0), QUINTET_MIN_PLUS (1) or QUINTET_OR_AND (2) (semiring=", semiring,
          ")"));
  }
}

/// Options as the library has them; null: the defaults.
spgemm::options product_options(const quintet_spgemm_options* c_options);

}  // namespace quintet::c
