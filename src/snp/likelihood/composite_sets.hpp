// The sets of species of a composite likelihood, with their data, and the likelihood that they add up to.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/markers/data.hpp"
#include "quintet/snp/network/model.hpp"
#include "quintet/snp/network/network.hpp"
#include "snp/likelihood/restriction.hpp"
#include "snp/likelihood/star_likelihood.hpp"
#include "snp/likelihood/worker_team.hpp"

namespace quintet::snp {

using species_set = std::vector<std::int64_t>;

/// All sets of `size` numbers below n, in order.
std::vector<species_set> list_sets(std::int64_t n, std::int64_t size);

/// Whether all branches and the root have one theta.
bool has_common_theta(const Network& network);

/// The pairs (copies, red) that occur in a species and those of constant sites, numbered, and the number of every
/// pattern.
struct species_codes {
  species_counts counts;
  std::vector<std::int64_t> of_pattern;
};

/// Likelihoods of all sets, on several threads, each on one. The networks have one theta. Triples that see a tree are
/// stars, which are computed together where the data allow it.
class composite_sets {
 public:
  /// What is differentiated: lengths and gammas of these branches, and theta.
  struct parts {
    std::vector<char> branches;
    bool theta = true;
  };
  /// A sum over the sets, and its derivatives by parameters of the whole network.
  struct sums {
    double value = 0, theta = 0;
    std::vector<double> length, gamma;
  };

  /// Takes the sets whose species all have copies. The data must outlive it.
  composite_sets(const Data& data, std::int64_t size, const model& m, const likelihood_options& options);

  std::span<const species_set> sets() const { return sets_; }
  std::int64_t skipped() const { return skipped_; }
  /// Log-likelihood of every set; of those whose part of the network is as it was at the last call it is kept.
  const std::vector<double>& values(const Network& network);
  /// How much larger the exact value of a set is at most, at the last call.
  double truncation_bound(std::size_t set) const { return terms_[set].truncation_bound; }
  /// The same with derivatives, by differences of one part in a million.
  sums differentiate(const Network& network, const parts& moved);
  /// Sum over the sets of the log-likelihood of every pattern of all species, corrections shared out evenly.
  std::vector<double> pattern_sums(const Network& network);

 private:
  // The last part of the network that a set saw.
  struct term {
    term(Data own, std::vector<std::uint64_t> own_codes) : data(std::move(own)), codes(std::move(own_codes)) {}
    Data data;
    std::vector<std::uint64_t> codes;  // of its patterns
    std::vector<double> parameters;    // and the topology; empty: not computed
    std::int64_t slopes_number = -1;   // number of the list of parts that the slopes are for
    double value = 0, truncation_bound = 0, theta_slope = 0;
    std::vector<double> length_slope, gamma_slope;
    std::vector<std::vector<std::int64_t>> branches;
    star_rows rows;  // where stars have a likelihood of their own
  };
  // What a set sees of a network now.
  struct part {
    restricted_network network;
    bool is_star = false;
    std::array<std::int64_t, 3> ways{};  // of a star that is to be computed
  };

  part part_of(const Network& network, std::span<const std::int64_t> leaf_of_species, std::size_t i) const;
  /// Whether the last value and slopes of the set are still right.
  bool is_known(term& of, const restricted_network& part, const parts* moved) const;
  void compute(term& of, const part& own, const parts* moved) const;
  void begin_stars(const Network& network, std::vector<std::optional<part>>& parts_of_sets,
                   const std::vector<char>& is_known, const parts* moved);
  void compute_star(term& of, const part& own) const;
  star_rows rows_of(const Data& data, const species_set& set) const;
  static bool is_any_moved(const term& of, const parts& moved);
  void clear_slopes(term& of) const;
  void differentiate(term& of, Likelihood& likelihood, const parts& moved) const;
  std::vector<double> logs_of_codes(const Network& part, std::size_t i) const;
  void update(const Network& network, const parts* moved);

  const Data& data_;
  std::vector<species_codes> codes_;
  std::vector<species_set> sets_;
  std::vector<term> terms_;
  model model_;
  likelihood_options options_;
  std::optional<star_likelihood> stars_;
  std::int64_t skipped_ = 0, parts_number_ = 0;
  parts parts_;
  std::vector<double> values_;
  worker_team workers_;
};

/// A composite likelihood with the members of Likelihood that a climb needs.
class composite_likelihood {
 public:
  composite_likelihood(composite_sets& sets, Network network, composite_sets::parts moved)
      : sets_(sets), accepted_(network), network_(std::move(network)), moved_(std::move(moved)) {}

  double evaluate();
  snp::gradient gradient();
  void accept() { accepted_ = network_; }
  void reject() {
    network_ = accepted_;
    is_rejected_ = true;
  }
  const Network& network() const { return network_; }
  void set_length(std::int64_t b, double length) { network_.set_length(b, length); }
  void set_theta(std::int64_t b, double theta) { network_.set_theta(b, theta); }
  void set_root_theta(double theta) { network_.set_root_theta(theta); }
  void set_gamma(std::int64_t b, double gamma) { network_.set_gamma(b, gamma); }

 private:
  composite_sets& sets_;
  Network accepted_, network_;
  composite_sets::parts moved_;
  composite_sets::sums sums_{};  // of the last value: most trial points are taken, and then their slopes are there
  bool is_rejected_ = false;     // the sums are those of a point that was left
};

}  // namespace quintet::snp
