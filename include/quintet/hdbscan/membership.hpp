// Soft clustering: for every point a vector of K numbers, how much it belongs to each of the K clusters.
//
//   auto model = quintet::hdbscan::cluster(points, {.min_cluster_size = 10});
//   auto soft = quintet::hdbscan::all_points_membership_vectors(model, points);     // [N x K]
//   auto more = quintet::hdbscan::membership_vectors(model, points, new_points);    // [M x K]
//
// After McInnes' soft clustering for HDBSCAN* (scikit-learn-contrib/hdbscan, prediction.py). With
//
//   d_k       distance to the nearest exemplar of cluster k (exemplars())
//   c, lambda cluster that the point leaves, and the density at which it does: from the condensed tree for a point of
//             the clustering, by the rules of approximate_predict() for a new one
//   h_k       density up to which the point and cluster k are in one cluster: lambda if one of c and k is the other or
//             below it, else the density at which the cluster splits that holds them both
//   M_c       largest finite lambda of the own rows of cluster c, as in label_points()
//
// the vector is v_k = P w_k / sum_k w_k, where
//
//   points of the clustering:  w_k = (1 / d_k) o_k,         o_k = exp(exp(-M_c / h_k))
//   new points:                w_k = (1 / d_k)^(1/2) o_k^2, o_k = exp(M_c / (M_c - h_k))
//   probability of any:        P = h / max(lambda, M_s),    h = max_k h_k, s the first label with h_s = h
//
// The two kinds of o_k are the peer's; they mean the same and differ in sharpness. All v_k are in [0, 1] and their sum
// is P. A cluster with an exemplar at distance 0 takes the whole; several of them share it, as if 1 / d were one large
// number. So does a cluster with M_c = h_k for a new point. If these two exclude each other, the tree decides. In the
// limit of infinite lambda M_c / h_k is 1 if both are infinite, and infinite if only M_c is; nothing becomes NaN.
// Several labels have h_k = h if the point leaves a common ancestor, as most noise does. P, but not the proportions,
// then depends on the numbers of the clusters, as it does in the peer.
//
// all_points_membership_vectors() reproduces that of the peer, version 0.8.43, to rounding on one tree. These differ:
// * A new point that joins above its neighbour's cluster belongs to the ancestor at that density, as its label does.
//   The peer keeps the neighbour's cluster as c, so its nearest cluster can get the least weight. The core distances
//   are those of approximate_predict().
// * The peer adds 1e-8 to lambda here and there, divides by 1e-8 instead of 0, and rounds a lambda to float: results
//   depend on the unit of length. Here they do not.
// * No clusters: a matrix of no columns. Rows with NaN or infinity: zeros, without further effect.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/device/device.hpp"
#include "quintet/hdbscan/hdbscan.hpp"

namespace quintet::hdbscan {

/// Receives rows first_row, first_row + 1, ... of the matrix, K columns; the view is valid during the call only. Return
/// false to stop.
using membership_callback = std::function<bool(std::int64_t first_row, matrix_view<const double> rows)>;

/// v for the rows of `points` [N x D], the points that `model` is a clustering of: [N x K], row by row.
///
/// Points are of the type that the model was made from: float, double, half or bfloat16. Same bits for any number of
/// threads and on every device. Throws InvalidArgument when `model` is not of as many rows as `points`; OutOfMemory,
/// DeviceError. Cost: N E D multiply-adds for E exemplars in all, and 2 N K exponentials; memory for the result, the
/// exemplars, and 32 MB for a block of rows.
std::vector<double> all_points_membership_vectors(const cluster_result& model, any_matrix points,
                                                  const Device& device = Device::best());

/// The same by blocks of rows, in ascending order: `budget_bytes` >= 0 is for the values of one block (at least 64 rows
/// and at most 8192 are in a block). Nothing N x K is stored. Returns false if the callback stopped it; it is not
/// called when there are no rows or no clusters. Throws InvalidArgument also for a negative budget and an empty
/// callback.
bool all_points_membership_rows(const cluster_result& model, any_matrix points, const membership_callback& receive,
                                std::int64_t budget_bytes = 32 << 20, const Device& device = Device::best());

/// v for the rows of `new_points` [M x D], which `model` has not seen: [M x K], row by row. `points` are those of the
/// model. Cost, memory and errors: those of all_points_membership_vectors() (with M in place of N) and of
/// approximate_predict().
std::vector<double> membership_vectors(const cluster_result& model, any_matrix points, any_matrix new_points,
                                       const Device& device = Device::best());

/// The same by blocks of rows: budget, callback, result and errors as for all_points_membership_rows().
bool membership_rows(const cluster_result& model, any_matrix points, any_matrix new_points,
                     const membership_callback& receive, std::int64_t budget_bytes = 32 << 20,
                     const Device& device = Device::best());

}  // namespace quintet::hdbscan
