#include "snp/network/lineage_process.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "quintet/core/error.hpp"

namespace quintet::snp {

namespace {

// Of a sum, what is left away.
constexpr double negligible = 1e-17;
// Expected jumps that are summed at once: e^-500 is a normal number.
constexpr double max_jumps = 500;

}  // namespace

lineage_process::lineage_process(std::int64_t species, std::int64_t max_reticulations, double speciation_rate,
                                 double hybridization_rate)
    : species_(species),
      max_(max_reticulations),
      speciation_rate_(speciation_rate),
      hybridization_rate_(hybridization_rate) {}

// A jump of the uniformised chain, row vector times matrix.
void lineage_process::step_forward(const table& from, table& to) const {
  const double fastest = fastest_rate();
  std::fill(to.begin(), to.end(), 0.0);
  for (std::int64_t i = 0; i <= max_; ++i)
    for (std::int64_t j = 1; j <= lineages_end(i); ++j) {
      const double value = from[place(j, i)];
      if (value == 0) continue;
      to[place(j, i)] += value * ((fastest - exit_rate(j)) / fastest);
      if (j < lineages_end(i)) to[place(j + 1, i)] += value * (split_rate(j) / fastest);
      if (i < max_ && j > 1) to[place(j - 1, i + 1)] += value * (merge_rate(j) / fastest);
    }
}

// Matrix times column vector.
void lineage_process::step_backward(const table& from, table& to) const {
  const double fastest = fastest_rate();
  for (std::int64_t i = 0; i <= max_; ++i)
    for (std::int64_t j = 1; j <= lineages_end(i); ++j) {
      double sum = from[place(j, i)] * ((fastest - exit_rate(j)) / fastest);
      if (j < lineages_end(i)) sum += from[place(j + 1, i)] * (split_rate(j) / fastest);
      if (i < max_ && j > 1) sum += from[place(j - 1, i + 1)] * (merge_rate(j) / fastest);
      to[place(j, i)] = sum;
    }
}

std::vector<double> lineage_process::log_end_probabilities(double time, std::int64_t lineages) const {
  table current(place(0, max_ + 1), 0.0), next = current, sum = current;
  current[place(lineages, 0)] = 1;
  double log_scale = 0;
  const double all_jumps = fastest_rate() * time;
  const auto pieces = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(all_jumps / max_jumps)));
  const double jumps = all_jumps / static_cast<double>(pieces);
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    std::fill(sum.begin(), sum.end(), 0.0);
    double weight = std::exp(-jumps);
    for (std::int64_t k = 0;; ++k) {
      for (std::size_t s = 0; s < sum.size(); ++s) sum[s] += weight * current[s];
      const double mass = std::accumulate(current.begin(), current.end(), 0.0);
      weight *= jumps / static_cast<double>(k + 1);
      // What is to come, against the least of the sums; enough jumps to reach every end must have been.
      double min = mass;
      for (const double s : sum)
        if (s > 0) min = std::min(min, s);
      const double ratio = jumps / static_cast<double>(k + 2);
      const bool is_over = ratio < 1 && weight * mass / (1 - ratio) <= negligible * min;
      if (weight == 0 || (is_over && k >= species_ + 2 * max_)) break;
      step_forward(current, next);
      current.swap(next);
    }
    const double largest = *std::max_element(sum.begin(), sum.end());
    if (!(largest > 0)) break;
    for (std::size_t s = 0; s < sum.size(); ++s) current[s] = sum[s] / largest;
    log_scale += std::log(largest);
  }
  std::vector<double> ends;
  for (std::int64_t r = 0; r <= max_; ++r) ends.push_back(std::log(current[place(species_, r)]) + log_scale);
  return ends;
}

lineage_process::table lineage_process::chances_to_end(double stopping_rate) const {
  table chance(place(0, max_ + 1), 0.0);
  for (std::int64_t i = max_; i >= 0; --i)
    for (std::int64_t j = lineages_end(i); j >= 1; --j) {
      double sum = j == species_ ? stopping_rate : 0.0;
      if (j < lineages_end(i)) sum += split_rate(j) * chance[place(j + 1, i)];
      if (i < max_ && j > 1) sum += merge_rate(j) * chance[place(j - 1, i + 1)];
      chance[place(j, i)] = sum / (stopping_rate + exit_rate(j));
    }
  return chance;
}

double lineage_process::chance_to_end(double stopping_rate) const { return chances_to_end(stopping_rate)[place(1, 0)]; }

lineage_process::resolvent lineage_process::from_two(double stopping_rate) const {
  const auto solve = [&](const table& right) {
    table x(right.size(), 0.0);
    for (std::int64_t i = 0; i <= max_; ++i)
      for (std::int64_t j = 1; j <= lineages_end(i); ++j) {
        double sum = right[place(j, i)];
        if (j > 1) sum += x[place(j - 1, i)] * split_rate(j - 1);
        if (i > 0) sum += x[place(j + 1, i - 1)] * merge_rate(j + 1);
        x[place(j, i)] = sum / (stopping_rate + exit_rate(j));
      }
    return x;
  };
  table start(place(0, max_ + 1), 0.0);
  start[place(2, 0)] = 1;
  const table first = solve(start), second = solve(first);
  resolvent result;
  for (std::int64_t r = 0; r <= max_; ++r) {
    result.first.push_back(first[place(species_, r)]);
    result.second.push_back(second[place(species_, r)]);
  }
  return result;
}

lineage_history lineage_process::draw_stopped(double stopping_rate, random_stream& random) const {
  const table chance = chances_to_end(stopping_rate);
  if (!(chance[place(1, 0)] > 0)) throw InvalidArgument("the process cannot end with the number of species");
  lineage_history history{0, {}};
  for (std::int64_t j = 1, i = 0;;) {
    history.end -= std::log(random.uniform_positive<double>()) / (stopping_rate + exit_rate(j));
    const double stop = j == species_ ? stopping_rate : 0.0;
    const double split = j < lineages_end(i) ? split_rate(j) * chance[place(j + 1, i)] : 0.0;
    const double merge = i < max_ && j > 1 ? merge_rate(j) * chance[place(j - 1, i + 1)] : 0.0;
    const double draw = random.uniform<double>() * (stop + split + merge);
    if (draw < split) {
      history.events.push_back({history.end, false});
      ++j;
    } else if (draw < split + merge) {
      history.events.push_back({history.end, true});
      --j;
      ++i;
    } else {
      return history;
    }
  }
}

// Uniformisation: the number of jumps, then the way from state to state given the end, then the jumps' times, which are
// uniform. Jumps from a state to itself do not count.
lineage_history lineage_process::draw_until(double time, std::int64_t only, random_stream& random) const {
  const double jumps = fastest_rate() * time;
  std::vector<table> to_end(1, table(place(0, max_ + 1), 0.0));
  for (std::int64_t r = 0; r <= max_; ++r)
    if (only < 0 || r == only) to_end[0][place(species_, r)] = 1;
  std::vector<double> log_weights;
  double largest = -std::numeric_limits<double>::infinity(), log_weight = -jumps;
  for (std::int64_t k = 0;; ++k) {
    log_weights.push_back(log_weight + std::log(to_end.back()[place(1, 0)]));
    largest = std::max(largest, log_weights.back());
    const double next = log_weight + std::log(jumps / static_cast<double>(k + 1));
    if (static_cast<double>(k) > 2 * jumps && k >= species_ + 2 * max_ && next < largest + std::log(negligible)) break;
    if (k > 10'000'000) throw InvalidArgument("the process has too many events between origin and leaves");
    log_weight = next;
    table before(to_end.back().size(), 0.0);
    step_backward(to_end.back(), before);
    to_end.push_back(std::move(before));
  }
  if (!std::isfinite(largest)) throw InvalidArgument("the process cannot end with the number of species");
  double total = 0;
  for (double& w : log_weights) total += w = std::exp(w - largest);
  double draw = random.uniform<double>() * total;
  std::size_t left = 0;
  while (left + 1 < log_weights.size() && draw >= log_weights[left]) draw -= log_weights[left++];

  std::vector<double> times(left);
  for (double& t : times) t = time * random.uniform<double>();
  std::sort(times.begin(), times.end());
  lineage_history history{time, {}};
  const double fastest = fastest_rate();
  std::int64_t j = 1, i = 0;
  for (const double t : times) {
    const table& later = to_end[--left];
    const double stay = (fastest - exit_rate(j)) * later[place(j, i)];
    const double split = j < lineages_end(i) ? split_rate(j) * later[place(j + 1, i)] : 0.0;
    const double merge = i < max_ && j > 1 ? merge_rate(j) * later[place(j - 1, i + 1)] : 0.0;
    const double place_of_next = random.uniform<double>() * (stay + split + merge);
    if (place_of_next < split) {
      history.events.push_back({t, false});
      ++j;
    } else if (place_of_next < split + merge) {
      history.events.push_back({t, true});
      --j;
      ++i;
    }
  }
  return history;
}

}  // namespace quintet::snp
