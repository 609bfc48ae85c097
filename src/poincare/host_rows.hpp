// Rows of a host matrix seen from a device: in place where memory is shared, else a dense copy.
#pragma once

#include "quintet/core/view.hpp"
#include "quintet/device/buffer.hpp"

namespace quintet::poincare {

template <class T>
class rows_on_device {
 public:
  rows_on_device(matrix_view<const T> rows, const Device& device) : rows_(rows) {
    if (device.shares_host_memory()) return;
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
  rows_from_device(matrix_view<T> rows, const Device& device) : rows_(rows) {
    if (!device.shares_host_memory()) copy_ = Buffer<T>(rows.rows() * rows.cols(), device);
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

}  // namespace quintet::poincare
