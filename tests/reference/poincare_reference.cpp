#include "reference/poincare_reference.hpp"

#include <cmath>

#include "reference/wide_vector.hpp"

namespace quintet::reference {

namespace {

wide wide_gap(const ball_vector& x, double c) { return 1 - wide(c) * mapped(x).squaredNorm(); }
wide squared_distance(const ball_vector& x, const ball_vector& y) { return (mapped(x) - mapped(y)).squaredNorm(); }

}  // namespace

long double ball_t(const ball_vector& x, const ball_vector& y, double c) {
  return (long double)(wide(c) * squared_distance(x, y) / (wide_gap(x, c) * wide_gap(y, c)));
}

long double ball_distance(const ball_vector& x, const ball_vector& y, double c) {
  if (c == 0) return 2 * std::sqrt((long double)squared_distance(x, y));
  return 2 / std::sqrt((long double)c) * std::asinh(std::sqrt(ball_t(x, y, c)));
}

long double ball_gap(const ball_vector& x, double c) { return (long double)wide_gap(x, c); }

}  // namespace quintet::reference
