// hdbscan: the dense mutual reachability matrix beside its peers, core distances, and the whole clustering.
//
// Counters: fma_share is the part of the measured multiply-add rate that the distances alone need (N^2 D / 2 for the
// symmetric forms); GFLOP/s counts a subtraction and a multiply-add (3 operations) for each of them.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>

#include "clustered_points.hpp"
#include "machine.hpp"
#include "peers/blas_distances.hpp"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/hdbscan/mutual_reachability.hpp"
#include "quintet/io/npy.hpp"

namespace {

using namespace quintet;

int thread_count() {
  const char* set = std::getenv("QUINTET_BENCH_THREADS");
  return set != nullptr ? std::atoi(set) : int(std::thread::hardware_concurrency());
}

double fma_peak() {
  static const double rate = bench::fma_rate<float>(thread_count());
  return rate;
}

struct problem {
  std::int64_t n, dim;
  std::vector<float> points, core, out;

  problem(std::int64_t n_, std::int64_t dim_) : n(n_), dim(dim_), points(bench::clustered_points<float>(n, dim)) {
    set_threads(thread_count());
    core = hdbscan::core_distances(view(), {.min_samples = 5}, Device::host()).distances;
    if (n <= 10'000) out.assign(n * n, 0);
  }
  matrix_view<const float> view() const { return {points.data(), n, dim}; }

  double reachability(std::int64_t i, std::int64_t j, bool squared) const {
    double sum = 0;
    for (std::int64_t k = 0; k < dim; ++k) {
      const double difference = double(points[i * dim + k]) - double(points[j * dim + k]);
      sum += difference * difference;
    }
    if (squared) return sum;
    return i == j ? 0 : std::max({double(core[i]), double(core[j]), std::sqrt(sum)});
  }
  /// Empty if a sample of `out` agrees with the definition.
  const char* check(double tolerance, bool squared = false) const {
    for (std::int64_t s = 0; s < 4000; ++s) {
      const std::int64_t i = s * 7919 % n, j = s * 104729 % n;
      const double expected = reachability(i, j, squared);
      if (!(std::fabs(out[i * n + j] - expected) <= tolerance)) return "wrong result";
    }
    return nullptr;
  }
};

problem& shared_problem(std::int64_t n, std::int64_t dim) {
  static std::unique_ptr<problem> held;
  if (!held || held->n != n || held->dim != dim) held = std::make_unique<problem>(n, dim);
  return *held;
}

/// Times the loop of a benchmark, so that rates are plain numbers.
class stopwatch {
 public:
  /// Adds the rates of `passes` passes over all pairs per iteration.
  void report(benchmark::State& state, const problem& p, double passes) const {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const double rate = passes * double(p.n) * double(p.n) * double(p.dim) / 2 * double(state.iterations()) / seconds;
    state.counters["GFLOP/s"] = 3e-9 * rate;
    state.counters["fma_share"] = rate / fma_peak();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void dense(benchmark::State& state) {
  problem& p = shared_problem(state.range(0), state.range(1));
  const auto run = [&] {
    hdbscan::mutual_reachability(p.view(), p.core, {p.out.data(), p.n, p.n}, {}, Device::host());
  };
  run();
  if (const char* wrong = p.check(1e-5)) return state.SkipWithError(wrong);
  const stopwatch watch;
  for (auto _ : state) run();
  watch.report(state, p, 1);
}

void core(benchmark::State& state) {
  problem& p = shared_problem(state.range(0), state.range(1));
  const stopwatch watch;
  for (auto _ : state)
    benchmark::DoNotOptimize(hdbscan::core_distances<float>(p.view(), {.min_samples = 5}, Device::host()));
  watch.report(state, p, 1);
}

void cluster(benchmark::State& state) {
  problem& p = shared_problem(state.range(0), state.range(1));
  hdbscan::cluster_result result;
  const stopwatch watch;
  for (auto _ : state) result = hdbscan::cluster(p.view(), {.min_cluster_size = 10}, Device::host());
  if (result.clusters() < 40 || std::int64_t(result.spanning_tree.size()) != p.n - 1)
    return state.SkipWithError("wrong result");
  watch.report(state, p, result.counters.passes);
  state.counters["passes"] = result.counters.passes;
  state.counters["clusters"] = double(result.clusters());
}

/// Memory beyond the input and time a stage of one clustering; runs once.
void cluster_memory(benchmark::State& state) {
  const std::int64_t n = state.range(0), dim = state.range(1);
  set_threads(thread_count());
  const std::vector<float> points = bench::clustered_points<float>(n, dim);
  const bench::memory_watch memory;
  hdbscan::cluster_result result;
  for (auto _ : state) result = hdbscan::cluster({points.data(), n, dim}, {.min_cluster_size = 10}, Device::host());
  const double pairs = double(n) * double(n - 1) / 2;
  state.counters["extra_MB"] = double(memory.extra_bytes()) * 1e-6;
  state.counters["passes"] = result.counters.passes;
  state.counters["neighbours_s"] = result.neighbours_seconds;
  state.counters["tree_s"] = result.spanning_tree_seconds;
  state.counters["tree_stage_s"] = result.tree_stage_seconds;
  state.counters["clusters"] = double(result.clusters());
  state.counters["neighbours_fma_share"] = pairs * double(dim) / result.neighbours_seconds / fma_peak();
}

/// The matrix of mutual reachability, row blocks of 256 MB through a callback; runs once.
void stream_memory(benchmark::State& state) {
  const std::int64_t n = state.range(0), dim = state.range(1);
  set_threads(thread_count());
  const std::vector<float> points = bench::clustered_points<float>(n, dim);
  const std::vector<float> core(n, 0.25F);
  const bench::memory_watch memory;
  std::int64_t delivered = 0;
  for (auto _ : state)
    hdbscan::mutual_reachability_rows<float>(
        matrix_view<const float>(points.data(), n, dim), core,
        [&](std::int64_t, matrix_view<const float> rows) {
          benchmark::DoNotOptimize(rows.data());
          delivered += rows.rows();
          return true;
        },
        256 << 20, {}, Device::host());
  if (delivered != n) return state.SkipWithError("rows are missing");
  state.counters["extra_MB"] = double(memory.extra_bytes()) * 1e-6;
  state.SetBytesProcessed(n * n * std::int64_t(sizeof(float)));
}

#ifdef QUINTET_HAVE_OPENBLAS
void peer_openblas(benchmark::State& state) {
  problem& p = shared_problem(state.range(0), state.range(1));
  const auto run = [&] {
    bench::blas_mutual_reachability(p.points.data(), p.n, p.dim, p.core.data(), p.out.data(), thread_count());
  };
  run();
  if (const char* wrong = p.check(2e-3)) return state.SkipWithError(wrong);
  const stopwatch watch;
  for (auto _ : state) run();
  watch.report(state, p, 1);
}
BENCHMARK(peer_openblas)->Args({5000, 384})->Unit(benchmark::kMillisecond)->UseRealTime();
#endif

#ifdef QUINTET_HAVE_FAISS
void peer_faiss(benchmark::State& state) {
  problem& p = shared_problem(state.range(0), state.range(1));
  const auto run = [&] { bench::faiss_squared_distances(p.points.data(), p.n, p.dim, p.out.data(), thread_count()); };
  run();
  if (const char* wrong = p.check(1e-3, true)) return state.SkipWithError(wrong);
  const stopwatch watch;
  for (auto _ : state) run();
  watch.report(state, p, 1);
}
BENCHMARK(peer_faiss)->Args({5000, 384})->Unit(benchmark::kMillisecond)->UseRealTime();
#endif

BENCHMARK(dense)
    ->Args({5000, 384})
    ->Args({5000, 768})
    ->Args({5000, 1536})
    ->Args({5000, 400})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(core)->Args({5000, 384})->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(cluster)->Args({5000, 384})->Args({20000, 768})->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(cluster_memory)
    ->Args({50'000, 384})
    ->Args({20'000, 768})
    ->Args({200'000, 64})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(stream_memory)->Args({200'000, 64})->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

/// --write-points FILE.npy: the points of the 5000 x 384 cases, for peers that are other programs.
bool wrote_points(int argc, char** argv) {
  if (argc != 3 || std::string_view(argv[1]) != "--write-points") return false;
  const std::int64_t n = 5000, dim = 384;
  const std::vector<float> points = bench::clustered_points<float>(n, dim);
  io::write_npy<float>(argv[2], matrix_view<const float>(points.data(), n, dim));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (wrote_points(argc, argv)) return 0;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
