// Rule 1: exp(A t) along one axis, F(.., (n', r'), ..) = sum P[(n', r'), (n, r)] F(.., (n, r), ..), and its adjoint.
#pragma once

#include "snp/shapes.hpp"
#include "snp/state_space.hpp"

namespace quintet::snp {

/// The blocks of an axis: a family is one choice of the lineages on all other axes. Its record: number of rows before
/// the axis (outer), of columns behind it without patterns (inner), first entry of the block with n lineages below the
/// branch for n = 0 ... most, and the same above the branch; -1: no such block.
struct axis_tables {
  const rule_tile* tiles = nullptr;
  const std::int32_t* families = nullptr;
  std::int32_t most = 0;
  std::int32_t patterns = 0;   ///< padded
  std::int32_t limit = 0;      ///< lineages below the branch that are not negligible, <= most
  std::int32_t top_limit = 0;  ///< and above it

  const std::int32_t* record(std::int64_t family) const { return families + family * (2 * most + 4); }
};

/// Adjoint: sums over the rows of P instead of over its columns, from the values above the branch to those below.
template <class Shape, bool Adjoint>
struct apply_kernel {
  using shape = Shape;
  using pack = rule_pack<Shape>;
  struct scratch {};
  enum { threads = 128, emulated_threads = 4, quad = 4, packs = Shape::packs };
  axis_tables tables;
  const double* matrix;
  const double* in;
  double* out;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const rule_tile where = tables.tiles[tile];
    const std::int32_t* record = tables.record(where.family);
    const std::int64_t inner = std::int64_t(record[1]) * tables.patterns, columns = record[0] * inner;
    const std::int64_t first = std::int64_t(where.chunk) * tile_columns;
    const std::int64_t left = columns - first < tile_columns ? columns - first : tile_columns;
    constexpr int width = int(Shape::lanes) * int(packs);
    const int groups = int((left + width - 1) / width);
    const std::int32_t* base = record + 2 + (Adjoint ? 0 : tables.most + 1);
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
  void rows(const std::int32_t* record, std::int64_t inner, std::int64_t columns, int n, int row,
            std::int64_t column) const {
    const std::int32_t* base = record + 2;
    const std::int32_t* base_in = base + (Adjoint ? tables.most + 1 : 0);
    const std::int32_t* base_out = base + (Adjoint ? 0 : tables.most + 1);
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

}  // namespace quintet::snp
