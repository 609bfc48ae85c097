// Rule 2: two groups meet at a node. In the library's coordinates a plain convolution of the two child branches,
// F(x, others) = sum over n1 + n2 = n, r1 + r2 = r of G((n1, r1), others of G) H((n2, r2), others of H), and its
// adjoint.
#pragma once

#include "snp/shapes.hpp"

namespace quintet::snp {

/// One side of a join. A record of a family: columns behind the axis without patterns, first entry of the block with n
/// lineages for n = 0 ... most, or -1.
struct join_side {
  const std::int32_t* families = nullptr;
  std::int32_t count = 0, most = 0;
  std::int32_t limit = 0;  ///< lineages that occur with more than a negligible probability, <= most

  const std::int32_t* record(std::int64_t family) const { return families + family * (most + 2); }
};

/// Result: family (i, j) is i * right.count + j; first entry of the block with n lineages, n = 0 ... most, or -1.
struct join_tables {
  const rule_tile* tiles = nullptr;
  join_side left, right;
  const std::int32_t* families = nullptr;
  std::int32_t most = 0;
  std::int32_t patterns = 0;  ///< padded
  std::int32_t limit = 0;     ///< rows with more lineages are neither written nor read

  const std::int32_t* record(std::int64_t family) const { return families + family * (most + 1); }
};

template <class Shape>
struct join_kernel {
  using shape = Shape;
  using pack = rule_pack<Shape>;
  struct scratch {};
  enum { threads = 128, emulated_threads = 4, quad = 4 };
  join_tables tables;
  const double *left, *right;
  double* out;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const rule_tile where = tables.tiles[tile];
    const std::int32_t* l = tables.left.record(where.family / tables.right.count);
    const std::int32_t* r = tables.right.record(where.family % tables.right.count);
    const std::int32_t* base = tables.record(where.family);
    const std::int64_t columns = std::int64_t(l[0]) * r[0] * tables.patterns;
    const std::int64_t first = std::int64_t(where.chunk) * tile_columns;
    const std::int64_t count = columns - first < tile_columns ? columns - first : tile_columns;
    const int groups = int(count / Shape::lanes);
    for (int n = 0; n <= tables.limit; ++n) {
      if (base[n] < 0) continue;
      const int quads = (n + quad) / quad;
      for (int item = team.rank(); item < quads * groups; item += team.size())
        rows(l, r, base[n], n, item / groups * quad, first + item % groups * Shape::lanes);
    }
  }

 private:
  void rows(const std::int32_t* l, const std::int32_t* r, std::int64_t base, int n, int row,
            std::int64_t column) const {
    const std::int64_t patterns = tables.patterns, left_stride = l[0] * patterns, right_stride = r[0] * patterns;
    const std::int64_t left_row = column / right_stride, pattern = column % patterns;
    const double* left_column = left + left_row * patterns + pattern;
    const double* right_column = right + column % right_stride;
    pack sum[quad];
    for (int i = 0; i < quad; ++i) sum[i] = device::broadcast_pack<pack>(0.0);
    const int least = n > tables.right.limit ? n - tables.right.limit : 0;
    const int most = n < tables.left.limit ? n : tables.left.limit;
    for (int n1 = least; n1 <= most; ++n1) {
      const int n2 = n - n1;
      if (l[1 + n1] < 0 || r[1 + n2] < 0) continue;
      const double* a = left_column + l[1 + n1] * patterns;
      const double* b = right_column + r[1 + n2] * patterns;
      const int begin = row > n2 ? row - n2 : 0, end = row + quad - 1 < n1 ? row + quad - 1 : n1;
      for (int r1 = begin; r1 <= end; ++r1) {
        const pack x = device::load_pack<pack>(a + r1 * left_stride);
        const int r2 = row - r1;
        if (r2 >= 0 && r2 + quad - 1 <= n2) {
          for (int i = 0; i < quad; ++i)
            sum[i] = device::fma(x, device::load_pack<pack>(b + (r2 + i) * right_stride), sum[i]);
        } else {
          for (int i = 0; i < quad; ++i)
            if (r2 + i >= 0 && r2 + i <= n2)
              sum[i] = device::fma(x, device::load_pack<pack>(b + (r2 + i) * right_stride), sum[i]);
        }
      }
    }
    double* to = out + base * patterns + column;
    const std::int64_t stride = l[0] * right_stride;
    for (int i = 0; i < quad; ++i)
      if (row + i <= n) device::store_pack(to + (row + i) * stride, sum[i]);
  }
};

/// The adjoint of one side, self: the sum over the other side's families, columns and states.
template <class Shape>
struct join_adjoint_kernel {
  using shape = Shape;
  using pack = rule_pack<Shape>;
  struct scratch {};
  enum { threads = 128, emulated_threads = 4, quad = 4 };
  join_tables tables;  ///< tiles are those of the side
  bool is_left;
  const double* other;
  const double* adjoint;  ///< of the result
  double* out;            ///< of self

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const rule_tile where = tables.tiles[tile];
    const join_side& self = is_left ? tables.left : tables.right;
    const std::int32_t* record = self.record(where.family);
    const std::int64_t columns = std::int64_t(record[0]) * tables.patterns;
    const std::int64_t first = std::int64_t(where.chunk) * tile_columns;
    const std::int64_t count = columns - first < tile_columns ? columns - first : tile_columns;
    const int groups = int(count / Shape::lanes);
    for (int n = 0; n <= self.limit; ++n) {
      if (record[1 + n] < 0) continue;
      const int quads = (n + quad) / quad;
      for (int item = team.rank(); item < quads * groups; item += team.size())
        rows(where.family, n, item / groups * quad, first + item % groups * Shape::lanes);
    }
  }

 private:
  void rows(std::int64_t family, int n, int row, std::int64_t column) const {
    const join_side& self = is_left ? tables.left : tables.right;
    const join_side& side = is_left ? tables.right : tables.left;
    const std::int32_t* record = self.record(family);
    const std::int64_t patterns = tables.patterns, own = column / patterns, pattern = column % patterns;
    pack sum[quad];
    for (int i = 0; i < quad; ++i) sum[i] = device::broadcast_pack<pack>(0.0);
    for (std::int64_t j = 0; j < side.count; ++j) {
      const std::int32_t* with = side.record(j);
      const std::int32_t* base = tables.record(is_left ? family * side.count + j : j * self.count + family);
      const std::int64_t stride = std::int64_t(record[0]) * with[0] * patterns;
      for (std::int64_t o = 0; o < with[0]; ++o) {
        const std::int64_t place = (is_left ? own * with[0] + o : o * record[0] + own) * patterns + pattern;
        for (int n2 = 0; n2 <= side.limit; ++n2) {
          if (with[1 + n2] < 0 || n + n2 > tables.limit || base[n + n2] < 0) continue;
          const double* a = other + (with[1 + n2] + o) * patterns + pattern;
          const double* b = adjoint + base[n + n2] * patterns + place;
          for (int r2 = 0; r2 <= n2; ++r2) {
            const pack x = device::load_pack<pack>(a + r2 * with[0] * patterns);
            for (int i = 0; i < quad; ++i) {
              const int r1 = row + i <= n ? row + i : n;
              sum[i] = device::fma(x, device::load_pack<pack>(b + (r1 + r2) * stride), sum[i]);
            }
          }
        }
      }
    }
    double* to = out + record[1 + n] * patterns + column;
    for (int i = 0; i < quad; ++i)
      if (row + i <= n) device::store_pack(to + (row + i) * record[0] * patterns, sum[i]);
  }
};

}  // namespace quintet::snp
