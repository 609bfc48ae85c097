// The composite likelihood of triples: the values of a program in dense tensors, pruned networks, errors.
#include "quintet/snp/likelihood/composite.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "quintet/device/thread_scope.hpp"
#include "quintet/snp/network/newick.hpp"
#include "quintet/snp/simulation/simulate.hpp"
#include "support/expect_error.hpp"

namespace quintet::test {
namespace {

using names = std::vector<std::string>;

const char* const five_species =
    "[.02]((((B:0.01)#H1:0.01::0.7,A:0.02)x:0.02,(C:0.03,#H1:0.02::0.3)y:0.01)z:0.02,(D:0.04,E:0.04)w:0.02)r;";

snp::Data six_sites(const names& species) {
  const names order{"A", "B", "C", "D", "E"};
  snp::DataBuilder builder(species);
  for (const char* site : {"00001", "22000", "01200", "22201", "10022", "22222"}) {
    std::vector<std::int64_t> red;
    for (const std::string& name : species)
      red.push_back(site[std::find(order.begin(), order.end(), name) - order.begin()] - '0');
    builder.add_site(red, std::vector<std::int64_t>(species.size(), 2));
  }
  return builder.finish();
}

double term_of(const snp::composite_result& found, const names& species) {
  for (const snp::composite_term& term : found.terms)
    if (term.species == species) return term.log_likelihood;
  throw std::runtime_error("no such set");
}

snp::Data simulated_species(std::size_t count) {
  const snp::Network star =
      snp::parse_newick("((A:.03,(B:.02,C:.02):.01):.02,((D:.03,E:.03):.01,(F:.02,G:.02):.02):.01);", {.theta = 0.02});
  return snp::simulate(star, {.copies = std::vector<std::int64_t>(count, 2), .sites = 60, .seed = 3});
}

TEST(snp_composite, triples_of_five_species) {
  const snp::Network network = snp::parse_newick(five_species, {.theta = 0.02});
  const snp::Data data = six_sites({"A", "B", "C", "D", "E"});
  const auto found = snp::composite_log_likelihood(network, data, {.u = 1, .v = 1});
  EXPECT_EQ(found.terms.size(), 10u);
  EXPECT_EQ(found.skipped, 0);
  EXPECT_NEAR(found.log_likelihood, -216.6092397181, 1e-9);
  EXPECT_NEAR(term_of(found, {"A", "B", "C"}), -17.108066544, 1e-8);
  EXPECT_NEAR(term_of(found, {"A", "B", "D"}), -19.673809943, 1e-8);
  EXPECT_NEAR(term_of(found, {"C", "D", "E"}), -20.326578806, 1e-8);
  EXPECT_NEAR(snp::composite_log_likelihood(network, data, {.u = 0.7, .v = 1.75}).log_likelihood, -217.0438516776,
              1e-9);
}

// No value around the maximum is larger, by parameters that plain values show.
TEST(snp_composite, its_maximum_by_gamma_and_lengths) {
  const snp::Network network = snp::parse_newick(five_species, {.theta = 0.02});
  const snp::Data data = snp::simulate(network, {.copies = {2, 2, 2, 2, 2}, .sites = 400, .seed = 8});
  const snp::optimise_options climb{.thetas = snp::theta_parameters::common, .tolerance = 1e-7};
  const snp::composite_optimum found = snp::optimise_composite(network, data, climb);
  EXPECT_TRUE(found.outcome.converged);
  EXPECT_NEAR(found.outcome.start, snp::composite_log_likelihood(network, data).log_likelihood, 1e-8);
  const double best = snp::composite_log_likelihood(found.network, data).log_likelihood;
  EXPECT_NEAR(found.outcome.log_likelihood, best, 1e-8);
  EXPECT_GT(best, found.outcome.start);
  const std::int64_t minor = network.parent_branches(network.find("#H1"))[0];
  for (const double factor : {0.97, 1.03}) {
    snp::Network moved = found.network;
    moved.set_gamma(minor, found.network.branch(minor).gamma * factor);
    EXPECT_LT(snp::composite_log_likelihood(moved, data).log_likelihood, best + 1e-5) << "gamma " << factor;
    for (std::int64_t b = 0; b < network.branches(); ++b) {
      moved = found.network;
      moved.set_length(b, found.network.branch(b).length * factor);
      EXPECT_LT(snp::composite_log_likelihood(moved, data).log_likelihood, best + 1e-5) << b << ' ' << factor;
    }
  }
  snp::DataBuilder two_species({"A", "B", "C", "D", "E"}, {.empty = snp::empty_species::keep});
  two_species.add_site(std::vector<std::int64_t>{1, 0, 0, 0, 0}, std::vector<std::int64_t>{2, 2, 0, 0, 0});
  const snp::Data without_sets = two_species.finish();
  expect_invalid([&] { snp::optimise_composite(network, without_sets, climb); }, "fewer than 3 species have copies");
  const std::string one_theta = "needs one theta for all branches";
  expect_invalid([&] { snp::optimise_composite(network, data, {}); }, one_theta);
  snp::Network uneven = network;
  uneven.set_theta(0, 0.03);
  expect_invalid([&] { snp::optimise_composite(uneven, data, climb); }, one_theta);
  expect_invalid(
      [&] { snp::optimise_composite(network, data, {.thetas = snp::theta_parameters::common, .starts = 0}); },
      "starts");
}

// Without the other species the network is smaller, and the likelihood the same.
TEST(snp_composite, a_set_has_the_likelihood_of_its_own_network) {
  const auto found = snp::composite_log_likelihood(snp::parse_newick(five_species, {.theta = 0.02}),
                                                   six_sites({"A", "B", "C", "D", "E"}));
  const snp::Network pruned = snp::parse_newick("[.02](C:0.06,(D:0.04,E:0.04)w:0.02)r;", {.theta = 0.02});
  EXPECT_NEAR(term_of(found, {"C", "D", "E"}), snp::Likelihood(pruned, six_sites({"C", "D", "E"})).evaluate(), 1e-11);
  // Of all five at once where a set has all: four of four species.
  const snp::Network four = snp::parse_newick("[.02]((A:.02,B:.02):.02,(C:.02,D:.02):.02);", {.theta = 0.02});
  const snp::Data data = six_sites({"A", "B", "C", "D"});
  EXPECT_NEAR(snp::composite_log_likelihood(four, data, {}, {.size = 4}).log_likelihood,
              snp::Likelihood(four, data).evaluate(), 1e-11);
}

// Parts of a network with one theta are smaller networks; those with another theta keep all their branches.
TEST(snp_composite, parts_of_networks_have_the_likelihoods_of_the_whole) {
  const auto seven = simulated_species(7);
  for (const char* text : {"((((A:.02)#H1:.01::.7,(B:.01,C:.01):.02):.01,((D:.02)#H2:.005::.4,E:.025):.015):.02,"
                           "((#H1:.015::.3,#H2:.015::.6):.01,(F:.03,G:.03):.015):.015);",
                           "(((((A:.01,B:.01):.01)#H1:.01::.2,(C:.02)#H2:.01::.5):.01,#H2:.02::.5):.01,"
                           "((#H1:.03::.8,(D:.04,E:.01):.02):.01,(F:.03,G:.02):.03):.01);"})
    for (const std::int64_t size : {3, 4}) {
      const snp::Network network = snp::parse_newick(text, {.theta = 0.02});
      snp::Network other = network;
      other.set_root_theta(0.02 * (1 + 1e-15));
      const auto parts = snp::composite_log_likelihood(network, seven, {.u = 0.7, .v = 1.75}, {.size = size});
      const auto whole = snp::composite_log_likelihood(other, seven, {.u = 0.7, .v = 1.75}, {.size = size});
      ASSERT_EQ(parts.terms.size(), whole.terms.size());
      for (std::size_t i = 0; i < parts.terms.size(); ++i) {
        EXPECT_EQ(parts.terms[i].species, whole.terms[i].species);
        EXPECT_NEAR(parts.terms[i].log_likelihood, whole.terms[i].log_likelihood,
                    1e-11 * std::abs(whole.terms[i].log_likelihood));
      }
    }
}

TEST(snp_composite, bits_do_not_depend_on_threads) {
  const snp::Network network = snp::parse_newick(five_species, {.theta = 0.02});
  const snp::Data data = six_sites({"A", "B", "C", "D", "E"});
  std::vector<double> values;
  for (const int count : {1, 2, 5}) {
    const thread_scope scope(count);
    values.push_back(snp::composite_log_likelihood(network, data).log_likelihood);
  }
  EXPECT_EQ(values[1], values[0]);
  EXPECT_EQ(values[2], values[0]);
}

// Triples of 42 copies that see an open reticulation are cut: their bounds add up, also of a network that is computed
// as a whole, because its thetas differ.
TEST(snp_composite, bounds_of_truncated_sets_add_up) {
  snp::Network network =
      snp::parse_newick("((A:.05,((B:.03)#H1:.01::.6,C:.04):.01):.02,(D:.06,#H1:.03::.4):.01);", {.theta = 0.01});
  const snp::Data data = snp::simulate(network, {.copies = {14, 14, 14, 14}, .sites = 4, .seed = 5});
  for (const bool has_common_theta : {true, false}) {
    if (!has_common_theta) network.set_theta(0, 0.02);
    const auto found = snp::composite_log_likelihood(network, data);
    const auto exact = snp::composite_log_likelihood(network, data, {}, {.likelihood = {.truncation = 0}});
    double sum = 0;
    for (const snp::composite_term& term : found.terms) sum += term.truncation_bound;
    EXPECT_GT(found.truncation_bound, 0);
    EXPECT_LE(found.truncation_bound, 4e-9);
    EXPECT_EQ(found.truncation_bound, sum);
    EXPECT_EQ(exact.truncation_bound, 0);
    EXPECT_NEAR(found.log_likelihood, exact.log_likelihood, 1e-9);
  }
}

TEST(snp_composite, errors_and_species_without_copies) {
  const snp::Network pair = snp::parse_newick("[.02](A:1,B:1);", {.theta = 0.02});
  expect_invalid([&] { snp::composite_log_likelihood(pair, six_sites({"A", "B"})); }, "must be >= 3");
  const snp::Network network = snp::parse_newick(five_species, {.theta = 0.02});
  const snp::Data data = six_sites({"A", "B", "C", "D", "E"});
  expect_invalid([&] { snp::composite_log_likelihood(network, data, {}, {.size = 2}); }, "size must be 3 or 4");
  expect_invalid([&] { snp::composite_log_likelihood(network, data, {.unseen_zeros = 1}); }, "no unseen sites");
  snp::DataBuilder builder({"A", "B", "C", "D", "E"}, {.empty = snp::empty_species::keep});
  builder.add_site(std::vector<std::int64_t>{1, 1, 0, 0, 0}, std::vector<std::int64_t>{2, 2, 2, 2, 0});
  const auto found = snp::composite_log_likelihood(network, builder.finish());
  EXPECT_EQ(found.skipped, 6);
  EXPECT_EQ(found.terms.size(), 4u);
  snp::DataBuilder two_with_copies({"A", "B", "C", "D", "E"}, {.empty = snp::empty_species::keep});
  two_with_copies.add_site(std::vector<std::int64_t>{1, 1, 0, 0, 0}, std::vector<std::int64_t>{2, 2, 0, 0, 0});
  expect_invalid([&] { snp::composite_log_likelihood(network, two_with_copies.finish()); },
                 "no set of 3 species has copies: all 10");
}

}  // namespace
}  // namespace quintet::test
