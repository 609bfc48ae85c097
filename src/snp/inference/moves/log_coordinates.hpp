// The free numbers of a state as a point of R^d, in an order that follows from the network alone:
//   log(height - height of the highest child) of the inner nodes, log(origin - height of the root),
//   log theta of the branches, or of the common theta,
//   logit gamma of the reticulations (of the parent branch with the smaller number), logit pi1.
// Nodes and branches are in the order of their canonical numbers; the root branch comes last. Every point is a state of
// the topology, up to rounding: a height is that of its highest child plus a positive number. With a fixed origin the
// root may come above it.
//
// The Jacobian. Heights as functions of the differences are triangular with 1 on the diagonal, in the order of rising
// heights, whichever child is the highest. So with y = log or logit x, |dx / dy| is the product of the differences,
// thetas, and g (1 - g) of all g. log_volume() is its logarithm.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "quintet/snp/network/network_state.hpp"

namespace quintet::snp {

/// The numbers that are free.
struct coordinate_parts {
  bool heights = true, origin = true, thetas = true, gammas = true, pi1 = true;
};

class log_coordinates {
 public:
  log_coordinates(const network_state& state, const coordinate_parts& parts);

  /// d.
  std::size_t size() const { return logarithms_ + logits_; }
  /// Equal exactly for isomorphic networks: child and parent of every branch as one number.
  const std::vector<double>& topology() const { return topology_; }
  /// Whether nodes and branches have the same numbers. In a topology with symmetries the numbers depend on heights,
  /// thetas and gammas, so a step there may change them.
  bool has_order_of(const log_coordinates& other) const {
    return order_.node == other.order_.node && order_.branch == other.order_.branch;
  }

  /// The point of a state with this order.
  std::vector<double> point_of(const network_state& state) const;
  /// Moves a state with this order to a point.
  void move_to(std::span<const double> point, network_state& state) const;
  /// log |d numbers / d coordinates| at a point.
  double log_volume(std::span<const double> point) const;

 private:
  coordinate_parts parts_;
  canonical_numbering order_;
  std::vector<double> topology_;
  std::vector<std::int32_t> inner_, rising_;  // inner nodes by number, and by height
  std::vector<std::int32_t> branches_;        // by number, the root branch last
  std::vector<std::int32_t> gammas_;          // parent branches of reticulations
  std::size_t logarithms_ = 0, logits_ = 0;
};

}  // namespace quintet::snp
