// The points of a call: where its kernels see them, and what one look at them tells.
#pragma once

#include <cstdint>
#include <vector>

#include "device/staged.hpp"
#include "pairwise/ball.hpp"
#include "pairwise/panels.hpp"
#include "pairwise/product_rows.hpp"
#include "pairwise/sphere.hpp"
#include "pairwise/stored_rows.hpp"
#include "pairwise/word_rows.hpp"

namespace quintet::pairwise {

/// Points stored as float, double, half or bfloat16, looked at on a device: in place where they lie there or memory is
/// shared, else copied to it as they are, for as long as this lives.
template <class Storage>
class scanned_points {
 public:
  using Real = accumulator_t<Storage>;

  /// Throws InvalidArgument for metric::poincare and lorentz with a curvature that is not negative, or of a magnitude
  /// outside [1e-30, 1e30], for points of lorentz and product that are not double or too far out, for factors of a
  /// product that are not allowed or do not add up, for a p of metric::minkowski and a radius of metric::haversine out
  /// of range, for points of haversine that have not two coordinates, and for those of words that are no
  /// packed_bits or packed_integers. Cost: one pass over the data (two for cosine); one number a point on the device
  /// and on the host. Points on a sphere become unit vectors on the host, half a microsecond and six numbers each.
  scanned_points(matrix_view<const Storage> points, const point_metric& distance, const Device& device);
  /// In a ball, which may be flat.
  scanned_points(matrix_view<const Storage> points, const ball_constants& ball, const Device& device);

  std::int64_t count() const { return rows_.view().rows(); }
  const Device& device() const { return device_; }
  /// As the caller stores them; of the hyperboloid their parts in the ball, see sheet_kernel.hpp, and of products what
  /// product_rows.hpp makes of them.
  stored_rows<Storage> rows() const {
    if (kind_ != metric::lorentz && kind_ != metric::product) return stored(rows_.view());
    const std::int64_t words = kind_ == metric::lorentz ? 2 * rows_.view().cols() : words_;
    return {parts_.data(), count(), words, words};
  }
  /// Calls f with the rows that are packed: those above, or unit vectors.
  template <class Function>
  auto with_packed_rows(const Function& f) const {
    if (kind_ != metric::haversine) return f(rows());
    return f(stored_rows<Real>{unit_vector_.data(), count(), unit_vector_words, unit_vector_words});
  }

  /// Whether every coordinate is finite and, for cosine, 1 / length is normal; in a ball whether the point is inside,
  /// on a sphere whether latitude and longitude are in range.
  bool valid(std::int64_t i) const { return on_host_[i] >= 0; }
  /// Whether a point is finite and outside the ball.
  bool outside(std::int64_t i) const { return on_host_[i] < 0; }
  /// Whether distances in the ball from these points may have to be measured again, see ball_constants::lost().
  bool may_lose() const { return may_lose_; }
  std::int64_t valid_count() const;
  std::vector<std::int32_t> valid_rows() const;
  std::vector<std::int64_t> invalid_rows() const;
  /// These become invalid, too.
  void exclude(const std::vector<std::int64_t>& rows);
  /// A number >= 0 of every valid point, see scan_kernel; in the device's memory.
  const Real* numbers() const { return number_.data(); }

  /// How reduced distances of packed points become distances.
  reduced_metric<Real> measure;

  /// What coordinates are multiplied by when packed; for cosine it is 1 and each point has a number of its own.
  Real scale() const { return scale_; }
  metric kind() const { return kind_; }
  const ball_constants& ball() const { return ball_; }
  /// The numbers where they are factors of points in a ball, otherwise null.
  const Real* factors() const {
    return kind_ == metric::lorentz || (kind_ == metric::poincare && !ball_.flat()) ? number_.data() : nullptr;
  }

  /// Packs points order[0], order[1], ... (all of them, in their own order, when `order` is empty) onto the device.
  panels<Real> pack(const std::vector<std::int32_t>& order, const panel_layout& layout) const;
  panels<Real> pack(const std::vector<std::int32_t>& order = {}) const {
    return pack(order, tile_layout<Real>(device_));
  }

  /// Frees the unit vectors, when nothing will be packed or measured again.
  void free_unit_vectors() { unit_vector_ = {}; }

  /// Brings the scaling of two sets into agreement, so that reduced distances between their points can be taken.
  static void share_scale(scanned_points& a, scanned_points& b);
  /// The same for sets that are not all here: the largest of what largest() tells of them sets the scale.
  void share_scale(Real largest);
  Real largest() const { return largest_; }

 private:
  void scan();
  void scan_sheet();
  void scan_words(const point_metric& distance);
  void pack_factors(const product_space& space);
  void require_double() const;
  void require_near(const std::string& allowed) const;
  void find_unit_vectors(const matrix_view<const Storage>& points, const point_metric& distance);
  std::int64_t packed_dimension(const panel_layout& layout) const;
  bool has_scale() const { return is_scaled(kind_); }

  Device device_;
  device::staged_in<matrix_view<const Storage>> rows_;
  metric kind_;
  ball_constants ball_;
  Buffer<Real> number_;
  Buffer<Storage> parts_;      ///< of points of the hyperboloid, and of products
  std::int64_t words_ = 0;     ///< of a row of parts of a product
  std::vector<Real> on_host_;  ///< the same numbers
  Buffer<Real> unit_vector_;   ///< [count][unit_vector_words]; of points on a sphere
  Real scale_ = 1;
  bool may_lose_ = false;
  Real largest_ = 0;  ///< of a norm: the largest magnitude of a valid coordinate, which sets the scale
};

}  // namespace quintet::pairwise
