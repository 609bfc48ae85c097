// snp: time of one evaluation of the likelihood, of proposals that change one branch, and of a gradient, on the data
// sets of the reference data (QUINTET_DATA_DIR). The field's tools on the same data (one thread, Xeon 2.6 GHz): rice
// tree 0.35 s SnappNet, 0.015 s SNAPP with its cache; rice with two reticulations 3.7 s, network C 7.25 s SnappNet.
//
// Proposals are those of a Markov chain or a search: a branch chosen at random, its length changed by up to a fifth,
// the log-likelihood computed, and the change taken back, accepted with probability 1/4, or accepted; full evaluations
// of another object run in between. "ratio" is the median time of a full evaluation over the mean time of a
// proposal, "least" and "most" are the means (ms) of the branches that cost least and most.
//
// Log-likelihoods are checked before anything is timed. Benchmarks without the data say so.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "machine.hpp"
#include "quintet/core/philox.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "support/snp_cases.hpp"

namespace {

using namespace quintet;

using path = std::filesystem::path;

struct snp_case {
  const char* newick;
  double theta;
  const char* file;
  snp::Data (*read)(const path&);
  double expected;  ///< log-likelihood with u = v = 1
};

snp::Data rice(const path& file) { return test::snp_nexus(file, test::species_rule::after_last, 1); }
snp::Data geckos(const path& file) { return test::snp_nexus(file, test::species_rule::before_first, 2); }

const snp_case cases[] = {
    {test::snp_text::rice_tree, .1, "rice/rice_JDD1_example.nexus", rice, -44846.305273395},
    {test::snp_text::rice_level2, .1, "rice/rice_JDD1_example.nexus", rice, -44782.728140407},
    {test::snp_text::net_c, .005, "sim/netC_counts.csv", test::snp_counts, -1798.0608911880},
    {test::snp_text::hemidactylus, .01, "snapp/hemi129.nex", geckos, std::nan("")},
};

// Whether the data are there: some may not be passed on, and are not in tests/data.
bool prepare(benchmark::State& state, const snp_case& one) {
  set_threads(int(state.range(0)));
  if (std::filesystem::exists(test::snp_folder() / one.file)) return true;
  state.SkipWithError("no reference data (QUINTET_DATA_DIR)");
  return false;
}

snp::Likelihood make(const snp_case& one) {
  return snp::Likelihood(test::snp_network(one.newick, one.theta), one.read(test::snp_folder() / one.file), {},
                         {.device = Device::host()});
}

bool is_right(benchmark::State& state, const snp_case& one, double found) {
  if (std::isnan(one.expected) ? std::isfinite(found) : std::fabs(found - one.expected) < 1e-8) return true;
  state.SkipWithError("wrong log-likelihood");
  return false;
}

// Everything: new rates change every branch.
void full(benchmark::State& state, int which) {
  const snp_case& one = cases[which];
  if (!prepare(state, one)) return;
  auto likelihood = make(one);
  if (!is_right(state, one, likelihood.evaluate())) return;
  double rate = 1;
  for (auto _ : state) {
    likelihood.set_rates(rate = 2.001 - rate, 1);
    benchmark::DoNotOptimize(likelihood.evaluate());
    likelihood.accept();
  }
  state.counters["group"] = double(likelihood.size().largest_group);
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * likelihood.size().operations * double(state.iterations()), benchmark::Counter::kIsRate);
}

template <class Function>
double seconds(Function&& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Proposals as said above, `accepted` in percent.
void proposals(benchmark::State& state, int which, std::uint32_t accepted) {
  constexpr int per_full = 20;
  const snp_case& one = cases[which];
  if (!prepare(state, one)) return;
  auto likelihood = make(one), other = make(one);
  if (!is_right(state, one, likelihood.evaluate())) return;
  const snp::Network start = likelihood.network();
  const std::size_t branches = std::size_t(start.branches());
  random_stream random(1, which);
  std::vector<double> full, sum(branches, 0.0), count(branches, 0.0);
  double rate = 1;
  const auto propose = [&](std::int64_t b) {
    likelihood.set_length(b, start.branch(b).length * (0.8 + 0.4 * random.uniform<double>()));
    benchmark::DoNotOptimize(likelihood.evaluate());
    random.below(100) < accepted ? likelihood.accept() : likelihood.reject();
  };
  const auto evaluate = [&] {
    other.set_rates(rate = 2.001 - rate, 1);
    benchmark::DoNotOptimize(other.evaluate());
    other.accept();
  };
  // All memory is there before it is timed.
  for (std::size_t b = 0; b < branches; ++b) propose(std::int64_t(b));
  evaluate(), evaluate();
  for (auto _ : state) {
    full.push_back(seconds(evaluate));
    double all = 0;
    for (int i = 0; i < per_full; ++i) {
      const std::size_t b = random.below(std::uint32_t(branches));
      const double time = seconds([&] { propose(std::int64_t(b)); });
      sum[b] += time, count[b] += 1, all += time;
    }
    state.SetIterationTime(all / per_full);
  }
  std::nth_element(full.begin(), full.begin() + std::ptrdiff_t(full.size() / 2), full.end());
  double all = 0, number = 0, min = 1e9, max = 0;
  for (std::size_t b = 0; b < branches; ++b) {
    all += sum[b], number += count[b];
    if (count[b] == 0) continue;
    min = std::min(min, sum[b] / count[b]), max = std::max(max, sum[b] / count[b]);
  }
  state.counters["ratio"] = full[full.size() / 2] / (all / number);
  state.counters["least"] = min * 1e3;
  state.counters["most"] = max * 1e3;
}

void gradient(benchmark::State& state, int which) {
  const snp_case& one = cases[which];
  if (!prepare(state, one)) return;
  auto likelihood = make(one);
  if (!is_right(state, one, likelihood.evaluate())) return;
  for (auto _ : state) benchmark::DoNotOptimize(likelihood.gradient());
}

// Rice with two reticulations, the patterns of random counts: time by number of patterns.
void patterns(benchmark::State& state) {
  set_threads(1);
  const auto network = test::snp_network(test::snp_text::rice_level2, .1);
  const auto species = network.species();
  snp::DataBuilder builder({species.begin(), species.end()});
  for (std::int64_t p = 0; p < state.range(0); ++p) {
    // Digits to base 4 of p: 3 copies a species, so all patterns differ.
    std::vector<std::int64_t> red, copies(species.size(), 3);
    for (std::int64_t rest = p * 1237 % 4096; red.size() < species.size(); rest /= 4) red.push_back(rest % 4);
    builder.add_site(red, copies);
  }
  snp::Likelihood likelihood(network, builder.finish(), {}, {.device = Device::host()});
  double rate = 1;
  const auto evaluate = [&] {
    likelihood.set_rates(rate = 2.001 - rate, 1);
    benchmark::DoNotOptimize(likelihood.evaluate());
    likelihood.accept();
  };
  // The memory of both versions is there before it is timed.
  evaluate(), evaluate();
  for (auto _ : state) evaluate();
  state.counters["us/pattern"] = benchmark::Counter(double(state.range(0)) * double(state.iterations()) * 1e-6,
                                                    benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void threads(benchmark::internal::Benchmark* b) {
  b->Arg(1)->Arg(2)->ArgName("threads")->Unit(benchmark::kMillisecond);
}

#define QUINTET_SNP_BENCH(kind)                                            \
  BENCHMARK_CAPTURE(kind, rice_tree, 0)->Apply(threads)->UseRealTime();    \
  BENCHMARK_CAPTURE(kind, rice_level_2, 1)->Apply(threads)->UseRealTime(); \
  BENCHMARK_CAPTURE(kind, network_c, 2)->Apply(threads)->UseRealTime();    \
  BENCHMARK_CAPTURE(kind, hemidactylus, 3)->Apply(threads)->UseRealTime()
#define QUINTET_SNP_PROPOSALS(name, which)                                                  \
  BENCHMARK_CAPTURE(proposals, name##_rejected, which, 0)->Apply(threads)->UseManualTime(); \
  BENCHMARK_CAPTURE(proposals, name##_quarter, which, 25)->Apply(threads)->UseManualTime(); \
  BENCHMARK_CAPTURE(proposals, name##_accepted, which, 100)->Apply(threads)->UseManualTime()
QUINTET_SNP_BENCH(full);
QUINTET_SNP_PROPOSALS(rice_tree, 0);
QUINTET_SNP_PROPOSALS(rice_level_2, 1);
QUINTET_SNP_PROPOSALS(network_c, 2);
QUINTET_SNP_PROPOSALS(hemidactylus, 3);
QUINTET_SNP_BENCH(gradient);
BENCHMARK(patterns)->RangeMultiplier(2)->Range(256, 4096)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
