#include "snp/inference/composite_climber.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "quintet/core/philox.hpp"
#include "quintet/core/poll.hpp"
#include "quintet/device/device.hpp"
#include "snp/inference/pair_fits.hpp"
#include "snp/inference/search_roots.hpp"
#include "snp/likelihood/climb.hpp"
#include "snp/likelihood/composite_sets.hpp"
#include "snp/likelihood/worker_team.hpp"
#include "snp/network/network_edits.hpp"
#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

constexpr std::int64_t local_iterations = 8;
// On the way the climb asks for gains this much larger than at the end.
constexpr double coarse = 30;
// All places of a reticulation are ranked with the first of these, the best ones with the others.
constexpr double first_gammas[] = {0.3, 0.1, 0.5};
// Networks whose distances fit worse by this are not looked at, where residuals are a chi square; where sites are
// linked, or the fit of the best network is bad for other reasons, by as many times more.
constexpr double worst_residual = 8;
constexpr std::int64_t least_refined = 64;
constexpr double least_fit_gain = 0.5;  // of a residual
constexpr double least_start = 0.02;    // of a length, in units of theta
constexpr double bridge_length = 1e-3;  // of a new parent branch, in units of theta

// The branches on cycles, without which the network stays in one piece, and those that end there: the surroundings of
// all reticulations.
std::vector<char> branches_at_cycles(const Network& network) {
  const std::int64_t branches = network.branches();
  std::vector<char> is_on_cycle(at(branches), 0), is_node_on_cycle(at(network.nodes()), 0);
  for (std::int64_t b = 0; b < branches; ++b) {
    std::vector<char> is_reached(at(network.nodes()), 0);
    is_reached[at(network.branch(b).parent)] = 1;
    for (bool grows = true; grows;) {
      grows = false;
      for (std::int64_t c = 0; c < branches; ++c) {
        char &upper = is_reached[at(network.branch(c).parent)], &lower = is_reached[at(network.branch(c).child)];
        if (c == b || upper == lower) continue;
        upper = lower = 1;
        grows = true;
      }
    }
    if (is_reached[at(network.branch(b).child)] == 0) continue;
    is_node_on_cycle[at(network.branch(b).parent)] = is_node_on_cycle[at(network.branch(b).child)] = 1;
  }
  for (std::int64_t b = 0; b < branches; ++b)
    is_on_cycle[at(b)] = is_node_on_cycle[at(network.branch(b).parent)] | is_node_on_cycle[at(network.branch(b).child)];
  return is_on_cycle;
}

// A network and its composite log-likelihood.
struct placed_network {
  Network network;
  double value = -infinity;
};

// An edit of a network, and how well the distances fit what it gives.
struct edit_proposal {
  std::size_t base = 0;
  std::int64_t hybrid = -1, donor = -1;  // a new reticulation; -1: interchange number `donor`
  double gamma = 0, residual = infinity;
};

class composite_climber {
 public:
  composite_climber(const Data& data, const search_options& options)
      : data_(data),
        options_(options),
        report_(options.progress),
        sets_(data, options.composite, options.model, options.likelihood),
        workers_(threads()),
        min_gain_(options.optimise.tolerance * double(sets_.sets().size()) / double(data.species().size())),
        places_(at(options.max_reticulations + 1), 0) {}

  search_result run() {
    std::vector<std::vector<placed_network>> ends(at(options_.max_reticulations + 1));
    for (start_ = 0; start_ < options_.starts; ++start_) {
      topologies_ += std::int64_t(kinds_.size());
      kinds_.clear();
      distances_ = measure_distances(data_, options_.model, options_.theta, weights_of_start(), workers_);
      begin_level(0);
      placed_network best = climb(first_tree());
      for (std::int64_t r = 0;; ++r) {
        report(best, true);
        ends[at(r)].push_back(best);
        if (r == options_.max_reticulations) break;
        begin_level(r + 1);
        std::optional<placed_network> next = best_addition(best);
        if (!next) break;
        best = climb(*std::move(next));
      }
    }
    search_result result{.levels = {}, .topologies = topologies(), .is_root_seen = false};
    result.is_composite = true;
    for (std::size_t r = 0; r < ends.size() && !ends[r].empty(); ++r)
      result.levels.push_back(level_of(ends[r], std::int64_t(r)));
    add_gains(result);
    report_("search", 1);
    return result;
  }

 private:
  std::int64_t topologies() const { return topologies_ + std::int64_t(kinds_.size()); }

  // All sites for the first start; as many drawn from them for the others.
  std::vector<double> weights_of_start() const {
    std::vector<double> weights(data_.weights().begin(), data_.weights().end());
    if (start_ == 0) return weights;
    std::vector<double> upper(weights.size());
    double sum = 0;
    for (std::size_t p = 0; p < weights.size(); ++p) upper[p] = sum += weights[p];
    std::fill(weights.begin(), weights.end(), 0.0);
    random_stream random(options_.seed, std::uint64_t(start_));
    for (double drawn = 0; drawn < sum; ++drawn) {
      const auto place = std::upper_bound(upper.begin(), upper.end(), sum * random.uniform<double>());
      ++weights[std::min(std::size_t(place - upper.begin()), upper.size() - 1)];
    }
    return weights;
  }

  placed_network first_tree() {
    const bool is_theta_free = options_.optimise.thetas == theta_parameters::common;
    const Network joined = join_neighbours(distances_, is_theta_free ? distances_.theta : options_.theta);
    if (!admits_outgroup(joined, options_.outgroup, false))
      throw InvalidArgument(text("outgroup: the tree that joins neighbours does not have its ",
                                 options_.outgroup.size(), " species together"));
    Network tree = fitted(joined);
    take_lengths(tree, std::vector<char>(at(tree.branches()), 1));
    return optimised_whole(tree);
  }

  // Lengths from the distances, of the branches that are marked. The climb is in logarithms, where 0 has no slope.
  void take_lengths(Network& network, const std::vector<char>& is_marked) const {
    const pair_fit fit = fit_lengths(network, distances_);
    for (std::int64_t b = 0; b < network.branches(); ++b)
      if (is_marked[at(b)] != 0)
        network.set_length(b, std::max(fit.lengths[at(b)], least_start * network.root_theta()));
  }

  // Edits as long as the distances fit better, which takes little of the time that likelihoods take.
  Network fitted(Network network) {
    for (double residual = fit_lengths(network, distances_).residual;;) {
      std::optional<Network> better;
      for (const edit_proposal& proposal : neighbourhood(network)) {
        if (better || proposal.residual > residual - least_fit_gain) break;
        const std::optional<edited_network> next = edited(proposal);
        if (!next || !admits_outgroup(next->network, options_.outgroup, false)) continue;
        residual = proposal.residual;
        better = next->network;
        take_lengths(*better, next->is_touched);
      }
      if (!better) break;
      network = *std::move(better);
    }
    return network;
  }

  optimise_options settings_of(const Network& network, std::int64_t iterations, double tolerance) {
    optimise_options settings = options_.optimise;
    settings.max_iterations = std::min(settings.max_iterations, iterations);
    settings.gammas = settings.gammas && !network.reticulations().empty();
    settings.tolerance = tolerance;
    settings.progress = [this](std::string_view, double) {
      show_progress();
      return true;
    };
    return settings;
  }

  placed_network maximum(const Network& network, const optimise_options& settings, std::vector<char> moved,
                         optimise_result* outcome = nullptr) {
    if (moved.empty()) moved.assign(at(network.branches()), 1);
    composite_likelihood likelihood(sets_, network, {moved, settings.thetas == theta_parameters::common});
    climb_problem problem(likelihood, settings, std::move(moved));
    optimise_result result;
    climb_vector x = problem.start();
    const double value = problem.empty() ? -likelihood.evaluate() : climb_from(problem, x, 0, settings, result);
    result.parameters = problem.parameters();
    result.at_bounds = problem.at_bounds(x);
    if (outcome != nullptr) *outcome = std::move(result);
    return {likelihood.network(), -value};
  }

  // Trees show theta well enough for the way to a network, which moves it once more at the end.
  placed_network optimised_whole(const Network& network) {
    optimise_options settings = settings_of(network, options_.optimise.max_iterations, coarse * min_gain_);
    if (!network.reticulations().empty()) settings.thetas = theta_parameters::fixed;
    placed_network result = maximum(network, settings, {});
    keep_if_best(result);
    return result;
  }

  // Lengths that the edit touched begin where the distances put them, and move to their maximum.
  placed_network optimised_near(edited_network edited) {
    take_lengths(edited.network, edited.is_touched);
    optimise_options settings = settings_of(edited.network, local_iterations, coarse * min_gain_);
    settings.thetas = theta_parameters::fixed;
    return maximum(edited.network, settings, std::move(edited.is_touched));
  }

  void keep_if_best(const placed_network& result) {
    if (!(result.value > best_value_) && best_network_ != nullptr) return;
    best_value_ = result.value;
    best_network_ = std::make_shared<const Network>(with_asked_root(result.network, options_.outgroup, false));
  }

  // Interchanges, and every reticulation in another place.
  std::vector<edit_proposal> neighbourhood(const Network& network) {
    bases_.clear();
    std::vector<edit_proposal> proposals;
    interchanges_ = neighbour_interchanges(network);
    for (std::size_t i = 0; i < interchanges_.size(); ++i)
      proposals.push_back({.donor = std::int64_t(i), .residual = infinity});
    for (const std::int64_t node : network.reticulations())
      for (const std::int64_t b : network.parent_branches(node))
        if (const auto base = without_parent_branch(network, b)) add_places(*base, proposals);
    return ranked(std::move(proposals));
  }

  // A clade below any branch may be the hybrid; so may all that is above it, with the root on that branch.
  void add_places(const Network& network, std::vector<edit_proposal>& proposals) {
    std::vector<Network> rooted = rootings(network);
    for (std::size_t i = 0; i < rooted.size(); ++i) {
      const auto of_root = rooted[i].child_branches(rooted[i].root());
      for (std::int64_t hybrid = 0; hybrid < rooted[i].branches(); ++hybrid) {
        if (i > 0 && hybrid != of_root[0] && hybrid != of_root[1]) continue;
        for (std::int64_t donor = 0; donor < rooted[i].branches(); ++donor)
          proposals.push_back({bases_.size(), hybrid, donor, first_gammas[0], infinity});
      }
      bases_.push_back(std::move(rooted[i]));
    }
  }

  std::optional<edited_network> edited(const edit_proposal& proposal) const {
    if (proposal.hybrid < 0) return interchanges_[at(proposal.donor)];
    const Network& base = bases_[proposal.base];
    return with_reticulation(base, proposal.hybrid, proposal.donor, bridge_length * base.root_theta(), proposal.gamma);
  }

  // With the gamma of these first ones that fits best.
  void fit(std::vector<edit_proposal>& proposals, std::int64_t count, std::span<const double> gammas) {
    workers_.run(std::min(count, std::int64_t(proposals.size())), [&](std::int64_t i) {
      edit_proposal& proposal = proposals[at(i)];
      const bool has_gamma = proposal.hybrid >= 0;
      for (const double gamma : gammas.first(has_gamma ? gammas.size() : 1)) {
        edit_proposal trial = proposal;
        trial.gamma = gamma;
        const auto outcome = edited(trial);
        if (!outcome) break;
        trial.residual = fit_lengths(outcome->network, distances_).residual;
        if (trial.residual < proposal.residual) proposal = trial;
      }
    });
    std::erase_if(proposals, [](const edit_proposal& p) { return !(p.residual < infinity); });
    std::sort(proposals.begin(), proposals.end(), [](const edit_proposal& a, const edit_proposal& b) {
      return std::tie(a.residual, a.base, a.hybrid, a.donor) < std::tie(b.residual, b.base, b.hybrid, b.donor);
    });
  }

  std::vector<edit_proposal> ranked(std::vector<edit_proposal> proposals) {
    poll();
    const std::span<const double> gammas(first_gammas);
    fit(proposals, std::int64_t(proposals.size()), gammas.first(1));
    fit(proposals, std::max(least_refined, 4 * options_.patience), gammas.subspan(1));
    return proposals;
  }

  // The residual up to which networks are looked at, where the best one has this.
  double worst_of(double residual) const {
    const double free = double(distances_.pairs()) - double(2 * distances_.species.size() - 3);
    return residual + worst_residual * std::max(1.0, residual / std::max(1.0, free));
  }

  // Whether a topology is met for the first time, and the outgroup admits it.
  bool is_new(const Network& network) {
    return admits_outgroup(network, options_.outgroup, false) && kinds_.insert(unrooted_key(network)).second;
  }

  placed_network climb(placed_network best) {
    kinds_.insert(unrooted_key(best.network));
    for (bool is_better = true; is_better;) {
      is_better = false;
      std::int64_t failures = 0;
      const double worst = worst_of(fit_lengths(best.network, distances_).residual);
      for (const edit_proposal& proposal : neighbourhood(best.network)) {
        if (failures == options_.patience || proposal.residual > worst) break;
        std::optional<edited_network> next = edited(proposal);
        if (!next || !is_new(next->network)) continue;
        placed_network candidate = optimised_near(*std::move(next));
        show_share(0.5 + 0.5 * double(++failures) / double(options_.patience));
        is_better = candidate.value > best.value + coarse * min_gain_;
        if (is_better) best = optimised_whole(candidate.network);
        report(best);
        if (is_better) break;
      }
    }
    return best;
  }

  // The best of the places where the distances fit well, and of what they make of the first of these.
  std::optional<placed_network> best_addition(const placed_network& from) {
    bases_.clear();
    std::vector<edit_proposal> proposals;
    add_places(from.network, proposals);
    proposals = ranked(std::move(proposals));
    std::int64_t& places = places_[at(reticulations_)];
    places = std::max(places, std::int64_t(proposals.size()));
    const std::vector<edited_network> candidates = first_additions(proposals);
    std::optional<placed_network> best;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      kinds_.insert(unrooted_key(candidates[i].network));
      placed_network candidate = optimised_near(candidates[i]);
      if (!best || candidate.value > best->value) best = std::move(candidate);
      report(*best);
      show_share(0.5 * double(i + 1) / double(candidates.size()));
    }
    if (best) best = optimised_whole(best->network);
    return best;
  }

  std::vector<edited_network> first_additions(const std::vector<edit_proposal>& proposals) {
    std::vector<edited_network> candidates;
    std::set<std::string> keys;
    for (const edit_proposal& proposal : proposals) {
      if (std::int64_t(candidates.size()) == options_.patience || proposal.residual > worst_of(proposals[0].residual))
        break;
      std::optional<edited_network> next = edited(proposal);
      if (next && admits_outgroup(next->network, options_.outgroup, false) &&
          keys.insert(unrooted_key(next->network)).second)
        candidates.push_back(*std::move(next));
    }
    if (candidates.empty()) return candidates;
    Network network = fitted(candidates[0].network);
    std::vector<char> is_near = branches_at_cycles(network);
    if (keys.insert(unrooted_key(network)).second) candidates.push_back({std::move(network), std::move(is_near)});
    return candidates;
  }

  void begin_level(std::int64_t reticulations) {
    reticulations_ = reticulations;
    share_ = 0;
    show_progress();
  }
  void show_share(double share) {
    share_ = std::max(share_, share);
    show_progress();
  }
  void show_progress() {
    poll();
    const double levels = double(options_.max_reticulations + 1);
    report_("search", (double(start_) + (double(reticulations_) + share_) / levels) / double(options_.starts));
  }
  void report(const placed_network& best_of_climb, bool is_end = false) {
    if (!options_.report) return;
    options_.report(
        {start_, reticulations_, topologies(), best_of_climb.value, is_end, -2 * best_value_, best_network_.get()});
  }

  search_level level_of(const std::vector<placed_network>& ends, std::int64_t r) {
    const auto best =
        std::max_element(ends.begin(), ends.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
    const Network network = with_asked_root(best->network, options_.outgroup, false);
    optimise_result outcome;
    const placed_network end =
        maximum(network, settings_of(network, options_.optimise.max_iterations, min_gain_), {}, &outcome);
    search_level level{.reticulations = r,
                       .network = end.network,
                       .log_likelihood = end.value,
                       .parameters = outcome.parameters,
                       .aic = nan,
                       .bic = nan,
                       .at_bounds = std::move(outcome.at_bounds)};
    const std::string key = unrooted_key(best->network);
    level.starts =
        std::count_if(ends.begin(), ends.end(), [&](const auto& other) { return unrooted_key(other.network) == key; });
    level.rootings = std::int64_t(rootings(level.network).size());
    return level;
  }

  // Sites vary independently; a level's gain is the sum of theirs.
  void add_gains(search_result& result) {
    std::vector<double> before;
    for (search_level& level : result.levels) {
      std::vector<double> sums = sets_.pattern_sums(level.network);
      double weight = 0, mean = 0, square = 0;
      for (std::size_t p = 0; p < sums.size() && !before.empty(); ++p) {
        const double w = data_.weight(std::int64_t(p)), gain = sums[p] - before[p];
        weight += w;
        mean += w * gain;
        square += w * gain * gain;
      }
      if (!before.empty()) {
        level.gain = mean;
        level.gain_error = std::sqrt(std::max(square - mean * mean / weight, 0.0));
        level.places = places_[at(level.reticulations)];
        const double z = mean > 0 ? 2 * mean / level.gain_error : 0;
        level.bic_gain = z * z - std::log(weight) - 2 * std::log(double(level.places));
      }
      before = std::move(sums);
    }
  }

  const Data& data_;
  const search_options& options_;
  progress report_;
  composite_sets sets_;
  worker_team workers_;
  double min_gain_;
  pair_distances distances_;
  std::vector<std::int64_t> places_;  // by level: of the last reticulation, in the start that had most
  std::vector<Network> bases_;
  std::vector<edited_network> interchanges_;
  std::set<std::string> kinds_;  // topologies of this start whose parameters were optimised
  std::int64_t topologies_ = 0;  // of earlier starts
  double best_value_ = -infinity;
  std::shared_ptr<const Network> best_network_;
  std::int64_t start_ = 0, reticulations_ = 0;
  double share_ = 0;
};

void check_composite_search(const Data& data, const search_options& options) {
  require_argument(options.composite == 3 || options.composite == 4, "composite", options.composite, "0, 3 or 4");
  require_argument(std::int64_t(data.species().size()) >= options.composite, "species of a composite likelihood",
                   data.species().size(), text(">= ", options.composite));
  if (options.optimise.thetas == theta_parameters::each || !options.optimise.lengths)
    throw InvalidArgument("a composite search needs lengths as parameters and one theta for all branches");
  if (options.model.mutation_only_at_root)
    throw InvalidArgument("a composite search needs mutation on all branches, because its trees have no root");
  if (options.model.unseen_zeros != 0 || options.model.unseen_ones != 0)
    throw InvalidArgument("a composite likelihood takes no unseen sites, because they are constant in more sets");
  for (std::size_t s = 0; s < data.species().size(); ++s)
    if (data.max_copies()[s] == 0)
      throw InvalidArgument(text("species ", data.species()[s], " has no copies at any site, so it has no place"));
}

}  // namespace

search_result search_composite(const Data& data, const search_options& options) {
  check_composite_search(data, options);
  return composite_climber(data, options).run();
}

}  // namespace quintet::snp
