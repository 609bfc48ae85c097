// Owning arrays that the readers return.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/core/view.hpp"

namespace quintet::io {

/// A dense row-major matrix: element (i, j) is data[i * cols + j].
template <class T>
struct matrix {
  std::int64_t rows = 0;  ///< >= 0
  std::int64_t cols = 0;  ///< >= 0
  std::vector<T> data;    ///< rows * cols

  ///@{
  /// The matrix without its memory: valid as long as `data` stays where it is. O(1); throws InvalidArgument for
  /// negative sizes, and trusts that `data` has rows * cols elements.
  matrix_view<const T> view() const QUINTET_LIFETIMEBOUND { return {data.data(), rows, cols}; }
  matrix_view<T> view() QUINTET_LIFETIMEBOUND { return {data.data(), rows, cols}; }
  ///@}
};

/// A dense row-major array of any rank: the last index runs fastest. A scalar has an empty shape and one element.
template <class T>
struct array {
  std::vector<std::int64_t> shape;  ///< extent of every dimension
  std::vector<T> data;              ///< as many elements as the product of the extents
};

}  // namespace quintet::io
