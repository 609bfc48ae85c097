// Arrays where a kernel runs, counted.
#pragma once

#include <utility>

#include "device/staged.hpp"
#include "spgemm/meter.hpp"
#include "spgemm/problem.hpp"

namespace quintet::spgemm {

/// `size` elements on a device or the host, not initialised.
template <class T>
class device_array {
 public:
  device_array() = default;
  device_array(std::int64_t size, const Device& device, memory_source& memory)
      : size_(size), device_(device), memory_(&memory) {
    if (size == 0) return;
    if (device.kind() != device_kind::host) {
      data_ = static_cast<T*>(memory.allocate(bytes(), device));
      return;
    }
    data_ = static_cast<T*>(memory.reserve(bytes()));  // pages that the last product had
    try {
      memory.commit(data_, bytes(), 0, bytes());
    } catch (...) {
      memory.release(data_, bytes(), 0);
      throw;
    }
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
    if (data_ == nullptr) return;
    if (device_.kind() == device_kind::host)
      memory_->release(data_, bytes(), bytes());
    else
      memory_->deallocate(data_, bytes(), device_);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::int64_t size() const { return size_; }
  std::int64_t bytes() const { return size_ * std::int64_t(sizeof(T)); }
  const Device& device() const { return device_; }
  /// The memory is the caller's, who knows where it came from.
  T* release() {
    size_ = 0;
    return std::exchange(data_, nullptr);
  }
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

/// A matrix in the memory of a device, counted.
template <class Value, class Index>
struct device_matrix {
  std::int64_t rows = 0, cols = 0;
  device_array<std::int64_t> row_pointers;
  device_array<Index> columns;
  device_array<Value> values;
  Device device;

  csr_view<Value, Index> view() const {
    return {rows, cols, row_pointers.data(), columns.data(), values.data(), device};
  }
  std::int64_t nnz() const { return columns.size(); }
};

/// The first and the last of a matrix's row pointers, wherever they are.
template <class Value, class Index>
std::pair<std::int64_t, std::int64_t> entry_range(const csr_view<Value, Index>& m) {
  std::pair<std::int64_t, std::int64_t> range{0, 0};
  if (m.rows == 0) return range;
  if (m.where.shares_host_memory()) return {m.row_pointers[0], m.row_pointers[m.rows]};
  quintet::detail::copy(&range.first, Device::host(), m.row_pointers, m.where, sizeof range.first);
  quintet::detail::copy(&range.second, Device::host(), m.row_pointers + m.rows, m.where, sizeof range.second);
  return range;
}
template <class Value, class Index>
std::int64_t entries_of(const csr_view<Value, Index>& m) {
  const auto [first, last] = entry_range(m);
  return last - first;
}

/// A matrix where a device sees it: itself where that is possible, a copy elsewhere. Operands do not count as memory of
/// the operation.
template <class Value, class Index>
class device_operand {
 public:
  device_operand() = default;
  device_operand(const csr_view<Value, Index>& m, const Device& device) : view_(m) {
    view_.where = device;
    if (device::reaches(device, m.where)) return;
    const auto [first, last] = entry_range(m);
    row_pointers_ = Buffer<std::int64_t>(m.rows + 1, device);
    columns_ = Buffer<Index>(last - first, device);
    values_ = Buffer<Value>(m.values != nullptr ? last - first : 0, device);
    if (m.rows == 0) return;
    const auto copy = [&](auto& to, const auto* from) {
      quintet::detail::copy(to.data(), device, from, m.where, to.bytes());
    };
    copy(row_pointers_, m.row_pointers);
    copy(columns_, m.columns + first);
    // Row pointers may count from elsewhere.
    view_.row_pointers = row_pointers_.data();
    view_.columns = columns_.data() - first;
    if (m.values == nullptr) return;  // a structure
    copy(values_, m.values + first);
    view_.values = values_.data() - first;
  }
  const csr_view<Value, Index>& view() const { return view_; }

 private:
  csr_view<Value, Index> view_;
  Buffer<std::int64_t> row_pointers_;
  Buffer<Index> columns_;
  Buffer<Value> values_;
};

/// Elements of any place, on the host.
template <class T>
class host_copy {
 public:
  host_copy() = default;
  host_copy(const T* data, std::int64_t size, const Device& where) : data_(data) {
    if (where.shares_host_memory()) return;
    copy_.resize(std::size_t(size));
    quintet::detail::copy(copy_.data(), Device::host(), data, where, size * std::int64_t(sizeof(T)));
    data_ = copy_.data();
  }
  const T* data() const { return data_; }

 private:
  const T* data_ = nullptr;
  std::vector<T> copy_;
};

}  // namespace quintet::spgemm
