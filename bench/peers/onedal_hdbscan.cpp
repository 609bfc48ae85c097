// oneDAL's HDBSCAN on points in a .npy file: "wall SECONDS cpu SECONDS clusters K", for brute_force, kd_tree or
// ball_tree.
//
// Not part of the build. With the packages daal and daal-include of PyPI in a virtual environment V:
//
//   clang++ -O2 -std=c++17 -IV/include bench/peers/onedal_hdbscan.cpp -o V/bin/onedal_hdbscan -LV/lib
//   -Wl,-rpath,V/lib,--disable-new-dtags
//     -l:libonedal.so.4 -l:libonedal_parameters.so.4 -l:libonedal_core.so.4 -l:libonedal_thread.so.4 -l:libtbb.so.12
//
// Usage: onedal_hdbscan METHOD FILE.npy
#include <ctime>
#include <ios>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "oneapi/dal/algo/hdbscan.hpp"
#include "oneapi/dal/table/homogen.hpp"

namespace dal = oneapi::dal;

namespace {

struct matrix {
  std::int64_t rows = 0, cols = 0;
  std::vector<float> values;
};

// Rows of floats as NumPy writes them, version 1.
matrix read_npy(const char* path) {
  std::ifstream file(path, std::ios::binary);
  char head[10];
  file.read(head, 10);
  std::string header(std::size_t(static_cast<unsigned char>(head[8])) + 256 * static_cast<unsigned char>(head[9]), ' ');
  file.read(header.data(), std::streamsize(header.size()));
  matrix m;
  const std::size_t shape = header.find('(');
  if (!file || header.find("'<f4'") == std::string::npos ||
      std::sscanf(header.c_str() + shape, "(%ld, %ld)", &m.rows, &m.cols) != 2) {
    std::fprintf(stderr, "%s: not a matrix of floats\n", path);
    std::exit(2);
  }
  m.values.resize(std::size_t(m.rows * m.cols));
  file.read(reinterpret_cast<char*>(m.values.data()), std::streamsize(m.values.size() * sizeof(float)));
  return m;
}

template <class Method>
std::int64_t clusters_of(const float* values, std::int64_t rows, std::int64_t cols) {
  // min_samples counts the point itself.
  const auto how =
      dal::hdbscan::descriptor<float, Method>(50, 11).set_result_options(dal::hdbscan::result_options::responses);
  return dal::compute(how, dal::homogen_table::wrap(values, rows, cols)).get_cluster_count();
}

template <class Method>
void run(const matrix& m) {
  clusters_of<Method>(m.values.data(), m.rows < 3000 ? m.rows : 3000, m.cols);
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t cpu = std::clock();
  const std::int64_t clusters = clusters_of<Method>(m.values.data(), m.rows, m.cols);
  std::printf("wall %.3f cpu %.3f clusters %ld\n",
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
              double(std::clock() - cpu) / CLOCKS_PER_SEC, long(clusters));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string method = argc == 3 ? argv[1] : "";
  if (method == "brute_force")
    run<dal::hdbscan::method::brute_force>(read_npy(argv[2]));
  else if (method == "kd_tree")
    run<dal::hdbscan::method::kd_tree>(read_npy(argv[2]));
  else if (method == "ball_tree")
    run<dal::hdbscan::method::ball_tree>(read_npy(argv[2]));
  else {
    std::fputs("usage: onedal_hdbscan brute_force|kd_tree|ball_tree FILE.npy\n", stderr);
    return 2;
  }
}
