#include "quintet/snp/inference/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "snp/inference/sampler_state.hpp"

namespace quintet::snp {

namespace {
constexpr int start_attempts = 1000;

bool is_shared_by_more_than_walkers(const sampler_options& options) {
  return options.shared_by && options.chains * options.temperatures < options.shared_by->size();
}
}  // namespace

sampler::state::state(std::shared_ptr<const std::vector<std::string>> names, const Data* markers, const priors& prior,
                      sampler_options settings)
    : species(std::move(names)),
      data(markers),
      options(std::move(settings)),
      workers(is_shared_by_more_than_walkers(options)
                  ? 1
                  : std::clamp<std::int64_t>(options.threads > 0 ? options.threads : threads(), 1,
                                             std::max<std::int64_t>(options.chains * options.temperatures, 1))),
      group(options.shared_by.get()),
      rank(group != nullptr ? group->rank() : 0) {
  run_collectively([&] { check(prior); });
  if (is_shared_by_more_than_walkers(options)) share_walkers();
  run_collectively([&] { prepare_all(prior); });
  for_own_slots([&](std::int64_t i) { start(std::size_t(i)); });
}

// Process r works at walker r mod W with all others that do: each takes its steps, and has a part of its patterns.
void sampler::state::share_walkers() {
  const int chain_states = int(options.chains * options.temperatures);
  is_spokesman = rank < chain_states;
  rank %= chain_states;
  sharers = group->split(rank);
  options.likelihood.shared_by = sharers;
}

void sampler::state::deal_places() {
  for (std::size_t i = 0; i < slots.size(); ++i)
    slots[i].owner = group != nullptr ? int(i % std::size_t(group->size())) : 0;
}

void sampler::state::prepare_all(const priors& prior) {
  if (data != nullptr && options.delayed_acceptance && !options.surrogate)
    frequent = frequent_patterns(*data, options.frequent_share);
  slots.reserve(std::size_t(options.chains * options.temperatures));  // moves refer to the priors there
  for (std::int64_t i = 0; i < options.chains * options.temperatures; ++i) {
    slots.emplace_back(prior);
    prepare(slots.back());
  }
  deal_places();
  exchanges.assign(std::size_t(options.chains), {0, 0, options.heat});
}

void sampler::state::check(const priors& prior) const {
  const auto at_least = [](std::string_view name, std::int64_t value, std::int64_t min) {
    require_argument(value >= min, name, value, text(">= ", min));
  };
  at_least("chains", options.chains, 1);
  at_least("temperatures", options.temperatures, 1);
  // The numbers of walkers are the upper 24 bits of streams.
  require_argument(options.chains <= 4096 && options.temperatures <= 1024, "chains x temperatures",
                   text(options.chains, " x ", options.temperatures), "at most 4096 x 1024");
  at_least("iterations", options.iterations, 1);
  require_argument(options.iterations < (std::int64_t{1} << 40), "iterations", options.iterations, "< 2^40");
  require_argument(options.burn_in >= 0 && options.burn_in <= options.iterations, "burn_in", options.burn_in,
                   text("in [0, iterations = ", options.iterations, "]"));
  at_least("sample_every", options.sample_every, 1);
  require_argument(options.swap_every >= 1 && rebuild_every % options.swap_every == 0, "swap_every", options.swap_every,
                   text("a divisor of ", rebuild_every));
  require_argument(options.heat > 0 && std::isfinite(options.heat), "heat", options.heat, "finite and > 0");
  at_least("threads", options.threads, 0);
  if (!options.powers.empty()) check_powers();
  require_argument(std::int64_t(species->size()) == prior.species(), "species", species->size(),
                   text("those of the prior, ", prior.species()));
  if (options.start && !options.starts.empty()) throw InvalidArgument("start and starts exclude each other");
  require_argument(options.starts.empty() || std::int64_t(options.starts.size()) == options.chains, "size of starts",
                   options.starts.size(), text("0, or that of chains, ", options.chains));
  if (is_anything_fixed() && !options.start && options.starts.empty())
    throw InvalidArgument("parts of the state can be fixed only with a start (start is not given)");
  if (data == nullptr) {
    if (!prior.is_proper())
      throw InvalidArgument("without data the prior must be proper, and PhyloNet's is not (network=phylonet)");
    return;
  }
  if (!std::equal(species->begin(), species->end(), data->species().begin(), data->species().end()))
    throw InvalidArgument("the species must be those of the data, in their order");
  require_argument(data->weight_of(pattern_kind::polymorphic) > 0, "sites that show both alleles", 0,
                   "> 0: data without variation say nothing of a network");
}

void sampler::state::check_powers() const {
  const std::vector<double>& powers = options.powers;
  require_argument(std::int64_t(powers.size()) == options.temperatures, "size of powers", powers.size(),
                   text("that of temperatures, ", options.temperatures));
  require_argument(powers[0] == 1 && powers.back() >= 0, "powers", text(powers[0], " ... ", powers.back()),
                   "from 1 to a number >= 0");
  for (std::size_t k = 1; k < powers.size(); ++k)
    require_argument(powers[k] < powers[k - 1], "power", powers[k], text("less than the one before, ", powers[k - 1]));
}

bool sampler::state::is_anything_fixed() const {
  return options.fix_topology || options.fix_heights || options.fix_origin || options.fix_theta || options.fix_gamma ||
         options.fix_rates;
}

void sampler::state::prepare(temperature_slot& p) const {
  p.moves = make_moves(p.prior, {options.fix_topology, options.fix_heights, options.fix_origin, options.fix_theta,
                                 options.fix_gamma, options.fix_rates});
  for (const auto& [name, weight] : options.weights) {
    require_argument(weight >= 0 && std::isfinite(weight), text("weight of ", name), weight, "finite and >= 0");
    if (std::none_of(p.moves.begin(), p.moves.end(), [&](const auto& m) { return m->name() == name; }))
      throw InvalidArgument(text("weights: there is no move ", name, " here; there are ", names_of(p.moves)));
  }
  double sum = 0;
  for (std::size_t i = 0; i < p.moves.size(); ++i) {
    const move& chosen = *p.moves[i];
    const auto weight = options.weights.find(std::string(chosen.name()));
    const double used = weight != options.weights.end() ? weight->second : chosen.weight();
    p.cumulative.push_back(sum += used);
    if (used > 0 && chosen.learns()) p.learners.push_back(p.moves[i].get());
    p.records.push_back({std::string(chosen.name()), 0, 0, 0, 0, 0});
    std::size_t first = 0;
    while (p.moves[first]->width_identity() != chosen.width_identity()) ++first;
    p.tuned_as.push_back(first);
  }
  p.trials.assign(p.moves.size(), 0);
  require_argument(sum > 0, "weights of all moves together", sum, "> 0: nothing is left to sample");
  p.state = std::make_unique<chain_state>(data, frequent ? &*frequent : nullptr, options);
}

std::string sampler::state::names_of(const std::vector<std::unique_ptr<move>>& moves) {
  std::string names;
  for (const auto& candidate : moves) names.append(names.empty() ? "" : ", ").append(candidate->name());
  return names;
}

void sampler::state::evaluate(temperature_slot& p) const {
  chain_state& w = *p.state;
  w.log_prior = p.prior.log_density(w.state);
  w.log_likelihood = w.likelihood.build(w.state);
  if (has_surrogate()) w.log_surrogate = options.surrogate ? options.surrogate(w.state) : w.surrogate.build(w.state);
}

void sampler::state::start(std::size_t i) {
  temperature_slot& p = slots[i];
  chain_state& w = *p.state;
  if (options.start || !options.starts.empty()) {
    w.state = options.start ? *options.start : options.starts[i / std::size_t(options.temperatures)];
    const std::string broken = broken_rule(w.state);
    if (!broken.empty()) throw InvalidArgument(text("the start is no network to sample from: ", broken));
    if (!w.state.species || *w.state.species != *species)
      throw InvalidArgument("the species of the start must be those of the data");
    w.state.species = species;
    if (!is_allowed(w.state, p.prior.limits()))
      throw InvalidArgument(text("the start must be in the class of networks that is sampled (reticulations=",
                                 w.state.reticulations, ", at most ", p.prior.limits().max_reticulations, ")"));
    const std::string conflict = p.prior.describe_conflict(w.state);
    if (!conflict.empty()) throw InvalidArgument(text("the start ", conflict));
    evaluate(p);
    if (!std::isfinite(w.log_prior)) throw InvalidArgument("the start must have a prior density > 0 (it is 0)");
    if (!std::isfinite(w.log_likelihood)) throw InvalidArgument("the start must have a likelihood > 0 (it is 0)");
    return;
  }
  random_stream random = stream(i, 0);
  for (int attempt = 0; attempt < start_attempts; ++attempt) {
    w.state = p.prior.draw_start(species, random);
    if (!is_in_range(w.state)) continue;
    evaluate(p);
    if (std::isfinite(w.log_likelihood) && std::isfinite(w.log_prior) && std::isfinite(w.log_surrogate)) return;
  }
  throw InvalidArgument(text("the data have likelihood 0 at ", start_attempts, " draws from the prior"));
}

void sampler::state::advance(const progress_callback& callback) {
  const stage_region stage("sample");
  progress report(callback);
  const std::int64_t end = std::min((step / rebuild_every + 1) * rebuild_every, options.iterations);
  // Without exchanges a part is as long as it may be; it is cut only so that the callback is heard.
  require_whole();
  while (step < end) {
    try {
      run_to(std::min(end, (step / options.swap_every + 1) * options.swap_every));
    } catch (...) {
      break_off();
      throw;
    }
    run_collectively([&] { report(stage.name(), double(step) / double(options.iterations)); });
  }
}

void sampler::state::break_off() {
  is_broken_off = true;
  for (temperature_slot& p : slots) {
    std::erase_if(p.samples, [&](const sampled_state& sample) { return sample.step > step; });
    std::erase_if(p.log_likelihoods, [&](const auto& draw) { return draw.first > step; });
  }
}

void sampler::state::require_whole() const {
  if (is_broken_off)
    throw InvalidArgument(text("the sampler was stopped within a step after ", step, "; restore() a snapshot first"));
}

sampler::sampler(std::shared_ptr<const std::vector<std::string>> species, const Data* data, const priors& prior,
                 sampler_options options)
    : state_(std::make_unique<state>(std::move(species), data, prior, std::move(options))) {}
sampler::~sampler() = default;

void sampler::advance(const progress_callback& callback) { state_->advance(callback); }
std::int64_t sampler::step() const { return state_->step; }
const sampler_options& sampler::options() const { return state_->options; }
sampler_snapshot sampler::snapshot() const { return state_->snapshot(); }
void sampler::restore(const sampler_snapshot& from) { state_->restore(from); }
std::vector<exchange_record> sampler::exchanges() const { return state_->exchanges; }

std::vector<std::vector<sampled_state>> sampler::take_samples() {
  const state& s = *state_;
  const auto temperatures = std::size_t(s.options.temperatures);
  std::vector<std::vector<sampled_state>> result(std::size_t(s.options.chains));
  if (s.group == nullptr) {
    for (std::size_t c = 0; c < result.size(); ++c)
      result[c] = std::exchange(state_->slots[c * temperatures].samples, {});
    return result;
  }
  // Chain, step, log L, state. A chain's samples come from all processes whose walkers were at temperature 1.
  std::vector<double> own;
  for (std::size_t c = 0; c < result.size(); ++c)
    for (const sampled_state& sample : std::exchange(state_->slots[c * temperatures].samples, {})) {
      if (!s.is_spokesman) break;
      const std::vector<double> numbers = numbers_of(sample.state);
      own.insert(own.end(), {double(c), double(sample.step), sample.log_likelihood, double(numbers.size())});
      own.insert(own.end(), numbers.begin(), numbers.end());
    }
  const std::vector<double> all = s.group->gather(std::span<const double>(own));
  for (std::size_t next = 0; next < all.size();) {
    const auto c = std::size_t(all[next]), size = std::size_t(all[next + 3]);
    network_state at = state_from_numbers(s.species, std::span(all).subspan(next + 4, size));
    const prior_parts parts = s.slots[c * temperatures].prior.parts(at);
    result[c].push_back({std::int64_t(all[next + 1]), std::move(at), all[next + 2], parts});
    next += 4 + size;
  }
  for (auto& chain : result)
    std::sort(chain.begin(), chain.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  return result;
}

std::vector<std::vector<std::vector<double>>> sampler::take_log_likelihoods() {
  state& s = *state_;
  const auto temperatures = std::size_t(s.options.temperatures);
  // Slot, step, log L. A temperature's draws come from all processes that had it.
  std::vector<double> own;
  for (std::size_t i = 0; i < s.slots.size(); ++i)
    for (const auto& [step, log_likelihood] : std::exchange(s.slots[i].log_likelihoods, {}))
      if (s.is_spokesman) own.insert(own.end(), {double(i), double(step), log_likelihood});
  const std::vector<double> all = s.group != nullptr ? s.group->allgather(own) : own;
  std::vector<std::map<std::int64_t, double>> by_step(s.slots.size());
  for (auto next = all.begin(); next != all.end(); next += 3)
    by_step[std::size_t(next[0])][std::int64_t(next[1])] = next[2];
  std::vector<std::vector<std::vector<double>>> result(std::size_t(s.options.chains));
  for (std::size_t i = 0; i < by_step.size(); ++i) {
    std::vector<double>& draws = result[i / temperatures].emplace_back();
    for (const auto& [step, log_likelihood] : by_step[i]) draws.push_back(log_likelihood);
  }
  return result;
}

std::vector<std::vector<move_record>> sampler::moves() const {
  const auto reported = state_->from_owners(state::record_of);
  std::vector<std::vector<move_record>> result;
  for (std::size_t i = 0; i < state_->slots.size(); i += std::size_t(state_->options.temperatures)) {
    result.push_back(state_->slots[i].records);
    auto next = reported[i].begin();
    for (move_record& record : result.back()) {
      record.tried = std::int64_t(next[0]);
      record.accepted = std::int64_t(next[1]);
      record.not_applicable = std::int64_t(next[2]);
      record.width = next[4];
      record.seconds = next[5];
      next += 6;
    }
  }
  return result;
}

sampled_state sampler::current(std::int64_t chain) const {
  require_argument(chain >= 0 && chain < state_->options.chains, "chain", chain,
                   text("in [0, ", state_->options.chains, ")"));
  const auto sampled = std::size_t(chain * state_->options.temperatures);
  const temperature_slot& p = state_->slots[sampled];
  if (state_->group == nullptr)
    return {state_->step, p.state->state, p.state->log_likelihood, p.prior.parts(p.state->state)};
  const auto reported = state_->from_owners([&](const temperature_slot& slot) {
    if (&slot != &p) return std::vector<double>{};
    std::vector<double> numbers = numbers_of(slot.state->state);
    numbers.push_back(slot.state->log_likelihood);
    return numbers;
  })[sampled];
  const network_state at = state_from_numbers(state_->species, std::span(reported).first(reported.size() - 1));
  return {state_->step, at, reported.back(), p.prior.parts(at)};
}

}  // namespace quintet::snp
