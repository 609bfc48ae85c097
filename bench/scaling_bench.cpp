// One call of every family by size and number of threads: time, and memory beyond the input. bench/scaling.py runs each
// in its own process, so that none gets memory that another left to the C library. Every result is checked.
//
//   scaling_bench --benchmark_filter='^hdbscan/4000/2'
#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "clustered_points.hpp"
#include "machine.hpp"
#include "quintet/core/philox.hpp"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/poincare/poincare.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "quintet/svd/decompose.hpp"
#include "spot_checks.hpp"
#include "support/snp_cases.hpp"
#include "support/sparse_matrices.hpp"

namespace {

using namespace quintet;

/// Runs `call` once, for the memory and to warm up, checks its result and then times it. The memory is that of the
/// first time: later calls get pages that the C library kept.
template <class Call, class Check>
void measure(benchmark::State& state, Call call, Check check) {
  set_threads(int(state.range(1)));
  static std::map<std::pair<std::int64_t, std::int64_t>, double> extra_MB;
  const bench::memory_watch memory;
  const auto result = call();
  extra_MB.try_emplace({state.range(0), state.range(1)}, double(memory.extra_bytes()) * 1e-6);
  check(result);
  state.counters["extra_MB"] = extra_MB.at({state.range(0), state.range(1)});
  for (auto _ : state) benchmark::DoNotOptimize(call());
}

void hdbscan(benchmark::State& state) {
  const std::int64_t n = state.range(0), dim = 64;
  const auto points = bench::clustered_points<float>(n, dim);
  const matrix_view<const float> view(points.data(), n, dim);
  measure(
      state, [&] { return hdbscan::cluster(view, {.min_cluster_size = 10}, Device::host()); },
      [&](const auto& result) { bench::check_core_distances(view, result.core_distances, 10); });
}

void poincare(benchmark::State& state) {
  const std::int64_t n = state.range(0), dim = 64;
  std::vector<float> points(std::size_t(n * dim));
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = 0.05F * normal_at<float>(4, 0, i);
  const matrix_view<const float> view(points.data(), n, dim);
  measure(
      state,
      [&] {
        std::vector<float> out(std::size_t(n * n));
        poincare::distances(view, view, {out.data(), n, n}, {}, Device::host());
        return out;
      },
      [&](const auto& out) { bench::check_ball_distances(view, {out.data(), n, n}); });
}

// The size is the base-2 logarithm of the number of rows.
void spgemm(benchmark::State& state) {
  const auto a = test::rmat_matrix<double, std::int32_t>(int(state.range(0)), 8, 1);
  spgemm::report report;
  measure(
      state, [&] { return multiply(a.view(), a.view(), {}, Device::host(), &report); },
      [&](const auto& product) { bench::check_product(a.view(), a.view(), product.view()); });
  state.counters["products"] = double(report.products);
}

void svd(benchmark::State& state) {
  const std::int64_t batch = state.range(0), n = 32;
  std::vector<float> a(std::size_t(batch * n * n));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = normal_at<float>(1, 0, i);
  const batch_view<const float> matrices(a.data(), batch, n, n);
  measure(
      state, [&] { return svd::decompose<float>(matrices, {}, Device::host()); },
      [&](const auto& d) {
        bench::check_decomposition<float>(matrices, d.u_view(), {d.s.data(), batch, n}, d.v_view());
      });
}

// Six species of four copies on a network with two reticulations; the size is the number of different sites.
void snp(benchmark::State& state) {
  const auto network = test::snp_network(test::snp_text::rice_level2, .1);
  const auto species = network.species();
  snp::DataBuilder builder({species.begin(), species.end()});
  std::vector<std::vector<reference::snp_state>> sites;
  for (std::int64_t p = 0; p < state.range(0); ++p) {
    std::vector<std::int64_t> red, copies(species.size(), 4);
    for (std::int64_t rest = p * 7919 % 15625; red.size() < species.size(); rest /= 5) red.push_back(rest % 5);
    builder.add_site(red, copies);
    auto& site = sites.emplace_back();
    for (const std::int64_t r : red) site.emplace_back(4, int(r));
  }
  const auto data = builder.finish();
  measure(
      state,
      [&] {
        auto likelihood = std::make_unique<snp::Likelihood>(network, data, snp::model{},
                                                            snp::likelihood_options{.device = Device::host()});
        likelihood->evaluate();
        return likelihood;
      },
      [&](const auto& likelihood) {
        bench::check_site_likelihoods(network, sites, likelihood->site_log_likelihoods(), 1, 1);
      });
}

void add(benchmark::internal::Benchmark* b, std::initializer_list<int> sizes) {
  for (const int size : sizes)
    for (const int threads : {1, 2, 4}) b->Args({size, threads});
  b->MinTime(0.05)->Unit(benchmark::kMillisecond)->UseRealTime();
}

BENCHMARK(hdbscan)->Apply([](auto* b) { add(b, {1000, 2000, 4000, 8000, 16000}); });
BENCHMARK(poincare)->Apply([](auto* b) { add(b, {250, 500, 1000, 2000, 4000}); });
BENCHMARK(spgemm)->Apply([](auto* b) { add(b, {8, 10, 12, 14, 15}); });
BENCHMARK(svd)->Apply([](auto* b) { add(b, {16, 64, 256, 1024, 4096}); });
BENCHMARK(snp)->Apply([](auto* b) { add(b, {125, 250, 500, 1000, 2000}); });

}  // namespace

BENCHMARK_MAIN();
