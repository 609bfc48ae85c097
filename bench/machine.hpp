// What the machine can do, measured in the same run as the benchmarks.
#pragma once

#include <cstdint>

namespace quintet::bench {

/// Fused multiply-adds a second of `threads` threads, counted in lanes of Real (float or double), best of several runs.
template <class Real>
double fma_rate(int threads);

/// Bytes a second that `threads` threads read and write in a = b + 3 c over arrays of 128 MB (the triad of McCalpin's
/// STREAM; the store's read is not counted), best of several runs.
double stream_rate(int threads);

/// Largest resident size of this process so far, in bytes.
std::int64_t peak_memory_bytes();

}  // namespace quintet::bench
