// Clusterings with their points, in HDF5 files: made once, asked by later processes where new points belong.
//
//   quintet::io::write_model("model.h5", model, points);
//   ...
//   const auto kept = quintet::io::read_model("model.h5");
//   const quintet::hdbscan::predictor place(kept.clustering, kept.points());
//   auto found = place.predict(new_points);
//
// The file holds what the tree cannot be made without, in the group "model": points, core distances, the spanning tree,
// options. Labels and trees are made again, with the same bits.
#pragma once

#include <string>
#include <variant>

#include "quintet/core/any_view.hpp"
#include "quintet/core/storage16.hpp"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/io/hdf5.hpp"
#include "quintet/io/matrix.hpp"

namespace quintet::io {

/// A clustering and the points it was made from, in the type that they had.
struct hdbscan_model {
  hdbscan::cluster_result clustering;  ///< without counters, seconds and ran_on
  std::variant<matrix<float>, matrix<double>, matrix<half>, matrix<bfloat16>> rows;  ///< [N x D]

  /// A view of the rows, valid as long as they are. O(1).
  any_matrix points() const QUINTET_LIFETIMEBOUND;
};

/// Adds the group "model" to a file that is being written. `points` [N x D] are those of the clustering, in host
/// memory. Throws InvalidArgument for another number of them, and what hdf5_writer throws. One pass over the points.
void write_model(hdf5_writer& out, const hdbscan::cluster_result& clustering, any_matrix points);
/// The same as a separate file, which appears as a whole or not at all.
void write_model(const std::string& path, const hdbscan::cluster_result& clustering, any_matrix points);

/// Reads what write_model() wrote. Throws FileError with the path for a file that cannot be read, holds no model or one
/// of a later version, and where parts of the model do not fit each other. Cost: one pass over the file, and that of
/// hdbscan::refit().
hdbscan_model read_model(const std::string& path);

}  // namespace quintet::io
