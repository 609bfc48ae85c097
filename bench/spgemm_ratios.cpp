// spgemm_ratios [ROUNDS [NAME...]]: this library's products beside SuiteSparse:GraphBLAS (sorted rows) and Eigen.
//
// In every round each contestant runs twice, one after the other; medians of the second wall times are compared, and
// the entries of every result are checked. Columns: times as fast as GraphBLAS with 1 and 2 threads, as Eigen with 1;
// time at half the prediction over the time at the whole; time with four times as many threads as cores over the time
// with as many. The last row has the geometric means. Set OMP_WAIT_POLICY=passive: there are two OpenMP runtimes in the
// process, and the idle threads of one must not spin on the cores of the other.
#include <Eigen/SparseCore>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

#include "peers/graphblas_product.hpp"
#include "sparse_problems.hpp"

namespace {

using namespace quintet;
using eigen_matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;

struct contestant {
  std::function<std::int64_t()> run;  ///< returns the entries of the result
  std::vector<double> seconds;
  double median() {
    std::nth_element(seconds.begin(), seconds.begin() + std::ptrdiff_t(seconds.size() / 2), seconds.end());
    return seconds[seconds.size() / 2];
  }
};

std::int64_t quintet_entries(const bench::sparse_problem& p, int threads, double scale) {
  set_threads(threads);
  return multiply(p.a.view(), p.b.view(), {.prediction_scale = scale}).nnz();
}

std::vector<contestant> contestants(const bench::sparse_problem& p) {
  const int cores = int(std::thread::hardware_concurrency());
  auto peer = std::make_shared<bench::graphblas_product>(p.a.view(), p.b.view());
  const auto copy = [](const bench::sparse_matrix& m) {
    const std::vector<int> pointers(m.row_pointers.begin(), m.row_pointers.end());
    return eigen_matrix(
        Eigen::Map<const eigen_matrix>(m.rows, m.cols, m.nnz(), pointers.data(), m.columns.data(), m.values.data()));
  };
  auto a = std::make_shared<eigen_matrix>(copy(p.a)), b = std::make_shared<eigen_matrix>(copy(p.b));
  return {{[&p] { return quintet_entries(p, 1, 1); }, {}},
          {[peer] { return peer->run(1); }, {}},
          {[&p] { return quintet_entries(p, 2, 1); }, {}},
          {[peer] { return peer->run(2); }, {}},
          {[&p] { return quintet_entries(p, 1, 0.5); }, {}},
          {[&p, cores] { return quintet_entries(p, cores, 1); }, {}},
          {[&p, cores] { return quintet_entries(p, 4 * cores, 1); }, {}},
          {[a, b] { return std::int64_t(eigen_matrix(*a * *b).nonZeros()); }, {}}};
}

void run_round(std::vector<contestant>& all, const bench::sparse_problem& p) {
  for (contestant& c : all) {
    c.run();  // what ran before leaves its traces in caches and in the system's memory
    const auto start = std::chrono::steady_clock::now();
    const std::int64_t entries = c.run();
    c.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    if (entries != p.told.nnz) throw Error("a result has the wrong number of entries");
  }
}

std::vector<double> ratios(const std::string& name, int rounds) {
  const bench::sparse_problem& p = bench::sparse_problem_of(name);
  std::vector<contestant> all = contestants(p);
  for (int r = 0; r < rounds; ++r) run_round(all, p);
  std::vector<double> t;
  for (contestant& c : all) t.push_back(c.median());
  const std::vector<double> result{t[1] / t[0], t[3] / t[2], t[7] / t[0], t[4] / t[0], t[6] / t[5]};
  std::printf("| %-20s | %9lld | %9lld | %8.2f | %8.2f |", name.c_str(), static_cast<long long>(p.told.products),
              static_cast<long long>(p.told.nnz), 1e3 * t[0], 1e3 * t[2]);
  for (const double ratio : result) std::printf(" %5.2f |", ratio);
  std::printf("\n");
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  std::vector<std::string> names(argv + std::min(argc, 2), argv + argc);
  if (names.empty())
    for (const auto& [name, source] : bench::sparse_sources()) names.push_back(name);
  std::printf(
      "| matrix | products | entries | ms, 1 thread | ms, 2 threads | GraphBLAS 1 | GraphBLAS 2 | Eigen | "
      "half predicted | too many threads |\n|---|---|---|---|---|---|---|---|---|---|\n");
  std::vector<double> logs(5);
  for (const std::string& name : names) {
    const std::vector<double> r = ratios(name, rounds);
    for (std::size_t k = 0; k < r.size(); ++k) logs[k] += std::log(r[k]) / double(names.size());
    std::fflush(stdout);
  }
  std::printf("| geometric mean | | | | |");
  for (const double log : logs) std::printf(" %5.2f |", std::exp(log));
  std::printf("\n");
  return 0;
}
