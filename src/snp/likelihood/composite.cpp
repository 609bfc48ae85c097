#include "quintet/snp/likelihood/composite.hpp"

#include <algorithm>
#include <utility>

#include "quintet/core/error.hpp"
#include "quintet/core/poll.hpp"
#include "quintet/core/profile.hpp"
#include "snp/likelihood/climb.hpp"
#include "snp/likelihood/composite_sets.hpp"
#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

// The data of some species; the others have no copies.
Data restricted_to(const Data& data, const species_set& chosen) {
  DataBuilder builder({data.species().begin(), data.species().end()},
                      {.dominant = data.dominant(), .empty = empty_species::keep});
  std::vector<std::int64_t> sampled(data.species().size(), 0);
  for (const std::int64_t s : chosen) sampled[at(s)] = data.sampled_copies()[at(s)];
  for (std::int64_t p = 0; p < data.patterns(); ++p) {
    std::vector<std::int64_t> red(sampled.size(), 0), copies = red;
    for (const std::int64_t s : chosen) {
      red[at(s)] = data.red(p, s);
      copies[at(s)] = data.copies(p, s);
    }
    builder.add_site(red, copies, data.weight(p));
  }
  return builder.finish(sampled);
}

std::vector<std::string> names_of(const Data& data, const species_set& set) {
  std::vector<std::string> names;
  for (const std::int64_t s : set) names.push_back(data.species()[at(s)]);
  return names;
}

void check_composite(const Data& data, const model& m, const composite_options& options) {
  require_argument(options.size == 3 || options.size == 4, "size", options.size, "3 or 4");
  require_argument(std::int64_t(data.species().size()) >= options.size, "species of a composite likelihood",
                   data.species().size(), text(">= ", options.size));
  if (m.unseen_zeros != 0 || m.unseen_ones != 0)
    throw InvalidArgument("a composite likelihood takes no unseen sites, because they are constant in more sets");
}

// Every branch may have a theta of its own, so parts of the network stay as they are.
composite_result sum_over_whole_networks(const Network& network, const Data& data, const model& m,
                                         const composite_options& options, progress& report) {
  const std::vector<species_set> sets = list_sets(std::int64_t(data.species().size()), options.size);
  composite_result result;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    poll();
    report("composite", double(i) / double(sets.size()));
    const bool has_all =
        std::all_of(sets[i].begin(), sets[i].end(), [&](std::int64_t s) { return data.max_copies()[at(s)] > 0; });
    if (!has_all) {
      ++result.skipped;
      continue;
    }
    Likelihood likelihood(network, restricted_to(data, sets[i]), m, options.likelihood);
    const double value = likelihood.evaluate();
    result.terms.push_back({names_of(data, sets[i]), value, likelihood.truncation().bound});
  }
  return result;
}

composite_result sum_over_parts(const Network& network, const Data& data, const model& m,
                                const composite_options& options) {
  composite_sets sets(data, options.size, m, options.likelihood);
  composite_result result{.terms = {}, .skipped = sets.skipped()};
  const std::vector<double>& values = sets.values(network);
  for (std::size_t i = 0; i < values.size(); ++i)
    result.terms.push_back({names_of(data, sets.sets()[i]), values[i], sets.truncation_bound(i)});
  return result;
}

}  // namespace

composite_result composite_log_likelihood(const Network& network, const Data& data, const model& m,
                                          const composite_options& options) {
  const stage_region stage("composite");
  check_composite(data, m, options);
  columns_of_leaves(network, data);
  progress report(options.progress);
  report("composite", 0);
  composite_result result = has_common_theta(network) ? sum_over_parts(network, data, m, options)
                                                      : sum_over_whole_networks(network, data, m, options, report);
  if (result.terms.empty())
    throw InvalidArgument(text("no set of ", options.size, " species has copies: all ", result.skipped,
                               " have a species without any at all sites"));
  for (const composite_term& term : result.terms) {
    result.log_likelihood += term.log_likelihood;
    result.truncation_bound += term.truncation_bound;
  }
  report("composite", 1);
  return result;
}

composite_optimum optimise_composite(const Network& network, const Data& data, const optimise_options& climb,
                                     const model& m, const composite_options& options) {
  const stage_region stage("optimise");
  check_climb(climb);
  check_composite(data, m, options);
  columns_of_leaves(network, data);
  if (climb.thetas == theta_parameters::each || !has_common_theta(network))
    throw InvalidArgument("the maximum of a composite likelihood needs one theta for all branches and the root");
  composite_sets sets(data, options.size, m, options.likelihood);
  if (sets.sets().empty())
    throw InvalidArgument(text("there is nothing to optimise: fewer than ", options.size, " species have copies"));
  const std::vector<char> is_moved(at(network.branches()), 1);
  composite_likelihood likelihood(sets, network, {is_moved, climb.thetas == theta_parameters::common});
  // Every site is in many sets: as often as a species is in them, up to their size.
  optimise_options settings = climb;
  settings.tolerance *= double(sets.sets().size()) / double(data.species().size());
  optimise_result outcome = maximise(likelihood, settings);
  return {likelihood.network(), std::move(outcome)};
}

}  // namespace quintet::snp
