// quintet-hdbscan --sweep: many parameters at once.
#pragma once

#include "hdbscan/arguments.hpp"
#include "quintet/core/any_view.hpp"
#include "support/driver.hpp"

namespace quintet::driver {

/// Clusters the points with all settings, says which is the best, and writes the files.
void sweep_points(session& session, const arguments& a, any_matrix points, const std::vector<double>& weights,
                  bool single_precision);

}  // namespace quintet::driver
