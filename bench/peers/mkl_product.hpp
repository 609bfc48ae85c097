// MKL's product of the same matrices, for comparison. The library is looked for when the program runs: no headers.
#pragma once

#include <cstdint>
#include <memory>

#include "quintet/spgemm/csr.hpp"

namespace quintet::bench {

/// Keeps both operands as MKL's matrices.
class mkl_product {
 public:
  /// Null where there is no MKL: the file that QUINTET_MKL names (a libmkl_rt.so), or a libmkl_rt.so that the loader
  /// finds.
  static std::shared_ptr<mkl_product> load(const spgemm::csr_view<double, std::int32_t>& a,
                                           const spgemm::csr_view<double, std::int32_t>& b);
  virtual ~mkl_product() = default;

  /// A * B with `threads` threads, made and freed, with sorted rows or in the order that MKL gives; returns its
  /// entries.
  virtual std::int64_t run(int threads, bool sorted) const = 0;
  /// The sum of all entries of A * B.
  virtual double sum_of_product() const = 0;
};

}  // namespace quintet::bench
