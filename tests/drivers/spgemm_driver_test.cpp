#include <cmath>

#include "drivers/driver_run.hpp"
#include "quintet/io/complex_file.hpp"
#include "quintet/io/csv.hpp"
#include "quintet/io/sparse_file.hpp"
#include "quintet/spgemm/add.hpp"
#include "quintet/spgemm/semiring.hpp"
#include "quintet/spgemm/summary.hpp"
#include "reference/spgemm_reference.hpp"
#include "support/matrix_data.hpp"
#include "support/sparse_matrices.hpp"

namespace quintet {
namespace {

using matrix = spgemm::csr<double, std::int64_t>;

class spgemm_driver : public test::driver_run {
 protected:
  spgemm_driver() : driver_run("spgemm") {
    io::write_sparse(work("a.mtx"), a_.view());
    io::write_sparse(work("b.mtx.gz"), b_.view());
    io::write_sparse(work("b.h5"), b_.view(), "part");
  }

  matrix product(arguments given, const std::string& output = "c.mtx") {
    given.insert(given.end(), {"--output", output});
    run_well(given);
    return io::read_sparse<double, std::int64_t>(work(output));
  }
  test::json_value results(arguments given) {
    given.insert(given.end(), {"--json", "summary.json"});
    run_well(given);
    return json("summary.json")["results"];
  }
  template <class Semiring>
  static matrix expected(const matrix& a, const matrix& b) {
    return test::reference_product<Semiring>(a.view(), b.view());
  }
  void expect_bad(arguments given, const std::string& message) const { expect_failure(given, 2, message); }
  void expect_bad_file(const std::string& content, const std::string& message) {
    make("bad.mtx", content);
    expect_bad({"--a", "bad.mtx"}, message);
  }

  const matrix a_ = test::uniform_matrix<double, std::int64_t>(40, 30, 5, 1);
  const matrix b_ = test::uniform_matrix<double, std::int64_t>(30, 50, 5, 2);
};

TEST_F(spgemm_driver, common_options) { expect_common_options({"--a", "a.mtx", "--b-transposed"}, "double or float"); }

TEST_F(spgemm_driver, every_format_in_and_out) {
  const matrix c = expected<spgemm::plus_times>(a_, b_);
  for (const char* output : {"c.mtx", "c.mtx.gz", "c.h5", "c.npz"}) {
    EXPECT_EQ(product({"--a", "a.mtx", "--b", "b.mtx.gz"}, output), c);
  }
  io::write_sparse(work("a.npz"), a_.view());
  EXPECT_EQ(product({"--a", "a.npz", "--b", "b.mtx.gz"}), c);
  expect_bad({"--a", "a.npz", "--b", "b.mtx.gz", "--dataset", "part"}, "has no groups");
  io::write_sparse(work("a.h5"), a_.view(), "part");
  EXPECT_EQ(product({"--a", "a.h5", "--b", "b.h5", "--dataset", "part"}), c);
}

TEST_F(spgemm_driver, semirings_transposes_and_precisions) {
  const arguments both{"--a", "a.mtx", "--b", "b.mtx.gz", "--semiring"};
  const auto with = [&](const char* semiring) {
    arguments given = both;
    given.push_back(semiring);
    return given;
  };
  EXPECT_EQ(product(with("plus-times")), expected<spgemm::plus_times>(a_, b_));
  EXPECT_EQ(product(with("min-plus")), expected<spgemm::min_plus>(a_, b_));
  EXPECT_EQ(product(with("or-and")), expected<spgemm::or_and>(a_, b_));
  EXPECT_EQ(product({"--a", "a.mtx", "--b-transposed"}), expected<spgemm::plus_times>(a_, transpose(a_.view())));
  EXPECT_EQ(product({"--a", "b.h5", "--dataset", "part", "--b-transposed"}),
            expected<spgemm::plus_times>(b_, transpose(b_.view())));
  const auto single = [](const matrix& m) {
    std::vector<float> values(m.values.begin(), m.values.end());
    return spgemm::csr<float, std::int64_t>{m.rows, m.cols, m.row_pointers, m.columns, values};
  };
  run_well({"--a", "a.mtx", "--b", "b.mtx.gz", "--precision", "float", "--output", "f.h5"});
  EXPECT_EQ((io::read_sparse<float, std::int64_t>(work("f.h5"))),
            test::reference_product<spgemm::plus_times>(single(a_).view(), single(b_).view()));
}

TEST_F(spgemm_driver, first_entries_of_rows) {
  make("rows.mtx", "%%MatrixMarket matrix coordinate real general\n1 5 5\n1 1 3\n1 2 9\n1 3 -2\n1 4 9\n1 5 5\n");
  make("one.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n");
  const auto entries = [&](const arguments& more) {
    arguments given{"--a", "one.mtx", "--b", "rows.mtx", "--top"};
    given.insert(given.end(), more.begin(), more.end());
    const matrix c = product(given, "top.h5");
    return std::vector<std::int64_t>(c.columns.begin(), c.columns.end());
  };
  using columns = std::vector<std::int64_t>;
  EXPECT_EQ(entries({"3"}), (columns{1, 3, 4}));
  EXPECT_EQ(entries({"4", "--by-value"}), (columns{1, 3, 4, 0}));
  EXPECT_EQ(entries({"4", "--threshold", "5", "--by-value", "--device", "emulated"}), (columns{1, 3, 4}));
  EXPECT_EQ(entries({"2", "--semiring", "min-plus"}), (columns{0, 2}));
  EXPECT_EQ(entries({"2", "--semiring", "min-plus", "--threshold", "-1"}), (columns{2}));
  EXPECT_EQ(results({"--a", "a.mtx", "--b", "b.mtx.gz", "--top", "1"})["nnz"],
            product({"--a", "a.mtx", "--b", "b.mtx.gz", "--top", "1"}).nnz());
  expect_bad({"--a", "a.mtx", "--b", "b.mtx.gz", "--top", "0"}, "--top must be > 0");
  expect_bad({"--a", "a.mtx", "--b", "b.mtx.gz", "--top", "2", "--budget", "5000"}, "--budget");
  expect_bad({"--a", "a.mtx", "--b", "b.mtx.gz", "--by-value"}, "needs --top");
  expect_bad({"--a", "a.mtx", "--b", "b.mtx.gz", "--threshold", "1"}, "needs --top");
  expect_bad({"--a", "a.mtx", "--b", "b.mtx.gz", "--top", "1", "--threshold", "nan"}, "threshold");
}

TEST_F(spgemm_driver, products_with_the_transpose) {
  const matrix turned = transpose(a_.view());
  EXPECT_EQ(product({"--a", "a.mtx", "--gram"}), expected<spgemm::plus_times>(turned, a_));
  EXPECT_EQ(product({"--a", "a.mtx", "--gram", "--b-transposed", "--semiring", "min-plus"}),
            expected<spgemm::min_plus>(a_, turned));
  const matrix upper = product({"--a", "a.mtx", "--gram", "--upper", "--device", "emulated"});
  EXPECT_EQ(2 * upper.nnz() - upper.rows, expected<spgemm::plus_times>(turned, a_).nnz());
  expect_bad({"--a", "a.mtx", "--gram", "--b", "b.mtx.gz"}, "does not go with --gram");
  expect_bad({"--a", "a.mtx", "--b-transposed", "--upper"}, "needs --gram");
}

TEST_F(spgemm_driver, sums_and_the_transpose_of_a) {
  const matrix turned = transpose(a_.view());
  const matrix c = test::uniform_matrix<double, std::int64_t>(40, 50, 6, 3);
  io::write_sparse(work("c.npz"), c.view());
  const arguments sum{"--a", "a.mtx", "--b", "b.mtx.gz", "--add", "c.npz"};
  const auto with = [&](const arguments& more) {
    arguments given = sum;
    given.insert(given.end(), more.begin(), more.end());
    return given;
  };
  const matrix plain = expected<spgemm::plus_times>(a_, b_);
  EXPECT_EQ(product(with({})), add(1.0, plain.view(), 1.0, c.view()));
  EXPECT_EQ(product(with({"--beta", "-0.5", "--device", "emulated"})), add(1.0, plain.view(), -0.5, c.view()));
  // Powers of 2 round nothing.
  EXPECT_EQ(product(with({"--alpha", "-4", "--beta", "0.25"})), add(-4.0, plain.view(), 0.25, c.view()));
  EXPECT_EQ(product({"--a", "a.mtx", "--a-transposed"}), expected<spgemm::plus_times>(turned, a_));
  EXPECT_EQ(product({"--a", "a.mtx", "--a-transposed", "--b", "a.mtx", "--semiring", "min-plus"}),
            expected<spgemm::min_plus>(turned, a_));
  EXPECT_EQ(product({"--a", "b.mtx.gz", "--a-transposed", "--b", "a.mtx", "--b-transposed"}),
            expected<spgemm::plus_times>(transpose(b_.view()), turned));
  EXPECT_EQ(product({"--a", "a.mtx", "--a-transposed", "--budget", "3000"}), expected<spgemm::plus_times>(turned, a_));
  expect_bad(with({"--semiring", "min-plus"}), "--add needs --semiring plus-times (--semiring=min-plus)");
  expect_bad(with({"--budget", "5000"}), "does not go with --add");
  expect_bad(with({"--top", "3"}), "does not go with --add");
  expect_bad({"--a", "a.mtx", "--b", "b.mtx.gz", "--alpha", "2"}, "needs --add");
  expect_bad({"--a", "a.mtx", "--gram", "--add", "c.npz"}, "does not go with --gram");
  expect_bad({"--a", "a.mtx", "--gram", "--a-transposed"}, "does not go with --gram");
  expect_bad({"--a", "a.mtx", "--b", "b.mtx.gz", "--add", "a.mtx"}, "c must have the size of the product, 40 x 50");
}

TEST_F(spgemm_driver, complex_values) {
  const std::string head = "%%MatrixMarket matrix coordinate complex general\n";
  make("z.mtx", head + "2 2 3\n1 1 1 2\n1 2 0 -1\n2 2 3 0\n");
  make("h.mtx", "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 1 0\n2 1 0 1\n");
  make("r.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 1 4\n");
  const auto complex_product = [&](arguments given, const char* output = "w.mtx") {
    given.insert(given.end(), {"--output", output});
    run_well(given);
    return io::read_complex_sparse<double, std::int64_t>(work(output));
  };
  using complex_matrix = spgemm::complex_csr<double, std::int64_t>;
  // [1 + 2i, -i; 0, 3] squared.
  const complex_matrix square{2, 2, {0, 2, 3}, {0, 1, 1}, {{-3, 4}, {2, -4}, {9, 0}}};
  EXPECT_EQ(complex_product({"--a", "z.mtx"}), square);
  EXPECT_EQ(complex_product({"--a", "z.mtx", "--device", "emulated"}, "w.mtx.gz"), square);
  EXPECT_EQ(complex_product({"--a", "z.mtx", "--precision", "float"}), square);
  // Its rows with their conjugates: [6, 3 (-i); 3i, 9].
  EXPECT_EQ(complex_product({"--a", "z.mtx", "--b-transposed", "--conjugate"}),
            (complex_matrix{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {{6, 0}, {0, -3}, {0, 3}, {9, 0}}}));
  EXPECT_EQ(complex_product({"--a", "z.mtx", "--b", "r.mtx", "--a-transposed"}),
            (complex_matrix{2, 2, {0, 1, 2}, {0, 0}, {{2, 4}, {12, -2}}}));
  EXPECT_EQ(complex_product({"--a", "r.mtx", "--b", "h.mtx"}),
            (complex_matrix{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {{2, 0}, {0, -2}, {4, 0}, {0, -4}}}));
  const test::json_value r = results({"--a", "z.mtx", "--checksums"});
  EXPECT_EQ(r["nnz"], 3);
  EXPECT_EQ(r["products"], 4 * 4);
  EXPECT_EQ(r["sum"], 8);
  EXPECT_EQ(r["sum_imaginary"], 0);
  EXPECT_DOUBLE_EQ(r["sum_abs"].number(), 14 + std::sqrt(20.0));
  EXPECT_DOUBLE_EQ(r["frobenius"].number(), std::sqrt(25.0 + 20 + 81));
  expect_bad({"--a", "z.mtx", "--gram"}, "does not go with complex values");
  expect_bad({"--a", "r.mtx", "--b", "z.mtx", "--top", "2"}, "does not go with complex values");
  expect_bad({"--a", "z.mtx", "--semiring", "min-plus"}, "complex values need --semiring plus-times");
  expect_bad({"--a", "z.mtx", "--output", "w.h5"}, "--output must be an .mtx or .mtx.gz file for complex values");
  expect_bad({"--a", "z.mtx", "--b", "b.h5"}, "cannot hold complex matrices");
  expect_bad({"--a", "z.mtx", "--conjugate"}, "--conjugate needs --a-transposed or --b-transposed");
  make("bad.mtx", head + "1 1 1\n1 1 2\n");
  expect_bad({"--a", "bad.mtx"}, "bad.mtx:3: the entry has no value that is a number");
}

TEST_F(spgemm_driver, summary) {
  const matrix c = expected<spgemm::plus_times>(a_, b_);
  const spgemm::matrix_summary sums = summarise(c.view());
  std::vector<std::string> before = names();
  const test::json_value r = results({"--a", "a.mtx", "--b", "b.mtx.gz", "--checksums"});
  before.push_back("summary.json");
  EXPECT_EQ(names(), before) << "without --output nothing is written";
  EXPECT_EQ(r["rows"], 40);
  EXPECT_EQ(r["cols"], 50);
  EXPECT_EQ(r["nnz"], c.nnz());
  EXPECT_EQ(r["sum"], sums.sum);
  EXPECT_EQ(r["sum_abs"], sums.sum_abs);
  EXPECT_EQ(r["frobenius"], sums.frobenius);
  EXPECT_EQ(r["weighted"], sums.weighted);
  EXPECT_EQ(r["struct_ij"], sums.struct_ij);
  EXPECT_EQ(r["retries"], 0);
  EXPECT_GE(r["peak_bytes"].integer(), c.bytes());
  std::int64_t rows = 0, products = 0;
  for (const std::string& name : r["strategies"].keys()) {
    const test::json_value count = r["strategies"][name];
    rows += count["rows"].integer();
    products += count["products"].integer();
  }
  EXPECT_EQ(r["strategies"].size(), 9U);
  EXPECT_EQ(rows, 40);
  EXPECT_EQ(products, r["products"]);
  for (const char* stage : {"read", "analysis", "prediction", "product", "assembly", "checksums", "total"})
    EXPECT_TRUE(json("summary.json")["seconds"].contains(stage)) << stage;
  EXPECT_FALSE(results({"--a", "a.mtx", "--b", "b.mtx.gz"}).contains("struct_ij"));
}

TEST_F(spgemm_driver, devices_and_budgets_change_nothing) {
  const auto graph = test::rmat_matrix<double, std::int64_t>(8, 12, 3);
  io::write_sparse(work("graph.h5"), graph.view());
  const arguments squared{"--a", "graph.h5", "--checksums"};
  const auto with = [&](const arguments& more) {
    arguments given = squared;
    given.insert(given.end(), more.begin(), more.end());
    return results(given);
  };
  const auto same = [](const test::json_value& x, const test::json_value& y) {
    for (const char* key : {"nnz", "products", "struct_ij", "upper_bound"}) EXPECT_EQ(x[key], y[key]) << key;
    for (const char* key : {"sum", "sum_abs", "frobenius", "weighted"})
      EXPECT_NEAR(x[key].number(), y[key].number(), 1e-12 * std::fabs(x["sum_abs"].number())) << key;
  };
  const test::json_value whole = with({});
  EXPECT_TRUE(whole["ran_on_host"]);
  const test::json_value emulated = with({"--device", "emulated"});
  EXPECT_FALSE(emulated["ran_on_host"]);
  same(whole, emulated);
  // Blocks of one kilobyte: single rows are cut. Then all at once.
  same(whole, with({"--budget", "1040"}));
  same(whole, with({"--budget", "1000000000"}));
  // What is written block by block is what is written at once.
  with({"--output", "whole.mtx"});
  with({"--budget", "1040", "--output", "blocks.mtx"});
  EXPECT_EQ((io::read_sparse<double, std::int64_t>(work("blocks.mtx"))),
            (io::read_sparse<double, std::int64_t>(work("whole.mtx"))));
}

TEST_F(spgemm_driver, bad_usage) {
  expect_bad({}, "--a");
  expect_bad({"--a", "none.mtx"}, "none.mtx");
  expect_bad({"--a", "a.csv"}, "allowed are .mtx");
  expect_bad({"--a", "a.mtx"}, "a is 40 x 30, b is 40 x 30");
  expect_bad({"--a", "a.mtx", "--b", "b.h5", "--dataset", "other"}, "other");
  expect_bad({"--a", "a.mtx", "--b-transposed", "--semiring", "max-plus"},
             "--semiring must be plus-times or min-plus or or-and");
  expect_bad({"--a", "a.mtx", "--b-transposed", "--budget", "0"}, "--budget must be > 0");
  expect_bad({"--a", "a.mtx", "--b-transposed", "--budget", "100"}, "budget must be >= ");
  expect_bad({"--a", "a.mtx", "--b-transposed", "--budget", "10000", "--output", "c.h5"},
             "--output must be an .mtx file with --budget");
  expect_bad({"--a", "a.mtx", "--b-transposed", "--output", "c.csv"}, "c.csv");
  expect_bad({"--a", "a.mtx", "--b-transposed", "--output", "none/c.mtx"}, "none/c.mtx");
  expect_bad({"--a", "a.mtx", "--b-transposed", "--output", "a.mtx"}, "a.mtx");
}

TEST_F(spgemm_driver, bad_files_tell_line_and_reason) {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  make("bad.mtx", "");
  expect_bad_file("1 2 3\n", "bad.mtx:1: no Matrix Market file");
  expect_bad_file(head + "% remark\n2 2 1\n3 1 1\n", "bad.mtx:4: row 3 is not in 1 ... 2");
  expect_bad_file(head + "2 2 1\n1 1 x\n", "bad.mtx:3: ");
  expect_bad_file(head + "2 2 2\n1 1 1\n", "the file ends after 1 of 2 entries");
  expect_bad_file("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 2 1\n2 1 1\n",
                  "bad.mtx: gives both the entry 2 1 and the entry 1 2");
  make("cut.mtx.gz", text_of("b.mtx.gz").substr(0, 60));
  expect_bad({"--a", "cut.mtx.gz"}, "ends too early");
  make("bad.h5", "no such format");
  expect_bad({"--a", "bad.h5"}, "bad.h5");
}

TEST_F(spgemm_driver, matrices_of_the_reference_data) {
  QUINTET_SKIP_WITHOUT(test::matrix_folder());
  for (const auto& c : test::matrix_cases()) {
    if (c.products > 1'000'000) continue;
    SCOPED_TRACE(c.name);
    arguments given{"--a", test::matrix_folder() / (c.name + ".mtx.gz"), "--checksums"};
    if (c.transposed) given.push_back("--b-transposed");
    const test::json_value r = results(given);
    EXPECT_EQ(r["nnz"], c.result_nnz);
    EXPECT_EQ(r["products"], c.products);
    EXPECT_EQ(r["struct_ij"], c.struct_ij);
    EXPECT_NEAR(r["sum"].number(), c.sum, 1e-10 * c.sum_abs);
    EXPECT_NEAR(r["weighted"].number(), c.weighted, 1e-10 * 143 * c.sum_abs);
  }
}

class friends_driver : public test::driver_run {
 protected:
  friends_driver() : driver_run("friends") {
    // A triangle 1 2 3; 4 knows 2 and 3; 5 knows 4, and itself, which does not count; nobody knows 6.
    make("graph.mtx", "%%MatrixMarket matrix coordinate pattern general\n6 6 7\n1 2\n3 1\n2 3\n4 2\n4 3\n5 4\n5 5\n");
  }
};

TEST_F(friends_driver, pairs_and_triangles) {
  for (const char* device : {"host", "emulated"}) {
    run_well({"--graph", "graph.mtx", "--output", "pairs.csv", "--json", "summary.json", "--device", device});
    EXPECT_EQ(text_of("pairs.csv"), "a,b,common\n1,4,2\n2,5,1\n3,5,1\n");
    const test::json_value r = json("summary.json")["results"];
    EXPECT_EQ(r["people"], 6);
    EXPECT_EQ(r["friendships"], 6);
    EXPECT_EQ(r["triangles"], 2);
    EXPECT_EQ(r["friends_of_friends"], 3);
  }
  run_well({"--graph", "graph.mtx", "--output", "first.csv", "--top", "1"});
  EXPECT_EQ(text_of("first.csv"), "a,b,common\n1,4,2\n");
}

TEST_F(friends_driver, bad_usage) {
  expect_failure({"--graph", "graph.mtx", "--output", "pairs.csv", "--top", "0"}, 2, "--top must be > 0");
  expect_failure({"--graph", "graph.mtx", "--output", "pairs.h5"}, 2, "pairs.h5");
  make("wide.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 0\n");
  expect_failure({"--graph", "wide.mtx", "--output", "pairs.csv"}, 2, "must be square (it is 2 x 3)");
}

}  // namespace
}  // namespace quintet
