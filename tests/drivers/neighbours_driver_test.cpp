#include <cmath>

#include "drivers/driver_run.hpp"
#include "quintet/io/csv.hpp"
#include "quintet/io/hdf5.hpp"
#include "quintet/io/matrix_file.hpp"

namespace quintet {
namespace {

class neighbours_driver : public test::driver_run {
 protected:
  neighbours_driver() : driver_run("neighbours") {}

  const std::string points = make("points.csv", "0,0\n3,0\n0,4\n3,0\nnan,1\n");
  const std::string queries = make("queries.csv", "1,0\n");
};

TEST_F(neighbours_driver, common_options) {
  expect_common_options({"--input", queries, "--queries", queries, "--k", "1", "--output", "common.csv"},
                        "auto or float or double or half or bfloat16");
}

TEST_F(neighbours_driver, nearest) {
  const auto done = run({"--input", points, "--k", "2", "--output", "o.csv", "--json", "o.json"});
  EXPECT_EQ(done.status, 0);
  EXPECT_NE(done.error.find("the first is row 4"), std::string::npos) << done.error;
  const auto found = io::read_csv<double>(work("o.csv"));
  EXPECT_EQ(found.names, (std::vector<std::string>{"query", "nn1", "d1", "nn2", "d2"}));
  ASSERT_EQ(found.values.rows, 5);
  const auto& d = found.values.data;
  // Row 0: rows 1 and 3 are equally far, the smaller index comes first.
  EXPECT_EQ(std::vector<double>(d.begin(), d.begin() + 5), (std::vector<double>{0, 1, 3, 3, 3}));
  EXPECT_EQ(std::vector<double>(d.begin() + 5, d.begin() + 10), (std::vector<double>{1, 3, 0, 0, 3}));
  EXPECT_EQ(d[21], -1);
  EXPECT_TRUE(std::isnan(d[22]));
  EXPECT_EQ(json("o.json")["results"]["entries"].number(), 10);
}

TEST_F(neighbours_driver, radius_and_queries) {
  run({"--input", points, "--queries", queries, "--radius", "2", "--output", "o.csv"});
  const auto found = io::read_csv<double>(work("o.csv"));
  EXPECT_EQ(found.names, (std::vector<std::string>{"query", "neighbour", "distance"}));
  EXPECT_EQ(found.values.data, (std::vector<double>{0, 0, 1, 0, 1, 2, 0, 3, 2}));
  run({"--input", points, "--radius", "3", "--output", "o.h5"});
  EXPECT_EQ(io::read_hdf5<std::int64_t>(work("o.h5"), "row_pointers").data,
            (std::vector<std::int64_t>{0, 2, 4, 4, 6, 6}));
  EXPECT_EQ(io::read_hdf5<std::int64_t>(work("o.h5"), "index").data, (std::vector<std::int64_t>{1, 3, 0, 3, 0, 1}));
}

// Times in seconds: float holds every 128th of them.
TEST_F(neighbours_driver, the_input_decides_the_precision) {
  const std::vector<double> times{1700000000, 1700000030, 1700000200}, apart{30, 30, 170};
  const matrix_view<const double> column(times.data(), 3, 1);
  for (const char* name : {"t.npy", "t.h5", "t.csv"}) io::write_matrix<double>(work(name), column);
  const auto distances = [&](const arguments& input) {
    arguments all{"--k", "1", "--output", "o.csv", "--json", "o.json"};
    all.insert(all.end(), input.begin(), input.end());
    run_well(all);
    const auto rows = io::read_csv<double>(work("o.csv")).values;
    std::vector<double> column;
    for (std::int64_t i = 0; i < rows.rows; ++i) column.push_back(rows.data[3 * i + 2]);
    return column;
  };
  for (const char* name : {"t.npy", "t.h5", "t.csv"}) {
    EXPECT_EQ(distances({"--input", name}), apart) << name;
    EXPECT_EQ(json("o.json")["precision"], "double") << name;
    EXPECT_EQ(distances({"--input", name, "--precision", "float"}), (std::vector<double>{0, 0, 256})) << name;
  }
  // The file that needs more decides; text of numbers that float holds is read as float.
  make("small.csv", "1\n");
  EXPECT_EQ(distances({"--input", "small.csv", "--queries", "t.csv"}),
            (std::vector<double>{1699999999, 1700000029, 1700000199}));
  EXPECT_EQ(json("o.json")["precision"], "double");
  EXPECT_EQ(distances({"--input", "small.csv", "--queries", "small.csv"}), std::vector<double>{0});
  EXPECT_EQ(json("o.json")["precision"], "float");
}

TEST_F(neighbours_driver, bad_input_is_named) {
  const arguments needed{"--input", points, "--output", "o.csv"};
  const auto with = [&](const arguments& more) {
    arguments all = needed;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  expect_failure(needed, 2, "one of --k and --radius is needed");
  expect_failure(with({"--k", "1", "--radius", "1"}), 2, "one of --k and --radius is needed");
  expect_failure(with({"--k", "0"}), 2, "--k must be >= 1 (--k=0)");
  expect_failure(with({"--k", "5"}), 2, "k must be in [1, 4] (k=5)");
  expect_failure(with({"--radius", "-1"}), 2, "--radius must be >= 0 and finite");
  expect_failure(with({"--k", "1", "--metric", "hamming"}), 2, "metric");
  expect_failure(with({"--k", "1", "--p", "3"}), 2, "--p needs --metric minkowski (--metric=euclidean)");
  expect_failure(with({"--k", "1", "--metric", "minkowski", "--p", "0.5"}), 2, "--p must be >= 1 (--p=0.5)");
  expect_failure(with({"--k", "1", "--metric", "minkowski", "--p", "100"}), 2, "p must be infinity, or in [1, ");
  expect_failure(with({"--k", "1", "--queries", make("wide.csv", "1,2,3\n")}), 2, "wide.csv");
}

}  // namespace
}  // namespace quintet
