// exp(A t) of many branches, and its derivatives by u and v: uniformisation, then squaring.
//
// A + s I is non-negative for s = max |A_ii|, so exp(A h) = e^(-s h) sum_k ((A + s I) h)^k / k! is a sum of
// non-negative terms, and so are the squarings: nothing cancels, every element is right to a small multiple of (terms +
// 2^squarings) u relative to itself.
#pragma once

#include <cstdint>

#include "device/launch.hpp"
#include "device/pack.hpp"
#include "snp/likelihood/generator.hpp"
#include "snp/likelihood/rules/exponential_job.hpp"
#include "snp/likelihood/state_space.hpp"

namespace quintet::snp {

struct host_exponential {
  enum { on_device = 0, lanes = device::host_lanes<double>() };
};
struct device_exponential {
  enum { on_device = 1, lanes = 1 };
};

/// Uniformisation (Jensen 1953), scaled and squared (Moler, Van Loan 2003, method 3); A is that of Bryant et al. 2012.
template <class Shape, bool Derivatives>
struct exponential_kernel {
  using shape = Shape;
  using pack = device::pack<double, Shape::lanes>;
  struct scratch {};
  enum { threads = 256, emulated_threads = 4, quad = 4, work_parts = Derivatives ? 9 : Shape::on_device ? 3 : 10 };
  const exponential_job* jobs;

  /// A matrix and, with Derivatives, those by u and v.
  struct dual {
    double *value, *by_u, *by_v;
  };

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const exponential_job& job = jobs[tile];
    const std::int64_t size = column_block(job.max + 1) + exponential_padding;
    dual current{job.out, job.by_u, job.by_v}, then = room(job.work + 2 * size, 3 * size);
    if constexpr (!Shape::on_device && !Derivatives) {
      then.value = job.work;
      pad(team, job, size, then);
      sum_terms(job, job.work + size);
    } else {
      dual from = room(job.work, 3 * size), to = room(job.work + size, 3 * size);
      for (int n = 0; n <= job.max; ++n) start(team, n, job, from);
      pad(team, job, size, then);
      team.barrier();
      for (int k = 1; k <= job.terms; ++k) {
        for (int n = 0; n <= job.max; ++n) add_term(team, n, k, job, from, to);
        team.barrier();
        swap(from, to);
      }
    }
    for (int s = 0; s < job.squarings; ++s) {
      for (int n = 0; n <= job.max; ++n) {
        multiply<false>(team, n, current.value, current.value, then.value);
        if constexpr (Derivatives) {
          multiply<false>(team, n, current.by_u, current.value, then.by_u);
          multiply<true>(team, n, current.value, current.by_u, then.by_u);
          multiply<false>(team, n, current.by_v, current.value, then.by_v);
          multiply<true>(team, n, current.value, current.by_v, then.by_v);
        }
      }
      team.barrier();
      swap(current, then);
      for (int n = 1 + team.rank(); n <= job.max; n += team.size()) normalise(n, current.value + column_block(n));
      team.barrier();
    }
    if (current.value != job.out) {
      copy(team, size, current.value, job.out);
      if constexpr (Derivatives) copy(team, size, current.by_u, job.by_u), copy(team, size, current.by_v, job.by_v);
    }
    if (job.rest.to_1 == 0 && job.rest.to_0 == 0) return;
    team.barrier();
    for (int n = 1 + team.rank(); n <= job.max; n += team.size()) mutate_further(job, n);
  }

 private:
  // Parts `stride` apart; without Derivatives there is one.
  static dual room(double* first, std::int64_t stride) {
    if constexpr (!Derivatives) return {first, nullptr, nullptr};
    return {first, first + stride, first + 2 * stride};
  }

  template <class Value>
  static void swap(Value& a, Value& b) {
    const Value c = a;
    a = b;
    b = c;
  }

  template <class Team>
  static void copy(const Team& team, std::int64_t size, const double* from, double* to) {
    for (std::int64_t i = team.rank(); i < size; i += team.size()) to[i] = from[i];
  }

  template <class Team>
  static void pad(const Team& team, const exponential_job& job, std::int64_t size, const dual& square) {
    for (std::int64_t i = size - exponential_padding + team.rank(); i < size; i += team.size()) {
      job.out[i] = square.value[i] = 0;
      if constexpr (Derivatives) job.by_u[i] = job.by_v[i] = square.by_u[i] = square.by_v[i] = 0;
    }
  }

  // Term 0: the identity; sums begin with it.
  template <class Team>
  static void start(const Team& team, int n, const exponential_job& job, const dual& term) {
    const std::int64_t begin = column_block(n), rows = state_count(n), columns = n + 1;
    const std::int64_t own = state_index(n, 0);
    for (std::int64_t i = team.rank(); i < rows * columns; i += team.size()) {
      const std::int64_t row = i / columns, column = i % columns;
      const double unit = row == own + column ? 1 : 0;
      term.value[begin + i] = unit;
      job.out[begin + i] = unit * job.decay;
      if constexpr (Derivatives)
        term.by_u[begin + i] = term.by_v[begin + i] = job.by_u[begin + i] = job.by_v[begin + i] = 0;
    }
  }

  // The sum of all terms on the host: the arithmetic of start() and add_term(), element by element, in rows padded to
  // whole packs. A term costs a few packs a row instead of as many loops as there are rows.
  static void sum_terms(const exponential_job& job, double* work) {
    const std::int64_t size = padded_block(job.max + 1);
    double *from = work, *to = work + size, *sum = work + 2 * size, *coefficient = work + 3 * size;
    for (std::int64_t i = 0; i < size; ++i) from[i] = sum[i] = 0;
    for (int n = 0; n <= job.max; ++n)
      for (int r = 0; r <= n; ++r) {
        const std::int64_t own = padded_block(n) + state_index(n, r) * padded(n + 1) + r;
        from[own] = 1;
        sum[own] = job.decay;
        generator_of(job).write_row(n, r, job.max, coefficient + 5 * state_index(n, r));
      }
    for (int k = 1; k <= job.terms; ++k) {
      for (int n = 0; n <= job.max; ++n) add_padded_term(n, 1.0 / k, job.decay, coefficient, from, to, sum);
      swap(from, to);
    }
    for (int block = 0; block <= job.max; ++block)
      for (std::int64_t row = 0; row < state_count(block); ++row)
        for (int column = 0; column <= block; ++column)
          job.out[column_block(block) + row * (block + 1) + column] =
              sum[padded_block(block) + row * padded(block + 1) + column];
  }

  static std::int64_t padded(int columns) { return (columns + Shape::lanes - 1) / Shape::lanes * Shape::lanes; }
  // Where column block n begins when its rows are padded.
  static std::int64_t padded_block(int n) {
    std::int64_t begin = 0;
    for (int block = 0; block < n; ++block) begin += state_count(block) * padded(block + 1);
    return begin;
  }

  static void add_padded_term(int block, double inverse, double decay, const double* coefficient, const double* from,
                              double* to, double* sum) {
    const std::int64_t stride = padded(block + 1), begin = padded_block(block);
    for (std::int64_t column = 0; column < stride; column += Shape::lanes)
      for (int n = 0; n <= block; ++n)
        for (int r = 0; r <= n; ++r) {
          const double* c = coefficient + 5 * state_index(n, r);
          const std::int64_t i = begin + state_index(n, r) * stride + column;
          const double* at = from + i;
          pack term = device::broadcast_pack<pack>(c[0]) * device::load_pack<pack>(at);
          if (r < n) term = device::fma(c[1], device::load_pack<pack>(at + stride), term);
          if (r > 0) term = device::fma(c[2], device::load_pack<pack>(at - stride), term);
          if (n < block && n > 0) {
            const double* above = at + (n + 1) * stride;
            term = device::fma(c[3], device::load_pack<pack>(above), term);
            term = device::fma(c[4], device::load_pack<pack>(above + stride), term);
          }
          term *= device::broadcast_pack<pack>(inverse);
          device::store_pack(to + i, term);
          device::store_pack(sum + i, device::fma(decay, term, device::load_pack<pack>(sum + i)));
        }
  }

  // (A + s I) h.
  static generator generator_of(const exponential_job& job) { return {job.coalescence, job.u, job.v, job.shift}; }

  // (A + s I) h x / k for one element of a column; `at` is the element of row (n, r), rows are `columns` apart.
  static double step(const generator& rates, int n, int r, bool more, const double* at, std::int64_t columns,
                     double inverse) {
    return inverse * rates.row(
                         n, r, more && n > 0, [&](int i) { return at[i * columns]; },
                         [&](int i) { return at[(n + 1 + i) * columns]; });
  }

  template <class Team>
  static void add_term(const Team& team, int block, int k, const exponential_job& job, const dual& from,
                       const dual& to) {
    const std::int64_t begin = column_block(block), columns = block + 1;
    const double inverse = 1.0 / k, h = job.length;
    const generator rates = generator_of(job);
    for (int n = 0; n <= block; ++n)
      for_columns(team, n, columns, [=, &job](int r, std::int64_t column) {
        const std::int64_t i = begin + state_index(n, r) * columns + column;
        const bool more = n < block;
        to.value[i] = step(rates, n, r, more, from.value + i, columns, inverse);
        job.out[i] = device::fma(to.value[i], job.decay, job.out[i]);
        if constexpr (Derivatives) {
          const auto own = [&](int row) { return from.value[i + row * columns]; };
          const double by_u = generator_by_u<double>(n, r, own), by_v = generator_by_v<double>(n, r, own);
          to.by_u[i] = device::fma(by_u * h, inverse, step(rates, n, r, more, from.by_u + i, columns, inverse));
          to.by_v[i] = device::fma(by_v * h, inverse, step(rates, n, r, more, from.by_v + i, columns, inverse));
          job.by_u[i] = device::fma(to.by_u[i], job.decay, job.by_u[i]);
          job.by_v[i] = device::fma(to.by_v[i], job.decay, job.by_v[i]);
        }
      });
  }

  // f(r, column) for the n + 1 rows of one n; lanes and threads differ in the column.
  template <class Team, class Function>
  static void for_columns(const Team& team, int n, std::int64_t columns, Function f) {
    if constexpr (Team::on_device) {
      for (std::int64_t i = team.rank(); i < (n + 1) * columns; i += team.size()) f(int(i / columns), i % columns);
    } else {
      for (int r = 0; r <= n; ++r)
        for (std::int64_t column = 0; column < columns; ++column) f(r, column);
    }
  }

  // The rest of a long branch, along which there is one lineage: rows (1, 0) and (1, 1).
  static void mutate_further(const exponential_job& job, int n) {
    const single_lineage& rest = job.rest;
    const std::int64_t columns = n + 1, row = column_block(n) + state_index(1, 0) * columns;
    for (std::int64_t i = row; i < row + columns; ++i) {
      const double zero = job.out[i], one = job.out[i + columns];
      job.out[i] = (1 - rest.to_1) * zero + rest.to_1 * one;
      job.out[i + columns] = (1 - rest.to_0) * one + rest.to_0 * zero;
      if constexpr (Derivatives) {
        mix(job.by_u + i, columns, rest, rest.to_1_by_u, rest.to_0_by_u, one - zero);
        mix(job.by_v + i, columns, rest, rest.to_1_by_v, rest.to_0_by_v, one - zero);
      }
    }
  }

  static void mix(double* at, std::int64_t columns, const single_lineage& rest, double to_1_slope, double to_0_slope,
                  double difference) {
    const double zero = at[0], one = at[columns];
    at[0] = (1 - rest.to_1) * zero + rest.to_1 * one + to_1_slope * difference;
    at[columns] = (1 - rest.to_0) * one + rest.to_0 * zero - to_0_slope * difference;
  }

  // n lineages become some number of lineages: for every n' and r', sum over r of P[(n', r'), (n, r)] C(n, r) is
  // C(n', r') Pr(n' | n), and these probabilities add up to 1. Squaring doubles relative errors; where one lineage is
  // likely, its two rows are brought back to their sum, so that the errors of long branches do not grow with length.
  static void normalise(int n, double* block) {
    const std::int64_t columns = n + 1;
    double rest_sum = 0;
    for (int top = n; top >= 2; --top) rest_sum += row_sum(n, block + state_index(top, 0) * columns);
    if (!(rest_sum < 0.5)) return;
    for (int r = 0; r < 2; ++r) {
      const double factor = (1 - rest_sum) / row_sum(n, block + state_index(1, r) * columns);
      for (std::int64_t column = 0; column < columns; ++column) block[state_index(1, r) * columns + column] *= factor;
    }
  }

  static double row_sum(int n, const double* row) {
    double sum = 0, binomial = 1;
    for (int r = 0; r <= n; ++r) {
      sum = device::fma(binomial, row[r], sum);
      binomial = binomial * (n - r) / (r + 1);
    }
    return sum;
  }

  // Column block n of c = a b, or c += a b.
  template <bool Add, class Team>
  static void multiply(const Team& team, int n, const double* a, const double* b, double* c) {
    const int columns = n + 1, chunks = (columns + Shape::lanes - 1) / Shape::lanes;
    const double* right = b + column_block(n);
    for (int top = 0; top <= n; ++top) {
      const int quads = (top + quad) / quad;
      for (int item = team.rank(); item < quads * chunks; item += team.size())
        multiply_item<Add>(n, top, item / chunks * quad, item % chunks * Shape::lanes, a, right, c + column_block(n));
    }
  }

  // Rows (top, row) ... (top, row + 3), Shape::lanes columns.
  template <bool Add>
  static void multiply_item(int n, int top, int row, int column, const double* a, const double* right, double* c) {
    pack sum[quad];
    const int columns = n + 1;
    for (int i = 0; i < quad; ++i) sum[i] = device::broadcast_pack<pack>(0.0);
    for (int k = top; k <= n; ++k) {
      const double* left[quad];
      for (int i = 0; i < quad; ++i) {
        const int r = row + i <= top ? row + i : top;
        left[i] = a + element_index(state_index(top, r), k, 0);
      }
      const double* below = right + state_index(k, 0) * columns + column;
      for (int q = 0; q <= k; ++q, below += columns) {
        const pack x = device::load_pack<pack>(below);
        for (int i = 0; i < quad; ++i) sum[i] = device::fma(left[i][q], x, sum[i]);
      }
    }
    const int width = columns - column < Shape::lanes ? columns - column : Shape::lanes;
    for (int i = 0; i < quad && row + i <= top; ++i) {
      double* to = c + state_index(top, row + i) * columns + column;
      double lane[Shape::lanes];
      device::store_pack(lane, sum[i]);
      for (int j = 0; j < width; ++j) to[j] = Add ? to[j] + lane[j] : lane[j];
    }
  }
};

}  // namespace quintet::snp
