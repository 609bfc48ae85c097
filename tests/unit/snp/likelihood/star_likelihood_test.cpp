// The likelihood of three species around one point: Gauss's rule by exact moments, values by the likelihood of the
// network, slopes by its differences.
#include "snp/likelihood/star_likelihood.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "quintet/snp/likelihood/composite.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/network/newick.hpp"
#include "quintet/snp/simulation/simulate.hpp"
#include "snp/likelihood/composite_sets.hpp"

namespace quintet::test {
namespace {

// E x^k (1 - x)^(m - k) under Beta(a1, a0).
double beta_moment(double a1, double a0, int m, int k) {
  double value = 1;
  for (int i = 0; i < k; ++i) value *= a1 + i;
  for (int i = 0; i < m - k; ++i) value *= a0 + i;
  for (int i = 0; i < m; ++i) value /= a1 + a0 + i;
  return value;
}

TEST(snp_star_likelihood, the_nodes_of_a_beta_density_have_its_moments) {
  for (const auto& [a1, a0] :
       {std::pair(0.01, 0.01), std::pair(3e-4, 2e-3), std::pair(5.0, 0.5), std::pair(40.0, 90.0)})
    for (const std::int64_t nodes : {1, 2, 7, 37}) {
      const snp::beta_rule rule = snp::beta_quadrature(a1, a0, nodes);
      for (int m = 0; m < 2 * nodes; ++m)
        for (int k = 0; k <= m; ++k) {
          double sum = 0;
          for (std::size_t q = 0; q < rule.x.size(); ++q)
            sum += rule.weight[q] * std::pow(rule.x[q], k) * std::pow(rule.rest[q], m - k);
          const double exact = beta_moment(a1, a0, m, k);
          ASSERT_NEAR(sum, exact, 1e-11 * exact) << a1 << " " << a0 << " " << nodes << " " << m << " " << k;
        }
    }
}

snp::Network star_of_lengths(double a, double b, double c, double theta) {
  return snp::parse_newick(text("((A:", a, ",B:", b, "):", c / 3, ",C:", 2 * c / 3, ");"), {.theta = theta});
}

// Of three species with missing copies.
snp::Data three_species() {
  const snp::Data full =
      snp::simulate(star_of_lengths(.02, .05, .04, .03), {.copies = {4, 3, 2}, .sites = 150, .seed = 4});
  snp::DataBuilder builder({"A", "B", "C"}, {.empty = snp::empty_species::keep});
  for (std::int64_t p = 0; p < full.patterns(); ++p) {
    std::vector<std::int64_t> copies{4, 3, 2}, red;
    for (std::int64_t s = 0; s < 3; ++s) red.push_back(full.red(p, s));
    builder.add_site(red, copies, full.weight(p));
    if (p % 3 == 0 && red[0] <= 2)
      builder.add_site(std::vector<std::int64_t>{red[0], 0, red[2]}, std::vector<std::int64_t>{2, 0, 2});
  }
  return builder.finish();
}

void compare_with_networks(const snp::model& m) {
  const snp::Data data = three_species();
  ASSERT_TRUE(snp::star_likelihood::fits(data, m));
  const double a = .013, b = 1e-7, c = .06, theta = .02;
  const auto likelihood = [&](double x, double y, double z, double t) {
    return snp::Likelihood(star_of_lengths(x, y, z, t), data, m).evaluate();
  };
  snp::composite_sets sets(data, 3, m, {});
  const snp::Network network = star_of_lengths(a, b, c, theta);
  const double value = likelihood(a, b, c, theta);
  EXPECT_NEAR(sets.values(network)[0], value, 1e-11 * std::abs(value));
  const auto found =
      sets.differentiate(network, {.branches = std::vector<char>(std::size_t(network.branches()), 1), .theta = true});
  EXPECT_NEAR(found.value, value, 1e-11 * std::abs(value));
  const auto expect_slope = [&](double slope, const auto& of) {
    const double h = 1e-5 * theta, expected = (of(h) - of(-h)) / (2 * h);
    EXPECT_NEAR(slope, expected, 1e-5 * std::abs(expected) + 1e-3);
  };
  for (std::int64_t branch = 0; branch < network.branches(); ++branch) {
    const std::string& name = network.name(network.branch(branch).child);
    const double slope = found.length[std::size_t(branch)];
    if (name == "A") expect_slope(slope, [&](double h) { return likelihood(a + h, b, c, theta); });
    if (name == "C") expect_slope(slope, [&](double h) { return likelihood(a, b, c + h, theta); });
    if (name.empty()) expect_slope(slope, [&](double h) { return likelihood(a, b, c + h, theta); });
    // This branch is as good as none, so only its longer side has a value.
    if (name == "B")
      EXPECT_NEAR(slope, (likelihood(a, b + 1e-6, c, theta) - value) / 1e-6, 1e-3 * std::abs(slope) + 1e-2);
  }
  expect_slope(found.theta, [&](double h) { return likelihood(a, b, c, theta + h); });
}

TEST(snp_star_likelihood, is_that_of_the_network_with_its_slopes) {
  compare_with_networks({.u = 1, .v = 1});
  compare_with_networks({.u = 0.7, .v = 1.75});
  compare_with_networks({.u = 0.7, .v = 1.75, .polymorphic_only = true});
  compare_with_networks({.u = 0.7, .v = 1.75, .polymorphic_only = true, .full_samples = true});
}

TEST(snp_star_likelihood, is_for_some_models_only) {
  const snp::Data data = three_species();
  EXPECT_TRUE(snp::star_likelihood::fits(data, {}));
  EXPECT_FALSE(snp::star_likelihood::fits(data, {.ordered_data = true}));
  EXPECT_FALSE(snp::star_likelihood::fits(data, {.rate_categories = {0.5, 1.5}}));
  EXPECT_FALSE(snp::star_likelihood::fits(data, {.mutation_only_at_root = true}));
  EXPECT_FALSE(snp::star_likelihood::fits(data, {.u = 0, .v = 1}));
}

}  // namespace
}  // namespace quintet::test
