// The types that templates of the library exist for. A source ends with what it instantiates, for all of them at once:
//
//   #define QUINTET_INSTANTIATE(Real) template Real norm(std::span<const Real>);
//   QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)
//
// Templates that are compiled in a translation unit of their own for every type are listed in CMake instead:
// quintet_instantiate() in cmake/QuintetInstantiate.cmake.
#pragma once

#include <cstdint>

/// Types that are computed with.
#define QUINTET_FOR_EACH_REAL(INSTANTIATE) \
  INSTANTIATE(float)                       \
  INSTANTIATE(double)

/// Types that matrices and points are stored in.
#define QUINTET_FOR_EACH_STORAGE(INSTANTIATE) \
  QUINTET_FOR_EACH_REAL(INSTANTIATE)          \
  INSTANTIATE(quintet::half)                  \
  INSTANTIATE(quintet::bfloat16)

/// Types of columns and row pointers of sparse matrices.
#define QUINTET_FOR_EACH_INDEX(INSTANTIATE) \
  INSTANTIATE(std::int32_t)                 \
  INSTANTIATE(std::int64_t)

/// Types that arrays in files have.
#define QUINTET_FOR_EACH_ELEMENT(INSTANTIATE) \
  QUINTET_FOR_EACH_REAL(INSTANTIATE)          \
  QUINTET_FOR_EACH_INDEX(INSTANTIATE)

/// Values and columns of sparse matrices.
#define QUINTET_FOR_EACH_SPARSE(INSTANTIATE) \
  INSTANTIATE(float, std::int32_t)           \
  INSTANTIATE(float, std::int64_t)           \
  INSTANTIATE(double, std::int32_t)          \
  INSTANTIATE(double, std::int64_t)

/// Semirings that the library has kernels for.
#define QUINTET_FOR_EACH_SEMIRING(INSTANTIATE) \
  INSTANTIATE(quintet::spgemm::plus_times)     \
  INSTANTIATE(quintet::spgemm::min_plus)       \
  INSTANTIATE(quintet::spgemm::or_and)
