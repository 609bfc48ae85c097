// Masks: triangles of a graph, and friends of friends who are no friends yet, without the products that nobody wants.
#include <iostream>
#include <vector>

#include "quintet/spgemm/multiply.hpp"

using quintet::spgemm::complement_mask;
using quintet::spgemm::plus_times;

int main() {
  // A triangle 0 1 2, and 2 - 3.
  const quintet::spgemm::csr<double, std::int32_t> a{
      4, 4, {0, 2, 4, 7, 8}, {1, 2, 0, 2, 0, 1, 3, 2}, {1, 1, 1, 1, 1, 1, 1, 1}};

  // Ways of two steps between neighbours: each triangle is seen from its three corners, in both directions.
  const auto closed = quintet::spgemm::multiply_masked(a.view(), a.view(), a.view());
  double triangles = 0;
  for (const double ways : closed.values) triangles += ways / 6;
  std::cout << triangles << " triangle\n";

  const auto open = quintet::spgemm::multiply_masked<plus_times, complement_mask>(a.view(), a.view(), a.view());
  for (std::int64_t i = 0; i < open.rows; ++i)
    for (std::int64_t e = open.row_pointers[i]; e < open.row_pointers[i + 1]; ++e)
      if (open.columns[e] > i) std::cout << i << " should meet " << open.columns[e] << "\n";
}
