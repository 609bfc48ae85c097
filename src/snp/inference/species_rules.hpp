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

class stable_ancestors;

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

  /// A constraint that a state breaks, null if there is none. O(nodes^2), with a backbone O(2^r nodes).
  const std::string* broken_rule(const network_state& state) const;
  /// In words a constraint that a state breaks, or a calibration that is impossible with its heights; "" without one.
  std::string describe_conflict(const network_state& state) const;
  /// Sum of the log densities of the calibrated heights.
  double log_density(const network_state& state) const;

  /// Replaces nodes and heights by a random tree that keeps the constraints, with calibrated heights drawn from their
  /// densities; height and origin as they are where nothing is said of them. Throws InvalidArgument if 1000 draws of
  /// the heights contradict each other, naming two of the rules.
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
    leaf_set members, below;           // below: what the ancestor has below in every network
    univariate_prior density;
    std::string words() const;
    std::int32_t node_of(const network_state& state, const stable_ancestors& ancestors) const;
  };
  struct dated_height {
    const calibrated* rule = nullptr;
    double height = 0;
  };
  // With the place where it was read, where that is known.
  std::string placed(const std::string& rule) const;
  leaf_set set_of(const std::string& rule, const std::vector<std::string>& names) const;
  void add_clade(const std::string& rule, const leaf_set& members, const leaf_set& universe, bool is_whole);
  void add_backbone(const std::string& newick);
  leaf_set certainly_below(leaf_set members) const;
  void check_clades() const;
  void check_calibrations(const univariate_prior& origin) const;
  bool displays_clades(const network_state& state) const;
  bool can_join(const leaf_set& a, const leaf_set& b) const;
  std::vector<dated_height> draw_dates(random_stream& random) const;
  void join_leaves(network_state& state, const std::vector<dated_height>& dates, random_stream& random) const;
  std::string set_heights(network_state& state, const std::vector<dated_height>& dates, random_stream& random) const;

  std::vector<std::string> species_;
  std::map<std::string, std::string> places_;
  leaf_set all_, outgroup_;
  std::string outgroup_rule_, backbone_rule_;
  std::vector<clade> clades_;
  std::vector<calibrated> calibrations_;
};

}  // namespace quintet::snp
