// Host vectors seen from a device: the vector itself where memory is shared, a copy elsewhere.
#pragma once

#include <vector>

#include "quintet/device/buffer.hpp"

namespace quintet::device {

/// Read-only on the device, for as long as the vector lives unchanged.
template <class T>
class mirror {
 public:
  mirror(const std::vector<T>& values, const Device& device) : values_(values) {
    if (!device.shares_host_memory()) copy_ = Buffer<T>(values, device);
  }
  const T* data() const { return copy_.size() > 0 ? copy_.data() : values_.data(); }

 private:
  const std::vector<T>& values_;
  Buffer<T> copy_;
};

/// Written on the device; the vector has it when the mirror is gone.
template <class T>
class mirror_back {
 public:
  mirror_back(std::vector<T>& values, const Device& device) : values_(values) {
    if (!device.shares_host_memory()) copy_ = Buffer<T>(std::int64_t(values.size()), device);
  }
  mirror_back(const mirror_back&) = delete;
  mirror_back& operator=(const mirror_back&) = delete;
  ~mirror_back() noexcept(false) {
    if (copy_.size() > 0) copy_.copy_to_host(values_.data(), copy_.size());
  }
  T* data() { return copy_.size() > 0 ? copy_.data() : values_.data(); }

 private:
  std::vector<T>& values_;
  Buffer<T> copy_;
};

}  // namespace quintet::device
