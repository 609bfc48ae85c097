// A batch of the host as a kernel on a device can read it: the same memory, or a dense copy.
#pragma once

#include <vector>

#include "device/mirror.hpp"
#include "quintet/core/view.hpp"
#include "quintet/device/buffer.hpp"

namespace quintet::svd {

template <class T>
class resident_batch {
 public:
  resident_batch(batch_view<const T> a, const Device& device) : view_(a) {
    const std::int64_t size = a.batch() * a.rows() * a.cols();
    if (device.shares_host_memory() || size == 0) return;
    std::vector<T> dense;
    dense.reserve(size);
    for (std::int64_t b = 0; b < a.batch(); ++b)
      for (std::int64_t i = 0; i < a.rows(); ++i)
        for (std::int64_t j = 0; j < a.cols(); ++j) dense.push_back(a(b, i, j));
    copy_ = Buffer<T>(dense, device);
    view_ = batch_view<const T>(copy_.data(), a.batch(), a.rows(), a.cols());
  }
  batch_view<const T> view() const { return view_; }

 private:
  Buffer<T> copy_;
  batch_view<const T> view_;
};

}  // namespace quintet::svd
