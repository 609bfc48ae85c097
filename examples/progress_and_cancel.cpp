// Long work reports how far it is, and ends when the callback says so. Nothing is left behind: the exception is all.
#include <iostream>
#include <vector>

#include "quintet/hdbscan/hdbscan.hpp"

int main() {
  std::vector<float> values(20000 * 8);
  for (std::size_t e = 0; e < values.size(); ++e) values[e] = float(e * 2654435761 % 100003) / 100003;
  const quintet::matrix_view<const float> points(values.data(), 20000, 8);

  std::string last;
  const auto report = [&](std::string_view stage, double fraction) {
    if (stage != last) std::cout << stage << "\n";
    last = stage;
    return !(stage == "spanning_tree" && fraction > 0);  // false stops the work: a user who pressed Ctrl-C, a deadline
  };
  try {
    quintet::hdbscan::cluster(points, {.min_cluster_size = 20}, quintet::Device::best(), report);
    std::cout << "done\n";
  } catch (const quintet::Cancelled& stopped) {
    std::cout << "stopped: " << stopped.what() << "\n";
  }
}
