#include "io/hdf5_descriptor_driver.hpp"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <new>

namespace quintet::io {

namespace {

// HDF5 sees the first member and hands it back.
struct driver_file {
  H5FD_t base;
  descriptor_file* file;
  haddr_t allocated;  // HDF5's end of the file
  haddr_t end;        // the real one
};

driver_file* self(H5FD_t* base) { return reinterpret_cast<driver_file*>(base); }
const driver_file* self(const H5FD_t* base) { return reinterpret_cast<const driver_file*>(base); }

void keep_error(driver_file* file) {
  if (file->file->error == 0) file->file->error = errno;
}

H5FD_t* open_file(const char*, unsigned, hid_t access, haddr_t) {
  const auto* info = static_cast<descriptor_file* const*>(H5Pget_driver_info(access));
  struct stat status;
  if (info == nullptr || ::fstat((*info)->descriptor, &status) != 0) return nullptr;
  auto* file = new (std::nothrow) driver_file{};
  if (file == nullptr) return nullptr;
  file->file = *info;
  file->end = static_cast<haddr_t>(status.st_size);
  return &file->base;
}

herr_t close_file(H5FD_t* base) {
  delete self(base);
  return 0;
}

herr_t query(const H5FD_t*, unsigned long* flags) {
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

haddr_t get_eoa(const H5FD_t* base, H5FD_mem_t) { return self(base)->allocated; }

herr_t set_eoa(H5FD_t* base, H5FD_mem_t, haddr_t address) {
  self(base)->allocated = address;
  return 0;
}

haddr_t get_eof(const H5FD_t* base, H5FD_mem_t) { return self(base)->end; }

herr_t read(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t address, std::size_t bytes, void* buffer) {
  driver_file* file = self(base);
  char* target = static_cast<char*>(buffer);
  while (bytes > 0) {
    const ssize_t count = ::pread(file->file->descriptor, target, bytes, static_cast<off_t>(address));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      keep_error(file);
      return -1;
    }
    if (count == 0) {
      // Beyond the end everything is zero, as HDF5's own driver has it.
      std::memset(target, 0, bytes);
      break;
    }
    target += count;
    address += static_cast<haddr_t>(count);
    bytes -= static_cast<std::size_t>(count);
  }
  return 0;
}

herr_t write(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t address, std::size_t bytes, const void* buffer) {
  driver_file* file = self(base);
  const char* source = static_cast<const char*>(buffer);
  // After the first error the content no longer matters.
  while (bytes > 0 && file->file->error == 0) {
    const ssize_t count = ::pwrite(file->file->descriptor, source, bytes, static_cast<off_t>(address));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      keep_error(file);
      break;
    }
    source += count;
    address += static_cast<haddr_t>(count);
    bytes -= static_cast<std::size_t>(count);
  }
  file->end = std::max(file->end, address + bytes);
  return 0;
}

herr_t truncate(H5FD_t* base, hid_t, hbool_t) {
  driver_file* file = self(base);
  if (file->allocated == file->end) return 0;
  if (file->file->error == 0 && ::ftruncate(file->file->descriptor, static_cast<off_t>(file->allocated)) != 0)
    keep_error(file);
  file->end = file->allocated;
  return 0;
}

// Largest address that both HDF5 and the system can count to.
constexpr haddr_t largest_address = (haddr_t{1} << 63) - 1;

hid_t register_driver() {
  // By name, not by position: the members differ between versions of HDF5.
  static H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 0)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(513);  // from the range for experiments
#endif
  driver.name = "quintet_descriptor";
  driver.maxaddr = largest_address;
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(descriptor_file*);
  driver.open = open_file;
  driver.close = close_file;
  driver.query = query;
  driver.get_eoa = get_eoa;
  driver.set_eoa = set_eoa;
  driver.get_eof = get_eof;
  driver.read = read;
  driver.write = write;
  driver.truncate = truncate;
  constexpr H5FD_mem_t free_lists[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(free_lists), std::end(free_lists), driver.fl_map);
  return H5FDregister(&driver);
}

}  // namespace

herr_t use_descriptor_driver(hid_t access, descriptor_file* file) {
  static const hid_t driver = register_driver();
  if (driver < 0) return -1;
  return H5Pset_driver(access, driver, &file);
}

}  // namespace quintet::io
