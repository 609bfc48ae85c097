#include "spgemm/complex_parts.hpp"

#include "spgemm/range_loop.hpp"

namespace quintet::spgemm {

namespace {

constexpr std::int64_t part_grain = 1 << 14;  // entries of a tile

/// Complex numbers, as pairs, into their parts.
template <class Real>
struct split_parts {
  const Real* pairs;
  Real *real, *imaginary;
  Real sign;  ///< -1: of the conjugates

  void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t k = begin; k < end; ++k) {
      real[k] = pairs[2 * k];
      imaginary[k] = sign * pairs[2 * k + 1];
    }
  }
};

/// One part of complex numbers: x + sign * y.
template <class Real>
struct join_part {
  const Real *x, *y;
  Real sign;
  Real* pairs;  ///< from the first number's part on

  void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t k = begin; k < end; ++k) pairs[2 * k] = x[k] + sign * y[k];
  }
};

}  // namespace

template <class Real>
void split_complex(const Real* pairs, std::int64_t count, Real sign, Real* real, Real* imaginary) {
  host_loop(count, part_grain, split_parts<Real>{pairs, real, imaginary, sign});
}

template <class Real>
void join_complex(const Real* x, const Real* y, std::int64_t count, Real sign, Real* part) {
  host_loop(count, part_grain, join_part<Real>{x, y, sign, part});
}

template void split_complex(const float*, std::int64_t, float, float*, float*);
template void split_complex(const double*, std::int64_t, double, double*, double*);
template void join_complex(const float*, const float*, std::int64_t, float, float*);
template void join_complex(const double*, const double*, std::int64_t, double, double*);

}  // namespace quintet::spgemm
