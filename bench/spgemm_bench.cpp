// spgemm: products of real and made matrices, for profiles and counters. Beside other libraries: spgemm_ratios.
//
// The product of one thread is checked by a vector; every product has its bits, columns and values, before it is timed.
// Times are the processor time of the whole process, so that other work on the machine counts little.
#include <benchmark/benchmark.h>

#include "sparse_problems.hpp"
#include "spgemm/tuning.hpp"

namespace {

using namespace quintet;
using matrix = bench::sparse_matrix;

using problem = bench::sparse_problem;

void describe(benchmark::State& state, const problem& p) {
  const auto products = double(p.report.products);
  state.counters["products"] = products;
  state.counters["nnz"] = double(p.report.nnz);
  state.counters["products/s"] = benchmark::Counter(products, benchmark::Counter::kIsIterationInvariantRate);
}

void run_quintet(benchmark::State& state, const std::string& name, int threads, double scale) {
  const problem& p = bench::sparse_problem_of(name);
  set_threads(threads);
  const auto product = [&] { return multiply(p.a.view(), p.b.view(), spgemm::tuned({.prediction_scale = scale})); };
  if (!p.has_bits_of(product())) state.SkipWithError("wrong result");
  for (auto _ : state) benchmark::DoNotOptimize(product());
  describe(state, p);
}

void add_benchmarks(const std::string& name) {
  const auto settle = [](benchmark::internal::Benchmark* b) {
    b->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond)->MinTime(0.3);
  };
  const auto both = [&](int threads) {
    const std::string end = "/" + name + "/threads:" + std::to_string(threads);
    settle(benchmark::RegisterBenchmark(("quintet" + end).c_str(),
                                        [=](auto& state) { run_quintet(state, name, threads, 1); }));
  };
  both(1);
  both(2);
  settle(benchmark::RegisterBenchmark(("quintet-half-predicted/" + name + "/threads:1").c_str(),
                                      [=](auto& state) { run_quintet(state, name, 1, 0.5); }));
}

}  // namespace

int main(int argc, char** argv) {
  for (const auto& [name, source] : bench::sparse_sources()) add_benchmarks(name);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
