#include <algorithm>
#include <sstream>

#include "drivers/driver_run.hpp"
#include "quintet/snp/network/newick.hpp"

namespace quintet {
namespace {

class snp_simulate_driver : public test::driver_run {
 protected:
  snp_simulate_driver() : driver_run("snp-simulate") {}

  const std::string network = "((A:0.2,(B:0.1)#H1:0.1::0.6):0.2,(C:0.2,#H1:0.1::0.4):0.2);";

  arguments with(const arguments& more) const {
    arguments all{"--network", network, "--theta", "0.1", "--output", "o.csv"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static std::int64_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }
};

TEST_F(snp_simulate_driver, common_options) { expect_common_options(with({}), "double"); }

TEST_F(snp_simulate_driver, counts_of_every_species) {
  run_well(with({"--sites", "300", "--copies", "C=1,A=3,B=2", "--json", "o.json"}));
  const std::string counts = text_of("o.csv");
  EXPECT_EQ(lines(counts), 301);
  EXPECT_TRUE(counts.starts_with("A,B,C\n")) << counts.substr(0, 20);
  const std::string first = counts.substr(6, counts.find('\n', 6) - 6);
  EXPECT_EQ(first.size(), 11u) << first;
  EXPECT_EQ(first.substr(1, 2) + first.substr(5, 2) + first.substr(9, 2), "/3/2/1") << first;
  EXPECT_EQ(json("o.json")["results"]["attempts"].number(), 300);
  EXPECT_EQ(json("o.json")["results"]["u"].number(), 1);
}

// The genotypes of individuals have the counts of the table.
TEST_F(snp_simulate_driver, genotypes_have_the_same_likelihood) {
  const arguments base{"--sites", "200", "--copies", "A=2,B=4,C=6"};
  const auto log_likelihood = [&](const std::string& file, const std::string& map) {
    const std::string line = text(
        "cd ", work(""), " && ", test::driver_folder(), "/quintet-snp-likelihood --quiet --data ", file, " --network '",
        network, "' --theta 0.1 --u 1 --v 1 --json l.json", map.empty() ? "" : " --population-map " + map);
    EXPECT_EQ(std::system(line.c_str()), 0) << line;
    return json("l.json")["results"]["log_likelihood"].number();
  };
  run_well(with(base));
  const double expected = log_likelihood("o.csv", "");
  const auto write = [&](const std::string& file, const arguments& more) {
    arguments line{"--network", network, "--theta", "0.1", "--output", file, "--population-map", "m.csv"};
    line.insert(line.end(), base.begin(), base.end());
    line.insert(line.end(), more.begin(), more.end());
    return run(line);
  };
  for (const char* file : {"o.vcf", "o.nex"})
    for (const char* ploidy : {"1", "2"}) {
      ASSERT_EQ(write(file, {"--ploidy", ploidy}).status, 0);
      EXPECT_NEAR(log_likelihood(file, "m.csv"), expected, 1e-9) << file << ploidy;
    }
  EXPECT_TRUE(text_of("o.vcf").starts_with("##fileformat=VCFv4.2"));
  const outcome odd = run({"--network", network, "--theta", "0.1", "--output", "p.vcf", "--copies", "3"});
  EXPECT_EQ(odd.status, 2);
  EXPECT_NE(odd.error.find("multiple of --ploidy 2"), std::string::npos) << odd.error;
}

TEST_F(snp_simulate_driver, same_seed_same_counts) {
  run_well(with({"--sites", "1000", "--seed", "3", "--threads", "1"}));
  const std::string one = text_of("o.csv");
  run_well(with({"--sites", "1000", "--seed", "3", "--threads", "3"}));
  EXPECT_EQ(text_of("o.csv"), one);
  run_well(with({"--sites", "1000", "--seed", "4"}));
  EXPECT_NE(text_of("o.csv"), one);
}

TEST_F(snp_simulate_driver, polymorphic_sites_take_more_attempts) {
  run_well(with({"--sites", "300", "--polymorphic-only", "--json", "o.json"}));
  EXPECT_GT(json("o.json")["results"]["attempts"].number(), 300);
  EXPECT_EQ(text_of("o.csv").find("0/2,0/2,0/2\n"), std::string::npos);
  EXPECT_EQ(text_of("o.csv").find("2/2,2/2,2/2\n"), std::string::npos);
}

TEST_F(snp_simulate_driver, networks_from_the_prior) {
  make("prior.txt", "speciation-rate = 10\nhybridization-rate = 20\norigin = fixed(0.2)\n");
  const arguments given{"--species",  "A,B,C",    "--priors",
                        "prior.txt",  "--prior",  "pi1 = beta(2,2)",
                        "--networks", "20",       "--output-networks",
                        "o.nwk",      "--output", "o.csv",
                        "--sites",    "50",       "--json",
                        "o.json"};
  run_well(given);
  const std::string all = text_of("o.nwk");
  EXPECT_EQ(lines(all), 20);
  std::int64_t reticulations = 0;
  std::istringstream in(all);
  for (std::string line; std::getline(in, line);) {
    const snp::Network one = snp::parse_newick(line);
    EXPECT_EQ(one.species().size(), 3u);
    EXPECT_EQ(snp::to_newick(one), line);
    reticulations += static_cast<std::int64_t>(one.reticulations().size());
  }
  EXPECT_GT(reticulations, 3);
  EXPECT_EQ(lines(text_of("o.csv")), 51);
  EXPECT_EQ(all.substr(0, all.find('\n')), json("o.json")["results"]["network"].text());
  EXPECT_NE(json("o.json")["results"]["u"].number(), 1);
}

TEST_F(snp_simulate_driver, bad_input) {
  const auto expect_refused = [&](const arguments& given, const std::string& message) {
    expect_failure(given, 2, message);
  };
  expect_refused({"--output", "o.csv"}, "exactly one of --network and --species");
  expect_refused({"--network", network, "--species", "A,B", "--theta", "1", "--output", "o.csv"}, "exactly one of");
  expect_refused({"--network", network, "--theta", "1"}, "nothing would be written");
  expect_refused(with({"--copies", "A=1,B=2"}), "--copies says nothing of the species C");
  expect_refused(with({"--copies", "A=1,B=2,D=1"}), "\"D\"");
  expect_refused(with({"--copies", "many"}), "--copies must be a number");
  expect_refused(with({"--copies", "A=1,A=1,B=2,C=1"}), "A twice");
  expect_refused(with({"--copies", "0"}), "sum of copies");
  expect_refused(with({"--sites", "0"}), "--sites");
  expect_refused(with({"--u", "1"}), "--u and --v");
  expect_refused(with({"--u", "0", "--v", "1"}), "--u");
  expect_refused(with({"--networks", "2"}), "go with --species");
  expect_refused({"--network", "(A:1,B:1", "--theta", "1", "--output", "o.csv"}, "character");
  expect_refused({"--network", "(A:1,B:1);", "--output", "o.csv"}, "theta");
  expect_refused({"--species", "A", "--output", "o.csv"}, "species must be >= 2");
  expect_refused({"--species", "A,A", "--output", "o.csv"}, "different names");
  expect_refused({"--species", "A,B", "--prior", "speciation = 1", "--output", "o.csv"}, "there is no key");
  make("short.txt", "pi1 = fixed(0.5)\n");
  expect_refused({"--species", "A,B", "--priors", "short.txt", "--prior", "origin = fixed(1)", "--prior", "speed = 3",
                  "--output", "o.csv"},
                 "--prior:2: there is no key");
  expect_refused({"--species", "A,B", "--priors", "short.txt", "--prior", "outgroup = Z", "--output", "o.csv"},
                 "--prior:1: outgroup = Z: there is no species Z");
  expect_refused({"--species", "A,B", "--prior", "network = phylonet", "--output", "o.csv"}, "improper");
  expect_refused({"--species", "A,B", "--priors", "absent.txt", "--output", "o.csv"}, "absent.txt");
  expect_refused({"--species", "A,B", "--theta", "1", "--output", "o.csv"}, "go with --network");
  expect_refused({"--species", "A,B", "--prior", "hybridization-rate = 0", "--output", "o.csv"}, "hybridization-rate");
}

}  // namespace
}  // namespace quintet
