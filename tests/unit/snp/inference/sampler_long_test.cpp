// The sampler against known posteriors to the accuracy that their tables ask for, and against itself: calibration of
// ranks and Geweke's joint chain. Minutes, so not among the fast tests.
#include "quintet/snp/inference/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "quintet/snp/simulation/simulate.hpp"
#include "snp/inference/moves/move.hpp"
#include "snp/likelihood/chain_likelihood.hpp"
#include "support/mcmc_oracles.hpp"

namespace quintet::test {
namespace {

TEST(snp_sampler_long, one_topology_two_parameters) {
  const oracle p1 = oracle_p1();
  expect_oracle(p1, with_length(p1, 1000000), 0.01);
}

TEST(snp_sampler_long, three_topologies) {
  const oracle p2 = oracle_p2();
  expect_oracle(p2, with_length(p2, 1000000), 0.01);
}

TEST(snp_sampler_long, one_gamma) {
  const oracle p3 = oracle_p3();
  expect_oracle(p3, with_length(p3, 200000), 0.01);
}

TEST(snp_sampler_long, jumps) {
  const oracle p4 = oracle_p4();
  expect_oracle(p4, with_length(p4, 2000000), 0.01);
}

TEST(snp_sampler_long, jumps_with_a_theta_for_every_branch) {
  const oracle p5 = oracle_p5();
  expect_oracle(p5, with_length(p5, 2000000), 0.012);
}

// Draw a network, draw data from it, infer: the rank of the truth among independent draws of the posterior is uniform.
TEST(snp_sampler_long, ranks_are_uniform) {
  constexpr int runs = 200, draws = 99, bins = 10;
  const snp::priors prior(
      snp::parse_priors("speciation-rate = 10\nhybridization-rate = 5\norigin = exponential(0.1)\npi1 = beta(4,4)\n"
                        "theta = each gamma(2,20)\n"),
      3, {.max_reticulations = 1});
  const auto names = std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"A", "B", "C"});
  using state = const snp::network_state&;
  const std::vector<std::pair<const char*, of_state>> numbers{
      {"reticulations", [](state s) { return double(s.reticulations); }},
      {"root height", root_height},
      {"origin", [](state s) { return s.origin; }},
      {"pi1", [](state s) { return s.pi1; }},
      {"theta of A", [](state s) { return s.theta(0); }},
      {"theta above the root", [](state s) { return s.theta(s.root_branch()); }},
      {"A with B", [](state s) { return is_cherry(s, 0, 1) ? 1.0 : 0.0; }}};
  std::vector<std::array<int, bins>> counts(numbers.size(), std::array<int, bins>{});
  for (int run = 0; run < runs; ++run) {
    random_stream random(11, std::uint64_t(run));
    const snp::network_state truth = prior.draw(names, random);
    const snp::Network network = snp::to_network(truth);
    // Species of the network are in the order of its leaves: by name, as in the state.
    const snp::Data data = snp::simulate(
        network, {.copies = {2, 2, 2}, .u = truth.u(), .v = truth.v(), .sites = 100, .seed = std::uint64_t(run) + 1});
    if (data.weight_of(snp::pattern_kind::polymorphic) == 0) continue;
    snp::sampler chains(
        names_of(data), &data, prior,
        {.iterations = 2000 + 200 * draws, .burn_in = 2000, .sample_every = 200, .seed = std::uint64_t(run)});
    std::vector<int> less(numbers.size(), 0), equal(numbers.size(), 0);
    while (!chains.is_done()) {
      chains.advance();
      const auto taken = chains.take_samples();
      for (const auto& sample : taken[0])
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          const double x = numbers[i].second(sample.state), y = numbers[i].second(truth);
          less[i] += x < y;
          equal[i] += x == y;
        }
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const int rank = less[i] + int(random.below(std::uint32_t(equal[i]) + 1));  // ties at random
      ++counts[i][std::size_t(rank * bins / (draws + 1))];
    }
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    double all = 0, chi2 = 0;
    for (const int count : counts[i]) all += count;
    for (const int count : counts[i]) chi2 += (count - all / bins) * (count - all / bins) / (all / bins);
    // 9 degrees of freedom, p = 1e-4.
    expect_error_within(numbers[i].first, chi2, 33.7);
  }
}

// Geweke (2004): a step of the chain, then new data from the state. Whatever the step, the states follow the prior if
// and only if moves, prior, likelihood and simulator belong together.
TEST(snp_sampler_long, joint_chain_follows_the_prior) {
  const std::string text =
      "speciation-rate = 1\nhybridization-rate = 0.5\norigin = exponential(1)\n"
      "theta = each gamma(2,4)\npi1 = fixed(0.5)\n";
  const snp::priors prior(snp::parse_priors(text), 3, {.max_reticulations = 2});
  const auto names = std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"A", "B", "C"});
  const auto moves = snp::make_moves(prior);
  std::vector<double> cumulative;
  for (const auto& one : moves) cumulative.push_back((cumulative.empty() ? 0 : cumulative.back()) + one->weight());
  constexpr int chains = 2, steps = 300000;
  std::vector<std::vector<double>> height(chains), thetas(chains);
  std::vector<std::vector<double>> share[3] = {height, height, height};
  for (int c = 0; c < chains; ++c) {
    random_stream start(21, std::uint64_t(c));
    snp::network_state state = prior.draw(names, start), backup;
    const auto data_of = [&](int t) {
      return snp::simulate(snp::to_network(state),
                           {.copies = {2, 2, 2}, .sites = 5, .seed = std::uint64_t(c) * steps + std::uint64_t(t) + 1});
    };
    snp::Data data = data_of(0);
    for (int t = 1; t <= steps; ++t) {
      random_stream random(22, (std::uint64_t(c) << 40) + std::uint64_t(t));
      const double where = random.uniform<double>() * cumulative.back();
      const std::size_t m =
          std::size_t(std::upper_bound(cumulative.begin(), cumulative.end() - 1, where) - cumulative.begin());
      backup = state;
      const snp::proposal made = moves[m]->propose(state, random);
      bool accepted = made.applies && snp::is_in_range(state) && snp::is_allowed(state, prior.limits());
      if (accepted) {
        double ratio = prior.log_density(state) - prior.log_density(backup) + made.log_hastings;
        if (made.changes_likelihood && ratio > -1e300) {
          snp::chain_likelihood likelihood(&data, {}, {.device = Device::host()});
          ratio -= likelihood.build(backup);
          ratio += likelihood.build(state);
        }
        accepted = std::log(random.uniform_positive<double>()) <= ratio;
      }
      if (!accepted) state = backup;
      data = data_of(t);
      if (t % 10 != 0) continue;
      height[std::size_t(c)].push_back(root_height(state));
      thetas[std::size_t(c)].push_back(state.theta(0));
      for (int r = 0; r < 3; ++r) share[r][std::size_t(c)].push_back(state.reticulations == r ? 1 : 0);
    }
  }
  const auto expect_mean = [](const std::vector<std::vector<double>>& values, double expected, const char* name) {
    const snp::column_summary found = snp::summarise(values);
    expect_error_within(std::string("z of ") + name, std::fabs(found.mean - expected) / found.mcse, 4);
    EXPECT_LT(found.mcse, 0.03 * found.sd) << name;
  };
  expect_mean(share[0], .60600098, "r = 0");
  expect_mean(share[1], .26168224, "r = 1");
  expect_mean(share[2], .13231677, "r = 2");
  expect_mean(height, .68913314, "height of the root");
  expect_mean(thetas, .5, "theta of A");
}

}  // namespace
}  // namespace quintet::test
