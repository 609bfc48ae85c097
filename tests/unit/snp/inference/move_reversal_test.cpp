// The Hastings ratio of every move against the densities of the choice and of the one that undoes it, computed here
// from the networks before and after alone: lists of branches, candidates and intervals, without the library's own
// helpers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <set>

#include "snp/inference/moves/learnt_covariance.hpp"
#include "support/move_trials.hpp"

namespace quintet {
namespace {

using snp::network_state;
using snp::univariate_prior;

constexpr double tolerance = 1e-10;

// A branch as the test sees it: numbers of nodes, -1 for the origin.
struct edge {
  std::int32_t child, which, parent;
  double low, high;
};

std::vector<edge> edges_of(const network_state& s) {
  std::vector<edge> edges;
  for (std::int32_t x = 0; x < test::size_of(s); ++x) {
    const snp::state_node& node = s.node(x);
    for (std::int32_t i = 0; i < node.parents; ++i) {
      const std::int32_t up = node.parent[static_cast<std::size_t>(i)];
      edges.push_back({x, i, up, node.height, up < 0 ? s.origin : s.node(up).height});
    }
  }
  return edges;
}

const edge& edge_of(const std::vector<edge>& edges, std::int32_t branch) {
  return *std::find_if(edges.begin(), edges.end(), [&](const edge& e) { return 2 * e.child + e.which == branch; });
}

// Node x taken out: the branch `lower` (below it) goes on to where `upper` (above it) ended; `kept` stays away from the
// list.
std::vector<edge> without(const std::vector<edge>& edges, std::int32_t lower, std::int32_t upper, std::int32_t kept) {
  const edge top = edge_of(edges, upper);
  std::vector<edge> rest;
  for (const edge& e : edges) {
    const std::int32_t b = 2 * e.child + e.which;
    if (b == upper || b == kept) continue;
    rest.push_back(b == lower ? edge{e.child, e.which, top.parent, e.low, top.high} : e);
  }
  return rest;
}

double log_normal_density(double x, double base, double sd) {
  const double z = std::log(x / base) / sd;
  return -z * z / 2 - std::log(x) - std::log(sd) - 0.5 * std::log(2 * std::numbers::pi);
}

bool equal_bits(const network_state& a, const network_state& b) {
  const std::vector<double> one = snp::numbers_of(a), other = snp::numbers_of(b);
  return one.size() == other.size() && std::memcmp(one.data(), other.data(), one.size() * sizeof(double)) == 0;
}

// Equal up to the order of the children in their nodes' lists.
bool same_bits(network_state a, network_state b) {
  for (network_state* s : {&a, &b})
    for (snp::state_node& node : s->nodes)
      if (node.children == 2 && node.child[0] > node.child[1]) std::swap(node.child[0], node.child[1]);
  return equal_bits(a, b);
}

// ---- densities of choices; nothing where the move does not apply ----

// tail: x's child branch e is regrafted; s is the sister of e now.
double log_tail(const network_state& s, std::int32_t x, std::int32_t e, const network_state& to) {
  const auto sister = [&](const network_state& of) {
    return of.node(x).child[0] == e ? of.node(x).child[1] : of.node(x).child[0];
  };
  const std::vector<edge> rest = without(edges_of(s), sister(s), 2 * x, e);
  const double floor = s.node(e / 2).height;
  double candidates = 0;
  for (const edge& t : rest) candidates += t.high > floor;
  const edge target = edge_of(rest, sister(to));  // the branch on which x is in the end
  const double pairs = 2.0 * (s.leaves() - 1 + s.reticulations);
  return -std::log(pairs) - std::log(candidates) - std::log(target.high - std::max(floor, target.low));
}

double log_head(const network_state& s, std::int32_t x, std::int32_t e, const network_state& to) {
  const std::int32_t f = e ^ 1;
  const std::vector<edge> rest = without(edges_of(s), s.node(x).child[0], f, e);
  const double ceiling = edge_of(edges_of(s), e).high;
  double candidates = 0;
  for (const edge& t : rest) candidates += t.low < ceiling;
  const edge target = edge_of(rest, to.node(x).child[0]);
  return -std::log(2.0 * s.reticulations) - std::log(candidates) -
         std::log(std::min(target.high, ceiling) - target.low);
}

// flip of e: densities of the heights of the new split and of the new reticulation.
double log_flip(const network_state& s, std::int32_t e, double new_split) {
  const std::vector<edge> edges = edges_of(s);
  const std::int32_t x = e / 2, a = edge_of(edges, e).parent;
  const edge b = edge_of(edges, e ^ 1), c = edge_of(edges, s.node(x).child[0]), up = edge_of(edges, 2 * a);
  const edge sister = edge_of(edges, s.node(a).child[0] == e ? s.node(a).child[1] : s.node(a).child[0]);
  const double low = std::max(sister.low, c.low);
  return -std::log(2.0 * s.reticulations) - std::log(b.high - low) -
         std::log(std::min(new_split, up.high) - sister.low);
}

double log_swap(const network_state& s, std::int32_t e) {
  double lower = 0, crossing = 0;
  const std::vector<edge> edges = edges_of(s);
  const double height = edge_of(edges, e).high;
  for (const edge& t : edges) {
    lower += t.parent >= 0 && t.parent != s.root;
    crossing += t.low < height && height < t.high;
  }
  EXPECT_EQ(lower, 2 * s.leaves() - 4 + 3 * s.reticulations);
  return -std::log(lower) - std::log(crossing);
}

// All numbers of the smaller network in the larger one, where the branch e = X-A is the one that was added.
struct jump {
  double log_add, log_delete;
};
jump log_jump(const network_state& small, const network_state& large, std::int32_t e, double inheritance,
              std::optional<double> width) {
  const std::vector<edge> edges = edges_of(large);
  const std::int32_t x = e / 2, a = edge_of(edges, e).parent, d = large.node(x).child[0];
  const std::int32_t s = large.node(a).child[0] == e ? large.node(a).child[1] : large.node(a).child[0];
  const edge other = edge_of(edges, e ^ 1), up = edge_of(edges, 2 * a), below = edge_of(edges, d);
  const bool is_bubble = other.parent == a;
  const double l_split = up.high - (is_bubble ? below.low : edge_of(edges, s).low);
  const double l_reticulation = is_bubble ? l_split : other.high - below.low;
  const double k = static_cast<double>(edges_of(small).size());
  const double g = large.node(x).gamma[static_cast<std::size_t>(e & 1)];
  const univariate_prior beta{univariate_prior::family::beta, inheritance, inheritance};
  // Two orders of the choices.
  jump made{std::log(2) - 2 * std::log(k) - std::log(l_split) - std::log(l_reticulation) + beta.log_density(g),
            -std::log(2.0 * large.reticulations)};
  if (width) {
    const double base_split = is_bubble ? large.theta(d) : large.theta(s), base = large.theta(d);
    made.log_add += log_normal_density(large.theta(2 * a), base_split, *width) +
                    log_normal_density(large.theta(e ^ 1), base, *width) +
                    log_normal_density(large.theta(e), base, *width);
  }
  return made;
}

// ---- random states ----

enum class kind { each, common };

snp::priors prior_of(kind thetas, std::int64_t species) {
  snp::prior_options options;
  options.speciation_rate = 1;
  options.hybridization_rate = 1.2;  // many reticulations
  options.origin = {univariate_prior::family::exponential, 1, 1};
  options.thetas = thetas == kind::each ? snp::theta_mode::each : snp::theta_mode::common;
  options.inheritance = 1.7;
  options.pi1 = {univariate_prior::family::beta, 2, 2};
  return snp::priors(options, species, {.max_reticulations = 3});
}

class move_reversal : public testing::TestWithParam<kind> {
 protected:
  static constexpr std::int64_t species = 4, states = 4000;
  const snp::priors priors = prior_of(GetParam(), species);
  std::int64_t applied = 0;

  std::unique_ptr<snp::move> move(const char* name) const { return test::take_move(snp::make_moves(priors), name); }

  // check(before, after, log_hastings), wherever the move applies; the result keeps the rules if it is in range.
  template <class Check>
  void try_move(const snp::move& move, const Check& check) {
    const auto names = test::species_names(species);
    std::set<std::int32_t> reticulations;
    bool has_bubble = false, has_stack = false;
    for (std::uint64_t i = 0; i < states; ++i) {
      random_stream random(77, i);
      const network_state before = priors.draw(names, random);
      ASSERT_EQ(snp::broken_rule(before), "");
      reticulations.insert(before.reticulations);
      for (std::int32_t x = species; x < test::size_of(before); ++x) {
        has_bubble = has_bubble || before.is_bubble(x);
        has_stack = has_stack || (before.is_reticulation(x) && before.is_reticulation(before.node(x).child[0] / 2));
      }
      network_state after = before;
      const snp::proposal made = move.propose(after, random);
      if (!made.applies) {
        ASSERT_TRUE(equal_bits(before, after)) << "a move that did not apply has changed the state";
        continue;
      }
      ++applied;
      if (snp::is_in_range(after)) {
        ASSERT_EQ(snp::broken_rule(after), "") << move.name() << ", state " << i;
      }
      check(before, after, made.log_hastings, i);
      if (HasFatalFailure() || HasNonfatalFailure()) FAIL() << move.name() << ", state " << i;
    }
    EXPECT_EQ(reticulations, (std::set<std::int32_t>{0, 1, 2, 3}));
    EXPECT_TRUE(has_bubble && has_stack);
    EXPECT_GT(applied, states / 20);
  }

  // Some random stream undoes the move, once the heights of the nodes that moved are put back.
  void expect_undone(const snp::move& move, const network_state& before, const network_state& after,
                     std::uint64_t number) const {
    std::vector<std::int32_t> moved;
    for (std::int32_t x = 0; x < test::size_of(before); ++x)
      if (before.node(x).height != after.node(x).height) moved.push_back(x);
    for (std::uint64_t seed = 0; seed < 20000; ++seed) {
      random_stream random(1000 + seed, number);
      network_state back = after;
      if (!move.propose(back, random).applies) continue;
      for (const std::int32_t x : moved) back.node(x).height = before.node(x).height;
      if (same_bits(before, back)) return;
    }
    ADD_FAILURE() << move.name() << " is not undone by itself";
  }
};

// How many numbers of the state differ, and the factor that they have in common.
struct scaling {
  std::int32_t up = 0, down = 0;
  double log_factor = 0;
};
scaling scaling_between(const network_state& before, const network_state& after) {
  const std::vector<double> one = snp::numbers_of(before), other = snp::numbers_of(after);
  scaling found;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i] == other[i] || std::isnan(one[i])) continue;
    const double log_ratio = std::log(other[i] / one[i]);
    if (found.up + found.down == 0) found.log_factor = log_ratio;
    EXPECT_NEAR(std::fabs(log_ratio), std::fabs(found.log_factor), 1e-12);
    (log_ratio * found.log_factor > 0 ? found.up : found.down) += 1;
  }
  return found;
}

TEST_P(move_reversal, multiplications) {
  for (const char* name : {"scale", "up-up", "up-down", "theta", "all thetas", "origin"}) {
    if (GetParam() == kind::common && std::string(name) == "all thetas") continue;
    SCOPED_TRACE(name);
    try_move(
        *move(name), [&](const network_state& before, const network_state& after, double log_hastings, std::uint64_t) {
          const scaling found = scaling_between(before, after);
          // x -> s x of k numbers and 1 / s of m others, log s symmetric.
          EXPECT_NEAR(log_hastings, (found.up - found.down) * found.log_factor, 1e-10);
          const std::int32_t inner = before.inner_nodes(), thetas = before.theta_count();
          const std::map<std::string, std::int32_t> expected{{"scale", inner + 1},   {"up-up", inner + 1 + thetas},
                                                             {"theta", 1},           {"up-down", inner + 1 + thetas},
                                                             {"all thetas", thetas}, {"origin", 1}};
          EXPECT_EQ(found.up + found.down, expected.at(name));
          if (std::string(name) == "up-down")
            EXPECT_EQ(std::abs(found.up - found.down), std::abs(inner + 1 - thetas));
          else
            EXPECT_EQ(found.down, 0);
        });
  }
}

TEST_P(move_reversal, logits) {
  for (const char* name : {"gamma", "pi1"}) {
    SCOPED_TRACE(name);
    try_move(*move(name),
             [&](const network_state& before, const network_state& after, double log_hastings, std::uint64_t) {
               double x = before.pi1, y = after.pi1;
               if (std::string(name) == "gamma")
                 for (std::int32_t node = species; node < test::size_of(before); ++node)
                   if (before.node(node).gamma != after.node(node).gamma) {
                     x = before.node(node).gamma[0];
                     y = after.node(node).gamma[0];
                     EXPECT_EQ(after.node(node).gamma[1], 1 - y);
                   }
               // d logit x / dx by the derivative of log x - log(1 - x).
               EXPECT_NEAR(log_hastings, std::log(1 / x + 1 / (1 - x)) - std::log(1 / y + 1 / (1 - y)), 1e-10);
             });
  }
}

TEST_P(move_reversal, height) {
  try_move(*move("height"),
           [&](const network_state& before, const network_state& after, double log_hastings, std::uint64_t) {
             EXPECT_EQ(log_hastings, 0);
             EXPECT_TRUE(snp::is_in_range(after));
             std::int32_t changed = 0;
             for (std::int32_t x = 0; x < test::size_of(before); ++x)
               changed += before.node(x).height != after.node(x).height;
             EXPECT_EQ(changed, 1);
           });
}

// One height, and one theta of a branch that ends there: the length of the branch over its theta stays, and the ratio
// is the derivative of theta by theta.
TEST_P(move_reversal, trade) {
  if (GetParam() == kind::common) {
    for (const auto& one : snp::make_moves(priors)) EXPECT_NE(one->name(), "trade");
    return;
  }
  std::set<std::string> kinds;
  try_move(*move("trade"),
           [&](const network_state& before, const network_state& after, double log_hastings, std::uint64_t) {
             std::int32_t x = -1, b = -1, changes = 0;
             for (std::int32_t node = 0; node < test::size_of(before); ++node) {
               if (before.node(node).height != after.node(node).height) ++changes, x = node;
               for (std::int32_t i = 0; i < before.node(node).parents; ++i)
                 if (before.theta(2 * node + i) != after.theta(2 * node + i)) ++changes, b = 2 * node + i;
             }
             ASSERT_EQ(changes, 2);
             EXPECT_NE(b, before.root_branch());
             const edge old = edge_of(edges_of(before), b), now = edge_of(edges_of(after), b);
             ASSERT_TRUE(old.child == x || old.parent == x);
             kinds.insert(old.parent == x ? "below" : before.is_reticulation(x) ? "above a reticulation" : "above");
             const double per_length = before.theta(b) / (old.high - old.low);
             EXPECT_NEAR(after.theta(b) / (now.high - now.low) / per_length, 1, 1e-12);
             EXPECT_NEAR(log_hastings, std::log(after.theta(b) / before.theta(b)), tolerance);
           });
  EXPECT_EQ(kinds, (std::set<std::string>{"above", "above a reticulation", "below"}));
}

double log_volume(const network_state& s) {
  double sum = std::log(s.origin - s.node(s.root).height) + std::log(s.pi1 * (1 - s.pi1));
  if (s.thetas == snp::theta_mode::common) sum += std::log(s.common_theta);
  for (std::int32_t x = 0; x < test::size_of(s); ++x) {
    if (x >= s.leaves()) sum += std::log(test::above_children(s, x));
    if (s.is_reticulation(x)) sum += std::log(s.node(x).gamma[0] * s.node(x).gamma[1]);
    for (std::int32_t i = 0; i < s.node(x).parents; ++i)
      if (s.thetas == snp::theta_mode::each) sum += std::log(s.theta(2 * x + i));
  }
  return sum;
}

// Every number at once, in the topology; the ratio is that of the volumes of log and logit steps, whatever the step.
// Symmetric networks whose order has changed could not go back by the same step.
void expect_joint_step(const network_state& before, const network_state& after, const snp::proposal& made) {
  ASSERT_EQ(snp::broken_rule(after), "");
  EXPECT_FALSE(made.topology);
  const snp::canonical_numbering old = snp::number_canonically(before), now = snp::number_canonically(after);
  EXPECT_EQ(old.key, now.key);
  if (old.node == now.node && old.branch == now.branch)
    EXPECT_NEAR(made.log_hastings, log_volume(after) - log_volume(before), 1e-9);
  else
    EXPECT_EQ(made.log_hastings, -std::numeric_limits<double>::infinity());
  for (std::int32_t x = 0; x < test::size_of(before); ++x) {
    if (x >= before.leaves()) EXPECT_NE(before.node(x).height, after.node(x).height);
    for (std::int32_t k = 0; k < before.node(x).parents; ++k)
      EXPECT_NE(before.theta(2 * x + k), after.theta(2 * x + k));
  }
}

TEST_P(move_reversal, joint) {
  for (const std::int64_t count : {2, 4}) {
    const snp::priors prior = prior_of(GetParam(), count);
    const auto joint = test::take_move(snp::make_moves(prior), "joint");
    test::teach(*joint, prior, count);
    std::int64_t refused = 0;
    std::set<std::string> topologies;
    for (std::uint64_t i = 0; i < states; ++i) {
      random_stream random(77, i);
      const network_state before = prior.draw(test::species_names(count), random);
      network_state after = before;
      const snp::proposal made = joint->propose(after, random);
      if (!made.applies) {
        ASSERT_TRUE(equal_bits(before, after));
        continue;
      }
      ++applied;
      topologies.insert(snp::number_canonically(before).key);
      refused += std::isinf(made.log_hastings) ? 1 : 0;
      expect_joint_step(before, after, made);
      if (HasFatalFailure() || HasNonfatalFailure()) FAIL() << "state " << i;
    }
    EXPECT_GT(topologies.size(), 5u);
    if (count == 2) EXPECT_GT(refused, 0);  // bubbles are among them
  }
  EXPECT_GT(applied, states / 10);
}

// What a move has learnt goes into another one as numbers, bit for bit.
TEST_P(move_reversal, joint_learns_and_says_what) {
  const auto joint = move("joint"), other = move("joint");
  test::teach(*joint, priors, species);
  const std::vector<double> learnt = joint->learnt();
  EXPECT_GT(learnt.size(), 100u);
  other->set_learnt(learnt);
  EXPECT_EQ(other->learnt(), learnt);
  std::int64_t applied_here = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    random_stream random(80, i), same(80, i);
    const network_state before = priors.draw(test::species_names(species), random);
    priors.draw(test::species_names(species), same);
    network_state a = before, b = before;
    const snp::proposal made = joint->propose(a, random), again = other->propose(b, same);
    applied_here += made.applies;
    EXPECT_EQ(made.applies, again.applies);
    EXPECT_EQ(made.log_hastings, again.log_hastings);
    EXPECT_TRUE(equal_bits(a, b));
  }
  EXPECT_GT(applied_here, 10);
  for (const std::size_t left : {std::size_t(0), learnt.size() / 2, learnt.size() - 1}) {
    const std::vector<double> part(learnt.begin(), learnt.begin() + std::ptrdiff_t(left));
    EXPECT_THROW(other->set_learnt(part), InvalidArgument) << left;
    EXPECT_EQ(other->learnt(), learnt);
  }
}

// Mean square and products of steps against weighted sums: the k-th point counts k (k + 1) / 2 times.
TEST(learnt_covariance, is_that_of_the_points) {
  constexpr std::size_t size = 3, points = 66;  // a factor is made at 30, 33, 37, 41, 46, 51, 57, 63
  constexpr std::size_t factored = 63;
  std::vector<std::array<double, size>> list;
  snp::learnt_covariance covariance(size);
  for (std::size_t k = 0; k < points; ++k) {
    random_stream random(81, k);
    const auto a = random.normals<double>(), b = random.normals<double>();
    list.push_back({a.first, a.first + 0.5 * a.second, 10 + 2 * b.first - a.second});
    EXPECT_EQ(covariance.has_factor(), k >= 30);
    covariance.add(list.back());
  }
  double all = 0;
  std::array<double, size> mean{};
  double products[size][size] = {};
  for (std::size_t k = 0; k < factored; ++k) {
    const double weight = double((k + 1) * (k + 2)) / 2;
    all += weight;
    for (std::size_t i = 0; i < size; ++i) mean[i] += weight * list[k][i];
  }
  for (double& m : mean) m /= all;
  for (std::size_t k = 0; k < factored; ++k)
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j)
        products[i][j] += double((k + 1) * (k + 2)) / 2 / all * (list[k][i] - mean[i]) * (list[k][j] - mean[j]);
  // Columns of L are steps of unit vectors.
  double factor[size][size];
  for (std::size_t j = 0; j < size; ++j) {
    std::array<double, size> unit{}, step{};
    unit[j] = 1;
    covariance.add_step(unit, 2, step);
    for (std::size_t i = 0; i < size; ++i) factor[i][j] = step[i] / 2;
  }
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j) {
      double product = 0;
      for (std::size_t k = 0; k < size; ++k) product += factor[i][k] * factor[j][k];
      const double kept = i == j ? 1 : double(factored) / (double(factored) + 20.0 * size);
      EXPECT_NEAR(product, kept * products[i][j], 1e-12) << i << " " << j;
    }
}

TEST_P(move_reversal, tail) {
  const auto tail = move("tail");
  try_move(*tail,
           [&](const network_state& before, const network_state& after, double log_hastings, std::uint64_t number) {
             std::int32_t x = -1;
             for (std::int32_t node = species; node < test::size_of(before); ++node)
               if (before.node(node).height != after.node(node).height) x = node;
             ASSERT_GE(x, 0);
             // The branch that stayed with x; if both did, x moved along its branch, and either choice must give the
             // ratio.
             std::int32_t tried = 0;
             for (const std::int32_t e : before.node(x).child) {
               if (after.node(x).child[0] != e && after.node(x).child[1] != e) continue;
               ++tried;
               EXPECT_NEAR(log_hastings, log_tail(after, x, e, before) - log_tail(before, x, e, after), tolerance);
             }
             EXPECT_GE(tried, 1);
             if (number < 100) expect_undone(*tail, before, after, number);
           });
}

TEST_P(move_reversal, head) {
  const auto head = move("head");
  try_move(*head,
           [&](const network_state& before, const network_state& after, double log_hastings, std::uint64_t number) {
             std::int32_t x = -1;
             for (std::int32_t node = species; node < test::size_of(before); ++node)
               if (before.node(node).height != after.node(node).height) x = node;
             ASSERT_GE(x, 0);
             ASSERT_TRUE(before.is_reticulation(x));
             bool is_right = false;
             for (std::size_t i = 0; i < 2; ++i) {
               if (before.node(x).parent[i] != after.node(x).parent[i]) continue;
               const auto e = 2 * x + static_cast<std::int32_t>(i);
               const double expected = log_head(after, x, e, before) - log_head(before, x, e, after);
               is_right = is_right || std::fabs(log_hastings - expected) < tolerance;
             }
             EXPECT_TRUE(is_right);
             if (number < 200) expect_undone(*head, before, after, number);
           });
}

TEST_P(move_reversal, flip) {
  const auto flip = move("flip");
  try_move(
      *flip, [&](const network_state& before, const network_state& after, double log_hastings, std::uint64_t number) {
        // Two nodes moved: x, a reticulation before and after, and a, a split before and after.
        std::int32_t x = -1, a = -1;
        for (std::int32_t node = species; node < test::size_of(before); ++node)
          if (before.node(node).height != after.node(node).height) (before.is_reticulation(node) ? x : a) = node;
        ASSERT_TRUE(x >= 0 && a >= 0);
        std::int32_t e = -1;
        for (std::int32_t i = 0; i < 2; ++i)
          if (before.node(x).parent[static_cast<std::size_t>(i)] == a &&
              after.node(x).parent[static_cast<std::size_t>(i)] == a)
            e = 2 * x + i;
        ASSERT_GE(e, 0);
        EXPECT_EQ(before.theta(e), after.theta(e));
        EXPECT_EQ(before.gamma(e), after.gamma(e));
        EXPECT_NEAR(log_hastings, log_flip(after, e, before.node(a).height) - log_flip(before, e, after.node(a).height),
                    tolerance);
        if (number < 400) expect_undone(*flip, before, after, number);
      });
}

TEST_P(move_reversal, swap) {
  const auto swap = move("swap");
  try_move(
      *swap, [&](const network_state& before, const network_state& after, double log_hastings, std::uint64_t number) {
        // Two branches exchanged their tops; e is the one with the lower top before.
        std::vector<std::int32_t> changed;
        for (const edge& one : edges_of(before))
          if (after.top(2 * one.child + one.which) != one.parent) changed.push_back(2 * one.child + one.which);
        ASSERT_EQ(changed.size(), 2u);
        const std::size_t lower = before.top_height(changed[0]) < before.top_height(changed[1]) ? 0 : 1;
        EXPECT_EQ(before.top(changed[0]), after.top(changed[1]));
        EXPECT_EQ(before.top(changed[1]), after.top(changed[0]));
        EXPECT_NEAR(log_hastings, log_swap(after, changed[1 - lower]) - log_swap(before, changed[lower]), tolerance);
        if (number < 100) expect_undone(*swap, before, after, number);
      });
}

TEST_P(move_reversal, add) {
  const auto add = move("add"), remove = move("delete");
  std::int64_t bubbles = 0;
  const auto width = GetParam() == kind::each ? std::optional<double>(add->width()) : std::nullopt;
  try_move(*add, [&](const network_state& before, const network_state& after, double log_hastings,
                     std::uint64_t number) {
    // New nodes come last: the reticulation, whose second parent branch is the new one, and the split.
    const std::int32_t x = test::size_of(before), e = 2 * x + 1;
    ASSERT_EQ(after.node(x).parent[1], x + 1);
    bubbles += after.is_bubble(x);
    const jump found = log_jump(before, after, e, priors.options().inheritance, width);
    EXPECT_NEAR(log_hastings, found.log_delete - found.log_add, tolerance);
    // delete undoes it: every bit, and the opposite ratio.
    bool is_undone = false;
    for (std::uint64_t seed = 0; seed < 200 && !is_undone; ++seed) {
      random_stream random(2000 + seed, number);
      network_state back = after;
      const snp::proposal made = remove->propose(back, random);
      is_undone = made.applies && same_bits(before, back) && std::fabs(made.log_hastings + log_hastings) < tolerance;
    }
    EXPECT_TRUE(is_undone) << "after.is_bubble: " << after.is_bubble(x);
  });
  EXPECT_GT(bubbles, 50);
}

TEST_P(move_reversal, delete_reticulation) {
  const auto remove = move("delete");
  const auto width = GetParam() == kind::each ? std::optional<double>(remove->width()) : std::nullopt;
  try_move(*remove, [&](const network_state& before, const network_state& after, double log_hastings, std::uint64_t) {
    EXPECT_EQ(after.reticulations, before.reticulations - 1);
    // The two nodes that are gone, by their heights.
    std::set<double> left;
    for (const snp::state_node& node : after.nodes) left.insert(node.height);
    std::vector<std::int32_t> gone;
    for (std::int32_t x = species; x < test::size_of(before); ++x)
      if (!left.contains(before.node(x).height)) gone.push_back(x);
    ASSERT_EQ(gone.size(), 2u);
    const std::int32_t x = before.is_reticulation(gone[0]) ? gone[0] : gone[1], a = gone[0] + gone[1] - x;
    bool is_right = false;
    for (std::int32_t i = 0; i < 2; ++i) {
      if (before.node(x).parent[static_cast<std::size_t>(i)] != a) continue;
      const jump found = log_jump(after, before, 2 * x + i, priors.options().inheritance, width);
      is_right = is_right || std::fabs(log_hastings - (found.log_add - found.log_delete)) < tolerance;
    }
    EXPECT_TRUE(is_right);
  });
}

// d, q and m: one number changes, and nothing else.
TEST(move_reversal_of_rates, ratios) {
  snp::prior_options options;
  options.origin = {univariate_prior::family::exponential, 1, 1};
  options.netdiv = {univariate_prior::family::exponential, 1, 1};
  options.theta_mean = univariate_prior{univariate_prior::family::lognormal, -3, 1};
  const snp::priors priors(options, 3, {.max_reticulations = 2});
  struct number {
    const char* move;
    double network_state::* place;
    bool is_share;
  };
  for (const number& n :
       {number{"netdiv", &network_state::netdiv, false}, number{"turnover", &network_state::turnover, true},
        number{"theta mean", &network_state::theta_mean, false}}) {
    const auto move = test::take_move(snp::make_moves(priors), n.move);
    for (std::uint64_t i = 0; i < 1000; ++i) {
      random_stream random(79, i);
      const network_state before = priors.draw(test::species_names(3), random);
      network_state after = before;
      const snp::proposal made = move->propose(after, random);
      ASSERT_TRUE(made.applies && !made.changes_likelihood);
      const double x = before.*n.place, y = after.*n.place;
      EXPECT_NE(x, y);
      // The step is symmetric in log x, or in log x - log(1 - x).
      const double expected =
          n.is_share ? std::log(1 / x + 1 / (1 - x)) - std::log(1 / y + 1 / (1 - y)) : std::log(y / x);
      EXPECT_NEAR(made.log_hastings, expected, tolerance);
      after.*n.place = x;
      EXPECT_TRUE(equal_bits(before, after));
    }
  }
}

// A wrong ratio is far from what the densities say.
TEST_P(move_reversal, planted_errors_are_noticed) {
  const auto width = GetParam() == kind::each ? std::optional<double>(0.5) : std::nullopt;
  const auto misses = [&](test::wrong_move::error_function error) {
    const test::wrong_move wrong(move("add"), std::move(error));
    const auto names = test::species_names(species);
    std::int64_t missed = 0;
    for (std::uint64_t i = 0; i < 200; ++i) {
      random_stream random(78, i);
      const network_state before = priors.draw(names, random);
      network_state after = before;
      const snp::proposal made = wrong.propose(after, random);
      if (!made.applies) continue;
      const jump found = log_jump(before, after, 2 * test::size_of(before) + 1, priors.options().inheritance, width);
      missed += std::fabs(made.log_hastings - (found.log_delete - found.log_add)) < 1e-6;
    }
    return missed;
  };
  using state = const network_state&;
  EXPECT_GT(misses([](state, state) { return 0; }), 50);
  EXPECT_EQ(misses([](state, state) { return std::log(2); }), 0);                                       // 2r for 4r
  EXPECT_EQ(misses([](state before, state) { return 2 * std::log(1 - 1.0 / before.branches()); }), 0);  // E for E + 1
  EXPECT_LT(misses([](state, state after) {  // without the density of gamma
              const double g = after.node(test::size_of(after) - 2).gamma[1];
              return univariate_prior{univariate_prior::family::beta, 1.7, 1.7}.log_density(g);
            }),
            3);
}

INSTANTIATE_TEST_SUITE_P(thetas, move_reversal, testing::Values(kind::each, kind::common),
                         [](const auto& info) { return info.param == kind::each ? "each" : "common"; });

}  // namespace
}  // namespace quintet
