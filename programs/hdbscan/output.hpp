// What quintet-hdbscan found, for people and into files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/hdbscan/prediction.hpp"
#include "quintet/io/matrix.hpp"
#include "support/driver.hpp"

namespace quintet::driver {

/// Further points.
struct predicted_points {
  hdbscan::prediction prediction;
  std::optional<io::matrix<double>> memberships;
};

struct findings {
  hdbscan::cluster_result clustering;
  bool single_precision = true;  ///< core distances are floats
  std::optional<std::vector<std::int64_t>> cut_labels, near_labels;
  std::optional<io::matrix<double>> memberships;
  std::optional<predicted_points> predicted;
};

/// Clusters, noise, counters and stage times into the summary, and a table on the screen.
void report(session& session, const hdbscan::cluster_result& result);

void write_csv(const std::string& path, const findings& all);
/// Predictions only if predicted_too.
void write_hdf5(const session& session, const std::string& path, const findings& all, bool predicted_too);
void write_predicted_csv(const std::string& path, const predicted_points& points);
/// Nothing but predictions.
void write_predicted_hdf5(const session& session, const std::string& path, const predicted_points& points);

}  // namespace quintet::driver
