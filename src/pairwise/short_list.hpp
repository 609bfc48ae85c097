// Where the list of a row is while it takes in a tile: in SIMD registers if it is short, in memory otherwise.
//
// On hosts a candidate goes into a list in registers without a branch (insertion, Knuth 1998, 5.2.1, all places at
// once): lane l keeps its entry if that comes before the candidate, gets the candidate if the entry below does, and the
// entry below otherwise. A list in memory costs a jump for every place it moves, most of them mispredicted.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <utility>

#include "device/inline.hpp"
#include "device/lane_moves.hpp"
#include "device/pack.hpp"
#include "pairwise/minima.hpp"
#include "pairwise/nearest_kernel.hpp"

namespace quintet::pairwise {

/// The list of one row, as it lies in memory.
template <class Real, bool OnDevice>
class list_in_memory {
 public:
  list_in_memory(const nearest_lists<Real>& list, std::int64_t row) : list_(list), row_(row) {}

  /// Takes the candidate in if it is nearer than the last entry.
  QUINTET_INLINE void offer(Real candidate, std::int32_t index) {
    if (list_.accepts(row_, candidate, index)) list_.template take_in<OnDevice>(row_, candidate, index);
  }
  /// The reduced distance of the last entry.
  Real limit() const { return list_.value[row_ * list_.k + list_.k - 1]; }
  /// Nothing is to be written back.
  void finish() {}

 private:
  nearest_lists<Real> list_;
  std::int64_t row_;
};

/// The list of one row in Packs packs of Lanes, for k <= Packs * Lanes. Lanes from k on hold anything: entries only
/// move up.
template <class Real, int Lanes, int Packs>
class list_in_registers {
 public:
  QUINTET_INLINE list_in_registers(const nearest_lists<Real>& list, std::int64_t row)
      : to_value_(list.value + row * list.k), to_index_(list.index + row * list.k), k_(list.k) {
    for (int p = 0; p < Packs; ++p) {
      value_[p] = device::load_some<values>(to_value_ + p * Lanes, k_ - p * Lanes);
      index_[p] = __builtin_convertvector(device::load_some<stored>(to_index_ + p * Lanes, k_ - p * Lanes), numbers);
    }
  }

  QUINTET_INLINE void offer(Real candidate, std::int32_t index) {
    const values c = device::broadcast_pack<values>(candidate);
    const numbers n = device::broadcast_pack<numbers>(number(index));
    const values least = device::broadcast_pack<values>(-std::numeric_limits<Real>::infinity());
    for (int p = Packs - 1; p >= 0; --p) {
      const values below = one_up(p > 0 ? value_[p - 1] : least, value_[p], lane_numbers{});
      const numbers below_index = one_up(index_[p > 0 ? p - 1 : 0], index_[p], lane_numbers{});
      const numbers stays = (value_[p] < c) | ((value_[p] == c) & (index_[p] < n));
      const numbers follows = (below < c) | ((below == c) & (below_index < n));
      value_[p] = stays ? value_[p] : follows ? c : below;
      index_[p] = stays ? index_[p] : follows ? n : below_index;
    }
  }

  QUINTET_INLINE Real limit() const {
    Real all[Packs * Lanes];
    for (int p = 0; p < Packs; ++p) device::store_pack(all + p * Lanes, value_[p]);
    return all[k_ - 1];
  }

  QUINTET_INLINE void finish() {
    for (int p = 0; p < Packs; ++p) {
      device::store_some(to_value_ + p * Lanes, value_[p], k_ - p * Lanes);
      device::store_some(to_index_ + p * Lanes, __builtin_convertvector(index_[p], stored), k_ - p * Lanes);
    }
  }

 private:
  typedef device::pack<Real, Lanes> values;
  typedef device::pack<std::int32_t, Lanes> stored;
  typedef decltype(values{} < values{}) numbers;  ///< integers as wide as Real: what comparisons give
  typedef std::make_integer_sequence<int, Lanes> lane_numbers;
  typedef std::decay_t<decltype(numbers{}[0])> number;

  /// Lane l is lane l - 1 of `pack`, lane 0 the last one of `previous`.
  template <class Pack, int... L>
  static QUINTET_INLINE Pack one_up(const Pack& previous, const Pack& pack, std::integer_sequence<int, L...>) {
    return __builtin_shufflevector(previous, pack, (Lanes - 1 + L)...);
  }

  Real* to_value_;
  std::int32_t* to_index_;
  int k_;
  values value_[Packs];
  numbers index_[Packs];
};

/// Calls use(list) with the list of `row` where it is handled fastest. Up to four registers of each kind were measured
/// to pay, with 16 registers too (28 neighbours by packs of 8: 1.5 times as fast as in memory).
template <int Lanes, int Packs = 1, class Real, class Use>
QUINTET_INLINE inline auto with_list(const nearest_lists<Real>& list, std::int64_t row, const Use& use) {
  if constexpr (Lanes == 1 || Packs > 4) {
    return use(list_in_memory < Real, Lanes == 1 > (list, row));
  } else {
    if (list.k <= Packs * Lanes) return use(list_in_registers<Real, Lanes, Packs>(list, row));
    return with_list<Lanes, Packs + 1>(list, row, use);
  }
}

/// Takes candidates [0, count) with these reduced distances, of packed points first_point, first_point + 1, ..., into
/// the list of `row`; returns the limit there is then. `values` can be read by whole packs; most have nothing up to
/// `limit`. Lists hold `number` of a point; null: as it is packed.
template <int Lanes, class Real>
QUINTET_INLINE inline Real take_candidates(const nearest_lists<Real>& lists, std::int64_t row, const Real* values,
                                           int count, const std::int32_t* number, std::int64_t first_point,
                                           Real limit) {
  typedef device::pack<Real, Lanes> value;
  return with_list<Lanes>(lists, row, [&](auto list) QUINTET_INLINE {
    for (int first = 0; first < count; first += Lanes) {
      std::uint32_t hits =
          lanes_up_to<Real, Lanes>(device::load_pack<value>(values + first), device::broadcast_pack<value>(limit));
      if (count - first < Lanes) hits &= (1U << (count - first)) - 1;
      if (hits == 0) continue;
      for (; hits != 0; hits &= hits - 1) {
        const int e = first + std::countr_zero(hits);
        const auto j = std::int32_t(first_point + e);
        list.offer(values[e], number == nullptr ? j : number[j]);
      }
      limit = list.limit();
    }
    list.finish();
    return limit;
  });
}

}  // namespace quintet::pairwise
