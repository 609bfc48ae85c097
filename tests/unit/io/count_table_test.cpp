// Tables of allele counts, and what all readers share.
#include "unit/io/read_test.hpp"

namespace quintet {
namespace {

class snp_counts : public test::snp_reading {
 protected:
  snp_counts() : snp_reading("csv") {}
};

TEST_F(snp_counts, cells_and_separators) {
  const char* const expected = "A,B C: 1/2 0/3; 2/2 3/3";
  EXPECT_EQ(read("A,B C\n1/2,0/3\n2/2,3/3\n"), expected);
  EXPECT_EQ(read("# comment\nA;\"B C\"\r\n\r\n 1/2 ; 0/3\r\n2/2;3/3"), expected);
  EXPECT_EQ(read("A\tB C\n1/2\t0/3\n2/2\t3/3\n"), expected);
  EXPECT_EQ(read("  A   B\n1/2 0/3\n"), "A,B: 1/2 0/3");
  EXPECT_EQ(read("A\n1/2\n"), "A: 1/2");
}

TEST_F(snp_counts, missing_cells) {
  const io::snp_read_options keep{.empty = snp::empty_species::keep};
  EXPECT_EQ(read("A,B\n1/2,\n?,1/1\n-,0/0\nNA,1/1\n", keep), "A,B: 1/2 0/0; 0/0 1/1; 0/0 0/0; 0/0 1/1");
  EXPECT_EQ(read("A,B\n1/2,\n1/1,1/1\n"), "A,B: dropped; 1/1 1/1");
}

TEST_F(snp_counts, dominant_cells_are_of_individuals) {
  EXPECT_EQ(read("A,B\n1/2,3/3\n", {.dominant = true}), "A,B: 1/4 3/6");
}

TEST_F(snp_counts, a_column_of_weights) {
  const snp::Data d = data("A,weight,B\n1/2,2.5,0/3\n1/2,3,0/3\n0/2,0,0/3\n");
  EXPECT_EQ(test::counts_text(d), "A,B: 1/2 0/3; 1/2 0/3; 0/2 0/3");
  EXPECT_EQ(std::vector<double>(d.weights().begin(), d.weights().end()), (std::vector<double>{5.5, 0}));
}

TEST_F(snp_counts, bad_tables_tell_line_and_reason) {
  expect_bad("", "is empty");
  expect_bad("1/2,0/3\n", "a.csv:1: \"1/2\" looks like counts");
  expect_bad("A,A\n", "a.csv:1: the column A comes a second time");
  expect_bad("A,\n1/2,1/2\n", "a.csv:1: column 2 has no name");
  expect_bad("weight\n1\n", "the table has no species");
  expect_bad("A,B\n1/2\n", "a.csv:2: this line has 1 fields, the first has 2");
  expect_bad("A,B\n1/2,0/3,1/1\n", "this line has 3 fields");
  expect_bad("A,B\n1/2,x\n", "a.csv:2: column B: \"x\" must be two integers, red/copies");
  expect_bad("A,B\n1/2,1\n", "must be two integers");
  expect_bad("A,B\n1/2,1/\n", "must be two integers");
  expect_bad("A,B\n1/2,1/2/3\n", "must be two integers");
  expect_bad("A,B\n1/2,1.0/2\n", "must be two integers");
  expect_bad("A,B\n1/2,99999999999999999999/2\n", "must be two integers");
  expect_bad("A,B\n1/2,3/2\n", "a.csv:2: column B: \"3/2\" must have 0 ... 2 copies of allele 1");
  expect_bad("A,B\n1/2,-1/2\n", "must have 0 ... 2 copies of allele 1");
  expect_bad("A,B\n1/2,1/-2\n", "must have 0 ... 32766 copies");
  expect_bad("A,B\n1/2,1/32767\n", "must have 0 ... 32766 copies");
  expect_bad("A,B\n1/2,\"1/2\n", "a.csv:2: a quoted field has no end");
  expect_bad("A,weight\n1/2,-1\n", "a.csv:2: the weight \"-1\" must be a finite number >= 0");
}

TEST_F(snp_counts, options_that_the_format_does_not_have) {
  const std::string good = "A,B\n1/2,0/3\n";
  const auto expect_invalid = [&](const io::snp_read_options& options, const char* words) {
    QUINTET_EXPECT_CONTAINS(test::error_of<InvalidArgument>([&] { read(good, options); }), words);
  };
  expect_invalid({.diploid = true}, "diploid is for NEXUS and PHYLIP");
  expect_invalid(by_rule("before-first:_"), "has species already");
}

TEST_F(snp_counts, damaged_tables_do_not_crash) {
  test::expect_no_crash("A;\"B C\";weight\n1/2;0/3;2\n2/2;?;1e1\n", [&](const std::string& content) { read(content); });
}

TEST_F(snp_counts, unknown_and_missing_files) {
  QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { io::read_snp_data(file("a.xml", "x")); }),
                          "unknown extension");
  QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { io::read_snp_data(path("none.nex")); }), "cannot be read");
  QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { io::read_snp_data(file("a.csv.gz", "A\n1/2\n")); }), "gzip");
}

}  // namespace
}  // namespace quintet
