#include "quintet/snp/inference/resampling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "quintet/snp/network/newick.hpp"
#include "quintet/snp/simulation/simulate.hpp"
#include "support/expect_error.hpp"

namespace quintet {
namespace {

class snp_resampling : public testing::Test {
 protected:
  // A hybrid with its gamma free and the rest fixed.
  const snp::Network hybrid =
      snp::parse_newick("((A:0.02,(B:0.01)#H1:0.01::0.7):0.04,(C:0.02,#H1:0.01::0.3):0.04);", {.theta = 0.01});
  const snp::Data data =
      snp::simulate(hybrid, {.copies = {2, 2, 2}, .sites = 600, .seed = 4, .polymorphic_only = true});
  const std::int64_t branch = hybrid.parent_branches(hybrid.find("#H1"))[0];

  snp::resampling_options with(snp::resampling_method method) const {
    return {.method = method,
            .replicates = 60,
            .block_sites = 20,
            .optimise = {.lengths = false, .thetas = snp::theta_parameters::fixed},
            .model = {.polymorphic_only = true},
            .likelihood = {.device = Device::host()}};
  }
  snp::Network maximum() const {
    snp::Likelihood likelihood(hybrid, data, {.polymorphic_only = true}, {.device = Device::host()});
    snp::optimise(likelihood, {.lengths = false, .thetas = snp::theta_parameters::fixed});
    return likelihood.network();
  }
};

TEST_F(snp_resampling, a_jackknife_leaves_out_each_block_once) {
  const snp::Network network = maximum();
  const auto found = snp::resample(network, data, with(snp::resampling_method::jackknife));
  EXPECT_EQ(found.blocks, 30);
  ASSERT_EQ(found.replicates.size(), 30u);
  EXPECT_EQ(found.converged, 30);
  // By hand: without sites 20 ... 39.
  std::vector<std::int64_t> sites;
  for (std::int64_t site = 0; site < 600; ++site)
    if (site < 20 || site >= 40) sites.push_back(site);
  snp::Likelihood likelihood(network, snp::select_sites(data, sites), {.polymorphic_only = true},
                             {.device = Device::host()});
  snp::optimise(likelihood, {.lengths = false, .thetas = snp::theta_parameters::fixed});
  EXPECT_EQ(found.replicates[1].branch(branch).gamma, likelihood.network().branch(branch).gamma);
  // The formula.
  double mean = 0, squares = 0;
  for (const snp::Network& one : found.replicates) mean += one.branch(branch).gamma / 30;
  for (const snp::Network& one : found.replicates) squares += std::pow(one.branch(branch).gamma - mean, 2);
  const auto gamma = snp::summarise_parameter(found, snp::resampled_parameter::gamma, branch);
  EXPECT_NEAR(gamma.standard_error, std::sqrt(29. / 30 * squares), 1e-12);
  EXPECT_EQ(gamma.estimate, network.branch(branch).gamma);
  EXPECT_NEAR(gamma.high - gamma.low, 2 * 1.959963984540054 * gamma.standard_error, 1e-12);
  EXPECT_LT(gamma.low, 0.7);
  EXPECT_GT(gamma.high, 0.7);
  EXPECT_EQ(snp::summarise_parameter(found, snp::resampled_parameter::length, branch).standard_error, 0);
}

// The only set of three species is all of them, so both are one estimate.
TEST_F(snp_resampling, errors_of_a_composite_of_all_species_are_those_of_the_likelihood) {
  const snp::Network network = maximum();
  snp::resampling_options options = with(snp::resampling_method::bootstrap);
  options.replicates = 12;
  const auto whole = snp::resample(network, data, options);
  options.composite = 3;
  const auto sets = snp::resample(network, data, options);
  EXPECT_EQ(sets.converged, 12);
  for (std::size_t i = 0; i < 12; ++i)
    EXPECT_NEAR(sets.replicates[i].branch(branch).gamma, whole.replicates[i].branch(branch).gamma, 2e-4);
  EXPECT_GT(snp::summarise_parameter(sets, snp::resampled_parameter::gamma, branch).standard_error, 0.01);
  options.composite = 2;
  expect_invalid([&] { snp::resample(network, data, options); }, "composite must be 0, 3 or 4");
}

// The likelihood's curvature says the same: sites are independent here.
TEST_F(snp_resampling, standard_errors_are_those_of_the_information) {
  const snp::Network network = maximum();
  const auto value = [&](double step) {
    snp::Network moved = network;
    moved.set_gamma(branch, network.branch(branch).gamma + step);
    return snp::Likelihood(moved, data, {.polymorphic_only = true}, {.device = Device::host()}).evaluate();
  };
  const double expected = 1 / std::sqrt(-(value(1e-3) - 2 * value(0) + value(-1e-3)) / 1e-6);
  for (const auto method : {snp::resampling_method::bootstrap, snp::resampling_method::jackknife}) {
    snp::resampling_options options = with(method);
    options.replicates = 200;
    const auto found =
        snp::summarise_parameter(snp::resample(network, data, options), snp::resampled_parameter::gamma, branch);
    EXPECT_GT(found.standard_error, 0.7 * expected);
    EXPECT_LT(found.standard_error, 1.4 * expected);
    EXPECT_NEAR(found.mean, found.estimate, expected);
    EXPECT_LT(found.low, found.estimate);
    EXPECT_GT(found.high, found.estimate);
  }
}

TEST_F(snp_resampling, is_a_function_of_the_seed_and_takes_loci) {
  snp::resampling_options options = with(snp::resampling_method::bootstrap);
  options.replicates = 3;
  const auto gammas = [&](const snp::resampling_options& how) {
    std::vector<double> all;
    for (const snp::Network& one : snp::resample(hybrid, data, how).replicates) all.push_back(one.branch(branch).gamma);
    return all;
  };
  const std::vector<double> first = gammas(options);
  EXPECT_EQ(gammas(options), first);
  EXPECT_NE(first[0], first[1]);
  snp::resampling_options by_locus = options;
  for (std::int64_t site = 0; site < 600; ++site) by_locus.block_of_site.push_back(site / 20 + 7);
  EXPECT_EQ(gammas(by_locus), first);
  options.seed = 2;
  EXPECT_NE(gammas(options), first);
}

// The topology of clear data is in all replicates.
TEST_F(snp_resampling, searches_have_support) {
  const snp::Network tree = snp::parse_newick("(((A:.02,B:.02):.05,C:.07):.03,D:.1);", {.theta = .02});
  const snp::Data clear = snp::simulate(tree, {.copies = {2, 2, 2, 2}, .sites = 600, .seed = 4});
  snp::search_options search{.max_reticulations = 0, .starts = 1, .patience = 6, .theta = .02};
  search.outgroup = {"D"};
  const snp::resampling_options options{.replicates = 4, .block_sites = 20};
  const auto found = snp::resample_search(clear, search, options);
  EXPECT_EQ(found.blocks, 30);
  ASSERT_EQ(found.networks.size(), 4u);
  ASSERT_EQ(found.topologies.size(), 1u);
  EXPECT_EQ(found.topologies[0].share, 1);
  const auto clade = std::find_if(found.clusters.begin(), found.clusters.end(),
                                  [](const auto& support) { return support.name == "A,B"; });
  ASSERT_NE(clade, found.clusters.end());
  EXPECT_EQ(clade->share, 1);
  EXPECT_TRUE(found.hybrid_events.empty());
}

TEST_F(snp_resampling, bad_options) {
  const auto refused = [&](const auto& change, const std::string& message) {
    snp::resampling_options options = with(snp::resampling_method::bootstrap);
    change(options);
    expect_invalid([&] { snp::resample(hybrid, data, options); }, message);
  };
  refused([](auto& o) { o.replicates = 1; }, "replicates must be in 2 ... 1000000");
  refused([](auto& o) { o.replicates = std::numeric_limits<std::int64_t>::max(); }, "replicates must be in 2");
  refused([](auto& o) { o.block_sites = 0; }, "block_sites must be >= 1");
  refused([](auto& o) { o.block_sites = 600; }, "blocks of sites must be >= 2 (blocks of sites=1)");
  refused([](auto& o) { o.block_of_site = {1, 2}; }, "size of block_of_site must be 600");
  const auto found = snp::resample(hybrid, data, with(snp::resampling_method::jackknife));
  expect_invalid([&] { snp::summarise_parameter(found, snp::resampled_parameter::gamma, 99); }, "branch must be in");
}

}  // namespace
}  // namespace quintet
