// Products of the same structure again and again: the structure is computed once, then only values.
#pragma once

#include "quintet/device/device.hpp"
#include "quintet/spgemm/detail/structured_rows.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "quintet/spgemm/transpose.hpp"

namespace quintet::spgemm {

namespace detail {
/// Values of c's structure.
template <class Semiring, class Value, class Index>
void refill(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b, csr<Value, Index>& c,
            const options& settings, const Device& device);

/// Size of an operand that a plan was made for.
struct planned_size {
  std::int64_t rows = 0, cols = 0, nnz = 0;

  planned_size() = default;
  template <class Value, class Index>
  explicit planned_size(const csr_view<Value, Index>& m) : rows(m.rows), cols(m.cols), nnz(m.nnz()) {}
  template <class Value, class Index>
  void require(const csr_view<Value, Index>& m, const char* name) const {
    if (m.rows != rows || m.cols != cols)
      throw InvalidArgument(
          text(name, " must be as planned: ", rows, " x ", cols, " (", name, " is ", m.rows, " x ", m.cols, ")"));
    if (rows == 0) return;
    if (m.row_pointers == nullptr) throw InvalidArgument(text(name, ".row_pointers must not be null"));
    if (m.nnz() != nnz)
      throw InvalidArgument(text(name, " must be as planned: ", nnz, " entries (", name, " has ", m.nnz(), ")"));
    if (nnz > 0 && (m.columns == nullptr || m.values == nullptr))
      throw InvalidArgument(text(name, ".columns and .values must not be null for ", nnz, " entries"));
  }
};
}  // namespace detail

/// The structure of A * B. Semiring is one of the library's, or any other (see semiring.hpp); without kernels its
/// values come from the host. execute() gives the same bits as multiply().
///
///   plan<plus_times, double, std::int32_t> p(a.view(), b.view());
///   csr<double, std::int32_t> c = p.execute(a.view(), b.view());     // and again, with other values
///
/// Memory: row pointers and columns of C in the plan, and 8 bytes per column of B for each thread while it runs (none
/// beyond 4 million columns). On a device copies of the operands and of C. A plan may be used by several threads at
/// once.
template <class Semiring, class Value, class Index>
class plan {
 public:
  /// The operands.
  using view = csr_view<Value, Index>;

  /// Costs as much as one product. Throws as multiply() does.
  plan(const view& a, const view& b, const options& settings = {}, const Device& device = Device::best())
      : settings_(settings), device_(device) {
    report stats;
    structure_ = multiply<or_and>(a, b, settings, device, &stats);  // also checks the operands
    device_ = stats.ran_on;
    structure_.values = array<Value>();
    a_ = detail::planned_size(a);
    b_ = detail::planned_size(b);
  }

  /// C for operands with the structure of those that the plan was made for. Throws InvalidArgument when sizes or
  /// numbers of entries are others, OutOfMemory, DeviceError. Columns and row pointers must be those of the plan. They
  /// are not checked, because that would cost as much as the values; with others the behaviour is undefined. Cost: one
  /// pass over the products, without the analysis, sorting and growing of multiply().
  csr<Value, Index> execute(const view& a, const view& b) const {
    csr<Value, Index> c{structure_.rows, structure_.cols, structure_.row_pointers, structure_.columns,
                        array<Value>(structure_.columns.size(), memory())};
    execute(a, b, c);
    return c;
  }
  /// The same into a result of this plan: its memory is used again and its values are replaced. Throws InvalidArgument
  /// also for a `c` of another size.
  void execute(const view& a, const view& b, csr<Value, Index>& c) const {
    a_.require(a, "a");
    b_.require(b, "b");
    if (c.rows != structure_.rows || c.row_pointers.size() != structure_.row_pointers.size() || c.nnz() != nnz() ||
        c.values.size() != nnz())
      throw InvalidArgument(text("c must be a result of this plan: ", structure_.rows, " rows, ", nnz(),
                                 " entries (c has ", c.rows, " rows, ", c.nnz(), " entries)"));
    if constexpr (has_kernels<Semiring>)
      detail::refill<Semiring>(a, b, c, settings_, device_);
    else
      detail::structured_product<Semiring>(a, b, c.row_pointers.data(), c.columns.data(), c.values.data(), nullptr,
                                           memory());
  }
  /// Entries of C. O(1).
  std::int64_t nnz() const { return structure_.columns.size(); }

 private:
  memory_source& memory() const { return settings_.memory != nullptr ? *settings_.memory : memory_source::standard(); }

  options settings_;
  Device device_;
  csr<Value, Index> structure_;  // without values
  detail::planned_size a_, b_;
};

/// C = A * B over a semiring without kernels, on the host: the structure by a kernel of the library, the values by a
/// loop that is compiled with the semiring. About twice the time of a semiring with kernels. Errors and memory: those
/// of multiply() and of plan.
template <class Semiring, class Value, class Index>
  requires(!has_kernels<Semiring>)
csr<Value, Index> multiply(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                           const options& settings = {}) {
  return plan<Semiring, Value, Index>(a, b, settings).execute(a, b);
}

/// The same with a mask: multiply_masked() for such a semiring.
template <class Semiring, class Mask = structural_mask, class Value, class Index>
  requires(!has_kernels<Semiring>)
csr<Value, Index> multiply_masked(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                                  const csr_view<Value, Index>& mask, const options& settings = {}) {
  csr<Value, Index> c = multiply_masked<or_and, Mask>(a, b, mask, settings);
  detail::structured_product<Semiring>(a, b, c.row_pointers.data(), c.columns.data(), c.values.data(), nullptr,
                                       settings.memory != nullptr ? *settings.memory : memory_source::standard());
  return c;
}

/// The same with the transpose of B: multiply_transposed() for such a semiring.
template <class Semiring, class Value, class Index>
  requires(!has_kernels<Semiring>)
csr<Value, Index> multiply_transposed(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                                      const options& settings = {}) {
  return multiply<Semiring>(a, transpose(b).view(), settings);
}

}  // namespace quintet::spgemm
