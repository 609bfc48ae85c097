#include "quintet/snp/network/rooting.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/network/network_topology.hpp"
#include "quintet/snp/network/newick.hpp"
#include "quintet/snp/simulation/simulate.hpp"
#include "support/expect_error.hpp"

namespace quintet {
namespace {

using names = std::vector<std::string>;

const char* const tree = "((A:0.02,B:0.03):0.01,(C:0.05,(D:0.01,E:0.015):0.02):0.04);";
const char* const hybrid =
    "((((D:0.01)#H1:0.005::0.6,A:0.015):0.01,B:0.025):0.02,((C:0.02,#H1:0.01::0.4):0.015,E:0.03):0.01);";
// Both child branches of the root are above reticulations.
const char* const between_hybrids =
    "((A:0.02)#H1:0.01::0.3,((B:0.02)#H2:0.01::0.4,((#H1:0.02::0.7,C:0.01):0.01,(#H2:0.02::0.6,D:0.01):0.01):0.01):0."
    "02);";

snp::Network network(const std::string& text) { return snp::parse_newick(text, {.theta = 0.02}); }

TEST(rooting, has_every_branch_of_a_tree_once) {
  std::set<std::string> keys;
  for (const snp::Network& one : snp::rootings(network(tree))) keys.insert(snp::topology_key(one));
  EXPECT_EQ(keys.size(), 7u);  // an unrooted tree of five species has 2 * 5 - 3 branches
  EXPECT_EQ(snp::rootings(network(tree)).size(), 7u);
  EXPECT_EQ(keys, (std::set<std::string>{"((A,B),(C,(D,E)));", "((C,(A,B)),(D,E));", "(A,(B,(C,(D,E))));",
                                         "(B,(A,(C,(D,E))));", "(C,((A,B),(D,E)));", "(D,(E,(C,(A,B))));",
                                         "(E,(D,(C,(A,B))));"}));
}

// Mutation and drift are reversible: with equal thetas the likelihood of a site is the same.
TEST(rooting, the_likelihood_does_not_see_the_root_where_thetas_are_equal) {
  for (const char* text : {tree, hybrid, between_hybrids}) {
    const snp::Network one = network(text);
    SCOPED_TRACE(text);
    const std::vector<std::int64_t> copies(one.species().size(), 2);
    const snp::Data data = snp::simulate(one, {.copies = copies, .sites = 200, .seed = 3});
    for (const snp::model& model : {snp::model{.u = 0.7, .v = 1.6}, snp::model{.polymorphic_only = true}}) {
      const double expected = snp::Likelihood(one, data, model).evaluate();
      for (const snp::Network& rooted : snp::rootings(one))
        EXPECT_NEAR(snp::Likelihood(rooted, data, model).evaluate(), expected, 1e-9 * std::abs(expected))
            << snp::to_newick(rooted);
    }
  }
}

TEST(rooting, the_likelihood_sees_the_root_otherwise) {
  const snp::Network one = network(tree);
  const snp::Data data = snp::simulate(one, {.copies = {2, 2, 2, 2, 2}, .sites = 200, .seed = 3});
  const snp::model model{.mutation_only_at_root = true};
  const double here = snp::Likelihood(one, data, model).evaluate();
  EXPECT_GT(std::abs(snp::Likelihood(*snp::rooted_at(one, names{"C"}), data, model).evaluate() - here), 1e-3);
  snp::Network thetas = one;
  thetas.set_theta(0, 0.1);
  const double with_thetas = snp::Likelihood(thetas, data).evaluate();
  EXPECT_GT(std::abs(snp::Likelihood(*snp::rooted_at(thetas, names{"C"}), data).evaluate() - with_thetas), 1e-3);
}

TEST(rooting, branches_above_reticulations_keep_their_direction) {
  for (const char* text : {hybrid, between_hybrids}) {
    const snp::Network one = network(text);
    for (const snp::Network& rooted : snp::rootings(one)) {
      ASSERT_EQ(rooted.reticulations().size(), one.reticulations().size());
      const auto hybrids = [](const snp::Network& of) {
        std::set<names> all;
        for (const auto& event : snp::hybrid_events(of)) all.insert(event.hybrid);
        return all;
      };
      EXPECT_EQ(hybrids(rooted), hybrids(one)) << snp::to_newick(rooted);
    }
  }
  // 2 * 5 - 3 + 3 branches, less the one below the reticulation.
  EXPECT_EQ(snp::rootings(network(hybrid)).size(), 9u);
}

TEST(rooting, key_is_that_of_the_class) {
  std::set<std::string> keys;
  for (const char* text : {tree, hybrid, between_hybrids}) {
    std::set<std::string> of_class;
    for (const snp::Network& rooted : snp::rootings(network(text))) {
      of_class.insert(snp::unrooted_key(rooted));
      EXPECT_EQ(snp::rootings(rooted).size(), snp::rootings(network(text)).size());
    }
    EXPECT_EQ(of_class.size(), 1u);
    EXPECT_EQ(*of_class.begin(), snp::topology_key(snp::least_rooting(network(text))));
    keys.insert(of_class.begin(), of_class.end());
  }
  EXPECT_EQ(keys.size(), 3u);
  EXPECT_NE(snp::unrooted_key(network("((A:1,C:1):1,(B:1,(D:1,E:1):1):1);")), snp::unrooted_key(network(tree)));
}

TEST(rooting, at_an_outgroup) {
  const snp::Network one = network(tree);
  EXPECT_FALSE(snp::is_rooted_at(one, names{"C"}));
  const auto rooted = snp::rooted_at(one, names{"C"});
  ASSERT_TRUE(rooted.has_value());
  EXPECT_TRUE(snp::is_rooted_at(*rooted, names{"C"}));
  EXPECT_EQ(snp::topology_key(*rooted), snp::topology_key(snp::parse_topology("(C,((A,B),(D,E)));")));
  // 0.05 is halved; 0.01 + 0.04 are one branch now.
  double length = 0;
  for (std::int64_t b = 0; b < rooted->branches(); ++b) length += rooted->branch(b).length;
  EXPECT_NEAR(length, 0.02 + 0.03 + 0.01 + 0.05 + 0.01 + 0.015 + 0.02 + 0.04, 1e-15);
  const std::int64_t c = rooted->parent_branches(rooted->find("C"))[0];
  EXPECT_DOUBLE_EQ(rooted->branch(c).length, 0.025);
  // It is rooted there already, from either side.
  EXPECT_EQ(snp::to_newick(*snp::rooted_at(one, names{"B", "A"})), snp::to_newick(one));
  EXPECT_EQ(snp::to_newick(*snp::rooted_at(one, names{"C", "D", "E"})), snp::to_newick(one));
  EXPECT_TRUE(snp::rooted_at(one, names{"A", "B", "C"}).has_value());
  EXPECT_FALSE(snp::rooted_at(one, names{"A", "C"}).has_value());
  EXPECT_FALSE(snp::rooted_at(network("(((A:1,(B:1)#H1:1::0.5):1,(C:1,#H1:1::0.5):1):1,D:1);"), names{"A", "C"}));
  expect_invalid([&] { snp::rooted_at(one, names{"X"}); }, "outgroup must be a species");
  expect_invalid([&] { snp::rooted_at(one, names{}); }, "size of outgroup must be in [1, 4]");
  expect_invalid([&] { snp::is_rooted_at(one, names{"A", "B", "C", "D", "E"}); }, "in [1, 4]");
}

}  // namespace
}  // namespace quintet
