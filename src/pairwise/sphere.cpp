#include "pairwise/sphere.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "device/doubled.hpp"
#include "instantiate.hpp"

namespace quintet::pairwise {

namespace {

using device::doubled;

constexpr doubled half_pi{1.5707963267948965580, 6.1232339957367658860e-17};
constexpr doubled radians_per_degree{1.7453292519943295474e-2, 2.9486522708701687e-19};

/// An angle as quarter turns and a rest of at most half of one, in radians.
struct turned_angle {
  int quarters;
  doubled rest;
};

turned_angle turn(double angle, angle_unit unit) {
  if (unit == angle_unit::degrees) {
    // The remainder is exact.
    int quarters = 0;
    const double rest = std::remquo(angle, 90.0, &quarters);
    return {quarters, doubled{rest, 0} * radians_per_degree};
  }
  const double quarters = std::nearbyint(angle / half_pi.high);
  const doubled high = doubled::product(quarters, half_pi.high), low = doubled::product(quarters, half_pi.low);
  return {int(quarters), (doubled::sum(angle, -high.high) + doubled{-high.low, 0}) - low};
}

constexpr int terms = 14, doubled_terms = 9;  ///< terms below 2^-52 need one word

/// 1 / (n (n + 1)) for n = first, first + 2, ...
template <int First>
constexpr std::array<doubled, terms> inverses = [] {
  std::array<doubled, terms> table;
  for (int k = 0; k < terms; ++k) {
    // 1 - divisor * high is exact: so are the products of both halves of high.
    const double divisor = (First + 2 * k) * (First + 2 * k + 1);
    const double high = 1 / divisor, upper = double(float(high)), lower = high - upper;
    table[k] = {high, ((1 - divisor * upper) - divisor * lower) / divisor};
  }
  return table;
}();

/// 1 - z / (First (First + 1)) (1 - z / ((First + 2) (First + 3)) (1 - ...)), for z <= (pi / 4)^2: Taylor's series of
/// the cosine (First = 1), and of the sine over its angle (First = 2).
template <int First>
doubled alternating_series(const doubled& z) {
  double tail = 1;
  for (int k = terms - 1; k >= doubled_terms; --k) tail = 1 - z.high * inverses<First>[k].high * tail;
  doubled sum{tail, 0};
  for (int k = doubled_terms - 1; k >= 0; --k) sum = doubled{1, 0} - (z * inverses<First>[k]) * sum;
  return sum;
}

struct sine_and_cosine {
  doubled sine, cosine;
};

sine_and_cosine of_angle(const turned_angle& angle) {
  const doubled z = angle.rest * angle.rest;
  const doubled cosine = alternating_series<1>(z), sine = angle.rest * alternating_series<2>(z);
  const auto negative = [](const doubled& x) { return doubled{-x.high, -x.low}; };
  switch (angle.quarters & 3) {
    case 1:
      return {cosine, negative(sine)};
    case 2:
      return {negative(sine), negative(cosine)};
    case 3:
      return {negative(cosine), sine};
    default:
      return {sine, cosine};
  }
}

/// Not inlined: g++ 12 takes what a float leaves of a double for 0 where it vectorises several calls.
template <class Real>
[[gnu::noinline]] void write_words(const doubled& x, Real* words, int k) {
  const Real high = Real(x.high);
  words[k] = high;
  words[k + 3] = Real((x.high - double(high)) + x.low);
}

}  // namespace

template <class Real>
bool write_unit_vector(Real latitude, Real longitude, angle_unit unit, Real* words) {
  const bool in_degrees = unit == angle_unit::degrees;
  const Real most_latitude = in_degrees ? Real(90) : Real(half_pi.high);
  const Real most_longitude = in_degrees ? Real(360) : Real(4 * half_pi.high);
  if (!(std::fabs(latitude) <= most_latitude && std::fabs(longitude) <= most_longitude)) return false;
  turned_angle from_equator = turn(double(latitude), unit);
  // The float nearest to pi / 2 is above it.
  if (!in_degrees && std::fabs(double(latitude)) > half_pi.high) from_equator = {latitude > 0 ? 1 : -1, {}};
  const sine_and_cosine height = of_angle(from_equator), along = of_angle(turn(double(longitude), unit));
  write_words(height.cosine * along.cosine, words, 0);
  write_words(height.cosine * along.sine, words, 1);
  write_words(height.sine, words, 2);
  return true;
}

void write_coordinates(double x, double y, double z, angle_unit unit, double* coordinates) {
  const double by = unit == angle_unit::degrees ? 180 / std::numbers::pi : 1;
  coordinates[0] = std::atan2(z, std::hypot(x, y)) * by;
  coordinates[1] = std::atan2(y, x) * by;
}

#define QUINTET_INSTANTIATE(Real) template bool write_unit_vector(Real, Real, angle_unit, Real*);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::pairwise
