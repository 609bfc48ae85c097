// Counts what a program of this folder gets wrong.
#pragma once

#include <cstdint>
#include <cstdio>

inline int failures = 0;

inline void expect(std::int64_t value, std::int64_t wanted, const char* name) {
  if (value == wanted) return;
  std::printf("%s: %lld instead of %lld\n", name, static_cast<long long>(value), static_cast<long long>(wanted));
  ++failures;
}
