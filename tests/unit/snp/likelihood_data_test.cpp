// Log-likelihoods of the files of ../shared/data/snp: expected values are from a brute-force program with dense matrix
// exponentials, most of them confirmed by SNAPP, SnappNet and PhyloNet.
#include <gtest/gtest.h>

#include <cmath>

#include "quintet/snp/likelihood.hpp"
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

TEST(snp_likelihood_data, simulated_networks) {
  QUINTET_SKIP_WITHOUT(data_folder("snp/sim"));
  const auto data = [](const char* name) { return snp_counts(data_folder("snp/sim") / name); };
  expect_log_likelihood("C1", snp_network(snp_text::net_a, .005), data("netA_counts.csv"), {}, -1741.6335172676);
  expect_log_likelihood("C4", snp_network(snp_text::net_b, .005), data("netB_counts.csv"), {.u = .75, .v = 1.5},
                        -1861.9247002394);
  expect_log_likelihood("C5", snp_network(snp_text::net_c, .005), data("netC_counts.csv"), {}, -1798.0608911880);
}

TEST(snp_likelihood_data, test1_of_snapp) {
  QUINTET_SKIP_WITHOUT(snp_folder());
  expect_log_likelihood("C7", snp_network(snp_text::test1, .2), snp_counts(snp_folder() / "snapp/test1_counts.csv"), {},
                        -1795.6001540006);
}

TEST(snp_likelihood_data, rice) {
  QUINTET_SKIP_WITHOUT(data_folder("snp/rice"));
  const auto data = snp_nexus(data_folder("snp/rice") / "rice_JDD1_example.nexus", species_rule::after_last, 1);
  EXPECT_EQ(data.patterns(), 308);
  const auto expect = [&](const std::string& name, const char* newick, double all, double polymorphic) {
    const auto network = snp_network(newick, .1);
    expect_log_likelihood(name + " all", network, data, {}, all);
    expect_log_likelihood(name + " polymorphic", network, data, {.polymorphic_only = true}, polymorphic);
  };
  expect("C10", snp_text::rice_tree, -44846.305273395, -32041.483734839);
  expect("C12", snp_text::rice_level1, -44875.167030694, -32083.308391871);
  expect("C14", snp_text::rice_level2, -44782.728140407, -31982.637364370);
}

TEST(snp_likelihood_data, ourisia) {
  QUINTET_SKIP_WITHOUT(snp_folder());
  const auto data = snp_nexus(snp_folder() / "snapp/aflp_25.nex", species_rule::before_first, 1);
  const auto network = snp_network(snp_text::ourisia, .05);
  const double u = .5494505494505495, v = 5.555555555555555;
  expect_log_likelihood("C17 all", network, data, {.u = u, .v = v}, -23969.162775755);
  expect_log_likelihood("C17 polymorphic", network, data, {.u = u, .v = v, .polymorphic_only = true}, -17070.525336375);
}

}  // namespace
}  // namespace quintet::test
