// What happens to values between the rules: axes and patterns change places, scales, the root, and sums for gradients.
#pragma once

#include "snp/apply_kernel.hpp"

namespace quintet::snp {

/// out[e][p] = in[entry_of[e]][pattern_of[p]]; a null map is the identity.
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
/// `members` (without maps of patterns: p = q). Padded patterns get 0.
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

/// Rows first, first + 1, ... of a value := 0.
struct clear_rows {
  std::int64_t first, patterns;
  double* value;
  void operator()(std::int64_t i) const { value[first * patterns + i] = 0; }
};

/// The largest element of every pattern in each chunk of entries. No element is negative.
template <class Shape>
struct largest_kernel {
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
      pack most = device::broadcast_pack<pack>(0.0);
      for (std::int64_t e = first; e < last; ++e) {
        const pack x = device::load_pack<pack>(in + e * patterns + p);
        most = x > most ? x : most;
      }
      device::store_pack(out + tile * patterns + p, most);
    }
  }
};

/// Below this a pattern's numbers are multiplied by a power of two. Products of two branches then stay far from
/// underflow.
constexpr double scale_limit = 1e-100;

/// own[p] = exponent that brings the largest element of pattern p to [1, 2), 0 where it is large enough or zero;
/// total[p] = own[p] + the exponents of the parts.
struct choose_exponents {
  std::int64_t chunks, patterns, used;  ///< padded patterns, those that are not padding
  const double* largest;
  const std::int32_t *left, *left_of, *right, *right_of;  ///< null: no exponents, identity
  std::int32_t *own, *total;

  void operator()(std::int64_t p) const {
    double most = 0;
    for (std::int64_t c = 0; c < chunks; ++c)
      if (largest[c * patterns + p] > most) most = largest[c * patterns + p];
    std::int32_t e = 0;
    if (p >= used) {
      own[p] = total[p] = 0;
      return;
    }
    if (most > 0 && most < scale_limit) {
      // frexp without its pointer to a local.
      double shifted = most;
      if (shifted < 0x1p-1022) shifted *= 0x1p64, e -= 64;
      std::int64_t bits;
      __builtin_memcpy(&bits, &shifted, sizeof bits);
      e += std::int32_t(bits >> 52 & 2047) - 1023;
    }
    own[p] = e;
    std::int32_t sum = e;
    if (left != nullptr) sum += left[left_of != nullptr ? left_of[p] : p];
    if (right != nullptr) sum += right[right_of != nullptr ? right_of[p] : p];
    total[p] = sum;
  }
};

/// 2^e for |e| up to 2000.
inline double power_of_two(int e) {
  const auto one = [](int exponent) {
    const std::int64_t bits = std::int64_t(exponent + 1023) << 52;
    double value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
  };
  const int half = e / 2;
  return one(half) * one(e - half);
}

/// Multiplies the value, pattern by pattern, by 2^-own: one line of patterns an index, as there are rarely any to do.
struct apply_exponents {
  std::int64_t entries, patterns;
  const std::int32_t* own;
  double* value;

  void operator()(std::int64_t index) const {
    const std::int32_t* exponent = own + index * line;
    std::int32_t any = 0;
    for (int j = 0; j < line; ++j) any |= exponent[j];
    if (any == 0) return;
    for (std::int64_t e = 0; e < entries; ++e)
      for (int j = 0; j < line; ++j) value[e * patterns + index * line + j] *= power_of_two(-exponent[j]);
  }
};

/// likelihood[p] = sum over entries of weight[e] in[e][p].
template <class Shape>
struct root_kernel {
  using shape = Shape;
  using pack = rule_pack<Shape>;
  struct scratch {};
  enum { threads = 32, emulated_threads = 4 };
  std::int64_t entries, patterns;
  const double *weight, *in;
  double* likelihood;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const std::int64_t first = tile * tile_columns;
    const std::int64_t last = first + tile_columns < patterns ? first + tile_columns : patterns;
    for (std::int64_t p = first + team.rank() * Shape::lanes; p < last; p += team.size() * Shape::lanes) {
      pack sum = device::broadcast_pack<pack>(0.0);
      for (std::int64_t e = 0; e < entries; ++e)
        sum = device::fma(weight[e], device::load_pack<pack>(in + e * patterns + p), sum);
      device::store_pack(likelihood + p, sum);
    }
  }
};

/// adjoint[e][p] = weight[e] seed[p].
struct root_adjoint {
  std::int64_t patterns;
  const double *weight, *seed;
  double* adjoint;
  void operator()(std::int64_t i) const { adjoint[i] = weight[i / patterns] * seed[i % patterns]; }
};

/// by_weight[e] = sum over patterns of seed[p] in[e][p].
struct root_weight_adjoint {
  std::int64_t patterns;
  const double *seed, *in;
  double* by_weight;
  void operator()(std::int64_t e) const {
    double chain[line] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (std::int64_t p = 0; p < patterns; p += line)
      for (int j = 0; j < line; ++j) chain[j] += seed[p + j] * in[e * patterns + p + j];
    double sum = 0;
    for (int j = 0; j < line; ++j) sum += chain[j];
    by_weight[e] = sum;
  }
};

/// The adjoint of P = exp(A t): sums of adjoint[row] x in[column] over families, outer rows and columns. A tile is a
/// slice of the tiles of the axis and has a matrix of its own in `out`.
template <class Shape>
struct matrix_adjoint_kernel {
  using shape = Shape;
  using pack = rule_pack<Shape>;
  struct scratch {};
  enum { threads = 256, emulated_threads = 4, quad = 4 };
  axis_tables tables;
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
    const std::int32_t* record = tables.record(where.family);
    const std::int32_t in_base = record[2 + n], out_base = record[3 + tables.most + top];
    if (in_base < 0 || out_base < 0) return;
    const std::int64_t inner = std::int64_t(record[1]) * tables.patterns, columns = record[0] * inner;
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

/// first[i] += the other slices, in order.
struct add_slices {
  std::int64_t slices, size;
  double* first;
  void operator()(std::int64_t i) const {
    double sum = first[i];
    for (std::int64_t s = 1; s < slices; ++s) sum += first[s * size + i];
    first[i] = sum;
  }
};

/// out[p] = sum over the first entries of a[e][p] b[e][p].
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

/// out[p] = sum of adjoint (A value) over the states of one branch with at most `limit` lineages.
struct slope_columns {
  std::int32_t limit;
  std::int64_t patterns;
  const std::int32_t* base;  ///< first entry of n lineages, -1: none
  double inverse_theta, u, v;
  const double *adjoint, *value;
  double* out;

  void operator()(std::int64_t p) const {
    double sum = 0;
    for (int n = 1; n <= limit; ++n) {
      if (base[n] < 0) continue;
      const double* x = value + base[n] * patterns + p;
      const double* above = n < limit ? value + base[n + 1] * patterns + p : nullptr;
      for (int r = 0; r <= n; ++r) {
        double slope = -device::fma(r, u, device::fma(n * (n - 1.0), inverse_theta, (n - r) * v)) * x[r * patterns];
        if (r < n) slope = device::fma((r + 1) * v, x[(r + 1) * patterns], slope);
        if (r > 0) slope = device::fma((n - r + 1) * u, x[(r - 1) * patterns], slope);
        if (above != nullptr) {
          slope = device::fma((n - r) * (n - r + 1.0) * inverse_theta, above[r * patterns], slope);
          slope = device::fma(r * (r + 1.0) * inverse_theta, above[(r + 1) * patterns], slope);
        }
        sum = device::fma(slope, adjoint[(base[n] + r) * patterns + p], sum);
      }
    }
    out[p] = sum;
  }
};

/// What one branch's adjoint matrix gives: <adjoint, A P>, <adjoint, dP/du>, <adjoint, dP/dv>, one column block each.
struct branch_dot_job {
  std::int32_t most = 0;
  double inverse_theta = 0, u = 0, v = 0;
  const double *adjoint = nullptr, *matrix = nullptr, *by_u = nullptr, *by_v = nullptr;
  double* out = nullptr;  ///< [most + 1][3]
};

struct branch_dot {
  const branch_dot_job* jobs;
  std::int64_t blocks;  ///< of the largest job

  void operator()(std::int64_t i) const {
    const branch_dot_job& job = jobs[i / blocks];
    const int block = int(i % blocks);
    if (block > job.most) return;
    const std::int64_t columns = block + 1, begin = column_block(block);
    double by_length = 0, by_u = 0, by_v = 0;
    for (int n = 0; n <= block; ++n)
      for (int r = 0; r <= n; ++r)
        for (std::int64_t c = 0; c < columns; ++c) {
          const std::int64_t k = begin + state_index(n, r) * columns + c;
          const double* at = job.matrix + k;
          double slope = -device::fma(r, job.u, device::fma(n * (n - 1.0), job.inverse_theta, (n - r) * job.v)) * at[0];
          if (r < n) slope = device::fma((r + 1) * job.v, at[columns], slope);
          if (r > 0) slope = device::fma((n - r + 1) * job.u, at[-columns], slope);
          if (n > 0 && n < block) {
            const double* above = at + (n + 1) * columns;
            slope = device::fma((n - r) * (n - r + 1.0) * job.inverse_theta, above[0], slope);
            slope = device::fma(r * (r + 1.0) * job.inverse_theta, above[columns], slope);
          }
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
