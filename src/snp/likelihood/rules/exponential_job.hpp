// What exponential_kernel.hpp is told.
#pragma once

#include <cstdint>

namespace quintet::snp {

/// Mutation of a single lineage over a time: probabilities of 0 -> 1 and 1 -> 0, and their derivatives by u and v.
struct single_lineage {
  double to_1 = 0, to_0 = 0;
  double to_1_by_u = 0, to_1_by_v = 0, to_0_by_u = 0, to_0_by_v = 0;
};

/// One matrix to compute. h = 1 / 2^squarings of the branch; everything is multiplied by it already.
struct exponential_job {
  std::int32_t max = 0;  ///< lineages m
  std::int32_t squarings = 0;
  std::int32_t terms = 0;
  double coalescence = 0;                   ///< h t / theta
  double u = 0, v = 0;                      ///< h t u, h t v
  double length = 0;                        ///< t: derivatives are by u and v, not by t u
  single_lineage rest;                      ///< what follows where one lineage is left for certain
  double shift = 0;                         ///< s h
  double decay = 0;                         ///< e^(-s h)
  double* out = nullptr;                    ///< column_block(m + 1) elements, and exponential_padding more
  double *by_u = nullptr, *by_v = nullptr;  ///< as out; unused without derivatives
  double* work = nullptr;                   ///< work_parts times as much
};

/// Zeros behind a matrix: loops that take several elements at a time read them.
constexpr int exponential_padding = 8;

}  // namespace quintet::snp
