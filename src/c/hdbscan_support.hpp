// What the C functions of hdbscan share.
#pragma once

#include <memory>
#include <span>

#include "c/support.hpp"
#include "quintet/c/hdbscan.h"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/hdbscan/predictor.hpp"

struct quintet_hdbscan_clustering {
  quintet::hdbscan::cluster_result model;
  quintet_type type = 0;  ///< of the points; 0 when it was not made from points
  std::int64_t dim = 0;   ///< of the points
};

struct quintet_hdbscan_predictor {
  std::shared_ptr<const void> from_file;  ///< what the others refer to; null where the caller has it
  const quintet_hdbscan_clustering* fitted;
  quintet::hdbscan::predictor place;
};

namespace quintet::c {

/// Options as the library has them; null: the defaults. Throws InvalidArgument for an enumerated value that is none.
quintet_hdbscan_options known_options(const quintet_hdbscan_options* c_options);
hdbscan::cluster_options cluster_options(const quintet_hdbscan_options* c_options);
/// Those of n points; empty: 1 each.
std::span<const double> weights_of(const quintet_hdbscan_options* c_options, std::int64_t n);
/// For functions without weights of points: throws InvalidArgument where `c_options` have any.
void refuse_weights(const quintet_hdbscan_options* c_options, const char* reason);

/// `points` of a clustering, again. Throws InvalidArgument unless it was made from such points.
any_matrix clustered_points(const quintet_hdbscan_clustering& clustering, const void* points, quintet_type type,
                            std::int64_t n, std::int64_t dim, std::int64_t stride);

}  // namespace quintet::c
