// What the machine can do: multiply-adds and memory traffic, for the shares that the other benchmarks state.
#include <benchmark/benchmark.h>

#include "machine.hpp"

namespace {

using namespace quintet;

template <class Real>
void multiply_adds(benchmark::State& state) {
  double rate = 0;
  for (auto _ : state) rate = bench::fma_rate<Real>(int(state.range(0)));
  state.counters["GFLOP/s"] = 2e-9 * rate;
}

void stream(benchmark::State& state) {
  double rate = 0;
  for (auto _ : state) rate = bench::stream_rate(int(state.range(0)));
  state.counters["GB/s"] = 1e-9 * rate;
}

BENCHMARK(multiply_adds<float>)->Arg(1)->Arg(2)->ArgName("threads")->Iterations(1)->UseRealTime();
BENCHMARK(multiply_adds<double>)->Arg(1)->Arg(2)->ArgName("threads")->Iterations(1)->UseRealTime();
BENCHMARK(stream)->Arg(1)->Arg(2)->ArgName("threads")->Iterations(1)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
