#include "pairwise/pairs.hpp"

#include "device/launch.hpp"
#include "pairwise/pairs_kernel.hpp"
#include "pairwise/shape.hpp"

namespace quintet::pairwise {

template <class Real>
std::vector<Real> pair_surrogates(matrix_view<const Real> points, const row_scan<Real>& scan,
                                  std::span<const std::int64_t> pairs) {
  using kernel = pairs_kernel<Real, host_shape<Real>>;
  const auto count = std::int64_t(pairs.size() / 2);
  std::vector<Real> surrogates(count);
  device::launch(kernel{points.data(), points.cols(), points.stride(), scan.valid.data(), scan.factor.data(),
                        pairs.data(), count, surrogates.data()},
                 (count + kernel::pairs_per_tile - 1) / kernel::pairs_per_tile, Device::host());
  return surrogates;
}

template std::vector<float> pair_surrogates(matrix_view<const float>, const row_scan<float>&,
                                            std::span<const std::int64_t>);
template std::vector<double> pair_surrogates(matrix_view<const double>, const row_scan<double>&,
                                             std::span<const std::int64_t>);

}  // namespace quintet::pairwise
