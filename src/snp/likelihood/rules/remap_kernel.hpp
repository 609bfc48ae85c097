// What remap.hpp launches, and rows of zeros.
#pragma once

#include "snp/likelihood/rules/shapes.hpp"

namespace quintet::snp {

/// out[e][p] = in[entry_of[e]][pattern_of[p]]; a null map is the identity. Equal patterns below a node share one column
/// (site patterns: Felsenstein 1981).
template <class Shape>
struct remap_kernel {
  using shape = Shape;
  using pack = rule_pack<Shape>;
  struct scratch {};
  enum { threads = 128, emulated_threads = 4, entries_per_tile = 16 };
  std::int64_t entries, in_patterns, out_patterns;
  const std::int32_t *entry_of, *pattern_of;
  const double* in;
  double* out;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const std::int64_t first = tile * entries_per_tile, left = entries - first;
    const std::int64_t groups = out_patterns / Shape::lanes;
    const std::int64_t count = (left < entries_per_tile ? left : std::int64_t(entries_per_tile)) * groups;
    for (std::int64_t item = team.rank(); item < count; item += team.size()) {
      const std::int64_t e = first + item / groups, p = item % groups * Shape::lanes;
      const double* from = in + (entry_of != nullptr ? entry_of[e] : e) * in_patterns;
      double lane[Shape::lanes];
      if (pattern_of == nullptr)
        device::store_pack(lane, device::load_pack<pack>(from + p));
      else
        for (int j = 0; j < Shape::lanes; ++j) lane[j] = from[pattern_of[p + j]];
      device::store_pack(out + e * out_patterns + p, device::load_pack<pack>(lane));
    }
  }
};

/// Its adjoint: in[entry_of[e]][q] = sum over the p of q of out[e][p], q's own are begins[q] ... begins[q + 1] - 1 of
/// `members` (without maps of patterns: p = q). Padded patterns get 0. A gather backwards is a sum (Giles 2008).
struct remap_adjoint {
  std::int64_t in_patterns, out_patterns, patterns;
  const std::int32_t *entry_of, *begins, *members;
  const double* out;
  double* in;

  void operator()(std::int64_t i) const {
    const std::int64_t e = i / in_patterns, q = i % in_patterns;
    const double* from = out + e * out_patterns;
    double sum = 0;
    if (q < patterns) {
      if (begins == nullptr)
        sum = from[q];
      else
        for (std::int32_t k = begins[q]; k < begins[q + 1]; ++k) sum += from[members[k]];
    }
    in[(entry_of != nullptr ? entry_of[e] : e) * in_patterns + q] = sum;
  }
};

/// The pre-order step: in[entry_of[e]] = out[e], row by row. (Ji et al. 2020.)
struct remap_preorder {
  std::int64_t patterns;
  const std::int32_t* entry_of;
  const double* out;
  double* in;
  void operator()(std::int64_t e) const {
    for (std::int64_t p = 0; p < patterns; ++p) in[entry_of[e] * patterns + p] = out[e * patterns + p];
  }
};

/// Rows first, first + 1, ... of a partial likelihood := 0.
struct clear_rows {
  std::int64_t first, patterns;
  double* value;
  void operator()(std::int64_t i) const { value[first * patterns + i] = 0; }
};

}  // namespace quintet::snp
