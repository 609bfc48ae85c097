// The upper half of a symmetric product: columns >= the row.
#pragma once

#include "spgemm/device_memory.hpp"
#include "spgemm/problem.hpp"

namespace quintet::spgemm {

/// A and B of which a product computes the upper half: every entry (i, j) of A has a row of B for itself, what B's row
/// j has from column i on.
template <class Value, class Index>
struct half_operands {
  problem<Value, Index> p;
  device_array<Index> numbers;            ///< of A's entries: its columns
  device_array<std::int64_t> begin, end;  ///< of the rows of B
};

/// Such operands for p, which is on `device`: as many rows as columns, A with fewer than 2^31 entries where Index has
/// 32 bits. `original`: what number each of B's columns had, ascending; empty: its own.
template <class Value, class Index>
half_operands<Value, Index> halve_operands(const problem<Value, Index>& p, const array<Index>& original,
                                           const Device& device, memory_source& memory);

}  // namespace quintet::spgemm
