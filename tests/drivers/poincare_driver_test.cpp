#include <algorithm>
#include <cmath>

#include "drivers/driver_run.hpp"
#include "quintet/io/csv.hpp"
#include "quintet/io/hdf5.hpp"
#include "quintet/io/matrix_file.hpp"
#include "support/data_folder.hpp"

namespace quintet {
namespace {

class poincare_driver : public test::driver_run {
 protected:
  poincare_driver() : driver_run("poincare") {}

  const std::string points = make("points.csv", "0,0\n0.5,0\n0,0.5\n0.3,0\n");
  const std::string queries = make("queries.csv", "0.6,0\n0,0\n");

  io::matrix<double> result(arguments given, const std::string& output = "out.csv") {
    given.insert(given.end(), {"--points", points, "--precision", "double", "--output", output});
    run_well(given);
    return io::read_matrix<double>(work(output));
  }
};

TEST_F(poincare_driver, common_options) { expect_common_options({"--points", points, "--output", "common.csv"}); }

TEST_F(poincare_driver, matrix_of_the_points) {
  for (const char* output : {"out.csv", "out.npy", "out.h5"}) {
    const auto d = result({"--curvature", "-1"}, output);
    ASSERT_EQ(d.rows, 4);
    ASSERT_EQ(d.cols, 4);
    EXPECT_EQ(d.data[5], 0);
    EXPECT_NEAR(d.data[1], std::log(3), 1e-15);  // 2 artanh(1/2)
    EXPECT_EQ(d.data[1], d.data[4]);
  }
}

TEST_F(poincare_driver, queries_pairs_and_curvature) {
  const auto d = result({"--queries", queries});
  ASSERT_EQ(d.rows, 2);
  ASSERT_EQ(d.cols, 4);
  EXPECT_NEAR(d.data[3], 0.76725517, 1e-7);
  EXPECT_NEAR(result({"--queries", queries, "--curvature", "0"}).data[0], 1.2, 1e-15);
  EXPECT_NEAR(result({"--queries", queries, "--formula", "clamped-artanh"}).data[3], 0.83093892, 1e-7);
  const std::string four = make("four.csv", "0,0\n0,0\n0,0\n0,0\n");
  const auto pairs = result({"--queries", four, "--pairwise"});
  ASSERT_EQ(pairs.cols, 1);
  EXPECT_NEAR(pairs.data[2], std::log(3), 1e-15);
}

TEST_F(poincare_driver, nearest_neighbours) {
  const auto found = io::read_csv<double>((result({"--knn", "2"}, "knn.csv"), work("knn.csv")));
  EXPECT_EQ(found.names, (std::vector<std::string>{"query", "nn1", "d1", "nn2", "d2"}));
  EXPECT_EQ(found.values.data[0], 0);
  EXPECT_EQ(found.values.data[1], 3);
  EXPECT_NEAR(found.values.data[2], 2 * std::atanh(0.3), 1e-15);
  run_well({"--points", points, "--queries", queries, "--knn", "1", "--output", "knn.h5"});
  EXPECT_EQ(io::read_hdf5<std::int64_t>(work("knn.h5"), "index").data, (std::vector<std::int64_t>{1, 0}));
}

TEST_F(poincare_driver, lorentz_model) {
  const auto d = result({"--model", "lorentz", "--queries", queries});
  ASSERT_EQ(d.rows, 2);
  ASSERT_EQ(d.cols, 4);
  EXPECT_NEAR(d.data[3], std::asinh(0.6) - std::asinh(0.3), 1e-15);
  EXPECT_NEAR(d.data[4 + 1], std::asinh(0.5), 1e-15);
  EXPECT_NEAR(result({"--model", "lorentz", "--curvature", "-4"}).data[1], std::asinh(1) / 2, 1e-15);
  const auto near = io::read_csv<double>((result({"--model", "lorentz", "--knn", "2"}, "knn.csv"), work("knn.csv")));
  EXPECT_EQ(near.values.data[1], 3);
  EXPECT_NEAR(near.values.data[2], std::asinh(0.3), 1e-15);

  const std::string timed = make("timed.csv", "1.25,0.75\n1,0\n1.25,0.75\n");
  const auto measure = [&](const std::string& coordinates, const arguments& more) {
    arguments given{"--points", timed, "--model", "lorentz", "--coordinates", coordinates, "--output", "timed.h5"};
    given.insert(given.end(), more.begin(), more.end());
    return given;
  };
  for (const char* coordinates : {"time-and-space", "time-ignored"}) {
    run_well(measure(coordinates, {}));
    EXPECT_NEAR(io::read_hdf5<double>(work("timed.h5"), "distances").data[1], std::log(2), 1e-7);
  }
  run_well(measure("time-ignored", {"--knn", "1", "--queries", timed}));
  EXPECT_EQ(io::read_hdf5<std::int64_t>(work("timed.h5"), "index").data, (std::vector<std::int64_t>{0, 1, 0}));
  make("timed.csv", "1.25,0.75\n1,0.5\nnan,0\n");
  const auto outcome = run(measure("time-and-space", {}));
  QUINTET_EXPECT_CONTAINS(outcome.error, "warning: 1 of the points lie on or outside the hyperboloid and 1 are not");
  expect_failure(measure("time-and-space", {"--strict"}), 2, "[1]");
  make("timed.csv", "1.25,0.75\n1,nan\n1,0\n");
  expect_failure(measure("time-ignored", {"--strict", "--knn", "1"}), 2, "points[1] must be finite");
  expect_failure(measure("time-and-space", {"--knn", "1"}), 2, "--knn takes --coordinates space or time-ignored");
  expect_failure(measure("time", {}), 2, "--coordinates must be space or time-and-space or time-ignored");
  expect_failure(measure("time-ignored", {"--curvature", "0"}), 2, "--curvature must be negative with --model lorentz");
  expect_failure(measure("time-ignored", {"--formula", "clamped-artanh"}), 2, "--formula needs --model poincare");
  expect_failure(measure("time-ignored", {"--knn", "1", "--precision", "float"}), 2, "points must be double");
  expect_failure({"--points", points, "--coordinates", "time-ignored", "--output", "o.csv"}, 2,
                 "--coordinates needs --model lorentz (--model=poincare)");
  expect_failure({"--points", points, "--model", "klein", "--output", "o.csv"}, 2,
                 "--model must be poincare or lorentz");
}

TEST_F(poincare_driver, points_outside_are_nan_with_a_warning) {
  const std::string bad = make("bad.csv", "0,0\n1,0\n");
  const auto outcome = run({"--points", bad, "--output", "out.csv"});
  EXPECT_EQ(outcome.status, 0);
  QUINTET_EXPECT_CONTAINS(outcome.error, "warning: 1 of the points lie on or outside the ball");
  EXPECT_TRUE(std::isnan(io::read_matrix<double>(work("out.csv")).data[1]));
  expect_failure({"--points", bad, "--strict", "--output", "strict.csv"}, 2, "[1] must be inside the ball");
}

TEST_F(poincare_driver, reads_npy_and_datasets_of_hdf5) {
  const std::vector<double> x{0, 0, 0.5, 0, 0, 0.5};
  const quintet::matrix_view<const double> rows(x.data(), 3, 2);
  io::write_matrix<double>(work("p.npy"), rows, "x");
  io::hdf5_writer file(work("p.h5"));
  file.write("first", rows);
  file.write("second", quintet::matrix_view<const double>(x.data() + 2, 2, 2));
  file.commit();
  run_well({"--points", "p.npy", "--precision", "double", "--output", "npy.csv"});
  EXPECT_NEAR(io::read_matrix<double>(work("npy.csv")).data[1], std::log(3), 1e-15);
  run_well(
      {"--points", "p.h5", "--dataset", "second", "--curvature=-1", "--precision", "double", "--output", "h5.csv"});
  const auto d = io::read_matrix<double>(work("h5.csv"));
  EXPECT_EQ(d.rows, 2);
  EXPECT_NEAR(d.data[1], 2 * std::asinh(std::sqrt(0.5) / 0.75), 1e-15);
  expect_failure({"--points", "p.h5", "--output", "out.csv"}, 2, "one dataset must be chosen by its name");
}

TEST_F(poincare_driver, summary_tells_what_was_done) {
  const std::string bad = make("one_outside.csv", "0,0\n0.5,0\n0,3\n");
  const auto outcome =
      run({"--points", bad, "--curvature", "-0.25", "--knn", "1", "--output", "k.csv", "--json", "k.json"});
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  const test::json_value summary = json("k.json");
  EXPECT_EQ(summary["results"]["points"], 3);
  EXPECT_EQ(summary["results"]["points_outside"], 1);
  EXPECT_EQ(summary["parameters"]["curvature"], -0.25);
  EXPECT_EQ(summary["parameters"]["knn"], 1);
  EXPECT_EQ(io::read_csv<double>(work("k.csv")).values.data[3 * 2 + 1], -1);  // the point outside has no neighbour
}

TEST_F(poincare_driver, bad_input) {
  expect_failure({"--points", "none.csv", "--output", "o.csv"}, 2, "none.csv");
  expect_failure({"--points", make("words.csv", "0,0\n0,zero\n"), "--output", "o.csv"}, 2, "words.csv:2");
  expect_failure({"--points", make("ragged.csv", "0,0\n0\n"), "--output", "o.csv"}, 2, "ragged.csv:2");
  expect_failure({"--points", points, "--queries", make("three.csv", "0,0,0\n"), "--output", "o.csv"}, 2, "dimension");
  expect_failure({"--points", points, "--queries", queries, "--pairwise", "--output", "o.csv"}, 2, "y.rows must be");
  expect_failure({"--points", points, "--formula", "new", "--output", "o.csv"}, 2, "--formula");
  expect_failure({"--points", points, "--output", points}, 2, points);
}

TEST_F(poincare_driver, bad_usage) {
  const auto expect_bad = [&](arguments given, const std::string& message) {
    given.insert(given.end(), {"--points", points});
    if (std::find(given.begin(), given.end(), "--output") == given.end())
      given.insert(given.end(), {"--output", "bad.csv"});
    expect_failure(given, 2, message);
  };
  expect_bad({"--curvature", "1"}, "curvature must be 0 (Euclidean) or negative");
  expect_bad({"--knn", "0"}, "--knn must be >= 1");
  expect_bad({"--knn", "4"}, "k must be in [1, 3]");
  expect_bad({"--knn", "1", "--pairwise"}, "exclude each other");
  expect_bad({"--pairwise"}, "needs --queries");
  expect_bad({"--knn", "1", "--output", "bad.npy"}, "must be .csv or .h5");
}

}  // namespace
}  // namespace quintet
