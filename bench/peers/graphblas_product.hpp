// SuiteSparse:GraphBLAS's product of the same matrices, sorted, for comparison.
#pragma once

#include <cstdint>

#include "quintet/spgemm/csr.hpp"

namespace quintet::bench {

/// Keeps both operands as GraphBLAS matrices.
class graphblas_product {
 public:
  graphblas_product(const spgemm::csr_view<double, std::int32_t>& a, const spgemm::csr_view<double, std::int32_t>& b);
  ~graphblas_product();
  graphblas_product(const graphblas_product&) = delete;
  graphblas_product& operator=(const graphblas_product&) = delete;

  /// A * B with `threads` threads and sorted rows, made and freed; returns its entries.
  std::int64_t run(int threads) const;
  /// The sum of all entries of A * B.
  double sum_of_product() const;

 private:
  void* a_ = nullptr;
  void* b_ = nullptr;
};

}  // namespace quintet::bench
