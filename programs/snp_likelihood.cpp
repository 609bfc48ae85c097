// quintet-snp-likelihood: the log-likelihood of biallelic markers on a phylogenetic network, and its maximum.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <limits>
#include <optional>
#include <sstream>
#include <system_error>

#include "quintet/io/atomic_file.hpp"
#include "quintet/io/csv.hpp"
#include "quintet/io/snp_network.hpp"
#include "quintet/snp/inference/resampling.hpp"
#include "quintet/snp/inference/search.hpp"
#include "quintet/snp/likelihood/composite.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/likelihood/optimise.hpp"
#include "quintet/snp/markers/f_statistics.hpp"
#include "quintet/snp/network/rooting.hpp"
#include "snp_likelihood/report.hpp"
#include "support/driver.hpp"
#include "support/snp_input.hpp"
#ifdef QUINTET_HAS_MPI
#include "quintet/mpi/snp.hpp"
#endif

namespace quintet::driver {

namespace {

struct arguments {
  snp_input input;
  std::string network, per_site, optimise, output_network, outgroup, f_statistics;
  std::vector<std::string> compare;
  double theta = snp::unset, root_theta = snp::unset, length = snp::unset, u = snp::unset, v = snp::unset,
         gigabytes = 0, truncation = snp::default_truncation;
  bool search = false, support = false, output_theta = false, jackknife = false, block_loci = false;
  std::int64_t max_reticulations = 2, starts = 0, patience = 40, seed = 1, bootstrap = 0, block_sites = 1,
               composite = 0;
};

/// As many bytes as a 64-bit number holds.
void memory_in_range(double gigabytes) {
  require_argument(gigabytes > 0 && gigabytes <= 9e9, "--memory", gigabytes, "in (0, 9e9]");
}

auto csv_file(const char* option) {
  return [option](const std::string& path) {
    try {
      io::check_output(path, {io::file_format::csv});
    } catch (const FileError& e) {
      throw InvalidArgument(text(option, ": ", e.what()));
    }
  };
}

void check_output_network(const std::string& path) {
  try {
    io::check_writable(path);
  } catch (const FileError& e) {
    throw InvalidArgument(text("--output-network: ", e.what()));
  }
}

void describe_model(po::options_description& options, arguments& a) {
  options.add_options()  //
      ("theta", po::value(&a.theta)->value_name("X")->notifier(positive("--theta")),
       "for branches without a theta in the network, > 0; pairs of lineages merge with rate 2/theta")  //
      ("root-theta", po::value(&a.root_theta)->value_name("X")->notifier(positive("--root-theta")),
       "above the root, if the network has no theta there, > 0; by default --theta")  //
      ("u", po::value(&a.u)->value_name("U")->notifier(not_negative("--u")),
       "rate of 1 -> 0, >= 0; required but for --f-statistics")  //
      ("v", po::value(&a.v)->value_name("V")->notifier(not_negative("--v")), "rate of 0 -> 1, >= 0; as --u");
  describe_corrections(options, a.input);
}

po::options_description describe(arguments& a) {
  po::options_description all, input("Input"), model("Model"), search("Search"), output("Output");
  describe_markers(input, a.input);
  input.add_options()("network", po::value(&a.network)->value_name("TEXT|FILE"),
                      "rooted network in extended Newick, name:length:theta:gamma, or a file with one; also NEXUS with "
                      "a TREES block")  //
      ("compare", po::value(&a.compare)->multitoken()->value_name("TEXT|FILE"),
       "instead of --network: compares several networks (a file may have several, too), each optimised with "
       "--optimise, in a table of log-likelihoods, parameters, AIC and BIC");
  input.add_options()  //
      ("support", po::bool_switch(&a.support),
       "ignores the second number of a branch, a support value: name:length:support:gamma")  //
      ("length", po::value(&a.length)->value_name("X")->notifier(not_negative("--length")),
       "for branches without a length in the network, >= 0");
  describe_model(model, a);
  search.add_options()  //
      ("search", po::bool_switch(&a.search),
       "instead of --network: hill climbing over topologies by the maximum of the likelihood, trees first, then one "
       "reticulation after the other. --optimise names the parameters, by default lengths,common-theta,gamma, from "
       "--theta")  //
      ("max-reticulations",
       po::value(&a.max_reticulations)
           ->default_value(a.max_reticulations)
           ->value_name("R")
           ->notifier(within<std::int64_t>("--max-reticulations", 0, 20)),
       "of the search, 0 ... 20")  //
      ("starts",
       po::value(&a.starts)->value_name("N")->notifier(within<std::int64_t>("--starts", 1, snp::max_optimise_starts)),
       "random trees at the start of the search, 4 by default, or trees that join neighbours with --composite, 1 by "
       "default; or climbs of --optimise, 1 by default. Further climbs start with lengths and thetas multiplied by "
       "random factors, and the best one counts")  //
      ("patience",
       po::value(&a.patience)
           ->default_value(a.patience)
           ->value_name("N")
           ->notifier(within<std::int64_t>("--patience", 1, snp::max_search_patience)),
       "new topologies without a gain before a climb ends")  //
      ("outgroup", po::value(&a.outgroup)->value_name("A,B,..."),
       "species that the root separates from the others, with no reticulation between: in --search, where one theta "
       "does not show the root, and in --network and --compare, which may then be unrooted")  //
      ("seed", po::value(&a.seed)->default_value(a.seed)->value_name("S")->notifier(at_least("--seed", 0)),
       "all chance of the search and of --starts depends on it, >= 0");
  search.add_options()  //
      ("bootstrap",
       po::value(&a.bootstrap)->value_name("N")->notifier(within<std::int64_t>("--bootstrap", 2, snp::max_replicates)),
       "with --network and --optimise: standard errors and 95 % intervals of lengths, thetas and gammas, from so many "
       "draws of blocks of sites; with --search: how often each topology, cluster and hybrid event is found")  //
      ("jackknife", po::bool_switch(&a.jackknife), "the same from data without one block each")                //
      ("block-sites",
       po::value(&a.block_sites)->default_value(1)->value_name("N")->notifier(at_least("--block-sites", 1)),
       "consecutive sites of a block, because sites near each other are linked")  //
      ("block-loci", po::bool_switch(&a.block_loci), "VCF: the sites of a contig are a block");
  output.add_options()  //
      ("composite", po::value(&a.composite)->value_name("N")->notifier(within<std::int64_t>("--composite", 3, 4)),
       "with --network or --search: the sum of the log-likelihoods of all sets of 3 (or 4) species, for tens of "
       "species. "
       "It is no likelihood: only compare it with that of other networks; standard errors need --bootstrap")  //
      ("f-statistics", po::value(&a.f_statistics)->value_name("FILE")->notifier(csv_file("--f-statistics")),
       ".csv, instead of --network: all f2, f3 (the first species is the target) and f4 of the allele frequencies, "
       "with "
       "standard errors by a jackknife over blocks (--block-sites, --block-loci)")  //
      ("optimise", po::value(&a.optimise)->value_name("WHAT"),
       "maximum likelihood on this topology; a list of lengths, theta (one for every branch and the root) or "
       "common-theta (one for all), gamma: lengths,theta,gamma; with --composite without theta")  //
      ("output-network", po::value(&a.output_network)->value_name("FILE")->notifier(check_output_network),
       "the network as extended Newick that other programs read, name:length and name:length::gamma; with --search the "
       "network of the least BIC, so far until the search ends; with --composite the last with a BIC gain > 0")  //
      ("output-theta", po::bool_switch(&a.output_theta),
       "adds thetas to --output-network: name:length:theta:gamma, and [theta] of the root in front")  //
      ("per-site", po::value(&a.per_site)->value_name("FILE")->notifier(csv_file("--per-site")),
       ".csv: site and pattern (from 1; pattern 0: left out), weight of the pattern, log_likelihood without "
       "corrections")  //
      ("memory", po::value(&a.gigabytes)->value_name("GB")->notifier(memory_in_range),
       "limit for the partial likelihoods, > 0; by default half the memory of the device")  //
      ("truncation",
       po::value(&a.truncation)
           ->default_value(a.truncation, "1e-9")
           ->value_name("X")
           ->notifier(within<double>("--truncation", 0, snp::max_truncation)),
       "in large groups of branches lineage numbers are dropped that cannot change the log-likelihood by more than "
       "this, "
       "0 ... 0.1; 0: none");
  all.add(input).add(model).add(search).add(output);
  return all;
}

snp::optimise_options optimise_options_of(const arguments& a) {
  snp::optimise_options options{.lengths = false, .thetas = snp::theta_parameters::fixed, .gammas = false};
  // Sums over many sets are flat near their maximum; a search ends there too.
  if (a.composite > 0) options.tolerance = snp::search_options{}.optimise.tolerance;
  std::istringstream words(a.optimise + ",");
  const auto set_thetas = [&](snp::theta_parameters mode) {
    if (options.thetas != snp::theta_parameters::fixed && options.thetas != mode)
      throw InvalidArgument(text("--optimise must name theta or common-theta, not both (--optimise=", a.optimise, ")"));
    options.thetas = mode;
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
  const bool has_statistics = !a.f_statistics.empty();
  const int tasks = int(a.search) + int(!a.network.empty()) + int(!a.compare.empty()) + int(has_statistics);
  if (tasks > 1) throw InvalidArgument("--search, --network, --compare and --f-statistics exclude each other");
  if (tasks == 0)
    throw InvalidArgument("the option '--network' is required but missing (or --compare, --search or --f-statistics)");
  for (const auto& [option, rate] : {std::pair("--u", &a.u), {"--v", &a.v}}) {
    if (std::isnan(*rate) && !has_statistics)
      throw InvalidArgument(text("the option '", option, "' is required but missing"));
    if (std::isnan(*rate)) *rate = 1;
  }
  if (a.network.empty() && !a.per_site.empty()) throw InvalidArgument("--per-site needs --network");
  if (!a.compare.empty() && !a.output_network.empty())
    throw InvalidArgument("--output-network goes with --network or --search");
  if (a.output_theta && a.output_network.empty()) throw InvalidArgument("--output-theta needs --output-network");
  if (a.search && (a.support || !std::isnan(a.length)))
    throw InvalidArgument("--support and --length go with --network or --compare");
  if (!a.search && a.optimise.empty() && a.starts > 0) throw InvalidArgument("--starts needs --optimise or --search");
  const bool has_replicates = a.bootstrap > 0 || a.jackknife;
  if (a.bootstrap > 0 && a.jackknife) throw InvalidArgument("--bootstrap and --jackknife exclude each other");
  if (has_replicates && !a.search && (a.network.empty() || a.optimise.empty()))
    throw InvalidArgument("--bootstrap and --jackknife need --network and --optimise, or --search");
  if (!has_replicates && !has_statistics && a.block_loci)
    throw InvalidArgument("--block-loci needs --bootstrap, --jackknife or --f-statistics");
  if (a.search && std::isnan(a.theta)) throw InvalidArgument("--search needs --theta, where thetas start");
  if (!a.optimise.empty()) optimise_options_of(a);
  a.input.model.u = a.u;
  a.input.model.v = a.v;
  complete(a.input);
}

bool is_file(const std::string& network) {
  std::error_code ignored;
  return std::filesystem::exists(network, ignored);
}

snp::Network with_outgroup(const arguments& a, const snp::Network& network) {
  if (a.outgroup.empty()) return network;
  std::optional<snp::Network> rooted = snp::rooted_at(network, split(a.outgroup, ','));
  if (!rooted)
    throw InvalidArgument(
        text("--outgroup must be species that a branch of the network separates from the others, not "
             "below a reticulation (--outgroup=",
             a.outgroup, ")"));
  return *std::move(rooted);
}

std::vector<snp::Network> read_networks(const arguments& a, const char* option, const std::string& path) {
  const snp::newick_options options{.theta = a.theta,
                                    .root_theta = a.root_theta,
                                    .length = a.length,
                                    .support = a.support,
                                    .unrooted = !a.outgroup.empty()};
  if (!is_file(path) && path.find('(') == std::string::npos)
    throw InvalidArgument(
        text(option, " must be a file or a network, which begins with a parenthesis (", option, "=", path, ")"));
  const bool takes_several = is_file(path) && !a.compare.empty();
  std::vector<snp::Network> networks;
  if (takes_several)
    networks = io::read_networks(path, options);
  else
    networks.push_back(is_file(path) ? io::read_network(path, options) : snp::parse_newick(path, options));
  for (snp::Network& network : networks) network = with_outgroup(a, network);
  for (const snp::Network& network : networks)
    if (!std::isnan(a.root_theta) && network.root_theta() != a.root_theta)
      throw InvalidArgument(text("--root-theta must be what the network says of its root, or stay away (--root-theta=",
                                 a.root_theta, ", network: ", network.root_theta(), ")"));
  return networks;
}

// Sites by number from 1, as NEXUS counts.
void write_sites(session& session, const arguments& a, snp::Likelihood& likelihood, const snp::Data& data) {
  const std::vector<double> values = likelihood.site_log_likelihoods();
  if (!session.is_root()) return;
  session.timed("write", [&] {
    io::csv_writer out(a.per_site, {"site", "pattern", "weight", "log_likelihood"});
    for (std::size_t site = 0; site < values.size(); ++site) {
      const std::int64_t pattern = data.pattern_of_site()[site];
      out.row(std::int64_t(site) + 1, pattern + 1, pattern < 0 ? 0.0 : data.weight(pattern), values[site]);
    }
    out.commit();
  });
}

void replace_network_file(const arguments& a, const snp::Network& network) {
  io::atomic_file out(a.output_network);
  out.write(snp::to_newick(network, a.output_theta ? snp::newick_numbers::all : snp::newick_numbers::standard) + "\n");
  out.commit();
}

void write_network(session& session, const arguments& a, const snp::Network& network) {
  if (a.output_network.empty()) return;
  session.timed("write", [&] { replace_network_file(a, network); });
}

snp::likelihood_options likelihood_options_of(session& session, const arguments& a) {
  return {.device = session.device(), .memory_limit = std::int64_t(a.gigabytes * 1e9), .truncation = a.truncation};
}

snp::optimise_options climbs_of(session& session, const arguments& a) {
  snp::optimise_options options = optimise_options_of(a);
  options.starts = std::max<std::int64_t>(a.starts, 1);
  options.seed = std::uint64_t(a.seed);
  options.progress = session.progress();
  return options;
}

snp::optimise_result optimise(session& session, const arguments& a, snp::Likelihood& likelihood) {
  snp::optimise_options options = climbs_of(session, a);
  // A tree has no gamma to optimise.
  options.gammas = options.gammas && (a.compare.empty() || !likelihood.network().reticulations().empty());
  return session.timed("optimise", [&] { return snp::optimise(likelihood, options); });
}

void report_optimum(session& session, const arguments& a, const snp::optimise_result& optimum) {
  session.result("start_log_likelihood", optimum.start);
  session.result("iterations", optimum.iterations);
  session.result("evaluations", optimum.evaluations);
  session.result("converged", optimum.converged);
  session.result("parameters", optimum.parameters);
  session.result("at_bounds", bounds_as_json(optimum.at_bounds));
  if (a.starts > 1) session.result("ends", optimum.ends);
  if (!optimum.converged) session.warn(text("no maximum was reached in ", optimum.iterations, " iterations"));
  warn_of_bounds(session, optimum.at_bounds, "");
}

// What a search that is stopped leaves: a line for every climb, and the best network in --output-network.
class search_log {
 public:
  search_log(session& session, const arguments& a, std::int64_t starts) : session_(session), a_(a), starts_(starts) {}

  void operator()(const snp::search_status& status) {
    if (status.is_end)
      session_.say() << "start " << status.start + 1 << " of " << starts_ << ", " << status.reticulations
                     << (status.reticulations == 1 ? " reticulation" : " reticulations") << ": log-likelihood "
                     << std::fixed << std::setprecision(4) << status.log_likelihood << " after " << status.topologies
                     << " topologies" << std::endl;
    // At most once a second, because the first climbs find better ones all the time.
    if (a_.output_network.empty() || status.best == nullptr || !(status.bic < bic_)) return;
    if (const clock::time_point time = clock::now(); status.is_end || time - written_ >= std::chrono::seconds(1)) {
      replace_network_file(a_, *status.best);
      written_ = time;
      bic_ = status.bic;
    }
  }

 private:
  using clock = std::chrono::steady_clock;
  session& session_;
  const arguments& a_;
  std::int64_t starts_;
  double bic_ = std::numeric_limits<double>::infinity();
  clock::time_point written_{};
};

snp::search_options search_options_of(session& session, const arguments& a) {
  snp::search_options options{.max_reticulations = a.max_reticulations,
                              .starts = a.starts > 0      ? a.starts
                                        : a.composite > 0 ? 1
                                                          : 4,
                              .patience = a.patience,
                              .theta = a.theta,
                              .seed = std::uint64_t(a.seed),
                              .composite = a.composite,
                              .model = a.input.model,
                              .progress = session.progress()};
  if (!a.outgroup.empty()) options.outgroup = split(a.outgroup, ',');
  if (!a.optimise.empty()) {
    const snp::optimise_options parts = optimise_options_of(a);
    options.optimise.lengths = parts.lengths;
    options.optimise.thetas = parts.thetas;
    options.optimise.gammas = parts.gammas;
  }
  options.likelihood = likelihood_options_of(session, a);
  options.report = search_log(session, a, options.starts);
  return options;
}

std::vector<std::int64_t> loci_of(const arguments& a, const io::snp_input& markers) {
  if (!a.block_loci) return {};
  if (markers.locus_of_site.empty()) throw InvalidArgument("--block-loci needs the contigs of VCF");
  return markers.locus_of_site;
}

void warn_of_few_blocks(session& session, std::int64_t blocks) {
  constexpr std::int64_t few = 10;
  if (blocks < few)
    session.warn(text("there are ", blocks, " blocks of sites; with fewer than ", few,
                      " a standard error is hardly known (--block-sites)"));
}

snp::resampling_options resampling_options_of(session& session, const arguments& a, const io::snp_input& markers) {
  snp::resampling_options options{
      .method = a.jackknife ? snp::resampling_method::jackknife : snp::resampling_method::bootstrap,
      .block_sites = a.block_sites,
      .seed = std::uint64_t(a.seed),
      .model = a.input.model,
      .likelihood = likelihood_options_of(session, a),
      .progress = session.progress()};
  if (!a.search) {
    options.optimise = optimise_options_of(a);
    options.composite = a.composite;
  }
  if (a.bootstrap > 0) options.replicates = a.bootstrap;
  options.block_of_site = loci_of(a, markers);
  return options;
}

bool resamples(const arguments& a) { return a.bootstrap > 0 || a.jackknife; }

void resample(session& session, const arguments& a, const snp::Network& network, const io::snp_input& markers) {
  if (!resamples(a)) return;
  const snp::resampling_options options = resampling_options_of(session, a, markers);
  const snp::resampling_result resampling =
      session.timed("resample", [&] { return snp::resample(network, markers.data, options); });
  report_resampling(session, resampling);
  warn_of_few_blocks(session, resampling.blocks);
}

void write_f_statistics(session& session, arguments& a) {
  a.input.is_for_likelihood = false;
  const io::snp_input markers = read_marker_file(session, a.input);
  const auto statistics = session.timed(
      "f_statistics", [&] { return snp::f_statistics(markers.data, {a.block_sites, loci_of(a, markers)}); });
  session.timed("write", [&] {
    io::csv_writer out(a.f_statistics,
                       {"statistic", "a", "b", "c", "d", "value", "standard_error", "z", "sites", "blocks"});
    for (const snp::f_statistic& statistic : statistics) {
      const auto name = [&](std::size_t i) {
        return i < statistic.species.size() ? statistic.species[i] : std::string();
      };
      out.row(text("f", statistic.species.size()), name(0), name(1), name(2), name(3), statistic.value,
              statistic.standard_error, statistic.z, statistic.sites, statistic.blocks);
    }
    out.commit();
  });
  report_f_statistics(session, statistics);
  std::int64_t blocks = statistics[0].blocks;
  for (const snp::f_statistic& statistic : statistics) blocks = std::min(blocks, statistic.blocks);
  warn_of_few_blocks(session, blocks);
  session.say_done(a.f_statistics);
}

void search(session& session, const arguments& a) {
  const io::snp_input markers = read_marker_file(session, a.input);
  const snp::Data& data = markers.data;
  const snp::search_options options = search_options_of(session, a);
  std::optional<snp::resampling_options> resampling_options;
  if (resamples(a)) resampling_options = resampling_options_of(session, a, markers);
  const snp::search_result outcome = session.timed("search", [&] { return snp::search_networks(data, options); });
  report_search(session, outcome, options);
  write_network(session, a, snp::best_level(outcome).network);
  if (!resampling_options) return;
  const snp::resampled_search resampling =
      session.timed("resample", [&] { return snp::resample_search(data, options, *resampling_options); });
  report_support(session, resampling);
  warn_of_few_blocks(session, resampling.blocks);
}

void compare(session& session, const arguments& a) {
  const snp::Data data = read_markers(session, a.input);
  std::vector<compared_network> networks;
  std::vector<std::pair<std::string, snp::Network>> given_networks;
  for (const std::string& path : a.compare) {
    const auto of_file = read_networks(a, "--compare", path);
    for (std::size_t i = 0; i < of_file.size(); ++i)
      given_networks.emplace_back(!is_file(path) ? text("network ", given_networks.size() + 1)
                                                 : std::filesystem::path(path).filename().string() +
                                                       (of_file.size() > 1 ? text(":", i + 1) : ""),
                                  of_file[i]);
  }
  for (const auto& [name, network] : given_networks) {
    snp::Likelihood likelihood(network, data, a.input.model, likelihood_options_of(session, a));
    compared_network candidate{.name = name, .network = likelihood.network()};
    candidate.log_likelihood = session.timed("likelihood", [&] { return likelihood.evaluate(); });
    if (!a.optimise.empty()) {
      const snp::optimise_result optimum = optimise(session, a, likelihood);
      candidate.network = likelihood.network();
      candidate.log_likelihood = optimum.log_likelihood;
      candidate.parameters = optimum.parameters;
      candidate.converged = optimum.converged;
      candidate.at_bounds = optimum.at_bounds;
      if (!optimum.converged)
        session.warn(text(name, ": no maximum was reached in ", optimum.iterations, " iterations"));
      warn_of_bounds(session, optimum.at_bounds, name);
    }
    candidate.truncation_bound = likelihood.truncation().bound;
    networks.push_back(std::move(candidate));
  }
  report_comparison(session, networks, counted_sites(data, a.input.model));
}

void write_composite(session& session, const arguments& a) {
  snp::Network network = read_networks(a, "--network", a.network)[0];
  const io::snp_input markers = read_marker_file(session, a.input);
  const snp::composite_options options{
      .size = a.composite, .likelihood = likelihood_options_of(session, a), .progress = session.progress()};
  if (!a.optimise.empty()) {
    snp::composite_optimum best = session.timed("optimise", [&] {
      return snp::optimise_composite(network, markers.data, climbs_of(session, a), a.input.model, options);
    });
    report_optimum(session, a, best.outcome);
    network = std::move(best.network);
    write_network(session, a, network);
  }
  const snp::composite_result outcome = session.timed(
      "composite", [&] { return snp::composite_log_likelihood(network, markers.data, a.input.model, options); });
  session.result("composite_log_likelihood", outcome.log_likelihood);
  session.result("truncation_bound", outcome.truncation_bound);
  session.result("sets", outcome.terms.size());
  session.result("skipped", outcome.skipped);
  nlohmann::ordered_json terms = nlohmann::ordered_json::array();
  for (const snp::composite_term& term : outcome.terms)
    terms.push_back({{"species", term.species},
                     {"log_likelihood", term.log_likelihood},
                     {"truncation_bound", term.truncation_bound}});
  session.result("terms", terms);
  if (outcome.skipped > 0)
    session.warn(text(outcome.skipped, " sets were left out, because a species has no copies at any site"));
  if (!a.optimise.empty()) {
    session.result("network", snp::to_newick(network));
    resample(session, a, network, markers);
    print_branches(session, network);
    session.say() << "network " << snp::to_newick(network) << "\n";
  }
  session.say() << "composite log-likelihood " << std::fixed << std::setprecision(12) << outcome.log_likelihood
                << " of " << outcome.terms.size() << " sets of " << a.composite << " species\n";
}

void evaluate(session& session, const arguments& a) {
  std::optional<snp::Network> best;
  std::optional<io::snp_input> markers;
  snp::likelihood_options options = likelihood_options_of(session, a);
  const auto read = [&] {
    best = read_networks(a, "--network", a.network)[0];
    markers = read_marker_file(session, a.input);
  };
#ifdef QUINTET_HAS_MPI
  if (session.ranks() != nullptr) {
    session.ranks()->run_collectively(read);
    std::ostringstream words;
    words << std::setprecision(17) << snp::to_newick(*best);
    for (std::int64_t p = 0; p < markers->data.patterns(); ++p) words << ' ' << markers->data.weight(p);
    for (const auto value : markers->data.copies()) words << ' ' << value;
    for (const auto value : markers->data.red()) words << ' ' << value;
    session.ranks()->require_same("the network and the markers (a number of them)",
                                  text(std::hash<std::string>()(words.str())));
    options.shared_by = mpi::snp::group_of(*session.ranks());
  }
#endif
  if (!markers) read();
  const snp::Network& network = *best;
  const snp::Data& data = markers->data;
  auto likelihood = session.timed("setup", [&] { return snp::Likelihood(network, data, a.input.model, options); });
  session.result("largest_group", likelihood.size().largest_group);
  session.result("largest_group_untruncated", likelihood.size().largest_group_untruncated);
  session.result("bytes", likelihood.size().bytes);
  session.result("operations", likelihood.size().operations);
  session.result("blocks", likelihood.size().blocks);
  session.result("ran_on", session.device().spelling());
  // Some ten seconds of one core.
  constexpr double many_operations = 1e11;
  if (likelihood.size().operations > many_operations)
    session.warn(text("an evaluation takes up to ", likelihood.size().operations, " multiply-adds and ",
                      double(likelihood.size().bytes) / 1e9, " GB, in groups of up to ",
                      likelihood.size().largest_group, " states; fewer individuals (--individuals) make it smaller"));
  double value = session.timed("likelihood", [&] { return likelihood.evaluate(); });
  if (!a.optimise.empty()) {
    const snp::optimise_result optimum = optimise(session, a, likelihood);
    report_optimum(session, a, optimum);
    session.result("aic", snp::aic(optimum.log_likelihood, optimum.parameters));
    session.result("bic", snp::bic(optimum.log_likelihood, optimum.parameters, counted_sites(data, a.input.model)));
    value = optimum.log_likelihood;
  }
  session.result("log_likelihood", value);
  session.result("truncation_bound", likelihood.truncation().bound);
  session.result("truncation_mass", likelihood.truncation().mass);
  session.result("network", snp::to_newick(likelihood.network()));
  write_network(session, a, likelihood.network());
  if (!a.per_site.empty()) write_sites(session, a, likelihood, data);
  resample(session, a, likelihood.network(), *markers);
  session.say() << data.sites() << " sites, " << data.patterns() << " patterns, " << data.species().size()
                << " species on " << session.device().name() << "\n";
  if (!a.optimise.empty()) {
    print_branches(session, likelihood.network());
    session.say() << "network " << snp::to_newick(likelihood.network()) << "\n";
  }
  session.say() << "log-likelihood " << std::fixed << std::setprecision(12) << value << std::endl;
}

const program about{
    "quintet-snp-likelihood",
    "the log-likelihood of biallelic markers on a phylogenetic network, and its maximum.",
    "quintet-snp-likelihood --data rice.nexus --species-rule after-last:_ --theta 0.1 --u 1 --v 1 \\\n"
    "    --network '(((Jap:0.02,(Aro:0.01)#H1:0.01::0.65):0.03,(Ind:0.04,(Aus:0.02,#H1:0.01::0.35):0.02):0.01):0.03,"
    "(Or3:0.06,Or1:0.06):0.02)'",
    {"double"},
    true};

void run(session& session, arguments& a) {
  require_one_process(session, {"search", "bootstrap", "jackknife", "f-statistics", "composite"});
  require_distinct_files(
      {{"--data", a.input.data}, {"--network", a.network}, {"--population-map", a.input.population_map}},
      {{"--per-site", a.per_site},
       {"--output-network", a.output_network},
       {"--f-statistics", a.f_statistics},
       {"--json", session.line().common.json}});
  if (std::isnan(a.input.gamma_shape)) require_absent(session.line(), {"gamma-categories"}, "needs --gamma-shape");
  if (a.search)
    require_absent(session.line(), {"root-theta"}, "and --search exclude each other");
  else
    require_absent(session.line(), {"max-reticulations", "patience"}, "needs --search");
  if (!a.search && a.starts <= 1 && a.bootstrap == 0)
    require_absent(session.line(), {"seed"}, "needs --search, --starts or --bootstrap");
  if (a.bootstrap == 0 && !a.jackknife && a.f_statistics.empty())
    require_absent(session.line(), {"block-sites"}, "needs --bootstrap, --jackknife or --f-statistics");
  if (a.block_loci) require_absent(session.line(), {"block-sites"}, "and --block-loci exclude each other");
  complete(a);
  if (a.composite > 0 && !a.search) {
    if (a.network.empty()) throw InvalidArgument("--composite needs --network or --search");
    require_absent(session.line(), {"per-site"}, "and --composite exclude each other");
    if (a.optimise.empty()) require_absent(session.line(), {"output-network"}, "needs --optimise with --composite");
  }
  if (a.search) return search(session, a);
  if (!a.f_statistics.empty()) return write_f_statistics(session, a);
  if (a.composite > 0) return write_composite(session, a);
  a.compare.empty() ? evaluate(session, a) : compare(session, a);
}

}  // namespace

}  // namespace quintet::driver

int main(int argc, char** argv) {
  using namespace quintet::driver;
  return run_driver<arguments>(argc, argv, about, describe, run);
}
