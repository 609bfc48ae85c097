// Points of a case in the storage type that it names.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "accuracy/test_case.hpp"
#include "reference/poincare_reference.hpp"
#include "support/ball_points.hpp"

namespace quintet::accuracy {

/// A parameter [least, most], one text as parameters are no lists: "0.9..0.99".
inline std::pair<double, double> range_of(const test_case& p, const char* name) {
  const std::string range = p.text(name);
  return {std::stod(range), std::stod(range.substr(range.find("..") + 2))};
}

/// Points of a storage type, and exactly those in the type that results have.
template <class Storage>
struct stored_points {
  using real = accumulator_t<Storage>;
  test::point_set<real> exact;
  std::vector<Storage> data;

  stored_points() : exact(0, 1) {}
  // What rounding puts onto the sphere of 1 / sqrt(c) is drawn towards the origin.
  stored_points(const test::point_set<real>& points, double c) : exact(points) {
    for (std::int64_t i = 0; i < points.n; ++i)
      for (double factor = 1;; factor *= 1 - 1.0 / 1024) {
        double square = 0;
        for (std::int64_t k = 0; k < points.dim; ++k) {
          exact(i, k) = real(Storage(real(factor * points(i, k))));
          square += double(exact(i, k)) * double(exact(i, k));
        }
        if (c * square < 1 - std::numeric_limits<real>::epsilon()) break;
      }
    for (const real x : exact.data) data.push_back(Storage(x));
  }

  std::int64_t rows() const { return exact.n; }
  std::int64_t cols() const { return exact.dim; }
  matrix_view<const Storage> view() const { return {data.data(), exact.n, exact.dim}; }
  reference::ball_vector row(std::int64_t i) const { return reference::widened(test::row_of(exact, i)); }
};

}  // namespace quintet::accuracy
