#include "quintet/snp/inference/starts.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "quintet/core/philox.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/snp/inference/sampler.hpp"
#include "quintet/snp/inference/search.hpp"

namespace quintet::snp {

namespace {

using species_names = std::shared_ptr<const std::vector<std::string>>;

constexpr std::int64_t most_reticulations = 20;  // of a search
constexpr double least_length = 1e-3, most_length = 10, least_theta = 1.0 / 20, most_theta = 5, least_gamma = 0.05;
// Of a fixed origin, for a root that would be above it.
constexpr double root_below_origin = 0.8;

double middle_theta(const prior_options& p) { return p.theta_mean ? p.theta_mean->middle() : p.theta.middle(); }

search_options search_of(const priors& prior, const start_options& options, std::uint64_t seed) {
  const prior_options& p = prior.options();
  search_options search{.max_reticulations = std::min(prior.limits().max_reticulations, most_reticulations),
                        .starts = 1,
                        .patience = options.patience,
                        .theta = middle_theta(p),
                        .seed = seed,
                        .model = options.model,
                        .likelihood = options.likelihood,
                        .outgroup = p.outgroup};
  search.optimise.thetas = !prior.has_theta()               ? theta_parameters::fixed
                           : p.thetas == theta_mode::common ? theta_parameters::common
                                                            : theta_parameters::each;
  const double pi1 = p.pi1.middle();
  search.model.u = 1 / (2 * pi1);
  search.model.v = 1 / (2 * (1 - pi1));
  return search;
}

// The topology with numbers that the prior can meet, in its units.
network_state plausible_state(const Network& network, const priors& prior, const species_names& names) {
  const prior_options& p = prior.options();
  const double rate = p.clock ? p.clock->middle() : 1, theta = middle_theta(p), height = p.origin.middle();
  const auto near_theta = [&](double theta_of_edge) {
    return prior.has_theta() ? std::clamp(theta_of_edge / rate, least_theta * theta, most_theta * theta) : theta;
  };
  network_description description;
  for (std::int64_t x = 0; x < network.nodes(); ++x) description.names.push_back(network.name(x));
  for (std::int64_t b = 0; b < network.branches(); ++b) {
    const branch& edge = network.branch(b);
    const bool is_hybrid = network.parent_branches(edge.child).size() == 2;
    description.edges.push_back(
        {edge.parent, edge.child, std::clamp(edge.length / rate, least_length * height, most_length * height),
         near_theta(edge.theta), is_hybrid ? std::clamp(edge.gamma, least_gamma, 1 - least_gamma) : unset});
  }
  description.root_theta = near_theta(network.root_theta());
  network_state state = state_of(Network(std::move(description)), names,
                                 {.thetas = p.thetas, .pi1 = p.pi1.middle(), .may_stretch = true});
  if (p.origin.is_fixed()) {
    state.origin = p.origin.a;
    const double factor = root_below_origin * p.origin.a / state.node(state.root).height;
    if (factor < 1)
      for (state_node& node : state.nodes) node.height *= factor;
  }
  return prior.completed(std::move(state));
}

// The last state of a chain within the topology of `state`.
network_state settled(const Data& data, const priors& prior, const species_names& names, network_state state,
                      const start_options& options, std::uint64_t seed) {
  sampler chain(names, &data, prior,
                {.iterations = options.steps,
                 .burn_in = options.steps,
                 .seed = seed,
                 .threads = 1,
                 .start = std::move(state),
                 .fix_topology = true,
                 .model = options.model,
                 .likelihood = options.likelihood});
  while (!chain.is_done()) chain.advance();
  return chain.current(0).state;
}

}  // namespace

std::vector<network_state> search_starts(const Data& data, const priors& prior, const start_options& options) {
  const auto within = [](std::string_view name, std::int64_t value, std::int64_t most) {
    require_argument(value >= 1 && value <= most, name, value, text("in 1 ... ", most));
  };
  within("chains", options.chains, 4096);
  within("patience", options.patience, max_search_patience);
  within("steps", options.steps, 1'000'000'000);
  require_argument(std::int64_t(data.species().size()) == prior.species(), "species", data.species().size(),
                   text("those of the prior, ", prior.species()));
  const stage_region stage("starts");
  progress report(options.progress);
  const auto names = std::make_shared<const std::vector<std::string>>(data.species().begin(), data.species().end());
  std::vector<network_state> starts;
  std::set<std::string> topologies;
  for (std::int64_t chain = 0; chain < options.chains; ++chain) {
    report(stage.name(), double(chain) / double(options.chains));
    random_stream random(options.seed, std::uint64_t(chain));
    const std::uint64_t search_seed = random.next_64(), chain_seed = random.next_64();
    search_result result = search_networks(data, search_of(prior, options, search_seed));
    std::sort(result.levels.begin(), result.levels.end(),
              [](const search_level& a, const search_level& b) { return a.bic < b.bic; });
    std::optional<network_state> best;
    for (const search_level& level : result.levels) {
      network_state state = plausible_state(level.network, prior, names);
      if (!is_allowed(state, prior.limits()) || !prior.admit(state) || !(prior.log_density(state) > -1e300)) continue;
      const bool is_new = !topologies.contains(number_canonically(state).key);
      if (!best || is_new) best = std::move(state);
      if (is_new) break;
    }
    if (!best)
      throw InvalidArgument(text("search_starts: no network of the search for chain ", chain,
                                 " is in the class, keeps the constraints and has a prior density > 0"));
    topologies.insert(number_canonically(*best).key);
    starts.push_back(settled(data, prior, names, *std::move(best), options, chain_seed));
  }
  report(stage.name(), 1);
  return starts;
}

}  // namespace quintet::snp
