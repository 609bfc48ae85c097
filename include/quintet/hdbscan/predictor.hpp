// A clustering that is kept ready for new points: microseconds for one.
//
//   auto model = quintet::hdbscan::cluster(points, {.min_cluster_size = 10});
//   const quintet::hdbscan::predictor place(model, points);
//   auto found = place.predict(new_point);                // bits of approximate_predict(model, points, new_point)
//   auto soft = place.membership_vectors(new_point);
//
// approximate_predict() packs all points on every call. A predictor has them in the order of a tree, the condensed tree
// with its peaks, and the exemplars.
#pragma once

#include <memory>
#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/device/device.hpp"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/hdbscan/prediction.hpp"

namespace quintet::hdbscan {

namespace detail {
struct prediction_state;
}

/// A clustering with an index of its points. Copies share it; const members may run on many threads at once.
class predictor {
 public:
  /// For the clustering `model` of `points` [N x D], which both have to outlive it and its copies. Throws what
  /// approximate_predict() throws. Cost: about D N log N. Memory: an index of the points, and about 60 bytes a point.
  predictor(const cluster_result& model, any_matrix points, const Device& device = Device::best());

  /// approximate_predict(model, points, new_points), bit for bit. Fewer than 64 rows are searched for one after another
  /// by the calling thread, others as approximate_predict() does, on the device. So are all that are far beyond the
  /// points, as neighbours::index::nearest() says, and rows next to points with weights. Throws InvalidArgument for
  /// another type or dimension.
  prediction predict(any_matrix new_points) const;
  /// membership_vectors(model, points, new_points), bit for bit; rows and errors as for predict().
  std::vector<double> membership_vectors(any_matrix new_points) const;

 private:
  std::shared_ptr<const detail::prediction_state> state_;
};

}  // namespace quintet::hdbscan
