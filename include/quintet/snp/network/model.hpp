// Mutation of markers, and corrections of the likelihood.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/core/compiler.hpp"

namespace quintet::snp {

/// Rates are per unit of branch length; rate v turns allele 0 into 1, rate u turns 1 into 0. Counts "red" are of allele
/// 1. (In SNAPP u and v are the same, whatever its help says; PhyloNet counts zeros: v = 1 / (2 pi0), u = 1 / (2 pi1).)
struct model {
  ///@{
  /// Mutation rates, finite and >= 0, not both 0.
  double u = 1, v = 1;
  ///@}
  /// Classes of sites, all as likely: u and v are multiplied by these, theta is not. At least one, each finite and > 0;
  /// time and memory grow with their number. See gamma_rates().
  std::vector<double> rate_categories{1.0};
  /// No mutation on the branches, only at the root (RoyChoudhury, Felsenstein and Thompson 2008).
  bool mutation_only_at_root = false;
  /// Constant sites are left out, and log L = sum w_s (log L_s - log(1 - P0_s - P1_s)) over the polymorphic ones. P0_s
  /// and P1_s are the likelihoods of the two constant patterns at the copies of site s. Time and memory grow with the
  /// number of different copies, two patterns for each.
  bool polymorphic_only = false;
  /// With polymorphic_only: P0 and P1 are those of the full sample sizes at every site, as in SNAPP and SnappNet. With
  /// missing genotypes this overestimates lengths and thetas, because fewer copies are less often polymorphic.
  bool full_samples = false;
  ///@{
  /// Constant sites that the data do not show: adds zeros log P0 + ones log P1. Finite and >= 0, and 0 together with
  /// polymorphic_only.
  double unseen_zeros = 0, unseen_ones = 0;
  ///@}
  /// Likelihood of the individual red copies, not of their number: subtracts sum w_s log C(n, r) over sites and
  /// species.
  bool ordered_data = false;
};

/// Rates of `categories` equally likely classes of a gamma distribution with mean 1 and this shape: the medians of the
/// classes, divided by their mean (Yang 1994), as in BEAST. A rate is at least 1e-200 times the largest; with shapes
/// below 0.01 that bound has no effect on results. Throws InvalidArgument for shape not in (0, 1e6] or categories not
/// in 1 ... 64. Cost: 200 values of the incomplete gamma function a class.
std::vector<double> gamma_rates(double shape, std::int64_t categories);

}  // namespace quintet::snp
