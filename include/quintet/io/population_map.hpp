// The species of individuals.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "quintet/core/compiler.hpp"

namespace quintet::io {

class line_reader;

/// Individuals sorted into species.
struct population_groups {
  std::vector<std::string> species;      ///< in the order of their first individuals
  std::vector<std::int64_t> species_of;  ///< of every individual; -1: left out
  std::vector<std::string> absent;       ///< individuals of the map's file that were not asked for
};

/// A map by file or by rule. By default every individual is a separate species.
class population_map {
 public:
  population_map() = default;
  /// Reads two columns, individual and species, apart by comma, semicolon, tab or blanks, and perhaps a third that is
  /// not used. Quotes, empty lines and lines with '#' are as in other tables. A first line "individual,species" (or
  /// sample, ind, id, name, taxon; population, pop, group) is a header. The file may also be PhyloNet's
  /// <species:individual,individual; ...>. The species "-" leaves an individual out; ".gz" is compressed.
  ///
  /// Throws FileError with the line: another number of fields, an empty one, an individual twice; and for a file
  /// without individuals. Time and memory O(size of the file).
  static population_map from_file(const std::string& path);
  /// "before-first:_": the part of the name before the first "_"; "after-last:_": that after the last one. Any text may
  /// stand behind the colon. Throws InvalidArgument for another rule or no text. O(length).
  static population_map from_rule(std::string_view rule);
  /// Pairs of individual and species, each individual once; "-" is a species like any other. Errors name `source` as
  /// the place: "column B of models.txt". Throws InvalidArgument for an individual that comes twice. O(pairs).
  static population_map from_pairs(std::span<const std::pair<std::string, std::string>> pairs, std::string source);

  /// Whether individuals are species.
  bool is_identity() const { return kind_ == kind::identity; }
  /// The species of `individuals`, names that may come repeatedly. Throws FileError with `path`, the file of the
  /// individuals, when the map lacks one or the rule does not fit its name. O(individuals + size of the map) time.
  population_groups group(const std::string& path, std::span<const std::string> individuals) const;

 private:
  enum class kind { identity, table, before_first, after_last };
  void read_taxon_map(line_reader& in, std::string_view line);
  std::int64_t count_absent(std::span<const std::string> individuals) const;
  std::string species_by_rule(const std::string& path, const std::string& individual) const;

  kind kind_ = kind::identity;
  std::string mark_;    // of a rule
  std::string path_;    // of a file
  std::string source_;  // of a table, in words
  std::unordered_map<std::string, std::string> table_;
};

}  // namespace quintet::io
