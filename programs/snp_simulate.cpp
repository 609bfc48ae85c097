// quintet-snp-simulate: biallelic markers on a phylogenetic network, and networks from the birth-hybridization process.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "quintet/io/atomic_file.hpp"
#include "quintet/io/csv.hpp"
#include "quintet/io/snp_network.hpp"
#include "quintet/snp/network/newick.hpp"
#include "quintet/snp/simulation/simulate.hpp"
#include "support/driver.hpp"

namespace quintet::driver {

namespace {

struct arguments {
  std::string network, species, priors_file, output, output_networks, copies = "2";
  std::vector<std::string> priors;
  double theta = snp::unset, root_theta = snp::unset, u = snp::unset, v = snp::unset;
  std::int64_t sites = 1000, networks = 1, max_reticulations = 2, seed = 1;
  bool polymorphic_only = false;
};

auto positive(const char* option) {
  return
      [option](double value) { require_argument(std::isfinite(value) && value > 0, option, value, "finite and > 0"); };
}

void check_counts_file(const std::string& path) {
  try {
    io::check_output(path, {io::file_format::csv});
  } catch (const FileError& e) {
    throw InvalidArgument(text("--output: ", e.what()));
  }
}

void check_networks_file(const std::string& path) {
  try {
    io::check_writable(path);
  } catch (const FileError& e) {
    throw InvalidArgument(text("--output-networks: ", e.what()));
  }
}

po::options_description describe(arguments& a) {
  po::options_description all, network("Network"), sites("Sites"), output("Output");
  network.add_options()  //
      ("network", po::value(&a.network)->value_name("TEXT|FILE"),
       "rooted network in extended Newick, name:length:theta:gamma, or a file with one")  //
      ("theta", po::value(&a.theta)->value_name("X")->notifier(positive("--theta")),
       "for branches without a theta in the network, > 0; pairs of lineages merge with rate 2/theta")  //
      ("root-theta", po::value(&a.root_theta)->value_name("X")->notifier(positive("--root-theta")),
       "above the root, if the network has no theta there, > 0; by default --theta")  //
      ("species", po::value(&a.species)->value_name("A,B,..."),
       "instead of --network: draws networks of these species from the prior, thetas and the frequency of allele 1 "
       "too")  //
      ("priors", po::value(&a.priors_file)->value_name("FILE"),
       "with --species: the prior, key = value in every line; by default SnappNet's")  //
      ("prior", po::value(&a.priors)->composing()->value_name("'KEY = VALUE'"),
       "with --species: one more line of --priors; you may repeat this option")  //
      ("max-reticulations",
       po::value(&a.max_reticulations)
           ->default_value(2)
           ->value_name("R")
           ->notifier(within<std::int64_t>("--max-reticulations", 0, 20)),
       "with --species: the most reticulations, 0 ... 20")  //
      ("networks",
       po::value(&a.networks)
           ->default_value(1)
           ->value_name("N")
           ->notifier(within<std::int64_t>("--networks", 1, 1'000'000'000)),
       "with --species: number of networks, >= 1; sites are simulated on the first");
  sites.add_options()  //
      ("copies", po::value(&a.copies)->default_value("2")->value_name("N|A=N,B=M,..."),
       "gene copies of every species, or of each; 0 ... 8000, at most 8000 in all")  //
      ("u", po::value(&a.u)->value_name("U")->notifier(positive("--u")),
       "rate of 1 -> 0, > 0; by default 1, with --species what the prior draws")  //
      ("v", po::value(&a.v)->value_name("V")->notifier(positive("--v")),
       "rate of 0 -> 1, > 0; by default 1, with --species what the prior draws")  //
      ("sites",
       po::value(&a.sites)->default_value(1000)->value_name("N")->notifier(
           within<std::int64_t>("--sites", 1, 1'000'000'000)),
       "how many, >= 1")                                                                               //
      ("polymorphic-only", po::bool_switch(&a.polymorphic_only), "only sites that show both alleles")  //
      ("seed", po::value(&a.seed)->default_value(1)->value_name("S")->notifier(at_least("--seed", 0)),
       "of the random numbers, >= 0: the same seed, the same output, for any number of threads");
  output.add_options()  //
      ("output", po::value(&a.output)->value_name("FILE")->notifier(check_counts_file),
       ".csv: counts red/copies, one column per species, as quintet-snp-likelihood reads them")  //
      ("output-networks", po::value(&a.output_networks)->value_name("FILE")->notifier(check_networks_file),
       "with --species: the networks in extended Newick, one per line");
  all.add(network).add(sites).add(output);
  return all;
}

void check_together(const arguments& a) {
  if (a.network.empty() == a.species.empty())
    throw InvalidArgument("exactly one of --network and --species is required");
  if (a.output.empty() && a.output_networks.empty())
    throw InvalidArgument("--output or --output-networks is required, otherwise nothing would be written");
  if (a.species.empty()) {
    if (!a.output_networks.empty() || !a.priors_file.empty() || !a.priors.empty() || a.networks != 1)
      throw InvalidArgument("--output-networks, --networks, --priors and --prior go with --species");
  } else if (!std::isnan(a.theta) || !std::isnan(a.root_theta)) {
    throw InvalidArgument("--theta and --root-theta go with --network; with --species use --prior 'theta = ...'");
  }
  if (std::isnan(a.u) != std::isnan(a.v)) throw InvalidArgument("--u and --v are given together or not at all");
}

snp::Network read_network(const arguments& a) {
  const snp::newick_options options{.theta = a.theta, .root_theta = a.root_theta};
  std::error_code none;
  if (std::filesystem::exists(a.network, none)) return io::read_network(a.network, options);
  if (a.network.find('(') == std::string::npos)
    throw InvalidArgument(
        text("--network must be a file or a network, which begins with a parenthesis (--network=", a.network, ")"));
  return snp::parse_newick(a.network, options);
}

snp::prior_options read_priors(const arguments& a) {
  std::string lines;
  std::string source = "--prior";
  if (!a.priors_file.empty()) {
    std::ifstream file(a.priors_file);
    if (!file) throw FileError(a.priors_file, "cannot be read");
    std::ostringstream all;
    all << file.rdbuf();
    lines = all.str();
    if (!lines.empty() && lines.back() != '\n') lines += '\n';
    source = a.priors_file;
  }
  for (const std::string& line : a.priors) lines += line + "\n";
  return snp::parse_priors(lines, source);
}

std::int64_t read_count(const std::string& word, const std::string& all) {
  std::int64_t value = -1;
  std::size_t used = 0;
  try {
    value = std::stoll(word, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != word.size() || value < 0 || value > 8000)
    throw InvalidArgument(text("--copies must be a number in 0 ... 8000, or species=number,... (--copies=", all, ")"));
  return value;
}

// In the order of the species.
std::vector<std::int64_t> read_copies(const arguments& a, std::span<const std::string> species) {
  if (a.copies.find('=') == std::string::npos)
    return std::vector<std::int64_t>(species.size(), read_count(a.copies, a.copies));
  std::map<std::string, std::int64_t> given;
  for (const std::string& word : split(a.copies, ',')) {
    const std::size_t equals = word.rfind('=');
    const std::string name = word.substr(0, equals);
    if (equals == std::string::npos || std::find(species.begin(), species.end(), name) == species.end())
      throw InvalidArgument(text("--copies names \"", name, "\", which is no species of the network"));
    if (!given.emplace(name, read_count(word.substr(equals + 1), a.copies)).second)
      throw InvalidArgument(text("--copies names ", name, " twice"));
  }
  std::vector<std::int64_t> copies;
  for (const std::string& name : species) {
    if (!given.contains(name)) throw InvalidArgument(text("--copies says nothing of the species ", name));
    copies.push_back(given[name]);
  }
  return copies;
}

// The first of the networks drawn; all are written.
snp::network_state draw_networks(session& session, const arguments& a) {
  auto names = std::make_shared<const std::vector<std::string>>(split(a.species, ','));
  for (const std::string& name : *names)
    if (name.empty() || std::count(names->begin(), names->end(), name) > 1)
      throw InvalidArgument(
          text("--species must be different names with commas between them (--species=", a.species, ")"));
  const snp::prior_options options = read_priors(a);
  const snp::priors priors(options, static_cast<std::int64_t>(names->size()),
                           {.max_reticulations = a.max_reticulations});
  if (!priors.is_proper()) throw InvalidArgument("PhyloNet's prior is improper: networks cannot be drawn from it");
  return session.timed("networks", [&] {
    const auto draw = [&](std::int64_t number) {
      // Streams of sites count from 0, those of networks from 2^63.
      random_stream random(static_cast<std::uint64_t>(a.seed),
                           (std::uint64_t{1} << 63) + static_cast<std::uint64_t>(number));
      return priors.draw(names, random);
    };
    snp::network_state first = draw(0);
    if (a.output_networks.empty()) return first;
    io::atomic_file out(a.output_networks);
    for (std::int64_t number = 0; number < a.networks; ++number)
      out.write(snp::to_newick(snp::to_network(draw(number))) + "\n");
    out.commit();
    return first;
  });
}

void simulate(session& session, const arguments& a) {
  double u = a.u, v = a.v;
  const auto network = [&] {
    if (!a.network.empty()) return read_network(a);
    const snp::network_state drawn = draw_networks(session, a);
    session.result("networks", a.networks);
    session.result("reticulations", drawn.reticulations);
    if (std::isnan(u)) {
      u = drawn.u();
      v = drawn.v();
    }
    return snp::to_network(drawn);
  }();
  if (std::isnan(u)) u = v = 1;
  session.result("network", snp::to_newick(network));
  if (!a.output_networks.empty())
    session.say() << a.networks << (a.networks == 1 ? " network" : " networks") << " in " << a.output_networks << "\n";
  if (a.output.empty()) return;

  const auto species = network.species();
  const snp::simulate_options options{.copies = read_copies(a, species),
                                      .u = u,
                                      .v = v,
                                      .sites = a.sites,
                                      .seed = static_cast<std::uint64_t>(a.seed),
                                      .polymorphic_only = a.polymorphic_only};
  const snp::simulated_sites made = session.timed("sites", [&] { return snp::simulate_sites(network, options); });
  double attempts = 0;
  for (const std::int64_t one : made.attempts) attempts += static_cast<double>(one);
  session.result("u", u);
  session.result("v", v);
  session.result("sites", a.sites);
  session.result("attempts", attempts);
  session.timed("write", [&] {
    io::csv_writer out(a.output, std::vector<std::string>(species.begin(), species.end()));
    for (std::size_t site = 0; site < made.attempts.size(); ++site) {
      for (std::size_t s = 0; s < species.size(); ++s)
        out.field(text(made.red[site * species.size() + s], "/", options.copies[s]));
      out.end_row();
    }
    out.commit();
  });
  session.say() << "network " << snp::to_newick(network) << "\n";
  session.say_done(a.output);
}

const program about{
    "quintet-snp-simulate",
    "biallelic markers on a phylogenetic network, and networks from the birth-hybridization process; exact.",
    "quintet-snp-simulate --network '((A:0.02,(B:0.01)#H1:0.01::0.6):0.02,(C:0.02,#H1:0.01::0.4):0.02)' \\\n"
    "    --theta 0.01 --copies 2 --sites 10000 --seed 1 --output counts.csv",
    {"double"}};

void run(session& session, arguments& a) {
  require_distinct_files(
      {{"--network", a.network}, {"--priors", a.priors_file}},
      {{"--output", a.output}, {"--output-networks", a.output_networks}, {"--json", session.line().common.json}});
  check_together(a);
  simulate(session, a);
}

}  // namespace

}  // namespace quintet::driver

int main(int argc, char** argv) {
  using namespace quintet::driver;
  return run_driver<arguments>(argc, argv, about, describe, run);
}
