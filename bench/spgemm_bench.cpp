// spgemm: products of real and made matrices beside SuiteSparse:GraphBLAS (sorted rows) and Eigen.
//
// Every benchmark of a matrix checks nnz against this library's result of one thread before it is timed. Times are
// the processor time of the whole process, so that other work on the machine counts little; ratios of one run count.
// QUINTET_DATA_DIR names the folder with the reference data; without it only made matrices are run.
#include <benchmark/benchmark.h>

#include <Eigen/SparseCore>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>

#ifdef QUINTET_HAVE_GRAPHBLAS
#include "peers/graphblas_product.hpp"
#endif
#include "quintet/io/sparse_file.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "quintet/spgemm/transpose.hpp"
#include "support/sparse_matrices.hpp"

namespace {

using namespace quintet;
using matrix = spgemm::csr<double, std::int32_t>;
using eigen_matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;

struct problem {
  matrix a, b;
  spgemm::report told;

  problem(matrix left, bool square) : a(std::move(left)) {
    b = square ? a : spgemm::transpose(a.view());
    multiply(a.view(), b.view(), {}, Device::host(), &told);
  }
};

// Made when first asked for, so that a filter costs nothing.
std::map<std::string, std::function<matrix()>>& sources() {
  static std::map<std::string, std::function<matrix()>> all{
      {"rmat-14-16", [] { return test::rmat_matrix<double, std::int32_t>(14, 16, 1); }},
      {"rmat-17-8", [] { return test::rmat_matrix<double, std::int32_t>(17, 8, 2); }},
      {"uniform-100000-8", [] { return test::uniform_matrix<double, std::int32_t>(100'000, 100'000, 8, 3); }},
      {"uniform-1000000-3", [] { return test::uniform_matrix<double, std::int32_t>(1'000'000, 1'000'000, 3, 4); }}};
  return all;
}

const problem& problem_of(const std::string& name) {
  static std::map<std::string, std::unique_ptr<problem>> made;
  auto& found = made[name];
  if (found == nullptr) {
    matrix a = sources().at(name)();
    const bool square = a.rows == a.cols;
    found = std::make_unique<problem>(std::move(a), square);
  }
  return *found;
}

void describe(benchmark::State& state, const problem& p) {
  const auto products = double(p.told.products);
  state.counters["products"] = products;
  state.counters["nnz"] = double(p.told.nnz);
  state.counters["products/s"] = benchmark::Counter(products, benchmark::Counter::kIsIterationInvariantRate);
}

void run_quintet(benchmark::State& state, const std::string& name, int threads, double scale) {
  const problem& p = problem_of(name);
  set_threads(threads);
  for (auto _ : state) {
    const matrix c = multiply(p.a.view(), p.b.view(), {.prediction_scale = scale});
    if (c.nnz() != p.told.nnz) state.SkipWithError("wrong result");
  }
  describe(state, p);
}

#ifdef QUINTET_HAVE_GRAPHBLAS
void run_graphblas(benchmark::State& state, const std::string& name, int threads) {
  const problem& p = problem_of(name);
  const bench::graphblas_product peer(p.a.view(), p.b.view());
  for (auto _ : state)
    if (peer.run(threads) != p.told.nnz) state.SkipWithError("wrong result");
  describe(state, p);
}
#endif

void run_eigen(benchmark::State& state, const std::string& name) {
  const problem& p = problem_of(name);
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
  if (const char* data = std::getenv("QUINTET_DATA_DIR"); data != nullptr) {
    for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(data) / "matrices")) {
      const std::string path = file.path().string(), name = file.path().stem().stem().string();
      if (path.ends_with(".mtx.gz")) sources()[name] = [path] { return io::read_sparse<double, std::int32_t>(path); };
    }
  }
  for (const auto& [name, source] : sources()) add_benchmarks(name);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
