#include "quintet/snp/markers/data.hpp"

#include <gtest/gtest.h>

#include <map>

#include "quintet/core/philox.hpp"
#include "support/network_error.hpp"
#include "support/snp_text.hpp"

namespace quintet {
namespace {

using snp::Data;
using snp::DataBuilder;
using snp::pattern_kind;
using counts = std::vector<std::int64_t>;

counts list(std::span<const std::int64_t> items) { return {items.begin(), items.end()}; }

TEST(snp_data, sites_of_equal_counts_are_one_pattern) {
  DataBuilder builder({"A", "B"});
  builder.add_site(counts{1, 0}, counts{2, 3});
  builder.add_site(counts{0, 0}, counts{2, 3});
  builder.add_site(counts{1, 0}, counts{2, 3}, 2.5);
  builder.add_site(counts{1, 0}, counts{2, 2});
  builder.add_site(counts{2, 3}, counts{2, 3});
  const Data data = builder.finish();
  EXPECT_EQ(data.patterns(), 4);
  EXPECT_EQ(data.sites(), 5);
  EXPECT_EQ(data.given_sites(), 5);
  EXPECT_EQ(list(data.pattern_of_site()), (counts{0, 1, 0, 2, 3}));
  EXPECT_EQ((std::vector<double>(data.weights().begin(), data.weights().end())), (std::vector<double>{3.5, 1, 1, 1}));
  EXPECT_EQ(data.red(0, 0), 1);
  EXPECT_EQ(data.copies(0, 1), 3);
  EXPECT_EQ(data.copies(2, 1), 2);
  EXPECT_EQ(data.kind(0), pattern_kind::polymorphic);
  EXPECT_EQ(data.kind(1), pattern_kind::all_zero);
  EXPECT_EQ(data.kind(3), pattern_kind::all_one);
  EXPECT_EQ(data.weight_of(pattern_kind::polymorphic), 4.5);
  EXPECT_EQ(data.weight_of(pattern_kind::all_zero), 1);
  EXPECT_EQ(list(data.sampled_copies()), (counts{2, 3}));
  EXPECT_EQ(list(data.max_copies()), (counts{2, 3}));
}

TEST(snp_data, sites_without_copies_of_a_species) {
  const auto made = [](snp::empty_species empty) {
    DataBuilder builder({"A", "B"}, {.empty = empty});
    builder.add_site(counts{1, 0}, counts{2, 0});
    builder.add_site(counts{1, 1}, counts{2, 1});
    builder.add_site(counts{0, 0}, counts{0, 0});
    builder.add_site(counts{2, 0}, counts{2, 0});
    return builder.finish();
  };
  const Data dropped = made(snp::empty_species::drop);
  EXPECT_EQ(dropped.sites(), 1);
  EXPECT_EQ(dropped.given_sites(), 4);
  EXPECT_EQ(list(dropped.pattern_of_site()), (counts{-1, 0, -1, -1}));
  ASSERT_EQ(dropped.dropped_sites().size(), 3u);
  EXPECT_EQ(dropped.dropped_sites()[0].site, 0);
  EXPECT_EQ(dropped.dropped_sites()[0].species, 1);
  EXPECT_EQ(dropped.dropped_sites()[1].site, 2);
  EXPECT_EQ(dropped.dropped_sites()[1].species, 0);
  const Data kept = made(snp::empty_species::keep);
  EXPECT_EQ(kept.sites(), 4);
  EXPECT_TRUE(kept.dropped_sites().empty());
  EXPECT_EQ(kept.kind(0), pattern_kind::polymorphic);
  EXPECT_EQ(kept.kind(2), pattern_kind::unobserved);
  EXPECT_EQ(kept.kind(3), pattern_kind::all_one);
}

TEST(snp_data, dominant_counts_are_of_individuals) {
  DataBuilder builder({"A", "B"}, {.dominant = true});
  builder.add_site(counts{2, 1}, counts{4, 2});
  builder.add_site(counts{2, 0}, counts{4, 2});
  const Data data = builder.finish();
  EXPECT_TRUE(data.dominant());
  EXPECT_EQ(data.kind(0), pattern_kind::all_one);
  EXPECT_EQ(data.kind(1), pattern_kind::polymorphic);
  DataBuilder other({"A"}, {.dominant = true});
  expect_invalid([&] { other.add_site(counts{1}, counts{3}); }, "must be even");
  expect_invalid([&] { other.add_site(counts{3}, counts{4}); }, "red must be in [0, 2], the number of individuals");
}

TEST(snp_data, agrees_with_a_map_of_patterns) {
  random_stream random(7);
  const std::size_t species = 4;
  DataBuilder builder({"A", "B", "C", "D"});
  std::map<counts, double> weights;
  std::vector<counts> sites;
  for (int site = 0; site < 3000; ++site) {
    counts red, copies;
    for (std::size_t s = 0; s < species; ++s) {
      copies.push_back(1 + random.below(2));
      red.push_back(random.below(static_cast<std::uint32_t>(copies.back()) + 1));
    }
    builder.add_site(red, copies);
    red.insert(red.end(), copies.begin(), copies.end());
    weights[red] += 1;
    sites.push_back(red);
  }
  const Data data = builder.finish();
  ASSERT_EQ(data.patterns(), std::int64_t(weights.size()));
  for (std::size_t site = 0; site < sites.size(); ++site) {
    const std::int64_t p = data.pattern_of_site()[site];
    counts row;
    for (std::int64_t s = 0; s < 4; ++s) row.push_back(data.red(p, s));
    for (std::int64_t s = 0; s < 4; ++s) row.push_back(data.copies(p, s));
    ASSERT_EQ(row, sites[site]);
    ASSERT_EQ(data.weight(p), weights[row]);
  }
}

TEST(snp_data, bad_sites_change_nothing) {
  DataBuilder builder({"A", "B"});
  expect_invalid([&] { builder.add_site(counts{1}, counts{1, 1}); }, "size of red must be 2");
  expect_invalid([&] { builder.add_site(counts{1, 1}, counts{1}); }, "size of copies must be 2");
  expect_invalid([&] { builder.add_site(counts{1, 2}, counts{1, 1}); }, "species B: red=2");
  expect_invalid([&] { builder.add_site(counts{-1, 0}, counts{1, 1}); }, "species A: red=-1");
  expect_invalid([&] { builder.add_site(counts{0, 0}, counts{1, -1}); }, "species B: copies=-1");
  expect_invalid([&] { builder.add_site(counts{0, 0}, counts{1, 32767}); }, "copies must be in [0, 32766]");
  expect_invalid([&] { builder.add_site(counts{0, 0}, counts{1, 1}, -1); }, "weight must be finite and >= 0");
  expect_invalid([&] { builder.add_site(counts{0, 0}, counts{1, 1}, snp::unset); }, "weight");
  const Data data = builder.finish();
  EXPECT_EQ(data.given_sites(), 0);
  EXPECT_EQ(data.patterns(), 0);
}

TEST(snp_data, bad_species_and_samples) {
  expect_invalid([] { DataBuilder({}); }, "at least one");
  expect_invalid([] { DataBuilder({"A", ""}); }, "must have names");
  expect_invalid([] { DataBuilder({"A", "B", "A"}); }, "(A twice)");
  DataBuilder builder({"A"});
  builder.add_site(counts{1}, counts{3});
  expect_invalid([&] { builder.finish({2}); }, "species A: sampled_copies=2, a site has 3");
  expect_invalid([&] { builder.finish({2, 2}); }, "size of sampled_copies");
  expect_invalid([&] { builder.finish({65540}); }, "sampled_copies must be at most 32766 (species A");
  EXPECT_EQ(list(builder.finish({5}).sampled_copies()), counts{5});
}

TEST(snp_data, columns_of_leaves_match_by_name) {
  const snp::Network network({{"B", "A", "r"}, {{2, 0, 1, 1}, {2, 1, 1, 1}}, 1});
  const auto data_of = [](std::vector<std::string> species) { return DataBuilder(std::move(species)).finish(); };
  EXPECT_EQ(columns_of_leaves(network, data_of({"A", "B"})), (counts{1, 0}));
  const auto unknown = snp::NetworkError::rule::unknown_taxon;
  test::expect_network_error([&] { columns_of_leaves(network, data_of({"A", "B", "C"})); }, unknown,
                             "species of the data that are no leaves: C");
  test::expect_network_error([&] { columns_of_leaves(network, data_of({"A", "D"})); }, unknown,
                             "leaves of the network without data: B; species of the data that are no leaves: D");
}

TEST(data, selected_sites) {
  snp::DataBuilder builder({"A", "B"});
  const auto add = [&](std::int64_t a, std::int64_t b, std::int64_t copies_of_b) {
    builder.add_site(std::vector<std::int64_t>{a, b}, std::vector<std::int64_t>{2, copies_of_b});
  };
  add(0, 1, 2), add(1, 1, 3), add(0, 0, 0), add(0, 1, 2);
  const snp::Data data = builder.finish(std::vector<std::int64_t>{4, 4});
  const snp::Data chosen = snp::select_sites(data, std::vector<std::int64_t>{3, 2, 3, 0});
  EXPECT_EQ(test::counts_text(chosen), "A,B: 0/2 1/2; dropped; 0/2 1/2; 0/2 1/2");
  ASSERT_EQ(chosen.patterns(), 1);
  EXPECT_EQ(chosen.weight(0), 3);
  EXPECT_EQ(chosen.sites(), 3);
  ASSERT_EQ(chosen.dropped_sites().size(), 1u);
  EXPECT_EQ(chosen.dropped_sites()[0].site, 1);
  EXPECT_EQ(chosen.dropped_sites()[0].species, 1);
  EXPECT_EQ(chosen.sampled_copies()[1], 4);
  EXPECT_EQ(chosen.max_copies()[1], 2);
  const snp::Data both = snp::select_sites(data, std::vector<std::int64_t>{1, 0});
  EXPECT_EQ(test::counts_text(both), "A,B: 1/2 1/3; 0/2 1/2");
  EXPECT_EQ(both.max_copies()[1], 3);
  expect_invalid([&] { snp::select_sites(data, std::vector<std::int64_t>{4}); }, "site must be in [0, 4) (site=4)");
  snp::DataBuilder weighted({"A"});
  weighted.add_site(std::vector<std::int64_t>{1}, std::vector<std::int64_t>{2}, 2.5);
  const snp::Data heavy = weighted.finish();
  expect_invalid([&] { snp::select_sites(heavy, std::vector<std::int64_t>{0}); }, "sites with weights");
}

}  // namespace
}  // namespace quintet
