#include "pairwise/group_minima.hpp"

#include "device/launch.hpp"
#include "device/staged.hpp"
#include "instantiate.hpp"
#include "pairwise/group_minima_kernel.hpp"

namespace quintet::pairwise {

template <class Real>
std::vector<Real> group_minima(const panels<Real>& rows, const panels<Real>& cols,
                               const std::vector<std::int32_t>& group, std::int64_t groups) {
  const Device& device = rows.device();
  std::vector<Real> minima(rows.count * groups);
  if (minima.empty()) return minima;
  const device::staged_in group_on_device(group, device);
  device::staged_out minima_on_device(minima, device);
  const group_minima_arguments<Real> arguments{rows.data.data(),
                                               cols.data.data(),
                                               rows.dim,
                                               rows.count,
                                               cols.count,
                                               group_on_device.view().data(),
                                               groups,
                                               minima_on_device.view().data(),
                                               {rows.factor.data(), cols.factor.data()},
                                               rows.term};
  device::with_shape<host_shape<Real>, device_shape<Real>>(device, [&](auto shape) {
    with_any_dimension(rows.term, [&]<int Dim>() {
      device::launch(group_minima_kernel<Real, Dim, decltype(shape)>{arguments}, rows.blocks(), device);
    });
  });
  minima_on_device.finish();
  return minima;
}

#define QUINTET_INSTANTIATE(Real)                                                                                     \
  template std::vector<Real> group_minima(const panels<Real>&, const panels<Real>&, const std::vector<std::int32_t>&, \
                                          std::int64_t);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::pairwise
