// The likelihood of SNPs on a network with one reticulation, and proposals as a Markov chain or an optimiser makes
// them: a changed parameter costs a fraction of an evaluation, and what is rejected was never there.
#include <iostream>

#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/likelihood/optimise.hpp"
#include "quintet/snp/network/newick.hpp"
#include "quintet/snp/simulation/simulate.hpp"

namespace snp = quintet::snp;

int main() {
  const auto network =
      snp::parse_newick("((A:0.02,(B:0.01)#H1:0.01::0.7):0.02,(C:0.02,#H1:0.01::0.3):0.02)", {.theta = 0.01});
  const snp::Data data = snp::simulate(network, {.copies = {2, 4, 2}, .sites = 5000, .seed = 1});

  snp::Likelihood likelihood(network, data, {.u = 1, .v = 1});
  const double start = likelihood.evaluate();
  const std::int64_t branch = network.parent_branches(network.find("#H1"))[0];
  likelihood.set_gamma(branch, 0.1);
  if (likelihood.evaluate() < start) likelihood.reject();

  const auto found = snp::optimise(likelihood, {.lengths = false, .thetas = snp::theta_parameters::fixed});
  std::cout << "the maximum is above the truth's value: " << std::boolalpha << (found.log_likelihood > start) << "\n"
            << "gamma, 0.7 in the simulation: " << likelihood.network().branch(branch).gamma << "\n";
}
