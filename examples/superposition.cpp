// Molecules moved onto their references: the rotation and shift of least squares for each (Kabsch 1976), 1000 at once.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <vector>

#include "quintet/core/philox.hpp"
#include "quintet/svd/kabsch.hpp"

int main() {
  constexpr std::int64_t count = 1000, atoms = 20;
  std::vector<float> reference(count * atoms * 3), moved(reference.size());
  for (std::size_t i = 0; i < reference.size(); ++i) reference[i] = quintet::normal_at<float>(1, 0, i);
  // Each turned about the z axis by an angle of its own, and shifted.
  for (std::int64_t i = 0; i < count * atoms; ++i) {
    const float angle = 0.003f * float(i / atoms), c = std::cos(angle), s = std::sin(angle), *x = &reference[i * 3];
    moved[i * 3] = c * x[0] - s * x[1] + 5;
    moved[i * 3 + 1] = s * x[0] + c * x[1];
    moved[i * 3 + 2] = x[2];
  }
  const quintet::batch_view<const float> molecules(moved.data(), count, atoms, 3);
  const quintet::batch_view<const float> references(reference.data(), count, atoms, 3);
  const auto motion = quintet::svd::kabsch<float>(molecules, references);
  float largest = 0;
  for (const float rmsd : motion.rmsd) largest = std::max(largest, rmsd);
  std::cout << "largest distance left: " << (largest < 1e-5f ? "below 1e-5" : "too large") << "\n";
  // R of the last turns back by its angle: R_00 = cos(angle).
  std::cout << "last angle: " << std::acos(motion.rotation_view()(count - 1, 0, 0)) << " rad\n";
}
