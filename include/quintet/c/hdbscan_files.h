/// @file
/// Files of clusterings with their points, in C. These functions are in the library quintet_io (CMake: quintet::io).
/// Conventions: quintet/c/core.h; contract: quintet/io/hdbscan_model.hpp.
#ifndef QUINTET_C_HDBSCAN_FILES_H
#define QUINTET_C_HDBSCAN_FILES_H

#include "quintet/c/hdbscan.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Writes a clustering and `points`, those that were clustered, again, to an HDF5 file, or leaves what was there.
/// Invalid: as quintet_hdbscan_predict(). File error: it cannot be written. O(n dim).
QUINTET_API quintet_status quintet_hdbscan_save(const quintet_hdbscan_clustering* clustering, const void* points,
                                                quintet_type type, int64_t n, int64_t dim, int64_t stride,
                                                const char* path) QUINTET_NOEXCEPT;

/// *predictor := that of a file of quintet_hdbscan_save() or `quintet-hdbscan --model`; it needs nothing else, and is
/// freed with quintet_hdbscan_predictor_free(). File error: it cannot be read, holds no model, or its parts do not fit
/// each other. O(n dim log n).
QUINTET_API quintet_status quintet_hdbscan_load(const char* path, const char* device,
                                                quintet_hdbscan_predictor** predictor) QUINTET_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
