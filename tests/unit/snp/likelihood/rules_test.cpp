// The rules one by one: worked numbers of the literature, of other programs, and by hand.
#include "quintet/snp/likelihood/rules.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "quintet/core/error.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/snp_cases.hpp"

namespace quintet::test {
namespace {

using snp::partial_likelihood;
using state = snp::lineage_state;

double at(const partial_likelihood& table, std::initializer_list<state> states) {
  return table.at(std::vector<state>(states));
}

double sum_of(const partial_likelihood& table) {
  double sum = 0;
  for (const double one : table.entries) sum += one;
  return sum;
}

TEST(snp_rules, a_leaf_has_one_state) {
  const partial_likelihood leaf = snp::rules::leaf(4, 1);
  ASSERT_EQ(leaf.entries.size(), 15u);  // (n, r) with n <= 4
  EXPECT_EQ(at(leaf, {{4, 1}}), 1);
  EXPECT_EQ(sum_of(leaf), 1);
  EXPECT_EQ(at(snp::rules::leaf(0, 0), {{0, 0}}), 1);
}

// Two individuals, one shows the band: F(4, r) = C(2, 1) C(1, r - 1) 2^(2 - r) / C(4, r).
TEST(snp_rules, a_dominant_leaf_has_the_states_of_its_bands) {
  const partial_likelihood leaf = snp::rules::leaf(4, 1, true);
  EXPECT_DOUBLE_EQ(at(leaf, {{4, 1}}), 2. * 2 / 4);
  EXPECT_DOUBLE_EQ(at(leaf, {{4, 2}}), 2. / 6);
  EXPECT_DOUBLE_EQ(sum_of(leaf), 1 + 1. / 3);
}

// PhyloNet, MatrixQTest: five lineages, two of allele 1, theta 0.04, length 0.5, u = v = 1.
TEST(snp_rules, up_a_branch_as_phylonet) {
  on_every_device([&](const Device& device) {
    const partial_likelihood top =
        snp::rules::branch(snp::rules::leaf(5, 2), 0, {.length = .5, .theta = .04}, {.u = 1, .v = 1}, device);
    expect_error_within("F(1, 0)", std::fabs(at(top, {{1, 0}}) - .016855143897866), 1e-14);
    expect_error_within("F(1, 1)", std::fabs(at(top, {{1, 1}}) - .014409887360872), 1e-14);
    for (std::size_t i = 3; i < top.entries.size(); ++i) EXPECT_LT(top.entries[i], 1e-11) << i;
  });
}

// Two lineages that do not mutate: they meet with probability 1 - exp(-2 t / theta), and only if they are alike.
TEST(snp_rules, up_a_branch_by_hand) {
  const double together = 1 - std::exp(-2 * .3 / .2);
  const partial_likelihood alike = snp::rules::branch(snp::rules::leaf(2, 2), 0, {.3, .2}, {.u = 1e-300, .v = 0});
  EXPECT_NEAR(at(alike, {{1, 1}}), together, 1e-15);
  EXPECT_NEAR(at(alike, {{2, 2}}), 1 - together, 1e-15);
  const partial_likelihood unlike = snp::rules::branch(snp::rules::leaf(2, 1), 0, {.3, .2}, {.u = 1e-300, .v = 0});
  EXPECT_NEAR(at(unlike, {{2, 1}}), 1 - together, 1e-15);
  EXPECT_LT(at(unlike, {{1, 1}}) + at(unlike, {{1, 0}}), 1e-290);
}

// C(n1, r1) C(n2, r2) / C(n, r) for the only two states.
TEST(snp_rules, two_groups_meet) {
  on_every_device([&](const Device& device) {
    const partial_likelihood both = snp::rules::join(snp::rules::leaf(2, 1), 0, snp::rules::leaf(3, 1), 0, device);
    ASSERT_EQ(both.max, std::vector<std::int64_t>{5});
    EXPECT_DOUBLE_EQ(at(both, {{5, 2}}), 2. * 3 / 10);
    EXPECT_DOUBLE_EQ(sum_of(both), .6);
    EXPECT_DOUBLE_EQ(at(snp::rules::join(snp::rules::leaf(2, 1), 0, snp::rules::leaf(0, 0), 0, device), {{2, 1}}), 1);
  });
}

// C(n, ny) g^ny (1 - g)^nz, whatever the alleles.
TEST(snp_rules, a_branch_splits) {
  on_every_device([&](const Device& device) {
    const partial_likelihood open = snp::rules::split(snp::rules::leaf(2, 1), 0, .3, device);
    ASSERT_EQ(open.max, (std::vector<std::int64_t>{2, 2}));
    EXPECT_NEAR(at(open, {{2, 1}, {0, 0}}), .09, 1e-16);
    EXPECT_NEAR(at(open, {{0, 0}, {2, 1}}), .49, 1e-16);
    EXPECT_NEAR(at(open, {{1, 1}, {1, 0}}), .42, 1e-16);
    EXPECT_NEAR(at(open, {{1, 0}, {1, 1}}), .42, 1e-16);
    EXPECT_EQ(at(open, {{1, 0}, {1, 0}}), 0);
    EXPECT_NEAR(sum_of(open), 1.42, 1e-15);
    // Nothing happens on either way up, so they give back what was there.
    const partial_likelihood again = snp::rules::merge(open, 0, 1, device);
    EXPECT_NEAR(at(again, {{2, 1}}), 1, 1e-15);
    EXPECT_NEAR(sum_of(again), 1, 1e-15);
  });
}

// Beta-binomial with theta v and theta u: for one and two lineages.
TEST(snp_rules, the_population_above_the_root) {
  const double theta = .4, u = 3, v = .5, a1 = theta * v, a0 = theta * u, all = a0 + a1;
  on_every_device([&](const Device& device) {
    EXPECT_NEAR(snp::rules::root(snp::rules::leaf(1, 0), theta, {u, v}, device), u / (u + v), 1e-15);
    EXPECT_NEAR(snp::rules::root(snp::rules::leaf(2, 2), theta, {u, v}, device), a1 * (a1 + 1) / (all * (all + 1)),
                1e-15);
    EXPECT_NEAR(snp::rules::root(snp::rules::leaf(2, 1), theta, {u, v}, device), 2 * a1 * a0 / (all * (all + 1)),
                1e-15);
  });
}

// Case B1 of the reference data: two species with two copies each (SNAPP).
TEST(snp_rules, a_cherry_as_snapp) {
  const double expected[][3] = {
      {0, 0, .3497641}, {1, 1, .00712304}, {2, 1, .03810515}, {0, 2, .07046408}, {2, 2, .3497641}};
  for (const auto& [a, b, value] : expected) {
    const auto top = [](double red) {
      return snp::rules::branch(snp::rules::leaf(2, std::int64_t(red)), 0, {.1, .1}, {});
    };
    EXPECT_NEAR(snp::rules::root(snp::rules::join(top(a), 0, top(b), 0), .1, {}), value, 5e-9) << a << b;
  }
}

// Case B3: (((B:0.4)#H1:0.1::0.6,A:0.5)x:0.3,(C:0.6,#H1:0.2::0.4)y:0.2)r, theta 0.1, counts of A, B, C
// (SnappNet, PhyloNet), and the likelihood of the whole network.
double one_reticulation(std::int64_t a, std::int64_t b, std::int64_t c, const Device& device) {
  const double theta = .1;
  const auto up = [&](const partial_likelihood& table, std::int64_t axis, double length) {
    return snp::rules::branch(table, axis, {length, theta}, {}, device);
  };
  partial_likelihood open = snp::rules::split(up(snp::rules::leaf(3, b), 0, .4), 0, .6, device);  // to x, to y
  open = up(up(open, 0, .1), 1, .2);
  open = snp::rules::join(open, 0, up(snp::rules::leaf(1, a), 0, .5), 0, device);  // x, to y
  open = up(open, 0, .3);
  open = snp::rules::join(open, 1, up(snp::rules::leaf(1, c), 0, .6), 0, device);  // y, x
  open = up(open, 0, .2);
  return snp::rules::root(snp::rules::merge(open, 0, 1, device), theta, {}, device);
}

TEST(snp_rules, a_reticulation_as_snappnet) {
  const double expected[][4] = {{0, 0, 0, .12931518477},
                                {1, 3, 1, .12931518477},
                                {0, 2, 1, .01491681263},
                                {1, 1, 0, .01491681263},
                                {1, 3, 0, .10942711936}};
  const auto network = snp_network("(((B:0.4)#H1:0.1::0.6,A:0.5)x:0.3,(C:0.6,#H1:0.2::0.4)y:0.2)r", .1);
  on_every_device([&](const Device& device) {
    for (const auto& [a, b, c, value] : expected) {
      const double found = one_reticulation(std::int64_t(a), std::int64_t(b), std::int64_t(c), device);
      EXPECT_NEAR(found, value, 5e-12);
      snp::DataBuilder builder({"A", "B", "C"});
      builder.add_site(std::vector<std::int64_t>{std::int64_t(a), std::int64_t(b), std::int64_t(c)},
                       std::vector<std::int64_t>{1, 3, 1});
      snp::Likelihood likelihood(network, builder.finish(), {}, {.device = device});
      expect_error_within("beside the whole likelihood", std::fabs(std::log(found) - likelihood.evaluate()), 1e-14);
    }
  });
}

// More lineages than a matrix is made for: what can be counted has probability 1 altogether.
TEST(snp_rules, many_lineages_go_up_in_stages) {
  constexpr std::int64_t copies = 40;
  double sum = 0;
  for (std::int64_t red = 0; red <= copies; ++red) {
    const partial_likelihood top = snp::rules::branch(snp::rules::leaf(copies, red), 0, {.5, .1}, {.u = 1, .v = 2});
    sum += snp::rules::root(top, .1, {.u = 1, .v = 2});
  }
  expect_error_within("all counts together", std::fabs(sum - 1), 1e-12);
}

TEST(snp_rules, what_is_out_of_range_is_named) {
  const partial_likelihood leaf = snp::rules::leaf(2, 1), open = snp::rules::split(leaf, 0, .5);
  expect_invalid([&] { snp::rules::leaf(2, 3); }, "red must be in 0 ... 2 (red=3)");
  expect_invalid([&] { snp::rules::leaf(3, 1, true); }, "copies must be even");
  expect_invalid([&] { snp::rules::branch(leaf, 1, {}, {}); }, "axis must be one of the 1 branches (axis=1)");
  expect_invalid([&] { snp::rules::branch(leaf, 0, {.length = -1}, {}); }, "length");
  expect_invalid([&] { snp::rules::branch(leaf, 0, {.theta = 0}, {}); }, "theta");
  expect_invalid([&] { snp::rules::branch(leaf, 0, {}, {.u = 0, .v = 0}); }, "u + v");
  expect_invalid([&] { snp::rules::split(leaf, 0, 1.5); }, "gamma must be in 0 ... 1 (gamma=1.5)");
  expect_invalid([&] { snp::rules::merge(open, 1, 1); }, "second_axis");
  expect_invalid([&] { snp::rules::root(open, .1, {}); }, "branches of below must be 1");
  partial_likelihood wrong = leaf;
  wrong.entries.pop_back();
  expect_invalid([&] { snp::rules::branch(wrong, 0, {}, {}); }, "entries of below");
}

}  // namespace
}  // namespace quintet::test
