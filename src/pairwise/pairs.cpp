#include "pairwise/pairs.hpp"

#include "device/launch.hpp"
#include "pairwise/pairs_kernel.hpp"
#include "pairwise/shape.hpp"

namespace quintet::pairwise {

template <class Storage>
std::vector<accumulator_t<Storage>> pair_surrogates(matrix_view<const Storage> points,
                                                    const row_scan<accumulator_t<Storage>>& scan,
                                                    std::span<const std::int64_t> pairs) {
  using Real = accumulator_t<Storage>;
  using kernel = pairs_kernel<Storage, host_shape<Real>>;
  const auto count = std::int64_t(pairs.size() / 2);
  std::vector<Real> surrogates(count);
  device::launch(
      kernel{points.data(), points.cols(), points.stride(), scan.valid.data(), scan.factor.data(), pairs.data(), count,
             surrogates.data(), scan.ball_factor.empty() ? nullptr : scan.ball_factor.data()},
      (count + kernel::pairs_per_tile - 1) / kernel::pairs_per_tile, Device::host());
  return surrogates;
}

#define QUINTET_INSTANTIATE(Storage)                            \
  template std::vector<accumulator_t<Storage>> pair_surrogates( \
      matrix_view<const Storage>, const row_scan<accumulator_t<Storage>>&, std::span<const std::int64_t>);
QUINTET_INSTANTIATE(float)
QUINTET_INSTANTIATE(double)
QUINTET_INSTANTIATE(half)
QUINTET_INSTANTIATE(bfloat16)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::pairwise
