// Proposals, accepted and rejected, against fresh evaluations of the same parameters.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/network/newick.hpp"
#include "support/devices.hpp"
#include "support/near.hpp"
#include "support/random_network.hpp"
#include "support/random_snps.hpp"
#include "support/sanitized.hpp"

namespace quintet::test {
namespace {

// A new length or theta of a branch, or a new gamma where there are some.
void change_one(snp::Likelihood& likelihood, random_stream& random) {
  const snp::Network& network = likelihood.network();
  const std::int64_t b = random.below(std::uint32_t(network.branches()));
  const snp::branch one = network.branch(b);
  const double factor = 0.5 + random.uniform<double>();
  const bool has_gamma = network.kind(one.child) == snp::node_kind::reticulation;
  switch (random.below(has_gamma ? 3 : 2)) {
    case 0:
      return likelihood.set_length(b, one.length * factor);
    case 1:
      return likelihood.set_theta(b, one.theta * factor);
    default:
      return likelihood.set_gamma(b, random.uniform<double>());
  }
}

void change_at_root(snp::Likelihood& likelihood, random_stream& random) {
  const double factor = 0.5 + random.uniform<double>();
  if (random.below(2) == 0) return likelihood.set_root_theta(likelihood.network().root_theta() * factor);
  likelihood.set_rates(likelihood.model().u * factor, likelihood.model().v / factor);
}

// Under a sanitizer all walks of a test together still have every kind of proposal.
constexpr int fewer(int normal, int few) { return int(sized(normal, few)); }

// Errors of log-likelihoods of patterns after random proposals, of one change or several, here and there far apart,
// some evaluated before the last change, accepted or taken back; and whether what was taken back left its bits.
struct walk_report {
  double worst = 0;
  int changed_bits = 0;
  std::vector<double> values;
};

walk_report walk(snp::Likelihood& likelihood, const snp::Data& data, const Device& device, random_stream& random,
                 int proposals) {
  walk_report report;
  std::vector<double> accepted = likelihood.pattern_log_likelihoods();
  for (int i = 0; i < proposals; ++i) {
    for (std::uint32_t changes = random.below(3) == 0 ? 3 : 1; changes > 0; --changes) change_one(likelihood, random);
    if (random.below(8) == 0) change_at_root(likelihood, random);
    if (random.below(8) == 0) likelihood.evaluate(), change_one(likelihood, random);
    report.values.push_back(likelihood.evaluate());
    const std::vector<double> proposed = likelihood.pattern_log_likelihoods();
    snp::Likelihood fresh(likelihood.network(), data, likelihood.model(), {.device = device});
    report.worst = std::max(report.worst, largest_error(proposed, fresh.pattern_log_likelihoods(), 1));
    // A gradient needs all values, also those that the proposal did not.
    if (random.below(8) == 0)
      report.worst =
          std::max(report.worst, 0.1 * largest_error(likelihood.gradient().length, fresh.gradient().length, 1));
    const bool accept = random.below(2) == 0;
    accept ? likelihood.accept() : likelihood.reject();
    if (accept) accepted = proposed;
    report.changed_bits += likelihood.pattern_log_likelihoods() != accepted;
  }
  return report;
}

TEST(snp_proposal, agrees_with_a_fresh_evaluation) {
  const std::vector<snp::model> models{
      {.u = .7, .v = 1.6},
      {.u = .7, .v = 1.6, .rate_categories = {.3, 1.7}},
      {.u = 1.2, .v = .4, .mutation_only_at_root = true},
      {.u = 1.2, .v = .4, .polymorphic_only = true},
  };
  double worst = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    random_stream random(seed, 91);
    const snp::Network network(random_network(random, 3 + std::int64_t(seed % 2), std::int64_t(seed % 4)));
    const auto data = random_data(random, network, 20, 2);
    snp::Likelihood likelihood(network, data, models[seed % models.size()], {.device = Device::host()});
    const walk_report report = walk(likelihood, data, Device::host(), random, fewer(30, 15));
    EXPECT_EQ(report.changed_bits, 0);
    worst = std::max(worst, report.worst);
  }
  expect_error_within("log-likelihood of a pattern", worst, 1e-12);
}

TEST(snp_proposal, agrees_with_a_fresh_evaluation_on_other_devices) {
  double worst = 0;
  on_other_devices([&](const Device& device) {
    random_stream random(6, 92);
    const snp::Network network(random_network(random, 4, 2));
    const auto data = random_data(random, network, 20, 2);
    snp::Likelihood likelihood(network, data, {}, {.device = device});
    const walk_report report = walk(likelihood, data, device, random, fewer(12, 6));
    EXPECT_EQ(report.changed_bits, 0);
    worst = std::max(worst, report.worst);
  });
  expect_error_within("log-likelihood of a pattern", worst, 1e-12);
}

// Branches with more than 24 lineages: what a pre-order partial leaves out depends on the lengths below it.
TEST(snp_proposal, of_branches_with_many_lineages) {
  const auto network = snp::parse_newick(
      "((((A:0.003,B:0.0005)x:0.002,C:0.01)y:0.004,(E:0.001)#H1:0.001::0.4)w:0.001,(D:0.2,#H1:0.01::0.6)z:0.004)r",
      {.theta = .1});
  random_stream random(5, 93);
  const auto data = random_data(random, network, 5, 10);
  snp::Likelihood likelihood(network, data, {.u = .7, .v = 1.6}, {.device = Device::host()});
  const walk_report report = walk(likelihood, data, Device::host(), random, fewer(40, 8));
  EXPECT_EQ(report.changed_bits, 0);
  expect_error_within("log-likelihood of a pattern", report.worst, 1e-10);
}

TEST(snp_proposal, has_the_same_bits_for_any_number_of_threads) {
  std::vector<std::vector<double>> values;
  for (const int threads : {1, 2, 5}) {
    set_threads(threads);
    random_stream random(7, 94);
    const snp::Network network(random_network(random, 4, 2));
    const auto data = random_data(random, network, fewer(200, 60), 3);
    snp::Likelihood likelihood(network, data, {}, {.device = Device::host()});
    values.push_back(walk(likelihood, data, Device::host(), random, fewer(20, 8)).values);
  }
  set_threads(0);
  expect_same_bits(values[1], values[0]);
  expect_same_bits(values[2], values[0]);
}

// Numbers of 120 species are scaled many times; changes at the bottom, in the middle and at the top.
TEST(snp_proposal, of_a_tree_whose_numbers_are_scaled) {
  std::string newick = "s0:1e5";
  for (int i = 1; i < 120; ++i) newick = "(" + newick + ",s" + std::to_string(i) + ":1e5):1";
  const auto network = snp::parse_newick(newick.substr(0, newick.rfind(':')) + ";", {.theta = .1});
  const auto species = network.species();
  snp::DataBuilder builder({species.begin(), species.end()});
  random_stream random(9, 96);
  const std::vector<std::int64_t> copies(species.size(), 1);
  for (int site = 0; site < 6; ++site) {
    std::vector<std::int64_t> red;
    for (std::size_t s = 0; s < species.size(); ++s) red.push_back(random.below(std::uint32_t(site) + 1) == 0);
    builder.add_site(red, copies);
  }
  const auto data = builder.finish();
  snp::Likelihood likelihood(network, data, {.u = 1, .v = 1e-7}, {.device = Device::host()});
  likelihood.evaluate();
  double worst = 0;
  for (const char* name : {"s1", "s60", "s119", "s30", "s0"}) {
    const std::int64_t b = network.parent_branches(network.find(name))[0];
    for (const double length : {1e-3, 1e-9, 1e5}) {
      likelihood.set_length(b, length);
      const auto found = likelihood.pattern_log_likelihoods();
      snp::Likelihood fresh(likelihood.network(), data, {.u = 1, .v = 1e-7}, {.device = Device::host()});
      worst = std::max(worst, largest_error(found, fresh.pattern_log_likelihoods(), 1));
      EXPECT_LT(found[0], -1000);
      length == 1e-9 ? likelihood.reject() : likelihood.accept();
    }
  }
  expect_error_within("log-likelihood of a pattern", worst, 1e-12);
}

// One site, one copy a species: red in A alone.
snp::Data red_in_a() {
  snp::DataBuilder builder({"A", "B", "C"});
  builder.add_site(std::vector<std::int64_t>{1, 0, 0}, std::vector<std::int64_t>{1, 1, 1});
  return builder.finish();
}

// Lineages of A and B merge at once, so that A alone is red by a mutation on its branch.
TEST(snp_proposal, from_and_to_what_can_hardly_be) {
  const auto network = snp::parse_newick("((A:0.1,B:0.1)x:0.1,C:0.2)r", {.theta = .1});
  const auto data = red_in_a();
  const std::int64_t a = network.parent_branches(network.find("A"))[0],
                     b = network.parent_branches(network.find("B"))[0];
  snp::Likelihood likelihood(network, data, {}, {.device = Device::host()});
  const double usual = likelihood.evaluate();
  const auto propose = [&](double length) {
    likelihood.set_length(a, length);
    return likelihood.evaluate();
  };
  likelihood.set_length(b, 0);
  for (std::int64_t i = 0; i < network.branches(); ++i) likelihood.set_theta(i, 1e-300);
  likelihood.evaluate();
  likelihood.accept();
  const double hardly = propose(1e-250);
  EXPECT_NEAR(hardly, snp::Likelihood(likelihood.network(), data, {}).evaluate(), 1e-10);
  EXPECT_LT(hardly, -500);
  likelihood.accept();
  const double again = propose(0.1);
  EXPECT_NEAR(again, snp::Likelihood(likelihood.network(), data, {}).evaluate(), 1e-12);
  EXPECT_NEAR(again, usual, 3);
}

TEST(snp_proposal, from_and_to_what_cannot_be) {
  const auto network = snp::parse_newick("((A:0.1,B:0.1)x:0.1,C:0.2)r", {.theta = .1});
  const auto data = red_in_a();
  // Alleles only change from 1 to 0: no copy is ever red.
  snp::Likelihood likelihood(network, data, {.u = 1, .v = 0}, {.device = Device::host()});
  EXPECT_EQ(likelihood.evaluate(), -std::numeric_limits<double>::infinity());
  likelihood.set_length(0, 0.3);
  EXPECT_EQ(likelihood.evaluate(), -std::numeric_limits<double>::infinity());
  likelihood.accept();
  likelihood.set_rates(1, 1);
  EXPECT_NEAR(likelihood.evaluate(), snp::Likelihood(likelihood.network(), data, {.u = 1, .v = 1}).evaluate(), 1e-13);
  likelihood.accept();
  likelihood.set_length(0, 0.1);
  EXPECT_NEAR(likelihood.evaluate(), snp::Likelihood(network, data, {.u = 1, .v = 1}).evaluate(), 1e-13);
}

// After a rejected theta of the root the gradient is that of the accepted one.
TEST(snp_proposal, a_rejected_root_leaves_the_gradient) {
  random_stream random(8, 95);
  const snp::Network network(random_network(random, 3, 1));
  const auto data = random_data(random, network, 10, 2);
  snp::Likelihood likelihood(network, data, {}, {.device = Device::host()});
  const snp::gradient before = likelihood.gradient();
  likelihood.set_root_theta(3 * network.root_theta());
  likelihood.evaluate();
  likelihood.reject();
  const snp::gradient after = likelihood.gradient();
  expect_same_bits(after.length, before.length);
  EXPECT_EQ(after.root_theta, before.root_theta);
}

}  // namespace
}  // namespace quintet::test
