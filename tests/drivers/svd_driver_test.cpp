#include <algorithm>
#include <cmath>
#include <limits>

#include "drivers/driver_run.hpp"
#include "quintet/core/philox.hpp"
#include "quintet/io/csv.hpp"
#include "quintet/io/hdf5.hpp"
#include "quintet/io/npy.hpp"
#include "support/near.hpp"

namespace quintet {
namespace {

using numbers = std::vector<double>;
using shape = std::vector<std::int64_t>;

class svd_driver : public test::driver_run {
 protected:
  svd_driver() : driver_run("svd") {}

  /// [3 0; 4 5]: singular values sqrt(45), sqrt(5).
  const std::string small = make("small.csv", "3,0\n4,5\n");

  void run_to(const std::string& output, arguments more) {
    more.insert(more.end(), {"--output", output, "--quiet"});
    run_well(more);
  }
  numbers read(const std::string& file, const std::string& dataset) {
    return io::read_hdf5<double>(work(file), dataset).data;
  }
  shape shape_of(const std::string& file, const std::string& dataset) {
    return io::read_hdf5<double>(work(file), dataset).shape;
  }
  /// A batch of `count` matrices in a file.
  numbers make_batch(const std::string& name, std::int64_t count, std::int64_t m, std::int64_t n) {
    numbers a(count * m * n);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = normal_at<double>(2, 0, i);
    const shape dims{count, m, n};
    io::write_npy<double>(work(name), std::span<const double>(a), std::span<const std::int64_t>(dims));
    return a;
  }
  void expect_bad(arguments given, const std::string& message) {
    if (std::find(given.begin(), given.end(), "--input") == given.end()) given.insert(given.end(), {"--input", small});
    if (std::find(given.begin(), given.end(), "--output") == given.end())
      given.insert(given.end(), {"--output", "bad.h5"});
    expect_failure(given, 2, message);
  }
};

TEST_F(svd_driver, common_options) { expect_common_options({"--input", small, "--output", "common.csv"}); }

TEST_F(svd_driver, values_as_csv_in_17_digits) {
  run_to("s.csv", {"--input", small, "--precision", "double", "--mode", "values"});
  const auto s = io::read_csv<double>(work("s.csv")).values;
  ASSERT_EQ(s.rows, 1);
  ASSERT_EQ(s.cols, 2);
  EXPECT_NEAR(s.data[0], std::sqrt(45.0), 1e-14);
  EXPECT_NEAR(s.data[1], std::sqrt(5.0), 1e-14);
  EXPECT_GE(text_of("s.csv").size(), 2 * 17u);
}

TEST_F(svd_driver, tolerances_truncate) {
  make("ranks.csv", "3,0,0\n0,2,0\n0,0,1e-9\n");
  run_to("t.h5", {"--input", "ranks.csv", "--precision", "double", "--tolerance", "1e-8", "--json", "t.json"});
  EXPECT_EQ(shape_of("t.h5", "U"), (shape{3, 2}));
  EXPECT_EQ(shape_of("t.h5", "V"), (shape{3, 2}));
  EXPECT_EQ(read("t.h5", "S"), (numbers{3, 2}));
  EXPECT_EQ(io::read_hdf5<std::int64_t>(work("t.h5"), "rank").data, (std::vector<std::int64_t>{2}));
  EXPECT_NE(text_of("t.json").find("\"largest_rank\": 2"), std::string::npos);
  run_to("a.csv", {"--input", "ranks.csv", "--precision", "double", "--absolute-tolerance", "2", "--mode", "values"});
  EXPECT_EQ(io::read_csv<double>(work("a.csv")).values.data, (numbers{3}));
  run_to("all.csv", {"--input", "ranks.csv", "--precision", "double", "--tolerance", "0", "--mode", "values"});
  EXPECT_EQ(io::read_csv<double>(work("all.csv")).values.cols, 3);
  expect_bad({"--tolerance", "-1"}, "--tolerance must be >= 0 (--tolerance=-1)");
  expect_bad({"--absolute-tolerance", "nan"}, "--absolute-tolerance must be >= 0");
  expect_bad({"--tolerance", "0", "--mode", "full"}, "--mode must be values or econ with --tolerance");
  expect_bad({"--tolerance", "0", "--symmetric"}, "--tolerance is not for --symmetric");
}

TEST_F(svd_driver, certificates) {
  const numbers a = make_batch("batch.npy", 3, 5, 5);
  for (const char* precision : {"double", "float", "half"}) {
    const double limit = precision[0] == 'd' ? 1e-12 : precision[0] == 'f' ? 1e-4 : 1;
    run_to("c.h5", {"--input", "batch.npy", "--precision", precision, "--certify", "--json", "c.json"});
    EXPECT_EQ(shape_of("c.h5", "bound"), (shape{3}));
    for (const double bound : read("c.h5", "bound")) EXPECT_TRUE(bound > 0 && bound < limit) << bound;
    EXPECT_NE(text_of("c.json").find("\"largest_bound\""), std::string::npos);
    run_to("w.h5", {"--input", "batch.npy", "--precision", precision, "--certify", "--symmetric=upper"});
    for (const double bound : read("w.h5", "bound")) EXPECT_TRUE(bound > 0 && bound < limit) << bound;
  }
  expect_bad({"--certify", "--mode", "values"}, "--certify needs vectors");
  expect_bad({"--certify", "--rank", "1"}, "--certify is for all singular values");
}

TEST_F(svd_driver, symmetric_matrices) {
  make("sym.csv", "2,9\n1,2\n");  // 9 is not read
  run_to("w.csv", {"--input", "sym.csv", "--precision", "double", "--symmetric"});
  const auto w = io::read_csv<double>(work("w.csv")).values;
  ASSERT_EQ(w.cols, 2);
  EXPECT_NEAR(w.data[0], 1, 1e-15);
  EXPECT_NEAR(w.data[1], 3, 1e-15);
  run_to("upper.csv", {"--input", "sym.csv", "--precision", "double", "--symmetric=upper", "--mode", "values"});
  EXPECT_NEAR(io::read_csv<double>(work("upper.csv")).values.data[0], -7, 1e-14);
  make("graded.csv", "1,0\n5e-9,1e-16\n");
  run_to("p.csv", {"--input", "graded.csv", "--precision", "double", "--symmetric", "--positive"});
  EXPECT_NEAR(io::read_csv<double>(work("p.csv")).values.data[0] / 0.75e-16, 1, 1e-14);
  expect_bad({"--positive"}, "--positive needs --symmetric");
  const numbers a = make_batch("batch.npy", 3, 5, 5);
  for (const char* precision : {"double", "float", "half"}) {
    run_to("e.h5", {"--input", "batch.npy", "--precision", precision, "--symmetric"});
    EXPECT_EQ(shape_of("e.h5", "w"), (shape{3, 5}));
    EXPECT_EQ(shape_of("e.h5", "V"), (shape{3, 5, 5}));
    const numbers values = read("e.h5", "w"), v = read("e.h5", "V");
    double error = 0;
    for (int b = 0; b < 3; ++b)
      for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 5; ++j) {
          double sum = 0;
          for (int k = 0; k < 5; ++k) sum += values[b * 5 + k] * v[(b * 5 + i) * 5 + k] * v[(b * 5 + j) * 5 + k];
          error = std::max(error, std::fabs(sum - a[(b * 5 + std::max(i, j)) * 5 + std::min(i, j)]));
        }
    EXPECT_LE(error, precision[0] == 'd' ? 1e-13 : precision[0] == 'f' ? 1e-5 : 3e-2) << precision;
  }
  run_to("one.h5", {"--input", "sym.csv", "--symmetric", "--mode", "values"});
  EXPECT_EQ(shape_of("one.h5", "w"), (shape{2}));
  make_batch("tall.npy", 2, 4, 3);
  expect_bad({"--input", "tall.npy", "--symmetric"}, "must have square matrices for --symmetric, not 4 x 3");
  expect_bad({"--symmetric=middle"}, "--symmetric");
  expect_bad({"--symmetric", "--mode", "full"}, "--mode must be values or econ with --symmetric");
  expect_bad({"--symmetric", "--accurate"}, "is not for --symmetric");
  expect_bad({"--symmetric", "--rank", "1"}, "is not for --symmetric");
}

TEST_F(svd_driver, subsets_of_eigenvalues) {
  make_batch("batch.npy", 3, 5, 5);
  run_to("all.h5", {"--input", "batch.npy", "--symmetric"});
  run_to("part.h5", {"--input", "batch.npy", "--symmetric", "--subset", "1:3"});
  EXPECT_EQ(shape_of("part.h5", "w"), (shape{3, 3}));
  EXPECT_EQ(shape_of("part.h5", "V"), (shape{3, 5, 3}));
  const numbers all = read("all.h5", "w"), part = read("part.h5", "w"), v = read("all.h5", "V"),
                of_part = read("part.h5", "V");
  for (int b = 0; b < 3; ++b)
    for (int j = 0; j < 3; ++j) {
      EXPECT_EQ(part[b * 3 + j], all[b * 5 + 1 + j]);
      for (int i = 0; i < 5; ++i) EXPECT_EQ(of_part[(b * 5 + i) * 3 + j], v[(b * 5 + i) * 5 + 1 + j]);
    }
  run_to("last.csv", {"--input", "batch.npy", "--symmetric", "--subset", "4:4", "--mode", "values"});
  EXPECT_EQ(io::read_csv<double>(work("last.csv")).values.cols, 1);
  for (const char* wrong : {"3", "3:", ":3", "3:1", "-1:2", "1:2x", "a:b"})
    expect_bad({"--symmetric", text("--subset=", wrong)}, "--subset must be FIRST:LAST with 0 <= FIRST <= LAST");
  expect_bad({"--subset", "0:0"}, "--subset needs --symmetric");
  expect_bad({"--input", "batch.npy", "--symmetric", "--subset", "3:5"},
             "has matrices of 5 rows, too few for --subset=3:5");
  expect_bad({"--symmetric", "--subset", "0:0", "--certify"}, "--certify is for all eigenvalues, not for --subset");
}

TEST_F(svd_driver, least_squares) {
  const numbers a = make_batch("tall.npy", 3, 6, 2);
  numbers right(3 * 6 * 2);
  // X = [1 -1; 2 0.5], and what is orthogonal to no column for the second right-hand side.
  for (int b = 0; b < 3; ++b)
    for (int i = 0; i < 6; ++i) {
      const double x = a[(b * 6 + i) * 2], y = a[(b * 6 + i) * 2 + 1];
      right[(b * 6 + i) * 2] = x + 2 * y;
      right[(b * 6 + i) * 2 + 1] = -x + 0.5 * y;
    }
  const shape dims{3, 6, 2};
  io::write_npy<double>(work("right.npy"), std::span<const double>(right), std::span<const std::int64_t>(dims));
  for (const char* precision : {"double", "float", "half"}) {
    run_to("x.h5", {"--input", "tall.npy", "--right", "right.npy", "--precision", precision, "--json", "x.json"});
    const double bound = precision[0] == 'd' ? 1e-14 : precision[0] == 'f' ? 1e-5 : 2e-2;
    EXPECT_EQ(shape_of("x.h5", "X"), (shape{3, 2, 2}));
    EXPECT_EQ(shape_of("x.h5", "residual"), (shape{3, 2}));
    EXPECT_EQ(shape_of("x.h5", "S"), (shape{3, 2}));
    EXPECT_EQ(io::read_hdf5<std::int64_t>(work("x.h5"), "rank").data, (std::vector<std::int64_t>{2, 2, 2}));
    const numbers x = read("x.h5", "X");
    for (int b = 0; b < 3; ++b)
      for (int e = 0; e < 4; ++e) EXPECT_NEAR(x[b * 4 + e], (numbers{1, -1, 2, 0.5})[e], bound) << precision;
    for (const double rest : read("x.h5", "residual")) EXPECT_LE(rest, 10 * bound);
    EXPECT_NE(text_of("x.json").find("\"right_sides\": 2"), std::string::npos);
  }
  // One matrix and one right-hand side: x = 2 with the residual (1, -1) of (3, 1).
  make("ones.csv", "1\n1\n");
  make("sides.csv", "3\n1\n");
  run_to("one.csv", {"--input", "ones.csv", "--right", "sides.csv", "--precision", "double"});
  EXPECT_NEAR(io::read_csv<double>(work("one.csv")).values.data[0], 2, 1e-15);
  const numbers line{3, 1};
  io::write_npy<double>(work("line.npy"), std::span<const double>(line), std::span<const std::int64_t>(shape{2}));
  run_to("one.h5", {"--input", "ones.csv", "--right", "line.npy", "--precision", "double"});
  EXPECT_EQ(shape_of("one.h5", "X"), (shape{1, 1}));
  EXPECT_NEAR(read("one.h5", "residual")[0], std::sqrt(2.0), 1e-15);
  // Of rank 1: the solution of least norm, by a tolerance.
  make("low.csv", "1,1\n1,1.0000000001\n");
  run_to("low.csv.h5", {"--input", "low.csv", "--right", "sides.csv", "--precision", "double", "--tolerance", "1e-6"});
  EXPECT_EQ(io::read_hdf5<std::int64_t>(work("low.csv.h5"), "rank").data, (std::vector<std::int64_t>{1}));
  EXPECT_NEAR(read("low.csv.h5", "X")[0], 1, 1e-9);
  EXPECT_NEAR(read("low.csv.h5", "X")[1], 1, 1e-9);
  expect_bad({"--input", "tall.npy", "--right", "sides.csv"},
             "must be [3, 6] or [3, 6, r] for the matrices of --input, not [2, 1]");
  expect_bad({"--right", "right.npy"}, "must be [2] or [2, r] for the matrices of --input, not [3, 6, 2]");
  expect_bad({"--right", "right.npy", "--mode", "econ"}, "--mode is not for --right");
  expect_bad({"--right", "right.npy", "--symmetric"}, "--symmetric is not for --right");
  expect_bad({"--right-dataset", "b"}, "--right-dataset needs --right");
  expect_bad({"--right", "right.npy", "--right-dataset", "b"}, "right.npy: has no datasets");
  expect_bad({"--right", "right.npy", "--output", "right.npy"}, "");
}

TEST_F(svd_driver, batch_gives_a_line_a_matrix) {
  make_batch("batch.npy", 3, 4, 2);
  run_to("s.csv", {"--input", "batch.npy"});
  const auto s = io::read_csv<double>(work("s.csv")).values;
  EXPECT_EQ(s.rows, 3);
  EXPECT_EQ(s.cols, 2);
}

TEST_F(svd_driver, factors_of_a_batch_rebuild_it) {
  const numbers a = make_batch("batch.npy", 3, 4, 6);
  for (const char* preconditioning : {"auto", "none", "qr", "qrcp"}) {
    run_to("f.h5",
           {"--input", "batch.npy", "--precision", "double", "--preconditioning", preconditioning, "--accurate"});
    EXPECT_EQ(shape_of("f.h5", "U"), (shape{3, 4, 4}));
    EXPECT_EQ(shape_of("f.h5", "S"), (shape{3, 4}));
    EXPECT_EQ(shape_of("f.h5", "V"), (shape{3, 6, 4}));
    const numbers u = read("f.h5", "U"), s = read("f.h5", "S"), v = read("f.h5", "V");
    numbers product(a.size());
    for (int b = 0; b < 3; ++b)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 6; ++j)
          for (int k = 0; k < 4; ++k)
            product[(b * 4 + i) * 6 + j] += u[(b * 4 + i) * 4 + k] * s[b * 4 + k] * v[(b * 6 + j) * 4 + k];
    test::expect_near(product, a, 1e-13, 1);
    EXPECT_EQ(io::read_hdf5<std::int32_t>(work("f.h5"), "status").data, (std::vector<std::int32_t>{0, 0, 0}));
    EXPECT_EQ(io::read_hdf5<std::int32_t>(work("f.h5"), "sweeps").shape, shape{3});
  }
}

TEST_F(svd_driver, modes_and_datasets) {
  run_to("econ.h5", {"--input", small, "--canonical-signs"});
  EXPECT_EQ(shape_of("econ.h5", "U"), (shape{2, 2}));
  const numbers u = read("econ.h5", "U");
  EXPECT_GT(std::max(u[0], u[2]), 0);
  const std::string tall = make("tall.csv", "1,0\n0,2\n0,0\n");
  run_to("full.h5", {"--input", tall, "--mode", "full"});
  EXPECT_EQ(shape_of("full.h5", "U"), (shape{3, 3}));
  EXPECT_EQ(shape_of("full.h5", "V"), (shape{2, 2}));
  run_to("values.h5", {"--input", tall, "--mode", "values"});
  EXPECT_THROW(read("values.h5", "U"), FileError);
  EXPECT_EQ(read("values.h5", "S"), (numbers{2, 1}));
  // The output of one run is the input of another.
  run_to("again.h5", {"--input", "full.h5", "--dataset", "V", "--mode", "values"});
  test::expect_near(read("again.h5", "S"), numbers{1, 1}, 1e-6);
}

TEST_F(svd_driver, centring_takes_the_means_off) {
  const std::string rows = make("rows.csv", "1,10\n3,14\n2,9\n6,7\n");
  run_to("centred.h5", {"--input", rows, "--precision", "double", "--centre"});
  test::expect_near(read("centred.h5", "means"), numbers{3, 10}, 1e-15);
  const std::string rest = make("rest.csv", "-2,0\n0,4\n-1,-1\n3,-3\n");
  run_to("rest.h5", {"--input", rest, "--precision", "double"});
  test::expect_near(read("centred.h5", "S"), read("rest.h5", "S"), 1e-14);
  EXPECT_THROW(read("rest.h5", "means"), FileError);
  make_batch("batch.npy", 3, 4, 2);
  run_to("batch.h5", {"--input", "batch.npy", "--centre", "--precision", "half"});
  EXPECT_EQ(shape_of("batch.h5", "means"), (shape{3, 2}));
  expect_bad({"--centre", "--certify"}, "--certify is for the matrices of --input, not for --centre");
  expect_bad({"--centre", "--rank", "1"}, "--centre is not for the randomised method of --rank");
  expect_bad({"--centre", "--symmetric"}, "--centre is not for --symmetric");
}

TEST_F(svd_driver, sixteen_bits) {
  for (const char* precision : {"half", "bfloat16"}) {
    run_to("h.h5", {"--input", small, "--precision", precision});
    EXPECT_NEAR(read("h.h5", "S")[0], std::sqrt(45.0), 1e-5);
    EXPECT_NEAR(std::fabs(read("h.h5", "U")[0]), std::sqrt(0.1), 3e-3);
  }
}

TEST_F(svd_driver, randomised_rank) {
  numbers a(40 * 30);
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 30; ++j) a[i * 30 + j] = 3 * std::sin(i) * std::cos(j) + 0.5 * std::cos(2 * i) * std::sin(j);
  const shape dims{40, 30};
  io::write_npy<double>(work("low.npy"), std::span<const double>(a), std::span<const std::int64_t>(dims));
  run_to("low.h5", {"--input", "low.npy", "--precision", "double", "--rank", "2", "--oversampling", "4",
                    "--power-iterations", "1", "--seed", "5", "--json", "low.json"});
  run_to("all.h5", {"--input", "low.npy", "--precision", "double"});
  EXPECT_EQ(shape_of("low.h5", "U"), (shape{40, 2}));
  const numbers all = read("all.h5", "S");
  test::expect_near(read("low.h5", "S"), numbers{all[0], all[1]}, 1e-12);
  EXPECT_LE(read("low.h5", "residual")[0], 1e-6 * all[0]);
  EXPECT_EQ(json("low.json")["results"]["values"], 2);
  EXPECT_EQ(json("low.json")["parameters"]["seed"], 5);
}

TEST_F(svd_driver, not_finite_and_not_converged_are_warnings) {
  numbers a = make_batch("batch.npy", 2, 12, 12);
  a[7] = std::numeric_limits<double>::quiet_NaN();
  const shape dims{2, 12, 12};
  io::write_npy<double>(work("nan.npy"), std::span<const double>(a), std::span<const std::int64_t>(dims));
  const auto lost = run({"--input", "nan.npy", "--output", "nan.h5"});
  EXPECT_EQ(lost.status, 0);
  QUINTET_EXPECT_CONTAINS(lost.error, "1 matrices hold nan or inf; they have status 2");
  EXPECT_EQ(io::read_hdf5<std::int32_t>(work("nan.h5"), "status").data, (std::vector<std::int32_t>{2, 0}));
  EXPECT_TRUE(std::isnan(read("nan.h5", "S")[0]));
  // From A itself: a start from eigenvectors, which some widths of registers have here, takes one sweep.
  const auto hasty = run({"--input", "batch.npy", "--preconditioning", "none", "--max-sweeps", "1", "--output",
                          "hasty.h5", "--json", "hasty.json"});
  EXPECT_EQ(hasty.status, 0);
  QUINTET_EXPECT_CONTAINS(hasty.error, "2 matrices did not converge; they have status 1");
  EXPECT_EQ(json("hasty.json")["results"]["not_converged"], 2);
}

TEST_F(svd_driver, bad_usage) {
  expect_bad({"--mode", "thin"}, "--mode");
  expect_bad({"--preconditioning", "lq"}, "--preconditioning");
  expect_bad({"--max-sweeps", "0"}, "--max-sweeps must be >= 1 (--max-sweeps=0)");
  expect_bad({"--rank", "0"}, "--rank must be >= 1");
  expect_bad({"--rank", "1", "--mode", "full"}, "--mode must be values or econ with --rank");
  expect_bad({"--seed", "3"}, "--seed needs --rank");
  expect_bad({"--oversampling", "3"}, "--oversampling needs --rank");
  expect_bad({"--rank", "1", "--preconditioning", "qr"}, "--preconditioning is not for the randomised method");
  expect_bad({"--rank", "1", "--oversampling", "-1"}, "--oversampling must be >= 0 (--oversampling=-1)");
  expect_bad({"--rank", "1", "--precision", "half"}, "--precision must be float or double with --rank");
  expect_bad({"--output", "bad.npy"}, "extension \".npy\" is not supported here; allowed are .csv, .h5");
  expect_bad({"--rank", "1", "--power-iterations", "-1"}, "--power-iterations must be >= 0");
  expect_bad({"--dataset", "U"}, "has no datasets");
}

TEST_F(svd_driver, bad_input) {
  expect_bad({"--input", "absent.npy"}, "absent.npy");
  expect_bad({"--input", make("words.csv", "1,2\n3,four\n")}, "words.csv:2");
  expect_bad({"--input", make("ragged.csv", "1,2\n3\n")}, "ragged.csv:2");
  const shape dims{4};
  const numbers line{1, 2, 3, 4};
  io::write_npy<double>(work("line.npy"), std::span<const double>(line), std::span<const std::int64_t>(dims));
  expect_bad({"--input", "line.npy"}, "must have 2 or 3 dimensions, it has 1");
}

}  // namespace
}  // namespace quintet
