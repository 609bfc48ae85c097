// Labels for new points from a finished clustering, without clustering again.
//
//   auto model = quintet::hdbscan::cluster(points, {.min_cluster_size = 10});
//   auto found = quintet::hdbscan::approximate_predict(model, points, new_points);
//   found.labels[i], found.probabilities[i]
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/device/device.hpp"
#include "quintet/hdbscan/hdbscan.hpp"

namespace quintet::hdbscan {

/// Places of M new points in a clustering.
struct prediction {
  std::vector<std::int64_t> labels;      ///< M: labels of the clustering, or -1 for noise
  std::vector<double> probabilities;     ///< M: membership in [0, 1], 0 for noise
  std::vector<double> outlier_scores;    ///< M: GLOSH in [0, 1]
  std::vector<std::int64_t> neighbours;  ///< M: the point of the clustering that each was joined to; -1 for none
  std::vector<double> lambdas;           ///< M: density 1 / m at which it joins; +infinity at m = 0, 0 for none
};

/// Puts the rows of `new_points` [M x D], M >= 0, into the clustering `model` of the rows of `points` [N x D], which
/// stays as it is (McInnes' approximate_predict; scikit-learn-contrib/hdbscan, prediction.py). Each row is treated
/// alone:
///
/// 1. Its core distance is the distance to its k-th nearest row of `points`, k = model.neighbours. The fit would have
///    given it the same among those rows (with count_self it is its own first neighbour there as well). Where points
///    have weights, it is the smallest radius within which they sum to k.
/// 2. It joins the row j that comes first in the order (m, d, j), m = max(core, core_j, d / alpha), d their distance,
///    core_j = model.core_distances[j], alpha and metric those of model.options. The search is exact over all N rows.
/// 3. lambda = 1 / m. If j leaves its cluster at a density of at most lambda, the row leaves with it; otherwise it
///    belongs to the ancestor of that cluster which exists at lambda.
/// 4. The label is that of the selected cluster at or above, by the rules of label_points(). The probability is
///    min(lambda, M) / M, M the largest finite lambda of the selected cluster's own rows; 1 where M = 0 or lambda is
///    infinite (no infinite value makes a NaN). The outlier score is that of outlier_scores() for the place found in 3.
///
/// A row with NaN or infinity (cosine: or without length) gets label -1, probability 0, score 1, neighbour -1; so does
/// every row when `points` has no valid one. A model without clusters labels everything -1.
///
/// These differ from the peer, version 0.8.43. Its core_new is the distance to the (k + 1)-th nearest row and its
/// core_j count the row itself, so one is larger and the other smaller than in its fit. It searches only the 2 k
/// nearest rows. It has no minimum density for a selected root. On iris (30 new rows) all labels agree with it, on
/// 384-dimensional sentence embeddings (126 new rows) 123 do. The other three are just within a cluster here and just
/// outside there. Probabilities then differ by at most 0.164 and 0.039.
///
/// Points are of the type that the model was made from: float, double, half or bfloat16. Same bits for any number of
/// threads and on every device, and for a row alone or among others. Throws InvalidArgument if `model` does not have as
/// many rows as `points`, or for other dimensions; OutOfMemory, DeviceError. `model` must be a result of cluster(),
/// because the rest of it is not checked.
///
/// Cost: M N D multiply-adds. Memory on the device: one copy of the points, and for up to 8192 new rows at a time their
/// coordinates and lists. A list has 16 (float) or 24 (double) bytes times k a row, at most 64 MB, times the splits
/// that keep a device busy.
prediction approximate_predict(const cluster_result& model, any_matrix points, any_matrix new_points,
                               const Device& device = Device::best());

}  // namespace quintet::hdbscan
