// Branches and rates near the largest and the smallest numbers: the likelihood is that of the limit.
#include <gtest/gtest.h>

#include <cmath>

#include "quintet/core/error.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/network/newick.hpp"
#include "reference/snp_reference.hpp"
#include "support/devices.hpp"
#include "support/near.hpp"

namespace quintet::test {
namespace {

struct leaf_counts {
  std::int64_t red, copies;
};

double log_choose(std::int64_t n, std::int64_t r) {
  return std::lgamma(double(n) + 1) - std::lgamma(double(r) + 1) - std::lgamma(double(n - r) + 1);
}

// One population at stationarity: beta-binomial.
double log_stationary(const leaf_counts& leaf, double a1, double a0) {
  const double n = double(leaf.copies), r = double(leaf.red);
  return log_choose(leaf.copies, leaf.red) + std::lgamma(a1 + r) + std::lgamma(a0 + n - r) - std::lgamma(a1 + a0 + n) -
         std::lgamma(a1) - std::lgamma(a0) + std::lgamma(a1 + a0);
}

snp::Likelihood likelihood_of(const std::string& newick, const std::vector<leaf_counts>& leaves, const snp::model& m,
                              const Device& device) {
  const snp::Network network = snp::parse_newick(newick);
  const auto species = network.species();
  snp::DataBuilder builder({species.begin(), species.end()}, {.empty = snp::empty_species::keep});
  std::vector<std::int64_t> red, copies;
  for (const leaf_counts& leaf : leaves) red.push_back(leaf.red), copies.push_back(leaf.copies);
  builder.add_site(red, copies);
  return {network, builder.finish(), m, {.device = device}};
}

double log_of(const std::string& newick, const std::vector<leaf_counts>& leaves, const snp::model& m,
              const Device& device = Device::host()) {
  return likelihood_of(newick, leaves, m, device).evaluate();
}

TEST(snp_limits, endless_branches_are_stationary) {
  const snp::model m{.u = 0.7, .v = 1.3};
  const std::vector<leaf_counts> few{{2, 6}, {4, 4}}, many{{13, 40}, {4, 30}};
  on_every_device([&](const Device& device) {
    for (const auto& leaves : {few, many}) {
      if (leaves[0].copies == 40 && device.kind() != device_kind::host) continue;  // minutes
      const double expected =
          log_stationary(leaves[0], 0.3 * m.v, 0.3 * m.u) + log_stationary(leaves[1], 0.2 * m.v, 0.2 * m.u);
      for (const char* length : {"1e5", "1e150", "1e307", "1.7e308"}) {
        const std::string newick = std::string("[0.1](A:") + length + ":0.3,B:" + length + ":0.2)r;";
        EXPECT_NEAR(log_of(newick, leaves, m, device), expected, 1e-11 * std::fabs(expected)) << length;
      }
    }
  });
}

// Beyond 400 theta the branch is one lineage for certain; the reference knows nothing of that.
TEST(snp_limits, long_branches_are_those_of_the_reference) {
  const std::vector<leaf_counts> leaves{{2, 5}, {1, 3}};
  const snp::model m{.u = 0.02, .v = 0.05};
  for (const double length : {0.9, 1.1, 3.0, 30.0}) {
    const std::string newick = text("[0.1](A:", length, ":0.0025,B:", length, ":0.0025)r;");
    const double expected = double(std::log(reference::snp_likelihood(snp::parse_newick(newick), {{5, 2}, {3, 1}}, m.u,
                                                                      m.v, reference::exponentials::in_long_double)));
    on_every_device([&](const Device& device) {
      EXPECT_NEAR(log_of(newick, leaves, m, device), expected, 1e-11 * std::fabs(expected)) << length;
    });
  }
}

TEST(snp_limits, gradients_of_long_branches) {
  const auto at = [](double u, double v) {
    return log_of("[0.1](A:3:0.0025,B:2:0.0025)r;", {{2, 5}, {1, 3}}, {.u = u, .v = v});
  };
  const double u = 0.2, v = 0.5, h = 1e-5;
  on_every_device([&](const Device& device) {
    auto likelihood = likelihood_of("[0.1](A:3:0.0025,B:2:0.0025)r;", {{2, 5}, {1, 3}}, {.u = u, .v = v}, device);
    const snp::gradient slope = likelihood.gradient();
    EXPECT_NEAR(slope.u, (at(u + h, v) - at(u - h, v)) / (2 * h), 1e-6);
    EXPECT_NEAR(slope.v, (at(u, v + h) - at(u, v - h)) / (2 * h), 1e-6);
  });
}

TEST(snp_limits, theta_of_nothing_joins_lineages_at_once) {
  const snp::model m{.u = 0.7, .v = 1.3};
  const std::vector<leaf_counts> constant{{0, 6}, {4, 4}};
  const double expected = log_of("[0.1](A:0.1:1e-15,B:0.2:1e-15)r;", constant, m);
  for (const char* theta : {"1e-100", "1e-308", "5e-324"})
    EXPECT_NEAR(log_of(text("[0.1](A:0.1:", theta, ",B:0.2:", theta, ")r;"), constant, m), expected, 1e-12) << theta;
  EXPECT_NEAR(log_of("[1e-308](A:0.1:0.1,B:0.2:0.1)r;", constant, m),
              log_of("[1e-17](A:0.1:0.1,B:0.2:0.1)r;", constant, m), 1e-12);
}

TEST(snp_limits, endless_mutation_makes_copies_independent) {
  const std::vector<leaf_counts> leaves{{2, 6}, {3, 4}};
  const double expected = log_choose(6, 2) + log_choose(4, 3) - 10 * std::log(2.0);
  on_every_device([&](const Device& device) {
    for (const double rate : {1e30, 1e200, 1e308}) {
      EXPECT_NEAR(log_of("[0.1](A:0.1:0.1,B:0.2:0.1)r;", leaves, {.u = rate, .v = rate}, device), expected, 1e-6)
          << rate;
      EXPECT_NEAR(log_of("[1e308](A:1e308:1e308,B:1e308:1e308)r;", leaves, {.u = rate, .v = rate}, device), expected,
                  1e-6)
          << rate;
    }
    EXPECT_NEAR(log_of("[0.1](A:0.1:0.1,B:0.2:0.1)r;", {{0, 6}, {0, 4}}, {.u = 1e308, .v = 1}, device), 0, 1e-6);
  });
}

// No matrix is possible for many lineages, and the stages would be too many.
TEST(snp_limits, endless_mutation_of_many_copies_is_refused) {
  for (const char* newick : {"[0.1](A:0.1:0.1,B:0.2:0.1)r;", "[0.1](A:1e307:1e307,B:0.2:0.1)r;"}) {
    auto likelihood = likelihood_of(newick, {{13, 40}, {1, 2}}, {.u = 1e308, .v = 1}, Device::host());
    try {
      likelihood.evaluate();
      ADD_FAILURE() << "not refused";
    } catch (const InvalidArgument& e) {
      EXPECT_NE(std::string(e.what()).find("a branch with 40 lineages"), std::string::npos) << e.what();
    }
    if (std::string(newick).find("1e307") != std::string::npos) continue;
    likelihood.set_rates(1, 1);
    EXPECT_TRUE(std::isfinite(likelihood.evaluate()));
  }
}

}  // namespace
}  // namespace quintet::test
