// The products that benchmarks of spgemm run: matrices of the reference data, and made ones.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "quintet/io/sparse_file.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "quintet/spgemm/transpose.hpp"
#include "spot_checks.hpp"
#include "support/sparse_matrices.hpp"

namespace quintet::bench {

using sparse_matrix = spgemm::csr<double, std::int32_t>;

/// A square matrix is squared, any other multiplied by its transpose. `product` is the result, checked.
struct sparse_problem {
  std::string name;
  sparse_matrix a, b, product;
  spgemm::report report;

  sparse_problem(const std::string& called, sparse_matrix left) : name(called), a(std::move(left)) {
    b = a.rows == a.cols ? a : spgemm::transpose(a.view());
    product = multiply(a.view(), b.view(), {}, Device::host(), &report);
    check_product(a.view(), b.view(), product.view());
  }

  /// Whether a result has the bits of `product`.
  bool has_bits_of(const sparse_matrix& c) const {
    return std::ranges::equal(c.row_pointers, product.row_pointers) && std::ranges::equal(c.columns, product.columns) &&
           std::memcmp(c.values.data(), product.values.data(), c.values.size() * sizeof(double)) == 0;
  }
};

/// By name; made when first asked for, so that a filter costs nothing. QUINTET_DATA_DIR names the folder with the
/// reference data; without it there are only made matrices.
inline const std::map<std::string, std::function<sparse_matrix()>>& sparse_sources() {
  static const auto all = [] {
    std::map<std::string, std::function<sparse_matrix()>> made{
        {"rmat-14-16", [] { return test::rmat_matrix<double, std::int32_t>(14, 16, 1); }},
        {"rmat-17-8", [] { return test::rmat_matrix<double, std::int32_t>(17, 8, 2); }},
        {"tridiagonal-1000000",
         [] {
           return test::matrix_of_rows<double, std::int32_t>(1'000'000, 1'000'000, 5, [](std::int64_t i) {
             std::vector<std::int64_t> columns;
             for (std::int64_t j = std::max<std::int64_t>(i - 1, 0); j <= std::min<std::int64_t>(i + 1, 999'999); ++j)
               columns.push_back(j);
             return columns;
           });
         }},
        {"uniform-100000-8", [] { return test::uniform_matrix<double, std::int32_t>(100'000, 100'000, 8, 3); }},
        {"uniform-1000000-3", [] { return test::uniform_matrix<double, std::int32_t>(1'000'000, 1'000'000, 3, 4); }}};
    const char* data = std::getenv("QUINTET_DATA_DIR");
    if (data == nullptr) return made;
    for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(data) / "matrices")) {
      const std::string path = file.path().string(), name = file.path().stem().stem().string();
      if (path.ends_with(".mtx.gz")) made[name] = [path] { return io::read_sparse<double, std::int32_t>(path); };
    }
    return made;
  }();
  return all;
}

inline const sparse_problem& sparse_problem_of(const std::string& name) {
  static std::map<std::string, std::unique_ptr<sparse_problem>> made;
  auto& found = made[name];
  if (found == nullptr) found = std::make_unique<sparse_problem>(name, sparse_sources().at(name)());
  return *found;
}

}  // namespace quintet::bench
