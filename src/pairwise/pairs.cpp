#include "pairwise/pairs.hpp"

#include "device/launch.hpp"
#include "instantiate.hpp"
#include "pairwise/pairs_kernel.hpp"
#include "pairwise/shape.hpp"

namespace quintet::pairwise {

template <class Storage>
void reduced_pairs(const scanned_points<Storage>& points, matrix_view<const std::int64_t> pairs,
                   accumulator_t<Storage>* out) {
  using Real = accumulator_t<Storage>;
  device::with_shape<host_shape<Real>, device_shape<Real>>(points.device(), [&](auto shape) {
    with_any_dimension(points.measure.term, [&]<int Dim>() {
      points.with_packed_rows([&]<class Stored>(const stored_rows<Stored>& rows) {
        using kernel = pairs_kernel<Stored, Dim, decltype(shape)>;
        device::launch(kernel{rows, points.numbers(), points.kind(), points.scale(), points.factors(), pairs.data(),
                              pairs.stride(), pairs.rows(), out, points.measure.term},
                       (pairs.rows() + kernel::pairs_per_tile - 1) / kernel::pairs_per_tile, points.device());
      });
    });
  });
}

#define QUINTET_INSTANTIATE(Storage) \
  template void reduced_pairs(const scanned_points<Storage>&, matrix_view<const std::int64_t>, accumulator_t<Storage>*);
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)

}  // namespace quintet::pairwise
