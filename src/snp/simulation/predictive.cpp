#include "quintet/snp/simulation/predictive.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "quintet/core/error.hpp"
#include "quintet/core/poll.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/snp/markers/f_statistics.hpp"
#include "quintet/snp/simulation/simulate.hpp"
#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

using counts = std::vector<std::int64_t>;

counts row_of(std::span<const std::int16_t> table, std::int64_t pattern, std::size_t species) {
  const auto begin = table.begin() + std::ptrdiff_t(pattern * std::int64_t(species));
  return {begin, begin + std::ptrdiff_t(species)};
}

bool counts_in(const Data& data, std::int64_t pattern, const model& m) {
  return data.weight(pattern) > 0 && data.kind(pattern) != pattern_kind::unobserved &&
         (!m.polymorphic_only || data.kind(pattern) == pattern_kind::polymorphic);
}

void check_model_and_data(const Data& data, std::span<const predictive_draw> draws, const model& m) {
  require_argument(draws.size() >= 2, "draws", draws.size(), ">= 2");
  if (m.rate_categories.size() != 1 || m.rate_categories[0] != 1 || m.mutation_only_at_root || m.full_samples ||
      m.unseen_zeros != 0 || m.unseen_ones != 0)
    throw InvalidArgument(
        "a predictive check simulates plain or polymorphic_only sites: no rate categories, unseen sites, full_samples "
        "or mutation at the root only");
  if (data.dominant()) throw InvalidArgument("a predictive check does not simulate dominant markers");
  for (std::int64_t p = 0; p < data.patterns(); ++p)
    require_argument(data.weight(p) == std::floor(data.weight(p)), "weight", data.weight(p), "a whole number of sites");
}

// The sites that count, each by itself.
Data sites_that_count(const Data& data, const model& m) {
  DataBuilder builder({data.species().begin(), data.species().end()}, {.empty = empty_species::keep});
  for (std::int64_t p = 0; p < data.patterns(); ++p) {
    if (!counts_in(data, p, m)) continue;
    const counts red = row_of(data.red(), p, data.species().size());
    const counts copies = row_of(data.copies(), p, data.species().size());
    for (double site = 0; site < data.weight(p); ++site) builder.add_site(red, copies);
  }
  return builder.finish();
}

// How many sites have the same copies of all species.
std::map<counts, std::int64_t> sites_by_copies(const Data& data) {
  std::map<counts, std::int64_t> sites;
  for (std::int64_t p = 0; p < data.patterns(); ++p)
    sites[row_of(data.copies(), p, data.species().size())] += std::int64_t(data.weight(p));
  return sites;
}

Data simulated_like(const Data& data, const std::map<counts, std::int64_t>& groups, const predictive_draw& draw,
                    bool is_polymorphic, std::uint64_t first_seed) {
  const std::vector<std::int64_t> columns = columns_of_leaves(draw.network, data);
  DataBuilder builder({data.species().begin(), data.species().end()}, {.empty = empty_species::keep});
  for (const auto& [copies, sites] : groups) {
    counts of_leaves;
    for (const std::int64_t column : columns) of_leaves.push_back(copies[at(column)]);
    const simulated_sites simulated = simulate_sites(draw.network, {.copies = of_leaves,
                                                                    .u = draw.u,
                                                                    .v = draw.v,
                                                                    .sites = sites,
                                                                    .seed = first_seed++,
                                                                    .polymorphic_only = is_polymorphic});
    counts red(copies.size());
    for (std::int64_t site = 0; site < sites; ++site) {
      for (std::size_t leaf = 0; leaf < columns.size(); ++leaf)
        red[at(columns[leaf])] = simulated.red[at(site) * columns.size() + leaf];
      builder.add_site(red, copies);
    }
  }
  return builder.finish();
}

struct quartet {
  std::string name;
  std::vector<std::string> species;
};

std::vector<quartet> quartets_of(const Data& data) {
  const auto names = data.species();
  std::vector<quartet> all;
  const auto add = [&](std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
    all.push_back({text("f4(", names[a], ", ", names[b], "; ", names[c], ", ", names[d], ")"),
                   {names[a], names[b], names[c], names[d]}});
  };
  for (std::size_t a = 0; a < names.size(); ++a)
    for (std::size_t b = a + 1; b < names.size(); ++b)
      for (std::size_t c = b + 1; c < names.size(); ++c)
        for (std::size_t d = c + 1; d < names.size(); ++d) {
          add(a, b, c, d);
          add(a, c, b, d);
          add(a, d, b, c);
        }
  return all;
}

std::vector<double> statistics_of(const Data& data, const std::vector<quartet>& quartets) {
  std::vector<double> values{double(data.patterns())};
  for (const quartet& four : quartets) {
    poll();
    values.push_back(
        f_statistic_of(data, four.species, {.block_sites = std::max<std::int64_t>(data.sites(), 1)}).value);
  }
  return values;
}

predictive_statistic summarised(std::string name, double observed, const std::vector<double>& simulated) {
  predictive_statistic statistic{.name = std::move(name), .observed = observed};
  const auto draws = double(simulated.size());
  for (const double x : simulated) statistic.mean += x / draws;
  for (const double x : simulated) {
    statistic.sd += (x - statistic.mean) * (x - statistic.mean) / (draws - 1);
    statistic.p += (x > observed ? 1 : x == observed ? 0.5 : 0) / draws;
  }
  statistic.sd = std::sqrt(statistic.sd);
  return statistic;
}

}  // namespace

std::vector<predictive_statistic> predictive_check(const Data& data, std::span<const predictive_draw> draws,
                                                   const model& m, std::uint64_t seed) {
  const stage_region stage("predictive");
  check_model_and_data(data, draws, m);
  const Data observed = sites_that_count(data, m);
  require_argument(observed.sites() > 0, "sites that count", observed.sites(), "> 0");
  const auto groups = sites_by_copies(observed);
  const std::vector<quartet> quartets = quartets_of(data);
  std::vector<std::vector<double>> simulated(quartets.size() + 1);  // [statistic][draw]
  for (std::size_t draw = 0; draw < draws.size(); ++draw) {
    const std::uint64_t first_seed = (seed << 40) + draw * groups.size();
    const std::vector<double> values =
        statistics_of(simulated_like(observed, groups, draws[draw], m.polymorphic_only, first_seed), quartets);
    for (std::size_t i = 0; i < values.size(); ++i) simulated[i].push_back(values[i]);
  }
  const std::vector<double> values = statistics_of(observed, quartets);
  std::vector<predictive_statistic> result;
  for (std::size_t i = 0; i < values.size(); ++i)
    result.push_back(summarised(i == 0 ? "patterns" : quartets[i - 1].name, values[i], simulated[i]));
  return result;
}

}  // namespace quintet::snp
