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

namespace quintet::snp {

/// Ways between species in expected mutations, from how often two copies differ; row-major.
struct pair_distances {
  std::vector<std::string> species;
  std::vector<double> distance;
  std::vector<double> weight;  ///< 1 / variance over sites; 0 for pairs that are at no site together
  double theta = 0;            ///< from pairs within species; as it was said where there are none

  std::size_t place(std::size_t a, std::size_t b) const { return a * species.size() + b; }
};

/// Of sites with these weights, by pattern. `theta` is used where sites are polymorphic only, or species have one copy.
pair_distances measure_distances(const Data& data, const model& m, double theta, std::span<const double> weights);

/// Saitou and Nei's tree, rooted in the middle of the last branch; leaf i is species i. O(species^3).
Network join_neighbours(const pair_distances& distances, double theta);

/// Lengths of all branches by weighted least squares, >= 0; a pair below a reticulation goes the same way up.
struct pair_fit {
  double residual = 0;  ///< sum of weight * (distance - way)^2
  std::vector<double> lengths;
};
/// O(2^r pairs branches + branches^3).
pair_fit fit_lengths(const Network& network, const pair_distances& distances);

}  // namespace quintet::snp
