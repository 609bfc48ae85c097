// Files of neighbours::index: made once, searched by later processes.
//
//   quintet::io::write_index("points.index", index);
//   const auto kept = quintet::io::read_index<float>("points.index");
//
// The format is that of neighbours::index::to_bytes(): a version, checksums of every part, no need of HDF5. Nothing of
// an index has to be computed again but the boxes.
#pragma once

#include <string>

#include "quintet/device/device.hpp"
#include "quintet/neighbours/index.hpp"

namespace quintet::io {

/// Writes the file, or leaves what was there: see atomic_file. Throws FileError. Memory: as to_bytes().
template <class Storage>
void write_index(const std::string& path, const neighbours::index<Storage>& index);

/// Reads what write_index() wrote. Throws FileError with the path for a file that cannot be read, is no index, is
/// incomplete or changed, of another Storage or of a later version. Cost: one pass over the file, and O(N D).
template <class Storage>
neighbours::index<Storage> read_index(const std::string& path, const Device& device = Device::best());

/// The same of the Storage that the file has.
neighbours::any_index read_any_index(const std::string& path, const Device& device = Device::best());

}  // namespace quintet::io
