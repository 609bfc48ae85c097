// Packed points once more: moved to their centre, and rounded to 16-bit integers, for bounds by inner products
// (dot_bounds.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "pairwise/dot_bounds.hpp"
#include "pairwise/panels.hpp"
#include "quintet/device/buffer.hpp"

namespace quintet::pairwise {

/// Coordinates up to which the derivation of the bounds holds.
constexpr std::int64_t max_rounded_dimensions = std::int64_t(1) << 17;

class rounded_points {
 public:
  /// Of points whose reduced distance is the sum of squares, without factors, where they are; their dimension is at
  /// most max_rounded_dimensions. Cost: one pass; memory: half of what the panels take in float, and two numbers a
  /// point.
  template <class Real>
  explicit rounded_points(const panels<Real>& points);
  /// The same for rows that are compared with `others`, and so have their centre.
  template <class Real>
  rounded_points(const panels<Real>& points, const rounded_points& reference);

  rounded_view view() const { return {words_.data(), scale_.data(), square_.data(), error_.data()}; }
  const Device& device() const { return words_.device(); }
  /// int16_pairs of a point.
  std::int64_t pairs() const { return pairs_; }
  ///@{
  /// Those of rounded_view, on the host.
  std::vector<float> squares() const { return square_.to_vector(); }
  std::vector<float> errors() const { return error_.to_vector(); }
  ///@}
  /// Bounds of the distances of two sets with one centre.
  static dot_bounds between(const rounded_points& rows, const rounded_points& cols);

 private:
  template <class Real>
  void round(const panels<Real>& points, const Buffer<double>& centre);

  std::int64_t pairs_;
  Buffer<double> centre_;
  Buffer<float> words_, scale_, square_, error_;
};

}  // namespace quintet::pairwise
