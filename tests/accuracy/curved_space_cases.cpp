// Distances of the Lorentz model, from its hyperplanes and of products, and the stereographic operations, against
// 113-bit sums.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>

#include "accuracy/bounds.hpp"
#include "accuracy/case_run.hpp"
#include "accuracy/stored_points.hpp"
#include "quintet/poincare/lorentz.hpp"
#include "quintet/poincare/lorentz_operations.hpp"
#include "quintet/poincare/product.hpp"
#include "quintet/poincare/stereographic.hpp"
#include "reference/curved_space_reference.hpp"

namespace quintet::accuracy {

namespace {

using product::factor, product::geometry;
using reference::ball_vector;

/// "lorentz:4:-1+sphere:3:1.5:0.25": geometry, dimension, curvature, and a weight other than 1.
std::vector<factor> parse_space(const std::string& text) {
  const std::map<std::string, geometry> kinds{{"euclidean", geometry::euclidean},
                                              {"sphere", geometry::sphere},
                                              {"stereographic", geometry::stereographic},
                                              {"lorentz", geometry::lorentz}};
  std::vector<factor> space;
  std::istringstream all(text);
  for (std::string part; std::getline(all, part, '+');) {
    std::istringstream words(part);
    std::string kind, dim, curvature, weight;
    std::getline(words, kind, ':');
    std::getline(words, dim, ':');
    std::getline(words, curvature, ':');
    std::getline(words, weight);
    space.push_back({kinds.at(kind), std::stoll(dim), std::stod(curvature), weight.empty() ? 1 : std::stod(weight)});
  }
  return space;
}

/// What a distance in a factor is wrong by, in units of distance_size(). Both roots of squares of a sphere count.
double factor_bound(const factor& f) {
  const double sum = sum_bound(double(f.dim));
  if (f.kind == geometry::lorentz) return distance_bound(f.dim, metric::lorentz);
  if (f.kind == geometry::sphere) return sum + 4;
  if (f.kind == geometry::stereographic && f.curvature > 0) return sum + 6;
  return f.kind == geometry::stereographic && f.curvature < 0 ? sum / 2 + 3.5 : sum / 2 + 1;
}

/// The distance; on a sphere at least its radius, as every coordinate of a direction is rounded.
double distance_size(const factor& f, double d) {
  return f.kind == geometry::sphere ? std::max(d, 1 / std::sqrt(f.curvature)) : d;
}

/// Points of a space: "norms" is the range of sqrt(|k|) |x| in every factor. With "apart" the second set is the first
/// one, moved by about as much.
template <class Storage>
struct placed_points {
  using real = accumulator_t<Storage>;
  std::vector<factor> space;
  std::int64_t n;
  stored_points<Storage> x, y;

  explicit placed_points(const test_case& p) : space(parse_space(p.text("space"))), n(p.integer("n")) {
    const auto seed = std::uint64_t(p.integer("seed"));
    const auto points = draw(p, seed);
    auto others = draw(p, seed + 100);
    if (p.has("apart"))
      for (std::size_t e = 0; e < others.data.size(); ++e)
        others.data[e] = points.data[e] + real(p.real("apart")) * others.data[e];
    x = {points, 0};
    y = {others, 0};
  }

  std::int64_t dim() const { return x.cols(); }
  double bound() const {
    double largest = 0;
    for (const factor& f : space) largest = std::max(largest, factor_bound(f));
    // The weight's root and its product; a quotient, a square and a root for every further factor.
    return largest + 1 + (space.size() > 1 ? 1.5 * double(space.size()) : 0);
  }
  /// An error of d_f is one of the distance times w d_f / d.
  double size_of(const ball_vector& p, const ball_vector& q) const {
    const auto d = double(reference::product_distance(space, p, q));
    double sum = 0;
    auto first = p.begin(), second = q.begin();
    for (const factor& f : space) {
      const auto part = double(reference::factor_distance(f, {first, first + f.dim}, {second, second + f.dim}));
      sum += f.weight * part / d * distance_size(f, part);
      first += f.dim;
      second += f.dim;
    }
    return sum;
  }

 private:
  test::point_set<real> draw(const test_case& p, std::uint64_t seed) const {
    const auto [least, most] = range_of(p, "norms");
    std::int64_t columns = 0;
    for (const factor& f : space) columns += f.dim;
    test::point_set<real> points(n, columns);
    std::int64_t column = 0;
    for (const factor& f : space) {
      const auto part =
          test::ball_points<real>(n, f.dim, least, most, f.curvature == 0 ? 1 : std::fabs(f.curvature), ++seed);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t k = 0; k < f.dim; ++k) points(i, column + k) = part(i, k);
      column += f.dim;
    }
    return points;
  }
};

/// call(out, device) makes all distances, or those of rows i of both sets.
template <class Storage, class Call>
void measure_distances(case_run& run, const placed_points<Storage>& p, bool side_by_side, const Call& call) {
  using real = accumulator_t<Storage>;
  std::vector<long double> exact;
  tolerance allowed{.bound = sizeof(real) == 8 ? p.bound() : 0.5 + 1e-3, .unit = "eps |x|, of a sphere >= its radius"};
  for (std::int64_t i = 0; i < p.n; ++i)
    for (std::int64_t j = side_by_side ? i : 0; j < (side_by_side ? i + 1 : p.n); ++j) {
      exact.push_back(reference::product_distance(p.space, p.x.row(i), p.y.row(j)));
      const double size = p.size_of(p.x.row(i), p.y.row(j));
      // What double does to a float's last digits is next to nothing, but for directions that are close.
      allowed.sizes.push_back(sizeof(real) == 8
                                  ? size
                                  : double(exact.back()) + size * p.bound() * epsilon_of<double> /
                                                               (double(allowed.bound) * epsilon_of<float>));
    }
  measure_elements(run, "distance", exact, allowed, [&](const Device& device) {
    std::vector<real> d(exact.size());
    call(d, device);
    return d;
  });
}

template <class Storage>
void product_distances(case_run& run) {
  using real = accumulator_t<Storage>;
  const placed_points<Storage> p(run.parameters());
  const bool side_by_side = run.parameters().operation == "pair_distances";
  measure_distances(run, p, side_by_side, [&](std::vector<real>& d, const Device& device) {
    if (side_by_side)
      product::pair_distances(p.x.view(), p.y.view(), d, p.space, {}, device);
    else
      product::distances(p.x.view(), p.y.view(), {d.data(), p.n, p.n}, p.space, {}, device);
  });
}

template <class Storage>
void lorentz_distances(case_run& run) {
  using real = accumulator_t<Storage>;
  const placed_points<Storage> p(run.parameters());
  const lorentz::distance_options options{.curvature = p.space.at(0).curvature};
  const bool side_by_side = run.parameters().operation == "pair_distances";
  measure_distances(run, p, side_by_side, [&](std::vector<real>& d, const Device& device) {
    if (side_by_side)
      lorentz::pair_distances(p.x.view(), p.y.view(), d, options, device);
    else
      lorentz::distances(p.x.view(), p.y.view(), {d.data(), p.n, p.n}, options, device);
  });
}

/// Within 1 ulp of float and 3 of double.
template <class Storage>
void lorentz_origin_distances(case_run& run) {
  using real = accumulator_t<Storage>;
  const placed_points<Storage> p(run.parameters());
  const ball_vector origin(std::size_t(p.dim()), 0);
  std::vector<long double> exact;
  for (std::int64_t i = 0; i < p.n; ++i) exact.push_back(reference::product_distance(p.space, origin, p.x.row(i)));
  measure_elements(run, "distance", exact, {.bound = sizeof(real) == 4 ? 0.5 + 1e-3 : 3.0}, [&](const Device& device) {
    std::vector<real> d(exact.size());
    lorentz::origin_distances(p.x.view(), d, {.curvature = p.space.at(0).curvature}, device);
    return d;
  });
}

/// Hyperplanes at distances up to "offset", in units of what roundings of the arguments do.
template <class Storage>
void hyperplane_distances(case_run& run) {
  using real = accumulator_t<Storage>;
  const test_case& c = run.parameters();
  const placed_points<Storage> p(c);
  const double curvature = p.space.at(0).curvature;
  std::vector<real> offsets;
  for (std::int64_t i = 0; i < p.n; ++i)
    offsets.push_back(real(c.real("offset") * (2.0 * double(i) / double(p.n) - 1)));
  const double in_double = sum_bound(double(p.dim())) + 12;
  tolerance allowed{.bound = sizeof(real) == 8 ? in_double : 0.5 + 1e-3,
                    .unit = "eps (|x| + (1 + |A|) (cosh(A) s + |sinh(A)| |p|) / cosh(x))"};
  std::vector<long double> exact;
  for (std::int64_t i = 0; i < p.n; ++i) {
    const reference::sheet_plane_reference plane(p.x.row(i), p.y.row(i), offsets[i], -curvature);
    const double size = double(plane.unit) / std::sqrt(-curvature);
    exact.push_back(plane.distance);
    allowed.sizes.push_back(sizeof(real) == 8
                                ? size
                                : std::fabs(double(plane.distance)) +
                                      size * in_double * epsilon_of<double> / (allowed.bound * epsilon_of<float>));
  }
  measure_elements(run, "distance", exact, allowed, [&](const Device& device) {
    std::vector<real> d(exact.size());
    lorentz::hyperplane_distances(p.x.view(), p.y.view(), offsets, d, {.curvature = curvature}, device);
    return d;
  });
}

/// Points of the projection of a sphere, or of flat space for k = 0: "norms" is the range of sqrt(k) |x|, or of |x|.
template <class Storage>
struct projected_points {
  using real = accumulator_t<Storage>;
  double k;
  std::int64_t n, dim;
  stored_points<Storage> x, y, v;  ///< two sets of points, and tangent vectors of up to a right angle

  explicit projected_points(const test_case& p) : k(p.real("k")), n(p.integer("n")), dim(p.integer("dim")) {
    const auto [least, most] = range_of(p, "norms");
    const auto seed = std::uint64_t(p.integer("seed"));
    const double c = k == 0 ? 1 : k;
    x = {test::ball_points<real>(n, dim, least, most, c, seed), 0};
    y = {test::ball_points<real>(n, dim, least, most, c, seed + 1), 0};
    auto tangent = test::ball_points<real>(n, dim, 0.01, 0.78, c, seed + 2);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t e = 0; e < dim; ++e) tangent(i, e) *= real(1 + k * square_of(x.row(i)));
    v = {tangent, 0};
  }
  static double square_of(const ball_vector& row) {
    double sum = 0;
    for (const auto one : row) sum += double(one) * double(one);
    return sum;
  }
  /// The sphere's radius, measured along it at a point; in flat space the point's norm.
  double unit_at(const ball_vector& row) const {
    return k > 0 ? (1 + k * square_of(row)) / std::sqrt(k) : std::sqrt(square_of(row));
  }
};

template <class Storage>
void stereographic_operation(case_run& run) {
  using real = accumulator_t<Storage>;
  using out_view = matrix_view<real>;
  using exact_row = std::function<ball_vector(const ball_vector&, const ball_vector&, const ball_vector&)>;
  using call_on = std::function<void(out_view, const Device&)>;
  const projected_points<Storage> p(run.parameters());
  const reference::stereographic_reference book{p.k};
  const real t = real(0.375);
  const std::vector<real> part{t};
  const auto x = p.x.view(), y = p.y.view(), v = p.v.view();
  const stereographic::operation_options options{p.k};
  // Sums of D squares that count, and roundings of everything else, as in the ball.
  struct operation {
    double sums, roundings;
    exact_row exact;
    call_on call;
  };
  using V = const ball_vector&;
  const std::map<std::string, operation> operations{
      {"add",
       {1, 8, [&](V a, V b, V) { return book.add(a, b); },
        [&](out_view out, const Device& d) { stereographic::add(x, y, out, options, d); }}},
      {"scalar_mul",
       {1, 8, [&](V a, V, V) { return book.scalar_mul(t, a); },
        [&](out_view out, const Device& d) { stereographic::scalar_mul(part, x, out, options, d); }}},
      {"exp_map",
       {2, 16, [&](V a, V, V u) { return book.exp_map(a, u); },
        [&](out_view out, const Device& d) { stereographic::exp_map(x, v, out, options, d); }}},
      {"log_map",
       {2, 16, [&](V a, V b, V) { return book.log_map(a, b); },
        [&](out_view out, const Device& d) { stereographic::log_map(x, y, out, options, d); }}},
      {"geodesic",
       {2, 16, [&](V a, V b, V) { return book.geodesic(a, b, t); },
        [&](out_view out, const Device& d) { stereographic::geodesic(x, y, part, out, options, d); }}}};
  const auto found = operations.find(run.parameters().operation);
  if (found == operations.end()) throw std::runtime_error("unknown operation: " + run.parameters().id());
  const operation& chosen = found->second;
  const double in_double = chosen.sums * sum_bound(double(p.dim)) + chosen.roundings;
  tolerance allowed{.bound = sizeof(real) == 8 ? in_double : 0.5 + 1e-3, .unit = "eps (1 + k |x|^2) / sqrt(k)"};
  std::vector<long double> numbers;
  for (std::int64_t i = 0; i < p.n; ++i) {
    const ball_vector at = p.x.row(i), exact = chosen.exact(at, p.y.row(i), p.v.row(i));
    const double unit = p.unit_at(found->first == "log_map" ? at : exact);
    for (const auto one : exact) {
      numbers.push_back((long double)one);
      allowed.sizes.push_back(sizeof(real) == 8 ? unit
                                                : std::fabs(double(one)) + unit * in_double * epsilon_of<double> /
                                                                               (allowed.bound * epsilon_of<float>));
    }
  }
  measure_elements(run, "coordinate", numbers, allowed, [&](const Device& device) {
    std::vector<real> out(numbers.size());
    chosen.call(out_view(out.data(), p.n, p.dim), device);
    return out;
  });
}

template <class Storage>
void run_as(case_run& run) {
  const test_case& p = run.parameters();
  if (p.family == "stereographic") return stereographic_operation<Storage>(run);
  if (p.operation == "origin_distances") return lorentz_origin_distances<Storage>(run);
  if (p.operation == "hyperplane_distances") return hyperplane_distances<Storage>(run);
  if (p.operation != "distances" && p.operation != "pair_distances")
    throw std::runtime_error("unknown operation: " + p.id());
  p.family == "lorentz" ? lorentz_distances<Storage>(run) : product_distances<Storage>(run);
}

}  // namespace

void run_curved_space(case_run& run) {
  if (run.parameters().operation == "adam_step") return run_adam(run);
  with_storage(run.parameters(), [&]<class T>() { run_as<T>(run); });
}

}  // namespace quintet::accuracy
