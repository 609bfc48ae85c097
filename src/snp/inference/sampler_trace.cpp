// Samples as rows of a table, and data that are cheaper.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "quintet/snp/inference/sampler.hpp"
#include "quintet/snp/network/network_topology.hpp"

namespace quintet::snp {

std::vector<std::string> trace_columns(const std::vector<std::string>& species, const priors& prior) {
  std::vector<std::string> columns{"Sample",      "posterior", "likelihood",     "prior",      "reticulations",
                                   "root_height", "origin",    "network_length", "theta_mean", "theta_root"};
  for (const std::string& name : species) columns.push_back("theta_" + name);
  for (const char* name : {"pi1", "u", "v", "lambda", "nu", "level", "bubbles"}) columns.emplace_back(name);
  if (prior.options().clock) columns.emplace_back("clock");
  if (prior.options().generation_time > 0) {
    columns.emplace_back("Ne_root");
    for (const std::string& name : species) columns.push_back("Ne_" + name);
  }
  return columns;
}

std::vector<double> trace_row(const sampled_state& sample, const priors& prior) {
  const network_state s = prior.in_years(sample.state);
  double length = 0, thetas = 0;
  for (std::int32_t x = 0; x < std::int32_t(s.nodes.size()); ++x)
    for (std::int32_t parent = 0; parent < s.node(x).parents; ++parent) {
      const std::int32_t b = network_state::branch_of(x, parent);
      thetas += s.theta(b);
      if (b != s.root_branch()) length += s.length(b);
    }
  const double total = sample.prior.total();
  std::vector<double> row{double(sample.step),
                          sample.log_likelihood + total,
                          sample.log_likelihood,
                          total,
                          double(s.reticulations),
                          s.node(s.root).height,
                          s.origin,
                          length,
                          s.thetas == theta_mode::common ? s.common_theta : thetas / double(s.branches()),
                          s.theta(s.root_branch())};
  for (std::int32_t x = 0; x < s.leaves(); ++x) row.push_back(s.theta(network_state::branch_of(x)));
  const Network network = to_network(s);
  row.insert(row.end(), {s.pi1, s.u(), s.v(), prior.speciation_rate(s), prior.hybridization_rate(s),
                         double(level(network)), double(count_bubbles(network))});
  if (prior.options().clock) row.push_back(prior.clock_rate(s));
  if (const double generation = prior.options().generation_time; generation > 0) {
    const auto add_size = [&](std::int32_t b) { row.push_back(s.theta(b) / (4 * generation)); };
    add_size(s.root_branch());
    for (std::int32_t x = 0; x < s.leaves(); ++x) add_size(network_state::branch_of(x));
  }
  return row;
}

Data frequent_patterns(const Data& data, double share) {
  require_argument(share > 0 && share <= 1, "share", share, "in (0, 1]");
  std::vector<std::int64_t> order(static_cast<std::size_t>(data.patterns()));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return data.weight(a) != data.weight(b) ? data.weight(a) > data.weight(b) : a < b;
  });
  order.resize(std::size_t(std::ceil(share * double(order.size()))));
  double all = 0, kept = 0;
  for (const double w : data.weights()) all += w;
  for (const std::int64_t p : order) kept += data.weight(p);
  DataBuilder builder({data.species().begin(), data.species().end()},
                      {.dominant = data.dominant(), .empty = empty_species::keep});
  std::vector<std::int64_t> red, copies;
  for (const std::int64_t p : order) {
    red.clear();
    copies.clear();
    for (std::int64_t s = 0; s < std::int64_t(data.species().size()); ++s) {
      red.push_back(data.red(p, s));
      copies.push_back(data.copies(p, s));
    }
    builder.add_site(red, copies, data.weight(p) * all / kept);
  }
  return builder.finish({data.sampled_copies().begin(), data.sampled_copies().end()});
}

}  // namespace quintet::snp
