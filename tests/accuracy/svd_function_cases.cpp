// What is made of a decomposition, against the same in long double: gradients, randomised decompositions and
// the functions of applications.hpp. Inputs have the singular values 1, 1 - 1/n, ..., 1/n, so that the distance of
// neighbours, which the errors of vectors are inverse to, is known.
#include <stdexcept>

#include "accuracy/case_run.hpp"
#include "quintet/core/philox.hpp"
#include "quintet/svd/applications.hpp"
#include "quintet/svd/gradient.hpp"
#include "quintet/svd/randomised.hpp"
#include "reference/svd_reference.hpp"
#include "support/svd_errors.hpp"

namespace quintet::accuracy {

namespace {

using reference::matrix, reference::norm, reference::transposed;

matrix normal(std::int64_t rows, std::int64_t cols, std::int64_t seed, std::int64_t stream) {
  matrix a(rows, cols);
  for (std::int64_t i = 0; i < rows * cols; ++i)
    a.data()[i] = normal_at<double>(std::uint64_t(seed), std::uint64_t(stream), std::uint64_t(i));
  return a;
}

/// One matrix of a case in its storage type, and its exact decomposition.
template <class T>
struct input {
  std::int64_t m, n, k;
  std::vector<T> a;
  matrix exact;
  reference::decomposition svd;

  explicit input(const test_case& c) : m(c.integer("rows")), n(c.integer("cols")), k(std::min(m, n)) {
    const std::int64_t seed = c.integer("seed"), rank = c.has("rank") ? c.integer("rank") : k;
    // A randomised decomposition is exact for matrices of its rank only.
    std::vector<long double> values;
    for (std::int64_t j = 0; j < k; ++j)
      values.push_back(j < rank ? 1 - static_cast<long double>(j) / static_cast<long double>(k) : 0);
    exact = reference::with_singular_values(normal(m, k, seed, 0), values, normal(n, k, seed, 1));
    for (const long double x : exact.elements()) a.push_back(T(x));
    exact = reference::widened(view(), 0);
    svd = reference::decomposed(exact);
  }
  long double s(std::int64_t j) const { return svd.s[std::size_t(j)]; }
  batch_view<const T> view() const { return {a.data(), 1, m, n}; }
  svd::decomposition<T> decomposed(const Device& device) const { return svd::decompose<T>(view(), {}, device); }
  double condition() const { return double(s(0) / s(k - 1)); }
};

/// What the functions do to an element, in units of what theory has for the norm of the whole: the decomposition is one
/// of A + E with |E|_F <= 8 eps |A|_F (the bound of decompose.hpp for n <= 16; that of larger ones has as many more
/// elements), and an error spreads over more than two by two elements, so that none has more than half of its norm.
constexpr double element_bound = 4;

/// Errors of all elements in units of eps times `size`.
tolerance within(double bound, double size, std::size_t count, const std::string& unit) {
  return {bound, false, 0, std::vector<double>(count, size), unit};
}

template <class T>
void pseudo_inverse(case_run& run) {
  const input<T> in(run.parameters());
  const matrix exact = reference::pseudo_inverse(in.svd);
  // Wedin: |A^+ E A^+| and no more to first order, up to a factor near 1.
  const auto allowed = within(element_bound, in.condition() / double(in.s(in.k - 1)), in.a.size(), "eps cond |A^+|");
  measure_elements(run, "pseudo-inverse", exact.elements(), allowed,
                   [&](const Device& device) { return svd::pseudo_inverse(in.decomposed(device), {}, device); });
}

template <class T>
void least_squares(case_run& run) {
  const input<T> in(run.parameters());
  const std::int64_t count = 3;
  matrix right = normal(in.m, count, run.parameters().integer("seed"), 2);
  std::vector<T> stored;
  for (std::int64_t i = 0; i < in.m * count; ++i) {
    stored.push_back(T(right.data()[i]));
    right.data()[i] = stored.back();
  }
  const matrix x = reference::pseudo_inverse(in.svd) * right;
  // Wedin: of the solution times the condition, of the residual times its square. The norms are those of three columns,
  // which makes half of it.
  const double size =
      in.condition() * (double(norm(x)) + in.condition() * double(norm(right - in.exact * x) / in.s(0)));
  measure_elements(run, "solution", x.elements(),
                   within(element_bound / 2, size, std::size_t(x.size()), "eps (cond |x| + cond^2 |r| / |A|)"),
                   [&](const Device& device) {
                     return svd::least_squares<T>(in.decomposed(device), {stored.data(), 1, in.m, count}, {}, device);
                   });
}

template <class T>
void low_rank(case_run& run) {
  const input<T> in(run.parameters());
  const std::int64_t rank = in.k / 2;
  const matrix exact = reference::low_rank(in.svd, rank);
  // E turns the last vector that is kept and the first that is not by |E| / gap, and the kept one counts S_r.
  const double size = double(in.s(0) * in.s(rank - 1) / (in.s(rank - 1) - in.s(rank)));
  measure_elements(
      run, "approximation", exact.elements(), within(element_bound, size, in.a.size(), "eps |A| S_r / gap"),
      [&](const Device& device) { return svd::low_rank_approximation(in.decomposed(device), rank, device); });
}

template <class T>
void condition_number(case_run& run) {
  const input<T> in(run.parameters());
  const std::vector<double> exact{in.condition()};
  // S_0 and S_k are both off by so many eps S_0.
  const double values = test::bounds_for(in.m, in.n, {}).values;
  measure_elements(run, "condition number", exact, within(values, exact[0] * (1 + exact[0]), 1, "eps cond (1 + cond)"),
                   [&](const Device& device) { return svd::condition_number(in.decomposed(device)); });
}

template <class T>
void polar(case_run& run) {
  const input<T> in(run.parameters());
  const matrix w = reference::orthonormal_factor(in.svd), h = reference::semidefinite_factor(in.svd);
  // |dW| <= 2 |E| / (S_{k-1} + S_k), |dH| <= sqrt(2) |E| (Higham 2008, theorems 8.9 and 8.10).
  const double size = 2 * double(in.s(0) / (in.s(in.k - 1) + in.s(std::max<std::int64_t>(in.k - 2, 0))));
  measure_elements(run, "orthonormal factor", w.elements(),
                   within(element_bound, size, std::size_t(w.size()), "eps 2 |A| / (S_{k-1} + S_k)"),
                   [&](const Device& device) { return svd::polar(in.decomposed(device), device).w; });
  measure_elements(run, "semidefinite factor", h.elements(),
                   within(std::sqrt(2.0) * test::bounds_for(in.m, in.n, {}).residual, double(in.s(0)),
                          std::size_t(h.size()), "eps |A|"),
                   [&](const Device& device) { return svd::polar(in.decomposed(device), device).h; });
}

/// The loss sum_r w_r (s_r + (x . u_r) (y . v_r)), whatever the signs of the vectors.
struct loss {
  matrix w, x, y;
  loss(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t seed)
      : w(normal(k, 1, seed, 3)), x(normal(m, 1, seed, 4)), y(normal(n, 1, seed, 5)) {}

  /// Its gradient by the formula.
  matrix gradient(const reference::decomposition& d) const {
    const matrix a = transposed(x) * d.u, c = transposed(y) * d.v;
    const auto weighted = [&](matrix row) {
      for (std::int64_t r = 0; r < row.size(); ++r) row.data()[r] *= w.data()[r];
      return row;
    };
    return reference::gradient(d, x * weighted(c), w.elements(), y * weighted(a));
  }

  /// The derivatives after the factors that were computed.
  template <class T>
  std::vector<T> computed(const svd::decomposition<T>& d, const Device& device) const {
    const std::int64_t k = w.size();
    std::vector<T> gu(d.u.size()), gs, gv(d.v.size());
    for (std::int64_t r = 0; r < k; ++r) {
      long double a = 0, c = 0;
      for (std::int64_t i = 0; i < x.size(); ++i) a += x.data()[i] * d.u_view()(0, i, r);
      for (std::int64_t i = 0; i < y.size(); ++i) c += y.data()[i] * d.v_view()(0, i, r);
      for (std::int64_t i = 0; i < x.size(); ++i) gu[std::size_t(i * k + r)] = T(w.data()[r] * c * x.data()[i]);
      for (std::int64_t i = 0; i < y.size(); ++i) gv[std::size_t(i * k + r)] = T(w.data()[r] * a * y.data()[i]);
      gs.push_back(T(w.data()[r]));
    }
    return svd::gradient<T>(d, {gu.data(), 1, d.rows, k}, {gs.data(), 1, k}, {gv.data(), 1, d.cols, k}, {}, device);
  }
};

template <class T>
void gradient(case_run& run) {
  const input<T> in(run.parameters());
  const loss l(in.m, in.n, in.k, run.parameters().integer("seed"));
  const matrix exact = l.gradient(in.svd);
  // Gaps are 1 / k, and so is the smallest singular value.
  const double size = double(reference::largest(exact)) * double(in.k);
  measure_elements(run, "gradient", exact.elements(), within(16, size, in.a.size(), "eps max|gA| |A| / gap"),
                   [&](const Device& device) { return l.computed(in.decomposed(device), device); });
}

template <class T>
void randomised(case_run& run) {
  const input<T> in(run.parameters());
  const std::int64_t rank = run.parameters().integer("rank");
  const auto factors = [&](const Device& device) {
    return svd::randomised<T>(in.view(), {.rank = rank, .oversampling = 5}, device).factors;
  };
  const std::vector<long double> head(in.svd.s.begin(), in.svd.s.begin() + rank);
  // The matrix that is decomposed, l x n, is long; another third for the range and the products with it.
  const test::svd_bounds bounds = test::bounds_for(rank + 5, std::max(in.m, in.n) * 2, {});
  measure_elements(run, "singular value", head,
                   within(4 * bounds.values / 3, double(in.s(0)), std::size_t(rank), "eps S_0"),
                   [&](const Device& device) { return factors(device).s; });
  for (const Device& device : run.devices()) {
    const auto d = factors(device);
    const auto note = [&](const char* name, double error, double bound) {
      error_sum errors;
      errors.add(error / epsilon_of<T>);
      run.measured(device, name, "eps", errors, 4 * bound / 3);
    };
    note("residual", test::residual(in.view(), d, 0), bounds.residual);
    note("orthogonality of U", test::orthogonality(d.u_view(), 0), bounds.u);
    note("orthogonality of V", test::orthogonality(d.v_view(), 0), bounds.v);
  }
}

template <class T>
void run_one(case_run& run, const std::string& operation) {
  if (operation == "pseudo_inverse") return pseudo_inverse<T>(run);
  if (operation == "least_squares") return least_squares<T>(run);
  if (operation == "low_rank") return low_rank<T>(run);
  if (operation == "condition_number") return condition_number<T>(run);
  if (operation == "polar") return polar<T>(run);
  if (operation == "gradient") return gradient<T>(run);
  if (operation == "randomised") return randomised<T>(run);
  throw std::runtime_error("unknown operation: " + run.parameters().id());
}

}  // namespace

void run_svd_function(case_run& run) {
  with_real(run.parameters(), [&]<class T>() { run_one<T>(run, run.parameters().operation); });
}

}  // namespace quintet::accuracy
