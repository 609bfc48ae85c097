#include "io/genotypes.hpp"

#include <algorithm>

#include "io/nexus_tokens.hpp"
#include "quintet/core/error.hpp"

namespace quintet::io {

state_codes::state_codes(int states) : states_(states) {
  codes_.fill(none);
  for (int s = 0; s < states; ++s) add(static_cast<char>('0' + s), static_cast<signed char>(s));
  add('?', missing);
  add('-', missing);
}

std::string state_codes::complaint(char c) const {
  const std::string name = shown(std::string_view(&c, 1));
  if (c == '2' && states_ == 2)
    return "the state 2 is a genotype of diploids; here only 0 and 1 are states (NEXUS: symbols=\"012\"; or say "
           "diploid)";
  if (c == '(' || c == '{') return text("\"", name, "\": states in parentheses or braces are not supported");
  if (c == '.') return "\".\" is no state; FORMAT may make it one with matchchar=.";
  return text("\"", name, "\" is no state; states are 0", states_ == 2 ? " and 1" : ", 1 and 2",
              ", missing ones ? and -");
}

snp_input count_genotypes(const std::string& path, const genotype_rows& rows, const snp_read_options& options) {
  const population_groups groups = options.populations.group(path, rows.individuals);
  const std::size_t species = groups.species.size();
  if (species == 0) throw FileError(path, "has no individual that the population map keeps");
  const std::int64_t ploidy = options.dominant || rows.states_of_site == 3 ? 2 : 1;
  std::vector<std::int64_t> red(species), copies(species), sampled(species, 0);
  for (const std::int64_t s : groups.species_of)
    if (s >= 0) sampled[static_cast<std::size_t>(s)] += ploidy;
  for (std::size_t s = 0; s < species; ++s)
    if (sampled[s] > snp::DataBuilder::most_copies)
      throw FileError(path, text("has ", sampled[s], " copies of species ", groups.species[s], "; at most ",
                                 snp::DataBuilder::most_copies, " are supported"));
  snp::DataBuilder builder(groups.species, {.dominant = options.dominant, .empty = options.empty});
  const std::size_t sites = rows.states.empty() ? 0 : rows.states.front().size();
  for (std::size_t site = 0; site < sites; ++site) {
    std::fill(red.begin(), red.end(), 0);
    std::fill(copies.begin(), copies.end(), 0);
    for (std::size_t i = 0; i < rows.states.size(); ++i) {
      const char state = rows.states[i][site];
      if (groups.species_of[i] < 0 || state == state_codes::missing) continue;
      const auto s = static_cast<std::size_t>(groups.species_of[i]);
      red[s] += state;
      copies[s] += ploidy;
    }
    builder.add_site(red, copies);
  }
  snp_read_report report;
  report.individuals = static_cast<std::int64_t>(rows.individuals.size());
  report.left_out = std::count(groups.species_of.begin(), groups.species_of.end(), -1);
  report.absent = groups.absent;
  return {builder.finish(std::move(sampled)), std::move(report)};
}

}  // namespace quintet::io
