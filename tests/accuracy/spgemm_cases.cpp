// Sparse products against the same products in long double.
#include <stdexcept>

#include "accuracy/case_run.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "reference/spgemm_reference.hpp"
#include "support/sparse_matrices.hpp"

namespace quintet::accuracy {

namespace {

template <class Value, class Index>
struct operands {
  spgemm::csr<Value, Index> a, b;
};

template <class Value, class Index>
operands<Value, Index> made(const test_case& c) {
  const std::string kind = c.text("matrix");
  const std::int64_t size = c.integer("size");
  const auto seed = std::uint64_t(c.integer("seed"));
  if (kind == "uniform") {
    const double entries = c.real("entries");
    return {test::uniform_matrix<Value, Index>(size, size, entries, seed),
            test::uniform_matrix<Value, Index>(size, size, entries, seed + 1)};
  }
  if (kind == "wide")  // rows of B with more columns than one window of a device holds
    return {test::uniform_matrix<Value, Index>(6, 50, 20, seed),
            test::uniform_matrix<Value, Index>(50, size, 400, seed + 1)};
  spgemm::csr<Value, Index> one;
  if (kind == "rmat")
    one = test::rmat_matrix<Value, Index>(int(size), c.integer("entries"), seed);
  else if (kind == "blocks")
    one = test::block_diagonal<Value, Index>(3, size, seed);
  else if (kind == "arrow")
    one = test::arrow_matrix<Value, Index>(size, seed);
  else
    throw std::runtime_error("case " + c.id() + ": unknown matrix");
  return {one, one};
}

template <class Value, class Index, class Map>
spgemm::csr<long double, Index> mapped(const spgemm::csr<Value, Index>& m, Map map) {
  std::vector<long double> values;
  for (const Value x : m.values) values.push_back(map(static_cast<long double>(x)));
  return {m.rows, m.cols, m.row_pointers, m.columns, values};
}

// Value by value: |c - exact| <= p u sum |a b| for an entry of p products, summed one after another.
template <class Value, class Index>
void plus_times(case_run& run, const operands<Value, Index>& m) {
  const auto product = [&](auto map) {
    return test::reference_product<spgemm::plus_times>(mapped(m.a, map).view(), mapped(m.b, map).view());
  };
  const auto exact = product([](long double x) { return x; });
  const auto size = product([](long double x) { return std::fabs(x); });
  const auto count = product([](long double) { return 1.0L; });
  tolerance allowed{.bound = 1, .same_bits = true, .unit = "p u sum |a b|"};
  for (std::int64_t e = 0; e < exact.nnz(); ++e)
    allowed.sizes.push_back(std::max(double(count.values[e] * size.values[e] / 2), std::numeric_limits<double>::min()));
  measure_elements(run, "entry", std::vector<long double>(exact.values.begin(), exact.values.end()), allowed,
                   [&](const Device& device) {
                     const auto c = spgemm::multiply(m.a.view(), m.b.view(), {.host_products = 0}, device);
                     // Another structure is no result at all.
                     const bool same = c.columns == exact.columns && c.row_pointers == exact.row_pointers;
                     return same ? std::vector<Value>(c.values.begin(), c.values.end()) : std::vector<Value>();
                   });
}

// Other semirings round at most once a product: the plain reference in the same type has the same bits.
template <class Semiring, class Value, class Index>
void exact_semiring(case_run& run, const operands<Value, Index>& m) {
  const auto exact = test::reference_product<Semiring>(m.a.view(), m.b.view());
  const std::vector<Value> expected(exact.values.begin(), exact.values.end());
  for (const Device& device : run.devices()) {
    const auto c = spgemm::multiply<Semiring>(m.a.view(), m.b.view(), {.host_products = 0}, device);
    std::vector<Value> found(c.values.begin(), c.values.end());
    if (c.columns != exact.columns || c.row_pointers != exact.row_pointers) found.clear();
    run.touch(found, 2 * epsilon_of<Value>);
    run.measured(device, "entry", "bits", bit_differences(found, expected), 0);
  }
}

template <class Value, class Index>
void run_as(case_run& run) {
  const auto m = made<Value, Index>(run.parameters());
  const std::string semiring = run.parameters().text("semiring");
  if (semiring == "plus_times") return plus_times(run, m);
  if (semiring == "min_plus") return exact_semiring<spgemm::min_plus>(run, m);
  if (semiring == "or_and") return exact_semiring<spgemm::or_and>(run, m);
  throw std::runtime_error("case " + run.parameters().id() + ": unknown semiring");
}

}  // namespace

void run_spgemm(case_run& run) {
  if (run.parameters().operation != "multiply") throw std::runtime_error("unknown operation: " + run.parameters().id());
  const bool wide = run.parameters().has("index") && run.parameters().integer("index") == 64;
  with_real(run.parameters(), [&]<class T>() {
    if (wide) return run_as<T, std::int64_t>(run);
    run_as<T, std::int32_t>(run);
  });
}

}  // namespace quintet::accuracy
