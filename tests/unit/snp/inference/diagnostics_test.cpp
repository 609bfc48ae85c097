// R-hat, effective sample sizes, intervals and ASDSF. Expected values come from an independent program.
#include "quintet/snp/inference/diagnostics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "support/expect_error.hpp"
#include "support/near.hpp"

namespace quintet::test {
namespace {

// x <- .8 x + e with e a sum of twelve uniform numbers of a linear congruential generator, minus 6.
std::vector<double> autoregressive(std::uint64_t seed) {
  std::vector<double> values;
  double x = 0;
  for (int i = 0; i < 200; ++i) {
    double e = -6;
    for (int k = 0; k < 12; ++k) {
      seed = (1103515245 * seed + 12345) % 2147483648;
      e += double(seed) / 2147483648.0;
    }
    // Rounded before the sum, as the oracle does: which of the two values beside the median comes first when folded is
    // a matter of the last bit, and worth 1e-4 of R-hat.
    const volatile double kept = 0.8 * x;
    values.push_back(x = kept + e);
  }
  return values;
}

std::vector<std::vector<double>> four_chains() {
  return {autoregressive(1), autoregressive(2), autoregressive(3), autoregressive(4)};
}

TEST(snp_diagnostics, chains_of_the_oracle) {
  const auto chains = four_chains();
  EXPECT_NEAR(chains[0][0], -1.3261374487, 1e-10);
  EXPECT_NEAR(chains[0][1], -0.0222022435, 1e-10);
  EXPECT_NEAR(chains[3][199], 3.7300704356, 1e-10);
}

TEST(snp_diagnostics, rhat) {
  auto chains = four_chains();
  EXPECT_NEAR(snp::split_rhat(chains), 1.0227587055, 1e-10);
  for (double& x : chains[3]) x += 2;
  EXPECT_NEAR(snp::split_rhat(chains), 1.0663192978, 1e-10);
  chains = four_chains();
  for (double& x : chains[3]) x *= 3;  // only the folded one sees it
  EXPECT_NEAR(snp::split_rhat(chains), 1.1986711213, 1e-10);
}

TEST(snp_diagnostics, effective_sample_sizes) {
  const auto chains = four_chains();
  EXPECT_NEAR(snp::ess_bulk(chains), 94.77860233, 1e-8);
  EXPECT_NEAR(snp::ess_tail(chains), 165.70320484, 1e-8);
  const double expected[] = {19.43764679, 29.17247139, 27.51258198, 20.40122821};
  for (int c = 0; c < 4; ++c) EXPECT_NEAR(snp::tracer_ess(chains[std::size_t(c)]), expected[c], 1e-8) << c;
}

TEST(snp_diagnostics, shortest_interval) {
  std::vector<double> all;
  for (const auto& chain : four_chains()) all.insert(all.end(), chain.begin(), chain.end());
  const snp::interval found = snp::shortest_interval(all);
  EXPECT_NEAR(found.low, -3.2412191894, 1e-10);
  EXPECT_NEAR(found.high, 2.9638543158, 1e-10);
  EXPECT_EQ(snp::shortest_interval({3}).low, 3);
  EXPECT_EQ(snp::shortest_interval({1, 2, 10}, 0.5).high, 2);
  expect_invalid([] { snp::shortest_interval({}); }, "values must be >= 1");
  expect_invalid([] { snp::shortest_interval({1}, 0); }, "mass must be in (0, 1]");
}

TEST(snp_diagnostics, summary_is_made_of_the_parts) {
  const auto chains = four_chains();
  const snp::column_summary all = snp::summarise(chains);
  EXPECT_EQ(all.rhat, snp::split_rhat(chains));
  EXPECT_EQ(all.ess_bulk, snp::ess_bulk(chains));
  EXPECT_EQ(all.ess_tail, snp::ess_tail(chains));
  EXPECT_NEAR(all.mcse, all.sd / std::sqrt(snp::ess_mean(chains)), 1e-15);
  EXPECT_LT(all.hpd95.low, all.median);
  EXPECT_GT(all.hpd95.high, all.median);
}

TEST(snp_diagnostics, odd_chains) {
  const std::vector<std::vector<double>> still(3, std::vector<double>(100, 2.0)), brief{{1, 2, 3}},
      apart{std::vector<double>(10, 1.0), std::vector<double>(10, 2.0)};
  EXPECT_TRUE(std::isnan(snp::split_rhat(still)));
  EXPECT_TRUE(std::isnan(snp::ess_bulk(still)));
  EXPECT_TRUE(std::isnan(snp::ess_tail(brief)));
  EXPECT_TRUE(std::isinf(snp::split_rhat(apart)));
  // Independent values: about as many effective ones as there are; never more than S log10 S.
  std::vector<std::vector<double>> alternating{{}};
  for (int i = 0; i < 1000; ++i) alternating[0].push_back(i % 2 == 0 ? 1 : -1);
  EXPECT_NEAR(snp::ess_bulk(alternating), 3000, 1e-6);
  expect_invalid([] { snp::split_rhat({}); }, "chains must be >= 1");
  const std::vector<std::vector<double>> ragged{{1, 2, 3, 4}, {1, 2, 3}}, infinite{{1, 2, INFINITY, 4}};
  expect_invalid([&] { snp::ess_bulk(ragged); }, "draws of a chain");
  expect_invalid([&] { snp::ess_tail(infinite); }, "draw must be finite");
}

TEST(snp_diagnostics, normal_quantiles) {
  for (const double x : {-8.0, -3.0, -1.0, -0.01, 0.5, 2.0, 5.0})
    EXPECT_NEAR(snp::normal_quantile(std::erfc(-x / std::sqrt(2.0)) / 2), x, 1e-9 + 1e-10 * std::fabs(x)) << x;
  EXPECT_NEAR(snp::normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_EQ(snp::normal_quantile(0.25), -snp::normal_quantile(0.75));
}

TEST(snp_diagnostics, deviation_of_frequencies) {
  // Deviations of (.5, .7) and (.5, .3): .1414 each; what is rarer than .1 everywhere does not count.
  const std::vector<std::map<std::string, double>> two{{{"a", 0.5}, {"b", 0.45}, {"c", 0.05}},
                                                       {{"a", 0.7}, {"b", 0.25}, {"d", 0.05}}};
  EXPECT_NEAR(snp::frequency_deviation(two), std::sqrt(0.02), 1e-15);
  const std::vector<std::map<std::string, double>> absent{{{"a", 1.0}}, {{"b", 1.0}}};
  EXPECT_NEAR(snp::frequency_deviation(absent), std::sqrt(0.5), 1e-15);
  EXPECT_TRUE(std::isnan(snp::frequency_deviation(std::span(two.data(), 1))));
}

}  // namespace
}  // namespace quintet::test
