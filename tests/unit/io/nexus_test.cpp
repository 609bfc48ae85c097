// Biallelic data in NEXUS files.
#include "unit/io/read_test.hpp"

namespace quintet {
namespace {

class snp_nexus : public test::snp_reading {
 protected:
  snp_nexus() : snp_reading("nex") {}

  static std::string nexus(const std::string& format, const std::string& matrix, int sites = 4) {
    return "#NEXUS\nBegin data;\n\tDimensions nchar=" + std::to_string(sites) + ";\n\tFormat " + format +
           ";\n\tMatrix\n" + matrix + ";\nEnd;\n";
  }
  static inline const std::string binary = "datatype=binary symbols=\"01\" gap=-";
};

TEST_F(snp_nexus, individuals_of_a_species_are_summed) {
  EXPECT_EQ(read(nexus(binary, "a_1 0101\nb_1 0011\na_2 01?-\n"), by_rule("before-first:_")),
            "a,b: 0/2 0/1; 2/2 0/1; 0/1 1/1; 1/1 1/1");
  EXPECT_EQ(read(nexus(binary, "x_1_a 0101\ny_b 0011\n"), by_rule("after-last:_")),
            "a,b: 0/1 0/1; 1/1 0/1; 0/1 1/1; 1/1 1/1");
  EXPECT_EQ(read(nexus(binary, "a 0101\nb 0011")), "a,b: 0/1 0/1; 1/1 0/1; 0/1 1/1; 1/1 1/1");
}

TEST_F(snp_nexus, genotypes_are_of_diploids) {
  const std::string expected = "a,b: 0/2 2/2; 1/2 1/2; 2/2 0/2; dropped";
  EXPECT_EQ(read(nexus("datatype=integerdata symbols=\"012\" gap=-", "a\t012-\r\nb 2100\n")), expected);
  EXPECT_EQ(read(nexus("datatype=standard symbols=\"0 1 2\"", "a 012-\nb 2100\n")), expected);
  EXPECT_EQ(read(nexus("datatype=snp", "a 012-\nb 2100\n")), expected);
  EXPECT_EQ(read(nexus("datatype=snp", "a 0110\nb 1100\n")), "a,b: 0/2 1/2; 1/2 1/2; 1/2 0/2; 0/2 0/2");
  EXPECT_EQ(read(nexus("datatype=snp symbols=\"01\"", "a 0110\nb 1100\n")), "a,b: 0/1 1/1; 1/1 1/1; 1/1 0/1; 0/1 0/1");
  EXPECT_EQ(read(nexus("datatype=snp", "a 0110\nb 1100\n"), {.haploid = true}),
            "a,b: 0/1 1/1; 1/1 1/1; 1/1 0/1; 0/1 0/1");
  EXPECT_TRUE(io::read_snp_data(file("h.nex", nexus("datatype=snp", "a 0110\nb 1100\n"))).report.assumed_diploid);
  EXPECT_FALSE(io::read_snp_data(file("h.nex", nexus("datatype=snp", "a 0210\nb 1100\n"))).report.assumed_diploid);
  const snp::Data two =
      data(nexus("datatype=integerdata", "a_1 012-\na_2 -10-\nb_1 2100\n"), by_rule("before-first:_"));
  EXPECT_EQ(std::vector<std::int64_t>(two.sampled_copies().begin(), two.sampled_copies().end()),
            (std::vector<std::int64_t>{4, 2}));
}

TEST_F(snp_nexus, a_format_may_be_named) {
  const std::string path = file("markers", nexus(binary, "a 01\nb 10\n", 2));
  EXPECT_EQ(test::counts_text(io::read_snp_data(path, {.format = io::marker_format::nexus}).data),
            "a,b: 0/1 1/1; 1/1 0/1");
  QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { io::read_snp_data(path); }), "unknown extension");
  QUINTET_EXPECT_CONTAINS(
      test::error_of<FileError>([&] { io::read_snp_data(path, {.format = io::marker_format::table}); }), "markers:2: ");
}

TEST_F(snp_nexus, formats_of_other_programs) {
  const std::string expected = "a,b: 0/2 2/2; 1/2 1/2; 2/2 0/2; dropped";
  EXPECT_EQ(read(nexus("datatype=standard symbols=\"012\" labels=left transpose=no interleave=no", "a 012-\nb 2100\n")),
            expected);
  EXPECT_EQ(read(nexus("datatype=dna symbols=\"012\" missing=? gap=-", "a 012-\nb 2100\n")), expected);
  EXPECT_EQ(read(nexus("symbols=\"012\" equate=\"x=0 Y=2 z=?\"", "a x12z\nb Y1x0\n")), expected);
  EXPECT_EQ(read(nexus("datatype=dna symbols=\"01\"", "a 01\nb 10\n", 2)), "a,b: 0/1 1/1; 1/1 0/1");
  expect_bad(nexus("datatype=dna symbols=\"012\"", "a 01\nb 10\n", 2), "may be of diploids or haploids");
  expect_bad(nexus("labels=right", "01 a\n", 2), "FORMAT labels=right is not supported");
  expect_bad(nexus("transpose", "a 01\n", 2), "FORMAT transpose is not supported");
  expect_bad(nexus("equate=\"R={AG}\"", "a 01\n", 2), "EQUATE must be pairs of characters");
  expect_bad(nexus("equate=\"R=x\"", "a 01\n", 2), "EQUATE: \"x\" is no state");
  expect_bad(nexus("symbols=\"012\"", "ind a 01\nind b 10\n", 2), "a name with blanks must stand in quotes");
}

TEST_F(snp_nexus, bases_become_counts) {
  EXPECT_EQ(read(nexus("datatype=dna missing=? gap=- matchchar=.", "a ACGT\nb .T.-\n")),
            "a,b: 0/1 0/1; 0/1 1/1; 0/1 0/1; dropped");
  EXPECT_EQ(read(nexus("datatype=nucleotide", "a RRAT\nb GGGT\n"), {.diploid = true}),
            "a,b: 1/2 0/2; 1/2 0/2; 0/2 2/2; 0/2 0/2");
  expect_bad(nexus("datatype=dna", "a ACG1\nb ACGT\n"), "\"1\" is no base");
  expect_bad(nexus("datatype=dna", "a ACGT\nb ACGT\n"), "dominant markers have the states 0 and 1", {.dominant = true});
}

TEST_F(snp_nexus, dominant_markers_count_individuals_with_the_band) {
  EXPECT_EQ(
      read(nexus(binary, "a_1 011?\na_2 001?\nb 1100\n"),
           {.populations = io::population_map::from_file(file("m.csv", "a_1,a\na_2,a\nb,b\n")), .dominant = true}),
      "a,b: 0/4 1/2; 1/4 1/2; 2/4 0/2; dropped");
}

TEST_F(snp_nexus, sites_without_a_species_are_kept_on_demand) {
  EXPECT_EQ(read(nexus(binary, "a 01-1\nb 0?11\n"), {.empty = snp::empty_species::keep}),
            "a,b: 0/1 0/1; 1/1 0/0; 0/0 1/1; 1/1 1/1");
}

TEST_F(snp_nexus, layout_is_free) {
  const std::string expected = "a b,c: 0/1 0/1; 1/1 0/1; 0/1 1/1; 1/1 1/1";
  EXPECT_EQ(read(nexus(binary, "'a b'\n01 0\n\n1\nc [com[ment]]\n00[x]11")), expected);
  EXPECT_EQ(read(nexus(binary + " interleave", "'a b' 01\nc 00\n\n'a b' 01\nc 11\n")), expected);
  EXPECT_EQ(read(nexus(binary + " interleave=yes", "'a b' 0101\nc 0011\n")), expected);
  EXPECT_EQ(read(nexus(binary + " interleave = no", "'a b' 0101\nc 0011\n")), expected);
  EXPECT_EQ(read(nexus(binary + " matchchar=.", "'a b' 0101\nc .01.\n")), expected);
  EXPECT_EQ(read(nexus(binary + " missing=X matchchar=.", "'a b' 010X\nc ..1.\n"), {.empty = snp::empty_species::keep}),
            "a b,c: 0/1 0/1; 1/1 1/1; 0/1 1/1; 0/0 0/0");
}

TEST_F(snp_nexus, other_blocks_and_commands_are_skipped) {
  EXPECT_EQ(
      read("#nexus [hello]\nBEGIN TAXA; DIMENSIONS NTAX=2; TAXLABELS a 'b;'; END;\n"
           "BEGIN CHARACTERS; TITLE 'x;y'; DIMENSIONS NTAX=2 NCHAR=2;\nFORMAT DATATYPE=STANDARD RESPECTCASE MISSING=? "
           "GAP=- SYMBOLS=\"  0 1\";\nCHARSTATELABELS 1 x / 'a' b;\nMATRIX\na 01\n'b;' 11;\nENDBLOCK;\n"
           "BEGIN TREES; Tree net = ((C:.1, (B:.05)#H0[&gamma=.7]:.05)I1:.1)I3; END;\n"),
      "a,b;: 0/1 1/1; 1/1 1/1");
}

TEST_F(snp_nexus, bad_files_tell_line_and_reason) {
  expect_bad("", "a.nex:0: no NEXUS file");
  expect_bad("0101\n", "a.nex:1: no NEXUS file");
  expect_bad("#NEXUS\nfoo;\n", "a.nex:2: \"BEGIN\" should stand here, not \"foo\"");
  expect_bad("#NEXUS\n", "has no MATRIX");
  expect_bad("#NEXUS\nBegin data;\nDimensions nchar=4;\n", "a.nex:2: the block data begins here and has no END");
  expect_bad("#NEXUS\nBegin data;\nMatrix\na 01;\nEnd;", "a.nex:3: MATRIX comes before DIMENSIONS");
  expect_bad("#NEXUS\nBegin data;\nDimensions nchar=x;\n", "a.nex:3: nchar=x must be an integer >= 1");
  expect_bad("#NEXUS\nBegin data;\nDimensions nchar 4;\n", "a.nex:3: \"nchar\" needs a value");
  expect_bad("#NEXUS\n[never ends", "a.nex:2: a comment begins here");
  expect_bad(nexus("datatype=protein", "a ACGT\n"), "a.nex:4: datatype=protein is not supported");
  expect_bad(nexus(binary + " eliminate=2", "a 0101\n"), "a.nex:4: FORMAT eliminate is not supported");
  expect_bad(nexus(binary + " transpose", "a 0101\n"), "FORMAT transpose is not supported");
  expect_bad(nexus(binary, "a 0121\nb 0000\n"), "a.nex:6: state 3 of a: the state 2 is a genotype of diploids");
  expect_bad(nexus(binary, "a 01x1\nb 0000\n"), "a.nex:6: state 3 of a: \"x\" is no state");
  expect_bad(nexus(binary, "a 01{01}1\nb 0000\n"), "states in parentheses or braces");
  expect_bad(nexus(binary, "a 01.1\nb 0000\n"), "matchchar=.");
  expect_bad(nexus(binary, "a 010\nb 0000\n"),
             "a.nex:7: state 4 of a: \"b\" is no state; states are 0 and 1, missing ones ? and "
             "-; this individual has 3 of 4 states, or the matrix is interleaved");
  expect_bad(nexus(binary, "a 0101\nb 000\n"), "b has 3 states, not nchar=4");
  expect_bad(nexus(binary, "a 01011\nb 0000\n"), "a.nex:6: a has more states than nchar=4");
  expect_bad(nexus(binary, "a 0101\na 0000\n"), "a.nex:7: the individual a comes a second time");
  expect_bad(nexus(binary, ""), "MATRIX has no individuals");
  expect_bad(nexus(binary + " interleave", "a 01\nb 01\na 0\nb 01\n"), "a has 3 states, not nchar=4");
  expect_bad(nexus(binary + " interleave", "a 01\nb 01\na 010\n"), "a.nex:8: a has more states than nchar=4");
  expect_bad(nexus(binary + " matchchar=.", "a .101\n"), "state 1 of a is that of the first individual");
  expect_bad("#NEXUS\nBegin data;\nDimensions ntax=3 nchar=1;\nMatrix\na 0\nb 1;\nEnd;",
             "2 individuals, DIMENSIONS says ntax=3");
  expect_bad("#NEXUS\nBegin data;\nDimensions nchar=1;\nMatrix\na 0\nb 1;\nMatrix a 0;\nEnd;",
             "a.nex:7: a second MATRIX");
  expect_bad("#NEXUS\nBegin data;\nDimensions nchar=1;\nMatrix\na 0\nb 1\n", "the file ends within MATRIX");
}

TEST_F(snp_nexus, headers_that_lie_cost_no_memory) {
  expect_bad(nexus(binary, "a 0101\n").replace(37, 1, "9000000000000000000"), "not nchar=9000000000000000000");
}

TEST_F(snp_nexus, diploid_and_dominant_exclude_each_other) {
  EXPECT_THROW(read(nexus(binary, "a 0101\n"), {.diploid = true, .dominant = true}), InvalidArgument);
}

TEST_F(snp_nexus, damaged_files_do_not_crash) {
  test::expect_no_crash(nexus(binary + " interleave matchchar=.", "'a b' 01\nc [x] 00\n\n'a b' .1\nc 1-\n"),
                        [&](const std::string& content) { read(content); });
}

}  // namespace
}  // namespace quintet
