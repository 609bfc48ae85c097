// A semiring of your own: the most reliable ways of two steps through a network, where the reliability of a way is the
// product of those of its edges.
#include <algorithm>
#include <iostream>

#include "quintet/spgemm/plan.hpp"

struct max_times {
  template <class Value>
  static constexpr Value identity() {
    return Value(0);
  }
  template <class Value>
  static constexpr Value multiply(Value a, Value b) {
    return a * b;
  }
  template <class Value>
  static constexpr Value add(Value x, Value y) {
    return std::max(x, y);
  }
};

int main() {
  // 0 -> 1 (0.9), 0 -> 2 (0.5), 1 -> 3 (0.5), 2 -> 3 (0.8)
  const quintet::spgemm::csr<double, std::int32_t> edges{4, 4, {0, 2, 3, 4, 4}, {1, 2, 3, 3}, {0.9, 0.5, 0.5, 0.8}};
  const auto two_steps = quintet::spgemm::multiply<max_times>(edges.view(), edges.view());
  std::cout << "from 0 to " << two_steps.columns[0] << ": " << two_steps.values[0] << "\n";
}
