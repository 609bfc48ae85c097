// The readers on the reference data: numbers of individuals, sites and patterns that other programs report.
#include <filesystem>

#include "quintet/io/snp_network.hpp"
#include "support/data_folder.hpp"
#include "unit/io/read_test.hpp"

namespace quintet {
namespace {

using snp::pattern_kind;

snp::Data read(const std::string& name, const char* rule = nullptr, bool dominant = false) {
  io::snp_read_options options;
  if (rule != nullptr) options.populations = io::population_map::from_rule(rule);
  options.dominant = dominant;
  const std::filesystem::path path = std::filesystem::path("snp") / name;
  return io::read_snp_data((test::data_folder(path.parent_path().string()) / path.filename()).string(), options).data;
}

TEST(snp_reference_data, counts) {
  EXPECT_EQ(read("snapp/test1_counts.csv").sites(), 1000);
  EXPECT_EQ(read("drawn/net_a.csv").patterns(), 93);
  const snp::Data rice = read("drawn/rice.csv");
  EXPECT_EQ(rice.sites(), 300);
  EXPECT_EQ(rice.patterns(), 125);
  EXPECT_EQ(read("drawn/net_c.csv").sampled_copies()[3], 5);
}

TEST(snp_reference_data, diploids_with_missing_genotypes) {
  const snp::Data hemi = read("snapp/hemi129.nex", "before-first:_");
  EXPECT_EQ(hemi.species().size(), 4u);
  EXPECT_EQ(hemi.given_sites(), 129);
  std::int64_t copies = 0;
  for (const std::int64_t n : hemi.sampled_copies()) copies += n;
  EXPECT_EQ(copies, 92);
}

TEST(snp_reference_data, amplified_fragments) {
  const snp::Data aflp = read("snapp/aflp_25.nex", "before-first:_");
  EXPECT_EQ(aflp.species().size(), 9u);
  EXPECT_EQ(aflp.sites(), 2576);
  EXPECT_EQ(aflp.patterns(), 759);
  EXPECT_EQ(read("snapp/aflp_25.nex", "before-first:_", true).sampled_copies()[0], 16);
}

TEST(snp_reference_data, a_file_with_data_and_network) {
  EXPECT_EQ(read("phynetpy/paper_net.nex").sites(), 1000);
  EXPECT_EQ(read("phynetpy/paper_net_largeseq.nex").sites(), 12000);
  const snp::Network net =
      io::read_network((test::data_folder("snp") / "phynetpy/paper_net.nex").string(), {.theta = 1});
  EXPECT_EQ(net.reticulations().size(), 1u);
  EXPECT_EQ(net.species().size(), 3u);
}

}  // namespace
}  // namespace quintet
