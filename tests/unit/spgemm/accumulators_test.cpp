// Every accumulator on every device, chosen by the test, with teams of any size: the same bits as the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "device/emulation.hpp"
#include "quintet/spgemm/add.hpp"
#include "quintet/spgemm/dense_product.hpp"
#include "quintet/spgemm/device_csr.hpp"
#include "quintet/spgemm/plan.hpp"
#include "reference/spgemm_reference.hpp"
#include "spgemm/tuning.hpp"
#include "support/devices.hpp"
#include "support/sparse_matrices.hpp"

namespace quintet::spgemm {
namespace {

constexpr strategy accumulators[] = {strategy::streaming, strategy::tiny,    strategy::segmented, strategy::hash,
                                     strategy::dense,     strategy::bitmask, strategy::grouped};

template <class Value, class Index>
struct problem_of_rows {
  const char* name;
  csr<Value, Index> a, b, mask;
};

// Rows that are empty, have one entry, few, many or all columns, and neighbours that use the same rows of B.
template <class Value, class Index>
std::vector<problem_of_rows<Value, Index>> problems() {
  const auto rows_of_kinds = [](std::int64_t rows, std::int64_t cols, std::int64_t most, std::uint64_t seed) {
    random_stream random(seed);
    return test::matrix_of_rows<Value, Index>(rows, cols, seed, [&](std::int64_t i) {
      std::set<std::int64_t> row;
      const std::int64_t kinds[] = {0, 1, 3, most / 4, most, most};
      for (std::int64_t e = 0; e < kinds[i % 6]; ++e) row.insert(random.below(std::uint32_t(cols)));
      return std::vector<std::int64_t>(row.begin(), row.end());
    });
  };
  const auto in_common = [](std::int64_t rows, std::int64_t cols, std::int64_t reach) {
    return test::matrix_of_rows<Value, Index>(rows, cols, 9, [=](std::int64_t i) {
      std::vector<std::int64_t> row;
      for (std::int64_t j = i / 4; j < std::min(cols, i / 4 + reach); ++j)
        if (i % 7 != 3 || j % 2 == 0) row.push_back(j);
      return row;
    });
  };
  std::vector<problem_of_rows<Value, Index>> all;
  all.push_back({"narrow", rows_of_kinds(23, 60, 40, 1), rows_of_kinds(60, 90, 90, 2), rows_of_kinds(23, 90, 60, 3)});
  // Over what team memory holds of an array of sums, of a table, and of bits.
  all.push_back(
      {"wide", rows_of_kinds(13, 60, 60, 4), rows_of_kinds(60, 5000, 200, 5), rows_of_kinds(13, 5000, 900, 6)});
  all.push_back(
      {"windows", rows_of_kinds(7, 40, 30, 7), rows_of_kinds(40, 300'000, 50, 8), rows_of_kinds(7, 300'000, 50, 9)});
  all.push_back({"in common", in_common(30, 40, 14), in_common(40, 120, 30), rows_of_kinds(30, 120, 60, 10)});
  // Every third entry of the product is among what the mask takes out.
  for (auto& p : all) {
    const auto whole = test::reference_product<or_and>(p.a.view(), p.b.view());
    p.mask = test::matrix_of_rows<Value, Index>(p.a.rows, p.b.cols, 11, [&](std::int64_t i) {
      std::set<std::int64_t> row;
      for (std::int64_t k = p.mask.row_pointers[i]; k < p.mask.row_pointers[i + 1]; ++k) row.insert(p.mask.columns[k]);
      for (std::int64_t k = whole.row_pointers[i]; k < whole.row_pointers[i + 1]; k += 3) row.insert(whole.columns[k]);
      return std::vector<std::int64_t>(row.begin(), row.end());
    });
  }
  return all;
}

template <class Semiring, class Value, class Index>
void expect_all_accumulators() {
  for (const auto& p : problems<Value, Index>()) {
    const auto expected = test::reference_product<Semiring>(p.a.view(), p.b.view());
    const auto outside = test::reference_masked(expected, p.mask, false);
    ASSERT_GT(expected.nnz(), outside.nnz()) << p.name;
    test::on_every_device([&](const Device& device) {
      for (const strategy how : accumulators) {
        SCOPED_TRACE(text(p.name, ", ", name_of(how)));
        report told;
        const tuned settings({.accumulator = how});
        EXPECT_EQ(multiply<Semiring>(p.a.view(), p.b.view(), settings, device, &told), expected);
        EXPECT_EQ(told.ran_on_host, device.kind() == device_kind::host);
        std::int64_t rows = 0;
        for (const std::int64_t count : told.rows_by_strategy) rows += count;
        EXPECT_EQ(rows, p.a.rows);
        EXPECT_EQ((multiply_masked<Semiring, complement_mask>(p.a.view(), p.b.view(), p.mask.view(), settings, device)),
                  outside);
      }
    });
  }
}

TEST(spgemm_accumulators, float_64) { expect_all_accumulators<plus_times, float, std::int64_t>(); }
TEST(spgemm_accumulators, double_32) { expect_all_accumulators<plus_times, double, std::int32_t>(); }
TEST(spgemm_accumulators, of_another_semiring) { expect_all_accumulators<min_plus, double, std::int32_t>(); }

// What was asked for is what runs, in every row of matrices that it can compute: rows of one entry for streaming, of
// few products for tiny, neighbours with the same columns for grouped, and any for the others.
TEST(spgemm_accumulators, are_those_that_were_chosen) {
  const auto rows_of = [](std::int64_t entries, std::int64_t neighbours, std::uint64_t seed) {
    return test::matrix_of_rows<double, std::int32_t>(32, 32, seed, [=](std::int64_t i) {
      std::vector<std::int64_t> row;
      for (std::int64_t e = 0; e < entries; ++e) row.push_back(i / neighbours % 16 + e);
      return row;
    });
  };
  test::on_every_device([&](const Device& device) {
    for (const strategy how : accumulators) {
      const auto a = how == strategy::streaming ? rows_of(1, 1, 1)
                     : how == strategy::grouped ? rows_of(16, 32, 1)
                                                : rows_of(2, 1, 1);
      const auto b = rows_of(how == strategy::grouped ? 9 : 3, 1, 2);
      report told;
      EXPECT_EQ(multiply(a.view(), b.view(), tuned({.accumulator = how}), device, &told),
                test::reference_product<plus_times>(a.view(), b.view()));
      EXPECT_EQ(told.rows_by_strategy[std::size_t(how)], a.rows) << name_of(how);
    }
  });
}

// Rows of any number of products that is put in order at once, in columns of which most are used again and again, some
// or none of them: what is sorted in registers, at every width and every length of a run of equal columns.
template <class Semiring, class Value, class Index>
void expect_short_rows() {
  constexpr std::int64_t most = 140, cols = 5000;
  for (const std::int64_t different : {std::int64_t{1}, std::int64_t{3}, std::int64_t{40}, cols}) {
    SCOPED_TRACE(text(different, " columns"));
    random_stream random{std::uint64_t(different)};
    const auto b = test::matrix_of_rows<Value, Index>(300, cols, 21, [&](std::int64_t i) {
      std::set<std::int64_t> row;
      for (std::int64_t e = 0; e < i % 4; ++e)
        row.insert(std::int64_t(random.below(std::uint32_t(different))) * (cols / different));
      return std::vector<std::int64_t>(row.begin(), row.end());
    });
    const auto a = test::matrix_of_rows<Value, Index>(3 * most, b.rows, 22, [&](std::int64_t i) {
      std::set<std::int64_t> row;
      std::int64_t products = 0;
      for (std::int64_t tries = 0; products < i % most && tries < 1000; ++tries) {
        const std::int64_t j = random.below(std::uint32_t(b.rows));
        if (row.insert(j).second) products += b.row_pointers[j + 1] - b.row_pointers[j];
      }
      return std::vector<std::int64_t>(row.begin(), row.end());
    });
    report told;
    EXPECT_EQ(multiply<Semiring>(a.view(), b.view(), {}, Device::host(), &told),
              test::reference_product<Semiring>(a.view(), b.view()));
    const auto all = std::int64_t(told.rows_by_strategy[int(strategy::tiny)]);
    EXPECT_GT(all, a.rows * 4 / 5);
  }
}
TEST(spgemm_accumulators, short_rows) {
  expect_short_rows<plus_times, double, std::int32_t>();
  expect_short_rows<plus_times, float, std::int64_t>();
  expect_short_rows<min_plus, float, std::int32_t>();
  expect_short_rows<or_and, double, std::int64_t>();
}

// Bands: rows whose products lie in as many columns as a window has, fewer, or more, with and without gaps, and with
// rows of A that descend.
template <class Semiring, class Value, class Index>
void expect_bands() {
  constexpr std::int64_t rows = 200;
  for (const std::int64_t width : {1, 2, 3, 9, 20, 61, 62, 63, 64, 65, 127, 128, 300})
    for (const bool filled : {false, true}) {
      SCOPED_TRACE(text(width, " columns", filled ? ", all of them" : ""));
      random_stream random{std::uint64_t(width)};
      const auto b = test::matrix_of_rows<Value, Index>(rows + 2, 20'000, 31, [&](std::int64_t i) {
        std::set<std::int64_t> row{i, i + width - 1};
        for (std::int64_t e = 0; e < (filled ? std::min<std::int64_t>(width, 4) : i % 5); ++e)
          row.insert(i + (filled ? e : std::int64_t(random.below(std::uint32_t(width)))));
        if (i % 11 == 0) row.clear();
        return std::vector<std::int64_t>(row.begin(), row.end());
      });
      const auto a = test::matrix_of_rows<Value, Index>(rows, b.rows, 32, [&](std::int64_t i) {
        return i % 3 == 0 ? std::vector<std::int64_t>{i + 2, i + 1, i} : std::vector<std::int64_t>{i, i + 1, i + 2};
      });
      report told;
      EXPECT_EQ(multiply<Semiring>(a.view(), b.view(), {}, Device::host(), &told),
                test::reference_product<Semiring>(a.view(), b.view()));
      EXPECT_GT(told.rows_by_strategy[int(strategy::tiny)], rows / 2);
    }
}
TEST(spgemm_accumulators, bands) {
  expect_bands<plus_times, double, std::int32_t>();
  expect_bands<plus_times, float, std::int64_t>();
  expect_bands<min_plus, double, std::int64_t>();
  expect_bands<or_and, float, std::int32_t>();
}

// Every kernel of the family in every instantiation, on the host and on the emulated device.
template <class Semiring, class Value, class Index>
void expect_every_kernel() {
  const auto in_any_order = [](std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
    random_stream random(seed);
    return test::matrix_of_rows<Value, Index>(rows, cols, seed, [&](std::int64_t i) {
      std::vector<std::int64_t> row{(3 * i + 5) % cols, i % cols};
      for (std::int64_t e = 0; e < i % 4; ++e) row.push_back((row[1] + 7 * e + 11) % cols);
      std::set<std::int64_t> once(row.begin(), row.end());
      return std::vector<std::int64_t>(once.rbegin(), once.rend());
    });
  };
  const auto a = in_any_order(9, 20, 1), b = in_any_order(20, 30, 2), mask = in_any_order(9, 30, 3);
  const auto expected = test::reference_product<Semiring>(a.view(), b.view());
  const auto reversed = transpose(b.view(), memory_source::standard(), Device::host());
  std::vector<Value> x(20 * 5, Value(0.5)), y(9 * 5), first_y;
  for (const Device& device : {Device::host(), Device::emulated()}) {
    SCOPED_TRACE(device.name());
    for (const strategy how : accumulators)
      EXPECT_EQ(multiply<Semiring>(a.view(), b.view(), tuned({.prediction_scale = 0.5, .accumulator = how}), device),
                expected)
          << name_of(how);
    EXPECT_EQ(multiply_masked<Semiring>(a.view(), b.view(), mask.view(), {}, device),
              test::reference_masked(expected, mask, true));
    EXPECT_EQ((multiply_masked<Semiring, complement_mask>(a.view(), b.view(), mask.view(), {}, device)),
              test::reference_masked(expected, mask, false));
    const plan<Semiring, Value, Index> planned(a.view(), b.view(), {}, device);
    EXPECT_EQ(planned.execute(a.view(), b.view()), expected);
    const auto there = upload(b.view(), device);
    EXPECT_EQ(download(transpose(there)), reversed);
    EXPECT_EQ(download(add(Value(1), there, Value(2), there)).nnz(), b.nnz());
    multiply_dense<Value, Index>(a.view(), {x.data(), 20, 5}, {y.data(), 9, 5}, device);
    if (first_y.empty()) first_y = y;
    EXPECT_EQ(y, first_y);
  }
}
template <class Semiring>
void expect_every_type() {
  expect_every_kernel<Semiring, float, std::int32_t>();
  expect_every_kernel<Semiring, float, std::int64_t>();
  expect_every_kernel<Semiring, double, std::int32_t>();
  expect_every_kernel<Semiring, double, std::int64_t>();
}
TEST(spgemm_accumulators, every_kernel_plus_times) { expect_every_type<plus_times>(); }
TEST(spgemm_accumulators, every_kernel_min_plus) { expect_every_type<min_plus>(); }
TEST(spgemm_accumulators, every_kernel_or_and) { expect_every_type<or_and>(); }

// Large teams starve each other at their barriers on few cores: they get few rows, each kind of which is there.
TEST(spgemm_accumulators, with_teams_of_any_size) {
  using matrix = csr<double, std::int32_t>;
  const auto all = problems<double, std::int32_t>();
  for (const int size : {1, 2, 3, 5, 8, 32, 64}) {
    const device::emulated_team_size guard(size);
    for (const auto& p : {&all[0], &all[3]}) {
      const auto a = p->a.view().slice(0, size > 8 ? 4 : 12), mask = p->mask.view().slice(0, a.rows);
      const matrix expected = test::reference_product<plus_times>(a, p->b.view());
      const matrix taken{a.rows, p->b.cols, {mask.row_pointers, a.rows + 1}, p->mask.columns, p->mask.values};
      for (const strategy how : accumulators) {
        SCOPED_TRACE(text(p->name, ", ", name_of(how), ", teams of ", size));
        EXPECT_EQ(multiply(a, p->b.view(), tuned({.accumulator = how}), Device::emulated()), expected);
        if (size > 8) continue;
        EXPECT_EQ((multiply_masked<plus_times, complement_mask>(a, p->b.view(), mask, tuned({.accumulator = how}),
                                                                Device::emulated())),
                  test::reference_masked(expected, taken, false));
      }
      EXPECT_EQ(multiply_masked(a, p->b.view(), mask, {}, Device::emulated()),
                test::reference_masked(expected, taken, true));
    }
  }
}

}  // namespace
}  // namespace quintet::spgemm
