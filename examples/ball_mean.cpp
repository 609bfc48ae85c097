// Points of the Poincare ball: distances, the Frechet mean of a group, and a step along the geodesic towards it.
#include <cstdint>
#include <iostream>
#include <vector>

#include "quintet/poincare/poincare.hpp"

int main() {
  const std::int64_t n = 4, dim = 2;
  const std::vector<double> values{0.5, 0, 0, 0.5, -0.5, 0, 0, -0.5};
  const quintet::matrix_view<const double> points(values.data(), n, dim);

  std::vector<double> distance(n * n);
  const auto report = quintet::poincare::distances(points, points, quintet::matrix_view<double>(distance.data(), n, n));
  if (!report.all_inside()) return 1;  // a point on or outside the sphere has NaN, and the report says which
  std::cout << "distance of opposite points: " << distance[2] << "\n";

  const std::vector<std::int64_t> groups{0, n};  // one group, of all points
  const std::vector<double> weights(n, 1.0);
  std::vector<double> mean(dim);
  quintet::poincare::frechet_mean(points, groups, weights, quintet::matrix_view<double>(mean.data(), 1, dim));

  std::vector<double> step(dim);
  quintet::poincare::geodesic(points.slice(0, 1), quintet::matrix_view<const double>(mean.data(), 1, dim),
                              std::vector<double>{0.5}, quintet::matrix_view<double>(step.data(), 1, dim));
  std::cout << "half of the way to the mean: " << step[0] << "\n";
}
