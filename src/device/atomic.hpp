// Atomic operations on memory that several teams share. All are relaxed: the end of a launch orders everything.
#pragma once

namespace quintet::device {

/// *place = min(*place, value), for 32- and 64-bit integers. The result does not depend on the order of the calls.
template <class Integer>
inline void atomic_min(Integer* place, Integer value) {
  Integer current = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (value < current &&
         !__atomic_compare_exchange_n(place, &current, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
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

/// Memory that the threads of one team share, and nobody else: atomic where there are several, plain on the host, where
/// a team is one thread.
template <class Team, class T>
inline T team_load(const Team&, const T* place) {
  if constexpr (Team::on_device)
    return __atomic_load_n(place, __ATOMIC_RELAXED);
  else
    return *place;
}
template <class Team, class T>
inline void team_store(const Team&, T* place, T value) {
  if constexpr (Team::on_device)
    __atomic_store_n(place, value, __ATOMIC_RELAXED);
  else
    *place = value;
}
/// *place += value; returns what it was.
template <class Team, class T>
inline T team_add(const Team&, T* place, T value) {
  if constexpr (Team::on_device) return __atomic_fetch_add(place, value, __ATOMIC_RELAXED);
  const T before = *place;
  *place = before + value;
  return before;
}
/// *place |= bits; returns what it was.
template <class Team, class T>
inline T team_or(const Team&, T* place, T bits) {
  if constexpr (Team::on_device) return __atomic_fetch_or(place, bits, __ATOMIC_RELAXED);
  const T before = *place;
  *place = before | bits;
  return before;
}
/// *place &= bits.
template <class Team, class T>
inline void team_and(const Team&, T* place, T bits) {
  if constexpr (Team::on_device)
    __atomic_fetch_and(place, bits, __ATOMIC_RELAXED);
  else
    *place &= bits;
}
/// *place = value if it is `expected`; returns whether it was, and otherwise sets `expected` to what it is.
template <class Team, class T>
inline bool team_exchange_if(const Team&, T* place, T& expected, T value) {
  if constexpr (Team::on_device)
    return __atomic_compare_exchange_n(place, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  *place = value;  // one thread has just read what is there
  return true;
}

/// *place += value; returns what it was: tickets that several teams draw.
template <class Integer>
inline Integer atomic_draw(Integer* place, Integer value) {
  return __atomic_fetch_add(place, value, __ATOMIC_RELAXED);
}
template <class Integer>
inline void atomic_or(Integer* place, Integer bits) {
  __atomic_fetch_or(place, bits, __ATOMIC_RELAXED);
}

}  // namespace quintet::device
