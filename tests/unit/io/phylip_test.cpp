// Biallelic data in PHYLIP-like files.
#include "unit/io/read_test.hpp"

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

TEST_F(snp_phylip, strict_names_have_ten_characters) {
  EXPECT_EQ(read("2 4\nindivid_a10101\nindivid_b10011\n"), "individ_a1,individ_b1: 0/1 0/1; 1/1 0/1; 0/1 1/1; 1/1 1/1");
  EXPECT_EQ(read("2 4\nind x 1   0101\nindivid_b10011\n"), "ind x 1,individ_b1: 0/1 0/1; 1/1 0/1; 0/1 1/1; 1/1 1/1");
  EXPECT_EQ(read("2 4\nlong_name_0\n0101\nb 0011\n"), "long_name_0,b: 0/1 0/1; 1/1 0/1; 0/1 1/1; 1/1 1/1");
}

TEST_F(snp_phylip, diploids_missing_states_and_species) {
  EXPECT_EQ(read("3 3\na_1 01N\nb_1 2?0\na_2 -12\n",
                 {.populations = io::population_map::from_rule("before-first:_"), .diploid = true}),
            "a,b: 0/2 2/2; dropped; 2/2 0/2");
}

// The rarer base is allele 1, of equally frequent ones the later; three bases are too many.
TEST_F(snp_phylip, bases_of_haploids) {
  const std::string file = "4 6\na_1 ACGTAA\na_2 ACgTA-\nb_1 CCTNCR\nb_2 ACTTGN\n";
  const io::snp_read_options options{.populations = io::population_map::from_rule("before-first:_"),
                                     .nucleotides = true};
  EXPECT_EQ(read(file, options), "a,b: 0/2 1/2; 0/2 0/2; 0/2 2/2; 0/2 0/1; dropped");
  const io::snp_input input = io::read_snp_data(this->file("b.phy", file), options);
  EXPECT_EQ(input.report.nucleotide_sites, 6);
  EXPECT_EQ(input.report.several_bases, 1);  // A, C and G at the fifth
  EXPECT_EQ(input.report.ambiguous, 1);      // R
}

TEST_F(snp_phylip, bases_of_diploids) {
  EXPECT_EQ(read("2 5\na ARR*Y\nb GGR?T\n", {.diploid = true, .nucleotides = true, .empty = snp::empty_species::keep}),
            "a,b: 0/2 2/2; 1/2 0/2; 1/2 1/2; 0/0 0/0; 1/2 0/2");
  expect_bad("2 1\na E\nb G\n", "\"E\" is no base", {.nucleotides = true});
  expect_bad("2 1\na A\nb G\n", "bases are read with the option nucleotides");
}

TEST_F(snp_phylip, a_limit_on_individuals_takes_the_first) {
  const std::string file = "5 2\na_1 01\nb_1 11\na_2 00\na_3 11\nb_2 10\n";
  io::snp_read_options options{.populations = io::population_map::from_rule("before-first:_"), .individuals = 2};
  EXPECT_EQ(read(file, options), "a,b: 0/2 2/2; 1/2 1/2");
  EXPECT_EQ(io::read_snp_data(this->file("c.phy", file), options).report.over_limit, 1);
  options.individuals = 1;
  EXPECT_EQ(read(file, options), "a,b: 0/1 1/1; 1/1 1/1");
  options.individuals = 9;
  EXPECT_EQ(read(file, options), "a,b: 1/3 2/2; 2/3 1/2");
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
