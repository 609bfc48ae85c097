// snp: time of one evaluation of the likelihood, of one after a change of one branch, and of a gradient, on the data
// sets of the reference data (QUINTET_DATA_DIR). The field's tools on the same data (one thread, Xeon 2.6 GHz): rice
// tree 0.35 s SnappNet, 0.015 s SNAPP with its cache; rice with two reticulations 3.7 s, network C 7.25 s SnappNet.
//
// Log-likelihoods are checked before anything is timed. Benchmarks without the data say so.
#include <benchmark/benchmark.h>

#include <cmath>
#include <filesystem>
#include <functional>

#include "machine.hpp"
#include "quintet/snp/likelihood.hpp"
#include "support/snp_cases.hpp"

namespace {

using namespace quintet;

struct snp_case {
  const char* newick;
  double theta;
  std::function<snp::Data()> data;
  double expected;  ///< log-likelihood with u = v = 1
};

snp::Data counts(const char* path) { return test::snp_counts(test::snp_folder() / path); }
snp::Data rice() {
  return test::snp_nexus(test::snp_folder() / "rice/rice_JDD1_example.nexus", test::species_rule::after_last, 1);
}
snp::Data geckos() {
  return test::snp_nexus(test::snp_folder() / "snapp/hemi129.nex", test::species_rule::before_first, 2);
}

const snp_case cases[] = {
    {test::snp_text::rice_tree, .1, rice, -44846.305273395},
    {test::snp_text::rice_level2, .1, rice, -44782.728140407},
    {test::snp_text::net_c, .005, [] { return counts("sim/netC_counts.csv"); }, -1798.0608911880},
    {test::snp_text::hemidactylus, .01, geckos, std::nan("")},
};

// Whether the data are there and the likelihood is right.
bool prepare(benchmark::State& state, const snp_case& one) {
  set_threads(int(state.range(0)));
  if (std::filesystem::is_directory(test::snp_folder())) return true;
  state.SkipWithError("no reference data (QUINTET_DATA_DIR)");
  return false;
  (void)one;
}

snp::Likelihood make(const snp_case& one) {
  return snp::Likelihood(test::snp_network(one.newick, one.theta), one.data(), {}, {.device = Device::host()});
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

// A proposal of one branch's length, every branch in turn, rejected.
void one_branch(benchmark::State& state, int which) {
  const snp_case& one = cases[which];
  if (!prepare(state, one)) return;
  auto likelihood = make(one);
  if (!is_right(state, one, likelihood.evaluate())) return;
  std::int64_t branch = 0;
  for (auto _ : state) {
    likelihood.set_length(branch, likelihood.network().branch(branch).length * 1.01);
    benchmark::DoNotOptimize(likelihood.evaluate());
    likelihood.reject();
    branch = (branch + 1) % likelihood.network().branches();
  }
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
    // Digits to base 5 of p: 4 copies a species, so all patterns differ.
    std::vector<std::int64_t> red, copies(species.size(), 4);
    for (std::int64_t rest = p * 7919 % 15625; red.size() < species.size(); rest /= 5) red.push_back(rest % 5);
    builder.add_site(red, copies);
  }
  snp::Likelihood likelihood(network, builder.finish(), {}, {.device = Device::host()});
  double rate = 1;
  for (auto _ : state) {
    likelihood.set_rates(rate = 2.001 - rate, 1);
    benchmark::DoNotOptimize(likelihood.evaluate());
    likelihood.accept();
  }
  state.counters["us/pattern"] = benchmark::Counter(double(state.range(0)) * double(state.iterations()) * 1e-6,
                                                    benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void threads(benchmark::internal::Benchmark* b) {
  b->Arg(1)->Arg(2)->ArgName("threads")->Unit(benchmark::kMillisecond)->UseRealTime();
}

#define QUINTET_SNP_BENCH(kind)                             \
  BENCHMARK_CAPTURE(kind, rice_tree, 0)->Apply(threads);    \
  BENCHMARK_CAPTURE(kind, rice_level_2, 1)->Apply(threads); \
  BENCHMARK_CAPTURE(kind, network_c, 2)->Apply(threads);    \
  BENCHMARK_CAPTURE(kind, hemidactylus, 3)->Apply(threads)
QUINTET_SNP_BENCH(full);
QUINTET_SNP_BENCH(one_branch);
QUINTET_SNP_BENCH(gradient);
BENCHMARK(patterns)->RangeMultiplier(2)->Range(500, 8000)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
