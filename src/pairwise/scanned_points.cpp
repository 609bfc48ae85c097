#include "pairwise/scanned_points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "device/launch.hpp"
#include "device/parallel.hpp"
#include "device/small_call.hpp"
#include "device/staged.hpp"
#include "instantiate.hpp"
#include "pairwise/scan_kernel.hpp"
#include "pairwise/sheet_kernel.hpp"
#include "quintet/core/any_view.hpp"

namespace quintet::pairwise {

namespace {

// Largest magnitudes are brought to about 2^20: then neither the sum of squares of 2^40 coordinates nor the square of a
// difference 2^-80 times as large leaves the normal range of float.
constexpr int wanted_exponent = 20;

/// The exponent for `dim` coordinates: the sum of their powers, of differences twice as large, is finite.
template <class Real>
int wanted_exponent_of(const coordinate_term<Real>& term, std::int64_t dim) {
  if (term.kind != term_kind::power) return wanted_exponent;
  const int sum = std::numeric_limits<Real>::max_exponent - 2 - std::ilogb(double(dim + 1));
  return std::min(wanted_exponent, int(sum / double(term.p)) - 2);
}

template <class Real>
Real power_of_two_scale(Real largest, int target) {
  if (!(largest > 0)) return 1;
  const int shift = target - std::ilogb(largest);
  constexpr int limit = std::numeric_limits<Real>::max_exponent - 2;
  return std::ldexp(Real(1), std::clamp(shift, -limit, limit));
}

ball_constants ball_of(const point_metric& distance) {
  if (distance.kind != metric::poincare && distance.kind != metric::lorentz) return {};
  const double c = -distance.curvature;
  require_argument(c > 0 && std::isfinite(c), "curvature", distance.curvature, "< 0 and finite");
  require_argument(c >= 1e-30 && c <= 1e30, "curvature", distance.curvature, "in [-1e30, -1e-30]");
  return ball_constants(c);
}

/// Powers that are those of another metric are it, so that bits are the same and roots are not taken.
metric kind_of(const point_metric& distance) {
  if (distance.kind != metric::minkowski) return distance.kind;
  if (distance.p == 1) return metric::manhattan;
  if (distance.p == 2) return metric::euclidean;
  return std::isinf(distance.p) && distance.p > 0 ? metric::chebyshev : metric::minkowski;
}

void check_row_length(const point_metric& distance) {
  if (is_of_bits(distance.kind))
    require_argument(distance.bits >= 1 && distance.bits <= max_bits, "bits", distance.bits,
                     text("in [1, ", max_bits, "] with metric ", to_string(distance.kind), ", see packed_bits"));
  else
    require_argument(
        distance.bits >= bits_of_integer && distance.bits <= bits_of_integer * max_integers &&
            distance.bits % bits_of_integer == 0,
        "bits", distance.bits,
        text("a multiple of ", bits_of_integer, " in [", bits_of_integer, ", ", bits_of_integer * max_integers,
             "] with metric ", to_string(distance.kind), ", see packed_integers"));
}

template <class Real>
coordinate_term<Real> term_of(const point_metric& distance) {
  switch (kind_of(distance)) {
    case metric::manhattan:
      return {term_kind::magnitude};
    case metric::chebyshev:
      return {term_kind::largest};
    case metric::haversine:
      return {term_kind::great_circle};
    case metric::hamming:
      return {term_kind::hamming, Real(distance.bits)};
    case metric::jaccard:
      return {term_kind::jaccard, Real(distance.bits)};
    case metric::product:
      return {term_kind::product};
    case metric::integer_euclidean:
      return {term_kind::integer_square};
    case metric::integer_cosine:
      return {term_kind::integer_cosine};
    case metric::integer_inner_product:
      return {term_kind::integer_product};
    case metric::minkowski: {
      constexpr int max = sizeof(Real) == 4 ? 8 : 64;
      require_argument(distance.p >= 1 && distance.p <= max, "p", distance.p,
                       text("infinity, or in [1, ", max, "] for points of this precision"));
      return {term_kind::power, Real(distance.p)};
    }
    default:
      return {};
  }
}

}  // namespace

template <class Storage>
scanned_points<Storage>::scanned_points(matrix_view<const Storage> points, const point_metric& distance,
                                        const Device& device)
    : device_(device), rows_(points, device), kind_(kind_of(distance)), ball_(ball_of(distance)) {
  measure.term = term_of<Real>(distance);
  if (kind_ == metric::haversine)
    find_unit_vectors(points, distance);
  else if (kind_ == metric::lorentz)
    scan_sheet();
  else if (is_of_words(kind_))
    scan_words(distance);
  else if (kind_ == metric::product)
    pack_factors(distance.space);
  else
    scan();
  if (kind_ == metric::poincare || kind_ == metric::lorentz)
    measure = ball_.template measure<Real>(distance_curve::hyperbolic);
  // The low part of a coordinate is at most 2^-53 of the unit, which is scaled to 2^50.
  if (kind_ == metric::lorentz) measure.term = {term_kind::split, Real(0.25)};
  measure.kind = kind_;
  if (!has_scale()) return;
  Real largest = 0;
  for (const Real magnitude : on_host_) largest = magnitude > largest ? magnitude : largest;
  share_scale(largest);
}

template <class Storage>
void scanned_points<Storage>::share_scale(Real largest) {
  if (!has_scale()) return;
  largest_ = largest;
  scale_ = power_of_two_scale(largest_, wanted_exponent_of(measure.term, rows().dim));
  measure.unscale = 1 / scale_;
}

template <class Storage>
scanned_points<Storage>::scanned_points(matrix_view<const Storage> points, const ball_constants& ball,
                                        const Device& device)
    : measure(ball.measure<Real>(distance_curve::hyperbolic)),
      device_(device),
      rows_(points, device),
      kind_(metric::poincare),
      ball_(ball) {
  scan();
}

template <class Storage>
void scanned_points<Storage>::find_unit_vectors(const matrix_view<const Storage>& points,
                                                const point_metric& distance) {
  const double radius = distance.sphere_radius;
  require_argument(radius >= 1e-30 && radius <= 1e30, "sphere_radius", radius, "in [1e-30, 1e30]");
  check_sphere_rows("points", count(), points.cols());
  measure.unscale = Real(radius);
  const device::staged_in on_host(points, Device::host());
  const auto coordinates = stored(on_host.view());
  const bool is_shared = device_.shares_host_memory();
  unit_vector_ = Buffer<Real>(count() * unit_vector_words, device_);
  std::vector<Real> copy(is_shared ? 0 : unit_vector_.size());
  Real* const words = is_shared ? unit_vector_.data() : copy.data();
  on_host_.assign(count(), Real(1));
  constexpr std::int64_t at_once = 1024;
  const device::small_call serial_if_small(double(count()) * 500, 1, Device::host());
  device::for_each_side_by_side((count() + at_once - 1) / at_once, [&](std::int64_t part) {
    for (std::int64_t i = part * at_once; i < std::min(count(), (part + 1) * at_once); ++i) {
      Real* const vector = words + i * unit_vector_words;
      if (write_unit_vector<Real>(coordinates.at(i, 0), coordinates.at(i, 1), distance.unit, vector)) continue;
      std::fill_n(vector, unit_vector_words, std::numeric_limits<Real>::quiet_NaN());
      on_host_[i] = std::numeric_limits<Real>::quiet_NaN();
    }
  });
  if (!is_shared) unit_vector_.copy_from_host(copy.data(), unit_vector_.size());
  number_ = Buffer<Real>(on_host_, device_);
}

template <class Storage>
void scanned_points<Storage>::scan() {
  scale_ = Real(ball_.scale);
  number_ = Buffer<Real>(count(), device_);
  Buffer<int> lost(std::vector<int>{0}, device_);
  const device::small_call serial_if_small(double(count()) * double(rows().dim), 1, device_);
  device::with_shape<host_shape<Real>, device_shape<Real>>(device_, [&](auto shape) {
    using kernel = scan_kernel<Storage, decltype(shape)>;
    device::launch(kernel{rows(), kind_, ball_, number_.data(), lost.data()},
                   (count() + kernel::rows_per_tile - 1) / kernel::rows_per_tile, device_);
  });
  on_host_ = number_.to_vector();
  if (kind_ == metric::poincare) may_lose_ = lost.to_vector()[0] != 0;
}

template <class Storage>
void scanned_points<Storage>::require_double() const {
  if (count() > 0 && !std::is_same_v<Storage, double>)
    throw InvalidArgument(text("points must be double with metric ", to_string(kind_),
                               " (points=", name_of(scalar_type_of<Storage>()), ")"));
}

template <class Storage>
void scanned_points<Storage>::scan_sheet() {
  require_double();
  if constexpr (std::is_same_v<Storage, double>) {
    number_ = Buffer<double>(count(), device_);
    parts_ = Buffer<double>(count() * 2 * rows_.view().cols(), device_);
    const ball_constants unit(1);
    const device::small_call serial_if_small(double(count()) * double(20 * rows_.view().cols()), 1, device_);
    device::with_shape<host_shape<Real>, device_shape<Real>>(device_, [&](auto shape) {
      using kernel = sheet_kernel<decltype(shape)>;
      device::launch(
          kernel{stored(rows_.view()), ball_.root_c, unit.scale, unit.numerator, parts_.data(), number_.data()},
          (count() + kernel::rows_per_tile - 1) / kernel::rows_per_tile, device_);
    });
    on_host_ = number_.to_vector();
    require_near(text("of norm <= ", largest_time / ball_.root_c));
  }
}

template <class Storage>
void scanned_points<Storage>::pack_factors(const product_space& space) {
  require_double();
  const std::int64_t columns = check_factors(space.factors());
  if (count() > 0)
    require_argument(rows_.view().cols() == columns, "points.cols", rows_.view().cols(),
                     text("the sum of the dimensions, ", columns));
  if constexpr (std::is_same_v<Storage, double>) {
    const std::vector<packed_factor> on_host = packed_factors(space);
    const Buffer<packed_factor> factors(on_host, device_);
    words_ = packed_words(on_host);
    number_ = Buffer<double>(count(), device_);
    parts_ = Buffer<double>(count() * words_, device_);
    const device::small_call serial_if_small(double(count()) * double(20 * columns), 1, device_);
    device::with_shape<host_shape<Real>, device_shape<Real>>(device_, [&](auto shape) {
      using kernel = product_rows_kernel<decltype(shape)>;
      device::launch(
          kernel{stored(rows_.view()), factors.data(), factors.size(), words_, parts_.data(), number_.data()},
          (count() + kernel::rows_per_tile - 1) / kernel::rows_per_tile, device_);
    });
    on_host_ = number_.to_vector();
    require_near("within 2^64 in lorentz factors, 2^480 in flat ones (scaled by the root of the curvature)");
  }
}

template <class Storage>
void scanned_points<Storage>::scan_words(const point_metric& distance) {
  number_ = Buffer<Real>(count(), device_);
  if (count() == 0) return;
  const std::int64_t bits = distance.bits;
  check_row_length(distance);
  if constexpr (!std::is_same_v<Storage, double>) {
    throw InvalidArgument(
        text("points must be rows of ",
             is_of_bits(kind_) ? "bits, packed_bits::points()" : "integers, packed_integers::points()",
             ", with metric ", to_string(kind_), " (points=", name_of(scalar_type_of<Storage>()), ")"));
  } else {
    require_argument(rows().dim == words_of_bits(bits), "points.cols", rows().dim,
                     text(words_of_bits(bits), ", the words of ", bits, " bits"));
    const device::small_call serial_if_small(double(count()) * double(rows().dim), 1, device_);
    device::with_shape<host_shape<Real>, device_shape<Real>>(device_, [&](auto shape) {
      using kernel = scan_words_kernel<decltype(shape)>;
      device::launch(kernel{rows(), bits, kind_, number_.data()},
                     (count() + kernel::rows_per_tile - 1) / kernel::rows_per_tile, device_);
    });
    on_host_ = number_.to_vector();
    for (std::int64_t i = 0; i < count(); ++i) require_words(on_host_[i], i, bits);
  }
}

template <class Storage>
void scanned_points<Storage>::require_near(const std::string& allowed) const {
  for (std::int64_t i = 0; i < count(); ++i) {
    if (!outside(i)) continue;
    double norm = 0;
    for (const Storage x : device::host_copy(rows_.view().slice(i, i + 1))) norm = std::hypot(norm, double(Real(x)));
    require_argument(false, text("points[", i, "]"), text("of norm ", norm),
                     text(allowed, " with metric ", to_string(kind_)));
  }
}

template <class Storage>
std::int64_t scanned_points<Storage>::valid_count() const {
  return std::count_if(on_host_.begin(), on_host_.end(), [](Real number) { return number >= 0; });
}

template <class Storage>
std::vector<std::int32_t> scanned_points<Storage>::valid_rows() const {
  std::vector<std::int32_t> rows;
  for (std::int64_t i = 0; i < count(); ++i)
    if (valid(i)) rows.push_back(std::int32_t(i));
  return rows;
}

template <class Storage>
std::vector<std::int64_t> scanned_points<Storage>::invalid_rows() const {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < count(); ++i)
    if (!valid(i)) rows.push_back(i);
  return rows;
}

template <class Storage>
void scanned_points<Storage>::exclude(const std::vector<std::int64_t>& rows) {
  if (rows.empty()) return;
  for (const std::int64_t i : rows) on_host_[i] = std::numeric_limits<Real>::quiet_NaN();
  number_ = Buffer<Real>(on_host_, device_);
}

template <class Storage>
std::int64_t scanned_points<Storage>::packed_dimension(const panel_layout& layout) const {
  const auto padded = [](std::int64_t dim, std::int64_t multiple) {
    return (dim + multiple - 1) / multiple * multiple;
  };
  if (is_of_whole_rows(kind_)) return numbers_of_words(measure.term.kind) + rows().dim;
  if (kind_ != metric::haversine) return padded(rows().dim, layout.dim_multiple);
  // A tile takes whole points: on a device one slice of staged panels.
  const bool has_slices = layout.dim_multiple > 1 && device_.kind() != device_kind::host;
  return padded(unit_vector_words, has_slices ? int(device_shape<Real>::depth) : 1);
}

template <class Storage>
panels<accumulator_t<Storage>> scanned_points<Storage>::pack(const std::vector<std::int32_t>& order,
                                                             const panel_layout& layout) const {
  panels<Real> packed;
  packed.count = order.empty() ? count() : std::int64_t(order.size());
  packed.dim = packed_dimension(layout);
  packed.block_side = layout.block_side;
  packed.term = measure.term;
  const std::int64_t padded_count = packed.blocks() * packed.block_side;
  packed.data = Buffer<Real>(padded_count * packed.dim, device_);
  if (factors() != nullptr) packed.factor = Buffer<Real>(padded_count, device_);
  const device::staged_in order_on_device(order, device_);
  const device::small_call serial_if_small(double(padded_count) * double(packed.dim), 1, device_);
  const std::int32_t* const rows_in_order = order.empty() ? nullptr : order_on_device.view().data();
  device::with_shape<host_shape<Real>, device_shape<Real>>(device_, [&](auto shape) {
    if constexpr (std::is_same_v<Storage, double>)
      if (is_of_whole_rows(kind_))
        return device::launch(pack_rows_kernel<decltype(shape)>{rows(), packed.count, packed.dim, rows_in_order,
                                                                number_.data(), packed.term.kind, packed.data.data()},
                              padded_count / panel_points<Real>, device_);
    with_packed_rows([&]<class Stored>(const stored_rows<Stored>& stored) {
      device::launch(
          pack_kernel<Stored, decltype(shape)>{stored, packed.count, packed.dim, rows_in_order, number_.data(), kind_,
                                               scale_, packed.data.data(), packed.factor.data()},
          padded_count / panel_points<Real>, device_);
    });
  });
  return packed;
}

template <class Storage>
void scanned_points<Storage>::share_scale(scanned_points& a, scanned_points& b) {
  if (!a.has_scale()) return;
  // Without a valid coordinate other than zero a scale is arbitrary.
  Real unscale = std::max(a.measure.unscale, b.measure.unscale);
  if (a.largest_ == 0) unscale = b.measure.unscale;
  if (b.largest_ == 0) unscale = a.measure.unscale;
  for (scanned_points* points : {&a, &b}) {
    points->measure.unscale = unscale;
    points->scale_ = 1 / unscale;
  }
}

#define QUINTET_INSTANTIATE(Storage) template class scanned_points<Storage>;
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)

}  // namespace quintet::pairwise
