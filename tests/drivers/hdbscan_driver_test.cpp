#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "drivers/driver_run.hpp"
#include "quintet/io/csv.hpp"
#include "quintet/io/hdf5.hpp"
#include "quintet/io/npy.hpp"
#include "quintet/io/sparse_file.hpp"
#include "support/embedding_data.hpp"
#include "support/partition.hpp"

namespace quintet {
namespace {

using numbers = std::vector<double>;

// Rows of one text, `count` times.
std::string repeated(const std::string& row, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += row + "\n";
  return text;
}

class hdbscan_driver : public test::driver_run {
 protected:
  hdbscan_driver() : driver_run("hdbscan") {}

  /// Two groups of five on a line, and a point far from both.
  const std::string line = make("line.csv", "0\n1\n2\n3\n4\n100\n101\n102\n103\n104\n1000\n");
  const numbers line_labels{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, -1};

  struct columns {
    numbers labels, probabilities, outlier_scores, core_distances;
  };
  columns read(const std::string& name) const {
    const auto table = io::read_csv<double>(work(name));
    EXPECT_EQ(table.names, (std::vector<std::string>{"label", "probability", "outlier_score", "core_distance"}));
    columns result;
    for (std::int64_t i = 0; i < table.values.rows; ++i) {
      const double* row = table.values.view().row(i);
      result.labels.push_back(row[0]);
      result.probabilities.push_back(row[1]);
      result.outlier_scores.push_back(row[2]);
      result.core_distances.push_back(row[3]);
    }
    return result;
  }
  /// Clusters points given as text.
  columns cluster(const std::string& points, const arguments& more) {
    make("points.csv", points);
    arguments all{"--input", "points.csv", "--output", "out.csv", "--json", "out.json"};
    all.insert(all.end(), more.begin(), more.end());
    last = run(all);
    EXPECT_EQ(last.status, 0) << last.error;
    return read("out.csv");
  }
  test::json_value results() const { return json("out.json")["results"]; }
  void expect_bad(const arguments& more, const std::string& message) {
    arguments all;
    if (std::find(more.begin(), more.end(), "--input") == more.end()) all.insert(all.end(), {"--input", line});
    if (std::find(more.begin(), more.end(), "--output") == more.end()) all.insert(all.end(), {"--output", "bad.csv"});
    all.insert(all.end(), more.begin(), more.end());
    expect_failure(all, 2, message);
  }

  outcome last;
};

TEST_F(hdbscan_driver, common_options) { expect_common_options({"--input", line, "--output", "common.csv"}); }

TEST_F(hdbscan_driver, clusters_and_says_so) {
  const std::string out = run_well({"--input", line, "--min-cluster-size", "3", "--min-samples", "2", "--output",
                                    "out.csv", "--json", "out.json", "--outlier-scores"});
  QUINTET_EXPECT_CONTAINS(out, "11 points of 1 dimensions");
  QUINTET_EXPECT_CONTAINS(out, "2 clusters, 1 points of noise");
  QUINTET_EXPECT_CONTAINS(out, "cluster     size  persistence  mean probability\n");
  QUINTET_EXPECT_CONTAINS(out, "out.csv written after ");
  const columns found = read("out.csv");
  EXPECT_EQ(found.labels, line_labels);
  EXPECT_EQ(found.core_distances, (numbers{2, 1, 1, 1, 2, 2, 1, 1, 1, 2, 897}));
  const test::json_value summary = json("out.json"), r = summary["results"];
  EXPECT_EQ(r["n"], 11);
  EXPECT_EQ(r["dim"], 1);
  EXPECT_EQ(r["clusters"], 2);
  EXPECT_EQ(r["noise"], 1);
  EXPECT_EQ(r["neighbours"], 2);
  EXPECT_EQ(r["clamped"], false);
  EXPECT_EQ(r["invalid_rows"], test::json_value::array());
  // Inside a group 2 + 1 + 1 + 2, twice; 96 between them, and the core distance of the far point.
  EXPECT_EQ(r["spanning_tree_weight"], 2 * 6 + 96 + 897);
  for (const char* key : {"rounds", "tiles", "tiles_scanned", "passes"})
    EXPECT_TRUE(r["counters"][key].is_number()) << key;
  for (const char* stage : {"read", "neighbours", "spanning_tree", "tree_stage", "write", "total"})
    EXPECT_GE(summary["seconds"][stage].number(), 0) << stage;
  EXPECT_EQ(summary["parameters"]["min_samples"], 2);
}

TEST_F(hdbscan_driver, output_has_the_same_bytes_whatever_its_name) {
  for (const char* name : {"a.h5", "another.h5"}) run_well({"--input", line, "--min-samples", "2", "--output", name});
  EXPECT_EQ(text_of("a.h5"), text_of("another.h5"));
  EXPECT_FALSE(text_of("a.h5").empty());
}

// A grid of settings: the table, the best by itself, and everything in one file.
TEST_F(hdbscan_driver, sweeps_over_parameters) {
  std::string points;
  for (int group = 0; group < 3; ++group)
    for (int i = 0; i < 20 + 5 * group; ++i) points += text(50 * group + i % 5 + 0.01 * i, ",", i / 5, "\n");
  make("points.csv", points);
  const arguments common{"--input", "points.csv", "--sweep", "--min-samples", "2:6:2,9", "--min-cluster-size", "4,8"};
  const auto with = [&](arguments more) {
    more.insert(more.begin(), common.begin(), common.end());
    return more;
  };
  const std::string out = run_well(
      with({"--score", "relative_validity", "--output", "s.csv", "--best-output", "b.csv", "--json", "s.json"}));
  QUINTET_EXPECT_CONTAINS(out, "8 settings of 4 spanning trees");
  QUINTET_EXPECT_CONTAINS(out, "b.csv written");
  const auto table = io::read_csv<double>(work("s.csv"));
  EXPECT_EQ(table.names, (std::vector<std::string>{"min_samples", "min_cluster_size", "epsilon", "clusters", "noise",
                                                   "persistence", "relative_validity", "dbcv", "stability"}));
  ASSERT_EQ(table.values.rows, 8);
  std::int64_t best = 0;
  for (std::int64_t i = 0; i < 8; ++i) {
    const double* row = table.values.view().row(i);
    EXPECT_EQ(row[0], (numbers{2, 2, 4, 4, 6, 6, 9, 9})[i]);
    EXPECT_EQ(row[1], i % 2 == 0 ? 4 : 8);
    if (row[3] >= 2 && row[6] > table.values.view().row(best)[6]) best = i;
    // Each is what the program gives there.
    const columns single = cluster(points, {"--min-samples", text(row[0]), "--min-cluster-size", text(row[1])});
    EXPECT_EQ(std::count(single.labels.begin(), single.labels.end(), -1), row[4]);
    EXPECT_EQ(*std::max_element(single.labels.begin(), single.labels.end()) + 1, row[3]);
  }
  const double* row = table.values.view().row(best);
  const test::json_value summary = json("s.json");
  EXPECT_EQ(summary["results"]["settings"], 8);
  EXPECT_EQ(summary["results"]["best"]["min_samples"], row[0]);
  EXPECT_EQ(summary["results"]["best"]["min_cluster_size"], row[1]);
  EXPECT_EQ(summary["parameters"]["min_samples"], "2:6:2,9");
  const columns single = cluster(points, {"--min-samples", text(row[0]), "--min-cluster-size", text(row[1])});
  EXPECT_EQ(read("b.csv").labels, single.labels);
  EXPECT_EQ(read("b.csv").probabilities, single.probabilities);

  run_well(with({"--score", "relative_validity", "--sweep-labels", "all", "--output", "s.h5"}));
  EXPECT_EQ(io::read_hdf5<double>(work("s.h5"), "labels").data, single.labels);
  EXPECT_EQ(io::hdf5_shape(work("s.h5"), "settings"), (std::vector<std::int64_t>{8, 9}));
  const auto all = io::read_hdf5<double>(work("s.h5"), "all_labels");
  const std::int64_t n = std::ssize(single.labels);
  EXPECT_EQ(all.shape, (std::vector<std::int64_t>{8, n}));
  EXPECT_EQ(numbers(all.data.begin() + best * n, all.data.begin() + (best + 1) * n), single.labels);
  EXPECT_EQ(io::hdf5_shape(work("s.h5"), "layer_labels")[1], n);

  // Every size at which clusters change.
  run_well(
      {"--input", "points.csv", "--sweep", "--min-samples", "3", "--min-cluster-size", "all", "--output", "a.csv"});
  run_well({"--input", "points.csv", "--sweep", "--min-samples", "3", "--output", "d.csv"});
  EXPECT_EQ(text_of("a.csv"), text_of("d.csv"));
  EXPECT_GT(io::read_csv<double>(work("a.csv")).values.rows, 2);
}

TEST_F(hdbscan_driver, finds_the_size_itself) {
  std::string points;
  for (int group = 0; group < 3; ++group)
    for (int i = 0; i < 20 + 5 * group; ++i) points += text(50 * group + i % 5 + 0.01 * i, ",", i / 5, "\n");
  const columns found = cluster(points, {"--min-cluster-size", "auto", "--selection", "leaf"});
  EXPECT_EQ(*std::max_element(found.labels.begin(), found.labels.end()), 2);
  const std::int64_t size = std::int64_t(results()["min_cluster_size"].number());
  EXPECT_GT(size, 5);
  EXPECT_EQ(json("out.json")["parameters"]["min_cluster_size"], "auto");
  EXPECT_EQ(cluster(points, {"--min-cluster-size", text(size), "--min-samples", "5", "--selection", "leaf"}).labels,
            found.labels);
  cluster("0\n1\n", {"--min-cluster-size", "auto"});
  EXPECT_EQ(results()["min_cluster_size"], 5);
  QUINTET_EXPECT_CONTAINS(last.error, "warning");
}

// Rows that count as often as a file says, against a file with as many copies.
TEST_F(hdbscan_driver, weights_are_repeated_points) {
  std::string points, repeated_points, weights;
  std::vector<std::size_t> source;
  for (int i = 0; i < 40; ++i) {
    const std::string row = text(i % 2 * 50 + i % 5, ",", i * i % 7, "\n");
    points += row;
    weights += text(i % 4, "\n");
    for (int copy = 0; copy < i % 4; ++copy) {
      repeated_points += row;
      source.push_back(std::size_t(i));
    }
  }
  make("weights.csv", weights);
  const arguments options{"--min-cluster-size", "8", "--min-samples", "3"};
  const columns expected = cluster(repeated_points, options);
  arguments with_weights = options;
  with_weights.insert(with_weights.end(), {"--weights", "weights.csv"});
  const columns found = cluster(points, with_weights);
  EXPECT_EQ(results()["weights"]["excluded_rows"], 10);
  EXPECT_EQ(results()["weights"]["sum"], 60);
  for (std::size_t row = 0; row < source.size(); ++row) {
    EXPECT_EQ(found.labels[source[row]], expected.labels[row]);
    EXPECT_EQ(found.probabilities[source[row]], expected.probabilities[row]);
    EXPECT_EQ(found.core_distances[source[row]], expected.core_distances[row]);
  }
  EXPECT_EQ(found.labels[0], -1);
  run_well({"--input", "points.csv", "--weights", "weights.csv", "--sweep", "--min-samples", "3", "--min-cluster-size",
            "8", "--output", "settings.csv", "--best-output", "best.csv"});
  EXPECT_EQ(read("best.csv").labels, found.labels);
  expect_bad({"--input", line, "--weights", "weights.csv"}, "weights.csv: holds 40 weights for 11 points");
  expect_bad({"--input", line, "--weights", make("pairs.csv", "1,2\n")},
             "holds 2 numbers a row where weights have one");
  expect_bad({"--input", line, "--weights", make("negative.csv", repeated("1", 10) + "-2\n")},
             "holds -2 in row 10 (counting from 0), where weights are >= 0 and finite");
  expect_bad({"--weights", "weights.csv", "--ties", "binary"}, "--weights needs --ties canonical");
  expect_bad({"--weights", "weights.csv", "--precomputed"}, "--weights needs points");
}

TEST_F(hdbscan_driver, bad_sweeps_are_named) {
  const std::string lists = "whole numbers: N, FIRST:LAST or FIRST:LAST:STEP, joined by commas";
  for (const char* value : {"5:", "5:3", "1:9:0", "2,,3", "3:4:5:6", "1:99999999", "few"})
    expect_bad({"--sweep", "--min-samples", value},
               text("--min-samples must be ", lists, " (--min-samples=", value, ")"));
  expect_bad({"--min-samples", "2:5"}, "--min-samples must be one whole number without --sweep (--min-samples=2:5)");
  expect_bad({"--min-cluster-size", "all"},
             "--min-cluster-size must be one whole number without --sweep (--min-cluster-size=all)");
  expect_bad({"--min-samples", "auto"}, "--min-samples must be whole numbers (--min-samples=auto)");
  expect_bad({"--sweep", "--min-cluster-size", "auto"}, "--min-cluster-size must be whole numbers or all with --sweep");
  expect_bad({"--sweep", "--min-cluster-size", "1:4"}, "min_cluster_size[0] must be >= 2");
  expect_bad({"--sweep", "--min-samples", "0,3"}, "--min-samples must be >= 1 (--min-samples=0)");
  expect_bad({"--sweep", "--min-samples", "1:2000", "--min-cluster-size", "2:2000"}, "at most 1000000 settings");
  expect_bad({"--sweep", "--score", "size"}, "--score must be persistence or relative_validity or dbcv (--score=size)");
  expect_bad({"--sweep", "--sweep-labels", "all"}, "--sweep-labels must be best for a .csv output");
  expect_bad({"--sweep", "--cut", "1"}, "--cut cannot be combined with --sweep");
  expect_bad({"--sweep", "--membership"}, "--membership cannot be combined with --sweep");
  expect_bad({"--score", "dbcv"}, "--score needs --sweep");
  expect_bad({"--sweep", "--best-output", "best.npy"}, "--best-output");
}

// Metres of UTM: float has steps of 1/2 at the northing, the groups are 1/5 apart.
TEST_F(hdbscan_driver, coordinates_beyond_float) {
  std::string points;
  for (int i = 0; i < 24; ++i) points += text("500000.00", i % 3, ",4649776.", 2 * (i / 8) + 1, i % 8, "\n");
  const columns found = cluster(points, {"--min-cluster-size", "5", "--min-samples", "2"});
  EXPECT_EQ(found.labels, (numbers{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(json("out.json")["precision"], "double");
  // Distances as text too: 1 and 1.000000001 are one float.
  make("d.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1\n3 2 1.000000001\n");
  run_well({"--precomputed", "--input", "d.mtx", "--min-samples", "1", "--output", "out.csv", "--json", "out.json"});
  EXPECT_EQ(json("out.json")["precision"], "double");
  EXPECT_EQ(json("out.json")["results"]["spanning_tree_weight"].number(), 1 + 1.000000001);
}

TEST_F(hdbscan_driver, noise_has_a_label_on_request) {
  const arguments common{"--input",       line, "--min-cluster-size", "3",
                         "--min-samples", "2",  "--assign-noise",     "--output"};
  arguments table = common, file = common;
  table.emplace_back("near.csv");
  file.emplace_back("near.h5");
  run_well(table);
  const auto rows = io::read_csv<double>(work("near.csv"));
  EXPECT_EQ(rows.names.back(), "near_label");
  numbers expected = line_labels, found;
  expected.back() = 1;  // the point far from both is nearer to the second group
  for (std::int64_t i = 0; i < 11; ++i) found.push_back(rows.values.view()(i, rows.values.cols - 1));
  EXPECT_EQ(found, expected);
  run_well(file);
  EXPECT_EQ(io::read_hdf5<double>(work("near.h5"), "near_labels").data, expected);
}

TEST_F(hdbscan_driver, inputs_of_all_formats_agree) {
  const numbers values{0, 1, 2, 3, 4, 100, 101, 102, 103, 104, 1000};
  const matrix_view<const double> matrix(values.data(), 11, 1);
  io::write_npy<double>(work("line.npy"), matrix);
  io::hdf5_writer file(work("line.h5"));
  file.write("points", matrix);
  file.write("other", matrix_view<const double>(values.data(), 1, 11));
  file.commit();
  for (const char* precision : {"float", "double"}) {
    const arguments common{"--min-samples", "2", "--precision", precision, "--quiet"};
    const auto output_for = [&](const arguments& input) {
      arguments all = common;
      all.insert(all.end(), input.begin(), input.end());
      all.insert(all.end(), {"--output", "out.csv"});
      run_well(all);
      return text_of("out.csv");
    };
    const std::string expected = output_for({"--input", "line.csv"});
    EXPECT_EQ(output_for({"--input", "line.npy"}), expected);
    EXPECT_EQ(output_for({"--input", "line.h5", "--dataset", "points"}), expected);
  }
  expect_bad({"--input", "line.h5"}, "line.h5");
  expect_bad({"--input", "line.h5", "--dataset", "third"}, "third");
}

TEST_F(hdbscan_driver, hdf5_holds_what_csv_holds) {
  for (const char* output : {"out.csv", "out.h5"})
    run_well({"--input", line, "--min-cluster-size", "3", "--min-samples", "2", "--output", output});
  const columns csv = read("out.csv");
  const auto get = [&](const char* name) { return io::read_hdf5<double>(work("out.h5"), name); };
  EXPECT_EQ(get("labels").data, csv.labels);
  EXPECT_EQ(get("probabilities").data, csv.probabilities);
  EXPECT_EQ(get("outlier_scores").data, csv.outlier_scores);
  EXPECT_EQ(get("core_distances").data, csv.core_distances);
  using shape = std::vector<std::int64_t>;
  EXPECT_EQ(get("spanning_tree").shape, (shape{10, 3}));
  EXPECT_EQ(get("single_linkage_tree").shape, (shape{10, 4}));
  EXPECT_EQ(get("condensed_tree").shape[1], 4);
  EXPECT_EQ(get("persistence").shape, shape{2});
  EXPECT_EQ(get("selected_clusters").data, (numbers{12, 13}));
  const std::string bytes = text_of("out.h5");
  for (const char* part : {"u,v,weight", "left,right,height,size", "parent,child,lambda,size", "min_cluster_size",
                           "precision", "neighbours"})
    QUINTET_EXPECT_CONTAINS(bytes, part);
}

// 60 numbers in steps of 0.1: equal distances whose bits differ.
TEST_F(hdbscan_driver, rounding_does_not_decide_about_equal_distances) {
  std::string steps;
  for (int i = 0; i < 60; ++i) steps += text(0.1 * i, "\n");
  make("steps.csv", steps);
  const arguments common{"--input",  "steps.csv",     "--output", "out.csv",     "--json",
                         "out.json", "--min-samples", "3",        "--selection", "leaf"};
  run_well(common);
  EXPECT_EQ(results()["clusters"], 0);
  EXPECT_EQ(results()["tie_tolerance"], 68.5 * std::numeric_limits<double>::epsilon());
  arguments exact = common;
  exact.insert(exact.end(), {"--tie-tolerance", "0"});
  run_well(exact);
  EXPECT_GT(results()["clusters"].number(), 0);
  EXPECT_EQ(results()["tie_tolerance"], 0);
}

// Each option changes the result, to the values that follow from its meaning.
TEST_F(hdbscan_driver, the_number_of_clusters_may_be_named) {
  // Two groups of five at a distance of 1.2: one cluster lives longer than both, which are the leaves.
  const auto labels = [&](arguments more) {
    more.insert(more.end(), {"--min-cluster-size", "3", "--min-samples", "1"});
    return cluster("0\n1\n2\n3\n4\n5.2\n6.2\n7.2\n8.2\n9.2\n100\n101\n102\n103\n104\n", more).labels;
  };
  EXPECT_EQ(labels({"--clusters", "3"}), (numbers{1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0}));
  EXPECT_EQ(results()["selection"], "leaf");
  EXPECT_EQ(results()["epsilon"], 0);
  const numbers two{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
  EXPECT_EQ(labels({"--clusters", "2", "--selection", "leaf"}), two);
  EXPECT_GT(results()["epsilon"].number(), 1.2);
  EXPECT_EQ(last.error, "");
  EXPECT_EQ(labels({"--clusters", "1"}), two);
  EXPECT_EQ(last.error, "quintet-hdbscan: warning: --clusters 1 is out of reach of these points: the nearest is 2\n");
  EXPECT_EQ(labels({"--clusters", "1", "--allow-single-cluster"}), numbers(15, 0));
  EXPECT_EQ(last.error, "");
  expect_bad({"--clusters", "0"}, "--clusters must be >= 1 (--clusters=0)");
  expect_bad({"--clusters", "2", "--epsilon", "1"}, "--epsilon is chosen by --clusters");
  expect_bad({"--clusters", "2", "--sweep"}, "--clusters cannot be combined with --sweep");
}

TEST_F(hdbscan_driver, every_option_arrives) {
  const auto with = [&](arguments more) {
    more.insert(more.end(), {"--input", line, "--output", "out.csv", "--json", "out.json", "--min-cluster-size", "3"});
    run_well(more);
    return read("out.csv");
  };
  EXPECT_EQ(with({"--min-samples", "3"}).core_distances, (numbers{3, 2, 2, 2, 3, 3, 2, 2, 2, 3, 898}));
  EXPECT_EQ(with({"--min-samples", "3", "--count-self"}).core_distances, (numbers{2, 1, 1, 1, 2, 2, 1, 1, 1, 2, 897}));
  EXPECT_EQ(with({"--max-cluster-size", "4"}).labels, numbers(11, -1));
  EXPECT_EQ(with({"--epsilon", "200", "--allow-single-cluster"}).labels, (numbers{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1}));
  EXPECT_EQ(with({"--epsilon", "200"}).labels, line_labels);
  // Distances, not core distances, are doubled: 3 + 2 + 2 + 3 in a group, 96 between them and 896 to the far point.
  EXPECT_EQ(results()["spanning_tree_weight"], 2 * 10 + 96 + 898);
  with({"--alpha", "0.5"});
  EXPECT_EQ(results()["spanning_tree_weight"], 2 * 10 + 2 * 96 + 2 * 896);
  EXPECT_EQ(json("out.json")["device"]["kind"], "host");
  EXPECT_EQ(with({"--device", "emulated"}).labels, line_labels);
  EXPECT_EQ(json("out.json")["device"]["kind"], "emulated");

  // Two groups of five at a distance of 1.2: one cluster lives longer than both, which are the leaves.
  make("line.csv", "0\n1\n2\n3\n4\n5.2\n6.2\n7.2\n8.2\n9.2\n100\n101\n102\n103\n104\n");
  EXPECT_EQ(with({"--min-samples", "1"}).labels, (numbers{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(with({"--min-samples", "1", "--selection", "leaf"}).labels,
            (numbers{1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0}));

  make("line.csv", "0\n0.1\n0.3\n");
  EXPECT_NEAR(with({"--min-samples", "1", "--precision", "double"}).core_distances[2], 0.3 - 0.1, 1e-15);
  const double in_float = with({"--min-samples", "1", "--precision", "float"}).core_distances[2];
  EXPECT_NEAR(in_float, 0.2, 1e-7);
  EXPECT_GT(std::fabs(in_float - 0.2), 1e-10);
  EXPECT_GT(std::fabs(with({"--min-samples", "1", "--precision", "half"}).core_distances[2] - 0.2), 1e-6);

  make("line.csv", "1,0\n10,0.01\n100,0\n0,1\n0.01,10\n0,100\n");
  EXPECT_EQ(with({"--min-samples", "1"}).labels, numbers(6, -1));
  EXPECT_EQ(with({"--min-samples", "1", "--metric", "cosine"}).labels, (numbers{0, 0, 0, 1, 1, 1}));

  make("line.csv", "0,0\n1,2\n40,40\n");
  for (const char* name : {"manhattan", "l1", "cityblock"})
    EXPECT_EQ(with({"--min-samples", "1", "--metric", name}).core_distances[0], 3);
  for (const char* name : {"chebyshev", "infinity"})
    EXPECT_EQ(with({"--min-samples", "1", "--metric", name}).core_distances[0], 2);
  EXPECT_NEAR(with({"--min-samples", "1", "--metric", "l2"}).core_distances[0], std::sqrt(5), 1e-6);
  EXPECT_NEAR(with({"--min-samples", "1", "--metric", "p", "--p", "3"}).core_distances[0], std::cbrt(9), 1e-6);
  EXPECT_NEAR(with({"--min-samples", "1", "--metric", "minkowski", "--p", "3"}).core_distances[0], std::cbrt(9), 1e-6);
  EXPECT_EQ(with({"--min-samples", "1", "--metric", "minkowski", "--p", "inf"}).core_distances[0], 2);

  // Quarters of a great circle, and a right angle across the date line.
  make("line.csv", "0,0\n45,0\n0,135\n0,-135\n");
  const auto on_sphere = [&](const arguments& more) {
    arguments all{"--min-samples", "1", "--precision", "double", "--metric", "haversine"};
    all.insert(all.end(), more.begin(), more.end());
    return with(all).core_distances;
  };
  EXPECT_DOUBLE_EQ(on_sphere({})[0], 6371008.8 * std::numbers::pi / 4);
  EXPECT_DOUBLE_EQ(on_sphere({"--sphere-radius", "2"})[2], std::numbers::pi);
  make("line.csv", "0,0\n0.5,0\n");
  EXPECT_DOUBLE_EQ(on_sphere({"--unit", "radians", "--sphere-radius", "1"})[1], 0.5);

  // From the origin 2 artanh(r) for curvature -1, artanh(2 r) for -4.
  make("line.csv", "0,0\n0.25,0\n0,-0.4\n");
  EXPECT_NEAR(with({"--min-samples", "1", "--metric", "poincare"}).core_distances[0], 2 * std::atanh(0.25), 1e-6);
  EXPECT_NEAR(with({"--min-samples", "1", "--metric", "poincare", "--curvature", "-4"}).core_distances[0],
              std::atanh(0.5), 1e-6);
  // On the hyperboloid asinh(x), and asinh(2 x) / 2; the numbers of the file fit float.
  EXPECT_NEAR(with({"--min-samples", "1", "--metric", "lorentz"}).core_distances[0], std::asinh(0.25), 1e-15);
  EXPECT_NEAR(with({"--min-samples", "1", "--metric", "lorentz", "--curvature", "-4"}).core_distances[0],
              std::asinh(0.5) / 2, 1e-15);
  EXPECT_NEAR(with({"--min-samples", "1", "--metric", "product", "--factors", "lorentz 1 -4, euclidean 1 0 0.25"})
                  .core_distances[2],
              0.2, 1e-15);
}

// Three groups at equal distances: three children of one node, or one after the other.
TEST_F(hdbscan_driver, ties) {
  make("line.csv", "0\n1\n2\n10\n11\n12\n20\n21\n22\n");
  const auto rows = [&](const char* ties) {
    run_well({"--input", line, "--output", "out.h5", "--min-cluster-size", "3", "--min-samples", "1", "--ties", ties});
    return io::read_hdf5<double>(work("out.h5"), "condensed_tree").shape[0];
  };
  EXPECT_EQ(rows("canonical"), 3 + 9);
  EXPECT_EQ(rows("binary"), 4 + 9);
}

TEST_F(hdbscan_driver, min_samples_defaults_to_min_cluster_size) {
  run_well({"--input", line, "--min-cluster-size", "4", "--output", "out.csv", "--json", "out.json"});
  EXPECT_EQ(results()["neighbours"], 4);
}

TEST_F(hdbscan_driver, cut) {
  for (const char* output : {"out.csv", "out.h5"})
    run_well({"--input", line, "--min-samples", "1", "--cut", "1.5", "--output", output, "--json", "out.json"});
  const auto table = io::read_csv<double>(work("out.csv"));
  EXPECT_EQ(table.names.back(), "cut_label");
  for (std::int64_t i = 0; i < table.values.rows; ++i) EXPECT_EQ(table.values.view()(i, 4), line_labels[i]);
  EXPECT_EQ(io::read_hdf5<double>(work("out.h5"), "cut_labels").data, line_labels);
  EXPECT_EQ(results()["cut_clusters"], 2);
  EXPECT_EQ(results()["cut_noise"], 1);
}

TEST_F(hdbscan_driver, one_and_two_points) {
  columns found = cluster("1,2\n", {});
  EXPECT_EQ(found.labels, numbers{-1});
  EXPECT_EQ(found.probabilities, numbers{0});
  EXPECT_EQ(found.core_distances, numbers{0});
  EXPECT_EQ(results()["spanning_tree_weight"], 0);
  EXPECT_EQ(run({"--input", "points.csv", "--output", "one.h5"}).status, 0);
  EXPECT_EQ(io::read_hdf5<double>(work("one.h5"), "spanning_tree").shape, (std::vector<std::int64_t>{0, 3}));
  EXPECT_EQ(cluster("1,2\n", {"--allow-single-cluster"}).labels, numbers{-1});
  EXPECT_EQ(cluster("0\n1\n", {"--min-cluster-size", "2"}).labels, (numbers{-1, -1}));
  EXPECT_EQ(cluster("0\n1\n", {"--min-cluster-size", "2", "--allow-single-cluster"}).labels, (numbers{0, 0}));
}

TEST_F(hdbscan_driver, min_cluster_size_beyond_n) {
  EXPECT_EQ(cluster("0\n1\n2\n", {"--min-cluster-size", "9"}).labels, numbers(3, -1));
  const columns single = cluster("0\n1\n2\n", {"--min-cluster-size", "9", "--allow-single-cluster"});
  EXPECT_EQ(single.labels, numbers(3, 0));
  EXPECT_EQ(single.probabilities, numbers(3, 1));
}

TEST_F(hdbscan_driver, min_samples_beyond_n_is_lowered) {
  cluster("0\n1\n2\n", {"--min-cluster-size", "2", "--min-samples", "3"});
  EXPECT_EQ(results()["clamped"], true);
  EXPECT_EQ(results()["neighbours"], 2);
  EXPECT_EQ(last.error,
            "quintet-hdbscan: warning: min_samples is larger than the number of other points and was lowered to 2\n");
  cluster("0\n1\n2\n", {"--min-cluster-size", "2", "--min-samples", "3", "--quiet"});
  EXPECT_EQ(last.error + last.out, "");
  EXPECT_EQ(json("out.json")["warnings"].size(), 1u);
}

TEST_F(hdbscan_driver, equal_points) {
  const std::string equal = repeated("1,2,3", 12);
  EXPECT_EQ(cluster(equal, {}).labels, numbers(12, -1));
  const columns single = cluster(equal, {"--allow-single-cluster"});
  EXPECT_EQ(single.labels, numbers(12, 0));
  EXPECT_EQ(single.probabilities, numbers(12, 1));
  EXPECT_EQ(single.outlier_scores, numbers(12, 0));
}

TEST_F(hdbscan_driver, two_groups_of_duplicates) {
  for (const char* ties : {"canonical", "binary"}) {
    const columns found = cluster(repeated("1,1", 6) + repeated("2,2", 6), {"--ties", ties});
    EXPECT_EQ(found.labels, (numbers{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}));
    EXPECT_EQ(found.probabilities, numbers(12, 1));
    EXPECT_EQ(found.outlier_scores, numbers(12, 0));
  }
  run_well({"--input", "points.csv", "--output", "out.h5"});
  EXPECT_EQ(io::read_hdf5<double>(work("out.h5"), "persistence").data, numbers(2, 1));
}

TEST_F(hdbscan_driver, rows_with_nan_or_infinity) {
  const columns found = cluster("nan\n0\n1\n2\n3\n4\n100\n101\n-inf\n102\n103\n104\n", {"--min-cluster-size", "3"});
  EXPECT_EQ(found.labels, (numbers{-1, 0, 0, 0, 0, 0, 1, 1, -1, 1, 1, 1}));
  EXPECT_EQ(results()["invalid_rows"], test::json_value::array({0, 8}));
  EXPECT_EQ(results()["noise"], 2);
  EXPECT_EQ(last.error,
            "quintet-hdbscan: warning: 2 of the rows hold NaN or infinity and are left out (counting from 0): 0, 8\n");
  for (const int i : {0, 8}) {
    EXPECT_EQ(found.probabilities[i], 0);
    EXPECT_EQ(found.outlier_scores[i], 1);
    EXPECT_TRUE(std::isnan(found.core_distances[i]));
  }
  EXPECT_EQ(cluster(repeated("nan,1", 15), {}).labels, numbers(15, -1));
  QUINTET_EXPECT_CONTAINS(last.error, "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 5 more");
  cluster("1,0\n0,0\n0,1\n", {"--metric", "cosine"});
  QUINTET_EXPECT_CONTAINS(last.error, "or have length 0 and are left out (counting from 0): 1\n");
}

TEST_F(hdbscan_driver, errors) {
  make("empty.csv", "x,y\n");
  make("nothing.csv", "");
  make("odd.csv", "1,2\n3\n");
  make("word.csv", "1,2\n3,four\n");
  make("damaged.npy", "\x93NUMPY");
  make("damaged.h5", "no file of this kind");
  make("points.txt", "1\n");
  io::write_npy<float>(work("none.npy"), matrix_view<const float>(nullptr, 3, 0));
  expect_failure({"--output", "x.csv"}, 2, "--input");
  expect_failure({"--input", line}, 2, "--output");
  expect_bad({"--input", "absent.csv"}, "absent.csv: cannot be read: No such file");
  expect_bad({"--input", "empty.csv"}, "empty.csv: holds no points");
  expect_bad({"--input", "nothing.csv"}, "nothing.csv");
  expect_bad({"--input", "none.npy"}, "none.npy: holds points without coordinates");
  expect_bad({"--input", "odd.csv"}, "odd.csv:2");
  expect_bad({"--input", "word.csv"}, "word.csv:2");
  expect_bad({"--input", "damaged.npy"}, "damaged.npy");
  expect_bad({"--input", "damaged.h5"}, "damaged.h5");
  expect_bad({"--input", "points.txt"}, "points.txt: extension \".txt\" is not supported here");
  expect_bad({"--dataset", "x"}, "line.csv: has no datasets (\"x\" was asked for)");
  expect_bad({"--output", "out.npy"},
             "--output: out.npy: extension \".npy\" is not supported here; allowed are "
             ".csv, .h5, .hdf5: labels and probabilities are of different types");
  expect_bad({"--output", "none/out.csv"}, "--output: none/out.csv");
  expect_bad({"--output", line}, "--output must be another file than --input");
  expect_bad({"--selection", "leaf", "--max-cluster-size", "5"}, "--max-cluster-size is for --selection eom");
  expect_bad({"--dataset", ""}, "--dataset must not be empty");
  expect_bad({"--output", "x.csv", "--json", "x.csv"}, "--json must be another file than --output");
  expect_bad({"--min-cluster-size", "1"}, "min_cluster_size must be >= 2 (min_cluster_size=1)");
  expect_bad({"--min-cluster-size", "-5"}, "min_cluster_size must be >= 2 (min_cluster_size=-5)");
  expect_bad({"--min-cluster-size", "five"}, "--min-cluster-size");
  expect_bad({"--min-samples", "0"}, "--min-samples must be >= 1 (--min-samples=0)");
  expect_bad({"--epsilon", "-0.5"}, "epsilon must be >= 0 (epsilon=-0.5)");
  expect_bad({"--epsilon", "nan"}, "epsilon must be >= 0 (epsilon=nan)");
  expect_bad({"--alpha", "0"}, "alpha must be > 0 and finite (alpha=0)");
  expect_bad({"--alpha", "inf"}, "alpha must be > 0 and finite (alpha=inf)");
  expect_bad({"--max-cluster-size", "-1"}, "max_cluster_size must be >= 0");
  expect_bad({"--selection", "best"}, "--selection must be eom or leaf (--selection=best)");
  expect_bad({"--metric", "canberra"},
             "--metric must be euclidean or cosine or manhattan or chebyshev or minkowski or haversine or poincare or "
             "lorentz or hamming or jaccard or integer_euclidean or integer_cosine or integer_inner_product or "
             "product (--metric=canberra)");
  expect_bad({"--metric", "jaccard"},
             "line.csv: holds 2 in row 2 (counting from 0), where --metric jaccard takes 0 and 1");
  expect_bad({"--metric", "sqeuclidean"},
             "--metric must not be squared (--metric=sqeuclidean): euclidean has the same");
  expect_bad({"--metric", "euclidian"}, "(--metric=euclidian); did you mean euclidean?");
  expect_bad({"--ties", "none"}, "--ties must be canonical or binary (--ties=none)");
  expect_bad({"--tie-tolerance", "1"}, "--tie-tolerance must be in [0, 1) (--tie-tolerance=1)");
  expect_bad({"--ties", "binary", "--tie-tolerance", "0"}, "--tie-tolerance is for --ties canonical");
  expect_bad({"--cut", "-1"}, "--cut must be >= 0 (--cut=-1)");
}

TEST_F(hdbscan_driver, failure_keeps_what_was_there) {
  make("out.csv", "precious\n");
  expect_bad({"--input", "absent.csv", "--output", "out.csv"}, "absent.csv");
  EXPECT_EQ(text_of("out.csv"), "precious\n");
}

TEST_F(hdbscan_driver, options_are_checked_before_the_input_is_read) {
  expect_bad({"--input", "absent.csv", "--min-cluster-size", "1"}, "min_cluster_size");
  expect_bad({"--input", "absent.csv", "--alpha", "-1"}, "alpha");
}

TEST_F(hdbscan_driver, reference_labels) {
  QUINTET_SKIP_WITHOUT(test::embedding_folder());
  for (const test::clustering_case& c : test::clustering_cases()) {
    SCOPED_TRACE(c.stem);
    const hdbscan::cluster_options& o = c.options;
    arguments all{"--input",
                  test::embedding_file(c.dataset).string(),
                  "--output",
                  "out.csv",
                  "--json",
                  "out.json",
                  "--min-cluster-size",
                  std::to_string(o.min_cluster_size),
                  "--min-samples",
                  std::to_string(o.min_samples),
                  "--alpha",
                  std::to_string(o.alpha),
                  "--epsilon",
                  std::to_string(o.epsilon),
                  "--selection",
                  o.method == hdbscan::selection::leaf ? "leaf" : "eom"};
    if (o.allow_single_cluster) all.push_back("--allow-single-cluster");
    if (o.method == hdbscan::selection::eom)
      all.insert(all.end(), {"--max-cluster-size", std::to_string(o.max_cluster_size)});
    run_well(all);
    const auto labels = io::read_csv<double>(work("out.csv"));
    std::vector<std::int64_t> found;
    for (std::int64_t i = 0; i < labels.values.rows; ++i) found.push_back(std::int64_t(labels.values.view()(i, 0)));
    EXPECT_EQ(test::adjusted_rand_index(found, test::read_results(c).integers("label_canonical")), 1);
    EXPECT_EQ(results()["clusters"], c.clusters_canonical);
    EXPECT_EQ(results()["noise"], c.noise_canonical);
    EXPECT_NEAR(results()["spanning_tree_weight"].number(), c.spanning_tree_weight, 1e-5 * c.spanning_tree_weight);
  }
}

TEST_F(hdbscan_driver, predicts_further_points) {
  make("new.csv", "2.5\n102.5\n500\nnan\n");
  const arguments common{"--input", line, "--min-cluster-size", "3", "--min-samples", "2", "--predict", "new.csv"};
  const auto with = [&](const arguments& more) {
    arguments all = common;
    all.insert(all.end(), more.begin(), more.end());
    return run_well(all);
  };
  const std::string out = with({"--output", "out.csv", "--json", "out.json"});
  QUINTET_EXPECT_CONTAINS(out, "4 further points, 2 of them noise");
  QUINTET_EXPECT_CONTAINS(out, "out.predicted.csv written");
  EXPECT_EQ(results()["predicted"], 4);
  EXPECT_EQ(results()["predicted_noise"], 2);
  const auto table = io::read_csv<double>(work("out.predicted.csv"));
  EXPECT_EQ(table.names, (std::vector<std::string>{"label", "probability", "outlier_score", "neighbour"}));
  numbers labels, neighbours;
  for (std::int64_t i = 0; i < table.values.rows; ++i) {
    labels.push_back(table.values.view()(i, 0));
    neighbours.push_back(table.values.view()(i, 3));
  }
  EXPECT_EQ(labels, (numbers{0, 1, -1, -1}));
  EXPECT_EQ(neighbours, (numbers{2, 7, 9, -1}));
  with({"--output", "out.h5"});
  EXPECT_EQ(io::read_hdf5<double>(work("out.h5"), "predicted_labels").data, labels);
  EXPECT_EQ(io::read_hdf5<double>(work("out.h5"), "predicted_neighbours").data, neighbours);
  with({"--output", "third.h5", "--predict-output", "third.csv"});
  EXPECT_EQ(text_of("third.csv"), text_of("out.predicted.csv"));
}

TEST_F(hdbscan_driver, predicts_by_a_model_of_before) {
  make("new.csv", "2.5\n102.5\n500\nnan\n");
  for (const char* precision : {"half", "float", "double"}) {
    run_well({"--input", line, "--min-cluster-size", "3", "--min-samples", "2", "--precision", precision, "--predict",
              "new.csv", "--membership", "--model", "model.h5", "--output", "out.h5"});
    run_well({"--model", "model.h5", "--predict", "new.csv", "--membership", "--output", "later.h5"});
    for (const char* name : {"predicted_labels", "predicted_probabilities", "predicted_outlier_scores",
                             "predicted_neighbours", "predicted_memberships"})
      EXPECT_EQ(io::read_hdf5<double>(work("later.h5"), name).data, io::read_hdf5<double>(work("out.h5"), name).data);
  }
  const std::string out =
      run_well({"--model", "model.h5", "--predict", "new.csv", "--output", "later.csv", "--json", "out.json"});
  QUINTET_EXPECT_CONTAINS(out, "4 further points, 2 of them noise");
  EXPECT_EQ(results()["clusters"], 2);
  EXPECT_EQ(results()["n"], 11);
  EXPECT_EQ(json("out.json")["precision"], "double");
  EXPECT_EQ(io::read_csv<double>(work("later.csv")).names,
            (std::vector<std::string>{"label", "probability", "outlier_score", "neighbour"}));
  make("bits.csv", "1,1,0,0\n1,1,1,0\n1,1,0,1\n0,0,1,1\n0,1,1,1\n1,0,1,1\n");
  run_well({"--input", "bits.csv", "--metric", "jaccard", "--min-cluster-size", "2", "--model", "bits.h5", "--predict",
            "bits.csv", "--output", "out.h5"});
  run_well({"--model", "bits.h5", "--predict", "bits.csv", "--output", "later.h5"});
  EXPECT_EQ(io::read_hdf5<double>(work("later.h5"), "predicted_neighbours").data,
            io::read_hdf5<double>(work("out.h5"), "predicted_neighbours").data);
  // Without labels of further points the model is written too.
  run_well({"--input", line, "--clusters", "2", "--min-samples", "2", "--model", "two.h5", "--output", "out.csv"});
  run_well({"--model", "two.h5", "--predict", "new.csv", "--output", "later.csv"});
  EXPECT_EQ(io::read_csv<double>(work("later.csv")).values.rows, 4);
}

TEST_F(hdbscan_driver, wrong_use_of_models) {
  make("new.csv", "1\n");
  make("wide.csv", "1,2\n");
  run_well({"--input", line, "--model", "model.h5", "--output", "out.csv"});
  const auto expect = [&](arguments more, const std::string& message) {
    more.insert(more.end(), {"--output", "bad.csv"});
    expect_failure(more, 2, message);
  };
  expect({}, "--input is needed, or --model with a file of before");
  expect({"--model", "model.h5"}, "--model without --input needs --predict");
  expect({"--model", "model.h5", "--predict", "new.csv", "--min-samples", "3"}, "--min-samples needs --input");
  expect({"--model", "model.h5", "--predict", "new.csv", "--precision", "double"}, "--precision needs --input");
  expect({"--model", "model.h5", "--predict", "wide.csv"},
         "wide.csv: holds points of 2 coordinates where those of the input have 1");
  expect({"--model", "out.csv", "--predict", "new.csv"}, "out.csv");
  expect({"--model", "absent.h5", "--predict", "new.csv"}, "absent.h5");
  expect_bad({"--model", "x.csv"}, "--model: x.csv");
  expect_bad({"--model", "x.h5", "--sweep"}, "--model cannot be combined with --sweep");
  expect_bad({"--model", "bad.csv", "--output", "bad.csv"}, "bad.csv");
  expect_bad({"--model", "x.h5", "--output", "x.h5"}, "--model must be another file than --output");
}

TEST_F(hdbscan_driver, membership_of_all_and_of_further_points) {
  make("new.csv", "2.5\n102.5\n");
  const arguments common{"--input",   line,      "--min-cluster-size", "3",      "--min-samples", "2", "--membership",
                         "--predict", "new.csv", "--precision",        "double", "--output"};
  const auto with = [&](const char* output) {
    arguments all = common;
    all.push_back(output);
    run_well(all);
  };
  with("out.csv");
  with("out.h5");
  const auto table = io::read_csv<double>(work("out.csv")), further = io::read_csv<double>(work("out.predicted.csv"));
  EXPECT_EQ(table.names.at(4), "member0");
  EXPECT_EQ(table.names.at(5), "member1");
  const auto matrix = io::read_hdf5<double>(work("out.h5"), "memberships");
  EXPECT_EQ(matrix.shape, (std::vector<std::int64_t>{11, 2}));
  for (std::int64_t i = 0; i < 11; ++i) {
    for (std::int64_t k = 0; k < 2; ++k) EXPECT_EQ(table.values.view()(i, 4 + k), matrix.data[2 * i + k]) << i;
    // The label is where the most of a point is.
    EXPECT_EQ(matrix.data[2 * i] > matrix.data[2 * i + 1], i < 5) << i;
  }
  EXPECT_GT(further.values.view()(0, 4), further.values.view()(0, 5));
  EXPECT_LT(further.values.view()(1, 4), further.values.view()(1, 5));
  EXPECT_EQ(io::read_hdf5<double>(work("out.h5"), "predicted_memberships").shape, (std::vector<std::int64_t>{2, 2}));
}

TEST_F(hdbscan_driver, precomputed_distances_and_graphs) {
  const numbers at{0, 1, 2, 3, 4, 100, 101, 102, 103, 104, 1000};
  std::string matrix, graph = "%%MatrixMarket matrix coordinate real symmetric\n11 11 55\n";
  for (int i = 0; i < 11; ++i)
    for (int j = 0; j < 11; ++j) {
      matrix += text(std::fabs(at[i] - at[j]), j == 10 ? "\n" : ",");
      if (j < i) graph += text(i + 1, " ", j + 1, " ", at[i] - at[j], "\n");
    }
  make("matrix.csv", matrix);
  make("graph.mtx", graph);
  const arguments common{"--min-cluster-size", "3", "--min-samples", "2"};
  const auto csv_of = [&](arguments all) {
    all.insert(all.end(), common.begin(), common.end());
    all.insert(all.end(), {"--output", "out.csv", "--json", "out.json"});
    run_well(all);
    return text_of("out.csv");
  };
  const std::string expected = csv_of({"--input", line});
  EXPECT_EQ(csv_of({"--input", "matrix.csv", "--precomputed"}), expected);
  EXPECT_EQ(csv_of({"--input", "graph.mtx", "--precomputed"}), expected);
  io::write_sparse(work("graph.npz"), io::read_sparse<double, std::int32_t>(work("graph.mtx")).view());
  EXPECT_EQ(csv_of({"--input", "graph.npz", "--precomputed"}), expected);
  EXPECT_EQ(results()["components"], 1);

  make("parts.mtx", "%%MatrixMarket matrix coordinate real symmetric\n5 5 3\n2 1 1\n3 2 1\n5 4 1\n");
  const std::string out = run_well({"--input", "parts.mtx", "--precomputed", "--min-cluster-size", "2", "--min-samples",
                                    "1", "--output", "out.csv", "--json", "out.json"});
  QUINTET_EXPECT_CONTAINS(out, "2 parts unconnected");
  EXPECT_EQ(results()["components"], 2);
  EXPECT_EQ(read("out.csv").labels, (numbers{0, 0, 0, 1, 1}));

  make("wide.csv", "0,1,2\n1,0,3\n");
  expect_bad({"--input", "wide.csv", "--precomputed"}, "wide.csv: must be square");
  make("uneven.csv", "0,1\n2,0\n");
  expect_bad({"--input", "uneven.csv", "--precomputed"},
             "uneven.csv: distances(0, 1) must be equal to distances(1, 0)=2 up to rounding (distances(0, 1)=1)");
  make("loop.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 3\n");
  expect_bad({"--input", "loop.mtx", "--precomputed"},
             "loop.mtx: graph.values[0] must be 0 as the distance of 0 from itself");
  make("rounded.mtx",
       "%%MatrixMarket matrix coordinate real general\n5 5 7\n1 1 0\n2 1 1\n1 2 1.0000000000000002\n"
       "3 2 1\n2 3 1\n5 4 1\n3 3 0\n");
  run_well({"--input", "rounded.mtx", "--precomputed", "--min-cluster-size", "2", "--min-samples", "1", "--output",
            "out.csv"});
  EXPECT_EQ(read("out.csv").labels, (numbers{0, 0, 0, 1, 1}));
  expect_bad({"--precomputed", "--predict", line}, "--predict needs points, and --precomputed gives distances");
  expect_bad({"--precomputed", "--membership"}, "--membership needs points");
  expect_bad({"--precomputed", "--metric", "cosine"}, "--metric needs points");
  expect_bad({"--precomputed", "--precision", "half"}, "--precision must be float or double with --precomputed");
}

TEST_F(hdbscan_driver, storage_of_16_bits) {
  for (const char* precision : {"half", "bfloat16"}) {
    const columns found =
        cluster(text_of("line.csv"), {"--min-cluster-size", "3", "--min-samples", "2", "--precision", precision});
    EXPECT_EQ(found.labels, line_labels);
    EXPECT_EQ(json("out.json")["precision"], precision);
  }
  make("large.csv", "1\n2\n70000\n");
  expect_bad({"--input", "large.csv", "--precision", "half"},
             "large.csv: holds 70000 in row 2 (counting from 0), too large for --precision half; bfloat16 and float");
}

TEST_F(hdbscan_driver, hyperbolic_points) {
  // Two groups far from each other, one of them near the boundary, and a point outside the ball.
  const std::string points = "0.01,0\n0.02,0\n0,0.01\n0,0.02\n0.9990,0\n0.9991,0\n0.9992,0\n0.9993,0\n1.5,0\n";
  const columns found = cluster(
      points, {"--metric", "poincare", "--min-cluster-size", "3", "--min-samples", "2", "--precision", "double"});
  EXPECT_EQ(found.labels, (numbers{0, 0, 0, 0, 1, 1, 1, 1, -1}));
  EXPECT_EQ(results()["invalid_rows"], test::json_value::array({8}));
  QUINTET_EXPECT_CONTAINS(last.error, "or lie outside the ball");
  expect_bad({"--metric", "poincare", "--curvature", "0.5"}, "--curvature must be < 0 and finite");
  expect_bad({"--curvature", "-1"}, "--curvature needs --metric poincare or lorentz");
  expect_bad({"--factors", "sphere 2"}, "--factors needs --metric product (--metric=euclidean)");
  expect_bad({"--metric", "product"}, "--metric product needs --factors (--metric=product)");
  expect_bad({"--metric", "product", "--factors", "sphere"}, "a factor must be of the form: geometry numbers");
  expect_bad({"--metric", "product", "--factors", "sphere 3"},
             "line.csv: holds points of 1 coordinates where --factors have 3");
}

TEST_F(hdbscan_driver, rows_of_bits) {
  const std::string rows =
      repeated("1,1,1,0,0,0,0", 6) + repeated("0,0,0,0,1,1,1", 6) + "1,1,1,1,0,0,0\n0,0,0,1,0,0,0\n";
  make("more.csv", "1,1,0,0,0,0,0\n0,0,0,1,1,1,1\n");
  for (const char* name : {"hamming", "jaccard", "tanimoto"}) {
    const auto found = cluster(rows, {"--metric", name, "--min-samples", "2", "--predict", "more.csv"});
    EXPECT_EQ(numbers(found.labels.begin(), found.labels.begin() + 12), (numbers{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}));
    EXPECT_EQ(found.core_distances[0], 0);
    const auto predicted = io::read_csv<double>(work("out.predicted.csv")).values;
    EXPECT_EQ(predicted.data[0], 0);
    EXPECT_EQ(predicted.data[predicted.cols], 1);
  }
  EXPECT_EQ(results()["dim"].number(), 7);
  run_well({"--input", "points.csv", "--metric", "jaccard", "--sweep", "--min-samples", "1,2", "--min-cluster-size",
            "5", "--output", "swept.csv"});
}

TEST_F(hdbscan_driver, wrong_use_of_predictions) {
  make("new.csv", "1,2\n");
  expect_bad({"--predict", "new.csv"}, "new.csv: holds points of 2 coordinates where those of the input have 1");
  expect_bad({"--predict-output", "x.csv"}, "--predict-output needs --predict");
  expect_bad({"--predict", "absent.csv"}, "absent.csv");
  expect_bad({"--predict", line, "--predict-output", "x.npy"}, "x.npy");
}

}  // namespace
}  // namespace quintet
