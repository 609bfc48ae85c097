/// @file
/// Files of indexes of neighbours, in C. These functions are in the library quintet_io (CMake: quintet::io).
/// Conventions: quintet/c/core.h; contract: quintet/io/neighbours_index.hpp.
#ifndef QUINTET_C_NEIGHBOURS_FILES_H
#define QUINTET_C_NEIGHBOURS_FILES_H

#include "quintet/c/neighbours.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Writes the index to a file, or leaves what was there. File error: it cannot be written. O(n dim).
QUINTET_API quintet_status quintet_index_save(const quintet_index* index, const char* path) QUINTET_NOEXCEPT;

/// *index := that of a file; freed with quintet_index_free(). File error: it cannot be read, is incomplete or changed,
/// or of a later version. O(n dim).
QUINTET_API quintet_status quintet_index_load(const char* path, const char* device,
                                              quintet_index** index) QUINTET_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
