// C functions of plans of sparse products.
#include "quintet/spgemm/plan.hpp"

#include <variant>

#include "c/spgemm_support.hpp"

namespace {

namespace spgemm = quintet::spgemm;

template <class Value, class Index>
using plan_of_type =
    std::variant<spgemm::plan<spgemm::plus_times, Value, Index>, spgemm::plan<spgemm::min_plus, Value, Index>,
                 spgemm::plan<spgemm::or_and, Value, Index>>;

}  // namespace

struct quintet_spgemm_plan {
  std::variant<plan_of_type<float, std::int32_t>, plan_of_type<float, std::int64_t>, plan_of_type<double, std::int32_t>,
               plan_of_type<double, std::int64_t>>
      held;
  /// Its results have the same one.
  std::shared_ptr<const int> identity = std::make_shared<const int>(0);
};

using namespace quintet;
using namespace quintet::c;

namespace {

// Operands that a plan's loops can walk over without leaving their arrays: it trusts that they have its structure.
template <class Value, class Index>
std::pair<spgemm::csr_view<Value, Index>, spgemm::csr_view<Value, Index>> checked_operands(const quintet_csr* a,
                                                                                           const quintet_csr* b) {
  const auto left = operand<Value, Index>(a, "a");
  const auto right = operand<Value, Index>(b, "b");
  spgemm::check(left, "a");
  spgemm::check(right, "b");
  require_argument(left.cols == right.rows, "a.cols", left.cols, text("b.rows=", right.rows));
  return {left, right};
}

// Calls action(plan<Semiring, Value, Index>, a, b).
template <class Action>
decltype(auto) with_plan(const quintet_spgemm_plan* plan, const quintet_csr* a, const quintet_csr* b, Action&& action) {
  return std::visit(
      [&]<class Value, class Index>(const plan_of_type<Value, Index>& typed) {
        const auto operands = checked_operands<Value, Index>(a, b);
        return std::visit([&](const auto& held) { return action(held, operands.first, operands.second); }, typed);
      },
      required(plan, "plan").held);
}

}  // namespace

extern "C" {

quintet_status quintet_spgemm_plan_create(const quintet_csr* a, const quintet_csr* b, quintet_semiring semiring,
                                          const quintet_spgemm_options* options, const char* device,
                                          quintet_spgemm_plan** plan) noexcept {
  return make_handle(plan, [&] {
    return with_csr_types(a, "a", [&]<class Value, class Index> {
      return with_semiring(semiring, [&]<class Semiring> {
        return quintet_spgemm_plan{plan_of_type<Value, Index>(
            spgemm::plan<Semiring, Value, Index>(operand<Value, Index>(a, "a"), operand<Value, Index>(b, "b"),
                                                 product_options(options), chosen_device(device)))};
      });
    });
  });
}

quintet_status quintet_spgemm_plan_nnz(const quintet_spgemm_plan* plan, int64_t* nnz) noexcept {
  return guarded([&] {
    std::visit(
        [&](const auto& typed) { std::visit([&](const auto& held) { required(nnz, "nnz") = held.nnz(); }, typed); },
        required(plan, "plan").held);
  });
}

void quintet_spgemm_plan_free(quintet_spgemm_plan* plan) noexcept { delete plan; }

quintet_status quintet_spgemm_plan_execute(const quintet_spgemm_plan* plan, const quintet_csr* a, const quintet_csr* b,
                                           quintet_spgemm_matrix** result) noexcept {
  return make_handle(result, [&] {
    return with_plan(plan, a, b, [&](const auto& held, const auto& left, const auto& right) {
      return quintet_spgemm_matrix{held.execute(left, right), plan->identity};
    });
  });
}

quintet_status quintet_spgemm_plan_refill(const quintet_spgemm_plan* plan, const quintet_csr* a, const quintet_csr* b,
                                          quintet_spgemm_matrix* result) noexcept {
  return guarded([&] {
    if (required(result, "result").plan != required(plan, "plan").identity)
      throw InvalidArgument("result must be one that quintet_spgemm_plan_execute() has made from this plan");
    with_plan(plan, a, b,
              [&]<class Semiring, class Value, class Index>(const spgemm::plan<Semiring, Value, Index>& held,
                                                            const auto& left, const auto& right) {
                held.execute(left, right, std::get<spgemm::csr<Value, Index>>(result->held));
              });
  });
}

}  // extern "C"
