// Unit vectors of points on a sphere, and great-circle distances.
#include "pairwise/sphere.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "reference/pairwise_reference.hpp"
#include "support/dense_matrix.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/pack_errors.hpp"
#include "support/points.hpp"
#include "support/real_types.hpp"

namespace quintet::pairwise {
namespace {

using test::dense_matrix;
using test::point_set;

template <class Real>
class sphere_of : public ::testing::Test {};
TYPED_TEST_SUITE(sphere_of, test::real_types);

template <class Real>
std::vector<Real> unit_vector(Real latitude, Real longitude, angle_unit unit = angle_unit::degrees) {
  std::vector<Real> words(unit_vector_words, Real(-7));
  if (!write_unit_vector(latitude, longitude, unit, words.data())) words.clear();
  return words;
}

TYPED_TEST(sphere_of, right_angles_are_exact) {
  using words = std::vector<TypeParam>;
  for (const TypeParam longitude : {0, 13, 180, -270, 360})
    EXPECT_EQ(unit_vector<TypeParam>(90, longitude), (words{0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(unit_vector<TypeParam>(-90, 77), (words{0, 0, -1, 0, 0, 0}));
  EXPECT_EQ(unit_vector<TypeParam>(0, 360), (words{1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(unit_vector<TypeParam>(0, 90), (words{0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(unit_vector<TypeParam>(0, -270), (words{0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(unit_vector<TypeParam>(0, 180), (words{-1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(unit_vector<TypeParam>(0, -180), (words{-1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(unit_vector<TypeParam>(48, 200), unit_vector<TypeParam>(48, -160));
}

/// Both words of every coordinate, against long double.
TYPED_TEST(sphere_of, second_words_hold_what_first_ones_leave) {
  constexpr long double degree = std::numbers::pi_v<long double> / 180;
  for (const TypeParam latitude : {-33.9f, -0.3f, 1e-4f, 48.2f, 89.9f})
    for (const TypeParam longitude : {-151.2f, 0.7f, 16.4f, 179.9f, 300.3f}) {
      const long double across = std::cos(latitude * degree);
      const long double expected[] = {across * std::cos(longitude * degree), across * std::sin(longitude * degree),
                                      std::sin(latitude * degree)};
      const auto words = unit_vector<TypeParam>(latitude, longitude);
      // long double itself is within 2^-64.
      const double bound = sizeof(TypeParam) == 4 ? 0x1p-47 : 0x1p-62;
      for (int k = 0; k < 3; ++k)
        test::expect_error_within(
            "coordinate", double(std::fabs((long double)words[k] + (long double)words[k + 3] - expected[k])), bound);
    }
}

TYPED_TEST(sphere_of, coordinates_out_of_range_have_no_vector) {
  const TypeParam above = std::nextafter(TypeParam(90), TypeParam(91));
  const TypeParam not_a_number = std::numeric_limits<TypeParam>::quiet_NaN();
  EXPECT_EQ(unit_vector<TypeParam>(above, 0).size(), 0U);
  EXPECT_EQ(unit_vector<TypeParam>(-above, 0).size(), 0U);
  EXPECT_EQ(unit_vector<TypeParam>(0, std::nextafter(TypeParam(360), TypeParam(361))).size(), 0U);
  EXPECT_EQ(unit_vector<TypeParam>(not_a_number, 0).size(), 0U);
  EXPECT_EQ(unit_vector<TypeParam>(0, not_a_number).size(), 0U);
  const auto quarter = TypeParam(std::numbers::pi / 2);
  EXPECT_EQ(unit_vector<TypeParam>(quarter, 4 * quarter, angle_unit::radians).size(), 6U);
  EXPECT_EQ(unit_vector<TypeParam>(std::nextafter(quarter, TypeParam(2)), 0, angle_unit::radians).size(), 0U);
}

// The float nearest to pi / 2 is beyond it and counts as the pole; the double is not the pole.
TEST(sphere, nearest_numbers_to_a_quarter_turn) {
  const auto single = float(std::numbers::pi / 2);
  EXPECT_EQ(unit_vector<float>(single, 1, angle_unit::radians), unit_vector<float>(90, 0));
  const double quarter = std::numbers::pi / 2;
  const auto words = unit_vector<double>(quarter, 0, angle_unit::radians);
  EXPECT_DOUBLE_EQ(words[0], 6.1232339957367658860e-17);
  EXPECT_EQ(words[2], 1);
}

TYPED_TEST(sphere_of, radians_are_degrees) {
  for (const double latitude : {-89.0, -45.0, -0.125, 0.0, 30.0, 45.5})
    for (const double longitude : {-359.0, -181.0, -90.0, -45.0, 0.0, 44.0, 135.0, 300.0}) {
      const auto a = unit_vector<TypeParam>(TypeParam(latitude), TypeParam(longitude));
      const auto b = unit_vector<TypeParam>(TypeParam(latitude * std::numbers::pi / 180),
                                            TypeParam(longitude * std::numbers::pi / 180), angle_unit::radians);
      for (int k = 0; k < 3; ++k) EXPECT_NEAR(a[k], b[k], 8 * std::numeric_limits<TypeParam>::epsilon());
    }
}

struct sphere_pair {
  double latitude1, longitude1, latitude2, longitude2;
  long double arc;  ///< by mpmath with 60 digits, of the coordinates as they are
};

// Of haversine_pairs.csv (quintet's specification of this metric): 1 mm to antipodes, across the date line and a pole.
const sphere_pair pairs[] = {
    {-5.923895934411321, -47.62815491159762, -5.92389592211289, -47.62815487072976, 7.412294385908157301634165e-10L},
    {37.59743297386446, 166.92151422418954, 37.597432858569036, 166.921514240521, 2.024918159536716903206639e-9L},
    {29.76448105151407, -20.59599957462177, 29.76448145962119, -20.59599989411052, 8.611899449080987042831171e-9L},
    {-90.0, 10.0, -89.999999, 190.0, 1.745329247587796820797784e-8L},
    {-19.90956799412811, 103.83433323422554, -19.90957277262516, 103.83433476291754, 8.709163996611228215012582e-8L},
    {2.4673598399765715, -68.77144833278719, 2.467405103393541, -68.77146596356731, 0.0000008477064747630617L},
    {42.82512908871999, 3.418517347743375, 42.8251449339276, 3.417382370520812, 0.0000145312461277075027L},
    {52.13243692946258, -27.821913499642562, 52.13814413608256, -27.82047120671953, 0.0001008007722559950648L},
    {-26.86585846661853, -177.44694170286016, -26.870192787465406, -177.47234782978038, 0.0004027220210423392131L},
    {-14.460115883146763, -65.97426003949285, -14.429303789086216, -65.90821332143592, 0.0012390763635553912739L},
    {-36.69774554752222, 175.75880443927645, -36.93245448774571, 176.1155129239633, 0.0064515567004351227268L},
    {20.299030058326608, 150.8719030681761, 21.797482448746713, 149.45314139834284, 0.0348997906094603281599L},
    {60.0, 0.0, 60.0, 180.0, 1.0471975511965977461542L},
    {-77.30763445116592, -124.67190213868759, 77.40519735219502, 55.29557689430272, 3.1398853334682473025972L},
    {74.05833255091645, -82.33799428773202, -74.0580068362812, 97.6618971407229, 3.1415869450214772734893L},
    {-50.113011303390635, -58.23059821717483, 50.11301319229764, 121.7694011531895, 3.1415926198773693284373L},
    {-44.398901448596405, -78.39276537215201, 44.39890146702364, 101.60723462170557, 3.1415926532591818649716L},
    {-54.63119456212597, -8.586760898012926, 54.63119456217584, 171.41323910197045, 3.1415926535889067314713L},
    {-35.789917744775565, -154.9900184532008, 35.78991774477877, 25.009981546798127, 3.1415926535897352957149L},
    {45.0, 45.0, -45.0, -135.0, 3.1415926535897932384626L},
};

TEST(sphere, distances_are_within_4_ulp) {
  for (const double radius : {1.0, 6371008.8})
    for (const sphere_pair& p : pairs) {
      point_set<double> points(2, 2);
      points(0, 0) = p.latitude1, points(0, 1) = p.longitude1;
      points(1, 0) = p.latitude2, points(1, 1) = p.longitude2;
      const auto found = dense_matrix(points.view(), {}, {.distance = {metric::haversine, radius}});
      EXPECT_EQ(found[1], found[2]);
      EXPECT_LE(test::ulps<double>(found[1], p.arc * (long double)radius), 4) << p.latitude1 << ", " << p.longitude1;
    }
}

// Anywhere on the globe, against the law of haversines in long double.
TYPED_TEST(sphere_of, matrices_are_those_of_the_reference) {
  test::on_every_device([](const Device& device) {
    for (const angle_unit unit : {angle_unit::degrees, angle_unit::radians}) {
      point_metric distance(metric::haversine, 2.5);
      distance.unit = unit;
      auto points = test::sphere_points<TypeParam>(150, 3);
      if (unit == angle_unit::radians) {
        // No number is the pole in radians, so the reference has none either.
        for (std::int64_t i = 0; i < points.n; ++i)
          if (points(i, 0) == 90) points(i, 0) = 89;
        points = test::scaled(points, TypeParam(std::numbers::pi / 180));
      }
      const auto exact = reference::distances(reference::widened(points.view()), distance);
      const auto found = dense_matrix(points.view(), {}, {.distance = distance}, device);
      double worst = 0;
      for (std::int64_t i = 0; i < points.n; ++i)
        for (std::int64_t j = 0; j < points.n; ++j) {
          const TypeParam d = found[i * points.n + j];
          ASSERT_EQ(std::isnan(exact(i, j)), std::isnan(d)) << i << ", " << j;
          if (std::isnan(d)) continue;
          ASSERT_EQ(d, found[j * points.n + i]);
          if (exact(i, j) < 2.5e-6 || exact(i, j) > 2.5 * (std::numbers::pi - 1e-6)) continue;
          worst = std::max(worst, test::ulps<TypeParam>(d, exact(i, j)));
        }
      test::expect_error_within("haversine", worst, 4);
    }
  });
}

TYPED_TEST(sphere_of, bad_arguments) {
  const point_set<TypeParam> points(3, 3);
  const auto matrix = [&](const point_metric& distance, const point_set<TypeParam>& rows) {
    dense_matrix(rows.view(), {}, {.distance = distance});
  };
  expect_invalid([&] { matrix(metric::haversine, points); },
                 "points.cols must be 2 for haversine: latitude and longitude (points.cols=3)");
  expect_invalid([&] { matrix({metric::haversine, 0}, point_set<TypeParam>(3, 2)); },
                 "sphere_radius must be in [1e-30, 1e30] (sphere_radius=0)");
}

}  // namespace
}  // namespace quintet::pairwise
