// spgemm_ratios [--json] [ROUNDS [NAME...]]: this library's products beside SuiteSparse:GraphBLAS (sorted rows), Eigen
// and, where QUINTET_MKL names its libmkl_rt.so, MKL (rows unsorted, and sorted).
//
// In every round all contestants run one after the other: each once to warm up and then until a millisecond has passed,
// of which the mean counts (a first run of a second and more counts itself). Medians of the wall times are compared,
// and the entries of every result are checked; once before, the values are: bits of ours at each number of threads, the
// sum of the peers'. Columns: times as fast as GraphBLAS with 1 and 2 threads, as Eigen with
// 1; time at half the prediction over the time at the whole; time with four times as many threads as cores over the
// time with as many; as fast as MKL, unsorted and sorted, with 1 and 2 threads. The last row has the geometric means.
// With --json the times of every round are printed instead: bench/compare.py reads them. Set OMP_WAIT_POLICY=passive:
// there are two OpenMP runtimes in the process, and the idle threads of one must not spin on the cores of the other.
#include <Eigen/SparseCore>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "peers/graphblas_product.hpp"
#include "peers/mkl_product.hpp"
#include "sparse_problems.hpp"
#include "spgemm/tuning.hpp"

namespace {

using namespace quintet;
using eigen_matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;

struct contestant {
  std::string name;
  std::function<std::int64_t()> run;  ///< returns the entries of the result
  std::function<bool()> has_right_values;
  std::vector<double> seconds;
  double median() {
    std::nth_element(seconds.begin(), seconds.begin() + std::ptrdiff_t(seconds.size() / 2), seconds.end());
    return seconds[seconds.size() / 2];
  }
};

bench::sparse_matrix quintet_product(const bench::sparse_problem& p, int threads, double scale) {
  set_threads(threads);
  return multiply(p.a.view(), p.b.view(), spgemm::tuned({.prediction_scale = scale}));
}

/// Whether a sum of the entries of a product is right.
bool is_sum_of(const bench::sparse_problem& p, double sum) {
  const Eigen::Map<const Eigen::ArrayXd> values(p.product.values.data(), p.product.nnz());
  return std::abs(sum - values.sum()) <= 1e-10 * values.abs().sum();
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
  const std::string each = "/" + p.name + "/threads:";
  const auto ours = [&p, &each](const std::string& what, int threads, double scale) {
    return contestant{what + each + std::to_string(threads),
                      [=, &p] { return quintet_product(p, threads, scale).nnz(); },
                      [=, &p] { return p.has_bits_of(quintet_product(p, threads, scale)); },
                      {}};
  };
  const auto graphblas = [&](int threads) {
    return contestant{"graphblas" + each + std::to_string(threads),
                      [=] { return peer->run(threads); },
                      [=, &p] { return is_sum_of(p, peer->sum_of_product()); },
                      {}};
  };
  std::vector<contestant> all{ours("quintet", 1, 1),
                              graphblas(1),
                              ours("quintet", 2, 1),
                              graphblas(2),
                              ours("half-predicted", 1, 0.5),
                              ours("all-cores", cores, 1),
                              ours("too-many-threads", 4 * cores, 1),
                              {"eigen" + each + "1",
                               [a, b] { return std::int64_t(eigen_matrix(*a * *b).nonZeros()); },
                               [a, b, &p] { return is_sum_of(p, eigen_matrix(*a * *b).sum()); },
                               {}}};
  if (const auto mkl = bench::mkl_product::load(p.a.view(), p.b.view()))
    for (const bool sorted : {false, true})
      for (const int threads : {1, 2})
        all.push_back({(sorted ? "mkl-sorted" : "mkl") + each + std::to_string(threads),
                       [=] { return mkl->run(threads, sorted); },
                       [=, &p] { return is_sum_of(p, mkl->sum_of_product()); },
                       {}});
  return all;
}

void run_round(std::vector<contestant>& all, const bench::sparse_problem& p) {
  for (contestant& c : all) {
    const auto checked_run = [&] {
      if (c.run() != p.report.nnz) throw Error("a result has the wrong number of entries");
    };
    auto start = std::chrono::steady_clock::now();
    const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    checked_run();  // what ran before leaves its traces in caches and in the system's memory
    int runs = 1;
    if (passed() < 1) {  // they do not count in a long run
      runs = 0;
      start = std::chrono::steady_clock::now();
      do {
        checked_run();
        ++runs;
      } while (passed() < 1e-3);
    }
    c.seconds.push_back(passed() / runs);
  }
}

std::vector<contestant> measured(const bench::sparse_problem& p, int rounds) {
  std::vector<contestant> all = contestants(p);
  for (const contestant& c : all)
    if (!c.has_right_values()) throw Error(c.name + ": the result has wrong values");
  for (int r = 0; r < rounds; ++r) run_round(all, p);
  return all;
}

std::vector<double> print_ratios(const bench::sparse_problem& p, std::vector<contestant> all) {
  std::vector<double> t;
  for (contestant& c : all) t.push_back(c.median());
  std::vector<double> result{t[1] / t[0], t[3] / t[2], t[7] / t[0], t[4] / t[0], t[6] / t[5]};
  for (std::size_t k = 8; k < t.size(); ++k) result.push_back(t[k] / t[k % 2 == 0 ? 0 : 2]);
  std::printf("| %-20s | %9lld | %9lld | %8.3f | %8.3f |", p.name.c_str(), static_cast<long long>(p.report.products),
              static_cast<long long>(p.report.nnz), 1e3 * t[0], 1e3 * t[2]);
  for (const double ratio : result) std::printf(" %5.2f |", ratio);
  std::printf("\n");
  std::fflush(stdout);
  return result;
}

void print_table(const std::vector<std::string>& names, int rounds) {
  std::printf(
      "| matrix | products | entries | ms, 1 thread | ms, 2 threads | GraphBLAS, 1 | GraphBLAS, 2 | Eigen | "
      "half predicted | too many threads |");
  const bool has_mkl = !names.empty() && contestants(bench::sparse_problem_of(names[0])).size() > 8;
  if (has_mkl) std::printf(" MKL, 1 | MKL, 2 | MKL sorted, 1 | MKL sorted, 2 |");
  std::printf("\n|---|---|---|---|---|---|---|---|---|---|%s\n", has_mkl ? "---|---|---|---|" : "");
  std::vector<double> logs(has_mkl ? 9 : 5);
  for (const std::string& name : names) {
    const bench::sparse_problem& p = bench::sparse_problem_of(name);
    const std::vector<double> r = print_ratios(p, measured(p, rounds));
    for (std::size_t k = 0; k < r.size(); ++k) logs[k] += std::log(r[k]) / double(names.size());
  }
  std::printf("| geometric mean | | | | |");
  for (const double log : logs) std::printf(" %5.2f |", std::exp(log));
  std::printf("\n");
}

// {"NAME": [milliseconds of every round], ...}
void print_json(const std::vector<std::string>& names, int rounds) {
  const char* before = "{\n";
  for (const std::string& name : names)
    for (const contestant& c : measured(bench::sparse_problem_of(name), rounds)) {
      std::printf("%s \"%s\": [", std::exchange(before, ",\n"), c.name.c_str());
      for (std::size_t r = 0; r < c.seconds.size(); ++r) std::printf(r == 0 ? "%.6f" : ", %.6f", 1e3 * c.seconds[r]);
      std::printf("]");
    }
  std::printf("\n}\n");
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool json = !arguments.empty() && arguments[0] == "--json";
  if (json) arguments.erase(arguments.begin());
  const int rounds = arguments.empty() ? 5 : std::atoi(arguments[0].c_str());
  std::vector<std::string> names(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (names.empty())
    for (const auto& [name, source] : bench::sparse_sources()) names.push_back(name);
  for (const std::string& name : names)
    if (rounds < 1 || bench::sparse_sources().count(name) == 0) {
      std::fprintf(stderr, "spgemm_ratios [--json] [ROUNDS [NAME...]]: ROUNDS must be >= 1, NAME one of");
      for (const auto& [known, source] : bench::sparse_sources()) std::fprintf(stderr, " %s", known.c_str());
      std::fprintf(stderr, " (ROUNDS=%d, NAME=%s)\n", rounds, name.c_str());
      return 1;
    }
  json ? print_json(names, rounds) : print_table(names, rounds);
  return 0;
}
