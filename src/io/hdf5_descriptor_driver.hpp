// An HDF5 file driver that works on an open file descriptor.
//
// Why not HDF5's own: a file without a name (see atomic_file) can only be reached through its descriptor; file locks
// fail on some network file systems; and a full disk, told to HDF5 while it closes a file, leaves the library unable to
// shut down. This driver keeps the first error to itself and lets HDF5 go on; the owner asks for it afterwards.
#pragma once

#include <hdf5.h>

namespace quintet::io {

/// What the driver works on. Must outlive the HDF5 file.
struct descriptor_file {
  int descriptor = -1;
  int error = 0;  ///< errno of the first read, write or truncation that failed; 0 when none did
};

/// Makes `access`, a file access property list, use the driver on `file`. Negative on failure, as HDF5 does it.
/// The file's name, which HDF5 demands when opening, is then only a label.
herr_t use_descriptor_driver(hid_t access, descriptor_file* file);

}  // namespace quintet::io
