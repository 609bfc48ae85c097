#include "svd/centring.hpp"

#include "instantiate.hpp"
#include "quintet/core/profile.hpp"
#include "svd/jacobi_policies.hpp"
#include "svd/sums.hpp"

namespace quintet::svd {

namespace {

/// Rows of a part: sums of parts make errors that do not grow with the number of rows, and work for many teams.
constexpr int centred_rows = 256;

template <class Real>
struct centred_batch {
  stored_batch a;
  column_means<Real> means;
  const std::int64_t* index;  ///< the matrices to work on; null: all, in order
  double* sums;               ///< [places, parts, cols]
  Real* copy;                 ///< [batch, rows, cols]
  std::int32_t rows, cols, parts;

  std::int64_t matrix(std::int64_t place) const { return index != nullptr ? index[place] : place; }
  int first_row(int part) const { return part * centred_rows; }
  int last_row(int part) const { return rows - first_row(part) < centred_rows ? rows : first_row(part) + centred_rows; }
  /// f(column), shared out among the threads of a team; column(i) is a number of A.
  template <class Map, class Function>
  QUINTET_SVD_INLINE void for_each_column(const Map& map, std::int64_t place, Function f) const {
    with_elements<Real>(a.type, a.data, [&](const auto* data) QUINTET_SVD_INLINE_LAMBDA {
      const auto* from = data + matrix(place) * a.batch;
      for_each_row(map, 0, cols, [&](int j) QUINTET_SVD_INLINE_LAMBDA {
        f(j, [from = from + j * a.column, step = a.row](std::int64_t i) { return double(from[i * step]); });
      });
    });
  }
};

/// The sums of the columns over a part of the rows.
template <class Real>
struct sum_columns {
  centred_batch<Real> all;

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t index) const {
    const int part = int(index % all.parts), first = all.first_row(part);
    all.for_each_column(map, index / all.parts, [&](int j, auto column) QUINTET_SVD_INLINE_LAMBDA {
      all.sums[index * all.cols + j] =
          sum_of_terms<double>(all.last_row(part) - first, [&](int i) { return column(first + i); });
    });
  }
};

/// The means of one matrix.
template <class Real>
struct find_means {
  centred_batch<Real> all;

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t place) const {
    Real* means = all.means.data + all.matrix(place) * all.means.stride;
    all.for_each_column(map, place, [&](int j, auto column) QUINTET_SVD_INLINE_LAMBDA {
      const double* sums = all.sums + place * all.parts * all.cols + j;
      compensated_sum<double> sum;
      for (int part = 0; part < all.parts; ++part) sum.add(sums[std::int64_t(part) * all.cols]);
      double mean = sum.total() / double(all.rows);
      // Large numbers, or NaN: as many as there are rows stay in range.
      if (!(mean - mean == 0))
        mean = sum_of_terms<double>(all.rows, [&](int i) { return column(i) * 0x1p-30; }) / double(all.rows) * 0x1p30;
      means[j] = Real(mean);
    });
  }
};

/// A part of the rows of A without the means.
template <class Real>
struct take_means_off {
  centred_batch<Real> all;

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t index) const {
    const std::int64_t matrix = all.matrix(index / all.parts);
    const int part = int(index % all.parts), last = all.last_row(part), cols = all.cols;
    const int step = map.team_step();
    const Real* means = all.means.data + matrix * all.means.stride;
    Real* copy = all.copy + matrix * all.rows * cols;
    with_elements<Real>(all.a.type, all.a.data, [&](const auto* data) QUINTET_SVD_INLINE_LAMBDA {
      const auto* from = data + matrix * all.a.batch;
      int i = all.first_row(part) + map.team_first() / cols, j = map.team_first() % cols;
      while (i < last) {
        copy[std::int64_t(i) * cols + j] = Real(from[i * all.a.row + j * all.a.column]) - means[j];
        i += step / cols;
        j += step % cols;
        if (j >= cols) {
          j -= cols;
          ++i;
        }
      }
    });
  }
};

template <class Real, class Policy>
void launch_centring(const centred_batch<Real>& all, std::int64_t places, const Device& device) {
  launch_body<Policy>(sum_columns<Real>{all}, places * all.parts, device);
  launch_body<Policy>(find_means<Real>{all}, places, device);
  launch_body<Policy>(take_means_off<Real>{all}, places * all.parts, device);
}

}  // namespace

template <class Real>
Buffer<Real> centre_columns(const stored_batch& a, const batch_sizes& sizes, const std::vector<std::int64_t>* list,
                            const column_means<Real>& means, const Device& device) {
  const stage_region stage("centre");
  const std::int64_t places = list != nullptr ? std::int64_t(list->size()) : sizes.batch;
  centred_batch<Real> all = {};
  all.a = a;
  all.means = means;
  all.rows = std::int32_t(sizes.rows);
  all.cols = std::int32_t(sizes.cols);
  all.parts = (all.rows + centred_rows - 1) / centred_rows;
  const Buffer<std::int64_t> index(list != nullptr ? *list : std::vector<std::int64_t>(), device);
  Buffer<double> sums(places * all.parts * all.cols, device);
  Buffer<Real> copy(sizes.batch * sizes.rows * sizes.cols, device);
  all.index = list != nullptr ? index.data() : nullptr;
  all.sums = sums.data();
  all.copy = copy.data();
  if (device.kind() == device_kind::host)
    launch_centring<Real, host_rows<Real>>(all, places, device);
  else
    launch_centring<Real, gpu_middle<Real>>(all, places, device);
  return copy;
}

#define QUINTET_INSTANTIATE(Real)                                                                                 \
  template Buffer<Real> centre_columns(const stored_batch&, const batch_sizes&, const std::vector<std::int64_t>*, \
                                       const column_means<Real>&, const Device&);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::svd
