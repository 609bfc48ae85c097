// The main kernel of every family beside what the machine can do: operations and the memory traffic that no algorithm
// can avoid (every input read once, every result written once), and the share of min(multiply-adds, intensity * stream)
// that is reached. Every result is checked before it is timed. bench/roofline.py draws it.
//
//   roofline_bench --benchmark_filter='^mutual_reachability'
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <vector>

#include "clustered_points.hpp"
#include "machine.hpp"
#include "quintet/core/philox.hpp"
#include "quintet/hdbscan/core_distances.hpp"
#include "quintet/hdbscan/mutual_reachability.hpp"
#include "quintet/poincare/poincare.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/spgemm/dense_product.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "quintet/spgemm/transpose.hpp"
#include "quintet/svd/decompose.hpp"
#include "spot_checks.hpp"
#include "support/snp_cases.hpp"
#include "support/sparse_matrices.hpp"

namespace {

using namespace quintet;

struct work {
  double operations, bytes;
};

template <class Real>
double fma_peak(int threads) {
  static const double rates[] = {bench::fma_rate<Real>(1), bench::fma_rate<Real>(2)};
  return rates[threads - 1];
}

double stream_peak(int threads) {
  static const double rates[] = {bench::stream_rate(1), bench::stream_rate(2)};
  return rates[threads - 1];
}

/// Times `call` with state.range(0) threads and reports `done` by one call of it.
template <class Real, class Call, class Check>
void measure(benchmark::State& state, work done, Call call, Check check) {
  const int threads = int(state.range(0));
  const double operations_peak = 2 * fma_peak<Real>(threads), bytes_peak = stream_peak(threads);
  set_threads(threads);
  call();
  check();
  const auto start = std::chrono::steady_clock::now();
  for (auto _ : state) call();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double rate = done.operations * double(state.iterations()) / seconds;
  const double intensity = done.operations / done.bytes;
  state.counters["GFLOP/s"] = 1e-9 * rate;
  state.counters["GB/s"] = 1e-9 * rate / intensity;
  state.counters["FLOP/byte"] = intensity;
  state.counters["roof"] = 1e-9 * std::min(operations_peak, intensity * bytes_peak);
  state.counters["double"] = sizeof(Real) == sizeof(double);
}

constexpr std::int64_t points_count = 5000, points_dim = 384;

void mutual_reachability(benchmark::State& state) {
  const std::int64_t n = points_count, dim = points_dim;
  const auto points = bench::clustered_points<float>(n, dim);
  const matrix_view<const float> view(points.data(), n, dim);
  const auto core = hdbscan::core_distances<float>(view, {.min_samples = 5}, Device::host()).distances;
  std::vector<float> out(std::size_t(n * n));
  measure<float>(
      state, {double(n) * double(n) * double(dim), 4.0 * double(n * dim + n * n)},
      [&] {
        hdbscan::mutual_reachability(view, core, {out.data(), n, n}, {}, Device::host());
        benchmark::DoNotOptimize(out.data());
      },
      [&] { bench::check_mutual_reachability(view, core, {out.data(), n, n}); });
}

void core_distances(benchmark::State& state) {
  const std::int64_t n = points_count, dim = points_dim;
  const auto points = bench::clustered_points<float>(n, dim);
  std::vector<float> core;
  measure<float>(
      state, {double(n) * double(n) * double(dim), 4.0 * double(n * dim + n)},
      [&] {
        core = hdbscan::core_distances<float>({points.data(), n, dim}, {.min_samples = 5}, Device::host()).distances;
      },
      [&] { bench::check_core_distances({points.data(), n, dim}, core, 5); });
}

std::vector<float> ball_points(std::int64_t n, std::int64_t dim) {
  std::vector<float> points(std::size_t(n * dim));
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = 0.05F * normal_at<float>(4, 0, i);
  return points;
}

void poincare_distances(benchmark::State& state) {
  const std::int64_t n = 1000, dim = 64;
  const auto points = ball_points(n, dim);
  std::vector<float> out(std::size_t(n * n));
  measure<float>(
      state, {2 * double(n) * double(n) * double(dim), 4.0 * double(2 * n * dim + n * n)},
      [&] {
        poincare::distances({points.data(), n, dim}, {points.data(), n, dim}, {out.data(), n, n}, {}, Device::host());
        benchmark::DoNotOptimize(out.data());
      },
      [&] { bench::check_ball_distances({points.data(), n, dim}, {out.data(), n, n}); });
}

void poincare_nearest(benchmark::State& state) {
  const std::int64_t queries = 1000, n = 50'000, dim = 64, k = 10;
  const auto points = ball_points(n, dim);
  const matrix_view<const float> all(points.data(), n, dim), few(points.data(), queries, dim);
  poincare::neighbours<float> lists;
  measure<float>(
      state, {2 * double(queries) * double(n) * double(dim), 4.0 * double((queries + n) * dim)},
      [&] { lists = poincare::nearest<float>(few, all, k, {}, Device::host()); },
      [&] { bench::check_ball_neighbours(few, all, {lists.distance.data(), queries, k}); });
}

// A pair of columns costs a scalar product, a rotation of two columns of A and one of V: 2 m + 6 m + 6 n operations.
template <class Real>
void svd_decompose(benchmark::State& state) {
  const std::int64_t n = state.range(1), batch = std::max<std::int64_t>(16, (1 << 24) / (n * n * n) / 16 * 16);
  std::vector<Real> a(std::size_t(batch * n * n));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = normal_at<Real>(1, 0, i);
  const batch_view<const Real> matrices(a.data(), batch, n, n);
  const auto run = [&] { return svd::decompose<Real>(matrices, {}, Device::host()); };
  const auto first = run();
  const auto& sweeps = first.sweeps;
  const double pairs = double(std::accumulate(sweeps.begin(), sweeps.end(), std::int64_t(0))) * double(n * (n - 1) / 2);
  measure<Real>(
      state, {pairs * 14 * double(n), double(sizeof(Real)) * double(batch * (3 * n * n + n))},
      [&] { benchmark::DoNotOptimize(run()); },
      [&] { bench::check_decomposition<Real>(matrices, first.u_view(), {first.s.data(), batch, n}, first.v_view()); });
}

void spgemm_multiply(benchmark::State& state) {
  const auto a = test::rmat_matrix<double, std::int32_t>(14, 16, 1);
  spgemm::report report;
  const auto first = multiply(a.view(), a.view(), {}, Device::host(), &report);
  measure<double>(
      state, {2 * double(report.products), 12.0 * double(a.nnz() + report.nnz)},
      [&] { benchmark::DoNotOptimize(multiply(a.view(), a.view(), {}, Device::host())); },
      [&] { bench::check_product(a.view(), a.view(), first.view()); });
}

void spgemm_multiply_dense(benchmark::State& state) {
  const std::int64_t n = 20'000, columns = 64;
  const auto a = test::uniform_matrix<double, std::int32_t>(n, n, 16, 3);
  std::vector<double> x(std::size_t(n * columns), 1), y(x.size());
  measure<double>(
      state, {2 * double(a.nnz() * columns), 12.0 * double(a.nnz()) + 16.0 * double(n * columns)},
      [&] {
        spgemm::multiply_dense<double, std::int32_t>(a.view(), {x.data(), n, columns}, {y.data(), n, columns},
                                                     Device::host());
        benchmark::DoNotOptimize(y.data());
      },
      [&] {
        const Eigen::VectorXd expected = bench::times(a.view(), Eigen::VectorXd::Ones(n));
        for (std::int64_t i = 0; i < n * columns; ++i) bench::check_near(y[i], expected[i / columns], 1e-12, "A x");
      });
}

void spgemm_transpose(benchmark::State& state) {
  const auto a = test::uniform_matrix<double, std::int32_t>(200'000, 200'000, 16, 3);
  // No arithmetic: an entry that is moved counts as one operation.
  measure<double>(
      state, {double(a.nnz()), 24.0 * double(a.nnz())}, [&] { benchmark::DoNotOptimize(spgemm::transpose(a.view())); },
      [&] {
        // x . (A y) = (A^T x) . y
        const auto turned = spgemm::transpose(a.view());
        const Eigen::VectorXd x = bench::weights(a.rows), y = bench::weights(a.cols).reverse();
        bench::check_near(bench::times(turned.view(), x).dot(y) / x.dot(bench::times(a.view(), y)), 1, 1e-12,
                          "(A^T x) . y");
      });
}

// Six species of four copies on a network with two reticulations, 2000 different sites.
void snp_likelihood(benchmark::State& state) {
  const auto network = test::snp_network(test::snp_text::rice_level2, .1);
  const auto species = network.species();
  snp::DataBuilder builder({species.begin(), species.end()});
  std::vector<std::vector<reference::snp_state>> sites;
  for (std::int64_t p = 0; p < 2000; ++p) {
    std::vector<std::int64_t> red, copies(species.size(), 4);
    for (std::int64_t rest = p * 7919 % 15625; red.size() < species.size(); rest /= 5) red.push_back(rest % 5);
    builder.add_site(red, copies);
    auto& site = sites.emplace_back();
    for (const std::int64_t r : red) site.emplace_back(4, int(r));
  }
  const auto data = builder.finish();
  snp::Likelihood likelihood(network, data, {}, {.device = Device::host()});
  double rate = 1;
  measure<double>(
      state, {2 * likelihood.size().operations, 24.0 * 2000},
      [&] {
        likelihood.set_rates(rate = 2.001 - rate, 1);
        benchmark::DoNotOptimize(likelihood.evaluate());
        likelihood.accept();
      },
      [&] { bench::check_site_likelihoods(network, sites, likelihood.site_log_likelihoods(), rate, 1); });
}

void both(benchmark::internal::Benchmark* b) { b->Arg(1)->Arg(2)->ArgName("threads")->UseRealTime()->MinTime(0.2); }
void sizes(benchmark::internal::Benchmark* b) {
  b->ArgsProduct({{1, 2}, {8, 32, 128}})->ArgNames({"threads", "n"})->UseRealTime()->MinTime(0.2);
}

BENCHMARK(mutual_reachability)->Apply(both);
BENCHMARK(core_distances)->Apply(both);
BENCHMARK(poincare_distances)->Apply(both);
BENCHMARK(poincare_nearest)->Apply(both);
BENCHMARK(svd_decompose<float>)->Apply(sizes);
BENCHMARK(svd_decompose<double>)->Apply(sizes);
BENCHMARK(snp_likelihood)->Apply(both);
BENCHMARK(spgemm_multiply)->Apply(both);
BENCHMARK(spgemm_multiply_dense)->Apply(both);
BENCHMARK(spgemm_transpose)->Apply(both);

}  // namespace

BENCHMARK_MAIN();
