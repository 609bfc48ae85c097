// f2, f3 and f4: values by hand, the jackknife of equal and unequal blocks, what admixture does, errors.
#include "quintet/snp/markers/f_statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "quintet/snp/network/newick.hpp"
#include "quintet/snp/simulation/simulate.hpp"
#include "support/expect_error.hpp"

namespace quintet::test {
namespace {

using names = std::vector<std::string>;

// Red copies of four at every site.
snp::Data of_four_copies(const std::vector<std::vector<std::int64_t>>& sites) {
  snp::DataBuilder builder({"A", "B", "C", "D"});
  for (const auto& red : sites) builder.add_site(red, std::vector<std::int64_t>(4, 4));
  return builder.finish();
}

// The eight sites of the specification, in quarters.
const std::vector<std::vector<std::int64_t>> eight_sites{{0, 2, 4, 2}, {4, 4, 2, 0}, {1, 0, 0, 3}, {2, 1, 4, 4},
                                                         {0, 0, 1, 2}, {3, 4, 0, 0}, {4, 2, 2, 1}, {1, 2, 3, 4}};

TEST(snp_f_statistics, f4_of_eight_sites) {
  const auto f4 = snp::f_statistic_of(of_four_copies(eight_sites), names{"A", "B", "C", "D"}, {.block_sites = 2});
  EXPECT_NEAR(f4.value, -0.03125, 1e-15);
  EXPECT_NEAR(f4.standard_error, 0.0494105884, 1e-10);
  EXPECT_NEAR(f4.z, -0.6324555320, 1e-10);
  EXPECT_EQ(f4.sites, 8);
  EXPECT_EQ(f4.blocks, 4);
  const auto swapped = snp::f_statistic_of(of_four_copies(eight_sites), names{"B", "A", "C", "D"}, {.block_sites = 2});
  EXPECT_EQ(swapped.value, -f4.value);
}

// Copies of one population: corrected f2 and f3 have the mean 0, whatever the number of copies.
TEST(snp_f_statistics, are_corrected_for_few_copies) {
  double f2 = 0, f3 = 0;
  constexpr int n = 3;
  // All ways to draw three of six copies with two red ones for A, the others for B; C has the frequency of both.
  for (int red = 0; red <= 2; ++red) {
    const double ways[] = {4, 12, 4};  // C(2, red) C(4, 3 - red)
    snp::DataBuilder builder({"A", "B", "C"});
    builder.add_site(std::vector<std::int64_t>{red, 2 - red, 1}, std::vector<std::int64_t>{n, n, 3});
    const snp::Data data = builder.finish();
    f2 += ways[red] / 20 * snp::f_statistic_of(data, names{"A", "B"}).value;
    f3 += ways[red] / 20 * snp::f_statistic_of(data, names{"A", "B", "C"}).value;
  }
  EXPECT_NEAR(f2, 0, 1e-15);
  EXPECT_NEAR(f3, 0, 1e-15);
}

// Blocks of different sizes: the formula of Busing et al., written out.
TEST(snp_f_statistics, jackknife_weighs_blocks) {
  const snp::Data data = of_four_copies(eight_sites);
  const std::vector<std::int64_t> block{7, 7, 7, 2, 2, 9, 9, 9};
  const auto f4 = snp::f_statistic_of(data, names{"A", "B", "C", "D"}, {.block_of_site = block});
  std::vector<double> values;
  for (const auto& red : eight_sites) values.push_back(double((red[0] - red[1]) * (red[2] - red[3])) / 16);
  double all = 0, pseudo_mean = 0, variance = 0;
  for (const double x : values) all += x / 8;
  std::vector<double> pseudo, shares;
  for (const std::int64_t name : {7, 2, 9}) {
    double sum = 0, sites = 0;
    for (std::size_t i = 0; i < 8; ++i)
      if (block[i] != name) sum += values[i], ++sites;
    const double share = 8 / (8 - sites), left = sum / sites;
    shares.push_back(share);
    pseudo.push_back(share * all - (share - 1) * left);
    pseudo_mean += pseudo.back() / share;
  }
  for (std::size_t b = 0; b < 3; ++b)
    variance += (pseudo[b] - pseudo_mean) * (pseudo[b] - pseudo_mean) / (shares[b] - 1) / 3;
  EXPECT_NEAR(f4.standard_error, std::sqrt(variance), 1e-15);
}

TEST(snp_f_statistics, see_admixture) {
  const snp::simulate_options options{.copies = {10, 10, 10, 10}, .sites = 4000, .seed = 2};
  const auto z_of = [&](const char* newick, const names& species) {
    const snp::Data data = snp::simulate(snp::parse_newick(newick, {.theta = 0.02}), options);
    return snp::f_statistic_of(data, species, {.block_sites = 20}).z;
  };
  const char* tree = "((A:0.02,B:0.02):0.02,(C:0.02,D:0.02):0.02);";
  const char* hybrid = "((A:0.0022,(B:0.0002)#H1:0.002::0.6):0.0378,((C:0.0022,#H1:0.002::0.4):0.0178,D:0.02):0.02);";
  EXPECT_LT(std::fabs(z_of(tree, {"A", "B", "C", "D"})), 4);
  EXPECT_GT(std::fabs(z_of(hybrid, {"A", "B", "C", "D"})), 6);
  EXPECT_LT(z_of(hybrid, {"B", "A", "C"}), -3);
  EXPECT_GT(z_of(tree, {"B", "A", "C"}), 0);
}

TEST(snp_f_statistics, all_of_them) {
  const snp::Data data = of_four_copies(eight_sites);
  const auto all = snp::f_statistics(data, {.block_sites = 2});
  EXPECT_EQ(all.size(), 6u + 12u + 3u);
  EXPECT_EQ(all.back().species, (names{"A", "D", "B", "C"}));
  for (const auto& one : all) EXPECT_EQ(one.value, snp::f_statistic_of(data, one.species, {.block_sites = 2}).value);
  // f4 of the three orders add to 0.
  EXPECT_NEAR(all[18].value - all[19].value + all[20].value, 0, 1e-15);
}

TEST(snp_f_statistics, sites_without_copies_do_not_count) {
  snp::DataBuilder builder({"A", "B"}, {.empty = snp::empty_species::keep});
  builder.add_site(std::vector<std::int64_t>{1, 0}, std::vector<std::int64_t>{2, 2});
  builder.add_site(std::vector<std::int64_t>{1, 0}, std::vector<std::int64_t>{1, 2});
  builder.add_site(std::vector<std::int64_t>{1, 0}, std::vector<std::int64_t>{2, 0});
  const auto f2 = snp::f_statistic_of(builder.finish(), names{"A", "B"});
  EXPECT_EQ(f2.sites, 1);
  EXPECT_EQ(f2.value, 0);  // 1/4 less 1/4
  EXPECT_TRUE(std::isnan(f2.standard_error));
}

TEST(snp_f_statistics, errors) {
  const snp::Data data = of_four_copies(eight_sites);
  const auto fails = [&](const names& species, const std::string& words) {
    expect_invalid([&] { snp::f_statistic_of(data, species); }, words);
  };
  fails({"A"}, "2, 3 or 4");
  fails({"A", "Z"}, "a species of the data");
  fails({"A", "A"}, "different ones");
  expect_invalid([&] { snp::f_statistics(data, {.block_sites = 0}); }, "block_sites must be >= 1");
  expect_invalid([&] { snp::f_statistics(data, {.block_of_site = {1}}); }, "size of block_of_site");
  snp::DataBuilder dominant({"A", "B"}, {.dominant = true});
  dominant.add_site(std::vector<std::int64_t>{1, 0}, std::vector<std::int64_t>{2, 2});
  expect_invalid([&] { snp::f_statistics(dominant.finish()); }, "dominant");
  snp::DataBuilder weighted({"A", "B"});
  weighted.add_site(std::vector<std::int64_t>{1, 0}, std::vector<std::int64_t>{2, 2}, 2.5);
  expect_invalid([&] { snp::f_statistics(weighted.finish()); }, "weights");
}

}  // namespace
}  // namespace quintet::test
