#include "pairwise/product_rows.hpp"

#include <cmath>

#include "pairwise/check_points.hpp"

namespace quintet::pairwise {

namespace {

using product::factor, product::geometry;

bool is_flat(const factor& f) {
  return f.kind == geometry::euclidean || (f.kind == geometry::stereographic && f.curvature == 0);
}

void check_curvature(const factor& f, const std::string& name) {
  const double k = f.curvature;
  const bool has_sign = f.kind == geometry::stereographic || (f.kind == geometry::sphere ? k > 0 : k < 0);
  require_argument(has_sign && std::fabs(k) >= 1e-30 && std::fabs(k) <= 1e30, text(name, ".curvature"), k,
                   f.kind == geometry::sphere    ? "positive, in [1e-30, 1e30]"
                   : f.kind == geometry::lorentz ? "negative, of a magnitude in [1e-30, 1e30]"
                                                 : "0, or of a magnitude in [1e-30, 1e30]");
}

part_curve curve_of(const factor& f) {
  if (is_flat(f)) return part_curve::flat;
  if (f.kind == geometry::lorentz) return part_curve::sheet;
  return f.curvature < 0 ? part_curve::ball : part_curve::arc;
}

}  // namespace

std::int64_t check_factors(std::span<const factor> space) {
  require_argument(!space.empty(), "space.size", std::int64_t(space.size()), ">= 1");
  std::int64_t sum = 0, number = 0;
  for (const factor& f : space) {
    const std::string name = text("space[", number++, "]");
    require_argument(int(f.kind) >= 0 && int(f.kind) <= int(geometry::lorentz), text(name, ".kind"), int(f.kind),
                     "a geometry");
    const std::int64_t least = f.kind == geometry::sphere ? 2 : 1;
    require_argument(f.dim >= least && f.dim <= max_points, text(name, ".dim"), f.dim, text(">= ", least));
    require_argument(f.weight > 0 && std::isfinite(f.weight), text(name, ".weight"), f.weight, "> 0 and finite");
    if (!is_flat(f)) check_curvature(f, name);
    sum += f.dim;
  }
  return sum;
}

std::vector<packed_factor> packed_factors(const product_space& space) {
  check_factors(space.factors());
  std::vector<packed_factor> factors;
  std::int64_t first = 0, at = 0;
  for (const factor& f : space.factors()) {
    require_argument(f.weight >= 1e-30 && f.weight <= 1e30, text("space[", factors.size(), "].weight"), f.weight,
                     "in [1e-30, 1e30] with metric product");
    packed_factor packed{f.kind, curve_of(f), first, f.dim, at, f.dim, 1, f.weight, {}};
    if (packed.curve != part_curve::flat) {
      packed.root = std::sqrt(std::fabs(f.curvature));
      packed.weight = f.weight / std::fabs(f.curvature);
    } else if (f.kind == geometry::stereographic) {
      packed.weight = 4 * f.weight;
    }
    if (packed.curve == part_curve::ball) packed.ball = ball_constants(-f.curvature);
    if (packed.curve == part_curve::sheet) packed.ball = ball_constants(1);
    const std::int64_t own = f.dim + (packed.is_projected_sphere() ? 1 : 0);
    packed.coordinates = packed.curve == part_curve::sheet || packed.curve == part_curve::arc ? 2 * own : own;
    factors.push_back(packed);
    first += f.dim;
    at += part_head + packed.coordinates;
  }
  return factors;
}

std::int64_t packed_words(const std::vector<packed_factor>& factors) {
  return factors.back().at + part_head + factors.back().coordinates;
}

}  // namespace quintet::pairwise
