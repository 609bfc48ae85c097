// The kernels of branch.hpp for branches with a matrix.
#pragma once

#include "snp/likelihood/generator.hpp"
#include "snp/likelihood/rules/branch.hpp"
#include "snp/likelihood/rules/shapes.hpp"
#include "snp/likelihood/state_space.hpp"

namespace quintet::snp {

using branch_family = branch_record<const std::int32_t>;

struct branch_tables {
  const rule_tile* tiles = nullptr;
  const std::int32_t* families = nullptr;
  std::int32_t max = 0;
  std::int32_t patterns = 0;   ///< padded
  std::int32_t limit = 0;      ///< lineages below the branch that are not negligible, <= max
  std::int32_t top_limit = 0;  ///< and above it

  branch_family record(std::int64_t family) const { return {families + family * branch_family::size(max), max}; }
};

/// Adjoint: sums over the rows of P instead of over its columns, from the values above the branch to those below. Rule
/// 1 of Rabier et al. 2021: F_top = exp(A t) F_bottom (A of Bryant et al. 2012), along one axis.
template <class Shape, bool Adjoint>
struct propagate_kernel {
  using shape = Shape;
  using pack = rule_pack<Shape>;
  struct scratch {};
  enum { threads = 128, emulated_threads = 4, quad = 4, packs = Shape::packs };
  branch_tables tables;
  const double* matrix;
  const double* in;
  double* out;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const rule_tile where = tables.tiles[tile];
    const branch_family record = tables.record(where.family);
    const std::int64_t inner = std::int64_t(record.inner()) * tables.patterns, columns = record.outer() * inner;
    const std::int64_t first = std::int64_t(where.chunk) * tile_columns;
    const std::int64_t left = columns - first < tile_columns ? columns - first : tile_columns;
    constexpr int width = int(Shape::lanes) * int(packs);
    const int groups = int((left + width - 1) / width);
    const std::int32_t* base = Adjoint ? record.below() : record.above();
    const int rows_limit = Adjoint ? tables.limit : tables.top_limit;
    for (int n = 0; n <= rows_limit; ++n) {
      if (base[n] < 0) continue;
      const int quads = (n + quad) / quad;
      for (int item = team.rank(); item < quads * groups; item += team.size())
        rows(record, inner, columns, n, item / groups * quad, first + item % groups * width);
    }
  }

 private:
  // Rows (n, row) ... (n, row + 3) of the result in `packs` packs of columns.
  void rows(const branch_family& record, std::int64_t inner, std::int64_t columns, int n, int row,
            std::int64_t column) const {
    const std::int32_t* base_in = Adjoint ? record.above() : record.below();
    const std::int32_t* base_out = Adjoint ? record.below() : record.above();
    pack sum[quad][packs];
    std::int64_t outer[packs], place[packs];
    for (int c = 0; c < packs; ++c) {
      const std::int64_t at = column + c * Shape::lanes < columns ? column + c * Shape::lanes : column;
      outer[c] = at / inner;
      place[c] = at % inner;
      for (int i = 0; i < quad; ++i) sum[i][c] = device::broadcast_pack<pack>(0.0);
    }
    const int begin = Adjoint ? 0 : n;
    const int end = !Adjoint ? tables.limit : n < tables.top_limit ? n : tables.top_limit;
    for (int k = begin; k <= end; ++k) {
      if (base_in[k] < 0 || (k == 0) != (n == 0)) continue;
      const double* from[packs];
      for (int c = 0; c < packs; ++c)
        from[c] = in + (base_in[k] * std::int64_t(tables.patterns)) + outer[c] * (k + 1) * inner + place[c];
      const double* element[quad];
      for (int i = 0; i < quad; ++i) {
        const int r = row + i <= n ? row + i : n;
        element[i] =
            matrix + (Adjoint ? element_index(state_index(k, 0), n, r) : element_index(state_index(n, r), k, 0));
      }
      const std::int64_t step = Adjoint ? n + 1 : 1;
      for (int q = 0; q <= k; ++q) {
        pack x[packs];
        for (int c = 0; c < packs; ++c) x[c] = device::load_pack<pack>(from[c] + q * inner);
        for (int i = 0; i < quad; ++i)
          for (int c = 0; c < packs; ++c) sum[i][c] = device::fma(element[i][q * step], x[c], sum[i][c]);
      }
    }
    for (int c = 0; c < packs; ++c) {
      if (column + c * Shape::lanes >= columns) continue;
      double* to = out + base_out[n] * std::int64_t(tables.patterns) + outer[c] * (n + 1) * inner + place[c];
      for (int i = 0; i < quad; ++i)
        if (row + i <= n) device::store_pack(to + (row + i) * inner, sum[i][c]);
    }
  }
};

/// The adjoint of P = exp(A t): sums of adjoint[row] x in[column] over families, outer rows and columns. A tile is a
/// slice of the tiles of the axis and has a matrix of its own in `out`. Giles 2008, multiplication: C = A B gives
/// adjoint(A) = adjoint(C) B^T.
template <class Shape>
struct matrix_adjoint_kernel {
  using shape = Shape;
  using pack = rule_pack<Shape>;
  struct scratch {};
  enum { threads = 256, emulated_threads = 4, quad = 4 };
  branch_tables tables;
  std::int64_t tiles, tiles_per_slice, size;
  const double *adjoint, *in;
  double* out;  ///< [slices][size], zero before

  template <class Team>
  void operator()(const Team& team, std::int64_t slice, scratch&) const {
    const std::int64_t first = slice * tiles_per_slice;
    const std::int64_t last = first + tiles_per_slice < tiles ? first + tiles_per_slice : tiles;
    double* to = out + slice * size;
    for (int n = 0; n <= tables.limit; ++n)
      for (int top = n == 0 ? 0 : 1; top <= n && top <= tables.top_limit; ++top) {
        const int quads = (n + quad) / quad;
        for (int item = team.rank(); item < (top + 1) * quads; item += team.size())
          for (std::int64_t tile = first; tile < last; ++tile)
            elements(tables.tiles[tile], n, item % quads * quad, top, item / quads, to);
      }
  }

 private:
  // Row (top, r), columns (n, column) ... (n, column + 3).
  void elements(const rule_tile& where, int n, int column, int top, int r, double* to) const {
    const branch_family record = tables.record(where.family);
    const std::int32_t in_base = record.below()[n], out_base = record.above()[top];
    if (in_base < 0 || out_base < 0) return;
    const std::int64_t inner = std::int64_t(record.inner()) * tables.patterns, columns = record.outer() * inner;
    const std::int64_t begin = std::int64_t(where.chunk) * tile_columns;
    const std::int64_t end = begin + tile_columns < columns ? begin + tile_columns : columns;
    pack sum[quad];
    for (int i = 0; i < quad; ++i) sum[i] = device::broadcast_pack<pack>(0.0);
    for (std::int64_t c = begin; c < end; c += Shape::lanes) {
      const std::int64_t outer = c / inner, place = c % inner;
      const pack x = device::load_pack<pack>(adjoint + out_base * std::int64_t(tables.patterns) +
                                             (outer * (top + 1) + r) * inner + place);
      const double* below = in + in_base * std::int64_t(tables.patterns) + outer * (n + 1) * inner + place;
      for (int i = 0; i < quad; ++i) {
        const int q = column + i <= n ? column + i : n;
        sum[i] = device::fma(x, device::load_pack<pack>(below + q * inner), sum[i]);
      }
    }
    for (int i = 0; i < quad; ++i)
      if (column + i <= n) to[element_index(state_index(top, r), n, column + i)] += device::sum_lanes<double>(sum[i]);
  }
};

/// first[i] += the other slices, in order: the second stage of a sum of fixed order.
struct add_slices {
  std::int64_t slices, size;
  double* first;
  void operator()(std::int64_t i) const {
    double sum = first[i];
    for (std::int64_t s = 1; s < slices; ++s) sum += first[s * size + i];
    first[i] = sum;
  }
};

/// out[p] = sum over the first entries of a[e][p] b[e][p]: the likelihood of a site from what is below and what is
/// above a branch (Felsenstein 1981).
struct dot_columns {
  std::int64_t entries, patterns;
  const double *a, *b;
  double* out;
  void operator()(std::int64_t p) const {
    double sum = 0;
    for (std::int64_t e = 0; e < entries; ++e) sum = device::fma(a[e * patterns + p], b[e * patterns + p], sum);
    out[p] = sum;
  }
};

/// out[p] = sum of adjoint (A partial) over the states of one branch with at most `limit` lineages. dF/dt = A F (Bryant
/// et al. 2012).
struct slope_columns {
  std::int32_t limit;
  std::int64_t patterns;
  const std::int32_t* base;  ///< first entry of n lineages, -1: none
  generator rates;
  const double *adjoint, *partial;
  double* out;

  void operator()(std::int64_t p) const {
    double sum = 0;
    for (int n = 1; n <= limit; ++n) {
      if (base[n] < 0) continue;
      const double* x = partial + base[n] * patterns + p;
      const double* above = n < limit && base[n + 1] >= 0 ? partial + base[n + 1] * patterns + p : nullptr;
      for (int r = 0; r <= n; ++r) {
        const double slope = rates.row(
            n, r, above != nullptr, [&](int i) { return x[(r + i) * patterns]; },
            [&](int i) { return above[(r + i) * patterns]; });
        sum = device::fma(slope, adjoint[(base[n] + r) * patterns + p], sum);
      }
    }
    out[p] = sum;
  }
};

/// What one branch's adjoint matrix gives: <adjoint, A P>, <adjoint, dP/du>, <adjoint, dP/dv>, one column block each.
struct branch_dot_job {
  std::int32_t max = 0;
  generator rates;
  const double *adjoint = nullptr, *matrix = nullptr, *by_u = nullptr, *by_v = nullptr;
  double* out = nullptr;  ///< [max + 1][3]
};

/// By the chain rule dL/dt = <adjoint, A F>, as dF/dt = A F (Bryant et al. 2012).
struct branch_dot {
  const branch_dot_job* jobs;
  std::int64_t blocks;  ///< of the largest job

  void operator()(std::int64_t i) const {
    const branch_dot_job& job = jobs[i / blocks];
    const int block = int(i % blocks);
    if (block > job.max) return;
    const std::int64_t columns = block + 1, begin = column_block(block);
    double by_length = 0, by_u = 0, by_v = 0;
    for (int n = 0; n <= block; ++n)
      for (int r = 0; r <= n; ++r)
        for (std::int64_t c = 0; c < columns; ++c) {
          const std::int64_t k = begin + state_index(n, r) * columns + c;
          const double* at = job.matrix + k;
          const double slope = job.rates.row(
              n, r, n > 0 && n < block, [&](int step) { return at[step * columns]; },
              [&](int step) { return at[(n + 1 + step) * columns]; });
          by_length = device::fma(job.adjoint[k], slope, by_length);
          by_u = device::fma(job.adjoint[k], job.by_u[k], by_u);
          by_v = device::fma(job.adjoint[k], job.by_v[k], by_v);
        }
    job.out[block * 3] = by_length;
    job.out[block * 3 + 1] = by_u;
    job.out[block * 3 + 2] = by_v;
  }
};

}  // namespace quintet::snp
