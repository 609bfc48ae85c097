// The likelihood on random networks against the plain reference, and its invariants.
#include "quintet/snp/likelihood/likelihood.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "quintet/snp/network/newick.hpp"
#include "reference/snp_reference.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/peak_memory.hpp"
#include "support/random_network.hpp"
#include "support/sanitized.hpp"
#include "support/snp_cases.hpp"
#include "support/thread_group.hpp"

namespace quintet::test {
namespace {

using counts = std::vector<std::int64_t>;

// Data with the patterns given as (red, copies) in the order of the network's species.
snp::Data data_of(const snp::Network& network, const std::vector<std::pair<counts, counts>>& sites,
                  snp::data_options options = {.empty = snp::empty_species::keep}) {
  const auto species = network.species();
  snp::DataBuilder builder({species.begin(), species.end()}, options);
  for (const auto& [red, copies] : sites) builder.add_site(red, copies);
  return builder.finish();
}

// All patterns of these sample sizes.
std::vector<std::pair<counts, counts>> all_patterns(const counts& copies) {
  std::vector<std::pair<counts, counts>> sites;
  counts red(copies.size(), 0);
  for (std::size_t i = 0; i < copies.size();) {
    sites.emplace_back(red, copies);
    for (i = 0; i < copies.size() && ++red[i] > copies[i]; ++i) red[i] = 0;
  }
  return sites;
}

std::vector<std::pair<counts, counts>> random_sites(random_stream& random, std::int64_t species, int sites, int max) {
  std::vector<std::pair<counts, counts>> made;
  for (int s = 0; s < sites; ++s) {
    counts red, copies;
    for (std::int64_t i = 0; i < species; ++i) {
      copies.push_back(random.below(std::uint32_t(max) + 1));
      red.push_back(random.below(std::uint32_t(copies.back()) + 1));
    }
    made.emplace_back(red, copies);
  }
  return made;
}

double reference_log(const snp::Network& network, const std::pair<counts, counts>& site, double u, double v,
                     bool dominant = false) {
  std::vector<reference::snp_state> states;
  for (std::size_t i = 0; i < site.first.size(); ++i) states.emplace_back(int(site.second[i]), int(site.first[i]));
  return double(
      std::log(reference::snp_likelihood(network, states, u, v, reference::exponentials::in_double, dominant)));
}

double sum_of_likelihoods(const snp::Network& network, const counts& copies, const snp::model& model) {
  snp::Likelihood likelihood(network, data_of(network, all_patterns(copies)), model, {.device = Device::host()});
  double sum = 0;
  for (const double one : likelihood.pattern_log_likelihoods()) sum += std::exp(one);
  return sum;
}

std::vector<double> pattern_logs(const snp::Network& network, const std::vector<std::pair<counts, counts>>& sites,
                                 const snp::model& model, const Device& device = Device::host()) {
  return snp::Likelihood(network, data_of(network, sites), model, {.device = device}).site_log_likelihoods();
}

TEST(snp_likelihood, agrees_with_the_reference_on_random_networks) {
  double worst = 0;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    random_stream random(seed, 71);
    const std::int64_t reticulations = std::int64_t(seed % 4), leaves = 2 + std::int64_t(seed % 3);
    const snp::Network network(random_network(random, leaves, reticulations));
    const auto sites = random_sites(random, leaves, 5, reticulations > 2 ? 2 : 3);
    const double u = 0.1 + random.uniform<double>(), v = 0.1 + 3 * random.uniform<double>();
    std::vector<double> expected;
    for (const auto& site : sites) expected.push_back(reference_log(network, site, u, v));
    on_every_device([&](const Device& device) {
      worst = std::max(worst, largest_error(pattern_logs(network, sites, {.u = u, .v = v}, device), expected, 1));
    });
  }
  expect_error_within("log-likelihood of a site", worst, 1e-12);
}

TEST(snp_likelihood, small_cases_of_other_programs) {
  const snp::model model;
  const auto tree = snp_network("(A:0.1,B:0.1)r", .1);
  const auto b1 = pattern_logs(
      tree, {{{0, 0}, {2, 2}}, {{1, 1}, {2, 2}}, {{2, 1}, {2, 2}}, {{0, 2}, {2, 2}}, {{2, 2}, {2, 2}}}, model);
  const std::vector<double> b1_expected{.3497641, .00712304, .03810515, .07046408, .3497641};
  for (std::size_t i = 0; i < b1.size(); ++i) EXPECT_NEAR(std::exp(b1[i]), b1_expected[i], 5e-9) << i;

  // Species in the order of the network's leaves.
  const auto net = snp_network("(((B:0.4)#H1:0.1::0.6,A:0.5)x:0.3,(C:0.6,#H1:0.2::0.4)y:0.2)r", .1);
  ASSERT_EQ(std::vector<std::string>(net.species().begin(), net.species().end()),
            (std::vector<std::string>{"B", "A", "C"}));
  const auto b3 = pattern_logs(net,
                               {{{0, 0, 0}, {3, 1, 1}},
                                {{3, 1, 1}, {3, 1, 1}},
                                {{2, 0, 1}, {3, 1, 1}},
                                {{1, 1, 0}, {3, 1, 1}},
                                {{3, 1, 0}, {3, 1, 1}}},
                               model);
  double sum = 0;
  for (const double one : b3) sum += one;
  expect_error_within("B3", std::fabs(sum + 14.714034326846), 1e-10);

  const auto pn2 = snp_network("(((B:0.004)#H1:0.001::0.6,A:0.005)x:0.003,(C:0.006,#H1:0.002::0.4)y:0.002)r", .01);
  sum = 0;
  for (const double one : pattern_logs(pn2, all_patterns({4, 3, 3}), model)) sum += one;
  expect_error_within("B5", std::fabs(sum + 680.7550903539), 1e-8);
}

TEST(snp_likelihood, sums_to_one_over_all_patterns) {
  const auto network = snp_network(snp_text::three_reticulations, .036);
  expect_error_within("729 patterns", std::fabs(sum_of_likelihoods(network, counts(6, 2), {.u = 5, .v = 1 / 1.8}) - 1),
                      1e-12);
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    random_stream random(seed, 72);
    const snp::Network random_net(random_network(random, 3, std::int64_t(seed % 4)));
    expect_error_within("random network", std::fabs(sum_of_likelihoods(random_net, {2, 1, 3}, {.u = .3, .v = 2}) - 1),
                        1e-12);
  }
}

TEST(snp_likelihood, gamma_of_one_is_the_tree_without_the_other_branch) {
  const auto with = [](const char* gamma, const char* other) {
    return snp_network(std::string("(((B:0.4)#H1:0.1::") + gamma + ",A:0.5)x:0.3,(C:0.6,#H1:0.2::" + other + ")y:0.2)r",
                       .1);
  };
  const auto left = snp_network("((B:0.5,A:0.5)x:0.3,C:0.8)r", .1);
  const auto right = snp_network("((B:0.6,C:0.6)y:0.2,A:0.8)r", .1);
  const auto patterns = all_patterns({3, 1, 2});  // B, A, C
  std::vector<std::pair<counts, counts>> reordered;
  for (const auto& [red, copies] : patterns)
    reordered.push_back({{red[0], red[2], red[1]}, {copies[0], copies[2], copies[1]}});
  expect_near(pattern_logs(with("1", "0"), patterns, {}), pattern_logs(left, patterns, {}), 1e-13, 1);
  expect_near(pattern_logs(with("0", "1"), patterns, {}), pattern_logs(right, reordered, {}), 1e-13, 1);
}

// L(n - 1, r) = (n - r) / n L(n, r) + (r + 1) / n L(n, r + 1).
TEST(snp_likelihood, one_copy_less_is_a_mixture_of_counts) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    random_stream random(seed, 73);
    const snp::Network network(random_network(random, 3, std::int64_t(seed % 4)));
    const std::int64_t n = 4, r = std::int64_t(random.below(4));
    const auto logs = pattern_logs(
        network, {{{r, 1, 2}, {n - 1, 2, 2}}, {{r, 1, 2}, {n, 2, 2}}, {{r + 1, 1, 2}, {n, 2, 2}}}, {.u = 2, .v = .4});
    const double mixture = double(n - r) / n * std::exp(logs[1]) + double(r + 1) / n * std::exp(logs[2]);
    expect_error_within("mixture", std::fabs(mixture / std::exp(logs[0]) - 1), 1e-12);
  }
}

TEST(snp_likelihood, exchanging_the_alleles_and_rates_changes_nothing) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    random_stream random(seed, 74);
    const snp::Network network(random_network(random, 4, std::int64_t(seed % 4)));
    const auto sites = random_sites(random, 4, 6, 2);
    auto exchanged = sites;
    for (auto& [red, copies] : exchanged)
      for (std::size_t i = 0; i < red.size(); ++i) red[i] = copies[i] - red[i];
    expect_near(pattern_logs(network, sites, {.u = .7, .v = 2}), pattern_logs(network, exchanged, {.u = 2, .v = .7}),
                1e-12, 1);
  }
}

TEST(snp_likelihood, a_bubble_without_coalescence_is_a_branch_without_it) {
  const auto bubble =
      snp_network("((((A:0.1:0.2)#H1:0.2:1e15:0.3,#H1:0.2:1e15:0.7)x:0.1:0.2,B:0.4:0.2)y:0.1:0.2,C:0.5:0.2)r", .2);
  const auto branch =
      snp_network("((((A:0.1:0.2,E:0:0.2)a:0.2:1e15,F:0:0.2)x:0.1:0.2,B:0.4:0.2)y:0.1:0.2,C:0.5:0.2)r", .2);
  // E and F have no copies: they only cut the branch into three.
  const auto patterns = all_patterns({4, 2, 1});
  std::vector<std::pair<counts, counts>> longer;
  for (const auto& [red, copies] : patterns)
    longer.push_back({{red[0], 0, 0, red[1], red[2]}, {copies[0], 0, 0, copies[1], copies[2]}});
  expect_near(pattern_logs(bubble, patterns, {}), pattern_logs(branch, longer, {}), 1e-12, 1);
}

// r of n copies of a population that is stationary: beta-binomial.
double stationary(int n, int r, double theta, double u, double v) {
  const auto log_beta = [](double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); };
  return reference::choose(n, r) *
         std::exp(log_beta(theta * v + r, theta * u + n - r) - log_beta(theta * v, theta * u));
}

TEST(snp_likelihood, endless_branches_give_the_stationary_product) {
  const auto network = snp_network("((A:1e6:.3,B:1e6:.5)x:0.1,C:1e6:.7)r", .1);
  const auto patterns = all_patterns({3, 4, 2});
  std::vector<double> expected;
  for (const auto& [red, copies] : patterns)
    expected.push_back(std::log(stationary(3, int(red[0]), .3, 1.5, .4) * stationary(4, int(red[1]), .5, 1.5, .4) *
                                stationary(2, int(red[2]), .7, 1.5, .4)));
  expect_near(pattern_logs(network, patterns, {.u = 1.5, .v = .4}), expected, 1e-11, 1);
}

TEST(snp_likelihood, units_do_not_matter) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    random_stream random(seed, 75);
    auto description = random_network(random, 4, std::int64_t(seed % 4));
    const auto sites = random_sites(random, 4, 6, 2);
    const auto before = pattern_logs(snp::Network(description), sites, {.u = 1.2, .v = .5});
    for (auto& edge : description.edges) edge.length *= 1e-3, edge.theta *= 1e-3;
    description.root_theta *= 1e-3;
    expect_near(pattern_logs(snp::Network(description), sites, {.u = 1200, .v = 500}), before, 1e-12, 1);
  }
}

// A reticulation directly above a leaf: every copy chooses its way, so the likelihood is a sum over trees in which the
// species appears twice.
TEST(snp_likelihood, a_hybrid_leaf_is_a_mixture_of_trees) {
  const auto network = snp_network("(((B:0)#H1:0.1::0.6,A:0.5)x:0.3,(C:0.6,#H1:0.2::0.4)y:0.2)r", .1);
  const auto tree = snp_network("((B1:0.1,A:0.5)x:0.3,(C:0.6,B2:0.2)y:0.2)r", .1);
  const int n = 4, r = 1;
  double mixture = 0;
  for (int ny = 0; ny <= n; ++ny)
    for (int ry = 0; ry <= std::min(ny, r); ++ry) {
      if (r - ry > n - ny) continue;
      const auto logs = pattern_logs(tree, {{{ry, 1, 0, r - ry}, {ny, 2, 2, n - ny}}}, {});
      mixture += reference::choose(n, ny) * std::pow(.6, ny) * std::pow(.4, n - ny) * std::exp(logs[0]);
    }
  const auto logs = pattern_logs(network, {{{r, 1, 0}, {n, 2, 2}}}, {});
  expect_error_within("mixture", std::fabs(mixture / std::exp(logs[0]) - 1), 1e-13);
}

TEST(snp_likelihood, dominant_markers_agree_with_the_reference) {
  random_stream random(5, 76);
  const snp::Network network(random_network(random, 3, 1));
  std::vector<std::pair<counts, counts>> sites;
  std::vector<double> expected;
  for (int s = 0; s < 6; ++s) {
    counts red, copies;
    for (int i = 0; i < 3; ++i) {
      copies.push_back(2 * (1 + std::int64_t(random.below(2))));
      red.push_back(random.below(std::uint32_t(copies.back() / 2) + 1));
    }
    sites.emplace_back(red, copies);
    expected.push_back(reference_log(network, sites.back(), 1.1, .6, true));
  }
  const auto data = data_of(network, sites, {.dominant = true});
  snp::Likelihood likelihood(network, data, {.u = 1.1, .v = .6}, {.device = Device::host()});
  expect_near(likelihood.site_log_likelihoods(), expected, 1e-12, 1);
}

// What a model computes from the likelihoods of the patterns.
TEST(snp_likelihood, corrections) {
  const auto network = snp_network(snp_text::test1, .2);
  const std::vector<std::pair<counts, counts>> sites{{{0, 0, 0, 0}, {2, 2, 2, 2}}, {{0, 1, 2, 0}, {2, 2, 2, 2}},
                                                     {{2, 2, 2, 2}, {2, 2, 2, 2}}, {{1, 1, 0, 0}, {2, 2, 1, 2}},
                                                     {{0, 0, 0, 0}, {2, 2, 1, 2}}, {{2, 2, 1, 2}, {2, 2, 1, 2}}};
  const auto data = data_of(network, sites);
  const auto value = [&](const snp::model& model) {
    return snp::Likelihood(network, data, model, {.device = Device::host()}).evaluate();
  };
  const auto logs = pattern_logs(network, sites, {.u = 1, .v = 2});
  const double all = logs[0] + logs[1] + logs[2] + logs[3] + logs[4] + logs[5];
  const double constant = std::exp(logs[0]) + std::exp(logs[2]), own = std::exp(logs[4]) + std::exp(logs[5]);
  EXPECT_NEAR(value({.u = 1, .v = 2}), all, 1e-12);
  EXPECT_NEAR(value({.u = 1, .v = 2, .polymorphic_only = true}),
              logs[1] + logs[3] - std::log1p(-constant) - std::log1p(-own), 1e-12);
  EXPECT_NEAR(value({.u = 1, .v = 2, .polymorphic_only = true, .full_samples = true}),
              logs[1] + logs[3] - 2 * std::log1p(-constant), 1e-12);
  EXPECT_NEAR(value({.u = 1, .v = 2, .unseen_zeros = 7, .unseen_ones = 3}), all + 7 * logs[0] + 3 * logs[2], 1e-12);
  EXPECT_NEAR(value({.u = 1, .v = 2, .ordered_data = true}), all - 3 * std::log(2.0), 1e-12);
}

TEST(snp_likelihood, rate_categories_are_a_mixture) {
  random_stream random(9, 77);
  const snp::Network network(random_network(random, 3, 1));
  const auto sites = random_sites(random, 3, 6, 3);
  const auto rates = snp::gamma_rates(.5, 3);
  std::vector<double> expected(sites.size(), 0.0);
  for (const double rate : rates) {
    const auto logs = pattern_logs(network, sites, {.u = 1 * rate, .v = 2 * rate});
    for (std::size_t s = 0; s < sites.size(); ++s) expected[s] += std::exp(logs[s]) / 3;
  }
  for (double& one : expected) one = std::log(one);
  expect_near(pattern_logs(network, sites, {.u = 1, .v = 2, .rate_categories = rates}), expected, 1e-13, 1);
}

// Medians of thirds of a gamma distribution with shape 1, divided by their mean: -log(5/6), -log(1/2), -log(1/6).
TEST(snp_likelihood, gamma_rates) {
  const double a = -std::log(5. / 6), b = -std::log(.5), c = -std::log(1. / 6), mean = (a + b + c) / 3;
  expect_near(snp::gamma_rates(1, 3), std::vector<double>{a / mean, b / mean, c / mean}, 1e-13);
  expect_near(snp::gamma_rates(1e6, 2), std::vector<double>{1, 1}, 2e-3);
  expect_invalid([] { snp::gamma_rates(0, 4); }, "shape must be in (0, 1e6] (shape=0)");
  expect_invalid([] { snp::gamma_rates(1, 65); }, "categories must be in 1 ... 64 (categories=65)");
}

TEST(snp_likelihood, mutation_only_at_the_root) {
  const auto network = snp_network("(A:0.1,B:0.1)r", .1);
  const auto logs = pattern_logs(network, {{{1, 0}, {1, 1}}}, {.u = 2, .v = 1, .mutation_only_at_root = true});
  // Two lineages enter the root: Pr(1 of 2 red) / 2.
  EXPECT_NEAR(std::exp(logs[0]), stationary(2, 1, .1, 2, 1) / 2, 1e-14);
}

TEST(snp_likelihood, impossible_sites) {
  const auto network = snp_network("(A:0.1,B:0.1)r", .1);
  // Without mutation 0 -> 1 no copy is red.
  const auto data = data_of(network, {{{1, 0}, {1, 1}}});
  snp::Likelihood likelihood(network, data, {.u = 1, .v = 0}, {.device = Device::host()});
  EXPECT_EQ(likelihood.evaluate(), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(likelihood.gradient().u));
  const auto certain = data_of(network, {{{0, 0}, {1, 1}}});
  EXPECT_NEAR(snp::Likelihood(network, certain, {.u = 1, .v = 0}).evaluate(), 0, 1e-15);
}

// More than 24 lineages on a branch: stages without a matrix, short and long branches, and a reticulation above them.
TEST(snp_likelihood, many_copies_agree_with_the_reference) {
  const std::vector<std::pair<counts, counts>> sites{{{3, 10}, {14, 13}}, {{7, 0}, {13, 3}}};
  double worst = 0;
  for (const char* length : {"0", "0.0001", "0.004", "0.1"}) {
    const auto network = snp_network(std::string("((A:") + length + ",B:0.002)x:" + length + ",C:0.003)r", .1);
    std::vector<double> expected;
    std::vector<std::pair<counts, counts>> with_c;
    for (const auto& [red, copies] : sites) {
      with_c.push_back({{red[0], red[1], 1}, {copies[0], copies[1], 2}});
      expected.push_back(reference_log(network, with_c.back(), .6, 1.7));
    }
    on_every_device([&](const Device& device) {
      worst = std::max(worst, largest_error(pattern_logs(network, with_c, {.u = .6, .v = 1.7}, device), expected, 1));
    });
  }
  expect_error_within("log-likelihood of a site", worst, 1e-10);
}

// 300 species on stationary branches: 0.001^300 is far below the smallest double times itself. Exponents come from the
// left subtree, from the right one, and from both.
TEST(snp_likelihood, many_species_do_not_underflow) {
  const auto caterpillar = [](int first, int end, bool to_the_right) {
    std::string newick = text("s", first, ":1e5");
    for (int i = first + 1; i < end; ++i) {
      const std::string leaf = text("s", i, ":1e5");
      newick = to_the_right ? text("(", leaf, ",", newick, "):1e5") : text("(", newick, ",", leaf, "):1e5");
    }
    return newick;
  };
  for (const std::string& newick : {caterpillar(0, 300, false), caterpillar(0, 300, true),
                                    text("(", caterpillar(0, 150, false), ",", caterpillar(150, 300, true), "):")}) {
    const auto network = snp_network(newick.substr(0, newick.rfind(':')) + ";", .1);
    on_every_device([&](const Device& device) {
      const auto logs = pattern_logs(network, {{counts(300, 0), counts(300, 1)}, {counts(300, 1), counts(300, 1)}},
                                     {.u = 1, .v = 999}, device);
      EXPECT_NEAR(logs[0], 300 * std::log(1e-3), 1e-8);
      EXPECT_NEAR(logs[1], 300 * std::log(.999), 1e-8);
    });
  }
}

TEST(snp_likelihood, the_number_of_threads_does_not_matter) {
  random_stream random(3, 78);
  const snp::Network network(random_network(random, 4, 2));
  const auto sites = random_sites(random, 4, 300, 3);
  std::vector<std::vector<double>> values, slopes;
  for (const int threads : {1, 2, 5}) {
    set_threads(threads);
    snp::Likelihood likelihood(network, data_of(network, sites), {}, {.device = Device::host()});
    values.push_back(likelihood.pattern_log_likelihoods());
    const auto slope = likelihood.gradient();
    slopes.push_back(slope.length);
    for (const auto* more : {&slope.theta, &slope.gamma})
      slopes.back().insert(slopes.back().end(), more->begin(), more->end());
    slopes.back().insert(slopes.back().end(), {slope.u, slope.v, slope.root_theta});
  }
  set_threads(0);
  for (std::size_t i = 1; i < values.size(); ++i) {
    expect_same_bits(values[i], values[0]);
    expect_same_bits(slopes[i], slopes[0]);
  }
}

// Patterns of up to `max` copies on random networks; with the corrections, in every number of shares, more than there
// are patterns too.
TEST(snp_likelihood, any_number_of_processes_gives_the_same_bits) {
  const std::vector<snp::model> models{
      {.u = 1.2, .v = 0.8},
      {.u = 1, .v = 1, .polymorphic_only = true},
      {.u = 1, .v = 1, .polymorphic_only = true, .full_samples = true},
      {.u = 1, .v = 2, .rate_categories = {0.5, 1.5}, .unseen_zeros = 20, .unseen_ones = 3},
      {.u = 0.7, .v = 1, .mutation_only_at_root = true, .ordered_data = true}};
  for (std::uint64_t seed = 0; seed <= 8; ++seed) {
    random_stream random(seed, 72);
    // The last one has a branch with many lineages, and more patterns in all than the method takes for few.
    const bool is_large = seed == 8;
    const snp::Network network(random_network(random, 3, is_large ? 0 : std::int64_t(seed % 3)));
    auto sites = random_sites(random, 3, is_large ? 300 : seed == 0 ? 2 : 25, is_large ? 1 : 4);
    if (is_large)
      for (auto& [red, copies] : sites) {
        copies[0] = random.below(27);
        red[0] = random.below(std::uint32_t(copies[0]) + 1);
      }
    const snp::Data data = data_of(network, sites);
    const snp::model& model = models[seed % models.size()];
    snp::Likelihood alone(network, data, model, {.device = Device::host()});
    const double expected = alone.evaluate();
    const auto logs = alone.site_log_likelihoods();
    const snp::gradient slope = alone.gradient();
    // The longest one leaves likelihoods beyond the range of products.
    const auto propose = [&](snp::Likelihood& likelihood, std::size_t i) {
      const std::int64_t b = std::int64_t(i) % network.branches();
      likelihood.set_length(b, (1 + 0.5 * double(i)) * network.branch(b).length + (i == 5 ? 50 : 0.01));
    };
    std::vector<double> proposals;
    for (std::size_t i = 0; i < 12; ++i) {
      propose(alone, i);
      proposals.push_back(alone.evaluate());
      i % 3 == 0 ? alone.accept() : alone.reject();
    }
    for (const int processes : {1, 2, 3, 4, 7})
      run_as_group(processes, [&](std::shared_ptr<process_group> group) {
        snp::Likelihood shared(network, data, model, {.device = Device::host(), .shared_by = group});
        EXPECT_EQ(shared.evaluate(), expected) << seed << " " << processes;
        EXPECT_EQ(shared.site_log_likelihoods(), logs);
        const snp::gradient found = shared.gradient();
        const auto expect_near = [&](double a, double b) {
          EXPECT_NEAR(a, b, 1e-11 * (1 + std::fabs(b))) << seed << " " << processes;
          if (processes == 1) EXPECT_EQ(a, b);
        };
        for (std::size_t b = 0; b < slope.length.size(); ++b) {
          expect_near(found.length[b], slope.length[b]);
          expect_near(found.theta[b], slope.theta[b]);
          expect_near(found.gamma[b], slope.gamma[b]);
        }
        expect_near(found.u, slope.u);
        expect_near(found.v, slope.v);
        expect_near(found.root_theta, slope.root_theta);
        // Proposals have the bits of one process too, whichever were accepted before.
        for (std::size_t i = 0; i < proposals.size(); ++i) {
          propose(shared, i);
          EXPECT_EQ(shared.evaluate(), proposals[i]) << seed << " " << processes << " " << i;
          i % 3 == 0 ? shared.accept() : shared.reject();
        }
      });
  }
}

TEST(snp_likelihood, estimate_and_its_errors) {
  const auto network = snp_network("(((B:0.4)#H1:0.1::0.6,A:0.5)x:0.3,(C:0.6,#H1:0.2::0.4)y:0.2)r", .1);
  const auto data = data_of(network, {{{1, 0, 0}, {3, 1, 1}}, {{0, 0, 1}, {3, 1, 1}}});
  const auto size = snp::estimate(network, data);
  // Branches x and y together: a, b >= 1 lineages, a + b <= 5, (a + 1)(b + 1) states: 28 + 27 + 20 + 10.
  EXPECT_EQ(size.largest_group, 85);
  std::int64_t values = 0;
  for (const auto& group : size.groups) values += group.states * 8 * 8;
  EXPECT_GT(size.bytes, values);
  EXPECT_EQ(size.blocks, 1);
  EXPECT_GT(size.operations, 1000);
  expect_invalid([&] { snp::estimate(network, data, {}, {.memory_limit = 6000}); }, "because of reticulation #H1");
  // The states fit, the matrices do not.
  expect_invalid([&] { snp::estimate(network, data, {}, {.memory_limit = values + 100}); }, "for the matrices of");
  expect_invalid([&] { snp::Likelihood(network, data, {.u = -1}); }, "u must be finite and >= 0 (u=-1)");
  expect_invalid([&] { snp::Likelihood(network, data, {.u = 0, .v = 0}); }, "u + v must be > 0");
  expect_invalid([&] { snp::Likelihood(network, data, {.rate_categories = {}}); }, "rate_categories");
  expect_invalid([&] { snp::Likelihood(network, data, {.polymorphic_only = true, .unseen_ones = 1}); }, "unseen_ones");
  expect_invalid([&] { snp::Likelihood(network, data, {.full_samples = true}); }, "needs polymorphic_only");
}

// 125 different patterns within the memory of few of them: it was refused, because of the reticulation.
TEST(snp_likelihood, patterns_in_blocks) {
  const auto network = snp_network("(((B:0.4)#H1:0.1::0.6,A:0.5)x:0.3,(C:0.6,#H1:0.2::0.4)y:0.2)r", .1);
  const auto data = data_of(network, all_patterns({4, 4, 4}));
  for (const snp::model& model : {snp::model{}, snp::model{.rate_categories = {0.5, 2}, .polymorphic_only = true}}) {
    const std::int64_t bytes = snp::estimate(network, data, model).bytes;
    const std::int64_t limit = bytes / std::int64_t(4 * model.rate_categories.size());
    const auto size = snp::estimate(network, data, model, {.memory_limit = limit});
    EXPECT_GE(size.blocks, 4);
    EXPECT_LE(size.bytes, limit);
    on_every_device([&](const Device& device) {
      if (device.kind() != device_kind::host && model.polymorphic_only) return;
      snp::Likelihood whole(network, data, model, {.device = device});
      snp::Likelihood blocks(network, data, model, {.device = device, .memory_limit = limit});
      EXPECT_EQ(blocks.size().blocks, size.blocks);
      const double value = blocks.evaluate();
      EXPECT_EQ(value, whole.evaluate());
      expect_same_bits(blocks.pattern_log_likelihoods(), whole.pattern_log_likelihoods());
      const auto found = blocks.gradient(), expected = whole.gradient();
      expect_near(found.length, expected.length, 1e-11, 1);
      expect_near(found.theta, expected.theta, 1e-11, 1);
      expect_near(found.gamma, expected.gamma, 1e-11, 1);
      EXPECT_NEAR(found.u, expected.u, 1e-11 * std::fabs(expected.u));
      // Proposals compute everything, and are taken back.
      blocks.set_length(0, 0.17);
      const double proposed = blocks.evaluate();
      EXPECT_EQ(proposed, snp::Likelihood(blocks.network(), data, model, {.device = device}).evaluate());
      blocks.reject();
      EXPECT_EQ(blocks.evaluate(), value);
      blocks.set_theta(1, 0.3);
      blocks.evaluate();
      blocks.accept();
      blocks.set_root_theta(0.2);
      blocks.reject();
      EXPECT_EQ(blocks.evaluate(), snp::Likelihood(blocks.network(), data, model, {.device = device}).evaluate());
    });
  }
}

// Up to three patterns go up a branch of many lineages one by one, more in lines.
TEST(snp_likelihood, one_pattern_of_many_copies_has_its_bits_among_others) {
  const auto network = snp_network("((A:0.02,B:0.3):0.01,C:0.2);", .1);
  std::vector<std::pair<counts, counts>> sites;
  for (std::int64_t red = 3; red < 12; ++red) sites.push_back({{3 * red, red % 3, 1}, {45, 2, 2}});
  on_every_device([&](const Device& device) {
    snp::Likelihood all(network, data_of(network, sites), {}, {.device = device});
    const auto expected = all.pattern_log_likelihoods();
    for (const std::size_t count : {1, 3}) {
      const std::vector<std::pair<counts, counts>> few(sites.begin(), sites.begin() + std::ptrdiff_t(count));
      const auto found =
          snp::Likelihood(network, data_of(network, few), {}, {.device = device}).pattern_log_likelihoods();
      expect_same_bits(found, std::vector<double>(expected.begin(), expected.begin() + std::ptrdiff_t(count)));
    }
  });
}

// Matrices and work are most of what a likelihood of few patterns takes; one pattern in stages has no line of them.
TEST(snp_likelihood, estimate_is_what_is_held) {
  if (sanitized) GTEST_SKIP() << "memory is counted";
  const auto held = [](const std::string& newick, const counts& red, const counts& copies) {
    const auto network = snp_network(newick, .1);
    const auto data = data_of(network, {{red, copies}});
    const std::int64_t bytes = snp::estimate(network, data, {}, {.device = Device::host()}).bytes;
    const auto small = snp_network("(A:0.1,B:0.1);", .1);
    snp::Likelihood(small, data_of(small, {{{1, 1}, {2, 2}}}), {}, {.device = Device::host()}).evaluate();
    const peak_memory memory;  // without that of threads, which the first evaluation starts
    snp::Likelihood(network, data, {}, {.device = Device::host()}).evaluate();
    EXPECT_GE(double(bytes), 0.8 * double(memory.extra_bytes())) << newick;
    return double(bytes);
  };
  std::string caterpillar = "s0:0.1";
  for (int i = 1; i < 30; ++i)
    caterpillar = text("(", caterpillar, ",s", i, ":", 0.1 * i, ")", i < 29 ? text(":", 0.1 + 0.01 * i) : "");
  // Measured: 24 MB, of which 3 are values.
  const double matrices = held(caterpillar + ";", counts(30, 1), counts(30, 2));
  EXPECT_LE(matrices, 32e6);
  // 180,901 states: three lines of them would be 30 MB more.
  EXPECT_LE(held("(A:0.1,B:0.1);", {300, 1}, {599, 2}), 65e6);
}

}  // namespace
}  // namespace quintet::test
