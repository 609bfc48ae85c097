// The weights of gradients of all distances, see quintet/poincare/gradient_weights.hpp.
#pragma once

#include <cstdint>

#include "device/atomic.hpp"
#include "device/sinh.hpp"
#include "pairwise/stored_rows.hpp"
#include "quintet/poincare/gradient_weights.hpp"

namespace quintet::poincare {

/// Rows of pairs, a pack of them at a time (Nickel, Kiela 2017).
template <class Real, class Shape>
struct gradient_weights_kernel {
  using shape = Shape;
  struct scratch {};
  enum { threads = 128, emulated_threads = 4, lanes = Shape::on_device ? 1 : device::host_lanes<double>() };
  pairwise::stored_rows<Real> distances, gradients;
  const double *x_gap, *y_gap, *x_square, *y_square;  ///< gaps: null on the hyperboloid
  double root_c, near_square;
  double *weights, *shares;
  std::int64_t weight_stride, share_stride;
  std::int64_t* near_count;

  template <class Team>
  void operator()(const Team& team, std::int64_t row, scratch&) const {
    std::int64_t near_pairs = 0;
    for (std::int64_t j = team.rank() * lanes; j < distances.dim; j += team.size() * lanes) near_pairs += write(row, j);
    if (near_pairs > 0) device::atomic_add(near_count, near_pairs);
  }

 private:
  typedef device::pack<double, lanes> value;

  /// W numbers, of a row's end fewer.
  template <class From>
  value load(const From* from, int used, double otherwise) const {
    double values[lanes];
    for (int lane = 0; lane < lanes; ++lane) values[lane] = lane < used ? double(from[lane]) : otherwise;
    return device::load_pack<value>(values);
  }

  /// Returns how many are near.
  std::int64_t write(std::int64_t i, std::int64_t j) const {
    const int used = distances.dim - j < int(lanes) ? int(distances.dim - j) : int(lanes);
    const value d = load(distances.row(i) + j, used, 0.0), g = load(gradients.row(i) + j, used, 0.0) * root_c;
    const value sinh = device::sinh<lanes>(value(d * (0.5 * root_c))), square = sinh * sinh;
    const value cosh = device::root<double, lanes>(value(square + 1.0));
    const bool in_ball = x_gap != nullptr;
    const value both = in_ball ? value(load(y_gap + j, used, 1.0) * x_gap[i]) : value(value{} + 1.0);
    const value chord = square * both * ((in_ball ? 1 : 4) / (root_c * root_c));
    const value limit = (load(y_square + j, used, 0.0) + x_square[i]) * near_square;
    const value below = sinh * cosh * both * (in_ball ? 0.5 : 2.0),
                share = in_ball ? value(2.0 * g * sinh / cosh) : value{};
    double w[lanes], v[lanes], distance[lanes], chords[lanes], limits[lanes];
    device::store_pack(distance, d);
    device::store_pack(w, value(d > 0.0 ? value(g / below) : value(d - d)));
    device::store_pack(v, value(d > 0.0 ? share : value(d - d)));
    device::store_pack(chords, chord);
    device::store_pack(limits, limit);
    std::int64_t near_pairs = 0;
    for (int lane = 0; lane < used; ++lane) {
      weights[i * weight_stride + j + lane] = w[lane];
      if (in_ball) shares[i * share_stride + j + lane] = v[lane];
      near_pairs += distance[lane] > 0 && chords[lane] < limits[lane];
    }
    return near_pairs;
  }
};

}  // namespace quintet::poincare
