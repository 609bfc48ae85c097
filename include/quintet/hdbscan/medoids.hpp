// One point for each cluster: its medoid, which is one of its members, or its centroid, which need not be.
//
//   auto model = quintet::hdbscan::cluster(points, options);
//   auto best = quintet::hdbscan::medoids(points, model.labels, model.probabilities);
//   best[k]      // row of `points` in the middle of cluster k
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/device/device.hpp"
#include "quintet/pairwise/metric.hpp"

namespace quintet::hdbscan {

/// For every label k the medoid: the row i of `points` [N x D] with labels[i] = k and the least weighted total distance
/// to the members of the cluster. That distance is the sum over j with labels[j] = k of weights[j] d(i, j). Among
/// equals it is the first; for a label without a valid row it is -1. (weighted_cluster_medoid of
/// scikit-learn-contrib/hdbscan, with the probabilities as weights.)
///
/// labels: N in [-1, N), -1 for noise; K is one more than the largest. weights: N values >= 0, finite; an empty span
/// stands for 1 each, and so do weights that are all 0 within a cluster. Rows with NaN or infinity (cosine: or without
/// length) are left out. Real is float or double; distances are taken in it and summed in double, in the order of the
/// rows. Same result for any number of threads and on every device.
///
/// Throws InvalidArgument for labels, weights, shapes or a curvature out of range; OutOfMemory, DeviceError. Cost: n^2
/// D multiply-adds for a cluster of n points; memory for a copy of its points, and 64 MB of distances.
std::vector<std::int64_t> medoids(any_matrix points, std::span<const std::int64_t> labels,
                                  std::span<const double> weights = {},
                                  const point_metric& distance = metric::euclidean,
                                  const Device& device = Device::best());

/// The weighted mean of the members of every cluster, [K x D] row by row; labels and weights as for medoids(). NaN for
/// a label that no valid row has. Rows are taken as they are, whatever the distance, but for metric::haversine: there
/// the mean is that of unit vectors, and the result the latitude and longitude of its direction. D of rows of integers
/// is their number. Rows with NaN or infinity, or beyond the sphere's range, are left out. Sums are in double, in the
/// order of the rows. Throws InvalidArgument as medoids() does, for haversine where the mean of a label has length 0
/// (at most 1e-14), and for hamming, jaccard and product. Cost: O(N D), two passes over the points; memory for the
/// result and, on an offload device, for the points as they are stored.
std::vector<double> weighted_centroids(any_matrix points, std::span<const std::int64_t> labels,
                                       std::span<const double> weights = {},
                                       const point_metric& distance = metric::euclidean,
                                       const Device& device = Device::best());

}  // namespace quintet::hdbscan
