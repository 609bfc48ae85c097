// Species networks: likelihoods, optimisation, search, simulation, chains. Objects are classes of the module; those
// that compute hold a mutex, which is taken after the GIL is released, because polls take the GIL while work is going
// on.
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>

#include "arrays.hpp"
#include "call.hpp"
#include "quintet/io/snp_data.hpp"
#include "quintet/io/snp_network.hpp"
#include "quintet/snp/inference/diagnostics.hpp"
#include "quintet/snp/inference/marginal_likelihood.hpp"
#include "quintet/snp/inference/priors.hpp"
#include "quintet/snp/inference/resampling.hpp"
#include "quintet/snp/inference/sampler.hpp"
#include "quintet/snp/inference/search.hpp"
#include "quintet/snp/inference/starts.hpp"
#include "quintet/snp/likelihood/composite.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/likelihood/optimise.hpp"
#include "quintet/snp/likelihood/rules.hpp"
#include "quintet/snp/markers/data.hpp"
#include "quintet/snp/markers/f_statistics.hpp"
#include "quintet/snp/network/network.hpp"
#include "quintet/snp/network/network_topology.hpp"
#include "quintet/snp/network/newick.hpp"
#include "quintet/snp/network/rooting.hpp"
#include "quintet/snp/simulation/predictive.hpp"
#include "quintet/snp/simulation/simulate.hpp"
#include "records.hpp"
#include "snp_options.hpp"

namespace quintet::python {

namespace {

using namespace snp;

/// An object that serves one thread at a time.
template <class T>
class shared {
 public:
  template <class... Arguments>
  explicit shared(Arguments&&... arguments) : object_(std::forward<Arguments>(arguments)...) {}

  shared(shared&&) = delete;

  /// f(object) without the GIL, after whoever works with the object.
  template <class Function>
  decltype(auto) use(Function&& f) {
    return run([&] { return use_alone(f); });
  }
  /// The same with a progress callback: f(object, callback).
  template <class Function>
  decltype(auto) use(nb::handle progress, Function&& f) {
    return run(progress, [&](const progress_callback& report) {
      return use_alone([&](T& object) { return f(object, report); });
    });
  }

 private:
  template <class Function>
  decltype(auto) use_alone(Function&& f) {
    const std::lock_guard lock(mutex_);
    if (is_used_) throw Error("the object is at work: a callback must not call it");
    struct mark {
      bool& flag;
      explicit mark(bool& f) : flag(f) { flag = true; }
      ~mark() { flag = false; }
    } now(is_used_);
    return f(object_);
  }

  std::recursive_mutex mutex_;  // a callback of the same thread is refused instead of waiting for ever
  bool is_used_ = false;
  T object_;
};

using shared_likelihood = shared<Likelihood>;

// Networks and data.

newick_options newick_of(double theta, double root_theta, double length, double gamma, bool support, bool unrooted) {
  newick_options options;
  options.theta = theta;
  options.root_theta = root_theta;
  options.length = length;
  options.gamma = gamma;
  options.support = support;
  options.unrooted = unrooted;
  return options;
}

Network network_of(std::vector<std::string> names, const nb::list& edges, double root_theta) {
  network_description description{std::move(names), {}, root_theta};
  for (const nb::handle edge : edges) {
    const auto t = nb::cast<nb::tuple>(edge);
    description.edges.push_back({nb::cast<std::int64_t>(t[0]), nb::cast<std::int64_t>(t[1]), nb::cast<double>(t[2]),
                                 nb::cast<double>(t[3]), nb::cast<double>(t[4])});
  }
  return Network(std::move(description));
}

std::vector<std::string> strings(std::span<const std::string> names) { return {names.begin(), names.end()}; }

template <class T>
nb::object copied(std::span<const T> values) {
  return to_numpy(std::vector<T>(values.begin(), values.end()));
}

nb::dict branches_of(const Network& network) {
  const std::size_t count = std::size_t(network.branches());
  std::vector<std::int64_t> child(count), parent(count);
  std::vector<double> length(count), theta(count), gamma(count);
  for (std::size_t b = 0; b < count; ++b) {
    const branch& one = network.branch(std::int64_t(b));
    child[b] = one.child;
    parent[b] = one.parent;
    length[b] = one.length;
    theta[b] = one.theta;
    gamma[b] = one.gamma;
  }
  nb::dict d;
  d["child"] = to_numpy(std::move(child));
  d["parent"] = to_numpy(std::move(parent));
  d["length"] = to_numpy(std::move(length));
  d["theta"] = to_numpy(std::move(theta));
  d["gamma"] = to_numpy(std::move(gamma));
  return d;
}

std::vector<std::string> kinds_of(const Network& network) {
  std::vector<std::string> kinds;
  for (std::int64_t node = 0; node < network.nodes(); ++node) {
    const auto children = network.child_branches(node).size(), parents = network.parent_branches(node).size();
    kinds.push_back(parents == 0 ? "root" : children == 0 ? "leaf" : parents == 2 ? "reticulation" : "tree");
  }
  return kinds;
}

Data data_of(std::vector<std::string> species, const array& red, const array& copies, const array& weights,
             bool dominant, bool keep_empty, std::vector<std::int64_t> sampled) {
  const auto r = red.matrix<const std::int64_t>(), c = copies.matrix<const std::int64_t>();
  const auto w = weights.vector<const double>();
  const auto count = std::int64_t(species.size());
  require_argument(r.cols() == count, "red.shape[1]", r.cols(), text("the number of species, ", count));
  require_argument(c.rows() == r.rows() && c.cols() == count, "copies.shape", text(c.rows(), " x ", c.cols()),
                   text("that of red, ", r.rows(), " x ", count));
  if (weights.present())
    require_argument(w.size() == r.rows(), "weights.size", w.size(), text("the number of sites, ", r.rows()));
  return run([&] {
    DataBuilder builder(std::move(species), {dominant, keep_empty ? empty_species::keep : empty_species::drop});
    for (std::int64_t site = 0; site < r.rows(); ++site) {
      if ((site & 1023) == 0) poll();
      builder.add_site({r.row(site), std::size_t(count)}, {c.row(site), std::size_t(count)},
                       weights.present() ? w.data()[site] : 1.0);
    }
    return builder.finish(std::move(sampled));
  });
}

nb::object table_of(std::span<const std::int16_t> values, std::int64_t rows, std::int64_t cols) {
  std::vector<std::int64_t> wide(values.begin(), values.end());
  return to_numpy(std::move(wide), {rows, cols});
}

nb::dict tables_of(const Data& data) {
  const auto species = std::int64_t(data.species().size());
  nb::dict d;
  d["red"] = table_of(data.red(), data.patterns(), species);
  d["copies"] = table_of(data.copies(), data.patterns(), species);
  d["weights"] = copied(data.weights());
  std::vector<std::int64_t> kinds;
  for (std::int64_t p = 0; p < data.patterns(); ++p) kinds.push_back(std::int64_t(data.kind(p)));
  d["kinds"] = to_numpy(std::move(kinds));
  d["pattern_of_site"] = copied(data.pattern_of_site());
  d["sampled_copies"] = copied(data.sampled_copies());
  d["max_copies"] = copied(data.max_copies());
  std::vector<std::int64_t> dropped;
  for (const dropped_site& one : data.dropped_sites()) dropped.insert(dropped.end(), {one.site, one.species});
  const auto count = std::int64_t(dropped.size() / 2);
  d["dropped_sites"] = to_numpy(std::move(dropped), {count, 2});
  return d;
}

nb::tuple read_data(const std::string& path, const std::string& map_file, const std::string& map_rule, bool diploid,
                    bool haploid, bool dominant, bool keep_empty, double max_missing, std::int64_t thin_distance,
                    bool one_per_locus) {
  auto input = run([&] {
    io::snp_read_options options;
    if (!map_file.empty()) options.populations = io::population_map::from_file(map_file);
    if (!map_rule.empty()) options.populations = io::population_map::from_rule(map_rule);
    options.diploid = diploid;
    options.haploid = haploid;
    options.dominant = dominant;
    options.empty = keep_empty ? empty_species::keep : empty_species::drop;
    options.max_missing = max_missing;
    options.thin_distance = thin_distance;
    options.one_per_locus = one_per_locus;
    return io::read_snp_data(path, options);
  });
  nb::dict d;
  d["individuals"] = input.report.individuals;
  d["left_out"] = input.report.left_out;
  d["absent"] = input.report.absent;
  d["assumed_diploid"] = input.report.assumed_diploid;
  d["records"] = input.report.records;
  d["multiallelic"] = input.report.multiallelic;
  d["without_alternative"] = input.report.without_alternative;
  d["not_snps"] = input.report.not_snps;
  d["repeated_places"] = input.report.repeated_places;
  d["too_much_missing"] = input.report.too_much_missing;
  d["thinned"] = input.report.thinned;
  d["locus_of_site"] = to_numpy(std::move(input.locus_of_site));
  return nb::make_tuple(std::move(input.data), d);
}

// Likelihoods.

likelihood_options likelihood_options_of(const std::string& device, std::int64_t memory_limit, double truncation) {
  return {.device = Device::parse(device), .memory_limit = memory_limit, .truncation = truncation};
}

nb::dict dict_of(const evaluation_estimate& size) {
  nb::dict d;
  nb::list groups;
  for (const group_size& one : size.groups) groups.append(nb::make_tuple(one.branches, one.states, one.patterns));
  d["groups"] = groups;
  d["largest_group"] = size.largest_group;
  d["largest_group_untruncated"] = size.largest_group_untruncated;
  d["bytes"] = size.bytes;
  d["operations"] = size.operations;
  d["blocks"] = size.blocks;
  return d;
}

nb::tuple tuple_of(const optimise_result& r) {
  return nb::make_tuple(r.log_likelihood, r.start, r.iterations, r.evaluations, r.converged, r.truncation_bound);
}

/// The network is a copy, which the callable may keep.
search_report search_report_of(nb::handle callable) {
  if (callable.is_none()) return {};
  return [callable](const search_status& now) {
    const callback_lock lock;
    callable(now.start, now.reticulations, now.topologies, now.log_likelihood, now.is_end, now.bic,
             nb::cast(Network(*now.best)));
  };
}

// Chains.

/// What a sampler needs as long as it lives.
struct chains {
  std::shared_ptr<const std::vector<std::string>> species;
  priors prior;
  std::unique_ptr<sampler> run;

  chains(std::vector<std::string> names, const Data* data, const prior_options& options, network_limits limits,
         const sampler_options& how)
      : species(std::make_shared<const std::vector<std::string>>(std::move(names))),
        prior(options, std::int64_t(species->size()), limits),
        run(std::make_unique<sampler>(species, data, prior, how)) {}
};

using shared_chains = shared<chains>;

prior_options priors_of(const std::string& words) {
  try {
    return parse_priors(words, "priors");
  } catch (const FileError& error) {
    throw InvalidArgument(error.what());
  }
}

/// (network, origin, common theta?, pi1)
network_state start_of(const nb::tuple& t, const std::vector<std::string>& names, const priors& prior) {
  state_options how;
  how.origin = nb::cast<double>(t[1]);
  how.thetas = nb::cast<bool>(t[2]) ? theta_mode::common : theta_mode::each;
  how.pi1 = nb::cast<double>(t[3]);
  return prior.completed(
      state_of(nb::cast<const Network&>(t[0]), std::make_shared<const std::vector<std::string>>(names), how));
}

/// The caller of the sampler keeps the callable. Chains run in threads of the library.
std::function<double(const network_state&)> surrogate_of(nb::handle callable) {
  if (callable.is_none()) return {};
  return [callable](const network_state& state) {
    Network network = to_network(state);
    const callback_lock lock;
    return nb::cast<double>(callable(std::move(network), state.pi1));
  };
}

/// Starts of chains: a tuple for start_of, a list of them, one for each chain, "search", or None.
void set_starts(nb::handle start, const std::vector<std::string>& names, const Data* data, const priors& prior,
                sampler_options& how) {
  if (start.is_none()) return;
  if (nb::isinstance<nb::str>(start)) {
    if (data == nullptr) throw InvalidArgument("start=\"search\" needs data");
    how.starts = run([&] {
      return search_starts(*data, prior,
                           {.chains = how.chains, .seed = how.seed, .model = how.model, .likelihood = how.likelihood});
    });
  } else if (nb::isinstance<nb::list>(start)) {
    for (const nb::handle one : nb::cast<nb::list>(start))
      how.starts.push_back(start_of(nb::cast<nb::tuple>(one), names, prior));
  } else {
    how.start = start_of(nb::cast<nb::tuple>(start), names, prior);
  }
}

/// `limits` are max_reticulations, max_level, bubbles; `start` is as set_starts() takes it.
std::unique_ptr<shared_chains> make_chains(std::vector<std::string> names, const Data* data, const std::string& words,
                                           std::tuple<std::int64_t, std::int64_t, bool> limits, nb::handle options,
                                           nb::handle model, nb::handle start, std::int64_t memory_limit,
                                           const std::string& device, double truncation,
                                           std::shared_ptr<process_group> shared_by, nb::handle surrogate) {
  auto how = options_from<sampler_options>(sampler_list, options);
  how.model = model_of(model);
  how.likelihood = likelihood_options_of(device, memory_limit, truncation);
  how.shared_by = std::move(shared_by);
  how.surrogate = surrogate_of(surrogate);
  const prior_options prior = priors_of(words);
  const auto [max_reticulations, max_level, bubbles] = limits;
  const network_limits within{max_reticulations, max_level, bubbles};
  set_starts(start, names, data, priors(prior, std::int64_t(names.size()), within), how);
  return run([&] { return std::make_unique<shared_chains>(std::move(names), data, prior, within, how); });
}

struct chain_samples {
  std::vector<std::int64_t> steps;
  std::vector<double> trace;
  std::vector<std::string> newick, topology;
};

nb::list take_samples(shared_chains& self) {
  auto taken = self.use([](chains& c) {
    std::vector<chain_samples> all;
    for (const auto& chain : c.run->take_samples()) {
      chain_samples& one = all.emplace_back();
      for (const sampled_state& sample : chain) {
        poll();
        const auto row = trace_row(sample, c.prior);
        one.steps.push_back(sample.step);
        one.trace.insert(one.trace.end(), row.begin(), row.end());
        const network_state state = c.prior.in_years(sample.state);
        const auto numbering = number_canonically(state);
        one.newick.push_back(to_newick(to_network(state, numbering)));
        one.topology.push_back(numbering.key);
      }
    }
    return all;
  });
  nb::list result;
  for (chain_samples& one : taken) {
    const auto rows = std::int64_t(one.steps.size());
    const std::int64_t columns = rows > 0 ? std::int64_t(one.trace.size()) / rows : 0;
    result.append(nb::make_tuple(to_numpy(std::move(one.steps)), to_numpy(std::move(one.trace), {rows, columns}),
                                 one.newick, one.topology));
  }
  return result;
}

std::vector<std::vector<double>> values_of_chains(const array& chains) {
  const auto view = chains.matrix<const double>();
  std::vector<std::vector<double>> all;
  for (std::int64_t c = 0; c < view.rows(); ++c) all.emplace_back(view.row(c), view.row(c) + view.cols());
  return all;
}

nb::dict summary_of(const array& chains) {
  const auto values = values_of_chains(chains);
  const auto s = run([&] { return summarise(values); });
  nb::dict d;
  d["mean"] = s.mean;
  d["sd"] = s.sd;
  d["median"] = s.median;
  d["hpd95_low"] = s.hpd95.low;
  d["hpd95_high"] = s.hpd95.high;
  d["ess_bulk"] = s.ess_bulk;
  d["ess_tail"] = s.ess_tail;
  d["rhat"] = s.rhat;
  d["mcse"] = s.mcse;
  return d;
}

void bind_networks(nb::module_& m) {
  using nb::arg;
  nb::class_<Network>(m, "SnpNetwork")
      .def("newick", [](const Network& n) { return to_newick(n); })
      .def("standard_newick", [](const Network& n) { return to_newick(n, newick_numbers::standard); })
      .def("branches", &branches_of)
      .def("kinds", &kinds_of)
      .def_prop_ro("nodes", &Network::nodes)
      .def_prop_ro("branch_count", &Network::branches)
      .def_prop_ro("root", &Network::root)
      .def_prop_ro("root_theta", &Network::root_theta)
      .def("name", &Network::name)
      .def("species", [](const Network& n) { return strings(n.species()); })
      .def("leaves", [](const Network& n) { return copied(n.leaves()); })
      .def("reticulations", [](const Network& n) { return copied(n.reticulations()); })
      .def("children_first", [](const Network& n) { return copied(n.children_first()); })
      .def("parent_branches", [](const Network& n, std::int64_t node) { return copied(n.parent_branches(node)); })
      .def("child_branches", [](const Network& n, std::int64_t node) { return copied(n.child_branches(node)); })
      .def("find", [](const Network& n, const std::string& name) { return n.find(name); })
      .def("describe_branch", &Network::describe_branch)
      .def("copy", [](const Network& n) { return n; })
      .def("set_length", &Network::set_length)
      .def("set_theta", &Network::set_theta)
      .def("set_gamma", &Network::set_gamma)
      .def("set_root_theta", &Network::set_root_theta);
  m.def("snp_network", &network_of, arg("names"), arg("edges"), arg("root_theta"));
  m.def("snp_parse_newick", [](const std::string& words, double theta, double root_theta, double length, double gamma,
                               bool support, bool unrooted) {
    return parse_newick(words, newick_of(theta, root_theta, length, gamma, support, unrooted));
  });
  m.def("snp_read_network", [](const std::string& path, double theta, double root_theta, double length, double gamma,
                               bool support, bool unrooted) {
    return run([&] { return io::read_network(path, newick_of(theta, root_theta, length, gamma, support, unrooted)); });
  });
  m.def("snp_topology_key", [](const Network& n) { return run([&] { return topology_key(n); }); });
  m.def("snp_parse_topology", &parse_topology);
  m.def("snp_is_isomorphic",
        [](const Network& a, const Network& b) { return run([&] { return is_isomorphic(a, b); }); });
  m.def("snp_mu_distance", [](const Network& a, const Network& b) { return run([&] { return mu_distance(a, b); }); });
  m.def("snp_displayed_trees", [](const Network& n) {
    nb::list result;
    for (const displayed_tree& one : run([&] { return displayed_trees(n); }))
      result.append(nb::make_tuple(one.newick, one.weight));
    return result;
  });
  m.def("snp_clusters", [](const Network& n) {
    nb::list result;
    for (const cluster_weight& one : run([&] { return clusters(n); }))
      result.append(nb::make_tuple(one.leaves, one.weight));
    return result;
  });
  m.def("snp_hybrid_events", [](const Network& n) {
    nb::list result;
    for (const hybrid_event& one : run([&] { return hybrid_events(n); }))
      result.append(nb::make_tuple(one.hybrid, nb::make_tuple(one.parents[0], one.parents[1]),
                                   nb::make_tuple(one.gamma[0], one.gamma[1])));
    return result;
  });
  m.def("snp_rootings", [](const Network& n) {
    nb::list result;
    for (Network& one : run([&] { return rootings(n); })) result.append(std::move(one));
    return result;
  });
  m.def("snp_unrooted_key", [](const Network& n) { return run([&] { return unrooted_key(n); }); });
  m.def("snp_rooted_at", [](const Network& n, const std::vector<std::string>& outgroup) {
    return run([&] { return rooted_at(n, outgroup); });
  });
  m.def("snp_reduced_topology", [](const Network& n) { return run([&] { return reduced_topology(n); }); });
  m.def("snp_count_bubbles", &count_bubbles);
  m.def("snp_level", &level);
}

void bind_data(nb::module_& m) {
  using nb::arg;
  nb::class_<Data>(m, "SnpData")
      .def("tables", &tables_of)
      .def("species", [](const Data& d) { return strings(d.species()); })
      .def_prop_ro("patterns", &Data::patterns)
      .def_prop_ro("sites", &Data::sites)
      .def_prop_ro("given_sites", &Data::given_sites)
      .def_prop_ro("dominant", &Data::dominant);
  m.def("snp_data", &data_of, arg("species"), arg("red"), arg("copies"), arg("weights").none(), arg("dominant"),
        arg("keep_empty"), arg("sampled"));
  m.def("snp_read_data", &read_data, arg("path"), arg("map_file"), arg("map_rule"), arg("diploid"), arg("haploid"),
        arg("dominant"), arg("keep_empty"), arg("max_missing"), arg("thin_distance"), arg("one_per_locus"));
  m.def("snp_select_sites", [](const Data& data, const array& sites) {
    const std::vector<std::int64_t> chosen = vector_of<std::int64_t>(sites);
    return run([&] { return select_sites(data, chosen); });
  });
  m.def("snp_f_statistics", [](const Data& data, const std::vector<std::vector<std::string>>& species,
                               std::int64_t block_sites, const array& block_of_site) {
    const site_blocks blocks{block_sites, vector_of<std::int64_t>(block_of_site)};
    const auto found = run([&] {
      if (species.empty()) return f_statistics(data, blocks);
      std::vector<f_statistic> all;
      for (const auto& names : species) all.push_back(f_statistic_of(data, names, blocks));
      return all;
    });
    nb::list result;
    for (const f_statistic& f : found)
      result.append(nb::make_tuple(f.species, f.value, f.standard_error, f.z, f.sites, f.blocks));
    return result;
  });
  m.def("snp_has_vcf", &io::has_vcf);
  m.def("snp_frequent_patterns",
        [](const Data& data, double share) { return run([&] { return frequent_patterns(data, share); }); });
  m.def("snp_simulate_sites", [](const Network& network, std::vector<std::int64_t> copies, double u, double v,
                                 std::int64_t sites, std::uint64_t seed, bool polymorphic_only) {
    const simulate_options how{std::move(copies), u, v, sites, seed, polymorphic_only};
    auto found = run([&] { return simulate_sites(network, how); });
    const auto species = std::int64_t(network.species().size());
    return nb::make_tuple(table_of(found.red, sites, species), to_numpy(std::move(found.attempts)));
  });
  m.def("snp_simulate", [](const Network& network, std::vector<std::int64_t> copies, double u, double v,
                           std::int64_t sites, std::uint64_t seed, bool polymorphic_only) {
    const simulate_options how{std::move(copies), u, v, sites, seed, polymorphic_only};
    return run([&] { return simulate(network, how); });
  });
}

void bind_likelihood(nb::module_& m) {
  // What quintet._mpi makes of ranks.
  nb::class_<process_group>(m, "ProcessGroup")
      .def_prop_ro("rank", &process_group::rank)
      .def_prop_ro("size", &process_group::size);
  using nb::arg;
  m.def("snp_gamma_rates",
        [](double shape, std::int64_t categories) { return to_numpy(gamma_rates(shape, categories)); });
  m.def("snp_estimate", [](const Network& network, const Data& data, nb::handle model, std::int64_t memory_limit,
                           const std::string& device, double truncation) {
    const auto how = model_of(model);
    return dict_of(
        run([&] { return estimate(network, data, how, likelihood_options_of(device, memory_limit, truncation)); }));
  });
  nb::class_<shared_likelihood>(m, "SnpLikelihood")
      .def("evaluate", [](shared_likelihood& l) { return l.use([](Likelihood& x) { return x.evaluate(); }); })
      .def("set_length",
           [](shared_likelihood& l, std::int64_t b, double t) { l.use([&](Likelihood& x) { x.set_length(b, t); }); })
      .def("set_theta",
           [](shared_likelihood& l, std::int64_t b, double t) { l.use([&](Likelihood& x) { x.set_theta(b, t); }); })
      .def("set_gamma",
           [](shared_likelihood& l, std::int64_t b, double g) { l.use([&](Likelihood& x) { x.set_gamma(b, g); }); })
      .def("set_root_theta", [](shared_likelihood& l, double t) { l.use([&](Likelihood& x) { x.set_root_theta(t); }); })
      .def("set_rates",
           [](shared_likelihood& l, double u, double v) { l.use([&](Likelihood& x) { x.set_rates(u, v); }); })
      .def("accept", [](shared_likelihood& l) { l.use([](Likelihood& x) { x.accept(); }); })
      .def("reject", [](shared_likelihood& l) { l.use([](Likelihood& x) { x.reject(); }); })
      .def("network", [](shared_likelihood& l) { return l.use([](Likelihood& x) { return Network(x.network()); }); })
      .def(
          "rates",
          [](shared_likelihood& l) { return l.use([](Likelihood& x) { return std::pair(x.model().u, x.model().v); }); })
      .def("size",
           [](shared_likelihood& l) {
             return dict_of(l.use([](Likelihood& x) { return evaluation_estimate(x.size()); }));
           })
      .def("truncation",
           [](shared_likelihood& l) {
             return l.use([](Likelihood& x) { return std::pair(x.truncation().bound, x.truncation().mass); });
           })
      .def("patterns",
           [](shared_likelihood& l) {
             return to_numpy(l.use([](Likelihood& x) { return x.pattern_log_likelihoods(); }));
           })
      .def("sites",
           [](shared_likelihood& l) { return to_numpy(l.use([](Likelihood& x) { return x.site_log_likelihoods(); })); })
      .def("gradient",
           [](shared_likelihood& l) {
             auto g = l.use([](Likelihood& x) { return x.gradient(); });
             return nb::make_tuple(to_numpy(std::move(g.length)), to_numpy(std::move(g.theta)),
                                   to_numpy(std::move(g.gamma)), g.u, g.v, g.root_theta);
           })
      .def(
          "optimise",
          [](shared_likelihood& l, nb::handle options, nb::handle progress) {
            optimise_options how = optimise_options_of(options);
            return tuple_of(l.use(progress, [&](Likelihood& x, const progress_callback& report) {
              how.progress = report;
              return optimise(x, how);
            }));
          },
          arg("options"), arg("progress").none());
  m.def(
      "snp_likelihood",
      [](const Network& network, const Data& data, nb::handle model, std::int64_t memory_limit,
         const std::string& device, double truncation, std::shared_ptr<process_group> shared_by) {
        const auto how = model_of(model);
        return run([&] {
                 likelihood_options options = likelihood_options_of(device, memory_limit, truncation);
                 options.shared_by = std::move(shared_by);
                 return std::make_unique<shared_likelihood>(network, data, how, options);
               })
            .release();
      },
      nb::rv_policy::take_ownership, arg("network"), arg("data"), arg("model"), arg("memory_limit"), arg("device"),
      arg("truncation"), arg("shared_by").none() = nb::none());
  m.def(
      "snp_composite",
      [](const Network& network, const Data& data, nb::handle model, std::int64_t size, std::int64_t memory_limit,
         nb::handle progress, const std::string& device, double truncation) {
        const auto how = model_of(model);
        const auto found = run(progress, [&](const progress_callback& report) {
          return composite_log_likelihood(network, data, how,
                                          {.size = size,
                                           .likelihood = likelihood_options_of(device, memory_limit, truncation),
                                           .progress = report});
        });
        nb::list terms;
        for (const composite_term& term : found.terms) terms.append(nb::make_tuple(term.species, term.log_likelihood));
        return nb::make_tuple(found.log_likelihood, terms, found.skipped, found.truncation_bound);
      },
      arg("network"), arg("data"), arg("model"), arg("size"), arg("memory_limit"), arg("progress").none(),
      arg("device"), arg("truncation"));
  m.def(
      "snp_resample",
      [](const Network& network, const Data& data, bool jackknife, std::int64_t replicates, std::int64_t block_sites,
         const array& block_of_site, std::uint64_t seed, nb::handle optimise, std::int64_t composite, nb::handle model,
         std::int64_t memory_limit, nb::handle progress, const std::string& device, double truncation) {
        resampling_options how{.method = jackknife ? resampling_method::jackknife : resampling_method::bootstrap,
                               .replicates = replicates,
                               .block_sites = block_sites,
                               .block_of_site = vector_of<std::int64_t>(block_of_site),
                               .seed = seed,
                               .optimise = optimise_options_of(optimise),
                               .composite = composite,
                               .model = model_of(model)};
        auto found = run(progress, [&](const progress_callback& report) {
          how.likelihood = likelihood_options_of(device, memory_limit, truncation);
          how.progress = report;
          return resample(network, data, how);
        });
        nb::list errors, replicates_of;
        for (const auto what : {resampled_parameter::length, resampled_parameter::theta, resampled_parameter::gamma}) {
          std::vector<double> table;
          for (std::int64_t b = 0; b < network.branches(); ++b) {
            const parameter_error e = summarise_parameter(found, what, b);
            table.insert(table.end(), {e.estimate, e.mean, e.standard_error, e.low, e.high});
          }
          errors.append(to_numpy(std::move(table), {network.branches(), 5}));
        }
        for (Network& one : found.replicates) replicates_of.append(std::move(one));
        return nb::make_tuple(replicates_of, found.blocks, found.converged, errors);
      },
      arg("network"), arg("data"), arg("jackknife"), arg("replicates"), arg("block_sites"), arg("block_of_site"),
      arg("seed"), arg("optimise"), arg("composite"), arg("model"), arg("memory_limit"), arg("progress").none(),
      arg("device"), arg("truncation"));
  m.def(
      "snp_search",
      [](const Data& data, nb::handle options, nb::handle optimise, nb::handle model, std::int64_t memory_limit,
         nb::handle progress, const std::string& device, double truncation, nb::handle report) {
        auto how = options_from<search_options>(search_list, options);
        how.report = search_report_of(report);
        how.optimise = optimise_options_of(optimise);
        how.model = model_of(model);
        auto found = run(progress, [&](const progress_callback& callback) {
          how.likelihood = likelihood_options_of(device, memory_limit, truncation);
          how.progress = callback;
          return search_networks(data, how);
        });
        const std::int64_t best_level = snp::best_level(found).reticulations;
        nb::list levels;
        for (search_level& one : found.levels)
          levels.append(nb::make_tuple(one.reticulations, std::move(one.network), one.log_likelihood, one.parameters,
                                       one.aic, one.bic, one.starts, one.rootings, one.truncation_bound, one.gain,
                                       one.gain_error, one.places, one.bic_gain));
        return nb::make_tuple(levels, found.topologies, found.is_root_seen, best_level);
      },
      arg("data"), arg("options"), arg("optimise"), arg("model"), arg("memory_limit"), arg("progress").none(),
      arg("device"), arg("truncation"), arg("report").none());
}

void bind_chains(nb::module_& m) {
  using nb::arg;
  nb::class_<shared_chains>(m, "SnpSampler")
      .def(
          "advance",
          [](shared_chains& s, nb::handle progress) {
            s.use(progress, [](chains& c, const progress_callback& report) { c.run->advance(report); });
          },
          arg("progress").none())
      .def("step", [](shared_chains& s) { return s.use([](chains& c) { return c.run->step(); }); })
      .def("take_samples", &take_samples)
      .def("snapshot",
           [](shared_chains& s) {
             auto now = s.use([](chains& c) { return c.run->snapshot(); });
             return nb::make_tuple(now.step, to_numpy(std::move(now.numbers)), to_numpy(std::move(now.counts)));
           })
      .def("restore",
           [](shared_chains& s, std::int64_t step, const array& numbers, const array& counts) {
             const sampler_snapshot from{step, vector_of<double>(numbers), vector_of<std::int64_t>(counts)};
             s.use([&](chains& c) { c.run->restore(from); });
           })
      .def("moves",
           [](shared_chains& s) {
             nb::list all;
             for (const auto& chain : s.use([](chains& c) { return c.run->moves(); })) {
               nb::list one;
               for (const move_record& r : chain)
                 one.append(nb::make_tuple(r.name, r.tried, r.accepted, r.not_applicable, r.width, r.seconds));
               all.append(one);
             }
             return all;
           })
      .def("exchanges",
           [](shared_chains& s) {
             nb::list all;
             for (const exchange_record& r : s.use([](chains& c) { return c.run->exchanges(); }))
               all.append(nb::make_tuple(r.tried, r.accepted, r.heat, r.round_trips));
             return all;
           })
      .def("take_log_likelihoods",
           [](shared_chains& s) { return s.use([](chains& c) { return c.run->take_log_likelihoods(); }); })
      .def("columns",
           [](shared_chains& s) { return s.use([](chains& c) { return trace_columns(*c.species, c.prior); }); })
      .def("current", [](shared_chains& s, std::int64_t chain) {
        return s.use([&](chains& c) { return to_network(c.prior.in_years(c.run->current(chain).state)); });
      });
  m.def(
      "snp_sampler",
      [](std::vector<std::string> names, const Data* data, const std::string& words,
         std::tuple<std::int64_t, std::int64_t, bool> limits, nb::handle options, nb::handle model, nb::handle start,
         std::int64_t memory_limit, const std::string& device, double truncation,
         std::shared_ptr<process_group> shared_by, nb::handle surrogate) {
        return make_chains(std::move(names), data, words, limits, options, model, start, memory_limit, device,
                           truncation, std::move(shared_by), surrogate)
            .release();
      },
      nb::rv_policy::take_ownership, nb::keep_alive<0, 2>(), arg("species"), arg("data").none(), arg("priors"),
      arg("limits"), arg("options"), arg("model"), arg("start").none(), arg("memory_limit"), arg("device"),
      arg("truncation"), arg("shared_by").none(), arg("surrogate").none());
  m.def("snp_priors_text", [](const std::string& words) { return to_text(priors_of(words)); });
  m.def("snp_prior_parts", [](const Network& network, const std::string& words, std::int64_t max_reticulations,
                              double origin, bool common, double pi1) {
    const auto options = priors_of(words);
    const auto names = std::make_shared<const std::vector<std::string>>(strings(network.species()));
    const priors prior(options, std::int64_t(names->size()), {max_reticulations});
    const auto state =
        prior.completed(state_of(network, names, {origin, common ? theta_mode::common : theta_mode::each, pi1}));
    const auto parts = run([&] { return prior.parts(state); });
    return nb::make_tuple(parts.network, parts.theta, parts.pi1, parts.dates);
  });
  m.def("snp_simulate_network", [](std::vector<std::string> names, const std::string& words,
                                   std::int64_t max_reticulations, std::int64_t max_level, bool bubbles,
                                   std::uint64_t seed, std::uint64_t number) {
    const auto options = priors_of(words);
    const auto species = std::make_shared<const std::vector<std::string>>(std::move(names));
    return run([&] {
      return to_network(simulate_network(options, species, {max_reticulations, max_level, bubbles}, seed, number));
    });
  });
  m.def("snp_prior_moments", [](std::int64_t species, std::int64_t max_reticulations, double speciation_rate,
                                double hybridization_rate, double origin_mean) {
    auto found = run([&] {
      return moments_of_process(species, max_reticulations, speciation_rate, hybridization_rate,
                                {univariate_prior::family::exponential, origin_mean, 1});
    });
    return nb::make_tuple(to_numpy(std::move(found.reticulations)), to_numpy(std::move(found.root_height_given_r)),
                          found.root_height, found.origin);
  });
  m.def("snp_power_ladder", &power_ladder);
  m.def("snp_marginal_likelihood",
        [](const std::vector<double>& powers, const std::vector<std::vector<std::vector<double>>>& log_likelihoods) {
          const auto found = run([&] { return marginal_likelihood(powers, log_likelihoods); });
          std::vector<double> steps;
          for (const power_step& s : found.steps)
            steps.insert(steps.end(), {s.power, s.mean, s.variance, s.ess, s.log_ratio, s.error});
          return nb::make_tuple(found.log_z, found.error, found.thermodynamic, found.thermodynamic_error,
                                to_numpy(std::vector<double>(found.by_chain)), found.agrees,
                                to_numpy(std::move(steps), {std::int64_t(found.steps.size()), 6}));
        });
  m.def("snp_predictive_check", [](const Data& data, const nb::list& networks, const std::vector<double>& u,
                                   const std::vector<double>& v, nb::handle model, std::uint64_t seed) {
    std::vector<predictive_draw> draws;
    for (std::size_t i = 0; i < nb::len(networks); ++i)
      draws.push_back({nb::cast<const Network&>(networks[i]), u[i], v[i]});
    const auto how = model_of(model);
    nb::list result;
    for (const predictive_statistic& s : run([&] { return predictive_check(data, draws, how, seed); }))
      result.append(nb::make_tuple(s.name, s.observed, s.mean, s.sd, s.p));
    return result;
  });
  m.def("snp_summarise", &summary_of);
  m.def("snp_rhat", [](const array& chains) { return split_rhat(values_of_chains(chains)); });
  m.def("snp_ess", [](const array& chains, const std::string& kind) {
    const auto values = values_of_chains(chains);
    if (kind == "bulk") return ess_bulk(values);
    if (kind == "tail") return ess_tail(values);
    if (kind == "mean") return ess_mean(values);
    if (kind == "tracer" && values.size() == 1) return tracer_ess(values[0]);
    throw InvalidArgument(text("kind must be bulk, tail, mean, or tracer for one chain (kind=", kind, ")"));
  });
  m.def("snp_shortest_interval", [](const array& values, double mass) {
    const interval found = shortest_interval(vector_of<double>(values), mass);
    return std::pair(found.low, found.high);
  });
  m.def("snp_frequency_deviation", [](const std::vector<std::map<std::string, double>>& chains, double min) {
    return frequency_deviation(chains, min);
  });
  m.def("snp_normal_quantile", &normal_quantile);
}

void bind_rules(nb::module_& m) {
  nb::class_<partial_likelihood>(m, "SnpPartial")
      .def_ro("max", &partial_likelihood::max)
      .def_prop_ro("entries", [](const partial_likelihood& p) { return to_numpy(std::vector<double>(p.entries)); })
      .def("at", [](const partial_likelihood& p, const std::vector<std::pair<std::int64_t, std::int64_t>>& states) {
        std::vector<lineage_state> list;
        for (const auto& [n, r] : states) list.push_back({n, r});
        return p.at(list);
      });
  m.def("snp_rule_leaf", &rules::leaf);
  m.def("snp_rule_branch", [](const partial_likelihood& below, std::int64_t axis, double length, double theta, double u,
                              double v, const std::string& device) {
    return run([&] { return rules::branch(below, axis, {length, theta}, {u, v}, Device::parse(device)); });
  });
  m.def("snp_rule_join", [](const partial_likelihood& left, std::int64_t left_axis, const partial_likelihood& right,
                            std::int64_t right_axis, const std::string& device) {
    return run([&] { return rules::join(left, left_axis, right, right_axis, Device::parse(device)); });
  });
  m.def("snp_rule_split",
        [](const partial_likelihood& below, std::int64_t axis, double gamma, const std::string& device) {
          return run([&] { return rules::split(below, axis, gamma, Device::parse(device)); });
        });
  m.def("snp_rule_merge",
        [](const partial_likelihood& below, std::int64_t first, std::int64_t second, const std::string& device) {
          return run([&] { return rules::merge(below, first, second, Device::parse(device)); });
        });
  m.def("snp_rule_root",
        [](const partial_likelihood& below, double theta, double u, double v, const std::string& device) {
          return run([&] { return rules::root(below, theta, {u, v}, Device::parse(device)); });
        });
}

}  // namespace

void bind_snp(nb::module_& m) {
  bind_networks(m);
  bind_data(m);
  bind_likelihood(m);
  bind_chains(m);
  bind_rules(m);
}

}  // namespace quintet::python
