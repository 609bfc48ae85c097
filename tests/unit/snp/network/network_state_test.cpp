#include "quintet/snp/network/network_state.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "quintet/snp/network/network_topology.hpp"
#include "quintet/snp/network/newick.hpp"
#include "support/expect_error.hpp"
#include "support/move_trials.hpp"

namespace quintet {
namespace {

using snp::network_state;

bool equal_bits(const network_state& a, const network_state& b) {
  const std::vector<double> one = snp::numbers_of(a), other = snp::numbers_of(b);
  return one.size() == other.size() && std::memcmp(one.data(), other.data(), one.size() * sizeof(double)) == 0;
}

snp::priors many_reticulations(snp::network_limits limits = {.max_reticulations = 3}) {
  snp::prior_options options;
  options.speciation_rate = 1;
  options.hybridization_rate = 1.5;
  options.origin = {snp::univariate_prior::family::exponential, 1, 1};
  return snp::priors(options, 4, limits);
}

network_state draw(std::uint64_t i) {
  random_stream random(31, i);
  return many_reticulations().draw(test::species_names(4), random);
}

// The same state with its inner nodes in another order, and the parents of reticulations exchanged.
network_state shuffled(const network_state& given, random_stream& random) {
  const std::int32_t n = given.leaves(), size = test::size_of(given);
  std::vector<std::int32_t> place(static_cast<std::size_t>(size)), flip(place.size(), 0);
  for (std::int32_t x = 0; x < size; ++x) place[static_cast<std::size_t>(x)] = x;
  for (std::int32_t x = size - 1; x > n; --x)
    std::swap(place[static_cast<std::size_t>(x)],
              place[static_cast<std::size_t>(n) + random.below(static_cast<std::uint32_t>(x - n + 1))]);
  for (std::int32_t x = 0; x < size; ++x)
    if (given.is_reticulation(x)) flip[static_cast<std::size_t>(x)] = static_cast<std::int32_t>(random.below(2));
  network_state made = given;
  made.root = place[static_cast<std::size_t>(given.root)];
  for (std::int32_t x = 0; x < size; ++x) {
    snp::state_node& node = made.node(place[static_cast<std::size_t>(x)]);
    node = given.node(x);
    for (std::int32_t i = 0; i < node.parents; ++i)
      if (auto& up = node.parent[static_cast<std::size_t>(i)]; up >= 0) up = place[static_cast<std::size_t>(up)];
    if (flip[static_cast<std::size_t>(x)] != 0) {
      std::swap(node.parent[0], node.parent[1]);
      std::swap(node.theta[0], node.theta[1]);
      std::swap(node.gamma[0], node.gamma[1]);
    }
    for (std::int32_t i = 0; i < node.children; ++i) {
      auto& b = node.child[static_cast<std::size_t>(i)];
      b = 2 * place[static_cast<std::size_t>(b / 2)] + ((b & 1) ^ flip[static_cast<std::size_t>(b / 2)]);
    }
    if (node.children == 2 && random.below(2) == 1) std::swap(node.child[0], node.child[1]);
  }
  return made;
}

TEST(network_state, numbers_read_back_bit_for_bit) {
  for (std::uint64_t i = 0; i < 200; ++i) {
    const network_state state = draw(i);
    EXPECT_TRUE(equal_bits(state, snp::state_from_numbers(state.species, snp::numbers_of(state))));
    EXPECT_EQ(state.branches(), 2 * 4 - 1 + 3 * state.reticulations);
    EXPECT_EQ(state.inner_nodes(), 4 - 1 + 2 * state.reticulations);
  }
}

TEST(network_state, numbers_that_are_no_state) {
  const network_state state = draw(3);
  const auto expect_refused = [&](const char* words, auto&& change) {
    std::vector<double> numbers = snp::numbers_of(state);
    change(numbers);
    expect_invalid([&] { snp::state_from_numbers(state.species, numbers); }, words);
  };
  expect_refused("another format", [](auto& n) { n[0] = 7; });
  expect_refused("number of species", [](auto& n) { n[1] = 5; });
  expect_refused("number of nodes", [](auto& n) { n.pop_back(); });
  expect_refused("a count or index", [](auto& n) { n[3] = 0.5; });
  expect_refused("root", [](auto& n) { n[3] = 0; });
  expect_refused("height", [](auto& n) { n[12] = 1; });
  expect_refused("pi1", [](auto& n) { n[8] = 1; });
  expect_refused("theta", [](auto& n) { n[13] = -1; });
  expect_refused("parent", [](auto& n) { n[17] = 1; });
}

// As maximum likelihood finds it: branches become longer until ways are equally long.
TEST(network_state, ways_of_different_length_may_stretch) {
  const auto species = std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"A", "B", "C"});
  const snp::Network network = snp::parse_newick("((A:0.1,B:0.3)x:0.1,C:0.2)r;", {.theta = 0.1});
  expect_invalid([&] { snp::state_of(network, species); }, "must be equally long");
  const snp::Network stretched = snp::to_network(snp::state_of(network, species, {.may_stretch = true}));
  const auto length = [&](const char* name) {
    return stretched.branch(stretched.parent_branches(stretched.find(name))[0]).length;
  };
  EXPECT_EQ(length("A"), 0.3);
  EXPECT_EQ(length("B"), 0.3);
  EXPECT_EQ(length("C"), 0.3 + 0.1);
}

TEST(network_state, canonical_form_depends_on_the_network_alone) {
  random_stream random(32);
  std::int64_t bubbles = 0;
  for (std::uint64_t i = 0; i < 500; ++i) {
    const network_state state = draw(i), other = shuffled(state, random);
    ASSERT_EQ(snp::broken_rule(other), "");
    const auto numbering = snp::number_canonically(state), second = snp::number_canonically(other);
    EXPECT_EQ(numbering.key, second.key);
    const snp::Network network = snp::to_network(state, numbering), again = snp::to_network(other, second);
    // Every number of every branch and the order of all of them.
    EXPECT_EQ(snp::to_newick(network), snp::to_newick(again));
    ASSERT_EQ(network.branches(), again.branches());
    for (std::int64_t b = 0; b < network.branches(); ++b) {
      EXPECT_EQ(network.branch(b).child, again.branch(b).child);
      EXPECT_EQ(network.branch(b).parent, again.branch(b).parent);
      EXPECT_EQ(network.branch(b).length, again.branch(b).length);
      EXPECT_EQ(network.branch(b).theta, again.branch(b).theta);
      EXPECT_EQ(network.branch(b).gamma, again.branch(b).gamma);
    }
    EXPECT_EQ(numbering.key, snp::topology_key(network));
    bubbles += snp::count_bubbles(network);
    for (const std::int64_t x : network.reticulations()) {
      const auto up = network.parent_branches(x);
      if (network.branch(up[0]).parent == network.branch(up[1]).parent) {
        EXPECT_GE(network.branch(up[0]).gamma, network.branch(up[1]).gamma);
      }
    }
  }
  EXPECT_GT(bubbles, 50);
}

TEST(network_state, numbering_tells_the_branches) {
  for (std::uint64_t i = 0; i < 100; ++i) {
    const network_state state = draw(i);
    const auto numbering = snp::number_canonically(state);
    const snp::Network network = snp::to_network(state, numbering);
    EXPECT_EQ(network.root_theta(), state.theta(state.root_branch()));
    EXPECT_EQ(numbering.branch[static_cast<std::size_t>(state.root_branch())], -1);
    std::int64_t seen = 0;
    for (std::int32_t b = 0; b < 2 * test::size_of(state); ++b) {
      const std::int32_t number = numbering.branch[static_cast<std::size_t>(b)];
      if (number < 0) continue;
      ++seen;
      EXPECT_EQ(network.branch(number).length, state.length(b));
      EXPECT_EQ(network.branch(number).theta, state.theta(b));
      EXPECT_EQ(network.branch(number).child, numbering.node[static_cast<std::size_t>(state.bottom(b))]);
      EXPECT_EQ(network.branch(number).parent, numbering.node[static_cast<std::size_t>(state.top(b))]);
      if (state.is_reticulation(state.bottom(b))) {
        EXPECT_EQ(network.branch(number).gamma, state.gamma(b));
      }
    }
    EXPECT_EQ(seen, network.branches());
  }
}

TEST(network_state, from_a_network_and_back) {
  for (std::uint64_t i = 0; i < 200; ++i) {
    const network_state state = draw(i);
    const snp::Network network = snp::parse_newick(snp::to_newick(snp::to_network(state)));
    const network_state back = snp::state_of(network, state.species, {.origin = state.origin, .pi1 = state.pi1});
    EXPECT_EQ(snp::number_canonically(back).key, snp::number_canonically(state).key);
    EXPECT_NEAR(back.node(back.root).height, state.node(state.root).height, 1e-14);
    const snp::Network again = snp::to_network(back);
    for (std::int64_t b = 0; b < network.branches(); ++b) EXPECT_GT(again.branch(b).length, 0);
  }
}

TEST(network_state, start_networks_that_are_none) {
  const auto names = test::species_names(2);
  const auto call = [&](const char* newick, snp::state_options options = {}) {
    return [=] { snp::state_of(snp::parse_newick(newick, {.theta = 0.1}), names, options); };
  };
  expect_invalid(call("(A:1,B:2);"), "equally long");
  expect_invalid(call("(A:1,C:1);"), "the leaf \"C\" of the network is none of the species");
  expect_invalid(call("(A:0,B:0);"), "height");
  expect_invalid(call("(A:1,(B:0)#H1:1::.5,#H1:1::.5);"), "the root has three children");
  expect_invalid(call("(A:1,B:1);", {.origin = 1}), "height");
  expect_invalid(call("(A:1:.2,B:1);", {.thetas = snp::theta_mode::common}), "a common theta needs the same");
  expect_invalid(call("(A:1,B:1);", {.pi1 = 0}), "pi1");
  expect_invalid(call("((A:1)#H1:1::1,(#H1:.5::0,B:1.5):.5);"), "gamma");
  EXPECT_NO_THROW(call("(A:1,B:1.0000001);")());
  EXPECT_EQ(snp::state_of(snp::parse_newick("(A:1,B:1);", {.theta = 0.1}), names).origin, 1.5);
}

TEST(network_state, limits) {
  const snp::network_limits none{.max_reticulations = 0}, any{.max_reticulations = 3},
      plain{.max_reticulations = 3, .bubbles = false}, level_one{.max_reticulations = 3, .max_level = 1};
  for (std::uint64_t i = 0; i < 300; ++i) {
    const network_state state = draw(i);
    const snp::Network network = snp::to_network(state);
    EXPECT_EQ(snp::is_allowed(state, none), state.reticulations == 0);
    EXPECT_TRUE(snp::is_allowed(state, any));
    EXPECT_EQ(snp::is_allowed(state, plain), snp::count_bubbles(network) == 0);
    EXPECT_EQ(snp::is_allowed(state, level_one), snp::level(network) <= 1);
  }
}

TEST(network_state, range_is_that_of_the_rules) {
  for (std::uint64_t i = 0; i < 100; ++i) {
    network_state state = draw(i);
    EXPECT_TRUE(snp::is_in_range(state));
    network_state wrong = state;
    wrong.origin = wrong.node(wrong.root).height;
    EXPECT_FALSE(snp::is_in_range(wrong));
    wrong = state;
    wrong.node(4).height = 0;
    EXPECT_FALSE(snp::is_in_range(wrong));
    wrong = state;
    wrong.node(1).theta[0] = 0;
    EXPECT_FALSE(snp::is_in_range(wrong));
    wrong.node(1).theta[0] = std::numeric_limits<double>::infinity();
    EXPECT_FALSE(snp::is_in_range(wrong));
    wrong = state;
    wrong.pi1 = 1;
    EXPECT_FALSE(snp::is_in_range(wrong));
  }
}

}  // namespace
}  // namespace quintet
