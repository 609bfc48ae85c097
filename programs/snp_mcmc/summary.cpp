#include "snp_mcmc/summary.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <map>
#include <numeric>
#include <sstream>

#include "quintet/core/error.hpp"
#include "quintet/snp/inference/diagnostics.hpp"
#include "quintet/snp/network/network_topology.hpp"
#include "quintet/snp/network/newick.hpp"

namespace quintet::driver {

namespace {

using json = nlohmann::ordered_json;
using frequencies = std::vector<std::map<std::string, double>>;  // by chain

constexpr double worst_rhat = 1.01, worst_deviation = 0.01, ess_per_chain = 100;
constexpr std::size_t max_listed = 200;

// What is wrong with a run: by how many times it misses the limit, and a line for people.
class convergence_warnings {
 public:
  void add(double times, std::string line) { all_.emplace_back(times, std::move(line)); }
  void add_column(const std::string& name, const snp::column_summary& statistics, double wanted_ess) {
    const double ess = std::min(statistics.ess_bulk, statistics.ess_tail);
    if (statistics.rhat > worst_rhat) {
      chains_differ_ = true;
      add((statistics.rhat - 1) / (worst_rhat - 1),
          text("R-hat of ", name, " is ", std::setprecision(4), statistics.rhat, " > ", worst_rhat));
    } else if (ess < wanted_ess) {
      longer_ = std::max(longer_, wanted_ess / ess);
      add(wanted_ess / ess, text("ESS of ", name, " is ", std::int64_t(ess), " < ", wanted_ess));
    }
  }
  void add_deviation(const char* name, double deviation) {
    if (deviation < worst_deviation) return;
    chains_differ_ = true;
    add(deviation / worst_deviation, text("ASDSF of ", name, " is ", std::setprecision(3), deviation, ", not < ",
                                          worst_deviation, ": the chains have them with different frequencies"));
  }
  // The worst first.
  json lines() {
    std::stable_sort(all_.begin(), all_.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    json result = json::array();
    for (const auto& [times, line] : all_) result.push_back(line);
    return result;
  }
  // One line, empty where a longer run is no remedy.
  std::string advice(const snp::sampler_options& options) const {
    if (chains_differ_)
      return text("the chains do not agree yet: look at the traces, and raise --iterations",
                  options.temperatures == 1 ? ", or let hot chains help (--temperatures 4)" : " or --temperatures");
    if (longer_ <= 1 || !std::isfinite(longer_)) return longer_ > 1 ? "raise --iterations" : "";
    const double steps = double(options.iterations - options.burn_in) * longer_ + double(options.burn_in);
    const double unit = std::pow(10, std::floor(std::log10(steps)) - 1);
    return text("--iterations ", std::int64_t(std::ceil(steps / unit) * unit), " should give enough effective samples");
  }

 private:
  std::vector<std::pair<double, std::string>> all_;
  bool chains_differ_ = false;
  double longer_ = 1;  // times as many samples give the effective ones
};

std::size_t index_of(const std::vector<std::string>& columns, std::string_view name) {
  return std::size_t(std::find(columns.begin(), columns.end(), name) - columns.begin());
}

std::vector<std::vector<double>> column(const kept_chains& samples, std::size_t index) {
  std::size_t min = samples[0].size();
  for (const auto& chain : samples) min = std::min(min, chain.size());
  std::vector<std::vector<double>> values(samples.size());
  for (std::size_t c = 0; c < samples.size(); ++c)
    for (std::size_t s = 0; s < min; ++s) values[c].push_back(samples[c][s].row[index]);
  return values;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

double mean_over_chains(const frequencies& counts, const std::string& item) {
  double sum = 0;
  for (const auto& chain : counts) sum += chain.contains(item) ? chain.at(item) : 0;
  return sum / double(counts.size());
}

// Things with their mean frequencies, falling.
std::vector<std::pair<std::string, double>> ranked(const frequencies& counts) {
  std::map<std::string, double> all;
  for (const auto& chain : counts)
    for (const auto& [item, frequency] : chain) all.emplace(item, 0);
  std::vector<std::pair<std::string, double>> result;
  for (const auto& [item, zero] : all) result.emplace_back(item, mean_over_chains(counts, item));
  std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  return result;
}

// Standard error of the probability of something that the samples either have or have not.
template <class Has>
double mcse_of(const kept_chains& samples, Has has) {
  std::vector<std::vector<double>> indicator;
  for (const auto& chain : samples) {
    indicator.emplace_back();
    for (const kept_sample& sample : chain) indicator.back().push_back(has(sample) ? 1 : 0);
  }
  return snp::summarise(indicator).mcse;
}

json interval_json(const std::vector<std::vector<double>>& values) {
  std::vector<double> all;
  for (const auto& chain : values) all.insert(all.end(), chain.begin(), chain.end());
  const snp::interval hpd = snp::shortest_interval(all);
  return {{"mean", std::accumulate(all.begin(), all.end(), 0.0) / double(all.size())}, {"hpd95", {hpd.low, hpd.high}}};
}

// Means and intervals of every height, theta and gamma of the samples with one topology; nodes and branches are those
// of the network that is written.
json consensus(const kept_chains& samples, const std::shared_ptr<const std::vector<std::string>>& species,
               const std::string& key) {
  std::vector<std::vector<double>> heights, thetas, gammas;
  std::vector<double> root_theta;
  std::unique_ptr<snp::Network> network;
  for (const auto& chain : samples)
    for (const kept_sample& sample : chain) {
      if (sample.key != key) continue;
      const snp::network_state state = snp::state_from_numbers(species, sample.numbers);
      const auto numbering = snp::number_canonically(state);
      if (!network) {
        network = std::make_unique<snp::Network>(snp::to_network(state, numbering));
        heights.resize(std::size_t(network->nodes()));
        thetas.resize(std::size_t(network->branches()));
        gammas = thetas;
      }
      for (std::int32_t x = 0; x < std::int32_t(state.nodes.size()); ++x) {
        heights[std::size_t(numbering.node[std::size_t(x)])].push_back(state.node(x).height);
        for (std::int32_t parent = 0; parent < state.node(x).parents; ++parent) {
          const std::int32_t b = snp::network_state::branch_of(x, parent);
          const std::int32_t mapped = numbering.branch[std::size_t(b)];
          if (mapped < 0) continue;
          thetas[std::size_t(mapped)].push_back(state.theta(b));
          gammas[std::size_t(mapped)].push_back(state.gamma(b));
        }
      }
      root_theta.push_back(state.theta(state.root_branch()));
    }
  const auto mean = [](const std::vector<double>& v) {
    return std::accumulate(v.begin(), v.end(), 0.0) / double(v.size());
  };
  json nodes = json::array(), branches = json::array();
  for (std::int64_t x = 0; x < network->nodes(); ++x) {
    json node{{"node", x}};
    if (!network->name(x).empty()) node["name"] = network->name(x);
    node["height"] = interval_json({heights[std::size_t(x)]});
    nodes.push_back(node);
  }
  for (std::int64_t b = 0; b < network->branches(); ++b) {
    const snp::branch& branch_values = network->branch(b);
    json branch{{"child", branch_values.child},
                {"parent", branch_values.parent},
                {"theta", interval_json({thetas[std::size_t(b)]})}};
    if (network->kind(branch_values.child) == snp::node_kind::reticulation)
      branch["gamma"] = interval_json({gammas[std::size_t(b)]});
    branches.push_back(branch);
  }
  for (std::int64_t b = 0; b < network->branches(); ++b) {
    const snp::branch branch_values = network->branch(b);
    network->set_length(
        b, std::max(mean(heights[std::size_t(branch_values.parent)]) - mean(heights[std::size_t(branch_values.child)]),
                    0.0));
    network->set_theta(b, mean(thetas[std::size_t(b)]));
    if (network->kind(branch_values.child) == snp::node_kind::reticulation &&
        network->parent_branches(branch_values.child)[0] == b)
      network->set_gamma(b, mean(gammas[std::size_t(b)]));
  }
  network->set_root_theta(mean(root_theta));
  return {{"network", snp::to_newick(*network)},
          {"annotated", annotated_newick(*network)},
          {"root_theta", interval_json({root_theta})},
          {"nodes", nodes},
          {"branches", branches}};
}

struct events {
  frequencies topologies, reduced, clusters, hybrids;
  std::map<std::string, std::pair<double, double>> gamma;  // sum and number, by hybrid event
};

events count_events(const kept_chains& samples, const std::shared_ptr<const std::vector<std::string>>& species) {
  events counts;
  std::map<std::string, std::string> reduced_of;
  for (const auto& chain : samples) {
    std::map<std::string, double> topologies, reduced, clusters, hybrids;
    const double share = 1 / double(chain.size());
    for (const kept_sample& sample : chain) {
      const snp::Network network = snp::to_network(snp::state_from_numbers(species, sample.numbers));
      topologies[sample.key] += share;
      const auto [place, is_new] = reduced_of.try_emplace(sample.key);
      if (is_new) place->second = snp::reduced_topology(network);
      reduced[place->second] += share;
      for (const snp::cluster_weight& cluster : snp::clusters(network))
        clusters[joined(cluster.leaves)] += share * cluster.weight;
      std::map<std::string, double> in_sample;  // an event that a network has twice counts once
      for (const snp::hybrid_event& event : snp::hybrid_events(network)) {
        const std::string name =
            joined(event.hybrid) + " <- " + joined(event.parents[0]) + " | " + joined(event.parents[1]);
        in_sample[name] = share;
        auto& [sum, count] = counts.gamma[name];
        sum += event.gamma[0];
        ++count;
      }
      for (const auto& [name, weight] : in_sample) hybrids[name] += weight;
    }
    counts.topologies.push_back(std::move(topologies));
    counts.reduced.push_back(std::move(reduced));
    counts.clusters.push_back(std::move(clusters));
    counts.hybrids.push_back(std::move(hybrids));
  }
  return counts;
}

json moves_json(const std::vector<std::vector<snp::move_record>>& moves) {
  json all = json::array();
  for (const auto& chain : moves) {
    json table = json::array();
    for (const snp::move_record& record : chain) {
      json row{{"name", record.name},
               {"tried", record.tried},
               {"accepted", record.accepted},
               {"not_applicable", record.not_applicable}};
      if (record.width > 0) row["width"] = record.width;
      table.push_back(row);
    }
    all.push_back(table);
  }
  return all;
}

json split_event(const std::string& name) {
  const std::size_t arrow = name.find(" <- "), bar = name.find(" | ");
  return {{"hybrid", name.substr(0, arrow)},
          {"parents", {name.substr(arrow + 4, bar - arrow - 4), name.substr(bar + 3)}}};
}

}  // namespace

json summary_of(const kept_chains& samples, const std::vector<std::string>& columns,
                const std::shared_ptr<const std::vector<std::string>>& species, const snp::sampler& chains,
                const std::vector<std::vector<snp::move_record>>& moves, const snp::priors& prior) {
  std::size_t min = samples[0].size();
  for (const auto& chain : samples) min = std::min(min, chain.size());
  convergence_warnings warnings;
  json summary{{"species", *species},
               {"chains", samples.size()},
               {"temperatures", chains.options().temperatures},
               {"iterations", chains.options().iterations},
               {"burn_in", chains.options().burn_in},
               {"samples_per_chain", min}};
  if (min == 0) {
    summary["warnings"] = {"no sample was taken: raise --iterations over --burn-in, or lower --sample-every"};
    return summary;
  }
  const double target = ess_per_chain * double(samples.size());

  json reticulations = json::object();
  const std::size_t r = index_of(columns, "reticulations");
  std::vector<double> share(std::size_t(prior.limits().max_reticulations) + 1, 0.0);
  double all = 0;
  for (const auto& chain : samples)
    for (const kept_sample& sample : chain) ++share[std::size_t(sample.row[r])], ++all;
  for (std::size_t i = 0; i < share.size(); ++i) reticulations[std::to_string(i)] = share[i] / all;
  summary["reticulations"] = reticulations;

  json parameters = json::object();
  for (std::size_t i = 1; i < columns.size(); ++i) {
    const snp::column_summary statistics = snp::summarise(column(samples, i));
    parameters[columns[i]] = {
        {"mean", statistics.mean},         {"sd", statistics.sd},
        {"median", statistics.median},     {"hpd95", {statistics.hpd95.low, statistics.hpd95.high}},
        {"ess_bulk", statistics.ess_bulk}, {"ess_tail", statistics.ess_tail},
        {"rhat", statistics.rhat},         {"mcse", statistics.mcse}};
    warnings.add_column(columns[i], statistics, target);
  }
  summary["parameters"] = parameters;

  const events event_counts = count_events(samples, species);
  json topologies = json::array();
  for (const auto& [key, probability] : ranked(event_counts.topologies)) {
    if (topologies.size() == max_listed) break;
    topologies.push_back({{"newick", key},
                          {"probability", probability},
                          {"mcse", mcse_of(samples, [&key](const kept_sample& sample) { return sample.key == key; })},
                          {"reduced", snp::reduced_topology(snp::parse_topology(key))}});
  }
  summary["topologies"] = topologies;
  json reduced = json::array();
  for (const auto& [key, probability] : ranked(event_counts.reduced)) {
    if (reduced.size() == max_listed) break;
    reduced.push_back({{"newick", key}, {"probability", probability}});
  }
  summary["reduced_topologies"] = reduced;

  const std::string best = topologies[0]["newick"];
  json map{{"newick", best}, {"probability", topologies[0]["probability"]}};
  map.update(consensus(samples, species, best));
  summary["map"] = map;
  const kept_sample* peak = nullptr;
  for (const auto& chain : samples)
    for (const kept_sample& sample : chain)
      if (peak == nullptr || sample.row[1] > peak->row[1]) peak = &sample;
  summary["highest_posterior"] = {
      {"step", std::int64_t(peak->row[0])},
      {"posterior", peak->row[1]},
      {"likelihood", peak->row[2]},
      {"network", snp::to_newick(snp::to_network(snp::state_from_numbers(species, peak->numbers)))}};

  json clusters = json::array(), hybrids = json::array();
  for (const auto& [leaves, probability] : ranked(event_counts.clusters))
    if (clusters.size() < max_listed) clusters.push_back({{"leaves", leaves}, {"probability", probability}});
  summary["clusters"] = clusters;
  for (const auto& [name, support] : ranked(event_counts.hybrids)) {
    if (hybrids.size() == max_listed) break;
    json event = split_event(name);
    event["support"] = support;
    const auto& [sum, count] = event_counts.gamma.at(name);
    event["mean_gamma"] = sum / count;
    hybrids.push_back(event);
  }
  summary["hybrid_events"] = hybrids;

  if (samples.size() > 1) {
    const std::pair<const char*, const frequencies*> kinds[] = {{"topologies", &event_counts.topologies},
                                                                {"clusters", &event_counts.clusters},
                                                                {"hybrid_events", &event_counts.hybrids}};
    json deviations = json::object();
    for (const auto& [name, counts] : kinds) {
      const double deviation = snp::frequency_deviation(*counts);
      deviations[name] = deviation;
      warnings.add_deviation(name, deviation);
    }
    summary["asdsf"] = deviations;
  } else {
    warnings.add(std::numeric_limits<double>::infinity(),
                 "one chain cannot show that others would agree: run several (--chains 4)");
  }
  if (share.size() > 1 && share.back() / all > 0.1)
    warnings.add(10 * share.back() / all,
                 text("P(", share.size() - 1, " reticulations) is ", std::setprecision(3), share.back() / all,
                      ", and more are not allowed: raise --max-reticulations"));
  summary["moves"] = moves_json(moves);
  json exchanges = json::array();
  if (chains.options().temperatures > 1)
    for (const snp::exchange_record& exchange : chains.exchanges()) {
      exchanges.push_back({{"tried", exchange.tried},
                           {"accepted", exchange.accepted},
                           {"heat", exchange.heat},
                           {"round_trips", exchange.round_trips}});
      const double rate = double(exchange.accepted) / double(std::max<std::int64_t>(exchange.tried, 1));
      if (rate < 0.1)
        warnings.add(0.1 / rate, text("only ", std::setprecision(3), 100 * rate,
                                      " % of the exchanges between temperatures were accepted: ",
                                      chains.options().powers.empty()
                                          ? "a longer --burn-in tunes the heat, more --temperatures lessen the steps"
                                          : "more steps of --marginal-likelihood lessen them"));
    }
  summary["exchanges"] = exchanges;
  summary["warnings"] = warnings.lines();
  summary["advice"] = warnings.advice(chains.options());
  return summary;
}

std::string progress_line(const kept_chains& samples, const std::vector<std::string>& columns,
                          const snp::sampler& chains) {
  std::ostringstream line;
  line << "step " << chains.step() << " of " << chains.options().iterations;
  std::int64_t tried = 0, accepted = 0;
  for (const auto& chain : chains.moves())
    for (const snp::move_record& record : chain) tried += record.tried, accepted += record.accepted;
  line << std::fixed << std::setprecision(1) << ", log L";
  for (std::int64_t c = 0; c < chains.options().chains; ++c) line << " " << chains.current(c).log_likelihood;
  line << ", r";
  for (std::int64_t c = 0; c < chains.options().chains; ++c) line << " " << chains.current(c).state.reticulations;
  line << ", accepted " << 100 * double(accepted) / double(std::max<std::int64_t>(tried, 1)) << " %";
  std::size_t min = samples[0].size();
  for (const auto& chain : samples) min = std::min(min, chain.size());
  if (min >= 10)
    for (const char* name : {"likelihood", "root_height", "reticulations"}) {
      const auto values = column(samples, index_of(columns, name));
      line << ", " << name << " ESS " << std::setprecision(0) << snp::ess_bulk(values);
      if (values.size() > 1) line << " R-hat " << std::setprecision(3) << snp::split_rhat(values);
    }
  return line.str();
}

}  // namespace quintet::driver
