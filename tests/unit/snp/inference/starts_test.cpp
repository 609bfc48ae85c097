// Starts of chains: what search_starts() finds, and what chains do with a start of each.
#include "quintet/snp/inference/starts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "quintet/snp/network/newick.hpp"
#include "quintet/snp/simulation/simulate.hpp"
#include "support/expect_error.hpp"
#include "support/mcmc_oracles.hpp"
#include "support/sanitized.hpp"
#include "support/thread_group.hpp"

namespace quintet::test {
namespace {

bool equal_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

// B from A and C.
struct hybrid_case {
  snp::Data data = snp::simulate(
      snp::parse_newick("((A:0.03,(B:0.01)#H1:0.02::0.6):0.03,(C:0.04,#H1:0.03::0.4):0.02)r;", {.theta = 0.02}),
      {.copies = {2, 3, 2}, .sites = 1500, .seed = 3});
  snp::priors prior{snp::parse_priors("theta = each gamma(2,100)"), 3, {.max_reticulations = 1}};
  snp::start_options options{.chains = 2, .patience = 3, .steps = sized(600, 100), .seed = 5};
};

TEST(snp_starts, fit_the_data_in_different_topologies) {
  const hybrid_case one;
  const auto starts = snp::search_starts(one.data, one.prior, one.options);
  ASSERT_EQ(starts.size(), 2u);
  std::set<std::string> topologies;
  snp::sampler reference(names_of(one.data), &one.data, one.prior, {.iterations = 3000, .burn_in = 2000});
  while (!reference.is_done()) reference.advance();
  const double typical = reference.current(0).log_likelihood;
  for (const snp::network_state& start : starts) {
    EXPECT_EQ(snp::broken_rule(start), "");
    EXPECT_TRUE(one.prior.admit(start));
    EXPECT_TRUE(std::isfinite(one.prior.log_density(start)));
    topologies.insert(snp::number_canonically(start).key);
    snp::Likelihood likelihood(snp::to_network(start), one.data, {.u = start.u(), .v = start.v()});
    if (start.reticulations == 1) EXPECT_GT(likelihood.evaluate(), typical - 25);
  }
  EXPECT_EQ(topologies.size(), 2u);
  const auto again = snp::search_starts(one.data, one.prior, one.options);
  for (std::size_t c = 0; c < starts.size(); ++c)
    EXPECT_TRUE(equal_bits(snp::numbers_of(starts[c]), snp::numbers_of(again[c])));
}

// Priors in other units and with fixed parts: the starts are in their ranges.
TEST(snp_starts, are_in_the_ranges_of_the_prior) {
  hybrid_case one;
  one.options.chains = 1;
  for (const char* words :
       {"theta = common gamma(2,100)\norigin = fixed(0.02)", "theta = common fixed(0.03)\npi1 = beta(2,2)",
        "theta = each gamma(2,1e-6)\nclock = 1e-8\nnetdiv = exponential(1e-7)\norigin = exponential(1e7)",
        "outgroup = C", "theta = each gamma(4)\ntheta-mean = lognormal(-4,0.5)"}) {
    SCOPED_TRACE(words);
    const snp::priors prior(snp::parse_priors(words), 3, {.max_reticulations = 1, .bubbles = false});
    const auto starts = snp::search_starts(one.data, prior, one.options);
    ASSERT_EQ(starts.size(), 1u);
    EXPECT_EQ(snp::broken_rule(starts[0]), "");
    EXPECT_TRUE(prior.admit(starts[0]));
    EXPECT_TRUE(std::isfinite(prior.log_density(starts[0])));
    if (prior.options().origin.is_fixed()) EXPECT_EQ(starts[0].origin, prior.options().origin.a);
    if (!prior.has_theta()) EXPECT_EQ(starts[0].common_theta, 0.03);
  }
}

struct two_starts {
  hybrid_case one;
  snp::sampler_options options{
      .chains = 2, .temperatures = 3, .iterations = 1000, .burn_in = 500, .sample_every = 100, .swap_every = 20};
  two_starts() {
    for (const char* newick : {"((A:.02,B:.02):.02,C:.04);", "((A:.02,C:.02):.02,B:.04);"})
      options.starts.push_back(
          one.prior.completed(snp::state_of(snp::parse_newick(newick, {.theta = .02}), names_of(one.data))));
  }
  std::unique_ptr<snp::sampler> make() const {
    return std::make_unique<snp::sampler>(names_of(one.data), &one.data, one.prior, options);
  }
};

std::vector<double> numbers_of_end(snp::sampler& chains) {
  while (!chains.is_done()) chains.advance();
  std::vector<double> numbers;
  for (std::int64_t c = 0; c < 2; ++c)
    for (const double x : snp::numbers_of(chains.current(c).state)) numbers.push_back(x);
  return numbers;
}

TEST(snp_starts, every_chain_has_its_own) {
  two_starts both;
  const auto chains = both.make();
  for (std::int64_t c = 0; c < 2; ++c)
    EXPECT_TRUE(
        equal_bits(snp::numbers_of(chains->current(c).state), snp::numbers_of(both.options.starts[std::size_t(c)])));
  const std::vector<double> expected = numbers_of_end(*chains);
  both.options.threads = 3;
  EXPECT_TRUE(equal_bits(numbers_of_end(*both.make()), expected));
  for (const int processes : {2, 7}) {
    run_as_group(processes, [&](std::shared_ptr<process_group> group) {
      two_starts mine;
      mine.options.shared_by = group;
      mine.options.threads = 1;
      auto shared = mine.make();
      EXPECT_TRUE(equal_bits(numbers_of_end(*shared), expected)) << processes;
    });
  }
}

TEST(snp_starts, errors) {
  const hybrid_case one;
  const auto fails = [&](auto change, const std::string& words) {
    snp::start_options bad = one.options;
    change(bad);
    expect_invalid([&] { snp::search_starts(one.data, one.prior, bad); }, words);
  };
  using options = snp::start_options&;
  fails([](options o) { o.chains = 0; }, "chains must be in 1 ... 4096 (chains=0)");
  fails([](options o) { o.patience = 0; }, "patience must be in 1 ... 1000000");
  fails([](options o) { o.steps = 0; }, "steps must be in 1 ... 1000000000");
  const snp::priors four(snp::prior_options{}, 4);
  expect_invalid([&] { snp::search_starts(one.data, four); }, "species must be those of the prior, 4");
  EXPECT_THROW(snp::search_starts(one.data, one.prior, {.progress = [](std::string_view, double) { return false; }}),
               Cancelled);
  // The data have A and B next to each other, the tree that is asked for does not.
  const snp::priors other(snp::parse_priors("backbone = ((A,C),B)"), 3, {.max_reticulations = 0});
  expect_invalid([&] { snp::search_starts(one.data, other, one.options); }, "is in the class, keeps the constraints");
  two_starts both;
  both.options.start = both.options.starts[0];
  expect_invalid([&] { both.make(); }, "start and starts exclude each other");
  both.options.start.reset();
  both.options.chains = 3;
  expect_invalid([&] { both.make(); }, "size of starts must be 0, or that of chains, 3 (size of starts=2)");
}

}  // namespace
}  // namespace quintet::test
