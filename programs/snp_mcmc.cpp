// quintet-snp-mcmc: Bayesian inference of a species network from biallelic markers.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <sstream>
#include <system_error>

#include "quintet/core/build_info.hpp"
#include "quintet/io/atomic_file.hpp"
#include "quintet/io/snp_network.hpp"
#include "quintet/snp/inference/marginal_likelihood.hpp"
#include "quintet/snp/inference/sampler.hpp"
#include "quintet/snp/inference/starts.hpp"
#include "quintet/snp/network/newick.hpp"
#include "quintet/snp/simulation/predictive.hpp"
#include "snp_mcmc/assignments.hpp"
#include "snp_mcmc/output.hpp"
#include "snp_mcmc/summary.hpp"
#include "support/driver.hpp"
#include "support/snp_input.hpp"
#include "support/snp_priors.hpp"
#ifdef QUINTET_HAS_MPI
#include "quintet/mpi/snp.hpp"
#endif

namespace quintet::driver {

namespace {

using names = std::shared_ptr<const std::vector<std::string>>;

constexpr std::int64_t max_reticulations = 20;
constexpr std::string_view searched_start = "search";

struct arguments {
  snp_input input;
  bool no_data = false, no_bubbles = false, resume = false, delayed = false, keep_heat = false;
  std::string species, start, fix, priors_file, output, newick = "icytree";
  std::vector<std::string> prior, calibrate, monophyletic;
  std::string outgroup, fix_topology, clock, assignments;
  double generation_time = 0;
  std::int64_t max_reticulations = 2, max_level = -1, iterations = 0, burn_in = -1, sample_every = 100, chains = 1,
               temperatures = 1, swap_every = 100, seed = 1, power_steps = 0, predictive = 0;
  double heat = 0.1, checkpoint_seconds = 60, gigabytes = 0, truncation = snp::default_truncation;
};

void swap_every(std::int64_t value) {
  if (value < 1 || 1000 % value != 0)
    throw InvalidArgument(text("--swap-every must be a divisor of 1000 (--swap-every ", value, ")"));
}

po::options_description describe(arguments& a) {
  po::options_description all, input("Input"), model("Model"), chains("Chains"), output("Output");
  describe_markers(input, a.input, false);
  input.add_options()  //
      ("no-data", po::bool_switch(&a.no_data), "samples the prior of --species")(
          "species", po::value(&a.species)->value_name("A,B,..."), "with --no-data: the names of the species")  //
      ("start", po::value(&a.start)->value_name("TEXT|FILE|search"),
       "start of all chains, a network in extended Newick; branches become longer if ways down to the leaves differ. "
       "search: a hill climb for each chain, in different topologies if there are several. "
       "By default each chain starts from a draw of the prior");
  describe_corrections(model, a.input);
  model.add_options()  //
      ("priors", po::value(&a.priors_file)->value_name("FILE"),
       "key = value, one per line: network, speciation-rate or netdiv, hybridization-rate or turnover, origin, "
       "inheritance, theta, theta-mean, pi1; see docs/snp_mcmc.md")  //
      ("prior", po::value(&a.prior)->value_name("'KEY = VALUE'")->composing(),
       "one line of --priors; you may repeat this option")  //
      ("calibrate", po::value(&a.calibrate)->value_name("'A,B = DENSITY'")->composing(),
       "density of the height of the most recent common ancestor of these species, or of the root ('root = ...'): "
       "normal(mean,sd), lognormal(mu,sigma), uniform(a,b), exponential(mean,offset), gamma(shape,rate,offset); you "
       "may "
       "repeat this option")  //
      ("monophyletic", po::value(&a.monophyletic)->value_name("A,B,...")->composing(),
       "only networks where the common ancestor of these species has no others below; you may repeat this option")  //
      ("outgroup", po::value(&a.outgroup)->value_name("A,B,..."),
       "only networks with a root that separates these species from all others")  //
      ("fix-topology", po::value(&a.fix_topology)->value_name("TREE"),
       "every tree that a network displays, restricted to the species of this tree, must be this tree")  //
      ("clock", po::value(&a.clock)->value_name("RATE"),
       "expected mutations a site and year, a number or lognormal(mu,sigma): priors, --start and outputs are then in "
       "years")  //
      ("generation-time", po::value(&a.generation_time)->value_name("YEARS")->notifier(positive("--generation-time")),
       "with --clock: adds columns of N_e, theta / (4 rate generation)")  //
      ("max-reticulations",
       po::value(&a.max_reticulations)
           ->default_value(a.max_reticulations)
           ->value_name("R")
           ->notifier(within<std::int64_t>("--max-reticulations", 0, max_reticulations)),
       "at most, 0 ... 20")  //
      ("max-level", po::value(&a.max_level)->value_name("L")->notifier(at_least("--max-level", 0)),
       "most reticulations in one biconnected component; by default any number")                                    //
      ("no-bubbles", po::bool_switch(&a.no_bubbles), "excludes two branches from one node to the same other node")  //
      ("fix", po::value(&a.fix)->value_name("WHAT"),
       "keeps parts of --start; a list of topology, heights, origin, theta, gamma, rates");
  chains.add_options()  //
      ("iterations", po::value(&a.iterations)->required()->value_name("N")->notifier(at_least("--iterations", 1)),
       "steps of each chain, burn-in included")  //
      ("burn-in", po::value(&a.burn_in)->value_name("N")->notifier(at_least("--burn-in", 0)),
       "steps that tune widths and temperatures and are not sampled; by default a tenth")  //
      ("sample-every",
       po::value(&a.sample_every)
           ->default_value(a.sample_every)
           ->value_name("N")
           ->notifier(at_least("--sample-every", 1)),
       "steps from sample to sample")  //
      ("chains",
       po::value(&a.chains)->default_value(a.chains)->value_name("C")->notifier(
           within<std::int64_t>("--chains", 1, 4096)),
       "independent chains")  //
      ("temperatures",
       po::value(&a.temperatures)
           ->default_value(a.temperatures)
           ->value_name("T")
           ->notifier(within<std::int64_t>("--temperatures", 1, 1024)),
       "walkers of each chain, the first at the posterior, the others hotter (MC3)")  //
      ("heat", po::value(&a.heat)->default_value(a.heat, "0.1")->value_name("X")->notifier(positive("--heat")),
       "between two temperatures at the start: beta = 1 / (1 + heat i); tuned in burn-in")                     //
      ("keep-heat", po::bool_switch(&a.keep_heat), "not tuned: for chains that stay in different topologies")  //
      ("swap-every", po::value(&a.swap_every)->default_value(a.swap_every)->value_name("N")->notifier(swap_every),
       "steps from one exchange of temperatures to the next, a divisor of 1000")  //
      ("marginal-likelihood",
       po::value(&a.power_steps)->value_name("STEPS")->notifier(within<std::int64_t>("--marginal-likelihood", 1, 1023)),
       "also the logarithm of the marginal likelihood, by stepping stones and thermodynamic integration. So many steps "
       "lead from the posterior to the prior, 16 to 64, with a walker at each; --swap-every is then 10 by default")  //
      ("compare-assignments", po::value(&a.assignments)->value_name("FILE"),
       "with --marginal-likelihood: a table of individual and, for every model of the species, a column; runs each in "
       "a folder of --output and compares them by Bayes factors. The likelihood is that of --ordered-data")  //
      ("delayed-acceptance", po::bool_switch(&a.delayed),
       "tries proposals with the most frequent tenth of the patterns first")  //
      ("seed", po::value(&a.seed)->default_value(a.seed)->value_name("S")->notifier(at_least("--seed", 0)),
       "all chance depends on it, >= 0");
  output.add_options()  //
      ("predictive",
       po::value(&a.predictive)->value_name("N")->notifier(within<std::int64_t>("--predictive", 2, 1'000'000)),
       "simulates data from so many samples and compares them with the data: number of patterns, f4 of all quartets")  //
      ("output", po::value(&a.output)->required()->value_name("DIR"),
       "folder for chain_<c>.log (Tracer), chain_<c>.trees, samples.h5, summary.json")  //
      ("resume", po::bool_switch(&a.resume),
       "continues from the checkpoint in the folder, with the options of that run. You may raise --iterations; the "
       "burn-in stays that of the run")  //
      ("newick", po::value(&a.newick)->default_value(a.newick)->value_name("FORMAT"),
       "of the sampled networks: icytree (NEXUS trees, also for Dendroscope) or phylonet (NETWORKS block)")  //
      ("checkpoint-seconds",
       po::value(&a.checkpoint_seconds)
           ->default_value(a.checkpoint_seconds)
           ->value_name("X")
           ->notifier(not_negative("--checkpoint-seconds")),
       "least time between two checkpoints")  //
      ("memory", po::value(&a.gigabytes)->value_name("GB")->notifier(positive("--memory")),
       "limit for the partial likelihoods of each walker; by default half the memory of the device, divided among the "
       "walkers")  //
      ("truncation",
       po::value(&a.truncation)
           ->default_value(a.truncation, "1e-9")
           ->value_name("X")
           ->notifier(within<double>("--truncation", 0, snp::max_truncation)),
       "in large groups of branches lineage numbers are dropped that cannot change the log-likelihood by more than "
       "this, "
       "0 ... 0.1; 0: none");
  all.add(input).add(model).add(chains).add(output);
  return all;
}

tree_format format_of(const arguments& a) {
  return choice<tree_format>("--newick", a.newick,
                             {{"icytree", tree_format::icytree}, {"phylonet", tree_format::phylonet}});
}

snp::prior_options read_priors(const arguments& a) {
  std::vector<snp::prior_source> sources = prior_sources(a.priors_file, a.prior);
  const auto add = [&](const char* option, const char* key, const std::vector<std::string>& values) {
    sources.push_back({option, ""});
    for (const std::string& value : values) sources.back().lines += key + value + "\n";
  };
  const auto add_one = [&](const char* option, const char* key, const std::string& value) {
    if (!value.empty()) add(option, key, {value});
  };
  add("--calibrate", "calibrate ", a.calibrate);
  add("--monophyletic", "monophyletic = ", a.monophyletic);
  add_one("--outgroup", "outgroup = ", a.outgroup);
  add_one("--fix-topology", "backbone = ", a.fix_topology);
  add_one("--clock", "clock = ", a.clock);
  if (a.generation_time > 0)
    add("--generation-time", "generation-time = ", {text(std::setprecision(17), a.generation_time)});
  const snp::prior_options options = snp::parse_priors(sources);
  if (a.generation_time > 0 && !options.clock) throw InvalidArgument("--generation-time needs --clock");
  return options;
}

names names_of(const arguments& a) {
  std::vector<std::string> result;
  std::istringstream words(a.species);
  for (std::string word; std::getline(words, word, ',');) {
    if (word.empty() || std::find(result.begin(), result.end(), word) != result.end())
      throw InvalidArgument(text("--species must be different names with commas between (--species=", a.species, ")"));
    result.push_back(word);
  }
  require_argument(result.size() >= 2, "--species", a.species.empty() ? "none" : a.species, "two or more names");
  return std::make_shared<const std::vector<std::string>>(std::move(result));
}

void complete(arguments& a) {
  format_of(a);
  if (a.no_data) {
    if (!a.input.data.empty()) throw InvalidArgument("--data and --no-data exclude each other");
    return;
  }
  if (a.input.data.empty()) throw InvalidArgument("--data is needed, or --no-data with --species");
  if (!a.species.empty()) throw InvalidArgument("--species belongs to --no-data; data have species already");
  complete(a.input);
}

double length_of(const snp::Network& network) {
  double sum = 0;
  for (std::int64_t b = 0; b < network.branches(); ++b) sum += network.branch(b).length;
  return sum;
}

std::optional<snp::network_state> read_start(session& session, const arguments& a, const snp::priors& prior,
                                             const names& species) {
  if (a.start.empty() || a.start == searched_start) return {};
  const snp::prior_options& priors = prior.options();
  const double theta = priors.theta.middle();
  const snp::newick_options options{.theta = theta, .root_theta = snp::unset};
  std::error_code ignored;
  const bool is_file = std::filesystem::exists(a.start, ignored);
  if (!is_file && a.start.find('(') == std::string::npos)
    throw InvalidArgument(
        text("--start must be a file, a network, which begins with a parenthesis, or search (--start=", a.start, ")"));
  const snp::Network network = is_file ? io::read_network(a.start, options) : snp::parse_newick(a.start, options);
  snp::state_options more{.origin = priors.origin.is_fixed() ? priors.origin.a : snp::unset,
                          .thetas = priors.thetas,
                          .pi1 = priors.pi1.middle(),
                          .may_stretch = true};
  snp::network_state state = snp::state_of(network, species, more);
  const double length = length_of(network), stretched = length_of(snp::to_network(state));
  if (stretched > length * (1 + 1e-6))
    session.warn(text("--start: ways from a node down to the leaves differ in length, so branches were made longer, ",
                      "from ", length, " to ", stretched, " in all"));
  return prior.completed(std::move(state));
}

// One for each chain, with --start search; every process finds the same.
std::vector<snp::network_state> search_for_starts(session& session, const arguments& a, const snp::priors& prior,
                                                  const snp::Data& data, const snp::sampler_options& options) {
  const snp::start_options search{.chains = a.chains,
                                  .seed = options.seed,
                                  .model = options.model,
                                  .likelihood = options.likelihood,
                                  .progress = session.progress()};
  return session.timed("starts", [&] { return snp::search_starts(data, prior, search); });
}

void read_fixed(const arguments& a, snp::sampler_options& options) {
  std::istringstream words(a.fix);
  for (std::string word; std::getline(words, word, ',');) {
    const std::pair<const char*, bool*> parts[] = {
        {"topology", &options.fix_topology}, {"heights", &options.fix_heights}, {"origin", &options.fix_origin},
        {"theta", &options.fix_theta},       {"gamma", &options.fix_gamma},     {"rates", &options.fix_rates}};
    const auto it = std::find_if(std::begin(parts), std::end(parts), [&](const auto& p) { return p.first == word; });
    if (it == std::end(parts))
      throw InvalidArgument(
          text("--fix must be a list of topology, heights, origin, theta, gamma, rates (--fix=", a.fix, ")"));
    *it->second = true;
  }
  if (!a.fix.empty() && a.start.empty()) throw InvalidArgument("--fix needs --start, which has the fixed parts");
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Everything that samples depend on, in words and as a number.
run_identity identity_of(const session& session, const arguments& a, const snp::sampler_options& options,
                         const snp::prior_options& priors, const names& species, const snp::Data* data) {
  std::ostringstream config;
  config << std::setprecision(17) << "format 2\n" << snp::to_text(priors);
  config << "\nspecies";
  for (const std::string& name : *species) config << ' ' << name;
  config << "\nmax-reticulations " << a.max_reticulations << "\nmax-level " << a.max_level << "\nbubbles "
         << !a.no_bubbles << "\nfix " << a.fix << "\nseed " << options.seed << "\nchains " << options.chains
         << "\ntemperatures " << options.temperatures << "\nheat " << options.heat << ' ' << options.tune_heat
         << "\nswap-every " << options.swap_every << "\nburn-in " << options.burn_in << "\nsample-every "
         << options.sample_every << "\ndelayed-acceptance " << options.delayed_acceptance << "\npolymorphic-only "
         << (!options.model.polymorphic_only ? "0"
             : options.model.full_samples    ? "1"
                                             : "own-copies")
         << "\nordered-data " << options.model.ordered_data << "\nunseen " << options.model.unseen_zeros << ' '
         << options.model.unseen_ones << "\nmutation-only-at-root " << options.model.mutation_only_at_root << "\nrates";
  for (const double rate : options.model.rate_categories) config << ' ' << rate;
  config << "\nnewick " << a.newick << "\n";
  if (a.power_steps > 0) config << "marginal-likelihood " << a.power_steps << "\n";
  if (a.truncation != snp::default_truncation) config << "truncation " << a.truncation << "\n";
  const auto write_start = [&](const snp::network_state& state) {
    config << "start";
    for (const double x : snp::numbers_of(state)) config << ' ' << x;
    config << "\n";
  };
  if (options.start) write_start(*options.start);
  for (const snp::network_state& state : options.starts) write_start(state);
  run_identity identity;
  identity.config = config.str();
  identity.hash = hash_of(identity.config);
  identity.burn_in = options.burn_in;
  identity.powers = std::int64_t(options.powers.size());
  if (data != nullptr) {
    std::ostringstream patterns;
    patterns << std::setprecision(17) << data->dominant();
    for (std::int64_t p = 0; p < data->patterns(); ++p) {
      patterns << '\n' << data->weight(p);
      for (std::int64_t s = 0; s < std::int64_t(species->size()); ++s)
        patterns << ' ' << data->red(p, s) << '/' << data->copies(p, s);
    }
    identity.hash = hash_of(patterns.str(), identity.hash);
  }
  // A run that was ended before its first checkpoint begins anew, and is the run that it would have been.
  nlohmann::ordered_json parameters = session.line().parameters;
  parameters.erase("resume");
  identity.head =
      text("# quintet-snp-mcmc ", build_info().version, "\n# ", parameters.dump(), "\n# seed ", options.seed, "\n");
  for (const std::string& line : lines_of(snp::to_text(priors))) identity.head += "# prior " + line + "\n";
  return identity;
}

std::string clock_text(double seconds) {
  std::ostringstream out;
  const auto all = std::int64_t(seconds);
  if (all >= 3600) out << all / 3600 << " h ";
  out << all / 60 % 60 << " min";
  if (all < 600) out << ' ' << all % 60 << " s";
  return out.str();
}

void write_text(const std::string& path, const std::string& content) {
  io::atomic_file out(path);
  out.write(content);
  out.commit();
}

// Runs `action`; as several ranks, all throw what the lowest of them throws.
template <class Action>
void on_all([[maybe_unused]] const session& session, const Action& action) {
#ifdef QUINTET_HAS_MPI
  if (session.ranks() != nullptr) return session.ranks()->run_collectively(action);
#endif
  action();
}

// The checkpoint of the first rank, if there is one, on all of them.
std::optional<snp::sampler_snapshot> found_by_root([[maybe_unused]] const session& session,
                                                   const snp::sampler_snapshot* snapshot) {
  std::optional<snp::sampler_snapshot> result;
  if (snapshot != nullptr) result = *snapshot;
#ifdef QUINTET_HAS_MPI
  if (session.ranks() == nullptr) return result;
  mpi::communicator& ranks = *session.ranks();
  std::int64_t sizes[3] = {result ? result->step : -1, result ? std::int64_t(result->numbers.size()) : 0,
                           result ? std::int64_t(result->counts.size()) : 0};
  ranks.broadcast(std::span<std::int64_t>(sizes));
  if (sizes[0] < 0) return {};
  if (!result) result.emplace();
  result->step = sizes[0];
  result->numbers.resize(std::size_t(sizes[1]));
  result->counts.resize(std::size_t(sizes[2]));
  ranks.broadcast(std::span<double>(result->numbers));
  ranks.broadcast(std::span<std::int64_t>(result->counts));
#endif
  return result;
}

// The draws of the checkpoint, on all ranks.
power_draws draws_by_root([[maybe_unused]] const session& session, const arguments& a, const run_files* files) {
  if (a.power_steps == 0) return {};
  std::vector<double> numbers = files != nullptr ? numbers_of(files->draws()) : std::vector<double>();
#ifdef QUINTET_HAS_MPI
  if (session.ranks() != nullptr) {
    std::int64_t size = std::int64_t(numbers.size());
    session.ranks()->broadcast(std::span<std::int64_t>(&size, 1));
    numbers.resize(std::size_t(size));
    session.ranks()->broadcast(std::span<double>(numbers));
  }
#endif
  return draws_of(numbers, a.chains, a.temperatures);
}

// A run that goes on keeps its burn-in, however many steps there are now.
std::int64_t burn_in_of(const session& session, const arguments& a) {
  std::int64_t known = a.burn_in;
  if (a.burn_in < 0 && a.resume)
    on_all(session, [&] {
      if (session.is_root()) known = burn_in_of_checkpoint(a.output);
    });
#ifdef QUINTET_HAS_MPI
  if (session.ranks() != nullptr) session.ranks()->broadcast(std::span<std::int64_t>(&known, 1));
#endif
  return known >= 0 ? known : a.iterations / 10;
}

// Samples until all is done; people hear of it now and then. Of several ranks the first one has files.
power_draws sample(session& session, const arguments& a, snp::sampler& chains, run_files* files,
                   const snp::priors& prior, power_draws draws) {
  using clock = std::chrono::steady_clock;
  const auto seconds_since = [](clock::time_point start) {
    return std::chrono::duration<double>(clock::now() - start).count();
  };
  const auto begin = clock::now();
  auto saved = begin, reported = begin;
  double patience = 10;
  const std::int64_t first = chains.step();
  while (!chains.is_done()) {
    chains.advance(session.progress());
    const auto samples = chains.take_samples();
    const power_draws part = a.power_steps > 0 ? chains.take_log_likelihoods() : power_draws();
    append(draws, part);
    std::optional<snp::sampler_snapshot> snapshot;
    if (chains.step() % 1000 == 0) snapshot = chains.snapshot();
    on_all(session, [&] {
      if (files == nullptr) return;
      files->add(samples, prior);
      files->add(part);
      if (!snapshot) return;
      files->mark(std::move(*snapshot));
      if (seconds_since(saved) >= a.checkpoint_seconds) {
        files->save();
        saved = clock::now();
      }
    });
    if (seconds_since(reported) < patience || session.quiet() || !session.is_root()) continue;
    reported = clock::now();
    patience = std::min(patience * 1.5, 600.0);
    const double left =
        seconds_since(begin) / double(chains.step() - first) * double(chains.options().iterations - chains.step());
    // More than the step would be a question to all ranks, which do not know of the time here.
    session.say() << (session.ranks() == nullptr ? progress_line(files->samples(), files->columns(), chains)
                                                 : text("step ", chains.step(), " of ", chains.options().iterations))
                  << ", " << clock_text(left) << " left" << std::endl;
  }
  const double seconds = seconds_since(begin);
  session.result("ran_on", session.device().spelling());
  session.result("steps_per_second", double((chains.step() - first) * a.chains * a.temperatures) / seconds);
  nlohmann::ordered_json moves = nlohmann::ordered_json::object();
  const auto all = chains.moves();
  for (std::size_t m = 0; m < all[0].size(); ++m) {
    double time = 0, tried = 0;
    for (const auto& chain : all) time += chain[m].seconds, tried += double(chain[m].tried);
    moves[all[0][m].name] = tried > 0 ? time / tried * 1e6 : 0;
  }
  // The sampled walkers' times; tries of a run that went on include those before.
  if (first == 0) session.result("microseconds_by_move", moves);
  return draws;
}

nlohmann::ordered_json marginal_json(const snp::marginal_likelihood_estimate& estimate, bool is_of_copies) {
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (const snp::power_step& step : estimate.steps)
    steps.push_back({{"power", step.power},
                     {"mean", step.mean},
                     {"variance", step.variance},
                     {"ess", step.ess},
                     {"log_ratio", step.log_ratio},
                     {"error", step.error}});
  return {{"log_z", estimate.log_z},
          {"error", estimate.error},
          {"thermodynamic", estimate.thermodynamic},
          {"thermodynamic_error", estimate.thermodynamic_error},
          {"by_chain", estimate.by_chain},
          {"of", is_of_copies ? "copies" : "counts"},
          {"steps", steps}};
}

void say_marginal(session& session, const snp::marginal_likelihood_estimate& estimate) {
  session.say() << "log marginal likelihood " << std::fixed << std::setprecision(4) << estimate.log_z << " +- "
                << estimate.error << " (stepping stones), " << estimate.thermodynamic << " +- "
                << estimate.thermodynamic_error << " (thermodynamic integration)\n"
                << std::defaultfloat;
  if (!estimate.agrees)
    session.warn(text(
        "stepping stones and thermodynamic integration differ by more than three errors; the step from "
        "power ",
        estimate.steps[std::size_t(estimate.worst_step)].power, " has the largest error: more steps or iterations"));
}

// Statistics of data that are simulated from samples, spread over all chains, against those of the data.
nlohmann::ordered_json predictive_json(session& session, const arguments& a, const kept_chains& samples,
                                       const snp::priors& prior, const names& species, const snp::Data& data) {
  std::vector<const kept_sample*> all;
  for (const auto& chain : samples)
    for (const kept_sample& sample : chain) all.push_back(&sample);
  const auto count = std::min(std::size_t(a.predictive), all.size());
  std::vector<snp::predictive_draw> draws;
  for (std::size_t i = 0; i < count; ++i) {
    const snp::network_state state =
        prior.completed(snp::state_from_numbers(species, all[i * all.size() / count]->numbers));
    draws.push_back({snp::to_network(state), state.u(), state.v()});
  }
  const auto statistics = snp::predictive_check(data, draws, a.input.model, std::uint64_t(a.seed));
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  std::int64_t unlikely = 0;
  for (const snp::predictive_statistic& statistic : statistics) {
    if (statistic.p < 0.025 || statistic.p > 0.975) ++unlikely;
    rows.push_back({{"name", statistic.name},
                    {"observed", statistic.observed},
                    {"mean", statistic.mean},
                    {"sd", statistic.sd},
                    {"p", statistic.p}});
  }
  session.say() << unlikely << " of " << statistics.size() << " predictive statistics are outside 95 % of " << count
                << " simulated data sets\n";
  return rows;
}

// P(r) against that of the prior, for neighbouring numbers of reticulations; nothing where the prior's is not known, as
// with fixed parts that the number depends on.
nlohmann::ordered_json reticulation_factors(const nlohmann::ordered_json& posterior, const snp::priors& prior,
                                            const snp::sampler_options& options) {
  nlohmann::ordered_json factors = nlohmann::ordered_json::array();
  if (options.fix_topology || options.fix_heights || options.fix_origin || options.fix_rates) return factors;
  const std::vector<double> share = snp::reticulation_probabilities(prior);
  for (std::size_t r = 1; r < share.size(); ++r) {
    const double more = posterior[std::to_string(r)], fewer = posterior[std::to_string(r - 1)];
    if (more == 0 && fewer == 0) continue;
    nlohmann::ordered_json factor{{"reticulations", r}, {"against", r - 1}, {"prior_odds", share[r] / share[r - 1]}};
    if (fewer > 0) factor["bayes_factor"] = more / fewer / (share[r] / share[r - 1]);
    factors.push_back(factor);
  }
  return factors;
}

// The worst three and the remedy; all are in the file.
void say_warnings(session& session, const nlohmann::ordered_json& summary, const std::string& path) {
  constexpr std::size_t max_shown = 3;
  const auto& all = summary["warnings"];
  for (std::size_t i = 0; i < std::min(all.size(), max_shown); ++i) session.warn(all[i].get<std::string>());
  const std::string advice = summary.value("advice", "");
  const std::string more = all.size() > max_shown ? text(all.size() - max_shown, " more warnings are in ", path) : "";
  if (!advice.empty() || !more.empty()) session.warn(text(advice, advice.empty() || more.empty() ? "" : "; ", more));
}

// A network with numbers of 6 digits, for the screen; the files have all digits.
std::string shortened(const std::string& newick) {
  std::string result;
  char quote = 0;
  for (std::size_t i = 0; i < newick.size();) {
    const char before = i > 0 ? newick[i - 1] : ' ';
    double number = 0;
    std::from_chars_result end{newick.data() + i, std::errc::invalid_argument};
    if (quote == 0 && (before == ':' || before == '['))
      end = std::from_chars(end.ptr, newick.data() + newick.size(), number);
    if (end.ec == std::errc()) {
      result += text(number);
      i = std::size_t(end.ptr - newick.data());
      continue;
    }
    if (newick[i] == '\'' || newick[i] == '"') quote = quote == 0 ? newick[i] : quote == newick[i] ? 0 : quote;
    result += newick[i++];
  }
  return result;
}

void say_result(session& session, const nlohmann::ordered_json& summary) {
  std::ostream& out = session.say();
  if (!summary.contains("map")) return;
  out << "reticulations";
  for (const auto& [r, p] : summary["reticulations"].items())
    out << "  " << r << ": " << std::setprecision(3) << p.get<double>();
  out << "\nmost probable topology, " << summary["map"]["probability"].get<double>() << ": "
      << summary["map"]["newick"].get<std::string>() << "\n  "
      << shortened(summary["map"]["network"].get<std::string>()) << "\n";
  for (const auto& event : summary["hybrid_events"])
    if (event["support"].get<double>() >= 0.05)
      out << "hybrid " << event["hybrid"].get<std::string>() << " of " << event["parents"][0].get<std::string>()
          << " and " << event["parents"][1].get<std::string>() << ": support " << event["support"].get<double>() << ", "
          << event["mean_gamma"].get<double>() << " from the first\n";
}

// Before the first step, because the estimate comes after the last one.
void require_draws(const snp::sampler_options& options) {
  const std::int64_t draws = options.iterations / options.sample_every - options.burn_in / options.sample_every;
  if (draws < snp::min_power_draws)
    throw InvalidArgument(text("--marginal-likelihood needs ", snp::min_power_draws,
                               " or more samples after the burn-in: --iterations ", options.iterations, ", --burn-in ",
                               options.burn_in, " and --sample-every ", options.sample_every, " give ", draws));
}

// The marginal likelihood, with --marginal-likelihood: it can be compared with that of another run.
std::optional<snp::marginal_likelihood_estimate> infer(session& session, const arguments& a) {
  std::optional<snp::marginal_likelihood_estimate> marginal;
  snp::prior_options prior_options;
  std::optional<snp::Data> data;
  on_all(session, [&] {
    prior_options = read_priors(a);
    if (!a.no_data) data = read_markers(session, a.input);
  });
  const names species =
      data ? std::make_shared<const std::vector<std::string>>(data->species().begin(), data->species().end())
           : names_of(a);
  const snp::priors prior(
      prior_options, std::int64_t(species->size()),
      {.max_reticulations = a.max_reticulations, .max_level = a.max_level, .bubbles = !a.no_bubbles});
  if (!a.no_data && !prior_options.calibrations.empty() && (prior.has_netdiv() || prior.has_turnover()))
    session.warn(
        "calibrations weigh the sampled rates (netdiv, turnover): their prior is not the density written; a run "
        "with --no-data shows it");
  snp::sampler_options options{.chains = a.chains,
                               .temperatures = a.temperatures,
                               .heat = a.heat,
                               .tune_heat = !a.keep_heat,
                               .iterations = a.iterations,
                               .burn_in = burn_in_of(session, a),
                               .sample_every = a.sample_every,
                               .swap_every = a.swap_every,
                               .seed = std::uint64_t(a.seed),
                               .start = read_start(session, a, prior, species),
                               .delayed_acceptance = a.delayed,
                               .model = a.input.model};
  read_fixed(a, options);
  if (a.power_steps > 0) {
    options.powers = snp::power_ladder(a.power_steps);
    require_draws(options);
  }
  options.likelihood.device = session.device();
  options.likelihood.truncation = a.truncation;
  options.likelihood.memory_limit =
      a.gigabytes > 0 ? std::int64_t(a.gigabytes * 1e9)
                      : session.device().memory_bytes() / 2 / std::max<std::int64_t>(a.chains * a.temperatures, 1);
  if (a.start == searched_start) options.starts = search_for_starts(session, a, prior, *data, options);
#ifdef QUINTET_HAS_MPI
  if (session.ranks() != nullptr) options.shared_by = mpi::snp::group_of(*session.ranks());
#endif
  const run_identity identity = identity_of(session, a, options, prior_options, species, data ? &*data : nullptr);
#ifdef QUINTET_HAS_MPI
  if (session.ranks() != nullptr) session.ranks()->require_same("the run (priors, data, options)", text(identity.hash));
#endif
  auto chains = session.timed(
      "setup", [&] { return std::make_unique<snp::sampler>(species, data ? &*data : nullptr, prior, options); });
  const snp::sampler_snapshot begin = chains->snapshot();
  std::optional<run_folder> folder;
  std::optional<run_files> files;
  on_all(session, [&] {
    if (!session.is_root()) return;
    folder.emplace(a.output, a.resume);
    const bool resume = a.resume && folder->has_checkpoint();
    if (a.resume && !resume) session.say() << a.output << " has no checkpoint: the run starts from the beginning\n";
    files.emplace(*folder, identity, format_of(a), a.chains, begin, species, prior, resume);
  });
  if (const auto snapshot = found_by_root(session, files ? files->previous() : nullptr)) {
    require_argument(snapshot->step <= a.iterations, "--iterations", a.iterations,
                     text(">= the steps that are done, ", snapshot->step));
    chains->restore(*snapshot);
    session.say() << "goes on from step " << chains->step() << "\n";
  }
  power_draws known = draws_by_root(session, a, files ? &*files : nullptr);
  const power_draws draws = session.timed(
      "sample", [&] { return sample(session, a, *chains, files ? &*files : nullptr, prior, std::move(known)); });
  if (a.power_steps > 0) marginal = snp::marginal_likelihood(options.powers, draws);
  const auto moves = chains->moves();
  on_all(session, [&] {
    if (!session.is_root()) return;
    const nlohmann::ordered_json summary = session.timed("summarise", [&] {
      files->finish();
      auto contents = summary_of(files->samples(), files->columns(), species, *chains, moves, prior);
      contents["priors"] = lines_of(snp::to_text(prior_options));
      if (data) contents["truncation_bound"] = a.truncation;
      if (data && contents.contains("reticulations"))
        contents["bayes_factors"] = reticulation_factors(contents["reticulations"], prior, options);
      if (a.predictive > 0 && data)
        contents["predictive"] = predictive_json(session, a, files->samples(), prior, species, *data);
      if (marginal) contents["marginal_likelihood"] = marginal_json(*marginal, a.input.model.ordered_data);
      write_text(folder->file("summary.json"),
                 contents.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
      return contents;
    });
    say_warnings(session, summary, folder->file("summary.json"));
    say_result(session, summary);
    session.result("output", a.output);
    if (marginal) say_marginal(session, *marginal);
    session.say_done(folder->file("summary.json"));
  });
  return marginal;
}

// The copies and the red ones of all species at a site; none where it was left out.
struct site_total {
  std::int32_t copies = 0, red = 0;
  bool operator==(const site_total&) const = default;
};

// What a model must have in common with the others.
struct assigned_sample {
  double sites = 0;
  std::int64_t copies = 0;
  std::vector<site_total> totals;
};

std::vector<site_total> site_totals(const snp::Data& data) {
  std::vector<site_total> of_pattern(std::size_t(data.patterns())), totals;
  for (std::int64_t p = 0; p < data.patterns(); ++p)
    for (std::int64_t s = 0; s < std::int64_t(data.species().size()); ++s) {
      of_pattern[std::size_t(p)].copies += std::int32_t(data.copies(p, s));
      of_pattern[std::size_t(p)].red += std::int32_t(data.red(p, s));
    }
  for (const std::int64_t p : data.pattern_of_site())
    totals.push_back(p < 0 ? site_total() : of_pattern[std::size_t(p)]);
  return totals;
}

assigned_sample read_sample(const assignment& model, const arguments& own) {
  const auto fail = [&](const std::string& why) {
    throw InvalidArgument(text("--compare-assignments: ", why, " (assignment ", model.name, ")"));
  };
  const io::snp_input input = io::read_snp_data(own.input.data, own.input.reading);
  if (!input.report.absent.empty())
    fail(text("the individual ", input.report.absent.front(), " is not in ", own.input.data, "; ",
              input.report.absent.size(), " are not"));
  const auto species = input.data.species();
  if (species.size() < 2) fail(text("a network needs two or more species, and all individuals are ", species[0]));
  assigned_sample sample{.totals = site_totals(input.data)};
  for (std::int64_t p = 0; p < input.data.patterns(); ++p) sample.sites += input.data.weight(p);
  for (const std::int64_t copies : input.data.sampled_copies()) sample.copies += copies;
  const auto left_out = input.data.dropped_sites();
  for (std::size_t s = 0; s < species.size(); ++s) {
    const bool is_empty =
        sample.sites > 0 ? input.data.max_copies()[s] == 0
                         : std::all_of(left_out.begin(), left_out.end(),
                                       [&](const snp::dropped_site& site) { return site.species == std::int64_t(s); });
    if (is_empty) fail(text("the species ", species[s], " is empty: it has no copies at any site"));
  }
  return sample;
}

// Before the first chain, because that may run for hours. Data must be the same, or their likelihoods would not
// compare.
void check_samples(const std::vector<assignment>& assignments, const std::vector<arguments>& of_models) {
  std::optional<assigned_sample> first;
  for (std::size_t i = 0; i < assignments.size(); ++i) {
    const assigned_sample sample = read_sample(assignments[i], of_models[i]);
    if (!first) first = sample;
    if (sample.sites != first->sites || sample.copies != first->copies)
      throw InvalidArgument(text("assignments must have the same sites and copies: ", assignments[0].name, " has ",
                                 first->sites, " sites of ", first->copies, " copies, ", assignments[i].name, " has ",
                                 sample.sites, " of ", sample.copies, " (--keep-empty keeps all sites)"));
    // As many sites need not be the same ones.
    const auto difference =
        std::mismatch(first->totals.begin(), first->totals.end(), sample.totals.begin(), sample.totals.end());
    if (difference.first == first->totals.end() && difference.second == sample.totals.end()) continue;
    throw InvalidArgument(text("assignments must have the same sites and copies: ", assignments[0].name, " and ",
                               assignments[i].name, " differ at site ", difference.first - first->totals.begin() + 1,
                               " of those read (--keep-empty keeps all sites)"));
  }
}

// The options of a model: its folder, its map, and the likelihood of copies.
arguments options_of(const arguments& a, const assignment& model) {
  arguments own = a;
  own.output = (std::filesystem::path(a.output) / model.name).string();
  own.input.reading.populations =
      io::population_map::from_pairs(model.species_of, text("column ", model.name, " of ", a.assignments));
  own.input.model.ordered_data = true;
  complete(own.input);
  return own;
}

// Each assignment in a folder of its name.
void compare_assignments(session& session, const arguments& a) {
  std::vector<assignment> assignments;
  on_all(session, [&] {
    assignments = read_assignments(a.assignments);
    if (!session.is_root()) return;
    for (const assignment& model : assignments) {
      std::filesystem::create_directories(std::filesystem::path(a.output) / model.name);
      std::string map;
      for (const auto& [individual, species] : model.species_of) map += individual + "\t" + species + "\n";
      write_text((std::filesystem::path(a.output) / model.name / "population_map.tsv").string(), map);
    }
  });
  std::vector<arguments> of_models;
  on_all(session, [&] {
    for (const assignment& model : assignments) of_models.push_back(options_of(a, model));
    check_samples(assignments, of_models);
  });
  std::vector<compared_assignment> compared;
  for (std::size_t i = 0; i < assignments.size(); ++i) {
    session.say() << "assignment " << assignments[i].name << "\n";
    compared.push_back({assignments[i].name, *infer(session, of_models[i])});
  }
  if (session.is_root()) report_assignments(session, std::move(compared));
}

const program about{
    "quintet-snp-mcmc",
    "samples species networks, their heights, population sizes and inheritance probabilities from their posterior.",
    "quintet-snp-mcmc --data rice.nexus --species-rule after-last:_ --polymorphic-only --priors rice.priors \\\n"
    "    --iterations 1000000 --chains 4 --temperatures 4 --seed 1 --output rice",
    {"double"},
    true};

void run(session& session, arguments& a) {
  require_distinct_files({{"--data", a.input.data},
                          {"--start", a.start == searched_start ? "" : a.start},
                          {"--population-map", a.input.population_map},
                          {"--compare-assignments", a.assignments},
                          {"--priors", a.priors_file}},
                         {{"--json", session.line().common.json}});
  if (std::isnan(a.input.gamma_shape)) require_absent(session.line(), {"gamma-categories"}, "needs --gamma-shape");
  if (a.power_steps > 0) {
    require_absent(session.line(), {"temperatures", "heat", "keep-heat", "no-data"},
                   "and --marginal-likelihood exclude each other");
    a.temperatures = a.power_steps + 1;
    if (!session.line().option_names.contains("swap-every")) a.swap_every = 10;
  }
  if (!a.assignments.empty()) {
    if (a.power_steps == 0) throw InvalidArgument("--compare-assignments needs --marginal-likelihood");
    require_absent(session.line(), {"population-map", "species-rule", "start", "individuals"},
                   "and --compare-assignments exclude each other");
  }
  if (a.temperatures == 1) require_absent(session.line(), {"heat", "keep-heat", "swap-every"}, "needs --temperatures");
  if (a.no_data) require_absent(session.line(), {"predictive"}, "and --no-data exclude each other");
  if (a.start == searched_start) {
    if (a.no_data) throw InvalidArgument("--start search and --no-data exclude each other: a search needs data");
    require_absent(session.line(), {"fix"}, "and --start search exclude each other");
  }
  complete(a);
  if (a.assignments.empty())
    infer(session, a);
  else if (a.input.data == "/dev/stdin")
    throw InvalidArgument("--compare-assignments reads the data once for every model: --data must be a file, not -");
  else
    compare_assignments(session, a);
}

}  // namespace

}  // namespace quintet::driver

int main(int argc, char** argv) {
  using namespace quintet::driver;
  return run_driver<arguments>(argc, argv, about, describe, run);
}
