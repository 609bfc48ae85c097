// The convolution of join.hpp, its adjoint, and the exponents of what gets small.
#pragma once

#include "snp/likelihood/rules/join.hpp"
#include "snp/likelihood/rules/pattern_numbers.hpp"
#include "snp/likelihood/rules/shapes.hpp"

namespace quintet::snp {

using side_columns = side_record<const std::int32_t>;

/// One side of a join.
struct join_side {
  const std::int32_t* families = nullptr;
  std::int32_t count = 0, max = 0;
  std::int32_t limit = 0;  ///< lineages that occur with more than a negligible probability, <= max
  std::int32_t low = 0;    ///< of a scaled plan: fewer lineages do not

  side_columns record(std::int64_t family) const { return {families + family * side_columns::size(max)}; }
};

struct join_tables {
  const rule_tile* tiles = nullptr;
  join_side left, right;
  const std::int32_t* families = nullptr;
  std::int32_t max = 0;
  std::int32_t patterns = 0;  ///< padded
  std::int32_t limit = 0;     ///< rows with more lineages are neither written nor read

  /// First entries by n of a family of the result.
  const std::int32_t* first(std::int64_t family) const { return families + family * join_record::size(max); }
};

/// Rule 2 of Rabier et al. 2021: F(n, r) = sum over n1 + n2 = n, r1 + r2 = r of C(n1, r1) C(n2, r2) / C(n, r) F1(n1,
/// r1) F2(n2, r2), for every state of the axes that are not joined.
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
    const side_columns l = tables.left.record(where.family / tables.right.count);
    const side_columns r = tables.right.record(where.family % tables.right.count);
    const std::int32_t* base = tables.first(where.family);
    const std::int64_t columns = std::int64_t(l.columns()) * r.columns() * tables.patterns;
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
  void rows(const side_columns& l, const side_columns& r, std::int64_t base, int n, int row,
            std::int64_t column) const {
    const std::int64_t patterns = tables.patterns;
    const std::int64_t left_stride = l.columns() * patterns, right_stride = r.columns() * patterns;
    const std::int64_t left_row = column / right_stride, pattern = column % patterns;
    const double* left_column = left + left_row * patterns + pattern;
    const double* right_column = right + column % right_stride;
    pack sum[quad];
    for (int i = 0; i < quad; ++i) sum[i] = device::broadcast_pack<pack>(0.0);
    const int min = n - tables.right.limit > tables.left.low ? n - tables.right.limit : tables.left.low;
    const int max = n - tables.right.low < tables.left.limit ? n - tables.right.low : tables.left.limit;
    for (int n1 = min; n1 <= max; ++n1) {
      const int n2 = n - n1;
      if (l.first()[n1] < 0 || r.first()[n2] < 0) continue;
      const double* a = left_column + l.first()[n1] * patterns;
      const double* b = right_column + r.first()[n2] * patterns;
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
    const std::int64_t stride = l.columns() * right_stride;
    for (int i = 0; i < quad; ++i)
      if (row + i <= n) device::store_pack(to + (row + i) * stride, sum[i]);
  }
};

/// The adjoint of one side, self: the sum over the other side's families, columns and states. Rule 2 of Rabier et al.
/// 2021, backwards.
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
    const side_columns record = self.record(where.family);
    const std::int64_t columns = std::int64_t(record.columns()) * tables.patterns;
    const std::int64_t first = std::int64_t(where.chunk) * tile_columns;
    const std::int64_t count = columns - first < tile_columns ? columns - first : tile_columns;
    const int groups = int(count / Shape::lanes);
    for (int n = 0; n <= self.limit; ++n) {
      if (record.first()[n] < 0) continue;
      const int quads = (n + quad) / quad;
      for (int item = team.rank(); item < quads * groups; item += team.size())
        rows(where.family, n, item / groups * quad, first + item % groups * Shape::lanes);
    }
  }

 private:
  void rows(std::int64_t family, int n, int row, std::int64_t column) const {
    const join_side& self = is_left ? tables.left : tables.right;
    const join_side& side = is_left ? tables.right : tables.left;
    const side_columns record = self.record(family);
    const std::int64_t patterns = tables.patterns, own = column / patterns, pattern = column % patterns;
    pack sum[quad];
    for (int i = 0; i < quad; ++i) sum[i] = device::broadcast_pack<pack>(0.0);
    for (std::int64_t j = 0; j < side.count; ++j) {
      const side_columns with = side.record(j);
      const std::int32_t* base = tables.first(is_left ? family * side.count + j : j * self.count + family);
      const std::int64_t stride = std::int64_t(record.columns()) * with.columns() * patterns;
      for (std::int64_t o = 0; o < with.columns(); ++o) {
        const std::int64_t place =
            (is_left ? own * with.columns() + o : o * record.columns() + own) * patterns + pattern;
        for (int n2 = 0; n2 <= side.limit; ++n2) {
          if (with.first()[n2] < 0 || n + n2 > tables.limit || base[n + n2] < 0) continue;
          const double* a = other + (with.first()[n2] + o) * patterns + pattern;
          const double* b = adjoint + base[n + n2] * patterns + place;
          for (int r2 = 0; r2 <= n2; ++r2) {
            const pack x = device::load_pack<pack>(a + r2 * with.columns() * patterns);
            for (int i = 0; i < quad; ++i) {
              const int r1 = row + i <= n ? row + i : n;
              sum[i] = device::fma(x, device::load_pack<pack>(b + (r1 + r2) * stride), sum[i]);
            }
          }
        }
      }
    }
    double* to = out + record.first()[n] * patterns + column;
    for (int i = 0; i < quad; ++i)
      if (row + i <= n) device::store_pack(to + (row + i) * record.columns() * patterns, sum[i]);
  }
};

/// The largest element of every pattern in each chunk of entries. No element is negative. For the rescaling of Yang
/// 2000.
template <class Shape>
struct column_max_kernel {
  using shape = Shape;
  using pack = rule_pack<Shape>;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, entries_per_tile = 128 };
  std::int64_t entries, patterns;
  const double* in;
  double* out;  ///< [tiles][patterns]

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const std::int64_t first = tile * entries_per_tile;
    const std::int64_t last = first + entries_per_tile < entries ? first + entries_per_tile : entries;
    for (std::int64_t p = team.rank() * Shape::lanes; p < patterns; p += team.size() * Shape::lanes) {
      pack max = device::broadcast_pack<pack>(0.0);
      for (std::int64_t e = first; e < last; ++e) {
        const pack x = device::load_pack<pack>(in + e * patterns + p);
        max = x > max ? x : max;
      }
      device::store_pack(out + tile * patterns + p, max);
    }
  }
};

/// Below this a pattern's numbers are multiplied by a power of two. Products of two branches then stay far from
/// underflow.
constexpr double scale_limit = 1e-100;

/// Patterns whose largest number is not in [low, high] are multiplied by the power of two that brings it to 2^target.
struct exponent_range {
  double low, high;
  std::int32_t target;
};
constexpr exponent_range few_lineages{scale_limit, 0x1p1023, 0};
/// Of a scaled plan. What counts lies within 2^-1500 of the largest number, and products of two must not overflow.
constexpr exponent_range many_lineages{0x1p470, 0x1p490, 480};

/// own[p] = exponent that brings the largest element of pattern p to its range, 0 where it is there or zero; total[p] =
/// own[p] + the exponents of the parts. Rescaling of partial likelihoods (Yang 2000), by powers of two, which are
/// exact.
struct choose_exponents {
  std::int64_t chunks, patterns, used;  ///< padded patterns, those that are not padding
  const double* maxima;
  const std::int32_t *left, *left_of, *right, *right_of;  ///< null: no exponents, identity
  std::int32_t *own, *total;
  exponent_range range = few_lineages;

  void operator()(std::int64_t p) const {
    double max = 0;
    for (std::int64_t c = 0; c < chunks; ++c)
      if (maxima[c * patterns + p] > max) max = maxima[c * patterns + p];
    std::int32_t e = 0;
    if (p >= used) {
      own[p] = total[p] = 0;
      return;
    }
    if (max > 0 && (max < range.low || max > range.high)) {
      // frexp without its pointer to a local.
      double shifted = max;
      if (shifted < 0x1p-1022) shifted *= 0x1p64, e -= 64;
      std::int64_t bits;
      __builtin_memcpy(&bits, &shifted, sizeof bits);
      e += std::int32_t(bits >> 52 & 2047) - 1023 - range.target;
    }
    own[p] = e;
    std::int32_t sum = e;
    if (left != nullptr) sum += left[left_of != nullptr ? left_of[p] : p];
    if (right != nullptr) sum += right[right_of != nullptr ? right_of[p] : p];
    total[p] = sum;
  }
};

/// 2^e for |e| up to 2044.
inline double power_of_two(int e) {
  const auto power_of = [](int exponent) {
    const std::int64_t bits = std::int64_t(exponent + 1023) << 52;
    double value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
  };
  const int half = e / 2;
  return power_of(half) * power_of(e - half);
}

/// Multiplies a partial likelihood, pattern by pattern, by 2^-own: one line of patterns an index, as there are rarely
/// any to do. Rescaling of partial likelihoods (Yang 2000), by powers of two, which are exact.
struct apply_exponents {
  std::int64_t entries, patterns;
  const std::int32_t* own;
  double* partial;

  void operator()(std::int64_t index) const {
    const std::int32_t* exponent = own + index * line;
    std::int32_t any = 0;
    for (int j = 0; j < line; ++j) any |= exponent[j];
    if (any == 0) return;
    for (std::int64_t e = 0; e < entries; ++e)
      for (int j = 0; j < line; ++j) partial[e * patterns + index * line + j] *= power_of_two(-exponent[j]);
  }
};

/// Exponents of everything but one input of a join; own[p] is the join's for the patterns of the root. For the
/// rescaling of Yang 2000.
struct join_exponents {
  pattern_numbers above, join, other;
  std::int32_t *own, *sum;
  void operator()(std::int64_t p) const {
    own[p] = join(p);
    sum[p] = above(p) + own[p] + other(p);
  }
};

}  // namespace quintet::snp
