// What the C functions of hdbscan share.
#pragma once

#include "c/support.hpp"
#include "quintet/c/hdbscan.h"
#include "quintet/hdbscan/hdbscan.hpp"

struct quintet_hdbscan_clustering {
  quintet::hdbscan::cluster_result model;
  quintet_type type = 0;  ///< of the points; 0 when it was not made from points
  std::int64_t dim = 0;   ///< of the points
};

namespace quintet::c {

/// Options as the library has them; null: the defaults. Throws InvalidArgument for an enumerated value that is none.
quintet_hdbscan_options known_options(const quintet_hdbscan_options* given);
hdbscan::cluster_options cluster_options(const quintet_hdbscan_options* given);
point_metric metric_of(const quintet_hdbscan_options& options);

/// `points` of a clustering, again. Throws InvalidArgument unless it was made from such points.
any_matrix clustered_points(const quintet_hdbscan_clustering& clustering, const void* points, quintet_type type,
                            std::int64_t n, std::int64_t dim, std::int64_t stride);

}  // namespace quintet::c
