// Calibrations, constraints and the clock: chains without data against exact moments, and against definitions by ways
// and displayed trees.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>

#include "quintet/snp/inference/priors.hpp"
#include "quintet/snp/network/network_topology.hpp"
#include "snp/network/stable_ancestors.hpp"
#include "support/expect_error.hpp"
#include "support/mcmc_oracles.hpp"
#include "support/sanitized.hpp"

namespace quintet::test {
namespace {

using snp::network_state;

const species_list abc = std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"A", "B", "C"});
const species_list abcd =
    std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"A", "B", "C", "D"});

const std::string process = "speciation-rate = 1\nhybridization-rate = 0.5\norigin = exponential(1)\n";

snp::priors prior_of(const std::string& lines, const species_list& species = abc, std::int64_t reticulations = 2) {
  return {snp::parse_priors(lines), std::int64_t(species->size()), {.max_reticulations = reticulations}};
}

// Means of numbers of a chain without data, each with its standard error.
std::vector<snp::column_summary> sampled_means(const snp::priors& prior, const species_list& species,
                                               const std::vector<of_state>& values, std::uint64_t seed) {
  snp::sampler chains(
      species, nullptr, prior,
      {.chains = 2, .iterations = sized(120'000, 20'000), .burn_in = 2000, .sample_every = 20, .seed = seed});
  std::vector<std::vector<std::vector<double>>> draws(values.size(), std::vector<std::vector<double>>(2));
  while (!chains.is_done()) {
    chains.advance();
    const auto samples = chains.take_samples();
    for (std::size_t c = 0; c < samples.size(); ++c)
      for (const snp::sampled_state& sample : samples[c]) {
        EXPECT_TRUE(prior.admit(sample.state));
        const network_state told = prior.in_years(sample.state);
        for (std::size_t v = 0; v < values.size(); ++v) draws[v][c].push_back(values[v](told));
      }
  }
  std::vector<snp::column_summary> summaries;
  for (const auto& chains_of_value : draws) summaries.push_back(snp::summarise(chains_of_value));
  return summaries;
}

void expect_means(const snp::priors& prior, const species_list& species, const std::vector<expectation>& expected,
                  std::uint64_t seed) {
  std::vector<of_state> values;
  for (const expectation& one : expected) values.push_back(one.value);
  const auto found = sampled_means(prior, species, values, seed);
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_LT(std::fabs(found[i].mean - expected[i].mean), 4 * found[i].mcse)
        << expected[i].name << ": " << found[i].mean << " +- " << found[i].mcse << ", expected " << expected[i].mean;
}

of_state has_reticulations(std::int32_t r) {
  return [r](const network_state& s) { return s.reticulations == r ? 1.0 : 0.0; };
}

of_state height_given(std::int32_t r) {
  return [r](const network_state& s) { return s.reticulations == r ? root_height(s) : 0.0; };
}

// A row of the table of the specification; that of the uniform density by Gauss-Legendre quadrature over its range.
struct root_calibration {
  const char* density;
  double share[3], height, sd, height_given[3];
};

TEST(snp_calibrations, of_the_root_have_the_exact_moments) {
  std::uint64_t seed = 10;
  for (const root_calibration& row : {root_calibration{"normal(.5, .1)",
                                                       {.69851959, .24726560, .05421481},
                                                       .49003413,
                                                       .09839326,
                                                       {.47847410, .51197763, .53889597}},
                                      root_calibration{"uniform(.4, .9)",
                                                       {.59479166, .30805373, .09715462},
                                                       .62218893,
                                                       .14170631,
                                                       {.59630942, .64956505, .69382318}},
                                      root_calibration{"lognormal(-0.69314718056, .3)",
                                                       {.69568389, .24564883, .05866728},
                                                       .49620619,
                                                       .14365482,
                                                       {.47265608, .53787382, .60099757}}}) {
    SCOPED_TRACE(row.density);
    std::vector<expectation> expected{{"height", root_height, row.height},
                                      {"square", [](const network_state& s) { return root_height(s) * root_height(s); },
                                       row.height * row.height + row.sd * row.sd}};
    for (std::int32_t r = 0; r < 3; ++r) {
      expected.push_back({"share", has_reticulations(r), row.share[r]});
      expected.push_back({"height given r", height_given(r), row.share[r] * row.height_given[r]});
    }
    const auto prior = prior_of(process + "theta = common fixed(0.05)\ncalibrate root = " + row.density + "\n");
    expect_means(prior, abc, expected, ++seed);
  }
}

TEST(snp_calibrations, of_data_have_the_posterior_of_quadrature) {
  oracle p1 = oracle_p1();
  p1.priors += "calibrate A,B = normal(.09, .008)\n";
  p1.expected = {{"height", root_height, .0846094047, .0075032813},
                 {"theta", [](const network_state& s) { return s.common_theta; }, .0891087929, .0177430233}};
  expect_oracle(p1, with_length(p1, sized(60'000, 10'000)), sized(30, 80) * 1e-3);
}

// All ways from the root down to a leaf, as sets of nodes.
std::vector<std::set<std::int32_t>> ways_to(const network_state& s, std::int32_t leaf) {
  std::vector<std::set<std::int32_t>> ways;
  const auto climb = [&](const auto& self, std::int32_t x, std::set<std::int32_t> way) -> void {
    way.insert(x);
    if (x == s.root) return ways.push_back(way);
    for (std::int32_t i = 0; i < s.node(x).parents; ++i) self(self, s.node(x).parent[std::size_t(i)], way);
  };
  climb(climb, leaf, {});
  return ways;
}

std::int32_t lowest_on_all_ways(const network_state& s, const std::vector<std::int32_t>& leaves) {
  std::int32_t lowest = s.root;
  for (std::int32_t x = 0; x < std::int32_t(s.nodes.size()); ++x) {
    bool is_on_all = true;
    for (const std::int32_t leaf : leaves)
      for (const auto& way : ways_to(s, leaf)) is_on_all = is_on_all && way.contains(x);
    if (is_on_all && s.node(x).height < s.node(lowest).height) lowest = x;
  }
  return lowest;
}

std::set<std::int32_t> leaves_under(const network_state& s, std::int32_t x) {
  std::set<std::int32_t> below;
  for (std::int32_t leaf = 0; leaf < s.leaves(); ++leaf)
    for (const auto& way : ways_to(s, leaf))
      if (way.contains(x)) below.insert(leaf);
  return below;
}

network_state drawn(const snp::priors& prior, const species_list& species, std::uint64_t number) {
  random_stream random(7, number);
  return prior.draw(species, random);
}

TEST(snp_constraints, are_what_ways_and_displayed_trees_say) {
  const snp::priors any = prior_of(process + "theta = common fixed(0.05)\n", abcd, 3);
  const snp::priors clade = prior_of(process + "monophyletic = A,C\n", abcd, 3),
                    apart = prior_of(process + "outgroup = D\n", abcd, 3),
                    pair_apart = prior_of(process + "outgroup = B,D\n", abcd, 3),
                    backbone = prior_of(process + "backbone = ((A,B),D)\n", abcd, 3);
  int admitted[4] = {0, 0, 0, 0};
  for (std::uint64_t number = 0; number < 3000; ++number) {
    const network_state s = drawn(any, abcd, number);
    const snp::stable_ancestors ancestors(s);
    for (const std::vector<std::int32_t>& leaves : {std::vector<std::int32_t>{0, 1}, {0, 2}, {1, 2, 3}})
      ASSERT_EQ(ancestors.lowest_above(leaves), lowest_on_all_ways(s, leaves));
    const bool has_clade = leaves_under(s, lowest_on_all_ways(s, {0, 2})) == std::set<std::int32_t>{0, 2};
    ASSERT_EQ(clade.admit(s), has_clade);
    const auto &left = s.node(s.root).child[0], &right = s.node(s.root).child[1];
    const auto under_left = leaves_under(s, s.bottom(left)), under_right = leaves_under(s, s.bottom(right));
    const auto separates = [&](const std::set<std::int32_t>& one, const std::set<std::int32_t>& other) {
      return (under_left == one && under_right == other) || (under_left == other && under_right == one);
    };
    ASSERT_EQ(apart.admit(s), separates({3}, {0, 1, 2}));
    ASSERT_EQ(pair_apart.admit(s), separates({1, 3}, {0, 2}));
    bool displays = true;
    for (const snp::displayed_tree& tree : snp::displayed_trees(snp::to_network(s))) {
      // Of A, B and D the first two meet first: D hangs above a node with both of them.
      const snp::Network shown = snp::parse_topology(tree.newick);
      bool has_pair = false;
      for (std::int64_t x = 0; x < shown.nodes(); ++x) {
        std::set<std::string> below;
        const auto collect = [&](const auto& self, std::int64_t node) -> void {
          if (shown.child_branches(node).empty()) below.insert(shown.name(node));
          for (const std::int64_t b : shown.child_branches(node)) self(self, shown.branch(b).child);
        };
        collect(collect, x);
        has_pair = has_pair || (below.contains("A") && below.contains("B") && !below.contains("D"));
      }
      displays = displays && has_pair;
    }
    ASSERT_EQ(backbone.admit(s), displays);
    admitted[0] += has_clade;
    admitted[1] += apart.admit(s);
    admitted[2] += pair_apart.admit(s);
    admitted[3] += displays;
  }
  for (const int count : admitted) EXPECT_GT(count, 50);
}

// The prior restricted to the class: as often as draws that are in it.
TEST(snp_constraints, restrict_the_prior) {
  const std::string fixed = process + "theta = common fixed(0.05)\n";
  std::uint64_t seed = 30;
  for (const char* rule : {"monophyletic = A,B\n", "outgroup = C\n", "backbone = (A,(B,C))\n"}) {
    SCOPED_TRACE(rule);
    const snp::priors prior = prior_of(fixed + rule);
    double sums[4] = {0, 0, 0, 0};
    constexpr int draws = 20'000;
    for (int number = 0; number < draws; ++number) {
      const network_state s = drawn(prior, abc, std::uint64_t(number));
      for (std::int32_t r = 0; r < 3; ++r) sums[r] += s.reticulations == r;
      sums[3] += root_height(s);
    }
    const auto found = sampled_means(
        prior, abc, {has_reticulations(0), has_reticulations(1), has_reticulations(2), root_height}, ++seed);
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_LT(std::fabs(found[i].mean - sums[i] / draws),
                4.5 * std::hypot(found[i].mcse, found[i].sd / std::sqrt(double(draws))))
          << i << ": " << found[i].mean << " " << sums[i] / draws;
  }
}

TEST(snp_constraints, starts_keep_them) {
  const auto species = std::make_shared<const std::vector<std::string>>(
      std::vector<std::string>{"A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L"});
  const snp::priors prior = prior_of(
      "monophyletic = A,B,C,D\nmonophyletic = C,D\nmonophyletic = G,H,I\noutgroup = K,L\nbackbone = "
      "(((A,B),E),(I,J))\ncalibrate A,D = uniform(.2,.3)\ncalibrate root = normal(1,.01)\ncalibrate G,H = "
      "gamma(2,20,.05)\nclock = 1e-3\n",
      species, 3);
  for (std::uint64_t number = 0; number < 50; ++number) {
    random_stream random(8, number);
    const network_state s = prior.draw_start(species, random);
    EXPECT_EQ(snp::broken_rule(s), "");
    EXPECT_TRUE(prior.admit(s));
    EXPECT_TRUE(std::isfinite(prior.log_density(s)));
    EXPECT_NEAR(root_height(s), 1e-3, 1e-4);
  }
}

// Ten pairs that no constraint keeps together: a random tree seldom has all their ancestors so low.
TEST(snp_constraints, starts_have_calibrated_ancestors_by_construction) {
  std::vector<std::string> names;
  std::string lines = "calibrate root = uniform(3,4)\n";
  for (int i = 0; i < 10; ++i) {
    names.insert(names.end(), {text("A", i), text("B", i)});
    lines += text("calibrate A", i, ",B", i, " = uniform(", 0.01 * (i + 1), ",", 0.01 * (i + 1) + 0.002, ")\n");
  }
  const auto species = std::make_shared<const std::vector<std::string>>(names);
  const snp::priors prior = prior_of(lines, species, 0);
  std::set<std::string> topologies;
  for (std::uint64_t number = 0; number < 50; ++number) {
    random_stream random(9, number);
    const network_state s = prior.draw_start(species, random);
    EXPECT_EQ(prior.describe_conflict(s), "");
    EXPECT_TRUE(std::isfinite(prior.log_density(s)));
    topologies.insert(snp::number_canonically(s).key);
  }
  EXPECT_GT(topologies.size(), 40);
}

TEST(snp_clock, years_have_the_prior_of_years) {
  // Whatever the rate, heights in years have the moments of the process.
  const std::string each = process + "theta = each gamma(2,20)\n";
  const std::vector<expectation> expected{
      {"r = 0", has_reticulations(0), .60600098},
      {"r = 1", has_reticulations(1), .26168224},
      {"height", root_height, .68913314},
      {"theta", [](const network_state& s) { return s.theta(s.root_branch()); }, 0.1}};
  expect_means(prior_of(each + "clock = 1e-6\n"), abc, expected, 41);
  std::vector<expectation> with_rate = expected;
  with_rate.push_back({"rate", [](const network_state& s) { return std::log(s.clock); }, -14});
  expect_means(prior_of(each + "clock = lognormal(-14,.5)\n"), abc, with_rate, 42);
}

// P1 in years, a thousand for each unit of mutations.
TEST(snp_clock, a_fixed_rate_changes_the_unit_alone) {
  oracle one = oracle_p1();
  one.priors =
      "speciation-rate = 0.01\nhybridization-rate = 0\norigin = exponential(100)\ntheta = common gamma(2,.02)\n"
      "clock = 1e-3\n";
  one.expected.pop_back();
  expect_oracle(one, with_length(one, sized(60'000, 10'000)), sized(30, 80) * 1e-3);
}

TEST(snp_clock, a_calibration_gives_the_rate) {
  oracle one = oracle_p1();
  one.priors =
      "speciation-rate = 0.01\nhybridization-rate = 0\norigin = exponential(1000)\ntheta = common gamma(2,.02)\n"
      "calibrate A,B = normal(60,.5)\nclock = lognormal(-6.9,1)\n";
  one.expected = {{"years", [](const network_state& s) { return root_height(s) / s.clock; }, 60, .5, .05}};
  expect_oracle(one, with_length(one, sized(40'000, 8000)), sized(30, 80) * 1e-3);
}

TEST(snp_clock, densities_of_years_and_of_mutations_differ_by_a_jacobian) {
  const std::string each = process + "theta = each gamma(2,20)\n";
  const snp::priors plain = prior_of(each), dated = prior_of(each + "clock = 0.25\n");
  for (std::uint64_t number = 0; number < 20; ++number) {
    const network_state s = drawn(dated, abc, number);
    const double dimensions = s.inner_nodes() + 1 + s.branches();
    EXPECT_NEAR(dated.log_density(s), plain.log_density(dated.in_years(s)) - dimensions * std::log(0.25), 1e-10);
    EXPECT_EQ(dated.clock_rate(s), 0.25);
  }
}

TEST(snp_clock, states_with_a_rate_are_numbers_too) {
  const snp::priors prior = prior_of(process + "clock = lognormal(-14,.5)\n");
  const network_state s = drawn(prior, abc, 3);
  const auto numbers = snp::numbers_of(s);
  const auto back = snp::numbers_of(snp::state_from_numbers(abc, numbers));
  ASSERT_EQ(back.size(), numbers.size());
  EXPECT_EQ(std::memcmp(back.data(), numbers.data(), numbers.size() * sizeof(double)), 0);
  EXPECT_EQ(snp::state_from_numbers(abc, numbers).clock, s.clock);
}

// Of a start that a calibration or a constraint excludes the rule is named.
TEST(snp_calibrations, exclude_starts_by_name) {
  const auto refused = [](const std::string& words, const std::string& what) {
    const snp::priors prior = prior_of(process + words + "\n");
    const network_state start =
        prior.completed(snp::state_of(snp::parse_newick("((A:.1,B:.1):.1,C:.2);", {.theta = .1}), abc));
    expect_invalid(
        [&] {
          snp::sampler(abc, nullptr, prior, {.iterations = 10, .burn_in = 0, .start = start, .fix_topology = true});
        },
        what);
  };
  refused("calibrate root = uniform(.5,.6)",
          "the start has the common ancestor at 0.2, outside calibrate root = uniform(0.5,0.6)");
  refused("clock = 0.1\ncalibrate A,B = uniform(.5,.6)",
          "the start has the common ancestor at 0.1, outside calibrate A,B = uniform(0.5,0.6)");
  refused("monophyletic = A,C", "the start breaks monophyletic = A,C");
  refused("outgroup = B", "the start breaks outgroup = B");
  refused("backbone = ((A,C),B)", "the start breaks backbone = ((A,C),B)");
}

TEST(snp_calibrations, errors) {
  const auto line = [](const std::string& words, const std::string& what) {
    try {
      snp::parse_priors("origin = exponential(1)\n" + words + "\n", "dates.txt");
      ADD_FAILURE() << words;
    } catch (const FileError& error) {
      EXPECT_NE(std::string(error.what()).find("dates.txt:2: "), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  line("calibrate A = normal(1,1)", "two or more species");
  line("calibrate A,B = uniform(2,1)", "calibrate A,B must be");
  line("calibrate A,B = normal(1,0)", "calibrate A,B must be");
  line("calibrate A,B = exponential(1,-1)", "calibrate A,B must be");
  line("calibrate A,A = normal(1,1)", "different names");
  line("monophyletic = A", "two or more species");
  line("clock = 0", "clock must be");
  const auto refused = [](const std::string& words, const std::string& what) {
    expect_invalid([&] { sampled_means(prior_of(process + words), abc, {}, 1); }, what);
  };
  refused("calibrate A,Z = normal(1,1)\n", "calibrate A,Z: there is no species Z; there are A, B, C");
  // The line is that of the rule: the process has lines before.
  const auto at = text("priors:", std::count(process.begin(), process.end(), '\n') + 2, ": ");
  for (const char* rule : {"monophyletic = A,Z", "outgroup = Z", "backbone = (A,(B,Z))", "calibrate A,Z = normal(1,1)"})
    refused(text("pi1 = fixed(0.5)\n", rule, "\n"), text(at, std::string(rule).substr(0, 9)));
  refused("monophyletic = A,B\nmonophyletic = B,C\n",
          "no network keeps both monophyletic = A,B and monophyletic = B,C");
  refused("monophyletic = A,B\noutgroup = B\n", "no network keeps both monophyletic = A,B and outgroup = B");
  refused("monophyletic = A,B\nbackbone = (A,(B,C))\n", "no network keeps both monophyletic = A,B and backbone");
  refused("calibrate A,B = uniform(1,2)\ncalibrate root = uniform(.1,.9)\n", "is above calibrate root");
  // Constraints say which ancestor is above which: of A and C that is not below that of A and B.
  const std::string low = "calibrate A,B = uniform(1,2)\ncalibrate A,C = uniform(.1,.9)\n";
  const std::string both =
      "calibrate A,B = uniform(1,2) is above calibrate A,C = uniform(0.1,0.9), which has all of its "
      "species by the constraints";
  for (const char* rule : {"backbone = ((A,B),C)\n", "monophyletic = A,B\n", "outgroup = C\n"})
    refused(low + rule, both);
  sampled_means(prior_of(process + low), abc, {}, 1);
  // Densities that are nowhere 0 contradict each other in draws alone.
  refused("monophyletic = A,B\ncalibrate A,B = normal(9,.01)\ncalibrate root = normal(1,.01)\n",
          "calibrate A,B = normal(9,0.01) and calibrate root = normal(1,0.01) contradict each other");
  expect_invalid([&] { sampled_means(prior_of("calibrate root = normal(9,.01)\norigin = fixed(2)\n"), abc, {}, 1); },
                 "calibrate root = normal(9,0.01) and the origin at 2 contradict each other");
  refused("backbone = ((A,(B)#H1),(C,#H1))\n", "backbone = ((A,(B)#H1),(C,#H1)) must be a tree");
  EXPECT_EQ(snp::parse_priors("backbone = ((A,B),C) # mine\n").backbone, "((A,B),C)");
  refused("outgroup = A,B,C\n", "must not be all species");
  expect_invalid([&] { prior_of("generation-time = 2\n"); }, "generation-time needs a clock");
  expect_invalid([&] { prior_of("clock = lognormal(1,1)\norigin = fixed(1)\n"); }, "origin must be free");
  random_stream random(1);
  expect_invalid([&] { prior_of("calibrate root = normal(1,1)\n").draw(abc, random); }, "with calibrations");
  // What is written reads back.
  const auto options = snp::parse_priors(
      "calibrate A,B = gamma(2,3,.5)\ncalibrate root = exponential(2,1)\nmonophyletic = A,B\nmonophyletic = C,D\n"
      "outgroup = E\nbackbone = ((A,C),E)\nclock = lognormal(-20,.25)\ngeneration-time = 3\n");
  EXPECT_EQ(snp::to_text(snp::parse_priors(snp::to_text(options))), snp::to_text(options));
  EXPECT_EQ(options.calibrations[0].density.text(), "gamma(2,3,0.5)");
}

}  // namespace
}  // namespace quintet::test
