// Paths that mean an open file of this process: /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N.
#pragma once

#include <string>

namespace quintet::io {

/// The descriptor that a path means, symbolic links to such a path followed; -1 for any other path. It need not be
/// open.
int descriptor_of(const std::string& path);

}  // namespace quintet::io
