// Kernels of the Lorentz model: a look at every point, and distances of listed pairs.
#pragma once

#include "pairwise/stored_rows.hpp"
#include "pairwise/tile_kernel.hpp"
#include "poincare/lorentz_math.hpp"
#include "poincare/row_operations_kernel.hpp"

namespace quintet::lorentz {

using pairwise::stored_rows;
using poincare::device_operation_shape;
using poincare::host_operation_shape;
using poincare::point_status;

/// Rows as the caller stores them: `skip` numbers of time, then the space part.
template <class Storage>
struct sheet_rows {
  stored_rows<Storage> stored;
  int skip;

  std::int64_t dim() const { return stored.dim - skip; }
  auto space(std::int64_t i) const {
    return [data = stored.data + i * stored.stride + skip](std::int64_t k) {
      return double(accumulator_t<Storage>(data[k]));
    };
  }
  double time(std::int64_t i) const { return double(accumulator_t<Storage>(stored.data[i * stored.stride])); }
};

/// The radius and the status of every point, and its distance from the origin where that is asked for: a row a thread.
template <class Storage, class Shape>
struct look_kernel {
  using Real = accumulator_t<Storage>;
  using shape = Shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, rows_per_tile = 64 };
  sheet_rows<Storage> rows;
  double root_c;
  double tolerance;  ///< of the time part; infinity: not looked at
  radius* radii;
  point_status* status;
  Real* from_origin;  ///< null: not asked for

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int r = team.rank(); r < rows_per_tile; r += team.size())
      if (tile * rows_per_tile + r < rows.stored.count) look(tile * rows_per_tile + r);
  }

 private:
  void look(std::int64_t i) const {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const auto x = rows.space(i);
    double not_finite = 0;
    pairwise::compensated_sum<1> square;
    for (std::int64_t k = 0; k < rows.dim(); ++k) {
      not_finite += x(k) - x(k);
      square.add_product(x(k), x(k));
    }
    const bool in_range = square.total() > 1e-280 && square.total() < 1e280;
    const double norm = in_range ? std::sqrt(square.total()) : poincare::norm(rows.dim(), x);
    // Of the largest norms time is sqrt(c) norm, which only its sign is read of.
    const double scaled = root_c * norm, time = scaled < 1e150 ? std::sqrt(device::fma(scaled, scaled, 1)) : scaled;
    status[i] = not_finite == 0 ? point_status::inside : point_status::not_finite;
    if (status[i] == point_status::inside && tolerance < std::numeric_limits<double>::infinity())
      status[i] = status_of_time(rows.time(i), time / root_c);
    const bool usable = status[i] == point_status::inside;
    radii[i] = {norm, usable ? time : nan};
    if (from_origin != nullptr) from_origin[i] = Real(usable ? origin_asinh(rows.dim(), root_c, x) / root_c : nan);
  }

  point_status status_of_time(double t, double expected) const {
    if (!(t - t == 0)) return point_status::not_finite;
    return t > 0 && std::fabs(t - expected) <= tolerance * t ? point_status::inside : point_status::outside;
  }
};

/// Distances by the law of haversines (Todhunter 1886, 33; of the hyperbolic plane: Ratcliffe 2019, 3.5) of all pairs,
/// or of rows i of both sets.
template <class Storage, class Shape>
struct haversine_kernel {
  using Real = accumulator_t<Storage>;
  using shape = Shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, pairs_per_tile = 256 };
  sheet_rows<Storage> x, y;
  const radius *x_radii, *y_radii;
  haversine<Real> measure;
  bool side_by_side;
  std::int64_t pairs;
  Real* out;
  std::int64_t out_stride;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int p = team.rank(); p < pairs_per_tile; p += team.size())
      if (tile * pairs_per_tile + p < pairs) write_distance(tile * pairs_per_tile + p);
  }

 private:
  void write_distance(std::int64_t pair) const {
    const std::int64_t i = side_by_side ? pair : pair / y.stored.count;
    const std::int64_t j = side_by_side ? pair : pair - i * y.stored.count;
    out[side_by_side ? pair : i * out_stride + j] = measure.distance(x.space(i), x_radii[i], y.space(j), y_radii[j]);
  }
};

/// The points of some columns in packs, [pack][coordinate][lane]; lanes beyond the last one are 0.
template <class Storage, class Shape>
struct pack_columns_kernel {
  using shape = Shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, lanes = device::host_lanes<double>() };
  sheet_rows<Storage> points;
  std::int64_t first, count;  ///< which columns
  double* packs;

  template <class Team>
  void operator()(const Team& team, std::int64_t pack, scratch&) const {
    const std::int64_t dim = points.dim();
    for (int lane = team.rank(); lane < lanes; lane += team.size()) {
      const std::int64_t column = pack * lanes + lane;
      const auto x = points.space(first + (column < count ? column : 0));
      for (std::int64_t k = 0; k < dim; ++k) packs[(pack * dim + k) * lanes + lane] = column < count ? x(k) : 0;
    }
  }
};

/// haversine_kernel for tiles of rows and packed columns, a pack of pairs at a time, with the same bits.
template <class Storage, class Shape>
struct haversine_tile_kernel {
  using Real = accumulator_t<Storage>;
  using shape = Shape;
  struct scratch {};
  enum {
    threads = 64,
    emulated_threads = 4,
    lanes = device::host_lanes<double>(),
    rows_per_tile = 32,
    packs_per_tile = 8
  };
  sheet_rows<Storage> x, y;
  const radius *x_radii, *y_radii;
  haversine<Real> measure;
  const double* packs;        ///< from pack_columns_kernel
  std::int64_t first, count;  ///< its columns
  Real* out;
  std::int64_t out_stride;

  std::int64_t tiles() const { return row_tiles() * ((count + per_tile - 1) / per_tile); }

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const std::int64_t first_row = tile % row_tiles() * rows_per_tile, first_column = tile / row_tiles() * per_tile;
    for (int r = team.rank(); r < rows_per_tile; r += team.size())
      for (std::int64_t j = first_column; j < first_column + per_tile && j < count; j += lanes)
        if (first_row + r < x.stored.count) write_pack(first_row + r, j);
  }

 private:
  static constexpr std::int64_t per_tile = std::int64_t(lanes) * packs_per_tile;
  std::int64_t row_tiles() const { return (x.stored.count + rows_per_tile - 1) / rows_per_tile; }

  void write_pack(std::int64_t i, std::int64_t column) const {
    typedef device::pack<double, lanes> value;
    const double* const pack = packs + column * x.dim();
    const std::int64_t left = count - column;
    const int used = left < std::int64_t(lanes) ? int(left) : int(lanes);
    double norms[lanes], times[lanes], measured[lanes];
    for (int lane = 0; lane < lanes; ++lane) {
      const radius& of_y = y_radii[first + column + (lane < used ? lane : 0)];
      norms[lane] = of_y.norm;
      times[lane] = of_y.time;
    }
    device::store_pack(measured, measure.template distances<lanes>(
                                     x.space(i), x_radii[i],
                                     [=](std::int64_t k) { return device::load_pack<value>(pack + k * lanes); },
                                     device::load_pack<value>(norms), device::load_pack<value>(times)));
    for (int lane = 0; lane < used; ++lane) {
      const std::int64_t j = first + column + lane;
      out[i * out_stride + j] = measured[lane] == measured[lane]
                                    ? Real(measured[lane])
                                    : measure.distance(x.space(i), x_radii[i], y.space(j), y_radii[j]);
    }
  }
};

/// Directions of some points in panels of the pairwise engine, for results of 4 bytes; 0 beyond the last one. A panel a
/// team.
template <class Storage, class Shape>
struct pack_directions_kernel {
  using shape = Shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, lanes = pairwise::panel_points<double> };
  sheet_rows<Storage> points;
  const radius* radii;
  std::int64_t first, count;  ///< which points
  double* panels;

  template <class Team>
  void operator()(const Team& team, std::int64_t panel, scratch&) const {
    const std::int64_t dim = points.dim();
    for (int lane = team.rank(); lane < lanes; lane += team.size()) {
      const std::int64_t i = panel * lanes + lane;
      const bool is_there = i < count;
      const auto x = points.space(first + (is_there ? i : 0));
      const double inverse = 1 / radii[first + (is_there ? i : 0)].norm;
      for (std::int64_t k = 0; k < dim; ++k)
        panels[(panel * dim + k) * lanes + lane] = is_there ? haversine<float>::direction(x(k), inverse) : 0;
    }
  }
};

/// haversine_kernel for tiles of packed directions, with the same bits (Goto, van de Geijn 2008, of differences).
template <class Storage, class Shape>
struct direction_tile_kernel {
  using shape = Shape;
  using scratch = pairwise::detail::tile_scratch<double, Shape>;
  enum { threads = Shape::threads, emulated_threads = Shape::emulated_threads };
  sheet_rows<Storage> x, y;
  const radius *x_radii, *y_radii;
  haversine<float> measure;
  const double *rows, *columns;  ///< from pack_directions_kernel
  std::int64_t first_row, row_count, first_column, column_count;
  float* out;
  std::int64_t out_stride;

  std::int64_t tiles() const { return blocks_of(row_count) * blocks_of(column_count); }

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    const std::int64_t row_block = tile % blocks_of(row_count), column_block = tile / blocks_of(row_count);
    const int used_rows = pairwise::points_in_block<Shape>(row_count, row_block);
    const int used_columns = pairwise::points_in_block<Shape>(column_count, column_block);
    pairwise::tile_sums<double, pairwise::any_dimension, Shape>(team, rows, row_block, columns, column_block,
                                                                measure.dim, {}, s, used_rows, used_columns);
    for (int j = team.rank() * lanes; j < used_columns; j += team.size() * lanes)
      write_columns(first_row + row_block * Shape::side, used_rows, first_column + column_block * Shape::side + j,
                    used_columns - j < int(lanes) ? used_columns - j : int(lanes), s.values + j);
  }

 private:
  enum { lanes = Shape::lanes };
  typedef device::pack<double, lanes> value;
  static std::int64_t blocks_of(std::int64_t count) { return (count + Shape::side - 1) / Shape::side; }

  void write_columns(std::int64_t i0, int used_rows, std::int64_t j0, int used, const double* squares) const {
    double norm[lanes], time[lanes], found[lanes];
    for (int lane = 0; lane < lanes; ++lane) {
      norm[lane] = y_radii[j0 + (lane < used ? lane : 0)].norm;
      time[lane] = y_radii[j0 + (lane < used ? lane : 0)].time;
    }
    const value y_norm = device::load_pack<value>(norm), y_time = device::load_pack<value>(time);
    for (int r = 0; r < used_rows; ++r) {
      const std::int64_t i = i0 + r;
      const value x_norm = device::broadcast_pack<value>(x_radii[i].norm);
      const value x_time = device::broadcast_pack<value>(x_radii[i].time);
      device::store_pack(
          found, measure.template of_directions<lanes>(device::load_pack<value>(squares + r * Shape::pitch), x_norm,
                                                       x_time, y_norm, y_time));
      float* const to = out + i * out_stride + j0;
      bool is_whole = used == lanes;
      for (int lane = 0; lane < lanes; ++lane) is_whole = is_whole && found[lane] == found[lane];
      if (is_whole) {
        for (int lane = 0; lane < lanes; ++lane) to[lane] = float(found[lane]);
        continue;
      }
      for (int lane = 0; lane < used; ++lane)
        to[lane] = found[lane] == found[lane]
                       ? float(found[lane])
                       : measure.distance(x.space(i), x_radii[i], y.space(j0 + lane), y_radii[j0 + lane]);
    }
  }
};

}  // namespace quintet::lorentz
