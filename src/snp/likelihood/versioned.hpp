// Device memory with an accepted and a current version: what a proposal writes can be taken back at no cost.
#pragma once

#include "quintet/device/buffer.hpp"

namespace quintet::snp {

/// Number of the version that is current and of the one that is accepted; they share one switch with every other thing
/// that a proposal wrote.
class version_switch {
 public:
  int current() const { return current_; }
  int accepted() const { return accepted_; }
  bool is_proposed() const { return current_ != accepted_; }
  void propose() { current_ = 1 - accepted_; }
  void accept() { accepted_ = current_; }
  void reject() { current_ = accepted_; }

 private:
  int accepted_ = 0, current_ = 0;
};

/// One or two buffers of equal size; the second is allocated when it is first needed.
template <class T>
class versioned {
 public:
  versioned() = default;
  versioned(std::int64_t size, const Device& device) : size_(size), device_(device) {}
  std::int64_t size() const { return size_; }
  const T* read(const version_switch& version) const { return slots_[version.current()].data(); }
  T* write(const version_switch& version) {
    Buffer<T>& slot = slots_[version.current()];
    if (slot.size() != size_) slot = Buffer<T>(size_, device_);
    return slot.data();
  }
  Buffer<T>& buffer(const version_switch& version) {
    write(version);
    return slots_[version.current()];
  }

 private:
  std::int64_t size_ = 0;
  Device device_;
  Buffer<T> slots_[2];
};

}  // namespace quintet::snp
