#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "drivers/driver_run.hpp"
#include "quintet/io/hdf5.hpp"
#include "quintet/io/snp_network.hpp"
#include "quintet/snp/network/network_topology.hpp"
#include "quintet/snp/network/newick.hpp"
#include "quintet/snp/network/rooting.hpp"

namespace quintet {
namespace {

class snp_mcmc_driver : public test::driver_run {
 protected:
  snp_mcmc_driver() : driver_run("snp-mcmc") {
    std::ostringstream sites;
    sites << "A,B,C\n";
    for (int i = 0; i < 60; ++i) sites << i % 3 << "/2," << i * i % 3 << "/2," << i * 7 / 3 % 2 << "/1\n";
    make("counts.csv", sites.str());
  }
  arguments with(const arguments& more) const {
    arguments all{"--data",   "counts.csv", "--iterations", "3000", "--burn-in", "1000", "--sample-every", "20",
                  "--chains", "2",          "--seed",       "4",    "--output",  "run"};
    for (std::size_t i = 0; i < more.size(); ++i) {
      const auto found = std::find(all.begin(), all.end(), more[i]);
      if (found != all.end() && i + 1 < more.size())
        *(found + 1) = more[++i];
      else
        all.push_back(more[i]);
    }
    return all;
  }
  // The lines of a file that begin with a word.
  std::vector<std::string> lines(const std::string& name, const std::string& begin) const {
    std::vector<std::string> found;
    std::istringstream in(text_of(name));
    for (std::string line; std::getline(in, line);)
      if (line.starts_with(begin)) found.push_back(line);
    return found;
  }
};

TEST_F(snp_mcmc_driver, marginal_likelihood_of_p1) {
  make("p1.csv",
       "A,B,weight\n0/2,0/2,77\n0/2,1/2,5\n0/2,2/2,13\n1/2,0/2,6\n1/2,1/2,1\n1/2,2/2,10\n2/2,0/2,7\n"
       "2/2,1/2,7\n2/2,2/2,74\n");
  const auto with_iterations = [](const char* iterations, const char* folder) {
    return arguments{"--data",
                     "p1.csv",
                     "--prior",
                     "speciation-rate = 10",
                     "--prior",
                     "hybridization-rate = 0",
                     "--prior",
                     "theta = common gamma(2,20)",
                     "--iterations",
                     iterations,
                     "--burn-in",
                     "200",
                     "--sample-every",
                     "5",
                     "--chains",
                     "2",
                     "--marginal-likelihood",
                     "12",
                     "--max-reticulations",
                     "0",
                     "--seed",
                     "3",
                     "--output",
                     folder};
  };
  const arguments line = with_iterations("2000", "z");
  const outcome done = run(line);
  ASSERT_EQ(done.status, 0) << done.error;
  const auto marginal = json("z/summary.json")["marginal_likelihood"];
  EXPECT_EQ(json("z/summary.json")["truncation_bound"].number(), 1e-9);
  EXPECT_NEAR(marginal["log_z"].number(), -309.293004, 4 * marginal["error"].number());
  EXPECT_LT(marginal["error"].number(), 0.3);
  EXPECT_EQ(marginal["of"].text(), "counts");
  EXPECT_EQ(marginal["steps"].size(), 13u);
  QUINTET_EXPECT_CONTAINS(done.out, "log marginal likelihood -309.");
  arguments refused = line;
  refused.insert(refused.end(), {"--temperatures", "3"});
  QUINTET_EXPECT_CONTAINS(run(refused).error, "--temperatures and --marginal-likelihood exclude each other");
  // Half of the steps, and the others later, are the same run.
  ASSERT_EQ(run(with_iterations("1000", "parts")).status, 0);
  arguments later = with_iterations("2000", "parts");
  later.push_back("--resume");
  const outcome resumed = run(later);
  ASSERT_EQ(resumed.status, 0) << resumed.error;
  QUINTET_EXPECT_CONTAINS(resumed.out, "goes on from step 1000");
  const auto in_parts = json("parts/summary.json")["marginal_likelihood"];
  EXPECT_EQ(in_parts["log_z"].number(), marginal["log_z"].number());
  EXPECT_EQ(in_parts["error"].number(), marginal["error"].number());
  EXPECT_EQ(text_of("parts/chain_1.trees"), text_of("z/chain_1.trees"));
  later[std::size_t(std::find(later.begin(), later.end(), "12") - later.begin())] = "13";
  QUINTET_EXPECT_CONTAINS(run(later).error, "of a run with other data or options");
  // Too few samples are told before the first step, not after the last.
  QUINTET_EXPECT_CONTAINS(run(with_iterations("215", "short")).error,
                          "--iterations 215, --burn-in 200 and --sample-every 5 give 3");
  EXPECT_FALSE(std::filesystem::exists(work("short")));
}

TEST_F(snp_mcmc_driver, compares_assignments_of_the_same_individuals) {
  // A and B are one population, C is far.
  make("five.nex",
       "#NEXUS\nbegin data;\ndimensions ntax=5 nchar=12;\nformat datatype=standard symbols=\"01\";\nmatrix\n"
       "a1 010101001100\na2 010100001101\nb1 010101001101\nb2 010100001100\nc1 101001110010\n;\nend;\n");
  make("models.txt", "individual three lumped\na1 A AB\na2 A AB\nb1 B AB\nb2 B AB\nc1 C C\n");
  const arguments line{"--data",
                       "five.nex",
                       "--max-reticulations",
                       "0",
                       "--prior",
                       "theta = common gamma(2,20)",
                       "--iterations",
                       "1000",
                       "--sample-every",
                       "5",
                       "--marginal-likelihood",
                       "6",
                       "--seed",
                       "1"};
  const auto with_models = [&](const std::string& models, const std::string& folder) {
    arguments all = line;
    all.insert(all.end(), {"--compare-assignments", models, "--output", folder, "--json", folder + ".json"});
    return run(all);
  };
  const outcome done = with_models("models.txt", "both");
  ASSERT_EQ(done.status, 0) << done.error;
  const auto rows = json("both.json")["results"]["assignments"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["log_bayes_factor"].number(), 0);
  EXPECT_LE(rows[1]["log_bayes_factor"].number(), 0);
  for (const char* model : {"three", "lumped"}) {
    const auto summary = json(std::string("both/") + model + "/summary.json");
    EXPECT_EQ(summary["marginal_likelihood"]["of"].text(), "copies");
  }
  EXPECT_EQ(json("both/lumped/summary.json")["species"].size(), 2u);
  make("left_out.txt", "individual three other\na1 A A\na2 A -\nb1 B B\nb2 B B\nc1 C C\n");
  QUINTET_EXPECT_CONTAINS(with_models("left_out.txt", "l").error, "a2 has no species in other");
  make("absent.txt", "individual three\na1 A\na2 A\nb1 B\nc1 C\n");
  QUINTET_EXPECT_CONTAINS(with_models("absent.txt", "m").error,
                          "five.nex: the individual \"b2\" is not in column three of absent.txt (1 of 5 are not)");
}

// A fault of the last model is told before the first one runs.
TEST_F(snp_mcmc_driver, checks_all_assignments_before_the_first_chain) {
  make("four.nex",
       "#NEXUS\nbegin data;\ndimensions ntax=4 nchar=6;\nformat datatype=standard symbols=\"01\";\nmatrix\n"
       "a1 010101\na2 010100\nb1 011101\nc1 ??????\n;\nend;\n");
  const auto error_of = [&](const std::string& models, const arguments& more) {
    make("models.txt", models);
    arguments all{"--data",
                  "four.nex",
                  "--compare-assignments",
                  "models.txt",
                  "--marginal-likelihood",
                  "2",
                  "--iterations",
                  "1000",
                  "--output",
                  "models"};
    all.insert(all.end(), more.begin(), more.end());
    const outcome refused = run(all);
    EXPECT_NE(refused.status, 0);
    EXPECT_FALSE(std::filesystem::exists(work("models/two/samples.h5"))) << refused.error;
    return refused.error;
  };
  const std::string begin = "individual two last\na1 A A\na2 A A\nb1 B ";
  QUINTET_EXPECT_CONTAINS(error_of(begin + "A\nc1 B A\n", {}), "all individuals are A (assignment last)");
  QUINTET_EXPECT_CONTAINS(error_of(begin + "B\nc1 B C\n", {"--keep-empty"}), "the species C is empty");
  QUINTET_EXPECT_CONTAINS(error_of(begin + "B\nc1 B C\n", {}),
                          "the species C is empty: it has no copies at any site (assignment last)");
  QUINTET_EXPECT_CONTAINS(error_of(begin + "B\nc1 B B\nd1 B B\n", {}),
                          "the individual d1 is not in four.nex; 1 are not");
  QUINTET_EXPECT_CONTAINS(error_of(begin + "B\nc1 B B\n", {"--data", "-", "--format", "nexus"}), "--data");
  make("four.nex",
       "#NEXUS\nbegin data;\ndimensions ntax=4 nchar=6;\nformat datatype=standard symbols=\"01\";\nmatrix\n"
       "a1 010101\na2 010100\nb1 011101\nc1 ???011\n;\nend;\n");
  QUINTET_EXPECT_CONTAINS(error_of(begin + "B\nc1 B C\n", {}),
                          "two has 6 sites of 4 copies, last has 3 of 4 (--keep-empty");
  // The first ones of a species are others in another assignment.
  QUINTET_EXPECT_CONTAINS(error_of(begin + "B\nc1 B B\n", {"--individuals", "2"}),
                          "--individuals and --compare-assignments exclude each other");
  // Each leaves out one site, but not the same.
  make("four.nex",
       "#NEXUS\nbegin data;\ndimensions ntax=4 nchar=6;\nformat datatype=standard symbols=\"01\";\nmatrix\n"
       "a1 010101\na2 010100\nb1 01110?\nc1 ?10011\n;\nend;\n");
  QUINTET_EXPECT_CONTAINS(error_of("individual two last\na1 AB A\na2 AB A\nb1 AB B\nc1 C A\n", {}),
                          "two and last differ at site 1 of those read (--keep-empty keeps all sites)");
}

TEST_F(snp_mcmc_driver, an_error_in_an_option_of_the_prior_names_it) {
  const arguments line{"--no-data",    "--species", "A,B,C",       "--output",         "out",
                       "--iterations", "1000",      "--calibrate", "A,B = normal(1,1)"};
  const auto error_of = [&](const arguments& more) {
    arguments all = line;
    all.insert(all.end(), more.begin(), more.end());
    return run(all).error;
  };
  QUINTET_EXPECT_CONTAINS(error_of({"--calibrate", "A,C = normal(1,0)"}), "--calibrate:2: calibrate A,C must be");
  QUINTET_EXPECT_CONTAINS(error_of({"--calibrate", "A = normal(1,1)"}), "--calibrate:2: ");
  QUINTET_EXPECT_CONTAINS(error_of({"--clock", "normal(1,1)"}), "--clock:1: ");
  QUINTET_EXPECT_CONTAINS(error_of({"--monophyletic", "A"}), "--monophyletic:1: ");
  QUINTET_EXPECT_CONTAINS(error_of({"--monophyletic", "A,B", "--monophyletic", "A,Z"}),
                          "--monophyletic:2: monophyletic = A,Z: there is no species Z");
  QUINTET_EXPECT_CONTAINS(error_of({"--outgroup", "Z"}), "--outgroup:1: outgroup = Z: there is no species Z");
  make("rules.txt", "# of three species\npi1 = fixed(0.5)\nmonophyletic = B,Z\n");
  QUINTET_EXPECT_CONTAINS(error_of({"--priors", "rules.txt"}),
                          "rules.txt:3: monophyletic = B,Z: there is no species Z");
  make("short.txt", "pi1 = fixed(0.5)\n");
  QUINTET_EXPECT_CONTAINS(error_of({"--priors", "short.txt", "--prior", "origin = fixed(1)", "--prior", "speed = 3"}),
                          "--prior:2: there is no key \"speed\"");
}

TEST_F(snp_mcmc_driver, checks_what_it_predicts) {
  const outcome done = run(with({"--quiet", "--predictive", "10"}));
  ASSERT_EQ(done.status, 0) << done.error;
  const auto rows = json("run/summary.json")["predictive"];
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["name"].text(), "patterns");
  EXPECT_EQ(rows[0]["observed"].number(), 6);
}

TEST_F(snp_mcmc_driver, dates_ancestors_and_keeps_constraints) {
  const outcome done = run({"--no-data",
                            "--species",
                            "A,B,C",
                            "--prior",
                            "speciation-rate = 1e-6",
                            "--prior",
                            "hybridization-rate = 5e-7",
                            "--prior",
                            "origin = exponential(1e6)",
                            "--calibrate",
                            "root = normal(5e5, 1e5)",
                            "--outgroup",
                            "C",
                            "--clock",
                            "1e-8",
                            "--generation-time",
                            "5",
                            "--iterations",
                            "20000",
                            "--sample-every",
                            "20",
                            "--seed",
                            "2",
                            "--output",
                            "dated"});
  ASSERT_EQ(done.status, 0) << done.error;
  const auto summary = json("dated/summary.json");
  const double height = summary["parameters"]["root_height"]["mean"].number();
  EXPECT_NEAR(height, 4.9e5, 3e4);
  EXPECT_NEAR(summary["parameters"]["Ne_root"]["mean"].number() * 20,
              summary["parameters"]["theta_root"]["mean"].number(), 1e-3);
  for (const std::string& tree : lines("dated/chain_0.trees", "tree STATE_"))
    EXPECT_TRUE(snp::is_rooted_at(snp::parse_newick(tree.substr(tree.find('(')), {.theta = 1, .gamma = 0.5}),
                                  std::vector<std::string>{"C"}));
  const outcome wrong = run({"--no-data", "--species", "A,B,C", "--calibrate", "A,Z = normal(1,1)", "--iterations",
                             "1000", "--output", "wrong"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.error.find("calibrate A,Z: there is no species Z"), std::string::npos) << wrong.error;
}

TEST_F(snp_mcmc_driver, writes_what_tracer_icytree_and_people_read) {
  const outcome done = run(with({"--quiet"}));
  ASSERT_EQ(done.status, 0) << done.error;
  for (int c = 0; c < 2; ++c) {
    const std::string log = "run/chain_" + std::to_string(c) + ".log",
                      trees = "run/chain_" + std::to_string(c) + ".trees";
    EXPECT_EQ(lines(log, "#").size(), 11u);
    EXPECT_EQ(lines(log, "# prior pi1 = fixed(0.5)").size(), 1u);
    const auto head = lines(log, "Sample\tposterior\tlikelihood\tprior\treticulations\troot_height\torigin");
    ASSERT_EQ(head.size(), 1u);
    // Samples at 1020, 1040, ... 3000.
    EXPECT_EQ(lines(log, "1").size() + lines(log, "2").size() + lines(log, "3").size(), 100u);
    const auto sampled = lines(trees, "tree STATE_");
    ASSERT_EQ(sampled.size(), 100u);
    EXPECT_EQ(text_of(trees).substr(0, 6), "#NEXUS");
    EXPECT_EQ(lines(trees, "End;").size(), 1u);
    // They read back, and are those of samples.h5.
    const auto rows = io::read_hdf5<double>(work("run/samples.h5"), "traces/chain_" + std::to_string(c));
    ASSERT_EQ(rows.shape[0], 100);
    for (std::size_t i = 0; i < sampled.size(); i += 9) {
      const snp::Network network = snp::parse_newick(sampled[i].substr(sampled[i].find("[&R]") + 4));
      EXPECT_EQ(std::int64_t(network.reticulations().size()), rows.data[i * std::size_t(rows.shape[1]) + 4]);
      double height = 0;
      for (std::int64_t x = network.leaves()[0]; x != network.root();) {
        const std::int64_t b = network.parent_branches(x)[0];
        height += network.branch(b).length;
        x = network.branch(b).parent;
      }
      EXPECT_NEAR(height, rows.data[i * std::size_t(rows.shape[1]) + 5], 1e-12 * height);
    }
  }
  const test::json_value summary = json("run/summary.json");
  double sum = 0;
  for (const char* r : {"0", "1", "2"}) sum += summary["reticulations"][r].number();
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_GT(summary["parameters"]["root_height"]["ess_bulk"].number(), 0);
  EXPECT_GT(summary["parameters"]["root_height"]["rhat"].number(), 0.9);
  EXPECT_GT(summary["topologies"][0]["probability"].number(), 0);
  EXPECT_NO_THROW(snp::parse_newick(summary["map"]["network"].text()));
  for (const char* key : {"clusters", "hybrid_events", "moves", "warnings", "asdsf", "highest_posterior"})
    EXPECT_TRUE(summary.contains(key)) << key;
}

TEST_F(snp_mcmc_driver, a_short_run_has_three_warnings_and_advice) {
  const outcome done = run(with({}));
  ASSERT_EQ(done.status, 0) << done.error;
  const test::json_value summary = json("run/summary.json");
  const std::size_t all = summary["warnings"].size();
  ASSERT_GT(all, 4u);
  std::vector<std::string> shown;
  std::istringstream in(done.error);
  for (std::string line; std::getline(in, line);)
    if (line.find("warning: ") != std::string::npos) shown.push_back(line);
  ASSERT_EQ(shown.size(), 4u) << done.error;
  for (std::size_t i = 0; i < 3; ++i) QUINTET_EXPECT_CONTAINS(shown[i], summary["warnings"][int(i)].text());
  QUINTET_EXPECT_CONTAINS(shown[3], summary["advice"].text());
  QUINTET_EXPECT_CONTAINS(shown[3], text(all - 3, " more warnings are in run/summary.json"));
  // The screen has numbers of 6 digits, the file all of them, of one network.
  const std::string whole = summary["map"]["network"].text();
  const std::size_t place = done.out.find("\n  ", done.out.find("most probable topology"));
  ASSERT_NE(place, std::string::npos) << done.out;
  const std::string screen = done.out.substr(place + 3, done.out.find('\n', place + 1) - place - 3);
  const snp::Network a = snp::parse_newick(whole), b = snp::parse_newick(screen);
  EXPECT_LT(screen.size(), whole.size());
  EXPECT_EQ(snp::topology_key(a), snp::topology_key(b));
  ASSERT_EQ(a.branches(), b.branches());
  for (std::int64_t n = 0; n < a.branches(); ++n) {
    EXPECT_NEAR(a.branch(n).length, b.branch(n).length, 5e-6 * a.branch(n).length);
    EXPECT_NEAR(a.branch(n).theta, b.branch(n).theta, 5e-6 * a.branch(n).theta);
  }
}

TEST_F(snp_mcmc_driver, networks_for_phylonet_read_back_equal) {
  for (const std::string format : {"icytree", "phylonet"}) {
    const outcome done = run(with({"--quiet", "--chains", "1", "--newick", format, "--output", format}));
    ASSERT_EQ(done.status, 0) << done.error;
  }
  const auto a = lines("icytree/chain_0.trees", "tree"), b = lines("phylonet/chain_0.trees", "Network STATE_");
  ASSERT_EQ(a.size(), 100u);
  ASSERT_EQ(b.size(), 100u);
  EXPECT_EQ(lines("phylonet/chain_0.trees", "BEGIN NETWORKS;").size(), 1u);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const snp::Network first = snp::parse_newick(a[i].substr(a[i].find("[&R]") + 4)),
                       second = snp::parse_newick(b[i].substr(b[i].find("= ") + 2));
    EXPECT_EQ(snp::topology_key(first), snp::topology_key(second));
    EXPECT_EQ(first.root_theta(), second.root_theta());
    double sums[2][3] = {};
    for (int which = 0; which < 2; ++which) {
      const snp::Network& one = which == 0 ? first : second;
      for (std::int64_t n = 0; n < one.branches(); ++n) {
        sums[which][0] += one.branch(n).length;
        sums[which][1] += one.branch(n).theta;
        sums[which][2] += one.branch(n).gamma;
      }
    }
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(sums[0][k], sums[1][k], 1e-12 * sums[0][k]);
  }
}

TEST_F(snp_mcmc_driver, samples_the_prior_without_data) {
  make("p.txt",
       "# rates\nspeciation-rate = 1\nhybridization-rate = 0.5\norigin = exponential(1)\n"
       "theta = common fixed(0.05)\n");
  const outcome done = run({"--no-data", "--species", "A,B", "--priors", "p.txt", "--max-reticulations", "1",
                            "--iterations", "200000", "--chains", "2", "--output", "prior", "--quiet"});
  ASSERT_EQ(done.status, 0) << done.error;
  EXPECT_NEAR(json("prior/summary.json")["reticulations"]["1"].number(), 5.0 / 27, 0.03);
  EXPECT_NEAR(json("prior/summary.json")["parameters"]["root_height"]["mean"].number(), 0.3908, 0.04);
}

TEST_F(snp_mcmc_driver, parts_that_are_fixed_stay) {
  const outcome done = run(with(
      {"--quiet", "--start", "((A:0.1,B:0.1)x:0.1,C:0.2)r;", "--fix", "topology,heights", "--max-reticulations", "0"}));
  ASSERT_EQ(done.status, 0) << done.error;
  const test::json_value summary = json("run/summary.json");
  EXPECT_NEAR(summary["topologies"][0]["probability"].number(), 1, 1e-12);
  EXPECT_NEAR(summary["parameters"]["root_height"]["mean"].number(), 0.2, 1e-12);
  EXPECT_GT(summary["parameters"]["theta_mean"]["sd"].number(), 0);
}

// Two species, one reticulation at most: the prior has 5 / 27, quadrature of the posterior 0.50115.
TEST_F(snp_mcmc_driver, a_bayes_factor_is_posterior_odds_over_prior_odds) {
  make("p4.csv",
       "A,B,weight\n0/3,0/2,21\n0/3,1/2,1\n0/3,2/2,2\n1/3,0/2,1\n1/3,2/2,4\n2/3,0/2,1\n2/3,2/2,4\n3/3,0/2,4\n"
       "3/3,1/2,1\n3/3,2/2,21\n");
  make("p4.priors",
       "speciation-rate = 10\nhybridization-rate = 5\norigin = exponential(.1)\ntheta = common fixed(.05)\n");
  const auto factors_of = [&](const char* iterations, const arguments& more) {
    arguments all{"--data",   "p4.csv", "--priors",       "p4.priors", "--max-reticulations", "1",
                  "--chains", "2",      "--sample-every", "10",        "--burn-in",           "2000",
                  "--seed",   "7",      "--output",       "p4",        "--iterations",        iterations,
                  "--quiet"};
    all.insert(all.end(), more.begin(), more.end());
    std::filesystem::remove_all(work("p4"));
    const outcome done = run(all);
    EXPECT_EQ(done.status, 0) << done.error;
    return json("p4/summary.json");
  };
  const test::json_value summary = factors_of("30000", {});
  ASSERT_EQ(summary["bayes_factors"].size(), 1u);
  const test::json_value factor = summary["bayes_factors"][0];
  EXPECT_EQ(factor["reticulations"], 1);
  EXPECT_EQ(factor["against"], 0);
  EXPECT_NEAR(factor["prior_odds"].number(), 5.0 / 22, 1e-12);
  const double share = summary["reticulations"]["1"].number();
  EXPECT_NEAR(factor["bayes_factor"].number(), share / (1 - share) * 22 / 5, 1e-9);
  const double error = summary["parameters"]["reticulations"]["mcse"].number();
  EXPECT_LT(error, 0.025);
  EXPECT_NEAR(share, 0.50115, 4 * error);
  // Fixed parts leave another prior of the number, which is not known.
  for (const char* fixed : {"topology", "topology,heights", "origin", "rates"})
    EXPECT_EQ(factors_of("2100", {"--start", "(A:0.05,B:0.05);", "--fix", fixed})["bayes_factors"].size(), 0u) << fixed;
  EXPECT_EQ(factors_of("2100", {"--start", "(A:0.05,B:0.05);"})["bayes_factors"].size(), 1u);
}

TEST_F(snp_mcmc_driver, a_longer_run_keeps_its_burn_in) {
  const auto options = [](const char* iterations, const char* output, const arguments& more) {
    arguments all{"--data",  "counts.csv",   "--sample-every", "20",       "--seed", "4",
                  "--quiet", "--iterations", iterations,       "--output", output};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  ASSERT_EQ(run(options("4000", "whole", {"--burn-in", "200"})).status, 0);
  ASSERT_EQ(run(options("2000", "parts", {})).status, 0);
  const outcome done = run(options("4000", "parts", {"--resume"}));
  ASSERT_EQ(done.status, 0) << done.error;
  for (const char* begin : {"2", "3", "4", "5", "6", "7", "8", "9", "1"})
    EXPECT_EQ(lines("parts/chain_0.log", begin), lines("whole/chain_0.log", begin));
  EXPECT_EQ(json("parts/summary.json")["burn_in"], 200);
  EXPECT_EQ(text_of("parts/chain_0.trees"), text_of("whole/chain_0.trees"));
}

// One byte of a run's files is another one: going on is refused, or the byte did not matter.
TEST_F(snp_mcmc_driver, damaged_runs_are_not_gone_on_with) {
  ASSERT_EQ(run(with({"--quiet", "--chains", "1"})).status, 0);
  const std::filesystem::path folder = work("run");
  const std::string good_log = text_of("run/chain_0.log"), good_trees = text_of("run/chain_0.trees");
  int refused = 0;
  for (const char* name : {"chain_0.log", "chain_0.trees", "samples.h5"})
    for (int trial = 0; trial < 6; ++trial) {
      const std::string good = text_of(std::string("run/") + name);
      std::string bad = good;
      bad[good.size() * std::size_t(trial + 1) / 8] ^= 1;
      make(std::string("run/") + name, bad);
      const outcome done = run(with({"--quiet", "--chains", "1", "--resume"}));
      refused += done.status == 2;
      if (done.status == 0) {
        EXPECT_EQ(text_of("run/chain_0.log"), good_log) << name << " " << trial;
        EXPECT_EQ(text_of("run/chain_0.trees"), good_trees) << name << " " << trial;
      }
      make(std::string("run/") + name, good);
    }
  EXPECT_GE(refused, 12);
}

TEST_F(snp_mcmc_driver, starts_from_a_network_of_maximum_likelihood) {
  const outcome done = run(with({"--start", "((A:0.1,B:0.3):0.1,C:0.2);", "--max-reticulations", "0"}));
  ASSERT_EQ(done.status, 0) << done.error;
  QUINTET_EXPECT_CONTAINS(done.error, "differ in length, so branches were made longer, from 0.7 to 1.1 in all");
}

// The search is done again for a run that goes on, and finds the same.
TEST_F(snp_mcmc_driver, starts_from_a_search) {
  const auto options = [](const char* iterations, const char* output, const arguments& more) {
    arguments all{
        "--data", "counts.csv", "--max-reticulations", "1",   "--chains",     "2",        "--sample-every", "20",
        "--seed", "4",          "--burn-in",           "200", "--iterations", iterations, "--quiet",        "--output",
        output};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  ASSERT_EQ(run(options("2000", "whole", {"--start", "search"})).status, 0);
  ASSERT_EQ(run(options("1000", "parts", {"--start", "search"})).status, 0);
  const outcome done = run(options("2000", "parts", {"--start", "search", "--resume"}));
  ASSERT_EQ(done.status, 0) << done.error;
  ASSERT_EQ(run(options("2000", "drawn", {})).status, 0);
  for (const char* name : {"chain_0.trees", "chain_1.trees"}) {
    EXPECT_EQ(text_of(std::string("parts/") + name), text_of(std::string("whole/") + name));
    EXPECT_NE(text_of(std::string("drawn/") + name), text_of(std::string("whole/") + name));
  }
}

TEST_F(snp_mcmc_driver, bad_input) {
  make("bad.txt", "speciation-rate = 10\nspeed = 3\n");
  make("constant.csv", "A,B,C\n0/2,0/2,0/1\n2/2,2/2,1/1\n");
  expect_failure(with({"--priors", "bad.txt"}), 2, "bad.txt:2: ");
  expect_failure(with({"--prior", "speed = 3"}), 2, "--prior:1: ");
  expect_failure(with({"--priors", "none.txt"}), 2, "none.txt: cannot be read");
  expect_failure(with({"--start", "((A:0.1,B:0.1):0.1,D:0.2);"}), 2, "D");
  expect_failure(with({"--start", "none.nwk"}), 2,
                 "--start must be a file, a network, which begins with a parenthesis, or search");
  expect_failure(with({"--data", "constant.csv"}), 2, "data without variation");
  expect_failure(with({"--max-reticulations", "50"}), 2, "--max-reticulations must be in [0, 20]");
  expect_failure(with({"--fix", "topology"}), 2, "--fix needs --start");
  expect_failure(with({"--start", "search", "--fix", "topology"}), 2, "--start search exclude each other");
  expect_failure({"--no-data", "--species", "A,B", "--start", "search", "--iterations", "10", "--output", "x"}, 2,
                 "--start search and --no-data exclude each other: a search needs data");
  expect_failure(with({"--start", "((A:0.1,B:0.1):0.1,C:0.2);", "--fix", "shape"}), 2, "--fix must be a list of");
  expect_failure(with({"--burn-in", "4000"}), 2, "burn_in must be in [0, iterations = 3000]");
  expect_failure(with({"--newick", "plain"}), 2, "--newick must be icytree or phylonet");
  expect_failure(with({"--no-data"}), 2, "--data and --no-data exclude each other");
  expect_failure({"--no-data", "--species", "A", "--iterations", "10", "--output", "x"}, 2, "two or more names");
  expect_failure(
      {"--no-data", "--species", "A,B", "--prior", "network = phylonet", "--iterations", "10", "--output", "x"}, 2,
      "proper");
  make("file", "");
  expect_failure(with({"--output", "file"}), 2, "file: ");
}

}  // namespace
}  // namespace quintet
