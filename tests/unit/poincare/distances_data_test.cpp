#include <gtest/gtest.h>

#include "quintet/poincare/distances.hpp"
#include "support/ball_data.hpp"
#include "support/devices.hpp"
#include "support/near.hpp"
#include "support/real_types.hpp"

namespace quintet::test {
namespace {

template <class Real>
class poincare_pairs : public ::testing::Test {};
TYPED_TEST_SUITE(poincare_pairs, real_types);

template <class Real>
constexpr double pairs_bound = sizeof(Real) == 4 ? 5e-7 : 1e-13;

struct reference_pair {
  std::string name;
  double c, distance, seed_value;
  bool seed_clamped;
  std::vector<double> x, y;
};

std::vector<reference_pair> reference_pairs() {
  const csv_table table(hyperbolic_folder() / "poincare_pairs.csv");
  std::vector<reference_pair> pairs;
  for (std::size_t i = 0; i < table.rows(); ++i)
    pairs.push_back({table.at(i, "case"), std::stod(table.at(i, "c")), std::stod(table.at(i, "distance")),
                     std::stod(table.at(i, "seed_formula_value")), table.at(i, "seed_clamped") == "1",
                     parse_vector<double>(table.at(i, "x")), parse_vector<double>(table.at(i, "y"))});
  return pairs;
}

template <class Real>
Real distance_of(const reference_pair& pair, const poincare::distance_options& options) {
  const std::vector<Real> x(pair.x.begin(), pair.x.end()), y(pair.y.begin(), pair.y.end());
  return poincare::distance<Real>(x, y, options);
}

TYPED_TEST(poincare_pairs, every_row_within_the_bound) {
  QUINTET_SKIP_WITHOUT(hyperbolic_folder());
  const auto pairs = reference_pairs();
  ASSERT_EQ(pairs.size(), 26u + 1);
  for (const auto& pair : pairs) {
    const double found = distance_of<TypeParam>(pair, {.curvature = -pair.c});
    expect_error_within(pair.name, largest_error(std::vector{found}, std::vector{pair.distance}),
                        pairs_bound<TypeParam>);
  }
}

TYPED_TEST(poincare_pairs, matrix_has_the_bits_of_the_pair) {
  QUINTET_SKIP_WITHOUT(hyperbolic_folder());
  for (const auto& pair : reference_pairs()) {
    const std::vector<TypeParam> x(pair.x.begin(), pair.x.end()), y(pair.y.begin(), pair.y.end());
    const auto dim = std::int64_t(x.size());
    on_every_device([&](const Device& device) {
      TypeParam there = 0, back = 0;
      poincare::distances({x.data(), 1, dim}, {y.data(), 1, dim}, {&there, 1, 1}, {.curvature = -pair.c}, device);
      poincare::distances({y.data(), 1, dim}, {x.data(), 1, dim}, {&back, 1, 1}, {.curvature = -pair.c}, device);
      EXPECT_EQ(there, distance_of<TypeParam>(pair, {.curvature = -pair.c})) << pair.name;
      EXPECT_EQ(there, back) << pair.name;
    });
  }
}

// The old expression, which the data hold for comparison: the clamp constant is 1 - 1e-7 as double has it.
TEST(poincare_pairs_old, clamped_artanh_is_the_quoted_expression) {
  QUINTET_SKIP_WITHOUT(hyperbolic_folder());
  for (const auto& pair : reference_pairs()) {
    const double found =
        distance_of<double>(pair, {.curvature = -pair.c, .expression = poincare::formula::clamped_artanh});
    EXPECT_NEAR(found, pair.seed_value, 2e-8 * pair.seed_value + 1e-11 * (pair.seed_value > 0)) << pair.name;
  }
}

TYPED_TEST(poincare_pairs, mammals) {
  QUINTET_SKIP_WITHOUT(hyperbolic_folder());
  const auto points = mammals<TypeParam>();
  const csv_table table(hyperbolic_folder() / "mammals_pairs.csv");
  const auto first = table.integers("i"), second = table.integers("j");
  const auto expected = table.doubles("distance");
  std::vector<TypeParam> matrix(points.n * points.n), found;
  poincare::distances(points.view(), points.view(), {matrix.data(), points.n, points.n}, {}, Device::host());
  for (std::size_t p = 0; p < first.size(); ++p) found.push_back(matrix[first[p] * points.n + second[p]]);
  expect_error_within("mammals_pairs", largest_error(found, expected), pairs_bound<TypeParam>);
}

}  // namespace
}  // namespace quintet::test
