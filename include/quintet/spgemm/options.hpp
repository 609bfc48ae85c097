// Options of sparse products, and the report of a product.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "quintet/spgemm/memory.hpp"

namespace quintet::spgemm {

/// Method of a row (or of its batch of rows).
enum class strategy {
  empty,      ///< no products
  streaming,  ///< one entry in A's row: a scaled copy of B's row, written as it comes
  tiny,       ///< a handful of products, ordered by rank
  segmented,  ///< products expanded, sorted by column, and compacted
  hash,       ///< a hash table, then sorted
  dense,      ///< an array over the columns with flags
  bitmask,    ///< a bit per column in team memory; a column's rank is its place
  windows,    ///< several passes, each over a range of the columns: wide heavy rows, shared by several workers
  grouped,    ///< up to eight rows that use nearly the same rows of B, summed up together
};
/// Number of strategies.
constexpr int strategies = 9;
/// "empty", "streaming", ...: the name of the enumerator. O(1).
std::string_view name_of(strategy s);

/// Options of a product; the result never depends on them.
struct options {
  /// Products below which operands on the host are multiplied there when no device is named (Device::best()), >= 0:
  /// where transfers and launches take longer, which depends on the device. 0: none.
  std::int64_t host_products = 0;
  /// Source of memory; null: memory_source::standard(). Must outlive the result.
  memory_source* memory = nullptr;
};

/// Report of a product.
struct report {
  ///@{
  /// Size and entries of the result.
  std::int64_t rows = 0, cols = 0, nnz = 0;
  ///@}
  std::int64_t products = 0;     ///< scalar multiplications
  std::int64_t upper_bound = 0;  ///< entries that the result cannot exceed
  std::int64_t predicted = 0;    ///< entries expected, before any factor
  std::int64_t retries = 0;      ///< host: times the result had to grow; device: chunks of rows computed again
  /// Most memory in use at one time, result included, operands not. Released memory that the standard memory_source
  /// keeps for the next product is the process's and is not counted.
  std::int64_t peak_bytes = 0;
  std::int64_t scratch_bytes = 0;                               ///< of that, accumulators and buffers of the workers
  bool ran_on_host = true;                                      ///< false: a device did the work
  Device ran_on = Device::host();                               ///< which computed all stages but the cutting
  std::array<std::int64_t, strategies> rows_by_strategy{};      ///< rows computed with each, by its number
  std::array<std::int64_t, strategies> products_by_strategy{};  ///< products of these rows
  ///@{
  /// Wall-clock seconds of the stages.
  double analysis_seconds = 0, prediction_seconds = 0, product_seconds = 0, assembly_seconds = 0;
  ///@}
};

/// Sizes of a product without computing it.
struct size_estimate {
  std::int64_t products = 0;         ///< scalar multiplications
  std::int64_t upper_bound = 0;      ///< nnz(C) <= this
  std::int64_t predicted_nnz = 0;    ///< tested to lie within 30%
  std::int64_t upper_bytes = 0;      ///< of C with upper_bound entries
  std::int64_t predicted_bytes = 0;  ///< of C with predicted_nnz entries
  std::int64_t minimum_budget = 0;   ///< the least budget that multiply_in_blocks takes
};

}  // namespace quintet::spgemm
