// quintet-snp-likelihood: the log-likelihood of biallelic markers on a phylogenetic network, and its maximum.
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <sstream>

#include "quintet/io/csv.hpp"
#include "quintet/io/snp_data.hpp"
#include "quintet/io/snp_network.hpp"
#include "quintet/snp/likelihood.hpp"
#include "quintet/snp/optimise.hpp"
#include "support/driver.hpp"

namespace {

namespace po = boost::program_options;
namespace io = quintet::io;
namespace snp = quintet::snp;
using quintet::InvalidArgument;
using quintet::text;
using quintet::driver::session;

struct arguments {
  std::string data, network, population_map, species_rule, per_site, optimise;
  double theta = snp::unset, root_theta = snp::unset, u = 1, v = 1;
  double gamma_shape = snp::unset, gigabytes = 0;
  std::int64_t gamma_categories = 4;
  io::snp_read_options reading;
  bool keep_empty = false;
  snp::model model;
};

auto positive(const char* option) {
  return [option](double value) {
    quintet::require_argument(std::isfinite(value) && value > 0, option, value, "finite and > 0");
  };
}

auto not_negative(const char* option) {
  return [option](double value) {
    quintet::require_argument(std::isfinite(value) && value >= 0, option, value, "finite and >= 0");
  };
}

void shape_in_range(double shape) {
  quintet::require_argument(shape > 0 && shape <= 1e6, "--gamma-shape", shape, "in (0, 1e6]");
}

/// As many bytes as a 64-bit number holds.
void memory_in_range(double gigabytes) {
  quintet::require_argument(gigabytes > 0 && gigabytes <= 9e9, "--memory", gigabytes, "in (0, 9e9]");
}

void check_per_site(const std::string& path) {
  try {
    io::check_output(path, {io::file_format::csv});
  } catch (const quintet::FileError& e) {
    throw InvalidArgument(text("--per-site: ", e.what()));
  }
}

void describe_inputs(po::options_description& options, arguments& a) {
  options.add_options()  //
      ("data", po::value(&a.data)->required()->value_name("FILE"),
       "markers: NEXUS .nex .nexus .nxs, PHYLIP .phy, VCF .vcf (all also with .gz), or a table of counts red/copies, a "
       "column a species, .csv .tsv .txt")  //
      ("network", po::value(&a.network)->required()->value_name("TEXT|FILE"),
       "rooted network in extended Newick, name:length:theta:gamma, or a file with one; also NEXUS with a TREES "
       "block")  //
      ("population-map", po::value(&a.population_map)->value_name("FILE"),
       "two columns, individual and species; the species - leaves out")  //
      ("species-rule", po::value(&a.species_rule)->value_name("RULE"),
       "before-first:_ or after-last:_ (any text behind the colon): the part of an individual's name that is its "
       "species; without map and rule every individual is one")  //
      ("diploid", po::bool_switch(&a.reading.diploid),
       "NEXUS, PHYLIP: states are genotypes 0, 1, 2 of diploids; by itself with datatype=integerdata or "
       "symbols=\"012\"")                                                                                          //
      ("dominant", po::bool_switch(&a.reading.dominant), "dominant markers of diploids: 1 shows the band (AFLP)")  //
      ("keep-empty", po::bool_switch(&a.keep_empty),
       "keeps sites at which a species has no copies, exactly; by default they are left out, and counted");
}

void describe_model(po::options_description& options, arguments& a) {
  options.add_options()  //
      ("theta", po::value(&a.theta)->value_name("X")->notifier(positive("--theta")),
       "of branches without one of their own, > 0; pairs of lineages merge with rate 2/theta")  //
      ("root-theta", po::value(&a.root_theta)->value_name("X")->notifier(positive("--root-theta")),
       "above the root, if the network does not say, > 0; by default --theta")                                    //
      ("u", po::value(&a.u)->required()->value_name("U")->notifier(not_negative("--u")), "rate of 1 -> 0, >= 0")  //
      ("v", po::value(&a.v)->required()->value_name("V")->notifier(not_negative("--v")), "rate of 0 -> 1, >= 0")  //
      ("polymorphic-only", po::bool_switch(&a.model.polymorphic_only),
       "leaves constant sites out, and corrects for it")  //
      ("ordered-data", po::bool_switch(&a.model.ordered_data),
       "which copies are red, not only how many: subtracts log C(copies, red)")  //
      ("unseen-zeros", po::value(&a.model.unseen_zeros)->value_name("N")->notifier(not_negative("--unseen-zeros")),
       "constant sites of allele 0 that are not in the data")  //
      ("unseen-ones", po::value(&a.model.unseen_ones)->value_name("N")->notifier(not_negative("--unseen-ones")),
       "constant sites of allele 1 that are not in the data")                                                    //
      ("mutation-only-at-root", po::bool_switch(&a.model.mutation_only_at_root), "no mutation on the branches")  //
      ("gamma-shape", po::value(&a.gamma_shape)->value_name("A")->notifier(shape_in_range),
       "u and v vary between sites by a gamma distribution of mean 1 and this shape, > 0 and at most 1e6")  //
      ("gamma-categories",
       po::value(&a.gamma_categories)
           ->default_value(4)
           ->value_name("K")
           ->notifier(quintet::driver::within<std::int64_t>("--gamma-categories", 1, 64)),
       "classes of that distribution, 1 ... 64");
}

po::options_description describe(arguments& a) {
  po::options_description all, input("Input"), model("Model"), output("Output");
  describe_inputs(input, a);
  describe_model(model, a);
  output.add_options()  //
      ("optimise", po::value(&a.optimise)->value_name("WHAT"),
       "maximum likelihood from here, the topology stays; a list of lengths, theta (one for every branch and the root) "
       "or "
       "common-theta (one for all), gamma: lengths,theta,gamma")  //
      ("per-site", po::value(&a.per_site)->value_name("FILE")->notifier(check_per_site),
       ".csv: site and pattern (from 1; pattern 0: left out), weight of the pattern, log_likelihood without "
       "corrections")  //
      ("memory", po::value(&a.gigabytes)->value_name("GB")->notifier(memory_in_range),
       "limit for the partial likelihoods, > 0; by default half of what the device has");
  all.add(input).add(model).add(output);
  return all;
}

snp::optimise_options optimise_options_of(const arguments& a) {
  snp::optimise_options options{.lengths = false, .thetas = snp::theta_parameters::fixed, .gammas = false};
  std::istringstream words(a.optimise + ",");
  const auto set_thetas = [&](snp::theta_parameters how) {
    if (options.thetas != snp::theta_parameters::fixed && options.thetas != how)
      throw InvalidArgument(text("--optimise must name theta or common-theta, not both (--optimise=", a.optimise, ")"));
    options.thetas = how;
  };
  for (std::string word; std::getline(words, word, ',');) {
    if (word == "lengths")
      options.lengths = true;
    else if (word == "theta")
      set_thetas(snp::theta_parameters::each);
    else if (word == "common-theta")
      set_thetas(snp::theta_parameters::common);
    else if (word == "gamma")
      options.gammas = true;
    else
      throw InvalidArgument(
          text("--optimise must be a list of lengths, theta or common-theta, gamma (--optimise=", a.optimise, ")"));
  }
  return options;
}

// What the options say together.
void complete(arguments& a) {
  if (!a.population_map.empty() && !a.species_rule.empty())
    throw InvalidArgument("--population-map and --species-rule exclude each other");
  if (a.reading.diploid && a.reading.dominant)
    throw InvalidArgument("--diploid and --dominant exclude each other: dominant markers are of diploids already");
  if (!a.optimise.empty()) optimise_options_of(a);
  a.model.u = a.u;
  a.model.v = a.v;
  if (!std::isnan(a.gamma_shape)) a.model.rate_categories = snp::gamma_rates(a.gamma_shape, a.gamma_categories);
  if (a.keep_empty) a.reading.empty = snp::empty_species::keep;
  if (!a.species_rule.empty()) a.reading.populations = io::population_map::from_rule(a.species_rule);
  if (!a.population_map.empty()) a.reading.populations = io::population_map::from_file(a.population_map);
  io::check_snp_data_input(a.data);
}

snp::Network read_network(const arguments& a) {
  const snp::newick_options options{.theta = a.theta, .root_theta = a.root_theta};
  std::error_code none;
  const bool is_file = std::filesystem::exists(a.network, none);
  if (!is_file && a.network.find('(') == std::string::npos)
    throw InvalidArgument(
        text("--network must be a file or a network, which begins with a parenthesis (--network=", a.network, ")"));
  snp::Network network = is_file ? io::read_network(a.network, options) : snp::parse_newick(a.network, options);
  if (!std::isnan(a.root_theta) && network.root_theta() != a.root_theta)
    throw InvalidArgument(text("--root-theta must be what the network says of its root, or stay away (--root-theta=",
                               a.root_theta, ", network: ", network.root_theta(), ")"));
  return network;
}

void report_skipped(session& session, const io::snp_read_report& report) {
  session.result("individuals", report.individuals);
  session.result("individuals_left_out", report.left_out);
  if (!report.absent.empty())
    session.warn(text(report.absent.size(), " individuals of the population map are not in the data, the first is ",
                      report.absent.front()));
  if (report.records == 0) return;
  session.result("records", report.records);
  session.result("multiallelic", report.multiallelic);
  session.result("without_alternative", report.without_alternative);
  session.result("not_snps", report.not_snps);
  const std::int64_t skipped = report.multiallelic + report.without_alternative + report.not_snps;
  if (skipped > 0)
    session.warn(text(skipped, " of ", report.records, " records are no biallelic SNPs and were left out: ",
                      report.multiallelic, " with several alternative alleles, ", report.without_alternative,
                      " without one, ", report.not_snps, " indels and others"));
}

void report_data(session& session, const snp::Data& data) {
  session.result("sites", data.sites());
  session.result("patterns", data.patterns());
  session.result("dropped_sites", data.dropped_sites().size());
  session.result("constant_sites",
                 data.weight_of(snp::pattern_kind::all_zero) + data.weight_of(snp::pattern_kind::all_one));
  nlohmann::ordered_json copies = nlohmann::ordered_json::object();
  for (std::size_t s = 0; s < data.species().size(); ++s) copies[data.species()[s]] = data.sampled_copies()[s];
  session.result("copies", copies);
  if (!data.dropped_sites().empty()) {
    const snp::dropped_site& first = data.dropped_sites().front();
    session.warn(text(data.dropped_sites().size(), " of ", data.given_sites(),
                      " sites were left out, because a species has no copies there; the first is site ", first.site + 1,
                      ", without ", data.species()[std::size_t(first.species)], " (--keep-empty keeps them)"));
  }
  if (data.sites() == 0) throw InvalidArgument("the data have no sites that count (see --keep-empty)");
}

// Sites by number from 1, as NEXUS counts.
void write_sites(session& session, const arguments& a, snp::Likelihood& likelihood, const snp::Data& data) {
  session.timed("write", [&] {
    const std::vector<double> values = likelihood.site_log_likelihoods();
    io::csv_writer out(a.per_site, {"site", "pattern", "weight", "log_likelihood"});
    for (std::size_t site = 0; site < values.size(); ++site) {
      const std::int64_t pattern = data.pattern_of_site()[site];
      out.row(std::int64_t(site) + 1, pattern + 1, pattern < 0 ? 0.0 : data.weight(pattern), values[site]);
    }
    out.commit();
  });
}

double optimise(session& session, const arguments& a, snp::Likelihood& likelihood) {
  snp::optimise_options options = optimise_options_of(a);
  options.progress = session.progress();
  const snp::optimise_result found = session.timed("optimise", [&] { return snp::optimise(likelihood, options); });
  session.result("start_log_likelihood", found.start);
  session.result("iterations", found.iterations);
  session.result("evaluations", found.evaluations);
  session.result("converged", found.converged);
  if (!found.converged) session.warn(text("no maximum was reached in ", found.iterations, " iterations"));
  return found.log_likelihood;
}

void evaluate(session& session, const arguments& a) {
  const snp::Network network = read_network(a);
  const io::snp_input input = session.timed("read", [&] { return io::read_snp_data(a.data, a.reading); });
  report_skipped(session, input.report);
  report_data(session, input.data);
  snp::likelihood_options options;
  options.device = session.device();
  options.memory_limit = std::int64_t(a.gigabytes * 1e9);
  auto likelihood = session.timed("setup", [&] { return snp::Likelihood(network, input.data, a.model, options); });
  session.result("largest_group", likelihood.size().largest_group);
  session.result("bytes", likelihood.size().bytes);
  double value = session.timed("likelihood", [&] { return likelihood.evaluate(); });
  if (!a.optimise.empty()) value = optimise(session, a, likelihood);
  session.result("log_likelihood", value);
  session.result("network", snp::to_newick(likelihood.network()));
  if (!a.per_site.empty()) write_sites(session, a, likelihood, input.data);
  session.say() << input.data.sites() << " sites, " << input.data.patterns() << " patterns, "
                << input.data.species().size() << " species on " << session.device().name() << "\n";
  if (!a.optimise.empty()) session.say() << "network " << snp::to_newick(likelihood.network()) << "\n";
  session.say() << "log-likelihood " << std::fixed << std::setprecision(12) << value << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  arguments a;
  const po::options_description options = describe(a);
  return quintet::driver::run_driver(
      argc, argv,
      {"quintet-snp-likelihood",
       "the log-likelihood of biallelic markers on a phylogenetic network, and its maximum.",
       "quintet-snp-likelihood --data rice.nexus --species-rule after-last:_ --theta 0.1 --u 1 --v 1 \\\n"
       "    --network '(((Jap:0.02,(Aro:0.01)#H1:0.01::0.65):0.03,(Ind:0.04,(Aus:0.02,#H1:0.01::0.35):0.02):0.01):0.03,"
       "(Or3:0.06,Or1:0.06):0.02)'",
       {"double"}},
      options, [&](session& session) {
        quintet::driver::require_distinct_files(
            {{"--data", a.data}, {"--network", a.network}, {"--population-map", a.population_map}},
            {{"--per-site", a.per_site}, {"--json", session.line().common.json}});
        if (std::isnan(a.gamma_shape))
          quintet::driver::require_absent(session.line(), {"gamma-categories"}, "needs --gamma-shape");
        complete(a);
        evaluate(session, a);
      });
}
