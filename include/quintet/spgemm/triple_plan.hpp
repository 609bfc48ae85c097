// Products of three matrices of the same structure again and again: Galerkin products of multigrid, R * A * P, and
// A * D * transpose(A).
//
//   const auto r = transpose(p.view());
//   triple_plan<plus_times, double, std::int32_t> coarse(r.view(), a.view(), p.view());
//   auto c = coarse.execute(r.view(), a.view(), p.view());               // and again, with other values
#pragma once

#include <optional>

#include "quintet/spgemm/plan.hpp"

namespace quintet::spgemm {

/// The structures of A * P and of R * (A * P). execute() gives the bits of multiply(r, multiply(a, p)).
///
/// Memory: row pointers and columns of both products in the plan; while it runs A * P, and what plan has. A plan may be
/// used by several threads at once.
template <class Semiring, class Value, class Index>
class triple_plan {
 public:
  /// The operands.
  using view = csr_view<Value, Index>;
  /// The results.
  using matrix = csr<Value, Index>;

  /// Costs as much as two products and the values of A * P. Throws as multiply() does.
  triple_plan(const view& r, const view& a, const view& p, const options& settings = {},
              const Device& device = Device::best())
      : inner_(a, p, settings, device), r_(r), a_(a), p_(p) {
    if (r.cols != a.rows)
      throw InvalidArgument(text("r and a must fit: r is ", r.rows, " x ", r.cols, ", a is ", a.rows, " x ", a.cols));
    outer_.emplace(r, inner_.execute(a, p).view(), settings, device);
  }

  /// The product, of operands with the structure of those that the plan was made for. Errors and cost: those of
  /// plan::execute(), of both products.
  matrix execute(const view& r, const view& a, const view& p) const {
    require(r, a, p);
    return outer_->execute(r, inner_.execute(a, p).view());
  }
  /// The same into results of this plan, which get new values: `ap` is one of multiply_inner(). Nothing is allocated
  /// for them.
  void execute(const view& r, const view& a, const view& p, matrix& ap, matrix& c) const {
    require(r, a, p);
    inner_.execute(a, p, ap);
    outer_->execute(r, ap.view(), c);
  }
  /// A * P alone.
  matrix multiply_inner(const view& a, const view& p) const { return inner_.execute(a, p); }
  /// Entries of the product. O(1).
  std::int64_t nnz() const { return outer_->nnz(); }

 private:
  void require(const view& r, const view& a, const view& p) const {
    r_.require(r, "r");
    a_.require(a, "a");
    p_.require(p, "p");
  }

  plan<Semiring, Value, Index> inner_;
  std::optional<plan<Semiring, Value, Index>> outer_;
  detail::planned_size r_, a_, p_;
};

}  // namespace quintet::spgemm
