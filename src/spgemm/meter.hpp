// Counts the memory of one operation on its way to the source that the caller chose.
#pragma once

#include <atomic>

#include "quintet/spgemm/memory.hpp"

namespace quintet::spgemm {

class meter final : public memory_source {
 public:
  explicit meter(memory_source* source) : source_(source != nullptr ? *source : standard()) {}

  void* reserve(std::int64_t bytes) override { return source_.reserve(bytes); }
  void commit(void* data, std::int64_t reserved, std::int64_t from, std::int64_t to) override {
    source_.commit(data, reserved, from, to);
    add(to - from);
  }
  void* trim(void* data, std::int64_t reserved, std::int64_t committed, std::int64_t keep) override {
    void* place = source_.trim(data, reserved, committed, keep);
    add(keep - committed);
    return place;
  }
  void release(void* data, std::int64_t reserved, std::int64_t committed) noexcept override {
    source_.release(data, reserved, committed);
    add(-committed);
  }
  void* allocate(std::int64_t bytes, const Device& device) override {
    void* data = source_.allocate(bytes, device);
    add(bytes);
    return data;
  }
  void deallocate(void* data, std::int64_t bytes, const Device& device) noexcept override {
    source_.deallocate(data, bytes, device);
    add(-bytes);
  }

  /// Bytes that came from elsewhere.
  void hold(std::int64_t bytes) { add(bytes); }
  /// The caller has these bytes now.
  void forget(std::int64_t bytes) { held_ -= bytes; }
  /// Behind this meter.
  memory_source& source() const { return source_; }
  std::int64_t held() const { return held_; }
  std::int64_t peak() const { return peak_; }

 private:
  void add(std::int64_t bytes) {
    const std::int64_t total = held_ += bytes;
    std::int64_t peak = peak_;
    while (total > peak && !peak_.compare_exchange_weak(peak, total)) {
    }
  }

  memory_source& source_;
  std::atomic<std::int64_t> held_ = 0, peak_ = 0;
};

}  // namespace quintet::spgemm
