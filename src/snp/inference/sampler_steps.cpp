// Steps of the chains: proposals, with delayed acceptance (Christen, Fox 2005), tuning, and exchanges (Geyer 1991).
#include <algorithm>
#include <chrono>
#include <cmath>

#include "quintet/core/poll.hpp"
#include "snp/inference/sampler_state.hpp"
#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

constexpr double max_drift = 1e-6;
constexpr double exchange_target = 0.3;

// Robbins and Monro (1951): the step after the t-th trial.
double tuning_step(double accepted, double target, std::int64_t t) {
  return (accepted - target) / std::pow(1.0 + double(t), 0.6);
}

}  // namespace

bool sampler::state::try_move(temperature_slot& p, const move& chosen, move_record& record, random_stream& random,
                              double beta) const {
  chain_state& w = *p.state;
  p.backup = w.state;
  const proposal proposed = chosen.propose(w.state, random);
  if (!proposed.applies) {
    ++record.not_applicable;
    return false;
  }
  const auto keep_old = [&] {
    w.state = p.backup;
    return false;
  };
  if (!is_in_range(w.state) || !p.prior.admit(w.state)) return keep_old();
  const double log_prior = p.prior.log_density(w.state);
  const double ratio = log_prior - w.log_prior + proposed.log_hastings;
  if (!(ratio > -infinity)) return keep_old();
  const auto passes = [&](double log_ratio) {
    return log_ratio >= 0 || std::log(random.uniform_positive<double>()) <= log_ratio;
  };
  if (!proposed.changes_likelihood) {
    if (!passes(ratio)) return keep_old();
    w.log_prior = log_prior;
    return true;
  }
  double log_surrogate = 0, surrogate_ratio = 0;
  if (has_surrogate()) {
    log_surrogate = options.surrogate ? options.surrogate(w.state) : w.surrogate.propose(w.state, proposed.topology);
    surrogate_ratio = beta * (log_surrogate - w.log_surrogate);
    if (!(log_surrogate > -infinity) || !passes(ratio + surrogate_ratio)) {
      if (!options.surrogate) w.surrogate.reject();
      return keep_old();
    }
  }
  const double log_likelihood = w.likelihood.propose(w.state, proposed.topology);
  const double likelihood_ratio = beta * (log_likelihood - w.log_likelihood);
  const bool accepted = log_likelihood > -infinity && (has_surrogate() ? passes(likelihood_ratio - surrogate_ratio)
                                                                       : passes(ratio + likelihood_ratio));
  const bool has_own_surrogate = has_surrogate() && !options.surrogate;
  if (!accepted) {
    w.likelihood.reject();
    if (has_own_surrogate) w.surrogate.reject();
    return keep_old();
  }
  w.likelihood.accept();
  if (has_own_surrogate) w.surrogate.accept();
  w.log_prior = log_prior;
  w.log_likelihood = log_likelihood;
  w.log_surrogate = log_surrogate;
  return true;
}

void sampler::state::tune(temperature_slot& p, std::size_t m, bool accepted) const {
  move& chosen = *p.moves[m];
  if (!chosen.is_tunable()) return;
  const double change = tuning_step(accepted ? 1 : 0, chosen.target(), p.trials[p.tuned_as[m]]++);
  chosen.set_width(std::clamp(chosen.width() * std::exp(change), 1e-4, 20.0));
}

void sampler::state::take_step(std::size_t i, std::int64_t t) {
  using clock = std::chrono::steady_clock;
  temperature_slot& p = slots[i];
  random_stream random = stream(i, t);
  const double where = random.uniform<double>() * p.cumulative.back();
  const std::size_t m =
      std::size_t(std::upper_bound(p.cumulative.begin(), p.cumulative.end() - 1, where) - p.cumulative.begin());
  move_record& record = p.records[m];
  ++record.tried;
  const std::int64_t not_applicable = record.not_applicable;
  const auto begin = clock::now();
  const bool accepted = try_move(p, *p.moves[m], record, random, beta(i));
  record.seconds += std::chrono::duration<double>(clock::now() - begin).count();
  if (accepted) {
    ++record.accepted;
    p.state->remember(p.moves[m]->name());
  }
  if (t <= options.burn_in && record.not_applicable == not_applicable) tune(p, m, accepted);
  if (t <= options.burn_in && t % learn_every == 0)
    for (move* const learner : p.learners) learner->learn(p.state->state);
}

void sampler::state::rebuild(std::size_t i, std::int64_t t) {
  temperature_slot& p = slots[i];
  chain_state& w = *p.state;
  const double before = w.log_likelihood;
  evaluate(p);
  if (!(std::fabs(before - w.log_likelihood) <= max_drift))
    throw Error(text("the log-likelihood of walker ", i, " was ", before, " at step ", t, " and is ", w.log_likelihood,
                     " when it is computed again; its last accepted moves were ", w.recent_moves()));
}

void sampler::state::sample(std::size_t i, std::int64_t t) {
  if (t <= options.burn_in || t % options.sample_every != 0) return;
  temperature_slot& p = slots[i];
  if (!options.powers.empty()) p.log_likelihoods.emplace_back(t, p.state->log_likelihood);
  if (std::int64_t(i) % options.temperatures != 0) return;
  p.samples.push_back({t, p.state->state, p.state->log_likelihood, p.prior.parts(p.state->state)});
}

bool sampler::state::exchange_pair(std::size_t c, std::size_t i, const std::vector<double>& log_likelihood,
                                   random_stream& random, std::int64_t t) {
  temperature_slot &a = slots[i], &b = slots[i + 1];
  const double ratio = (beta(i) - beta(i + 1)) * (log_likelihood[i + 1] - log_likelihood[i]);
  const bool accepted = ratio >= 0 || std::log(random.uniform_positive<double>()) <= ratio;
  exchange_record& record = exchanges[c];
  const std::int64_t trials = record.tried++;
  if (accepted) {
    ++record.accepted;
    std::swap(a.state, b.state);
    std::swap(a.was_hot, b.was_hot);
  }
  if (options.tune_heat && options.powers.empty() && t <= options.burn_in)
    record.heat = std::clamp(record.heat * std::exp(tuning_step(accepted ? 1 : 0, exchange_target, trials)), 1e-6, 1e6);
  return accepted && a.owner != b.owner;
}

void sampler::state::exchange(std::int64_t t) {
  const auto temperatures = std::size_t(options.temperatures);
  const std::vector<double> log_likelihood = log_likelihoods();
  std::vector<bool> has_moved(slots.size(), false);
  // The only pair of two temperatures has its turn every time.
  const std::size_t first = temperatures == 2 ? 0 : std::size_t(t / options.swap_every % 2);
  for (std::size_t c = 0; c < exchanges.size(); ++c) {
    random_stream random = stream(slots.size() + c, t);
    for (std::size_t k = first; k + 1 < temperatures; k += 2) {
      const std::size_t i = c * temperatures + k;
      if (exchange_pair(c, i, log_likelihood, random, t)) has_moved[i] = has_moved[i + 1] = true;
    }
    count_round_trips(c);
  }
  if (group != nullptr) move_places(has_moved);
}

void sampler::state::count_round_trips(std::size_t c) {
  temperature_slot* const ladder = &slots[c * std::size_t(options.temperatures)];
  exchanges[c].round_trips += ladder[0].was_hot ? 1 : 0;
  ladder[0].was_hot = false;
  ladder[options.temperatures - 1].was_hot = true;
}

// Those who share a walker stop at the same step or not at all: each waits for the others in every likelihood.
void sampler::state::poll_together() const {
  if (sharers)
    sharers->run_collectively([] { poll(); });
  else
    poll();
}

void sampler::state::run_to(std::int64_t end) {
  for_own_slots([&](std::int64_t i) {
    for (std::int64_t t = step + 1; t <= end; ++t) {
      poll_together();
      take_step(std::size_t(i), t);
      if (t < end) sample(std::size_t(i), t);
    }
  });
  if (options.temperatures > 1 && end % options.swap_every == 0) exchange(end);
  if (end % rebuild_every == 0) for_own_slots([&](std::int64_t i) { rebuild(std::size_t(i), end); });
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (is_own(slots[i])) sample(i, end);
  step = end;
}

}  // namespace quintet::snp
