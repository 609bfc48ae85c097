#include "quintet/io/population_map.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "io/line_reader.hpp"
#include "io/nexus_tokens.hpp"
#include "io/table_fields.hpp"
#include "quintet/core/error.hpp"

namespace quintet::io {

namespace {

bool is_header(const std::vector<std::string>& fields) {
  const std::string individual = lower(fields[0]), species = lower(fields[1]);
  for (const char* a :
       {"individual", "individuals", "ind", "indv", "iid", "id", "sample", "samples", "specimen", "name", "taxon"})
    for (const char* b : {"species", "population", "pop", "group"})
      if (individual == a && species == b) return true;
  return false;
}

std::string trimmed(std::string_view word) {
  const std::size_t begin = word.find_first_not_of(" \t\n");
  return begin == std::string_view::npos ? ""
                                         : std::string(word.substr(begin, word.find_last_not_of(" \t\n") + 1 - begin));
}

std::vector<std::string> parts_of(std::string_view words, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= words.size();) {
    const std::size_t end = std::min(words.find(separator, begin), words.size());
    parts.push_back(trimmed(words.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

// What PhyloNet has behind -tm: <A:a1,a2; B:b1>. `line` is the first one.
void population_map::read_taxon_map(line_reader& in, std::string_view line) {
  const auto fail = [&](const std::string& reason) { throw FileError(path_, in.number(), reason); };
  std::string all(line);
  while (all.find('>') == std::string::npos) {
    if (!in.next(line)) fail("a taxon map begins with \"<\" and has no end \">\"");
    all.append("\n").append(line);
  }
  const std::size_t begin = all.find('<') + 1;
  for (const std::string& entry : parts_of(std::string_view(all).substr(begin, all.find('>') - begin), ';')) {
    if (entry.empty()) continue;
    const std::size_t colon = entry.find(':');
    const std::string species = trimmed(entry.substr(0, colon));
    if (colon == std::string::npos || species.empty())
      fail(text("\"", shown(entry), "\" must be species:individual,individual"));
    for (const std::string& individual : parts_of(std::string_view(entry).substr(colon + 1), ',')) {
      if (individual.empty()) fail(text("the species ", shown(species), " has an individual without a name"));
      if (!table_.emplace(individual, species).second)
        fail(text("the individual ", shown(individual), " comes a second time"));
    }
  }
}

population_map population_map::from_file(const std::string& path) {
  population_map map;
  map.kind_ = kind::table;
  map.path_ = path;
  map.source_ = "the population map " + path;
  line_reader in(path, path.ends_with(".gz"));
  std::string_view line;
  std::vector<std::string> fields;
  char separator = 0;
  while (in.next(line)) {
    if (is_skipped(line)) continue;
    const bool is_first = separator == 0;
    if (is_first && line.find_first_not_of(" \t") == line.find('<')) {
      map.read_taxon_map(in, line);
      break;
    }
    if (is_first) separator = separator_of(line);
    const auto fail = [&](const std::string& reason) { throw FileError(path, in.number(), reason); };
    if (!split_fields(line, separator, fields)) fail("a quoted field has no end");
    if (fields.size() != 2 && fields.size() != 3)
      fail(text("this line has ", fields.size(),
                " fields; a population map has individual and species, and perhaps a "
                "group, which is not used"));
    if (fields[0].empty() || fields[1].empty()) fail("a field is empty; a population map has individual and species");
    if (is_first && is_header(fields)) continue;
    if (!map.table_.emplace(fields[0], fields[1]).second)
      fail(text("the individual ", shown(fields[0]), " comes a second time"));
  }
  if (map.table_.empty()) throw FileError(path, "is a population map without individuals");
  return map;
}

population_map population_map::from_rule(std::string_view rule) {
  population_map map;
  const std::size_t colon = rule.find(':');
  const std::string_view word = rule.substr(0, colon);
  map.kind_ = word == "before-first" ? kind::before_first : kind::after_last;
  if ((word != "before-first" && word != "after-last") || colon == std::string_view::npos || colon + 1 == rule.size())
    throw InvalidArgument(
        text("a species rule must be before-first:X or after-last:X, with a text X (rule=", rule, ")"));
  map.mark_ = rule.substr(colon + 1);
  return map;
}

population_map population_map::from_pairs(std::span<const std::pair<std::string, std::string>> pairs,
                                          std::string source) {
  population_map map;
  map.kind_ = kind::table;
  map.source_ = std::move(source);
  for (const auto& [individual, species] : pairs)
    if (!map.table_.emplace(individual, species).second)
      throw InvalidArgument(text("the individual ", shown(individual), " comes a second time in ", map.source_));
  return map;
}

std::string population_map::species_by_rule(const std::string& path, const std::string& individual) const {
  if (kind_ == kind::identity) return individual;
  const bool first = kind_ == kind::before_first;
  const std::size_t at = first ? individual.find(mark_) : individual.rfind(mark_);
  const std::string species = at == std::string::npos ? ""
                              : first                 ? individual.substr(0, at)
                                                      : individual.substr(at + mark_.size());
  if (species.empty())
    throw FileError(
        path, text("the individual \"", shown(individual), "\" has nothing ",
                   first ? "before its first \"" : "behind its last \"", mark_, "\", where its species should be"));
  return species;
}

std::int64_t population_map::count_absent(std::span<const std::string> individuals) const {
  return std::count_if(individuals.begin(), individuals.end(),
                       [&](const std::string& individual) { return !table_.contains(individual); });
}

population_groups population_map::group(const std::string& path, std::span<const std::string> individuals) const {
  population_groups groups;
  std::unordered_map<std::string, std::int64_t> number;
  std::unordered_set<std::string_view> asked;
  for (const std::string& individual : individuals) {
    std::string species;
    if (kind_ == kind::table) {
      const auto it = table_.find(individual);
      if (it == table_.end())
        throw FileError(path, text("the individual \"", shown(individual), "\" is not in ", source_, " (",
                                   count_absent(individuals), " of ", individuals.size(), " are not",
                                   path_.empty() ? "" : "; the species \"-\" leaves an individual out", ")"));
      species = it->second;
      asked.insert(it->first);
    } else {
      species = species_by_rule(path, individual);
    }
    if (!path_.empty() && species == "-") {
      groups.species_of.push_back(-1);
      continue;
    }
    const auto [place, is_new] = number.emplace(species, static_cast<std::int64_t>(groups.species.size()));
    if (is_new) groups.species.push_back(species);
    groups.species_of.push_back(place->second);
  }
  for (const auto& [individual, species] : table_)
    if (!asked.contains(individual)) groups.absent.push_back(individual);
  std::sort(groups.absent.begin(), groups.absent.end());
  return groups;
}

}  // namespace quintet::io
