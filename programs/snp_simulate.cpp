// quintet-snp-simulate: biallelic markers on a phylogenetic network, and networks from the birth-hybridization process.
#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <map>
#include <system_error>

#include "quintet/io/atomic_file.hpp"
#include "quintet/io/csv.hpp"
#include "quintet/io/snp_network.hpp"
#include "quintet/snp/network/newick.hpp"
#include "quintet/snp/simulation/simulate.hpp"
#include "support/driver.hpp"
#include "support/snp_priors.hpp"

namespace quintet::driver {

namespace {

struct arguments {
  std::string network, species, priors_file, output, output_networks, population_map, copies = "2";
  std::vector<std::string> priors;
  double theta = snp::unset, root_theta = snp::unset, u = snp::unset, v = snp::unset;
  std::int64_t sites = 1000, networks = 1, max_reticulations = 2, seed = 1, ploidy = 2;
  bool polymorphic_only = false;
};

auto positive(const char* option) {
  return
      [option](double value) { require_argument(std::isfinite(value) && value > 0, option, value, "finite and > 0"); };
}

enum class marker_format { counts, vcf, nexus };

marker_format format_of(const std::string& path) {
  if (path.ends_with(".vcf")) return marker_format::vcf;
  return path.ends_with(".nex") || path.ends_with(".nexus") ? marker_format::nexus : marker_format::counts;
}

void check_markers_file(const std::string& path) {
  try {
    if (format_of(path) != marker_format::counts) return io::check_writable(path);
    io::check_output(path, {io::file_format::csv});
  } catch (const FileError& e) {
    throw InvalidArgument(text("--output: ", e.what()));
  }
}

auto writable_file(const char* option) {
  return [option](const std::string& path) {
    try {
      io::check_writable(path);
    } catch (const FileError& e) {
      throw InvalidArgument(text(option, ": ", e.what()));
    }
  };
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
      ("output", po::value(&a.output)->value_name("FILE")->notifier(check_markers_file),
       ".csv: counts red/copies, one column per species, as quintet-snp-likelihood reads them; .vcf or .nex: genotypes "
       "of "
       "individuals A_1, A_2, ... of species A")  //
      ("ploidy",
       po::value(&a.ploidy)->default_value(2)->value_name("1|2")->notifier(within<std::int64_t>("--ploidy", 1, 2)),
       "copies of an individual in .vcf and .nex")  //
      ("population-map", po::value(&a.population_map)->value_name("FILE")->notifier(writable_file("--population-map")),
       "with .vcf and .nex: a table of individual and species")  //
      ("output-networks",
       po::value(&a.output_networks)->value_name("FILE")->notifier(writable_file("--output-networks")),
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
  if (!a.population_map.empty() && (a.output.empty() || format_of(a.output) == marker_format::counts))
    throw InvalidArgument("--population-map goes with --output .vcf or .nex");
  if (std::isnan(a.u) != std::isnan(a.v)) throw InvalidArgument("--u and --v are given together or not at all");
}

snp::Network read_network(const arguments& a) {
  const snp::newick_options options{.theta = a.theta, .root_theta = a.root_theta};
  std::error_code ignored;
  if (std::filesystem::exists(a.network, ignored)) return io::read_network(a.network, options);
  if (a.network.find('(') == std::string::npos)
    throw InvalidArgument(
        text("--network must be a file or a network, which begins with a parenthesis (--network=", a.network, ")"));
  return snp::parse_newick(a.network, options);
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
  std::map<std::string, std::int64_t> counts;
  for (const std::string& word : split(a.copies, ',')) {
    const std::size_t equals = word.rfind('=');
    const std::string name = word.substr(0, equals);
    if (equals == std::string::npos || std::find(species.begin(), species.end(), name) == species.end())
      throw InvalidArgument(text("--copies names \"", name, "\", which is no species of the network"));
    if (!counts.emplace(name, read_count(word.substr(equals + 1), a.copies)).second)
      throw InvalidArgument(text("--copies names ", name, " twice"));
  }
  std::vector<std::int64_t> copies;
  for (const std::string& name : species) {
    if (!counts.contains(name)) throw InvalidArgument(text("--copies says nothing of the species ", name));
    copies.push_back(counts[name]);
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
  const snp::prior_options options = snp::parse_priors(prior_sources(a.priors_file, a.priors));
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

// Genotypes of individuals: which copies of a species are red is chance, since counts are all that the model knows.
class genotypes {
 public:
  genotypes(const arguments& a, std::span<const std::string> species, std::vector<std::int64_t> copies,
            const snp::simulated_sites& sites)
      : ploidy_(a.ploidy), seed_(std::uint64_t(a.seed)), copies_(std::move(copies)), sites_(sites) {
    for (std::size_t s = 0; s < species.size(); ++s) {
      if (copies_[s] % ploidy_ != 0)
        throw InvalidArgument(text("--copies of ", species[s], " must be a multiple of --ploidy ", ploidy_, " (",
                                   copies_[s], "); --ploidy 1 takes haploids"));
      for (std::int64_t i = 0; i < copies_[s] / ploidy_; ++i) {
        names_.push_back(text(species[s], "_", i + 1));
        species_.push_back(species[s]);
      }
    }
  }

  const std::vector<std::string>& names() const { return names_; }
  const std::vector<std::string>& species() const { return species_; }

  /// Alleles of all copies at a site, those of an individual together.
  std::vector<bool> alleles_at(std::int64_t site) const {
    // Streams of sites count from 0, those of networks from 2^63.
    random_stream random(seed_, (std::uint64_t{1} << 62) + std::uint64_t(site));
    std::vector<bool> alleles;
    for (std::size_t s = 0; s < copies_.size(); ++s) {
      std::int64_t red = sites_.red[std::size_t(site) * copies_.size() + s];
      for (std::int64_t left = copies_[s]; left > 0; --left) {
        const bool is_red = std::int64_t(random.below(std::uint32_t(left))) < red;
        red -= is_red;
        alleles.push_back(is_red);
      }
    }
    return alleles;
  }
  std::int64_t ploidy() const { return ploidy_; }
  std::int64_t sites() const { return std::int64_t(sites_.attempts.size()); }

 private:
  std::int64_t ploidy_;
  std::uint64_t seed_;
  std::vector<std::int64_t> copies_;
  const snp::simulated_sites& sites_;
  std::vector<std::string> names_, species_;
};

void write_vcf(const std::string& path, const genotypes& individuals) {
  io::atomic_file out(path);
  out.write(text("##fileformat=VCFv4.2\n##source=quintet-snp-simulate\n##contig=<ID=1,length=", individuals.sites(),
                 ">\n##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Genotype\">\n"
                 "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT"));
  for (const std::string& name : individuals.names()) out.write("\t" + name);
  out.write("\n");
  for (std::int64_t site = 0; site < individuals.sites(); ++site) {
    std::string line = text("1\t", site + 1, "\t.\tA\tC\t.\tPASS\t.\tGT");
    const std::vector<bool> alleles = individuals.alleles_at(site);
    for (std::size_t copy = 0; copy < alleles.size(); ++copy) {
      line += copy % std::size_t(individuals.ploidy()) == 0 ? '\t' : '/';
      line += alleles[copy] ? '1' : '0';
    }
    out.write(line + "\n");
  }
  out.commit();
}

void write_nexus(const std::string& path, const genotypes& individuals) {
  const bool is_diploid = individuals.ploidy() == 2;
  std::vector<std::string> rows(individuals.names().size());
  for (std::int64_t site = 0; site < individuals.sites(); ++site) {
    const std::vector<bool> alleles = individuals.alleles_at(site);
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i] += char('0' + (is_diploid ? alleles[2 * i] + alleles[2 * i + 1] : int(alleles[i])));
  }
  io::atomic_file out(path);
  out.write(text("#NEXUS\nbegin data;\ndimensions ntax=", rows.size(), " nchar=", individuals.sites(), ";\nformat ",
                 is_diploid ? "datatype=integerdata symbols=\"012\"" : "datatype=standard symbols=\"01\"",
                 " missing=? gap=-;\nmatrix\n"));
  for (std::size_t i = 0; i < rows.size(); ++i) out.write(individuals.names()[i] + " " + rows[i] + "\n");
  out.write(";\nend;\n");
  out.commit();
}

void write_counts(const std::string& path, std::span<const std::string> species,
                  const std::vector<std::int64_t>& copies, const snp::simulated_sites& sites) {
  io::csv_writer out(path, std::vector<std::string>(species.begin(), species.end()));
  for (std::size_t site = 0; site < sites.attempts.size(); ++site) {
    for (std::size_t s = 0; s < species.size(); ++s)
      out.field(text(sites.red[site * species.size() + s], "/", copies[s]));
    out.end_row();
  }
  out.commit();
}

void write_markers(const arguments& a, std::span<const std::string> species, const std::vector<std::int64_t>& copies,
                   const snp::simulated_sites& sites) {
  const marker_format format = format_of(a.output);
  if (format == marker_format::counts) return write_counts(a.output, species, copies, sites);
  const genotypes individuals(a, species, copies, sites);
  format == marker_format::vcf ? write_vcf(a.output, individuals) : write_nexus(a.output, individuals);
  if (a.population_map.empty()) return;
  io::atomic_file out(a.population_map);
  for (std::size_t i = 0; i < individuals.names().size(); ++i)
    out.write(individuals.names()[i] + "," + individuals.species()[i] + "\n");
  out.commit();
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
  const snp::simulated_sites sites = session.timed("sites", [&] { return snp::simulate_sites(network, options); });
  double attempts = 0;
  for (const std::int64_t value : sites.attempts) attempts += static_cast<double>(value);
  session.result("u", u);
  session.result("v", v);
  session.result("sites", a.sites);
  session.result("attempts", attempts);
  session.timed("write", [&] { write_markers(a, species, options.copies, sites); });
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
  require_distinct_files({{"--network", a.network}, {"--priors", a.priors_file}},
                         {{"--output", a.output},
                          {"--output-networks", a.output_networks},
                          {"--population-map", a.population_map},
                          {"--json", session.line().common.json}});
  check_together(a);
  simulate(session, a);
}

}  // namespace

}  // namespace quintet::driver

int main(int argc, char** argv) {
  using namespace quintet::driver;
  return run_driver<arguments>(argc, argv, about, describe, run);
}
