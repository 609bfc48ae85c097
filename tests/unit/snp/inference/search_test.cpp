#include "quintet/snp/inference/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "quintet/core/poll.hpp"
#include "quintet/device/thread_scope.hpp"
#include "quintet/snp/likelihood/composite.hpp"
#include "quintet/snp/network/network_topology.hpp"
#include "quintet/snp/network/newick.hpp"
#include "quintet/snp/network/rooting.hpp"
#include "quintet/snp/simulation/simulate.hpp"
#include "support/expect_error.hpp"

namespace quintet {
namespace {

using names = std::vector<std::string>;

template <class Call>
void expect_thrown(Call call, const std::string& message) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), message);
  }
}

class snp_search : public testing::Test {
 protected:
  const snp::Network truth = snp::parse_newick("((A:0.02,B:0.02):0.05,(C:0.03,D:0.03):0.04);", {.theta = 0.02});
  const snp::Data data = snp::simulate(truth, {.copies = {2, 2, 2, 2}, .sites = 1000, .seed = 5});
  const snp::search_options trees{.max_reticulations = 0, .starts = 2, .patience = 6, .theta = 0.02};

  static snp::search_options with_seed(snp::search_options options, std::uint64_t seed) {
    options.seed = seed;
    return options;
  }
};

// Five rootings, one tree: three starts agree on it whatever the seed.
TEST_F(snp_search, topologies_are_unrooted_where_the_root_is_not_seen) {
  std::string first;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const snp::search_result found = snp::search_networks(data, with_seed(trees, seed));
    EXPECT_FALSE(found.is_root_seen);
    EXPECT_LE(found.topologies, 3);  // unrooted trees of four species
    ASSERT_EQ(found.levels.size(), 1u);
    EXPECT_EQ(found.levels[0].starts, 2);
    EXPECT_EQ(found.levels[0].rootings, 5);
    EXPECT_EQ(snp::unrooted_key(found.levels[0].network), snp::unrooted_key(truth));
    const std::string key = snp::topology_key(found.levels[0].network);
    if (first.empty()) first = key;
    EXPECT_EQ(key, first);
  }
}

TEST_F(snp_search, an_outgroup_has_the_root) {
  for (const names& outgroup : {names{"C"}, names{"A", "B"}, names{"B", "C", "D"}}) {
    snp::search_options options = trees;
    options.max_reticulations = 1;
    options.outgroup = outgroup;
    const snp::search_result found = snp::search_networks(data, options);
    ASSERT_EQ(found.levels.size(), 2u);
    for (const snp::search_level& level : found.levels)
      EXPECT_TRUE(snp::is_rooted_at(level.network, outgroup)) << snp::to_newick(level.network);
    EXPECT_EQ(snp::unrooted_key(found.levels[0].network), snp::unrooted_key(truth));
  }
  // A clade that the best tree does not have leaves out that tree.
  snp::search_options apart = trees;
  apart.outgroup = {"A", "C"};
  const snp::search_result found = snp::search_networks(data, apart);
  EXPECT_EQ(found.topologies, 1);
  EXPECT_EQ(snp::topology_key(found.levels[0].network), snp::topology_key(snp::parse_topology("((A,C),(B,D));")));
  EXPECT_LT(found.levels[0].log_likelihood, snp::search_networks(data, trees).levels[0].log_likelihood - 1);
}

TEST_F(snp_search, the_root_is_seen_with_a_theta_of_every_branch) {
  snp::search_options options = trees;
  options.optimise.thetas = snp::theta_parameters::each;
  options.optimise.max_iterations = 5;
  options.outgroup = {"A", "B"};
  const snp::search_result found = snp::search_networks(data, options);
  EXPECT_TRUE(found.is_root_seen);
  EXPECT_EQ(found.levels[0].rootings, 1);
  EXPECT_TRUE(snp::is_rooted_at(found.levels[0].network, names{"A", "B"}));
  EXPECT_EQ(found.topologies, 1);  // the only rooted tree with A and B on one side, C and D on the other
}

TEST_F(snp_search, reports_the_best_so_far_after_every_topology) {
  snp::search_options options = trees;
  options.max_reticulations = 1;
  options.patience = 2;
  double best = std::numeric_limits<double>::infinity();
  std::int64_t ends = 0, last = 0, calls = 0;
  std::string network;
  options.report = [&](const snp::search_status& now) {
    ASSERT_NE(now.best, nullptr);
    EXPECT_LE(now.bic, best);
    EXPECT_GE(now.topologies, last);
    best = now.bic;
    last = now.topologies;
    network = snp::topology_key(*now.best);
    ends += now.is_end;
    ++calls;
  };
  std::vector<double> fractions;
  options.progress = [&](std::string_view stage, double fraction) {
    EXPECT_EQ(stage, "search");
    fractions.push_back(fraction);
    return true;
  };
  const snp::search_result found = snp::search_networks(data, options);
  EXPECT_EQ(ends, 4);  // two starts, two levels
  EXPECT_GT(calls, 6);
  EXPECT_EQ(last, found.topologies);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_EQ(fractions.back(), 1);
  const auto least = std::min_element(found.levels.begin(), found.levels.end(),
                                      [](const auto& a, const auto& b) { return a.bic < b.bic; });
  EXPECT_EQ(network, snp::topology_key(least->network));
  EXPECT_LT(least->bic, best + 1e-2);  // it has more iterations
}

// What is thrown from the report comes out, and the caller has the best so far.
TEST_F(snp_search, stops_when_the_report_throws) {
  snp::search_options options = trees;
  std::string best;
  options.report = [&](const snp::search_status& now) {
    best = snp::to_newick(*now.best);
    throw std::runtime_error("enough");
  };
  expect_thrown([&] { snp::search_networks(data, options); }, "enough");
  EXPECT_EQ(snp::parse_newick(best).species().size(), 4u);
}

// With two species every start is known after the first: nothing is computed, but the poll is heard.
TEST_F(snp_search, polls_where_every_topology_is_known) {
  const snp::Network pair = snp::parse_newick("(A:0.02,B:0.02);", {.theta = 0.02});
  const snp::Data two = snp::simulate(pair, {.copies = {2, 2}, .sites = 100, .seed = 5});
  int polls = 0;
  const poll_scope scope(
      [&] {
        if (++polls > 2000) throw std::runtime_error("stopped");
      },
      std::chrono::nanoseconds(0));
  expect_thrown([&] { snp::search_networks(two, {.max_reticulations = 0, .starts = snp::max_search_starts}); },
                "stopped");
}

class snp_composite_search : public testing::Test {
 protected:
  // F has 0.4 of its alleles from the branch of A and B.
  const snp::Network truth = snp::parse_newick(
      "(((((A:.01,B:.01):.01,#H1:.005::.4):.03,C:.05):.02,((F:.015)#H1:.045::.6,G:.06):.01):.02,O:.09);",
      {.theta = 0.01});
  const snp::Data data = snp::simulate(truth, {.copies = {2, 2, 2, 2, 2, 2}, .sites = 4000, .seed = 5});
  const snp::search_options options{
      .max_reticulations = 1, .starts = 1, .patience = 8, .composite = 3, .outgroup = {"O"}};
};

TEST_F(snp_composite_search, finds_the_hybrid_and_its_donors) {
  const snp::search_result found = snp::search_networks(data, options);
  EXPECT_TRUE(found.is_composite);
  EXPECT_FALSE(found.is_root_seen);
  ASSERT_EQ(found.levels.size(), 2u);
  const auto events = snp::hybrid_events(found.levels[1].network), expected = snp::hybrid_events(truth);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].hybrid, expected[0].hybrid);
  EXPECT_EQ(events[0].parents, expected[0].parents);
  EXPECT_NEAR(events[0].gamma[0], expected[0].gamma[0], 0.15);
  EXPECT_EQ(snp::unrooted_key(found.levels[1].network), snp::unrooted_key(truth));
  EXPECT_TRUE(snp::is_rooted_at(found.levels[1].network, names{"O"}));
  EXPECT_NEAR(found.levels[1].gain, found.levels[1].log_likelihood - found.levels[0].log_likelihood, 1e-6);
  EXPECT_GE(found.levels[1].log_likelihood, snp::composite_log_likelihood(truth, data).log_likelihood);
  EXPECT_NEAR(found.levels[1].log_likelihood,
              snp::composite_log_likelihood(found.levels[1].network, data).log_likelihood, 1e-6);
  EXPECT_TRUE(std::isnan(found.levels[1].bic));
  EXPECT_TRUE(std::isnan(found.levels[0].bic_gain));
  EXPECT_EQ(snp::best_level(found).reticulations, 1);
}

// The sums of every site over the sets, from the likelihoods of the sets alone.
std::vector<double> sums_of_patterns(const snp::Network& network, const snp::Data& data) {
  const auto species = std::int64_t(data.species().size());
  std::vector<double> sums(std::size_t(data.patterns()), 0.0);
  for (std::int64_t p = 0; p < data.patterns(); ++p) {
    snp::DataBuilder builder({data.species().begin(), data.species().end()}, {.empty = snp::empty_species::keep});
    std::vector<std::int64_t> red, copies;
    for (std::int64_t s = 0; s < species; ++s) {
      red.push_back(data.red(p, s));
      copies.push_back(data.copies(p, s));
    }
    builder.add_site(red, copies);
    sums[std::size_t(p)] = snp::composite_log_likelihood(network, builder.finish()).log_likelihood;
  }
  return sums;
}

// Four species without a reticulation: that of the second level is a chance find of many places.
TEST_F(snp_composite_search, a_reticulation_pays_for_the_places_it_was_chosen_from) {
  const snp::Network tree = snp::parse_newick("(((A:.02,B:.02):.02,C:.04):.02,D:.06);", {.theta = 0.02});
  for (const std::uint64_t seed : {1, 2, 3}) {
    const snp::Data four = snp::simulate(tree, {.copies = {2, 2, 2, 2}, .sites = 400, .seed = seed});
    const snp::search_result found =
        snp::search_networks(four, {.max_reticulations = 1, .starts = 1, .patience = 3, .composite = 3});
    ASSERT_EQ(found.levels.size(), 2u);
    const snp::search_level& level = found.levels[1];
    const std::vector<double> before = sums_of_patterns(found.levels[0].network, four),
                              after = sums_of_patterns(level.network, four);
    double gain = 0, square = 0;
    for (std::size_t p = 0; p < before.size(); ++p) {
      const double w = four.weight(std::int64_t(p));
      gain += w * (after[p] - before[p]);
      square += w * (after[p] - before[p]) * (after[p] - before[p]);
    }
    const double error = std::sqrt(square - gain * gain / 400);
    EXPECT_NEAR(level.gain, gain, 1e-6);
    EXPECT_NEAR(level.gain_error, error, 1e-6);
    // A tree of four species has five unrooted branches, as each pair of which two orders may be hybrid and donor.
    EXPECT_GE(level.places, 5 * 4 / 2);
    EXPECT_LE(level.places, 200);
    const double z = std::max(2 * gain / error, 0.0);
    EXPECT_NEAR(level.bic_gain, z * z - std::log(400) - 2 * std::log(double(level.places)), 1e-4 * (1 + z * z));
    EXPECT_EQ(snp::best_level(found).reticulations, 0) << seed;
  }
}

TEST_F(snp_composite_search, the_best_level_has_only_clear_gains_up_to_it) {
  snp::search_result result{.levels = {}, .topologies = 0};
  for (const double bic : {10., 5., 7., 6.})
    result.levels.push_back({.reticulations = std::int64_t(result.levels.size()), .network = truth, .bic = bic});
  EXPECT_EQ(snp::best_level(result).reticulations, 1);
  result.is_composite = true;
  const auto set_gains = [&](std::vector<double> gains) {
    for (std::size_t r = 1; r < 4; ++r) result.levels[r].bic_gain = gains[r - 1];
  };
  set_gains({-0.1, 9, 9});
  EXPECT_EQ(snp::best_level(result).reticulations, 0);
  set_gains({9, 0.1, 0});
  EXPECT_EQ(snp::best_level(result).reticulations, 2);
  set_gains({9, 9, 9});
  EXPECT_EQ(snp::best_level(result).reticulations, 3);
}

TEST_F(snp_composite_search, bits_do_not_depend_on_threads) {
  snp::search_options trees = options;
  trees.max_reticulations = 0;
  trees.starts = 2;
  std::vector<std::string> networks;
  for (const int count : {1, 3}) {
    const thread_scope scope(count);
    std::string last;
    trees.report = [&](const snp::search_status& now) { last = snp::to_newick(*now.best); };
    const snp::search_result found = snp::search_networks(data, trees);
    networks.push_back(last + snp::to_newick(found.levels[0].network) + text(found.topologies));
  }
  EXPECT_EQ(networks[1], networks[0]);
}

TEST_F(snp_composite_search, refuses_what_has_no_composite_likelihood) {
  const auto refused = [&](const auto& change, const std::string& message) {
    snp::search_options changed = options;
    change(changed);
    expect_invalid([&] { snp::search_networks(data, changed); }, message);
  };
  refused([](auto& o) { o.composite = 2; }, "composite must be 0, 3 or 4 (composite=2)");
  refused([](auto& o) { o.optimise.thetas = snp::theta_parameters::each; }, "one theta for all branches");
  refused([](auto& o) { o.optimise.lengths = false; }, "lengths as parameters");
  refused([](auto& o) { o.model.mutation_only_at_root = true; }, "needs mutation on all branches");
  refused([](auto& o) { o.model.unseen_ones = 1; }, "takes no unseen sites");
  refused([](auto& o) { o.outgroup = {"A", "G"}; }, "does not have its 2 species together");
  const snp::Data pair =
      snp::simulate(snp::parse_newick("(A:1,B:1);", {.theta = 0.1}), {.copies = {2, 2}, .sites = 10, .seed = 1});
  expect_invalid([&] { snp::search_networks(pair, {.composite = 3}); }, "must be >= 3");
  snp::DataBuilder builder({"A", "B", "C", "D"}, {.empty = snp::empty_species::keep});
  builder.add_site(std::vector<std::int64_t>{1, 0, 0, 0}, std::vector<std::int64_t>{2, 2, 2, 0});
  const snp::Data missing = builder.finish();
  expect_invalid([&] { snp::search_networks(missing, {.composite = 3}); }, "species D has no copies at any site");
}

TEST_F(snp_search, refuses_numbers_out_of_range) {
  const auto refused = [&](const auto& change, const std::string& message) {
    snp::search_options options = trees;
    change(options);
    expect_invalid([&] { snp::search_networks(data, options); }, message);
  };
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t value : {std::int64_t(0), std::int64_t(-1), most}) {
    refused([&](auto& o) { o.starts = value; }, text("starts must be in 1 ... 1000000 (starts=", value, ")"));
    refused([&](auto& o) { o.patience = value; }, "patience must be in 1 ... 1000000");
    refused([&](auto& o) { o.optimise.max_iterations = value; }, "max_iterations must be in 1 ... 1000000000");
    refused([&](auto& o) { o.optimise.starts = value; }, "starts must be in 1 ... 1000000");
  }
  for (const std::int64_t value : {std::int64_t(-1), std::int64_t(21), most})
    refused([&](auto& o) { o.max_reticulations = value; }, "max_reticulations must be in 0 ... 20");
  refused([](auto& o) { o.outgroup = {"X"}; }, "outgroup must be a species of the data (outgroup=X)");
  refused([](auto& o) { o.outgroup = {"A", "B", "C", "D"}; }, "outgroup must not be all species of the data");
}

}  // namespace
}  // namespace quintet
