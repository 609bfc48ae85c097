// Rows of points as the caller stores them, in memory of the device that reads them.
#pragma once

#include <cstdint>

#include "device/pack.hpp"
#include "quintet/core/storage16.hpp"
#include "quintet/core/view.hpp"

namespace quintet::pairwise {

template <class Storage>
struct stored_rows {
  const Storage* data;
  std::int64_t count, dim, stride;

  accumulator_t<Storage> at(std::int64_t i, std::int64_t k) const { return data[i * stride + k]; }
  const Storage* row(std::int64_t i) const { return data + i * stride; }
};

template <class Storage>
stored_rows<Storage> stored(const matrix_view<const Storage>& rows) {
  return {rows.data(), rows.rows(), rows.cols(), rows.stride()};
}

/// Lane `lane` of a pack := value.
template <int W, class Pack, class Real>
inline void set_lane(Pack& pack, int lane, Real value) {
  if constexpr (W == 1)
    pack = value;
  else
    pack[lane] = value;
}
template <int W, class Pack>
inline auto get_lane(const Pack& pack, int lane) {
  if constexpr (W == 1)
    return pack;
  else
    return pack[lane];
}

/// W doubles with the same values.
template <int W, class Pack>
inline device::pack<double, W> widened(const Pack& values) {
  if constexpr (W == 1)
    return double(values);
  else
    return __builtin_convertvector(values, device::pack<double, W>);
}

}  // namespace quintet::pairwise
