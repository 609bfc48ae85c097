// What priors say of named species: calibrated heights, sets that stay together, the outgroup, a backbone.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "quintet/core/philox.hpp"
#include "quintet/snp/inference/priors.hpp"
#include "quintet/snp/network/network_state.hpp"

namespace quintet::snp {

///@{
/// The words for a rule in errors, and the key of prior_options::places.
std::string calibration_rule(const std::vector<std::string>& names);
std::string species_rule(const char* key, const std::vector<std::string>& names);
std::string backbone_rule(const std::string& newick);
///@}

/// A set of leaves, 64 to a word.
using leaf_set = std::vector<std::uint64_t>;

/// The rules of some priors for the leaves of states with these species. Immutable.
class species_rules {
 public:
  /// Throws InvalidArgument for species that do not exist, sets that are too small or too large, and rules that
  /// contradict each other, naming them.
  species_rules(const prior_options& options, const std::vector<std::string>& species);

  bool has_constraints() const { return !clades_.empty() || !outgroup_.empty(); }
  bool has_calibrations() const { return !calibrations_.empty(); }

  /// Whether a state keeps the constraints. O(nodes^2), with a backbone O(2^r nodes).
  bool admit(const network_state& state) const;
  /// Sum of the log densities of the calibrated heights.
  double log_density(const network_state& state) const;

  /// Replaces nodes and heights by a random tree that keeps the constraints, with calibrated heights drawn from their
  /// densities; height and origin as they are where nothing is said of them. Throws InvalidArgument if 1000 draws of
  /// the heights contradict each other.
  void draw_tree(network_state& state, bool has_free_origin, random_stream& random) const;

 private:
  struct clade {
    std::string rule;  // as it was written
    leaf_set members, universe;
    bool is_whole;  // of the network, not of the trees that it displays
  };
  struct calibrated {
    std::string rule;
    std::vector<std::int32_t> leaves;  // none: the root
    leaf_set members;
    univariate_prior density;
  };
  // With the place where it was read, where that is known.
  std::string placed(const std::string& rule) const;
  leaf_set set_of(const std::string& rule, const std::vector<std::string>& names) const;
  void add_clade(const std::string& rule, const leaf_set& members, const leaf_set& universe, bool is_whole);
  void add_backbone(const std::string& newick);
  void check_clades() const;
  void check_calibrations(const univariate_prior& origin) const;
  bool displays_clades(const network_state& state) const;
  bool can_join(const leaf_set& a, const leaf_set& b) const;
  void join_leaves(network_state& state, random_stream& random) const;
  bool draw_heights(network_state& state, random_stream& random) const;

  std::vector<std::string> species_;
  std::map<std::string, std::string> places_;
  leaf_set all_, outgroup_;
  std::vector<clade> clades_;
  std::vector<calibrated> calibrations_;
};

}  // namespace quintet::snp
