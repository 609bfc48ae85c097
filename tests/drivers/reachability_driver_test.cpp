#include <algorithm>
#include <cmath>
#include <filesystem>

#include "drivers/driver_run.hpp"
#include "quintet/io/csv.hpp"
#include "quintet/io/hdf5.hpp"
#include "quintet/io/matrix_file.hpp"
#include "quintet/io/npy.hpp"
#include "support/data_folder.hpp"
#include "support/near.hpp"
#include "support/points.hpp"

namespace quintet {
namespace {

using numbers = std::vector<double>;

class reachability_driver : public test::driver_run {
 protected:
  reachability_driver() : driver_run("reachability") {}

  /// Five points on a line: 0, 1, 3, 6, 10. Core distances for k = 2: 3, 2, 3, 4, 7.
  const std::string line = make("line.csv", "0\n1\n3\n6\n10\n");
  const numbers line_matrix{0, 3, 3, 6, 10, 3, 0, 3, 5, 9, 3, 3, 0, 4, 7, 6, 5, 4, 0, 7, 10, 9, 7, 7, 0};

  numbers matrix(const arguments& more, const std::string& output = "matrix.csv") {
    arguments all{"--input", line, "--output", output};
    all.insert(all.end(), more.begin(), more.end());
    run_well(all);
    return io::read_matrix<double>(work(output), output.ends_with(".h5") ? "mutual_reachability" : "").data;
  }
  void expect_bad(const arguments& more, const std::string& message) {
    arguments all{"--min-samples", "2"};
    if (std::find(more.begin(), more.end(), "--input") == more.end()) all.insert(all.end(), {"--input", line});
    if (std::find(more.begin(), more.end(), "--output") == more.end()) all.insert(all.end(), {"--output", "bad.csv"});
    all.insert(all.end(), more.begin(), more.end());
    expect_failure(all, 2, message);
  }
};

TEST_F(reachability_driver, common_options) {
  expect_common_options({"--input", line, "--min-samples", "2", "--output", "common.csv"});
}

TEST_F(reachability_driver, matrix_in_every_format) {
  for (const char* output : {"matrix.csv", "matrix.npy", "matrix.h5"})
    for (const char* precision : {"float", "double"})
      EXPECT_EQ(matrix({"--min-samples", "2", "--precision", precision}, output), line_matrix) << output;
  EXPECT_EQ(io::read_hdf5<double>(work("matrix.h5"), "core_distances").data, (numbers{3, 2, 3, 4, 7}));
  QUINTET_EXPECT_CONTAINS(text_of("matrix.h5"), "min_samples");
}

TEST_F(reachability_driver, options) {
  EXPECT_EQ(matrix({"--min-samples", "3", "--count-self"}), line_matrix);
  EXPECT_EQ(matrix({"--min-samples", "0"})[4], 10);
  EXPECT_EQ(matrix({"--min-samples", "0", "--alpha", "2"})[4], 5);
  const numbers with_diagonal = matrix({"--min-samples", "2", "--core-on-diagonal"});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(with_diagonal[6 * i], (numbers{3, 2, 3, 4, 7})[i]);
  make("line.csv", "1,0\n2,0\n0,1\n0,3\n-1,0\n");
  EXPECT_EQ(matrix({"--min-samples", "0", "--metric", "cosine"})[4], 2);
}

TEST_F(reachability_driver, streamed_is_the_same) {
  const auto points = test::clustered_points<float>(600, 20, 7);
  io::write_npy<float>(work("points.npy"), points.view());
  for (const std::string extension : {"csv", "npy", "h5"}) {
    const arguments common{"--input", "points.npy", "--min-samples", "4", "--quiet"};
    for (const std::string memory : {"1", "100"}) {
      arguments all = common;
      all.insert(all.end(), {"--output", memory + "." + extension, "--memory", memory, "--json", memory + ".json"});
      run_well(all);
    }
    const std::string dataset = extension == "h5" ? "mutual_reachability" : "";
    EXPECT_EQ(io::read_matrix<float>(work("1." + extension), dataset).data,
              io::read_matrix<float>(work("100." + extension), dataset).data);
    EXPECT_TRUE(json("1.json")["results"]["streamed"]);
    EXPECT_FALSE(json("100.json")["results"]["streamed"]);
  }
}

TEST_F(reachability_driver, pairs) {
  const std::string expected = "i,j,mreach\n0,4,10\n2,2,0\n3,1,5\n";
  make("plain.csv", "0,4\n2,2\n3,1\n");
  make("named.csv", "distance,j,i\n0.5,4,0\n0,2,2\nnan,1,3\n");
  io::write_npy<double>(work("pairs.npy"), matrix_view<const double>(numbers{0, 4, 2, 2, 3, 1}.data(), 3, 2));
  for (const char* pairs : {"plain.csv", "named.csv", "pairs.npy"}) {
    run_well({"--input", line, "--min-samples", "2", "--pairs", pairs, "--output", "out.csv", "--json", "out.json"});
    EXPECT_EQ(text_of("out.csv"), expected) << pairs;
    EXPECT_EQ(json("out.json")["results"]["pairs"], 3);
  }
  run_well({"--input", line, "--min-samples", "2", "--pairs", "plain.csv", "--output", "out.h5"});
  EXPECT_EQ(io::read_hdf5<std::int64_t>(work("out.h5"), "pairs").data, (std::vector<std::int64_t>{0, 4, 2, 2, 3, 1}));
  EXPECT_EQ(io::read_hdf5<double>(work("out.h5"), "mutual_reachability").data, (numbers{10, 0, 5}));
  make("none.csv", "i,j\n");
  const outcome none = run({"--input", line, "--min-samples", "2", "--pairs", "none.csv", "--output", "out.csv"});
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.error.find("none.csv: holds no pairs"), std::string::npos) << none.error;
}

TEST_F(reachability_driver, invalid_rows_and_clamping_are_told) {
  make("holes.csv", "0,0\nnan,1\n3,4\n");
  const outcome result = run({"--input", "holes.csv", "--min-samples", "7", "--output", "m.csv", "--json", "m.json"});
  EXPECT_EQ(result.status, 0);
  QUINTET_EXPECT_CONTAINS(result.error, "lowered to 1");
  QUINTET_EXPECT_CONTAINS(result.error, "(counting from 0): 1\n");
  EXPECT_EQ(json("m.json")["results"]["invalid_rows"], test::json_value::array({1}));
  EXPECT_EQ(json("m.json")["results"]["clamped"], true);
  EXPECT_EQ(json("m.json")["warnings"].size(), 2u);
  const numbers m = io::read_matrix<double>(work("m.csv")).data;
  EXPECT_EQ(m[2], 5);
  for (const int i : {1, 3, 4, 5, 7}) EXPECT_TRUE(std::isnan(m[i])) << i;
}

TEST_F(reachability_driver, one_point) {
  make("one.csv", "1,2,3\n");
  const outcome result = run({"--input", "one.csv", "--min-samples", "2", "--output", "m.csv"});
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(text_of("m.csv"), "0\n");
}

TEST_F(reachability_driver, errors) {
  make("empty.csv", "x,y\n");
  make("bad.csv.txt", "1\n");
  make("odd.csv", "1,2\n3\n");
  make("three.csv", "0,1,2\n");
  make("far.csv", "0,1\n0,5\n");
  make("half.csv", "0.5,1\n");
  make("negative.csv", "i,j\n-1,1\n");
  expect_failure({"--input", line, "--output", "m.csv"}, 2, "--min-samples");
  expect_bad({"--min-samples", "3"}, "--min-samples");
  expect_bad({"--input", "absent.csv"}, "absent.csv");
  expect_bad({"--input", "empty.csv"}, "empty.csv: holds no points");
  expect_bad({"--input", "bad.csv.txt"}, "bad.csv.txt");
  expect_bad({"--input", "odd.csv"}, "odd.csv:2");
  expect_bad({"--dataset", "x"}, "line.csv: has no datasets");
  expect_bad({"--alpha", "0"}, "alpha must be > 0 and finite (alpha=0)");
  expect_bad({"--metric", "taxicab"},
             "--metric must be euclidean or cosine or manhattan or chebyshev or minkowski or haversine or poincare or "
             "lorentz or hamming or jaccard or integer_euclidean or integer_cosine or integer_inner_product or "
             "product (--metric=taxicab)");
  expect_bad({"--metric", "jaccard"}, "where --metric jaccard takes 0 and 1");
  expect_bad({"--memory", "0"}, "--memory must be in [1, ");
  expect_bad({"--output", "m.txt"}, "--output: m.txt");
  expect_bad({"--output", line}, "--output must be another file than --input");
  expect_bad({"--pairs", line, "--memory", "5"}, "--memory is for the whole matrix");
  expect_bad({"--output", "p.csv", "--pairs", make("none.csv", "i,j\n")}, "none.csv: holds no pairs");
  expect_bad({"--pairs", "absent.csv"}, "absent.csv");
  expect_bad({"--pairs", "three.csv"}, "three.csv: has 3 columns");
  expect_bad({"--pairs", "far.csv"},
             "far.csv: pair 1 (counting from 0) holds 5, which is no row of the points, 0 to 4");
  expect_bad({"--pairs", "half.csv"}, "holds 0.5");
  expect_bad({"--pairs", "negative.csv"}, "holds -1");
  expect_bad({"--pairs", "far.csv", "--output", "m.npy"}, "a .npy file holds one array");
  expect_failure({"--input", line, "--min-samples", "-1", "--output", "m.csv"}, 2, "min_samples must be >= 0");
  expect_failure({"--input", line, "--min-samples", "0", "--count-self", "--output", "m.csv"}, 2,
                 "min_samples must be >= 1");
}

TEST_F(reachability_driver, reference_pairs) {
  const std::filesystem::path folder = test::data_folder("embeddings");
  QUINTET_SKIP_WITHOUT(folder);
  for (const std::string name : {"iris", "digits"}) {
    const std::string pairs = (folder / (name + "_mreach_pairs_ms5.csv")).string();
    run_well({"--input", (folder / (name + ".csv")).string(), "--min-samples", "5", "--pairs", pairs, "--output",
              "out.csv"});
    const auto expected = io::read_csv<double>(pairs).values, found = io::read_csv<double>(work("out.csv")).values;
    ASSERT_EQ(found.rows, expected.rows);
    for (std::int64_t p = 0; p < found.rows; ++p)
      EXPECT_NEAR(found.view()(p, 2), expected.view()(p, 3), 1e-5 * expected.view()(p, 3)) << name << ", pair " << p;
  }
}

}  // namespace
}  // namespace quintet
