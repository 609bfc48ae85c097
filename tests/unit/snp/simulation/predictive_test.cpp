// Predictive checks: data of the model pass, data of another network do not; missing copies; errors.
#include "quintet/snp/simulation/predictive.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "quintet/snp/network/newick.hpp"
#include "quintet/snp/simulation/simulate.hpp"
#include "support/expect_error.hpp"

namespace quintet::test {
namespace {

const char* const tree = "((A:0.02,B:0.02):0.02,(C:0.02,D:0.02):0.02);";
const char* const hybrid = "((A:0.02,(B:0.002)#H1:0.018::0.6):0.02,((C:0.003,#H1:0.001::0.4):0.017,D:0.02):0.02);";

snp::Network network_of(const char* newick) { return snp::parse_newick(newick, {.theta = 0.02}); }

std::vector<snp::predictive_draw> draws_of(const char* newick, std::size_t count = 60) {
  return std::vector<snp::predictive_draw>(count, {network_of(newick), 1, 1});
}

snp::Data data_of(const char* newick, std::uint64_t seed, bool polymorphic = false) {
  return snp::simulate(network_of(newick),
                       {.copies = {6, 6, 6, 6}, .sites = 1000, .seed = seed, .polymorphic_only = polymorphic});
}

const snp::predictive_statistic& named(const std::vector<snp::predictive_statistic>& all, const std::string& name) {
  return *std::find_if(all.begin(), all.end(), [&](const auto& statistic) { return statistic.name == name; });
}

TEST(snp_predictive, data_of_the_model_pass) {
  for (const bool polymorphic : {false, true}) {
    const auto found =
        snp::predictive_check(data_of(hybrid, 8, polymorphic), draws_of(hybrid), {.polymorphic_only = polymorphic});
    ASSERT_EQ(found.size(), 4u);
    for (const auto& statistic : found) {
      EXPECT_GT(statistic.p, 0.005) << statistic.name;
      EXPECT_LT(statistic.p, 0.995) << statistic.name;
      EXPECT_LT(std::abs(statistic.observed - statistic.mean), 4 * statistic.sd) << statistic.name;
    }
  }
}

TEST(snp_predictive, admixture_that_the_model_has_not_is_seen) {
  const auto found = snp::predictive_check(data_of(hybrid, 8), draws_of(tree));
  const auto& f4 = named(found, "f4(A, B; C, D)");
  EXPECT_TRUE(f4.p < 0.01 || f4.p > 0.99) << f4.p;
  EXPECT_GT(std::abs(f4.observed - f4.mean), 4 * f4.sd);
  // Wrong rates give other numbers of patterns.
  auto slow = draws_of(hybrid);
  for (auto& draw : slow) draw.u = draw.v = 0.2;
  EXPECT_EQ(named(snp::predictive_check(data_of(hybrid, 8), slow), "patterns").p, 0);
}

TEST(snp_predictive, copies_are_those_of_the_sites) {
  // Half of the copies of A missing at random: as many patterns as the model has with these copies.
  const snp::Data whole = data_of(hybrid, 9);
  snp::DataBuilder builder({"A", "B", "C", "D"}, {.empty = snp::empty_species::keep});
  std::mt19937 random(1);
  for (const std::int64_t p : whole.pattern_of_site()) {
    std::vector<std::int64_t> red, copies;
    for (std::int64_t s = 0; s < 4; ++s) {
      std::int64_t left = 0, left_red = 0;
      for (std::int64_t copy = 0; copy < whole.copies(p, s); ++copy)
        if (random() % 2 == 0) ++left, left_red += copy < whole.red(p, s);
      red.push_back(s == 0 ? left_red : whole.red(p, s));
      copies.push_back(s == 0 ? left : whole.copies(p, s));
    }
    builder.add_site(red, copies);
  }
  const auto found = snp::predictive_check(builder.finish(), draws_of(hybrid));
  for (const auto& statistic : found) {
    EXPECT_GT(statistic.p, 0.005) << statistic.name;
    EXPECT_LT(statistic.p, 0.995) << statistic.name;
  }
}

TEST(snp_predictive, errors) {
  const snp::Data data = data_of(tree, 1);
  const auto draws = draws_of(tree, 2);
  expect_invalid([&] { snp::predictive_check(data, draws_of(tree, 1)); }, "draws must be >= 2");
  expect_invalid([&] { snp::predictive_check(data, draws, {.rate_categories = {0.5, 1.5}}); }, "no rate categories");
  expect_invalid([&] { snp::predictive_check(data, draws_of("((A:1,B:1):1,C:2);", 2)); }, "D");
  snp::DataBuilder weighted({"A", "B", "C", "D"});
  weighted.add_site(std::vector<std::int64_t>{1, 0, 0, 0}, std::vector<std::int64_t>(4, 2), 0.5);
  expect_invalid([&] { snp::predictive_check(weighted.finish(), draws); }, "a whole number of sites");
}

}  // namespace
}  // namespace quintet::test
