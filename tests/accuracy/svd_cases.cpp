// Decompositions against long double, and matrices whose singular values are known to 30 digits.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "accuracy/case_run.hpp"
#include "quintet/core/philox.hpp"
#include "quintet/svd/decompose.hpp"
#include "reference/svd_reference.hpp"
#include "support/svd_errors.hpp"
#include "unit/svd/svd_case.hpp"

namespace quintet::accuracy {

namespace {

struct matrices {
  std::int64_t batch, rows, cols;
  std::vector<double> a;  // rounded to the storage type later
};

svd::vectors parse_vectors(const std::string& word) {
  if (word == "none") return svd::vectors::none;
  return word == "full" ? svd::vectors::full : svd::vectors::economy;
}
svd::preconditioning parse_preconditioning(const std::string& word) {
  if (word == "none") return svd::preconditioning::none;
  if (word == "qr") return svd::preconditioning::qr;
  return word == "pivoted_qr" ? svd::preconditioning::pivoted_qr : svd::preconditioning::automatic;
}

svd::options options_of(const test_case& c) {
  svd::options options;
  if (c.has("vectors")) options.vectors = parse_vectors(c.text("vectors"));
  if (c.has("preconditioning")) options.preconditioning = parse_preconditioning(c.text("preconditioning"));
  if (c.has("accurate")) options.accurate = c.parameters["accurate"].get<bool>();
  return options;
}

std::vector<double> normal(std::int64_t count, std::int64_t seed) {
  std::vector<double> a(std::size_t(count), 0);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = normal_at<double>(std::uint64_t(seed), 0, i);
  return a;
}

matrices random_batch(const test_case& c) {
  const std::int64_t batch = c.integer("batch"), rows = c.integer("rows"),
                     cols = c.has("cols") ? c.integer("cols") : rows;
  return {batch, rows, cols, normal(batch * rows * cols, c.integer("seed"))};
}

// Random orthogonal factors around singular values that fall geometrically from 1 to 1 / condition.
matrices of_condition(const test_case& c, double condition) {
  matrices m{c.integer("batch"), c.integer("rows"), c.integer("rows"), {}};
  const std::int64_t n = m.rows;
  const std::vector<double> random = normal(2 * m.batch * n * n, c.integer("seed"));
  std::vector<double> s;
  for (std::int64_t j = 0; j < n; ++j) s.push_back(std::pow(condition, n > 1 ? -double(j) / double(n - 1) : 0.0));
  for (std::int64_t b = 0; b < m.batch; ++b) {
    const double* both = random.data() + 2 * b * n * n;
    const std::vector<double> made = reference::with_singular_values(both, s, both + n * n);
    m.a.insert(m.a.end(), made.begin(), made.end());
  }
  return m;
}

// Columns of a well-conditioned matrix scaled by powers of two down to 1 / condition: every singular value is
// determined to the last digits.
template <class T>
matrices graded(const test_case& c) {
  matrices m = of_condition(c, 4);
  const std::int64_t n = m.rows;
  const double steps = std::log2(c.real("condition")) / double(std::max<std::int64_t>(1, n - 1));
  for (std::size_t i = 0; i < m.a.size(); ++i)
    m.a[i] = std::ldexp(double(T(m.a[i])), -int(std::lround(steps * double(std::int64_t(i) % n))));
  return m;
}

// Matrices whose columns hold near ties. Wilkinson's: pairs of values that agree to all digits; glued: blocks of it
// with weak couplings; clusters: three values, each many times.
bool has_ties(const test_case& c) {
  return c.operation == "wilkinson" || c.operation == "glued" || c.operation == "clusters";
}
matrices of_ties(const test_case& c) {
  const std::int64_t n = c.integer("rows");
  if (c.operation == "clusters") {
    std::vector<double> s;
    for (std::int64_t j = 0; j < n; ++j) s.push_back(3 - double(3 * j / n) - 1e-9 * double(j));
    const std::vector<double> both = normal(2 * n * n, c.integer("seed"));
    return {1, n, n, reference::with_singular_values(both.data(), s, both.data() + n * n)};
  }
  const std::int64_t order = c.operation == "glued" ? 21 : n;
  matrices m{1, n, n, std::vector<double>(n * n)};
  for (std::int64_t i = 0; i < n; ++i) {
    m.a[i * n + i] = std::fabs(double(i % order) - double(order - 1) / 2);
    if (i + 1 < n) m.a[i * n + i + 1] = m.a[(i + 1) * n + i] = (i + 1) % order == 0 ? 1e-6 : 1;
  }
  return m;
}

struct errors {
  error_sum residual, u, v, values;
};

template <class T>
std::vector<std::vector<double>> exact_values(const std::vector<T>& a, const matrices& m, std::int64_t compared) {
  std::vector<std::vector<double>> exact;
  const batch_view<const T> view(a.data(), m.batch, m.rows, m.cols);
  for (std::int64_t b = 0; b < std::min(compared, m.batch); ++b) {
    // Jacobi's method would take minutes for these; the other's errors are a few epsilon of long double, of S_0.
    if (std::min(m.rows, m.cols) > 128) {
      const auto wide = reference::singular_values_by_bidiagonalisation(reference::widened(view, b));
      exact.emplace_back(wide.begin(), wide.end());
    } else {
      exact.push_back(reference::singular_values(view, b));
    }
  }
  return exact;
}

template <class T>
errors errors_of(batch_view<const T> a, const svd::decomposition<T>& r, const std::vector<std::vector<double>>& exact,
                 bool relative) {
  errors all;
  const double epsilon = test::compute_epsilon<T>;
  // Vectors of 16 bits carry their own rounding.
  const double vector_epsilon = sizeof(T) == 2 ? (std::is_same_v<T, half> ? 0x1p-10 : 0x1p-7) : epsilon;
  for (std::int64_t b = 0; b < a.batch(); ++b) {
    if (r.status[std::size_t(b)] != svd::ok || !test::is_sorted(r, b)) all.values.add(std::nan(""));
    if (r.u_cols > 0) {
      all.residual.add(test::residual(a, r, b) / vector_epsilon);
      all.u.add(test::orthogonality(r.u_view(), b) / vector_epsilon);
      all.v.add(test::orthogonality(r.v_view(), b) / vector_epsilon);
    }
    if (b >= std::int64_t(exact.size())) continue;
    const auto& s = exact[std::size_t(b)];
    for (std::int64_t j = 0; j < r.values; ++j) {
      const double difference = std::fabs(double(r.singular_value(b, j)) - s[std::size_t(j)]);
      // Singular values below the smallest normal number have absolute accuracy only.
      const bool tiny = difference <= double(std::numeric_limits<accumulator_t<T>>::denorm_min());
      all.values.add(tiny ? 0 : difference / (s[std::size_t(relative ? j : 0)] * epsilon));
    }
  }
  return all;
}

template <class T>
void decompose(case_run& run, const matrices& m, std::vector<std::vector<double>> exact, bool relative,
               const test::svd_bounds& allowed) {
  const test_case& c = run.parameters();
  std::vector<T> a;
  for (const double x : m.a) a.push_back(T(accumulator_t<T>(x)));
  const batch_view<const T> view(a.data(), m.batch, m.rows, m.cols);
  if (exact.empty()) exact = exact_values(a, m, c.has("compared") ? c.integer("compared") : m.batch);
  const std::string unit = sizeof(T) == 2 ? "eps of the storage" : "eps";
  std::vector<accumulator_t<T>> host;
  for (const Device& device : run.devices()) {
    auto r = svd::decompose<T>(view, options_of(c), device);
    const errors found = errors_of(view, r, exact, relative);
    if (r.u_cols > 0) {
      run.measured(device, "residual", unit + " |A|", found.residual, allowed.residual);
      run.measured(device, "orthogonality of U", unit, found.u, allowed.u);
      run.measured(device, "orthogonality of V", unit, found.v, allowed.v);
    }
    if (!exact.empty())
      run.measured(device, "singular value", relative ? "eps S_j" : "eps S_0", found.values, allowed.values);
    if (device.kind() == device_kind::host) {
      host = r.s;
      continue;
    }
    error_sum differences;
    for (std::size_t i = 0; i < host.size(); ++i) {
      const double size = double(host[relative ? i : i - i % std::size_t(r.values)]);
      differences.add(host[i] == r.s[i] ? 0 : std::fabs(double(host[i] - r.s[i])) / (size * epsilon_of<T>));
    }
    run.compared(device, "singular value", relative ? "eps S_j" : "eps S_0", differences, 2 * allowed.values);
  }
}

/// Vectors of 16 bits are rounded once: two of them are wrong by half a unit in every element, and so are their product
/// and the residual by one in all. The computation in float adds little.
template <class T>
test::svd_bounds stored_bounds(test::svd_bounds b) {
  return sizeof(T) == 2 ? test::svd_bounds{1.1, 1.1, 1.1, b.values} : b;
}

template <class T>
void generated(case_run& run) {
  const test_case& c = run.parameters();
  const bool relative = c.operation == "graded";
  const matrices m = relative                     ? graded<accumulator_t<T>>(c)
                     : c.operation == "condition" ? of_condition(c, c.real("condition"))
                     : has_ties(c)                ? of_ties(c)
                                                  : random_batch(c);
  const std::int64_t n = std::min(m.rows, m.cols);
  test::svd_bounds bounds = stored_bounds<T>(test::bounds_for(m.rows, m.cols, options_of(c)));
  if (relative) bounds.values = double(n);
  decompose<T>(run, m, {}, relative, bounds);
}

// A matrix of the reference data in the accuracy class that its index states.
void stored(case_run& run) {
  const test_case& c = run.parameters();
  if (!std::filesystem::is_directory(test::svd_folder())) return run.skip("no reference data (QUINTET_DATA_DIR)");
  const auto cases = test::svd_cases();
  const auto one = std::find_if(cases.begin(), cases.end(), [&](const auto& s) { return s.name == c.text("name"); });
  if (one == cases.end()) throw std::runtime_error("case " + c.id() + ": no such matrix in the reference data");
  const bool relative = one->accuracy_class.rfind("rel", 0) == 0;
  const double n = double(std::min(one->rows, one->cols));
  // Some of them are graded and get QR, whatever their shape.
  test::svd_bounds allowed = test::bounds_for(one->rows, one->cols, {.preconditioning = svd::preconditioning::qr});
  if (relative) allowed.values = one->accuracy_class == "relQ" ? 10 * n : n;
  with_storage(c, [&]<class T>() {
    decompose<T>(run, {1, one->rows, one->cols, one->a}, {one->s}, relative, stored_bounds<T>(allowed));
  });
}

}  // namespace

void run_svd(case_run& run) {
  const std::string& operation = run.parameters().operation;
  if (operation == "stored") return stored(run);
  if (operation != "decompose" && operation != "condition" && operation != "graded" && !has_ties(run.parameters()))
    return run_svd_function(run);
  with_storage(run.parameters(), [&]<class T>() { generated<T>(run); });
}

}  // namespace quintet::accuracy
