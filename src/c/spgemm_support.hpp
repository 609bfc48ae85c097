// What the C functions of sparse matrices share.
#pragma once

#include <memory>
#include <variant>

#include "c/support.hpp"
#include "quintet/c/spgemm.h"
#include "quintet/spgemm/multiply.hpp"

struct quintet_spgemm_matrix {
  std::variant<quintet::spgemm::csr<float, std::int32_t>, quintet::spgemm::csr<float, std::int64_t>,
               quintet::spgemm::csr<double, std::int32_t>, quintet::spgemm::csr<double, std::int64_t>>
      held;
  std::shared_ptr<const int> plan = {};  ///< of the plan that made it
};

namespace quintet::c {

template <class Index>
constexpr quintet_index_type index_type_of = std::is_same_v<Index, std::int32_t> ? QUINTET_INT32 : QUINTET_INT64;

/// Calls action.operator()<Value, Index>() with the types of the matrix.
template <class Action>
decltype(auto) with_csr_types(const quintet_csr* matrix, std::string_view name, Action&& action) {
  const quintet_csr& csr = required(matrix, name);
  require_argument(csr.index_type == QUINTET_INT32 || csr.index_type == QUINTET_INT64, text(name, ".index_type"),
                   csr.index_type, "QUINTET_INT32 (1) or QUINTET_INT64 (2)");
  require_argument(csr.value_type == QUINTET_FLOAT || csr.value_type == QUINTET_DOUBLE, text(name, ".value_type"),
                   csr.value_type, "QUINTET_FLOAT (1) or QUINTET_DOUBLE (2)");
  return with_real(real_type(csr.value_type), "values", [&]<class Value>() -> decltype(auto) {
    return csr.index_type == QUINTET_INT32 ? action.template operator()<Value, std::int32_t>()
                                           : action.template operator()<Value, std::int64_t>();
  });
}

/// The operand, which has to have these types.
template <class Value, class Index>
spgemm::csr_view<Value, Index> operand(const quintet_csr* matrix, std::string_view name) {
  const quintet_csr& csr = required(matrix, name);
  require_argument(csr.value_type == type_of<Value>, text(name, ".value_type"), csr.value_type,
                   text("that of the first operand: ", type_of<Value>));
  require_argument(csr.index_type == index_type_of<Index>, text(name, ".index_type"), csr.index_type,
                   text("that of the first operand: ", index_type_of<Index>));
  require_argument(csr.rows >= 0 && csr.rows < std::numeric_limits<std::int64_t>::max() / 8, text(name, ".rows"),
                   csr.rows, "in [0, 2^60)");
  return {csr.rows, csr.cols, csr.row_pointers, static_cast<const Index*>(csr.columns),
          static_cast<const Value*>(csr.values)};
}

template <class Value, class Index>
quintet_csr shown(const spgemm::csr<Value, Index>& matrix) {
  return {matrix.rows,          matrix.cols,   matrix.row_pointers.data(), matrix.columns.data(), matrix.values.data(),
          index_type_of<Index>, type_of<Value>};
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
