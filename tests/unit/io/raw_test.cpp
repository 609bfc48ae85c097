// PLINK's table of additive genotypes.
#include "unit/io/read_test.hpp"

#include <algorithm>

namespace quintet {
namespace {

class snp_raw : public test::snp_reading {
 protected:
  snp_raw() : snp_reading("raw") {}
};

const std::string plink_header = "FID IID PAT MAT SEX PHENOTYPE s0_T s1_G s2_A\n";
const std::string plink_rows = "A a_1 0 0 0 -9 0 1 NA\nA a_2 0 0 0 -9 2 1 NA\nB b_1 0 0 0 -9 0 2 1\n";

TEST_F(snp_raw, families_or_individuals_are_sorted_into_species) {
  EXPECT_EQ(read(plink_header + plink_rows), "A,B: 2/4 0/2; 2/4 2/2; dropped");
  EXPECT_EQ(read(plink_header + plink_rows, by_rule("before-first:_")), "a,b: 2/4 0/2; 2/4 2/2; dropped");
  std::string tabs = plink_header + plink_rows;
  std::replace(tabs.begin(), tabs.end(), ' ', '\t');
  EXPECT_EQ(read(tabs), "A,B: 2/4 0/2; 2/4 2/2; dropped");
  // Individuals of two families may have one name.
  EXPECT_EQ(read(plink_header + "A 1 0 0 0 -9 0 1 2\nB 1 0 0 0 -9 2 1 1\n"), "A,B: 0/2 2/2; 1/2 1/2; 2/2 1/2");
}

TEST_F(snp_raw, what_is_no_table_of_plink) {
  expect_bad("", "a.raw: is empty");
  expect_bad("FID IID s0_T\nA a 1\n", "a.raw:1: the header must be FID IID PAT MAT SEX PHENOTYPE");
  expect_bad("FID IID PAT MAT SEX PHENOTYPE s0_T s0_HET\n", "the column s0_HET is of PLINK's --recode AD");
  expect_bad(plink_header, "the file has no individuals");
  expect_bad(plink_header + "A a 0 0 0 -9 0 1\n", "a.raw:2: this line has 8 columns, the header 9");
  expect_bad(plink_header + "A a 0 0 0 -9 0 1 3\n", "a.raw:2: a has \"3\" at s2_A; genotypes are 0, 1 and 2");
  expect_bad(plink_header + "A a 0 0 0 -9 0 1 2\nA a 0 0 0 -9 0 1 2\n", "the individual a comes a second time");
  EXPECT_THROW(read(plink_header + plink_rows, {.diploid = true}), InvalidArgument);
  EXPECT_THROW(read(plink_header + plink_rows, {.dominant = true}), InvalidArgument);
  EXPECT_THROW(read(plink_header + plink_rows, {.thin_distance = 5}), InvalidArgument);
  test::expect_no_crash(plink_header + plink_rows, [&](const std::string& content) { data(content); });
}

// 4 of 6 copies at the third site: a third is missing.
TEST_F(snp_raw, sites_with_too_much_missing) {
  const std::string file_text = plink_header + "A 1 0 0 0 -9 0 1 NA\nA 2 0 0 0 -9 0 1 1\nB 1 0 0 0 -9 2 NA 1\n";
  const auto kept = [&](double share) {
    const io::snp_input input = io::read_snp_data(file("m.raw", file_text), {.max_missing = share});
    return test::counts_text(input.data) + " " + std::to_string(input.report.too_much_missing);
  };
  EXPECT_EQ(kept(1), "A,B: 0/4 2/2; dropped; 1/2 1/2 0");
  EXPECT_EQ(kept(1. / 3), "A,B: 0/4 2/2; dropped; 1/2 1/2 0");
  EXPECT_EQ(kept(0.33), "A,B: 0/4 2/2; dropped 1");
  EXPECT_EQ(kept(0), "A,B: 0/4 2/2; dropped 1");
  EXPECT_THROW(kept(1.5), InvalidArgument);
}

}  // namespace
}  // namespace quintet
