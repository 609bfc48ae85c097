// Sums of many terms, in blocks of fixed length: their errors do not grow with their length.
#pragma once

#include "svd/lane_math.hpp"

namespace quintet::svd {

/// A sum of many terms without the errors of its length: what an addition rounds off is kept beside the sum (Knuth
/// 1997, 4.2.2, theorem B).
template <class Value>
struct compensated_sum {
  Value sum{}, lost{};
  QUINTET_SVD_INLINE void add(const Value& term) {
    const Value next = sum + term, part = next - sum;
    lost += (sum - (next - part)) + (term - part);
    sum = next;
  }
  QUINTET_SVD_INLINE Value total() const { return sum + lost; }
};

/// Terms of a chain of a sum. Longer sums are made of blocks: equal terms round alike, and a chain of k of them is
/// wrong by up to k / 8 eps. Short ones, which are those of the fast cases, are one block.
enum { terms_of_block = 16, terms_of_short_sum = 32 };

/// term(0) + ... + term(count - 1) by one thread.
template <class Real, class Index, class Term>
QUINTET_SVD_INLINE Real sum_of_terms(Index count, Term term) {
  constexpr Index block = terms_of_short_sum;
  const auto chain = [&](Index first, Index last) QUINTET_SVD_INLINE_LAMBDA {
    Real sum = 0;
    for (Index i = first; i < last; ++i) sum += term(i);
    return sum;
  };
  if (count <= 4 * block) return chain(0, count);
  compensated_sum<Real> sum;
  for (Index first = 0; first < count; first += block)
    sum.add(chain(first, count - first > block ? first + block : count));
  return sum.total();
}

}  // namespace quintet::svd
