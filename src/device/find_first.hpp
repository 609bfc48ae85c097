// The first index with a property, for checks of arguments that lie on a device.
#pragma once

#include <cstdint>
#include <vector>

#include "device/atomic.hpp"
#include "device/for_each.hpp"

namespace quintet::device {

namespace detail {
template <class Predicate>
struct first_function {
  Predicate has_property;
  std::int64_t* first;
  void operator()(std::int64_t i) const {
    if (has_property(i)) atomic_min(first, i);
  }
};
}  // namespace detail

/// The smallest i in [0, count) with has_property(i), or -1. has_property is trivially copyable, like a kernel.
template <class Predicate>
std::int64_t find_first(std::int64_t count, const Predicate& has_property, const Device& device) {
  Buffer<std::int64_t> first(std::vector<std::int64_t>{count}, device);
  for_each(count, detail::first_function<Predicate>{has_property, first.data()}, device);
  const std::int64_t index = first.to_vector()[0];
  return index < count ? index : -1;
}

}  // namespace quintet::device
