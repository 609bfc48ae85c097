// Every move leaves the prior as it is: exact draws, one step, and no statistic may drift; chains of moves reproduce
// what is known of the process.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

#include "quintet/snp/network/network_topology.hpp"
#include "snp/inference/moves/topology_edits.hpp"
#include "support/move_trials.hpp"

namespace quintet {
namespace {

using snp::network_state;
using snp::univariate_prior;
using test::allowed;
using test::statistics;

#ifdef QUINTET_LONG_TEST
constexpr std::int64_t draws = 1'000'000;
#else
constexpr std::int64_t draws = 100'000;
#endif

struct tally {
  double sum = 0, squares = 0;
  std::int64_t changes = 0;
  void add(double x) {
    sum += x;
    squares += x * x;
    changes += x != 0;
  }
  double z(std::int64_t count) const {
    const double n = static_cast<double>(count), variance = (squares - sum * sum / n) / (n - 1);
    return variance > 0 ? sum / std::sqrt(n * variance) : 0;
  }
};

struct drift {
  double worst = 0;
  std::string where;
  std::int64_t accepted = 0;
};

// Largest |z| of any statistic's mean change by one step of each move, from the same exact draws.
std::vector<drift> one_step_drifts(const snp::priors& priors, std::int64_t species,
                                   const std::vector<std::unique_ptr<snp::move>>& moves, std::int64_t count) {
  const auto names = test::species_names(species);
  std::vector<std::vector<tally>> tallies(moves.size(), std::vector<tally>(statistics().size()));
  std::vector<drift> found(moves.size());
  network_state state, before;
  for (std::int64_t i = 0; i < count; ++i) {
    random_stream random(20261, static_cast<std::uint64_t>(i));
    const network_state drawn = priors.draw(names, random);
    const double log_prior = priors.log_density(drawn);
    std::vector<double> old;
    for (const auto& one : statistics()) old.push_back(one.of(drawn));
    for (std::size_t m = 0; m < moves.size(); ++m) {
      state = drawn;
      double now = log_prior;
      if (!test::step_on_prior(priors, *moves[m], state, before, now, random)) continue;
      ++found[m].accepted;
      for (std::size_t k = 0; k < old.size(); ++k)
        if (const double change = statistics()[k].of(state) - old[k]; !std::isnan(change)) tallies[m][k].add(change);
    }
  }
  for (std::size_t m = 0; m < moves.size(); ++m)
    for (std::size_t k = 0; k < statistics().size(); ++k)
      if (tallies[m][k].changes >= 50 && std::fabs(tallies[m][k].z(count)) > std::fabs(found[m].worst)) {
        found[m].worst = tallies[m][k].z(count);
        found[m].where = statistics()[k].name;
      }
  return found;
}

drift one_step_drift(const snp::priors& priors, std::int64_t species, std::unique_ptr<snp::move> move,
                     std::int64_t count) {
  std::vector<std::unique_ptr<snp::move>> moves;
  moves.push_back(std::move(move));
  return one_step_drifts(priors, species, moves, count).front();
}

// add or delete with the same chance: neither keeps the prior alone.
class jump_pair final : public snp::move {
 public:
  jump_pair(std::unique_ptr<snp::move> add, std::unique_ptr<snp::move> remove)
      : move(1, 1), add_(std::move(add)), delete_(std::move(remove)) {}
  std::string_view name() const override { return "add or delete"; }
  snp::proposal propose(network_state& state, random_stream& random) const override {
    return (random.below(2) == 0 ? add_ : delete_)->propose(state, random);
  }

 private:
  std::unique_ptr<snp::move> add_, delete_;
};

std::unique_ptr<snp::move> move_of(const snp::priors& priors, std::string_view name) {
  std::unique_ptr<snp::move> found = test::take_move(snp::make_moves(priors), name);
  test::teach(*found, priors, priors.species());
  return found;
}

// All moves of a prior, add and delete as one.
std::vector<std::unique_ptr<snp::move>> invariant_moves(const snp::priors& priors) {
  std::vector<std::unique_ptr<snp::move>> moves = snp::make_moves(priors);
  std::erase_if(moves, [](const auto& one) { return one->name() == "add" || one->name() == "delete"; });
  moves.push_back(std::make_unique<jump_pair>(move_of(priors, "add"), move_of(priors, "delete")));
  for (const auto& one : moves) test::teach(*one, priors, priors.species());
  return moves;
}

snp::prior_options process(double lambda, double nu, univariate_prior origin) {
  snp::prior_options options;
  options.speciation_rate = lambda;
  options.hybridization_rate = nu;
  options.origin = origin;
  options.pi1 = {univariate_prior::family::beta, 2, 2};
  return options;
}

const univariate_prior origin_mean_1{univariate_prior::family::exponential, 1, 1};

struct setting {
  const char* name;
  snp::prior_options options;
  snp::network_limits limits;
};

std::vector<setting> settings() {
  std::vector<setting> list;
  list.push_back({"fixed rates, a theta for each branch", process(1, 0.5, origin_mean_1), {.max_reticulations = 3}});
  setting common{
      "free rates, common theta, beta inheritance", process(1, 0.5, origin_mean_1), {.max_reticulations = 2}};
  common.options.speciation_rate.reset();
  common.options.hybridization_rate.reset();
  common.options.netdiv = {univariate_prior::family::exponential, 1, 1};
  common.options.inheritance = 2.5;
  common.options.thetas = snp::theta_mode::common;
  list.push_back(common);
  setting poisson{"Poisson, theta mean", process(1, 0.5, origin_mean_1), {.max_reticulations = 2}};
  poisson.options.network = snp::network_prior::poisson;
  poisson.options.theta_mean = univariate_prior{univariate_prior::family::lognormal, -3, 0.5};
  poisson.options.hybridization_rate.reset();
  list.push_back(poisson);
  setting fixed{"fixed origin, limits", process(1, 0.5, {univariate_prior::family::fixed, 1.5, 1}), {}};
  fixed.limits = {.max_reticulations = 2, .max_level = 1, .bubbles = false};
  fixed.options.theta = {univariate_prior::family::invgamma, 3, 0.2};
  list.push_back(fixed);
  return list;
}

class move_invariance : public testing::TestWithParam<std::size_t> {};

TEST_P(move_invariance, one_step_from_exact_draws) {
  const setting given = settings()[GetParam()];
  SCOPED_TRACE(given.name);
  const snp::priors priors(given.options, 3, given.limits);
  // The first setting gets all the draws, the others, which share most code with it, a third.
  const std::int64_t count = GetParam() == 0 ? draws : draws / 3;
  const auto moves = invariant_moves(priors);
  const std::vector<drift> found = one_step_drifts(priors, 3, moves, count);
  for (std::size_t m = 0; m < moves.size(); ++m) {
    RecordProperty(std::string(moves[m]->name()), std::to_string(found[m].worst) + " of " + found[m].where);
    EXPECT_LT(std::fabs(found[m].worst), allowed) << moves[m]->name() << ": " << found[m].where;
    EXPECT_GT(found[m].accepted, count / 1000) << moves[m]->name();
  }
}

INSTANTIATE_TEST_SUITE_P(settings, move_invariance, testing::Range<std::size_t>(0, 4));

TEST(move_invariance_larger, four_species) {
  const snp::priors priors(process(1, 0.25, origin_mean_1), 4, {.max_reticulations = 3});
  const auto moves = invariant_moves(priors);
  const std::vector<drift> found = one_step_drifts(priors, 4, moves, draws / 3);
  for (std::size_t m = 0; m < moves.size(); ++m)
    EXPECT_LT(std::fabs(found[m].worst), allowed) << moves[m]->name() << ": " << found[m].where;
}

// ---- errors that published programs made, planted one by one ----

double log_jump(double x, double base, double width) {
  const double z = (std::log(x) - std::log(base)) / width;
  return -z * z / 2 - std::log(x * width * std::sqrt(2 * 3.14159265358979323846));
}

// As published: f is chosen among the branches that may be exchanged, whose number changes, and the ratio is 1 all the
// same.
class careless_swap final : public snp::move {
 public:
  careless_swap() : move(1, 1) {}
  std::string_view name() const override { return "swap"; }
  snp::proposal propose(network_state& state, random_stream& random) const override {
    std::vector<std::int32_t> lower = snp::all_branches(state), crossing = lower;
    std::erase_if(lower, [&](std::int32_t t) { return state.top(t) < 0 || state.top(t) == state.root; });
    if (lower.empty()) return {};
    const std::int32_t e = lower[random.below(static_cast<std::uint32_t>(lower.size()))];
    const double height = state.node(state.top(e)).height;
    std::erase_if(crossing, [&](std::int32_t t) {
      return state.top_height(t) <= height || state.bottom_height(t) >= height || state.bottom(t) == state.bottom(e);
    });
    if (crossing.empty()) return {};
    const std::int32_t f = crossing[random.below(static_cast<std::uint32_t>(crossing.size()))];
    const std::int32_t a = state.top(e), top = state.top(f);
    snp::replace_child(state, a, e, f);
    snp::replace_child(state, top, f, e);
    snp::set_top(state, e, top);
    snp::set_top(state, f, a);
    return {.applies = true, .topology = true};
  }
};

class planted : public testing::Test {
 protected:
  const snp::priors priors{process(1, 0.5, origin_mean_1), 3, {.max_reticulations = 3}};

  void expect_noticed(const char* name, test::wrong_move::error_function error) const {
    const auto wrong = [&](const char* one) -> std::unique_ptr<snp::move> {
      if (std::string(name) != one) return move_of(priors, one);
      return std::make_unique<test::wrong_move>(move_of(priors, one), error);
    };
    const bool is_jump = std::string(name) == "add" || std::string(name) == "delete";
    const drift found = one_step_drift(
        priors, 3, is_jump ? std::make_unique<jump_pair>(wrong("add"), wrong("delete")) : wrong(name), 3 * draws);
    RecordProperty("z", std::to_string(found.worst) + " of " + found.where);
    EXPECT_GT(std::fabs(found.worst), 1.5 * allowed) << name << ": " << found.where;
  }
};

TEST_F(planted, two_r_for_four_r_in_add) {
  expect_noticed("add", [](const network_state&, const network_state&) { return std::log(2); });
}
TEST_F(planted, two_r_for_four_r_in_delete) {
  expect_noticed("delete", [](const network_state&, const network_state&) { return -std::log(2); });
}
TEST_F(planted, branches_without_the_root_branch_in_delete) {
  expect_noticed("delete", [](const network_state&, const network_state& after) {
    return 2 * std::log(after.branches() / (after.branches() - 1.0));
  });
}
TEST_F(planted, branches_without_the_root_branch_in_add) {
  expect_noticed("add", [](const network_state& before, const network_state&) {
    return 2 * std::log((before.branches() - 1.0) / before.branches());
  });
}
TEST_F(planted, no_density_of_a_new_theta) {
  // add forgets the density of the theta of the new branch: that of the last node but one, by its base below.
  expect_noticed("add", [](const network_state&, const network_state& after) {
    const std::int32_t x = test::size_of(after) - 2;
    return log_jump(after.node(x).theta[1], after.theta(after.node(x).child[0]), 0.5);
  });
}
TEST_F(planted, no_factor_for_the_number_of_thetas) {
  expect_noticed("all thetas", [](const network_state& before, const network_state& after) {
    return -std::log(after.node(0).theta[0] / before.node(0).theta[0]) * (before.branches() - 1);
  });
}
TEST_F(planted, no_derivative_of_the_theta_in_trade) {
  expect_noticed("trade", [](const network_state& before, const network_state& after) {
    double sum = 0;
    for (std::int32_t x = 0; x < test::size_of(before); ++x)
      for (std::int32_t i = 0; i < before.node(x).parents; ++i)
        sum += std::log(before.theta(2 * x + i) / after.theta(2 * x + i));
    return sum;
  });
}
TEST_F(planted, no_derivative_of_the_thetas_in_joint) {
  expect_noticed("joint", [](const network_state& before, const network_state& after) {
    double sum = 0;
    for (std::int32_t x = 0; x < test::size_of(before); ++x)
      for (std::int32_t i = 0; i < before.node(x).parents; ++i)
        sum += std::log(before.theta(2 * x + i) / after.theta(2 * x + i));
    return sum;
  });
}
TEST_F(planted, no_derivative_of_the_heights_in_joint) {
  expect_noticed("joint", [](const network_state& before, const network_state& after) {
    double sum = 0;
    for (std::int32_t x = before.leaves(); x < test::size_of(before); ++x)
      sum += std::log(test::above_children(before, x) / test::above_children(after, x));
    return sum;
  });
}
TEST_F(planted, ratio_one_in_swap) {
  // Where one reticulation's branches cross another's top; rare, so draws with many reticulations, of four species.
  const snp::priors many(process(1, 2, origin_mean_1), 4, {.max_reticulations = 4});
  std::vector<std::unique_ptr<snp::move>> moves;
  moves.push_back(std::make_unique<careless_swap>());
  moves.push_back(move_of(many, "swap"));
  const std::vector<drift> found = one_step_drifts(many, 4, moves, 2 * draws);
  RecordProperty("z", std::to_string(found[0].worst) + " of " + found[0].where);
  EXPECT_GT(std::fabs(found[0].worst), 1.5 * allowed) << found[0].where;
  EXPECT_LT(std::fabs(found[1].worst), allowed) << found[1].where;
}
TEST_F(planted, no_interval_in_tail) {
  expect_noticed("tail", [](const network_state& before, const network_state& after) {
    return std::log(before.node(before.root).height / after.node(after.root).height);
  });
}

}  // namespace
}  // namespace quintet
