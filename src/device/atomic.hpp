// Atomic operations on memory that several teams share. All are relaxed: the end of a launch orders everything.
#pragma once

namespace quintet::device {

/// *place = min(*place, value), for 32- and 64-bit integers. The result does not depend on the order of the calls.
template <class Integer>
inline void atomic_min(Integer* place, Integer value) {
  Integer seen = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (value < seen && !__atomic_compare_exchange_n(place, &seen, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

template <class Integer>
inline void atomic_add(Integer* place, Integer value) {
  __atomic_fetch_add(place, value, __ATOMIC_RELAXED);
}

/// *place while other threads may be writing it.
template <class Integer>
inline Integer atomic_load(const Integer* place) {
  return __atomic_load_n(place, __ATOMIC_RELAXED);
}

/// Sets a flag that other threads of the team may be setting as well.
inline void atomic_set(int* flag) { __atomic_store_n(flag, 1, __ATOMIC_RELAXED); }

}  // namespace quintet::device
