// Simulated sites against the likelihood of every pattern, and against themselves with other threads.
#include "quintet/snp/simulation/simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/network/newick.hpp"
#include "support/expect_error.hpp"
#include "support/move_trials.hpp"

namespace quintet {
namespace {

#ifdef QUINTET_LONG_TEST
constexpr std::int64_t sites = 200'000;
constexpr std::uint64_t seeds = 3;
#else
constexpr std::int64_t sites = 20'000;
constexpr std::uint64_t seeds = 1;
#endif

const char* const b3 = "(((B:0.4)#H1:0.1::0.6,A:0.5)x:0.3,(C:0.6,#H1:0.2::0.4)y:0.2)r";
const char* const network_a =
    "(C:0.08,((R:0.007,(Q:0.004)#H1:0.003::0.3)a:0.035,((A:0.006,#H1:0.002::0.7)b:0.016,L:0.022)c:0.02)d:0.038)r";
// H1 and H2 in one component, and a bubble of H3 above C.
const char* const level_two =
    "((A:0.3:0.05,((B:0.1:0.2)#H1:0.05:0.1:0.6)#H2:0.15:0.1:0.3):0.2:0.4,"
    "((((C:0.05:0.1)#H3:0.05:0.02:0.8,#H3:0.05:0.5:0.2):0.1:0.1,#H1:0.1:0.3:0.4):0.1:0.1,#H2:0.15:0.2:0.7):0.2:0.2)r";

struct pattern_table {
  std::vector<std::vector<std::int64_t>> red;
  std::vector<double> chance;
};

// Every pattern with its likelihood.
pattern_table all_patterns(const snp::Network& network, const snp::simulate_options& o) {
  pattern_table table;
  snp::DataBuilder builder({network.species().begin(), network.species().end()});
  std::vector<std::int64_t> red(o.copies.size(), 0);
  for (;;) {
    table.red.push_back(red);
    builder.add_site(red, o.copies);
    std::size_t s = 0;
    while (s < red.size() && ++red[s] > o.copies[s]) red[s++] = 0;
    if (s == red.size()) break;
  }
  const snp::Data data = builder.finish(o.copies);
  snp::Likelihood likelihood(network, data, {.u = o.u, .v = o.v}, {.device = Device::host()});
  double total = 0, constant = 0;
  for (const double log_chance : likelihood.pattern_log_likelihoods()) {
    table.chance.push_back(std::exp(log_chance));
    total += table.chance.back();
  }
  EXPECT_NEAR(total, 1, 1e-11);
  if (!o.polymorphic_only) return table;
  constant = table.chance.front() + table.chance.back();
  table.chance.front() = table.chance.back() = 0;
  for (double& chance : table.chance) chance /= 1 - constant;
  return table;
}

// The standard normal number that the chi-square of cells with an expectation of at least 5 amounts to (Wilson and
// Hilferty); the other cells are one.
double chi_square_z(const pattern_table& table, const snp::simulated_sites& found) {
  std::map<std::vector<std::int64_t>, double> counts;
  const std::size_t species = table.red.front().size();
  for (std::size_t site = 0; site < found.attempts.size(); ++site) {
    std::vector<std::int64_t> red;
    for (std::size_t s = 0; s < species; ++s) red.push_back(found.red[site * species + s]);
    ++counts[red];
  }
  const double n = static_cast<double>(found.attempts.size());
  double chi_square = 0, rare = 0, rare_expected = 0, cells = 0;
  for (std::size_t p = 0; p < table.red.size(); ++p) {
    const double expected = n * table.chance[p], observed = counts[table.red[p]];
    if (expected < 5) {
      rare += observed;
      rare_expected += expected;
      continue;
    }
    chi_square += (observed - expected) * (observed - expected) / expected;
    ++cells;
  }
  if (rare_expected >= 5) {
    chi_square += (rare - rare_expected) * (rare - rare_expected) / rare_expected;
    ++cells;
  } else {
    EXPECT_LT(rare, 25);
  }
  const double freedom = cells - 1;
  EXPECT_GT(freedom, 5);
  return (std::cbrt(chi_square / freedom) - 1 + 2 / (9 * freedom)) / std::sqrt(2 / (9 * freedom));
}

struct trial {
  const char* name;
  const char* newick;
  double theta;
  std::vector<std::int64_t> copies;  // in the order of the network's species
  double u, v;
  bool polymorphic_only;
};

TEST(simulate, all_patterns_have_their_likelihood) {
  const std::vector<trial> trials{
      {"B3", b3, 0.1, {3, 1, 1}, 1, 1, false},
      {"B3, u != v", b3, 0.1, {3, 1, 1}, 0.7, 1.75, false},
      {"network A", network_a, 0.005, {2, 2, 2, 2, 2}, 1, 1, false},
      {"network A, polymorphic", network_a, 0.005, {2, 2, 2, 2, 2}, 1, 1, true},
      {"level 2 with a bubble", level_two, 0.1, {2, 3, 2}, 1, 1, false},
      {"level 2 with a bubble, u != v, polymorphic", level_two, 0.1, {2, 3, 2}, 3, 0.6, true}};
  for (const trial& t : trials) {
    const snp::Network network = snp::parse_newick(t.newick, {.theta = t.theta});
    snp::simulate_options options{.copies = t.copies, .u = t.u, .v = t.v, .sites = sites};
    options.polymorphic_only = t.polymorphic_only;
    const pattern_table table = all_patterns(network, options);
    for (options.seed = 1; options.seed <= seeds; ++options.seed) {
      const double z = chi_square_z(table, snp::simulate_sites(network, options));
      RecordProperty(t.name, std::to_string(z));
      EXPECT_LT(z, 3.72) << t.name << ", seed " << options.seed;  // p > 1e-4
    }
  }
}

// The test sees a wrong gamma, a wrong theta and wrong rates.
TEST(simulate, another_network_is_noticed) {
  const snp::Network network = snp::parse_newick(b3, {.theta = 0.1});
  snp::simulate_options options{.copies = {3, 1, 1}, .sites = 200'000};
  const snp::simulated_sites found = snp::simulate_sites(network, options);
  snp::Network other = network;
  other.set_gamma(other.parent_branches(other.find("#H1"))[0], 0.2);
  EXPECT_GT(chi_square_z(all_patterns(other, options), found), 5);
  other = network;
  for (std::int64_t b = 0; b < other.branches(); ++b) other.set_theta(b, 0.2);
  EXPECT_GT(chi_square_z(all_patterns(other, options), found), 5);
  options.u = 1.1;
  EXPECT_GT(chi_square_z(all_patterns(network, options), found), 5);
}

TEST(simulate, same_counts_for_any_number_of_threads_and_any_number_of_sites) {
  const snp::Network network = snp::parse_newick(level_two, {.theta = 0.1});
  snp::simulate_options options{.copies = {2, 3, 2}, .sites = 3000, .seed = 5};
  const int threads = quintet::threads();
  set_threads(1);
  const snp::simulated_sites one = snp::simulate_sites(network, options);
  set_threads(4);
  const snp::simulated_sites four = snp::simulate_sites(network, options);
  set_threads(threads);
  EXPECT_EQ(one.red, four.red);
  options.sites = 1000;
  const snp::simulated_sites fewer = snp::simulate_sites(network, options);
  EXPECT_TRUE(std::equal(fewer.red.begin(), fewer.red.end(), one.red.begin()));
  options.seed = 6;
  EXPECT_NE(snp::simulate_sites(network, options).red, fewer.red);
}

TEST(simulate, polymorphic_sites_show_both_alleles) {
  const snp::Network network = snp::parse_newick(network_a, {.theta = 0.005});
  snp::simulate_options options{.copies = {2, 2, 2, 2, 2}, .sites = 500};
  options.polymorphic_only = true;
  const snp::Data data = snp::simulate(network, options);
  EXPECT_EQ(data.sites(), 500);
  EXPECT_EQ(data.weight_of(snp::pattern_kind::polymorphic), 500);
  EXPECT_TRUE(std::equal(data.species().begin(), data.species().end(), network.species().begin()));
  const snp::simulated_sites made = snp::simulate_sites(network, options);
  EXPECT_GT(*std::max_element(made.attempts.begin(), made.attempts.end()), 1);
}

TEST(simulate, species_without_copies) {
  const snp::Network network = snp::parse_newick(b3, {.theta = 0.1});
  const snp::Data data = snp::simulate(network, {.copies = {0, 2, 2}, .sites = 100});
  EXPECT_EQ(data.sites(), 100);
  EXPECT_EQ(data.copies(0, 0), 0);
}

TEST(simulate, arguments) {
  const snp::Network network = snp::parse_newick("(A:.1,B:.1);", {.theta = 0.1});
  const auto call = [&](snp::simulate_options options) {
    return [&network, options] { snp::simulate(network, options); };
  };
  expect_invalid(call({.copies = {1}}), "copies must be 2 numbers");
  expect_invalid(call({.copies = {1, -1}}), "copies must be in [0, 8000]");
  expect_invalid(call({.copies = {0, 0}}), "sum of copies");
  expect_invalid(call({.copies = {4100, 4100}}), "sum of copies must be in [1, 8000]");
  expect_invalid(call({.copies = {1, 1}, .u = 0}), "u must be finite and > 0");
  expect_invalid(call({.copies = {1, 1}, .sites = 0}), "sites must be in 1 ... 1000000000");
  expect_invalid(call({.copies = {1, 1}, .sites = std::int64_t(1) << 62}), "sites must be in 1 ... 1000000000");
  expect_invalid(call({.copies = {1, 0}, .polymorphic_only = true}), ">= 2");
  const snp::Network still = snp::parse_newick("(A:0,B:0);", {.theta = 1e-12});
  expect_invalid([&] { snp::simulate(still, {.copies = {1, 1}, .sites = 1, .polymorphic_only = true}); },
                 "site 1 shows one allele in 1000000 tries");
}

TEST(simulate_network, is_the_draw_of_the_stream) {
  const auto names = test::species_names(4);
  const snp::prior_options options;
  const snp::network_limits limits{.max_reticulations = 2};
  random_stream random(3, 7);
  const snp::network_state drawn = snp::priors(options, 4, limits).draw(names, random);
  const snp::network_state made = snp::simulate_network(options, names, limits, 3, 7);
  const std::vector<double> a = snp::numbers_of(drawn), b = snp::numbers_of(made);
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(double)), 0);
}

}  // namespace
}  // namespace quintet
