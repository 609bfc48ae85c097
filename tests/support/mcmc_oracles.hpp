// Posteriors of small data that were computed by quadrature, and chains that have to find them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "quintet/snp/inference/diagnostics.hpp"
#include "quintet/snp/inference/sampler.hpp"
#include "quintet/snp/markers/data.hpp"
#include "quintet/snp/network/newick.hpp"
#include "support/near.hpp"

namespace quintet::test {

using species_list = std::shared_ptr<const std::vector<std::string>>;

inline species_list names_of(const snp::Data& data) {
  return std::make_shared<const std::vector<std::string>>(data.species().begin(), data.species().end());
}

/// Sites as "00x77 01x5": the counts of allele 1 of the species, and how many such sites.
inline snp::Data counted_sites(const std::string& species, const std::vector<std::int64_t>& copies,
                               const std::string& sites) {
  std::vector<std::string> names;
  for (const char c : species) names.emplace_back(1, c);
  snp::DataBuilder builder(names);
  std::istringstream words(sites);
  for (std::string word; words >> word;) {
    std::vector<std::int64_t> red;
    for (std::size_t i = 0; i < species.size(); ++i) red.push_back(word[i] - '0');
    builder.add_site(red, copies, std::stod(word.substr(species.size() + 1)));
  }
  return builder.finish(copies);
}

/// A number of every sampled state.
using of_state = std::function<double(const snp::network_state&)>;

/// What is expected of the mean (and the standard deviation, if > 0) of a number, and how certain that is itself.
struct expectation {
  std::string name;
  of_state value;
  double mean, sd = 0, error = 0;
};

struct oracle {
  snp::Data data;
  std::string priors;
  snp::network_limits limits;
  std::vector<expectation> expected;
  snp::sampler_options options;  ///< fixed parts and the start
};

/// Samples of all expectations, [expectation][chain][draw].
inline std::vector<std::vector<std::vector<double>>> run_oracle(const oracle& one, snp::sampler_options options) {
  const snp::priors prior(snp::parse_priors(one.priors), std::int64_t(one.data.species().size()), one.limits);
  snp::sampler chains(names_of(one.data), &one.data, prior, std::move(options));
  std::vector<std::vector<std::vector<double>>> draws(
      one.expected.size(), std::vector<std::vector<double>>(std::size_t(chains.options().chains)));
  while (!chains.is_done()) {
    chains.advance();
    const auto samples = chains.take_samples();
    for (std::size_t e = 0; e < one.expected.size(); ++e)
      for (std::size_t c = 0; c < samples.size(); ++c)
        for (const snp::sampled_state& sample : samples[c]) draws[e][c].push_back(one.expected[e].value(sample.state));
  }
  return draws;
}

/// Means within four standard errors, which are themselves at most `max_error` standard deviations.
inline void expect_oracle(const oracle& one, const snp::sampler_options& options, double max_error) {
  const auto draws = run_oracle(one, options);
  for (std::size_t e = 0; e < one.expected.size(); ++e) {
    const expectation& expected = one.expected[e];
    SCOPED_TRACE(expected.name);
    const snp::column_summary found = snp::summarise(draws[e]);
    expect_error_within("mcse_of_" + std::to_string(e), found.mcse / found.sd, max_error);
    EXPECT_LT(std::fabs(found.mean - expected.mean), 4 * std::hypot(found.mcse, expected.error))
        << found.mean << " +- " << found.mcse << ", expected " << expected.mean;
    if (expected.sd > 0) {
      // The same for the mean square about the expected mean.
      std::vector<std::vector<double>> squares = draws[e];
      for (auto& chain : squares)
        for (double& x : chain) x = (x - expected.mean) * (x - expected.mean);
      const snp::column_summary square = snp::summarise(squares);
      EXPECT_LT(std::fabs(square.mean - expected.sd * expected.sd), 4 * square.mcse)
          << std::sqrt(square.mean) << ", expected " << expected.sd;
    }
  }
}

inline double root_height(const snp::network_state& s) { return s.node(s.root).height; }

/// Both leaves hang on one node.
inline bool is_cherry(const snp::network_state& s, std::int32_t a, std::int32_t b) {
  return s.node(a).parent[0] == s.node(b).parent[0];
}

/// "" for a tree of two species, else "A hybrid", "bubble A", "bubble root", ...
inline std::string kind_of_two(const snp::network_state& s) {
  for (std::int32_t x = s.leaves(); x < std::int32_t(s.nodes.size()); ++x) {
    if (!s.is_reticulation(x)) continue;
    const std::int32_t below = snp::network_state::bottom(s.node(x).child[0]);
    const std::string leaf = s.is_leaf(below) ? (*s.species)[std::size_t(below)] : "root";
    return s.is_bubble(x) ? "bubble " + leaf : leaf + " hybrid";
  }
  return "";
}

inline of_state is_kind(const std::string& kind) {
  return [kind](const snp::network_state& s) { return kind_of_two(s) == kind ? 1.0 : 0.0; };
}

inline const std::string& plain_priors() {
  static const std::string text =
      "speciation-rate = 10\nhybridization-rate = 0\norigin = exponential(0.1)\npi1 = fixed(0.5)\n";
  return text;
}

inline oracle oracle_p1() {
  return {counted_sites("AB", {2, 2}, "00x77 01x5 02x13 10x6 11x1 12x10 20x7 21x7 22x74"),
          plain_priors() + "theta = common gamma(2,20)\n",
          {.max_reticulations = 0},
          {{"height", root_height, .0618721006, .0149858378},
           {"theta", [](const snp::network_state& s) { return s.common_theta; }, .0902431731, .0182713998},
           {"product", [](const snp::network_state& s) { return root_height(s) * s.common_theta; },
            .0618721006 * .0902431731 - .05641256 * .0149858378 * .0182713998},
           // tau - h(root) ~ Exp(lambda + omega), whatever the data.
           {"origin", [](const snp::network_state& s) { return s.origin - root_height(s); }, 1 / 20.0, 1 / 20.0}},
          {}};
}

inline oracle oracle_p2() {
  const auto lowest = [](const snp::network_state& s) {
    double min = root_height(s);
    for (std::int32_t x = s.leaves(); x < std::int32_t(s.nodes.size()); ++x) min = std::min(min, s.node(x).height);
    return min;
  };
  const auto cherry = [](std::int32_t a, std::int32_t b) {
    return [a, b](const snp::network_state& s) { return is_cherry(s, a, b) ? 1.0 : 0.0; };
  };
  return {counted_sites("ABC", {2, 2, 1}, "000x35 001x3 020x1 121x1 200x1 201x1 211x4 220x3 221x31"),
          plain_priors() + "theta = common fixed(0.05)\n",
          {.max_reticulations = 0},
          {{"AB", cherry(0, 1), .6640418117},
           {"AC", cherry(0, 2), .2208380377},
           {"BC", cherry(1, 2), .1151201506},
           {"t1", lowest, .0249583807},
           {"t2", root_height, .0440456309, .0164827396}},
          {}};
}

inline oracle oracle_p3() {
  oracle one{counted_sites("BAC", {2, 2, 2},
                           "000x147 001x10 002x11 010x4 012x1 020x4 021x1 022x2 100x8 101x1 102x3 110x1 112x3 120x2 "
                           "121x1 122x11 200x3 202x12 212x10 220x11 221x7 222x147"),
             "speciation-rate = 10\nhybridization-rate = 5\norigin = exponential(0.1)\npi1 = fixed(0.5)\n"
             "theta = common fixed(0.05)\n",
             {.max_reticulations = 1},
             {{"gamma",
               [](const snp::network_state& s) {
                 // Of the branch to the parent of A.
                 const std::int32_t x = s.node(s.node(1).parent[0]).child[0] / 2 == 1
                                            ? s.node(s.node(1).parent[0]).child[1] / 2
                                            : s.node(s.node(1).parent[0]).child[0] / 2;
                 return s.node(x).gamma[s.node(x).parent[0] == s.node(1).parent[0] ? 0 : 1];
               },
               .5907202926, .1457774727}},
             {}};
  one.options.start =
      snp::state_of(snp::parse_newick("(((B:.01)#H1:.02::.5,A:.03)x:.03,(C:.04,#H1:.03)y:.02)r", {.theta = .05}),
                    names_of(one.data), {.thetas = snp::theta_mode::common});
  one.options.fix_topology = one.options.fix_heights = one.options.fix_origin = one.options.fix_theta =
      one.options.fix_rates = true;
  return one;
}

inline snp::Data data_of_p4() {
  return counted_sites("AB", {3, 2}, "00x21 01x1 02x2 10x1 12x4 20x1 22x4 30x4 31x1 32x21");
}

inline oracle oracle_p4() {
  const auto height_at = [](std::int32_t r) {
    return [r](const snp::network_state& s) { return s.reticulations == r ? root_height(s) : 0.0; };
  };
  // The expected values have five decimals.
  return {data_of_p4(),
          "speciation-rate = 10\nhybridization-rate = 5\norigin = exponential(0.1)\npi1 = fixed(0.5)\n"
          "theta = common fixed(0.05)\n",
          {.max_reticulations = 1},
          {{"tree", is_kind(""), .49885, 0, 5e-6},
           {"A hybrid", is_kind("A hybrid"), .28951, 0, 5e-6},
           {"B hybrid", is_kind("B hybrid"), .04848, 0, 5e-6},
           {"bubble A", is_kind("bubble A"), .08776, 0, 5e-6},
           {"bubble B", is_kind("bubble B"), .03325, 0, 5e-6},
           {"bubble root", is_kind("bubble root"), .04216, 0, 5e-6},
           {"height", root_height, .08186, 0, 5e-6},
           {"height of trees", height_at(0), .06471 * .49885, 0, 5e-6},
           {"height of networks", height_at(1), .09893 * .50115, 0, 5e-6}},
          {}};
}

inline oracle oracle_p5() {
  return {data_of_p4(),
          "speciation-rate = 10\nhybridization-rate = 5\norigin = exponential(0.1)\npi1 = fixed(0.5)\n"
          "theta = each gamma(2,40)\n",
          {.max_reticulations = 1},
          {{"r", [](const snp::network_state& s) { return double(s.reticulations); }, .340, 0, .003},
           {"height", root_height, .0766, 0, .0002},
           {"theta",
            [](const snp::network_state& s) {
              double sum = 0;
              for (std::int32_t x = 0; x < std::int32_t(s.nodes.size()); ++x)
                for (std::int32_t i = 0; i < s.node(x).parents; ++i) sum += s.theta(s.branch_of(x, i));
              return sum / s.branches();
            },
            .0667, 0, .0001}},
          {}};
}

/// Options of an oracle with a length, from its own.
inline snp::sampler_options with_length(const oracle& one, std::int64_t iterations, std::int64_t sample_every = 10,
                                        std::int64_t chains = 2) {
  snp::sampler_options options = one.options;
  options.iterations = iterations;
  options.burn_in = iterations / 20;
  options.sample_every = sample_every;
  options.chains = chains;
  options.seed = 7;
  return options;
}

}  // namespace quintet::test
