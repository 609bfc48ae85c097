// Distances of species from pairs of copies: the tree that joins neighbours, and quick fits of networks, which choose
// the topologies that a search looks at.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "quintet/snp/markers/data.hpp"
#include "quintet/snp/network/model.hpp"
#include "quintet/snp/network/network.hpp"
#include "snp/likelihood/worker_team.hpp"

namespace quintet::snp {

/// Ways between species in expected mutations, from how often two copies differ; row-major.
struct pair_distances {
  std::vector<std::string> species;
  std::vector<double> distance;
  /// Pairs a < b in rows and columns: the inverse of the covariance of their distances over sites. Pairs share
  /// branches, so their errors go together, and what tells topologies apart is known much better than any distance is.
  /// Zeros for pairs that are at no site together.
  std::vector<double> precision;
  double theta = 0;  ///< from pairs within species; as it was said where there are none

  std::size_t pairs() const { return species.size() * (species.size() - 1) / 2; }
  std::size_t place(std::size_t a, std::size_t b) const { return a * species.size() + b; }
};

/// Of sites with these weights, by pattern. `theta` is used where sites are polymorphic only, or species have one copy.
/// The covariance shrinks towards its diagonal by the share pairs^2 / (pairs^2 + sites^2), so that few sites have an
/// inverse too; more would hide the small variances of what tells topologies apart. O(patterns pairs^2 + pairs^3).
pair_distances measure_distances(const Data& data, const model& m, double theta, std::span<const double> weights,
                                 worker_team& workers);

/// Saitou and Nei's tree, rooted in the middle of the last branch; leaf i is species i. O(species^3).
Network join_neighbours(const pair_distances& distances, double theta);

/// Lengths of all branches by generalised least squares, >= 0; a pair below a reticulation goes the same way up.
struct pair_fit {
  double residual = 0;  ///< of distances minus ways: its quadratic form with the precision
  std::vector<double> lengths;
};
/// O(2^r pairs branches + pairs^2 h + branches^3), h branches on the way of a pair.
pair_fit fit_lengths(const Network& network, const pair_distances& distances);

}  // namespace quintet::snp
