// Points of a sphere as unit vectors of two words a coordinate.
//
// A coordinate of a unit vector is of size 1, so one word of it leaves an error of 2^-53: 1 mm on the Earth, 1.6e-10,
// would have 6 digits. Two words leave 2^-100 in double, and 2^-46 in float.
#pragma once

#include <cstdint>
#include <string_view>

#include "quintet/core/error.hpp"
#include "quintet/pairwise/metric.hpp"

namespace quintet::pairwise {

/// Coordinates of points on a sphere: latitude and longitude.
constexpr std::int64_t sphere_dimensions = 2;

/// Words of a unit vector: x, y and z, and what these leave of each.
constexpr std::int64_t unit_vector_words = 6;

/// Throws InvalidArgument unless rows of points on a sphere have two coordinates.
inline void check_sphere_rows(std::string_view name, std::int64_t rows, std::int64_t cols) {
  if (rows > 0)
    require_argument(cols == sphere_dimensions, text(name, ".cols"), cols, "2 for haversine: latitude and longitude");
}

/// The unit vector of a point, on the host; false, and nothing written, for coordinates out of range, see
/// metric::haversine. A right angle has the cosine 0, and all longitudes at a pole give the same point.
template <class Real>
bool write_unit_vector(Real latitude, Real longitude, angle_unit unit, Real* words);

/// Latitude and longitude, in [-180, 180] degrees, of a vector other than 0.
void write_coordinates(double x, double y, double z, angle_unit unit, double* coordinates);

}  // namespace quintet::pairwise
