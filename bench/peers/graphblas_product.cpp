#include "peers/graphblas_product.hpp"

// The header of this version does not say that its functions are C's; what it includes must not be told so.
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>
extern "C" {
#include <GraphBLAS.h>
}

namespace quintet::bench {

namespace {

void* to_graphblas(const spgemm::csr_view<double, std::int32_t>& m) {
  std::vector<GrB_Index> pointers(m.row_pointers, m.row_pointers + m.rows + 1), columns(m.columns, m.columns + m.nnz());
  GrB_Matrix matrix = nullptr;
  GrB_Matrix_import_FP64(&matrix, GrB_FP64, GrB_Index(m.rows), GrB_Index(m.cols), pointers.data(), columns.data(),
                         m.values, pointers.size(), columns.size(), columns.size(), GrB_CSR_FORMAT);
  GrB_Matrix_wait(matrix, GrB_MATERIALIZE);
  return matrix;
}

}  // namespace

graphblas_product::graphblas_product(const spgemm::csr_view<double, std::int32_t>& a,
                                     const spgemm::csr_view<double, std::int32_t>& b) {
  static const GrB_Info started = GrB_init(GrB_NONBLOCKING);
  (void)started;
  a_ = to_graphblas(a);
  b_ = to_graphblas(b);
}

graphblas_product::~graphblas_product() {
  GrB_Matrix a = static_cast<GrB_Matrix>(a_), b = static_cast<GrB_Matrix>(b_);
  GrB_Matrix_free(&a);
  GrB_Matrix_free(&b);
}

namespace {

GrB_Matrix product_of(void* left, void* right, int threads) {
  const auto a = static_cast<GrB_Matrix>(left), b = static_cast<GrB_Matrix>(right);
  GrB_Index rows = 0, cols = 0;
  GrB_Matrix_nrows(&rows, a);
  GrB_Matrix_ncols(&cols, b);
  GrB_Descriptor settings = nullptr;
  GrB_Descriptor_new(&settings);
  GxB_Desc_set(settings, GxB_DESCRIPTOR_NTHREADS, threads);
  GxB_Desc_set(settings, GxB_SORT, 1);
  GrB_Matrix c = nullptr;
  GrB_Matrix_new(&c, GrB_FP64, rows, cols);
  GrB_mxm(c, nullptr, nullptr, GrB_PLUS_TIMES_SEMIRING_FP64, a, b, settings);
  GrB_Matrix_wait(c, GrB_MATERIALIZE);
  GrB_Descriptor_free(&settings);
  return c;
}

}  // namespace

std::int64_t graphblas_product::run(int threads) const {
  GrB_Matrix c = product_of(a_, b_, threads);
  GrB_Index entries = 0;
  GrB_Matrix_nvals(&entries, c);
  GrB_Matrix_free(&c);
  return std::int64_t(entries);
}

double graphblas_product::sum_of_product() const {
  GrB_Matrix c = product_of(a_, b_, 1);
  double sum = 0;
  GrB_Matrix_reduce_FP64(&sum, nullptr, GrB_PLUS_MONOID_FP64, c, nullptr);
  GrB_Matrix_free(&c);
  return sum;
}

}  // namespace quintet::bench
