// One stage of a branch with many lineages: see stages.hpp.
#pragma once

#include <algorithm>

#include "snp/likelihood/generator.hpp"
#include "snp/likelihood/rules/shapes.hpp"
#include "snp/likelihood/state_space.hpp"

namespace quintet::snp {

/// out = exp(A h) in, or its adjoint, for Patterns patterns a tile: a line of them, which are the lanes, or one, whose
/// states (n, 0), (n, 1), ... are. Neighbours of (n, r) in the coefficients: itself, (n, r + 1), (n, r - 1), then
/// (n + 1, r), (n + 1, r + 1) or, for the adjoint, (n - 1, r), (n - 1, r - 1). Tangent: also the derivatives by u and
/// v, of partial likelihoods that have derivatives already (null: zero). Uniformisation (Jensen 1953) of the A of
/// Bryant et al. 2012. A pattern has the same bits among 1 and among line patterns.
template <class Shape, bool Adjoint, bool Tangent, int Patterns = line>
struct stage_kernel {
  static_assert(Patterns == line || Patterns == 1);
  using shape = Shape;
  using pack = rule_pack<Shape>;
  struct scratch {};
  enum { threads = 128, emulated_threads = 4, parts = Tangent ? 9 : 3 };
  /// Terms that a host thread takes of a block at once; a block, the states with n lineages, is small, the whole is
  /// not.
  enum { terms_at_once = Shape::on_device || Patterns == 1 ? 1 : 4 };
  std::int32_t from, to;  ///< lineages of the input and of the output
  std::int32_t terms;
  std::int32_t patterns;  ///< padded
  double length, decay;
  const double* coefficients;              ///< [state][5]; of one pattern [5][state]
  const std::int32_t *in_base, *out_base;  ///< first entry of n lineages, -1: none
  const double *in, *in_u, *in_v;
  double *out, *out_u, *out_v;
  double* work;           ///< [tiles][work_size]
  std::int32_t used = 0;  ///< of one pattern: how many are no padding, which gets zeros

  /// Of a tile with at most so many lineages: [parts][states + one block][Patterns], then the blocks between terms.
  static std::int64_t work_size(int max) {
    return parts * state_count(max + 1) * Patterns + parts / 3 * 2 * (terms_at_once - 1) * block_size(max);
  }

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const int max = from > to ? from : to;
    const std::int64_t size = state_count(max + 1) * Patterns;
    double* room = work + tile * work_size(max);
    const auto next = [&] {
      double* part = room;
      room += size;
      return part;
    };
    dual x{}, y{}, sum{};
    x.value = next(), y.value = next(), sum.value = next();
    if constexpr (Tangent) {
      x.by_u = next(), y.by_u = next(), sum.by_u = next();
      x.by_v = next(), y.by_v = next(), sum.by_v = next();
    }
    const std::int64_t first = tile * Patterns;
    start(team, max, first, in, x.value, y.value, sum.value);
    if constexpr (Tangent) {
      start(team, max, first, in_u, x.by_u, y.by_u, sum.by_u);
      start(team, max, first, in_v, x.by_v, y.by_v, sum.by_v);
    }
    team.barrier();
    if constexpr (terms_at_once > 1) std::fill(room, work + (tile + 1) * work_size(max), 0.0);
    for (int k = 1; k <= terms; k += terms_at_once) {
      if constexpr (terms_at_once > 1)
        terms_by_blocks(max, k, terms - k + 1 < terms_at_once ? terms - k + 1 : terms_at_once, x, y, sum, room);
      else if constexpr (Patterns == 1)
        term_of_one(team, max, 1.0 / k, x, y, sum);
      else
        term(team, max, 1.0 / k, x, y, sum);
      team.barrier();
      // One by one: copies of the whole would lie on a stack.
      exchange(x.value, y.value);
      if constexpr (Tangent) exchange(x.by_u, y.by_u), exchange(x.by_v, y.by_v);
    }
    finish(team, first, sum.value, out);
    if constexpr (Tangent) finish(team, first, sum.by_u, out_u), finish(team, first, sum.by_v, out_v);
  }

 private:
  // Numbers of all states and, with Tangent, their derivatives.
  struct dual {
    double *value, *by_u, *by_v;
  };
  static void exchange(double*& a, double*& b) {
    double* const before = a;
    a = b;
    b = before;
  }

  // States that the input does not have, and one block more, are zero.
  template <class Team>
  void start(const Team& team, int max, std::int64_t first, const double* values, double* x, double* y,
             double* sum) const {
    for (int n = 0; n <= max + 1; ++n)
      for (int item = team.rank(); item < (n + 1) * Patterns; item += team.size()) {
        const std::int64_t place = state_index(n, 0) * Patterns + item;
        const bool has = values != nullptr && n <= from && in_base[n] >= 0;
        const double value =
            has ? values[(in_base[n] + item / Patterns) * std::int64_t(patterns) + first + item % Patterns] : 0.0;
        x[place] = value;
        y[place] = 0;
        sum[place] = decay * value;
      }
  }

  // A block between two terms, [r][line], with room for r = n + 1.
  static std::int64_t block_size(int max) { return std::int64_t(max + 2) * line; }

  static dual block_of(const dual& x, int n) {
    const std::int64_t first = state_index(n, 0) * line;
    if constexpr (Tangent) return {x.value + first, x.by_u + first, x.by_v + first};
    return {x.value + first, nullptr, nullptr};
  }

  // Block n of a term needs block n and its neighbour, n + 1 or for the adjoint n - 1, of the term before. So a block
  // goes through some terms before the next one begins, and what lies between them stays in the cache. `between`: of
  // each term but the last, two blocks.
  void terms_by_blocks(int max, int first, int count, const dual& x, const dual& y, const dual& sum,
                       double* between) const {
    const auto between_terms = [&](int term, int n) -> dual {
      double* place = between + (2 * (term - 1) + n % 2) * (parts / 3) * block_size(max);
      if constexpr (Tangent) return {place, place + block_size(max), place + 2 * block_size(max)};
      return {place, nullptr, nullptr};
    };
    for (int i = 0; i <= max; ++i) {
      const int n = Adjoint ? i : max - i, neighbour = Adjoint ? n - 1 : n + 1;
      for (int term = 1; term <= count; ++term) {
        const bool is_between = term > 1 && neighbour >= 0 && neighbour <= max;
        term_of_block(n, 1.0 / (first + term - 1), term > 1 ? between_terms(term - 1, n) : block_of(x, n),
                      is_between ? between_terms(term - 1, neighbour) : block_of(x, neighbour),
                      term < count ? between_terms(term, n) : block_of(y, n), block_of(sum, n));
      }
    }
  }

  // What a term takes of the term before for (n, r): (n, r - 1), (n, r), (n, r + 1), and of the neighbouring block (n +
  // 1, r), (n + 1, r + 1) or for the adjoint (n - 1, r), (n - 1, r - 1). States that are not there have zeros as
  // coefficients.
  struct window {
    pack before{}, here{}, after{}, first{}, second{};

    static pack load(const double* from) { return device::load_pack<pack>(from); }
    static window around(const double* own, const double* neighbour, int n, std::int64_t r) {
      window at;
      if (r > 0) at.before = load(own + (r - 1) * line);
      at.here = load(own + r * line);
      at.after = load(own + (r + 1) * line);
      if constexpr (!Adjoint) {
        at.first = load(neighbour + r * line);
        at.second = load(neighbour + (r + 1) * line);
      } else {
        if (r < n) at.first = load(neighbour + r * line);
        if (r > 0) at.second = load(neighbour + (r - 1) * line);
      }
      return at;
    }
    // From r - 1 to r: what both have stays in registers.
    void advance(const double* own, const double* neighbour, int n, std::int64_t r) {
      before = here;
      here = after;
      after = load(own + (r + 1) * line);
      if constexpr (!Adjoint) {
        first = second;
        second = load(neighbour + (r + 1) * line);
      } else {
        second = first;
        first = r < n ? load(neighbour + r * line) : pack{};
      }
    }
    pack product(const double* c) const {
      pack value = c[0] * here;
      value = device::fma(c[1], after, value);
      value = device::fma(c[2], before, value);
      value = device::fma(c[3], first, value);
      return device::fma(c[4], second, value);
    }
  };
  // Windows of all states and, with Tangent, of their derivatives: made where one is needed, from where all threads of
  // a team begin and a thread's own places, so that a thread of a device holds few registers,
  struct windows_at {
    dual own_block, other_block;
    std::int64_t own_place, other_place;
    int n;
    std::int64_t r;

    window value() const { return around(own_block.value, other_block.value); }
    window by_u() const { return around(own_block.by_u, other_block.by_u); }
    window by_v() const { return around(own_block.by_v, other_block.by_v); }
    // State (n, r + i).
    pack own(int i) const { return window::load(own_block.value + own_place + (r + i) * line); }

   private:
    window around(const double* own, const double* other) const {
      return window::around(own + own_place, other + other_place, n, r);
    }
  };
  // or advancing along a block.
  class advancing_windows {
   public:
    explicit advancing_windows(const windows_at& begin) : at_(begin), value_(begin.value()) {
      if constexpr (Tangent) by_u_ = begin.by_u(), by_v_ = begin.by_v();
    }
    void advance() {
      ++at_.r;
      advance(value_, at_.own_block.value, at_.other_block.value);
      if constexpr (Tangent) {
        advance(by_u_, at_.own_block.by_u, at_.other_block.by_u);
        advance(by_v_, at_.own_block.by_v, at_.other_block.by_v);
      }
    }
    pack own(int i) const { return i < 0 ? value_.before : i > 0 ? value_.after : value_.here; }
    const window& value() const { return value_; }
    const window& by_u() const { return by_u_; }
    const window& by_v() const { return by_v_; }

   private:
    void advance(window& at, const double* own, const double* other) const {
      at.advance(own + at_.own_place, other + at_.other_place, at_.n, at_.r);
    }

    windows_at at_;
    window value_, by_u_, by_v_;
  };

  // One element of a term, and of the sum, to which the Poisson distribution's `factor` brings it: decay, as one load,
  // because stores might change a member as far as a compiler knows.
  template <class Windows>
  void element(int n, int r, double inverse, double factor, const double* c, const Windows& windows, const dual& y,
               const dual& sum, std::int64_t place) const {
    const auto keep = [&](const pack& value, double* result, double* total) {
      device::store_pack(result + place, value);
      device::store_pack(total + place, pack(device::fma(factor, value, window::load(total + place))));
    };
    keep(windows.value().product(c) * inverse, y.value, sum.value);
    if constexpr (Tangent) {
      const double h = length * inverse;
      const auto own = [&](int i) { return windows.own(i); };
      keep(device::fma(windows.by_u().product(c), inverse, pack(h * generator_by_u<pack>(n, r, own))), y.by_u,
           sum.by_u);
      keep(device::fma(windows.by_v().product(c), inverse, pack(h * generator_by_v<pack>(n, r, own))), y.by_v,
           sum.by_v);
    }
  }

  void term_of_block(int n, double inverse, const dual& own, const dual& neighbour, const dual& y,
                     const dual& sum) const {
    const double factor = decay;
    for (std::int64_t lane = 0; lane < line; lane += Shape::lanes) {
      const double* c = coefficients + state_index(n, 0) * 5;
      advancing_windows windows({own, neighbour, lane, lane, n, 0});
      for (int r = 0;; c += 5) {
        element(n, r, inverse, factor, c, windows, y, sum, r * line + lane);
        if (r++ == n) break;
        windows.advance();
      }
    }
  }

  // States among the threads of a team.
  template <class Team>
  void term(const Team& team, int max, double inverse, const dual& x, const dual& y, const dual& sum) const {
    constexpr int groups = line / Shape::lanes;
    for (int n = 0; n <= max; ++n)
      for (int item = team.rank(); item < (n + 1) * groups; item += team.size()) {
        const int r = item / groups, lane = item % groups * Shape::lanes;
        const std::int64_t own = state_index(n, 0) * line + lane;
        const std::int64_t neighbour = state_index(Adjoint ? n - 1 : n + 1, 0) * line + lane;
        element(n, r, inverse, decay, coefficients + state_index(n, r) * 5, windows_at{x, x, own, neighbour, n, r}, y,
                sum, own + r * line);
      }
  }

  // Packs of a block's states side by side. Its first and last ones lack neighbours: where their coefficients are not
  // just zero, or they would lie before the first state, these states are taken one by one.
  template <class Team>
  void term_of_one(const Team& team, int max, double inverse, const dual& x, const dual& y, const dual& sum) const {
    constexpr int lanes = Shape::lanes, inner = Adjoint || Tangent;
    const std::int64_t states = state_count(max);
    for (int n = 0; n <= max; ++n)
      for (int r = team.rank() * lanes; r <= n; r += team.size() * lanes) {
        const std::int64_t s = state_index(n, r);
        if (n > 0 && r >= inner && r + lanes <= n + 1 - inner)
          term_of_states<pack>(s, n, r, states, inverse, x, y, sum);
        else
          for (int i = 0; i < lanes && r + i <= n; ++i)
            term_of_states<double>(s + i, n, r + i, states, inverse, x, y, sum);
      }
  }

  // The operations of term() in the same order, for the states (n, r), (n, r + 1), ... of a pack.
  template <class Pack>
  void term_of_states(std::int64_t s, int n, int r, std::int64_t states, double inverse, const dual& x, const dual& y,
                      const dual& sum) const {
    constexpr bool single = sizeof(Pack) == sizeof(double);
    const auto load = [](const double* from) { return device::load_pack<Pack>(from); };
    const auto times = [&](const double* vector) {
      const auto c = [&](int i) { return load(coefficients + i * states + s); };
      Pack value = c(0) * load(vector + s);
      value = device::fma(c(1), load(vector + s + 1), value);
      if (s > 0) value = device::fma(c(2), load(vector + s - 1), value);
      if constexpr (!Adjoint) {
        value = device::fma(c(3), load(vector + s + n + 1), value);
        value = device::fma(c(4), load(vector + s + n + 2), value);
      } else {
        if (!single || r < n) value = device::fma(c(3), load(vector + s - n), value);
        if (!single || r > 0) value = device::fma(c(4), load(vector + s - n - 1), value);
      }
      return value;
    };
    const auto keep = [&](const Pack& value, double* result, double* total) {
      device::store_pack(result + s, value);
      device::store_pack(total + s, Pack(device::fma(decay, value, load(total + s))));
    };
    keep(times(x.value) * inverse, y.value, sum.value);
    if constexpr (Tangent) {
      const double h = length * inverse;
      const auto own = [&](int i) { return load(x.value + s + i); };
      Pack by_u, by_v;
      if constexpr (single) {
        by_u = generator_by_u<Pack>(n, r, own);
        by_v = generator_by_v<Pack>(n, r, own);
      } else {
        Pack red{};
        for (int i = 0; i < Shape::lanes; ++i) red[i] = double(r + i);
        const Pack green = double(n) - red;
        by_u = device::fma(green + 1.0, own(-1), Pack(-red * own(0)));
        by_v = device::fma(red + 1.0, own(1), Pack(-green * own(0)));
      }
      keep(device::fma(times(x.by_u), inverse, Pack(h * by_u)), y.by_u, sum.by_u);
      keep(device::fma(times(x.by_v), inverse, Pack(h * by_v)), y.by_v, sum.by_v);
    }
  }

  template <class Team>
  void finish(const Team& team, std::int64_t first, const double* sum, double* values) const {
    for (int n = 0; n <= to; ++n) {
      if (out_base[n] < 0) continue;
      for (int item = team.rank(); item < (n + 1) * Patterns; item += team.size())
        values[(out_base[n] + item / Patterns) * std::int64_t(patterns) + first + item % Patterns] =
            sum[state_index(n, 0) * Patterns + item];
      if constexpr (Patterns == 1)
        for (int item = team.rank(); first + 1 == used && item < (n + 1) * (patterns - used); item += team.size())
          values[(out_base[n] + item / (patterns - used)) * std::int64_t(patterns) + used + item % (patterns - used)] =
              0;
    }
  }
};

}  // namespace quintet::snp
