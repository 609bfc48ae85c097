// Marginal likelihoods: known integrals, posteriors by quadrature, assignments of the same copies.
#include "quintet/snp/inference/marginal_likelihood.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "quintet/core/philox.hpp"
#include "support/expect_error.hpp"
#include "support/mcmc_oracles.hpp"
#include "support/sanitized.hpp"
#include "support/thread_group.hpp"

namespace quintet::test {
namespace {

#ifdef QUINTET_LONG_TEST
constexpr bool is_long = true;
#else
constexpr bool is_long = false;
#endif

using power_draws = std::vector<std::vector<std::vector<double>>>;  // [chain][power][draw]

// Prior N(0, 1), log L = -x^2 / 2: the power posterior is N(0, 1 / (1 + beta)), and Z = 1 / sqrt(2).
power_draws draws_of_a_normal(const std::vector<double>& powers, std::size_t chains, std::size_t count) {
  power_draws draws(chains);
  for (std::size_t c = 0; c < chains; ++c)
    for (std::size_t k = 0; k < powers.size(); ++k) {
      random_stream random(c, k);
      auto& values = draws[c].emplace_back();
      for (std::size_t i = 0; i < count; ++i) {
        const double x = random.normals<double>().first / std::sqrt(1 + powers[k]);
        values.push_back(-0.5 * x * x);
      }
    }
  return draws;
}

TEST(snp_marginal_likelihood, of_a_normal_density) {
  const auto powers = snp::power_ladder(8);
  ASSERT_EQ(powers.size(), 9u);
  EXPECT_EQ(powers.front(), 1);
  EXPECT_EQ(powers.back(), 0);
  EXPECT_NEAR(powers[4], std::pow(0.5, 1 / 0.3), 1e-15);
  const auto found = snp::marginal_likelihood(powers, draws_of_a_normal(powers, 4, 5000));
  EXPECT_LT(found.error, 0.005);
  EXPECT_NEAR(found.log_z, -0.5 * std::log(2.0), 4 * found.error);
  EXPECT_NEAR(found.thermodynamic, -0.5 * std::log(2.0), 4 * found.thermodynamic_error);
  EXPECT_TRUE(found.agrees);
  EXPECT_EQ(found.by_chain.size(), 4u);
  double sum = 0;
  for (const snp::power_step& step : found.steps) sum += step.log_ratio;
  EXPECT_NEAR(sum, found.log_z, 1e-12);
  EXPECT_NEAR(found.steps[0].mean, -0.25, 0.01);
  EXPECT_NEAR(found.steps[8].mean, -0.5, 0.03);
}

TEST(snp_marginal_likelihood, says_where_the_estimates_differ) {
  // Draws at one power that are those of another: the mean of log L does not belong there.
  const auto powers = snp::power_ladder(4);
  power_draws draws = draws_of_a_normal(powers, 2, 2000);
  for (auto& chain : draws)
    for (double& x : chain[1]) x -= 3;
  EXPECT_FALSE(snp::marginal_likelihood(powers, draws).agrees);
}

TEST(snp_marginal_likelihood, errors) {
  const std::vector<double> powers{1, 0};
  const power_draws good = draws_of_a_normal(powers, 1, 10);
  expect_invalid([&] { snp::marginal_likelihood(std::vector<double>{1, 0.5}, good); }, "from 1 to 0");
  expect_invalid([&] { snp::marginal_likelihood(powers, power_draws{}); }, "chains");
  expect_invalid([&] { snp::marginal_likelihood(powers, power_draws{{{1, 2, 3}, {1, 2, 3}}}); },
                 "draws at every power");
  expect_invalid([&] { snp::marginal_likelihood(powers, power_draws{{{1, 2, 3, 4}}}); }, "powers of a chain");
  expect_invalid([&] { snp::marginal_likelihood(powers, power_draws{{{1, 2, 3, std::nan("")}, {1, 2, 3, 4}}}); },
                 "finite");
  expect_invalid([&] { snp::power_ladder(0); }, "steps must be in 1 ... 1023");
  EXPECT_EQ(snp::evidence_in_words(1), "not worth more than a bare mention");
  EXPECT_EQ(snp::evidence_in_words(11), "very strong");
}

snp::marginal_likelihood_estimate estimate_of(const oracle& one, std::int64_t steps, std::int64_t iterations) {
  const snp::priors prior(snp::parse_priors(one.priors), std::int64_t(one.data.species().size()), one.limits);
  snp::sampler_options options = one.options;
  options.powers = snp::power_ladder(steps);
  options.chains = 2;
  options.temperatures = steps + 1;
  options.iterations = iterations;
  options.burn_in = iterations / 10;
  options.sample_every = 5;
  options.swap_every = 10;
  options.seed = 5;
  snp::sampler chains(names_of(one.data), &one.data, prior, options);
  power_draws all(2, std::vector<std::vector<double>>(std::size_t(steps + 1)));
  while (!chains.is_done()) {
    chains.advance();
    const power_draws part = chains.take_log_likelihoods();
    for (std::size_t c = 0; c < all.size(); ++c)
      for (std::size_t k = 0; k < all[c].size(); ++k)
        all[c][k].insert(all[c][k].end(), part[c][k].begin(), part[c][k].end());
  }
  return snp::marginal_likelihood(options.powers, all);
}

void expect_log_z(const oracle& one, double expected, std::int64_t steps, std::int64_t iterations) {
  const auto found = estimate_of(one, steps, iterations);
  EXPECT_LT(found.error, is_long ? 0.05 : 0.2);
  EXPECT_NEAR(found.log_z, expected, 4 * found.error);
  EXPECT_NEAR(found.thermodynamic, expected, 4 * found.thermodynamic_error + 0.05);
  EXPECT_TRUE(found.agrees) << found.log_z << " +- " << found.error << ", " << found.thermodynamic << " +- "
                            << found.thermodynamic_error;
}

TEST(snp_marginal_likelihood, of_two_species) {
  expect_log_z(oracle_p1(), -309.293004, 16, sized(is_long ? 20'000 : 3000, 1000));
}

// The counts of all three species as those of two: species 0 and 1 together have the sum.
oracle lumped(oracle one, std::size_t first, std::size_t second, const std::string& names) {
  const snp::Data& data = one.data;
  snp::DataBuilder builder({names.substr(0, names.find(' ')), names.substr(names.find(' ') + 1)});
  const std::size_t other = 3 - first - second;
  const auto of = [](const auto& values, std::size_t p, std::size_t s) { return std::int64_t(values[3 * p + s]); };
  for (std::size_t p = 0; p < std::size_t(data.patterns()); ++p)
    builder.add_site(
        std::vector<std::int64_t>{of(data.red(), p, first) + of(data.red(), p, second), of(data.red(), p, other)},
        std::vector<std::int64_t>{of(data.copies(), p, first) + of(data.copies(), p, second),
                                  of(data.copies(), p, other)},
        data.weights()[p]);
  one.data = builder.finish();
  return one;
}

#ifdef QUINTET_LONG_TEST
TEST(snp_marginal_likelihood, of_three_species) { expect_log_z(oracle_p2(), -116.498308, 16, sized(20'000, 1000)); }

TEST(snp_marginal_likelihood, of_one_inheritance_probability) {
  expect_log_z(oracle_p3(), -731.640869, 16, sized(10'000, 1000));
}

// The same copies in three species, or two of them as one: of counts the second would always look better.
TEST(snp_marginal_likelihood, of_assignments_of_the_same_copies) {
  oracle three = oracle_p2();
  three.options.model.ordered_data = true;
  expect_log_z(three, -119.964044, 16, sized(20'000, 1000));
  const std::pair<double, oracle> pairs[] = {{-122.596918, lumped(three, 0, 1, "AB C")},
                                             {-123.834546, lumped(three, 0, 2, "AC B")},
                                             {-126.267640, lumped(three, 1, 2, "BC A")}};
  for (const auto& [expected, one] : pairs) expect_log_z(one, expected, 16, sized(20'000, 1000));
  oracle counts = lumped(oracle_p2(), 0, 1, "AB C");
  expect_log_z(counts, -110.290167, 16, sized(20'000, 1000));
}
#else
TEST(snp_marginal_likelihood, of_assignments_of_the_same_copies) {
  oracle pair = lumped(oracle_p2(), 0, 1, "AB C");
  pair.options.model.ordered_data = true;
  expect_log_z(pair, -122.596918, 16, sized(3000, 1000));
}
#endif

// Draws of all powers, whoever has the walkers.
TEST(snp_marginal_likelihood, any_number_of_processes_gives_the_same_bits) {
  const oracle p1 = oracle_p1();
  const auto draws_of = [&](std::shared_ptr<process_group> group) {
    const snp::priors prior(snp::parse_priors(p1.priors), 2, p1.limits);
    snp::sampler_options options{.chains = 2,
                                 .temperatures = 4,
                                 .iterations = 1500,
                                 .burn_in = 100,
                                 .sample_every = 10,
                                 .swap_every = 10,
                                 .seed = 3};
    options.powers = {1, 0.5, 0.1, 0};
    options.shared_by = group;
    if (group) options.threads = 1;
    snp::sampler chains(names_of(p1.data), &p1.data, prior, options);
    power_draws all(2, std::vector<std::vector<double>>(4));
    while (!chains.is_done()) {
      chains.advance();
      const power_draws part = chains.take_log_likelihoods();
      for (std::size_t c = 0; c < 2; ++c)
        for (std::size_t k = 0; k < 4; ++k) all[c][k].insert(all[c][k].end(), part[c][k].begin(), part[c][k].end());
      chains.take_samples();
    }
    return all;
  };
  const power_draws alone = draws_of(nullptr);
  EXPECT_EQ(alone[1][3].size(), 140u);
  for (const int processes : {2, 3})
    run_as_group(processes, [&](std::shared_ptr<process_group> group) { EXPECT_EQ(draws_of(group), alone); });
}

TEST(snp_marginal_likelihood, powers_out_of_range) {
  const oracle p1 = oracle_p1();
  const snp::priors prior(snp::parse_priors(p1.priors), 2, p1.limits);
  const auto fails = [&](std::vector<double> powers, const std::string& words) {
    snp::sampler_options options{.temperatures = 3};
    options.powers = std::move(powers);
    expect_invalid([&] { snp::sampler(names_of(p1.data), &p1.data, prior, options); }, words);
  };
  fails({1, 0.5}, "size of powers");
  fails({0.9, 0.5, 0}, "powers must be from 1");
  fails({1, 0.5, 0.6}, "power must be less than the one before");
}

}  // namespace
}  // namespace quintet::test
