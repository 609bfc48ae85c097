// Maximum likelihood. The data are all patterns with the weights that the true parameters give them: the maximum is
// then at the truth.
#include "quintet/snp/likelihood/optimise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "quintet/snp/network/newick.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"

namespace quintet::snp {
namespace {

const char* const tree = "((A:0.1,B:0.15)x:0.12,C:0.3)r;";
const char* const network = "(((B:0.2)#H1:0.1::0.6,A:0.3)x:0.3,(C:0.4,#H1:0.2::0.4)y:0.2)r;";
const newick_options with_theta{.theta = 0.2};
const model rates{.u = 1.2, .v = 0.7};

// All patterns of three copies per species; `weights` has one number per pattern, in their order.
Data all_patterns(const Network& n, const std::vector<double>& weights = {}) {
  const std::size_t species = n.species().size();
  DataBuilder builder({n.species().begin(), n.species().end()});
  const std::vector<std::int64_t> copies(species, 3);
  std::vector<std::int64_t> red(species, 0);
  for (std::size_t p = 0;; ++p) {
    builder.add_site(red, copies, weights.empty() ? 1 : weights[p]);
    std::size_t s = 0;
    while (s < species && ++red[s] > 3) red[s++] = 0;
    if (s == species) return builder.finish();
  }
}

Data expected_data(const Network& truth) {
  std::vector<double> weights = Likelihood(truth, all_patterns(truth), rates).pattern_log_likelihoods();
  for (double& w : weights) w = 1000 * std::exp(w);
  return all_patterns(truth, weights);
}

double value_of(const Network& n, const Data& data) { return Likelihood(n, data, rates).evaluate(); }

TEST(snp_optimise, finds_the_lengths_that_made_the_data) {
  const Network truth = parse_newick(tree, with_theta);
  const Data data = expected_data(truth);
  Likelihood likelihood(parse_newick("((A:0.9,B:0.01)x:0.5,C:0.02)r;", with_theta), data, rates);
  const optimise_result found = optimise(likelihood, {.thetas = theta_parameters::fixed, .tolerance = 1e-10});
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(found.log_likelihood, likelihood.evaluate());
  EXPECT_GT(found.log_likelihood, found.start);
  test::expect_error_within("log-likelihood", std::fabs(found.log_likelihood - value_of(truth, data)), 1e-8);
  // With one theta the process is reversible: of the two branches of the root only the sum can be seen.
  const auto lengths = [&](const Network& n) {
    const auto above = [&](const char* name) { return n.branch(n.parent_branches(n.find(name))[0]).length; };
    return std::vector<double>{above("A"), above("B"), above("C") + above("x")};
  };
  const std::vector<double> got = lengths(likelihood.network()), want = lengths(truth);
  test::expect_error_within("lengths", test::largest_error(got, want), 1e-3);
}

TEST(snp_optimise, finds_gamma_and_the_common_theta) {
  const Network truth = parse_newick(network, with_theta);
  const Data data = expected_data(truth);
  Network start = truth;
  const std::int64_t b = truth.parent_branches(truth.find("#H1"))[0];
  start.set_gamma(b, 0);
  for (std::int64_t i = 0; i < start.branches(); ++i) start.set_theta(i, 0.05);
  Likelihood likelihood(start, data, rates);
  const optimise_result found =
      optimise(likelihood, {.lengths = false, .thetas = theta_parameters::common, .tolerance = 1e-10});
  EXPECT_TRUE(found.converged);
  test::expect_error_within("gamma", std::fabs(likelihood.network().branch(b).gamma - 0.6), 1e-3);
  test::expect_error_within("theta", std::fabs(likelihood.network().root_theta() - 0.2), 1e-3);
  EXPECT_EQ(likelihood.network().branch(0).theta, likelihood.network().root_theta());
}

TEST(snp_optimise, leaves_the_ends_of_the_ranges_where_the_slope_in_logarithms_vanishes) {
  const Network truth = parse_newick(network, with_theta);
  const Data data = expected_data(truth);
  Likelihood likelihood(parse_newick("(((B:0)#H1:0::1,A:0)x:0,(C:0,#H1:0::0)y:0)r;", with_theta), data, rates);
  const optimise_result found = optimise(likelihood, {.thetas = theta_parameters::fixed, .max_iterations = 1000});
  EXPECT_TRUE(found.converged);
  EXPECT_GT(found.log_likelihood, value_of(truth, data) - 0.5);
}

TEST(snp_optimise, all_parameters_of_a_network_end_where_the_gradient_vanishes) {
  const Network truth = parse_newick(network, with_theta);
  const Data data = expected_data(truth);
  const auto climb = [&](int threads) {
    set_threads(threads);
    Likelihood likelihood(parse_newick("(((B:0.1)#H1:0.3::0.2,A:0.1)x:0.1,(C:0.1,#H1:0.1::0.8)y:0.1)r;", with_theta),
                          data, rates);
    const optimise_result found = optimise(likelihood, {.max_iterations = 1000, .tolerance = 1e-9});
    EXPECT_TRUE(found.converged);
    EXPECT_GE(found.log_likelihood, value_of(truth, data) - 0.01);
    const gradient slope = likelihood.gradient();
    double largest = 0;
    for (std::int64_t b = 0; b < truth.branches(); ++b) {
      const branch& e = likelihood.network().branch(b);
      largest = std::fmax(largest, std::fabs(slope.length[std::size_t(b)] * e.length));
      largest = std::fmax(largest, std::fabs(slope.theta[std::size_t(b)] * e.theta));
      largest = std::fmax(largest, std::fabs(slope.gamma[std::size_t(b)] * e.gamma * (1 - e.gamma)));
    }
    test::expect_error_within("gradient", largest, 0.01);
    return to_newick(likelihood.network());
  };
  const int before = threads();
  const std::string one = climb(1);
  EXPECT_EQ(climb(2), one);
  set_threads(before);
}

TEST(snp_optimise, only_what_is_asked_for_moves) {
  const Network start = parse_newick(network, with_theta);
  const Data data =
      expected_data(parse_newick("(((B:0.1)#H1:0.3::0.2,A:0.1)x:0.1,(C:0.1,#H1:0.1::0.8)y:0.1)r;", {.theta = 0.3}));
  Likelihood likelihood(start, data, rates);
  optimise(likelihood, {.thetas = theta_parameters::fixed, .gammas = false, .max_iterations = 3});
  const Network& end = likelihood.network();
  EXPECT_EQ(end.root_theta(), start.root_theta());
  int moved = 0;
  for (std::int64_t b = 0; b < start.branches(); ++b) {
    EXPECT_EQ(end.branch(b).theta, start.branch(b).theta);
    EXPECT_EQ(end.branch(b).gamma, start.branch(b).gamma);
    moved += end.branch(b).length != start.branch(b).length;
  }
  EXPECT_GT(moved, 3);
}

TEST(snp_optimise, parameters_stay_in_their_ranges) {
  const Network truth = parse_newick(network, with_theta);
  const Data data = expected_data(truth);
  Likelihood likelihood(truth, data, rates);
  optimise(likelihood, {.min_length = 0.25, .max_length = 0.26, .min_theta = 0.5, .max_theta = 0.6, .min_gamma = 0.45});
  for (std::int64_t b = 0; b < truth.branches(); ++b) {
    const branch& e = likelihood.network().branch(b);
    EXPECT_TRUE(e.length >= 0.25 && e.length <= 0.26) << e.length;
    EXPECT_TRUE(e.theta >= 0.5 && e.theta <= 0.6) << e.theta;
    EXPECT_TRUE(e.gamma == 1 || std::fabs(e.gamma - 0.5) <= 0.05 + 1e-15) << e.gamma;
  }
}

TEST(snp_optimise, bad_options_and_starts) {
  const Network n = parse_newick(tree, with_theta);
  const Data data = all_patterns(n);
  Likelihood likelihood(n, data, rates);
  expect_invalid([&] { optimise(likelihood, {.max_iterations = 0}); }, "max_iterations must be in 1 ... 1000000000");
  expect_invalid([&] { optimise(likelihood, {.tolerance = 0}); }, "tolerance must be");
  expect_invalid([&] { optimise(likelihood, {.min_length = 2, .max_length = 1}); }, "max_length must be");
  expect_invalid([&] { optimise(likelihood, {.min_gamma = 0.5}); }, "min_gamma must be in (0, 0.5)");
  expect_invalid([&] { optimise(likelihood, {.lengths = false, .thetas = theta_parameters::fixed}); },
                 "nothing to optimise");
  // Without mutation to allele 0 every copy is red.
  Likelihood impossible(n, data, {.u = 0, .v = 1});
  expect_invalid([&] { optimise(impossible); }, "must be finite (it is -inf)");
}

TEST(snp_optimise, the_callback_can_stop_it) {
  const Network truth = parse_newick(tree, with_theta);
  Likelihood likelihood(parse_newick("((A:0.9,B:0.01)x:0.5,C:0.02)r;", with_theta), expected_data(truth), rates);
  optimise_options options;
  options.progress = [](std::string_view, double) { return false; };
  EXPECT_THROW(optimise(likelihood, options), Cancelled);
}

// From a start in another valley one climb ends lower than the best of several.
TEST(snp_optimise, several_starts_keep_the_best) {
  const Network truth = parse_newick(network, with_theta);
  const Data data = expected_data(truth);
  const char* const far = "(((B:0.001)#H1:5::0.01,A:5)x:0.001,(C:5,#H1:0.001::0.99)y:5)r;";
  Likelihood one(parse_newick(far, with_theta), data, rates),
      many = Likelihood(parse_newick(far, with_theta), data, rates);
  const optimise_options options{.thetas = theta_parameters::fixed};
  const optimise_result single = optimise(one, options);
  optimise_options more = options;
  more.starts = 4;
  const optimise_result best = optimise(many, more);
  ASSERT_EQ(single.ends.size(), 1u);
  ASSERT_EQ(best.ends.size(), 4u);
  EXPECT_EQ(best.ends[0], single.log_likelihood);
  const double highest = *std::max_element(best.ends.begin(), best.ends.end());
  test::expect_error_within("the best end", std::fabs(best.log_likelihood - highest), 1e-9);
  EXPECT_EQ(best.log_likelihood, many.evaluate());
  test::expect_error_within("the truth", value_of(truth, data) - best.log_likelihood, 1e-3);
  EXPECT_GT(best.iterations, single.iterations);
  // The same seed, the same numbers.
  Likelihood again(parse_newick(far, with_theta), data, rates);
  EXPECT_EQ(optimise(again, more).ends, best.ends);
}

// Species that never differ ask for no branch between them.
TEST(snp_optimise, names_what_ends_at_a_bound) {
  DataBuilder builder({"A", "B"});
  const std::vector<std::int64_t> copies{2, 2};
  builder.add_site(std::vector<std::int64_t>{0, 0}, copies, 90);
  builder.add_site(std::vector<std::int64_t>{2, 2}, copies, 10);
  Likelihood likelihood(parse_newick("(A:0.1,B:0.1)r;", with_theta), builder.finish());
  const optimise_result found = optimise(likelihood, {.thetas = theta_parameters::fixed});
  ASSERT_EQ(found.at_bounds.size(), 2u);
  for (const parameter_at_bound& one : found.at_bounds) {
    EXPECT_TRUE(one.name.starts_with("length of branch from node")) << one.name;
    EXPECT_TRUE(one.is_lower);
    EXPECT_LT(one.value, 1e-7);
  }
  EXPECT_NE(found.at_bounds[0].name, found.at_bounds[1].name);
}

TEST(snp_optimise, counts_parameters) {
  const Network n = parse_newick(network, with_theta);
  const Data data = expected_data(n);
  const auto count = [&](const optimise_options& options) {
    Likelihood likelihood(n, data, rates);
    return optimise(likelihood, options).parameters;
  };
  const std::int64_t branches = n.branches();
  EXPECT_EQ(count({.thetas = theta_parameters::fixed, .gammas = false, .max_iterations = 1}), branches - 1);
  EXPECT_EQ(count({.thetas = theta_parameters::common, .max_iterations = 1}), branches - 1 + 1 + 1);
  EXPECT_EQ(count({.thetas = theta_parameters::each, .max_iterations = 1}), branches + branches + 1 + 1);
  EXPECT_DOUBLE_EQ(aic(-10, 3), 26);
  EXPECT_DOUBLE_EQ(bic(-10, 3, 100), 3 * std::log(100) + 20);
}

}  // namespace
}  // namespace quintet::snp
