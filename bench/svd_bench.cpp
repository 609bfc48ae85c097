// svd: matrices a second with U, S and V, beside OpenBLAS (gesdd, gesvj) and Eigen (JacobiSVD, BDCSVD).
//
// Random Gaussian square matrices. Results are checked before they are timed. The peers take one matrix after another
// on one thread; quintet is measured on 1 and on 2 threads.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "machine.hpp"
#include "peers/lapack_svd.hpp"
#include "quintet/core/philox.hpp"
#include "quintet/svd/decompose.hpp"

namespace {

using namespace quintet;

template <class Real>
std::vector<Real> random_batch(std::int64_t batch, std::int64_t n) {
  std::vector<Real> a(batch * n * n);
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
  const auto a = random_batch<Real>(batch, n);
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

template <class Real, bench::svd_peer Peer>
void peer(benchmark::State& state) {
  const std::int64_t n = state.range(0), batch = std::max<std::int64_t>(1, batch_for(n) / 8);
  const auto a = random_batch<Real>(batch, n);
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
