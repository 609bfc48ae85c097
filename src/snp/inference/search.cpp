#include "quintet/snp/inference/search.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "quintet/core/philox.hpp"
#include "quintet/core/poll.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/snp/inference/priors.hpp"
#include "quintet/snp/network/network_topology.hpp"
#include "quintet/snp/network/rooting.hpp"
#include "snp/inference/composite_climber.hpp"
#include "snp/inference/moves/move.hpp"
#include "snp/inference/search_roots.hpp"
#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

constexpr double min_gain = 1e-3;
constexpr int proposals_per_topology = 50;
// A clade of any size is drawn: one tree in 3000 has seven of fourteen species together.
constexpr int random_trees = 100'000, trees_of_likelihood_0 = 100;
// The winner of a level is optimised with so many times the iterations.
constexpr std::int64_t winner_iterations = 10;

struct scored {
  double log_likelihood = -infinity;
  double bic = infinity;
  std::shared_ptr<const Network> network;
};

// A topology as a state, whose heights only serve to propose others, and what it is worth.
struct candidate {
  network_state state;
  std::string kind;
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
        moves_(make_moves(prior_)),
        is_root_seen_(!options.optimise.lengths || options.optimise.thetas == theta_parameters::each ||
                      options.model.mutation_only_at_root) {
    for (const double w : data_.weights()) sites_ += w;
  }

  search_result run() {
    std::vector<std::vector<candidate>> ends(std::size_t(options_.max_reticulations) + 1);
    for (start_ = 0; start_ < options_.starts; ++start_) {
      random_ = random_stream(options_.seed, std::uint64_t(start_));
      begin_level(0);
      candidate best = climb(random_tree());
      for (std::int64_t r = 0;; ++r) {
        ends[std::size_t(r)].push_back(best);
        report(best.score, true);
        if (r == options_.max_reticulations) break;
        begin_level(r + 1);
        std::optional<candidate> next = with_reticulation(best);
        if (!next) break;
        best = climb(*std::move(next));
      }
    }
    search_result result;
    for (std::size_t r = 0; r < ends.size() && !ends[r].empty(); ++r)
      result.levels.push_back(level_of(ends[r], std::int64_t(r)));
    result.topologies = std::int64_t(scores_.size());
    result.is_root_seen = is_root_seen_;
    report_("search", 1);
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

  bool is_admitted(const Network& network) const { return admits_outgroup(network, options_.outgroup, is_root_seen_); }

  // What the likelihood tells apart; empty for networks that the outgroup leaves out.
  std::string new_kind(const Network& network) const {
    if (!is_admitted(network)) return {};
    return is_root_seen_ ? topology_key(network) : unrooted_key(network);
  }

  const std::string& kind_of(const network_state& state) {
    const canonical_numbering numbering = number_canonically(state);
    const auto [place, is_new] = kinds_.try_emplace(numbering.key);
    if (is_new) place->second = new_kind(to_network(state, numbering));
    return place->second;
  }

  // Whether it is worth a look: not judged yet, or known to be better. A later start follows what an earlier one found.
  bool is_promising(const network_state& state, double log_likelihood) {
    const std::string& kind = kind_of(state);
    if (kind.empty()) return false;
    const auto known = scores_.find(kind);
    return known == scores_.end() || known->second.log_likelihood > log_likelihood + min_gain;
  }

  candidate judged(network_state state) {
    std::string kind = kind_of(state);
    const auto [place, is_new] = scores_.try_emplace(kind);
    if (is_new) {
      place->second = maximum(state);
      if (place->second.bic < best_.bic) keep_as_best(place->second);
    }
    return {std::move(state), std::move(kind), place->second};
  }

  optimise_options optimisation(const Network& network) {
    optimise_options settings = options_.optimise;
    settings.gammas = settings.gammas && !network.reticulations().empty();
    settings.progress = [this](std::string_view, double) {
      show_progress();
      return true;
    };
    return settings;
  }

  scored maximum(const network_state& state) {
    Likelihood likelihood(to_network(state), data_, options_.model, options_.likelihood);
    if (!std::isfinite(likelihood.evaluate())) return {};
    const optimise_result optimum = optimise(likelihood, optimisation(likelihood.network()));
    return {optimum.log_likelihood, bic(optimum.log_likelihood, optimum.parameters, sites_),
            std::make_shared<const Network>(likelihood.network())};
  }

  Network with_root_asked_for(const Network& network) const {
    return with_asked_root(network, options_.outgroup, is_root_seen_);
  }

  void keep_as_best(const scored& result) {
    best_ = result;
    best_.network = std::make_shared<const Network>(with_root_asked_for(*result.network));
  }

  // Of this level; it does not go back when a gain lets the climb begin again.
  void begin_level(std::int64_t reticulations) {
    reticulations_ = reticulations;
    share_ = 0;
    show_progress();
  }
  void show_progress() {
    poll();
    const double levels = double(options_.max_reticulations + 1);
    report_("search", (double(start_) + (double(reticulations_) + share_) / levels) / double(options_.starts));
  }
  void show_share(double share) {
    share_ = std::max(share_, share);
    show_progress();
  }
  void report(const scored& best_of_climb, bool is_end = false) {
    if (!options_.report) return;
    options_.report({start_, reticulations_, std::int64_t(scores_.size()), best_of_climb.log_likelihood, is_end,
                     best_.bic, best_.network.get()});
  }

  candidate random_tree() {
    int unlikely = 0;
    for (int drawn = 0; drawn < random_trees && unlikely < trees_of_likelihood_0; ++drawn) {
      poll();
      network_state tree = trees_.draw(names_, random_);
      if (kind_of(tree).empty()) continue;
      candidate start = judged(std::move(tree));
      if (std::isfinite(start.score.log_likelihood)) return start;
      ++unlikely;
    }
    if (unlikely == trees_of_likelihood_0)
      throw InvalidArgument(text("the data have likelihood 0 on ", trees_of_likelihood_0, " random trees"));
    throw InvalidArgument(text("outgroup: none of ", random_trees, " random trees has its ", options_.outgroup.size(),
                               " species together; fewer of them are found sooner"));
  }

  // A move of this name, whatever it does to prior and likelihood; nothing when it leaves the class.
  bool apply(std::string_view name, network_state& state) {
    const auto it = std::find_if(moves_.begin(), moves_.end(), [&](const auto& m) { return m->name() == name; });
    if (it == moves_.end()) return false;
    const network_state before = state;
    if ((*it)->propose(state, random_).applies && is_in_range(state) && is_allowed(state, prior_.limits())) return true;
    state = before;
    return false;
  }

  // Other heights let other subtrees meet.
  void stir(network_state& state) {
    for (std::int32_t i = 0; i < state.inner_nodes(); ++i) apply("height", state);
  }

  // A promising topology near by.
  bool neighbour(const candidate& best, network_state& to) {
    static constexpr std::string_view names[] = {"tail", "tail", "swap", "head", "head", "flip"};
    const network_state& from = best.state;
    for (int attempt = 0; attempt < proposals_per_topology; ++attempt) {
      poll();
      to = from;
      stir(to);
      const std::size_t kinds = from.reticulations > 0 ? std::size(names) : 3;
      if (apply(names[random_.below(std::uint32_t(kinds))], to) && to.reticulations == from.reticulations &&
          is_promising(to, best.score.log_likelihood))
        return true;
    }
    return false;
  }

  candidate climb(candidate best) {
    const double begin = share_;
    network_state next;
    for (std::int64_t failures = 0; failures < options_.patience && neighbour(best, next);) {
      candidate neighbour = judged(next);
      if (neighbour.score.log_likelihood > best.score.log_likelihood + min_gain) {
        best = std::move(neighbour);
        failures = 0;
      } else {
        ++failures;
      }
      report(best.score);
      show_share(begin + (1 - begin) * double(failures) / double(options_.patience));
    }
    return best;
  }

  // The best of `patience` new places of one more reticulation, and of the known ones that are met; nothing where the
  // outgroup admits none.
  std::optional<candidate> with_reticulation(const candidate& from) {
    candidate best;
    network_state next;
    int proposals = 0;  // since the last new place
    for (std::int64_t places = 0; places < options_.patience && proposals < proposals_per_topology; ++proposals) {
      poll();
      next = from.state;
      stir(next);
      if (!apply("add", next) || kind_of(next).empty()) continue;
      const std::size_t known = scores_.size();
      candidate neighbour = judged(next);
      if (best.kind.empty() || neighbour.score.log_likelihood > best.score.log_likelihood) best = std::move(neighbour);
      if (scores_.size() == known) continue;
      proposals = -1;
      report(best.score);
      show_share(0.5 * double(++places) / double(options_.patience));
    }
    if (best.kind.empty()) return {};
    return best;
  }

  search_level level_of(const std::vector<candidate>& ends, std::int64_t r) {
    const auto best = std::max_element(ends.begin(), ends.end(), [](const candidate& a, const candidate& b) {
      return a.score.log_likelihood < b.score.log_likelihood;
    });
    const Network network = with_root_asked_for(*best->score.network);
    Likelihood likelihood(network, data_, options_.model, options_.likelihood);
    optimise_options settings = optimisation(network);
    settings.max_iterations = std::min(settings.max_iterations * winner_iterations, max_optimise_iterations);
    settings.tolerance = std::min(settings.tolerance, 1e-6);
    const optimise_result optimum = optimise(likelihood, settings);
    search_level level{.reticulations = r,
                       .network = likelihood.network(),
                       .log_likelihood = optimum.log_likelihood,
                       .parameters = optimum.parameters,
                       .at_bounds = optimum.at_bounds,
                       .truncation_bound = optimum.truncation_bound};
    level.aic = aic(level.log_likelihood, level.parameters);
    level.bic = bic(level.log_likelihood, level.parameters, sites_);
    level.starts =
        std::count_if(ends.begin(), ends.end(), [&](const candidate& other) { return other.kind == best->kind; });
    if (!is_root_seen_) level.rootings = std::int64_t(rootings(level.network).size());
    return level;
  }

  const Data& data_;
  const search_options& options_;
  progress report_;
  std::shared_ptr<const std::vector<std::string>> names_;
  priors prior_, trees_;
  std::vector<std::unique_ptr<move>> moves_;
  bool is_root_seen_;
  double sites_ = 0;
  random_stream random_{0};
  std::int64_t start_ = 0, reticulations_ = 0;
  double share_ = 0;
  std::map<std::string, std::string> kinds_;  // of rooted topologies
  std::map<std::string, scored> scores_;      // of kinds
  scored best_;
};

}  // namespace

search_result search_networks(const Data& data, const search_options& options) {
  const stage_region stage("search");
  const auto within = [](std::string_view name, std::int64_t value, std::int64_t least, std::int64_t most) {
    require_argument(value >= least && value <= most, name, value, text("in ", least, " ... ", most));
  };
  within("max_reticulations", options.max_reticulations, 0, 20);
  within("starts", options.starts, 1, max_search_starts);
  within("patience", options.patience, 1, max_search_patience);
  require_argument(options.theta > 0 && std::isfinite(options.theta), "theta", options.theta, "finite and > 0");
  require_argument(data.species().size() >= 2, "species of the data", data.species().size(), ">= 2");
  for (const std::string& name : options.outgroup)
    if (std::find(data.species().begin(), data.species().end(), name) == data.species().end())
      require_argument(false, "outgroup", name, "a species of the data");
  if (std::set<std::string>(options.outgroup.begin(), options.outgroup.end()).size() == data.species().size())
    throw InvalidArgument("outgroup must not be all species of the data");
  return options.composite != 0 ? search_composite(data, options) : climber(data, options).run();
}

const search_level& best_level(const search_result& result) {
  if (!result.is_composite)
    return *std::min_element(result.levels.begin(), result.levels.end(),
                             [](const search_level& a, const search_level& b) { return a.bic < b.bic; });
  std::size_t best = 0;
  while (best + 1 < result.levels.size() && result.levels[best + 1].bic_gain > 0) ++best;
  return result.levels[best];
}

}  // namespace quintet::snp
