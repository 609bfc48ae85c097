// poincare: the matrix of distances of 1000 queries to 1000 points of 64 dimensions beside sgemm + asinh, its parts,
// and nearest neighbours of 10,000 queries among points streamed in pieces.
//
// Counters: fma_share is the part of the measured multiply-add rate that the squared distances alone need, Q N D; the
// epilogue is not counted. QUINTET_BENCH_POINTS sets the number of points of the streamed search (default 1,000,000).
#include <benchmark/benchmark.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "machine.hpp"
#include "peers/blas_poincare.hpp"
#include "quintet/core/philox.hpp"
#include "quintet/poincare/poincare.hpp"

namespace {

using namespace quintet;

std::int64_t from_environment(const char* name, std::int64_t otherwise) {
  const char* set = std::getenv(name);
  return set != nullptr ? std::atoll(set) : otherwise;
}

int thread_count() { return int(from_environment("QUINTET_BENCH_THREADS", std::thread::hardware_concurrency())); }

template <class Real>
double fma_peak() {
  static const double rate = bench::fma_rate<Real>(thread_count());
  return rate;
}

/// n points of random directions with norms uniform in [0.1, 0.95].
template <class Real>
std::vector<Real> ball_points(std::int64_t n, std::int64_t dim, std::uint64_t stream) {
  constexpr std::uint64_t seed = 4;
  std::vector<Real> points(n * dim);
  random_stream norm(seed, stream + 100);
  for (std::int64_t i = 0; i < n; ++i) {
    double square = 0;
    for (std::int64_t k = 0; k < dim; ++k) {
      points[i * dim + k] = normal_at<Real>(seed, stream, i * dim + k);
      square += double(points[i * dim + k]) * double(points[i * dim + k]);
    }
    const double length = (0.1 + 0.85 * double(norm.below(1u << 24)) / double(1u << 24)) / std::sqrt(square);
    for (std::int64_t k = 0; k < dim; ++k) points[i * dim + k] = Real(points[i * dim + k] * length);
  }
  return points;
}

double exact_distance(const double* x, const double* y, std::int64_t dim) {
  double x_square = 0, y_square = 0, difference = 0;
  for (std::int64_t k = 0; k < dim; ++k) {
    x_square += x[k] * x[k];
    y_square += y[k] * y[k];
    difference += (x[k] - y[k]) * (x[k] - y[k]);
  }
  return 2 * std::asinh(std::sqrt(difference / ((1 - x_square) * (1 - y_square))));
}

template <class Real>
struct problem {
  std::int64_t q, n, dim;
  std::vector<Real> queries, points, out;

  problem(std::int64_t q_, std::int64_t n_, std::int64_t dim_, bool holds_matrix = true)
      : q(q_),
        n(n_),
        dim(dim_),
        queries(ball_points<Real>(q, dim, 0)),
        points(ball_points<Real>(n, dim, 1)),
        out(holds_matrix ? q * n : 0) {
    set_threads(thread_count());
  }
  matrix_view<const Real> query_rows() const { return {queries.data(), q, dim}; }
  matrix_view<const Real> point_rows() const { return {points.data(), n, dim}; }

  double exact(std::int64_t i, std::int64_t j) const {
    const std::vector<double> x(&queries[i * dim], &queries[i * dim] + dim),
        y(&points[j * dim], &points[j * dim] + dim);
    return exact_distance(x.data(), y.data(), dim);
  }
  const char* check(double tolerance) const {
    for (std::int64_t s = 0; s < 4000; ++s) {
      const std::int64_t i = s * 7919 % q, j = s * 104729 % n;
      if (!(std::fabs(out[i * n + j] - exact(i, j)) <= tolerance * exact(i, j))) return "wrong result";
    }
    return nullptr;
  }
};

template <class Real>
class stopwatch {
 public:
  void report(benchmark::State& state, std::int64_t q, std::int64_t n, std::int64_t dim) const {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const double rate = double(q) * double(n) * double(dim) * double(state.iterations()) / seconds;
    state.counters["fma_share"] = rate / fma_peak<Real>();
    state.counters["Mpairs/s"] = 1e-6 * rate / double(dim);
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

template <class Real>
void matrix(benchmark::State& state) {
  fma_peak<Real>();
  problem<Real> p(state.range(0), state.range(1), state.range(2));
  const auto run = [&] {
    poincare::distances(p.query_rows(), p.point_rows(), {p.out.data(), p.q, p.n}, {}, Device::host());
  };
  run();
  if (const char* wrong = p.check(sizeof(Real) == 4 ? 1e-6 : 1e-14)) return state.SkipWithError(wrong);
  const stopwatch<Real> watch;
  for (auto _ : state) run();
  watch.report(state, p.q, p.n, p.dim);
}

void neighbours(benchmark::State& state) {
  fma_peak<float>();
  const std::int64_t k = 10;
  const problem<float> p(state.range(0), state.range(1), 64, false);
  const bench::memory_watch memory;
  poincare::neighbours<float> found;
  const stopwatch<float> watch;
  for (auto _ : state) found = poincare::nearest(p.query_rows(), p.point_rows(), k, {}, Device::host());
  watch.report(state, p.q, p.n, p.dim);
  state.counters["extra_MB"] = double(memory.extra_bytes()) * 1e-6;
  state.counters["stated_MB"] =
      1e-6 * double(poincare::nearest_workspace_bytes(scalar_type::float32, p.q, p.n, p.dim, k, {}, Device::host()));
  for (std::int64_t i = 0; i < p.q; i += p.q / 7)
    for (std::int64_t e = 0; e < k; ++e)
      if (std::fabs(found.distance[i * k + e] - p.exact(i, found.index[i * k + e])) > 1e-5)
        return state.SkipWithError("wrong result");
}

#ifdef QUINTET_HAVE_OPENBLAS
void peer_sgemm_asinh(benchmark::State& state) {
  problem<float> p(state.range(0), state.range(1), state.range(2));
  const auto run = [&] {
    bench::blas_poincare(p.queries.data(), p.q, p.points.data(), p.n, p.dim, p.out.data(), thread_count());
  };
  run();
  if (const char* wrong = p.check(1e-3)) return state.SkipWithError(wrong);
  const stopwatch<float> watch;
  for (auto _ : state) run();
  watch.report(state, p.q, p.n, p.dim);
}
BENCHMARK(peer_sgemm_asinh)->Args({1000, 1000, 64})->Unit(benchmark::kMillisecond)->UseRealTime();
#endif

BENCHMARK(matrix<float>)
    ->Args({1000, 1000, 64})
    ->Args({1000, 1000, 8})
    ->Args({1000, 1000, 16})
    ->Args({1000, 1000, 32})
    ->Args({1000, 1000, 128})
    ->Args({1000, 1000, 100})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(matrix<double>)->Args({1000, 1000, 64})->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(neighbours)
    ->Args({10'000, from_environment("QUINTET_BENCH_POINTS", 1'000'000)})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
