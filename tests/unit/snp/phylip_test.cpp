// Biallelic data in PHYLIP-like files.
#include "unit/snp/read_test.hpp"

namespace quintet {
namespace {

class snp_phylip : public test::snp_reading {
 protected:
  snp_phylip() : snp_reading("phy") {}
};

const char* const expected = "a,b: 0/1 0/1; 1/1 0/1; 0/1 1/1; 1/1 1/1";

TEST_F(snp_phylip, sequential_and_interleaved) {
  EXPECT_EQ(read("2 4\na 0101\nb 0011\n"), expected);
  EXPECT_EQ(read(" 2   4 \n\na   01 01\n\nb\t0011"), expected);
  EXPECT_EQ(read("2 4\na 01\n01\nb\n00\n11\n"), expected);
  EXPECT_EQ(read("2 4\r\na 01\r\nb 00\r\n\r\n01\r\n11\r\n"), expected);
}

TEST_F(snp_phylip, diploids_missing_states_and_species) {
  EXPECT_EQ(read("3 3\na_1 01N\nb_1 2?0\na_2 -12\n",
                 {.populations = io::population_map::from_rule("before-first:_"), .diploid = true}),
            "a,b: 0/2 2/2; dropped; 2/2 0/2");
}

TEST_F(snp_phylip, bad_files_tell_line_and_reason) {
  expect_bad("", "is empty");
  expect_bad("a 0101\n", "a.phy:1: the first line must be two integers >= 1");
  expect_bad("0 4\n", "a.phy:1: the first line");
  expect_bad("2 4 I\na 0101\n", "a.phy:1: the first line");
  expect_bad("2 4\n", "the file ends before the first individual");
  expect_bad("2 4\na 0101\n", "the file ends after 1 of 2 individuals");
  expect_bad("2 4\na 0101\nb 001\n", "b has 3 of 4 states");
  expect_bad("2 4\na 0101\nb 00111\n", "a.phy:3: b has more states than the 4 announced");
  expect_bad("2 4\na 0101\nb 0011\nc 0011\n", "a.phy:4: more lines than the 2 individuals announced need");
  expect_bad("2 4\na 0101\na 0011\n", "a.phy:3: the individual a comes a second time");
  expect_bad("2 4\na 0121\nb 0011\n", "a.phy:2: state 3 of a: the state 2 is a genotype of diploids");
  expect_bad("2 4\na ACGT\nb ACGT\n", "a.phy:2: state 1 of a: \"A\" is no state");
  expect_bad("2 900000000000000\na 0101\nb 0011\n", "a has 4 of 900000000000000 states");
}

TEST_F(snp_phylip, damaged_files_do_not_crash) {
  for (const char* good : {"2 4\na 01\n01\nb\n00\n11\n", "2 4\na 01\nb 00\n\n01\n11\n"})
    test::expect_no_crash(good, [&](const std::string& content) { read(content); });
}

}  // namespace
}  // namespace quintet
