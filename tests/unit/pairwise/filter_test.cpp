// Filters by rounded inner products: bounds that hold for every pair, and results that do not know of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "device/dot_tile.hpp"
#include "pairwise/filtered_lists.hpp"
#include "pairwise/neighbours.hpp"
#include "pairwise/rounded_points.hpp"
#include "pairwise/stored_rows.hpp"
#include "quintet/core/storage16.hpp"
#include "quintet/hdbscan/core_distances.hpp"
#include "quintet/hdbscan/spanning_tree.hpp"
#include "quintet/neighbours/neighbours.hpp"
#include "support/devices.hpp"
#include "support/near.hpp"
#include "support/points.hpp"

namespace quintet::pairwise {
namespace {

using test::point_set;

// Sets of points that ask much of a bound, in double; what a type cannot hold is clamped.
struct named_set {
  std::string name;
  point_set<double> points;
};

std::vector<named_set> adversarial_sets(std::int64_t n, std::int64_t dim) {
  std::mt19937_64 random(std::uint64_t(n * 1000 + dim));
  std::normal_distribution<double> normal;
  const auto filled = [&](auto coordinate) {
    point_set<double> points(n, dim);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t k = 0; k < dim; ++k) points(i, k) = coordinate(i, k);
    return points;
  };
  const auto noise = [&](auto...) { return normal(random); };
  std::vector<named_set> sets;
  sets.push_back({"random", filled(noise)});
  point_set<double> sphere = filled(noise);
  for (std::int64_t i = 0; i < n; ++i) {
    double square = 0;
    for (std::int64_t k = 0; k < dim; ++k) square += sphere(i, k) * sphere(i, k);
    for (std::int64_t k = 0; k < dim; ++k) sphere(i, k) /= std::sqrt(square);
  }
  sets.push_back({"equal norms", sphere});
  sets.push_back({"clusters and duplicates", test::clustered_points<double>(n, dim, 5)});
  const point_set<double> base = filled(noise);
  sets.push_back({"near duplicates", filled([&](std::int64_t i, std::int64_t k) {
                    return base(i % 3, k) * (1 + std::ldexp(noise(), -int(4 + i % 22)));
                  })});
  sets.push_back({"all the same", filled([&](std::int64_t, std::int64_t k) { return base(0, k); })});
  sets.push_back({"two places", filled([&](std::int64_t i, std::int64_t k) { return base(i % 2, k); })});
  sets.push_back({"large offset", filled([&](std::int64_t, std::int64_t) { return 1e4 + noise(); })});
  sets.push_back(
      {"offset and no difference", filled([&](std::int64_t i, std::int64_t) { return 1e4 + double(i % 3); })});
  sets.push_back({"one huge coordinate",
                  filled([&](std::int64_t i, std::int64_t k) { return i == 1 && k == dim / 2 ? 1e15 : noise(); })});
  sets.push_back({"a huge column",
                  filled([&](std::int64_t i, std::int64_t k) { return k == 0 ? double(i % 5) * 1e8 : noise(); })});
  sets.push_back({"sizes of all orders",
                  filled([&](std::int64_t, std::int64_t) { return std::ldexp(noise(), -int(random() % 60)); })});
  sets.push_back({"below the normal range", filled([&](std::int64_t, std::int64_t) { return noise() * 1e-38; })});
  sets.push_back({"near the largest number", filled([&](std::int64_t, std::int64_t) { return noise() * 5e36; })});
  sets.push_back({"whole numbers", filled([&](std::int64_t, std::int64_t) { return double(random() % 4); })});
  sets.push_back({"zero", filled([](std::int64_t, std::int64_t) { return 0.0; })});
  // All rounding errors in one direction: points along a line, halfway between whole numbers after scaling or nearly
  // so.
  sets.push_back({"along a line", filled([&](std::int64_t i, std::int64_t k) {
                    return (k % 2 == 0 ? 1 : -1) * (1 + (2 * double(i) + 1) / 65536);
                  })});
  sets.push_back({"opposite points",
                  filled([&](std::int64_t i, std::int64_t k) { return (i % 2 == 0 ? 1 : -1) * base(i / 2 % 4, k); })});
  return sets;
}

template <class Storage>
point_set<Storage> stored_as(const point_set<double>& points) {
  const double largest = sizeof(Storage) == 2 && std::is_same_v<Storage, half> ? 65504 : 3e38;
  point_set<Storage> stored(points.n, points.dim);
  for (std::int64_t i = 0; i < points.n; ++i)
    for (std::int64_t k = 0; k < points.dim; ++k) {
      const double x = sizeof(Storage) == 8 ? points(i, k) : std::clamp(points(i, k), -largest, largest);
      stored(i, k) = Storage(accumulator_t<Storage>(x));
    }
  return stored;
}

/// Sums of products by packs of W lanes, of numbers that use all of 32 bits, as integers of 64 bits have them.
template <int W>
void expect_exact_products() {
  typedef device::pack<float, W> pack;
  std::mt19937_64 random(W);
  constexpr int words = 24, coordinates = 2 * words;
  // 48 products of numbers up to 6688 stay below 2^31.
  const auto number = [&] { return float(int(random() % 13377) - 6688); };
  std::vector<float> x(coordinates), y(coordinates * W);
  for (float& v : x) v = number();
  for (float& v : y) v = number();
  x[0] = device::max_int16;
  for (int lane = 0; lane < W; ++lane) y[lane] = lane % 2 == 0 ? -float(device::max_int16) : 1;
  pack sum{}, plain{};
  for (int k = 0; k < words; ++k) {
    const float row = device::pair_int16(x[2 * k], x[2 * k + 1]);
    const pack columns =
        device::pair_int16(device::load_pack<pack>(&y[2 * k * W]), device::load_pack<pack>(&y[(2 * k + 1) * W]));
    device::add_products(sum, columns, &row);
    device::add_products_plain(plain, columns, &row);
  }
  for (int lane = 0; lane < W; ++lane) {
    std::int64_t expected = 0;
    for (int k = 0; k < coordinates; ++k) expected += std::int64_t(x[k]) * std::int64_t(y[k * W + lane]);
    ASSERT_LT(std::abs(expected), std::int64_t(1) << 31);
    EXPECT_EQ(get_lane<W>(device::product_sums(sum), lane), float(expected)) << W << " lanes, " << lane;
    EXPECT_EQ(get_lane<W>(device::product_sums(plain), lane), float(expected)) << W << " lanes, " << lane;
  }
}

TEST(dot_tile, products_are_exact) {
  expect_exact_products<1>();
  expect_exact_products<4>();
  expect_exact_products<8>();
  expect_exact_products<16>();
}

/// What a test spoils: a bound without it has to be found too small.
enum class fault { none, no_rounding_error, whole_squares };

struct bound_check {
  std::int64_t pairs = 0, too_large = 0;
  double kept = 0;  ///< mean of bound / distance of pairs that are not at one place
};

/// Compares the bounds of all pairs with sums in long double of the coordinates as they are packed, and with the
/// distances that tiles compute.
template <class Storage>
bound_check check_bounds(const point_set<Storage>& points, metric kind, const Device& device, fault spoilt) {
  using Real = accumulator_t<Storage>;
  const scanned_points<Storage> scan(points.view(), kind, device);
  const auto order = scan.valid_rows();
  if (order.size() < 2) return {};
  const auto packed = scan.pack(order);
  const int k = int(packed.count) - 1;
  const rounded_points rounded(packed);
  dot_bounds bounds = rounded_points::between(rounded, rounded);
  Buffer<float> square(packed.blocks() * packed.block_side, device), error(square.size(), device);
  if (spoilt == fault::no_rounding_error) {
    error.copy_from_host(std::vector<float>(error.size(), 0).data(), error.size());
    bounds.row.error = bounds.col.error = error.data();
  }
  if (spoilt == fault::whole_squares) {
    std::vector<float> squares = rounded.squares();
    for (float& x : squares) x = float(x / (1 - 16 * 0x1p-24));
    square.copy_from_host(squares.data(), square.size());
    bounds.row.square = bounds.col.square = square.data();
  }
  const auto lists = on_host(nearest_bounds_on_device(bounds, rounded.pairs(), packed, k));
  const auto exact = on_host(nearest_others_on_device(packed, k));
  const auto coordinate = [&](std::int64_t i, std::int64_t c) {
    const Real x = points(order[i], c);
    return kind == metric::cosine ? Real(x * scan.numbers()[order[i]]) : Real(x * scan.scale());
  };
  bound_check result;
  std::int64_t apart = 0;
  std::vector<Real> computed(packed.count);
  for (std::int64_t i = 0; i < packed.count; ++i) {
    for (int e = 0; e < k; ++e) computed[exact.index[i * k + e]] = exact.value[i * k + e];
    for (int e = 0; e < k; ++e) {
      const std::int64_t j = lists.index[i * k + e];
      if (j < 0) {
        ADD_FAILURE() << "no bound for a pair of row " << i;
        break;
      }
      long double square_sum = 0;
      for (std::int64_t c = 0; c < points.dim; ++c) {
        const long double d = (long double)(coordinate(i, c)) - (long double)(coordinate(j, c));
        square_sum += d * d;
      }
      const double bound = lists.value[i * k + e];
      ++result.pairs;
      if ((long double)(bound) > square_sum || bound > double(computed[j])) ++result.too_large;
      if (!(bound >= 0)) ++result.too_large;
      if (square_sum > 0) {
        result.kept += double((long double)(bound) / square_sum);
        ++apart;
      }
    }
  }
  if (apart > 0) result.kept /= double(apart);
  return result;
}

template <class Storage>
void expect_bounds_of(std::int64_t n, std::int64_t dim, const Device& device) {
  for (const named_set& set : adversarial_sets(n, dim))
    for (const metric kind : {metric::euclidean, metric::cosine}) {
      const bound_check found = check_bounds(stored_as<Storage>(set.points), kind, device, fault::none);
      EXPECT_EQ(found.too_large, 0) << set.name << ", " << to_string(kind) << ", " << dim << " dimensions, of "
                                    << found.pairs;
      if (dim > 30 && (set.name == "random" || set.name == "equal norms")) {
        EXPECT_GT(found.kept, 0.998) << set.name;
      }
    }
}

TEST(filter_bounds, hold_for_adversarial_points) {
  test::on_every_device([](const Device& device) {
    expect_bounds_of<float>(40, 100, device);
    expect_bounds_of<double>(40, 65, device);
  });
  for (const std::int64_t dim : {1, 2, 31, 384}) expect_bounds_of<float>(40, dim, Device::host());
  expect_bounds_of<bfloat16>(40, 65, Device::host());
  expect_bounds_of<half>(40, 65, Device::host());
}

TEST(filter_bounds, hold_in_many_dimensions) {
  for (const std::int64_t dim : {768, 4100}) expect_bounds_of<float>(20, dim, Device::host());
}

// The test above can fail: bounds that leave something out are too small for some set.
TEST(filter_bounds, that_leave_something_out_are_noticed) {
  test::on_every_device([](const Device& device) {
    std::int64_t without_rounding = 0, without_sums = 0;
    // Sums with one rounding a term, and with two where the processor has no multiply-add, err in different pairs.
    for (const std::int64_t dim : {100, 150, 200})
      for (const named_set& set : adversarial_sets(40, dim)) {
        without_rounding +=
            check_bounds(stored_as<float>(set.points), metric::euclidean, device, fault::no_rounding_error).too_large;
        // Numbers that are rounded already: nothing but the sums is left.
        without_sums +=
            check_bounds(stored_as<bfloat16>(set.points), metric::euclidean, device, fault::whole_squares).too_large;
      }
    EXPECT_GT(without_rounding, 0);
    EXPECT_GT(without_sums, 0);
  });
}

// Results.

template <class Storage>
std::vector<named_set> sets_for_lists(std::int64_t n, std::int64_t dim) {
  std::vector<named_set> sets = adversarial_sets(n, dim);
  named_set holes{"with rows that are not finite", test::clustered_points<double>(n, dim, 7)};
  holes.points(0, dim - 1) = std::numeric_limits<double>::quiet_NaN();
  holes.points(n - 1, 0) = holes.points(n / 2, 0) = std::numeric_limits<double>::infinity();
  sets.push_back(holes);
  return sets;
}

template <class Storage>
void expect_same_lists(std::int64_t n, std::int64_t dim, int k, const Device& device) {
  for (const named_set& set : sets_for_lists<Storage>(n, dim))
    for (const metric kind : {metric::euclidean, metric::cosine}) {
      SCOPED_TRACE(set.name + ", k = " + std::to_string(k));
      const auto points = stored_as<Storage>(set.points);
      const auto found = [&](filter_mode use) {
        const filter_guard guard(use);
        return std::pair(neighbours::nearest<Storage>(points.view(), k, {.distance = kind}, device),
                         hdbscan::core_distances<Storage>(points.view(), {.min_samples = k, .distance = kind}, device));
      };
      const auto [lists, core] = found(filter_mode::always);
      const auto [expected, expected_core] = found(filter_mode::never);
      ASSERT_EQ(lists.index, expected.index);
      for (std::size_t e = 0; e < expected.distance.size(); ++e)
        if (expected.index[e] >= 0) ASSERT_EQ(lists.distance[e], expected.distance[e]);
      for (std::int64_t i = 0; i < n; ++i)
        ASSERT_TRUE(core.distances[i] == expected_core.distances[i] || std::isnan(expected_core.distances[i])) << i;
    }
}

TEST(filter_lists, have_the_bits_of_all_pairs) {
  test::on_every_device([](const Device& device) {
    expect_same_lists<float>(100, 24, 5, device);
    expect_same_lists<double>(70, 17, 3, device);
  });
  expect_same_lists<bfloat16>(110, 40, 3, Device::host());
  for (const std::int64_t dim : {16, 384, 768}) expect_same_lists<float>(200, dim, 16, Device::host());
  expect_same_lists<half>(130, 64, 20, Device::host());
}

TEST(filter_lists, of_every_length) {
  for (const int k : {1, 2, 30, 80, 98})
    for (const std::int64_t n : {100, 193}) expect_same_lists<float>(n, 20, k, Device::host());
}

template <class Storage>
void expect_same_tree(std::int64_t n, std::int64_t dim, const Device& device) {
  for (const named_set& set : sets_for_lists<Storage>(n, dim))
    for (const metric kind : {metric::euclidean, metric::cosine})
      for (const double alpha : {0.75, 1.0}) {
        if (alpha == 1 && device.kind() != device_kind::host) continue;  // one factor is enough for emulated threads
        SCOPED_TRACE(set.name);
        const auto points = stored_as<Storage>(set.points);
        const auto found = [&](filter_mode use) {
          const filter_guard guard(use);
          hdbscan::spanning_tree_options options;
          options.min_samples = 4;
          options.distance = kind;
          options.alpha = alpha;
          return hdbscan::spanning_tree(points.view(), options, device);
        };
        const auto tree = found(filter_mode::always), expected = found(filter_mode::never);
        ASSERT_EQ(tree.edges.size(), expected.edges.size());
        for (std::size_t e = 0; e < expected.edges.size(); ++e) {
          ASSERT_EQ(tree.edges[e].u, expected.edges[e].u) << e;
          ASSERT_EQ(tree.edges[e].v, expected.edges[e].v) << e;
          ASSERT_EQ(tree.edges[e].weight, expected.edges[e].weight) << e;
        }
      }
}

TEST(filter_tree, has_the_bits_of_all_pairs) {
  test::on_every_device([](const Device& device) { expect_same_tree<float>(100, 20, device); });
  expect_same_tree<double>(100, 33, Device::host());
  expect_same_tree<bfloat16>(100, 40, Device::host());
  for (const std::int64_t dim : {16, 100, 384}) expect_same_tree<float>(400, dim, Device::host());
}

// Few points: for teams of every size.
TEST(filter_teams, have_the_bits_of_all_pairs) {
  const auto points = stored_as<float>(test::clustered_points<double>(150, 40, 9));
  std::vector<hdbscan::spanning_tree_result> trees;
  test::on_every_device([&](const Device& device) {
    for (const filter_mode use : {filter_mode::never, filter_mode::always}) {
      const filter_guard guard(use);
      hdbscan::spanning_tree_options options;
      options.min_samples = 3;
      trees.push_back(hdbscan::spanning_tree(points.view(), options, device));
    }
  });
  for (const auto& tree : trees) {
    ASSERT_EQ(tree.edges.size(), trees[0].edges.size());
    for (std::size_t e = 0; e < tree.edges.size(); ++e) {
      EXPECT_EQ(tree.edges[e].u, trees[0].edges[e].u);
      EXPECT_EQ(tree.edges[e].v, trees[0].edges[e].v);
      EXPECT_EQ(tree.edges[e].weight, trees[0].edges[e].weight);
    }
  }
}

// Groups that are small beside their distances: all that a scale has is spent on where a group is.
TEST(filter, is_given_up_where_bounds_decide_nothing) {
  constexpr std::int64_t n = 8200, dim = 100;
  point_set<float> points(n, dim);
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> centre(8 * dim);
  for (double& x : centre) x = normal(random);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < dim; ++k) points(i, k) = float(centre[i % 8 * dim + k] + 1e-5 * normal(random));
  const auto stays_with = [&](double spread) {
    point_set<float> spread_out = points;
    for (float& x : spread_out.data) x += float(spread * normal(random));
    const scanned_points<float> scan(spread_out.view(), metric::euclidean, Device::host());
    std::optional<rounded_points> filter;
    nearest_others_filtered(scan, {}, scan.pack(), {.length = 8, .exact = 4}, {}, &filter);
    return filter.has_value();
  };
  EXPECT_FALSE(stays_with(0));
  EXPECT_EQ(stays_with(0.5), device::has_fast_products);
}

// Radii to 30, where float has no digits left, rows that are not finite, and points a rounding apart.
TEST(filter, queries_on_the_hyperboloid_have_the_lists_of_all_pairs) {
  for (const std::int64_t dim : {1, 5, 33})
    for (const double radius : {1e-3, 3.0, 12.0, 30.0}) {
      SCOPED_TRACE(::testing::Message() << dim << ", " << radius);
      auto all = adversarial_sets(500, dim)[0].points;
      std::mt19937_64 random(7);
      std::uniform_real_distribution<double> uniform(0, radius);
      for (std::int64_t i = 0; i < all.n; ++i) {
        double square = 0;
        for (std::int64_t k = 0; k < dim; ++k) square += all(i, k) * all(i, k);
        const double factor = std::sinh(uniform(random)) / std::sqrt(square);
        for (std::int64_t k = 0; k < dim; ++k) all(i, k) *= factor;
      }
      for (std::int64_t k = 0; k < dim; ++k) {
        all(20, k) = all(21, k) = all(22, k) = all(400, k);
        all(401, k) = all(402, k) = all(23, k) * (1 + 1e-15);
      }
      all(30, 0) = all(410, 0) = std::numeric_limits<double>::quiet_NaN();
      const matrix_view<const double> points(all.data.data(), 400, dim, all.stride),
          queries = all.view().slice(400, 500);
      for (const std::int64_t k : {1, 10, 70}) {
        const auto nearest = [&](filter_mode use, const Device& device) {
          const filter_guard guard(use);
          return neighbours::nearest<double>(queries, points, k, {metric::lorentz}, device);
        };
        const auto expected = nearest(filter_mode::never, Device::host());
        test::on_every_device([&](const Device& device) {
          const auto found = nearest(filter_mode::always, device);
          EXPECT_EQ(found.index, expected.index) << k;
          test::expect_same_bits(found.distance, expected.distance);
        });
      }
    }
}

TEST(filter, is_never_used_for_other_metrics) {
  const auto points = stored_as<float>(adversarial_sets(60, 30)[0].points);
  const filter_guard guard(filter_mode::always);
  for (const metric kind : {metric::manhattan, metric::chebyshev, metric::poincare})
    EXPECT_FALSE(filter_pays(scanned_points<float>(points.view(), kind, Device::host()), 60, 5)) << to_string(kind);
  EXPECT_TRUE(filter_pays(scanned_points<float>(points.view(), metric::euclidean, Device::host()), 60, 5));
  const filter_guard off(filter_mode::never);
  EXPECT_FALSE(filter_pays(scanned_points<float>(points.view(), metric::euclidean, Device::host()), 60, 5));
}

}  // namespace
}  // namespace quintet::pairwise
