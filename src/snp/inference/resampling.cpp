#include "quintet/snp/inference/resampling.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "quintet/core/philox.hpp"
#include "quintet/core/poll.hpp"
#include "quintet/core/profile.hpp"

namespace quintet::snp {

namespace {

using site_list = std::vector<std::int64_t>;

// Sites of every block, those without a pattern left out: a block is what the likelihood sees.
std::vector<site_list> blocks_of(const Data& data, const resampling_options& options) {
  std::vector<site_list> blocks;
  std::map<std::int64_t, std::size_t> place;
  std::int64_t counted = 0;
  for (std::int64_t site = 0; site < data.given_sites(); ++site) {
    if (data.pattern_of_site()[std::size_t(site)] < 0) continue;
    const std::int64_t name =
        options.block_of_site.empty() ? counted++ / options.block_sites : options.block_of_site[std::size_t(site)];
    const auto [found, is_new] = place.try_emplace(name, blocks.size());
    if (is_new) blocks.emplace_back();
    blocks[found->second].push_back(site);
  }
  return blocks;
}

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

void check_resampling(const Data& data, const resampling_options& options) {
  require_argument(options.replicates >= 2 && options.replicates <= max_replicates, "replicates", options.replicates,
                   text("in 2 ... ", max_replicates));
  require_argument(options.block_sites >= 1, "block_sites", options.block_sites, ">= 1");
  require_argument(options.block_of_site.empty() || std::int64_t(options.block_of_site.size()) == data.given_sites(),
                   "size of block_of_site", options.block_of_site.size(),
                   text(data.given_sites(), ", the sites given"));
}

double value_of(const Network& network, resampled_parameter what, std::int64_t b) {
  const branch& one = network.branch(b);
  return what == resampled_parameter::length ? one.length : what == resampled_parameter::theta ? one.theta : one.gamma;
}

// Between the two nearest, as NumPy's default does.
double quantile_of(const std::vector<double>& sorted, double share) {
  const double place = share * double(sorted.size() - 1);
  const auto below = std::size_t(place);
  if (below + 1 == sorted.size()) return sorted.back();
  return sorted[below] + (place - double(below)) * (sorted[below + 1] - sorted[below]);
}

}  // namespace

resampling_result resample(const Network& network, const Data& data, const resampling_options& options) {
  const stage_region stage("resample");
  check_resampling(data, options);
  const std::vector<site_list> blocks = blocks_of(data, options);
  require_argument(blocks.size() >= 2, "blocks of sites", blocks.size(), ">= 2");
  const bool is_jackknife = options.method == resampling_method::jackknife;
  const std::int64_t replicates = is_jackknife ? std::int64_t(blocks.size()) : options.replicates;
  resampling_result result{options.method, std::int64_t(blocks.size()), 0, network, {}};
  optimise_options how = options.optimise;
  how.progress = {};
  progress report(options.progress);
  for (std::int64_t number = 0; number < replicates; ++number) {
    poll();
    report("resample", double(number) / double(replicates));
    const Data drawn = select_sites(data, drawn_sites(blocks, options, number));
    Likelihood likelihood(network, drawn, options.model, options.likelihood);
    result.converged += optimise(likelihood, how).converged;
    result.replicates.push_back(likelihood.network());
  }
  report("resample", 1);
  return result;
}

parameter_error summarise_parameter(const resampling_result& result, resampled_parameter what, std::int64_t branch) {
  parameter_error found{.estimate = value_of(result.estimate, what, branch)};
  std::vector<double> values;
  for (const Network& one : result.replicates) values.push_back(value_of(one, what, branch));
  std::sort(values.begin(), values.end());
  const auto count = double(values.size());
  // From the first value, so that the mean of equal ones is that value.
  for (const double x : values) found.mean += (x - values.front()) / count;
  found.mean += values.front();
  double squares = 0;
  for (const double x : values) squares += (x - found.mean) * (x - found.mean);
  if (result.method == resampling_method::jackknife) {
    constexpr double normal_quantile_975 = 1.959963984540054;
    found.standard_error = std::sqrt((count - 1) / count * squares);
    found.low = found.estimate - normal_quantile_975 * found.standard_error;
    found.high = found.estimate + normal_quantile_975 * found.standard_error;
  } else {
    found.standard_error = std::sqrt(squares / (count - 1));
    found.low = quantile_of(values, 0.025);
    found.high = quantile_of(values, 0.975);
  }
  return found;
}

}  // namespace quintet::snp
