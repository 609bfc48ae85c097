// Complex numbers, as pairs in memory of the host, and their parts. Without <complex>, which clang 19 cannot compile
// for devices as C++20.
#pragma once

#include <cstdint>

namespace quintet::spgemm {

/// real[k], imaginary[k] := the parts of pair k, the imaginary one times sign.
template <class Real>
void split_complex(const Real* pairs, std::int64_t count, Real sign, Real* real, Real* imaginary);

/// One part of `count` pairs, the first of which is at part: x + sign y.
template <class Real>
void join_complex(const Real* x, const Real* y, std::int64_t count, Real sign, Real* part);

}  // namespace quintet::spgemm
