#include "quintet/snp/inference/search.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>

#include "quintet/core/philox.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/snp/inference/priors.hpp"
#include "quintet/snp/network/network_topology.hpp"
#include "snp/inference/moves/move.hpp"
#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

constexpr double min_gain = 1e-3;
constexpr int proposals_per_topology = 50;

struct scored {
  double log_likelihood = -infinity;
  std::shared_ptr<const Network> network;
};

// A topology as a state, whose heights only serve to propose others, and what it is worth.
struct candidate {
  network_state state;
  std::string key;
  scored score;
};

class climber {
 public:
  climber(const Data& data, const search_options& options)
      : data_(data),
        options_(options),
        report_(options.progress),
        names_(std::make_shared<const std::vector<std::string>>(data.species().begin(), data.species().end())),
        prior_(prior_options_of(options), std::int64_t(names_->size()),
               {.max_reticulations = options.max_reticulations, .bubbles = false}),
        trees_(prior_options_of(options), std::int64_t(names_->size()), {.max_reticulations = 0}),
        moves_(make_moves(prior_)) {}

  search_result run() {
    std::vector<std::vector<candidate>> ends(std::size_t(options_.max_reticulations) + 1);
    for (std::int64_t start = 0; start < options_.starts; ++start) {
      random_ = random_stream(options_.seed, std::uint64_t(start));
      candidate best = climb(random_tree());
      for (std::int64_t r = 0;; ++r) {
        ends[std::size_t(r)].push_back(best);
        const double levels = double(options_.max_reticulations + 1);
        report_("search", (double(start) + double(r + 1) / levels) / double(options_.starts));
        if (r == options_.max_reticulations) break;
        best = climb(with_reticulation(best));
      }
    }
    search_result result;
    for (std::size_t r = 0; r < ends.size(); ++r) result.levels.push_back(level_of(ends[r], std::int64_t(r)));
    result.topologies = std::int64_t(scores_.size());
    return result;
  }

 private:
  static prior_options prior_options_of(const search_options& options) {
    prior_options prior;
    prior.speciation_rate = 20;
    prior.hybridization_rate = 10;
    prior.thetas = theta_mode::common;
    prior.theta = {univariate_prior::family::fixed, options.theta, 1};
    return prior;
  }

  candidate judged(network_state state) {
    std::string key = number_canonically(state).key;
    const auto [place, is_new] = scores_.try_emplace(key);
    if (is_new) place->second = maximum(state);
    return {std::move(state), std::move(key), place->second};
  }

  bool is_known(const network_state& state) const { return scores_.contains(number_canonically(state).key); }

  scored maximum(const network_state& state) const {
    Likelihood likelihood(to_network(state), data_, options_.model, options_.likelihood);
    if (!std::isfinite(likelihood.evaluate())) return {};
    optimise_options how = options_.optimise;
    how.progress = {};
    how.gammas = how.gammas && state.reticulations > 0;
    const double value = optimise(likelihood, how).log_likelihood;
    return {value, std::make_shared<const Network>(likelihood.network())};
  }

  candidate random_tree() {
    for (int attempt = 0; attempt < 100; ++attempt) {
      candidate tree = judged(trees_.draw(names_, random_));
      if (std::isfinite(tree.score.log_likelihood)) return tree;
    }
    throw InvalidArgument("the data have likelihood 0 on 100 random trees");
  }

  // A move of this name, whatever it does to prior and likelihood; nothing when it leaves the class.
  bool apply(std::string_view name, network_state& state) {
    const auto found = std::find_if(moves_.begin(), moves_.end(), [&](const auto& m) { return m->name() == name; });
    if (found == moves_.end()) return false;
    const network_state before = state;
    if ((*found)->propose(state, random_).applies && is_in_range(state) && is_allowed(state, prior_.limits()))
      return true;
    state = before;
    return false;
  }

  // Other heights let other subtrees meet.
  void stir(network_state& state) {
    for (std::int32_t i = 0; i < state.inner_nodes(); ++i) apply("height", state);
  }

  // A topology near by that was not judged yet.
  bool neighbour(const network_state& from, network_state& to) {
    static constexpr std::string_view names[] = {"tail", "tail", "swap", "head", "head", "flip"};
    for (int attempt = 0; attempt < proposals_per_topology; ++attempt) {
      to = from;
      stir(to);
      const std::size_t kinds = from.reticulations > 0 ? std::size(names) : 3;
      if (apply(names[random_.below(std::uint32_t(kinds))], to) && to.reticulations == from.reticulations &&
          !is_known(to))
        return true;
    }
    return false;
  }

  candidate climb(candidate best) {
    network_state next;
    for (std::int64_t failures = 0; failures < options_.patience && neighbour(best.state, next);) {
      candidate there = judged(next);
      if (there.score.log_likelihood > best.score.log_likelihood + min_gain) {
        best = std::move(there);
        failures = 0;
      } else {
        ++failures;
      }
    }
    return best;
  }

  candidate with_reticulation(const candidate& from) {
    candidate best;
    for (std::int64_t place = 0; place < options_.patience; ++place) {
      network_state next;
      bool found = false;
      for (int attempt = 0; attempt < proposals_per_topology && !found; ++attempt) {
        next = from.state;
        stir(next);
        found = apply("add", next) && !is_known(next);
      }
      if (!found) break;
      candidate there = judged(next);
      if (there.score.log_likelihood > best.score.log_likelihood || best.key.empty()) best = std::move(there);
    }
    if (!best.key.empty()) return best;
    // All of them are known: the best known one.
    network_state next = from.state;
    while (!apply("add", next)) stir(next);
    return judged(next);
  }

  search_level level_of(const std::vector<candidate>& ends, std::int64_t r) const {
    const auto best = std::max_element(ends.begin(), ends.end(), [](const candidate& a, const candidate& b) {
      return a.score.log_likelihood < b.score.log_likelihood;
    });
    Likelihood likelihood(*best->score.network, data_, options_.model, options_.likelihood);
    optimise_options how = options_.optimise;
    how.progress = {};
    how.gammas = how.gammas && r > 0;
    how.max_iterations *= 10;
    how.tolerance = std::min(how.tolerance, 1e-6);
    const optimise_result found = optimise(likelihood, how);
    search_level level{.reticulations = r,
                       .network = likelihood.network(),
                       .log_likelihood = found.log_likelihood,
                       .parameters = found.parameters,
                       .at_bounds = found.at_bounds};
    double sites = 0;
    for (const double w : data_.weights()) sites += w;
    level.aic = aic(level.log_likelihood, level.parameters);
    level.bic = bic(level.log_likelihood, level.parameters, sites);
    level.starts =
        std::count_if(ends.begin(), ends.end(), [&](const candidate& other) { return other.key == best->key; });
    return level;
  }

  const Data& data_;
  const search_options& options_;
  progress report_;
  std::shared_ptr<const std::vector<std::string>> names_;
  priors prior_, trees_;
  std::vector<std::unique_ptr<move>> moves_;
  random_stream random_{0};
  std::map<std::string, scored> scores_;
};

}  // namespace

search_result search_networks(const Data& data, const search_options& options) {
  const stage_region stage("search");
  const auto at_least = [](std::string_view name, std::int64_t value, std::int64_t min) {
    require_argument(value >= min, name, value, text(">= ", min));
  };
  require_argument(options.max_reticulations >= 0 && options.max_reticulations <= 20, "max_reticulations",
                   options.max_reticulations, "in [0, 20]");
  at_least("starts", options.starts, 1);
  at_least("patience", options.patience, 1);
  require_argument(options.theta > 0 && std::isfinite(options.theta), "theta", options.theta, "finite and > 0");
  at_least("species of the data", std::int64_t(data.species().size()), 2);
  return climber(data, options).run();
}

}  // namespace quintet::snp
