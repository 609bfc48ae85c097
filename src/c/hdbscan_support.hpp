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
template <class T>
matrix_view<const T> clustered_points(const quintet_hdbscan_clustering& clustering, const void* points, std::int64_t n,
                                      std::int64_t dim, std::int64_t stride) {
  if (clustering.type == 0) throw InvalidArgument("clustering must be one of points, not of distances or edges");
  require_argument(type_of<T> == clustering.type, "type", type_of<T>,
                   text("that of the clustered points: ", clustering.type));
  require_argument(dim == clustering.dim, "dim", dim, text("that of the clustered points: ", clustering.dim));
  const auto clustered = std::int64_t(clustering.model.labels.size());
  require_argument(n == clustered, "n", n, text("that of the clustering: ", clustered));
  return input_matrix<T>(points, n, dim, stride, "points");
}

}  // namespace quintet::c
