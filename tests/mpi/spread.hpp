// Points of a test, spread over the ranks.
#pragma once

#include <cstdint>
#include <utility>

#include "mpi/ranks.hpp"
#include "quintet/core/view.hpp"
#include "quintet/mpi/distribution.hpp"
#include "support/points.hpp"

namespace quintet::test {

/// This rank's rows, and the number of the first.
template <class Storage>
std::pair<matrix_view<const Storage>, std::int64_t> own_rows(const point_set<Storage>& points) {
  const mpi::row_range mine = mpi::even_rows(points.n, ranks().rank(), ranks().size());
  return {{points.data.data() + mine.first * points.stride, mine.count, points.dim, points.stride}, mine.first};
}

}  // namespace quintet::test
