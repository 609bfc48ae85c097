#include "quintet/snp/inference/resampling.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "quintet/core/philox.hpp"
#include "quintet/core/poll.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/snp/likelihood/composite.hpp"
#include "quintet/snp/markers/site_blocks.hpp"
#include "quintet/snp/network/network_topology.hpp"
#include "quintet/snp/network/rooting.hpp"
#include "snp/network/joined_names.hpp"

namespace quintet::snp {

namespace {

using site_list = std::vector<std::int64_t>;

site_list drawn_sites(const std::vector<site_list>& blocks, const resampling_options& options, std::int64_t replicate) {
  site_list sites;
  const auto add = [&](const site_list& block) { sites.insert(sites.end(), block.begin(), block.end()); };
  if (options.method == resampling_method::jackknife) {
    for (std::size_t b = 0; b < blocks.size(); ++b)
      if (std::int64_t(b) != replicate) add(blocks[b]);
    return sites;
  }
  random_stream random(options.seed, std::uint64_t(replicate));
  for (std::size_t b = 0; b < blocks.size(); ++b) add(blocks[random.below(std::uint32_t(blocks.size()))]);
  return sites;
}

void check_resampling(const resampling_options& options) {
  require_argument(options.replicates >= 2 && options.replicates <= max_replicates, "replicates", options.replicates,
                   text("in 2 ... ", max_replicates));
  require_argument(options.composite == 0 || options.composite == 3 || options.composite == 4, "composite",
                   options.composite, "0, 3 or 4");
}

double value_of(const Network& network, resampled_parameter parameter, std::int64_t b) {
  const branch& branch_values = network.branch(b);
  return parameter == resampled_parameter::length  ? branch_values.length
         : parameter == resampled_parameter::theta ? branch_values.theta
                                                   : branch_values.gamma;
}

// Between the two nearest, as NumPy's default does.
double quantile_of(const std::vector<double>& sorted, double share) {
  const double place = share * double(sorted.size() - 1);
  const auto below = std::size_t(place);
  if (below + 1 == sorted.size()) return sorted.back();
  return sorted[below] + (place - double(below)) * (sorted[below + 1] - sorted[below]);
}

}  // namespace

namespace {

// use(data of a replicate) for all of them; the number of blocks.
template <class Use>
std::int64_t for_every_replicate(const Data& data, const resampling_options& options, const Use& use) {
  check_resampling(options);
  const std::vector<site_list> blocks = sites_of_blocks(data, {options.block_sites, options.block_of_site});
  require_argument(blocks.size() >= 2, "blocks of sites", blocks.size(), ">= 2");
  const bool is_jackknife = options.method == resampling_method::jackknife;
  const std::int64_t replicates = is_jackknife ? std::int64_t(blocks.size()) : options.replicates;
  progress report(options.progress);
  for (std::int64_t number = 0; number < replicates; ++number) {
    poll();
    report("resample", double(number) / double(replicates));
    use(select_sites(data, drawn_sites(blocks, options, number)));
  }
  report("resample", 1);
  return std::int64_t(blocks.size());
}

std::vector<resampling_support> ranked(const std::map<std::string, double>& sums, double replicates) {
  std::vector<resampling_support> result;
  for (const auto& [name, sum] : sums) result.push_back({name, sum / replicates});
  std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  return result;
}

}  // namespace

resampling_result resample(const Network& network, const Data& data, const resampling_options& options) {
  const stage_region stage("resample");
  resampling_result result{options.method, 0, 0, network, {}};
  optimise_options settings = options.optimise;
  settings.progress = {};
  result.blocks = for_every_replicate(data, options, [&](const Data& drawn) {
    if (options.composite > 0) {
      composite_optimum optimum = optimise_composite(network, drawn, settings, options.model,
                                                     {.size = options.composite, .likelihood = options.likelihood});
      result.converged += optimum.outcome.converged;
      result.replicates.push_back(std::move(optimum.network));
      return;
    }
    Likelihood likelihood(network, drawn, options.model, options.likelihood);
    result.converged += optimise(likelihood, settings).converged;
    result.replicates.push_back(likelihood.network());
  });
  return result;
}

resampled_search resample_search(const Data& data, const search_options& search, const resampling_options& options) {
  const stage_region stage("resample");
  search_options settings = search;
  settings.progress = {};
  settings.report = {};
  resampled_search result;
  std::map<std::string, double> topologies, clades, events;
  result.blocks = for_every_replicate(data, options, [&](const Data& drawn) {
    search_result outcome = search_networks(drawn, settings);
    const Network& network = best_level(outcome).network;
    ++topologies[outcome.is_root_seen ? topology_key(network) : unrooted_key(network)];
    for (const cluster_weight& clade : clusters(network)) clades[joined(clade.leaves)] += clade.weight;
    std::set<std::string> of_network;
    for (const hybrid_event& event : hybrid_events(network))
      of_network.insert(joined(event.hybrid) + " <- " + joined(event.parents[0]) + " | " + joined(event.parents[1]));
    for (const std::string& event : of_network) ++events[event];
    result.networks.push_back(network);
  });
  const auto replicates = double(result.networks.size());
  result.topologies = ranked(topologies, replicates);
  result.clusters = ranked(clades, replicates);
  result.hybrid_events = ranked(events, replicates);
  return result;
}

parameter_error summarise_parameter(const resampling_result& result, resampled_parameter parameter,
                                    std::int64_t branch) {
  parameter_error error{.estimate = value_of(result.estimate, parameter, branch)};
  std::vector<double> values;
  for (const Network& replicate : result.replicates) values.push_back(value_of(replicate, parameter, branch));
  std::sort(values.begin(), values.end());
  const auto count = double(values.size());
  // From the first value, so that the mean of equal ones is that value.
  for (const double x : values) error.mean += (x - values.front()) / count;
  error.mean += values.front();
  double squares = 0;
  for (const double x : values) squares += (x - error.mean) * (x - error.mean);
  if (result.method == resampling_method::jackknife) {
    constexpr double normal_quantile_975 = 1.959963984540054;
    error.standard_error = std::sqrt((count - 1) / count * squares);
    error.low = error.estimate - normal_quantile_975 * error.standard_error;
    error.high = error.estimate + normal_quantile_975 * error.standard_error;
  } else {
    error.standard_error = std::sqrt(squares / (count - 1));
    error.low = quantile_of(values, 0.025);
    error.high = quantile_of(values, 0.975);
  }
  return error;
}

}  // namespace quintet::snp
