// Prior densities of species networks with their parameters, and draws from them.
//
//   network            = birth-hybridization | poisson(kappa) | phylonet | phylonet-ee
//   speciation-rate    = 10        or   netdiv   = exponential(10)       (d = lambda - nu; mean)
//   hybridization-rate = 5         or   turnover = beta(1,1)             (q = nu / lambda)
//   origin             = exponential(0.1) | fixed(x)                     (height tau of the origin; mean)
//   inheritance        = beta(1,1)                                       (symmetric: parents have no order)
//   theta              = common gamma(2,20) | each gamma(2,20) | common fixed(0.05) ...
//   theta-mean         = lognormal(mu, sigma)                            (m; only with theta = each gamma(shape))
//   pi1                = fixed(0.5) | beta(2,2)
//   calibrate A,B      = normal(mean,sd) | lognormal(mu,sigma) | uniform(a,b) | exponential(mean,offset) |
//                        gamma(shape,rate,offset)                        (calibrate root = ... too; several)
//   monophyletic       = A,B,C                                           (several)
//   outgroup           = A,B
//   backbone           = ((A,B),C)
//   clock              = fixed(1e-9) | lognormal(mu,sigma)               (expected mutations a year)
//   generation-time    = 5                                               (years; with a clock)
//
// Densities of theta: gamma(shape, rate), invgamma(shape, scale), exponential(mean), lognormal(mu, sigma), fixed(x);
// with a common mean m, gamma(shape): theta ~ Gamma(shape, shape / m). All have their constants, because the number of
// parameters changes.
//
// *Calibrations* multiply the prior by a density of the height of the most recent common ancestor of some species. In a
// network that is the lowest node on every way from the root to each of them. The product is not normalised again:
// where rates are sampled (netdiv, turnover), their density is then not the one written. Sample it without data.
//
// *Constraints* restrict the class of networks. Species are monophyletic if their common ancestor has no others below.
// The root separates the outgroup from all others. Every tree that the network displays, restricted to the species of
// the backbone, is the backbone.
//
// *Clock.* With a clock rate c all priors and calibrations are of heights in years, and so of thetas divided by c: that
// is 4 N_e times the generation time. States still have expected mutations, c times as much.
//
// *Birth-hybridization.* The process runs from the origin down and starts with one lineage at tau. Each lineage splits
// at rate lambda, each pair merges into a reticulation at rate nu, gamma ~ Beta(a, a). At height 0 there are n lineages
// with random names. Density on networks up to isomorphism, with j lineages in an interval dt of height, the one above
// the root included:
//   (n-1+r) log lambda + r log(2 nu) + sum log Beta(gamma_i; a, a) - sum (j lambda + j (j-1)/2 nu) dt + log p(tau).
// 2 nu, because the two children of each of the n-1+r splits can be exchanged: 2^(n-1+r) histories make one network.
// The constant for the names is left out. lambda and nu may have densities, and the prior is then the product: it is
// not divided by the chance of n lineages.
//
// *Poisson*: log Poisson(r; kappa) + log f(N | tau) - log P_{n,r}(tau) + log p(tau). f is the density above for fixed
// tau, and P_{n,r}(tau) is the chance that the process has n lineages and r reticulations at height 0.
//
// *PhyloNet*, to compare with it: tau fixed at 10; log Poisson(r; 1) - sum_{i=1..r} log((E+3i)(E+3i-1)), E = 2n - 2;
// heights and gammas flat, one theta ~ Gamma(shape 2, scale m), p(m) ~ 1/m. Heights are not normalised and p(m) is
// improper, so there is no draw from it. phylonet-ee: every height ~ Exp, mean 10. Of the other keys only pi1 goes with
// it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "quintet/core/philox.hpp"
#include "quintet/snp/network/network_state.hpp"

namespace quintet::snp {

/// A density on the positive numbers, or on (0, 1) for beta.
struct univariate_prior {
  /// The families. `fixed` is a point.
  enum class family { fixed, exponential, gamma, invgamma, lognormal, beta, normal, uniform };
  family kind = family::fixed;  ///< which one
  ///@{
  /// fixed: a is the value; exponential: a is the mean; gamma: shape a, rate b; invgamma: shape a, scale b; lognormal:
  /// mean a and standard deviation b of the logarithm; beta: its two shapes. normal: mean a, standard deviation b, cut
  /// at 0 and not normalised again; uniform: its ends.
  double a = 1, b = 1;
  ///@}
  double offset = 0;  ///< exponential, gamma: of x - offset; otherwise 0

  /// Natural logarithm of the density; -infinity outside the support; 0 for a point, whatever x. O(1).
  double log_density(double x) const;
  /// A draw. Takes as many numbers as it needs; the same bits on all platforms up to their logarithms.
  double draw(random_stream& random) const;
  /// Whether nothing is to be sampled.
  bool is_fixed() const { return kind == family::fixed; }
  /// A number in the middle: the mean, or the median of lognormal and the scale of an invgamma without a mean.
  double middle() const;
  /// "gamma(2,20)".
  std::string text() const;
};

/// The densities of the network.
enum class network_prior { birth_hybridization, poisson, phylonet, phylonet_ee };

/// A density of the height of the most recent common ancestor of some species.
struct calibration {
  std::vector<std::string> species;  ///< two or more; empty: the root
  univariate_prior density;          ///< normal, lognormal, uniform, exponential or gamma
};

/// Values of the keys; the defaults are those of SnappNet where it has them.
struct prior_options {
  network_prior network = network_prior::birth_hybridization;  ///< key network
  double kappa = 1;                                            ///< poisson: the mean of r before it is cut off, > 0
  ///@{
  /// Keys speciation-rate and netdiv: the fixed rate lambda > 0, or the density of d; one of the two.
  std::optional<double> speciation_rate;
  univariate_prior netdiv{univariate_prior::family::exponential, 10, 1};
  ///@}
  ///@{
  /// Keys hybridization-rate and turnover: the fixed rate nu >= 0 (0 only with R = 0), or the density of q.
  std::optional<double> hybridization_rate;
  univariate_prior turnover{univariate_prior::family::beta, 1, 1};
  ///@}
  univariate_prior origin{univariate_prior::family::exponential, 0.1, 1};  ///< exponential or fixed
  double inheritance = 1;                                                  ///< a of Beta(a, a), > 0
  theta_mode thetas = theta_mode::each;                                    ///< key theta, its first word
  univariate_prior theta{univariate_prior::family::gamma, 2, 20};          ///< key theta
  /// Key theta-mean: theta.b is not used then, the rate of the gamma density is shape / m.
  std::optional<univariate_prior> theta_mean;
  univariate_prior pi1{univariate_prior::family::fixed, 0.5, 1};  ///< beta or fixed
  std::vector<calibration> calibrations{};                        ///< keys calibrate
  std::vector<std::vector<std::string>> monophyletic{};           ///< keys monophyletic, sets of species
  std::vector<std::string> outgroup{};                            ///< key outgroup; empty: none
  std::string backbone{};                                         ///< key backbone, a tree in Newick; empty: none
  std::optional<univariate_prior> clock{};                        ///< key clock: fixed or lognormal
  double generation_time = 0;                                     ///< key generation-time, in years; 0: not known
  /// Where the rules that name species were read, as "monophyletic = A,B" at "file:3". What they say is known to be
  /// right only when the species are; errors then have the place. No part of the prior, may be empty.
  std::map<std::string, std::string> places{};
};

/// Lines of a prior, and the name of the file or option that they are from.
struct prior_source {
  std::string name;   ///< for messages, before the line
  std::string lines;  ///< as parse_priors() reads them
};

/// Reads the keys. A later setting of a key in `text` is an error, '#' begins a comment, empty lines do not count.
/// `source` is for messages. Throws FileError(source, line, reason) for unknown keys (naming those there are),
/// values that cannot be read or are out of range, and keys that exclude each other. O(length of the text).
prior_options parse_priors(std::string_view text, std::string_view source = "priors");
/// The same of several sources together; errors have the source of a line, and count it from the first one there.
prior_options parse_priors(std::span<const prior_source> sources);
/// The keys and values in the notation of parse_priors(), one per line: reads back equal.
std::string to_text(const prior_options& options);

/// Parts of the log density, natural logarithms; total() is their sum.
struct prior_parts {
  double network = 0;  ///< heights, number of reticulations; of d and q, tau and the gammas too
  double theta = 0;    ///< thetas and their mean
  double pi1 = 0;      ///< frequency of allele 1
  double dates = 0;    ///< calibrations and the rate of the clock
  ///@{
  /// Their sum.
  double total() const { return network + theta + pi1 + dates; }
  ///@}
};

/// The prior of states with n species among the networks of a class. Immutable but for caches of P_{n,r}(tau) and of
/// the places of named species: an object serves one thread at a time; copies are independent.
class priors {
 public:
  /// Throws InvalidArgument for options out of range, n < 2, R < 0 or > 1000, nu = 0 with R > 0, and origin fixed or
  /// exponential with PhyloNet's prior other than its own. A sampled clock needs a free origin and free thetas.
  priors(prior_options options, std::int64_t species, network_limits limits = {});

  /// The options and limits as given.
  const prior_options& options() const { return options_; }
  /// See options().
  const network_limits& limits() const { return limits_; }
  /// Whether a state is in the class: is_allowed(), and the constraints. Throws InvalidArgument for species that the
  /// state does not have, and for rules that contradict each other. O(nodes^2), with a backbone O(2^r nodes).
  bool admit(const network_state& state) const;
  /// In words a constraint that a state breaks, or a calibration that is impossible with its heights; "" without one.
  /// Throws and costs as admit().
  std::string describe_conflict(const network_state& state) const;
  /// Number of species.
  std::int64_t species() const { return species_; }

  /// The log density of the state, without the check of the class and of broken_rule(); -infinity where a number is
  /// outside the support. O(nodes log nodes); Poisson: O((n + r) r lambda tau) more when lambda, nu or tau are new.
  /// Throws as admit().
  prior_parts parts(const network_state& state) const;
  /// parts().total().
  double log_density(const network_state& state) const { return parts(state).total(); }

  ///@{
  /// lambda and nu of a state: fixed, or from d and q: lambda = d / (1 - q), nu = q lambda; with fixed nu lambda = d +
  /// nu, with fixed lambda nu = q lambda. O(1).
  double speciation_rate(const network_state& state) const;
  double hybridization_rate(const network_state& state) const;
  ///@}
  ///@{
  /// The rate c of the clock, 1 without one; and the state with heights, origin and thetas divided by c. O(nodes).
  double clock_rate(const network_state& state) const;
  network_state in_years(const network_state& state) const;
  ///@}
  ///@{
  /// Which numbers are free.
  bool has_netdiv() const { return !options_.speciation_rate && !options_.netdiv.is_fixed(); }
  bool has_turnover() const { return !options_.hybridization_rate && !options_.turnover.is_fixed(); }
  bool has_theta() const { return !options_.theta.is_fixed(); }
  bool has_theta_mean() const { return options_.theta_mean && !options_.theta_mean->is_fixed(); }
  bool has_pi1() const { return !options_.pi1.is_fixed(); }
  bool has_origin() const { return !options_.origin.is_fixed(); }
  bool has_clock_rate() const { return options_.clock && !options_.clock->is_fixed(); }
  ///@}
  /// Whether the density is proper and can be drawn from: not PhyloNet's.
  bool is_proper() const {
    return options_.network != network_prior::phylonet && options_.network != network_prior::phylonet_ee;
  }

  /// A state from the prior, cut off at R, exactly (by conditioned simulation of the process); levels and bubbles by
  /// drawing again. PhyloNet: a tree from a birth process, theta 0.01, as a start only. Throws InvalidArgument when
  /// 1e6 draws are outside the class, or names are not `species()` of them, or there are calibrations, with which the
  /// density cannot be drawn from. Takes microseconds.
  network_state draw(std::shared_ptr<const std::vector<std::string>> names, random_stream& random) const;
  /// Where a chain may start: draw(), but with calibrations or constraints a random tree that keeps them. Calibrated
  /// heights are then drawn from their densities. Throws as draw(), and if they contradict each other.
  network_state draw_start(std::shared_ptr<const std::vector<std::string>> names, random_stream& random) const;
  /// A state from a file, in the units of these priors, becomes one to start from. With a clock it becomes c times as
  /// high. Numbers that are not set (netdiv, turnover, theta_mean, clock) are those in the middle of their densities.
  network_state completed(network_state state) const;

 private:
  // log P_{n,r}(tau), r = 0 ... R, for some rates and an origin.
  struct end_probabilities {
    double speciation_rate = 0, hybridization_rate = 0, origin = 0;
    std::vector<double> log_chance;
  };
  double log_process(const network_state& state, double speciation_rate, double hybridization_rate) const;
  double log_phylonet(const network_state& state) const;
  double log_network(const network_state& state) const;
  double log_theta(const network_state& state) const;
  double log_end(const network_state& state, double speciation_rate, double hybridization_rate) const;
  prior_parts parts_in_years(const network_state& state) const;
  const class species_rules& rules_of(const network_state& state) const;
  void require_consistent_clock() const;
  network_state draw_from_class(std::shared_ptr<const std::vector<std::string>> names, random_stream& random) const;
  bool draw_history(network_state& state, struct lineage_history& history, random_stream& random) const;
  void draw_parameters(network_state& state, random_stream& random) const;

  prior_options options_;
  std::int64_t species_;
  network_limits limits_;
  mutable std::array<end_probabilities, 2> cache_;  // of the current state and of a proposal, mostly
  mutable std::size_t oldest_ = 0;
  mutable std::shared_ptr<const std::vector<std::string>> ruled_species_;  // of rules_
  mutable std::shared_ptr<const class species_rules> rules_;
};

/// P(r), r = 0 ... R, of a prior without data: exact for fixed rates, with sampled ones the mean over 4000 draws of
/// them (standard error below 0.01). Empty where it is not known: PhyloNet's prior, calibrations, constraints, a level,
/// and no bubbles. Deterministic. O(draws ((n + R) R)^3) at most.
std::vector<double> reticulation_probabilities(const priors& prior);

/// Exact expectations of the process without data, from the generator of (lineages, reticulations).
struct prior_moments {
  std::vector<double> reticulations;        ///< P(r), r = 0 ... R
  std::vector<double> root_height_given_r;  ///< E[h(root) | r]
  double root_height = 0;                   ///< E h(root)
  double origin = 0;                        ///< E tau
};
/// Birth-hybridization with these fixed rates, n species, r <= R; `origin` exponential or fixed. Small dense linear
/// algebra: O(((n + R) R)^3). Throws InvalidArgument for rates that are not finite and positive, n < 2 or > 100, R < 0
/// or > 20.
prior_moments moments_of_process(std::int64_t species, std::int64_t max_reticulations, double speciation_rate,
                                 double hybridization_rate, const univariate_prior& origin);

}  // namespace quintet::snp
