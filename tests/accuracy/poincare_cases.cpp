// Distances and operations of the Poincare ball against 113-bit sums, and the reference data of 30 digits.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>

#include "accuracy/bounds.hpp"
#include "accuracy/case_run.hpp"
#include "accuracy/stored_points.hpp"
#include "quintet/poincare/poincare.hpp"
#include "reference/ball_operations_reference.hpp"
#include "support/ball_data.hpp"
#include "support/ball_points.hpp"

namespace quintet::accuracy {

namespace {

using reference::ball_vector, reference::wide;

template <class Storage>
struct ball {
  using real = accumulator_t<Storage>;
  double c;
  std::int64_t n, dim;
  stored_points<Storage> x, y, v;  ///< two sets of points, and tangent vectors

  explicit ball(const test_case& p) : c(p.has("c") ? p.real("c") : 1), n(p.integer("n")), dim(p.integer("dim")) {
    const auto [least, most] = range_of(p, "norms");
    const auto seed = std::uint64_t(p.integer("seed"));
    // The type itself decides what rounds to the sphere; 16 bits begin with float.
    x = {test::ball_points<real>(n, dim, least, most, c, seed), c};
    y = {test::ball_points<real>(n, dim, least, most, c, seed + 1), c};
    v = {test::ball_points<real>(n, dim, 0, 0.7, 1, seed + 2), 0};
  }
  poincare::distance_options distance_options() const { return {.curvature = -c}; }
  poincare::ball_options options() const { return {.curvature = -c}; }
};

tolerance distance_tolerance(std::int64_t dim) {
  return {.bound = distance_bound(dim, metric::poincare), .same_bits = true};
}

template <class Storage>
void distances(case_run& run) {
  const ball<Storage> b(run.parameters());
  std::vector<long double> exact;
  for (std::int64_t i = 0; i < b.n; ++i)
    for (std::int64_t j = 0; j < b.n; ++j) exact.push_back(reference::ball_distance(b.x.row(i), b.y.row(j), b.c));
  measure_elements(run, "distance", exact, distance_tolerance(b.dim), [&](const Device& device) {
    std::vector<accumulator_t<Storage>> d(exact.size());
    poincare::distances(b.x.view(), b.y.view(), {d.data(), b.n, b.n}, b.distance_options(), device);
    return d;
  });
}

template <class Storage>
void pair_distances(case_run& run) {
  const ball<Storage> b(run.parameters());
  std::vector<long double> exact;
  for (std::int64_t i = 0; i < b.n; ++i) exact.push_back(reference::ball_distance(b.x.row(i), b.y.row(i), b.c));
  measure_elements(run, "distance", exact, distance_tolerance(b.dim), [&](const Device& device) {
    std::vector<accumulator_t<Storage>> d(exact.size());
    poincare::pair_distances(b.x.view(), b.y.view(), d, b.distance_options(), device);
    return d;
  });
}

template <class Storage>
void nearest(case_run& run) {
  const ball<Storage> b(run.parameters());
  const std::int64_t k = run.parameters().integer("k");
  std::vector<long double> exact;
  for (std::int64_t i = 0; i < b.n; ++i) {
    std::vector<long double> row;
    for (std::int64_t j = 0; j < b.n; ++j) row.push_back(reference::ball_distance(b.x.row(i), b.y.row(j), b.c));
    std::sort(row.begin(), row.end());
    exact.insert(exact.end(), row.begin(), row.begin() + k);
  }
  measure_elements(run, "distance of a neighbour", exact, distance_tolerance(b.dim), [&](const Device& device) {
    return poincare::nearest(b.x.view(), b.y.view(), k, {.curvature = -b.c}, device).distance;
  });
}

// Within 1 ulp of float and 4 of double.
template <class Storage>
void origin_distances(case_run& run) {
  using real = accumulator_t<Storage>;
  const ball<Storage> b(run.parameters());
  const ball_vector origin(std::size_t(b.dim), 0);
  std::vector<long double> exact;
  for (std::int64_t i = 0; i < b.n; ++i) exact.push_back(reference::ball_distance(origin, b.x.row(i), b.c));
  measure_elements(run, "distance", exact, {.bound = sizeof(real) == 4 ? 1.0 : 4.0}, [&](const Device& device) {
    std::vector<real> d(exact.size());
    poincare::origin_distances(b.x.view(), d, b.distance_options(), device);
    return d;
  });
}

/// How an operation errs, in epsilon of double, in which all of them are computed.
struct operation_bound {
  /// Sums of D squares that count, each with sum_bound(), and roundings of everything else: products, quotients, 1 - c
  /// |x|^2 and functions to an ulp or two.
  double sums, roundings;
  /// A result that lies on a walk of length l from x is off by a part of l along it, and beside it by sinh l for a
  /// direction that is off by 1, because geodesics part as fast; a length in the metric is (1 - c |r|^2) / 2 times as
  /// long in coordinates.
  bool is_walk = false;

  double in(std::int64_t dim) const { return sums * sum_bound(double(dim)) + roundings; }
};

/// Rows of an operation: in units of the row's largest coordinate, of a walk also of its length (see above). Results of
/// 4 bytes are rounded once more, by half a unit.
template <class Storage>
struct row_results {
  using real = accumulator_t<Storage>;
  /// Not a template's argument: its 17 operations times four types would be as many copies of what is below.
  using call_on = std::function<void(matrix_view<real>, const Device&)>;

  case_run& run;
  const ball<Storage>& b;
  operation_bound allowed;

  /// Rows `exact`; call(out, device) makes as many.
  void measure(const std::string& quantity, const std::vector<ball_vector>& exact, const call_on& call) const {
    const double in_double = allowed.in(b.dim), u = epsilon_of<double>;
    tolerance result{.bound = sizeof(real) == 8 ? in_double : 0.5 + 1e-3,
                     .unit = allowed.is_walk ? "eps (max |x_k| + sinh l (1 - c |x|^2) / 2)" : "eps max |x_k|"};
    std::vector<long double> numbers;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      double size = 0, walk = 0;
      for (const auto one : exact[i]) size = std::max(size, std::fabs(double(one)));
      if (allowed.is_walk) {
        const long double root = std::sqrt(static_cast<long double>(b.c)), gap = reference::ball_gap(exact[i], b.c);
        // Where the walk ends on the sphere, sinh l (1 - c |r|^2) / 2 is at most what it tends to.
        const ball_vector from = b.x.row(std::int64_t(i));
        walk = double(gap > 0 ? std::sinh(root * reference::ball_distance(from, exact[i], b.c)) * gap / 2 / root
                              : 2 / reference::ball_gap(from, b.c) / root);
      }
      // Rounding of coordinates can put such a point onto the sphere; it is rounded towards the origin then.
      const bool may_be_pulled =
          double(reference::ball_gap(exact[i], b.c)) < epsilon_of<real> * (1 + std::sqrt(double(b.dim)));
      const double pulled = may_be_pulled ? size / result.bound : 0;
      // What double does to a float's last digits is next to nothing.
      size = sizeof(real) == 8 ? size + walk : size + (size + walk) * in_double * u / epsilon_of<float>;
      size += pulled;
      for (const auto one : exact[i]) numbers.push_back((long double)one);
      result.sizes.insert(result.sizes.end(), exact[i].size(), size);
    }
    const auto cols = std::int64_t(exact.front().size());
    measure_elements(run, quantity, numbers, result, [&](const Device& device) {
      std::vector<real> out(numbers.size());
      call(matrix_view<real>(out.data(), std::int64_t(exact.size()), cols), device);
      return out;
    });
  }
};

template <class Storage>
void operation(case_run& run) {
  using real = accumulator_t<Storage>;
  using V = const ball_vector&;
  using out_view = matrix_view<real>;
  const ball<Storage> b(run.parameters());
  const std::string& name = run.parameters().operation;
  const auto x = b.x.view(), y = b.y.view(), v = b.v.view();
  const real t = real(0.375);
  const std::vector<real> factor{t};
  const poincare::ball_options options = b.options();
  const long double c = b.c;
  const auto measure = [&](const operation_bound& allowed, const std::function<ball_vector(V, V, V)>& exact_row,
                           const typename row_results<Storage>::call_on& call, const char* quantity = "coordinate") {
    std::vector<ball_vector> exact;
    for (std::int64_t i = 0; i < b.n; ++i) exact.push_back(exact_row(b.x.row(i), b.y.row(i), b.v.row(i)));
    row_results<Storage>{run, b, allowed}.measure(quantity, exact, call);
  };
  // Groups of two points, whose mean is the middle of their geodesic.
  std::vector<Storage> both;
  std::vector<std::int64_t> offsets{0};
  for (std::int64_t i = 0; i < b.n; ++i) {
    both.insert(both.end(), x.row(i), x.row(i) + b.dim);
    both.insert(both.end(), y.row(i), y.row(i) + b.dim);
    offsets.push_back(2 * i + 2);
  }
  const matrix_view<const Storage> groups(both.data(), 2 * b.n, b.dim);
  const auto middle = [&](V p, V q, V) { return reference::geodesic(p, q, 0.5L, c); };
  const auto scaled = [](V p, wide factor_of_all) {
    ball_vector result = p;
    for (wide& one : result) one *= factor_of_all;
    return result;
  };
  const auto gap = [&](V p) { return wide(reference::ball_gap(p, b.c)); };
  const ball_vector origin(std::size_t(b.dim), 0);
  // One Moebius sum, or two one after the other, which takes three sums of squares and an argument of tanh.
  const operation_bound one_sum{1, 8}, two_sums{2, 16}, walk{2, 16, true};

  const std::map<std::string, std::function<void()>> operations{
      {"mobius_add",
       [&] {
         measure(
             one_sum, [&](V p, V q, V) { return reference::mobius_add(p, q, c); },
             [&](out_view out, const Device& d) { poincare::mobius_add(x, y, out, options, d); });
       }},
      {"mobius_scalar_mul",
       [&] {
         measure(
             one_sum, [&](V p, V, V) { return reference::mobius_scalar_mul(t, p, c); },
             [&](out_view out, const Device& d) { poincare::mobius_scalar_mul(factor, x, out, options, d); });
       }},
      {"exp_map",
       [&] {
         measure(
             walk, [&](V p, V, V u) { return reference::exp_map(p, u, c); },
             [&](out_view out, const Device& d) { poincare::exp_map(x, v, out, options, d); });
       }},
      {"log_map",
       [&] {
         measure(
             two_sums, [&](V p, V q, V) { return reference::log_map(p, q, c); },
             [&](out_view out, const Device& d) { poincare::log_map(x, y, out, options, d); });
       }},
      {"exp_map_origin",
       [&] {
         measure(
             {0.5, 4}, [&](V, V, V u) { return reference::exp_map(origin, u, c); },
             [&](out_view out, const Device& d) { poincare::exp_map_origin(v, out, options, d); });
       }},
      {"log_map_origin",
       [&] {
         measure(
             {0.5, 4}, [&](V p, V, V) { return reference::log_map(origin, p, c); },
             [&](out_view out, const Device& d) { poincare::log_map_origin(x, out, options, d); });
       }},
      {"geodesic",
       [&] {
         measure(
             walk, [&](V p, V q, V) { return reference::geodesic(p, q, t, c); },
             [&](out_view out, const Device& d) { poincare::geodesic(x, y, factor, out, options, d); });
       }},
      {"parallel_transport",
       [&] {
         measure(
             two_sums, [&](V p, V q, V u) { return reference::parallel_transport(p, q, u, c); },
             [&](out_view out, const Device& d) { poincare::parallel_transport(x, y, v, out, options, d); });
       }},
      {"gyromidpoint",
       [&] {
         measure(two_sums, middle,
                 [&](out_view out, const Device& d) { poincare::gyromidpoint(groups, offsets, {}, out, options, d); });
       }},
      {"frechet_mean",
       [&] {
         measure(two_sums, middle, [&](out_view out, const Device& d) {
           poincare::frechet_mean(groups, offsets, {}, out, {.curvature = -b.c}, d);
         });
       }},
      {"distance_gradients",
       [&] {
         std::vector<real> unused(b.x.data.size());
         const out_view other(unused.data(), b.n, b.dim);
         measure(
             one_sum, [&](V p, V q, V) { return reference::distance_gradient(p, q, c); },
             [&](out_view out, const Device& d) { poincare::distance_gradients(x, y, out, other, options, d); },
             "by x");
         measure(
             one_sum, [&](V p, V q, V) { return reference::distance_gradient(q, p, c); },
             [&](out_view out, const Device& d) { poincare::distance_gradients(x, y, other, out, options, d); },
             "by y");
       }},
      {"riemannian_gradient",
       [&] {
         measure(
             {0, 3.5}, [&](V p, V, V u) { return scaled(u, gap(p) * gap(p) / 4); },
             [&](out_view out, const Device& d) { poincare::riemannian_gradient(x, v, out, options, d); });
       }},
      {"rsgd_step",
       [&] {
         // 1 - epsilon is where no result of these norms is.
         measure(
             walk, [&](V p, V, V u) { return reference::exp_map(p, scaled(u, -wide(0.25) * gap(p) * gap(p) / 4), c); },
             [&](out_view out, const Device& d) { poincare::rsgd_step(x, v, 0.25, 1e-6, out, options, d); });
       }},
      {"project",
       [&] {
         // Half of the points lie farther out than this, and are drawn in by one ulp more than to the limit.
         double norms = 0;
         for (std::int64_t i = 0; i < b.n; ++i) norms += std::sqrt(1 - double(gap(b.x.row(i)))) / double(b.n);
         const auto drawn_in = [&](V p, V, V) {
           const long double norm = std::sqrt(1 - (long double)gap(p));
           const long double limit = norms * (1 - (long double)epsilon_of<real>);
           return norm > norms ? scaled(p, wide(limit / norm)) : p;
         };
         measure({0.5, 4}, drawn_in,
                 [&](out_view out, const Device& d) { poincare::project(x, 1 - norms, out, options, d); });
       }},
      {"conformal_factor",
       [&] {
         measure(
             {0, 1.5}, [&](V p, V, V) { return ball_vector{2 / gap(p)}; },
             [&](out_view out, const Device& d) {
               poincare::conformal_factor(x, {out.data(), out.rows()}, options, d);
             });
       }},
      {"to_hyperboloid",
       [&] {
         measure(
             {0, 3},
             [&](V p, V, V) {
               ball_vector h = scaled(p, 2 / gap(p));
               h.insert(h.begin(), (2 - gap(p)) / gap(p) / wide(std::sqrt(c)));
               return h;
             },
             [&](out_view out, const Device& d) { poincare::to_hyperboloid(x, out, options, d); });
       }},
      {"from_hyperboloid",
       [&] {
         // Rows of [D + 1] numbers, the first of them made positive.
         std::vector<Storage> h;
         std::vector<ball_vector> exact;
         for (std::int64_t i = 0; i < b.n; ++i) {
           const ball_vector p = b.v.row(i);
           h.push_back(Storage(real(1.5 + double(i % 7))));
           h.insert(h.end(), b.v.data.begin() + i * b.dim, b.v.data.begin() + (i + 1) * b.dim);
           exact.push_back(scaled(p, 1 / (1 + wide(std::sqrt(c)) * wide(1.5 + double(i % 7)))));
         }
         const matrix_view<const Storage> from(h.data(), b.n, b.dim + 1);
         row_results<Storage>{run, b, {0, 2}}.measure("coordinate", exact, [&](out_view out, const Device& d) {
           poincare::from_hyperboloid(from, out, options, d);
         });
       }},
  };
  const auto found = operations.find(name);
  if (found == operations.end()) throw std::runtime_error("unknown operation: " + run.parameters().id());
  found->second();
}

// Every pair of the reference data. Their numbers of dimensions differ, and so do their bounds.
template <class Real>
void stored_pairs(case_run& run) {
  if (!std::filesystem::is_directory(test::hyperbolic_folder()))
    return run.skip("no reference data (QUINTET_DATA_DIR)");
  const test::csv_table table(test::hyperbolic_folder() / "poincare_pairs.csv");
  std::vector<long double> exact;
  tolerance allowed{.bound = 1, .unit = "of the bound of its dimension"};
  for (std::size_t i = 0; i < table.rows(); ++i) {
    exact.push_back(std::stold(table.at(i, "distance")));
    const auto dim = std::int64_t(test::parse_vector<Real>(table.at(i, "x")).size());
    allowed.sizes.push_back(double(exact.back()) * distance_bound(dim, metric::poincare));
  }
  measure_elements(run, "distance", exact, allowed, [&](const Device& device) {
    std::vector<Real> d(1), all;
    for (std::size_t i = 0; i < table.rows(); ++i) {
      const auto x = test::parse_vector<Real>(table.at(i, "x")), y = test::parse_vector<Real>(table.at(i, "y"));
      const auto dim = std::int64_t(x.size());
      poincare::pair_distances({x.data(), 1, dim}, {y.data(), 1, dim}, d, {.curvature = -std::stod(table.at(i, "c"))},
                               device);
      all.push_back(d[0]);
    }
    return all;
  });
}

template <class Storage>
void run_as(case_run& run) {
  const std::map<std::string, std::function<void(case_run&)>> operations{
      {"distances", distances<Storage>},
      {"pair_distances", pair_distances<Storage>},
      {"nearest", nearest<Storage>},
      {"origin_distances", origin_distances<Storage>}};
  const auto found = operations.find(run.parameters().operation);
  if (found != operations.end()) return found->second(run);
  operation<Storage>(run);
}

}  // namespace

void run_poincare(case_run& run) {
  if (run.parameters().operation == "adam_step") return run_adam(run);
  if (run.parameters().operation == "stored_pairs")
    return with_real(run.parameters(), [&]<class T>() { stored_pairs<T>(run); });
  with_storage(run.parameters(), [&]<class T>() { run_as<T>(run); });
}

}  // namespace quintet::accuracy
