// What tests of the sampler's moves share: statistics of a state, a step of the chain on the prior alone, and wrong
// moves.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "quintet/snp/inference/priors.hpp"
#include "quintet/snp/network/network_state.hpp"
#include "snp/inference/moves/move.hpp"

namespace quintet::test {

inline std::shared_ptr<const std::vector<std::string>> species_names(std::int64_t count) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) names.emplace_back(1, static_cast<char>('A' + i));
  return std::make_shared<const std::vector<std::string>>(names);
}

/// Of a standard normal number, in either direction: more than that comes once in 150,000.
inline constexpr double allowed = 4.5;

/// A number of every state, by name.
struct statistic {
  const char* name;
  double (*of)(const snp::network_state&);
};

inline std::int32_t size_of(const snp::network_state& s) { return static_cast<std::int32_t>(s.nodes.size()); }

/// How far inner node x is above its highest child.
inline double above_children(const snp::network_state& s, std::int32_t x) {
  double highest = 0;
  for (std::int32_t k = 0; k < s.node(x).children; ++k)
    highest = std::max(highest, s.node(s.node(x).child[static_cast<std::size_t>(k)] / 2).height);
  return s.node(x).height - highest;
}

/// Sum over the nodes.
template <class Of>
double sum_over_nodes(const snp::network_state& s, const Of& of) {
  double sum = 0;
  for (std::int32_t x = 0; x < size_of(s); ++x) sum += of(x);
  return sum;
}

inline const std::vector<statistic>& statistics() {
  using state = const snp::network_state&;
  static const std::vector<statistic> list{
      {"r = 0", [](state s) { return s.reticulations == 0 ? 1.0 : 0.0; }},
      {"r = 1", [](state s) { return s.reticulations == 1 ? 1.0 : 0.0; }},
      {"r = 2", [](state s) { return s.reticulations == 2 ? 1.0 : 0.0; }},
      {"h(root)", [](state s) { return s.node(s.root).height; }},
      {"tau", [](state s) { return s.origin; }},
      {"bubbles",
       [](state s) { return sum_over_nodes(s, [&](std::int32_t x) { return s.is_bubble(x) ? 1.0 : 0.0; }); }},
      {"total length",
       [](state s) {
         return sum_over_nodes(s, [&](std::int32_t x) {
           double sum = 0;
           for (std::int32_t i = 0; i < s.node(x).parents; ++i) sum += s.length(s.branch_of(x, i));
           return sum;
         });
       }},
      {"mean theta",
       [](state s) {
         return sum_over_nodes(s, [&](std::int32_t x) {
           double sum = 0;
           for (std::int32_t i = 0; i < s.node(x).parents; ++i) sum += s.theta(s.branch_of(x, i));
           return sum / s.branches();
         });
       }},
      {"theta above reticulations",
       [](state s) {
         return sum_over_nodes(s, [&](std::int32_t x) {
           return s.is_reticulation(x) ? std::log(s.theta(s.branch_of(x, 0)) * s.theta(s.branch_of(x, 1))) : 0.0;
         });
       }},
      {"least height",
       [](state s) {
         double min = s.node(s.root).height;
         for (std::int32_t x = s.leaves(); x < size_of(s); ++x) min = std::min(min, s.node(x).height);
         return min;
       }},
      {"stacked reticulations",
       [](state s) {
         return sum_over_nodes(s, [&](std::int32_t x) {
           return s.is_reticulation(x) && s.is_reticulation(s.bottom(s.node(x).child[0])) ? 1.0 : 0.0;
         });
       }},
      {"cherries",
       [](state s) {
         return sum_over_nodes(s, [&](std::int32_t x) {
           return s.is_tree_node(x) && s.is_leaf(s.bottom(s.node(x).child[0])) &&
                          s.is_leaf(s.bottom(s.node(x).child[1]))
                      ? 1.0
                      : 0.0;
         });
       }},
      {"sum (g - 1/2)^2",
       [](state s) {
         return sum_over_nodes(s, [&](std::int32_t x) {
           return s.is_reticulation(x) ? (s.node(x).gamma[0] - 0.5) * (s.node(x).gamma[0] - 0.5) : 0.0;
         });
       }},
      {"netdiv", [](state s) { return s.netdiv; }},
      {"turnover", [](state s) { return s.turnover; }},
      {"pi1", [](state s) { return s.pi1; }},
      {"theta mean", [](state s) { return s.theta_mean; }},
  };
  return list;
}

/// One step with one move on the prior; true if accepted. `before` is overwritten.
inline bool step_on_prior(const snp::priors& priors, const snp::move& move, snp::network_state& state,
                          snp::network_state& before, double& log_prior, random_stream& random) {
  before = state;
  const snp::proposal made = move.propose(state, random);
  const double log_uniform = std::log(random.uniform_positive<double>());
  if (!made.applies) return false;
  if (snp::is_in_range(state) && snp::is_allowed(state, priors.limits())) {
    const double proposed = priors.log_density(state);
    if (log_uniform < proposed - log_prior + made.log_hastings) {
      log_prior = proposed;
      return true;
    }
  }
  state = before;
  return false;
}

/// A move whose ratio is off by what `error` says of the state before and after.
class wrong_move final : public snp::move {
 public:
  using error_function = std::function<double(const snp::network_state& before, const snp::network_state& after)>;
  wrong_move(std::unique_ptr<snp::move> right, error_function error)
      : move(right->weight(), right->width()), right_(std::move(right)), error_(std::move(error)) {}
  std::string_view name() const override { return right_->name(); }

  snp::proposal propose(snp::network_state& state, random_stream& random) const override {
    const snp::network_state before = state;
    snp::proposal made = right_->propose(state, random);
    if (made.applies) made.log_hastings += error_(before, state);
    return made;
  }

 private:
  std::unique_ptr<snp::move> right_;
  error_function error_;
};

/// A move that learns gets to know the most frequent topologies of the prior, from exact draws.
inline void teach(snp::move& move, const snp::priors& priors, std::int64_t species) {
  if (!move.learns()) return;
  constexpr std::uint64_t first_draws = 2000, draws = 20000;
  constexpr std::size_t topologies = 12;
  const auto names = species_names(species);
  const auto draw = [&](std::uint64_t i) {
    random_stream random(5150, i);
    return priors.draw(names, random);
  };
  std::map<std::string, std::int64_t> counts;
  for (std::uint64_t i = 0; i < first_draws; ++i) --counts[snp::number_canonically(draw(i)).key];
  std::vector<std::pair<std::int64_t, std::string>> by_count;
  for (const auto& [key, count] : counts) by_count.emplace_back(count, key);
  std::sort(by_count.begin(), by_count.end());
  std::set<std::string> frequent;
  for (std::size_t k = 0; k < std::min(topologies, by_count.size()); ++k) frequent.insert(by_count[k].second);
  for (std::uint64_t i = 0; i < draws; ++i)
    if (const snp::network_state state = draw(i); frequent.contains(snp::number_canonically(state).key))
      move.learn(state);
}

inline std::unique_ptr<snp::move> take_move(std::vector<std::unique_ptr<snp::move>>&& moves, std::string_view name) {
  for (std::unique_ptr<snp::move>& one : moves)
    if (one->name() == name) return std::move(one);
  throw std::runtime_error("there is no move " + std::string(name));
}

}  // namespace quintet::test
