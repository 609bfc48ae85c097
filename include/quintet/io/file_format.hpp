// Which format a path means: its extension decides, in upper or lower case.
#pragma once

#include <string_view>
#include <vector>

#include "quintet/core/compiler.hpp"

namespace quintet::io {

/// Formats of matrices, with their extensions.
enum class file_format {
  csv,   ///< .csv
  npy,   ///< .npy
  hdf5,  ///< .h5, .hdf5
};

/// Format of `path`, which need not exist. /dev/stdout, /dev/stderr, /dev/fd/N and /proc/self/fd/N mean open files and
/// have no extension: they are CSV. Throws FileError when the extension is unknown or not among `allowed`,
/// naming those that are. O(length of the path).
file_format format_of(std::string_view path, const std::vector<file_format>& allowed = {
                                                 file_format::csv, file_format::npy, file_format::hdf5});

/// The same for a file still to be written, and more: throws FileError when its folder is missing or not writable, or
/// when the path is a folder or a write-protected file. For use before hours of work.
file_format check_output(std::string_view path, const std::vector<file_format>& allowed = {
                                                    file_format::csv, file_format::npy, file_format::hdf5});

}  // namespace quintet::io
