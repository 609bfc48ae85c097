// Points that lie in a std::vector, in a std::span, or in the middle of something larger: a view is a pointer, sizes
// and a stride.
#include <cstdint>
#include <iostream>
#include <span>
#include <vector>

#include "quintet/hdbscan/core_distances.hpp"
#include "quintet/hdbscan/mutual_reachability.hpp"

int main() {
  const std::int64_t n = 100, columns = 5, dim = 2;  // a table of five columns, of which the first two are coordinates
  std::vector<double> table(n * columns, -1);
  for (std::int64_t i = 0; i < n; ++i) {
    table[i * columns] = double(i % 10);
    table[i * columns + 1] = double(i / 10);
  }
  const std::span<const double> values(table);
  const quintet::matrix_view<const double> points(values.data(), n, dim, columns);

  const auto core = quintet::hdbscan::core_distances(points, {.min_samples = 2});
  const std::vector<std::int64_t> pairs{0, 1, 0, 99};
  const auto m = quintet::hdbscan::mutual_reachability_pairs<double>(points, core.distances, {pairs.data(), 2, 2});
  std::cout << "core distance of a corner: " << core.distances[0] << "\n"
            << "mutual reachability: " << m[0] << " and " << m[1] << "\n";
}
