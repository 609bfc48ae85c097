#include <cmath>
#include <filesystem>
#include <iomanip>
#include <sstream>

#include "drivers/driver_run.hpp"
#include "quintet/io/csv.hpp"
#include "quintet/io/snp_data.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/network/network_topology.hpp"
#include "quintet/snp/network/newick.hpp"
#include "quintet/snp/network/rooting.hpp"
#include "support/data_folder.hpp"
#include "support/near.hpp"

namespace quintet {
namespace {

class snp_likelihood_driver : public test::driver_run {
 protected:
  snp_likelihood_driver() : driver_run("snp-likelihood") {}

  // Test B1 of the reference values: site probabilities .3497641 .00712304 .03810515 .07046408 .3497641.
  const std::string counts = make("b1.csv", "A,B\n0/2,0/2\n1/2,1/2\n2/2,1/2\n0/2,2/2\n2/2,2/2\n");
  const std::string tree = "(A:0.1,B:0.1)r;";
  const double expected = -12.965471254202;

  arguments with(const arguments& more) const {
    arguments all{"--data", counts, "--network", tree, "--theta", "0.1", "--u", "1", "--v", "1"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  /// A table of all patterns of ((A,B),(C,D)) with their probabilities as weights; returns the log-likelihood.
  double make_patterns_of_a_tree(const std::string& name) const {
    const snp::Network truth = snp::parse_newick("((A:0.02,B:0.02):0.05,(C:0.03,D:0.03):0.04)r;", {.theta = 0.05});
    snp::DataBuilder builder({"A", "B", "C", "D"});
    std::vector<std::vector<std::int64_t>> all;
    for (std::int64_t p = 0; p < 81; ++p) all.push_back({p % 3, p / 3 % 3, p / 9 % 3, p / 27});
    for (const auto& red : all) builder.add_site(red, std::vector<std::int64_t>{2, 2, 2, 2});
    const std::vector<double> logs = snp::Likelihood(truth, builder.finish()).site_log_likelihoods();
    std::ostringstream table;
    table << "A,B,C,D,weight\n" << std::setprecision(17);
    double value = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (const std::int64_t red : all[i]) table << red << "/2,";
      table << 1000 * std::exp(logs[i]) << "\n";
      value += 1000 * std::exp(logs[i]) * logs[i];
    }
    make(name, table.str());
    return value;
  }
  /// The number behind "log-likelihood" on standard output.
  static double printed(const std::string& out) {
    const std::string word = "log-likelihood ";
    const std::size_t at = out.find(word);
    EXPECT_NE(at, std::string::npos) << out;
    const std::string number = out.substr(at + word.size(), out.find('\n', at) - at - word.size());
    EXPECT_EQ(number.size() - number.find('.') - 1, 12u) << "decimals of " << number;
    return std::stod(number);
  }
  void expect_value(const arguments& given, double value) const {
    SCOPED_TRACE(testing::PrintToString(given));
    test::expect_error_within("log_likelihood", std::fabs(printed(run_well(given)) - value), 1e-8);
  }
};

TEST_F(snp_likelihood_driver, composite_of_triples) {
  make("six.csv",
       "A,B,C,D,E\n0/2,0/2,0/2,0/2,1/2\n2/2,2/2,0/2,0/2,0/2\n0/2,1/2,2/2,0/2,0/2\n2/2,2/2,2/2,0/2,1/2\n"
       "1/2,0/2,0/2,2/2,2/2\n2/2,2/2,2/2,2/2,2/2\n");
  const std::string network =
      "((((B:0.01)#H1:0.01::0.7,A:0.02)x:0.02,(C:0.03,#H1:0.02::0.3)y:0.01)z:0.02,(D:0.04,E:0.04)w:0.02)r";
  const arguments line{"--data", "six.csv", "--network", network,       "--theta", "0.02",   "--u",
                       "1",      "--v",     "1",         "--composite", "3",       "--json", "c.json"};
  run_well(line);
  EXPECT_NEAR(json("c.json")["results"]["composite_log_likelihood"].number(), -216.6092397181, 1e-9);
  EXPECT_EQ(json("c.json")["results"]["truncation_bound"].number(), 0);
  EXPECT_EQ(json("c.json")["results"]["sets"].number(), 10);
  arguments with_errors = line;
  with_errors.insert(with_errors.end(),
                     {"--optimise", "gamma", "--bootstrap", "12", "--output-network", "best.nwk", "--output-theta"});
  const outcome done = run(with_errors);
  ASSERT_EQ(done.status, 0) << done.error;
  QUINTET_EXPECT_CONTAINS(done.out, "bootstrap of 6 blocks, 12 replicates");
  QUINTET_EXPECT_CONTAINS(done.error, "there are 6 blocks of sites; with fewer than 10");
  const test::json_value best = json("c.json")["results"];
  EXPECT_GT(best["composite_log_likelihood"].number(), -216.6092397181);
  EXPECT_FALSE(best.contains("aic"));
  EXPECT_EQ(best["resampling"]["parameters"][0]["parameter"], "gamma");
  EXPECT_GT(best["resampling"]["parameters"][0]["standard_error"].number(), 0);
  arguments again = line;
  again[3] = "best.nwk";
  run_well(again);
  EXPECT_NEAR(json("c.json")["results"]["composite_log_likelihood"].number(), best["composite_log_likelihood"].number(),
              1e-9);
  arguments refused = line;
  refused.insert(refused.end(), {"--optimise", "lengths,theta"});
  expect_failure(refused, 2, "one theta for all branches");
  refused = line;
  refused.insert(refused.end(), {"--output-network", "best.nwk"});
  expect_failure(refused, 2, "--output-network needs --optimise with --composite");
}

// --optimise has a default in a search, and in its repetitions.
TEST_F(snp_likelihood_driver, a_composite_search_is_repeated_on_blocks) {
  make("four.csv", "A,B,C,D\n0/2,0/2,2/2,2/2\n2/2,2/2,0/2,0/2\n1/2,0/2,0/2,0/2\n0/2,0/2,1/2,2/2\n");
  const outcome done =
      run({"--data", "four.csv", "--search", "--composite", "3", "--theta", "0.02", "--u", "1", "--v", "1",
           "--max-reticulations", "0", "--patience", "2", "--bootstrap", "3", "--json", "s.json"});
  ASSERT_EQ(done.status, 0) << done.error;
  const test::json_value topologies = json("s.json")["results"]["support"]["topologies"];
  double sum = 0;
  for (std::size_t i = 0; i < topologies.size(); ++i) sum += topologies[i]["share"].number();
  EXPECT_NEAR(sum, 1, 1e-12);
}

// The best so far is in the file; one clear tree has no clear reticulation.
TEST_F(snp_likelihood_driver, composite_search_begins_where_neighbours_join) {
  make_patterns_of_a_tree("tree.csv");
  arguments line{"--data",   "tree.csv",
                 "--search", "--composite",
                 "3",        "--theta",
                 "0.05",     "--u",
                 "1",        "--v",
                 "1",        "--patience",
                 "2",        "--max-reticulations",
                 "1",        "--json",
                 "s.json",   "--output-network",
                 "s.nwk",    "--output-theta"};
  const outcome result = run(line);
  ASSERT_EQ(result.status, 0) << result.error;
  QUINTET_EXPECT_CONTAINS(result.out, "start 1 of 1, 1 reticulation: log-likelihood -");
  QUINTET_EXPECT_CONTAINS(result.out, "A composite log-likelihood is no likelihood");
  const test::json_value results = json("s.json")["results"];
  ASSERT_EQ(results["levels"].size(), 2u);
  EXPECT_EQ(results["best_reticulations"], 0);
  const snp::Network best = snp::parse_newick(text_of("s.nwk"));
  EXPECT_EQ(snp::unrooted_key(best), snp::unrooted_key(snp::parse_topology("((A,B),(C,D));")));
  run_well(
      {"--data", "tree.csv", "--network", "s.nwk", "--u", "1", "--v", "1", "--composite", "3", "--json", "c.json"});
  EXPECT_NEAR(json("c.json")["results"]["composite_log_likelihood"].number(),
              results["levels"][0]["composite_log_likelihood"].number(), 1e-9);
  line.insert(line.end(), {"--optimise", "lengths,theta"});
  expect_failure(line, 2, "one theta for all branches");
}

TEST_F(snp_likelihood_driver, f_statistics_of_a_table) {
  make("eight.csv",
       "A,B,C,D\n0/4,2/4,4/4,2/4\n4/4,4/4,2/4,0/4\n1/4,0/4,0/4,3/4\n2/4,1/4,4/4,4/4\n0/4,0/4,1/4,2/4\n3/4,4/4,0/4,0/4\n"
       "4/4,2/4,2/4,1/4\n1/4,2/4,3/4,4/4\n");
  const outcome done =
      run({"--data", "eight.csv", "--f-statistics", "f.csv", "--block-sites", "2", "--json", "f.json"});
  ASSERT_EQ(done.status, 0) << done.error;
  EXPECT_NE(done.error.find("4 blocks of sites; with fewer than 10"), std::string::npos) << done.error;
  EXPECT_EQ(done.error.find("polymorphic"), std::string::npos) << done.error;
  std::istringstream table(text_of("f.csv"));
  std::string line;
  while (std::getline(table, line) && !line.starts_with("f4,A,B,C,D,")) {
  }
  ASSERT_TRUE(line.starts_with("f4,A,B,C,D,-0.03125,0.04941058844")) << line;
  EXPECT_NE(line.find(",-0.63245553203"), std::string::npos) << line;
  EXPECT_TRUE(line.ends_with(",8,4")) << line;
  EXPECT_EQ(json("f.json")["results"]["f_statistics"]["count"].number(), 21);
  EXPECT_EQ(run({"--data", "eight.csv", "--f-statistics", "f.csv", "--search"}).status, 2);
}

TEST_F(snp_likelihood_driver, common_options) { expect_common_options(with({}), "double"); }

TEST_F(snp_likelihood_driver, prints_the_log_likelihood_and_writes_the_summary) {
  expect_value(with({"--json", "out.json"}), expected);
  const test::json_value results = json("out.json")["results"];
  EXPECT_NEAR(results["log_likelihood"].number(), expected, 1e-8);
  EXPECT_EQ(results["sites"], 5);
  EXPECT_EQ(results["patterns"], 5);
  EXPECT_EQ(results["dropped_sites"], 0);
  EXPECT_EQ(results["constant_sites"], 2);
  EXPECT_GT(results["largest_group"].integer(), 0);
  EXPECT_EQ(results["largest_group_untruncated"].integer(), results["largest_group"].integer());
  EXPECT_EQ(results["truncation_bound"].number(), 0);
  EXPECT_EQ(results["truncation_mass"].number(), 0);
  EXPECT_EQ(results["network"], "[0.1](A:0.1:0.1,B:0.1:0.1)r;");
  EXPECT_GT(json("out.json")["seconds"]["likelihood"].number(), 0);
}

TEST_F(snp_likelihood_driver, network_from_a_file_and_thetas) {
  make("net.nwk", "(A:0.1,\nB:0.1)r;\n");
  make("net.nex", "#NEXUS\nBEGIN TREES;\nTREE a = [0.1](A:0.1:0.1,B:0.1:0.1)r;\nEND;\n");
  const arguments rest{"--data", counts, "--u", "1", "--v", "1"};
  const auto given = [&](arguments more) {
    more.insert(more.end(), rest.begin(), rest.end());
    return more;
  };
  expect_value(given({"--network", "net.nwk", "--theta", "0.1"}), expected);
  expect_value(given({"--network", "net.nex"}), expected);
  expect_value(given({"--network", "(A:0.1:0.1,B:0.1:0.1)", "--root-theta", "0.1"}), expected);
  expect_value(given({"--network", "(A:0.1:0.1,B:0.1:0.1)r", "--theta", "7", "--root-theta", "0.1"}), expected);
}

TEST_F(snp_likelihood_driver, individuals_from_all_formats) {
  make("a.nex",
       "#NEXUS\nBegin data;\nDimensions nchar=5;\nFormat datatype=binary symbols=\"01\" gap=-;\nMatrix\n"
       "1_A 01101\n2_A 00101\n1_B 00111\n2_B 01011;\nEnd;\n");
  make("a.phy", "2 5\nx_A 01202\nx_B 01122\n");
  make("map.csv", "individual,species\nx_A,A\nx_B,B\n");
  for (const arguments& input : {arguments{"--data", "a.nex", "--species-rule", "after-last:_"},
                                 arguments{"--data", "a.phy", "--species-rule", "after-last:_", "--diploid"},
                                 arguments{"--data", "a.phy", "--population-map", "map.csv", "--diploid"}}) {
    arguments given{"--network", tree, "--theta", "0.1", "--u", "1", "--v", "1"};
    given.insert(given.end(), input.begin(), input.end());
    expect_value(given, expected);
  }
}

TEST_F(snp_likelihood_driver, names_that_share_an_ending_get_a_hint) {
  make("a.phy", "4 5\n1_A 01101\n2_A 00101\n1_B 00111\n2_B 01011\n");
  const arguments model{"--network", "((1_A:1,2_A:1):1,(1_B:1,2_B:1):1)", "--theta", "0.1", "--u", "1", "--v", "1"};
  const auto warning = [&](arguments more) {
    more.insert(more.end(), model.begin(), model.end());
    return run(more).error;
  };
  // Two species by either rule: "I" with three and "W" with one, or "A" and "B" with two each.
  make("b.phy", "4 5\nI_1_A 01101\nI_2_A 00101\nI_3_B 00111\nW_4_B 01011\n");
  const outcome even = run({"--data", "b.phy", "--network", "((I_1_A:1,I_2_A:1):1,(I_3_B:1,W_4_B:1):1)", "--theta",
                            "0.1", "--u", "1", "--v", "1"});
  QUINTET_EXPECT_CONTAINS(even.error, "--species-rule after-last:_ would make 2 species");
  QUINTET_EXPECT_CONTAINS(warning({"--data", "a.phy"}),
                          "each of the 4 individuals is a species; by their names --species-rule after-last:_ would "
                          "make 2 species");
  make("b.phy", "4 5\nw 01101\nx 00101\ny 00111\nz 01011\n");
  EXPECT_EQ(warning({"--data", "b.phy"}).find("each of"), std::string::npos);
}

TEST_F(snp_likelihood_driver, variant_calls) {
  const std::string vcf = make("a.vcf",
                               "##fileformat=VCFv4.2\n##FORMAT=<ID=GT,Number=1,Type=String,Description=\"x\">\n"
                               "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tx_A\tx_B\n"
                               "1\t1\t.\tA\tC\t.\t.\t.\tGT\t0/1\t1|0\n1\t2\t.\tA\tC,G\t.\t.\t.\tGT\t0/1\t1|2\n");
  if (!io::has_vcf()) GTEST_SKIP() << "this build has no htslib";
  const outcome result = run({"--data", vcf, "--network", tree, "--theta", "0.1", "--u", "1", "--v", "1",
                              "--species-rule", "after-last:_", "--json", "out.json"});
  EXPECT_EQ(result.status, 0);
  QUINTET_EXPECT_CONTAINS(result.error, "1 of 2 records are no biallelic SNPs and were left out: 1 with several");
  test::expect_error_within("vcf", std::fabs(printed(result.out) - std::log(.00712304)), 1e-6);
  EXPECT_EQ(json("out.json")["results"]["multiallelic"], 1);
  expect_failure({"--data", vcf, "--network", tree, "--theta", "0.1", "--u", "1", "--v", "1"}, 2,
                 "VCF needs a population map or a species rule");
}

// The first two individuals of a species alone; bases of diploids, where 0 and 1 change places at the last site.
TEST_F(snp_likelihood_driver, fewer_individuals_and_bases) {
  make("many.phy", "5 5\n1_A 01101\n2_A 00101\n1_B 00111\n2_B 01011\n3_B 11111\n");
  const arguments model{"--network", tree, "--theta", "0.1", "--u", "1", "--v", "1", "--species-rule", "after-last:_"};
  const auto given = [&](arguments more) {
    more.insert(more.end(), model.begin(), model.end());
    return more;
  };
  expect_value(given({"--data", "many.phy", "--individuals", "2", "--json", "o.json"}), expected);
  EXPECT_EQ(json("o.json")["results"]["individuals_over_limit"], 1);
  make("bases.phy", "2 6\nx_A ARGAGA\nx_B ARRGGC\n");
  make("same.csv", "A,B\n0/2,0/2\n1/2,1/2\n0/2,1/2\n0/2,2/2\n0/2,0/2\n0/2,2/2\n");
  const double value =
      printed(run_well({"--data", "same.csv", "--network", tree, "--theta", "0.1", "--u", "1", "--v", "1"}));
  expect_value(given({"--data", "bases.phy", "--nucleotides", "--diploid"}), value);
  const outcome haploid = run(given({"--data", "bases.phy", "--nucleotides"}));
  QUINTET_EXPECT_CONTAINS(haploid.error, "3 states are codes for two bases, which are missing for haploids (--diploid");
}

TEST_F(snp_likelihood_driver, corrections) {
  // 2 of the 5 sites are constant; C(2,1) = 2 orders three times.
  expect_value(with({"--ordered-data"}), expected - 3 * std::log(2));
  const double constant = 2 * .3497641;
  const double polymorphic = expected - 2 * std::log(.3497641) - 3 * std::log(1 - constant);
  EXPECT_NEAR(printed(run_well(with({"--polymorphic-only"}))), polymorphic, 1e-6);
  EXPECT_NEAR(printed(run_well(with({"--unseen-zeros", "2", "--unseen-ones", "1"}))), expected + 3 * std::log(.3497641),
              1e-6);
  // One class is no variation; four of a tiny variance hardly are.
  expect_value(with({"--gamma-shape", "3", "--gamma-categories", "1"}), expected);
  EXPECT_NEAR(printed(run_well(with({"--gamma-shape", "1e6"}))), expected, 1e-4);
  // One class in four has all mutation, the others none.
  EXPECT_TRUE(std::isfinite(printed(run_well(with({"--gamma-shape", "1e-4"})))));
}

// 3 of 48 genotypes are missing.
TEST_F(snp_likelihood_driver, missing_genotypes_and_sites_that_are_polymorphic) {
  make("g.phy", "6 8\na_1 0020120?\na_2 01201201\nb_1 1020022?\nb_2 20100220\nc_1 ?2000220\nc_2 22010120\n");
  const arguments given{"--data",
                        "g.phy",
                        "--diploid",
                        "--species-rule",
                        "before-first:_",
                        "--theta",
                        "0.01",
                        "--u",
                        "1",
                        "--v",
                        "1",
                        "--network",
                        "((a:0.02,b:0.02):0.01,c:0.03);",
                        "--json",
                        "out.json"};
  const auto with_options = [&](arguments options) {
    options.insert(options.end(), given.begin(), given.end());
    return run(options);
  };
  const outcome all = with_options({});
  QUINTET_EXPECT_CONTAINS(all.error, "all sites are polymorphic; if constant sites were left out");
  EXPECT_EQ(json("out.json")["results"]["missing_share"].number(), 0.0625);
  const outcome own = with_options({"--polymorphic-only"});
  QUINTET_EXPECT_CONTAINS(own.error, "6.25 % of the gene copies are missing; every site is conditioned on being");
  const outcome full = with_options({"--polymorphic-only", "--full-samples"});
  QUINTET_EXPECT_CONTAINS(full.error, "--full-samples conditions every site on the full samples");
  EXPECT_GT(printed(own.out), printed(full.out));
  QUINTET_EXPECT_CONTAINS(with_options({"--full-samples"}).error, "full_samples needs polymorphic_only");
}

TEST_F(snp_likelihood_driver, values_of_sites) {
  make("missing.csv", "A,B\n0/2,0/2\n0/0,1/2\n0/2,0/2\n1/2,1/2\n");
  arguments given{"--data", "missing.csv", "--network", tree, "--theta",    "0.1",
                  "--u",    "1",           "--v",       "1",  "--per-site", "site.csv"};
  const outcome result = run(given);
  EXPECT_EQ(result.status, 0);
  QUINTET_EXPECT_CONTAINS(result.error,
                          "1 of 4 sites were left out, because a species has no copies there; the first is "
                          "site 2, without A (--keep-empty keeps them)");
  const auto table = io::read_csv<double>(work("site.csv"));
  EXPECT_EQ(table.names, (std::vector<std::string>{"site", "pattern", "weight", "log_likelihood"}));
  ASSERT_EQ(table.values.rows, 4);
  const auto at = [&](int row, int column) { return table.values.data[row * 4 + column]; };
  EXPECT_EQ(at(0, 1), 1);
  EXPECT_EQ(at(0, 2), 2);
  EXPECT_EQ(at(1, 1), 0);
  EXPECT_TRUE(std::isnan(at(1, 3)));
  EXPECT_EQ(at(2, 3), at(0, 3));
  EXPECT_NEAR(at(0, 3), std::log(.3497641), 1e-6);
  EXPECT_NEAR(at(3, 3), std::log(.00712304), 1e-6);
  given.push_back("--keep-empty");
  given.push_back("--quiet");
  EXPECT_EQ(run_well(given), "");
  EXPECT_FALSE(std::isnan(io::read_csv<double>(work("site.csv")).values.data[7]));
}

TEST_F(snp_likelihood_driver, impossible_data_have_minus_infinity) {
  const std::string out =
      run_well({"--data", counts, "--network", tree, "--theta", "0.1", "--u", "0", "--v", "1", "--json", "o.json"});
  QUINTET_EXPECT_CONTAINS(out, "log-likelihood -inf\n");
  EXPECT_EQ(json("o.json")["results"]["log_likelihood"], "-inf");
}

TEST_F(snp_likelihood_driver, optimise_climbs_and_prints_the_network) {
  const std::string out = run_well(with({"--optimise", "lengths,common-theta", "--json", "o.json"}));
  const test::json_value results = json("o.json")["results"];
  EXPECT_TRUE(results["converged"]);
  EXPECT_NEAR(results["start_log_likelihood"].number(), expected, 1e-8);
  EXPECT_GT(results["log_likelihood"].number(), expected + 0.1);
  const std::string network = results["network"].text();
  QUINTET_EXPECT_CONTAINS(out, "network " + network + "\n");
  expect_value({"--data", counts, "--network", network, "--u", "1", "--v", "1"}, results["log_likelihood"].number());
}

TEST_F(snp_likelihood_driver, optimise_names_what_ends_at_a_bound) {
  make("same.csv", "A,B,weight\n0/2,0/2,90\n2/2,2/2,10\n");
  const outcome result = run({"--data", "same.csv", "--network", "(A:0.1,B:0.1)r;", "--theta", "0.1", "--u", "1", "--v",
                              "1", "--optimise", "lengths", "--json", "o.json", "--output-network", "best.nwk"});
  EXPECT_EQ(result.status, 0);
  QUINTET_EXPECT_CONTAINS(result.error, "2 parameters end at a bound of the range");
  QUINTET_EXPECT_CONTAINS(result.error, "length of branch from node");
  const test::json_value results = json("o.json")["results"];
  EXPECT_EQ(results["at_bounds"].size(), 2u);
  EXPECT_EQ(results["at_bounds"][0]["end"], "lower");
  EXPECT_EQ(results["parameters"], 1);
  EXPECT_NEAR(results["aic"].number(), 2 - 2 * results["log_likelihood"].number(), 1e-9);
  // A line per branch and one for the root; the network as a file.
  QUINTET_EXPECT_CONTAINS(result.out, "branch  up to           length         theta     gamma\nA       r");
  QUINTET_EXPECT_CONTAINS(result.out, "\nr       -              endless           0.1\n");
  expect_value({"--data", "same.csv", "--network", "best.nwk", "--theta", "0.1", "--u", "1", "--v", "1"},
               results["log_likelihood"].number());
}

TEST_F(snp_likelihood_driver, optimise_from_several_starts) {
  run_well(with({"--optimise", "lengths,common-theta", "--starts", "3", "--seed", "2", "--json", "o.json"}));
  const test::json_value results = json("o.json")["results"];
  ASSERT_EQ(results["ends"].size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_LE(results["ends"][i].number(), results["log_likelihood"].number() + 1e-9);
}

TEST_F(snp_likelihood_driver, compares_networks) {
  make("tree.nwk", tree + "\n");
  const arguments rest{"--data", counts, "--theta", "0.1", "--u", "1", "--v", "1"};
  const auto given = [&](arguments more) {
    more.insert(more.end(), rest.begin(), rest.end());
    return more;
  };
  const std::string out = run_well(given({"--compare", "tree.nwk", "(A:1,B:1);", "--json", "o.json"}));
  test::json_value results = json("o.json")["results"];
  ASSERT_EQ(results["networks"].size(), 2u);
  EXPECT_EQ(results["networks"][0]["name"], "tree.nwk");
  EXPECT_EQ(results["networks"][1]["name"], "network 2");
  EXPECT_NEAR(results["networks"][0]["log_likelihood"].number(), expected, 1e-8);
  EXPECT_EQ(results["networks"][0]["parameters"], 0);
  QUINTET_EXPECT_CONTAINS(out, "network    reticulations  log-likelihood  parameters          AIC          BIC\n");
  QUINTET_EXPECT_CONTAINS(out, "tree.nwk               0        -12.9655           0       25.93        25.93 \n");
  QUINTET_EXPECT_CONTAINS(out, "*\n");  // of the other one

  // A file may have several.
  make("two.nwk", tree + "\n(A:1,B:1);\n");
  run_well(given({"--compare", "two.nwk", "--json", "q.json"}));
  const test::json_value of_file = json("q.json")["results"];
  ASSERT_EQ(of_file["networks"].size(), 2u);
  EXPECT_EQ(of_file["networks"][1]["name"], "two.nwk:2");
  EXPECT_EQ(of_file["networks"][1]["log_likelihood"].number(), results["networks"][1]["log_likelihood"].number());
  expect_failure(given({"--network", "two.nwk"}), 2, "two.nwk:2: a second network; the first is in line 1");

  // Optimised they end in one place, whatever the lengths that they begin with.
  run_well(
      given({"--compare", "tree.nwk", "(A:1,B:1);", "--optimise", "lengths,common-theta,gamma", "--json", "p.json"}));
  results = json("p.json")["results"];
  EXPECT_NEAR(results["networks"][0]["log_likelihood"].number(), results["networks"][1]["log_likelihood"].number(),
              1e-4);
  EXPECT_EQ(results["networks"][0]["parameters"], 2);
  EXPECT_NEAR(results["networks"][0]["bic"].number(),
              2 * std::log(5) - 2 * results["networks"][0]["log_likelihood"].number(), 1e-9);
}

// The search has to come back to the tree that made the data. With one theta the place of the root cannot be seen, so
// what can be found is that A is with B, or C with D.
TEST_F(snp_likelihood_driver, search_finds_the_tree_that_made_the_data) {
  const double expected_value = make_patterns_of_a_tree("tree.csv");
  const outcome result = run({"--data",   "tree.csv",
                              "--search", "--theta",
                              "0.05",     "--u",
                              "1",        "--v",
                              "1",        "--max-reticulations",
                              "1",        "--starts",
                              "2",        "--patience",
                              "6",        "--seed",
                              "3",        "--json",
                              "o.json",   "--output-network",
                              "best.nwk", "--output-theta"});
  EXPECT_EQ(result.status, 0) << result.error;  // a reticulation too many ends at a bound, with a warning
  const test::json_value results = json("o.json")["results"];
  ASSERT_EQ(results["levels"].size(), 2u);
  EXPECT_EQ(results["levels"][0]["reticulations"], 0);
  EXPECT_GT(results["topologies"].integer(), 10);
  const double tree_value = results["levels"][0]["log_likelihood"].number();
  test::expect_error_within("log-likelihood of the truth", std::fabs(tree_value - expected_value), 1e-3);
  EXPECT_GT(results["levels"][1]["log_likelihood"].number(), tree_value - 1e-2);
  EXPECT_LT(results["levels"][0]["bic"].number(), results["levels"][1]["bic"].number());
  const std::string key = snp::topology_key(snp::parse_newick(results["levels"][0]["network"].text()));
  EXPECT_TRUE(key.find("(A,B)") != std::string::npos || key.find("(C,D)") != std::string::npos) << key;
  expect_value({"--data", "tree.csv", "--network", "best.nwk", "--u", "1", "--v", "1"}, tree_value);
  QUINTET_EXPECT_CONTAINS(result.out, "reticulations  log-likelihood  parameters");
}

// A run that is stopped leaves the best so far and a line for every climb; one theta does not show the root.
TEST_F(snp_likelihood_driver, search_says_that_the_root_is_not_seen) {
  make_patterns_of_a_tree("tree.csv");
  const arguments search{
      "--data", "tree.csv", "--search", "--theta",    "0.05", "--u",    "1",     "--v", "1", "--max-reticulations",
      "0",      "--starts", "3",        "--patience", "4",    "--json", "o.json"};
  const auto given = [&](arguments more) {
    more.insert(more.begin(), search.begin(), search.end());
    return more;
  };
  std::string key;
  for (const char* seed : {"1", "2", "3"}) {
    const std::string out = run_well(given({"--seed", seed}));
    QUINTET_EXPECT_CONTAINS(out, "The data do not show the root");
    QUINTET_EXPECT_CONTAINS(out, "start 3 of 3, 0 reticulations: log-likelihood -");
    const test::json_value results = json("o.json")["results"];
    EXPECT_EQ(results["root_is_seen"], false);
    EXPECT_EQ(results["levels"][0]["rootings"], 5);
    EXPECT_EQ(results["levels"][0]["starts"], 3);
    const std::string here = snp::topology_key(snp::parse_newick(results["levels"][0]["network"].text()));
    EXPECT_EQ(here, key.empty() ? here : key) << "seed " << seed;
    key = here;
  }
  QUINTET_EXPECT_CONTAINS(run_well(given({"--outgroup", "C,D"})), "Its place is that of the outgroup.");
  const snp::Network rooted = snp::parse_newick(json("o.json")["results"]["levels"][0]["network"].text());
  EXPECT_EQ(snp::topology_key(rooted), "((A,B),(C,D));");
  expect_failure(given({"--outgroup", "C,X"}), 2, "outgroup must be a species of the data (outgroup=X)");
  expect_failure(given({"--patience", "9223372036854775807"}), 2, "--patience");
  const std::string seen = run_well(given({"--optimise", "lengths,theta"}));
  EXPECT_EQ(seen.find("do not show the root"), std::string::npos);
  EXPECT_EQ(json("o.json")["results"]["root_is_seen"], true);
}

TEST_F(snp_likelihood_driver, an_outgroup_roots_networks_that_are_given) {
  make_patterns_of_a_tree("tree.csv");
  const arguments rest{"--data", "tree.csv", "--theta", "0.05", "--u", "1", "--v", "1", "--json", "o.json"};
  const auto value = [&](arguments more) {
    more.insert(more.end(), rest.begin(), rest.end());
    run_well(more);
    return json("o.json")["results"]["log_likelihood"].number();
  };
  const double rooted = value({"--network", "((A:0.02,B:0.02):0.05,(C:0.03,D:0.03):0.04);"});
  EXPECT_NEAR(value({"--network", "(A:0.02,B:0.02,(C:0.03,D:0.03):0.09);", "--outgroup", "D"}), rooted, 1e-8);
  EXPECT_EQ(snp::topology_key(snp::parse_newick(json("o.json")["results"]["network"].text())), "(D,(C,(A,B)));");
  EXPECT_NEAR(value({"--network", "[&U](A:0.02,B:0.02,(C:0.03,D:0.03):0.09);", "--outgroup", "A,B"}), rooted, 1e-8);
  arguments apart{"--network", "((A:1,B:1):1,(C:1,D:1):1);", "--outgroup", "A,C"};
  apart.insert(apart.end(), rest.begin(), rest.end());
  expect_failure(apart, 2, "--outgroup must be species that a branch of the network separates from the others");
}

TEST_F(snp_likelihood_driver, standard_errors_of_an_optimum) {
  std::string table = "A,B\n";
  for (int i = 0; i < 20; ++i) table += i % 4 == 0 ? "1/2,1/2\n" : i % 4 == 1 ? "0/2,2/2\n" : "0/2,0/2\n";
  make("twenty.csv", table);
  const arguments rest{"--data", "twenty.csv", "--network", "(A:0.1,B:0.1);", "--theta", "0.1", "--u", "1", "--v", "1"};
  const auto given = [&](arguments more) {
    more.insert(more.end(), rest.begin(), rest.end());
    return more;
  };
  for (const char* method : {"--bootstrap", "--jackknife"}) {
    arguments more{"--optimise", "lengths", "--block-sites", "2", "--json", "o.json", method};
    if (std::string(method) == "--bootstrap") more.insert(more.end(), {"12", "--seed", "3"});
    const outcome result = run(given(more));
    EXPECT_EQ(result.status, 0) << result.error;
    QUINTET_EXPECT_CONTAINS(result.out, std::string(method).substr(2) + " of 10 blocks");
    const test::json_value found = json("o.json")["results"]["resampling"];
    EXPECT_EQ(found["replicates"], std::string(method) == "--bootstrap" ? 12 : 10);
    EXPECT_EQ(found["parameters"][0]["parameter"], "length");
    EXPECT_GT(found["parameters"][0]["standard_error"].number(), 0);
  }
  expect_failure(given({"--bootstrap", "5"}), 2, "need --network and --optimise");
  expect_failure(given({"--optimise", "lengths", "--jackknife", "--block-loci"}), 2, "needs the contigs of VCF");
  expect_failure(given({"--optimise", "lengths", "--block-sites", "5"}), 2,
                 "needs --bootstrap, --jackknife or --f-statistics");
}

// With the parameters that a search optimises by itself. Sites without contigs are told before it.
TEST_F(snp_likelihood_driver, support_of_a_search) {
  std::string table = "A,B,C\n";
  for (int i = 0; i < 20; ++i) table += i % 2 == 0 ? "2/2,2/2,0/2\n" : i % 4 == 1 ? "0/2,1/2,2/2\n" : "0/2,0/2,0/2\n";
  make("twenty.csv", table);
  arguments line{"--data",   "twenty.csv",          "--theta", "0.1",      "--u", "1",          "--v", "1",
                 "--search", "--max-reticulations", "0",       "--starts", "1",   "--outgroup", "C",   "--json",
                 "o.json"};
  arguments more = line;
  more.insert(more.end(), {"--bootstrap", "3", "--block-sites", "2"});
  run_well(more);
  const test::json_value support = json("o.json")["results"]["support"];
  EXPECT_EQ(support["blocks"], 10);
  EXPECT_EQ(support["replicates"], 3);
  EXPECT_EQ(support["clusters"][0]["name"], "A,B");
  line.insert(line.end(), {"--jackknife", "--block-loci"});
  const outcome refused = run(line);
  EXPECT_EQ(refused.status, 2);
  QUINTET_EXPECT_CONTAINS(refused.error, "needs the contigs of VCF");
  EXPECT_EQ(refused.out.find("reticulations"), std::string::npos) << refused.out;
}

TEST_F(snp_likelihood_driver, filters_of_sites) {
  make("a.raw",
       "FID IID PAT MAT SEX PHENOTYPE s0_T s1_G s2_A\nA 1 0 0 0 -9 0 1 0\nA 2 0 0 0 -9 0 NA 0\nB 3 0 0 0 -9 0 1 2\n");
  const arguments rest{"--data", "a.raw", "--network", "(A:0.1,B:0.1);", "--theta", "0.1", "--u", "1", "--v", "1"};
  const auto given = [&](arguments more) {
    more.insert(more.end(), rest.begin(), rest.end());
    return more;
  };
  run_well(given({"--json", "o.json"}));
  EXPECT_EQ(json("o.json")["results"]["sites"], 3);
  run_well(given({"--json", "o.json", "--max-missing", "0.2"}));
  EXPECT_EQ(json("o.json")["results"]["sites"], 2);
  EXPECT_EQ(json("o.json")["results"]["too_much_missing"], 1);
  expect_failure(given({"--max-missing", "2"}), 2, "--max-missing must be in [0, 1]");
  expect_failure(given({"--thin", "100"}), 2, "which only VCF has");
  expect_failure(given({"--thin", "100", "--one-per-locus"}), 2, "--thin and --one-per-locus exclude each other");
}

TEST_F(snp_likelihood_driver, rice_example_of_the_documentation) {
  const auto folder = std::filesystem::absolute(test::data_folder("snp/rice"));
  QUINTET_SKIP_WITHOUT(folder);
  const arguments given{
      "--data",
      folder / "rice_JDD1_example.nexus",
      "--species-rule",
      "after-last:_",
      "--theta",
      "0.1",
      "--u",
      "1",
      "--v",
      "1",
      "--network",
      "(((Jap:0.02,(Aro:0.01)#H1:0.01::0.65)a:0.03,((Ind:0.03)#H2:0.01::0.8,(Aus:0.02,#H1:0.01::0.35)e:0.02)b:"
      "0.01)c:0.03,(Or3:0.06,(Or1:0.05,#H2:0.02::0.2)f:0.01)d:0.02)r"};
  expect_value(given, -44782.728140407);
}

TEST_F(snp_likelihood_driver, bad_usage_is_one_clear_line) {
  const auto expect_bad = [&](const arguments& more, const std::string& message) {
    expect_failure(with(more), 2, message);
  };
  expect_failure({"--data", counts, "--network", tree, "--theta", "1", "--u", "1"}, 2, "--v");
  expect_failure({"--data", counts, "--network", tree, "--u", "1", "--v", "1"}, 2, "has no theta");
  expect_failure({"--data", counts, "--network", "none.nwk", "--u", "1", "--v", "1"}, 2,
                 "--network must be a file or a network, which begins with a parenthesis (--network=none.nwk)");
  expect_failure({"--data", counts, "--network", "(A:1,B:x)", "--theta", "1", "--u", "1", "--v", "1"}, 2,
                 "character 8 of the network: the length is no finite number");
  expect_failure({"--data", counts, "--network", "(A:1,C:1)", "--theta", "1", "--u", "1", "--v", "1"}, 2,
                 "leaves of the network without data: C; species of the data that are no leaves: B");
  expect_failure({"--data", "none.csv", "--network", tree, "--theta", "1", "--u", "1", "--v", "1"}, 2, "none.csv");
  expect_failure({"--data", counts, "--network", tree, "--theta", "0", "--u", "1", "--v", "1"}, 2, "--theta must be");
  expect_failure({"--data", counts, "--network", tree, "--theta", "1", "--u", "-1", "--v", "1"}, 2, "--u must be");
  expect_failure(
      {"--data", counts, "--network", "[3](A:1,B:1)", "--theta", "1", "--root-theta", "2", "--u", "1", "--v", "1"}, 2,
      "--root-theta must be what the network says");
  expect_bad({"--diploid"}, "diploid is for NEXUS and PHYLIP");
  for (const char* truncation : {"-1e-9", "0.2", "nan"})
    expect_bad({std::string("--truncation=") + truncation}, "--truncation must be");
  expect_bad({"--diploid", "--dominant"}, "exclude each other");
  expect_bad({"--species-rule", "first:_"}, "must be before-first:X or after-last:X");
  expect_bad({"--species-rule", "before-first:_"}, "has species already");
  expect_bad({"--species-rule", "before-first:_", "--population-map", "x"}, "exclude each other");
  expect_bad({"--population-map", "none.txt"}, "none.txt");
  expect_bad({"--per-site", "x.h5"}, "--per-site: x.h5");
  expect_bad({"--per-site", counts}, "must be another file");
  expect_bad({"--optimise", "lengths,rates"}, "--optimise must be a list of lengths");
  expect_bad({"--optimise", "gamma"}, "nothing to optimise");
  expect_bad({"--optimise", "theta,common-theta"}, "must name theta or common-theta, not both");
  expect_bad({"--individuals", "2"}, "individuals is for files of individuals");
  expect_bad({"--nucleotides"}, "nucleotides is for NEXUS and PHYLIP");
  expect_bad({"--nucleotides", "--dominant"}, "--nucleotides and --dominant exclude each other");
  expect_bad({"--compare", "(A:1,B:1)"}, "--search, --network, --compare and --f-statistics exclude each other");
  expect_bad({"--starts", "2"}, "--starts needs --optimise or --search");
  expect_bad({"--starts", "9223372036854775807", "--optimise", "lengths"}, "--starts must be in [1, 1000000]");
  expect_bad({"--outgroup", "X"}, "outgroup must be a species of the network (outgroup=X)");
  expect_bad({"--optimise", "lengths", "--seed", "2"}, "needs --search, --starts or --bootstrap");
  expect_bad({"--output-network", "no/folder/x.nwk"}, "--output-network: no/folder/x.nwk");
  expect_bad({"--gamma-shape", "1", "--gamma-categories", "0"}, "categories");
  expect_bad({"--gamma-categories", "3"}, "--gamma-categories needs --gamma-shape");
  expect_failure(
      {"--data", make("e.csv", "A,B\n0/0,1/1\n"), "--network", tree, "--theta", "1", "--u", "1", "--v", "1", "--quiet"},
      2, "the data have no sites that count");
}

}  // namespace
}  // namespace quintet
