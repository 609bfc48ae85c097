#include "quintet/snp/sampler.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "quintet/core/philox.hpp"
#include "quintet/core/poll.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/snp/network_topology.hpp"
#include "snp/chain_likelihood.hpp"
#include "snp/moves/move.hpp"
#include "snp/worker_team.hpp"

namespace quintet::snp {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Likelihoods are computed anew, and snapshots may be taken, at every step that this divides.
constexpr std::int64_t rebuild_every = 1000;
constexpr double most_drift = 1e-6;
constexpr double exchange_target = 0.3;
constexpr std::size_t remembered_moves = 10;
constexpr int start_attempts = 1000;

// Robbins and Monro: the step after the t-th trial.
double tuning_step(double accepted, double target, std::int64_t t) {
  return (accepted - target) / std::pow(1.0 + double(t), 0.6);
}

// A chain at one temperature, without the temperature.
struct walker {
  walker(const Data* data, const Data* frequent, const sampler_options& options)
      : likelihood(data, options.model, options.likelihood), surrogate(frequent, options.model, options.likelihood) {}

  network_state state;
  double log_prior = -infinity, log_likelihood = -infinity, log_surrogate = 0;
  chain_likelihood likelihood, surrogate;
  std::vector<std::string> last_moves;  // accepted ones
  std::size_t next_move = 0;

  void remember(std::string_view name) {
    if (last_moves.size() < remembered_moves) last_moves.emplace_back();
    last_moves[next_move++ % remembered_moves] = name;
  }
  std::string story() const {
    std::string names;
    for (std::size_t i = 0; i < last_moves.size(); ++i)
      names += (i == 0 ? "" : ", ") + last_moves[(next_move + i) % last_moves.size()];
    return names;
  }
};

// What belongs to a temperature of a chain: it stays when walkers are exchanged.
struct place {
  explicit place(const priors& from) : prior(from) {}

  int owner = 0;  // process that has the walker and what tuning found; only there the members below count

  priors prior;  // one a thread
  std::vector<std::unique_ptr<move>> moves;
  std::vector<move_record> records;
  std::vector<double> cumulative;     // weights
  std::vector<std::size_t> tuned_as;  // by move: the first one with the same width
  std::vector<std::int64_t> trials;   // by move: of tuning
  std::unique_ptr<walker> here;
  network_state backup;
  std::vector<sampled_state> samples;
};

}  // namespace

struct sampler::state {
  std::shared_ptr<const std::vector<std::string>> species;
  const Data* data;
  sampler_options options;
  std::optional<Data> frequent;
  std::vector<place> places;  // [chain][temperature]
  std::vector<exchange_record> exchanges;
  worker_team workers;
  std::int64_t step = 0;
  bool is_broken_off = false;
  process_group* group;
  int rank = 0;

  state(std::shared_ptr<const std::vector<std::string>> names, const Data* markers, const priors& prior,
        sampler_options given)
      : species(std::move(names)),
        data(markers),
        options(std::move(given)),
        workers(std::clamp<std::int64_t>(options.threads > 0 ? options.threads : threads(), 1,
                                         std::max<std::int64_t>(options.chains * options.temperatures, 1))),
        group(options.shared_by.get()),
        rank(group != nullptr ? group->rank() : 0) {
    together([&] { prepare_all(prior); });
    for_own_places([&](std::int64_t i) { start(std::size_t(i)); });
  }

  // Runs `work`; where other processes share the chains, all throw or none does.
  template <class Work>
  void together(const Work& work) const {
    if (group != nullptr)
      group->together(work);
    else
      work();
  }

  bool is_own(const place& p) const { return p.owner == rank; }

  // f(i) for the places of this process, side by side.
  template <class Function>
  void for_own_places(const Function& f) {
    together([&] {
      stage_region* const stage = quintet::detail::innermost_stage();
      workers.run(std::int64_t(places.size()), [&](std::int64_t i) {
        const quintet::detail::stage_guard inside(stage);
        if (is_own(places[std::size_t(i)])) f(i);
      });
    });
  }

  void deal_places() {
    for (std::size_t i = 0; i < places.size(); ++i)
      places[i].owner = group != nullptr ? int(i % std::size_t(group->size())) : 0;
  }

  // The numbers that the owner of every place tells of it, in every process.
  template <class Tell>
  std::vector<std::vector<double>> from_owners(const Tell& tell) const {
    std::vector<double> own;
    for (std::size_t i = 0; i < places.size(); ++i)
      if (is_own(places[i])) {
        const std::vector<double> told = tell(places[i]);
        own.push_back(double(i));
        own.push_back(double(told.size()));
        own.insert(own.end(), told.begin(), told.end());
      }
    const std::vector<double> all = group != nullptr ? group->allgather(own) : own;
    std::vector<std::vector<double>> result(places.size());
    for (auto next = all.begin(); next != all.end();) {
      std::vector<double>& numbers = result[std::size_t(*next)];
      const auto size = std::ptrdiff_t(next[1]);
      numbers.assign(next + 2, next + 2 + size);
      next += 2 + size;
    }
    return result;
  }

  // What tuning found and how often moves were tried; integers below 2^53 are exact.
  static std::vector<double> record_of(const place& p) {
    std::vector<double> numbers;
    for (std::size_t m = 0; m < p.moves.size(); ++m) {
      const move_record& one = p.records[m];
      numbers.insert(numbers.end(),
                     {double(one.tried), double(one.accepted), double(one.not_applicable), double(p.trials[m]),
                      p.moves[m]->is_tunable() ? p.moves[m]->width() : 0, one.seconds});
    }
    return numbers;
  }
  static void set_record(place& p, const std::vector<double>& numbers) {
    auto next = numbers.begin();
    for (std::size_t m = 0; m < p.moves.size(); ++m, next += 6) {
      move_record& one = p.records[m];
      one.tried = std::int64_t(next[0]);
      one.accepted = std::int64_t(next[1]);
      one.not_applicable = std::int64_t(next[2]);
      p.trials[m] = std::int64_t(next[3]);
      if (p.moves[m]->is_tunable()) p.moves[m]->set_width(next[4]);
      one.seconds = next[5];
    }
  }

  void prepare_all(const priors& prior) {
    check(prior);
    if (data != nullptr && options.delayed_acceptance && !options.surrogate)
      frequent = frequent_patterns(*data, options.frequent_share);
    places.reserve(std::size_t(options.chains * options.temperatures));  // moves refer to the priors there
    for (std::int64_t i = 0; i < options.chains * options.temperatures; ++i) {
      places.emplace_back(prior);
      prepare(places.back());
    }
    deal_places();
    exchanges.assign(std::size_t(options.chains), {0, 0, options.heat});
  }

  void check(const priors& prior) const {
    const auto at_least = [](std::string_view name, std::int64_t value, std::int64_t least) {
      require_argument(value >= least, name, value, text(">= ", least));
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
    require_argument(options.swap_every >= 1 && rebuild_every % options.swap_every == 0, "swap_every",
                     options.swap_every, text("a divisor of ", rebuild_every));
    require_argument(options.heat > 0 && std::isfinite(options.heat), "heat", options.heat, "finite and > 0");
    at_least("threads", options.threads, 0);
    require_argument(std::int64_t(species->size()) == prior.species(), "species", species->size(),
                     text("those of the prior, ", prior.species()));
    if (is_anything_fixed() && !options.start)
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

  bool is_anything_fixed() const {
    return options.fix_topology || options.fix_heights || options.fix_origin || options.fix_theta ||
           options.fix_gamma || options.fix_rates;
  }

  void prepare(place& p) const {
    p.moves = make_moves(p.prior, {options.fix_topology, options.fix_heights, options.fix_origin, options.fix_theta,
                                   options.fix_gamma, options.fix_rates});
    for (const auto& [name, weight] : options.weights) {
      require_argument(weight >= 0 && std::isfinite(weight), text("weight of ", name), weight, "finite and >= 0");
      if (std::none_of(p.moves.begin(), p.moves.end(), [&](const auto& m) { return m->name() == name; }))
        throw InvalidArgument(text("weights: there is no move ", name, " here; there are ", names_of(p.moves)));
    }
    double sum = 0;
    for (std::size_t i = 0; i < p.moves.size(); ++i) {
      const move& one = *p.moves[i];
      const auto given = options.weights.find(std::string(one.name()));
      p.cumulative.push_back(sum += given != options.weights.end() ? given->second : one.weight());
      p.records.push_back({std::string(one.name()), 0, 0, 0, 0, 0});
      std::size_t first = 0;
      while (p.moves[first]->width_identity() != one.width_identity()) ++first;
      p.tuned_as.push_back(first);
    }
    p.trials.assign(p.moves.size(), 0);
    require_argument(sum > 0, "weights of all moves together", sum, "> 0: nothing is left to sample");
    p.here = std::make_unique<walker>(data, frequent ? &*frequent : nullptr, options);
  }

  static std::string names_of(const std::vector<std::unique_ptr<move>>& moves) {
    std::string names;
    for (const auto& one : moves) names.append(names.empty() ? "" : ", ").append(one->name());
    return names;
  }

  random_stream stream(std::size_t walker_number, std::int64_t t) const {
    return random_stream(options.seed, (std::uint64_t(walker_number) << 40) + std::uint64_t(t));
  }

  bool has_surrogate() const { return options.delayed_acceptance || bool(options.surrogate); }

  // Everything of a walker from its state.
  void evaluate(place& p) const {
    walker& w = *p.here;
    w.log_prior = p.prior.log_density(w.state);
    w.log_likelihood = w.likelihood.build(w.state);
    if (has_surrogate()) w.log_surrogate = options.surrogate ? options.surrogate(w.state) : w.surrogate.build(w.state);
  }

  void start(std::size_t i) {
    place& p = places[i];
    walker& w = *p.here;
    if (options.start) {
      w.state = *options.start;
      const std::string broken = broken_rule(w.state);
      if (!broken.empty()) throw InvalidArgument(text("the start is no network to sample from: ", broken));
      if (!w.state.species || *w.state.species != *species)
        throw InvalidArgument("the species of the start must be those of the data");
      w.state.species = species;
      if (!is_allowed(w.state, p.prior.limits()))
        throw InvalidArgument(text("the start must be in the class of networks that is sampled (reticulations=",
                                   w.state.reticulations, ", at most ", p.prior.limits().max_reticulations, ")"));
      evaluate(p);
      if (!std::isfinite(w.log_prior)) throw InvalidArgument("the start must have a prior density > 0 (it is 0)");
      if (!std::isfinite(w.log_likelihood)) throw InvalidArgument("the start must have a likelihood > 0 (it is 0)");
      return;
    }
    random_stream random = stream(i, 0);
    for (int attempt = 0; attempt < start_attempts; ++attempt) {
      w.state = p.prior.draw(species, random);
      if (!is_in_range(w.state)) continue;
      evaluate(p);
      if (std::isfinite(w.log_likelihood) && std::isfinite(w.log_prior) && std::isfinite(w.log_surrogate)) return;
    }
    throw InvalidArgument(text("the data have likelihood 0 at ", start_attempts, " draws from the prior"));
  }

  double beta(std::size_t i) const {
    const auto temperatures = std::size_t(options.temperatures);
    return 1 / (1 + exchanges[i / temperatures].heat * double(i % temperatures));
  }

  // One step; whether it was accepted.
  bool try_move(place& p, const move& chosen, move_record& record, random_stream& random, double beta) const {
    walker& w = *p.here;
    p.backup = w.state;
    const proposal made = chosen.propose(w.state, random);
    if (!made.applies) {
      ++record.not_applicable;
      return false;
    }
    const auto keep_old = [&] {
      w.state = p.backup;
      return false;
    };
    if (!is_in_range(w.state) || !is_allowed(w.state, p.prior.limits())) return keep_old();
    const double log_prior = p.prior.log_density(w.state);
    const double ratio = log_prior - w.log_prior + made.log_hastings;
    if (!(ratio > -infinity)) return keep_old();
    const auto passes = [&](double log_ratio) {
      return log_ratio >= 0 || std::log(random.uniform_positive<double>()) <= log_ratio;
    };
    if (!made.changes_likelihood()) {
      if (!passes(ratio)) return keep_old();
      w.log_prior = log_prior;
      return true;
    }
    double log_surrogate = 0, surrogate_ratio = 0;
    if (has_surrogate()) {
      log_surrogate = options.surrogate ? options.surrogate(w.state) : w.surrogate.propose(w.state, made.topology);
      surrogate_ratio = beta * (log_surrogate - w.log_surrogate);
      if (!(log_surrogate > -infinity) || !passes(ratio + surrogate_ratio)) {
        if (!options.surrogate) w.surrogate.reject();
        return keep_old();
      }
    }
    const double log_likelihood = w.likelihood.propose(w.state, made.topology);
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

  void tune(place& p, std::size_t m, bool accepted) const {
    move& one = *p.moves[m];
    if (!one.is_tunable()) return;
    const double change = tuning_step(accepted ? 1 : 0, one.target(), p.trials[p.tuned_as[m]]++);
    one.set_width(std::clamp(one.width() * std::exp(change), 1e-4, 20.0));
  }

  void take_step(std::size_t i, std::int64_t t) {
    using clock = std::chrono::steady_clock;
    place& p = places[i];
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
      p.here->remember(p.moves[m]->name());
    }
    if (t <= options.burn_in && record.not_applicable == not_applicable) tune(p, m, accepted);
  }

  void rebuild(std::size_t i, std::int64_t t) {
    place& p = places[i];
    walker& w = *p.here;
    const double before = w.log_likelihood;
    evaluate(p);
    if (!(std::fabs(before - w.log_likelihood) <= most_drift))
      throw Error(text("the log-likelihood of walker ", i, " was ", before, " at step ", t, " and is ",
                       w.log_likelihood, " when it is computed anew; its last accepted moves were ", w.story()));
  }

  void sample(std::size_t i, std::int64_t t) {
    if (std::int64_t(i) % options.temperatures != 0 || t <= options.burn_in || t % options.sample_every != 0) return;
    place& p = places[i];
    p.samples.push_back({t, p.here->state, p.here->log_likelihood, p.prior.parts(p.here->state)});
  }

  // One pair of neighbours of every chain.
  void exchange(std::int64_t t) {
    const auto temperatures = std::size_t(options.temperatures);
    const std::vector<double> log_likelihood = log_likelihoods();
    std::vector<bool> has_moved(places.size(), false);
    for (std::size_t c = 0; c < exchanges.size(); ++c) {
      random_stream random = stream(places.size() + c, t);
      const std::size_t i = c * temperatures + random.below(std::uint32_t(temperatures - 1));
      place &a = places[i], &b = places[i + 1];
      const double ratio = (beta(i) - beta(i + 1)) * (log_likelihood[i + 1] - log_likelihood[i]);
      const bool accepted = ratio >= 0 || std::log(random.uniform_positive<double>()) <= ratio;
      exchange_record& record = exchanges[c];
      const std::int64_t trials = record.tried++;
      if (accepted) {
        ++record.accepted;
        std::swap(a.here, b.here);
        if (a.owner != b.owner) has_moved[i] = has_moved[i + 1] = true;
      }
      if (t <= options.burn_in)
        record.heat =
            std::clamp(record.heat * std::exp(tuning_step(accepted ? 1 : 0, exchange_target, trials)), 1e-6, 1e6);
    }
    if (group != nullptr) move_places(has_moved);
  }

  // log L of the walkers of all places.
  std::vector<double> log_likelihoods() const {
    std::vector<double> result(places.size()), own;
    for (const place& p : places)
      if (is_own(p)) own.push_back(p.here->log_likelihood);
    if (group == nullptr) return own;
    const std::vector<double> all = group->allgather(own);
    // By process, and in each by place.
    std::size_t next = 0;
    for (int process = 0; process < group->size(); ++process)
      for (std::size_t i = 0; i < places.size(); ++i)
        if (places[i].owner == process) result[i] = all[next++];
    return result;
  }

  // Neighbours of a pair whose walkers were exchanged between two processes: the places follow them.
  void move_places(const std::vector<bool>& has_moved) {
    if (std::find(has_moved.begin(), has_moved.end(), true) == has_moved.end()) return;
    const auto records = from_owners([&](const place& p) {
      return has_moved[std::size_t(&p - places.data())] ? record_of(p) : std::vector<double>{};
    });
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (!has_moved[i]) continue;
      std::swap(places[i].owner, places[i + 1].owner);
      for (const std::size_t k : {i, i + 1})
        if (is_own(places[k])) set_record(places[k], records[k]);
      ++i;
    }
  }

  void run_to(std::int64_t end) {
    for_own_places([&](std::int64_t i) {
      for (std::int64_t t = step + 1; t <= end; ++t) {
        poll();
        take_step(std::size_t(i), t);
        if (t < end) sample(std::size_t(i), t);
      }
    });
    if (options.temperatures > 1 && end % options.swap_every == 0) exchange(end);
    if (end % rebuild_every == 0) for_own_places([&](std::int64_t i) { rebuild(std::size_t(i), end); });
    for (std::size_t i = 0; i < places.size(); ++i)
      if (is_own(places[i])) sample(i, end);
    step = end;
  }

  void advance(const progress_callback& callback) {
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
      together([&] { report(stage.name(), double(step) / double(options.iterations)); });
    }
  }

  // The walkers were stopped at different steps, perhaps within one.
  void break_off() {
    is_broken_off = true;
    for (place& p : places) std::erase_if(p.samples, [&](const sampled_state& one) { return one.step > step; });
  }

  void require_whole() const {
    if (is_broken_off)
      throw InvalidArgument(text("the sampler was stopped within a step after ", step, "; restore() a snapshot first"));
  }

  sampler_snapshot snapshot() const {
    require_whole();
    require_argument(step % rebuild_every == 0, "step of a snapshot", step, text("divisible by ", rebuild_every));
    sampler_snapshot result;
    result.step = step;
    const auto states = from_owners([](const place& p) { return numbers_of(p.here->state); });
    const auto records = from_owners(record_of);
    for (std::size_t i = 0; i < places.size(); ++i) {
      result.counts.push_back(std::int64_t(states[i].size()));
      result.numbers.insert(result.numbers.end(), states[i].begin(), states[i].end());
      for (auto one = records[i].begin(); one != records[i].end(); one += 6) {
        for (int k = 0; k < 4; ++k) result.counts.push_back(std::int64_t(one[k]));
        result.numbers.push_back(one[4]);
      }
    }
    for (const exchange_record& record : exchanges) {
      result.counts.insert(result.counts.end(), {record.tried, record.accepted});
      result.numbers.push_back(record.heat);
    }
    return result;
  }

  void restore(const sampler_snapshot& from) {
    together([&] { take(from); });
    deal_places();
    is_broken_off = true;
    for_own_places([&](std::int64_t i) { evaluate(places[std::size_t(i)]); });
    is_broken_off = false;
  }

  void take(const sampler_snapshot& from) {
    std::size_t number = 0, count = 0;
    const auto next_count = [&] {
      if (count >= from.counts.size()) throw InvalidArgument("the snapshot is of another sampler (too few counts)");
      return from.counts[count++];
    };
    const auto next_numbers = [&](std::int64_t size) {
      if (size < 0 || std::size_t(size) > from.numbers.size() - number)
        throw InvalidArgument("the snapshot is of another sampler (too few numbers)");
      number += std::size_t(size);
      return std::span(from.numbers).subspan(number - std::size_t(size), std::size_t(size));
    };
    require_argument(from.step >= 0 && from.step % rebuild_every == 0, "step of a snapshot", from.step,
                     text("divisible by ", rebuild_every));
    for (place& p : places) {
      p.here->state = state_from_numbers(species, next_numbers(next_count()));
      p.samples.clear();
      for (std::size_t m = 0; m < p.moves.size(); ++m) {
        move_record& record = p.records[m];
        for (std::int64_t* value : {&record.tried, &record.accepted, &record.not_applicable, &p.trials[m]})
          *value = next_count();
        const double width = next_numbers(1)[0];
        if (p.moves[m]->is_tunable()) p.moves[m]->set_width(width);
      }
    }
    for (exchange_record& record : exchanges) {
      record.tried = next_count();
      record.accepted = next_count();
      record.heat = next_numbers(1)[0];
    }
    if (count != from.counts.size() || number != from.numbers.size())
      throw InvalidArgument("the snapshot is of another sampler (too many numbers)");
    step = from.step;
  }
};

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
      result[c] = std::exchange(state_->places[c * temperatures].samples, {});
    return result;
  }
  // Chain, step, log L, state. A chain's samples come from all processes whose walkers were at temperature 1.
  std::vector<double> own;
  for (std::size_t c = 0; c < result.size(); ++c)
    for (const sampled_state& one : std::exchange(state_->places[c * temperatures].samples, {})) {
      const std::vector<double> numbers = numbers_of(one.state);
      own.insert(own.end(), {double(c), double(one.step), one.log_likelihood, double(numbers.size())});
      own.insert(own.end(), numbers.begin(), numbers.end());
    }
  const std::vector<double> all = s.group->gather(own);
  for (std::size_t next = 0; next < all.size();) {
    const auto c = std::size_t(all[next]), size = std::size_t(all[next + 3]);
    network_state at = state_from_numbers(s.species, std::span(all).subspan(next + 4, size));
    const prior_parts parts = s.places[c * temperatures].prior.parts(at);
    result[c].push_back({std::int64_t(all[next + 1]), std::move(at), all[next + 2], parts});
    next += 4 + size;
  }
  for (auto& chain : result)
    std::sort(chain.begin(), chain.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  return result;
}

std::vector<std::vector<move_record>> sampler::moves() const {
  const auto told = state_->from_owners(state::record_of);
  std::vector<std::vector<move_record>> result;
  for (std::size_t i = 0; i < state_->places.size(); i += std::size_t(state_->options.temperatures)) {
    result.push_back(state_->places[i].records);
    auto next = told[i].begin();
    for (move_record& one : result.back()) {
      one.tried = std::int64_t(next[0]);
      one.accepted = std::int64_t(next[1]);
      one.not_applicable = std::int64_t(next[2]);
      one.width = next[4];
      one.seconds = next[5];
      next += 6;
    }
  }
  return result;
}

sampled_state sampler::current(std::int64_t chain) const {
  require_argument(chain >= 0 && chain < state_->options.chains, "chain", chain,
                   text("in [0, ", state_->options.chains, ")"));
  const auto sampled = std::size_t(chain * state_->options.temperatures);
  const place& p = state_->places[sampled];
  if (state_->group == nullptr)
    return {state_->step, p.here->state, p.here->log_likelihood, p.prior.parts(p.here->state)};
  const auto told = state_->from_owners([&](const place& one) {
    if (&one != &p) return std::vector<double>{};
    std::vector<double> numbers = numbers_of(one.here->state);
    numbers.push_back(one.here->log_likelihood);
    return numbers;
  })[sampled];
  const network_state at = state_from_numbers(state_->species, std::span(told).first(told.size() - 1));
  return {state_->step, at, told.back(), p.prior.parts(at)};
}

std::vector<std::string> trace_columns(const std::vector<std::string>& species) {
  std::vector<std::string> columns{"Sample",      "posterior", "likelihood",     "prior",      "reticulations",
                                   "root_height", "origin",    "network_length", "theta_mean", "theta_root"};
  for (const std::string& name : species) columns.push_back("theta_" + name);
  for (const char* name : {"pi1", "u", "v", "lambda", "nu", "level", "bubbles"}) columns.emplace_back(name);
  return columns;
}

std::vector<double> trace_row(const sampled_state& sample, const priors& prior) {
  const network_state& s = sample.state;
  double length = 0, thetas = 0;
  for (std::int32_t x = 0; x < std::int32_t(s.nodes.size()); ++x)
    for (std::int32_t which = 0; which < s.node(x).parents; ++which) {
      const std::int32_t b = network_state::branch_of(x, which);
      thetas += s.theta(b);
      if (b != s.root_branch()) length += s.length(b);
    }
  const double total = sample.prior.total();
  std::vector<double> row{double(sample.step),
                          sample.log_likelihood + total,
                          sample.log_likelihood,
                          total,
                          double(s.reticulations),
                          s.node(s.root).height,
                          s.origin,
                          length,
                          s.thetas == theta_mode::common ? s.common_theta : thetas / double(s.branches()),
                          s.theta(s.root_branch())};
  for (std::int32_t x = 0; x < s.leaves(); ++x) row.push_back(s.theta(network_state::branch_of(x)));
  const Network network = to_network(s);
  row.insert(row.end(), {s.pi1, s.u(), s.v(), prior.speciation_rate(s), prior.hybridization_rate(s),
                         double(level(network)), double(count_bubbles(network))});
  return row;
}

Data frequent_patterns(const Data& data, double share) {
  require_argument(share > 0 && share <= 1, "share", share, "in (0, 1]");
  std::vector<std::int64_t> order(static_cast<std::size_t>(data.patterns()));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return data.weight(a) != data.weight(b) ? data.weight(a) > data.weight(b) : a < b;
  });
  order.resize(std::size_t(std::ceil(share * double(order.size()))));
  double all = 0, kept = 0;
  for (const double w : data.weights()) all += w;
  for (const std::int64_t p : order) kept += data.weight(p);
  DataBuilder builder({data.species().begin(), data.species().end()},
                      {.dominant = data.dominant(), .empty = empty_species::keep});
  std::vector<std::int64_t> red, copies;
  for (const std::int64_t p : order) {
    red.clear();
    copies.clear();
    for (std::int64_t s = 0; s < std::int64_t(data.species().size()); ++s) {
      red.push_back(data.red(p, s));
      copies.push_back(data.copies(p, s));
    }
    builder.add_site(red, copies, data.weight(p) * all / kept);
  }
  return builder.finish({data.sampled_copies().begin(), data.sampled_copies().end()});
}

}  // namespace quintet::snp
