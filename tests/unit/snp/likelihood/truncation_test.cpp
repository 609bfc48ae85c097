// Lineage numbers without mass are dropped: which ones, and the bound on what that leaves out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <stdexcept>

#include "quintet/core/error.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/likelihood/optimise.hpp"
#include "quintet/snp/simulation/simulate.hpp"
#include "reference/lineage_mass_reference.hpp"
#include "snp/likelihood/pruning_pass.hpp"
#include "snp/likelihood/schedule.hpp"
#include "snp/likelihood/state_count.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/json_value.hpp"
#include "support/near.hpp"
#include "support/random_network.hpp"
#include "support/snp_cases.hpp"

namespace quintet::test {
namespace {

#ifdef QUINTET_LONG_TEST
constexpr std::uint64_t networks = 1000;
#else
constexpr std::uint64_t networks = 24;
#endif

// A random network with counts of some sites, the same numbers of copies at all of them or not.
struct small_case {
  snp::Network network;
  snp::count_table counts;
  std::vector<std::int64_t> schedule;

  small_case(std::uint64_t seed, bool is_missing) : network(network_of(seed)) {
    std::mt19937 random(static_cast<std::uint32_t>(seed));
    const std::size_t leaves = network.leaves().size();
    std::vector<int> sampled;
    for (std::size_t i = 0; i < leaves; ++i) sampled.push_back(2 + int(random() % 4));
    counts.leaves = std::int64_t(leaves);
    for (counts.rows = 0; counts.rows < 6; ++counts.rows)
      for (const int most : sampled) {
        const int copies = is_missing ? int(random() % std::uint32_t(most + 1)) : most;
        counts.copies.push_back(std::int16_t(copies));
        counts.red.push_back(std::int16_t(random() % std::uint32_t(copies + 1)));
      }
    schedule = snp::best_schedule(network, snp::most_copies(counts));
  }

  snp::lineage_cut cut(double tau) const {
    return snp::cut_lineages(network, schedule, snp::copies_that_occur(counts), tau);
  }

  static snp::Network network_of(std::uint64_t seed) {
    random_stream random(seed, 46);
    return snp::Network(random_network(random, 3 + std::int64_t(seed % 3), 1 + std::int64_t(seed % 3)));
  }
};

constexpr snp::mutation_rates rates{0.7, 1.75, 0.7, 1.75};

// A pass over all rows; null: all lineage numbers.
struct pass_of {
  std::shared_ptr<const snp::device_plan> steps;
  snp::pruning_pass pass;

  pass_of(const small_case& of, const snp::lineage_cut* cut, const Device& device)
      : steps(std::make_shared<snp::device_plan>(std::move(snp::make_plan(of.network, of.counts, {1e12}, cut)[0].steps),
                                                 device)),
        pass(steps) {
    evaluate(of.network);
  }

  void evaluate(const snp::Network& network) {
    const std::vector<bool> all(std::size_t(network.branches()), true);
    pass.evaluate(network, rates, {true, true, all, all}, false);
  }
  double likelihood(std::int64_t row) const {
    const std::size_t pattern = std::size_t(steps->host.root_pattern_of_row[std::size_t(row)]);
    return std::ldexp(pass.likelihoods()[pattern], pass.exponents()[pattern]);
  }
};

// L_cut <= L <= L_cut + D for every row, but for rounding.
bool holds(const pass_of& cut, const pass_of& exact, std::int64_t rows, double mass) {
  bool result = true;
  for (std::int64_t row = 0; row < rows; ++row) {
    const double less = cut.likelihood(row), all = exact.likelihood(row), rounding = 1e-12 * all;
    result = result && less <= all + rounding && all <= less + mass + rounding;
  }
  return result;
}

TEST(snp_truncation, masses_and_cells_are_those_of_the_reference) {
  for (std::uint64_t seed = 0; seed < 30; ++seed)
    for (const double tau : {1e-3, 1e-9, 1e-30}) {
      const small_case one(seed, false);
      const snp::lineage_cut cut = one.cut(tau);
      std::vector<int> copies;
      for (const auto& of_leaf : snp::copies_that_occur(one.counts)) copies.push_back(of_leaf.back());
      const auto expected = reference::truncated_lineages(one.network, one.schedule, copies, tau);
      ASSERT_EQ(cut.steps.size(), expected.kept.size());
      for (std::size_t s = 0; s < cut.steps.size(); ++s) {
        std::vector<snp::lineage_counts> cells, expected_cells;
        for (const auto& [n, unused] : cut.steps[s].blocks()) cells.push_back(n);
        for (const auto& [n, unused] : expected.kept[s]) expected_cells.emplace_back(n.begin(), n.end());
        EXPECT_EQ(cells, expected_cells) << seed << " " << tau << " " << s;
      }
      EXPECT_NEAR(cut.mass, double(expected.dropped), 1e-5 * double(expected.dropped));
      EXPECT_GE(cut.mass, double(expected.dropped) * (1 - 1e-12));
    }
}

// The mass of one branch of many lineages goes up without a matrix.
TEST(snp_truncation, masses_of_many_copies_are_those_of_the_reference) {
  const snp::Network network =
      snp_network("((A:0.004,(B:0.003)#H1:0.001::0.4):0.002,(C:0.002,#H1:0.002::0.6):0.003)", .05);
  const std::vector<std::int64_t> schedule = snp::best_schedule(network, std::vector<std::int64_t>{130, 20, 110});
  const double tau = 1e-20;
  const snp::lineage_cut cut = snp::cut_lineages(network, schedule, {{130}, {20}, {110}}, tau);
  const auto expected = reference::truncated_lineages(network, schedule, {130, 20, 110}, tau);
  ASSERT_EQ(cut.steps.size(), expected.kept.size());
  // Within a branch numbers of a thousandth of tau are dropped before the top.
  EXPECT_NEAR(cut.mass, double(expected.dropped), 0.1 * double(expected.dropped));
  EXPECT_NEAR(snp::dropped_mass(network, schedule, {{130}, {20}, {110}}, cut), cut.mass, 1e-9 * cut.mass);
}

TEST(snp_truncation, the_bound_is_never_violated) {
  for (std::uint64_t seed = 0; seed < networks; ++seed) {
    const small_case one(seed, seed % 4 == 3);
    const pass_of exact(one, nullptr, Device::host());
    for (const double tau : {1e-1, 1e-2, 1e-4, 1e-7, 1e-12}) {
      const snp::lineage_cut cut = one.cut(tau);
      EXPECT_TRUE(holds(pass_of(one, &cut, Device::host()), exact, one.counts.rows, cut.mass)) << seed << " " << tau;
    }
  }
}

TEST(snp_truncation, has_the_same_likelihoods_on_every_device) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const small_case one(seed, false);
    const snp::lineage_cut cut = one.cut(1e-3);
    const pass_of host(one, &cut, Device::host());
    on_every_device([&](const Device& device) {
      const pass_of there(one, &cut, device);
      for (std::int64_t row = 0; row < one.counts.rows; ++row)
        EXPECT_NEAR(there.likelihood(row), host.likelihood(row), 1e-12 * host.likelihood(row)) << seed;
    });
  }
}

// Cells chosen for some parameters, D of others.
TEST(snp_truncation, the_bound_holds_for_other_parameters) {
  std::uint64_t cuts = 0;
  for (std::uint64_t seed = 0; seed < networks / 4; ++seed) {
    small_case one(seed, seed % 4 == 3);
    const snp::lineage_cut cut = one.cut(1e-5);
    pass_of less(one, &cut, Device::host());
    for (std::int64_t b = 0; b < one.network.branches(); ++b)
      one.network.set_length(b, one.network.branch(b).length * 0.7);
    less.evaluate(one.network);
    const double mass = snp::dropped_mass(one.network, one.schedule, snp::copies_that_occur(one.counts), cut);
    // On shorter branches more lineages are left; where all cells are kept nothing is dropped.
    if (cut.mass > 0) {
      EXPECT_GT(mass, cut.mass);
      ++cuts;
    } else {
      EXPECT_EQ(mass, 0);
    }
    EXPECT_TRUE(holds(less, pass_of(one, nullptr, Device::host()), one.counts.rows, mass)) << seed;
  }
  EXPECT_GT(cuts, networks / 5);
}

// A mass that is left out of D is caught: the most likely cell at the root is dropped, and nothing says so.
TEST(snp_truncation, a_mass_left_out_violates_the_bound) {
  int caught = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const small_case one(seed, false);
    snp::lineage_cut cut = one.cut(1e-12);
    snp::kept_cells& last = cut.steps.back();
    last.is_kept[2] = false;
    const pass_of less(one, &cut, Device::host()), exact(one, nullptr, Device::host());
    caught += !holds(less, exact, one.counts.rows, cut.mass);
    const double mass = snp::dropped_mass(one.network, one.schedule, snp::copies_that_occur(one.counts), cut);
    EXPECT_TRUE(holds(less, exact, one.counts.rows, mass)) << seed;
  }
  EXPECT_EQ(caught, 20);
}

// Derivatives of the kept terms, against differences.
TEST(snp_truncation, gradients_are_those_of_the_kept_terms) {
  on_every_device([&](const Device& device) {
    const std::uint64_t cases = device.kind() == device_kind::host ? 6 : 1;
    for (std::uint64_t seed = 0; seed < cases; ++seed) {
      small_case one(seed, false);
      const snp::lineage_cut cut = one.cut(1e-6);
      pass_of at(one, &cut, device);
      const std::vector<double> seeds(at.pass.likelihoods().size(), 1.0);
      const snp::pruning_gradient slope = at.pass.differentiate(one.network, rates, seeds);
      const auto sum = [&] {
        at.evaluate(one.network);
        double total = 0;
        for (std::size_t p = 0; p < seeds.size(); ++p)
          total += std::ldexp(at.pass.likelihoods()[p], at.pass.exponents()[p]);
        return total;
      };
      const auto expect_slope = [&](double value, double expected, const auto& set) {
        const double step = 1e-5 * value;
        set(value + step);
        const double more = sum();
        set(value - step);
        const double less = sum();
        set(value);
        // Rows that are dropped at the top of a branch have no part in its slope.
        EXPECT_NEAR(expected, (more - less) / (2 * step), 2e-5 * (1 + std::fabs(expected))) << seed;
      };
      for (std::int64_t b = 0; b < one.network.branches(); ++b) {
        const auto branch = one.network.branch(b);
        expect_slope(branch.length, slope.length[std::size_t(b)], [&](double x) { one.network.set_length(b, x); });
        expect_slope(branch.theta, slope.theta[std::size_t(b)], [&](double x) { one.network.set_theta(b, x); });
        if (one.network.kind(branch.child) == snp::node_kind::reticulation)
          expect_slope(branch.gamma, slope.gamma[std::size_t(b)], [&](double x) { one.network.set_gamma(b, x); });
      }
    }
  });
}

// More lineages on a branch than have a matrix: it goes up in stages, to a top that is cut.
TEST(snp_truncation, the_bound_holds_above_branches_with_stages) {
  const snp::Network network =
      snp_network("[.05]((A:0.004,(B:0.003)#H1:0.001::0.4):0.002,(C:0.002,#H1:0.002::0.6):0.003)", .05);
  small_case one(0, false);
  one.network = network;
  one.counts.rows = 4;
  one.counts.copies.clear();
  one.counts.red.clear();
  for (const int red : {0, 2, 13, 26})
    for (const int copies : {4, 26, 4}) {
      one.counts.copies.push_back(std::int16_t(copies));
      one.counts.red.push_back(std::int16_t(std::min(red, copies)));
    }
  one.schedule = snp::best_schedule(network, snp::most_copies(one.counts));
  const pass_of exact(one, nullptr, Device::host());
  for (const double tau : {1e-2, 1e-5, 1e-9}) {
    const snp::lineage_cut cut = one.cut(tau);
    EXPECT_TRUE(holds(pass_of(one, &cut, Device::host()), exact, one.counts.rows, cut.mass)) << tau;
  }
}

// The cases of ../shared/data/snp/scale: networks and tables, and log-likelihoods of a program in dense tensors.
struct scale_case {
  std::string name;
  snp::Network network;
  snp::Data data;
  snp::model model;
  double log_likelihood;
  std::int64_t uncut_states;  // 0: not known
};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file = open_or_throw(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

scale_case case_of(const std::string& name) {
  const auto folder = data_folder("snp/scale");
  const json_value all = json_value::parse(text_of(folder / "cases.json"));
  for (int i = 0; i < int(all.size()); ++i)
    if (all[i]["name"].text() == name)
      return {name,
              snp_network(text_of(folder / all[i]["network"].text()), all[i]["theta"].number()),
              snp_counts(folder / all[i]["data"].text()),
              {.u = all[i]["u"].number(), .v = all[i]["v"].number()},
              all[i]["log_likelihood"].number(),
              all[i]["today"].contains("largest_group") ? all[i]["today"]["largest_group"].integer() : 0};
  throw std::runtime_error(name);
}

void expect_case(const std::string& name) {
  QUINTET_SKIP_WITHOUT(data_folder("snp/scale"));
  const scale_case one = case_of(name);
  snp::Likelihood likelihood(one.network, one.data, one.model, {.device = Device::host()});
  const double value = likelihood.evaluate(), rounding = 1e-11 * std::fabs(one.log_likelihood);
  const double bound = likelihood.truncation().bound;
  EXPECT_GT(bound, 0);
  EXPECT_LE(bound, 1e-9);
  EXPECT_LE(value, one.log_likelihood + rounding);
  EXPECT_GE(value, one.log_likelihood - bound - rounding);
  EXPECT_LT(likelihood.size().largest_group, likelihood.size().largest_group_untruncated);
  if (one.uncut_states > 0) EXPECT_EQ(likelihood.size().largest_group_untruncated, one.uncut_states);
}

TEST(snp_truncation, case_early) { expect_case("early_6dip"); }
TEST(snp_truncation, case_level2) { expect_case("level2_6dip"); }
TEST(snp_truncation, case_uneven) { expect_case("uneven_20dip"); }
TEST(snp_truncation, case_thirty_r2) { expect_case("thirty_r2_6dip"); }
#ifdef QUINTET_LONG_TEST
TEST(snp_truncation, case_wide_theta) { expect_case("wide_theta_6dip"); }
TEST(snp_truncation, case_thirty_r3) { expect_case("thirty_r3_20dip"); }
#endif

// Counted without a list of them, against the lists of a plan with all lineage numbers.
TEST(snp_truncation, uncut_states_are_counted_exactly) {
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    for (const bool is_missing : {false, true}) {
      SCOPED_TRACE(text(seed, is_missing ? " with missing copies" : ""));
      const small_case one(seed, is_missing);
      const auto listed = snp::make_plan(one.network, one.counts, {1e12}, nullptr)[0].steps.max_entries;
      EXPECT_EQ(snp::largest_uncut_group(one.network, one.schedule, snp::copies_that_occur(one.counts)),
                double(listed));
    }
}

// Groups of one branch alone are large too where a tree has many copies.
TEST(snp_truncation, trees_of_many_copies_are_cut) {
  const snp::Network tree =
      snp_network("((((A:0.01,B:0.01):0.004,C:0.014):0.02,D:0.034):0.01,(E:0.03,F:0.03):0.014);", .01);
  const snp::Data data = snp::simulate(tree, {.copies = std::vector<std::int64_t>(6, 45), .sites = 12});
  snp::Likelihood all(tree, data, {}, {.device = Device::host(), .truncation = 0});
  const double exact = all.evaluate();
  on_every_device([&](const Device& device) {
    snp::Likelihood likelihood(tree, data, {}, {.device = device});
    const double value = likelihood.evaluate(), rounding = 1e-12 * std::fabs(exact);
    EXPECT_GT(likelihood.truncation().bound, 0);
    EXPECT_LE(likelihood.truncation().bound, 1e-9);
    EXPECT_LE(value, exact + rounding);
    EXPECT_GE(value, exact - likelihood.truncation().bound - rounding);
    EXPECT_GT(likelihood.size().largest_group_untruncated, 10000);
    EXPECT_LT(likelihood.size().largest_group * 4, all.size().largest_group);
    EXPECT_LT(likelihood.size().bytes * 2, all.size().bytes);
  });
}

// Other parameters: the same states as long as the bound holds, others where it does not, the old ones after reject().
TEST(snp_truncation, proposals_keep_the_bound) {
  QUINTET_SKIP_WITHOUT(data_folder("snp/scale"));
  const scale_case one = case_of("early_6dip");
  const snp::likelihood_options options{.device = Device::host()};
  snp::Likelihood likelihood(one.network, one.data, one.model, options);
  const double before = likelihood.evaluate();
  const double bound_before = likelihood.truncation().bound;
  snp::Network changed = one.network;
  for (const double factor : {1.02, 0.3, 4.0}) {
    const std::int64_t b = one.network.parent_branches(one.network.reticulations()[0])[0];
    const double length = one.network.branch(b).length * factor;
    changed.set_length(b, length);
    likelihood.set_length(b, length);
    const double value = likelihood.evaluate();
    EXPECT_LE(likelihood.truncation().bound, 1e-9);
    EXPECT_NEAR(value, snp::Likelihood(changed, one.data, one.model, options).evaluate(), 2e-9);
    likelihood.reject();
    EXPECT_EQ(likelihood.evaluate(), before);
    EXPECT_EQ(likelihood.truncation().bound, bound_before);
  }
  likelihood.set_theta(0, 0.03);
  likelihood.evaluate();
  likelihood.accept();
  changed = likelihood.network();
  EXPECT_NEAR(likelihood.evaluate(), snp::Likelihood(changed, one.data, one.model, options).evaluate(), 2e-9);
}

TEST(snp_truncation, a_maximum_has_its_bound) {
  QUINTET_SKIP_WITHOUT(data_folder("snp/scale"));
  const scale_case one = case_of("uneven_20dip");
  snp::Likelihood likelihood(one.network, one.data, one.model, {.device = Device::host()});
  const snp::optimise_result found =
      snp::optimise(likelihood, {.lengths = false, .thetas = snp::theta_parameters::fixed, .max_iterations = 1});
  EXPECT_EQ(found.log_likelihood, likelihood.evaluate());
  EXPECT_GT(found.truncation_bound, 0);
  EXPECT_LE(found.truncation_bound, 1e-9);
  EXPECT_EQ(found.truncation_bound, likelihood.truncation().bound);
}

TEST(snp_truncation, polymorphic_sites_have_a_bound_too) {
  QUINTET_SKIP_WITHOUT(data_folder("snp/scale"));
  const scale_case one = case_of("uneven_20dip");
  snp::model m = one.model;
  m.polymorphic_only = true;
  snp::Likelihood likelihood(one.network, one.data, m, {.device = Device::host()});
  const double strict = likelihood.evaluate();
  EXPECT_LE(likelihood.truncation().bound, 1e-9);
  snp::Likelihood loose(one.network, one.data, m, {.device = Device::host(), .truncation = 1e-2});
  const double value = loose.evaluate();
  EXPECT_LE(std::fabs(value - strict), loose.truncation().bound + 1e-9);
}

TEST(snp_truncation, what_is_out_of_range_or_reach_is_an_error) {
  const snp::Network network = snp_network(snp_text::net_a, .005);
  const snp::Data data = snp::simulate(network, {.copies = std::vector<std::int64_t>(5, 2), .sites = 10});
  for (const double truncation : {-1e-9, 0.2, std::nan("")})
    expect_invalid([&] { snp::Likelihood(network, data, {}, {.truncation = truncation}); }, "truncation");
  // Small groups are not cut.
  snp::Likelihood likelihood(network, data);
  likelihood.evaluate();
  EXPECT_EQ(likelihood.truncation().bound, 0);
  EXPECT_EQ(likelihood.size().largest_group, likelihood.size().largest_group_untruncated);
}

}  // namespace
}  // namespace quintet::test
