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

TEST_F(neighbours_driver, an_index_is_built_once_and_searched_later) {
  const std::string finite = make("finite.csv", "0,0\n3,0\n0,4\n3,0\n");
  run_well({"--input", finite, "--metric", "manhattan", "--k", "2", "--queries", queries, "--output", "once.csv"});
  run_well({"--input", finite, "--metric", "manhattan", "--radius", "4", "--output", "near.csv"});
  run_well({"--input", finite, "--metric", "manhattan", "--index", "four.index", "--json", "built.json"});
  EXPECT_TRUE(json("built.json")["seconds"].contains("index"));
  run_well({"--index", "four.index", "--queries", queries, "--k", "2", "--output", "kept.csv", "--json", "kept.json"});
  EXPECT_EQ(text_of("kept.csv"), text_of("once.csv"));
  EXPECT_EQ(json("kept.json")["results"]["metric"], "manhattan");
  EXPECT_EQ(json("kept.json")["results"]["n"].number(), 4);
  EXPECT_EQ(json("kept.json")["precision"], "float");
  EXPECT_TRUE(json("kept.json")["seconds"].contains("load"));
  const test::json_value kept = json("kept.json")["results"];
  EXPECT_TRUE(kept["search"].text() == "tree" || kept["search"].text() == "all_pairs");
  EXPECT_GT(kept["share"].number(), 0);
  EXPECT_LE(kept["share"].number(), 1);
  run_well({"--index", "four.index", "--radius", "4", "--output", "kept.csv"});
  EXPECT_EQ(text_of("kept.csv"), text_of("near.csv"));
  run_well({"--input", finite, "--index", "other.index", "--precision", "double", "--metric", "manhattan", "--k", "2",
            "--queries", queries, "--output", "both.csv"});
  EXPECT_EQ(text_of("both.csv"), text_of("once.csv"));
  run_well({"--index", "other.index", "--k", "2", "--queries", queries, "--output", "kept.csv"});
  EXPECT_EQ(text_of("kept.csv"), text_of("once.csv"));
  EXPECT_EQ(run({"--input", points, "--index", "other.index", "--json", "built.json"}).status, 0);
  EXPECT_EQ(json("built.json")["results"]["invalid_points"][0].number(), 4);
}

TEST_F(neighbours_driver, bad_uses_of_an_index_are_named) {
  const std::string table = make("table.index", "1,2\n");
  expect_failure({"--k", "1", "--output", "o.csv"}, 2, "--input is needed, or --index");
  expect_failure({"--index", table, "--k", "1", "--output", "o.csv"}, 2, "table.index: is not an index of neighbours");
  expect_failure({"--index", "absent.index", "--k", "1", "--output", "o.csv"}, 2, "absent.index: cannot be read");
  expect_failure({"--index", table, "--k", "1", "--metric", "cosine", "--output", "o.csv"}, 2,
                 "--metric needs --input: an index has its points");
  expect_failure({"--index", table, "--output", "o.csv"}, 2, "one of --k and --radius is needed");
  expect_failure({"--input", points, "--k", "1"}, 2, "--output is needed");
  expect_failure({"--input", points, "--index", "o.index", "--output", "o.csv"}, 2, "--output needs --k or --radius");
  expect_failure({"--input", points, "--index", points}, 2, "--index");
  expect_failure({"--input", points, "--index", "absent/o.index"}, 2, "absent/o.index");
}

TEST_F(neighbours_driver, rows_of_bits) {
  const std::string bits = make("bits.csv", "0,0,0,1\n1,1,0,1\n0,1,0,1\n0,0,0,0\n0,0,0,0\n");
  const std::string asked = make("asked.csv", "0,1,1,1\n");
  run_well({"--input", bits, "--metric", "hamming", "--k", "2", "--output", "o.csv", "--json", "o.json"});
  const auto rows = io::read_csv<double>(work("o.csv")).values;
  EXPECT_EQ(std::vector<double>(rows.data.begin(), rows.data.begin() + 15),
            (std::vector<double>{0, 2, 0.25, 3, 0.25, 1, 2, 0.25, 0, 0.5, 2, 0, 0.25, 1, 0.25}));
  EXPECT_EQ(json("o.json")["results"]["dim"].number(), 4);
  for (const char* name : {"jaccard", "tanimoto"}) {
    run_well({"--input", bits, "--metric", name, "--queries", asked, "--k", "5", "--output", "o.csv"});
    EXPECT_EQ(io::read_csv<double>(work("o.csv")).values.data,
              (std::vector<double>{0, 2, 1.0 / 3, 1, 0.5, 0, 2.0 / 3, 3, 1, 4, 1}));
  }
  run_well({"--input", bits, "--metric", "jaccard", "--index", "bits.index"});
  run_well({"--index", "bits.index", "--queries", asked, "--radius", "0.5", "--output", "o.csv", "--json", "o.json"});
  EXPECT_EQ(io::read_csv<double>(work("o.csv")).values.data, (std::vector<double>{0, 1, 0.5, 0, 2, 1.0 / 3}));
  EXPECT_EQ(json("o.json")["results"]["metric"], "jaccard of 4 bits");
  EXPECT_EQ(json("o.json")["results"]["dim"].number(), 4);
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
  expect_failure(with({"--k", "1", "--metric", "canberra"}), 2, "metric");
  expect_failure(with({"--k", "1", "--metric", "hamming"}), 2,
                 "points.csv: holds 3 in row 1 (counting from 0), where --metric hamming takes 0 and 1");
  expect_failure(with({"--k", "1", "--metric", "hamming", "--precision", "float"}), 2,
                 "--metric hamming needs --precision double or auto");
  expect_failure(with({"--k", "1", "--metric", "lorentz", "--precision", "float"}), 2,
                 "points must be double with metric lorentz (points=float32)");
  expect_failure(with({"--k", "1", "--metric", "product", "--factors", "euclidean 2", "--precision", "float"}), 2,
                 "points must be double with metric product (points=float32)");
  expect_failure(with({"--k", "1", "--p", "3"}), 2, "--p needs --metric minkowski (--metric=euclidean)");
  expect_failure(with({"--k", "1", "--metric", "minkowski", "--p", "0.5"}), 2, "--p must be >= 1 (--p=0.5)");
  expect_failure(with({"--k", "1", "--metric", "minkowski", "--p", "100"}), 2, "p must be infinity, or in [1, ");
  expect_failure(with({"--k", "1", "--unit", "degrees"}), 2, "--unit needs --metric haversine (--metric=euclidean)");
  expect_failure(with({"--k", "1", "--sphere-radius", "2"}), 2,
                 "--sphere-radius needs --metric haversine (--metric=euclidean)");
  expect_failure(with({"--k", "1", "--metric", "haversine", "--unit", "gradians"}), 2,
                 "--unit must be degrees or radians (--unit=gradians)");
  expect_failure(with({"--k", "1", "--metric", "haversine", "--sphere-radius", "0"}), 2,
                 "--sphere-radius must be in [1e-30, 1e30] (--sphere-radius=0)");
  expect_failure(with({"--k", "1", "--queries", make("wide.csv", "1,2,3\n")}), 2, "wide.csv");
}

}  // namespace
}  // namespace quintet
