// A growing array of numbers that is never initialised twice: the store of the rows of a sparse result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

#include "quintet/core/error.hpp"
#include "quintet/spgemm/memory.hpp"

namespace quintet::spgemm {

/// `size` elements, not initialised, in memory of a memory_source, which must outlive the array. Members are O(1)
/// and throw nothing unless they say so.
template <class T>
class array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  array() = default;
  /// `size` usable elements; with `capacity` > size it can grow to that without moving. Throws OutOfMemory, and
  /// InvalidArgument for a negative size.
  explicit array(std::int64_t size, memory_source& memory = memory_source::standard()) : array(size, size, memory) {}
  /// `size` usable elements of room for `capacity`, 0 <= size <= capacity. Throws InvalidArgument and OutOfMemory.
  array(std::int64_t size, std::int64_t capacity, memory_source& memory) : memory_(&memory) {
    require_argument(size >= 0, "size", size, ">= 0");
    require_argument(capacity >= size && capacity <= INT64_MAX / std::int64_t(sizeof(T)), "capacity", capacity,
                     "at least the size, and small enough to count its bytes");
    if (capacity == 0) return;
    data_ = static_cast<T*>(memory.reserve(bytes(capacity)));
    capacity_ = capacity;
    try {
      grow(size);
    } catch (...) {
      memory_->release(data_, bytes(capacity_), 0);
      throw;
    }
  }
  ///@{
  /// A copy of the values, in memory of the standard source. Throws OutOfMemory, and InvalidArgument for count < 0.
  array(std::initializer_list<T> values) : array(values.begin(), std::int64_t(values.size())) {}
  array(const std::vector<T>& values) : array(values.data(), std::int64_t(values.size())) {}
  array(const T* values, std::int64_t count) : array(count) { std::copy(values, values + count, data_); }
  ///@}
  /// A copy in memory of the same source, without room to grow. Throws OutOfMemory.
  array(const array& other) : array(other.size_, other.size_, *other.memory_) {
    std::copy(other.begin(), other.end(), data_);
  }
  /// Takes the memory of `other`, which is empty afterwards.
  array(array&& other) noexcept { swap(other); }
  /// Copies or takes, as `other` was made; the source comes with it.
  array& operator=(array other) noexcept {
    swap(other);
    return *this;
  }
  ~array() {
    if (data_ != nullptr) memory_->release(data_, bytes(capacity_), bytes(size_));
  }

  ///@{
  /// The first element; may be null for size 0.
  T* data() { return data_; }
  const T* data() const { return data_; }
  ///@}
  /// Usable elements.
  std::int64_t size() const { return size_; }
  /// Elements that fit without moving, >= size().
  std::int64_t capacity() const { return capacity_; }
  /// Whether size() is 0.
  bool empty() const { return size_ == 0; }
  ///@{
  /// The elements as a range.
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  ///@}
  ///@{
  /// Element i, 0 <= i < size(); not checked.
  T& operator[](std::int64_t i) { return data_[i]; }
  const T& operator[](std::int64_t i) const { return data_[i]; }
  ///@}

  /// Makes elements up to `size` usable; nothing happens when they are. Throws InvalidArgument for size > capacity(),
  /// OutOfMemory. Cost: that of the pages that come in; nothing is copied.
  void grow(std::int64_t size) {
    if (size <= size_) return;
    if (size > capacity_) require_argument(false, "size", size, text("<= capacity=", capacity_));
    memory_->commit(data_, bytes(capacity_), bytes(size_), bytes(size));
    size_ = size;
  }
  /// Keeps the first `size` elements and gives the rest back; the array may move, at the cost of a copy at most. Throws
  /// InvalidArgument unless 0 <= size <= size().
  void trim(std::int64_t size) {
    if (size == capacity_ && size == size_) return;
    if (size < 0 || size > size_) require_argument(false, "size", size, text("in [0, ", size_, "]"));
    if (size == 0) {
      *this = array(0, *memory_);
      return;
    }
    data_ = static_cast<T*>(memory_->trim(data_, bytes(capacity_), bytes(size_), bytes(size)));
    size_ = capacity_ = size;
  }

  /// Takes over `size` elements, all usable, that `memory` reserved for so many; null for none.
  static array adopt(T* data, std::int64_t size, memory_source& memory) {
    array moved;
    moved.data_ = data;
    moved.size_ = moved.capacity_ = size;
    moved.memory_ = &memory;
    return moved;
  }

  /// The memory belongs to `memory` from now on: the source that really gave it, when the present one only counts.
  /// O(1).
  void hand_over(memory_source& memory) { memory_ = &memory; }

  /// The same elements; capacity and source do not count. O(size).
  friend bool operator==(const array& a, const array& b) {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  static std::int64_t bytes(std::int64_t count) { return count * std::int64_t(sizeof(T)); }
  void swap(array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(memory_, other.memory_);
  }

  T* data_ = nullptr;
  std::int64_t size_ = 0, capacity_ = 0;
  memory_source* memory_ = &memory_source::standard();
};

}  // namespace quintet::spgemm
