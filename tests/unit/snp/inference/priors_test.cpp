#include "quintet/snp/inference/priors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "quintet/snp/network/network_topology.hpp"
#include "quintet/snp/network/newick.hpp"
#include "snp/network/lineage_process.hpp"
#include "support/expect_error.hpp"
#include "support/move_trials.hpp"

namespace quintet {
namespace {

using snp::network_state;
using snp::univariate_prior;
using family = univariate_prior::family;

univariate_prior exponential(double mean) { return {family::exponential, mean, 1}; }
univariate_prior fixed(double x) { return {family::fixed, x, 1}; }

snp::prior_options fixed_rates(double lambda, double nu, univariate_prior origin) {
  snp::prior_options options;
  options.speciation_rate = lambda;
  options.hybridization_rate = nu;
  options.origin = origin;
  options.thetas = snp::theta_mode::common;
  options.theta = fixed(0.05);
  return options;
}

// Integral over (a, b) by the tanh-sinh rule: ends may be singular. f(x, distance to the nearer end).
template <class Function>
double integral(double a, double b, const Function& f) {
  constexpr double step = 1.0 / 128;
  double sum = 0;
  for (double t = -4.5; t <= 4.5; t += step) {
    const double s = 0.5 * std::numbers::pi * std::sinh(t), x = std::tanh(s);
    const double weight = 0.5 * std::numbers::pi * std::cosh(t) / (std::cosh(s) * std::cosh(s));
    const double value = f(0.5 * (a + b) + 0.5 * (b - a) * x);
    if (std::isfinite(value)) sum += weight * value;
  }
  return sum * step * 0.5 * (b - a);
}

// Over all real numbers: trapezoids, exact to rounding for smooth functions that fall off exponentially.
template <class Function>
double integral_of_line(const Function& f) {
  constexpr double step = 1.0 / 64;
  double sum = 0;
  for (double y = -80; y <= 80; y += step) sum += f(y);
  return sum * step;
}

// Over the positive numbers, as x = e^y.
double total_of(const univariate_prior& prior) {
  return integral_of_line([&](double y) { return std::exp(prior.log_density(std::exp(y)) + y); });
}

TEST(densities, integrate_to_one) {
  for (const univariate_prior& prior :
       {exponential(0.3), exponential(10), univariate_prior{family::gamma, 2, 20},
        univariate_prior{family::gamma, 0.7, 3}, univariate_prior{family::gamma, 1, 200},
        univariate_prior{family::invgamma, 3, 0.2}, univariate_prior{family::lognormal, -3, 0.7},
        univariate_prior{family::lognormal, 1, 1.5}, univariate_prior{family::normal, 1, 0.05}}) {
    EXPECT_NEAR(total_of(prior), 1, 1e-10) << prior.text();
    EXPECT_EQ(prior.log_density(0), -std::numeric_limits<double>::infinity()) << prior.text();
    EXPECT_EQ(prior.log_density(-1), -std::numeric_limits<double>::infinity()) << prior.text();
  }
  for (const auto& shapes : {std::pair(1.0, 1.0), std::pair(2.0, 2.0), std::pair(1.5, 4.0), std::pair(0.8, 0.9)}) {
    const univariate_prior beta{family::beta, shapes.first, shapes.second};
    const univariate_prior mirrored{family::beta, shapes.second, shapes.first};
    // x = 1 / (1 + e^-y), dx = x (1 - x) dy; beyond 1/2 mirrored, as x is exact near 0 alone.
    const double total = integral_of_line([&](double y) {
      const double x = std::exp(-std::fabs(y)) / (1 + std::exp(-std::fabs(y)));
      return std::exp((y < 0 ? beta : mirrored).log_density(x)) * x * (1 - x);
    });
    EXPECT_NEAR(total, 1, 1e-10) << beta.text();
    EXPECT_EQ(beta.log_density(1), -std::numeric_limits<double>::infinity());
  }
}

TEST(densities, draws_have_the_moments) {
  struct expected {
    univariate_prior prior;
    double mean, sd;
  };
  const std::vector<expected> list{
      {exponential(0.3), 0.3, 0.3},
      {{family::gamma, 2, 20}, 0.1, std::sqrt(2) / 20},
      {{family::gamma, 0.5, 2}, 0.25, std::sqrt(0.5) / 2},
      {{family::invgamma, 6, 0.5}, 0.1, 0.05},
      {{family::lognormal, -3, 0.5}, std::exp(-2.875), std::exp(-2.875) * std::sqrt(std::exp(0.25) - 1)},
      {{family::beta, 2, 3}, 0.4, 0.2},
      {{family::normal, 2, 0.25}, 2, 0.25},
      {{family::uniform, 1, 4}, 2.5, std::sqrt(0.75)},
      {{family::exponential, 0.5, 1, 2}, 2.5, 0.5},
      {{family::beta, 1, 1}, 0.5, std::sqrt(1.0 / 12)}};
  constexpr int count = 100'000;
  for (const expected& e : list) {
    random_stream random(3);
    double sum = 0, squares = 0;
    for (int i = 0; i < count; ++i) {
      const double x = e.prior.draw(random);
      sum += x;
      squares += (x - e.mean) * (x - e.mean);
    }
    EXPECT_LT(std::fabs(sum / count - e.mean), 4.5 * e.sd / std::sqrt(count)) << e.prior.text();
    EXPECT_NEAR(std::sqrt(squares / count), e.sd, 0.05 * e.sd) << e.prior.text();
  }
}

TEST(reticulations, have_the_probabilities_of_the_table) {
  const auto expect = [](const std::string& lines, const std::vector<double>& expected, double tolerance) {
    const auto found = snp::reticulation_probabilities({snp::parse_priors(lines), 3, {.max_reticulations = 2}});
    ASSERT_EQ(found.size(), expected.size()) << lines;
    for (std::size_t r = 0; r < expected.size(); ++r) EXPECT_NEAR(found[r], expected[r], tolerance) << lines << r;
  };
  const std::string fixed_rates = "speciation-rate = 1\nhybridization-rate = 0.5\n";
  expect(fixed_rates + "origin = exponential(1)", {.60600098, .26168224, .13231677}, 1e-8);
  expect(fixed_rates + "origin = fixed(1.5)", {.46251580, .34266301, .19482119}, 1e-8);
  expect("origin = exponential(0.1)", {.638033, .231479, .130488}, 0.02);
  expect("network = poisson(1)", {0.4, 0.4, 0.2}, 1e-12);
  EXPECT_TRUE(snp::reticulation_probabilities({snp::parse_priors("monophyletic = A,B"), 3, {}}).empty());
}

TEST(network_density, worked_example) {
  const auto network = snp::parse_newick("((A:.2,(B:.1)#H1:.1::.5)S1:.3,(#H1:.2::.5,C:.3)S2:.2)R;", {.theta = 0.05});
  const network_state state =
      snp::state_of(network, test::species_names(3), {.origin = 0.6, .thetas = snp::theta_mode::common});
  const snp::priors priors(fixed_rates(30, 20, fixed(0.6)), 3, {.max_reticulations = 3});
  EXPECT_NEAR(priors.parts(state).network, -59.10752840, 1e-8);
  EXPECT_NEAR(priors.log_density(state), priors.parts(state).total(), 0);
  // With a density of the inheritance probability and of the origin.
  snp::prior_options more = fixed_rates(30, 20, exponential(0.5));
  more.inheritance = 2;
  EXPECT_NEAR(snp::priors(more, 3, {.max_reticulations = 3}).parts(state).network,
              -59.10752840 + std::log(6 * 0.25) + std::log(2) - 1.2, 1e-8);
}

struct row {
  std::int64_t species, max;
  double lambda, nu;
  univariate_prior origin;
  std::vector<double> chances;
  double root_height;
  std::vector<double> root_height_given_r;
};

const std::vector<row>& table() {
  static const std::vector<row> rows{
      {2, 1, 1, .5, exponential(1), {22.0 / 27, 5.0 / 27}, .39081289, {.28571429, .85324675}},
      {3, 2, 1, .5, exponential(1), {.60600098, .26168224, .13231677}, .68913314, {.4675325, .9115687, 1.2641380}},
      {5, 4, 1, .25, exponential(1), {.40288969, .26895721, .16242015, .10058102, .06515193}, 1.14190692, {}},
      {3, 2, 1, .5, fixed(1.5), {.46251580, .34266301, .19482119}, .87527117, {.68307387, .99253216, 1.12531217}}};
  return rows;
}

TEST(process, table_from_the_generator) {
  for (const row& r : table()) {
    const snp::prior_moments found = snp::moments_of_process(r.species, r.max, r.lambda, r.nu, r.origin);
    for (std::size_t k = 0; k < r.chances.size(); ++k) EXPECT_NEAR(found.reticulations[k], r.chances[k], 1e-8);
    EXPECT_NEAR(found.root_height, r.root_height, 1e-8);
    for (std::size_t k = 0; k < r.root_height_given_r.size(); ++k)
      EXPECT_NEAR(found.root_height_given_r[k], r.root_height_given_r[k], 1e-7);
    if (!r.origin.is_fixed()) {
      EXPECT_NEAR(found.origin, found.root_height + 1 / (r.lambda + 1 / r.origin.a), 1e-12);
    }
  }
}

// exp(Q t) by a Taylor series of small steps, in long double.
TEST(process, uniformisation) {
  constexpr int n = 3, max = 2, size = (n + max + 1) * (max + 1);
  const auto place = [](int j, int i) { return i * (n + max + 1) + j; };
  for (const double time : {1e-6, 0.01, 0.7, 3.0, 40.0}) {
    const double lambda = 1.3, nu = 0.6;
    std::vector<long double> now(size, 0), sum(size), term(size);
    now[static_cast<std::size_t>(place(1, 0))] = 1;
    const int steps = time > 1 ? 200 : 4;
    for (int step = 0; step < steps; ++step) {
      sum = term = now;
      for (int k = 1; k < 60; ++k) {
        std::vector<long double> next(size, 0);
        for (int i = 0; i <= max; ++i)
          for (int j = 1; j <= n + max; ++j) {
            const long double here = term[static_cast<std::size_t>(place(j, i))] * (time / steps) / k;
            const double split = j * lambda, merge = 0.5 * j * (j - 1) * nu;
            next[static_cast<std::size_t>(place(j, i))] -= here * (split + merge);
            if (j < n + max) next[static_cast<std::size_t>(place(j + 1, i))] += here * split;
            if (i < max && j > 1) next[static_cast<std::size_t>(place(j - 1, i + 1))] += here * merge;
          }
        term = next;
        for (std::size_t s = 0; s < sum.size(); ++s) sum[s] += term[s];
      }
      now = sum;
    }
    const auto found = snp::lineage_process(n, max, lambda, nu).log_end_probabilities(time);
    for (int r = 0; r <= max; ++r) {
      const auto expected = static_cast<double>(now[static_cast<std::size_t>(place(n, r))]);
      if (expected > 1e-12) {
        EXPECT_NEAR(found[static_cast<std::size_t>(r)], std::log(expected), 1e-7) << "time " << time << ", r = " << r;
      }
    }
    if (time == 1e-6) {  // leading term: one way of n - 1 + r splits, in order, and r merges
      EXPECT_NEAR(found[0], std::log(lambda * 2 * lambda * time * time / 2), 1e-5);
    }
  }
}

struct sample {
  std::vector<double> counts;
  double root = 0, root_squares = 0, origin = 0;
  std::int64_t size = 0;
  void add(std::int32_t r, double root_height, double tau) {
    if (counts.size() <= static_cast<std::size_t>(r)) counts.resize(static_cast<std::size_t>(r) + 1);
    ++counts[static_cast<std::size_t>(r)];
    root += root_height;
    root_squares += root_height * root_height;
    origin += tau;
    ++size;
  }
  void expect(const row& r) const {
    const double n = static_cast<double>(size);
    for (std::size_t k = 0; k < r.chances.size(); ++k) {
      const double p = r.chances[k];
      EXPECT_LT(std::fabs(counts[k] / n - p), 4.5 * std::sqrt(p * (1 - p) / n)) << "P(r = " << k << ")";
    }
    const double mean = root / n, sd = std::sqrt(root_squares / n - mean * mean);
    EXPECT_LT(std::fabs(mean - r.root_height), 4.5 * sd / std::sqrt(n)) << "E h(root)";
  }
};

TEST(process, draws_reproduce_the_table) {
  for (const row& r : table()) {
    const auto names = test::species_names(r.species);
    const snp::priors priors(fixed_rates(r.lambda, r.nu, r.origin), r.species, {.max_reticulations = r.max});
    sample found;
    for (std::uint64_t i = 0; i < 60'000; ++i) {
      random_stream random(9, i);
      const network_state state = priors.draw(names, random);
      if (i < 2000) {
        ASSERT_EQ(snp::broken_rule(state), "");
      }
      found.add(state.reticulations, state.node(state.root).height, state.origin);
    }
    found.expect(r);
  }
}

// The process as it is described, thrown away when it ends with another number of species.
TEST(process, plain_rejection_agrees) {
  for (const row& r : table()) {
    sample found;
    random_stream random(11);
    while (found.size < 30'000) {
      double left = r.origin.is_fixed() ? r.origin.a : r.origin.draw(random);
      const double tau = left;
      double root = 0;
      std::int64_t j = 1, i = 0;
      for (;;) {
        const double split = static_cast<double>(j) * r.lambda, merge = 0.5 * static_cast<double>(j * (j - 1)) * r.nu;
        left += std::log(random.uniform_positive<double>()) / (split + merge);
        if (left < 0 || i > r.max || j > r.species + r.max) break;
        if (random.uniform<double>() * (split + merge) < split) {
          if (j == 1 && i == 0) root = left;
          ++j;
        } else {
          --j;
          ++i;
        }
      }
      if (left < 0 && j == r.species && i <= r.max) found.add(static_cast<std::int32_t>(i), root, tau);
    }
    found.expect(r);
  }
}

// The density of trees of two species, integrated over both heights, against the generator.
TEST(network_density, agrees_with_the_draws) {
  const row& r = table()[0];
  const snp::priors priors(fixed_rates(r.lambda, r.nu, r.origin), 2, {.max_reticulations = 1});
  const auto names = test::species_names(2);
  network_state tree = snp::state_of(snp::parse_newick("(A:1,B:1);", {.theta = 0.05}), names,
                                     {.origin = 2, .thetas = snp::theta_mode::common});
  const double trees = integral(0, 40, [&](double h) {
    return integral(0, 40, [&](double above) {
      tree.node(2).height = h;
      tree.origin = h + above;
      return std::exp(priors.log_density(tree));
    });
  });
  const snp::lineage_process process(2, 1, 1, 0.5);
  const auto ends = process.from_two(1);
  // tau ~ Exp(1): first split at rate 1 against stopping at rate 1, then the resolvent times the rate of stopping.
  EXPECT_NEAR(trees, 0.5 * ends.first[0], 1e-8);
}

TEST(network_density, poisson_is_normalised_given_the_origin) {
  snp::prior_options options = fixed_rates(1, 0.5, fixed(1.5));
  const snp::priors process(options, 3, {.max_reticulations = 2});
  options.network = snp::network_prior::poisson;
  options.kappa = 0.8;
  const snp::priors poisson(options, 3, {.max_reticulations = 2});
  const auto ends = snp::lineage_process(3, 2, 1, 0.5).log_end_probabilities(1.5);
  random_stream random(13);
  for (int i = 0; i < 100; ++i) {
    const network_state state = process.draw(test::species_names(3), random);
    const double r = state.reticulations;
    EXPECT_NEAR(poisson.log_density(state) - process.log_density(state),
                r * std::log(0.8) - 0.8 - std::lgamma(r + 1) - ends[static_cast<std::size_t>(state.reticulations)],
                1e-10);
  }
}

TEST(network_density, phylonet) {
  const snp::priors priors(snp::parse_priors("network = phylonet"), 3, {.max_reticulations = 3});
  EXPECT_FALSE(priors.is_proper());
  const auto network = snp::parse_newick("((A:.2,(B:.1)#H1:.1::.5)S1:.3,(#H1:.2::.5,C:.3)S2:.2)R;", {.theta = 0.05});
  network_state state =
      snp::state_of(network, test::species_names(3), {.origin = 10, .thetas = snp::theta_mode::common});
  state.theta_mean = 0.02;
  const double E = 4;
  EXPECT_NEAR(priors.parts(state).network, -1 - std::log((E + 3) * (E + 2)), 1e-12);
  EXPECT_NEAR(priors.parts(state).theta, -2 * std::log(0.02) + std::log(0.05) - 0.05 / 0.02 - std::log(0.02), 1e-12);
  const snp::priors heights(snp::parse_priors("network = phylonet-ee"), 3, {.max_reticulations = 3});
  EXPECT_NEAR(heights.parts(state).network - priors.parts(state).network,
              -4 * std::log(10.0) - (0.2 + 0.1 + 0.5 + 0.3) / 10, 1e-12);
}

TEST(thetas, all_branches_count) {
  snp::prior_options options = fixed_rates(1, 0.5, exponential(1));
  options.thetas = snp::theta_mode::each;
  options.theta = {family::gamma, 2, 20};
  const snp::priors priors(options, 3, {.max_reticulations = 2});
  random_stream random(17);
  const network_state state = priors.draw(test::species_names(3), random);
  double expected = 0;
  std::int32_t branches = 0;
  for (const auto& node : state.nodes)
    for (std::int32_t i = 0; i < node.parents; ++i, ++branches)
      expected +=
          std::log(20 * 20 * node.theta[static_cast<std::size_t>(i)]) - 20 * node.theta[static_cast<std::size_t>(i)];
  EXPECT_EQ(branches, state.branches());
  EXPECT_NEAR(priors.parts(state).theta, expected, 1e-10);
}

TEST(prior_text, reads_back) {
  const char* text =
      "# SnappNet's\nnetwork = poisson(1.5)\nnetdiv = exponential(10)\nhybridization-rate = 5\n\norigin = fixed(.25)\n"
      "inheritance = beta(2,2)  # symmetric\ntheta = each gamma(3)\ntheta-mean = lognormal(-4,.5)\npi1 = beta(2,2)\n";
  const snp::prior_options options = snp::parse_priors(text, "file");
  EXPECT_EQ(options.network, snp::network_prior::poisson);
  EXPECT_EQ(options.kappa, 1.5);
  EXPECT_FALSE(options.speciation_rate);
  EXPECT_EQ(options.hybridization_rate, 5);
  EXPECT_EQ(options.origin.a, .25);
  EXPECT_EQ(options.theta.kind, family::gamma);
  EXPECT_EQ(options.theta_mean->b, .5);
  const std::string written = snp::to_text(options);
  EXPECT_EQ(snp::to_text(snp::parse_priors(written)), written);
  const std::string defaults = snp::to_text({});
  EXPECT_EQ(snp::to_text(snp::parse_priors(defaults)), defaults);
  EXPECT_EQ(snp::to_text(snp::parse_priors("")), defaults);
}

TEST(prior_text, errors_name_the_line) {
  const std::vector<std::pair<const char*, const char*>> wrong{
      {"\nspeciation = 3", "f:2: there is no key \"speciation\"; there are network, speciation-rate"},
      {"netdiv", "f:1: expected key = value"},
      {"origin = gamma(2,20)", "f:1: origin must be exponential(mean) or fixed(x), > 0 (origin = gamma(2,20))"},
      {"origin = exponential(-1)", "f:1: origin must be"},
      {"origin = exponential(1", "f:1: origin must be"},
      {"origin = exponential(1,2)", "f:1: origin must be"},
      {"theta = gamma(2,20)", "f:1: theta must be common or each"},
      {"theta = each gamma(2)", "f:1: theta = each gamma(shape) needs theta-mean"},
      {"theta-mean = lognormal(0,1)", "f:1: theta-mean needs theta = each gamma(shape)"},
      {"inheritance = beta(1,2)", "f:1: inheritance must be beta(a,a)"},
      {"pi1 = fixed(1)", "f:1: pi1 must be"},
      {"speciation-rate = 0", "f:1: speciation-rate must be a number > 0"},
      {"speciation-rate = 1\nnetdiv = exponential(1)", "f:2: the keys speciation-rate and netdiv exclude each other"},
      {"pi1 = fixed(.5)\n\npi1 = fixed(.5)", "f:3: the key pi1 was set in line 1"},
      {"network = phylonet\norigin = fixed(3)", "f:2: network = phylonet leaves no choice of origin"},
      {"network = poisson(0)", "f:1: network must be"}};
  for (const auto& [text, message] : wrong) {
    try {
      snp::parse_priors(text, "f");
      ADD_FAILURE() << "no error: " << text;
    } catch (const FileError& e) {
      EXPECT_TRUE(std::string(e.what()).starts_with(message)) << e.what();
    }
  }
}

TEST(priors, errors_of_several_sources_name_the_one_they_are_in) {
  const auto error_of = [](const std::string& first, const std::string& second) {
    try {
      snp::parse_priors(std::vector<snp::prior_source>{{"p.txt", first}, {"--prior", second}});
      return std::string("no error");
    } catch (const FileError& error) {
      return std::string(error.what());
    }
  };
  const std::string three = "origin = fixed(1)\n\nspeciation-rate = 1";  // the last line has no end
  EXPECT_EQ(error_of(three, "inheritance = beta(1,1)\nspeed = 3\n").find("--prior:2: there is no key \"speed\""), 0u);
  EXPECT_EQ(error_of(three, "origin = fixed(2)\n"), "--prior:1: the key origin was set in p.txt:1");
  EXPECT_EQ(error_of(three, "netdiv = fixed(2)\n"),
            "--prior:1: the keys speciation-rate and netdiv exclude each other");
  EXPECT_EQ(error_of("pi1 = fixed(.5)\npi1 = fixed(.5)", ""), "p.txt:2: the key pi1 was set in line 1");
  EXPECT_EQ(error_of("network = phylonet", "origin = fixed(2)\n"),
            "--prior:1: network = phylonet leaves no choice of origin");
  const auto read = snp::parse_priors(
      std::vector<snp::prior_source>{{"p.txt", three}, {"--prior", "pi1 = fixed(0.25)\nmonophyletic = A , B"}});
  EXPECT_EQ(read.origin.a, 1);
  EXPECT_EQ(read.pi1.a, 0.25);
  EXPECT_EQ(read.places.at("monophyletic = A,B"), "--prior:2");
}

TEST(priors, arguments) {
  expect_invalid([] { snp::priors({}, 1); }, "species must be >= 2");
  expect_invalid([] { snp::priors(fixed_rates(1, 0, exponential(1)), 3, {.max_reticulations = 1}); },
                 "hybridization-rate must be > 0");
  EXPECT_NO_THROW(snp::priors(fixed_rates(1, 0, exponential(1)), 3, {.max_reticulations = 0}));
  expect_invalid([] { snp::priors({}, 3, {.max_reticulations = -1}); }, "max_reticulations");
  snp::prior_options negative;
  negative.theta.b = -1;
  expect_invalid([&] { snp::priors(negative, 3); }, "theta");
  random_stream random(1);
  expect_invalid([&] { snp::priors({}, 3).draw(test::species_names(2), random); }, "names");
}

}  // namespace
}  // namespace quintet
