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

/// Bytes of memory that the process held at most since the watch began, beyond what it held then.
class memory_watch {
 public:
  memory_watch();
  std::int64_t extra_bytes() const;

 private:
  std::int64_t before_ = 0;
};

}  // namespace quintet::bench
