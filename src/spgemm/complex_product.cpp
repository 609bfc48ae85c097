#include "quintet/spgemm/complex_product.hpp"

#include <algorithm>
#include <complex>

#include "quintet/spgemm/multiply.hpp"
#include "quintet/spgemm/transpose.hpp"
#include "spgemm/complex_parts.hpp"

#include "instantiate.hpp"

namespace quintet::spgemm {

namespace {

/// The parts of an operand as two real matrices of one structure.
template <class Real, class Index>
class operand_parts {
 public:
  operand_parts(const complex_csr_view<Real, Index>& m, operand_form form, const Device& device, memory_source& memory)
      : real_values_(m.nnz(), memory), imaginary_values_(m.nnz(), memory) {
    const std::int64_t first = m.rows > 0 ? m.row_pointers[0] : 0;
    const Real sign = form == operand_form::adjoint ? Real(-1) : Real(1);
    real = imaginary = detail::structure_of(m);
    split_complex(real.values + 2 * first, m.nnz(), sign, real_values_.data(), imaginary_values_.data());
    real.values = real_values_.data() - first;
    imaginary.values = imaginary_values_.data() - first;
    if (form == operand_form::plain) return;
    turned_real_ = transpose(real, memory, device);
    turned_imaginary_ = transpose(imaginary, memory, device);
    real = turned_real_.view();
    imaginary = turned_imaginary_.view();
  }
  operand_parts(const operand_parts&) = delete;

  csr_view<Real, Index> real, imaginary;

 private:
  array<Real> real_values_, imaginary_values_;
  csr<Real, Index> turned_real_, turned_imaginary_;
};

/// The report of several products of one structure.
void add_work(report& all, const report& part) {
  const report before = all;
  all = part;
  all.products += before.products;
  all.retries += before.retries;
  for (int s = 0; s < strategies; ++s) {
    all.rows_by_strategy[std::size_t(s)] += before.rows_by_strategy[std::size_t(s)];
    all.products_by_strategy[std::size_t(s)] += before.products_by_strategy[std::size_t(s)];
  }
  all.peak_bytes = std::max(part.peak_bytes, before.peak_bytes);
  all.scratch_bytes = std::max(part.scratch_bytes, before.scratch_bytes);
  all.analysis_seconds += before.analysis_seconds;
  all.prediction_seconds += before.prediction_seconds;
  all.product_seconds += before.product_seconds;
  all.assembly_seconds += before.assembly_seconds;
}

}  // namespace

template <class Real, class Index>
complex_csr<Real, Index> multiply_complex(const complex_csr_view<Real, Index>& a,
                                          const complex_csr_view<Real, Index>& b, const complex_forms& forms,
                                          const options& settings, const Device& device, report* stats) {
  check(a, "a");
  check(b, "b");
  const bool turns_a = forms.a != operand_form::plain, turns_b = forms.b != operand_form::plain;
  if ((turns_a ? a.rows : a.cols) != (turns_b ? b.cols : b.rows))
    throw InvalidArgument(text("a and b must fit (a is ", turns_a ? "the transpose of " : "", a.rows, " x ", a.cols,
                               ", b is ", turns_b ? "the transpose of " : "", b.rows, " x ", b.cols, ")"));
  memory_source& memory = settings.memory != nullptr ? *settings.memory : memory_source::standard();
  const operand_parts left(a, forms.a, device, memory), right(b, forms.b, device, memory);
  report work;
  const auto product = [&](const csr_view<Real, Index>& x, const csr_view<Real, Index>& y) {
    report part;
    auto c = multiply(x, y, settings, device, &part);
    add_work(work, part);
    return c;
  };
  csr<Real, Index> x = product(left.real, right.real), y = product(left.imaginary, right.imaginary);
  complex_csr<Real, Index> c{x.rows, x.cols, {}, {}, array<std::complex<Real>>(x.nnz(), memory)};
  Real* const pairs = reinterpret_cast<Real*>(c.values.data());
  const auto join = [&](Real sign, Real* part) {
    join_complex(x.values.data(), y.values.data(), c.values.size(), sign, part);
  };
  join(Real(-1), pairs);
  c.row_pointers = std::move(x.row_pointers);
  c.columns = std::move(x.columns);
  x = product(left.real, right.imaginary);
  y = product(left.imaginary, right.real);
  join(Real(1), pairs + 1);
  if (stats != nullptr) *stats = work;
  return c;
}

#define QUINTET_INSTANTIATE(Real, Index)                                                                         \
  template complex_csr<Real, Index> multiply_complex(const complex_csr_view<Real, Index>&,                       \
                                                     const complex_csr_view<Real, Index>&, const complex_forms&, \
                                                     const options&, const Device&, report*);
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::spgemm
