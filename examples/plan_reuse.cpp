// One structure, many values: the structure of a product is worked out once, then every product costs its
// multiplications alone, into memory that is there already.
#include <algorithm>
#include <iostream>
#include <vector>

#include "quintet/spgemm/plan.hpp"

int main() {
  using matrix = quintet::spgemm::csr<double, std::int32_t>;
  const std::int64_t n = 1000;  // second differences
  std::vector<std::int64_t> row_pointers{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = std::max<std::int64_t>(0, i - 1); j <= std::min(n - 1, i + 1); ++j) {
      columns.push_back(std::int32_t(j));
      values.push_back(i == j ? 2 : -1);
    }
    row_pointers.push_back(std::int64_t(columns.size()));
  }
  matrix a{n, n, row_pointers, columns, values};

  const quintet::spgemm::plan<quintet::spgemm::plus_times, double, std::int32_t> square(a.view(), a.view());
  matrix c = square.execute(a.view(), a.view());
  for (double scale : {10.0, 100.0}) {
    for (double& value : a.values) value = value < 0 ? -scale : 2 * scale;
    square.execute(a.view(), a.view(), c);  // the same memory
    std::cout << "entry (0, 0) for the scale " << scale << ": " << c.values[0] << "\n";
  }
}
