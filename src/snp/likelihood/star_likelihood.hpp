// The likelihood of three species that meet at one point, for many such stars at once.
//
// Let x be the share of allele 1 in the population at the middle, Beta(theta v, theta u). Given x the three ways from
// it to the species are independent, and what a species shows has the probability
//   f(x) = C(n, r) sum over (m, k) of P[(m, k), (n, r)] x^k (1 - x)^(m - k),
// P = exp(A t) of its way, in the library's coordinates (state_space.hpp). A site has the mean of f1 f2 f3 over x: that
// is Bryant et al. 2012, eq. 7, with the beta-binomial written as a mean of powers. It is a polynomial, so Gauss's rule
// with half as many nodes as there are copies is exact, and no term is negative. The ways from one point to one species
// are the same in many stars.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "quintet/snp/markers/data.hpp"
#include "quintet/snp/network/model.hpp"
#include "snp/likelihood/worker_team.hpp"

namespace quintet::snp {

/// Nodes x, 1 - x and weights with sum weight g(x) = mean of g under Beta(a1, a0) for polynomials g of degree < 2
/// nodes.
struct beta_rule {
  std::vector<double> x, rest, weight;
};
/// By Golub and Welsch (1969), in long double. a1, a0 > 0. O(nodes^3).
beta_rule beta_quadrature(double a1, double a0, std::int64_t nodes);

/// Pairs (copies, red) of a species; their numbers are its codes.
using species_counts = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// The patterns of three species, as codes of each of them.
struct star_rows {
  using row = std::array<std::int32_t, 3>;
  std::vector<row> patterns;
  std::vector<double> weights;
  ///@{
  /// Pairs of constant patterns, all copies 0 or all 1, and the weight of the sites that are conditioned on being
  /// neither.
  std::vector<std::array<row, 2>> constants;
  std::vector<double> condition_weights;
  ///@}
};

class star_likelihood {
 public:
  /// Most copies of a species, whose branch has a dense exponential.
  static constexpr std::int64_t max_copies = 24;

  /// Whether stars of these data have this likelihood: not dominant, at most max_copies, one rate category, mutation on
  /// the branches, and copies that are not ordered.
  static bool fits(const Data& data, const model& m);

  star_likelihood(std::vector<species_counts> counts, const model& m);

  /// Forgets all ways. With `has_slopes` there are derivatives by lengths and theta, the latter by a difference of one
  /// part in a million.
  void begin(double theta, bool has_slopes);
  /// The number of a way to a species.
  std::int64_t add(std::int64_t species, double length);
  /// Everything that the ways need.
  void compute(worker_team& workers);

  struct sums {
    double value = 0, theta = 0;
    std::array<double, 3> length{};
  };
  /// O(patterns copies).
  sums log_likelihood(const star_rows& rows, const std::array<std::int64_t, 3>& ways) const;

 private:
  // Everything that depends on theta alone.
  struct population_rule {
    double theta;
    beta_rule nodes;
    std::vector<double> powers;  // x^k (1 - x)^(m - k), by state and node
  };
  // f by code and node; its derivative by the length, and f for the larger theta.
  struct leaf_way {
    std::int64_t species;
    double length;
    std::vector<double> value, slope, value_of_more;
  };
  population_rule rule_of(double theta) const;
  void compute(leaf_way& of, std::vector<double>& value, std::vector<double>* slope, const population_rule& rule) const;
  double probability(const star_rows::row& row, const std::array<const double*, 3>& tables,
                     const population_rule& rule) const;

  std::vector<species_counts> counts_;
  model model_;
  std::int64_t max_ = 0, nodes_ = 0;
  bool has_slopes_ = false;
  std::vector<population_rule> rules_;
  std::vector<leaf_way> ways_;
  std::map<std::pair<std::int64_t, double>, std::int64_t> numbers_;
};

}  // namespace quintet::snp
