#include "quintet/snp/network/newick.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "quintet/snp/network/network_topology.hpp"
#include "quintet/snp/network/rooting.hpp"
#include "support/network_error.hpp"
#include "support/random_network.hpp"

namespace quintet {
namespace {

using snp::Network;
using snp::node_kind;
using snp::parse_newick;
using snp::to_newick;
using rule = snp::NetworkError::rule;

const snp::newick_options with_theta{.theta = 0.1};
const char* const one_reticulation = "(((B:0.4)#H1:0.1::0.6,A:0.5)x:0.3,(C:0.6,#H1:0.2::0.4)y:0.2)r;";

// The branch above the node of this name; of a reticulation, its parent branch to the node `parent`.
const snp::branch& above(const Network& n, const std::string& name, const std::string& parent = "") {
  for (const std::int64_t b : n.parent_branches(n.find(name)))
    if (parent.empty() || n.name(n.branch(b).parent) == parent) return n.branch(b);
  throw InvalidArgument("no such branch");
}

TEST(newick, rich_newick_of_one_reticulation) {
  const Network n = parse_newick(one_reticulation, with_theta);
  EXPECT_EQ(n.nodes(), 7);
  EXPECT_EQ((std::vector<std::string>(n.species().begin(), n.species().end())),
            (std::vector<std::string>{"B", "A", "C"}));
  EXPECT_EQ(n.kind(n.find("#H1")), node_kind::reticulation);
  EXPECT_EQ(n.kind(n.find("r")), node_kind::root);
  EXPECT_EQ(n.root_theta(), 0.1);
  EXPECT_EQ(above(n, "B").length, 0.4);
  EXPECT_EQ(above(n, "B").theta, 0.1);
  EXPECT_EQ(above(n, "#H1", "x").gamma, 0.6);
  EXPECT_EQ(above(n, "#H1", "x").length, 0.1);
  EXPECT_EQ(above(n, "#H1", "y").gamma, 0.4);
  EXPECT_EQ(above(n, "#H1", "y").length, 0.2);
}

TEST(newick, thetas_of_branches_and_root) {
  const Network n = parse_newick("[0.4]((A:0.01:0.2,B:0.01:0.05)x:0.005:0.1,(C:0.012:0.01,D:0.012:0.02)y:0.003:0.3)r;");
  EXPECT_EQ(n.root_theta(), 0.4);
  EXPECT_EQ(above(n, "A").theta, 0.2);
  EXPECT_EQ(above(n, "y").theta, 0.3);
  EXPECT_EQ(parse_newick("(A:1:2,B:1:2)r:5:3").root_theta(), 3);
  EXPECT_EQ(parse_newick("(A:1,B:1)", {.theta = 2, .root_theta = 7}).root_theta(), 7);
  EXPECT_EQ(parse_newick("[3](A:1,B:1)", {.theta = 2, .root_theta = 7}).root_theta(), 3);
}

TEST(newick, one_gamma_is_enough) {
  const Network n = parse_newick("(((B:0.4)#H1:0.1::0.6,A:0.5)x:0.3,(C:0.6,#H1:0.2)y:0.2)r", with_theta);
  EXPECT_EQ(above(n, "#H1", "y").gamma, 1 - 0.6);
}

TEST(newick, the_subtree_may_be_at_the_second_place) {
  const Network n = parse_newick("((C:0.6,#H1:0.2::0.4)y:0.2,((B:0.4)#H1:0.1::0.6,A:0.5)x:0.3)r;", with_theta);
  EXPECT_EQ(above(n, "B").parent, n.find("#H1"));
  EXPECT_EQ(above(n, "#H1", "x").gamma, 0.6);
}

TEST(newick, annotations_of_beast) {
  const Network n = parse_newick(
      "[&R] ((R[&coalescenceRate=20]:0.08,(Q:[&rate=1,theta=0.3]0.004)#H1[&gamma=0.3]:0.003)[&height_95%_HPD={1,2}]:1,"
      "(A:0.006[&theta=5],#H1:0.002)[a comment]b:0.016)",
      with_theta);
  EXPECT_EQ(above(n, "R").theta, 0.1);
  EXPECT_EQ(above(n, "Q").theta, 0.3);
  EXPECT_EQ(above(n, "A").theta, 5);
  EXPECT_EQ(above(n, "#H1", "b").gamma, 1 - 0.3);
}

TEST(newick, names_quotes_and_blanks) {
  const Network n =
      parse_newick(" ( 'it''s (a) \"name\"' : 1 ,\n\t(A_b.1:1,'x#1':2) 'inner one' :3 ) ; [end]\n", with_theta);
  EXPECT_EQ((std::vector<std::string>(n.species().begin(), n.species().end())),
            (std::vector<std::string>{"it's (a) \"name\"", "A_b.1", "x#1"}));
  EXPECT_EQ(above(n, "inner one").length, 3);
  EXPECT_TRUE(n.reticulations().empty());
}

TEST(newick, support_values_are_no_names) {
  const Network n = parse_newick("((A:1,B:1)95:1,(C:1,12:1)95:1)'100'", with_theta);
  EXPECT_EQ(n.find("95"), -1);
  EXPECT_EQ(n.name(n.root()), "100");
  EXPECT_EQ(n.kind(n.find("12")), node_kind::leaf);
}

TEST(newick, a_name_may_stand_before_the_label) {
  const Network n = parse_newick("((('x y'#H1:1,C:1):1,D:1):1,(A:1)#H1:1::0.25)", with_theta);
  EXPECT_EQ(n.kind(n.find("x y#H1")), node_kind::reticulation);
}

void expect_broken(const std::string& newick, rule broken, const std::string& words) {
  SCOPED_TRACE(newick);
  test::expect_network_error([&] { parse_newick(newick, with_theta); }, broken, words);
}

// Other programs write a support value where a theta stands here.
TEST(newick, support_as_the_second_number) {
  for (const char* text : {"((A:0.02,B:0.02):0.01:95:1,C:0.03)", "((A:0.02,B:0.02):0.01:0.95,C:0.03)",
                           "((A:0.02:100,B:0.02:100):0.01:98,C:0.03:100)",
                           "(((B:0.4)#H1:0.1:88:0.6,A:0.5):0.3:1,(C:0.6,#H1:0.2::0.4):0.2:97)"}) {
    SCOPED_TRACE(text);
    test::expect_network_error([&] { parse_newick(text, with_theta); }, rule::theta,
                               "may be a theta or a support value");
    const Network n = parse_newick(text, {.theta = 0.1, .support = true});
    for (std::int64_t b = 0; b < n.branches(); ++b) EXPECT_EQ(n.branch(b).theta, 0.1);
  }
  EXPECT_EQ(above(parse_newick("[0.1]((A:1,B:1)x:1:95,C:1)", with_theta), "x").theta, 95);
}

TEST(newick, standard_numbers_are_those_of_other_programs) {
  EXPECT_EQ(to_newick(parse_newick(one_reticulation, with_theta), snp::newick_numbers::standard), one_reticulation);
}

TEST(newick, rounded_gammas_are_divided_by_their_sum) {
  const Network n = parse_newick("(((B:0.4)#H1:0.1::0.6001,A:0.5)x:0.3,(C:0.6,#H1:0.2::0.4)y:0.2)r", with_theta);
  EXPECT_NEAR(above(n, "#H1", "x").gamma, 0.6001 / 1.0001, 1e-15);
  EXPECT_EQ(above(n, "#H1", "x").gamma + above(n, "#H1", "y").gamma, 1);
}

TEST(newick, support_in_quotes_may_come_repeatedly) {
  const Network n = parse_newick("(((A:1,B:1)'95':1,C:1)'95/0.9':1,(D:1,(E:1,F:1)'95/0.9':1)'95':1)", with_theta);
  EXPECT_EQ(n.find("95"), -1);
}

TEST(newick, nodes_with_one_child_are_points_of_a_branch) {
  const auto standard = [](const char* text) {
    return to_newick(parse_newick(text, with_theta), snp::newick_numbers::standard);
  };
  EXPECT_EQ(standard("((A:1):1,B:1)"), "(A:2,B:1);");
  EXPECT_EQ(standard("((((A:1,B:1)x:1)y:2,C:1)r:0.5)"), "((A:1,B:1)x:3,C:1)r;");
  EXPECT_EQ(standard("(((B:1)#H1:1::0.25,A:1):1,((#H1:1::0.75)x:2,C:1):1)"),
            "(((B:1)#H1:1::0.25,A:1):1,(#H1:3::0.75,C:1):1);");
  EXPECT_EQ(parse_newick("((A:1:0.1,B:1):1:0.3)", {.theta = 0.1}).root_theta(), 0.3);
  expect_broken("((A:1:0.2):1:0.3,B:1:0.1)", rule::theta, "their thetas differ, 0.3 and 0.2");
  expect_broken("[0.2]((A:1,B:1):1:0.3)", rule::theta, "their thetas differ, 0.2 and 0.3");
  expect_broken("((A:1,(B:1)H:1):1,(C:1,H:1):1)", rule::name, "\"H\" belongs to two nodes; a reticulation is marked");
  expect_broken("((A:1))", rule::binary, "has 0 parents and 1 children");
}

TEST(newick, round_trip_of_a_text) {
  const std::string written = to_newick(parse_newick(one_reticulation, with_theta));
  EXPECT_EQ(written, "[0.1](((B:0.4:0.1)#H1:0.1:0.1:0.6,A:0.5:0.1)x:0.3:0.1,(C:0.6:0.1,#H1:0.2:0.1:0.4)y:0.2:0.1)r;");
  EXPECT_EQ(to_newick(parse_newick(written)), written);
}

TEST(newick, writer_labels_and_quotes) {
  const snp::network_description d{
      {"it's", "a#b", "x#H1", "12", "", "r", "C"},
      {{3, 0, 1, 1}, {2, 1, 1, 1}, {3, 2, 1, 1, 0.5}, {4, 2, 1, 1, 0.5}, {4, 6, 1, 1}, {5, 3, 1, 1}, {5, 4, 1, 1}},
      1};
  EXPECT_EQ(to_newick(Network(d)), "[1](('it''s':1:1,('a#b':1:1)x#H1:1:1:0.5)'12':1:1,(x#H1:1:1:0.5,C:1:1):1:1)r;");
  snp::network_description unlabelled = d;
  unlabelled.names[2] = "hybrid";
  EXPECT_EQ(to_newick(Network(unlabelled)),
            "[1](('it''s':1:1,('a#b':1:1)hybrid#H1:1:1:0.5)'12':1:1,(hybrid#H1:1:1:0.5,C:1:1):1:1)r;");
  const Network again = parse_newick(to_newick(Network(unlabelled)));
  EXPECT_NE(again.find("12"), -1);
  EXPECT_NE(again.find("a#b"), -1);
}

// Branches by the leaves below their ends, which are their own names here, and all numbers.
using branch_key = std::tuple<std::string, std::string, double, double, double>;

std::vector<branch_key> branch_keys(const Network& n) {
  std::vector<std::string> below(std::size_t(n.nodes()));
  for (const std::int64_t node : n.children_first()) {
    std::vector<std::string> parts;
    for (const std::int64_t b : n.child_branches(node)) parts.push_back(below[std::size_t(n.branch(b).child)]);
    std::sort(parts.begin(), parts.end());
    std::string& key = below[std::size_t(node)];
    key = n.kind(node) == node_kind::leaf ? n.name(node) : "(";
    for (const std::string& part : parts) key += part + ",";
  }
  std::vector<branch_key> keys;
  for (std::int64_t b = 0; b < n.branches(); ++b) {
    const snp::branch& e = n.branch(b);
    keys.emplace_back(below[std::size_t(e.child)], below[std::size_t(e.parent)], e.length, e.theta, e.gamma);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

TEST(newick, round_trip_of_random_networks_keeps_every_bit) {
  random_stream random(20);
  for (int trial = 0; trial < 300; ++trial) {
    const Network n(test::random_network(random, 2 + random.below(8), random.below(5)));
    const std::string written = to_newick(n);
    const Network again = parse_newick(written);
    ASSERT_EQ(branch_keys(again), branch_keys(n)) << written;
    ASSERT_EQ(again.root_theta(), n.root_theta());
    ASSERT_EQ(to_newick(again), written);
  }
}

TEST(newick, numbers_of_a_read_network_stay) {
  random_stream random(21);
  for (int trial = 0; trial < 100; ++trial) {
    const Network first = parse_newick(to_newick(Network(test::random_network(random, 5, 3))));
    const Network second = parse_newick(to_newick(first));
    for (std::int64_t b = 0; b < first.branches(); ++b) {
      ASSERT_EQ(first.branch(b).child, second.branch(b).child);
      ASSERT_EQ(first.branch(b).parent, second.branch(b).parent);
      ASSERT_EQ(first.branch(b).gamma, second.branch(b).gamma);
    }
  }
}

TEST(newick, syntax_errors_say_where) {
  expect_broken("", rule::empty, "character 1 of the network: there is no network");
  expect_broken(" [x] ", rule::empty, "character 6");
  expect_broken("A:1", rule::syntax,
                "character 1 of the network: a network begins with a parenthesis, not with \"A:1\"");
  expect_broken("(A:1,B:1", rule::syntax, "character 9 of the network: the text ends with 1 parentheses open");
  expect_broken("(A:1,B:1));", rule::syntax,
                "character 10 of the network: the network has ended, but there is more: \");\"");
  expect_broken("(A:1,B:1);(C:1,D:1);", rule::syntax, "character 11");
  expect_broken("(A:1 B:1)", rule::syntax,
                "character 6 of the network: \",\" or \")\" should stand here, not \"B:1)\"");
  expect_broken("(A:1,:1)", rule::name, "character 6 of the network: a name is missing before \":1)\"");
  expect_broken("(A:1,", rule::name, "character 6 of the network: the text ends where a name should be");
  expect_broken("(A:x,B:1)", rule::syntax, "character 4 of the network: the length is no finite number: \"x\"");
  expect_broken("(A:inf,B:1)", rule::syntax, "no finite number: \"inf\"");
  expect_broken("(A:1e999,B:1)", rule::syntax, "no finite number");
  expect_broken("(A:1:2:1:4,B:1)", rule::syntax, "character 9 of the network: a branch has at most three numbers");
  expect_broken("(A:1[&theta=x],B:1)", rule::syntax, "has no finite number");
  expect_broken("(A:1:2[&theta=3],B:1)", rule::syntax, "the theta is given twice, as 2 and as 3");
  expect_broken("(A[0.005]:1,B:1)", rule::syntax, "may mean a theta or a support value");
  expect_broken("(A:1,B:1[", rule::syntax, "character 9 of the network: a comment begins here");
  expect_broken("('A:1,B:1)", rule::syntax, "character 2 of the network: a quoted name begins here");
  expect_broken("('A'B:1,C:1)", rule::syntax, "\"B\" follows a quoted name");
  expect_broken("[&U](A:1,B:1)", rule::syntax, "unrooted");
  expect_broken("(A:1,#:1)", rule::syntax, "only \"#\"");
  expect_broken("((A #0.01:0.02,B:0.02)x:0.01 #0.01,C:0.03)", rule::syntax,
                "character 5 of the network: #0.01 looks like a theta of BPP; write it as name:length:theta");
}

// A network of SNaQ: three branches meet. The root is put on the first; an outgroup moves it.
TEST(newick, unrooted_networks) {
  snp::newick_options options = with_theta;
  options.unrooted = true;
  const Network network = parse_newick("(A:1,B:2,((C:1)#H1:1::0.7,(D:1,#H1:1::0.3):1):3);", options);
  EXPECT_EQ(topology_key(network), topology_key(snp::parse_topology("(A,(B,((C)#H1,(D,#H1))));")));
  EXPECT_EQ(network.branch(network.parent_branches(network.find("A"))[0]).length, 1);
  EXPECT_EQ(network.branch(network.parent_branches(network.find("B"))[0]).length, 2);
  const std::vector<std::string> outgroup{"B"};
  EXPECT_EQ(topology_key(*snp::rooted_at(network, outgroup)),
            topology_key(snp::parse_topology("(B,(A,((C)#H1,(D,#H1))));")));
  EXPECT_EQ(topology_key(parse_newick("[&U](A:1,B:1,C:1);", options)), "(A,(B,C));");
  EXPECT_EQ(topology_key(parse_newick("((A:1,B:1):1,C:1);", options)), "(C,(A,B));");
}

TEST(newick, reticulations_of_bpp) {
  const Network expected = parse_newick("((A:0.02,(B:0.01)#H:0.01::0.6):0.02,(C:0.02,#H:0.01::0.4):0.02);", with_theta);
  for (const char* text :
       {"((A:0.02,(B:0.01)H[&phi=0.6,tau-parent=yes]:0.01):0.02,(C:0.02,H[&phi=0.4,tau-parent=yes]:0.01):0.02);",
        "((A:0.02,(B:0.01)H[&phi=0.6,tau-parent=yes]:0.01):0.02,(C:0.02,H[&tau-parent=yes]:0.01):0.02);",
        "((A:0.02,(B:0.01)H:0.01):0.02,(C:0.02,H[&phi=0.4,tau-parent=no]:0.01):0.02);"})
    EXPECT_EQ(snp::to_newick(parse_newick(text, with_theta)), snp::to_newick(expected)) << text;
}

TEST(newick, broken_networks_are_named) {
  expect_broken("(A:1,B)", rule::length, "\"B\" to node 0 above \"A\" has no length");
  expect_broken("(A:-1,B:1)", rule::length, "length=-1");
  expect_broken("(A:1:0,B:1)", rule::theta, "theta=0");
  expect_broken("(A:1,A:1)", rule::name, "\"A\" belongs to two nodes");
  expect_broken("(A:1,B:1,C:1)", rule::binary, "the root has three children, as unrooted networks have");
  expect_broken("(A:1,B:1,C:1,D:1)", rule::binary, "node 0 above \"A\" has more than two children");
  expect_broken("((A:1)#H1:1::0.5,B:1)", rule::binary, "character 2 of the network: the label #H1 comes only once");
  expect_broken("((A:1)#H1:1::0.5,(B:1)#H1:1::0.5)", rule::binary, "has a subtree at both its places");
  expect_broken("(#H1:1::0.5,#H1:1::0.5)", rule::binary, "has no subtree");
  expect_broken("((A:1)#H1:1::0.5,(#H1:1::0.5,#H1:1))", rule::binary, "comes a third time");
  expect_broken("(((A:1)#H1:1::0.5,C:1):1,(#H1:1::0.6,B:1):1)", rule::gamma, "must sum to 1");
  expect_broken("(((A:1)#H1:1:0.5,C:1):1,(#H1:1:0.5,B:1):1)", rule::gamma,
                "it is the third number, as in #H1:0.1::0.6");
  expect_broken("((A:1)x#H1:1::0.5,(y#H1:1,B:1):1)", rule::name, "two names, x and y");
  expect_broken("(A:1::0.5,B:1)", rule::gamma, "only the two branches above a reticulation");
  expect_broken("(A:1,B:1)r:1::0.5", rule::gamma, "the root has a gamma");
  expect_broken("[1](A:1,B:1)r:1:2", rule::theta, "the root has two thetas, [1] and 2");
  expect_broken("((A:1,#H1:1::0.5)#H1:1,B:1)", rule::cycle, "is its own ancestor");
  test::expect_network_error([] { parse_newick("(A:1,B:1)"); }, rule::theta, "has no theta");
  expect_invalid([] { parse_newick("(A:1,B:1)", {.theta = -1}); }, "theta must be finite and > 0 (theta=-1)");
}

TEST(newick, deep_and_hostile_texts_end_in_an_error) {
  const std::string deep(1000000, '(');
  expect_broken(deep, rule::name, "the text ends where a name should be");
  std::string caterpillar(20000, '(');
  caterpillar += "A:1";
  for (int i = 0; i < 20000; ++i) caterpillar += ",B" + std::to_string(i) + ":1):1";
  EXPECT_EQ(parse_newick(caterpillar, with_theta).nodes(), 40001);
  random_stream random(22);
  const std::string letters = "((()))AB:::,,;#H1[]'0.5 &=\n";
  int failures = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    std::string garbage = "(";
    for (std::uint32_t i = random.below(30); i > 0; --i)
      garbage += letters[random.below(std::uint32_t(letters.size()))];
    try {
      parse_newick(garbage, with_theta);
    } catch (const snp::NetworkError&) {
      ++failures;
    }
  }
  EXPECT_GT(failures, 19000);
}

}  // namespace
}  // namespace quintet
