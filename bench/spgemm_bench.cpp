// spgemm: products of real and made matrices beside SuiteSparse:GraphBLAS (sorted rows) and Eigen.
//
// Every benchmark of a matrix checks nnz against this library's result of one thread before it is timed. Times are
// the processor time of the whole process, so that other work on the machine counts little; ratios of one run count.
// Ratios and their geometric mean, in interleaved runs: spgemm_ratios.
#include <benchmark/benchmark.h>

#include <Eigen/SparseCore>
#ifdef QUINTET_HAVE_GRAPHBLAS
#include "peers/graphblas_product.hpp"
#endif
#include "sparse_problems.hpp"

namespace {

using namespace quintet;
using matrix = bench::sparse_matrix;
using eigen_matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;

using problem = bench::sparse_problem;

void describe(benchmark::State& state, const problem& p) {
  const auto products = double(p.told.products);
  state.counters["products"] = products;
  state.counters["nnz"] = double(p.told.nnz);
  state.counters["products/s"] = benchmark::Counter(products, benchmark::Counter::kIsIterationInvariantRate);
}

void run_quintet(benchmark::State& state, const std::string& name, int threads, double scale) {
  const problem& p = bench::sparse_problem_of(name);
  set_threads(threads);
  for (auto _ : state) {
    const matrix c = multiply(p.a.view(), p.b.view(), {.prediction_scale = scale});
    if (c.nnz() != p.told.nnz) state.SkipWithError("wrong result");
  }
  describe(state, p);
}

#ifdef QUINTET_HAVE_GRAPHBLAS
void run_graphblas(benchmark::State& state, const std::string& name, int threads) {
  const problem& p = bench::sparse_problem_of(name);
  const bench::graphblas_product peer(p.a.view(), p.b.view());
  for (auto _ : state)
    if (peer.run(threads) != p.told.nnz) state.SkipWithError("wrong result");
  describe(state, p);
}
#endif

void run_eigen(benchmark::State& state, const std::string& name) {
  const problem& p = bench::sparse_problem_of(name);
  const auto view = [](const matrix& m, std::vector<int>& pointers) {
    pointers.assign(m.row_pointers.begin(), m.row_pointers.end());
    return Eigen::Map<const eigen_matrix>(m.rows, m.cols, m.nnz(), pointers.data(), m.columns.data(), m.values.data());
  };
  std::vector<int> a_pointers, b_pointers;
  const auto a = view(p.a, a_pointers), b = view(p.b, b_pointers);
  for (auto _ : state) {
    const eigen_matrix c = a * b;
    if (c.nonZeros() != p.told.nnz) state.SkipWithError("wrong result");
  }
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
#ifdef QUINTET_HAVE_GRAPHBLAS
    settle(benchmark::RegisterBenchmark(("graphblas" + end).c_str(),
                                        [=](auto& state) { run_graphblas(state, name, threads); }));
#endif
  };
  both(1);
  both(2);
  settle(benchmark::RegisterBenchmark(("quintet-half-predicted/" + name + "/threads:1").c_str(),
                                      [=](auto& state) { run_quintet(state, name, 1, 0.5); }));
  settle(benchmark::RegisterBenchmark(("eigen/" + name + "/threads:1").c_str(),
                                      [=](auto& state) { run_eigen(state, name); }));
}

}  // namespace

int main(int argc, char** argv) {
  for (const auto& [name, source] : bench::sparse_sources()) add_benchmarks(name);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
