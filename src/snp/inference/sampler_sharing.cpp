// The chains as numbers: what other processes need of them, and snapshots.
#include <algorithm>

#include "snp/inference/sampler_state.hpp"

namespace quintet::snp {

std::vector<double> sampler::state::record_of(const temperature_slot& p) {
  std::vector<double> numbers;
  for (std::size_t m = 0; m < p.moves.size(); ++m) {
    const move_record& record = p.records[m];
    numbers.insert(numbers.end(),
                   {double(record.tried), double(record.accepted), double(record.not_applicable), double(p.trials[m]),
                    p.moves[m]->is_tunable() ? p.moves[m]->width() : 0, record.seconds});
  }
  return numbers;
}

std::vector<double> sampler::state::tuning_of(const temperature_slot& p) {
  std::vector<double> numbers = record_of(p);
  for (const move* const learner : p.learners) {
    const std::vector<double> learnt = learner->learnt();
    numbers.push_back(double(learnt.size()));
    numbers.insert(numbers.end(), learnt.begin(), learnt.end());
  }
  return numbers;
}

void sampler::state::set_tuning(temperature_slot& p, std::span<const double> numbers) {
  auto next = numbers.begin();
  for (std::size_t m = 0; m < p.moves.size(); ++m, next += 6) {
    move_record& record = p.records[m];
    record.tried = std::int64_t(next[0]);
    record.accepted = std::int64_t(next[1]);
    record.not_applicable = std::int64_t(next[2]);
    p.trials[m] = std::int64_t(next[3]);
    if (p.moves[m]->is_tunable()) p.moves[m]->set_width(next[4]);
    record.seconds = next[5];
  }
  for (move* const learner : p.learners) {
    const auto size = std::ptrdiff_t(*next);
    learner->set_learnt({next + 1, next + 1 + size});
    next += 1 + size;
  }
}

std::vector<double> sampler::state::log_likelihoods() const {
  std::vector<double> result(slots.size()), own;
  for (const temperature_slot& p : slots)
    if (is_own(p) && is_spokesman) own.push_back(p.state->log_likelihood);
  if (group == nullptr) return own;
  const std::vector<double> all = group->allgather(own);
  // By process, and in each by place.
  std::size_t next = 0;
  for (int process = 0; process < group->size(); ++process)
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (slots[i].owner == process) result[i] = all[next++];
  return result;
}

void sampler::state::move_places(const std::vector<bool>& has_moved) {
  if (std::find(has_moved.begin(), has_moved.end(), true) == has_moved.end()) return;
  const auto tuning = from_owners([&](const temperature_slot& p) {
    return has_moved[std::size_t(&p - slots.data())] ? tuning_of(p) : std::vector<double>{};
  });
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!has_moved[i]) continue;
    std::swap(slots[i].owner, slots[i + 1].owner);
    for (const std::size_t k : {i, i + 1})
      if (is_own(slots[k])) set_tuning(slots[k], tuning[k]);
    ++i;
  }
}

sampler_snapshot sampler::state::snapshot() const {
  require_whole();
  require_argument(step % rebuild_every == 0, "step of a snapshot", step, text("divisible by ", rebuild_every));
  sampler_snapshot result;
  result.step = step;
  const auto states = from_owners([](const temperature_slot& p) { return numbers_of(p.state->state); });
  const auto tuning = from_owners(tuning_of);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    result.counts.push_back(std::int64_t(states[i].size()));
    result.numbers.insert(result.numbers.end(), states[i].begin(), states[i].end());
    auto next = tuning[i].begin();
    for (std::size_t m = 0; m < slots[i].moves.size(); ++m, next += 6) {
      for (int k = 0; k < 4; ++k) result.counts.push_back(std::int64_t(next[k]));
      result.numbers.push_back(next[4]);
    }
    for (std::size_t k = 0; k < slots[i].learners.size(); ++k) {
      const auto size = std::ptrdiff_t(*next++);
      result.counts.push_back(size);
      result.numbers.insert(result.numbers.end(), next, next + size);
      next += size;
    }
  }
  for (const exchange_record& record : exchanges) {
    result.counts.insert(result.counts.end(), {record.tried, record.accepted, record.round_trips});
    result.numbers.push_back(record.heat);
  }
  for (const temperature_slot& p : slots) result.counts.push_back(p.was_hot ? 1 : 0);
  return result;
}

void sampler::state::restore(const sampler_snapshot& from) {
  run_collectively([&] { take(from); });
  deal_places();
  is_broken_off = true;
  for_own_slots([&](std::int64_t i) { evaluate(slots[std::size_t(i)]); });
  is_broken_off = false;
}

void sampler::state::take(const sampler_snapshot& from) {
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
  for (temperature_slot& p : slots) {
    p.state->state = state_from_numbers(species, next_numbers(next_count()));
    p.samples.clear();
    p.log_likelihoods.clear();
    for (std::size_t m = 0; m < p.moves.size(); ++m) {
      move_record& record = p.records[m];
      for (std::int64_t* value : {&record.tried, &record.accepted, &record.not_applicable, &p.trials[m]})
        *value = next_count();
      const double width = next_numbers(1)[0];
      if (p.moves[m]->is_tunable()) p.moves[m]->set_width(width);
    }
    for (move* const learner : p.learners) learner->set_learnt(next_numbers(next_count()));
  }
  for (exchange_record& record : exchanges) {
    record.tried = next_count();
    record.accepted = next_count();
    record.round_trips = next_count();
    record.heat = next_numbers(1)[0];
  }
  for (temperature_slot& p : slots) p.was_hot = next_count() != 0;
  if (count != from.counts.size() || number != from.numbers.size())
    throw InvalidArgument("the snapshot is of another sampler (too many numbers)");
  step = from.step;
}

}  // namespace quintet::snp
