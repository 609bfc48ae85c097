// The chains of a sampler: walkers, the temperature slots between which they are exchanged, and whose process each
// place is.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "quintet/core/philox.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/snp/inference/sampler.hpp"
#include "snp/inference/moves/move.hpp"
#include "snp/likelihood/chain_likelihood.hpp"
#include "snp/likelihood/worker_team.hpp"

namespace quintet::snp {

/// Moves learn from every so many-th state of burn-in: neighbours say nearly the same.
constexpr std::int64_t learn_every = 5;

/// Likelihoods are computed from scratch, and snapshots may be taken, at every step that this divides.
constexpr std::int64_t rebuild_every = 1000;

// A chain at one temperature, without the temperature.
struct chain_state {
  chain_state(const Data* data, const Data* frequent, const sampler_options& options)
      : likelihood(data, options.model, options.likelihood), surrogate(frequent, options.model, options.likelihood) {}

  network_state state;
  double log_prior = -std::numeric_limits<double>::infinity(),
         log_likelihood = -std::numeric_limits<double>::infinity(), log_surrogate = 0;
  chain_likelihood likelihood, surrogate;
  static constexpr std::size_t remembered = 10;
  std::vector<std::string> last_moves;  // accepted ones
  std::size_t next_move = 0;

  void remember(std::string_view name) {
    if (last_moves.size() < remembered) last_moves.emplace_back();
    last_moves[next_move++ % remembered] = name;
  }
  std::string recent_moves() const {
    std::string names;
    for (std::size_t i = 0; i < last_moves.size(); ++i)
      names += (i == 0 ? "" : ", ") + last_moves[(next_move + i) % last_moves.size()];
    return names;
  }
};

// What belongs to a temperature of a chain: it stays when walkers are exchanged.
struct temperature_slot {
  explicit temperature_slot(const priors& from) : prior(from) {}

  // Whether the walker here has been at the hottest temperature since it was at beta = 1; every process knows it.
  bool was_hot = false;
  int owner = 0;  // process that has the walker and what tuning found; only there the members below count

  priors prior;  // one per thread
  std::vector<std::unique_ptr<move>> moves;
  std::vector<move_record> records;
  std::vector<double> cumulative;     // weights
  std::vector<std::size_t> tuned_as;  // by move: the first one with the same width
  std::vector<std::int64_t> trials;   // by move: of tuning
  std::vector<move*> learners;        // moves in use that learn in burn-in
  std::unique_ptr<chain_state> state;
  network_state backup;
  std::vector<sampled_state> samples;
  std::vector<std::pair<std::int64_t, double>> log_likelihoods;  // with powers: step and log L
};

/// What a sampler holds. Its parts: sampler.cpp prepares and starts the chains, sampler_steps.cpp moves them,
/// sampler_sharing.cpp turns them into numbers, for snapshots and other processes, and back.
struct sampler::state {
  std::shared_ptr<const std::vector<std::string>> species;
  const Data* data;
  sampler_options options;
  std::optional<Data> frequent;
  std::vector<temperature_slot> slots;  // [chain][temperature]
  std::vector<exchange_record> exchanges;
  worker_team workers;
  std::int64_t step = 0;
  bool is_broken_off = false;
  process_group* group;
  int rank = 0;                              // of the process that owns what this one works at
  bool is_spokesman = true;                  // of the processes that share a walker, the one that reports it
  std::shared_ptr<process_group> sharers{};  // of this process's walker; null: it has walkers of its own

  state(std::shared_ptr<const std::vector<std::string>> names, const Data* markers, const priors& prior,
        sampler_options settings);

  // Runs `work`; where other processes share the chains, all throw or none does.
  template <class Work>
  void run_collectively(const Work& work) const {
    if (group != nullptr)
      group->run_collectively(work);
    else
      work();
  }

  bool is_own(const temperature_slot& p) const { return p.owner == rank; }

  // f(i) for the places of this process, side by side.
  template <class Function>
  void for_own_slots(const Function& f) {
    run_collectively([&] {
      stage_region* const stage = quintet::detail::innermost_stage();
      workers.run(std::int64_t(slots.size()), [&](std::int64_t i) {
        const quintet::detail::stage_guard inside(stage);
        if (is_own(slots[std::size_t(i)])) f(i);
      });
    });
  }

  void share_walkers();
  void deal_places();

  // The numbers that the owner of every place reports of it, in every process.
  template <class Report>
  std::vector<std::vector<double>> from_owners(const Report& report) const {
    std::vector<double> own;
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (is_own(slots[i]) && is_spokesman) {
        const std::vector<double> reported = report(slots[i]);
        own.push_back(double(i));
        own.push_back(double(reported.size()));
        own.insert(own.end(), reported.begin(), reported.end());
      }
    const std::vector<double> all = group != nullptr ? group->allgather(own) : own;
    std::vector<std::vector<double>> result(slots.size());
    for (auto next = all.begin(); next != all.end();) {
      std::vector<double>& numbers = result[std::size_t(*next)];
      const auto size = std::ptrdiff_t(next[1]);
      numbers.assign(next + 2, next + 2 + size);
      next += 2 + size;
    }
    return result;
  }

  // How often moves were tried and their widths, six numbers a move; integers below 2^53 are exact.
  static std::vector<double> record_of(const temperature_slot& p);
  // The same, and what moves learnt: for every learner the count of its numbers and these.
  static std::vector<double> tuning_of(const temperature_slot& p);
  static void set_tuning(temperature_slot& p, std::span<const double> numbers);
  void prepare_all(const priors& prior);
  void check(const priors& prior) const;
  void check_powers() const;
  bool is_anything_fixed() const;
  void prepare(temperature_slot& p) const;
  static std::string names_of(const std::vector<std::unique_ptr<move>>& moves);

  random_stream stream(std::size_t walker_number, std::int64_t t) const {
    return random_stream(options.seed, (std::uint64_t(walker_number) << 40) + std::uint64_t(t));
  }

  bool has_surrogate() const { return options.delayed_acceptance || bool(options.surrogate); }

  // Everything of a walker from its state.
  void evaluate(temperature_slot& p) const;
  void start(std::size_t i);

  double beta(std::size_t i) const {
    const auto temperatures = std::size_t(options.temperatures);
    if (!options.powers.empty()) return options.powers[i % temperatures];
    return 1 / (1 + exchanges[i / temperatures].heat * double(i % temperatures));
  }

  // One step; whether it was accepted.
  bool try_move(temperature_slot& p, const move& chosen, move_record& record, random_stream& random, double beta) const;
  void tune(temperature_slot& p, std::size_t m, bool accepted) const;
  void take_step(std::size_t i, std::int64_t t);
  void rebuild(std::size_t i, std::int64_t t);
  void sample(std::size_t i, std::int64_t t);

  // Every second pair of neighbours of every chain, those with an even and an odd first place in turn.
  void exchange(std::int64_t t);
  // After the exchanges of a chain.
  void count_round_trips(std::size_t c);
  // Neighbours i and i + 1 of chain c; whether their walkers belong to other places now.
  bool exchange_pair(std::size_t c, std::size_t i, const std::vector<double>& log_likelihood, random_stream& random,
                     std::int64_t t);

  // log L of the walkers of all places.
  std::vector<double> log_likelihoods() const;

  // Neighbours of a pair whose walkers were exchanged between two processes: the places follow them.
  void move_places(const std::vector<bool>& has_moved);
  void poll_together() const;
  void run_to(std::int64_t end);
  void advance(const progress_callback& callback);

  // The walkers were stopped at different steps, perhaps within one.
  void break_off();
  void require_whole() const;
  sampler_snapshot snapshot() const;
  void restore(const sampler_snapshot& from);
  void take(const sampler_snapshot& from);
};

}  // namespace quintet::snp
