// Neighbours as a graph: who is how often a neighbour of a neighbour? The graph is a sparse matrix without a copy.
#include <iostream>
#include <vector>

#include "quintet/neighbours/neighbours.hpp"
#include "quintet/spgemm/multiply.hpp"

int main() {
  std::vector<float> values;
  for (int i = 0; i < 300; ++i)
    values.insert(values.end(), {float(i % 100) + 0.1f * float(i % 7), float(i / 100) * 50});
  const quintet::matrix_view<const float> points(values.data(), 300, 2);

  const auto lists = quintet::neighbours::nearest<float>(points, 5);
  std::cout << "nearest of point 150: " << lists.index[150 * lists.k] << "\n";

  const auto graph = quintet::neighbours::within_radius<float>(points, 3.0);
  const auto two_steps = quintet::spgemm::multiply<quintet::spgemm::or_and>(graph.view(), graph.view());
  std::cout << graph.view().nnz() << " neighbours, " << two_steps.nnz() << " within two steps\n";
}
