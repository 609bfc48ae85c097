// The matrices of a tensor [images, height, channels, width], one for every image and channel: strides say where they
// lie, and nothing is moved. Heights and widths become rows and columns of the SVD.
#include <iostream>
#include <vector>

#include "quintet/svd/applications.hpp"

int main() {
  const std::int64_t images = 4, height = 12, channels = 3, width = 10;
  std::vector<float> tensor(images * height * channels * width);
  for (std::size_t e = 0; e < tensor.size(); ++e) tensor[e] = float(e * 40503 % 1009);

  std::int64_t exact = 0;
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    const quintet::batch_view<const float> planes(tensor.data() + channel * width, images, height, width,
                                                  height * channels * width, channels * width, 1);
    const auto d = quintet::svd::decompose(planes, {.top = 3});  // the three largest singular values of each
    const auto best = quintet::svd::low_rank_approximation(d, 3);
    for (std::int64_t image = 0; image < images; ++image) exact += d.status[image] == quintet::svd::ok;
    std::cout << "channel " << channel << ": " << best.size() << " numbers of rank 3\n";
  }
  std::cout << exact << " planes decomposed\n";
}
