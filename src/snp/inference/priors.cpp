#include "quintet/snp/inference/priors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <unordered_set>

#include "snp/inference/species_rules.hpp"
#include "snp/network/lineage_process.hpp"
#include "snp/network/numbers.hpp"
#include "snp/network/random_variates.hpp"

namespace quintet::snp {

namespace {

using family = univariate_prior::family;

constexpr std::int64_t max_tries = 1'000'000;
constexpr std::int64_t reticulation_limit = 1000, process_species_limit = 100;
constexpr double phylonet_origin = 10, phylonet_height_mean = 10, phylonet_kappa = 1;

double log_gamma_density(double x, double shape, double rate) {
  return shape * std::log(rate) - std::lgamma(shape) + (shape - 1) * std::log(x) - rate * x;
}

double log_beta_density(double x, double a, double b) {
  return std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + (a - 1) * std::log(x) + (b - 1) * std::log1p(-x);
}

double log_poisson(std::int64_t r, double mean) {
  return static_cast<double>(r) * std::log(mean) - mean - std::lgamma(static_cast<double>(r) + 1);
}

bool is_positive(double x) { return x > 0 && std::isfinite(x); }

bool is_valid(const univariate_prior& prior, bool is_share) {
  const bool may_begin_at_zero = prior.kind == family::uniform;
  if (!(prior.kind == family::lognormal ? std::isfinite(prior.a)
        : may_begin_at_zero             ? prior.a >= 0 && prior.a < prior.b
                                        : is_positive(prior.a)))
    return false;
  if (!is_positive(prior.b) || !(prior.offset >= 0 && std::isfinite(prior.offset))) return false;
  return !is_share || prior.kind == family::beta || (prior.kind == family::fixed && prior.a < 1);
}

void require_valid(const univariate_prior& prior, const char* key, bool is_share = false) {
  if (!is_valid(prior, is_share))
    require_argument(false, key, prior.text(),
                     is_share ? "beta with shapes > 0, or fixed in (0, 1)" : "a density with finite numbers > 0");
}

bool is_phylonet(network_prior prior) {
  return prior == network_prior::phylonet || prior == network_prior::phylonet_ee;
}

// (height, +1 for a split, -1 for a merge), from the root down.
struct height_event {
  double height;
  std::int32_t change;
};

}  // namespace

double univariate_prior::log_density(double x) const {
  if (kind == family::fixed) return 0;
  if (!(x > 0) || !std::isfinite(x)) return -infinity;
  x -= offset;
  if (!(x > 0)) return -infinity;
  switch (kind) {
    case family::exponential:
      return -std::log(a) - x / a;
    case family::gamma:
      return log_gamma_density(x, a, b);
    case family::invgamma:
      return a * std::log(b) - std::lgamma(a) - (a + 1) * std::log(x) - b / x;
    case family::lognormal: {
      const double z = (std::log(x) - a) / b;
      return -std::log(x) - std::log(b) - 0.5 * std::log(2 * std::numbers::pi) - 0.5 * z * z;
    }
    case family::normal: {
      const double z = (x - a) / b;
      return -std::log(b) - 0.5 * std::log(2 * std::numbers::pi) - 0.5 * z * z;
    }
    case family::uniform:
      return x >= a && x <= b ? -std::log(b - a) : -infinity;
    default:
      return x < 1 ? log_beta_density(x, a, b) : -infinity;
  }
}

double univariate_prior::middle() const {
  switch (kind) {
    case family::fixed:
      return a;
    case family::exponential:
      return offset + a;
    case family::gamma:
      return offset + a / b;
    case family::invgamma:
      return a > 1 ? b / (a - 1) : b;
    case family::lognormal:
      return std::exp(a);
    case family::normal:
      return a;
    case family::uniform:
      return 0.5 * (a + b);
    case family::beta:
      break;
  }
  return a / (a + b);
}

double univariate_prior::draw(random_stream& random) const {
  switch (kind) {
    case family::fixed:
      return a;
    case family::exponential:
      return offset + draw_exponential(a, random);
    case family::gamma:
      return offset + draw_gamma(a, random) / b;
    case family::invgamma:
      return b / draw_gamma(a, random);
    case family::lognormal:
      return std::exp(a + b * random.normals<double>().first);
    case family::uniform:
      return a + (b - a) * draw_open_unit(random);
    case family::normal:
      for (;;)
        if (const double x = a + b * random.normals<double>().first; x > 0) return x;
    default:
      return draw_beta(a, b, random);
  }
}

priors::priors(prior_options options, std::int64_t species, network_limits limits)
    : options_(std::move(options)), species_(species), limits_(limits) {
  require_argument(species >= 2, "species", species, ">= 2");
  require_argument(limits.max_reticulations >= 0 && limits.max_reticulations <= reticulation_limit, "max_reticulations",
                   limits.max_reticulations, text("in 0 ... ", reticulation_limit));
  require_argument(limits.max_level >= -1, "max_level", limits.max_level, ">= 0, or -1 for any");
  const prior_options& o = options_;
  if (o.speciation_rate)
    require_argument(is_positive(*o.speciation_rate), "speciation-rate", *o.speciation_rate, "finite and > 0");
  else
    require_valid(o.netdiv, "netdiv");
  if (o.hybridization_rate) {
    const double nu = *o.hybridization_rate;
    require_argument(std::isfinite(nu) && nu >= 0, "hybridization-rate", nu, "finite and >= 0");
    if (limits.max_reticulations > 0 && !is_phylonet(o.network))
      require_argument(nu > 0, "hybridization-rate", nu, "> 0 when there may be reticulations (--max-reticulations 0)");
  } else {
    require_valid(o.turnover, "turnover", true);
  }
  require_valid(o.origin, "origin");
  if (o.origin.kind != family::exponential && o.origin.kind != family::fixed)
    require_argument(false, "origin", o.origin.text(), "exponential or fixed");
  require_argument(is_positive(o.kappa), "kappa", o.kappa, "finite and > 0");
  require_argument(is_positive(o.inheritance), "inheritance", o.inheritance, "finite and > 0");
  require_valid(o.theta, "theta");
  if (o.theta_mean) require_valid(*o.theta_mean, "theta-mean");
  if (o.theta_mean && o.theta.kind != family::gamma)
    require_argument(false, "theta", o.theta.text(), "a gamma density where there is a theta-mean");
  require_valid(o.pi1, "pi1", true);
  if (is_phylonet(o.network) && !(o.origin.is_fixed() && o.origin.a == phylonet_origin))
    require_argument(false, "origin", o.origin.text(), "fixed(10) with PhyloNet's prior");
  for (const calibration& dated : o.calibrations) require_valid(dated.density, "calibrate");
  require_argument(o.generation_time >= 0 && std::isfinite(o.generation_time), "generation-time", o.generation_time,
                   "finite and > 0");
  require_consistent_clock();
}

void priors::require_consistent_clock() const {
  const prior_options& o = options_;
  if (!o.clock) {
    if (o.generation_time > 0) throw InvalidArgument("generation-time needs a clock");
    return;
  }
  require_valid(*o.clock, "clock");
  if (o.clock->kind != family::fixed && o.clock->kind != family::lognormal)
    require_argument(false, "clock", o.clock->text(), "fixed or lognormal");
  if (is_phylonet(o.network)) throw InvalidArgument("clock does not go with PhyloNet's prior");
  if (has_clock_rate() && !has_origin())
    require_argument(false, "origin", o.origin.text(), "free where the rate of the clock is");
  if (has_clock_rate() && !has_theta())
    require_argument(false, "theta", o.theta.text(), "free where the rate of the clock is");
}

double priors::speciation_rate(const network_state& state) const {
  if (options_.speciation_rate) return *options_.speciation_rate;
  const double d = has_netdiv() ? state.netdiv : options_.netdiv.a;
  if (options_.hybridization_rate) return d + *options_.hybridization_rate;
  return d / (1 - (has_turnover() ? state.turnover : options_.turnover.a));
}

double priors::hybridization_rate(const network_state& state) const {
  if (options_.hybridization_rate) return *options_.hybridization_rate;
  return (has_turnover() ? state.turnover : options_.turnover.a) * speciation_rate(state);
}

double priors::log_process(const network_state& state, double lambda, double nu) const {
  std::array<height_event, 64> few;
  std::vector<height_event> many;
  height_event* events = few.data();
  const std::int32_t count = state.inner_nodes();
  if (at(count) > few.size()) {
    many.resize(at(count));
    events = many.data();
  }
  for (std::int32_t i = 0; i < count; ++i) {
    const state_node& node = state.node(state.leaves() + i);
    events[i] = {node.height, node.parents == 2 ? -1 : 1};
  }
  std::sort(events, events + count, [](const height_event& a, const height_event& b) { return a.height > b.height; });
  double log_density = static_cast<double>(species_ - 1 + state.reticulations) * std::log(lambda);
  if (state.reticulations > 0) log_density += static_cast<double>(state.reticulations) * std::log(2 * nu);
  double above = state.origin, lineages = 1;
  const auto descend_to = [&](double height) {
    log_density -= (lineages * lambda + 0.5 * lineages * (lineages - 1) * nu) * (above - height);
    above = height;
  };
  for (std::int32_t i = 0; i < count; ++i) {
    descend_to(events[i].height);
    lineages += events[i].change;
  }
  descend_to(0);
  if (options_.inheritance != 1)
    for (std::int32_t x = state.leaves(); x < state.leaves() + count; ++x)
      if (state.is_reticulation(x))
        log_density += log_beta_density(state.node(x).gamma[0], options_.inheritance, options_.inheritance);
  return log_density;
}

double priors::log_end(const network_state& state, double lambda, double nu) const {
  for (const end_probabilities& known : cache_)
    if (known.speciation_rate == lambda && known.hybridization_rate == nu && known.origin == state.origin)
      return known.log_chance[at(state.reticulations)];
  end_probabilities& entry = cache_[oldest_];
  oldest_ = 1 - oldest_;
  entry = {lambda, nu, state.origin,
           lineage_process(species_, limits_.max_reticulations, lambda, nu).log_end_probabilities(state.origin)};
  return entry.log_chance[at(state.reticulations)];
}

double priors::log_phylonet(const network_state& state) const {
  const double edges = 2.0 * static_cast<double>(species_) - 2;
  double log_density = log_poisson(state.reticulations, phylonet_kappa);
  for (std::int32_t i = 1; i <= state.reticulations; ++i)
    log_density -= std::log((edges + 3.0 * i) * (edges + 3.0 * i - 1));
  if (options_.network == network_prior::phylonet_ee)
    for (std::int32_t x = state.leaves(); x < static_cast<std::int32_t>(state.nodes.size()); ++x)
      log_density -= std::log(phylonet_height_mean) + state.node(x).height / phylonet_height_mean;
  return state.origin == phylonet_origin ? log_density : -infinity;
}

double priors::log_network(const network_state& state) const {
  if (is_phylonet(options_.network)) return log_phylonet(state);
  double log_density = 0;
  if (has_netdiv()) log_density += options_.netdiv.log_density(state.netdiv);
  if (has_turnover()) log_density += options_.turnover.log_density(state.turnover);
  log_density += options_.origin.log_density(state.origin);
  const double lambda = speciation_rate(state), nu = hybridization_rate(state);
  if (log_density == -infinity || !is_positive(lambda) || !(nu >= 0)) return -infinity;
  log_density += log_process(state, lambda, nu);
  if (options_.network == network_prior::poisson) {
    if (state.reticulations > limits_.max_reticulations) return -infinity;
    const double log_chance = log_end(state, lambda, nu);
    if (log_chance == -infinity) return -infinity;
    log_density += log_poisson(state.reticulations, options_.kappa) - log_chance;
  }
  return log_density;
}

double priors::log_theta(const network_state& state) const {
  univariate_prior density = options_.theta;
  double log_density = 0;
  if (is_phylonet(options_.network)) {
    if (!is_positive(state.theta_mean)) return -infinity;
    density.b = 1 / state.theta_mean;
    log_density -= std::log(state.theta_mean);
  } else if (options_.theta_mean) {
    const double mean = has_theta_mean() ? state.theta_mean : options_.theta_mean->a;
    if (!is_positive(mean)) return -infinity;
    density.b = density.a / mean;
    if (has_theta_mean()) log_density += options_.theta_mean->log_density(mean);
  }
  if (state.thetas == theta_mode::common) return log_density + density.log_density(state.common_theta);
  if (density.is_fixed()) return log_density;
  for (const state_node& node : state.nodes)
    for (std::int32_t i = 0; i < node.parents; ++i) log_density += density.log_density(node.theta[at(i)]);
  return log_density;
}

double priors::clock_rate(const network_state& state) const {
  if (!options_.clock) return 1;
  return has_clock_rate() ? state.clock : options_.clock->a;
}

namespace {

network_state scaled(network_state state, double factor) {
  for (state_node& node : state.nodes) {
    node.height *= factor;
    for (double& theta : node.theta) theta *= factor;
  }
  state.origin *= factor;
  state.common_theta *= factor;
  return state;
}

}  // namespace

network_state priors::in_years(const network_state& state) const {
  return options_.clock ? scaled(state, 1 / clock_rate(state)) : state;
}

prior_parts priors::parts_in_years(const network_state& state) const {
  prior_parts parts{log_network(state), log_theta(state), has_pi1() ? options_.pi1.log_density(state.pi1) : 0.0};
  if (!options_.calibrations.empty()) parts.dates = rules_of(state).log_density(state);
  return parts;
}

// Densities of years as those of mutations: every height and theta has the factor 1 / c.
prior_parts priors::parts(const network_state& state) const {
  if (!options_.clock) return parts_in_years(state);
  const double rate = clock_rate(state);
  if (!is_positive(rate)) return {.network = -infinity};
  prior_parts parts = parts_in_years(in_years(state));
  parts.network -= std::log(rate) * (state.inner_nodes() + (has_origin() ? 1 : 0));
  if (has_theta()) parts.theta -= std::log(rate) * state.theta_count();
  if (has_clock_rate()) parts.dates += options_.clock->log_density(rate);
  return parts;
}

const species_rules& priors::rules_of(const network_state& state) const {
  if (!rules_ || ruled_species_ != state.species) {
    rules_ = std::make_shared<const species_rules>(options_, *state.species);
    ruled_species_ = state.species;
  }
  return *rules_;
}

bool priors::admit(const network_state& state) const {
  return is_allowed(state, limits_) && rules_of(state).broken_rule(state) == nullptr;
}

std::string priors::describe_conflict(const network_state& state) const {
  return rules_of(state).describe_conflict(in_years(state));
}

// Rates, origin, and what happens to the lineages. False: these rates do not end with the number of species this time.
bool priors::draw_history(network_state& state, lineage_history& history, random_stream& random) const {
  if (has_netdiv()) state.netdiv = options_.netdiv.draw(random);
  if (has_turnover()) state.turnover = options_.turnover.draw(random);
  const double lambda = speciation_rate(state), nu = hybridization_rate(state);
  const bool has_free_rates = has_netdiv() || has_turnover();
  const std::int64_t max = limits_.max_reticulations;
  const lineage_process process(species_, max, lambda, nu);
  if (is_phylonet(options_.network)) {
    history = lineage_process(species_, 0, 1, 0).draw_stopped(1, random);
    return history.end < phylonet_origin;
  }
  if (options_.network == network_prior::poisson) {
    std::vector<double> weights;
    double total = 0;
    for (std::int64_t r = 0; r <= max; ++r) total += weights.emplace_back(std::exp(log_poisson(r, options_.kappa)));
    double draw = random.uniform<double>() * total;
    std::int64_t r = 0;
    while (r < max && draw >= weights[at(r)]) draw -= weights[at(r++)];
    history = process.draw_until(options_.origin.draw(random), r, random);
    return true;
  }
  // The density is not divided by the chance of n species: rates are as likely as they lead there.
  if (options_.origin.is_fixed()) {
    double chance = 0;
    for (const double log_chance : process.log_end_probabilities(options_.origin.a)) chance += std::exp(log_chance);
    if (has_free_rates && random.uniform<double>() >= chance) return false;
    history = process.draw_until(options_.origin.a, -1, random);
  } else {
    const double rate = 1 / options_.origin.a;
    if (has_free_rates && random.uniform<double>() >= process.chance_to_end(rate)) return false;
    history = process.draw_stopped(rate, random);
  }
  return true;
}

namespace {

// Nodes and links from what happened: a uniform lineage splits, a uniform pair merges, names in random order.
void build_topology(network_state& state, const lineage_history& history, random_stream& random) {
  const std::int32_t n = state.leaves();
  struct open_branch {
    std::int32_t parent;
    std::size_t place;  // among the children of the parent, or 0 for the root branch
  };
  state.nodes.assign(at(n), {});
  state.reticulations = 0;
  state.origin = history.end;
  std::vector<open_branch> open{{state_node::none, 0}};
  const auto take = [&] {
    const std::size_t i = random.below(static_cast<std::uint32_t>(open.size()));
    const open_branch lineage = open[i];
    open[i] = open.back();
    open.pop_back();
    return lineage;
  };
  const auto attach = [&](const open_branch& end, std::int32_t x, std::int32_t parent) {
    state.node(x).parent[at(parent)] = end.parent;
    if (end.parent == state_node::none)
      state.root = x;
    else
      state.node(end.parent).child[end.place] = network_state::branch_of(x, parent);
  };
  for (const lineage_event& event : history.events) {
    const auto x = static_cast<std::int32_t>(state.nodes.size());
    state_node node;
    node.height = history.end - event.time;
    node.parents = event.is_merge ? 2 : 1;
    node.children = event.is_merge ? 1 : 2;
    state.nodes.push_back(node);
    attach(take(), x, 0);
    if (event.is_merge) {
      attach(take(), x, 1);
      ++state.reticulations;
    }
    open.push_back({x, 0});
    if (!event.is_merge) open.push_back({x, 1});
  }
  for (std::int32_t leaf = 0; leaf < n; ++leaf) attach(take(), leaf, 0);
}

}  // namespace

void priors::draw_parameters(network_state& state, random_stream& random) const {
  for (state_node& node : state.nodes)
    if (node.parents == 2) {
      const double g = draw_beta(options_.inheritance, options_.inheritance, random);
      node.gamma = {g, 1 - g};
    }
  univariate_prior density = options_.theta;
  if (is_phylonet(options_.network)) {
    state.theta_mean = 0.005;
    density.b = 1 / state.theta_mean;
  } else if (options_.theta_mean) {
    const double mean = options_.theta_mean->draw(random);
    if (has_theta_mean()) state.theta_mean = mean;
    density.b = density.a / mean;
  }
  state.thetas = options_.thetas;
  if (state.thetas == theta_mode::common) {
    state.common_theta = density.draw(random);
  } else {
    for (state_node& node : state.nodes)
      for (std::int32_t i = 0; i < node.parents; ++i) node.theta[at(i)] = density.draw(random);
  }
  state.pi1 = options_.pi1.draw(random);
  if (has_clock_rate()) state.clock = options_.clock->draw(random);
}

network_state priors::draw(std::shared_ptr<const std::vector<std::string>> names, random_stream& random) const {
  if (!options_.calibrations.empty())
    throw InvalidArgument("nothing can be drawn from a prior with calibrations; sample it without data");
  for (std::int64_t tries = 0; tries < max_tries; ++tries)
    if (network_state state = draw_from_class(names, random); rules_of(state).broken_rule(state) == nullptr)
      return state;
  throw InvalidArgument(text(max_tries, " draws from the prior did not keep its constraints: ", to_text(options_)));
}

network_state priors::draw_start(std::shared_ptr<const std::vector<std::string>> names, random_stream& random) const {
  network_state state = draw_from_class(std::move(names), random);
  const species_rules& rules = rules_of(state);
  if (!rules.has_calibrations() && !rules.has_constraints()) return state;
  state = in_years(state);
  rules.draw_tree(state, has_origin(), random);
  draw_parameters(state, random);
  return scaled(std::move(state), clock_rate(state));
}

network_state priors::completed(network_state state) const {
  const auto set = [](bool is_free, double& number, const univariate_prior& density) {
    if (is_free && std::isnan(number)) number = density.middle();
  };
  set(has_netdiv(), state.netdiv, options_.netdiv);
  set(has_turnover(), state.turnover, options_.turnover);
  if (has_theta_mean()) set(true, state.theta_mean, *options_.theta_mean);
  if (has_clock_rate()) set(true, state.clock, *options_.clock);
  return options_.clock ? scaled(std::move(state), clock_rate(state)) : state;
}

network_state priors::draw_from_class(std::shared_ptr<const std::vector<std::string>> names,
                                      random_stream& random) const {
  if (!names || static_cast<std::int64_t>(names->size()) != species_)
    require_argument(false, "names", names ? names->size() : 0, text("those of ", species_, " species"));
  network_state state;
  state.species = std::move(names);
  lineage_history history;
  for (std::int64_t tries = 0; tries < max_tries; ++tries) {
    if (!draw_history(state, history, random)) continue;
    build_topology(state, history, random);
    if (is_phylonet(options_.network)) state.origin = phylonet_origin;
    draw_parameters(state, random);
    if (options_.clock) state = scaled(std::move(state), clock_rate(state));
    if (is_in_range(state) && is_allowed(state, limits_)) return state;
  }
  throw InvalidArgument(text(max_tries, " draws from the prior had other numbers of species than ", species_,
                             ", or were outside the networks that are allowed: ", to_text(options_)));
}

std::vector<double> reticulation_probabilities(const priors& prior) {
  const prior_options& o = prior.options();
  const std::int64_t max = prior.limits().max_reticulations;
  if (is_phylonet(o.network) || !o.calibrations.empty() || !o.monophyletic.empty() || !o.outgroup.empty() ||
      !o.backbone.empty() || prior.limits().max_level >= 0 || !prior.limits().bubbles)
    return {};
  std::vector<double> share(at(max + 1), 0.0);
  if (o.network == network_prior::poisson) {
    for (std::int64_t r = 0; r <= max; ++r) share[at(r)] = std::exp(log_poisson(r, o.kappa));
  } else {
    const int draws = prior.has_netdiv() || prior.has_turnover() ? 4000 : 1;
    network_state rates;
    for (int number = 0; number < draws; ++number) {
      random_stream random(0, std::uint64_t(number));
      if (prior.has_netdiv()) rates.netdiv = o.netdiv.draw(random);
      if (prior.has_turnover()) rates.turnover = o.turnover.draw(random);
      const double lambda = prior.speciation_rate(rates);
      const lineage_process process(prior.species(), max, lambda, prior.hybridization_rate(rates));
      if (o.origin.is_fixed()) {
        const std::vector<double> log_chance = process.log_end_probabilities(o.origin.a);
        for (std::size_t r = 0; r < share.size(); ++r) share[r] += std::exp(log_chance[r]);
        continue;
      }
      // From one lineage: it splits before the end, and the rest begins with two.
      const double stop = 1 / o.origin.a, weight = stop * lambda / (lambda + stop);
      const std::vector<double> from_two = process.from_two(stop).first;
      for (std::size_t r = 0; r < share.size(); ++r) share[r] += weight * from_two[r];
    }
  }
  double total = 0;
  for (const double x : share) total += x;
  for (double& x : share) x /= total;
  return share;
}

namespace {

// exp(Q s)[(2, 0), (n, r)], its integral over the height s of the root against lambda exp(-lambda (tau - s)), with s
// and without.
void add_fixed_origin(prior_moments& moments, const lineage_process& process, double lambda, double tau) {
  // Gauss-Legendre with three points on many panels.
  constexpr int panels = 2000;
  const double offset = std::sqrt(0.6), points[] = {-offset, 0, offset}, weights[] = {5.0 / 9, 8.0 / 9, 5.0 / 9};
  const double half = tau / panels / 2;
  for (int panel = 0; panel < panels; ++panel)
    for (int k = 0; k < 3; ++k) {
      const double s = half * (2 * panel + 1 + points[k]);
      const std::vector<double> log_chance = process.log_end_probabilities(s, 2);
      const double weight = half * weights[k] * lambda * std::exp(-lambda * (tau - s));
      for (std::size_t r = 0; r < log_chance.size(); ++r) {
        moments.reticulations[r] += weight * std::exp(log_chance[r]);
        moments.root_height_given_r[r] += s * weight * std::exp(log_chance[r]);
      }
    }
  moments.origin = tau;
}

}  // namespace

prior_moments moments_of_process(std::int64_t species, std::int64_t max_reticulations, double lambda, double nu,
                                 const univariate_prior& origin) {
  prior_options options;
  options.speciation_rate = lambda;
  options.hybridization_rate = nu;
  options.origin = origin;
  const priors checked(options, species, {.max_reticulations = max_reticulations});
  require_argument(max_reticulations <= 20, "max_reticulations", max_reticulations, "<= 20");
  require_argument(species <= process_species_limit, "species", species, text("in 2 ... ", process_species_limit));
  const lineage_process process(species, max_reticulations, lambda, nu);
  prior_moments moments;
  moments.reticulations.assign(at(max_reticulations + 1), 0.0);
  moments.root_height_given_r = moments.reticulations;
  if (origin.is_fixed()) {
    add_fixed_origin(moments, process, lambda, origin.a);
  } else {
    const double rate = 1 / origin.a;
    const lineage_process::resolvent from_two = process.from_two(rate);
    moments.reticulations = from_two.first;
    moments.root_height_given_r = from_two.second;
  }
  double total = 0;
  for (std::size_t r = 0; r < moments.reticulations.size(); ++r) {
    total += moments.reticulations[r];
    moments.root_height += moments.root_height_given_r[r];
    moments.root_height_given_r[r] /= moments.reticulations[r];
  }
  for (double& chance : moments.reticulations) chance /= total;
  moments.root_height /= total;
  if (!origin.is_fixed()) moments.origin = moments.root_height + 1 / (lambda + 1 / origin.a);
  return moments;
}

}  // namespace quintet::snp
