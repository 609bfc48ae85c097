// What is made of a decomposition, against the same in long double: gradients, randomised decompositions and
// the functions of applications.hpp. Inputs have the singular values 1, 1 - 1/n, ..., 1/n, so that the distance of
// neighbours, which the errors of vectors are inverse to, is known.
#include <algorithm>
#include <cmath>
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

/// Errors of all elements in units of eps times `size`.
tolerance within(double bound, double size, std::size_t count, const std::string& unit) {
  return {bound, false, 0, std::vector<double>(count, size), unit};
}

/// What the functions do to an element. The decomposition is one of A + E with |E|_F <= 8 eps |A|_F (the bound of
/// decompose.hpp for n <= 16, and so on), from very many roundings: the elements of E, in any basis, are taken as
/// independent, with a standard deviation of |E|_F / sqrt(m n). To first order an element of f(A) is a linear function
/// of E, whose coefficients follow from the exact decomposition: its deviation is that times their norm, and the bound
/// is six deviations.
constexpr double deviations = 6;
template <class T>
double deviation_of(const input<T>& in) {
  return test::bounds_for(in.m, in.n, {}).residual * double(norm(in.exact)) / std::sqrt(double(in.m * in.n));
}

/// variance(i, j): the squared norm of the coefficients of element (i, j) of a matrix rows x cols.
template <class T, class Variance>
tolerance within_deviations(const input<T>& in, std::int64_t rows, std::int64_t cols, Variance variance) {
  tolerance allowed{.bound = deviations, .unit = "eps deviations"};
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j)
      allowed.sizes.push_back(deviation_of(in) * std::sqrt(double(variance(i, j))));
  return allowed;
}

long double square(long double x) { return x * x; }
/// |row i|^2
long double row_square(const matrix& a, std::int64_t i) {
  long double sum = 0;
  for (std::int64_t j = 0; j < a.cols(); ++j) sum += square(a(i, j));
  return sum;
}
/// What is missing of row i of an orthonormal U to the length 1: |row i of I - U U^T|^2.
long double row_outside(const matrix& u, std::int64_t i) { return std::max(0.0L, 1 - row_square(u, i)); }

/// (A^T A)^-1
template <class T>
matrix inverse_gram(const input<T>& in) {
  std::vector<long double> weights;
  for (std::int64_t r = 0; r < in.k; ++r) weights.push_back(1 / square(in.s(r)));
  return scaled_columns(in.svd.v, weights) * transposed(in.svd.v);
}

template <class T>
void pseudo_inverse(case_run& run) {
  const input<T> in(run.parameters());
  const matrix exact = reference::pseudo_inverse(in.svd), columns = transposed(exact), gram = inverse_gram(in);
  // dX = -X E X + (A^T A)^-1 E^T (I - A X) (Wedin 1973), for at least as many rows as columns.
  const auto variance = [&](std::int64_t i, std::int64_t j) {
    return row_square(exact, i) * row_square(columns, j) + row_square(gram, i) * row_outside(in.svd.u, j);
  };
  measure_elements(run, "pseudo-inverse", exact.elements(), within_deviations(in, in.n, in.m, variance),
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
  const matrix inverse = reference::pseudo_inverse(in.svd), gram = inverse_gram(in), x = inverse * right;
  const matrix solutions = transposed(x), residuals = transposed(right - in.exact * x);
  // dx = -X E x + (A^T A)^-1 E^T r
  const auto variance = [&](std::int64_t i, std::int64_t j) {
    return row_square(inverse, i) * row_square(solutions, j) + row_square(gram, i) * row_square(residuals, j);
  };
  measure_elements(run, "solution", x.elements(), within_deviations(in, in.n, count, variance),
                   [&](const Device& device) {
                     return svd::least_squares<T>(in.decomposed(device), {stored.data(), 1, in.m, count}, {}, device);
                   });
}

template <class T>
void low_rank(case_run& run) {
  const input<T> in(run.parameters());
  const std::int64_t rank = in.k / 2;
  const matrix exact = reference::low_rank(in.svd, rank);
  const matrix &u = in.svd.u, &v = in.svd.v;
  // With F = U^T E V: F_pq among vectors that are kept; (S_p^2 F_pq + S_p S_q F_qp) / (S_p^2 - S_q^2) between one that
  // is kept and one that is not; and E itself between the kept ones and what U leaves out.
  const auto variance = [&](std::int64_t i, std::int64_t j) {
    long double sum = 0;
    for (std::int64_t p = 0; p < rank; ++p) {
      for (std::int64_t q = 0; q < rank; ++q) sum += square(u(i, p) * v(j, q));
      for (std::int64_t q = rank; q < in.k; ++q) {
        const long double a = u(i, p) * v(j, q), b = u(i, q) * v(j, p), kept = square(in.s(p)),
                          both = in.s(p) * in.s(q);
        sum += (square(a * kept + b * both) + square(a * both + b * kept)) / square(kept - square(in.s(q)));
      }
      sum += row_outside(u, i) * square(v(j, p));
    }
    return sum;
  };
  measure_elements(
      run, "approximation", exact.elements(), within_deviations(in, in.m, in.n, variance),
      [&](const Device& device) { return svd::low_rank_approximation(in.decomposed(device), rank, device); });
}

template <class T>
void condition_number(case_run& run) {
  const input<T> in(run.parameters());
  const std::vector<double> exact{in.condition()};
  // dS_r = (U^T E V)_rr, and the quotient is rounded.
  tolerance allowed = within_deviations(in, 1, 1, [&](std::int64_t, std::int64_t) {
    return square(exact[0]) * (1 / square(in.s(0)) + 1 / square(in.s(in.k - 1)));
  });
  allowed.sizes[0] += exact[0] / 2 / deviations;
  measure_elements(run, "condition number", exact, allowed,
                   [&](const Device& device) { return svd::condition_number(in.decomposed(device)); });
}

template <class T>
void polar(case_run& run) {
  const input<T> in(run.parameters());
  const matrix w = reference::orthonormal_factor(in.svd), h = reference::semidefinite_factor(in.svd);
  const matrix &u = in.svd.u, &v = in.svd.v;
  // With F = U^T E V (Higham 2008, section 8.4): U^T dW V = (F_pq - F_qp) / (S_p + S_q), and E V / S where U leaves
  // something out; V^T dH V = (S_p F_pq + S_q F_qp) / (S_p + S_q).
  const auto of_w = [&](std::int64_t i, std::int64_t j) {
    long double sum = 0;
    for (std::int64_t p = 0; p < in.k; ++p) {
      for (std::int64_t q = p + 1; q < in.k; ++q)
        sum += 2 * square((u(i, p) * v(j, q) - u(i, q) * v(j, p)) / (in.s(p) + in.s(q)));
      sum += row_outside(u, i) * square(v(j, p) / in.s(p));
    }
    return sum;
  };
  const auto of_h = [&](std::int64_t i, std::int64_t j) {
    long double sum = 0;
    for (std::int64_t p = 0; p < in.k; ++p) {
      sum += square(v(i, p) * v(j, p));
      for (std::int64_t q = p + 1; q < in.k; ++q)
        sum +=
            square((v(i, p) * v(j, q) + v(i, q) * v(j, p)) / (in.s(p) + in.s(q))) * (square(in.s(p)) + square(in.s(q)));
    }
    return sum;
  };
  measure_elements(run, "orthonormal factor", w.elements(), within_deviations(in, in.m, in.n, of_w),
                   [&](const Device& device) { return svd::polar(in.decomposed(device), device).w; });
  measure_elements(run, "semidefinite factor", h.elements(), within_deviations(in, in.n, in.n, of_h),
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
