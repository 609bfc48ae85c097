// Log-likelihoods of the files of tests/data/snp: expected values are from programs of brute force with dense matrix
// exponentials, which SNAPP, SnappNet and PhyloNet confirm; those of drawn/ are from drawn/drawn.py.
#include <gtest/gtest.h>

#include <cmath>

#include "quintet/snp/likelihood/likelihood.hpp"
#include "support/devices.hpp"
#include "support/near.hpp"
#include "support/snp_cases.hpp"

namespace quintet::test {
namespace {

constexpr double bound = 1e-8;

void expect_log_likelihood(const std::string& name, const snp::Network& network, const snp::Data& data,
                           const snp::model& model, double expected) {
  on_every_device([&](const Device& device) {
    snp::Likelihood likelihood(network, data, model, {.device = device});
    expect_error_within(name, std::fabs(likelihood.evaluate() - expected), bound);
  });
}

TEST(snp_likelihood_data, drawn_counts) {
  const auto expect = [](const char* file, const char* newick, double theta, const snp::model& model, double all,
                         double polymorphic) {
    const auto network = snp_network(newick, theta);
    const auto data = snp_counts(data_folder("snp/drawn") / file);
    expect_log_likelihood(file + std::string(" all"), network, data, model, all);
    snp::model given_polymorphic = model;
    given_polymorphic.polymorphic_only = true;
    expect_log_likelihood(file + std::string(" polymorphic"), network, data, given_polymorphic, polymorphic);
  };
  expect("net_a.csv", snp_text::net_a, .005, {}, -2101.658833535971, -1706.532345453766);
  expect("net_b.csv", snp_text::net_b, .005, {.u = .75, .v = 1.5}, -2072.562805313569, -1662.529876012713);
  expect("net_c.csv", snp_text::net_c, .005, {}, -1793.318700055622, -1381.715402921703);
  expect("rice.csv", snp_text::rice_tree, .1, {}, -1570.215814725468, -1318.336296025475);
  expect("rice.csv", snp_text::rice_level1, .1, {}, -1558.718227682060, -1305.960472948842);
  expect("rice.csv", snp_text::rice_level2, .1, {}, -1555.162008816227, -1302.969536265712);
}

TEST(snp_likelihood_data, test1_of_snapp) {
  expect_log_likelihood("C7", snp_network(snp_text::test1, .2), snp_counts(snp_folder() / "snapp/test1_counts.csv"), {},
                        -1795.6001540006);
}

TEST(snp_likelihood_data, ourisia) {
  const auto data = snp_nexus(snp_folder() / "snapp/aflp_25.nex", species_rule::before_first, 1);
  const auto network = snp_network(snp_text::ourisia, .05);
  const double u = .5494505494505495, v = 5.555555555555555;
  expect_log_likelihood("C17 all", network, data, {.u = u, .v = v}, -23969.162775755);
  expect_log_likelihood("C17 polymorphic", network, data, {.u = u, .v = v, .polymorphic_only = true}, -17070.525336375);
}

}  // namespace
}  // namespace quintet::test
