// Attributes of HDF5 files of other programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quintet::io {

///@{
/// An attribute of a group or dataset as integers, or as text; empty when there is none of this kind. Throws FileError
/// when the file cannot be read or is not an HDF5 file.
std::vector<std::int64_t> integers_of_attribute(const std::string& path, const std::string& object,
                                                const std::string& name);
std::string text_of_attribute(const std::string& path, const std::string& object, const std::string& name);
///@}

}  // namespace quintet::io
