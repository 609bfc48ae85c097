// A function of an index as a kernel: one index a thread.
#pragma once

#include <cstdint>

#include "device/launch.hpp"
#include "quintet/device/buffer.hpp"

namespace quintet::device {

namespace detail {

struct host_elements {
  enum { on_device = 0, per_tile = 4096 };
};
struct device_elements {
  enum { on_device = 1, per_tile = 1024 };
};

template <class Function, class Shape>
struct each_kernel {
  using shape = Shape;
  struct scratch {};
  enum { threads = 128, emulated_threads = 4 };
  Function function;
  std::int64_t count;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int e = team.rank(); e < Shape::per_tile; e += team.size()) {
      const std::int64_t i = tile * Shape::per_tile + e;
      if (i < count) function(i);
    }
  }
};

}  // namespace detail

/// f(0), ..., f(count - 1) on `device`, in any order and at the same time. f is trivially copyable, like a kernel.
template <class Function>
void for_each(std::int64_t count, const Function& f, const Device& device) {
  with_shape<detail::host_elements, detail::device_elements>(device, [&](auto shape) {
    using Shape = decltype(shape);
    launch(detail::each_kernel<Function, Shape>{f, count}, (count + Shape::per_tile - 1) / Shape::per_tile, device);
  });
}

namespace detail {
template <class T>
struct fill_function {
  T* data;
  T value;
  void operator()(std::int64_t i) const { data[i] = value; }
};
}  // namespace detail

/// Every element of the buffer := value.
template <class T>
void fill(Buffer<T>& buffer, T value) {
  for_each(buffer.size(), detail::fill_function<T>{buffer.data(), value}, buffer.device());
}

}  // namespace quintet::device
