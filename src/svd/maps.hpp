// Where the elements of a matrix lie and who works on them: the two maps that the one source of the kernel runs on.
//
// lanes_map: Width matrices side by side, element (row i, column j) of all of them in one SIMD register (Packed =
// Width, the host) or in neighbouring threads (Packed = 1, a GPU). Nobody shares a matrix, so columns are met
// row-cyclically. rows_map: one matrix per team, columns contiguous. ThreadsPerPair threads work on a pair of columns,
// Packed rows at a time (1 on a GPU; a SIMD register on the host, where the team is one thread).
//
// scalar: what there is one of per matrix (a pack of matrices for lanes_map). vector: what one load brings. A column's
// elements are read in chunks; chunks are `stride` numbers apart and hold `chunk` rows of a matrix.
// "pair" operations are done by the threads of one worker, "team" operations by all threads; all threads of the team
// take part in every reduction and barrier.
#pragma once

#include <cstdint>

#include "device/team.hpp"
#include "device/transpose.hpp"
#include "svd/lane_math.hpp"
#include "svd/sums.hpp"

namespace quintet::svd {

struct plus {
  template <class Value>
  Value operator()(const Value& a, const Value& b) const {
    return a + b;
  }
};
struct maximum {
  template <class Value>
  Value operator()(const Value& a, const Value& b) const {
    return larger(a, b);
  }
};

template <class Real, int Width, int Packed>
struct lanes_map {
  using real = Real;
  using scalar = device::pack<Real, Packed>;
  using vector = scalar;
  enum { width = Width, packed = Packed, stride = Width, chunk = 1, row_cyclic = 1 };
  /// One GPU thread per matrix has no room for two and two columns at a time: they would spill.
  enum { has_registers_for_four = Packed > 1 };
  int lane;  ///< the first of this thread's lanes

  Real* column(Real* base, int j, int ld) const { return base + std::int64_t(j) * ld * Width + lane; }
  scalar element(const Real* column, int i) const {
    return device::load_pack<scalar>(column + std::int64_t(i) * Width);
  }
  void set_element(Real* column, int i, const scalar& value) const {
    device::store_pack(column + std::int64_t(i) * Width, value);
  }
  /// Entry j of an array with one scalar a column or row.
  scalar entry(const Real* array, int j) const { return element(array + lane, j); }
  void set_entry(Real* array, int j, const scalar& value) const { set_element(array + lane, j, value); }

  int pair_first() const { return 0; }
  int pair_step() const { return 1; }
  int team_first() const { return 0; }
  int team_step() const { return 1; }
  int worker() const { return 0; }
  int workers() const { return 1; }
  bool leads_pair() const { return true; }
  bool leads_team() const { return true; }
  void barrier() const {}
  scalar fold(const vector& value) const { return value; }
  scalar pair_sum(const vector& value) const { return value; }
  scalar team_sum(const scalar& value) const { return value; }
  scalar team_max(const scalar& value) const { return value; }
};

template <class Real, int ThreadsPerPair, int Packed, class Team>
struct rows_map {
  using real = Real;
  using scalar = Real;
  using vector = device::pack<Real, Packed>;
  enum { width = 1, packed = 1, stride = Packed, chunk = Packed, row_cyclic = !Team::on_device };
  enum { has_registers_for_four = 1 };
  Team team;
  Real* storage;  ///< team.size() numbers of team memory
  int pair_width = threads_of_pair(team);

  /// Threads that work on a pair: fewer than ThreadsPerPair where the whole team has fewer. Threads of the team that
  /// make no whole pair have no items; they take part in reductions and barriers, and in what the team does row by row.
  static int threads_of_pair([[maybe_unused]] const Team& team) {
#if !defined(__NVPTX__) && !defined(__AMDGCN__)  // there teams have what the kernel asks for
    if constexpr (Team::on_device && ThreadsPerPair > 1) {
      int width = ThreadsPerPair;
      while (width > team.size()) width /= 2;
      return width;
    }
#endif
    return ThreadsPerPair;
  }

  Real* column(Real* base, int j, int ld) const { return base + std::int64_t(j) * ld; }
  scalar element(const Real* column, int i) const { return column[i]; }
  void set_element(Real* column, int i, scalar value) const { column[i] = value; }
  scalar entry(const Real* array, int j) const { return array[j]; }
  void set_entry(Real* array, int j, scalar value) const { array[j] = value; }

  int pair_first() const { return team.rank() % pair_width; }
  int pair_step() const { return pair_width; }
  int team_first() const { return team.rank(); }
  int team_step() const { return team.size(); }
  int worker() const { return team.rank() / pair_width; }
  int workers() const { return team.size() / pair_width; }
  bool leads_pair() const { return pair_first() == 0; }
  bool leads_team() const { return team.rank() == 0; }
  void barrier() const { team.barrier(); }
  scalar fold(const vector& value) const { return fold_lanes<Real>(value); }
  scalar pair_sum(const vector& value) const {
    const scalar own = fold(value);
#if !defined(__NVPTX__) && !defined(__AMDGCN__)
    if constexpr (Team::on_device && ThreadsPerPair > 1)
      if (pair_width != ThreadsPerPair || team.size() % ThreadsPerPair != 0) return sum_of_narrow_pair(own);
#endif
    return device::subgroup_reduce<ThreadsPerPair>(team, own, plus{}, storage);
  }
  scalar team_sum(scalar value) const { return device::reduce(team, value, plus{}, storage); }
  scalar team_max(scalar value) const { return device::reduce(team, value, maximum{}, storage); }

 private:
  scalar sum_of_narrow_pair(scalar value) const {
    const int rank = team.rank();
    const bool is_in_pair = worker() < workers();
    for (int mask = 1; mask < pair_width; mask *= 2) {
      storage[rank] = value;
      team.barrier();
      if (is_in_pair) value += storage[rank ^ mask];
      team.barrier();
    }
    return value;
  }
};

/// Calls f(item, valid) for the items [0, count) that fall to this thread's worker, the same number of times in every
/// thread of the team; where `valid` is false the item is a stand-in and must not be written.
template <class Map, class Function>
QUINTET_SVD_INLINE void for_each_item(const Map& map, int first, int count, Function f) {
  const int worker = map.worker(), workers = map.workers();
  for (int base = first; base < count; base += workers) {
    const int item = base + worker;
    const bool valid = item < count && worker < workers;
    f(valid ? item : count - 1, valid);
  }
}

/// Calls f(i) for the rows [first, rows), shared out among all threads of the team.
template <class Map, class Function>
QUINTET_SVD_INLINE void for_each_row(const Map& map, int first, int rows, Function f) {
  for (int i = first + map.team_first(); i < rows; i += map.team_step()) f(i);
}

/// Element (i, j) of one lane, by reference.
template <class Map>
QUINTET_SVD_INLINE typename Map::real& lane_element(const Map& map, typename Map::real* base, int j, int i, int ld,
                                                    int l) {
  return map.column(base, j, ld)[std::int64_t(i) * Map::width + l];
}

/// Rows of a column including its padding to whole chunks.
template <class Map>
constexpr int padded_rows(int rows) {
  return (rows + Map::chunk - 1) / Map::chunk * Map::chunk;
}

template <class Map>
QUINTET_SVD_INLINE typename Map::vector load(const typename Map::real* column, int c) {
  return device::load_pack<typename Map::vector>(column + std::int64_t(c) * Map::stride);
}
template <class Map>
QUINTET_SVD_INLINE void store(typename Map::real* column, int c, const typename Map::vector& value) {
  device::store_pack(column + std::int64_t(c) * Map::stride, value);
}

/// The first chunk of this thread at or after that of row `first`. Chunk c always belongs to the same thread of a pair.
template <class Map>
QUINTET_SVD_INLINE int first_chunk(const Map& map, int first) {
  const int start = first / Map::chunk, step = map.pair_step(), c = start - start % step + map.pair_first();
  return c < start ? c + step : c;
}

/// x . y over the chunks first, first + step, ... of all. Four chains: one alone would wait for itself. The order is
/// fixed by the number of terms.
template <class Map>
QUINTET_SVD_INLINE typename Map::vector chunk_dot(const typename Map::real* x, const typename Map::real* y, int first,
                                                  int step, int chunks) {
  using vector = typename Map::vector;
  int c = first;
  const auto block = [&](int last) QUINTET_SVD_INLINE_LAMBDA {
    vector sum0{}, sum1{}, sum2{}, sum3{};
    for (; c + 3 * step < last; c += 4 * step) {
      sum0 = device::fma(load<Map>(x, c), load<Map>(y, c), sum0);
      sum1 = device::fma(load<Map>(x, c + step), load<Map>(y, c + step), sum1);
      sum2 = device::fma(load<Map>(x, c + 2 * step), load<Map>(y, c + 2 * step), sum2);
      sum3 = device::fma(load<Map>(x, c + 3 * step), load<Map>(y, c + 3 * step), sum3);
    }
    for (; c < last; c += step) sum0 = device::fma(load<Map>(x, c), load<Map>(y, c), sum0);
    return vector((sum0 + sum1) + (sum2 + sum3));
  };
  if (chunks - first <= 4 * terms_of_short_sum * step) return block(chunks);
  compensated_sum<vector> sum;
  while (c < chunks) {
    const int length = 4 * terms_of_block * step;
    sum.add(block(chunks - c > length ? c + length : chunks));
  }
  return sum.total();
}

/// x . y over the chunks from that of row `first` on.
template <class Map>
QUINTET_SVD_INLINE typename Map::scalar pair_dot(const Map& map, const typename Map::real* x,
                                                 const typename Map::real* y, int rows, int first = 0) {
  const int chunks = (rows + Map::chunk - 1) / Map::chunk;
  return map.pair_sum(chunk_dot<Map>(x, y, first_chunk(map, first), map.pair_step(), chunks));
}

/// x . y over the rows from `first` on, by all threads of the team. Rows of padding are zero.
template <class Map>
QUINTET_SVD_INLINE typename Map::scalar team_dot(const Map& map, const typename Map::real* x,
                                                 const typename Map::real* y, int rows, int first = 0) {
  const int chunks = (rows + Map::chunk - 1) / Map::chunk, whole = (first + Map::chunk - 1) / Map::chunk;
  typename Map::scalar sum = map.fold(chunk_dot<Map>(x, y, whole + map.team_first(), map.team_step(), chunks));
  if constexpr (Map::chunk > 1)  // one thread per team
    for (int i = first; i < whole * Map::chunk && i < rows; ++i)
      sum = device::fma(map.element(x, i), map.element(y, i), sum);
  return map.team_sum(sum);
}

/// The sum of each of 16 packs: a fraction of 16 folds.
template <class Map>
QUINTET_SVD_INLINE void fold_sixteen(typename Map::vector* packs, typename Map::real* sums) {
  static_assert(Map::chunk > 1 && 16 % Map::chunk == 0);
  for (int first = 0; first < 16; first += Map::chunk) {
    device::transpose_packs<Map::chunk>(packs + first);
    typename Map::vector total = packs[first];
    for (int e = 1; e < Map::chunk; ++e) total += packs[first + e];
    device::store_pack(sums + first, total);
  }
}

/// y += factor * x over the chunks from that of row `first` on.
template <class Map>
QUINTET_SVD_INLINE void pair_add(const Map& map, const typename Map::scalar& factor, const typename Map::real* x,
                                 typename Map::real* y, int rows, int first = 0) {
  const int step = map.pair_step(), chunks = (rows + Map::chunk - 1) / Map::chunk;
  for (int c = first_chunk(map, first); c < chunks; c += step)
    store<Map>(y, c, device::fma(factor, load<Map>(x, c), load<Map>(y, c)));
}

}  // namespace quintet::svd
