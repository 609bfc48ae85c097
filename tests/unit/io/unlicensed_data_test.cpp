// Files of SnappNet and its simulator, whose repositories state no terms: they are no part of this project, and the
// tests are skipped without them. Expected log-likelihoods: brute force, SNAPP, SnappNet, PhyloNet; drawn/ has files of
// the same shapes that travel.
#include <cmath>
#include <filesystem>

#include "quintet/io/snp_network.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "support/devices.hpp"
#include "support/near.hpp"
#include "support/snp_cases.hpp"
#include "unit/io/read_test.hpp"

namespace quintet::test {
namespace {

using snp::pattern_kind;

snp::Data read(const std::string& name, const char* rule = nullptr) {
  io::snp_read_options options;
  if (rule != nullptr) options.populations = io::population_map::from_rule(rule);
  const std::filesystem::path path = std::filesystem::path("snp") / name;
  return io::read_snp_data((data_folder(path.parent_path().string()) / path.filename()).string(), options).data;
}

void expect(const std::string& name, const snp::Network& network, const snp::Data& data, const snp::model& model,
            double expected) {
  on_every_device([&](const Device& device) {
    snp::Likelihood likelihood(network, data, model, {.device = device});
    expect_error_within(name, std::fabs(likelihood.evaluate() - expected), 1e-8);
  });
}

TEST(snp_unlicensed_data, simulated_networks) {
  QUINTET_SKIP_WITHOUT(data_folder("snp/sim"));
  EXPECT_EQ(read("sim/netA_counts.csv").patterns(), 43);
  EXPECT_EQ(read("sim/netC_counts.csv").patterns(), 71);
  EXPECT_EQ(read("sim/netB_counts.csv").sites(), 1000);
  const auto data = [](const char* name) { return snp_counts(data_folder("snp/sim") / name); };
  expect("C1", snp_network(snp_text::net_a, .005), data("netA_counts.csv"), {}, -1741.6335172676);
  expect("C4", snp_network(snp_text::net_b, .005), data("netB_counts.csv"), {.u = .75, .v = 1.5}, -1861.9247002394);
  expect("C5", snp_network(snp_text::net_c, .005), data("netC_counts.csv"), {}, -1798.0608911880);
}

TEST(snp_unlicensed_data, likelihoods_of_rice) {
  QUINTET_SKIP_WITHOUT(data_folder("snp/rice"));
  const auto data = snp_nexus(data_folder("snp/rice") / "rice_JDD1_example.nexus", species_rule::after_last, 1);
  EXPECT_EQ(data.patterns(), 308);
  const auto expect_both = [&](const std::string& name, const char* newick, double all, double polymorphic) {
    const auto network = snp_network(newick, .1);
    expect(name + " all", network, data, {}, all);
    expect(name + " polymorphic", network, data, {.polymorphic_only = true}, polymorphic);
  };
  expect_both("C10", snp_text::rice_tree, -44846.305273395, -32041.483734839);
  expect_both("C12", snp_text::rice_level1, -44875.167030694, -32083.308391871);
  expect_both("C14", snp_text::rice_level2, -44782.728140407, -31982.637364370);
}

TEST(snp_unlicensed_data, counts_of_rice) {
  QUINTET_SKIP_WITHOUT(data_folder("snp/rice"));
  const snp::Data rice = read("rice/rice_JDD1_example.nexus", "after-last:_");
  EXPECT_EQ(rice.species().size(), 6u);
  EXPECT_EQ(rice.sites(), 12000);
  EXPECT_EQ(rice.patterns(), 308);
  EXPECT_EQ(rice.weight_of(pattern_kind::all_zero) + rice.weight_of(pattern_kind::all_one), 6318);
  EXPECT_EQ(std::vector<std::int64_t>(rice.sampled_copies().begin(), rice.sampled_copies().end()),
            std::vector<std::int64_t>(6, 2));
  EXPECT_EQ(read("rice/rice_JDD1_without_invariant.nexus", "after-last:_").sites(), 12000);
  EXPECT_EQ(read("rice/rice_JDD5_dataset3.nexus", "after-last:_").species().size(), 7u);
}

}  // namespace
}  // namespace quintet::test
