// The clustering of rows that are spread over ranks has the bits of the plain library.
#include "quintet/mpi/hdbscan.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>

#include "mpi/ranks.hpp"
#include "mpi/spread.hpp"
#include "pairwise/filter_use.hpp"
#include "support/ball_points.hpp"
#include "support/bit_rows.hpp"
#include "support/devices.hpp"
#include "support/integer_rows.hpp"
#include "support/points.hpp"

namespace quintet {
namespace {

using test::point_set, test::ranks, test::own_rows;

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
std::vector<T> own_part(const std::vector<T>& all, std::int64_t n) {
  const mpi::row_range mine = mpi::even_rows(n, ranks().rank(), ranks().size());
  return {all.begin() + mine.first, all.begin() + mine.first + mine.count};
}

template <class Storage>
void expect_same_tree(const point_set<Storage>& points, const hdbscan::spanning_tree_options& options,
                      const Device& device) {
  const auto expected = hdbscan::spanning_tree(points.view(), options, Device::host());
  const auto [rows, first] = own_rows(points);
  const auto found = mpi::hdbscan::spanning_tree(ranks(), rows, first, options, device);
  EXPECT_EQ(found.neighbours, expected.neighbours);
  EXPECT_EQ(found.clamped, expected.clamped);
  EXPECT_EQ(found.invalid_rows, expected.invalid_rows);
  if (!ranks().is_root()) {
    EXPECT_TRUE(found.edges.empty());
    return;
  }
  EXPECT_EQ(found.edges, expected.edges);
  EXPECT_TRUE(same_bits(found.core_distances, expected.core_distances));
}

TEST(mpi_spanning_tree, has_the_bits_of_the_plain_one) {
  for (const std::int64_t n : {0, 1, 2, ranks().size() - 1, ranks().size(), 97, 700}) {
    SCOPED_TRACE(n);
    expect_same_tree(test::clustered_points<float>(n, 40, 1, 3), {}, Device::host());
  }
  // More blocks than ranks, pivots, tables with an entry for every block.
  expect_same_tree(test::clustered_points<float>(2000, 33, 2), {.min_samples = 3}, Device::host());
  expect_same_tree(test::clustered_points<double>(1500, 5, 3), {.min_samples = 8}, Device::host());
}

// As with so many points that a rank keeps bounds of a part of its tiles at a time.
TEST(mpi_spanning_tree, bounds_strip_by_strip) {
  setenv("QUINTET_MPI_STRIP", "3", 1);
  expect_same_tree(test::clustered_points<float>(1900, 40, 31), {.min_samples = 3}, Device::host());
  expect_same_tree(test::grid_points<double>(1300, 40, 2, 32), {}, Device::host());
  test::on_other_devices(
      [](const Device& device) { expect_same_tree(test::clustered_points<float>(500, 40, 33), {}, device); });
  unsetenv("QUINTET_MPI_STRIP");
}

TEST(mpi_spanning_tree, ties_and_duplicates) {
  for (const std::int64_t values : {2, 5}) {
    expect_same_tree(test::grid_points<float>(1200, 3, values, 4), {}, Device::host());
    expect_same_tree(test::grid_points<double>(300, 2, values, 5), {.min_samples = 0}, Device::host());
  }
}

TEST(mpi_spanning_tree, rows_that_do_not_count) {
  auto points = test::clustered_points<float>(1300, 6, 6);
  for (std::int64_t i = 0; i < points.n; i += 7) points(i, i % 6) = std::numeric_limits<float>::quiet_NaN();
  // All rows of a rank.
  const mpi::row_range last = mpi::even_rows(points.n, ranks().size() - 1, ranks().size());
  for (std::int64_t i = last.first; i < last.first + last.count && ranks().size() > 1; ++i)
    points(i, 0) = std::numeric_limits<float>::infinity();
  expect_same_tree(points, {}, Device::host());
  expect_same_tree(point_set<float>(20, 3), {}, Device::host());  // NaN everywhere
}

TEST(mpi_spanning_tree, other_metrics_and_types) {
  expect_same_tree(test::clustered_points<float>(1100, 20, 7), {.distance = metric::cosine}, Device::host());
  expect_same_tree(test::ball_points<float>(1100, 6, 0.1, 0.99, 2.0, 8), {.distance = {metric::poincare, -2}},
                   Device::host());
  expect_same_tree(test::ball_points<double>(400, 3, 0.1, 0.99, 1.0, 9), {.distance = metric::poincare},
                   Device::host());
  const auto points = test::clustered_points<float>(500, 17, 10);
  point_set<half> halves(points.n, points.dim);
  point_set<bfloat16> brains(points.n, points.dim);
  for (std::size_t e = 0; e < points.data.size(); ++e) {
    halves.data[e] = half(points.data[e]);
    brains.data[e] = bfloat16(points.data[e]);
  }
  expect_same_tree(halves, {}, Device::host());
  expect_same_tree(brains, {.distance = metric::cosine}, Device::host());
}

TEST(mpi_spanning_tree, points_of_the_hyperboloid) {
  expect_same_tree(test::scaled(test::clustered_points<double>(1100, 20, 45), 100.0), {.distance = metric::lorentz},
                   Device::host());
  expect_same_tree(test::scaled(test::clustered_points<double>(2200, 2, 46), 1e6),
                   {.distance = {metric::lorentz, -0.5}}, Device::host());
}

TEST(mpi_spanning_tree, sums_and_maxima_of_differences) {
  for (const point_metric& distance :
       {point_metric(metric::manhattan), point_metric(metric::chebyshev), point_metric(metric::minkowski, 3)}) {
    expect_same_tree(test::clustered_points<float>(1100, 20, 27), {.distance = distance}, Device::host());
    expect_same_tree(test::clustered_points<double>(2200, 2, 28), {.distance = distance}, Device::host());
  }
}

TEST(mpi_spanning_tree, of_a_sphere) {
  expect_same_tree(test::sphere_points<float>(400, 29), {.distance = metric::haversine}, Device::host());
  expect_same_tree(test::sphere_points<double>(2400, 30), {.distance = {metric::haversine, 6371}}, Device::host());
}

TEST(mpi_spanning_tree, of_rows_of_bits) {
  for (const metric kind : {metric::hamming, metric::jaccard})
    for (const std::int64_t n : {1, 97, 1100, 2200}) {
      const test::bit_set rows = test::clustered_bits(n, 166, 31, 0.08);
      expect_same_tree(test::words_of(rows, 2), {.min_samples = 4, .distance = rows.packed().distance(kind)},
                       Device::host());
    }
}

TEST(mpi_spanning_tree, of_rows_of_integers) {
  for (const metric kind : {metric::integer_euclidean, metric::integer_cosine})
    for (const std::int64_t n : {97, 1100}) {
      const test::integer_set rows = test::clustered_integers(n, 22, 31);
      expect_same_tree(test::words_of(rows, 2), {.min_samples = 4, .distance = rows.packed.distance(kind)},
                       Device::host());
    }
}

/// Sets of points of which bounds by rounded points leave much, or nothing, open.
std::vector<point_set<float>> sets_for_filters(std::int64_t n, std::int64_t dim) {
  std::vector<point_set<float>> sets{test::clustered_points<float>(n, dim, 41), test::grid_points<float>(n, dim, 2, 42),
                                     test::clustered_points<float>(n, dim, 43), point_set<float>(n, dim),
                                     test::clustered_points<float>(n, dim, 44)};
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < dim; ++k) {
      sets[2](i, k) += 1e4f;                                                   // far away
      sets[3](i, k) = float(k % 3) + (i % 2 == 0 ? 0 : 1e-5f * float(i % 5));  // nearly the same
      if (i % 7 == 3) sets[4](i, k) = k == 2 ? std::numeric_limits<float>::quiet_NaN() : sets[4](i - 1, k);
    }
  return sets;
}

TEST(mpi_spanning_tree, filters_leave_no_trace) {
  const pairwise::filter_guard guard(pairwise::filter_mode::always);
  for (const auto& points : sets_for_filters(1300, 40)) expect_same_tree(points, {}, Device::host());
  expect_same_tree(test::clustered_points<float>(1300, 130, 45), {.distance = metric::cosine, .alpha = 1.5},
                   Device::host());
  expect_same_tree(test::grid_points<float>(1000, 40, 3, 46), {.min_samples = 0}, Device::host());
  const auto singles = test::clustered_points<float>(900, 50, 47);
  point_set<half> halves(900, 50);
  for (std::size_t e = 0; e < halves.data.size(); ++e) halves.data[e] = half(singles.data[e]);
  expect_same_tree(halves, {.min_samples = 12}, Device::host());
  expect_same_tree(test::clustered_points<double>(700, 40, 48), {}, Device::host());
  for (const std::int64_t n : {2, ranks().size() + 1, 97})
    expect_same_tree(test::clustered_points<float>(n, 40, 49), {}, Device::host());
}

TEST(mpi_spanning_tree, alpha_and_how_points_count) {
  expect_same_tree(test::clustered_points<float>(1100, 20, 11), {.alpha = 1.5}, Device::host());
  expect_same_tree(test::grid_points<double>(500, 3, 4, 12), {.count_self = true, .alpha = 0.3}, Device::host());
  expect_same_tree(test::clustered_points<float>(30, 4, 13), {.min_samples = 100}, Device::host());
}

TEST(mpi_spanning_tree, devices_whose_teams_own_their_lists) {
  test::on_other_devices([](const Device& device) {
    expect_same_tree(test::clustered_points<float>(500, 20, 14), {}, device);
    expect_same_tree(test::ball_points<double>(200, 3, 0.1, 0.99, 1.0, 15), {.distance = metric::poincare}, device);
    expect_same_tree(test::grid_points<float>(400, 2, 5, 16), {.min_samples = 1, .alpha = 2}, device);
  });
}

TEST(mpi_spanning_tree, a_tree_of_blocks_in_few_dimensions) {
  for (const std::int64_t n : {2048, 2600})
    expect_same_tree(test::clustered_points<float>(n, 2, 20), {.min_samples = 4}, Device::host());
  expect_same_tree(test::grid_points<double>(2500, 2, 30, 21), {}, Device::host());  // ties and duplicates
  expect_same_tree(test::clustered_points<double>(2300, 3, 22), {.alpha = 1.5}, Device::host());
  expect_same_tree(test::ball_points<float>(2200, 2, 0.1, 0.99, 1.0, 23), {.distance = metric::poincare},
                   Device::host());
  auto points = test::clustered_points<float>(2400, 2, 24);
  for (std::int64_t i = 0; i < points.n; i += 7) points(i, 1) = std::numeric_limits<float>::quiet_NaN();
  expect_same_tree(points, {.min_samples = 0}, Device::host());
  point_set<bfloat16> brains(points.n, points.dim);
  for (std::size_t e = 0; e < points.data.size(); ++e) brains.data[e] = bfloat16(points.data[e]);
  expect_same_tree(brains, {}, Device::host());
  test::on_other_devices(
      [](const Device& device) { expect_same_tree(test::clustered_points<float>(2100, 2, 25), {}, device); });
}

mpi::phase_traffic traffic_of(std::string_view name) {
  for (const mpi::phase_traffic& phase : ranks().traffic())
    if (phase.phase == name) return phase;
  return {};
}

/// Components at the begin of every round of Boruvka's algorithm, by the edges of the tree, whose weights all differ.
std::int64_t components_of_all_rounds(const std::vector<hdbscan::edge>& tree, std::int64_t n) {
  std::vector<std::int64_t> component(n), best(n);
  std::iota(component.begin(), component.end(), 0);
  std::int64_t all = 0;
  for (std::int64_t left = n; left > 1;) {
    all += left;
    best.assign(n, -1);
    for (std::size_t e = tree.size(); e-- > 0;) {  // the lightest comes last
      const std::int64_t a = component[tree[e].u], b = component[tree[e].v];
      if (a != b) best[a] = best[b] = std::int64_t(e);
    }
    for (std::int64_t c = 0; c < n; ++c) {
      if (best[c] < 0) continue;
      const std::int64_t a = component[tree[best[c]].u], b = component[tree[best[c]].v];
      if (a == b) continue;
      for (std::int64_t& of_point : component)
        if (of_point == b) of_point = a;
      --left;
    }
  }
  return all;
}

TEST(mpi_spanning_tree, traffic_is_what_the_formulas_say) {
  // As many blocks as chunks: every rank has eight.
  const std::int64_t size = ranks().size(), per_rank = 8 * 96, n = per_rank * size, dim = 16, k = 5 + 11;
  const auto points = test::clustered_points<float>(n, dim, 19);
  std::vector<mpi::phase_traffic> before, after;
  const auto look = [] {
    std::vector<mpi::phase_traffic> all;
    for (const char* phase : {"deal", "lists", "rounds"}) all.push_back(traffic_of(phase));
    return all;
  };
  before = look();
  const auto [rows, first] = own_rows(points);
  auto found = mpi::hdbscan::spanning_tree(ranks(), rows, first, {.min_samples = 5}, Device::host());
  after = look();
  // Steps are half ones for the last of an even number: of the lower ranks' blocks half go to the upper ones.
  const bool even = size % 2 == 0, lower = ranks().rank() < size / 2;
  const std::int64_t half_blocks = (size - 1) / 2 * 2 + (even ? (lower ? 2 : 1) : 0);
  EXPECT_EQ(after[1].received - before[1].received,
            half_blocks * per_rank / 2 * (dim * 4 + 4) +
                // Lists of own points that visited others.
                ((size - 1) / 2 * 2 + (even ? (lower ? 1 : 2) : 0)) * per_rank / 2 * k * 8);
  // Every point travels once at most, 1 / size of them not at all on average.
  const std::int64_t dealt = ranks().sum(after[0].received - before[0].received);
  EXPECT_EQ(dealt, ranks().sum(after[0].sent - before[0].sent));
  EXPECT_LE(dealt, n * dim * 4);
  if (size > 1) {
    EXPECT_GE(dealt, n * dim * 4 / 4);
  }
  std::int64_t components = ranks().is_root() ? components_of_all_rounds(found.edges, n) : 0;
  ranks().broadcast(std::span<std::int64_t>(&components, 1));
  EXPECT_EQ(after[2].reduced - before[2].reduced, 3 * components);
}

TEST(mpi_spanning_tree, traffic_with_a_filter) {
  // Visitors tell one number more, and their lists bring one home.
  if (ranks().size() % 2 == 0) return;
  const pairwise::filter_guard guard(pairwise::filter_mode::always);
  const std::int64_t size = ranks().size(), per_rank = 8 * 96, dim = 16, k = 5 + 11;
  const auto points = test::clustered_points<float>(per_rank * size, dim, 50);
  const auto [rows, first] = own_rows(points);
  const std::int64_t before = traffic_of("lists").received;
  mpi::hdbscan::spanning_tree(ranks(), rows, first, {.min_samples = 5}, Device::host());
  EXPECT_EQ(traffic_of("lists").received - before, (size - 1) / 2 * per_rank * (dim * 4 + 4 + k * 8 + 8));
}

TEST(mpi_spanning_tree, traffic_with_a_tree_of_blocks) {
  const std::int64_t n = 3000, dim = 2;
  const auto points = test::clustered_points<float>(n, dim, 26);
  const auto [rows, first] = own_rows(points);
  const mpi::phase_traffic sent = traffic_of("points"), reduced = traffic_of("rounds");
  const auto found = mpi::hdbscan::spanning_tree(ranks(), rows, first, {}, Device::host());
  EXPECT_EQ(traffic_of("points").received - sent.received, (n - rows.rows()) * dim * 4);
  std::int64_t components = ranks().is_root() ? components_of_all_rounds(found.edges, n) : 0;
  ranks().broadcast(std::span<std::int64_t>(&components, 1));
  EXPECT_EQ(traffic_of("rounds").reduced - reduced.reduced, 2 * components);
}

TEST(mpi_cluster, has_the_bits_of_the_plain_one) {
  auto points = test::clustered_points<float>(1500, 12, 17);
  points(700, 3) = std::numeric_limits<float>::quiet_NaN();
  const hdbscan::cluster_options options{.min_cluster_size = 8, .min_samples = 4};
  const auto expected = hdbscan::cluster(points.view(), options, Device::host());
  const auto [rows, first] = own_rows(points);
  const auto found = mpi::hdbscan::cluster(ranks(), rows, first, options, Device::host());
  EXPECT_GT(expected.clusters(), 1);
  EXPECT_EQ(found.labels, own_part(expected.labels, points.n));
  EXPECT_EQ(found.probabilities, own_part(expected.probabilities, points.n));
  EXPECT_EQ(found.outlier_scores, own_part(expected.outlier_scores, points.n));
  if (!ranks().is_root()) return;
  EXPECT_EQ(found.whole.labels, expected.labels);
  EXPECT_EQ(found.whole.spanning_tree, expected.spanning_tree);
  EXPECT_EQ(found.whole.persistence, expected.persistence);
  EXPECT_EQ(found.whole.selected, expected.selected);
  EXPECT_EQ(found.whole.counters.rounds, expected.counters.rounds);
}

/// What `call` throws: the same everywhere.
template <class Expected, class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Expected& e) {
    return e.what();
  }
  return "nothing";
}

TEST(mpi_spanning_tree, errors_are_those_of_the_plain_one) {
  const auto points = test::clustered_points<float>(50, 4, 18);
  const auto [rows, first] = own_rows(points);
  const auto tree = [&](hdbscan::spanning_tree_options options, std::int64_t shift = 0) {
    mpi::hdbscan::spanning_tree(ranks(), rows, first + shift, options, Device::host());
  };
  EXPECT_EQ(error_of<InvalidArgument>([&] { tree({.alpha = -1}); }), "alpha must be > 0 and finite (alpha=-1)");
  EXPECT_EQ(error_of<InvalidArgument>([&] { tree({.min_samples = -3}); }), "min_samples must be >= 0 (min_samples=-3)");
  EXPECT_EQ(error_of<InvalidArgument>([&] { tree({}, 1); }),
            "first_row must be the number of rows on lower ranks, 0 (first_row=1)");
  if (ranks().size() == 1) return;
  const bool differs = ranks().rank() == ranks().size() - 1;
  EXPECT_NE(error_of<InvalidArgument>([&] { tree({.min_samples = differs ? 6 : 5}); }).find("options must be the same"),
            std::string::npos);
  EXPECT_EQ(error_of<Cancelled>([&] {
              mpi::hdbscan::spanning_tree(ranks(), rows, first, {}, Device::host(),
                                          [&](std::string_view stage, double) { return !differs || stage[0] != 's'; });
            }),
            "cancelled by the caller in stage \"spanning_tree\"");
}

}  // namespace
}  // namespace quintet
