// Kernels of product spaces: a look at every point, and distances of pairs.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "poincare/lorentz_math.hpp"
#include "poincare/row_operations_kernel.hpp"
#include "quintet/poincare/product.hpp"

namespace quintet::product {

using pairwise::stored_rows;

/// A factor with its place in a row.
struct placed_factor {
  geometry kind;
  std::int64_t first, dim;
  double curvature, root;  ///< of the magnitude of the curvature
  double weight_root;
};

/// Of a point in one factor: |x|, and 1 - c |x|^2 in the ball, the scaled time on the hyperboloid, 1 elsewhere; NaN
/// where it is no point.
struct looked_part {
  double norm, other;
};

template <class Storage>
auto part_of(const stored_rows<Storage>& rows, std::int64_t i, const placed_factor& f) {
  return [data = rows.row(i) + f.first](std::int64_t k) { return double(accumulator_t<Storage>(data[k])); };
}

template <class Storage, class Shape>
struct part_kernel {
  using shape = Shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, rows_per_tile = 64 };
  stored_rows<Storage> rows;
  const placed_factor* factors;
  std::int64_t count;  ///< of factors
  looked_part* parts;  ///< [row][factor]
  point_status* status;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int r = team.rank(); r < rows_per_tile; r += team.size())
      if (tile * rows_per_tile + r < rows.count) look(tile * rows_per_tile + r);
  }

 private:
  void look(std::int64_t i) const {
    point_status of_row = point_status::inside;
    for (std::int64_t f = 0; f < count; ++f) {
      const point_status of_part = look_at(part_of(rows, i, factors[f]), factors[f], parts[i * count + f]);
      if (of_row != point_status::not_finite && of_part != point_status::inside) of_row = of_part;
    }
    status[i] = of_row;
  }

  template <class Row>
  static point_status look_at(Row x, const placed_factor& f, looked_part& part) {
    double not_finite = 0;
    for (std::int64_t k = 0; k < f.dim; ++k) not_finite += x(k) - x(k);
    part = {poincare::norm(f.dim, x), 1};
    point_status status = not_finite == 0 ? point_status::inside : point_status::not_finite;
    if (f.kind == geometry::lorentz) part.other = lorentz::hypotenuse(1, f.root * part.norm);
    if (f.kind == geometry::sphere && part.norm == 0) status = point_status::outside;
    if (f.kind == geometry::stereographic && f.curvature < 0) {
      const poincare::gap_and_status of_ball = poincare::examine_point(f.dim, -f.curvature, x);
      part.other = of_ball.gap;
      status = of_ball.status;
    }
    if (status != point_status::inside) part.other = std::numeric_limits<double>::quiet_NaN();
    return status;
  }
};

/// d sqrt(k) / 2 of the stereographic projection of a sphere, from the point with the larger norm.
template <class X, class Y>
inline double half_arc(const placed_factor& f, X x, double x_norm, Y y, double y_norm) {
  const bool swapped = x_norm < y_norm || (x_norm == y_norm && lorentz::comes_first(f.dim, y, x));
  const double longer = swapped ? y_norm : x_norm;
  const double apart = f.root * poincare::norm(f.dim, [&](std::int64_t k) { return x(k) - y(k); });
  if (longer == 0) return 0;
  const double over = f.curvature * longer;
  const double from_antipode = poincare::norm(f.dim, [&](std::int64_t k) {
    const double a = swapped ? y(k) : x(k), b = swapped ? x(k) : y(k);
    return device::fma(over, b, a / longer);
  });
  return std::atan2(apart, from_antipode);
}

template <class X, class Y>
inline double part_distance(const placed_factor& f, X x, const looked_part& of_x, Y y, const looked_part& of_y) {
  if (f.kind == geometry::lorentz) {
    const lorentz::haversine<double> measure{f.dim, f.root};
    return measure.distance(x, {of_x.norm, of_x.other}, y, {of_y.norm, of_y.other});
  }
  if (f.kind == geometry::sphere) {
    const auto difference = [&](std::int64_t k) { return x(k) / of_x.norm - y(k) / of_y.norm; };
    const auto vector_sum = [&](std::int64_t k) { return x(k) / of_x.norm + y(k) / of_y.norm; };
    return 2 * std::atan2(poincare::norm(f.dim, difference), poincare::norm(f.dim, vector_sum)) / f.root;
  }
  if (f.kind == geometry::stereographic && f.curvature > 0) return 2 * half_arc(f, x, of_x.norm, y, of_y.norm) / f.root;
  const double difference = poincare::norm(f.dim, [&](std::int64_t k) { return x(k) - y(k); });
  if (f.kind == geometry::euclidean) return difference;
  if (f.curvature == 0) return 2 * difference;
  const double scaled = f.root * difference;
  // asinh(z) = z where the square is no longer a normal number.
  const double z = scaled / std::sqrt(of_x.other * of_y.other);
  return 2 * (z < 1e-10 ? z : poincare::asinh_root(z * z)) / f.root;
}

/// Distances of all pairs, or of rows i of both sets.
template <class Storage, class Shape>
struct product_kernel {
  using Real = accumulator_t<Storage>;
  using shape = Shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, pairs_per_tile = 256 };
  stored_rows<Storage> x, y;
  const looked_part *x_parts, *y_parts;
  const placed_factor* factors;
  std::int64_t count;  ///< of factors
  bool side_by_side;
  std::int64_t pairs;
  Real* out;
  std::int64_t out_stride;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int p = team.rank(); p < pairs_per_tile; p += team.size())
      if (tile * pairs_per_tile + p < pairs) write_distance(tile * pairs_per_tile + p);
  }

 private:
  void write_distance(std::int64_t pair) const {
    const std::int64_t i = side_by_side ? pair : pair / y.count, j = side_by_side ? pair : pair - i * y.count;
    double sum = 0, absent = 0;  // 0, or NaN where a part is no point
    for (std::int64_t f = 0; f < count; ++f) {
      const looked_part &of_x = x_parts[i * count + f], &of_y = y_parts[j * count + f];
      const double d = part_distance(factors[f], part_of(x, i, factors[f]), of_x, part_of(y, j, factors[f]), of_y);
      sum = lorentz::hypotenuse(sum, factors[f].weight_root * d);
      if (of_x.other != of_x.other || of_y.other != of_y.other) absent = std::numeric_limits<double>::quiet_NaN();
    }
    out[side_by_side ? pair : i * out_stride + j] = Real(sum + absent);
  }
};

}  // namespace quintet::product
