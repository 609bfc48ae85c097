// The first entries of every row of a product, by value: C is never in memory as a whole.
//
//   const auto c = multiply_top(a.view(), b.view(), {.count = 10, .threshold = 0.5});
//
// Matching of names, neighbours of texts and users: C = A * transpose(B) of normalised rows has cosines, and only the
// largest count.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "quintet/spgemm/multiply.hpp"

namespace quintet::spgemm {

/// Whether smaller values rank before larger ones, as lengths do (min_plus). A program specialises it for its own
/// semirings.
template <class Semiring>
constexpr bool ranks_smaller_first = std::is_same_v<Semiring, min_plus>;

/// The entries of a row that multiply_top() keeps. Larger values rank first; with min_plus smaller ones do. Of equal
/// values (0 and -0 are equal) the smaller column ranks first. NaN ranks behind all numbers.
struct top_selection {
  std::int64_t count = 10;  ///< entries of a row at most, >= 1
  /// Values that rank behind it are left out, and so is NaN; rounded to the type of the values. Not NaN.
  std::optional<double> threshold = std::nullopt;
  bool by_value = false;  ///< entries of a row by rank; otherwise by column
};

// Compiled in the library.
namespace detail {
template <class Semiring, class Value, class Index>
csr<Value, Index> top_product(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                              const top_selection& selection, const options& settings, const Device& device,
                              report* stats);
}  // namespace detail

/// Of every row of C = A * B the first selection.count entries, with the bits that multiply() gives them. Rows with
/// fewer entries, or fewer up to the threshold, are shorter. Columns ascend, unless selection.by_value: such a result
/// is sorted in a copy when it is an operand.
///
/// Time: that of multiply(), and a comparison for each entry of C. Memory: the result, and what multiply() has for the
/// work, without C; on a device up to 256 MB of C at a time, or a row. report::upper_bound is that of the result.
/// Throws as multiply() does; InvalidArgument also for selection.count < 1 and a threshold that is NaN.
template <class Semiring = plus_times, class Value, class Index>
  requires has_kernels<Semiring>
csr<Value, Index> multiply_top(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                               const top_selection& selection, const options& settings = {},
                               const Device& device = Device::best(), report* stats = nullptr) {
  return detail::top_product<Semiring>(a, b, selection, settings, device, stats);
}

}  // namespace quintet::spgemm
