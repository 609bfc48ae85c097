// The kernels of Rule 3 (split.hpp) and Rule 4 (merge.hpp): each is the other's adjoint, but for what Rule 3 multiplies
// with.
#pragma once

#include "snp/likelihood/rules/pair.hpp"
#include "snp/likelihood/rules/shapes.hpp"

namespace quintet::snp {

/// The columns of a tile.
struct column_range {
  std::int64_t columns, first;
  int count;
  column_range(std::int64_t all, int chunk) : columns(all), first(std::int64_t(chunk) * tile_columns) {
    count = int(columns - first < tile_columns ? columns - first : tile_columns);
  }
};

struct pair_tables {
  const rule_tile* tiles = nullptr;
  const std::int32_t* families = nullptr;
  std::int32_t max = 0, max1 = 0, max2 = 0;
  std::int32_t patterns = 0;  ///< padded

  /// A family's record, safe to ask for more lineages than there are.
  struct family : pair_record<const std::int32_t> {
    std::int64_t single(int n) const { return n <= max ? pair_record::single(n) : -1; }
    std::int64_t both(int n1, int n2) const { return n1 <= max1 && n2 <= max2 ? pair_record::both(n1, n2) : -1; }
  };
  family record(std::int64_t number) const {
    return {{families + number * family::size(max, max1, max2), max, max1, max2}};
  }

  /// A tile: a chunk of the columns of a family.
  struct part {
    family record;
    column_range range;
  };
  part part_of(std::int64_t tile) const {
    const rule_tile where = tiles[tile];
    const family record = this->record(where.family);
    return {record, column_range(std::int64_t(record.columns()) * patterns, where.chunk)};
  }
};

/// What Rule 3 multiplies with: share[ny * (max + 1) + nz] = C(ny + nz, ny) g^ny (1 - g)^nz, and the hypergeometric
/// C(ny, ry) C(nz, rz) / C(n, r) from a table of binomials.
struct split_weights {
  const double* share = nullptr;
  const double* binomial = nullptr;  ///< [n * binomial_stride + k]
  std::int32_t binomial_stride = 0;

  std::int32_t max = 0;  ///< of `share`

  double share_of(int ny, int nz) const { return share[ny * (max + 1) + nz]; }
  double choose(int n, int k) const { return binomial[n * std::int64_t(binomial_stride) + k]; }
  double hypergeometric(int ny, int ry, int nz, int rz) const {
    return choose(ny, ry) * choose(nz, rz) / choose(ny + nz, ry + rz);
  }
};

/// Rule 4 and its adjoint multiply with nothing.
struct no_weights {
  double share_of(int, int) const { return 1; }
  double hypergeometric(int, int, int, int) const { return 1; }
};

/// out(x, o) = sum over n1 + n2 = n, r1 + r2 = r of weight in((n1, r1), (n2, r2), o). Rule 4 of Rabier et al. 2021;
/// with the weights of Rule 3, its adjoint.
template <class Shape, class Weights>
struct pair_sum_kernel {
  using shape = Shape;
  using pack = rule_pack<Shape>;
  struct scratch {};
  enum { threads = 128, emulated_threads = 4 };
  pair_tables tables;
  Weights weights;
  const double* in;
  double* out;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const auto [record, range] = tables.part_of(tile);
    const int groups = range.count / Shape::lanes;
    for (int n = 0; n <= tables.max; ++n) {
      if (record.single(n) < 0) continue;
      for (int item = team.rank(); item < (n + 1) * groups; item += team.size())
        row(record, range, n, item / groups, range.first + item % groups * Shape::lanes);
    }
  }

 private:
  void row(const pair_tables::family& record, const column_range& range, int n, int r, std::int64_t column) const {
    pack sum = device::broadcast_pack<pack>(0.0);
    for (int n1 = 0; n1 <= n; ++n1) {
      const int n2 = n - n1;
      const std::int64_t base = record.both(n1, n2);
      if (base < 0) continue;
      const double share = weights.share_of(n1, n2);
      const double* from = in + base * tables.patterns + column;
      for (int r1 = r > n2 ? r - n2 : 0; r1 <= n1 && r1 <= r; ++r1)
        sum = device::fma(share * weights.hypergeometric(n1, r1, n2, r - r1),
                          device::load_pack<pack>(from + (r1 * (n2 + 1) + r - r1) * range.columns), sum);
    }
    device::store_pack(out + record.single(n) * tables.patterns + r * range.columns + column, sum);
  }
};

/// out((n1, r1), (n2, r2), o) = weight in((n1 + n2, r1 + r2), o). Rule 3 of Rabier et al. 2021; with the weights of
/// Rule 4, its adjoint.
template <class Shape, class Weights>
struct pair_spread_kernel {
  using shape = Shape;
  using pack = rule_pack<Shape>;
  struct scratch {};
  enum { threads = 128, emulated_threads = 4 };
  pair_tables tables;
  Weights weights;
  const double* in;
  double* out;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const auto [record, range] = tables.part_of(tile);
    const int groups = range.count / Shape::lanes;
    for (int n1 = 0; n1 <= tables.max1; ++n1)
      for (int n2 = 0; n2 <= tables.max2; ++n2) {
        const std::int64_t base = record.both(n1, n2);
        if (base < 0) continue;
        const double share = weights.share_of(n1, n2);
        const std::int64_t single = record.single(n1 + n2);
        const double* from = in + (single >= 0 ? single : 0) * tables.patterns;
        double* to = out + base * tables.patterns;
        for (int item = team.rank(); item < (n1 + 1) * (n2 + 1) * groups; item += team.size()) {
          const int pair = item / groups, r1 = pair / (n2 + 1), r2 = pair % (n2 + 1);
          const std::int64_t column = range.first + item % groups * Shape::lanes;
          // What Rule 4 dropped has no adjoint.
          const pack x = single >= 0 ? device::load_pack<pack>(from + (r1 + r2) * range.columns + column)
                                     : device::broadcast_pack<pack>(0.0);
          device::store_pack(to + pair * range.columns + column,
                             pack((share * weights.hypergeometric(n1, r1, n2, r2)) * x));
        }
      }
  }
};

template <class Shape>
using merge_kernel = pair_sum_kernel<Shape, no_weights>;
template <class Shape>
using merge_adjoint_kernel = pair_spread_kernel<Shape, no_weights>;
template <class Shape>
using split_kernel = pair_spread_kernel<Shape, split_weights>;
template <class Shape>
using split_adjoint_kernel = pair_sum_kernel<Shape, split_weights>;

/// The derivative by g: `weights.share` holds the derivatives of the shares. One sum for every column of every tile.
/// Rule 3 of Rabier et al. 2021, C(ny + nz, ny) g^ny (1 - g)^nz, derived by g.
template <class Shape>
struct split_gamma_kernel {
  using shape = Shape;
  using pack = rule_pack<Shape>;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4 };
  pair_tables tables;
  split_weights weights;
  const double *in, *adjoint;
  double* out;  ///< [tiles][tile_columns]

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const auto [record, range] = tables.part_of(tile);
    for (int item = team.rank(); item < tile_columns / Shape::lanes; item += team.size()) {
      pack sum = device::broadcast_pack<pack>(0.0);
      if (item * Shape::lanes < range.count) sum = column(record, range, range.first + item * Shape::lanes);
      device::store_pack(out + tile * tile_columns + item * Shape::lanes, sum);
    }
  }

 private:
  pack column(const pair_tables::family& record, const column_range& range, std::int64_t column) const {
    pack sum = device::broadcast_pack<pack>(0.0);
    for (int ny = 0; ny <= tables.max1; ++ny)
      for (int nz = 0; nz <= tables.max2; ++nz) {
        const std::int64_t base = record.both(ny, nz);
        if (base < 0) continue;
        const double share = weights.share_of(ny, nz);
        const double* from = in + record.single(ny + nz) * tables.patterns + column;
        const double* with = adjoint + base * tables.patterns + column;
        for (int ry = 0; ry <= ny; ++ry)
          for (int rz = 0; rz <= nz; ++rz)
            sum = device::fma((share * weights.hypergeometric(ny, ry, nz, rz)) *
                                  device::load_pack<pack>(from + (ry + rz) * range.columns),
                              device::load_pack<pack>(with + (ry * (nz + 1) + rz) * range.columns), sum);
      }
    return sum;
  }
};

}  // namespace quintet::snp
