// Sparse products against the same products in long double.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>

#include "accuracy/case_run.hpp"
#include "quintet/core/philox.hpp"
#include "quintet/spgemm/add.hpp"
#include "quintet/spgemm/dense_product.hpp"
#include "quintet/spgemm/mask.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "quintet/spgemm/plan.hpp"
#include "quintet/spgemm/transpose.hpp"
#include "reference/spgemm_reference.hpp"
#include "support/sparse_matrices.hpp"

// References are sums in long double.
template <>
inline constexpr bool quintet::spgemm::is_entry_type<long double> = true;

namespace quintet::accuracy {

namespace {

template <class Value, class Index>
struct operands {
  spgemm::csr<Value, Index> a, b;
  spgemm::csr<Value, Index> mask;  ///< of masked products
};

template <class Value, class Index>
operands<Value, Index> made(const test_case& c) {
  const std::string kind = c.text("matrix");
  const std::int64_t size = c.integer("size");
  const auto seed = std::uint64_t(c.integer("seed"));
  if (kind == "uniform") {
    const double entries = c.real("entries");
    return {test::uniform_matrix<Value, Index>(size, size, entries, seed),
            test::uniform_matrix<Value, Index>(size, size, entries, seed + 1),
            {}};
  }
  if (kind == "wide")  // rows of B with more columns than one window of a device holds
    return {test::uniform_matrix<Value, Index>(6, 50, 20, seed),
            test::uniform_matrix<Value, Index>(50, size, 400, seed + 1),
            {}};
  spgemm::csr<Value, Index> one;
  if (kind == "rmat")
    one = test::rmat_matrix<Value, Index>(int(size), c.integer("entries"), seed);
  else if (kind == "blocks")
    one = test::block_diagonal<Value, Index>(3, size, seed);
  else if (kind == "arrow")
    one = test::arrow_matrix<Value, Index>(size, seed);
  else
    throw std::runtime_error("case " + c.id() + ": unknown matrix");
  return {one, one, {}};
}

// The product that the case asks for.
template <class Semiring, class Value, class Index>
spgemm::csr<Value, Index> product(const test_case& c, const operands<Value, Index>& m, const Device& device) {
  const spgemm::options settings{.host_products = 0};
  const auto a = m.a.view(), b = m.b.view(), mask = m.mask.view();
  if (c.operation == "multiply") return spgemm::multiply<Semiring>(a, b, settings, device);
  if (c.operation == "multiply_inside")
    return spgemm::multiply_masked<Semiring, spgemm::structural_mask>(a, b, mask, settings, device);
  if (c.operation == "multiply_outside")
    return spgemm::multiply_masked<Semiring, spgemm::complement_mask>(a, b, mask, settings, device);
  // A plan made for other values than it is executed with.
  spgemm::csr<Value, Index> others = m.a;
  for (Value& x : others.values) x = 1 - x;
  const spgemm::plan<Semiring, Value, Index> planned(others.view(), b, settings, device);
  return planned.execute(a, b);
}

// The same of the plain reference.
template <class Semiring, class Value, class Other, class Index>
spgemm::csr<Value, Index> expected_product(const test_case& c, const spgemm::csr<Value, Index>& a,
                                           const spgemm::csr<Value, Index>& b, const spgemm::csr<Other, Index>& mask) {
  const auto whole = test::reference_product<Semiring>(a.view(), b.view());
  if (mask.rows == 0) return whole;
  const spgemm::csr<Value, Index> structure{mask.rows, mask.cols, mask.row_pointers, mask.columns, {}};
  return test::reference_masked(whole, structure, c.operation == "multiply_inside");
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
  const auto reference = [&](auto map) {
    return expected_product<spgemm::plus_times>(run.parameters(), mapped(m.a, map), mapped(m.b, map), m.mask);
  };
  const auto exact = reference([](long double x) { return x; });
  const auto size = reference([](long double x) { return std::fabs(x); });
  const auto count = reference([](long double) { return 1.0L; });
  tolerance allowed{.bound = 1, .same_bits = true, .unit = "p u sum |a b|"};
  for (std::int64_t e = 0; e < exact.nnz(); ++e)
    allowed.sizes.push_back(std::max(double(count.values[e] * size.values[e] / 2), std::numeric_limits<double>::min()));
  measure_elements(run, "entry", std::vector<long double>(exact.values.begin(), exact.values.end()), allowed,
                   [&](const Device& device) {
                     const auto c = product<spgemm::plus_times>(run.parameters(), m, device);
                     // Another structure is no result at all.
                     const bool same = c.columns == exact.columns && c.row_pointers == exact.row_pointers;
                     return same ? std::vector<Value>(c.values.begin(), c.values.end()) : std::vector<Value>();
                   });
}

// Other semirings round at most once a product: the plain reference in the same type has the same bits.
template <class Semiring, class Value, class Index>
void exact_semiring(case_run& run, const operands<Value, Index>& m) {
  const auto exact = expected_product<Semiring>(run.parameters(), m.a, m.b, m.mask);
  const std::vector<Value> expected(exact.values.begin(), exact.values.end());
  for (const Device& device : run.devices()) {
    const auto c = product<Semiring>(run.parameters(), m, device);
    std::vector<Value> found(c.values.begin(), c.values.end());
    if (c.columns != exact.columns || c.row_pointers != exact.row_pointers) found.clear();
    run.measured(device, "entry", "bits", bit_differences(found, expected), 0);
  }
}

// The entries of a matrix row by row: column -> values in the order in which they stand.
template <class Value, class Index>
std::vector<std::multimap<std::int64_t, Value>> entries_of(const spgemm::csr<Value, Index>& m) {
  std::vector<std::multimap<std::int64_t, Value>> rows(std::size_t(m.rows));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::int64_t e = m.row_pointers[i]; e < m.row_pointers[i + 1]; ++e)
      rows[i].emplace(std::int64_t(m.columns[e]), Value(m.values[e]));
  return rows;
}

// Values move, nothing is computed.
template <class Value, class Index>
void transpose(case_run& run, const operands<Value, Index>& m) {
  std::vector<std::multimap<std::int64_t, Value>> expected(std::size_t(m.a.cols));
  const auto rows = entries_of(m.a);
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const auto& [column, value] : rows[i]) expected[std::size_t(column)].emplace(std::int64_t(i), value);
  std::vector<Value> values;
  for (const auto& row : expected)
    for (const auto& entry : row) values.push_back(entry.second);
  for (const Device& device : run.devices()) {
    const auto c = spgemm::transpose(m.a.view(), spgemm::memory_source::standard(), device);
    std::vector<Value> found(c.values.begin(), c.values.end());
    if (c.rows != m.a.cols || c.cols != m.a.rows || entries_of(c) != expected) found.clear();
    run.measured(device, "entry", "bits", bit_differences(found, values), 0);
  }
}

// alpha a + beta b: two products and their sum are rounded, each by u times |alpha a| + |beta b| at most.
template <class Value, class Index>
void add(case_run& run, const operands<Value, Index>& m) {
  const Value alpha = Value(0.7), beta = Value(-1.3);
  const auto a = entries_of(m.a), b = entries_of(m.b);
  std::vector<long double> exact;
  std::vector<std::int64_t> columns;
  tolerance allowed{.bound = 1, .same_bits = true, .unit = "2 u (|alpha a| + |beta b|)"};
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::map<std::int64_t, std::pair<long double, long double>> row;
    for (const auto& [column, value] : a[i]) row[column].first += static_cast<long double>(alpha) * value;
    for (const auto& [column, value] : b[i]) row[column].second += static_cast<long double>(beta) * value;
    for (const auto& [column, parts] : row) {
      columns.push_back(column);
      exact.push_back(parts.first + parts.second);
      allowed.sizes.push_back(std::max(double(std::fabs(parts.first) + std::fabs(parts.second)), 1e-30));
    }
  }
  measure_elements(run, "entry", exact, allowed, [&](const Device& device) {
    const auto c = spgemm::add(alpha, m.a.view(), beta, m.b.view(), device);
    const bool same = std::equal(c.columns.begin(), c.columns.end(), columns.begin(), columns.end());
    return same ? std::vector<Value>(c.values.begin(), c.values.end()) : std::vector<Value>();
  });
}

// A sparse times a dense matrix: sums of as many products as a row of A has entries.
template <class Value, class Index>
void multiply_dense(case_run& run, const operands<Value, Index>& m) {
  const std::int64_t cols = run.parameters().integer("cols");
  std::vector<Value> x;
  for (std::int64_t e = 0; e < m.a.cols * cols; ++e)
    x.push_back(normal_at<Value>(std::uint64_t(run.parameters().integer("seed")), 7, std::uint64_t(e)));
  const auto rows = entries_of(m.a);
  std::vector<long double> exact;
  tolerance allowed{.bound = 1, .same_bits = true, .unit = "p u sum |a x|"};
  for (const auto& row : rows)
    for (std::int64_t j = 0; j < cols; ++j) {
      long double sum = 0, size = 0;
      for (const auto& [column, value] : row) {
        const long double term = static_cast<long double>(value) * x[std::size_t(column * cols + j)];
        sum += term;
        size += std::fabs(term);
      }
      exact.push_back(sum);
      allowed.sizes.push_back(std::max(double(row.size()) * double(size) / 2, 1e-30));
    }
  measure_elements(run, "element", exact, allowed, [&](const Device& device) {
    std::vector<Value> y(exact.size());
    spgemm::multiply_dense<Value, Index>(m.a.view(), {x.data(), m.a.cols, cols}, {y.data(), m.a.rows, cols}, device);
    return y;
  });
}

template <class Value, class Index>
void run_as(case_run& run) {
  auto m = made<Value, Index>(run.parameters());
  const std::string& operation = run.parameters().operation;
  if (operation == "transpose") return transpose(run, m);
  if (operation == "add") return add(run, m);
  if (operation == "multiply_dense") return multiply_dense(run, m);
  if (run.parameters().has("mask_entries"))
    m.mask = test::uniform_matrix<Value, Index>(m.a.rows, m.b.cols, run.parameters().real("mask_entries"),
                                                std::uint64_t(run.parameters().integer("seed")) + 2);
  const std::string semiring = run.parameters().text("semiring");
  if (semiring == "plus_times") return plus_times(run, m);
  if (semiring == "min_plus") return exact_semiring<spgemm::min_plus>(run, m);
  if (semiring == "or_and") return exact_semiring<spgemm::or_and>(run, m);
  throw std::runtime_error("case " + run.parameters().id() + ": unknown semiring");
}

}  // namespace

void run_spgemm(case_run& run) {
  const std::string& operation = run.parameters().operation;
  const bool masked = operation == "multiply_inside" || operation == "multiply_outside";
  const std::set<std::string> others{"multiply", "plan_execute", "transpose", "add", "multiply_dense"};
  if (!masked && !others.contains(operation)) throw std::runtime_error("unknown operation: " + run.parameters().id());
  if (masked != run.parameters().has("mask_entries"))
    throw std::runtime_error("case " + run.parameters().id() + ": mask_entries belong to masked products");
  const bool wide = run.parameters().has("index") && run.parameters().integer("index") == 64;
  with_real(run.parameters(), [&]<class T>() {
    if (wide) return run_as<T, std::int64_t>(run);
    run_as<T, std::int32_t>(run);
  });
}

}  // namespace quintet::accuracy
