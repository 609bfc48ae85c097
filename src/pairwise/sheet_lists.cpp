#include "pairwise/sheet_lists.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "device/for_each.hpp"
#include "device/parallel.hpp"
#include "instantiate.hpp"
#include "pairwise/filtered_lists.hpp"

namespace quintet::pairwise {

namespace {

// Measured on Zen 4 with AVX-512: below them packing and exact distances take what float gains.
constexpr std::int64_t min_sheet_dimensions = 8, min_sheet_points = 4096;

/// First words of coordinates, and factors (Cannon, Floyd, Kenyon, Parry 1997, 7), as floats.
struct take_first_words {
  const double *parts, *factor;
  std::int64_t dim;
  float *to, *factor_to;

  void operator()(std::int64_t i) const {
    const bool is_valid = factor[i] >= 0;
    for (std::int64_t k = 0; k < dim; ++k)
      to[i * dim + k] = is_valid ? float(parts[(i * dim + k) * 2]) : std::numeric_limits<float>::quiet_NaN();
    factor_to[i] = is_valid ? float(factor[i]) : 1.0f;
  }
};

/// Points in float, packed for tiles.
struct float_points {
  panels<float> packed;
  std::vector<float> factor;  ///< of every point
  float largest = 0;          ///< of them

  explicit float_points(const scanned_points<double>& points) {
    const Device& device = points.device();
    const std::int64_t count = points.count(), dim = points.rows().dim / 2;
    Buffer<float> rows(count * dim, device), factors(count, device);
    device::for_each(count, take_first_words{points.rows().data, points.factors(), dim, rows.data(), factors.data()},
                     device);
    const matrix_view<const float> view(rows.data(), count, dim, dim, device);
    scanned_points<float> scanned(view, metric::euclidean, device);
    scanned.share_scale(float(1 << 20));  // coordinates stay as they are
    packed = scanned.pack();
    factor = factors.to_vector();
    for (std::int64_t i = 0; i < count; ++i)
      if (points.valid(i)) largest = std::max(largest, factor[i]);
    std::vector<float> padded = factor;
    padded.resize(packed.blocks() * packed.block_side, 1.0f);
    packed.factor = Buffer<float>(padded, device);
  }
};

/// The reduced distance of a query and a point in its list, with the bits of tiles; infinity where there is none.
struct measure_listed {
  stored_rows<double> queries, points;
  const double *query_factor, *point_factor;
  const std::int32_t* list;
  std::int64_t length;
  double* out;

  void operator()(std::int64_t e) const {
    const std::int64_t i = e / length, j = list[e];
    if (j < 0) return void(out[e] = std::numeric_limits<double>::infinity());
    const double *x = queries.row(i), *y = points.row(j);
    const detail::split_term<double> term{{}, 0};
    double sum = 0;
    for (std::int64_t k = 0; k < queries.dim; k += 2) detail::take_in_parts(term, sum, y[k], y[k + 1], x + k, 1);
    const double both = point_factor[j] * query_factor[i];
    out[e] = sum * both;
  }
};

/// What float leaves of a list.
struct float_lists {
  std::vector<float> value;  ///< [row][length]
  std::vector<std::int32_t> index;
  std::vector<double> measured;
  std::int64_t length;
};

/// The first k of a row by (distance, index). False where a point that is not in the list may be among them.
bool resolve(const float_lists& lists, std::int64_t row, double slack, double keep, std::int64_t k, double* value,
             std::int32_t* index) {
  std::vector<std::pair<double, std::int32_t>> entries;
  for (std::int64_t e = row * lists.length; e < (row + 1) * lists.length; ++e)
    if (lists.index[e] >= 0) entries.emplace_back(lists.measured[e], lists.index[e]);
  std::sort(entries.begin(), entries.end());
  for (std::int64_t e = 0; e < k; ++e) {
    const bool exists = e < std::int64_t(entries.size());
    value[e] = exists ? entries[e].first : std::numeric_limits<double>::infinity();
    index[e] = exists ? entries[e].second : -1;
  }
  if (std::int64_t(entries.size()) < lists.length) return true;
  const double root = std::sqrt(double(lists.value[(row + 1) * lists.length - 1])) * keep - slack;
  return root > 0 && root * root * (1 - 1e-12) > value[k - 1];
}

}  // namespace

template <class Storage>
bool sheet_filter_pays(const scanned_points<Storage>& queries, const scanned_points<Storage>& points, int k) {
  if (points.kind() != metric::lorentz || filter_mode_in_use() == filter_mode::never) return false;
  if (filter_mode_in_use() == filter_mode::always) return filtered_length(k) < points.count();
  return points.rows().dim >= 2 * min_sheet_dimensions && points.count() >= min_sheet_points && queries.count() >= 64 &&
         filtered_length(k) <= points.count() / 8;
}

device_neighbours<double> nearest_on_sheet(const scanned_points<double>& queries, const scanned_points<double>& points,
                                           int k) {
  const auto unfiltered = [&] { return nearest_points_on_device(queries.pack(), points.pack(), k); };
  const Device& device = points.device();
  const std::int64_t dim = points.rows().dim / 2, rows = queries.count();
  const float_points to(points), from(queries);
  // Squares are below 2^102, and no product with the factors may overflow.
  if (!(double(to.largest) * double(from.largest) < 0x1p25)) return unfiltered();
  auto candidates = nearest_points_on_device(from.packed, to.packed, filtered_length(k));
  Buffer<double> measured(rows * candidates.k, device);
  device::for_each(measured.size(),
                   measure_listed{queries.rows(), points.rows(), queries.factors(), points.factors(),
                                  candidates.index.data(), candidates.k, measured.data()},
                   device);
  const float_lists lists{candidates.value.to_vector(), candidates.index.to_vector(), measured.to_vector(),
                          candidates.k};
  const double keep = 1 - (double(dim) + 16) * 0x1p-24, error = 0x1.01p-24 * ball_constants(1).scale;
  std::vector<double> value(rows * k);
  std::vector<std::int32_t> index(rows * k), is_open(rows);
  constexpr std::int64_t at_once = 64;
  device::for_each_side_by_side((rows + at_once - 1) / at_once, [&](std::int64_t part) {
    for (std::int64_t i = part * at_once; i < std::min(rows, (part + 1) * at_once); ++i)
      is_open[i] = !resolve(lists, i, 2 * error * std::sqrt(double(from.factor[i]) * double(to.largest) * 1.001), keep,
                            k, value.data() + i * k, index.data() + i * k);
  });
  std::vector<std::int32_t> open;
  for (std::int64_t i = 0; i < rows; ++i)
    if (is_open[i] && queries.valid(i)) open.push_back(std::int32_t(i));
  if (double(open.size()) > max_open_share * double(rows)) return unfiltered();
  if (!open.empty()) {
    const auto exact_lists = on_host(nearest_points_on_device(queries.pack(open), points.pack(), k));
    for (std::size_t o = 0; o < open.size(); ++o) {
      std::copy_n(exact_lists.value.begin() + std::int64_t(o) * k, k, value.begin() + std::int64_t(open[o]) * k);
      std::copy_n(exact_lists.index.begin() + std::int64_t(o) * k, k, index.begin() + std::int64_t(open[o]) * k);
    }
  }
  device_neighbours<double> exact;
  exact.rows = rows;
  exact.k = k;
  exact.value = Buffer<double>(value, device);
  exact.index = Buffer<std::int32_t>(index, device);
  return exact;
}

#define QUINTET_INSTANTIATE(Storage) \
  template bool sheet_filter_pays(const scanned_points<Storage>&, const scanned_points<Storage>&, int);
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)

}  // namespace quintet::pairwise
