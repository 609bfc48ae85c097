// Memory on a device, owned.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "quintet/core/error.hpp"
#include "quintet/device/device.hpp"

namespace quintet {

namespace detail {
/// `bytes` on `device`, aligned to 64; throws OutOfMemory. Zero bytes give nullptr.
void* allocate(std::int64_t bytes, const Device& device);
void release(void* data, const Device& device) noexcept;
/// Copies between two places; either may be the host. Throws DeviceError.
void copy(void* to, const Device& to_device, const void* from, const Device& from_device, std::int64_t bytes);
/// Bytes that copy() has moved from one device (the host is one) to another since the program began; for tests.
std::int64_t transferred_bytes() noexcept;
}  // namespace detail

/// `size` elements in the memory of a device; move-only, released on destruction, not initialised.
///
/// data() may be used on the host only if device().shares_host_memory(). Copies are blocking and typed; a range outside
/// the buffer throws InvalidArgument. Cost: one allocation, and a transfer of the bytes copied.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>, "device memory holds trivially copyable types only");

 public:
  Buffer() = default;
  /// Throws InvalidArgument if size < 0, OutOfMemory (stating the bytes) if there is not enough.
  explicit Buffer(std::int64_t size, Device device = Device::host()) : size_(size), device_(device) {
    require_argument(size >= 0, "size", size, ">= 0");
    require_argument(size <= INT64_MAX / std::int64_t(sizeof(T)), "size", size, "small enough to count its bytes");
    data_ = static_cast<T*>(detail::allocate(size * std::int64_t(sizeof(T)), device));
  }
  /// A copy of host data on `device`. Throws OutOfMemory, and DeviceError when the transfer fails.
  Buffer(const std::vector<T>& values, Device device) : Buffer(std::int64_t(values.size()), device) {
    copy_from_host(values.data(), size_);
  }
  ///@{
  /// Takes the memory of `other`, which is empty afterwards; nothing is copied.
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer moved(std::move(other));
    swap(moved);
    return *this;
  }
  ///@}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { detail::release(data_, device_); }

  ///@{
  /// The first element, an address of device(); null for an empty buffer.
  T* data() { return data_; }
  const T* data() const { return data_; }
  ///@}
  /// Number of elements.
  std::int64_t size() const { return size_; }
  /// size() elements in bytes.
  std::int64_t bytes() const { return size_ * std::int64_t(sizeof(T)); }
  /// The device of the memory.
  const Device& device() const { return device_; }

  /// Elements [offset, offset + count) := `count` elements of host data. Throws InvalidArgument for a range outside the
  /// buffer or no data, DeviceError when the transfer fails.
  void copy_from_host(const T* host, std::int64_t count, std::int64_t offset = 0) {
    check_range(host, count, offset);
    detail::copy(data_ + offset, device_, host, Device::host(), count * std::int64_t(sizeof(T)));
  }
  /// `count` elements of host data := elements [offset, offset + count). Throws as copy_from_host() does.
  void copy_to_host(T* host, std::int64_t count, std::int64_t offset = 0) const {
    check_range(host, count, offset);
    detail::copy(host, Device::host(), data_ + offset, device_, count * std::int64_t(sizeof(T)));
  }
  /// A copy of all elements on the host. Throws DeviceError when the transfer fails.
  std::vector<T> to_vector() const {
    std::vector<T> values(static_cast<std::size_t>(size_));
    copy_to_host(values.data(), size_);
    return values;
  }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(device_, other.device_);
  }
  void check_range(const T* host, std::int64_t count, std::int64_t offset) const {
    if (host == nullptr && count > 0) throw InvalidArgument(text("host must not be null (count=", count, ")"));
    if (count < 0 || offset < 0 || count > size_ - offset)
      throw InvalidArgument(
          text("range must lie in the buffer (offset=", offset, ", count=", count, ", size=", size_, ")"));
  }

  T* data_ = nullptr;
  std::int64_t size_ = 0;
  Device device_;
};

}  // namespace quintet
