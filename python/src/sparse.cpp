// Sparse products. A matrix is the tuple (rows, cols, row pointers int64, columns, values).
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>

#include "arrays.hpp"
#include "call.hpp"
#include "quintet/spgemm/add.hpp"
#include "quintet/spgemm/dense_product.hpp"
#include "quintet/spgemm/gram.hpp"
#include "quintet/spgemm/left_transposed.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "quintet/spgemm/multiply_add.hpp"
#include "quintet/spgemm/plan.hpp"
#include "quintet/spgemm/summary.hpp"
#include "quintet/spgemm/top.hpp"
#include "quintet/spgemm/transpose.hpp"
#include "sparse_matrices.hpp"

namespace quintet::python {

namespace {

using namespace spgemm;

/// Sets items of dictionaries whose keys are always the same: made once, and kept for the life of the process.
template <std::size_t Count>
class dict_keys {
 public:
  template <class Name>
  explicit dict_keys(const Name& name) {
    for (std::size_t i = 0; i < Count; ++i) keys_[i] = PyUnicode_InternFromString(std::string(name(i)).c_str());
  }
  void set(nb::dict& d, std::size_t i, nb::object value) const {
    if (keys_[i] == nullptr || PyDict_SetItem(d.ptr(), keys_[i], value.ptr()) != 0) throw nb::python_error();
  }

 private:
  PyObject* keys_[Count];
};

nb::object whole_number(std::int64_t value) { return nb::steal(PyLong_FromLongLong(value)); }

nb::dict dict_of(const report& product_report) {
  static constexpr const char* names[] = {
      "rows",       "cols",          "nnz",    "products",         "upper_bound",          "predicted", "retries",
      "peak_bytes", "scratch_bytes", "ran_on", "rows_by_strategy", "products_by_strategy", "seconds"};
  static const dict_keys<std::size(names)> keys([](std::size_t i) { return names[i]; });
  static const dict_keys<strategies> strategy_keys([](std::size_t s) { return name_of(strategy(s)); });
  nb::dict d, rows, products;
  const std::int64_t numbers[] = {product_report.rows,     product_report.cols,        product_report.nnz,
                                  product_report.products, product_report.upper_bound, product_report.predicted,
                                  product_report.retries,  product_report.peak_bytes,  product_report.scratch_bytes};
  std::size_t next = 0;
  for (const std::int64_t number : numbers) keys.set(d, next++, whole_number(number));
  keys.set(d, next++, nb::cast(product_report.ran_on.spelling()));
  for (std::size_t s = 0; s < strategies; ++s) {
    strategy_keys.set(rows, s, whole_number(product_report.rows_by_strategy[s]));
    strategy_keys.set(products, s, whole_number(product_report.products_by_strategy[s]));
  }
  keys.set(d, next++, rows);
  keys.set(d, next++, products);
  keys.set(d, next++,
           nb::make_tuple(product_report.analysis_seconds, product_report.prediction_seconds,
                          product_report.product_seconds, product_report.assembly_seconds));
  return d;
}

/// A matrix, or its transpose.
template <class Value, class Index>
class turned_operand {
 public:
  turned_operand(const csr_view<Value, Index>& m, bool is_turned, const Device& device) : view_(m) {
    if (!is_turned) return;
    turned_ = transpose(m, memory_source::standard(), device);
    view_ = turned_.view();
  }
  turned_operand(const turned_operand&) = delete;
  const csr_view<Value, Index>& view() const { return view_; }

 private:
  csr_view<Value, Index> view_;
  csr<Value, Index> turned_;
};

/// Over a semiring without kernels; without a report.
template <class Semiring>
nb::tuple multiply_on_host(const operand& left, const operand& right, const nb::object& mask, bool complement,
                           bool transpose_a, bool transpose_b, const std::string& device) {
  return with_types(left, [&](auto value, auto index) {
    using Value = typename decltype(value)::type;
    using Index = typename decltype(index)::type;
    const auto x = left.view<Value, Index>(), y = right.view<Value, Index>();
    std::optional<operand> wanted;
    if (!mask.is_none()) wanted.emplace(nb::cast<nb::tuple>(mask));
    const auto z = wanted ? wanted->view<Value, Index>() : csr_view<Value, Index>{};
    auto c = run([&] {
      // Before parse(): whether the build or the machine has such a device makes no difference.
      require_argument(device == "auto" || device == "host", "device", device,
                       "auto or host for semirings without kernels");
      const Device where = Device::parse(device);
      const turned_operand from(x, transpose_a, where), by(y, transpose_b, where);
      if (!wanted) return multiply<Semiring>(from.view(), by.view());
      return complement ? multiply_masked<Semiring, complement_mask>(from.view(), by.view(), z)
                        : multiply_masked<Semiring, structural_mask>(from.view(), by.view(), z);
    });
    return nb::make_tuple(tuple_of(std::move(c)), nb::none());
  });
}

/// mask: None, or a matrix whose values do not count. The second is None, or the report of a product without mask.
nb::tuple multiply_matrices(const nb::tuple& a, const nb::tuple& b, const std::string& semiring, const nb::object& mask,
                            bool complement, bool transpose_a, bool transpose_b, bool wants_report,
                            const std::string& device) {
  const operand left(a), right(b);
  if (semiring == "max_times")
    return multiply_on_host<max_times>(left, right, mask, complement, transpose_a, transpose_b, device);
  if (semiring == "min_max")
    return multiply_on_host<min_max>(left, right, mask, complement, transpose_a, transpose_b, device);
  return with_semiring(semiring, left, [&](auto value, auto index, auto ring) {
    using Value = typename decltype(value)::type;
    using Index = typename decltype(index)::type;
    using Semiring = typename decltype(ring)::type;
    const auto x = left.view<Value, Index>(), y = right.view<Value, Index>();
    report product_report;
    if (mask.is_none()) {
      auto c = run([&] {
        const Device where = Device::parse(device);
        if (transpose_a && !transpose_b) return multiply_left_transposed<Semiring>(x, y, {}, where, &product_report);
        const turned_operand from(x, transpose_a, where);
        return transpose_b ? multiply_transposed<Semiring>(from.view(), y, {}, where, &product_report)
                           : multiply<Semiring>(x, y, {}, where, &product_report);
      });
      return nb::make_tuple(tuple_of(std::move(c)), wants_report ? nb::object(dict_of(product_report)) : nb::none());
    }
    const operand wanted(nb::cast<nb::tuple>(mask));
    const auto z = wanted.view<Value, Index>();
    auto c = run([&] {
      const Device where = Device::parse(device);
      const turned_operand from(x, transpose_a, where), by(y, transpose_b, where);
      return complement ? multiply_masked<Semiring, complement_mask>(from.view(), by.view(), z, {}, where)
                        : multiply_masked<Semiring, structural_mask>(from.view(), by.view(), z, {}, where);
    });
    return nb::make_tuple(tuple_of(std::move(c)), nb::none());
  });
}

/// The second is None, or the report.
nb::tuple multiply_by_transpose(const nb::tuple& a, bool of_rows, bool is_upper, const std::string& semiring,
                                bool wants_report, const std::string& device) {
  const operand m(a);
  return with_semiring(semiring, m, [&](auto value, auto index, auto ring) {
    using Value = typename decltype(value)::type;
    using Index = typename decltype(index)::type;
    using Semiring = typename decltype(ring)::type;
    const auto x = m.view<Value, Index>();
    report product_report;
    auto c = run([&] {
      return gram<Semiring>(x, of_rows ? gram_side::rows : gram_side::columns,
                            is_upper ? gram_part::upper : gram_part::whole, {}, Device::parse(device), &product_report);
    });
    return nb::make_tuple(tuple_of(std::move(c)), wants_report ? nb::object(dict_of(product_report)) : nb::none());
  });
}

/// The second is None, or the report.
nb::tuple multiply_top_entries(const nb::tuple& a, const nb::tuple& b, std::int64_t count,
                               std::optional<double> threshold, bool by_value, const std::string& semiring,
                               bool transpose_b, bool wants_report, const std::string& device) {
  const operand left(a), right(b);
  return with_semiring(semiring, left, [&](auto value, auto index, auto ring) {
    using Value = typename decltype(value)::type;
    using Index = typename decltype(index)::type;
    using Semiring = typename decltype(ring)::type;
    const auto x = left.view<Value, Index>(), y = right.view<Value, Index>();
    report product_report;
    auto c = run([&] {
      const Device where = Device::parse(device);
      const turned_operand by(y, transpose_b, where);
      return multiply_top<Semiring>(x, by.view(),
                                    top_selection{.count = count, .threshold = threshold, .by_value = by_value}, {},
                                    where, &product_report);
    });
    return nb::make_tuple(tuple_of(std::move(c)), wants_report ? nb::object(dict_of(product_report)) : nb::none());
  });
}

nb::tuple estimate_product(const nb::tuple& a, const nb::tuple& b, const std::string& device) {
  const operand left(a), right(b);
  return with_types(left, [&](auto value, auto index) {
    using Value = typename decltype(value)::type;
    using Index = typename decltype(index)::type;
    const auto x = left.view<Value, Index>(), y = right.view<Value, Index>();
    const auto e = run([&] { return estimate(x, y, Device::parse(device)); });
    return nb::make_tuple(e.products, e.upper_bound, e.predicted_nnz, e.upper_bytes, e.predicted_bytes,
                          e.minimum_budget);
  });
}

void blocks(const nb::tuple& a, const nb::tuple& b, std::int64_t budget, nb::handle take, const std::string& semiring,
            const std::string& device) {
  const operand left(a), right(b);
  with_semiring(semiring, left, [&](auto value, auto index, auto ring) {
    using Value = typename decltype(value)::type;
    using Index = typename decltype(index)::type;
    using Semiring = typename decltype(ring)::type;
    const auto x = left.view<Value, Index>(), y = right.view<Value, Index>();
    const std::function<bool(result_block<Value, Index>&&)> receive = [&](result_block<Value, Index>&& one) {
      const callback_lock lock;
      const nb::object answer = take(one.first_row, one.first_col, one.last_col, tuple_of(std::move(one.block)));
      return answer.ptr() != Py_False;
    };
    run([&] { multiply_in_blocks<Semiring>(x, y, budget, receive, {}, Device::parse(device)); });
  });
}

nb::tuple add_matrices(double alpha, const nb::tuple& a, double beta, const nb::tuple& b, const std::string& device) {
  const operand left(a), right(b);
  return with_types(left, [&](auto value, auto index) {
    using Value = typename decltype(value)::type;
    using Index = typename decltype(index)::type;
    const auto x = left.view<Value, Index>(), y = right.view<Value, Index>();
    return tuple_of(run([&] { return add(Value(alpha), x, Value(beta), y, Device::parse(device)); }));
  });
}

/// The second is None, or the report.
nb::tuple multiply_and_add(double alpha, const nb::tuple& a, const nb::tuple& b, double beta, const nb::tuple& c,
                           bool transpose_a, bool transpose_b, bool wants_report, const std::string& device) {
  const operand left(a), right(b), added(c);
  return with_types(left, [&](auto value, auto index) {
    using Value = typename decltype(value)::type;
    using Index = typename decltype(index)::type;
    const auto x = left.view<Value, Index>(), y = right.view<Value, Index>(), z = added.view<Value, Index>();
    report product_report;
    auto sum = run([&] {
      const Device where = Device::parse(device);
      const turned_operand from(x, transpose_a, where), by(y, transpose_b, where);
      return multiply_add(Value(alpha), from.view(), by.view(), Value(beta), z, {}, where, &product_report);
    });
    return nb::make_tuple(tuple_of(std::move(sum)), wants_report ? nb::object(dict_of(product_report)) : nb::none());
  });
}

nb::tuple transpose_matrix(const nb::tuple& a, const std::string& device) {
  const operand m(a);
  return with_types(m, [&](auto value, auto index) {
    using Value = typename decltype(value)::type;
    using Index = typename decltype(index)::type;
    const auto x = m.view<Value, Index>();
    return tuple_of(run([&] { return transpose(x, memory_source::standard(), Device::parse(device)); }));
  });
}

void multiply_by_dense(const nb::tuple& a, const array& x, const array& out, bool transposed,
                       const std::string& device) {
  const operand m(a);
  with_types(m, [&](auto value, auto index) {
    using Value = typename decltype(value)::type;
    using Index = typename decltype(index)::type;
    const auto view = m.view<Value, Index>();
    const auto from = x.matrix<const Value>();
    const auto to = out.matrix<Value>();
    run([&] {
      const Device where = Device::parse(device);
      transposed ? multiply_dense_transposed<Value, Index>(view, from, to, where)
                 : multiply_dense<Value, Index>(view, from, to, where);
    });
  });
}

void multiply_where(const nb::tuple& mask, const array& x, const array& y, const array& out,
                    const std::string& device) {
  const operand m(mask);
  with_types(m, [&](auto value, auto index) {
    using Value = typename decltype(value)::type;
    using Index = typename decltype(index)::type;
    const auto view = m.view<Value, Index>();
    const auto left = x.matrix<const Value>(), right = y.matrix<const Value>();
    const auto to = out.matrix<Value>();
    run([&] { multiply_sampled<Value, Index>(view, left, right, to, Device::parse(device)); });
  });
}

nb::dict summary(const nb::tuple& a) {
  const operand m(a);
  return with_types(m, [&](auto value, auto index) {
    using Value = typename decltype(value)::type;
    using Index = typename decltype(index)::type;
    const auto x = m.view<Value, Index>();
    const auto s = run([&] { return summarise(x); });
    nb::dict d;
    d["sum"] = s.sum;
    d["sum_abs"] = s.sum_abs;
    d["frobenius"] = s.frobenius;
    d["weighted"] = s.weighted;
    d["struct_ij"] = s.struct_ij;
    d["sorted"] = s.sorted;
    return d;
  });
}

/// A plan of any semiring and types.
class any_plan {
 public:
  virtual ~any_plan() = default;
  virtual nb::tuple execute(const operand& a, const operand& b) const = 0;
  virtual std::int64_t nnz() const = 0;
};

template <class Semiring, class Value, class Index>
class plan_of_types final : public any_plan {
 public:
  plan_of_types(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b, const Device& device)
      : plan_(a, b, {}, device) {}
  nb::tuple execute(const operand& a, const operand& b) const override {
    const auto x = a.view<Value, Index>(), y = b.view<Value, Index>();
    return tuple_of(run([&] { return plan_.execute(x, y); }));
  }
  std::int64_t nnz() const override { return plan_.nnz(); }

 private:
  spgemm::plan<Semiring, Value, Index> plan_;
};

std::unique_ptr<any_plan> make_plan(const nb::tuple& a, const nb::tuple& b, const std::string& semiring,
                                    const std::string& device) {
  const operand left(a), right(b);
  return with_semiring(semiring, left, [&](auto value, auto index, auto ring) -> std::unique_ptr<any_plan> {
    using Value = typename decltype(value)::type;
    using Index = typename decltype(index)::type;
    using Semiring = typename decltype(ring)::type;
    const auto x = left.view<Value, Index>(), y = right.view<Value, Index>();
    return run([&] { return std::make_unique<plan_of_types<Semiring, Value, Index>>(x, y, Device::parse(device)); });
  });
}

}  // namespace

void bind_sparse(nb::module_& m) {
  using nb::arg;
  m.def("spgemm_multiply", &multiply_matrices, arg("a"), arg("b"), arg("semiring"), arg("mask").none(),
        arg("complement"), arg("transpose_a"), arg("transpose_b"), arg("report"), arg("device"));
  m.def("spgemm_gram", &multiply_by_transpose, arg("a"), arg("of_rows"), arg("is_upper"), arg("semiring"),
        arg("report"), arg("device"));
  m.def("spgemm_multiply_top", &multiply_top_entries, arg("a"), arg("b"), arg("count"), arg("threshold").none(),
        arg("by_value"), arg("semiring"), arg("transpose_b"), arg("report"), arg("device"));
  m.def("spgemm_estimate", &estimate_product, arg("a"), arg("b"), arg("device"));
  m.def("spgemm_blocks", &blocks, arg("a"), arg("b"), arg("budget"), arg("take"), arg("semiring"), arg("device"));
  m.def("spgemm_add", &add_matrices, arg("alpha"), arg("a"), arg("beta"), arg("b"), arg("device"));
  m.def("spgemm_multiply_add", &multiply_and_add, arg("alpha"), arg("a"), arg("b"), arg("beta"), arg("c"),
        arg("transpose_a"), arg("transpose_b"), arg("report"), arg("device"));
  m.def("spgemm_transpose", &transpose_matrix, arg("a"), arg("device"));
  m.def("spgemm_multiply_dense", &multiply_by_dense, arg("a"), arg("x"), arg("out"), arg("transposed"), arg("device"));
  m.def("spgemm_multiply_sampled", &multiply_where, arg("mask"), arg("x"), arg("y"), arg("out"), arg("device"));
  m.def("spgemm_summary", &summary, arg("a"));
  nb::class_<any_plan>(m, "SpgemmPlan")
      .def_prop_ro("nnz", &any_plan::nnz)
      .def("execute", [](const any_plan& plan, const nb::tuple& a, const nb::tuple& b) {
        return plan.execute(operand(a), operand(b));
      });
  m.def(
      "spgemm_plan",
      [](const nb::tuple& a, const nb::tuple& b, const std::string& semiring, const std::string& device) {
        return make_plan(a, b, semiring, device).release();
      },
      nb::rv_policy::take_ownership, arg("a"), arg("b"), arg("semiring"), arg("device"));
}

}  // namespace quintet::python
