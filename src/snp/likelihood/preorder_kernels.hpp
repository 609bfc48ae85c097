// The product of a partial likelihood with its pre-order partial: see preorder_plan.hpp.
#pragma once

#include "snp/likelihood/rules/pattern_numbers.hpp"
#include "snp/likelihood/rules/shapes.hpp"

namespace quintet::snp {

/// preorder[e][p] = weight[e]. Ji et al. 2020: at the root the pre-order partial is the distribution of states there.
struct preorder_root {
  std::int64_t patterns;
  const double* weight;
  double* preorder;
  void operator()(std::int64_t e) const {
    for (std::int64_t p = 0; p < patterns; ++p) preorder[e * patterns + p] = weight[e];
  }
};

/// partial[slice][p] = sum over the slice's entries of preorder[e][p] value[e][pattern_of[p]]. A tile is some columns
/// of one slice; the slices depend on the number of entries alone. Ji et al. 2020: likelihoods from a partial
/// likelihood and its pre-order partial, anywhere.
template <class Shape>
struct contract_kernel {
  using shape = Shape;
  using pack = rule_pack<Shape>;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, entries_per_slice = 256 };
  std::int64_t entries, patterns, value_patterns;
  const std::int32_t* pattern_of;  ///< null: the same
  const double *preorder, *value;
  double* partial;

  static std::int64_t slices(std::int64_t entries) { return (entries + entries_per_slice - 1) / entries_per_slice; }
  static std::int64_t chunks(std::int64_t patterns) { return (patterns + tile_columns - 1) / tile_columns; }

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const std::int64_t slice = tile / chunks(patterns), begin = tile % chunks(patterns) * tile_columns;
    const std::int64_t end = begin + tile_columns < patterns ? begin + tile_columns : patterns;
    const std::int64_t first = slice * entries_per_slice;
    const std::int64_t last = first + entries_per_slice < entries ? first + entries_per_slice : entries;
    for (std::int64_t p = begin + team.rank() * Shape::lanes; p < end; p += team.size() * Shape::lanes)
      device::store_pack(partial + slice * patterns + p, column(first, last, p));
  }

 private:
  pack column(std::int64_t first, std::int64_t last, std::int64_t p) const {
    pack sum = device::broadcast_pack<pack>(0.0);
    if (pattern_of == nullptr) {
      for (std::int64_t e = first; e < last; ++e)
        sum = device::fma(device::load_pack<pack>(preorder + e * patterns + p),
                          device::load_pack<pack>(value + e * value_patterns + p), sum);
      return sum;
    }
    for (std::int64_t e = first; e < last; ++e) {
      double lane[Shape::lanes];
      for (int j = 0; j < Shape::lanes; ++j) lane[j] = value[e * value_patterns + pattern_of[p + j]];
      sum = device::fma(device::load_pack<pack>(preorder + e * patterns + p), device::load_pack<pack>(lane), sum);
    }
    return sum;
  }
};

/// The sums of all slices, in order, and their exponents. (Ji et al. 2020.)
struct finish_contraction {
  std::int64_t slices, patterns;
  const double* partial;
  pattern_numbers above, below;
  double* likelihood;
  std::int32_t* exponent;
  void operator()(std::int64_t p) const {
    double sum = 0;
    for (std::int64_t s = 0; s < slices; ++s) sum += partial[s * patterns + p];
    likelihood[p] = sum;
    exponent[p] = above(p) + below(p);
  }
};

}  // namespace quintet::snp
