// Chains without data reproduce what is known of the prior.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "quintet/snp/network/network_topology.hpp"
#include "quintet/snp/network/newick.hpp"
#include "support/move_trials.hpp"

namespace quintet {
namespace {

using snp::network_state;
using snp::univariate_prior;
using test::allowed;

#ifdef QUINTET_LONG_TEST
constexpr std::int64_t chain_steps = 8'000'000;
#else
constexpr std::int64_t chain_steps = 400'000;
#endif

// Means over batches of a chain, and how far they are from what is expected, in standard errors.
class batch_means {
 public:
  explicit batch_means(std::size_t numbers) : sums_(numbers) {}
  void add(std::size_t which, std::size_t batch, double x) {
    if (sums_[which].size() <= batch) sums_[which].resize(batch + 1);
    sums_[which][batch] += x;
  }
  double mean(std::size_t which, double in_a_batch) const {
    double sum = 0;
    for (const double s : sums_[which]) sum += s / in_a_batch;
    return sum / static_cast<double>(sums_[which].size());
  }
  double z(std::size_t which, double in_a_batch, double expected) const {
    const double m = mean(which, in_a_batch), n = static_cast<double>(sums_[which].size());
    double squares = 0;
    for (const double s : sums_[which]) squares += (s / in_a_batch - m) * (s / in_a_batch - m);
    return (m - expected) / std::sqrt(squares / (n - 1) / n);
  }

 private:
  std::vector<std::vector<double>> sums_;
};

snp::prior_options fixed_rates(double lambda, double nu, univariate_prior origin) {
  snp::prior_options options;
  options.speciation_rate = lambda;
  options.hybridization_rate = nu;
  options.origin = origin;
  return options;
}

univariate_prior exponential(double mean) { return {univariate_prior::family::exponential, mean, 1}; }

// Runs the moves of these names (none: all) by their weights, and calls visit(state, batch) after every step.
template <class Visit>
void run_chain(const snp::priors& priors, std::int64_t species, const std::set<std::string>& names, std::uint64_t seed,
               const Visit& visit) {
  constexpr std::int64_t batches = 100;
  std::vector<std::unique_ptr<snp::move>> moves;
  std::vector<double> upper;
  for (auto& one : snp::make_moves(priors))
    if (names.empty() || names.contains(std::string(one->name()))) {
      upper.push_back((upper.empty() ? 0 : upper.back()) + one->weight());
      test::teach(*one, priors, species);
      moves.push_back(std::move(one));
    }
  random_stream start(seed, 0);
  network_state state = priors.draw(test::species_names(species), start), before;
  double log_prior = priors.log_density(state);
  for (std::int64_t step = 0; step < chain_steps; ++step) {
    random_stream random(seed, static_cast<std::uint64_t>(step) + 1);
    const double which = random.uniform<double>() * upper.back();
    const auto chosen = std::upper_bound(upper.begin(), upper.end(), which) - upper.begin();
    test::step_on_prior(priors, *moves[static_cast<std::size_t>(chosen)], state, before, log_prior, random);
    visit(state, static_cast<std::size_t>(step / (chain_steps / batches)));
  }
  EXPECT_EQ(snp::broken_rule(state), "");
  EXPECT_NEAR(log_prior, priors.log_density(state), 1e-9);
}

struct row {
  std::int64_t species, max;
  double lambda, nu;
  univariate_prior origin;
  std::vector<double> chances;
  double root_height;
};

const std::vector<row>& table() {
  static const std::vector<row> rows{
      {2, 1, 1, .5, exponential(1), {22.0 / 27, 5.0 / 27}, .39081289},
      {3, 2, 1, .5, exponential(1), {.60600098, .26168224, .13231677}, .68913314},
      {5, 4, 1, .25, exponential(1), {.40288969, .26895721, .16242015, .10058102, .06515193}, 1.14190692},
      {3, 2, 1, .5, {univariate_prior::family::fixed, 1.5, 1}, {.46251580, .34266301, .19482119}, .87527117}};
  return rows;
}

void expect_row(const row& r, const std::set<std::string>& names, std::uint64_t seed) {
  const snp::priors priors(fixed_rates(r.lambda, r.nu, r.origin), r.species, {.max_reticulations = r.max});
  batch_means means(r.chances.size() + 2);
  run_chain(priors, r.species, names, seed, [&](const network_state& state, std::size_t batch) {
    for (std::size_t k = 0; k < r.chances.size(); ++k)
      means.add(k, batch, state.reticulations == static_cast<std::int32_t>(k) ? 1 : 0);
    means.add(r.chances.size(), batch, state.node(state.root).height);
    means.add(r.chances.size() + 1, batch, state.origin - state.node(state.root).height);
  });
  const double in_a_batch = static_cast<double>(chain_steps / 100);
  for (std::size_t k = 0; k < r.chances.size(); ++k)
    EXPECT_LT(std::fabs(means.z(k, in_a_batch, r.chances[k])), allowed)
        << "P(r = " << k << ") = " << means.mean(k, in_a_batch) << ", not " << r.chances[k];
  EXPECT_LT(std::fabs(means.z(r.chances.size(), in_a_batch, r.root_height)), allowed)
      << "E h(root) = " << means.mean(r.chances.size(), in_a_batch) << ", not " << r.root_height;
  if (r.origin.is_fixed()) return;
  const double above = 1 / (r.lambda + 1 / r.origin.a);
  EXPECT_LT(std::fabs(means.z(r.chances.size() + 1, in_a_batch, above)), allowed)
      << "E(tau - h(root)) = " << means.mean(r.chances.size() + 1, in_a_batch) << ", not " << above;
}

class chain_without_data : public testing::TestWithParam<std::size_t> {};

TEST_P(chain_without_data, all_moves) { expect_row(table()[GetParam()], {}, 100 + GetParam()); }

TEST_P(chain_without_data, origin_height_add_and_delete) {
  expect_row(table()[GetParam()], {"origin", "height", "add", "delete"}, 200 + GetParam());
}

INSTANTIATE_TEST_SUITE_P(rows, chain_without_data, testing::Range<std::size_t>(0, 4));

// Each other move beside the four that suffice.
TEST(chain_without_data_moves, one_more_move) {
  std::uint64_t seed = 300;
  for (const char* name :
       {"scale", "tail", "head", "flip", "swap", "gamma", "all thetas", "up-up", "up-down", "trade", "joint"}) {
    SCOPED_TRACE(name);
    // Thetas of leaves change by moves of theta only: without them a chain with up-up stays on a slice of the prior.
    expect_row(table()[1], {"origin", "height", "add", "delete", "theta", name}, ++seed);
  }
}

// Two species, R = 1, in 189ths.
TEST(chain_without_data_moves, topologies_of_two_species) {
  const std::vector<std::pair<std::string, double>> expected{{"(A,B)", 154},          {"((A)#H1,(#H1,B))", 8},
                                                             {"((B)#H1,(#H1,A))", 8}, {"(((A)#H1,#H1),B)", 4},
                                                             {"(((B)#H1,#H1),A)", 4}, {"(((A,B))#H1,#H1)", 11}};
  const row& r = table()[0];
  const snp::priors priors(fixed_rates(r.lambda, r.nu, r.origin), 2, {.max_reticulations = 1});
  std::map<std::string, std::size_t> place;
  for (const auto& [newick, weight] : expected)
    place.emplace(snp::topology_key(snp::parse_topology(newick + ";")), place.size());
  ASSERT_EQ(place.size(), 6u);
  batch_means means(6);
  run_chain(priors, 2, {}, 400, [&](const network_state& state, std::size_t batch) {
    means.add(place.at(snp::number_canonically(state).key), batch, 1);
  });
  const double in_a_batch = static_cast<double>(chain_steps / 100);
  for (const auto& [newick, weight] : expected) {
    const std::size_t k = place.at(snp::topology_key(snp::parse_topology(newick + ";")));
    EXPECT_LT(std::fabs(means.z(k, in_a_batch, weight / 189)), allowed)
        << newick << " " << means.mean(k, in_a_batch) * 189;
  }
}

TEST(chain_without_data_moves, hyperpriors) {
  snp::prior_options options;
  options.origin = exponential(0.1);
  const snp::priors priors(options, 3, {.max_reticulations = 2});
  batch_means means(6);
  run_chain(priors, 3, {}, 500, [&](const network_state& state, std::size_t batch) {
    for (std::int32_t k = 0; k < 3; ++k)
      means.add(static_cast<std::size_t>(k), batch, state.reticulations == k ? 1 : 0);
    means.add(3, batch, state.node(state.root).height);
    means.add(4, batch, state.netdiv);
    means.add(5, batch, state.turnover);
  });
  const double expected[] = {.638033, .231479, .130488, .0566304, 9.815597, .451907};
  for (std::size_t k = 0; k < 6; ++k)
    EXPECT_LT(std::fabs(means.z(k, static_cast<double>(chain_steps / 100), expected[k])), allowed)
        << k << ": " << means.mean(k, static_cast<double>(chain_steps / 100)) << ", not " << expected[k];
}

// Poisson: r is exactly Poisson cut off at R, tau exactly exponential.
TEST(chain_without_data_moves, poisson_prior) {
  snp::prior_options options = fixed_rates(1, 0.5, exponential(1));
  options.network = snp::network_prior::poisson;
  options.kappa = 0.8;
  const snp::priors priors(options, 3, {.max_reticulations = 2});
  batch_means means(4);
  run_chain(priors, 3, {}, 600, [&](const network_state& state, std::size_t batch) {
    for (std::int32_t k = 0; k < 3; ++k)
      means.add(static_cast<std::size_t>(k), batch, state.reticulations == k ? 1 : 0);
    means.add(3, batch, state.origin);
  });
  const double total = 1 + 0.8 + 0.32, expected[] = {1 / total, 0.8 / total, 0.32 / total, 1};
  for (std::size_t k = 0; k < 4; ++k)
    EXPECT_LT(std::fabs(means.z(k, static_cast<double>(chain_steps / 100), expected[k])), allowed)
        << k << ": " << means.mean(k, static_cast<double>(chain_steps / 100)) << ", not " << expected[k];
}

// The mean of thetas in a chain with its move: lognormal, as in the prior, and the thetas around it.
TEST(chain_without_data_moves, theta_mean) {
  snp::prior_options options = fixed_rates(1, 0.5, exponential(1));
  options.theta_mean = univariate_prior{univariate_prior::family::lognormal, -3, 0.5};
  options.theta = {univariate_prior::family::gamma, 4, 1};
  const snp::priors priors(options, 2, {.max_reticulations = 1});
  batch_means means(2);
  run_chain(priors, 2, {"origin", "height", "add", "delete", "theta", "all thetas", "theta mean"}, 700,
            [&](const network_state& state, std::size_t batch) {
              means.add(0, batch, std::log(state.theta_mean));
              means.add(1, batch, state.node(0).theta[0]);
            });
  const double in_a_batch = static_cast<double>(chain_steps / 100);
  EXPECT_LT(std::fabs(means.z(0, in_a_batch, -3)), allowed) << means.mean(0, in_a_batch);
  EXPECT_LT(std::fabs(means.z(1, in_a_batch, std::exp(-3 + 0.125))), allowed) << means.mean(1, in_a_batch);
}

// swap alone, four species at heights 1, 2, 3: uniform on the 18 ranked trees.
TEST(swap_move, uniform_on_ranked_trees) {
  const auto names = test::species_names(4);
  const snp::priors priors(fixed_rates(1, 0, exponential(1)), 4, {.max_reticulations = 0});
  network_state state = snp::state_of(snp::parse_newick("(((A:1,B:1):1,C:2):1,D:3);", {.theta = 1}), names,
                                      {.thetas = snp::theta_mode::common});
  double log_prior = priors.log_density(state);
  const auto swap = test::take_move(snp::make_moves(priors), "swap");
  constexpr std::int64_t samples = chain_steps / 20;
  std::map<std::string, double> counts;
  network_state before;
  for (std::int64_t i = 0; i < samples; ++i) {
    random_stream random(800, static_cast<std::uint64_t>(i));
    for (int step = 0; step < 20; ++step) test::step_on_prior(priors, *swap, state, before, log_prior, random);
    // The leaves below the nodes at heights 1 and 2 tell a ranked tree.
    std::string ranked;
    for (const double height : {1.0, 2.0})
      for (std::int32_t x = 4; x < 7; ++x) {
        if (state.node(x).height != height) continue;
        std::string below;
        const auto collect = [&](const auto& self, std::int32_t node) -> void {
          if (state.is_leaf(node)) below += (*names)[static_cast<std::size_t>(node)];
          for (std::int32_t k = 0; k < state.node(node).children; ++k)
            self(self, state.bottom(state.node(node).child[static_cast<std::size_t>(k)]));
        };
        collect(collect, x);
        std::sort(below.begin(), below.end());
        ranked += below + "|";
      }
    counts[ranked] += 1;
  }
  ASSERT_EQ(counts.size(), 18u);
  double chi_square = 0;
  const double mean = static_cast<double>(samples) / 18;
  for (const auto& [tree, count] : counts) chi_square += (count - mean) * (count - mean) / mean;
  RecordProperty("chi_square", std::to_string(chi_square));
  EXPECT_LT(chi_square, 46);  // p = 2e-4 with 17 degrees of freedom, if samples were independent
}

}  // namespace
}  // namespace quintet
