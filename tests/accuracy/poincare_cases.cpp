// Distances and operations of the Poincare ball against 113-bit sums, and the reference data of 30 digits.
#include <functional>
#include <map>
#include <stdexcept>

#include "accuracy/case_run.hpp"
#include "quintet/poincare/poincare.hpp"
#include "reference/ball_operations_reference.hpp"
#include "support/ball_data.hpp"
#include "support/ball_points.hpp"

namespace quintet::accuracy {

namespace {

using reference::ball_vector;
using test::row_of;

template <class Real>
struct ball {
  double c;
  test::point_set<Real> x, y, v;

  // "norms": [least, most] of sqrt(c) |x|, one text as parameters are no lists: "0.9..0.99".
  explicit ball(const test_case& p) : c(p.has("c") ? p.real("c") : 1), x(0, 1), y(0, 1), v(0, 1) {
    const std::string norms = p.text("norms");
    const std::size_t dots = norms.find("..");
    const double min = std::stod(norms), max = std::stod(norms.substr(dots + 2));
    const std::int64_t n = p.integer("n"), dim = p.integer("dim");
    const auto seed = std::uint64_t(p.integer("seed"));
    x = test::ball_points<Real>(n, dim, min, max, c, seed);
    y = test::ball_points<Real>(n, dim, min, max, c, seed + 1);
    v = test::ball_points<Real>(n, dim, 0, 0.7, 1, seed + 2);
  }
  poincare::distance_options distance_options() const { return {.curvature = -c}; }
  poincare::ball_options options() const { return {.curvature = -c}; }
};

// (D / 4 + 6) u of distances.hpp.
tolerance distance_tolerance(std::int64_t dim) { return {.bound = (double(dim) / 4 + 6) / 2, .same_bits = true}; }

template <class Real>
void distances(case_run& run) {
  const ball<Real> b(run.parameters());
  std::vector<long double> exact;
  for (std::int64_t i = 0; i < b.x.n; ++i)
    for (std::int64_t j = 0; j < b.y.n; ++j)
      exact.push_back(reference::ball_distance(row_of(b.x, i), row_of(b.y, j), b.c));
  measure_elements(run, "distance", exact, distance_tolerance(b.x.dim), [&](const Device& device) {
    std::vector<Real> d(exact.size());
    poincare::distances<Real>(b.x.view(), b.y.view(), {d.data(), b.x.n, b.y.n}, b.distance_options(), device);
    return d;
  });
}

template <class Real>
void nearest(case_run& run) {
  const ball<Real> b(run.parameters());
  const std::int64_t k = run.parameters().integer("k");
  std::vector<long double> exact;
  for (std::int64_t i = 0; i < b.x.n; ++i) {
    std::vector<long double> row;
    for (std::int64_t j = 0; j < b.y.n; ++j)
      row.push_back(reference::ball_distance(row_of(b.x, i), row_of(b.y, j), b.c));
    std::sort(row.begin(), row.end());
    exact.insert(exact.end(), row.begin(), row.begin() + k);
  }
  measure_elements(run, "distance of a neighbour", exact, distance_tolerance(b.x.dim), [&](const Device& device) {
    return poincare::nearest<Real>(b.x.view(), b.y.view(), k, {.curvature = -b.c}, device).distance;
  });
}

// Within 1 ulp of float and 4 of double.
template <class Real>
void origin_distances(case_run& run) {
  const ball<Real> b(run.parameters());
  const std::vector<Real> origin(std::size_t(b.x.dim), Real(0));
  std::vector<long double> exact;
  for (std::int64_t i = 0; i < b.x.n; ++i) exact.push_back(reference::ball_distance<Real>(origin, row_of(b.x, i), b.c));
  measure_elements(run, "distance", exact, {.bound = sizeof(Real) == 4 ? 1.0 : 4.0}, [&](const Device& device) {
    std::vector<Real> d(exact.size());
    poincare::origin_distances<Real>(b.x.view(), d, b.distance_options(), device);
    return d;
  });
}

// Rows of an operation: what is exact, in units of the row's largest coordinate; 1 ulp of float, 1e-13 of double.
template <class Real, class Call>
void rows_of(case_run& run, const std::vector<ball_vector>& exact, Call call) {
  tolerance allowed{.bound = sizeof(Real) == 4 ? 1.0 : 1e-13 / epsilon_of<double>, .unit = "eps max |x_k|"};
  std::vector<long double> numbers;
  const std::int64_t cols = std::int64_t(exact.front().size());
  for (const ball_vector& row : exact) {
    double size = 0;
    for (const auto one : row) size = std::max(size, std::fabs(double(one)));
    for (const auto one : row) numbers.push_back((long double)one);
    allowed.sizes.insert(allowed.sizes.end(), row.size(), size);
  }
  measure_elements(run, "coordinate", numbers, allowed, [&](const Device& device) {
    std::vector<Real> out(numbers.size());
    call(matrix_view<Real>(out.data(), std::int64_t(exact.size()), cols), device);
    return out;
  });
}

template <class Real>
void operation(case_run& run) {
  const ball<Real> b(run.parameters());
  const std::string& name = run.parameters().operation;
  const auto x = b.x.view(), y = b.y.view(), v = b.v.view();
  const Real t = Real(0.375);
  const std::vector<Real> factor{t};
  std::vector<Real> unused(b.x.data.size());
  const matrix_view<Real> other(unused.data(), b.x.n, b.x.dim);
  const auto rows = [&](auto f) {
    std::vector<ball_vector> exact;
    for (std::int64_t i = 0; i < b.x.n; ++i)
      exact.push_back(f(reference::widened(row_of(b.x, i)), reference::widened(row_of(b.y, i)),
                        reference::widened(row_of(b.v, i))));
    return exact;
  };
  // Groups of two points, whose mean is the middle of their geodesic.
  test::point_set<Real> both(2 * b.x.n, b.x.dim);
  std::vector<std::int64_t> offsets{0};
  for (std::int64_t i = 0; i < b.x.n; ++i) {
    std::copy_n(&b.x.data[std::size_t(i * b.x.dim)], b.x.dim, &both.data[std::size_t(2 * i * b.x.dim)]);
    std::copy_n(&b.y.data[std::size_t(i * b.x.dim)], b.x.dim, &both.data[std::size_t((2 * i + 1) * b.x.dim)]);
    offsets.push_back(2 * i + 2);
  }
  const auto middles = [&] {
    return rows([&](const ball_vector& p, const ball_vector& q, const ball_vector&) {
      return reference::geodesic(p, q, 0.5L, b.c);
    });
  };
  using V = const ball_vector&;
  using out_view = matrix_view<Real>;
  const poincare::ball_options options = b.options();
  const long double c = b.c;
  const std::map<std::string, std::function<void()>> operations{
      {"mobius_add",
       [&] {
         rows_of<Real>(run, rows([&](V p, V q, V) { return reference::mobius_add(p, q, c); }),
                       [&](out_view out, const Device& d) { poincare::mobius_add<Real>(x, y, out, options, d); });
       }},
      {"mobius_scalar_mul",
       [&] {
         rows_of<Real>(
             run, rows([&](V p, V, V) { return reference::mobius_scalar_mul(t, p, c); }),
             [&](out_view out, const Device& d) { poincare::mobius_scalar_mul<Real>(factor, x, out, options, d); });
       }},
      {"exp_map",
       [&] {
         rows_of<Real>(run, rows([&](V p, V, V u) { return reference::exp_map(p, u, c); }),
                       [&](out_view out, const Device& d) { poincare::exp_map<Real>(x, v, out, options, d); });
       }},
      {"log_map",
       [&] {
         rows_of<Real>(run, rows([&](V p, V q, V) { return reference::log_map(p, q, c); }),
                       [&](out_view out, const Device& d) { poincare::log_map<Real>(x, y, out, options, d); });
       }},
      {"geodesic",
       [&] {
         rows_of<Real>(run, rows([&](V p, V q, V) { return reference::geodesic(p, q, t, c); }),
                       [&](out_view out, const Device& d) { poincare::geodesic<Real>(x, y, factor, out, options, d); });
       }},
      {"parallel_transport",
       [&] {
         rows_of<Real>(
             run, rows([&](V p, V q, V u) { return reference::parallel_transport(p, q, u, c); }),
             [&](out_view out, const Device& d) { poincare::parallel_transport<Real>(x, y, v, out, options, d); });
       }},
      {"gyromidpoint",
       [&] {
         rows_of<Real>(run, middles(), [&](out_view out, const Device& d) {
           poincare::gyromidpoint<Real>(both.view(), offsets, {}, out, options, d);
         });
       }},
      {"frechet_mean",
       [&] {
         rows_of<Real>(run, middles(), [&](out_view out, const Device& d) {
           poincare::frechet_mean<Real>(both.view(), offsets, {}, out, {.curvature = -b.c}, d);
         });
       }},
      {"distance_gradients",
       [&] {
         rows_of<Real>(
             run, rows([&](V p, V q, V) { return reference::distance_gradient(p, q, c); }),
             [&](out_view out, const Device& d) { poincare::distance_gradients<Real>(x, y, out, other, options, d); });
       }},
  };
  const auto found = operations.find(name);
  if (found == operations.end()) throw std::runtime_error("unknown operation: " + run.parameters().id());
  found->second();
}

// Every pair of the reference data, within 5e-7 (float) and 1e-13 (double).
template <class Real>
void stored_pairs(case_run& run) {
  if (!std::filesystem::is_directory(test::hyperbolic_folder()))
    return run.skip("no reference data (QUINTET_DATA_DIR)");
  const test::csv_table table(test::hyperbolic_folder() / "poincare_pairs.csv");
  std::vector<long double> exact;
  for (std::size_t i = 0; i < table.rows(); ++i) exact.push_back(std::stold(table.at(i, "distance")));
  measure_elements(run, "distance", exact, {.bound = (sizeof(Real) == 4 ? 5e-7 : 1e-13) / epsilon_of<Real>},
                   [&](const Device& device) {
                     std::vector<Real> d(1), all;
                     for (std::size_t i = 0; i < table.rows(); ++i) {
                       const auto x = test::parse_vector<Real>(table.at(i, "x")),
                                  y = test::parse_vector<Real>(table.at(i, "y"));
                       const auto dim = std::int64_t(x.size());
                       poincare::pair_distances<Real>({x.data(), 1, dim}, {y.data(), 1, dim}, d,
                                                      {.curvature = -std::stod(table.at(i, "c"))}, device);
                       all.push_back(d[0]);
                     }
                     return all;
                   });
}

template <class Real>
void run_as(case_run& run) {
  const std::string& name = run.parameters().operation;
  if (name == "distances") return distances<Real>(run);
  if (name == "nearest") return nearest<Real>(run);
  if (name == "origin_distances") return origin_distances<Real>(run);
  if (name == "stored_pairs") return stored_pairs<Real>(run);
  operation<Real>(run);
}

}  // namespace

void run_poincare(case_run& run) {
  with_real(run.parameters(), [&]<class T>() { run_as<T>(run); });
}

}  // namespace quintet::accuracy
