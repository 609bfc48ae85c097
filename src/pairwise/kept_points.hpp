// Points that are ordered once and searched many times: by an index of neighbours, by predictions of a clustering.
// looked_at_rows searches for rows one after another; packed parts serve searches for many.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/staged.hpp"
#include "pairwise/scan_kernel.hpp"
#include "pairwise/scanned_points.hpp"
#include "pairwise/tree_points.hpp"
#include "pairwise/tree_walk.hpp"
#include "quintet/pairwise/metric.hpp"

namespace quintet::pairwise {

/// Magnitudes of coordinates that are not zero.
template <class Real>
struct magnitudes {
  Real least = std::numeric_limits<Real>::infinity(), largest = 0;

  /// Of a row; one with a number that is not finite has none.
  template <class Storage>
  static magnitudes of(const Storage* row, std::int64_t dim) {
    constexpr int lanes = device::host_lanes<Real>();
    typedef device::pack<Real, lanes> value;
    const value none{}, infinite = device::broadcast_pack<value>(std::numeric_limits<Real>::infinity());
    value least = infinite, largest = none, not_finite = none;
    const auto take = [&](const value& x) {
      const value magnitude = x < none ? -x : x;
      const value other = magnitude > none ? magnitude : infinite;
      least = other < least ? other : least;
      largest = magnitude > largest ? magnitude : largest;
      not_finite += x - x;
    };
    std::int64_t k = 0;
    for (; k + lanes <= dim; k += lanes) take(device::convert_pack<value, Real>(row + k));
    if (k < dim) {
      Real rest[lanes] = {};
      for (int lane = 0; k + lane < dim; ++lane) rest[lane] = Real(row[k + lane]);
      take(device::load_pack<value>(rest));
    }
    if (device::sum_lanes<Real>(not_finite) != 0) return {};
    return {device::least_lane<Real>(least), -device::least_lane<Real>(-largest)};
  }
  void take_in(const magnitudes& other) {
    if (other.least < least) least = other.least;
    if (other.largest > largest) largest = other.largest;
  }
};

/// Some of the points, with a tree.
template <class Real>
struct kept_part {
  tree_points<Real> points;               ///< `order` are their numbers
  Buffer<std::int32_t> number_on_device;  ///< the same, where the device has memory of its own

  /// Rows of `scanned` in the order of a tree; row i is point numbers[i], or point i without `numbers`.
  template <class Storage>
  kept_part(const scanned_points<Storage>& scanned, const std::vector<std::int32_t>& rows,
            const std::vector<std::int32_t>& numbers, const panel_layout& layout)
      : points(scanned, rows, layout) {
    if (!numbers.empty())
      for (std::int32_t& row : points.order) row = numbers[row];
    if (scanned.device().kind() != device_kind::host)
      number_on_device = Buffer<std::int32_t>(points.order, scanned.device());
  }

  std::int64_t count() const { return points.packed.count; }
  const std::int32_t* number() const {
    return number_on_device.size() > 0 ? number_on_device.data() : points.order.data();
  }
  /// The packed points as rows [count][dim], in the order of the tree.
  std::vector<Real> rows(std::int64_t dim) const;
  std::int64_t bytes() const;
};

/// How searches go; the numbers are those of neighbours::search.
enum class search_choice { automatic, tree, all_pairs };

/// What points are kept for.
struct keep_options {
  point_metric distance;
  search_choice method = search_choice::automatic;
};

template <class Real>
struct kept_points {
  keep_options settings;
  Device device;
  std::int64_t count = 0, dim = 0;
  metric kind = metric::euclidean;
  ball_constants ball;
  reduced_metric<Real> measure;
  Real scale = 1;
  magnitudes<Real> coordinates;  ///< of the valid points
  std::vector<std::int64_t> invalid;
  /// The valid points. Every part is at least twice as large as the next one (Bentley, Saxe 1980).
  std::vector<std::shared_ptr<const kept_part<Real>>> parts;
  panel_layout layout{};
  bool batches_use_tree = false;
  double pairs_of_walk = 0;  ///< looked at for one query; 0 where the tree does not serve batches
  /// [count][dim] as they came, where packing loses digits (coordinates far below the largest one), and of points that
  /// are packed as others: of a sphere as unit vectors, of the hyperboloid as points of the ball, of factors and bits.
  std::optional<std::vector<Real>> rows;

  bool on_host() const { return device.kind() == device_kind::host; }
  bool has_scale() const { return is_scaled(kind); }

  /// Whether distances from queries of these coordinates have the same bits here as in a call that scales for both:
  /// where queries are larger, that call's numbers are smaller by a power of two, and none may leave the normal ones.
  bool keeps_bits(const magnitudes<Real>& queries) const {
    if (!has_scale() || queries.largest == 0) return true;
    if (coordinates.largest == 0) return false;
    const int above = std::ilogb(queries.largest) - std::ilogb(coordinates.largest);
    if (above <= 0) return true;
    constexpr int most_above = 16, digits = std::numeric_limits<Real>::digits;
    // Differences of numbers >= m are 0 or at least m 2^-digits; their squares have to be normal.
    constexpr int least_exponent = std::numeric_limits<Real>::min_exponent / 2 + digits;
    const bool is_clamped = std::ilogb(scale) >= std::numeric_limits<Real>::max_exponent - 2;
    if (above > most_above || is_clamped || measure.term.kind == term_kind::power) return false;
    const Real least = std::min(queries.least, coordinates.least);
    return std::ilogb(least) + std::ilogb(scale) - above >= least_exponent;
  }

  /// Where row-major points [count][dim] as they came are; those that are invalid are NaN.
  std::vector<Real> stored_rows() const;
  /// The packed points as rows [count][dim]; NaN where they are invalid.
  std::vector<Real> packed_rows() const;
};

/// Rows as they are packed, for a search that scales nothing.
template <class Real>
scanned_points<Real> scanned_as_packed(const std::vector<Real>& rows, const kept_points<Real>& state) {
  const std::int64_t count = state.dim == 0 ? 0 : std::int64_t(rows.size()) / state.dim;
  scanned_points<Real> scanned(matrix_view<const Real>(rows.data(), count, state.dim), metric::euclidean, state.device);
  scanned.share_scale(Real(1 << 20));  // what coordinates are brought to: the scale is 1
  scanned.measure = state.measure;
  return scanned;
}

/// Orders and packs points.
template <class Storage>
kept_points<accumulator_t<Storage>> keep(matrix_view<const Storage> points, const keep_options& settings,
                                         const Device& device);
/// The same and more points, which are parts of their own unless they change what packing does to all. Parts that are
/// less than twice as large join them: every point is packed again about log N times.
template <class Storage>
kept_points<accumulator_t<Storage>> appended(const kept_points<accumulator_t<Storage>>& old,
                                             matrix_view<const Storage> more);

/// Valid points as a file has them: one part after another, each in the order of its tree.
template <class Row>
struct ordered_rows {
  keep_options settings;
  std::int64_t count = 0, dim = 0;    ///< of all, invalid points too
  std::vector<std::int64_t> parts;    ///< their sizes
  std::vector<std::int32_t> numbers;  ///< of the points
  std::vector<Row> rows;              ///< [valid][dim]; for cosine at length 1
};
/// Packs them in their order. Nothing if one of the rows is no valid point.
template <class Row>
std::optional<kept_points<accumulator_t<Row>>> keep(const ordered_rows<Row>& points, const Device& device);

/// Memory of one thread for the search of one row.
template <class Real>
struct row_scratch {
  std::vector<Real> x, value;
  std::vector<std::int32_t> index;

  nearest_lists<Real> lists(std::int64_t k) {
    if (std::int64_t(value.size()) < k) {
      value.resize(k);
      index.resize(k);
    }
    return {value.data(), index.data(), int(k)};
  }
  static row_scratch& of_thread() {
    thread_local row_scratch scratch;
    return scratch;
  }
};

/// Rows that search, in host memory.
template <class Storage>
class looked_at_rows {
 public:
  using Real = accumulator_t<Storage>;
  using kernel = scan_kernel<Storage, host_shape<Real>>;
  enum { most = kernel::rows_per_tile };

  /// At most `most` rows, which the calling thread looks at.
  looked_at_rows(const kept_points<Real>& state, const matrix_view<const Storage>& rows)
      : state_(state), rows_(stored(rows)), number_(own_) {
    if (state.kind == metric::lorentz || state.kind == metric::product) {
      scanned_.emplace(rows, state.settings.distance, Device::host());
      rows_ = scanned_->rows();
      number_ = scanned_->numbers();
      return;
    }
    if (is_of_words(state.kind)) {
      if constexpr (std::is_same_v<Storage, double>) scan_words(state.settings.distance.bits);
      return;
    }
    if (state.kind == metric::haversine) {
      check_sphere_rows("queries", rows_.count, rows_.dim);
      for (std::int64_t i = 0; i < rows_.count; ++i)
        own_[i] = write_packed(i, row_scratch<Real>::of_thread()) ? Real(1) : std::numeric_limits<Real>::quiet_NaN();
      return;
    }
    int lost = 0;
    typename kernel::scratch scratch;
    kernel{rows_, state.kind, state.ball, own_, &lost}(device::host_team{}, 0, scratch);
  }

  /// Rows with these numbers of scan_kernel, which have to outlive this.
  looked_at_rows(const kept_points<Real>& state, const stored_rows<Storage>& rows, const Real* numbers)
      : state_(state), rows_(rows), number_(numbers) {}
  looked_at_rows(const looked_at_rows&) = delete;  // may refer to itself

  bool valid(std::int64_t i) const { return number_[i] >= 0; }
  /// See kept_points.
  bool keep_bits() const {
    magnitudes<Real> all;
    for (std::int64_t i = 0; i < rows_.count; ++i)
      if (number_[i] > all.largest) all.largest = number_[i];
    if (!state_.has_scale() || all.largest <= state_.coordinates.largest) return true;
    for (std::int64_t i = 0; i < rows_.count; ++i) all.take_in(magnitudes<Real>::of(rows_.row(i), rows_.dim));
    return state_.keeps_bits(all);
  }

  /// Shows the sink the points within its limit of row i, a valid one; returns how many were looked at.
  template <class Sink>
  std::int64_t walk_parts(std::int64_t i, Sink& sink) const {
    const auto point = packed(i, row_scratch<Real>::of_thread());
    std::int64_t pairs = 0;
    for (const auto& part : state_.parts) {
      sink.number = part->number();
      pairs += walk(part->points.tree.view(), point, state_.settings.method == search_choice::all_pairs, sink);
    }
    return pairs;
  }

  /// Shows the sink all points of another tree, which are packed as these, in order.
  template <class Sink>
  void walk_all(const tree_view<Real>& tree, std::int64_t i, Sink& sink) const {
    walk(tree, packed(i, row_scratch<Real>::of_thread()), true, sink);
  }

  /// The k nearest points of row i, a valid one, by (distance, number); the list is of this thread's next search.
  nearest_lists<Real> nearest(std::int64_t i, std::int64_t k, std::int64_t& pairs) const {
    const auto list = row_scratch<Real>::of_thread().lists(k);
    nearest_sink<Real> sink(list);
    pairs += walk_parts(i, sink);
    return list;
  }
  /// The same with distances; returns how many there are.
  std::int64_t nearest(std::int64_t i, std::int64_t k, std::int64_t* index, Real* distance, std::int64_t& pairs) const {
    const nearest_lists<Real> list = nearest(i, k, pairs);
    std::int64_t e = 0;
    for (; e < k && list.index[e] >= 0; ++e) {
      index[e] = list.index[e];
      distance[e] = state_.measure.distance(list.value[e]);
    }
    return e;
  }

  /// Appends (number, distance) of the points within the reduced distance `limit` of row i, a valid one.
  void within(std::int64_t i, Real limit, typename radius_sink<Real>::entries& to, std::int64_t& pairs) const {
    const std::size_t begin = to.size();
    radius_sink<Real> sink(limit, to);
    pairs += walk_parts(i, sink);
    for (std::size_t e = begin; e < to.size(); ++e) to[e].second = state_.measure.distance(to[e].second);
  }

  /// Where the search of the largest part for row i begins, a valid one.
  std::int32_t first_leaf(std::int64_t i) const {
    return pairwise::first_leaf(state_.parts[0]->points.tree.view(), packed(i, row_scratch<Real>::of_thread()));
  }

 private:
  void scan_words(std::int64_t bits) {
    for (std::int64_t i = 0; i < rows_.count; ++i) {
      own_[i] = number_of_row(rows_.row(i), rows_.dim, bits, state_.kind);
      require_words(own_[i], i, bits);
    }
  }
  void write_words(std::int64_t i, double* to) const {
    const term_kind kind = state_.measure.term.kind;
    write_row_numbers(kind, number_[i], to, 1);
    for (std::int64_t k = 0; k < rows_.dim; ++k) copy_word(rows_.row(i) + k, to + numbers_of_words(kind) + k);
  }
  /// Row i as the points are packed, into scratch.x; false for one that is not on the sphere.
  bool write_packed(std::int64_t i, row_scratch<Real>& scratch) const {
    const std::int64_t padded = state_.parts.empty() ? unit_vector_words : state_.parts[0]->points.packed.dim;
    if (std::int64_t(scratch.x.size()) < padded) scratch.x.resize(padded);
    const Storage* row = rows_.row(i);
    if (state_.kind == metric::haversine) {
      std::fill(scratch.x.begin() + unit_vector_words, scratch.x.begin() + padded, Real(0));
      return write_unit_vector<Real>(row[0], row[1], state_.settings.distance.unit, scratch.x.data());
    }
    if constexpr (std::is_same_v<Storage, double>)
      if (is_of_whole_rows(state_.kind)) {
        write_words(i, scratch.x.data());
        return true;
      }
    const Real by = state_.kind == metric::cosine ? number_[i] : state_.scale;
    for (std::int64_t k = 0; k < padded; ++k) scratch.x[k] = k < rows_.dim ? Real(row[k]) * by : Real(0);
    return true;
  }
  walking_point<Real> packed(std::int64_t i, row_scratch<Real>& scratch) const {
    write_packed(i, scratch);
    return {scratch.x.data(), number_[i]};
  }

  const kept_points<Real>& state_;
  stored_rows<Storage> rows_;
  const Real* number_;
  Real own_[most];
  std::optional<scanned_points<Storage>> scanned_;  ///< of the hyperboloid and of products
};

}  // namespace quintet::pairwise
