// Families over several ranks: the bits of one process, the bytes of the formulas, errors that all ranks hear.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "mpi/ranks.hpp"
#include "quintet/core/philox.hpp"
#include "quintet/mpi/distribution.hpp"
#include "quintet/mpi/lorentz.hpp"
#include "quintet/mpi/poincare.hpp"
#include "quintet/mpi/snp.hpp"
#include "quintet/mpi/spgemm.hpp"
#include "quintet/mpi/svd.hpp"
#include "quintet/snp/network/newick.hpp"
#include "support/devices.hpp"
#include "support/random_network.hpp"
#include "support/sparse_matrices.hpp"

namespace quintet::test {
namespace {

using mpi::even_rows;

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

// Bytes that all ranks received in some phases.
std::int64_t received(std::initializer_list<const char*> phases, std::int64_t before = 0) {
  std::int64_t sum = 0;
  for (const auto& one : ranks().traffic())
    for (const char* name : phases)
      if (one.phase == name) sum += one.received;
  return sum - before;
}

// What is thrown, the same on every rank.
template <class Error, class Call>
std::string error_everywhere(Call call) {
  std::string said;
  try {
    call();
  } catch (const Error& e) {
    said = e.what();
  }
  std::string first = said;
  ranks().broadcast(first);
  EXPECT_EQ(said, first);
  EXPECT_FALSE(said.empty());
  return said;
}

mpi::row_range own(std::int64_t n) { return even_rows(n, ranks().rank(), ranks().size()); }

template <class T>
std::vector<T> random_matrices(std::int64_t batch, std::int64_t rows, std::int64_t cols) {
  random_stream random(7, 1);
  std::vector<T> a;
  for (std::int64_t i = 0; i < batch * rows * cols; ++i) a.push_back(T(float(random.uniform<double>() - 0.5)));
  return a;
}

template <class T>
void compare_svd(std::int64_t batch, std::int64_t rows, std::int64_t cols, const svd::options& options,
                 bool is_graded = false, const Device& device = Device::host()) {
  auto a = random_matrices<T>(batch, rows, cols);
  for (std::int64_t i = 0; is_graded && i < std::int64_t(a.size()); ++i)
    if (i / (rows * cols) % 4 == 0) a[std::size_t(i)] = T(float(a[std::size_t(i)]) * std::pow(10.0f, float(i % cols)));
  if (batch > 3) a[std::size_t(2 * rows * cols)] = T(std::numeric_limits<float>::quiet_NaN());
  const auto range = own(batch);
  const auto whole = svd::decompose<T>(batch_view<const T>(a.data(), batch, rows, cols), options, device);
  const batch_view<const T> part(a.data() + range.first * rows * cols, range.count, rows, cols);
  ranks().phase("test");
  const std::int64_t before = received({"decompose"}), gathered = received({"gather"});
  const auto found = mpi::svd::decompose<T>(ranks(), part, options, device);
  // Nothing but the results, to rank 0.
  EXPECT_EQ(received({"decompose"}, before), 0);
  if (!ranks().is_root()) {
    EXPECT_EQ(received({"gather"}, gathered), 0);
    EXPECT_EQ(found.batch, range.count);
    return;
  }
  const auto bytes =
      std::int64_t((whole.u.size() + whole.s.size() + whole.v.size()) * sizeof(whole.s[0]) +
                   whole.status.size() * sizeof(whole.status[0]) + whole.sweeps.size() * sizeof(whole.sweeps[0]));
  EXPECT_EQ(received({"gather"}, gathered), batch == 0 ? 0 : bytes / batch * (batch - range.count));
  EXPECT_EQ(found.batch, batch);
  const std::string matrices = text(batch, " of ", rows, " x ", cols);
  EXPECT_TRUE(same_bits(found.u, whole.u)) << matrices;
  EXPECT_TRUE(same_bits(found.v, whole.v)) << matrices;
  EXPECT_TRUE(same_bits(found.s, whole.s)) << matrices;
  EXPECT_EQ(found.status, whole.status);
  EXPECT_EQ(found.sweeps, whole.sweeps);
}

TEST(mpi_families, svd_has_the_bits_of_one_process) {
  compare_svd<float>(37, 9, 6, {});
  compare_svd<double>(11, 5, 17, {.accurate = true, .canonical_signs = true});
  compare_svd<double>(3, 40, 12, {.vectors = svd::vectors::full});  // fewer matrices than ranks
  compare_svd<half>(20, 8, 8, {.vectors = svd::vectors::none});
  compare_svd<float>(0, 4, 4, {});
  compare_svd<float>(9, 6, 6, {}, true);  // columns of many sizes: other steps, which some of the matrices need
  on_other_devices([](const Device& device) { compare_svd<float>(9, 6, 4, {}, true, device); });
}

TEST(mpi_families, svd_options_have_to_be_the_same) {
  if (ranks().size() == 1) return;
  const auto a = random_matrices<float>(1, 3, 3);
  const std::string said = error_everywhere<InvalidArgument>([&] {
    mpi::svd::decompose<float>(ranks(), batch_view<const float>(a.data(), 1, 3, 3), {.top = 1 + ranks().rank() % 2});
  });
  EXPECT_NE(said.find("options"), std::string::npos) << said;
}

// Points of the ball with duplicates, rows that are not finite and rows outside.
template <class T>
std::vector<T> ball_points(std::int64_t n, std::int64_t dim, std::uint64_t seed) {
  random_stream random(seed, 2);
  std::vector<T> x;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t d = 0; d < dim; ++d) {
      const bool copy = i % 7 == 3;
      x.push_back(copy ? x[std::size_t((i / 2) * dim + d)]
                       : T(float((random.uniform<double>() * 2 - 1) * (i % 23 == 11 ? 2.0 : 0.9 / std::sqrt(dim)))));
      if (i % 31 == 17 && d == 1) x.back() = T(std::numeric_limits<float>::quiet_NaN());
    }
  return x;
}

template <class T>
void compare_neighbours(std::int64_t q, std::int64_t n, std::int64_t dim, std::int64_t k, bool self,
                        const Device& device = Device::host()) {
  using Real = accumulator_t<T>;
  const auto points = ball_points<T>(n, dim, 1), others = ball_points<T>(q, dim, 2);
  const auto& queries = self ? points : others;
  const poincare::nearest_options options{.exclude_self = self};
  const auto whole = poincare::nearest(matrix_view<const T>(queries.data(), q, dim),
                                       matrix_view<const T>(points.data(), n, dim), k, options, device);
  const auto of_q = own(q), of_n = own(n);
  const matrix_view<const T> q_part(queries.data() + of_q.first * dim, of_q.count, dim);
  const matrix_view<const T> n_part(points.data() + of_n.first * dim, of_n.count, dim);
  const std::int64_t before = received({"neighbours"});
  const auto found = mpi::poincare::nearest<T>(ranks(), q_part, n_part, k, options, device);
  const std::int64_t row = dim * std::int64_t(sizeof(T)), list = k * std::int64_t(sizeof(Real) + 8);
  const std::int64_t bytes = received({"neighbours"}, before);
  if (ranks().size() > 1) {
    if (q * (row + list) < n * row)
      EXPECT_EQ(bytes, (q - of_q.count) * row + q * list);
    else
      EXPECT_EQ(bytes, (n - of_n.count) * row);
  }
  EXPECT_TRUE(same_bits(found.index, std::vector<std::int64_t>(whole.index.begin() + of_q.first * k,
                                                               whole.index.begin() + (of_q.first + of_q.count) * k)));
  EXPECT_TRUE(same_bits(found.distance, std::vector<Real>(whole.distance.begin() + of_q.first * k,
                                                          whole.distance.begin() + (of_q.first + of_q.count) * k)));
  EXPECT_EQ(found.report.queries, std::vector(whole.report.queries.begin() + of_q.first,
                                              whole.report.queries.begin() + of_q.first + of_q.count));
  EXPECT_EQ(found.report.points, std::vector(whole.report.points.begin() + of_n.first,
                                             whole.report.points.begin() + of_n.first + of_n.count));
}

TEST(mpi_families, poincare_neighbours_have_the_bits_of_one_process) {
  compare_neighbours<float>(611, 611, 5, 4, true);
  compare_neighbours<double>(97, 1300, 12, 3, false);  // queries go around
  compare_neighbours<double>(900, 210, 9, 20, false);  // points do, fewer on a rank than neighbours
  compare_neighbours<half>(40, 300, 6, 2, false);
  compare_neighbours<float>(5, 6, 3, 6, false);  // ranks without rows
  compare_neighbours<float>(150, 150, 4, 3, true, Device::emulated());
}

/// whole(queries, points, out, options, device) of one process, spread(...) of all ranks.
template <class Options, class Whole, class Spread>
void compare_distances(const Device& device, const Whole& whole_call, const Spread& spread_call) {
  const std::int64_t q = 61, n = 143, dim = 7;
  const auto queries = ball_points<float>(q, dim, 3), points = ball_points<float>(n, dim, 4);
  const matrix_view<const float> all_queries(queries.data(), q, dim), all_points(points.data(), n, dim);
  std::vector<float> whole(std::size_t(q * n)), part;
  const matrix_view<float> to_whole(whole.data(), q, n);
  Options options, strict;
  options.curvature = -0.7;
  strict.strict = true;
  whole_call(all_queries, all_points, to_whole, options, device);
  const auto of_q = own(q), of_n = own(n);
  part.resize(std::size_t(of_q.count * n));
  const matrix_view<float> to_part(part.data(), of_q.count, n);
  const matrix_view<const float> q_part(queries.data() + of_q.first * dim, of_q.count, dim);
  const matrix_view<const float> n_part(points.data() + of_n.first * dim, of_n.count, dim);
  const std::int64_t before = received({"distances"});
  spread_call(q_part, n_part, to_part, options, device);
  EXPECT_EQ(received({"distances"}, before), (n - of_n.count) * dim * 4);
  EXPECT_TRUE(same_bits(
      part, std::vector<float>(whole.begin() + of_q.first * n, whole.begin() + (of_q.first + of_q.count) * n)));
  // The first row that is no point, by its number among all.
  std::string one;
  try {
    whole_call(all_queries, all_points, to_whole, strict, device);
  } catch (const InvalidArgument& e) {
    one = e.what();
  }
  EXPECT_EQ(error_everywhere<InvalidArgument>([&] { spread_call(q_part, n_part, to_part, strict, device); }), one);
}

TEST(mpi_families, poincare_distances_have_the_bits_of_one_process) {
  on_every_device([](const Device& device) {
    compare_distances<poincare::distance_options>(
        device, [](auto&&... all) { poincare::distances(all...); },
        [](auto&&... all) { mpi::poincare::distances(ranks(), all...); });
  });
}

TEST(mpi_families, lorentz_distances_have_the_bits_of_one_process) {
  on_every_device([](const Device& device) {
    compare_distances<lorentz::distance_options>(
        device, [](auto&&... all) { lorentz::distances(all...); },
        [](auto&&... all) { mpi::lorentz::distances(ranks(), all...); });
  });
}

TEST(mpi_families, lorentz_pairs_are_those_of_one_process_and_refuse_what_it_refuses) {
  const std::int64_t n = 53, dim = 4;
  const auto x = ball_points<double>(n, dim, 5), y = ball_points<double>(n, dim, 6);
  const auto of = own(n);
  const matrix_view<const double> x_part(x.data() + of.first * dim, of.count, dim),
      y_part(y.data() + of.first * dim, of.count, dim);
  std::vector<double> whole(n), part(of.count);
  const auto measure = [&](const lorentz::distance_options& options) {
    return mpi::lorentz::pair_distances(ranks(), x_part, y_part, part, options, Device::host());
  };
  lorentz::distance_options options{.form = lorentz::coordinates::time_ignored};
  const auto expected = lorentz::pair_distances(matrix_view<const double>(x.data(), n, dim),
                                                matrix_view<const double>(y.data(), n, dim), whole, options);
  const auto report = measure(options);
  EXPECT_TRUE(same_bits(part, std::vector<double>(whole.begin() + of.first, whole.begin() + of.first + of.count)));
  EXPECT_EQ(report.queries,
            std::vector(expected.queries.begin() + of.first, expected.queries.begin() + of.first + of.count));
  const auto said = [&] { return error_everywhere<InvalidArgument>([&] { measure(options); }); };
  options.curvature = 0;
  EXPECT_NE(said().find("curvature must be negative"), std::string::npos);
  options = {.form = lorentz::coordinates::time_and_space, .tolerance = -1};
  EXPECT_NE(said().find("tolerance must be > 0"), std::string::npos);
  if (ranks().size() > 1) {
    options = {.curvature = -1.0 - ranks().rank()};
    EXPECT_NE(said().find("options"), std::string::npos);
  }
}

TEST(mpi_families, poincare_refuses_what_one_process_refuses) {
  const auto points = ball_points<float>(4, 3, 1);
  const auto of = own(4);
  const matrix_view<const float> part(points.data() + of.first * 3, of.count, 3);
  const auto search = [&](std::int64_t k) {
    return error_everywhere<InvalidArgument>([&] { mpi::poincare::nearest<float>(ranks(), part, part, k); });
  };
  EXPECT_NE(search(5).find("k must be in [1, 4]"), std::string::npos);
  EXPECT_NE(search(0).find("k must be in [1, 4]"), std::string::npos);
  if (ranks().size() > 1) EXPECT_NE(search(1 + ranks().rank()).find("options"), std::string::npos);
}

template <class Value, class Index, class Semiring = spgemm::plus_times>
void compare_product(const spgemm::csr<Value, Index>& a, const spgemm::csr<Value, Index>& b,
                     mpi::spgemm::options options, const Device& device = Device::host()) {
  const auto whole = spgemm::multiply<Semiring>(a.view(), b.view(), {}, device);
  const auto of_a = own(a.rows), of_b = own(b.rows);
  mpi::spgemm::report told;
  const auto found =
      mpi::spgemm::multiply<Semiring>(ranks(), a.view().slice(of_a.first, of_a.first + of_a.count),
                                      b.view().slice(of_b.first, of_b.first + of_b.count), options, device, &told);
  EXPECT_EQ(ranks().sum(found.block.rows), a.rows);
  const auto all = mpi::spgemm::gather(ranks(), found.block.view());
  if (ranks().is_root()) EXPECT_TRUE(all == whole);
  spgemm::report one;
  spgemm::multiply<Semiring>(a.view(), b.view(), {}, Device::host(), &one);
  EXPECT_EQ(told.products, one.products);
  if (options.layout == mpi::spgemm::layout::grid) EXPECT_TRUE(told.used_grid);
}

TEST(mpi_families, sparse_products_have_the_bits_of_one_process) {
  using mpi::spgemm::layout;
  const auto a = uniform_matrix<double, std::int32_t>(140, 90, 6, 1),
             b = uniform_matrix<double, std::int32_t>(90, 70, 5, 2);
  for (const auto how : {layout::automatic, layout::rows, layout::grid})
    for (const bool balance : {false, true}) compare_product(a, b, {.balance = balance, .layout = how});
  compare_product(a, b, {.budget = 0, .layout = layout::rows});
  for (const std::int64_t budget : {700, 2000, 4000})  // several chunks on some of the ranks
    compare_product(a, b, {.budget = budget, .layout = layout::rows});
  const auto few = uniform_matrix<float, std::int64_t>(3, 3, 2, 3);
  compare_product(few, few, {});
  compare_product<float, std::int64_t, spgemm::min_plus>(few, few, {.layout = layout::grid});
  compare_product<double, std::int32_t, spgemm::or_and>(a, b, {});
  // Repeated and unsorted columns, on both sides.
  spgemm::csr<double, std::int32_t> mixed{
      4, 4, {0, 4, 5, 5, 8}, {3, 0, 3, 1, 2, 1, 0, 1}, {1, 0.1, 1e16, 3, -1, 7, 1e-9, 0.3}};
  for (const auto how : {layout::rows, layout::grid}) compare_product(mixed, mixed, {.layout = how});
  const spgemm::csr<double, std::int32_t> none{0, 90, {0}, {}, {}};
  compare_product(none, b, {});
  on_other_devices([&](const Device& device) {
    for (const auto how : {layout::rows, layout::grid}) compare_product(a, b, {.budget = 2000, .layout = how}, device);
  });
}

TEST(mpi_families, sparse_products_fetch_what_the_formula_says) {
  const auto a = uniform_matrix<double, std::int32_t>(140, 90, 6, 1),
             b = uniform_matrix<double, std::int32_t>(90, 70, 5, 2);
  const auto of_a = own(140), of_b = own(90);
  const std::int64_t before = received({"count", "fetch"});
  mpi::spgemm::multiply(ranks(), a.view().slice(of_a.first, of_a.first + of_a.count),
                        b.view().slice(of_b.first, of_b.first + of_b.count),
                        {.balance = false, .layout = mpi::spgemm::layout::rows}, Device::host());
  const std::int64_t bytes = ranks().sum(received({"count", "fetch"}, before));
  std::int64_t expected = 0;
  for (int r = 0; r < ranks().size(); ++r) {
    const auto rows = even_rows(140, r, ranks().size()), theirs = even_rows(90, r, ranks().size());
    std::vector<bool> needed(90, false);
    for (std::int64_t e = a.row_pointers[rows.first]; e < a.row_pointers[rows.first + rows.count]; ++e)
      needed[std::size_t(a.columns[e])] = true;
    for (std::int64_t k = 0; k < 90; ++k)
      if (needed[std::size_t(k)] && (k < theirs.first || k >= theirs.first + theirs.count))
        expected += 16 + (b.row_pointers[k + 1] - b.row_pointers[k]) * 12;
  }
  EXPECT_EQ(bytes, expected);
}

TEST(mpi_families, sparse_products_on_a_grid_move_what_the_formula_says) {
  // All rows are alike, and as many for every rank: cuts are even ones.
  const std::int64_t size = ranks().size(), n = 12 * size, nnz = 5;
  std::vector<std::int64_t> pointers{0};
  std::vector<std::int32_t> columns;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t e = 0; e < nnz; ++e) columns.push_back(std::int32_t((i + 3 * e * e) % n));
    pointers.push_back(std::int64_t(columns.size()));
  }
  const spgemm::csr<double, std::int32_t> a{n, n, pointers, columns, std::vector<double>(columns.size(), 0.1)};
  const auto of = own(n);
  const auto part = a.view().slice(of.first, of.first + of.count);
  ranks().phase("test");
  const std::int64_t before = received({"panels"}), assembled = received({"assemble"});
  mpi::spgemm::report told;
  const auto found = mpi::spgemm::multiply(ranks(), part, part, {.balance = false, .layout = mpi::spgemm::layout::grid},
                                           Device::host(), &told);
  const std::int64_t p = told.grid_rows, q = told.grid_cols, row = ranks().rank() / q, col = ranks().rank() % q;
  // Rows of A that are not this rank's, of its panel: all that are not even here, as a panel holds q ranks' rows.
  const auto panel = even_rows(n, int(row), int(p)), slab = even_rows(n, int(col), int(q));
  std::int64_t expected = (n - of.count) * 8;  // the weights of rows
  for (std::int64_t i = 0; i < n; ++i) {
    if (i >= of.first && i < of.first + of.count) continue;
    if (i >= panel.first && i < panel.first + panel.count) expected += 8 + nnz * 12;
    expected += 8;  // row i of B's panel, and its entries there
    for (std::int64_t e = a.row_pointers[i]; e < a.row_pointers[i + 1]; ++e)
      expected += a.columns[e] >= slab.first && a.columns[e] < slab.first + slab.count ? 12 : 0;
  }
  EXPECT_EQ(received({"panels"}, before), expected);
  // Own rows of C, but for the part that was computed here.
  std::int64_t parts = (q - 1) * found.block.rows * 8;
  for (std::int64_t e = 0; e < found.block.nnz(); ++e)
    parts += found.block.columns[e] < slab.first || found.block.columns[e] >= slab.first + slab.count ? 12 : 0;
  EXPECT_EQ(received({"assemble"}, assembled), parts);
}

TEST(mpi_families, sparse_products_choose_the_grid_where_it_is_cheaper) {
  // Every row of A needs every row of B.
  spgemm::csr<double, std::int32_t> full{60, 60, {0}, {}, {}};
  std::vector<std::int64_t> pointers{0};
  std::vector<std::int32_t> columns;
  for (int i = 0; i < 60; ++i) {
    for (int k = 0; k < 60; ++k) columns.push_back(k);
    pointers.push_back(std::int64_t(columns.size()));
  }
  full = {60, 60, pointers, columns, std::vector<double>(columns.size(), 0.1)};
  const auto of = own(60);
  mpi::spgemm::report told;
  const auto part = full.view().slice(of.first, of.first + of.count);
  mpi::spgemm::multiply(ranks(), part, part, {}, Device::host(), &told);
  const std::int64_t p = told.grid_rows, q = told.grid_cols;
  EXPECT_EQ(p * q, ranks().size());
  EXPECT_EQ(told.grid_volume, 3600 * 12 * (p + q));
  EXPECT_EQ(told.used_grid, told.row_volume > 2 * told.grid_volume);
  compare_product(full, full, {});
}

TEST(mpi_families, sparse_rows_are_scattered) {
  const auto a = uniform_matrix<double, std::int32_t>(25, 40, 3, 5);
  const spgemm::csr<double, std::int32_t> nothing{0, 0, {0}, {}, {}};
  const auto part = mpi::spgemm::scatter(ranks(), ranks().is_root() ? a.view() : nothing.view());
  EXPECT_EQ(part.first_row, own(25).first);
  const auto back = mpi::spgemm::gather(ranks(), part.block.view());
  if (ranks().is_root()) EXPECT_TRUE(back == a);
}

TEST(mpi_families, a_bad_matrix_of_one_rank_is_an_error_of_all) {
  auto a = uniform_matrix<double, std::int32_t>(30, 30, 3, 5);
  const auto of = own(30);
  if (ranks().rank() == ranks().size() - 1) a.columns[a.row_pointers[of.first]] = 99;
  const auto part = a.view().slice(of.first, of.first + of.count);
  const std::string said = error_everywhere<InvalidArgument>([&] { mpi::spgemm::multiply(ranks(), part, part); });
  EXPECT_NE(said.find("99"), std::string::npos) << said;
}

void compare_likelihoods(const Device& device) {
  random_stream random(5, 72);
  const snp::Network network(random_network(random, 4, 1));
  const auto species = network.species();
  snp::DataBuilder builder({species.begin(), species.end()}, {.empty = snp::empty_species::keep});
  for (int s = 0; s < 40; ++s) {
    std::vector<std::int64_t> red, copies;
    for (std::size_t i = 0; i < species.size(); ++i) {
      copies.push_back(random.below(5));
      red.push_back(random.below(std::uint32_t(copies.back()) + 1));
    }
    builder.add_site(red, copies);
  }
  const snp::Data data = builder.finish();
  const snp::model model{.u = 1.1, .v = 0.9, .polymorphic_only = true};
  snp::Likelihood alone(network, data, model, {.device = device});
  ranks().phase("likelihood");
  snp::Likelihood shared(network, data, model, {.device = device, .shared_by = mpi::snp::group_of(ranks())});
  const std::int64_t before = received({"likelihood"});
  EXPECT_EQ(shared.evaluate(), alone.evaluate());
  std::set<std::vector<std::int16_t>> copies;  // each has two constant patterns
  for (std::int64_t p = 0; p < data.patterns(); ++p)
    if (data.kind(p) == snp::pattern_kind::polymorphic) {
      const auto row = data.copies().subspan(std::size_t(p) * species.size(), species.size());
      copies.emplace(row.begin(), row.end());
    }
  const auto pairs = std::int64_t(copies.size());
  EXPECT_EQ(received({"likelihood"}, before),
            (data.patterns() - own(data.patterns()).count + 2 * (pairs - own(pairs).count)) * 8);
  EXPECT_EQ(shared.site_log_likelihoods(), alone.site_log_likelihoods());
  const auto a = shared.gradient(), b = alone.gradient();
  for (std::size_t i = 0; i < a.length.size(); ++i)
    EXPECT_NEAR(a.length[i], b.length[i], 1e-11 * (1 + std::fabs(b.length[i])));
}

TEST(mpi_families, likelihood_has_the_bits_of_one_process) { on_every_device(compare_likelihoods); }

// What chains sample in these tests.
struct sampled_problem {
  snp::Data data = [] {
    snp::DataBuilder builder({"A", "B", "C"});
    random_stream random(5, 73);
    for (int s = 0; s < 30; ++s) {
      const std::vector<std::int64_t> copies{2, 2, 1};
      const std::vector<std::int64_t> red{random.below(3), random.below(3), random.below(2)};
      builder.add_site(red, copies);
    }
    return builder.finish();
  }();
  snp::priors prior{snp::parse_priors("theta = each gamma(2,20)\n"), 3, {.max_reticulations = 1}};
  std::shared_ptr<const std::vector<std::string>> names =
      std::make_shared<const std::vector<std::string>>(data.species().begin(), data.species().end());
};

// Bytes that this rank received in exchanges, beyond those of the numbers that moves learnt where none learns.
std::int64_t bytes_beyond_exchanges(const std::map<std::string, double>& weights) {
  const sampled_problem problem;
  snp::sampler chains(problem.names, &problem.data, problem.prior,
                      {.chains = 1,
                       .temperatures = 2,
                       .iterations = 1000,
                       .burn_in = 400,
                       .sample_every = 20,
                       .swap_every = 50,
                       .seed = 3,
                       .threads = 1,
                       .weights = weights,
                       .shared_by = mpi::snp::group_of(ranks())});
  ranks().phase("exchanges");
  const std::int64_t before = received({"exchanges"});
  chains.advance();
  ranks().phase("test");
  // Log L of the walkers of other ranks; where two ranks exchange theirs, what belongs to the places moves: of every
  // place its number and a length, and the six numbers of every move.
  const int size = ranks().size(), chain_states = 2;
  const int others = size == 1 ? 0 : ranks().rank() < chain_states ? chain_states - 1 : chain_states;
  const snp::exchange_record done = chains.exchanges()[0];
  EXPECT_EQ(done.tried, 20);
  EXPECT_GT(done.accepted, 0);
  const auto moves = std::int64_t(chains.moves()[0].size());
  const std::int64_t of_exchanges = others * (8 * done.tried + (16 + 48 * moves) * done.accepted);
  return received({"exchanges"}, before) - of_exchanges;
}

TEST(mpi_families, exchanges_of_chains_send_what_the_formula_says) {
  const int size = ranks().size(), chain_states = 2;
  const std::int64_t of_likelihoods = bytes_beyond_exchanges({{"joint", 0}});
  if (size <= chain_states) {
    EXPECT_EQ(of_likelihoods, 0);
    return;
  }
  // Those who share a walker gather 8 bytes for every pattern of the others at each likelihood, about 1000 of them.
  const int sharers = size / chain_states + (ranks().rank() % chain_states < size % chain_states ? 1 : 0);
  const std::int64_t patterns = sampled_problem().data.patterns();
  EXPECT_EQ(of_likelihoods % 8, 0);
  if (sharers == 1) EXPECT_EQ(of_likelihoods, 0);
  if (sharers > 1) EXPECT_GT(of_likelihoods, 300 * 8 * (patterns / sharers));
  EXPECT_LT(of_likelihoods, 2000 * 8 * (patterns + sharers));
}

// What the move joint learnt goes with the temperatures: of at most 16 topologies the mean, covariance and factor of at
// most 20 numbers, and some 50 numbers more.
TEST(mpi_families, what_moves_learnt_goes_with_temperatures) {
  if (ranks().size() != 2) return;
  const std::int64_t learnt = bytes_beyond_exchanges({});
  EXPECT_EQ(learnt % 8, 0);
  EXPECT_GT(learnt, 0);
  EXPECT_LT(learnt, 20 * 8 * 16 * (50 + 20 + 20 * 21));
}

TEST(mpi_families, chains_have_the_bits_of_one_process) {
  const sampled_problem problem;
  const snp::priors& prior = problem.prior;
  const auto run = [&](std::shared_ptr<process_group> group) {
    snp::sampler chains(problem.names, &problem.data, prior,
                        {.chains = 2,
                         .temperatures = 2,
                         .iterations = 1000,
                         .burn_in = 400,
                         .sample_every = 20,
                         .swap_every = 50,
                         .seed = 3,
                         .threads = 1,
                         .shared_by = group});
    std::vector<double> numbers;
    while (!chains.is_done()) {
      chains.advance();
      for (const auto& chain : chains.take_samples())
        for (const auto& one : chain) {
          const auto state = snp::numbers_of(one.state), row = snp::trace_row(one, prior);
          numbers.insert(numbers.end(), state.begin(), state.end());
          numbers.insert(numbers.end(), row.begin(), row.end());
        }
    }
    return numbers;
  };
  const auto shared = run(mpi::snp::group_of(ranks()));
  if (ranks().is_root()) EXPECT_TRUE(same_bits(shared, run(nullptr)));
}

}  // namespace
}  // namespace quintet::test
