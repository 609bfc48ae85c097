#include "reference/curved_space_reference.hpp"

#include <cmath>

#include "reference/wide_vector.hpp"

namespace quintet::reference {

namespace {

using product::geometry;

/// The angle of two directions: |x|^2 |y|^2 - (x.y)^2 is the square of |x| |y| times its sine (Lagrange).
long double angle(const wide_vector& x, const wide_vector& y) {
  const wide dot = x.dot(y), across = x.squaredNorm() * y.squaredNorm() - dot * dot;
  return std::atan2(std::sqrt((long double)(across > 0 ? across : 0)), (long double)dot);
}

/// A root in 113 bits, by a step of Newton's.
wide root(wide square) {
  const wide near = std::sqrt((long double)square);
  return near + (square - near * near) / (2 * near);
}

/// d sqrt(c) on the hyperboloid: 4 sinh^2(d / 2) is |x - y|^2 less the square of the difference of the times, of points
/// times sqrt(c).
long double sheet_angle(const wide_vector& x, const wide_vector& y, wide c) {
  const wide x_time = root(1 + c * x.squaredNorm()), y_time = root(1 + c * y.squaredNorm());
  const wide later = c * (x - y).dot(x + y) / (x_time + y_time), square = c * (x - y).squaredNorm() - later * later;
  return 2 * std::asinh(std::sqrt((long double)(square > 0 ? square : 0)) / 2);
}

/// 2 |x - y| for k = 0; sin^2, or sinh^2, of half the angle is |k| |x - y|^2 / ((1 + k |x|^2) (1 + k |y|^2)).
long double stereographic_distance(const wide_vector& x, const wide_vector& y, wide k) {
  const wide apart = (x - y).squaredNorm();
  if (k == 0) return 2 * std::sqrt((long double)apart);
  const wide square = (k > 0 ? k : -k) * apart / ((1 + k * x.squaredNorm()) * (1 + k * y.squaredNorm()));
  const long double half = std::sqrt((long double)square), root = std::sqrt(std::fabs((long double)k));
  const wide left = 1 - square;
  if (k > 0) return 2 * std::atan2(half, std::sqrt((long double)(left > 0 ? left : 0))) / root;
  return 2 * std::asinh(half) / root;
}

long double length(const wide_vector& x) { return std::sqrt((long double)x.squaredNorm()); }

/// tan_k(z) and its inverse.
long double tangent(long double k, long double z) {
  const long double root = std::sqrt(std::fabs(k));
  return k == 0 ? z : (k > 0 ? std::tan(root * z) : std::tanh(root * z)) / root;
}
long double arc_tangent(long double k, long double z) {
  const long double root = std::sqrt(std::fabs(k));
  return k == 0 ? z : (k > 0 ? std::atan(root * z) : std::atanh(root * z)) / root;
}

wide_vector sum(const wide_vector& x, const wide_vector& y, wide k) {
  const wide xy = 1 - 2 * k * x.dot(y), xx = k * x.squaredNorm(), yy = k * y.squaredNorm();
  return ((xy - yy) * x + (1 + xx) * y) / (xy + xx * yy);
}
wide_vector exponential(const wide_vector& x, const wide_vector& v, long double k) {
  const long double half = length(v) / (long double)(1 + k * x.squaredNorm());
  return sum(x, wide(tangent(k, half) / length(v)) * v, k);
}
wide_vector logarithm(const wide_vector& x, const wide_vector& y, long double k) {
  const wide_vector w = sum(-x, y, k);
  return wide(arc_tangent(k, length(w)) / length(w)) * (1 + k * x.squaredNorm()) * w;
}

}  // namespace

long double factor_distance(const product::factor& f, const ball_vector& x, const ball_vector& y) {
  const wide_vector p = mapped(x), q = mapped(y);
  if (f.kind == geometry::euclidean) return length(p - q);
  if (f.kind == geometry::stereographic) return stereographic_distance(p, q, f.curvature);
  const long double unit = std::sqrt(std::fabs((long double)f.curvature));
  return (f.kind == geometry::sphere ? angle(p, q) : sheet_angle(p, q, -f.curvature)) / unit;
}

long double product_distance(std::span<const product::factor> space, const ball_vector& x, const ball_vector& y) {
  long double square = 0;
  auto first = x.begin(), second = y.begin();
  for (const product::factor& f : space) {
    const long double d = factor_distance(f, {first, first + f.dim}, {second, second + f.dim});
    square += f.weight * d * d;
    first += f.dim;
    second += f.dim;
  }
  return std::sqrt(square);
}

ball_vector stereographic_reference::add(const ball_vector& x, const ball_vector& y) const {
  return plain(sum(mapped(x), mapped(y), k));
}
ball_vector stereographic_reference::scalar_mul(long double r, const ball_vector& x) const {
  const long double size = length(mapped(x));
  return plain(wide(tangent(k, r * arc_tangent(k, size)) / size) * mapped(x));
}
ball_vector stereographic_reference::exp_map(const ball_vector& x, const ball_vector& v) const {
  return plain(exponential(mapped(x), mapped(v), k));
}
ball_vector stereographic_reference::log_map(const ball_vector& x, const ball_vector& y) const {
  return plain(logarithm(mapped(x), mapped(y), k));
}
ball_vector stereographic_reference::geodesic(const ball_vector& x, const ball_vector& y, long double t) const {
  return plain(exponential(mapped(x), wide(t) * logarithm(mapped(x), mapped(y), k), k));
}

sheet_plane_reference::sheet_plane_reference(const ball_vector& x, const ball_vector& z, long double a, long double c) {
  const wide_vector p = mapped(x), normal = mapped(z), u = normal / wide(length(normal));
  const long double root = std::sqrt(c), angle = root * a, cosine = std::cosh(angle), sine = std::sinh(angle);
  const wide along = u.dot(p);
  const long double time = std::sqrt((long double)(1 + wide(c) * p.squaredNorm()));
  const long double way = std::asinh((long double)(wide(cosine) * wide(root) * along - wide(sine) * wide(time)));
  const wide below = std::cosh(way);
  distance = way / root;
  unit = std::fabs(way) +
         (1 + std::fabs(angle)) * (cosine * time + std::fabs(sine) * root * length(p)) / (long double)below;
  by_point = plain((wide(cosine) * u - wide(sine * root / time) * p) / below);
  by_normal = plain(wide(cosine / length(normal)) / below * (p - along * u));
  by_offset = (sine * root * (long double)along - cosine * time) / (long double)below;
}

}  // namespace quintet::reference
