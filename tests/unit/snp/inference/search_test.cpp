#include "quintet/snp/inference/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "quintet/core/poll.hpp"
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
