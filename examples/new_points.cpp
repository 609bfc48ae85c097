// Points that arrive later: labels from a finished clustering, and how much each belongs to every cluster.
#include <iostream>
#include <vector>

#include "quintet/hdbscan/membership.hpp"
#include "quintet/hdbscan/prediction.hpp"

int main() {
  std::vector<float> values;
  for (int i = 0; i < 80; ++i) values.insert(values.end(), {float(i % 8), float(i / 8 % 5) + (i < 40 ? 0.f : 40.f)});
  const quintet::matrix_view<const float> points(values.data(), 80, 2);
  const auto model = quintet::hdbscan::cluster(points, {.min_cluster_size = 10, .min_samples = 3});

  const std::vector<float> later{3.2f, 2.1f, 4, 42.5f, 500, 500};
  const quintet::matrix_view<const float> arrived(later.data(), 3, 2);
  const auto found = quintet::hdbscan::approximate_predict(model, points, arrived);
  const auto soft = quintet::hdbscan::membership_vectors(model, points, arrived);
  for (std::int64_t i = 0; i < 3; ++i) {
    std::cout << "label " << found.labels[i] << ", membership";
    for (std::int64_t k = 0; k < model.clusters(); ++k) std::cout << " " << soft[i * model.clusters() + k];
    std::cout << "\n";
  }
}
