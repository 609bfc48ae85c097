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

state_codes state_codes::nucleotides() {
  state_codes codes(0);
  const auto add = [&](const char* letters, int set) {
    for (const char* c = letters; *c != 0; ++c) codes.add(*c, static_cast<signed char>(bases + set));
  };
  add("Aa", 1), add("Cc", 2), add("Gg", 4), add("TtUu", 8);
  add("Mm", 3), add("Rr", 5), add("Ww", 9), add("Ss", 6), add("Yy", 10), add("Kk", 12);
  for (const char* c = "NnXxBbDdHhVv*"; *c != 0; ++c) codes.add(*c, missing);
  return codes;
}

std::string state_codes::complaint(char c) const {
  const std::string name = shown(std::string_view(&c, 1));
  if (states_ == 0 && c != '(' && c != '{' && c != '.')
    return text("\"", name,
                "\" is no base; bases are A, C, G and T, or a code for two of them; missing ones ?, - and N");
  if (c == '2' && states_ == 2)
    return "the state 2 is a genotype of diploids; here only 0 and 1 are states (NEXUS: symbols=\"012\"; or say "
           "diploid)";
  if (c == '(' || c == '{') return text("\"", name, "\": states in parentheses or braces are not supported");
  if (c == '.') return "\".\" is no state; FORMAT may make it one with matchchar=.";
  return text("\"", name, "\" is no state; states are 0", states_ == 2 ? " and 1" : ", 1 and 2",
              ", missing ones ? and -",
              name.size() == 1 && std::string("ACGTacgt").find(c) != std::string::npos
                  ? "; bases are read with the option nucleotides, or in NEXUS with datatype=dna"
                  : "");
}

std::int64_t limit_individuals(population_groups& groups, std::int64_t individuals) {
  if (individuals == 0) return 0;
  std::vector<std::int64_t> used(groups.species.size(), 0);
  std::int64_t over = 0;
  for (std::int64_t& species : groups.species_of) {
    if (species < 0 || ++used[static_cast<std::size_t>(species)] <= individuals) continue;
    species = -1;
    ++over;
  }
  return over;
}

namespace {

constexpr int base_count = 4;

// Bases of one site become copies of allele 1; false for a site with more than two.
bool recode_site(genotype_rows& rows, std::size_t site, const std::vector<std::int64_t>& species_of,
                 snp_read_report& report) {
  const bool is_diploid = rows.states_of_site == 3;
  std::int64_t copies[base_count] = {};
  for (std::size_t i = 0; i < rows.states.size(); ++i) {
    char& state = rows.states[i][site];
    if (state == state_codes::missing) continue;
    const int set = state - state_codes::bases;
    const bool is_one = (set & (set - 1)) == 0;
    if (!is_one && !is_diploid) {
      report.ambiguous += species_of[i] >= 0;
      state = state_codes::missing;
      continue;
    }
    for (int b = 0; b < base_count && species_of[i] >= 0; ++b)
      if ((set >> b & 1) != 0) copies[b] += is_one && is_diploid ? 2 : 1;
  }
  int common = -1, rare = -1, seen = 0;
  for (int b = 0; b < base_count; ++b) {
    if (copies[b] == 0) continue;
    ++seen;
    if (common < 0 || copies[b] > copies[common]) {
      rare = common;
      common = b;
    } else {
      rare = b;
    }
  }
  ++report.nucleotide_sites;
  if (seen > 2) {
    ++report.several_bases;
    return false;
  }
  for (std::size_t i = 0; i < rows.states.size(); ++i) {
    char& state = rows.states[i][site];
    if (state == state_codes::missing || species_of[i] < 0) continue;
    const int set = state - state_codes::bases;
    const bool has_rare = rare >= 0 && (set >> rare & 1) != 0, is_one = (set & (set - 1)) == 0;
    state = static_cast<char>(!has_rare ? 0 : is_one && is_diploid ? 2 : 1);
  }
  return true;
}

}  // namespace

snp_input count_genotypes(const std::string& path, genotype_rows rows, const snp_read_options& options) {
  population_groups groups = options.populations.group(path, rows.individuals);
  snp_read_report report;
  report.individuals = static_cast<std::int64_t>(rows.individuals.size());
  report.left_out = std::count(groups.species_of.begin(), groups.species_of.end(), -1);
  report.absent = groups.absent;
  report.absent = groups.absent;
  report.assumed_diploid = rows.assumed_diploid;
  report.over_limit = limit_individuals(groups, options.individuals);
  const std::size_t species = groups.species.size();
  if (species == 0) throw FileError(path, "has no individual that the population map keeps");
  const std::int64_t ploidy = options.dominant || rows.states_of_site == 3 ? 2 : 1;
  std::vector<std::int64_t> red(species), copies(species), sampled(species, 0);
  for (const std::int64_t s : groups.species_of)
    if (s >= 0) sampled[static_cast<std::size_t>(s)] += ploidy;
  for (std::size_t s = 0; s < species; ++s)
    if (sampled[s] > snp::DataBuilder::max_copies)
      throw FileError(path, text("has ", sampled[s], " copies of species ", groups.species[s], "; at most ",
                                 snp::DataBuilder::max_copies, " are supported"));
  snp::DataBuilder builder(groups.species, {.dominant = options.dominant, .empty = options.empty});
  const std::size_t sites = rows.states.empty() ? 0 : rows.states.front().size();
  for (std::size_t site = 0; site < sites; ++site) {
    if (rows.nucleotides && !recode_site(rows, site, groups.species_of, report)) continue;
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
  snp_input input{builder.finish(std::move(sampled)), std::move(report), {}};
  filter_sites(input, {}, options);
  return input;
}

}  // namespace quintet::io
