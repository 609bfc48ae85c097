// Use of the HDF5 library: one thread at a time, silent, with handles that close themselves.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

namespace quintet::io {

/// While one lives, this thread alone uses HDF5 and HDF5 prints nothing. The caller's own setting comes back after it.
class hdf5_session {
 public:
  hdf5_session();
  ~hdf5_session();
  hdf5_session(const hdf5_session&) = delete;
  hdf5_session& operator=(const hdf5_session&) = delete;

  /// What HDF5 says about its last failure: the innermost message. Empty when there is none.
  static std::string last_error();

 private:
  std::unique_lock<std::recursive_mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
};

/// Owns an HDF5 identifier; `Close` is the function that gives it back.
template <herr_t (*Close)(hid_t)>
class hdf5_handle {
 public:
  hdf5_handle() = default;
  explicit hdf5_handle(hid_t id) : id_(id) {}
  hdf5_handle(hdf5_handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  hdf5_handle& operator=(hdf5_handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~hdf5_handle() { close(); }

  herr_t close() {
    const hid_t id = std::exchange(id_, -1);
    return id >= 0 ? Close(id) : 0;
  }
  operator hid_t() const { return id_; }
  bool valid() const { return id_ >= 0; }

 private:
  hid_t id_ = -1;
};

using file_handle = hdf5_handle<H5Fclose>;
using dataset_handle = hdf5_handle<H5Dclose>;
using dataspace_handle = hdf5_handle<H5Sclose>;
using type_handle = hdf5_handle<H5Tclose>;
using attribute_handle = hdf5_handle<H5Aclose>;
using object_handle = hdf5_handle<H5Oclose>;
using property_handle = hdf5_handle<H5Pclose>;

/// The type of T in memory.
template <class T>
hid_t native_type();
template <>
inline hid_t native_type<float>() {
  return H5T_NATIVE_FLOAT;
}
template <>
inline hid_t native_type<double>() {
  return H5T_NATIVE_DOUBLE;
}
template <>
inline hid_t native_type<std::int32_t>() {
  return H5T_NATIVE_INT32;
}
template <>
inline hid_t native_type<std::int64_t>() {
  return H5T_NATIVE_INT64;
}

}  // namespace quintet::io
