// Arrays on a device, counted.
#pragma once

#include <utility>

#include "quintet/device/buffer.hpp"
#include "spgemm/meter.hpp"
#include "spgemm/problem.hpp"

namespace quintet::spgemm {

/// `size` elements on a device, not initialised.
template <class T>
class device_array {
 public:
  device_array() = default;
  device_array(std::int64_t size, const Device& device, memory_source& memory)
      : size_(size), device_(device), memory_(&memory) {
    if (size > 0) data_ = static_cast<T*>(memory.allocate(bytes(), device));
  }
  /// A copy of elements of the host.
  device_array(const T* host, std::int64_t size, const Device& device, memory_source& memory)
      : device_array(size, device, memory) {
    quintet::detail::copy(data_, device_, host, Device::host(), bytes());
  }
  device_array(device_array&& other) noexcept { swap(other); }
  device_array& operator=(device_array&& other) noexcept {
    device_array moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~device_array() {
    if (data_ != nullptr) memory_->deallocate(data_, bytes(), device_);
  }

  T* data() { return data_; }
  std::int64_t size() const { return size_; }
  std::int64_t bytes() const { return size_ * std::int64_t(sizeof(T)); }
  void to_host(T* host, std::int64_t count, std::int64_t offset = 0) const {
    quintet::detail::copy(host, Device::host(), data_ + offset, device_, count * std::int64_t(sizeof(T)));
  }

 private:
  void swap(device_array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(device_, other.device_);
    std::swap(memory_, other.memory_);
  }
  T* data_ = nullptr;
  std::int64_t size_ = 0;
  Device device_;
  memory_source* memory_ = nullptr;
};

/// A matrix where a device sees it: itself where memory is shared, a copy elsewhere. Operands do not count as memory of
/// the operation.
template <class Value, class Index>
class device_operand {
 public:
  device_operand(const csr_view<Value, Index>& m, const Device& device) : view_(m) {
    if (device.shares_host_memory()) return;
    const std::int64_t first = m.rows > 0 ? m.row_pointers[0] : 0;
    row_pointers_ = Buffer<std::int64_t>(m.rows + 1, device);
    columns_ = Buffer<Index>(m.nnz(), device);
    values_ = Buffer<Value>(m.nnz(), device);
    if (m.rows == 0) return;
    row_pointers_.copy_from_host(m.row_pointers, m.rows + 1);
    columns_.copy_from_host(m.columns + first, m.nnz());
    values_.copy_from_host(m.values + first, m.nnz());
    // Row pointers may count from elsewhere.
    view_.row_pointers = row_pointers_.data();
    view_.columns = columns_.data() - first;
    view_.values = values_.data() - first;
  }
  const csr_view<Value, Index>& view() const { return view_; }

 private:
  csr_view<Value, Index> view_;
  Buffer<std::int64_t> row_pointers_;
  Buffer<Index> columns_;
  Buffer<Value> values_;
};

}  // namespace quintet::spgemm
