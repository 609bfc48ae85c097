#include "io/hdf5_session.hpp"

#include <mutex>

namespace quintet::io {

namespace {

// Debian's HDF5 is built without thread safety. Recursive: a reader may be used while a writer is open.
std::recursive_mutex& library_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

herr_t keep_innermost(unsigned, const H5E_error2_t* error, void* result) {
  if (error->desc != nullptr) *static_cast<std::string*>(result) = error->desc;
  return 0;
}

}  // namespace

hdf5_session::hdf5_session() : lock_(library_mutex()) {
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

hdf5_session::~hdf5_session() { H5Eset_auto2(H5E_DEFAULT, print_, print_data_); }

std::string hdf5_session::last_error() {
  std::string result;
  // Downward: from the API function to where it went wrong.
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_innermost, &result);
  return result;
}

}  // namespace quintet::io
