// svd: matrices a second with U, S and V, beside OpenBLAS (gesdd, gesvj) and Eigen (JacobiSVD, BDCSVD), and symmetric
// eigenproblems with and without vectors.
//
// Random Gaussian matrices: square ones of many sizes, of which eigenproblems read the lower triangle, and the shapes
// of compare.py's family svd_shapes, row-major, with and without vectors. Results are checked before they are timed.
// The peers take one matrix after another on one thread; quintet is measured on 1 and on 2 threads.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "machine.hpp"
#include "peers/lapack_svd.hpp"
#include "quintet/core/philox.hpp"
#include "quintet/svd/decompose.hpp"
#include "quintet/svd/eigen.hpp"

namespace {

using namespace quintet;

template <class Real>
std::vector<Real> random_batch(std::int64_t batch, std::int64_t rows, std::int64_t cols) {
  std::vector<Real> a(batch * rows * cols);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = normal_at<Real>(1, 0, i);
  return a;
}

/// Whether U diag(s) V^T is A; all column-major.
template <class Real>
bool is_right(const Real* a, const Real* u, const Real* s, const Real* v, std::int64_t n) {
  double error = 0, size = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = double(a[j * n + i]);
      size += sum * sum;
      for (std::int64_t k = 0; k < n; ++k) sum -= double(u[k * n + i]) * double(s[k]) * double(v[k * n + j]);
      error += sum * sum;
    }
  return std::sqrt(error / size) < 100 * double(std::numeric_limits<Real>::epsilon());
}

/// As many matrices as take a few tens of milliseconds.
std::int64_t batch_for(std::int64_t n) { return std::max<std::int64_t>(16, (1 << 24) / (n * n * n) / 16 * 16); }

template <class Real>
void jacobi(benchmark::State& state) {
  const std::int64_t n = state.range(0), batch = batch_for(n);
  const auto a = random_batch<Real>(batch, n, n);
  std::vector<Real> u(a.size()), v(a.size()), s(batch * n);
  std::vector<std::int32_t> status(batch), sweeps(batch);
  set_threads(int(state.range(1)));
  const batch_view<const Real> input(a.data(), batch, n, n, n * n, 1, n);
  const svd::outputs out{
      {u.data(), batch, n, n, n * n, 1, n}, {v.data(), batch, n, n, n * n, 1, n}, {s.data(), batch, n}, status, sweeps};
  const auto run = [&] { svd::decompose(input, out, {}, Device::host()); };
  run();
  const std::int64_t last = batch - 1;
  if (!is_right(&a[last * n * n], &u[last * n * n], &s[last * n], &v[last * n * n], n))
    return state.SkipWithError("wrong result");
  for (auto _ : state) run();
  double all = 0;
  for (const std::int32_t count : sweeps) all += count;
  state.counters["sweeps"] = all / double(batch);
  state.counters["matrices/s"] =
      benchmark::Counter(double(batch) * double(state.iterations()), benchmark::Counter::kIsRate);
}

template <class Real, bool Vectors>
void symmetric(benchmark::State& state) {
  const std::int64_t n = state.range(0), batch = batch_for(n), last = batch - 1;
  const auto a = random_batch<Real>(batch, n, n);
  std::vector<Real> v(Vectors ? a.size() : 0), w(batch * n), mirrored(&a[last * n * n], &a[last * n * n] + n * n);
  std::vector<std::int32_t> status(batch);
  set_threads(int(state.range(1)));
  const batch_view<const Real> input(a.data(), batch, n, n, n * n, 1, n);
  svd::eigen_outputs out{{w.data(), batch, n}, {}, status};
  if (Vectors) out.v = {v.data(), batch, n, n, n * n, 1, n};
  const auto run = [&] { svd::eigen(input, out, {.vectors = Vectors}, Device::host()); };
  run();
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = i + 1; j < n; ++j) mirrored[j * n + i] = mirrored[i * n + j];
  if (Vectors && !is_right(mirrored.data(), &v[last * n * n], &w[last * n], &v[last * n * n], n))
    return state.SkipWithError("wrong result");
  for (auto _ : state) run();
  state.counters["matrices/s"] =
      benchmark::Counter(double(batch) * double(state.iterations()), benchmark::Counter::kIsRate);
}

/// Row-major matrices to row-major factors, as NumPy and torch have them. Ranges: matrices, rows, columns, whether with
/// vectors, threads.
template <class Real>
void shape(benchmark::State& state) {
  const std::int64_t batch = state.range(0), m = state.range(1), n = state.range(2), k = std::min(m, n);
  const auto a = random_batch<Real>(batch, m, n);
  const svd::options options{.vectors = state.range(3) != 0 ? svd::vectors::economy : svd::vectors::none};
  set_threads(int(state.range(4)));
  svd::decomposition<Real> r;
  // Results come in memory of their own, as those of the peers do.
  const auto run = [&] { r = svd::decompose<Real>({a.data(), batch, m, n}, options, Device::host()); };
  run();
  double squares = 0, values = 0;
  for (std::int64_t i = 0; i < m * n; ++i) squares += double(a[i]) * double(a[i]);
  for (std::int64_t j = 0; j < k; ++j) values += double(r.s[j]) * double(r.s[j]);
  // The sums themselves round.
  const double allowed = 100 * double(std::numeric_limits<Real>::epsilon()) + 1e-15 * std::sqrt(double(m) * double(n));
  if (!(std::abs(values / squares - 1) <= allowed)) return state.SkipWithError("wrong result");
  for (auto _ : state) run();
  state.counters["matrices/s"] =
      benchmark::Counter(double(batch) * double(state.iterations()), benchmark::Counter::kIsRate);
}

template <class Real, bench::svd_peer Peer>
void peer(benchmark::State& state) {
  const std::int64_t n = state.range(0), batch = std::max<std::int64_t>(1, batch_for(n) / 8);
  const auto a = random_batch<Real>(batch, n, n);
  std::vector<Real> u(n * n), v(n * n), s(n);
  const auto run = [&] { return bench::peer_svd<Real>(Peer, a.data(), batch, n, u.data(), s.data(), v.data()); };
  if (!run() || !is_right(&a[(batch - 1) * n * n], u.data(), s.data(), v.data(), n))
    return state.SkipWithError("wrong result");
  for (auto _ : state) run();
  state.counters["matrices/s"] =
      benchmark::Counter(double(batch) * double(state.iterations()), benchmark::Counter::kIsRate);
}

void sizes(benchmark::internal::Benchmark* b) {
  for (const int n : {8, 16, 32, 64, 128, 256}) b->Arg(n);
  b->Unit(benchmark::kMillisecond)->UseRealTime();
}
void sizes_and_threads(benchmark::internal::Benchmark* b) {
  for (const int threads : {1, 2})
    for (const int n : {8, 16, 32, 64, 128, 256}) b->Args({n, threads});
  b->Unit(benchmark::kMillisecond)->UseRealTime();
}

void symmetric_sizes(benchmark::internal::Benchmark* b) {
  for (const int threads : {1, 2})
    for (const int n : {3, 8, 16, 32, 33, 64, 128, 256}) b->Args({n, threads});
  b->Unit(benchmark::kMillisecond)->UseRealTime();
}

BENCHMARK(symmetric<float, true>)->Apply(symmetric_sizes);
BENCHMARK(symmetric<double, true>)->Apply(symmetric_sizes);
BENCHMARK(symmetric<float, false>)->Apply(symmetric_sizes);
BENCHMARK(symmetric<double, false>)->Apply(symmetric_sizes);
/// Those of SVD_SHAPES in compare.py.
void shapes(benchmark::internal::Benchmark* b) {
  const std::vector<std::vector<std::int64_t>> all = {
      {5000, 100, 3},  {300, 1000, 10}, {50, 1000, 32}, {20, 2000, 50},  {5, 2000, 128},  {1, 100000, 32},
      {1, 20000, 200}, {100, 128, 64},  {200, 64, 256}, {300, 10, 1000}, {100, 3, 10000}, {1, 200, 20000},
      {20000, 3, 3},   {20, 200, 200},  {1, 500, 500},  {1, 1000, 1000}};
  for (const int threads : {1, 2})
    for (const int with_vectors : {1, 0})
      for (const auto& s : all) b->Args({s[0], s[1], s[2], with_vectors, threads});
  b->Unit(benchmark::kMillisecond)->UseRealTime();
}

BENCHMARK(shape<float>)->Apply(shapes);
BENCHMARK(shape<double>)->Apply(shapes);
BENCHMARK(jacobi<float>)->Apply(sizes_and_threads);
BENCHMARK(jacobi<double>)->Apply(sizes_and_threads);
#ifdef QUINTET_HAVE_OPENBLAS
BENCHMARK(peer<float, bench::svd_peer::gesdd>)->Apply(sizes);
BENCHMARK(peer<double, bench::svd_peer::gesdd>)->Apply(sizes);
BENCHMARK(peer<float, bench::svd_peer::gesvj>)->Apply(sizes);
BENCHMARK(peer<double, bench::svd_peer::gesvj>)->Apply(sizes);
#endif
BENCHMARK(peer<float, bench::svd_peer::eigen_jacobi>)->Apply(sizes);
BENCHMARK(peer<double, bench::svd_peer::eigen_jacobi>)->Apply(sizes);
BENCHMARK(peer<float, bench::svd_peer::eigen_bdc>)->Apply(sizes);
BENCHMARK(peer<double, bench::svd_peer::eigen_bdc>)->Apply(sizes);

}  // namespace

BENCHMARK_MAIN();
