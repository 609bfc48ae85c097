// Rows of a matrix, of the host or of a Buffer, seen from the device that works on them.
#pragma once

#include <initializer_list>
#include <vector>

#include "quintet/device/any_memory.hpp"

namespace quintet::poincare {

/// Where the work is done: on the device of the buffers among the arguments, else on `given`.
inline Device working_device(const Device& given, std::initializer_list<const Device*> buffers) {
  const Device* found = nullptr;
  for (const Device* device : buffers) {
    if (device == nullptr) continue;
    if (found != nullptr && *found != *device)
      throw InvalidArgument(
          text("buffers must be on one device (one is on ", found->name(), ", another on ", device->name(), ")"));
    found = device;
  }
  return found != nullptr ? *found : given;
}

/// In place where the memory is the device's or shared, else a dense copy.
template <class T>
class rows_on_device {
 public:
  rows_on_device(const any_rows<const T>& rows, const Device& device) : rows_(rows) {
    if (rows.where() != nullptr || device.shares_host_memory()) return;
    copy_ = Buffer<T>(rows.rows() * rows.cols(), device);
    if (rows.stride() == rows.cols())
      copy_.copy_from_host(rows.data(), copy_.size());
    else
      for (std::int64_t i = 0; i < rows.rows(); ++i) copy_.copy_from_host(rows.row(i), rows.cols(), i * rows.cols());
  }
  matrix_view<const T> view() const {
    return copy_.size() > 0 ? matrix_view<const T>(copy_.data(), rows_.rows(), rows_.cols()) : rows_;
  }

 private:
  matrix_view<const T> rows_;
  Buffer<T> copy_;
};

/// Rows that a kernel writes; copy_back() brings them to the host matrix where they are not there already.
template <class T>
class rows_from_device {
 public:
  rows_from_device(const any_rows<T>& rows, const Device& device) : rows_(rows) {
    if (rows.where() == nullptr && !device.shares_host_memory()) copy_ = Buffer<T>(rows.rows() * rows.cols(), device);
  }
  matrix_view<T> view() { return copy_.size() > 0 ? matrix_view<T>(copy_.data(), rows_.rows(), rows_.cols()) : rows_; }
  void copy_back() {
    if (copy_.size() == 0) return;
    if (rows_.stride() == rows_.cols())
      copy_.copy_to_host(rows_.data(), copy_.size());
    else
      for (std::int64_t i = 0; i < rows_.rows(); ++i) copy_.copy_to_host(rows_.row(i), rows_.cols(), i * rows_.cols());
  }

 private:
  matrix_view<T> rows_;
  Buffer<T> copy_;
};

/// Row i on the host; for messages.
template <class T>
std::vector<T> host_row(const any_rows<const T>& rows, std::int64_t i) {
  std::vector<T> row(static_cast<std::size_t>(rows.cols()));
  const Device where = rows.where() != nullptr ? *rows.where() : Device::host();
  detail::copy(row.data(), Device::host(), rows.row(i), where, rows.cols() * std::int64_t(sizeof(T)));
  return row;
}

/// All values on the host; for checks.
template <class T>
std::vector<T> host_values(const any_values<const T>& values) {
  std::vector<T> copy(static_cast<std::size_t>(values.size()));
  const Device where = values.where() != nullptr ? *values.where() : Device::host();
  detail::copy(copy.data(), Device::host(), values.data(), where, values.size() * std::int64_t(sizeof(T)));
  return copy;
}

}  // namespace quintet::poincare
